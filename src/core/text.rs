//! What every layer does with text: shows each of its characters, quotes the words of a command,
//! cuts it, and puts it on one line.

pub mod chars;
mod cjk_strong;
pub mod encoding;
mod escape;
mod path_text;
mod quote;
mod repetition;
mod sgr;

pub use cjk_strong::with_cjk_strong;
pub use escape::{Escaped, MARKS, escape, visible, write_escape};
pub use path_text::{path_of_text, path_text};
pub use quote::{QuotedWord, command_line, quote, quote_literal, quote_visible};
pub use repetition::ends_in_repetition;
pub use sgr::{ProgramColor, ProgramStyle, StyleRuns, without_colors};

/// `812`, `1.2k`, `34k`, `1.2M`.
pub fn format_count(n: u64) -> String {
    match n {
        0..1_000 => n.to_string(),
        1_000..10_000 => format!("{}.{}k", n / 1_000, n % 1_000 / 100),
        10_000..1_000_000 => format!("{}k", n / 1_000),
        _ => format!("{}.{}M", n / 1_000_000, n % 1_000_000 / 100_000),
    }
}

/// The text, or its first characters and `…`.
pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.split_at(end).0.trim_end()),
        None => text.to_owned(),
    }
}

/// The start of a text in at most `limit` bytes, with a sign where it is cut.
pub fn cut_end(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let head = text.split_at(text.floor_char_boundary(limit.saturating_sub("…".len()))).0;
    if limit < "…".len() { String::new() } else { format!("{head}…") }
}

/// Both ends of a text, in at most `limit` bytes, with a line between that says how many bytes are
/// omitted.
pub fn cut_middle(text: &str, limit: usize) -> String {
    const MARK: usize = 48;
    if text.len() <= limit {
        return text.to_owned();
    }
    if limit <= MARK * 2 {
        return text.split_at(text.floor_char_boundary(limit)).0.to_owned();
    }
    let half = (limit - MARK) / 2;
    let head = text.split_at(text.floor_char_boundary(half)).0;
    let end = text.split_at(text.ceil_char_boundary(text.len() - half)).1;
    let left_out = text.len() - head.len() - end.len();
    format!("{head}\n[… {left_out} bytes left out …]\n{end}")
}

/// The last part of a path: the name of a program or a file without its folder.
pub fn short_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The text on one line: white space and control characters become single spaces.
pub fn one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// An estimate of the tokens of a text. No tokenizer is right for all models; this one errs
/// upwards: a Chinese character counts as a token, as do four letters or two signs.
pub fn estimated_tokens(text: &str) -> usize {
    let mut quarters = 0;
    for byte in text.bytes() {
        quarters += usize::from(TOKEN_QUARTERS[usize::from(byte)]);
    }
    quarters.div_ceil(4)
}

/// Quarters of a token by the first byte of a character: texts are measured for every request,
/// and bytes are quicker to walk than characters.
const TOKEN_QUARTERS: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < table.len() {
        table[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b' ' => 1,
            0..=0x7f => 2,
            // Further bytes of a character.
            0x80..=0xbf => 0,
            // Letters of Europe and the Middle East.
            0xc0..=0xdf => 3,
            // Everything else of the Basic Multilingual Plane: Chinese, Japanese, Korean, Indic, signs.
            0xe0..=0xef => 4,
            // Emoji and rare signs are split into bytes.
            0xf0..=0xff => 12,
        };
        byte += 1;
    }
    table
};

/// A number of bytes to read: `1.5 KiB`.
pub fn size(bytes: impl TryInto<u64>) -> String {
    let bytes = bytes.try_into().unwrap_or(u64::MAX);
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_estimated_by_the_characters_of_a_text() {
        for (text, tokens) in [
            ("", 0),
            ("four", 1),
            ("a b c d e", 3),
            ("{}", 1),
            ("éäü", 3),
            ("中文字", 3),
            ("\u{1f642}", 3),
            ("a\u{1f642}中é.", 6),
        ] {
            assert_eq!(estimated_tokens(text), tokens, "{text}");
        }
    }

    #[test]
    fn a_text_is_cut_after_its_last_letter_that_fits() {
        assert_eq!(cut("中文字", 3), "中文字");
        assert_eq!(cut("中文字", 2), "中文…");
        assert_eq!(cut("ab cd", 3), "ab…");
    }

    #[test]
    fn a_text_of_many_lines_becomes_one() {
        assert_eq!(one_line(" a\n\tb\u{7}c  d\n"), "a b c d");
    }

    #[test]
    fn a_size_has_the_unit_that_suits_it() {
        assert_eq!(
            [0, 1023, 1536, 3 << 20].map(size),
            ["0 bytes", "1023 bytes", "1.5 KiB", "3.0 MiB"]
        );
    }
}
