//! The position of the view in the conversation, and what arrived below it.

use super::block::{Block, BlockBody};
use super::viewport::{RowCache, RowPosition, Scroll, blank_rows_before, end_position};

/// Counting of unseen rows stops here.
pub(super) const UNSEEN: usize = 999;

/// The rows near the view, and which of them is at its top.
#[derive(Debug, Default)]
pub(super) struct ScrollView {
    pub row_cache: RowCache,
    /// The row at the top of the view; `None` follows the end.
    top: Option<RowPosition>,
    /// The first row that was never in view, while the view is not at the end.
    unseen_from: RowPosition,
    unseen_rows: usize,
}

impl ScrollView {
    /// True while the view follows the end.
    pub fn is_following(&self) -> bool {
        self.top.is_none()
    }

    /// Rows added below the view since it left the end; 999 means "or more".
    pub fn unseen_rows(&self) -> usize {
        self.unseen_rows
    }

    /// Scrolls. Does nothing before the first frame.
    pub fn scroll(&mut self, blocks: &mut [Block], scroll: Scroll) {
        let height = i32::from(self.row_cache.setting.height);
        match scroll {
            Scroll::Lines(rows) => self.scroll_by(blocks, rows),
            Scroll::Pages(pages) => {
                self.scroll_by(blocks, pages.saturating_mul(height.saturating_sub(1).max(1)));
            }
            Scroll::Top => self.scroll_to(blocks, RowPosition::default()),
            Scroll::Bottom => self.top = None,
            Scroll::Turn(turns) => self.scroll_turns(blocks, turns),
        }
    }

    fn scroll_by(&mut self, blocks: &mut [Block], rows: i32) {
        if self.row_cache.setting.height == 0 {
            return;
        }
        let steps = rows.unsigned_abs() as usize;
        let top = self.top_or_lowest(blocks);
        let (top, _) = match rows {
            0.. => self.row_cache.down(blocks, top, steps),
            _ => self.row_cache.up(blocks, top, steps),
        };
        self.scroll_to(blocks, top);
    }

    /// Puts a row at the top, unless the end would then be in view.
    pub fn scroll_to(&mut self, blocks: &mut [Block], position: RowPosition) {
        if self.row_cache.setting.height == 0 {
            return;
        }
        let lowest = self.lowest(blocks);
        let was_following = self.top.is_none();
        self.top = (position < lowest).then_some(position);
        if was_following {
            self.unseen_from = self.end_of_last_part(blocks);
        }
    }

    /// Goes to the user's message `turns` further down.
    fn scroll_turns(&mut self, blocks: &mut [Block], turns: i32) {
        let top = self.top_or_lowest(blocks);
        let is_message =
            |(_, block): &(usize, &Block)| matches!(block.body, BlockBody::UserMessage { .. });
        let messages = blocks.iter().enumerate().filter(is_message).map(|(at, _)| RowPosition {
            block: at,
            part: 0,
            row: blank_rows_before(blocks, (at, 0)),
        });
        let messages: Vec<RowPosition> = messages.collect();
        let steps = turns.unsigned_abs() as usize;
        let found = match turns {
            0 => return,
            1.. => messages.iter().filter(|at| **at > top).nth(steps - 1),
            _ => messages.iter().rev().filter(|at| **at < top).nth(steps - 1),
        };
        match found {
            Some(position) => self.scroll_to(blocks, *position),
            None if turns > 0 => self.top = None,
            None => self.scroll_to(blocks, RowPosition::default()),
        }
    }

    /// The row at the top of the view. Within a screen of the end, the view follows the end.
    pub fn first_row(&mut self, blocks: &mut [Block]) -> RowPosition {
        let lowest = self.lowest(blocks);
        if let Some(top) = self.top {
            let (top, _) = self.row_cache.down(blocks, top, 0);
            if top < lowest {
                self.top = Some(top);
                return top;
            }
            self.top = None;
        }
        lowest
    }

    fn top_or_lowest(&mut self, blocks: &mut [Block]) -> RowPosition {
        match self.top {
            Some(top) => top,
            None => self.lowest(blocks),
        }
    }

    /// The top row when the last row is at the bottom of the view.
    fn lowest(&mut self, blocks: &mut [Block]) -> RowPosition {
        let end = end_position(blocks);
        self.row_cache.up(blocks, end, usize::from(self.row_cache.setting.height)).0
    }

    /// The last part that has rows, past its last row.
    fn end_of_last_part(&mut self, blocks: &mut [Block]) -> RowPosition {
        let Some(block) = blocks.len().checked_sub(1) else { return RowPosition::default() };
        let part = blocks.last().map_or(0, |block| block.parts().saturating_sub(1));
        let row = self.row_cache.height(blocks, (block, part));
        RowPosition { block, part, row }
    }

    /// Counts the rows that were never in view, whose last row is above `bottom`.
    pub fn count_unseen(&mut self, blocks: &mut [Block], bottom: RowPosition) {
        if self.top.is_none() {
            self.unseen_rows = 0;
            return;
        }
        let (mark, over) = self.row_cache.down(blocks, self.unseen_from, 0);
        let behind = over > 0 || mark.block >= blocks.len();
        // Past the last row means at its end, since the part may grow.
        self.unseen_from = if behind { self.end_of_last_part(blocks) } else { mark.max(bottom) };
        let (_, missing) = self.row_cache.down(blocks, self.unseen_from, UNSEEN);
        self.unseen_rows = UNSEEN.saturating_sub(missing);
    }

    /// Keeps the same part at the top when the width changes, scrolled in as far as before.
    pub fn keep_place(&mut self, blocks: &mut [Block]) {
        if self.unseen_rows == 0 {
            // Nothing new arrives by a change of the width.
            self.unseen_from = self.end_of_last_part(blocks);
        }
        let (Some(top), mark) = (self.top, self.unseen_from) else { return };
        let height = self.row_cache.height(blocks, (top.block, top.part));
        self.top = Some(RowPosition { row: top.row.min(height.saturating_sub(1)), ..top });
        let height = self.row_cache.height(blocks, (mark.block, mark.part));
        self.unseen_from = RowPosition { row: mark.row.min(height), ..mark };
    }

    /// Blocks were prepended.
    pub fn shift_blocks(&mut self, count: usize) {
        self.row_cache.remove_from(0);
        let positions = self.top.iter_mut().chain([&mut self.unseen_from]);
        positions.for_each(|position| position.block += count);
    }

    /// Blocks from `len` on were removed or replaced.
    pub fn invalidate_from(&mut self, len: usize, blocks: &[Block]) {
        self.row_cache.remove_from(len);
        if self.top.is_some_and(|top| top.block >= len) {
            self.top = None;
        }
        if self.unseen_from.block >= len {
            self.unseen_from = end_position(blocks);
        }
    }
}
