//! The state of the mouse over the conversation.

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
