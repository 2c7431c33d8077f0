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
        let todo = match (key, vim.mode) {
            ('\x1b', _) => vim.escape().unwrap_or_default(),
            (c, VimMode::Insert) => vec![VimEdit::Insert(c.to_string())],
            (c, _) => vim.handle_char(c, &lines, desk.at),
        };
        todo.into_iter().for_each(|todo| desk.apply(todo));
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
            VimEdit::Undo => {}
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
    assert_eq!(vim.escape(), Some(vec![VimEdit::Left]), "from writing");
    vim.handle_char('d', &["a".into()], (0, 0));
    assert_eq!(vim.escape(), Some(vec![]), "a command half typed");
    assert_eq!(vim.escape(), None, "nothing left here");
}

#[test]
fn unknown_keys_do_nothing() {
    assert_eq!(press_keys("|ab", "zZ&dqx"), "|b");
    assert_eq!(press_keys("|ab", &format!("{}x", "9".repeat(30))), "|");
    assert_eq!(press_keys("|", "xdwwbe$p"), "|");
}
