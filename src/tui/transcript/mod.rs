//! The conversation on the screen: messages, answers, reasoning, steps and notices.
//!
//! `builder` turns events into blocks, `block` lays one out in rows, `scroll` finds the rows in
//! view. Nothing else is ever laid out: a frame costs what it shows, however long the conversation
//! is. Sources are kept once; rows are kept only near the view; the height of a finished part is
//! remembered until the width changes. No I/O and no clock: the time that a step has been running is
//! passed in.

use std::rc::Rc;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use crate::Millis;
use crate::picture::{CellSize, PictureShelf};
use crate::theme::Theme;
use avocet_config::ShowThinking;
use avocet_core::i18n::{Lang, LocalizedText};
use avocet_core::protocol::{Event, Notice, PageRow};

mod block;
mod builder;
mod diff;
mod diff_view;
mod highlight;
mod markdown;
mod output;
mod overlay;
mod page;
mod paint;
mod paragraph;
mod plain_text;
mod plan;
mod pointer;
mod read_excerpt;
mod search;
mod search_bar;
mod select;
mod shown_images;
mod source_lines;
mod step;
mod step_groups;
mod step_run;
mod step_summary;
mod text;
mod time;
mod turn_end;
mod viewport;

pub use diff_view::{DiffForm, DiffView, language_of};
pub use highlight::{HighlightedCode, Highlighter, Snippet};
pub use overlay::{Hyperlink, Overlays};
pub use pointer::ReleaseOutcome;
pub use search::{SearchStatus, Stage};
pub use viewport::Scroll;

use block::BlockBody;
use builder::TranscriptBuilder;
use paint::{draw_time, paint_row};
use paragraph::StyledRow;
use pointer::{CellPosition, Pointer};
use search::TranscriptSearch;
use step::Fold;
use time::ArrivalTime;
use viewport::{LayoutSetting, RowCache, RowPosition, blank_rows_before, end_position, gutter};

/// Counting of unseen rows stops here.
const UNSEEN: usize = 999;

/// What drawing reads besides the conversation.
#[derive(Clone, Copy, Debug)]
pub struct DrawOptions<'a> {
    pub theme: &'a Theme,
    pub lang: Lang,
    /// The key that unfolds steps; empty: there is none.
    pub steps_key: &'a str,
    /// How long the running step or call has been running.
    pub elapsed_ms: u64,
    /// Set while times are shown: milliseconds from midnight to the moment event times are counted
    /// from.
    pub clock: Option<Millis>,
    /// The size of a cell, where images are shown as pictures.
    pub cell: Option<CellSize>,
}

/// The conversation and the position of the view in it.
#[derive(Debug, Default)]
pub struct Transcript {
    builder: TranscriptBuilder,
    row_cache: RowCache,
    /// The row at the top of the view; `None` follows the end.
    top: Option<RowPosition>,
    /// The first row that was never in view, while the view is not at the end.
    unseen_from: RowPosition,
    unseen_rows: usize,
    /// The area of the last frame, and the place of each of its rows.
    drawn_rows: (Rect, Vec<RowPosition>),
    /// The parts in it from their first row in view on.
    drawn_parts: Vec<(RowPosition, Rc<Vec<StyledRow>>)>,
    /// The first and the last selected cell in it.
    drawn_selection: Option<(CellPosition, CellPosition)>,
    step_fold: Fold,
    search: Option<TranscriptSearch>,
    pointer: Pointer,
    pictures: PictureShelf,
}

impl Transcript {
    pub fn new(show_thinking: ShowThinking) -> Transcript {
        Transcript { builder: TranscriptBuilder::new(show_thinking), ..Transcript::default() }
    }

    /// How reasoning is shown from now on; what is there already folds or unfolds.
    pub fn set_show_thinking(&mut self, show: ShowThinking) {
        self.builder.show_thinking = show;
        let fold = if show == ShowThinking::Full { Fold::Open } else { Fold::Auto };
        let is_reasoning =
            |block: &&mut block::Block| matches!(block.body, BlockBody::Reasoning { .. });
        for block in self.builder.blocks.iter_mut().filter(is_reasoning) {
            block.set_fold(fold);
        }
    }

    /// Sets the time of the events applied from now on.
    pub fn set_time(&mut self, now: Millis) {
        self.builder.now = ArrivalTime::SinceStart(now);
    }

