//! Mouse selection, and its text: source lines without decoration, indentation and wrapping.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::Transcript;
use super::pointer::{CellPosition, ReleaseOutcome, Selection, Unit};
use super::source_lines::{SourceLine, join_rows};
use super::viewport::{RowPosition, blank_rows_before, gutter};
use crate::Millis;

/// Presses on one cell within this time form a double and a triple click.
const AGAIN: Millis = 400;
/// At most this many bytes are copied.
const MAX_BYTES: usize = 4 << 20;

impl Transcript {
    /// The button is pressed on a cell of the screen.
    pub fn press(&mut self, x: u16, y: u16, at: Millis) {
        let unit = match self.pointer.last_press {
            Some((before, cell, unit)) if cell == (x, y) && at < before + AGAIN => unit.next(),
            _ => Unit::Cell,
        };
        self.pointer.last_press = Some((at, (x, y), unit));
        let spot = self.position_at(x, y).filter(|_| self.drawn_rows.0.contains((x, y).into()));
        self.pointer.selection = spot.map(|spot| Selection { anchor: spot, head: spot, unit });
        self.pointer.drag_position = spot.map(|_| (x, y));
    }

    /// The pointer moves while the button is held; beyond an edge the text scrolls.
    pub fn drag(&mut self, x: u16, y: u16) {
        if self.pointer.drag_position.is_none() {
            return;
        }
        self.pointer.drag_position = Some((x, y));
        let area = self.drawn_rows.0;
        if y < area.y || y == 0 {
            self.scroll_by(-1);
        } else if y >= area.bottom() {
            self.scroll_by(1);
        }
        self.follow_pointer();
    }

    /// The button is released.
    pub fn release(&mut self, x: u16, y: u16) -> ReleaseOutcome {
        if self.pointer.drag_position.is_some() {
            self.pointer.drag_position = Some((x, y));
            self.follow_pointer();
        }
        self.pointer.drag_position = None;
        match self.selected_text() {
            Some(text) => ReleaseOutcome::Selected(text),
            None => {
                self.pointer.selection = None;
                if self.drawn_rows.0.contains((x, y).into()) {
                    self.click(y);
                }
                ReleaseOutcome::Clicked
            }
        }
    }

    /// Clears the selection; false if there was none.
    pub fn deselect(&mut self) -> bool {
        self.pointer.drag_position = None;
        self.pointer.selection.take().is_some_and(|selected| selected.is_nonempty())
    }

