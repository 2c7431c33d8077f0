//! Shows a text for deciding: nothing is left out, what is shown can be read back to the exact
//! text, and the places of invisible characters are named so that they can be highlighted.

use std::fmt::Write as _;
use std::ops::Range;

use super::chars::{is_combining, is_hidden, is_lookalike_space, is_private};

/// Marks allowed on one letter; more of them only paint over other lines.
pub const MARKS: u8 = 8;

/// A text of which every character can be seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Escaped {
    pub text: String,
    /// Byte ranges of `text` that each represent one invisible or misleading character.
    pub marks: Vec<Range<usize>>,
}

/// Shows a text so that it can be read back exactly: line breaks, controls, odd
/// spaces and marks without a letter become escapes; a backslash is doubled where it
/// would read as one.
pub fn escape(text: &str) -> Escaped {
    let mut out = Escaped::default();
    let mut marks = MARKS;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let start = out.text.len();
        if is_combining(c) && !is_hidden(c) && marks < MARKS {
            marks += 1;
            out.text.push(c);
        } else if needs_escape(c) {
            marks = MARKS;
            write_escape(c, &mut out.text);
            out.marks.push(start..out.text.len());
        } else {
            marks = 0;
            out.text.push(c);
            let reads_as_one = |next: &char| "\\ntrxu".contains(*next) || needs_escape(*next);
            if c == '\\' && chars.peek().is_some_and(reads_as_one) {
                out.text.push('\\');
                out.marks.push(start..out.text.len());
            }
        }
    }
    out
}

fn needs_escape(c: char) -> bool {
    c.is_control() || is_hidden(c) || is_combining(c) || is_lookalike_space(c) || is_private(c)
}

/// The text as it is, or escaped as a whole if a character of it could not be seen.
pub fn visible(text: &str) -> String {
    if text.contains(|c: char| c.is_control() || is_hidden(c) || is_lookalike_space(c)) {
        escape(text).text
    } else {
        text.to_owned()
    }
}

/// Writes a character so that it can be seen.
pub fn write_escape(c: char, out: &mut String) {
    let _ = match c {
        '\n' => out.write_str("\\n"),
        '\t' => out.write_str("\\t"),
        '\r' => out.write_str("\\r"),
        c if c.is_ascii() => write!(out, "\\x{:02x}", u32::from(c)),
        c => write!(out, "\\u{{{:x}}}", u32::from(c)),
    };
}