    /// Applies an event of the session; events that are not shown are ignored.
    pub fn apply(&mut self, event: &Event) {
        let before = self.builder.blocks.len();
        if let Some(search) = &mut self.search {
            search.invalidate_from(first_changed_part(&self.builder.blocks, event));
        }
        self.builder.apply(event);
        if let Some(len) = self.builder.take_removed_from() {
            self.invalidate_from(len);
        }
        if self.step_fold == Fold::Open {
            let new = self.builder.blocks.iter_mut().skip(before);
            new.for_each(|block| apply_fold(block, Fold::Open));
        }
    }

    /// Prepends earlier events without moving the view. `at`: the wall-clock time of each event, in
    /// milliseconds since 1970.
    pub fn prepend(&mut self, events: &[Event], at: &[i64]) {
        let mut builder = TranscriptBuilder::new(self.builder.show_thinking);
        builder.now = ArrivalTime::Unknown;
        (builder.keeps_images, builder.image_count) =
            (self.builder.keeps_images, self.builder.image_count);
        for (index, event) in events.iter().enumerate() {
            if let Some(at) = at.get(index) {
                builder.now = ArrivalTime::WallClock(u64::try_from(*at).unwrap_or(0));
            }
            builder.apply(event);
        }
        let fold = self.step_fold;
        if fold == Fold::Open {
            builder.blocks.iter_mut().for_each(|block| apply_fold(block, fold));
        }
        let count = self.builder.prepend(builder);
        self.deselect();
        self.row_cache.remove_from(0);
        let places =
            self.top.iter_mut().chain([&mut self.unseen_from]).chain(&mut self.drawn_rows.1);
        places.for_each(|place| place.block += count);
        if let Some(search) = &mut self.search {
            search.shift_blocks(count);
        }
    }

    /// All turns with the words they began with, the last first.
    pub fn turns(&self) -> impl Iterator<Item = (u64, &str)> {
        self.builder.turns()
    }

    /// Adds a message of the interface itself, such as the result of a command.
    pub fn add_notice(&mut self, notice: Notice) {
        self.builder.notice(notice);
    }

    /// Shows a command as it was typed, above its answer.
    pub fn add_typed_command(&mut self, line: &str) {
        self.builder.typed_command(line);
    }

    /// Adds a titled block of lines.
    pub fn add_page(&mut self, title: impl Into<LocalizedText>, rows: Vec<PageRow>) {
        self.builder.page(title.into(), rows);
    }

    /// Scrolls. Does nothing before the first frame.
    pub fn scroll(&mut self, scroll: Scroll) {
        let height = i32::from(self.row_cache.setting.height);
        match scroll {
            Scroll::Lines(rows) => self.scroll_by(rows),
            Scroll::Pages(pages) => {
                self.scroll_by(pages.saturating_mul(height.saturating_sub(1).max(1)));
            }
            Scroll::Top => self.scroll_to(RowPosition::default()),
            Scroll::Bottom => self.top = None,
            Scroll::Turn(turns) => self.scroll_turns(turns),
        }
    }

    /// The user approved these steps before their turn came.
    pub fn approve_ahead(&mut self, steps: &[String]) {
        self.builder.approve_ahead(steps);
    }

    /// Unfolds all steps and reasoning, or folds them again.
    pub fn toggle_steps(&mut self) {
        self.deselect();
        self.step_fold = match self.step_fold {
            Fold::Auto | Fold::Closed => Fold::Open,
            Fold::Open => Fold::Auto,
        };
        let fold = self.step_fold;
        self.builder.blocks.iter_mut().for_each(|block| apply_fold(block, fold));
        step_groups::regroup(&mut self.builder.blocks);
    }

    /// Folds or unfolds the block at a row of the screen, as the mouse counts it; false when there
    /// is nothing to fold.
    pub fn click(&mut self, row: u16) -> bool {
        let (area, places) = &self.drawn_rows;
        let at = row.checked_sub(area.y).and_then(|row| places.get(usize::from(row)));
        let Some(at) = at.map(|at| at.block) else { return false };
        let blocks = &mut self.builder.blocks;
        step_groups::unfold(blocks, at) || blocks.get_mut(at).is_some_and(block::Block::toggle)
    }

    /// The suggestions of the last answer, while nothing follows it.
    pub fn suggestions(&self) -> &[String] {
        &self.builder.suggestions
    }

    /// The source of a whole answer; 0 is the last one.
    pub fn answer(&self, back: usize) -> Option<&str> {
        self.builder.answers().nth(back)
    }

