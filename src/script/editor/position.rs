//! Places as editors count them: lines from 0, and UTF-16 units from 0 within a line. Scripts are
//! reported by characters from 1.

use crate::error::SourcePosition;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct EditorPosition {
    pub line: u32,
    pub character: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EditorRange {
    pub start: EditorPosition,
    pub end: EditorPosition,
}

/// The lines of a text without their ends.
#[derive(Clone, Debug)]
pub struct SourceLines<'a> {
    lines: Vec<&'a str>,
}

impl<'a> SourceLines<'a> {
    pub fn new(text: &'a str) -> SourceLines<'a> {
        let lines = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
        SourceLines { lines: lines.collect() }
    }

    /// A line; empty after the last one.
    pub fn get(&self, line: u32) -> &'a str {
        usize::try_from(line).ok().and_then(|at| self.lines.get(at)).copied().unwrap_or_default()
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (u32, &'a str)> + ExactSizeIterator {
        let number = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        self.lines.iter().enumerate().map(move |(at, line)| (number(at), *line))
    }

    /// The byte of the line that a position is at.
    pub fn byte_at(&self, position: EditorPosition) -> usize {
        byte_of_utf16(self.get(position.line), position.character)
    }

    pub fn position(&self, line: u32, byte: usize) -> EditorPosition {
        let before = self.get(line).get(..byte).unwrap_or_default();
        EditorPosition { line, character: utf16_length(before) }
    }

    pub fn range(&self, line: u32, start: usize, end: usize) -> EditorRange {
        EditorRange { start: self.position(line, start), end: self.position(line, end) }
    }

    /// What an error at this place is about: a key, or the rest of the line.
    pub fn range_of(&self, position: SourcePosition) -> EditorRange {
        // An end that is missing is reported below the last line.
        let last = u32::try_from(self.lines.len().saturating_sub(1)).unwrap_or(u32::MAX);
        let line = position.line.saturating_sub(1).min(last);
        let text = self.get(line);
        let column = usize::try_from(position.column.saturating_sub(1)).unwrap_or(0);
        let start = text.char_indices().nth(column).map_or(text.len(), |(at, _)| at);
        let rest = text.get(start..).unwrap_or_default();
        let key = rest.split_once(':').map(|(key, _)| key).filter(|key| {
            !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$'))
        });
        self.range(line, start, start + key.unwrap_or(rest).trim_end().len())
    }
}

/// The text with a part replaced; positions outside of it are moved to the nearest one in it.
pub fn replace_range(text: &str, range: EditorRange, by: &str) -> String {
    let start = offset(text, range.start);
    let end = offset(text, range.end).max(start);
    let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    [part(0, start), by, part(end, text.len())].concat()
}

fn offset(text: &str, position: EditorPosition) -> usize {
    let mut start = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        if u32::try_from(number) == Ok(position.line) {
            return start + byte_of_utf16(line.trim_end_matches(['\n', '\r']), position.character);
        }
        start += line.len();
    }
    start
}

fn byte_of_utf16(line: &str, units: u32) -> usize {
    let mut left = usize::try_from(units).unwrap_or(usize::MAX);
    for (at, letter) in line.char_indices() {
        // A position inside of a surrogate pair is at its letter.
        if left < letter.len_utf16() {
            return at;
        }
        left -= letter.len_utf16();
    }
    line.len()
}

fn utf16_length(text: &str) -> u32 {
    u32::try_from(text.encode_utf16().count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32, character: u32) -> EditorPosition {
        EditorPosition { line, character }
    }

    #[test]
    fn columns_are_utf16_units() {
        let lines = SourceLines::new("你好a\r\n😀b");
        assert_eq!(lines.byte_at(at(0, 2)), 6);
        assert_eq!(lines.position(0, 6), at(0, 2));
        assert_eq!(lines.byte_at(at(1, 2)), 4);
        assert_eq!(lines.byte_at(at(1, 1)), 0, "inside of the pair");
        assert_eq!(lines.position(1, 4), at(1, 2));
        assert_eq!(lines.byte_at(at(7, 9)), 0);
        let place = SourcePosition { line: 2, column: 2 };
        assert_eq!(lines.range_of(place), EditorRange { start: at(1, 2), end: at(1, 3) });
        let below = lines.range_of(SourcePosition { line: 3, column: 9 });
        assert_eq!(below, EditorRange { start: at(1, 3), end: at(1, 3) });
    }

    #[test]
    fn a_part_of_a_text_is_replaced_by_utf16_units() {
        let range = |a, b, c, d| EditorRange { start: at(a, b), end: at(c, d) };
        assert_eq!(replace_range("你好\nb\n", range(0, 1, 1, 1), "x"), "你x\n");
        assert_eq!(replace_range("a\r\nb", range(0, 9, 1, 0), "-"), "a-b");
        assert_eq!(replace_range("ab", range(5, 0, 2, 0), "c"), "abc");
        assert_eq!(replace_range("ab", range(0, 2, 0, 1), "c"), "abc");
    }
}
