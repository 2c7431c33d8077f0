//! The conversation on the screen: messages, answers, reasoning, steps and notices.
//!
//! `builder` turns events into blocks, `block` lays one out in rows, `scroll_view` finds the rows
//! in view. Nothing else is ever laid out: a frame costs what it shows, however long the conversation
//! is. Sources are kept once; rows are kept only near the view; the height of a finished part is
//! remembered until the width changes. No I/O and no clock: the time that a step has been running is
//! passed in.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::Millis;
use crate::picture::{CellSize, PictureShelf, reserve};
use crate::theme::Theme;
use avocet_config::ShowThinking;
use avocet_core::i18n::{Lang, LocalizedText};
use avocet_core::protocol::{Event, Notice, PageRow};

mod agent_work;
mod block;
mod builder;
mod diff;
mod diff_view;
mod drawn_frame;
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
mod scroll_view;
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
use drawn_frame::DrawnFrame;
use pointer::Pointer;
use scroll_view::ScrollView;
use search::TranscriptSearch;
use step::Fold;
use time::ArrivalTime;
use viewport::{LayoutSetting, RowPosition, blank_rows_before};

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
    view: ScrollView,
    frame: DrawnFrame,
    step_fold: Fold,
    search: Option<TranscriptSearch>,
    pointer: Pointer,
    pub pictures: PictureShelf,
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
            self.view.invalidate_from(len, &self.builder.blocks);
            self.pointer.drop_selection_from(len);
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
        self.view.shift_blocks(count);
        self.frame.rows.iter_mut().for_each(|position| position.block += count);
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
        self.view.scroll(&mut self.builder.blocks, scroll);
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
        let Some(at) = self.frame.row_at(row).map(|at| at.block) else { return false };
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
        self.view.is_following()
    }

    /// Rows added below the view since it left the end; 999 means "or more".
    pub fn unseen_rows(&self) -> usize {
        self.view.unseen_rows()
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
        let row_cache = &self.view.row_cache;
        row_cache
            .cached_parts()
            .into_iter()
            .find_map(|at| self.builder.blocks.get(at.0)?.unhighlighted(at, &row_cache.highlights))
    }

    /// Takes the colours of a piece of code.
    pub fn add_highlight(&mut self, code: HighlightedCode) {
        self.view.row_cache.add_highlight(code);
    }

    /// Lays out the rows in view.
    pub fn fit(&mut self, area: Rect, options: &DrawOptions<'_>) {
        let width = area.width;
        let height = area.height;
        if width == 0 || height == 0 {
            return;
        }
        let drawn = &self.view.row_cache.setting;
        let stamped = options.clock.is_some() != drawn.clock.is_some();
        let repainted = drawn.theme.has_surfaces() != options.theme.has_surfaces();
        let narrower = stamped || repainted || width != drawn.width;
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
        self.view.row_cache.begin_frame(setting, options.elapsed_ms, self.builder.now);
        self.builder.freeze_finished();
        if narrower {
            self.deselect();
            self.view.keep_place(&mut self.builder.blocks);
        }
        self.search_next_slice(narrower);
        let blocks = &mut self.builder.blocks;
        let top = self.view.first_row(blocks);
        let bottom = self.frame.lay_out(top, area, &mut self.view.row_cache, blocks);
        self.pointer.follow(&self.frame);
        self.frame.selection = self.pointer.selected_range(&mut self.view.row_cache, blocks);
        self.view.count_unseen(blocks, bottom);
        self.view.row_cache.end_frame();
    }

    /// Draws the rows that were laid out; returns the links and the pictures in them.
    pub fn draw(&self, buf: &mut Buffer) -> Overlays {
        let search = self.search.as_ref();
        let links = self.frame.draw(&self.view.row_cache, &self.builder.blocks, search, buf);
        let pictures = self.pictures.placed();
        pictures.iter().for_each(|picture| reserve(picture.area, buf));
        Overlays { links, pictures }
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
        transcript.view.scroll_to(blocks, RowPosition { block: at, part: 0, row });
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
