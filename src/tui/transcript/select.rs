//! Mouse selection, and its text: source lines without decoration, indentation and wrapping.

use std::ops::Range;

use super::Transcript;
use super::block::Block;
use super::drawn_frame::DrawnFrame;
use super::pointer::{CellPosition, Pointer, ReleaseOutcome, Selection, Unit, selected_bytes};
use super::source_lines::join_rows;
use super::viewport::{RowCache, RowPosition, Scroll, blank_rows_before};
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
        let spot = self.frame.position_at(x, y).filter(|_| self.frame.area.contains((x, y).into()));
        self.pointer.selection = spot.map(|spot| Selection { anchor: spot, head: spot, unit });
        self.pointer.drag_position = spot.map(|_| (x, y));
    }

    /// The pointer moves while the button is held; beyond an edge the text scrolls.
    pub fn drag(&mut self, x: u16, y: u16) {
        if self.pointer.drag_position.is_none() {
            return;
        }
        self.pointer.drag_position = Some((x, y));
        let area = self.frame.area;
        if y < area.y || y == 0 {
            self.scroll(Scroll::Lines(-1));
        } else if y >= area.bottom() {
            self.scroll(Scroll::Lines(1));
        }
        self.pointer.follow(&self.frame);
    }

    /// The button is released.
    pub fn release(&mut self, x: u16, y: u16) -> ReleaseOutcome {
        if self.pointer.drag_position.is_some() {
            self.pointer.drag_position = Some((x, y));
            self.pointer.follow(&self.frame);
        }
        self.pointer.drag_position = None;
        match self.selected_text() {
            Some(text) => ReleaseOutcome::Selected(text),
            None => {
                self.pointer.selection = None;
                if self.frame.area.contains((x, y).into()) {
                    self.click(y);
                }
                ReleaseOutcome::Clicked
            }
        }
    }

    /// Clears the selection; false if there was none.
    pub fn deselect(&mut self) -> bool {
        self.pointer.deselect()
    }

    /// The selected text.
    pub fn selected_text(&mut self) -> Option<String> {
        let blocks = &mut self.builder.blocks;
        let row_cache = &mut self.view.row_cache;
        let (from, to) = self.pointer.selected_range(row_cache, blocks)?;
        let mut text = String::new();
        let mut at = (from.place.block, from.place.part);
        while at <= (to.place.block, to.place.part) && text.len() < MAX_BYTES {
            let Some(block) = blocks.get(at.0) else { break };
            if at.1 >= block.parts() {
                at = (at.0 + 1, 0);
                continue;
            }
            let rows = row_cache.rows(blocks, at);
            let blank = blank_rows_before(blocks, at);
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
}

impl Pointer {
    /// Clears the selection; false if there was none.
    pub fn deselect(&mut self) -> bool {
        self.drag_position = None;
        self.selection.take().is_some_and(|selected| selected.is_nonempty())
    }

    /// Moves the end of the selection to the pointer, also after scrolling.
    pub fn follow(&mut self, frame: &DrawnFrame) {
        let Some((x, y)) = self.drag_position else { return };
        if let (Some(selected), Some(head)) = (&mut self.selection, frame.position_at(x, y)) {
            selected.head = head;
        }
    }

    /// Drops the selection when its text moved or is gone.
    pub fn drop_selection_from(&mut self, len: usize) {
        let spots = |selected: &Selection| selected.anchor.max(selected.head).place.block;
        if self.selection.as_ref().is_some_and(|selected| spots(selected) >= len) {
            self.deselect();
        }
    }

    /// The first and the last cell, extended to whole words or lines by the unit.
    pub fn selected_range(
        &self,
        row_cache: &mut RowCache,
        blocks: &mut [Block],
    ) -> Option<(CellPosition, CellPosition)> {
        let Selection { anchor, head, unit } = self.selection.filter(Selection::is_nonempty)?;
        let from = anchor.min(head);
        let to = anchor.max(head);

        match unit {
            Unit::Cell => Some((from, to)),
            Unit::Word | Unit::Line => {
                let (from, _) = unit_around(from, unit, row_cache, blocks);
                let (_, to) = unit_around(to, unit, row_cache, blocks);
                Some((from, to))
            }
        }
    }
}

/// The first and the last cell of the word or line at a spot.
fn unit_around(
    spot: CellPosition,
    unit: Unit,
    row_cache: &mut RowCache,
    blocks: &mut [Block],
) -> (CellPosition, CellPosition) {
    let at = (spot.place.block, spot.place.part);
    let rows = row_cache.rows(blocks, at);
    let blank = blank_rows_before(blocks, at);
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
