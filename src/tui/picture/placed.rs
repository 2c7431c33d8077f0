//! Where a picture is on the screen, and whether it is seen.

use std::sync::Arc;

use ratatui::buffer::{Buffer, CellDiffOption};
use ratatui::layout::{Position, Rect};

use super::encode::EncodedPicture;

/// A picture at its place on the screen.
#[derive(Clone, Debug)]
pub struct PlacedPicture {
    pub picture: Arc<EncodedPicture>,
    pub area: Rect,
}

impl PartialEq for PlacedPicture {
    fn eq(&self, picture: &PlacedPicture) -> bool {
        (self.picture.id, self.area) == (picture.picture.id, picture.area)
    }
}

impl PlacedPicture {
    /// Whether nothing else covers its cells.
    pub fn is_visible(&self, buf: &Buffer) -> bool {
        self.area.positions().all(|at| {
            buf.cell(at).is_some_and(|cell| cell.diff_option == RESERVED && cell.symbol() == " ")
        })
    }

    pub fn covers(&self, x: u16, y: u16) -> bool {
        self.area.contains(Position { x, y })
    }
}

/// What distinguishes the cells of a picture: whatever is drawn over them clears it.
const RESERVED: CellDiffOption = match std::num::NonZeroU16::new(1) {
    Some(width) => CellDiffOption::ForcedWidth(width),
    None => CellDiffOption::None,
};

/// Reserves cells for a picture.
pub fn reserve(area: Rect, buf: &mut Buffer) {
    for at in area.positions() {
        if let Some(cell) = buf.cell_mut(at) {
            cell.set_diff_option(RESERVED);
        }
    }
}
