//! Tests which characters are shown, and what can be read back.

use proptest::prelude::*;

use super::*;
use avocet_core::text::{ProgramColor, escape};

fn text(text: &str) -> String {
    clean(text, CarriageReturnMode::EndsLine)
}

fn output(text: &str) -> String {
    clean(text, CarriageReturnMode::OverwritesLine)
}

#[test]
fn plain_text_stays_as_it_is() {
    for same in ["", "a b\n\tc", "中文，标点。", "naïve 🙂 👨‍👩‍👧 ❤️‍🔥 1️⃣ 👍🏽", "한국어 हिन्दी"]
    {
        assert_eq!(text(same), same);
        assert_eq!(output(same), same);
    }
}

#[test]
fn complete_sequences_are_removed() {
    let cases = [
        ("a\x1b[31mb\x1b[0mc", "abc"),
        ("a\x1b]2;title\x07b", "ab"),
        ("a\x1b]8;;https://x\x1b\\b\x1b]8;;\x1b\\c", "abc"),
        ("a\x1bP0;1|17/72\x1b\\b", "ab"),
        ("a\x1b^pm\x1b\\b\x1bXsos\x1b\\c", "abc"),
        ("a\x1b(0b\x1bcc", "abc"),
        ("a\x1b]0;x\x1b]0;y\x07b", "ab"),
        ("ring\x07\x07!", "ring!"),
    ];
    for (dirty, expected) in cases {
        assert_eq!(text(dirty), expected, "{dirty:?}");
    }
}

#[test]
fn a_sequence_that_never_ends_swallows_nothing() {
    assert_eq!(text("a\x1b]0;never closed b\nc"), "a\\x1b]0;never closed b\nc");
    assert_eq!(text("a\x1b]0;never"), "a\\x1b]0;never");
    assert_eq!(text("a\x1b中文"), "a\\x1b中文");
    assert_eq!(text("a\x1b[3\nb"), "a\\x1b[3\nb");
    let long = format!("\x1b]0;{}", "x".repeat(3 * HELD));
    assert!(text(&long).len() >= long.len(), "nothing of it is lost");
}

#[test]
fn characters_that_hide_or_reorder_are_shown() {
    let cases = [
        ("photo_\u{202e}gnp.exe", "photo_\\u{202e}gnp.exe"),
        ("a\u{200b}b\u{feff}", "a\\u{200b}b\\u{feff}"),
        ("a\u{85}b\u{9b}31m", "a\\u{85}b\\u{9b}31m"),
        ("a\u{2028}b", "a\\u{2028}b"),
        ("x\u{e0072}\u{e006d}", "x\\u{e0072}\\u{e006d}"),
        ("nul\0", "nul\\x00"),
        ("a\u{200d}b", "a\\u{200d}b"),
        ("🙂\u{200d}b", "🙂\\u{200d}b"),
        ("\u{301}a", "\\u{301}a"),
        ("a\u{fe0f}", "a\\u{fe0f}"),
    ];
    for (dirty, expected) in cases {
        assert_eq!(text(dirty), expected, "{dirty:?}");
    }
}

#[test]
fn a_letter_carries_eight_marks_at_most() {
    let zalgo = format!("Z{}a", "\u{301}".repeat(400));
    assert_eq!(text(&zalgo), format!("Z{}a", "\u{301}".repeat(8)));
    let crowd = text(&"👩🏽\u{200d}".repeat(50));
    let longest = crowd.split("\\u{200d}").map(|part| part.matches('\u{200d}').count()).max();
    assert_eq!(longest, Some(8));
}

#[test]
fn a_carriage_return_overwrites_the_line_of_a_command() {
    assert_eq!(output("10 %\r50 %\r100 %\ndone"), "100 %\ndone");
    assert_eq!(output("M306 a\r\nb\rc\n\rd\r\r\n"), "M306 a\nc\nd\n");
    assert_eq!(output("kept\r"), "kept");
    assert_eq!(text("a\r\nb\rc"), "a\nb\nc");
}

#[test]
fn the_colours_of_a_command_are_noted_beside_its_text() {
    let styled = |text: &str| {
        let (out, styles) = clean_styled(text);
        let piece = |(range, style): (std::ops::Range<usize>, avocet_core::text::ProgramStyle)| {
            (out.get(range).unwrap().to_owned(), style.color)
        };
        styles.pieces(0..out.len()).into_iter().map(piece).collect::<Vec<_>>()
    };
    let (red, green) = (Some(ProgramColor::Red), Some(ProgramColor::Green));
    let piece = |text: &str, color| (text.to_owned(), color);
    assert_eq!(
        styled("a \x1b[31mb\x1b[0m c"),
        [piece("a ", None), piece("b", red), piece(" c", None)]
    );
    // A line that is written anew keeps the colour that holds then.
    assert_eq!(styled("\x1b[31m10 %\r\x1b[32mdone"), [piece("done", green)]);
    assert_eq!(styled("\x1b[31ma\r\nb\x1b[39m"), [piece("a\nb", red)]);
    // Other sequences neither colour nor remain.
    assert_eq!(styled("\x1b[2J\x1b]8;;x\x07\x1b[>4;2ma"), [piece("a", None)]);
}