    /// The selected text.
    pub fn selected_text(&mut self) -> Option<String> {
        let (from, to) = self.selected_range()?;
        let mut text = String::new();
        let mut at = (from.place.block, from.place.part);
        while at <= (to.place.block, to.place.part) && text.len() < MAX_BYTES {
            let Some(block) = self.builder.blocks.get(at.0) else { break };
            if at.1 >= block.parts() {
                at = (at.0 + 1, 0);
                continue;
            }
            let rows = self.row_cache.rows(&mut self.builder.blocks, at);
            let blank = blank_rows_before(&self.builder.blocks, at);
            if blank > 0 && !text.is_empty() {
                text.push('\n');
            }
            for line in join_rows(&rows) {
                if let Some(bytes) = selected_bytes(&line, at, blank, (from, to)) {
                    text.push_str(line.text.get(bytes).unwrap_or_default().trim_end());
                    text.push('\n');
                }
            }
            at.1 += 1;
        }
        let text = text.trim_end_matches('\n').trim_start_matches('\n');
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// Moves the end of the selection to the pointer, also after scrolling.
    pub(super) fn follow_pointer(&mut self) {
        let Some((x, y)) = self.pointer.drag_position else { return };
        let spot = self.position_at(x, y);
        if let (Some(selected), Some(head)) = (&mut self.pointer.selection, spot) {
            selected.head = head;
        }
    }

    /// Drops the selection when its text moved or is gone.
    pub(super) fn drop_selection_from(&mut self, len: usize) {
        let spots = |selected: &Selection| selected.anchor.max(selected.head).place.block;
        if self.pointer.selection.as_ref().is_some_and(|selected| spots(selected) >= len) {
            self.deselect();
        }
    }

    /// Highlights the selection in the rows that were drawn.
    pub(super) fn mark_selection(&self, buf: &mut Buffer) {
        let Some(extent) = self.drawn_selection else { return };
        let (area, places) = &self.drawn_rows;
        let left = usize::from(area.x) + gutter(usize::from(area.width));
        let style = self.row_cache.setting.theme.selection;
        let mut from = 0;
        let parts = places.chunk_by(|a, b| (a.block, a.part) == (b.block, b.part));
        for (part, (first, rows)) in parts.zip(&self.drawn_parts) {
            let at = (first.block, first.part);
            let blank = blank_rows_before(&self.builder.blocks, at);
            for line in join_rows(rows) {
                let bytes = selected_bytes(&line, at, blank, extent).unwrap_or_default();
                for cells in line.cells(&bytes) {
                    let row = (blank + cells.row).checked_sub(first.row);
                    let Some(row) = row.filter(|row| *row < part.len()) else { continue };
                    let y = usize::from(area.y) + from + row;
                    let x = (left + cells.columns.start) as u16;
                    let marked = Rect::new(x, y as u16, cells.columns.len() as u16, 1);
                    buf.set_style(marked.intersection(*area), style);
                }
            }
            from += part.len();
        }
    }

    /// The cell of the conversation at a cell of the screen, or the nearest.
    fn position_at(&self, x: u16, y: u16) -> Option<CellPosition> {
        let (area, places) = &self.drawn_rows;
        let left = usize::from(area.x) + gutter(usize::from(area.width));
        let row = usize::from(y.saturating_sub(area.y));
        let (place, column) = match places.get(row) {
            _ if y < area.y => (places.first()?, 0),
            Some(place) => (place, usize::from(x).saturating_sub(left)),
            None => (places.last()?, usize::MAX),
        };
        Some(CellPosition { place: *place, column })
    }

    /// The first and the last cell, extended to whole words or lines by the unit.
    pub(super) fn selected_range(&mut self) -> Option<(CellPosition, CellPosition)> {
        let Selection { anchor, head, unit } =
            self.pointer.selection.filter(Selection::is_nonempty)?;
        let from = anchor.min(head);
        let to = anchor.max(head);

        match unit {
            Unit::Cell => Some((from, to)),
            Unit::Word | Unit::Line => {
                let (from, _) = self.unit_around(from, unit);
                let (_, to) = self.unit_around(to, unit);
                Some((from, to))
            }
        }
    }

    /// The first and the last cell of the word or line at a spot.
    fn unit_around(&mut self, spot: CellPosition, unit: Unit) -> (CellPosition, CellPosition) {
        let at = (spot.place.block, spot.place.part);
        let rows = self.row_cache.rows(&mut self.builder.blocks, at);
        let blank = blank_rows_before(&self.builder.blocks, at);
        let Some(row) = spot.place.row.checked_sub(blank) else { return (spot, spot) };
        let found = join_rows(&rows).into_iter().find_map(|line| {
            let byte = line.byte(row, spot.column)?;
            let bytes = match unit {
                Unit::Word => word_around(&line.text, byte),
                Unit::Cell | Unit::Line => 0..line.text.len(),
            };
            let cells = line.cells(&bytes);
            Some((cells.first()?.clone(), cells.last()?.clone()))
        });
        let Some((first, last)) = found else { return (spot, spot) };
        let spot = |row: usize, column| CellPosition {
            place: RowPosition { row: row + blank, ..spot.place },
            column,
        };
        let end = last.columns.end.saturating_sub(1);
        (spot(first.row, first.columns.start), spot(last.row, end))
    }
}

/// The part of a line between two cells, both included; `None` if no row of it is between them.
fn selected_bytes(
    line: &SourceLine,
    at: (usize, usize),
    blank: usize,
    (from, to): (CellPosition, CellPosition),
) -> Option<Range<usize>> {
    let part = |position: CellPosition| (position.place.block, position.place.part);
    if at < part(from) || at > part(to) {
        return None;
    }
    let row = |position: CellPosition| position.place.row.checked_sub(blank);
    let start =
        if part(from) == at { row(from).map_or((0, 0), |row| (row, from.column)) } else { (0, 0) };
    let end = if part(to) == at { (row(to)?, to.column) } else { (usize::MAX, usize::MAX) };
    line.bytes_between(start, end)
}

/// Classes of characters that form a word together.
#[derive(PartialEq, Eq)]
enum CharClass {
    Blank,
    /// Letters, digits, and the characters of paths and addresses.
    Word,
    /// Letters two columns wide.
    Wide,
    Mark,
}

fn kind(c: char) -> CharClass {
    let wide = || crate::text::width(c.encode_utf8(&mut [0; 4])) > 1;
    match c {
        _ if c.is_whitespace() => CharClass::Blank,
        _ if c.is_alphanumeric() && wide() => CharClass::Wide,
        _ if c.is_alphanumeric() || "_-./~@%+#?&=:".contains(c) => CharClass::Word,
        _ => CharClass::Mark,
    }
}

/// The word around a byte, without a full stop or colon at its end.
fn word_around(text: &str, at: usize) -> Range<usize> {
    let Some(here) = text.get(at..).and_then(|rest| rest.chars().next()) else { return at..at };
    let same = |c: &char| kind(*c) == kind(here);
    let (before, rest) = text.split_at_checked(at).unwrap_or_default();
    if kind(here) == CharClass::Mark {
        return at..at + here.len_utf8();
    }
    let start = at - before.chars().rev().take_while(same).map(char::len_utf8).sum::<usize>();
    let end = at + rest.chars().take_while(same).map(char::len_utf8).sum::<usize>();
    let word = text.get(start..end).unwrap_or_default();
    let kept = word.trim_end_matches(['.', ':', '?']).len();
    start..if kept > at - start { start + kept } else { end }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_excludes_surrounding_punctuation() {
        let cases = [
            ("see src/main.rs:12.", 6, "src/main.rs:12"),
            ("看 https://a.b/c?d=1 吧", 8, "https://a.b/c?d=1"),
            ("解析器在这里，对吗", 3, "解析器在这里"),
            ("a(b) c", 1, "("),
            ("two  blanks", 3, "  "),
            ("end", 3, ""),
        ];
        for (text, at, expected) in cases {
            assert_eq!(text.get(word_around(text, at)), Some(expected), "{text}");
        }
    }
}
