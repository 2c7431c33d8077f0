//! Places in the transcript, and the cache of rows near the view. Places are counted in parts and
//! rows, never in rows from the top, so the height of everything above need not be known.

use std::collections::HashMap;
use std::rc::Rc;

use super::block::{Block, BlockBody, GUTTER, Height};
use super::highlight::{HighlightCache, HighlightedCode};
use super::paragraph::{LayoutContext, StyledRow};
use super::time::ArrivalTime;
use crate::Millis;
use crate::picture::CellSize;
use crate::theme::Theme;
use avocet_core::i18n::Lang;

/// Columns of a time, `14:03`, and the space before it.
pub(super) const STAMP: usize = 7;
/// Screens narrower than this show no times.
const STAMPED: u16 = 60;

/// Where to scroll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scroll {
    /// Rows; positive is down.
    Lines(i32),
    /// Screens, less one row each.
    Pages(i32),
    Top,
    /// To the end, following it while text arrives.
    Bottom,
    /// To the user's message, so many turns further down.
    Turn(i32),
}

/// A row: of a part of a block. Ordered from top to bottom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RowPosition {
    pub block: usize,
    pub part: usize,
    pub row: usize,
}

/// The settings of the current layout: a change invalidates all heights.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct LayoutSetting {
    /// Columns of the area, and rows.
    pub width: u16,
    pub height: u16,
    pub lang: Lang,
    pub theme: Theme,
    pub steps_key: String,
    /// Set while times are shown: the wall-clock time when the screen began, in milliseconds since
    /// 1970.
    pub clock: Option<Millis>,
    /// The size of a cell, where images are shown as pictures.
    pub cell: Option<CellSize>,
}

impl LayoutSetting {
    /// The clock, where there is room for times.
    pub fn visible_clock(&self) -> Option<Millis> {
        self.clock.filter(|_| self.width >= STAMPED)
    }
}

/// Laid-out rows, kept while they are near the view.
#[derive(Debug, Default)]
pub(super) struct RowCache {
    pub setting: LayoutSetting,
    /// Identifies the settings that affect heights; 0 before the first.
    layout_id: u32,
    frame: u64,
    /// How long a step has been running.
    elapsed_ms: u64,
    now: Millis,
    cached: HashMap<(usize, usize), CachedRows>,
    pub highlights: HighlightCache,
}

#[derive(Debug)]
struct CachedRows {
    version: u64,
    frame: u64,
    rows: Rc<Vec<StyledRow>>,
}

impl RowCache {
    /// Begins a frame.
    pub fn begin_frame(&mut self, setting: LayoutSetting, elapsed_ms: u64, time: ArrivalTime) {
        self.elapsed_ms = elapsed_ms;
        if let ArrivalTime::SinceStart(now) = time {
            self.now = now;
        }
        let shape = |setting: &LayoutSetting| {
            let has_surfaces = setting.theme.has_surfaces();
            (setting.width, setting.lang, setting.clock.is_some(), setting.cell, has_surfaces)
        };
        let same = shape(&self.setting) == shape(&setting);
        if !same {
            self.layout_id = self.layout_id.wrapping_add(1);
        }
        let is_drawn_alike =
            self.setting.theme == setting.theme && self.setting.steps_key == setting.steps_key;
        if !same || !is_drawn_alike {
            self.cached.clear();
        }
        self.setting = setting;
        self.frame += 1;
    }

    /// Drops what neither this frame nor the last one touched.
    pub fn end_frame(&mut self) {
        let frame = self.frame;
        self.cached.retain(|_, sheet| sheet.frame + 1 >= frame);
    }

    /// The parts in or near the view, from the top.
    pub fn cached_parts(&self) -> Vec<(usize, usize)> {
        let mut near: Vec<_> = self.cached.keys().copied().collect();
        near.sort_unstable();
        near
    }

    /// Takes colours; the part is laid out again.
    pub fn add_highlight(&mut self, code: HighlightedCode) {
        let (block, part, _) = code.at;
        self.cached.remove(&(block, part));
        self.highlights.insert(code);
    }

