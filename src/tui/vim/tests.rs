//! The effect of each vi key, as text and cursor before and after.

use super::*;

/// Presses keys on a text whose cursor is `|`; Esc is `\x1b`. Returns the same form; inserted text
/// is not applied.
fn press_keys(text: &str, keys: &str) -> String {
    let (before, behind) = text.split_once('|').expect("a caret");
    let at = (
        before.matches('\n').count(),
        before.rsplit('\n').next().map_or(0, |it| it.chars().count()),
    );
    let mut desk = TestText { text: format!("{before}{behind}"), at };
    let mut vim = Vim { mode: VimMode::Normal, ..Vim::default() };
    for key in keys.chars() {
        let lines: Vec<String> = desk.text.split('\n').map(str::to_owned).collect();
        let was_inserting = vim.mode == VimMode::Insert;
        let todo = match (key, vim.mode) {
            ('\x1b', _) => vim.escape(&lines, desk.at).unwrap_or_default(),
            (c, VimMode::Insert) => vec![VimEdit::Insert(c.to_string())],
            (c, _) => vim.handle_char(c, &lines, desk.at),
        };
        let types = vim.mode == VimMode::Insert && vim.pending_keys.is_empty() && key != '\x1b';
        todo.into_iter().for_each(|todo| desk.apply(todo));
        if types && !was_inserting {
            vim.begin_insert(desk.at);
        }
        if vim.mode != VimMode::Insert {
            let line = desk.text.split('\n').nth(desk.at.0).unwrap_or_default();
            desk.at.1 = clamp_to_char(line, desk.at.1);
        }
    }
    desk.text_with_caret()
}

struct TestText {
    text: String,
    at: GridPosition,
}

impl TestText {
    fn byte(&self, (row, column): GridPosition) -> usize {
        let start: usize = self.text.split('\n').take(row).map(|line| line.len() + 1).sum();
        let line = self.text.split('\n').nth(row).unwrap_or_default();
        start + line.char_indices().nth(column).map_or(line.len(), |(at, _)| at)
    }

    fn apply(&mut self, todo: VimEdit) {
        match todo {
            VimEdit::MoveTo(place) => self.at = place,
            VimEdit::Left => self.at.1 = self.at.1.saturating_sub(1),
            VimEdit::Delete(from, to) => {
                let (start, end) = (self.byte(from), self.byte(to));
                self.text.replace_range(start..end, "");
                self.at = from;
            }
            VimEdit::Insert(text) => {
                let at = self.byte(self.at);
                self.text.insert_str(at, &text);
                let breaks = text.matches('\n').count();
                let last = text.rsplit('\n').next().map_or(0, |it| it.chars().count());
                self.at = (self.at.0 + breaks, if breaks > 0 { last } else { self.at.1 + last });
            }
            VimEdit::Undo | VimEdit::Redo => {}
        }
    }

    fn text_with_caret(&self) -> String {
        let mut shown = self.text.clone();
        shown.insert(self.byte(self.at), '|');
        shown
    }
}

#[test]
fn motions_go_where_vi_goes() {
    let cases = [
        ("|one two", "l", "o|ne two"),
        ("one tw|o", "l", "one tw|o"),
        ("one| two", "2h", "o|ne two"),
        ("|one two.three", "w", "one |two.three"),
        ("|one two.three", "2w", "one two|.three"),
        ("|one two", "e", "on|e two"),
        ("|one two", "2e", "one tw|o"),
        ("one two|", "b", "one |two"),
        ("one |two", "b", "|one two"),
        ("  on|e", "0", "|  one"),
        ("  on|e", "^", "  |one"),
        ("|one two", "$", "one tw|o"),
        ("|a\nb\nc", "j", "a\n|b\nc"),
        ("|a\nb\nc", "9j", "a\nb\n|c"),
        ("a\nb\n|c", "k", "a\n|b\nc"),
        ("a\nb\n|c", "gg", "|a\nb\nc"),
        ("|a\nb\nc", "G", "a\nb\n|c"),
        ("|a\nb\nc", "2G", "a\n|b\nc"),
        ("|long line\n\nx", "j", "long line\n|\nx"),
        ("one|\ntwo", "w", "one\n|two"),
    ];
    for (before, keys, after) in cases {
        assert_eq!(press_keys(before, keys), after, "{before:?} {keys}");
    }
}

#[test]
fn chinese_and_emoji_move_by_visible_characters() {
    let cases = [
        ("|看看src目录", "w", "看看|src目录"),
        ("|看看src目录", "2w", "看看src|目录"),
        ("看看|src目录", "b", "|看看src目录"),
        ("|👩‍🚀b", "l", "👩‍🚀|b"),
        ("|👩‍🚀b", "x", "|b"),
        ("|中文。好", "dw", "|。好"),
    ];
    for (before, keys, after) in cases {
        assert_eq!(press_keys(before, keys), after, "{before:?} {keys}");
    }
}