#[test]
fn an_escaped_text_names_every_place_it_changed() {
    let escaped = escape("a\x1b[31m\u{202e}\n b");
    assert_eq!(escaped.text, "a\\x1b[31m\\u{202e}\\n b");
    let marked: Vec<&str> =
        escaped.marks.iter().map(|range| escaped.text.get(range.clone()).unwrap()).collect();
    assert_eq!(marked, ["\\x1b", "\\u{202e}", "\\n"]);
    assert!(escape("plain 中文 é").marks.is_empty());
    assert_eq!(escape("\\d+ \\n").text, "\\d+ \\\\n");
    assert_eq!(escape("a\u{a0}b").text, "a\\u{a0}b");
}

#[test]
fn programs_and_images_are_not_text() {
    assert!(is_binary("\u{7f}ELF\u{2}\u{1}\u{1}\0\0\0\0\0\0\0\0\0"));
    assert!(!is_binary("caf\u{fffd} is a word in Latin-1"));
    assert!(!is_binary(""));
}

/// Reads an escaped text back; what [`escape`] promises.
fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let rest = chars.as_str();
        match (c, rest.chars().next()) {
            ('\\', Some(next)) if "\\ntrxu".contains(next) => {
                chars.next();
                let code = |digits: &str| {
                    u32::from_str_radix(digits, 16).ok().and_then(char::from_u32).unwrap()
                };
                match next {
                    'n' => out.push('\n'),
                    't' => out.push('\t'),
                    'r' => out.push('\r'),
                    'x' => out.push(code(&chars.by_ref().take(2).collect::<String>())),
                    'u' => {
                        let digits: String = chars.by_ref().take_while(|c| *c != '}').collect();
                        out.push(code(digits.trim_start_matches('{')));
                    }
                    _ => out.push('\\'),
                }
            }
            _ => out.push(c),
        }
    }
    out
}

/// Text that holds more of what hurts than chance would give.
fn nasty() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => any::<char>().prop_map(String::from),
        2 => "[a-z\\\\\\[\\];0-9nxu{} \r\n\t]{0,4}",
        2 => prop::sample::select(vec![
            "\x1b", "\x1b[", "\x1b]", "\x1bP", "\x07", "\x1b\\", "\x18", "\u{200d}", "\u{fe0f}",
            "\u{301}", "\u{202e}", "🙂", "中", "\r\n", "\u{9b}", "\\",
        ]).prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_control_is_left_wherever_the_text_is_cut(dirty in nasty(), cut in 0usize..64) {
        for source in [CarriageReturnMode::EndsLine, CarriageReturnMode::OverwritesLine] {
            let whole = clean(&dirty, source);
            prop_assert!(whole.chars().all(|c| c == '\n' || c == '\t' || !c.is_control()));
            let hides = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{200b}');
            prop_assert!(!whole.chars().any(hides));
            let mut cleaner = Cleaner::new(source);
            let mut out = String::new();
            let at = dirty.char_indices().map(|(at, _)| at).nth(cut).unwrap_or(dirty.len());
            let (first, second) = dirty.split_at(at);
            cleaner.push(first, &mut out);
            cleaner.push(second, &mut out);
            cleaner.finish(&mut out);
            prop_assert_eq!(out, whole);
        }
    }

    #[test]
    fn noting_colours_changes_no_text_and_no_piece_of_a_style_is_outside_of_it(dirty in nasty()) {
        let colored = format!("\x1b[31m{dirty}\x1b[0m\r{dirty}");
        let (out, styles) = clean_styled(&colored);
        prop_assert_eq!(&out, &clean(&colored, CarriageReturnMode::OverwritesLine));
        let pieces = styles.pieces(0..out.len());
        let joined: Option<String> = pieces.iter().map(|(range, _)| out.get(range.clone())).collect();
        prop_assert_eq!(joined, Some(out));
    }

    #[test]
    fn cleaning_twice_is_cleaning_once(dirty in nasty()) {
        let once = text(&dirty);
        prop_assert_eq!(text(&once), once.clone());
    }

    #[test]
    fn an_escaped_text_can_be_read_back(dirty in nasty()) {
        let escaped = escape(&dirty);
        prop_assert!(!escaped.text.chars().any(char::is_control));
        prop_assert_eq!(unescape(&escaped.text), dirty);
    }
}