    /// The number of parts whose rows are kept.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.cached.len()
    }

    /// Drops the rows of `block` and of all blocks after it.
    pub fn remove_from(&mut self, block: usize) {
        self.cached.retain(|(kept, _), _| *kept < block);
        self.highlights.remove_from(block);
    }

    pub fn layout_context(&self) -> LayoutContext<'_> {
        let area = usize::from(self.setting.width);
        let margin = if area >= 60 { 2 } else { 0 };
        let stamp = if self.setting.visible_clock().is_some() { STAMP } else { 0 };
        let width = area.saturating_sub(gutter(area) + margin + stamp).max(1);
        let theme = &self.setting.theme;
        let lang = self.setting.lang;

        let cell = self.setting.cell;
        let elapsed_ms = self.elapsed_ms;
        let now = self.now;

        let steps_key = self.setting.steps_key.as_str();
        LayoutContext { theme, lang, steps_key, width, elapsed_ms, now, cell, highlights: None }
    }

    /// The rows of a part without the blank row before it.
    pub fn rows(&mut self, blocks: &mut [Block], at: (usize, usize)) -> Rc<Vec<StyledRow>> {
        let Some(block) = blocks.get_mut(at.0) else { return Rc::default() };
        if block.is_running() {
            return Rc::new(block.layout(at.1, &self.layout_context()));
        }
        let version = block.version(at.1);
        if let Some(sheet) = self.cached.get_mut(&at).filter(|sheet| sheet.version == version) {
            sheet.frame = self.frame;
            return Rc::clone(&sheet.rows);
        }
        let cx =
            LayoutContext { highlights: Some((&self.highlights, at)), ..self.layout_context() };
        let rows = Rc::new(block.layout(at.1, &cx));
        note_height(
            block,
            at.1,
            Height { layout_id: self.layout_id, version, rows: rows.len() as u32 },
        );
        let cached_rows = CachedRows { version, frame: self.frame, rows: Rc::clone(&rows) };
        self.cached.insert(at, cached_rows);
        rows
    }

    /// How many rows a part takes, the blank row before it included.
    pub fn height(&mut self, blocks: &mut [Block], at: (usize, usize)) -> usize {
        let Some(block) = blocks.get(at.0) else { return 0 };
        let known = block.heights.get(at.1).copied().unwrap_or_default();
        let same = known.layout_id == self.layout_id && known.version == block.version(at.1);
        let rows = if same && self.layout_id > 0 && !block.is_running() {
            known.rows as usize
        } else {
            self.rows(blocks, at).len()
        };
        if rows == 0 { 0 } else { rows + blank_rows_before(blocks, at) }
    }

    /// The place `rows` further up, and how many rows were missing.
    pub fn up(
        &mut self,
        blocks: &mut [Block],
        mut position: RowPosition,
        rows: usize,
    ) -> (RowPosition, usize) {
        let mut left = rows;
        loop {
            if left <= position.row {
                position.row -= left;
                return (position, 0);
            }
            left -= position.row;
            position.row = 0;
            let Some((block, part)) = part_before(blocks, (position.block, position.part)) else {
                return (position, left);
            };
            position = RowPosition { block, part, row: self.height(blocks, (block, part)) };
        }
    }

    /// The place `rows` further down, at most the end.
    pub fn down(
        &mut self,
        blocks: &mut [Block],
        mut position: RowPosition,
        rows: usize,
    ) -> (RowPosition, usize) {
        let mut left = rows;
        while position.block < blocks.len() {
            // A part may have become shorter than the row in it; it is then skipped.
            let height = self.height(blocks, (position.block, position.part));
            position.row += left;
            if position.row < height {
                return (position, 0);
            }
            left = position.row - height;
            let (block, part) = part_after(blocks, (position.block, position.part));
            position = RowPosition { block, part, row: 0 };
        }
        (position, left)
    }
}

/// Columns left of the text.
pub(super) fn gutter(area: usize) -> usize {
    if area < 8 { 0 } else { GUTTER }
}

/// The place after everything.
pub(super) fn end_position(blocks: &[Block]) -> RowPosition {
    RowPosition { block: blocks.len(), part: 0, row: 0 }
}

/// One blank row between blocks, but none between steps.
pub(super) fn blank_rows_before(blocks: &[Block], (at, part): (usize, usize)) -> usize {
    let Some(block) = blocks.get(at) else { return 0 };
    if part > 0 {
        return usize::from(block.has_blank_before(part));
    }
    let Some(last) = at.checked_sub(1).and_then(|at| blocks.get(at)) else { return 0 };
    let close = match (&last.body, &block.body) {
        (BlockBody::Step(above), BlockBody::Step(_)) => !above.has_rows_below(last.fold),
        (BlockBody::UserMessage { .. }, BlockBody::Attachments(_))
        | (BlockBody::TypedCommand(_), BlockBody::Notice(_) | BlockBody::Page { .. }) => true,
        (BlockBody::UserMessage { .. }, BlockBody::Step(step)) => {
            step.is_open(block.fold) && step.is_typed()
        }
        _ => false,
    };
    usize::from(!close)
}

fn part_before(blocks: &[Block], (block, part): (usize, usize)) -> Option<(usize, usize)> {
    if part > 0 && block < blocks.len() {
        return Some((block, part - 1));
    }
    let above = block.checked_sub(1)?;
    Some((above, blocks.get(above)?.parts().saturating_sub(1)))
}

fn part_after(blocks: &[Block], (block, part): (usize, usize)) -> (usize, usize) {
    match blocks.get(block) {
        Some(here) if part + 1 < here.parts() => (block, part + 1),
        _ => (block + 1, 0),
    }
}

fn note_height(block: &mut Block, part: usize, height: Height) {
    if block.heights.len() <= part {
        block.heights.resize(part + 1, Height::default());
    }
    if let Some(known) = block.heights.get_mut(part) {
        *known = height;
    }
}
