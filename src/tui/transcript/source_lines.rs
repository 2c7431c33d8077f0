//! Reads rows back as the source lines they were made of: without bars and indentation, and joined
//! where a line was broken. Search and copy need both the text and its position on the screen.

use std::ops::Range;

use ratatui::text::Span;
use unicode_segmentation::UnicodeSegmentation as _;

use super::paragraph::StyledRow;
use crate::symbols::BULLET;
use crate::text;

/// One line of the source, as far as it is shown.
#[derive(Debug, Default)]
pub(super) struct SourceLine {
    pub text: String,
    segments: Vec<RowSegment>,
}

/// The part of a line that one row holds.
#[derive(Debug)]
struct RowSegment {
    row: usize,
    /// Its range in the line's text, in bytes.
    range: Range<usize>,
    /// Columns before it.
    prefix_columns: usize,
}

/// Columns of one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cells {
    pub row: usize,
    pub columns: Range<usize>,
}

/// The lines of these rows. Rows that are all decoration yield none.
pub(super) fn join_rows(rows: &[StyledRow]) -> Vec<SourceLine> {
    let mut lines: Vec<SourceLine> = Vec::new();
    for (row, strip) in rows.iter().enumerate() {
        if strip.is_decoration() {
            continue;
        }
        let lead = usize::from(strip.prefix_columns);
        let text = clusters_after(&row_text(strip), lead).to_owned();
        let blanks = match (strip.continuation_spaces, lines.last_mut()) {
            (Some(blanks), Some(_)) => usize::from(blanks),
            (Some(_), None) | (None, _) => {
                lines.push(SourceLine::default());
                0
            }
        };
        if let Some(line) = lines.last_mut() {
            line.add(row, lead, blanks, &text);
        }
    }
    lines
}

/// The text of a row.
fn row_text(row: &StyledRow) -> String {
    let content = |span: &Span<'static>| match &*span.content {
        BULLET => "- ".to_owned(),
        text => text.to_owned(),
    };
    row.line.spans.iter().map(content).collect()
}

impl SourceLine {
    fn add(&mut self, row: usize, lead: usize, blanks: usize, text: &str) {
        self.text.extend(std::iter::repeat_n(' ', blanks));
        let start = self.text.len();
        self.text.push_str(text);
        self.segments.push(RowSegment { row, range: start..self.text.len(), prefix_columns: lead });
    }

    /// Where a stretch of the text is on the screen, one piece per row.
    pub fn cells(&self, bytes: &Range<usize>) -> Vec<Cells> {
        let touched = |segment: &&RowSegment| {
            segment.range.start < bytes.end && bytes.start < segment.range.end.max(1)
        };
        self.segments
            .iter()
            .filter(touched)
            .filter_map(|piece| self.segment_cells(piece, bytes))
            .collect()
    }

    fn segment_cells(&self, segment: &RowSegment, bytes: &Range<usize>) -> Option<Cells> {
        let start = bytes.start.max(segment.range.start);
        let end = bytes.end.min(segment.range.end);
        let column = |at: usize| {
            let before = self.text.get(segment.range.start..at).unwrap_or_default();
            segment.prefix_columns + text::width(before)
        };
        (start < end).then(|| Cells { row: segment.row, columns: column(start)..column(end) })
    }

    /// The byte at a column of a row, rounded down to the start of a cluster; `None` for a row of
    /// another line.
    pub fn byte(&self, row: usize, column: usize) -> Option<usize> {
        let piece = self.segments.iter().find(|piece| piece.row == row)?;
        let text = self.text.get(piece.range.clone())?;
        let room = column.saturating_sub(piece.prefix_columns);
        Some(piece.range.start + clusters_before(text, room).len())
    }

    /// The range between two cells, each a row and a column, both included; `None` when no row of
    /// the line is between them.
    pub fn bytes_between(&self, from: (usize, usize), to: (usize, usize)) -> Option<Range<usize>> {
        let inside = |segment: &&RowSegment| from.0 <= segment.row && segment.row <= to.0;
        let first = self.segments.iter().find(inside)?;
        let last = self.segments.iter().rev().find(inside)?;
        let start =
            if first.row == from.0 { self.byte(first.row, from.1)? } else { first.range.start };
        let end = if last.row == to.0 {
            let text = self.text.get(last.range.clone())?;
            last.range.start + until(text, to.1.checked_sub(last.prefix_columns)).len()
        } else {
            last.range.end
        };
        Some(start..end.max(start))
    }
}

/// The clusters that end at or before a column.
fn clusters_before(text: &str, columns: usize) -> &str {
    let mut used = 0;
    let fits = |cluster: &&str| {
        used += text::width(cluster);
        used <= columns
    };
    let len: usize = text.graphemes(true).take_while(fits).map(str::len).sum();
    text.get(..len).unwrap_or_default()
}

/// The clusters that start at or before a column; none where the column does not exist.
fn until(text: &str, column: Option<usize>) -> &str {
    let Some(column) = column else { return "" };
    let mut used = 0;
    let starts = |cluster: &&str| {
        let start = used;
        used += text::width(cluster);
        start <= column
    };
    let len: usize = text.graphemes(true).take_while(starts).map(str::len).sum();
    text.get(..len).unwrap_or_default()
}

fn clusters_after(text: &str, columns: usize) -> &str {
    text.get(clusters_before(text, columns).len()..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use ratatui::style::Style;

    use super::super::paragraph::{Break, Paragraph, with_prefix};
    use super::*;

    fn rows(text: &str, width: usize, how: Break) -> Vec<StyledRow> {
        let bar = [ratatui::text::Span::raw("╎ ")];
        let rows = Paragraph::styled(text, Style::new()).rows(width, how);
        rows.into_iter().map(|row| with_prefix(&bar, row)).collect()
    }

    fn texts(rows: &[StyledRow]) -> Vec<String> {
        join_rows(rows).into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn broken_lines_are_joined_again() {
        let text = "one two  three four\n\nfive";
        assert_eq!(texts(&rows(text, 9, Break::Words)), ["one two  three four", "", "five"]);
        let code = "    let x = veryveryverylong;\nnext";
        assert_eq!(texts(&rows(code, 7, Break::Columns)), code.split('\n').collect::<Vec<_>>());
        let wide = "这一行放不下，需要换行。";
        assert_eq!(texts(&rows(wide, 8, Break::Words)), [wide]);
    }

    #[test]
    fn a_stretch_across_a_break_covers_cells_in_two_rows() {
        let rows = rows("one two three", 8, Break::Words);
        let lines = join_rows(&rows);
        let cells = lines[0].cells(&(4..13));
        let expected = [Cells { row: 0, columns: 6..9 }, Cells { row: 1, columns: 2..7 }];
        assert_eq!(cells, expected);
        assert_eq!(lines[0].byte(1, 4), Some(10));
        assert_eq!(lines[0].byte(1, 0), Some(8));
        assert_eq!(lines[0].byte(2, 0), None);
    }

    #[test]
    fn half_a_wide_character_counts_from_its_start() {
        let rows = rows("中文", 8, Break::Columns);
        let lines = join_rows(&rows);
        assert_eq!([2, 3, 4].map(|column| lines[0].byte(0, column)), [Some(0), Some(0), Some(3)]);
        assert_eq!(lines[0].cells(&(3..6)), [Cells { row: 0, columns: 4..6 }]);
    }
}