#[test]
fn operators_apply_to_the_range_of_a_motion() {
    let cases = [
        ("|one two three", "dw", "|two three"),
        ("|one two three", "2dw", "|three"),
        ("|one two three", "d2w", "|three"),
        ("one |two\nthree", "dw", "one| \nthree"),
        ("|one two", "de", "| two"),
        ("one |two", "db", "|two"),
        ("one t|wo", "d$", "one |t"),
        ("one t|wo", "D", "one |t"),
        ("one t|wo", "d0", "|wo"),
        ("|abc", "2x", "|c"),
        ("a\n|b\nc", "dd", "a\n|c"),
        ("a\nb\n|c", "dd", "a\n|b"),
        ("|a", "dd", "|"),
        ("|a\nb\nc", "2dd", "|c"),
        ("|a\nb\nc", "dj", "|c"),
        ("a\nb\n|c", "dgg", "|"),
        ("a\n|b\nc", "dG", "|a"),
    ];
    for (before, keys, after) in cases {
        assert_eq!(press_keys(before, keys), after, "{before:?} {keys}");
    }
}

#[test]
fn a_change_deletes_the_word_and_starts_insert_mode() {
    let cases = [
        ("|one two", "cwnew\x1b", "ne|w two"),
        ("on|e two", "cwX\x1b", "on|X two"),
        ("one t|wo", "CX\x1b", "one t|X"),
        ("a\n|  bb\nc", "ccX\x1b", "a\n|X\nc"),
        ("|看看src", "cw读\x1b", "|读src"),
    ];
    for (before, keys, after) in cases {
        assert_eq!(press_keys(before, keys), after, "{before:?} {keys}");
    }
}

#[test]
fn deleted_and_yanked_text_is_put_back() {
    let cases = [
        ("|ab", "xp", "b|a"),
        ("|ab", "ylp", "a|ab"),
        ("|ab", "ylP", "|aab"),
        ("|a\nb", "yyp", "a\n|a\nb"),
        ("a\n|b", "yyP", "a\n|b\nb"),
        ("|a\nb", "ddp", "b\n|a"),
        ("|ab", "x3p", "baa|a"),
        ("|one two", "ywP", "one| one two"),
        ("|a", "p", "|a"),
    ];
    for (before, keys, after) in cases {
        assert_eq!(press_keys(before, keys), after, "{before:?} {keys}");
    }
}

#[test]
fn insert_commands_start_in_their_places() {
    let cases = [
        ("a|b", "iX\x1b", "a|Xb"),
        ("|ab", "aX\x1b", "a|Xb"),
        ("  a|b", "IX\x1b", "  |Xab"),
        ("|ab", "AX\x1b", "ab|X"),
        ("a|b\nc", "oX\x1b", "ab\n|X\nc"),
        ("a\n|c", "OX\x1b", "a\n|X\nc"),
    ];
    for (before, keys, after) in cases {
        assert_eq!(press_keys(before, keys), after, "{before:?} {keys}");
    }
}

#[test]
fn a_selection_is_deleted_changed_or_copied() {
    let cases = [
        ("|one two", "ved", "| two"),
        ("one tw|o", "vbd", "one| "),
        ("|one two", "vecX\x1b", "|X two"),
        ("|one two", "vey$p", "one twoon|e"),
        ("|a\nb", "vjx", "|"),
        ("|abc", "vl\x1bx", "a|c"),
        ("|abc", "vlvx", "a|c"),
    ];
    for (before, keys, after) in cases {
        assert_eq!(press_keys(before, keys), after, "{before:?} {keys}");
    }
}

#[test]
fn escape_leaves_one_mode_at_a_time() {
    let mut vim = Vim::default();
    assert_eq!(vim.escape(&[], (0, 0)), Some(vec![VimEdit::Left]), "from writing");
    vim.handle_char('d', &["a".into()], (0, 0));
    assert_eq!(vim.escape(&[], (0, 0)), Some(vec![]), "a command half typed");
    assert_eq!(vim.escape(&[], (0, 0)), None, "nothing left here");
}

#[test]
fn unknown_keys_do_nothing() {
    assert_eq!(press_keys("|ab", "zZ&dqx"), "|b");
    assert_eq!(press_keys("|ab", &format!("{}x", "9".repeat(30))), "|");
    assert_eq!(press_keys("|", "xdwwbe$p"), "|");
}

#[test]
fn letters_are_found_in_the_line_and_found_again() {
    let cases = [
        ("|a,b,c,d", "f,", "a|,b,c,d"),
        ("|a,b,c,d", "2f,", "a,b|,c,d"),
        ("|a,b,c,d", "t,;", "a,|b,c,d"),
        ("|a,b,c,d", "f,;;,", "a,b|,c,d"),
        ("a,b,c,|d", "F,", "a,b,c|,d"),
        ("a,b,c|d", "T,", "a,b,|cd"),
        ("|a b", "fz", "|a b"),
        ("|a\nb", "fb", "|a\nb"),
        ("|one(two)", "dt(", "|(two)"),
        ("|one(two)", "df(", "|two)"),
        ("one(two|)", "dF(", "one|)"),
        ("|call(a, b)", "ct(x\x1b", "|x(a, b)"),
    ];
    for (text, keys, after) in cases {
        assert_eq!(press_keys(text, keys), after, "{text} {keys}");
    }
}

