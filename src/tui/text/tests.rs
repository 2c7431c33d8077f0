//! Nothing is wider than requested, nothing is lost.

use proptest::prelude::*;

use super::*;

#[test]
fn a_width_is_counted_in_columns() {
    for (text, columns) in [("", 0), ("abc", 3), ("中文", 4), ("é", 1), ("🙂", 2), ("👨‍👩‍👧", 2)]
    {
        assert_eq!(width(text), columns, "{text}");
    }
}

#[test]
fn lines_break_at_words() {
    assert_eq!(wrap("the quick brown fox", 10), ["the quick", "brown fox"]);
    assert_eq!(wrap("a  b\n\nc", 10), ["a  b", "", "c"]);
    assert_eq!(wrap("incomprehensible", 6), ["incomp", "rehens", "ible"]);
    assert_eq!(wrap("see incomprehensible", 6), ["see", "incomp", "rehens", "ible"]);
    assert_eq!(wrap("", 6), [""]);
}

#[test]
fn chinese_breaks_between_characters_but_not_before_a_comma() {
    assert_eq!(wrap("中文换行测试，这是一句。", 12), ["中文换行测", "试，这是一", "句。"]);
    assert_eq!(wrap("他说（真的）好", 6), ["他说", "（真", "的）好"]);
    assert_eq!(wrap("用cargo测试", 6), ["用", "cargo", "测试"]);
    assert_eq!(wrap("abcdef，", 6), ["abcde", "f，"]);
    assert_eq!(wrap("测试，cargo", 10), ["测试，", "cargo"]);
}

#[test]
fn a_long_text_is_shortened_in_the_middle() {
    assert_eq!(elide_middle("src/main.rs", 20), "src/main.rs");
    assert_eq!(elide_middle("/home/me/project/src/main.rs", 16), "/home/me…main.rs");
    assert_eq!(width(&elide_middle("中文中文中文中文中文", 10)), 9);
    assert_eq!(elide_middle("abcde…", 3), "abc");
    assert_eq!(elide_end("abcdefgh", 6), "abcde…");
}

#[test]
fn control_characters_in_a_line_are_shown() {
    assert_eq!(line("a\tb\nc\x07\x1b[2J\u{202e}", Style::new()).to_string(), "a   b\\nc\\u{202e}");
}

proptest! {
    #[test]
    fn no_row_is_wider_than_asked_and_no_letter_is_lost(
        text in "[a-z ，。（）中文字🙂\u{301}\t]{0,60}", columns in 2usize..42,
    ) {
        let joined: String = wrap(&text, columns).concat();
        for row in wrap(&text, columns) {
            prop_assert!(width(&row) <= columns, "{row:?}");
        }
        let bare = |text: &str| super::sanitize(text).replace([' ', '\t'], "");
        prop_assert_eq!(bare(&joined), bare(&text));
    }

    #[test]
    fn any_text_fits_into_any_width(text in any::<String>(), columns in 0usize..42) {
        for row in wrap(&text, columns) {
            prop_assert!(width(&row) <= columns.max(1), "{row:?}");
        }
        prop_assert!(width(&elide_middle(&text, columns)) <= columns);
        prop_assert!(width(&elide_end(&text, columns)) <= columns);
    }

    #[test]
    fn no_row_of_chinese_starts_with_a_closing_mark(text in "([中文字]{2,6}[，。、！])*", columns in 6usize..30) {
        for row in wrap(&text, columns) {
            prop_assert!(!row.starts_with(['，', '。', '、', '！']), "{row:?}");
        }
    }
}

#[test]
fn code_is_cut_after_a_blank_of_the_second_half_and_loses_nothing() {
    let cases: [(&str, usize, &[&str]); 6] = [
        ("let a = format(b, c);", 12, &["let a = ", "format(b, ", "c);"]),
        ("let total = sum(b);", 14, &["let total = ", "sum(b);"]),
        ("a bcdefghijklmnop", 10, &["a bcdefghi", "jklmnop"]),
        ("          abcdefgh", 12, &["          ab", "cdefgh"]),
        ("one  two   three", 10, &["one  two  ", " three"]),
        ("", 10, &[""]),
    ];
    for (line, width, rows) in cases {
        let cut: Vec<&str> =
            cut_ranges(line, width).into_iter().filter_map(|at| line.get(at)).collect();
        assert_eq!(cut, rows, "{line}");
    }
}