    /// True while the view follows the end.
    pub fn is_following(&self) -> bool {
        self.top.is_none()
    }

    /// Rows added below the view since it left the end; 999 means "or more".
    pub fn unseen_rows(&self) -> usize {
        self.unseen_rows
    }

    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.builder.blocks.is_empty()
    }

    /// True until something but notices is in it.
    pub fn has_only_notices(&self) -> bool {
        let is_notice = |block: &block::Block| {
            matches!(block.body, BlockBody::Notice(_) | BlockBody::TypedCommand(_))
        };
        self.builder.blocks.iter().all(is_notice)
    }

    /// The notices in it, in their order.
    pub fn notices(&self) -> impl Iterator<Item = &Notice> {
        self.builder.blocks.iter().filter_map(|block| match &block.body {
            BlockBody::Notice(notice) => Some(notice),
            _ => None,
        })
    }

    /// Code near the view that is not highlighted yet, one piece at a time: have a [`Highlighter`]
    /// paint it on another thread, then pass the result to [`Transcript::add_highlight`].
    pub fn next_unhighlighted(&self) -> Option<Snippet> {
        self.row_cache.cached_parts().into_iter().find_map(|at| {
            self.builder.blocks.get(at.0)?.unhighlighted(at, &self.row_cache.highlights)
        })
    }

    /// Takes the colours of a piece of code.
    pub fn add_highlight(&mut self, code: HighlightedCode) {
        self.row_cache.add_highlight(code);
    }

    /// Lays out the rows in view.
    pub fn fit(&mut self, area: Rect, options: &DrawOptions<'_>) {
        let width = area.width;
        let height = area.height;
        if width == 0 || height == 0 {
            return;
        }
        let stamped = options.clock.is_some() != self.row_cache.setting.clock.is_some();
        let has_surfaces = self.row_cache.setting.theme.has_surfaces();
        let repainted = has_surfaces != options.theme.has_surfaces();
        let narrower = stamped || repainted || width != self.row_cache.setting.width;
        let theme = options.theme.clone();
        let setting = LayoutSetting {
            width,
            height,
            lang: options.lang,
            theme,
            steps_key: options.steps_key.to_owned(),
            clock: options.clock,
            cell: options.cell,
        };
        self.row_cache.begin_frame(setting, options.elapsed_ms, self.builder.now);
        self.builder.freeze_finished();
        if narrower {
            self.deselect();
            self.keep_place();
        }
        self.search_next_slice(narrower);
        let top = self.first_row();
        let bottom = self.lay_out(top, area);
        self.follow_pointer();
        self.drawn_selection = self.selected_range();
        self.count_unseen(bottom);
        self.row_cache.end_frame();
    }

    /// The row at the top of the view. Within a screen of the end, the view follows the end.
    fn first_row(&mut self) -> RowPosition {
        let lowest = self.lowest();
        if let Some(top) = self.top {
            let (top, _) = self.row_cache.down(&mut self.builder.blocks, top, 0);
            if top < lowest {
                self.top = Some(top);
                return top;
            }
            self.top = None;
        }
        lowest
    }

    /// The top row when the last row is at the bottom of the view.
    fn lowest(&mut self) -> RowPosition {
        let blocks = &mut self.builder.blocks;
        let end = end_position(blocks);
        self.row_cache.up(blocks, end, usize::from(self.row_cache.setting.height)).0
    }

    /// Lays out from `top` on; returns the place after the last row.
    fn lay_out(&mut self, position: RowPosition, area: Rect) -> RowPosition {
        let room = usize::from(area.height);
        let mut shown = Vec::with_capacity(room);
        let mut parts = Vec::new();
        let mut place = position;
        let blocks = &mut self.builder.blocks;
        while shown.len() < room && place.block < blocks.len() {
            let at = (place.block, place.part);
            let height = self.row_cache.height(blocks, at);
            if place.row < height {
                parts.push((place, self.row_cache.rows(blocks, at)));
                let end = height.min(place.row + room - shown.len());
                shown.extend((place.row..end).map(|row| RowPosition { row, ..place }));
                place.row = end;
            }
            if place.row >= height {
                (place, _) = self.row_cache.down(blocks, RowPosition { row: height, ..place }, 0);
            }
        }
        self.drawn_rows = (area, shown);
        self.drawn_parts = parts;
        place
    }

    /// Draws the rows that were laid out; returns the links and the pictures in them.
    pub fn draw(&self, buf: &mut Buffer) -> Overlays {
        let area = self.drawn_rows.0;
        let mut y = area.y;
        let mut links = Vec::new();
        for (place, rows) in &self.drawn_parts {
            let below = Rect { y, height: area.bottom() - y, ..area };
            y = self.draw_part(*place, rows, below, buf, &mut links);
        }
        self.mark_selection(buf);
        Overlays { links, pictures: self.draw_pictures(buf) }
    }

    /// Draws one part from `place` on; returns the next free row of the screen.
    fn draw_part(
        &self,
        position: RowPosition,
        rows: &[StyledRow],
        area: Rect,
        buf: &mut Buffer,
        hyperlinks: &mut Vec<Hyperlink>,
    ) -> u16 {
        let blank = blank_rows_before(&self.builder.blocks, (position.block, position.part));
        let cx = self.row_cache.layout_context();
        let Some(block) = self.builder.blocks.get(position.block) else { return area.y };
        let mark_row = blank + block.mark_row(rows.len());
        let bar = block.panel_bar(cx.theme);
        let gutter = gutter(usize::from(area.width)) as u16;
        let mut y = area.y;
        for row in position.row..blank + rows.len() {
            if y >= area.bottom() {
                break;
            }
            let line = row.checked_sub(blank).and_then(|row| rows.get(row));
            if let Some(line) = line {
                buf.set_line(area.x + gutter, y, &line.line, area.width - gutter);
                let from = area.x + gutter;
                hyperlinks
                    .extend(line.links.iter().map(|link| Hyperlink::from_link(link, from, y, buf)));
            }
            if row == blank && position.part == 0 {
                draw_time(block, line, (area, y), buf, &self.row_cache.setting);
            }
            if let Some(line) = line {
                let row = Rect { y, height: 1, ..area };
                paint_row(line, bar, (row, gutter), buf, cx.theme);
            }
            if row == mark_row
                && position.part == 0
                && gutter > 0
                && let Some(mark) = block.mark(&cx)
            {
                buf.set_span(area.x, y, &mark, gutter);
            }
            y += 1;
        }
        self.mark_hits(position, rows, area, buf);
        y
    }

    /// Highlights the search hits in a part that was drawn from `place` on.
    fn mark_hits(&self, position: RowPosition, rows: &[StyledRow], area: Rect, buf: &mut Buffer) {
        let Some(search) = &self.search else { return };
        let at = (position.block, position.part);
        let blank = blank_rows_before(&self.builder.blocks, at);
        let gutter = gutter(usize::from(area.width));
        let theme = &self.row_cache.setting.theme;
        for (cells, now) in search.hit_cells(at, rows) {
            let Some(row) = (blank + cells.row).checked_sub(position.row) else { continue };
            let y = usize::from(area.y) + row;
            let x = usize::from(area.x) + gutter;

            if y < usize::from(area.bottom()) {
                let width = cells.columns.len() as u16;
                let marked = Rect::new((x + cells.columns.start) as u16, y as u16, width, 1);
                let style = if now {
                    theme.selection.add_modifier(Modifier::BOLD | Modifier::UNDERLINED)
                } else {
                    Style::new().add_modifier(Modifier::REVERSED)
                };
                buf.set_style(marked.intersection(area), style);
            }
        }
    }

    fn scroll_by(&mut self, rows: i32) {
        if self.row_cache.setting.height == 0 {
            return;
        }
        let steps = rows.unsigned_abs() as usize;
        let top = match self.top {
            Some(top) => top,
            None => self.lowest(),
        };
        let blocks = &mut self.builder.blocks;
        let (top, _) = match rows {
            0.. => self.row_cache.down(blocks, top, steps),
            _ => self.row_cache.up(blocks, top, steps),
        };
        self.scroll_to(top);
    }

    /// Puts a row at the top, unless the end would then be in view.
    fn scroll_to(&mut self, position: RowPosition) {
        if self.row_cache.setting.height == 0 {
            return;
        }
        let lowest = self.lowest();
        let was_following = self.top.is_none();
        self.top = (position < lowest).then_some(position);
        if was_following {
            self.unseen_from = self.end_of_last_part();
        }
    }

    /// Goes to the user's message `turns` further down.
    fn scroll_turns(&mut self, turns: i32) {
        let top = match self.top {
            Some(top) => top,
            None => self.lowest(),
        };
        let blocks = &self.builder.blocks;
        let said: Vec<usize> = (0..blocks.len())
            .filter(|at| {
                blocks
                    .get(*at)
                    .is_some_and(|block| matches!(block.body, BlockBody::UserMessage { .. }))
            })
            .collect();
        let start =
            |at: usize| RowPosition { block: at, part: 0, row: blank_rows_before(blocks, (at, 0)) };
        let steps = turns.unsigned_abs() as usize;
        let found = match turns {
            0 => return,
            1.. => said.iter().map(|at| start(*at)).filter(|at| *at > top).nth(steps - 1),
            _ => said.iter().rev().map(|at| start(*at)).filter(|at| *at < top).nth(steps - 1),
        };
        match found {
            Some(place) => self.scroll_to(place),
            None if turns > 0 => self.top = None,
            None => self.scroll_to(RowPosition::default()),
        }
    }

    /// The last part that has rows, past its last row.
    fn end_of_last_part(&mut self) -> RowPosition {
        let blocks = &mut self.builder.blocks;
        let Some(block) = blocks.len().checked_sub(1) else { return RowPosition::default() };
        let part = blocks.last().map_or(0, |block| block.parts().saturating_sub(1));
        let row = self.row_cache.height(blocks, (block, part));
        RowPosition { block, part, row }
    }

    fn count_unseen(&mut self, position: RowPosition) {
        if self.top.is_none() {
            self.unseen_rows = 0;
            return;
        }
        let (mark, over) = self.row_cache.down(&mut self.builder.blocks, self.unseen_from, 0);
        let behind = over > 0 || mark.block >= self.builder.blocks.len();
        // Past the last row means at its end, since the part may grow.
        self.unseen_from = if behind { self.end_of_last_part() } else { mark.max(position) };
        let (_, missing) = self.row_cache.down(&mut self.builder.blocks, self.unseen_from, UNSEEN);
        self.unseen_rows = UNSEEN.saturating_sub(missing);
    }

    /// Keeps the same part at the top when the width changes, scrolled in as far as before.
    fn keep_place(&mut self) {
        if self.unseen_rows == 0 {
            // Nothing new arrives by a change of the width.
            self.unseen_from = self.end_of_last_part();
        }
        let blocks = &mut self.builder.blocks;
        let (Some(top), mark) = (self.top, self.unseen_from) else { return };
        let height = self.row_cache.height(blocks, (top.block, top.part));
        self.top = Some(RowPosition { row: top.row.min(height.saturating_sub(1)), ..top });
        let height = self.row_cache.height(blocks, (mark.block, mark.part));
        self.unseen_from = RowPosition { row: mark.row.min(height), ..mark };
    }

    /// Blocks from `len` on were removed or replaced.
    fn invalidate_from(&mut self, len: usize) {
        self.row_cache.remove_from(len);
        self.drop_selection_from(len);
        if self.top.is_some_and(|top| top.block >= len) {
            self.top = None;
        }
        if self.unseen_from.block >= len {
            self.unseen_from = end_position(&self.builder.blocks);
        }
    }
}

