//! Places in a text as the protocol counts them.

use serde_json::{Value, json};

/// How columns are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ColumnUnit {
    #[default]
    Utf16,
    Utf8,
}

impl ColumnUnit {
    fn width(self, c: char) -> usize {
        match self {
            ColumnUnit::Utf16 => c.len_utf16(),
            ColumnUnit::Utf8 => c.len_utf8(),
        }
    }

    /// The byte of a text at a position of the protocol, as near as there is one.
    pub fn offset(self, text: &str, position: &Value) -> usize {
        let number = |key: &str| position.get(key).and_then(Value::as_u64).unwrap_or_default();
        let mut start = 0;
        let mut lines = text.split_inclusive('\n');
        for _ in 0..number("line") {
            match lines.next() {
                Some(line) => start += line.len(),
                None => return text.len(),
            }
        }
        let column = usize::try_from(number("character")).unwrap_or(usize::MAX);
        let mut done = 0;
        for (at, c) in lines.next().unwrap_or_default().char_indices() {
            if done >= column || c == '\n' {
                return start + at;
            }
            done += self.width(c);
        }
        start + text.get(start..).and_then(|rest| rest.lines().next()).map_or(0, str::len)
    }

    /// Where a name is first found: in a line, counted from 1, or anywhere.
    pub fn find(self, text: &str, line: Option<usize>, symbol: &str) -> Option<Value> {
        let first = line.unwrap_or(1).checked_sub(1)?;
        let lines = text.lines().enumerate().skip(first).take(line.map_or(usize::MAX, |_| 1));
        lines.into_iter().find_map(|(number, words)| {
            let at = find_word(words, symbol)?;
            let column: usize = words.get(..at)?.chars().map(|c| self.width(c)).sum();
            Some(json!({ "line": number, "character": column }))
        })
    }
}

/// A name that is not a part of a longer one.
fn find_word(line: &str, symbol: &str) -> Option<usize> {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    line.match_indices(symbol).map(|(at, _)| at).find(|at| {
        let before = line.get(..*at).and_then(|before| before.chars().next_back());
        let after = line.get(at + symbol.len()..).and_then(|after| after.chars().next());
        !is_part(before) && !is_part(after)
    })
}