#[test]
fn text_objects_are_changed_from_anywhere_inside() {
    let cases = [
        ("one t|wo three", "ciwbaz\x1b", "one ba|z three"),
        ("one t|wo three", "daw", "one |three"),
        ("one tw|o", "daw", "on|e"),
        ("a.b|-c d", "diW", "| d"),
        ("say \"he|llo you\" now", "di\"", "say \"|\" now"),
        ("s|ay \"hello\" now", "ci\"x\x1b", "say \"|x\" now"),
        ("say 'he|llo' now", "da'", "say | now"),
        ("f(a, (b), |c)", "di(", "f(|)"),
        ("f(a, (|b), c)", "da(", "f(a, |, c)"),
        ("f(a, |b)", "cibx\x1b", "f(|x)"),
        ("{\n  o|ne\n}", "diB", "{|}"),
        ("x[|1]", "yi[$p", "x[1]|1"),
        ("no brackets| here", "di(", "no brackets| here"),
        ("one t|wo", "viwd", "one| "),
    ];
    for (text, keys, after) in cases {
        assert_eq!(press_keys(text, keys), after, "{text} {keys}");
    }
}

#[test]
fn single_characters_and_lines_are_changed_in_place() {
    let cases = [
        ("|abc", "rx", "|xbc"),
        ("|abc", "2rx", "|xxc"),
        ("|abc", "9rx", "|abc"),
        ("|abC", "3~", "AB|c"),
        ("one|\n  two\nthree", "J", "one| two\nthree"),
        ("one|\n  two\nthree", "3J", "one| two three"),
        ("one\ntwo|", "J", "one\ntw|o"),
        ("o|ne", "sX\x1b", "o|Xe"),
        ("on|e", "X", "o|e"),
        ("a\nb|\nc", "Sx\x1b", "a\n|x\nc"),
        ("|one\ntwo\nthree", "Vjd", "|three"),
        ("one\n|two", "Vy", "one\n|two"),
        ("|one", "vV~", "|ONE"),
        ("|one", "ver.", "|..."),
    ];
    for (text, keys, after) in cases {
        assert_eq!(press_keys(text, keys), after, "{text} {keys}");
    }
}

#[test]
fn a_change_is_repeated_with_its_text() {
    let cases = [
        ("|one two three", "dw.", "|three"),
        ("|one two three", "ciwx\x1bw.", "x |x three"),
        ("|aaaa", "x2.", "|a"),
        ("|a\nb", "A;\x1bj.", "a;\nb|;"),
        ("|a", "onew\x1b.", "a\nnew\nne|w"),
        ("|abc", "rxl.", "x|xc"),
        ("|one two", "yw.", "|one two"),
        ("|a,b,c", "f,r;l.", "a;|;,c"),
    ];
    for (text, keys, after) in cases {
        assert_eq!(press_keys(text, keys), after, "{text} {keys}");
    }
}

#[test]
fn a_count_before_an_insert_repeats_what_is_typed() {
    let cases = [
        ("|x", "3ihi\x1b", "hihih|ix"),
        ("|x", "2A!\x1b", "x!|!"),
        ("|x", "2oy\x1b", "x\ny\n|y"),
        ("|foo", "ix\x1b3.", "xx|xxfoo"),
        ("|foo", "ix\x1b3.", "xx|xxfoo"),
        ("|a b c", "2cwx\x1b", "|x c"),
        ("|a", "3i\x1b", "|a"),
        ("|one", "vcx\x1b.", "|xne"),
    ];
    for (text, keys, after) in cases {
        assert_eq!(press_keys(text, keys), after, "{text} {keys}");
    }
}

#[test]
fn long_words_end_at_blanks() {
    let cases = [
        ("|a.b c", "W", "a.b |c"),
        ("a.b c.|d", "B", "a.b |c.d"),
        ("|a.b c.d", "E", "a.|b c.d"),
        ("|a.b c", "dW", "|c"),
        ("|a.b c", "cWx\x1b", "|x c"),
        ("|a.b c.d e", "2W", "a.b c.d |e"),
        ("价格.|b c", "B", "|价格.b c"),
    ];
    for (text, keys, after) in cases {
        assert_eq!(press_keys(text, keys), after, "{text} {keys}");
    }
}

#[test]
fn the_case_of_a_range_is_changed() {
    let cases = [
        ("|one two", "gUiw", "|ONE two"),
        ("|One Two", "guw", "|one Two"),
        ("|One Two", "g~~", "|oNE tWO"),
        ("|one\ntwo\nx", "gUj", "|ONE\nTWO\nx"),
        ("|one", "gUU", "|ONE"),
        ("|One", "vlu", "|one"),
        ("|one two", "gUww.", "ONE |TWO"),
    ];
    for (text, keys, after) in cases {
        assert_eq!(press_keys(text, keys), after, "{text} {keys}");
    }
}

#[test]
fn an_unknown_pair_is_dropped_as_a_whole() {
    assert_eq!(press_keys("one |two", "ciz"), "one |two");
    assert_eq!(press_keys("one |two", "dgz"), "one |two");
}