/// Unfolds or folds what a subagent did, and shows it.
pub fn toggle_agent(transcript: &mut Transcript, agent: &str) {
    let blocks = &mut transcript.builder.blocks;
    let at = blocks.iter().rposition(|block| block.is_of_agent(agent));
    if let Some((at, block)) = at.and_then(|at| Some((at, blocks.get_mut(at)?)))
        && block.toggle()
    {
        let row = blank_rows_before(blocks, (at, 0));
        transcript.scroll_to(RowPosition { block: at, part: 0, row });
    }
}

/// The range of parts that an event may change.
fn first_changed_part(blocks: &[block::Block], event: &Event) -> (usize, usize) {
    let turn =
        || blocks.iter().rposition(|block| matches!(block.body, BlockBody::UserMessage { .. }));
    match event {
        Event::StepOutput { .. } => (blocks.len(), 0),
        Event::Delta { .. } | Event::ReasoningDelta { .. } => match blocks.last() {
            Some(last) => (blocks.len() - 1, last.unfolded_part_count().saturating_sub(1)),
            None => (0, 0),
        },
        // A task in the background may be of an earlier turn.
        Event::Cleared | Event::Rewound { .. } | Event::Subagent { .. } => (0, 0),
        _ => (turn().unwrap_or_default(), 0),
    }
}

fn apply_fold(block: &mut block::Block, fold: Fold) {
    if block.is_open().is_some() {
        block.set_fold(fold);
    }
}

#[cfg(test)]
mod tests;
