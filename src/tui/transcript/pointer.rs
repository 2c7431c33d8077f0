//! The state of the mouse over the conversation.

use std::ops::Range;

use super::source_lines::SourceLine;
use super::viewport::RowPosition;
use crate::Millis;

/// A cell of the conversation: its row, and its column after the gutter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CellPosition {
    pub place: RowPosition,
    pub column: usize,
}

/// The unit by which the selection grows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Unit {
    #[default]
    Cell,
    Word,
    Line,
}

impl Unit {
    /// The unit that another press in the same place selects.
    pub fn next(self) -> Unit {
        match self {
            Unit::Cell => Unit::Word,
            Unit::Word => Unit::Line,
            Unit::Line => Unit::Cell,
        }
    }
}

/// The state of the mouse over the conversation, and the selection.
#[derive(Debug, Default)]
pub(super) struct Pointer {
    pub selection: Option<Selection>,
    /// The position of the pointer while its button is held.
    pub drag_position: Option<(u16, u16)>,
    /// The last press: its time, position and unit.
    pub last_press: Option<(Millis, (u16, u16), Unit)>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Selection {
    pub anchor: CellPosition,
    pub head: CellPosition,
    pub unit: Unit,
}

impl Selection {
    /// A single press selects nothing.
    pub fn is_nonempty(&self) -> bool {
        self.unit != Unit::Cell || self.anchor != self.head
    }
}

/// The result of releasing the button.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReleaseOutcome {
    /// A click, on something that folds or not.
    Clicked,
    /// Text was selected.
    Selected(String),
}

/// The part of a line between two cells, both included; `None` if no row of it is between them.
pub(super) fn selected_bytes(
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
