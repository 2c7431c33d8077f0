//! A change: its rows, its tints, and its two columns.

use super::*;
use crate::theme::Depth;

const CHANGE: &str = "--- a.rs\n+++ a.rs\n@@ -1,4 +1,5 @@\n fn a() {\n-    push(\"x\", one);\n\
                      +    let name = pad(one);\n+    push(\"x\", name);\n }\n@@ -9 +10 @@\n-b\n+c\n";

fn theme() -> Theme {
    Theme::built_in("dark", Depth::True).unwrap()
}

fn view(width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let view = DiffView::new(CHANGE, "", DiffForm::Change, width, theme);
    view.window(0, view.height(), theme, Lang::En)
}

fn plain(rows: &[Line<'_>]) -> Vec<String> {
    rows.iter().map(|row| row.to_string().trim_end().to_owned()).collect()
}

#[test]
fn a_change_shows_its_lines_with_one_number_and_tints() {
    let theme = theme();
    let rows = view(80, &theme);
    let expected = [
        "   1  fn a() {",
        "   2 -    push(\"x\", one);",
        "   2 +    let name = pad(one);",
        "   3 +    push(\"x\", name);",
        "   4  }",
        "   ⋮",
        "   9 -b",
        "  10 +c",
    ];
    let squeeze = |row: &str| row.split_whitespace().collect::<Vec<_>>().join(" ");
    let (rows_text, expected): (Vec<_>, Vec<_>) = (
        plain(&rows).iter().map(|row| squeeze(row)).collect(),
        expected.iter().map(|row| squeeze(row)).collect(),
    );
    assert_eq!(rows_text, expected);
    // A tint goes on to the end of the row; context has none.
    let last = |at: usize| rows[at].spans.last().and_then(|span| span.style.bg);
    assert_eq!(last(1), theme.change.removed_row.bg);
    assert_eq!(last(2), theme.change.added_row.bg);
    assert_eq!(last(4), None);
    assert_eq!(rows[1].width(), 80);
    // The changed word has its own, in the line most like the old one.
    let marked = |at: usize, style: Style| -> String {
        let spans = rows[at].spans.iter().filter(|span| span.style.bg == style.bg);
        spans.map(|span| span.content.as_ref()).collect()
    };
    assert_eq!(marked(1, theme.change.removed_word), "one");
    assert_eq!(marked(3, theme.change.added_word), "name");
    assert_eq!(marked(2, theme.change.added_word), "");
}

#[test]
fn a_wide_change_has_the_old_text_beside_the_new() {
    let theme = theme();
    let rows = plain(&view(160, &theme));
    let beside = |row: &str, old: &str, new: &str| {
        let (left, right) = row.split_at(row.char_indices().nth(80).map_or(0, |(at, _)| at));
        assert!(left.contains(old) && right.contains(new), "{row}");
    };
    assert_eq!(rows.len(), 6, "{rows:?}");
    beside(&rows[1], "", "+    let name");
    beside(&rows[2], "-    push(\"x\", one);", "+    push(\"x\", name);");
    beside(&rows[5], "-b", "+c");
    assert!(view(80, &theme).len() > rows.len());
}

#[test]
fn a_window_of_a_long_diff_equals_the_rows_of_a_whole_layout() {
    let theme = theme();
    let mut text = String::from("@@ -1,900 +1,900 @@\n");
    for at in 0..900 {
        let long = "x\u{4e2d}".repeat(at % 90);
        text.push_str(&format!("-old {at} {long}\n+new\t{at} {long}\n"));
    }
    for width in [30, 76, 200] {
        for form in [DiffForm::AsWritten, DiffForm::Change] {
            let diff = DiffView::new(&text, "", form, width, &theme);
            let all = diff.window(0, usize::MAX, &theme, Lang::En);
            assert_eq!(diff.height(), all.len(), "{width}");
            for from in [0, 1, 63, 700, all.len() - 20] {
                let window = diff.window(from, 20, &theme, Lang::En);
                assert_eq!(window, all[from..from + 20], "{width} {from}");
            }
        }
    }
}

#[test]
fn a_window_of_a_long_diff_has_only_the_rows_it_shows() {
    let theme = theme();
    let lines: String = (0..5_000).map(|at| format!("+    let value_{at} = {at};\n")).collect();
    let diff =
        DiffView::new(&format!("@@ -0,0 +1,5000 @@\n{lines}"), "", DiffForm::Change, 100, &theme);
    let rows = diff.window(4_900, 40, &theme, Lang::En);
    assert_eq!((rows.len(), diff.height()), (40, 5_000));
    let text = |row: usize| rows[row].spans.iter().map(|span| span.content.as_ref()).collect();
    let (first, last): (String, String) = (text(0), text(39));
    assert!(first.contains("value_4900 ") && last.contains("value_4939 "), "{first} {last}");
}

#[test]
fn without_tints_the_text_has_the_colour_of_its_sign_and_words_are_underlined() {
    let theme = Theme::built_in("dark", Depth::Sixteen).unwrap();
    let rows = view(80, &theme);
    let of = |at: usize, text: &str| {
        rows[at].spans.iter().find(|span| span.content.contains(text)).map(|span| span.style)
    };
    assert_eq!(of(2, "let name").unwrap().fg, theme.change.added.fg);
    assert!(of(1, "one").unwrap().add_modifier.contains(Modifier::UNDERLINED));
}

/// What is measured without being laid out takes the rows that it was measured for.
#[test]
fn lines_of_any_characters_take_the_rows_they_were_measured_for() {
    let theme = theme();
    let parts = [
        "let x = 1;",
        "\t",
        "价格",
        "，",
        "（",
        "。",
        "한국어",
        "é",
        "e\u{301}",
        "か\u{3099}",
        "ｶﾞ",
        "\u{200d}",
        "👩\u{200d}👧",
        "❤\u{fe0f}",
        "\u{ad}",
        "\u{202e}",
        "\u{1b}[31m",
        "\u{3164}",
        "—",
        "…",
        "“",
        "ﷺ",
    ];
    let mut random = fastrand::Rng::with_seed(7);
    for width in [9, 20, 38, 80, 160] {
        let mut diff = String::from("--- a\n+++ a\n@@ -1,90 +1,90 @@\n");
        for _ in 0..90 {
            diff.push(random.choice([' ', '-', '+']).unwrap());
            for _ in 0..random.usize(0..width / 4) {
                diff.push_str(random.choice(parts).unwrap());
            }
            diff.push('\n');
        }
        for form in [DiffForm::Change, DiffForm::AsWritten] {
            let view = DiffView::new(&diff, "", form, width, &theme);
            let shape = &view.shape;
            let cx = context(&theme, Lang::En, width);
            let mut before = 0;
            for unit in &shape.units {
                let rows = shape.unit_rows(unit, [None, None], &cx).len();
                let line = unit.new.or(unit.old).and_then(|at| shape.lines.get(at)).unwrap();
                assert_eq!(unit.end - before, rows, "{width} {:?}", shape.line_text(line));
                before = unit.end;
            }
        }
    }
}
