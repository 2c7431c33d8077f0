//! Which rows of a long list are in view.

use crate::keys::ScrollAction;

/// The first row in view, of how many, and how many fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowScroll {
    pub offset: usize,
    pub room: usize,
    rows: usize,
}

impl RowScroll {
    /// So many rows in a room for so many.
    pub fn fit(&mut self, rows: usize, room: usize) {
        (self.rows, self.room) = (rows, room);
        self.scroll(0);
    }

    pub fn apply(&mut self, action: ScrollAction) {
        let page = i32::try_from(self.room.saturating_sub(2).max(1)).unwrap_or(1);
        match action {
            ScrollAction::LineUp | ScrollAction::TurnUp => self.scroll(-1),
            ScrollAction::LineDown | ScrollAction::TurnDown => self.scroll(1),
            ScrollAction::PageUp => self.scroll(-page),
            ScrollAction::PageDown => self.scroll(page),
            ScrollAction::Top => self.offset = 0,
            ScrollAction::Bottom => self.scroll(i32::MAX),
        }
    }

    /// Down by so many rows; negative: up.
    pub fn scroll(&mut self, rows: i32) {
        let by = usize::try_from(rows.unsigned_abs()).unwrap_or(0);
        let to =
            if rows < 0 { self.offset.saturating_sub(by) } else { self.offset.saturating_add(by) };
        self.offset = to.min(self.rows.saturating_sub(self.room));
    }

    /// How many rows are below those in view.
    pub fn below(&self) -> usize {
        self.rows.saturating_sub(self.offset + self.room)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_scrolling_leaves_the_rows() {
        let mut scroll = RowScroll::default();
        scroll.fit(10, 4);
        let mut after = |action| {
            scroll.apply(action);
            (scroll.offset, scroll.below())
        };
        assert_eq!(after(ScrollAction::LineUp), (0, 6));
        assert_eq!(after(ScrollAction::PageDown), (2, 4));
        assert_eq!(after(ScrollAction::Bottom), (6, 0));
        assert_eq!(after(ScrollAction::LineDown), (6, 0));
        assert_eq!(after(ScrollAction::PageUp), (4, 2));
        assert_eq!(after(ScrollAction::Top), (0, 6));
        scroll.scroll(100);
        scroll.fit(3, 4);
        assert_eq!((scroll.offset, scroll.below()), (0, 0), "fewer rows than before");
    }
}
