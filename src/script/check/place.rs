//! Where a part of a text is in the file: YAML tells where a text begins, not where its lines are.

use crate::error::SourcePosition;

/// The lines of a script.
pub(super) struct SourceText<'a> {
    lines: Vec<&'a str>,
}

impl<'a> SourceText<'a> {
    pub fn new(text: &'a str) -> SourceText<'a> {
        SourceText { lines: text.lines().collect() }
    }

    fn line(&self, number: u32) -> &'a str {
        let at = usize::try_from(number.saturating_sub(1)).unwrap_or(usize::MAX);
        self.lines.get(at).copied().unwrap_or_default()
    }

    pub fn contains(&self, part: &str) -> bool {
        self.lines.iter().any(|line| line.contains(part))
    }

    /// The place of a part of a text that begins at a place; the beginning, if the text has one
    /// line, or if the part is written in another way.
    pub fn place_of(&self, part: &str, position: SourcePosition, text: &str) -> SourcePosition {
        let part = part.lines().next().unwrap_or_default();
        if part.is_empty() || !text.contains('\n') {
            return position;
        }
        let last = position.line.saturating_add(small(text.lines().count()));
        let found = (position.line..=last).find_map(|number| {
            let line = self.line(number);
            whole_word(line, part).map(|at| (number, column_of(line, at)))
        });
        match found {
            // A text in quotes on one line, with its breaks as escapes.
            Some((number, _)) if number == position.line && self.begins_quoted(position) => {
                position
            }
            Some((line, column)) => SourcePosition { line, column },
            None => position,
        }
    }

    /// The place of a line of a text, counted from 0.
    pub fn place_of_line(
        &self,
        line: usize,
        position: SourcePosition,
        text: &str,
    ) -> SourcePosition {
        match text.lines().nth(line).map(str::trim).filter(|line| !line.is_empty()) {
            Some(line) => self.place_of(line, position, text),
            None => position,
        }
    }

    fn begins_quoted(&self, position: SourcePosition) -> bool {
        let column = usize::try_from(position.column.saturating_sub(1)).unwrap_or(usize::MAX);
        self.line(position.line).chars().nth(column).is_some_and(|c| matches!(c, '"' | '\''))
    }

    /// The column of a character of a line of code, which begins at this column of the block.
    pub fn column_in(&self, number: u32, code: &str, column: u32) -> u32 {
        let line = self.line(number);
        let code = code.trim_end();
        match line.find(code).filter(|_| !code.is_empty()) {
            Some(at) => column_of(line, at).saturating_add(column).saturating_sub(1),
            None => column,
        }
    }
}

/// Where a line has a part that does not belong to a longer name.
fn whole_word(line: &str, part: &str) -> Option<usize> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(part).map(|(at, _)| at).find(|at| {
        let (before, rest) = line.split_at(*at);
        let after = rest.strip_prefix(part).unwrap_or_default();
        let joins = |edge: Option<char>, other: Option<char>| {
            edge.is_some_and(is_name) && other.is_some_and(is_name)
        };
        !joins(part.chars().next(), before.chars().next_back())
            && !joins(part.chars().next_back(), after.chars().next())
    })
}

fn column_of(line: &str, byte: usize) -> u32 {
    small(line.split_at(byte).0.chars().count() + 1)
}

fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_block_is_found_in_its_line() {
        let source =
            SourceText::new("user: |-\n  total\n  {{tot}} 你 {{b}}\nuser: \"a\\n{{tot}}\"\n");
        let at = |line, column| SourcePosition { line, column };
        let block = "total\n{{tot}} 你 {{b}}";
        assert_eq!(source.place_of("tot", at(2, 3), block), at(3, 5));
        assert_eq!(source.place_of("b", at(2, 3), block), at(3, 15));
        assert_eq!(source.place_of("none", at(2, 3), block), at(2, 3));
        assert_eq!(source.place_of("tot", at(4, 7), "a\n{{tot}}"), at(4, 7));
        assert_eq!(source.place_of_line(1, at(2, 3), block), at(3, 3));
        assert_eq!(source.column_in(3, "{{tot}} 你 {{b}}", 2), 4);
    }
}
