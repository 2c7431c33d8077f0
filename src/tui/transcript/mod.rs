//! The conversation on the screen: messages, answers, reasoning, steps and notices.
//!
//! `story` turns events into blocks, `block` lays one out in rows, `scroll` finds the rows in view.
//! Nothing else is ever laid out: a frame costs what it shows, however long the conversation is.
//! Sources are kept once; rows are kept only near the view; the height of a finished part is
//! remembered until the width changes. No I/O and no clock: what moves (a spinner, a running time)
//! is passed in.

use std::ops::Range;
use std::rc::Rc;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use crate::protocol::{Event, Notice, PageRow};
use crate::tui::Millis;
use crate::tui::theme::Theme;
use crate::words::{Lang, LocalizedText};

mod bar;
mod block;
mod diff;
mod highlight;
mod long_diff;
mod markdown;
mod output;
mod page;
mod paper;
mod plain;
mod plan;
mod reading;
mod scroll;
mod search;
mod select;
mod step;
mod story;
mod text;
mod time;

pub use diff::rows as diff_rows;
pub use highlight::{Highlighter, Painted, Snippet};
pub use long_diff::LongDiff;
pub use scroll::Scroll;
pub use search::{SearchStatus, Stage};
pub use select::Released;

use block::{BlockBody, Fold};
use paper::{LinkColumns, MEASURE, StyledRow};
use scroll::{LayoutSetting, RowPosition, STAMP, Sheets, end, gap, gutter};
use search::{SearchHit, TranscriptSearch};
use select::Pointer;
use story::Story;
use time::When;

/// Counting of unseen rows stops here.
const UNSEEN: usize = 999;

/// What drawing reads besides the conversation.
#[derive(Clone, Copy, Debug)]
pub struct DrawOptions<'a> {
    pub theme: &'a Theme,
    pub lang: Lang,
    /// Frame number of the spinner; 0 when nothing spins.
    pub spinner: usize,
    /// How long the running step or call has been running.
    pub elapsed_ms: u64,
    /// Set while times are shown: milliseconds from midnight to the moment event times are counted
    /// from.
    pub clock: Option<Millis>,
}

/// The conversation and the position of the view in it.
#[derive(Debug, Default)]
pub struct Transcript {
    story: Story,
    sheets: Sheets,
    /// The row at the top of the view; `None` follows the end.
    top: Option<RowPosition>,
    /// The first row that was never in view, while the view is not at the end.
    mark: RowPosition,
    unseen: usize,
    /// The area of the last frame, and the place of each of its rows.
    shown: (Rect, Vec<RowPosition>),
    steps: Fold,
    search: Option<TranscriptSearch>,
    pointer: Pointer,
    anchors: Vec<Anchor>,
}

/// Cells of the screen that link to an address.
#[derive(Clone, Debug, PartialEq)]
pub struct Anchor {
    pub y: u16,
    pub columns: Range<u16>,
    pub address: Rc<str>,
    /// The text of the cells when they were drawn.
    text: String,
}

impl Transcript {
    /// Sets the time of the events applied from now on.
    pub fn at(&mut self, now: Millis) {
        self.story.now = When::Here(now);
    }

    /// Applies an event of the session; events that are not shown are ignored.
    pub fn apply(&mut self, event: &Event) {
        let before = self.story.blocks.len();
        if let Some(search) = &mut self.search {
            search.changed(touched(&self.story.blocks, event));
        }
        self.story.apply(event);
        if let Some(len) = self.story.take_cut() {
            self.shrunk(len);
        }
        if self.steps == Fold::Open {
            self.story.blocks.iter_mut().skip(before).for_each(|block| unfold(block, Fold::Open));
        }
    }

    /// Prepends earlier events without moving the view. `at`: the wall-clock time of each event, in
    /// milliseconds since 1970.
    pub fn before(&mut self, events: &[Event], at: &[i64]) {
        let mut older = Story::default();
        older.now = When::Unknown;
        for (index, event) in events.iter().enumerate() {
            if let Some(at) = at.get(index) {
                older.now = When::Wall(u64::try_from(*at).unwrap_or(0));
            }
            older.apply(event);
        }
        let fold = self.steps;
        if fold == Fold::Open {
            older.blocks.iter_mut().for_each(|block| unfold(block, fold));
        }
        let count = self.story.before(older);
        self.deselect();
        self.sheets.forget(0);
        let places = self.top.iter_mut().chain([&mut self.mark]).chain(&mut self.shown.1);
        places.for_each(|place| place.block += count);
        if let Some(search) = &mut self.search {
            search.moved_down(count);
        }
    }

    /// All turns with the words they began with, the last first.
    pub fn turns(&self) -> impl Iterator<Item = (u64, &str)> {
        self.story.turns()
    }

    /// Adds a message of the interface itself, such as the result of a command.
    pub fn notice(&mut self, notice: Notice) {
        self.story.notice(notice);
    }

    /// Adds a titled block of lines.
    pub fn page(&mut self, title: impl Into<LocalizedText>, body: Vec<PageRow>) {
        self.story.page(title.into(), body);
    }

    /// Scrolls. Does nothing before the first frame.
    pub fn scroll(&mut self, by: Scroll) {
        let height = i32::from(self.sheets.setting.height);
        match by {
            Scroll::Lines(rows) => self.move_by(rows),
            Scroll::Pages(pages) => {
                self.move_by(pages.saturating_mul(height.saturating_sub(1).max(1)));
            }
            Scroll::Top => self.look_at(RowPosition::default()),
            Scroll::Bottom => self.top = None,
            Scroll::Turn(turns) => self.turn(turns),
        }
    }

    /// Unfolds all steps and reasoning, or folds them again.
    pub fn toggle_steps(&mut self) {
        self.deselect();
        self.steps = match self.steps {
            Fold::Natural | Fold::Closed => Fold::Open,
            Fold::Open => Fold::Natural,
        };
        let fold = self.steps;
        self.story.blocks.iter_mut().for_each(|block| unfold(block, fold));
    }

    /// Folds or unfolds the block at a row of the screen, as the mouse counts it; false when there
    /// is nothing to fold.
    pub fn click(&mut self, row: u16) -> bool {
        let (area, places) = &self.shown;
        let at = row.checked_sub(area.y).and_then(|row| places.get(usize::from(row)));
        let block = at.and_then(|at| self.story.blocks.get_mut(at.block));
        block.is_some_and(block::Block::toggle)
    }

    /// The suggestions of the last answer, while nothing follows it.
    pub fn suggestions(&self) -> &[String] {
        &self.story.suggestions
    }

    /// The source of a whole answer; 0 is the last one.
    pub fn answer(&self, back: usize) -> Option<&str> {
        self.story.answers().nth(back)
    }

    /// True while the view follows the end.
    pub fn following(&self) -> bool {
        self.top.is_none()
    }

    /// Rows added below the view since it left the end; 999 means "or more".
    pub fn unseen(&self) -> usize {
        self.unseen
    }

    pub fn is_empty(&self) -> bool {
        self.story.blocks.is_empty()
    }

    /// Code near the view that is not highlighted yet, one piece at a time: have a [`Highlighter`]
    /// paint it on another thread, then pass the result to [`Transcript::colour`].
    pub fn uncoloured(&self) -> Option<Snippet> {
        self.sheets
            .near()
            .into_iter()
            .find_map(|at| self.story.blocks.get(at.0)?.uncoloured(at, &self.sheets.paints))
    }

    /// Takes the colours of a piece of code.
    pub fn colour(&mut self, painted: Painted) {
        self.sheets.paint(painted);
    }

    /// Draws the rows in view.
    pub fn view(&mut self, area: Rect, buf: &mut Buffer, look: &DrawOptions<'_>) {
        let (width, height) = (area.width, area.height);
        if width == 0 || height == 0 {
            return;
        }
        self.anchors.clear();
        let stamped = look.clock.is_some() != self.sheets.setting.clock.is_some();
        let narrower = stamped || width != self.sheets.setting.width;
        let theme = look.theme.clone();
        let setting = LayoutSetting { width, height, lang: look.lang, theme, clock: look.clock };
        self.sheets.begin(setting, look.spinner, look.elapsed_ms);
        self.story.settle();
        if narrower {
            self.deselect();
            self.keep_place();
        }
        self.read_on(narrower);
        let top = self.first_row();
        let bottom = self.draw(top, area, buf);
        self.follow_pointer();
        self.mark_selection(buf);
        self.count_unseen(bottom);
        self.sheets.end();
    }

    /// The row at the top of the view. Within a screen of the end, the view follows the end.
    fn first_row(&mut self) -> RowPosition {
        let lowest = self.lowest();
        if let Some(top) = self.top {
            let (top, _) = self.sheets.down(&mut self.story.blocks, top, 0);
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
        let blocks = &mut self.story.blocks;
        let end = end(blocks);
        self.sheets.up(blocks, end, usize::from(self.sheets.setting.height)).0
    }

    /// Draws from `top` on; returns the place after the last row.
    fn draw(&mut self, top: RowPosition, area: Rect, buf: &mut Buffer) -> RowPosition {
        let mut shown = Vec::with_capacity(usize::from(area.height));
        let (mut place, mut y) = (top, area.top());
        while y < area.bottom() && place.block < self.story.blocks.len() {
            let at = (place.block, place.part);
            let height = self.sheets.height(&mut self.story.blocks, at);
            if place.row < height {
                y = self.draw_part(place, Rect { y, height: area.bottom() - y, ..area }, buf);
                let drawn = usize::from(y - area.top()) - shown.len();
                shown.extend((0..drawn).map(|row| RowPosition { row: place.row + row, ..place }));
                place.row += drawn;
            }
            if place.row >= height {
                (place, _) = self.sheets.down(
                    &mut self.story.blocks,
                    RowPosition { row: height, ..place },
                    0,
                );
            }
        }
        self.shown = (area, shown);
        place
    }

    /// Draws one part from `place` on; returns the next free row of the screen.
    fn draw_part(&mut self, place: RowPosition, area: Rect, buf: &mut Buffer) -> u16 {
        let at = (place.block, place.part);
        let blank = gap(&self.story.blocks, at);
        let rows = self.sheets.rows(&mut self.story.blocks, at);
        let paper = self.sheets.paper();
        let Some(block) = self.story.blocks.get(place.block) else { return area.y };
        let mark_row = blank + block.mark_row(rows.len());
        let gutter = gutter(usize::from(area.width)) as u16;
        let anchors = &mut self.anchors;
        let mut y = area.y;
        for row in place.row..blank + rows.len() {
            if y >= area.bottom() {
                break;
            }
            let line = row.checked_sub(blank).and_then(|row| rows.get(row));
            if let Some(line) = line {
                buf.set_line(area.x + gutter, y, &line.line, area.width - gutter);
                let from = area.x + gutter;
                anchors.extend(line.links.iter().map(|link| Anchor::drawn(link, from, y, buf)));
            }
            if row == blank && place.part == 0 {
                stamp(block, line, (area, y), buf, &self.sheets.setting);
            }
            if row == mark_row
                && place.part == 0
                && gutter > 0
                && let Some(mark) = block.mark(&paper)
            {
                buf.set_span(area.x, y, &mark, gutter);
            }
            y += 1;
        }
        self.mark_hits(place, area, buf);
        y
    }

    /// The links on the screen that nothing else covers.
    pub fn anchors(&self, buf: &Buffer) -> Vec<Anchor> {
        let is_seen = |anchor: &&Anchor| anchor.text == read_cells(buf, &anchor.columns, anchor.y);
        self.anchors.iter().filter(is_seen).cloned().collect()
    }

    /// Highlights the search hits in a part that was drawn from `place` on.
    fn mark_hits(&mut self, place: RowPosition, area: Rect, buf: &mut Buffer) {
        let Some(search) = &self.search else { return };
        let at = (place.block, place.part);
        let blank = gap(&self.story.blocks, at);
        let rows = self.sheets.rows(&mut self.story.blocks, at);
        let gutter = gutter(usize::from(area.width));
        let theme = &self.sheets.setting.theme;
        for (cells, now) in search.marks(at, &rows) {
            let Some(row) = (blank + cells.row).checked_sub(place.row) else { continue };
            let (y, x) = (usize::from(area.y) + row, usize::from(area.x) + gutter);
            if y < usize::from(area.bottom()) {
                let width = cells.columns.len() as u16;
                let marked = Rect::new((x + cells.columns.start) as u16, y as u16, width, 1);
                let style = match now {
                    true => theme.selection.add_modifier(Modifier::BOLD | Modifier::UNDERLINED),
                    false => Style::new().add_modifier(Modifier::REVERSED),
                };
                buf.set_style(marked.intersection(area), style);
            }
        }
    }

    /// Searches the next slice, and goes to the first hit once it is found.
    fn read_on(&mut self, narrower: bool) {
        let Some(search) = &mut self.search else { return };
        if narrower {
            search.again();
        }
        let paper = self.sheets.paper();
        if let Some(hit) = search.read(&self.story.blocks, &paper) {
            self.show(hit);
        }
    }

    /// Unfolds the block of a hit and brings its row into view, a third from the top.
    fn show(&mut self, hit: SearchHit) {
        let Some(block) = self.story.blocks.get_mut(hit.part.0) else { return };
        let same = block.fold == Fold::Open || block.is_open().is_none();
        unfold(block, Fold::Open);
        let rows = self.sheets.rows(&mut self.story.blocks, hit.part);
        let row = self.search.as_ref().and_then(|search| search.row(hit, &rows));
        let row = gap(&self.story.blocks, hit.part) + row.unwrap_or_default();
        let place = RowPosition { block: hit.part.0, part: hit.part.1, row };
        let seen = |first: &RowPosition| *first <= place && self.shown.1.last() >= Some(&place);
        if !(same && self.shown.1.first().is_some_and(seen)) {
            let above = usize::from(self.sheets.setting.height) / 3;
            let (top, _) = self.sheets.up(&mut self.story.blocks, place, above);
            self.look_at(top);
        }
    }

    fn move_by(&mut self, rows: i32) {
        if self.sheets.setting.height == 0 {
            return;
        }
        let steps = rows.unsigned_abs() as usize;
        let top = match self.top {
            Some(top) => top,
            None => self.lowest(),
        };
        let blocks = &mut self.story.blocks;
        let (top, _) = match rows {
            0.. => self.sheets.down(blocks, top, steps),
            _ => self.sheets.up(blocks, top, steps),
        };
        self.look_at(top);
    }

    /// Puts a row at the top, unless the end would then be in view.
    fn look_at(&mut self, top: RowPosition) {
        if self.sheets.setting.height == 0 {
            return;
        }
        let lowest = self.lowest();
        let was_following = self.top.is_none();
        self.top = (top < lowest).then_some(top);
        if was_following {
            self.mark = self.tail();
        }
    }

    /// Goes to the user's message `turns` further down.
    fn turn(&mut self, turns: i32) {
        let top = match self.top {
            Some(top) => top,
            None => self.lowest(),
        };
        let blocks = &self.story.blocks;
        let said: Vec<usize> = (0..blocks.len())
            .filter(|at| {
                blocks.get(*at).is_some_and(|block| matches!(block.body, BlockBody::Said { .. }))
            })
            .collect();
        let start = |at: usize| RowPosition { block: at, part: 0, row: gap(blocks, (at, 0)) };
        let steps = turns.unsigned_abs() as usize;
        let found = match turns {
            0 => return,
            1.. => said.iter().map(|at| start(*at)).filter(|at| *at > top).nth(steps - 1),
            _ => said.iter().rev().map(|at| start(*at)).filter(|at| *at < top).nth(steps - 1),
        };
        match found {
            Some(place) => self.look_at(place),
            None if turns > 0 => self.top = None,
            None => self.look_at(RowPosition::default()),
        }
    }

    /// The last part that has rows, past its last row.
    fn tail(&mut self) -> RowPosition {
        let blocks = &mut self.story.blocks;
        let Some(block) = blocks.len().checked_sub(1) else { return RowPosition::default() };
        let part = blocks.last().map_or(0, |block| block.parts().saturating_sub(1));
        let row = self.sheets.height(blocks, (block, part));
        RowPosition { block, part, row }
    }

    fn count_unseen(&mut self, bottom: RowPosition) {
        if self.top.is_none() {
            self.unseen = 0;
            return;
        }
        let (mark, over) = self.sheets.down(&mut self.story.blocks, self.mark, 0);
        let behind = over > 0 || mark.block >= self.story.blocks.len();
        // Past the last row means at its end, since the part may grow.
        self.mark = if behind { self.tail() } else { mark.max(bottom) };
        let (_, missing) = self.sheets.down(&mut self.story.blocks, self.mark, UNSEEN);
        self.unseen = UNSEEN.saturating_sub(missing);
    }

    /// Keeps the same part at the top when the width changes, scrolled in as far as before.
    fn keep_place(&mut self) {
        let blocks = &mut self.story.blocks;
        let (Some(top), mark) = (self.top, self.mark) else { return };
        let height = self.sheets.height(blocks, (top.block, top.part));
        self.top = Some(RowPosition { row: top.row.min(height.saturating_sub(1)), ..top });
        let height = self.sheets.height(blocks, (mark.block, mark.part));
        self.mark = RowPosition { row: mark.row.min(height), ..mark };
    }

    /// Blocks from `len` on were removed or replaced.
    fn shrunk(&mut self, len: usize) {
        self.sheets.forget(len);
        self.forget_selection(len);
        if self.top.is_some_and(|top| top.block >= len) {
            self.top = None;
        }
        if self.mark.block >= len {
            self.mark = end(&self.story.blocks);
        }
    }
}

impl Anchor {
    #[cfg(test)]
    pub fn to(address: &str, y: u16, columns: Range<u16>) -> Anchor {
        Anchor { y, columns, address: address.into(), text: String::new() }
    }

    fn drawn(link: &LinkColumns, from: u16, y: u16, buf: &Buffer) -> Anchor {
        let Range { start, end } = link.columns;
        let columns = from.saturating_add(start)..from.saturating_add(end).min(buf.area.right());
        let text = read_cells(buf, &columns, y);
        Anchor { y, columns, address: Rc::clone(&link.address), text }
    }
}

fn read_cells(buf: &Buffer, columns: &Range<u16>, y: u16) -> String {
    columns.clone().filter_map(|x| Some(buf.cell((x, y))?.symbol())).collect()
}

/// Draws the time of a block after its first row, or close to the row where that is short.
fn stamp(
    block: &block::Block,
    line: Option<&StyledRow>,
    (area, y): (Rect, u16),
    buf: &mut Buffer,
    setting: &LayoutSetting,
) {
    let (Some(clock), Some(line)) = (setting.clock(), line) else { return };
    let Some(wall) = block.at.wall(clock) else { return };
    let taken = gutter(area.width.into()) + line.width() + 1;
    let put = |time: String, buf: &mut Buffer| {
        let text = usize::from(area.width).saturating_sub(time.len() + 1);
        let near = gutter(area.width.into()) + MEASURE + STAMP - time.len();
        let x = if taken < near { near.min(text) } else { text };
        let fits = taken <= x;
        if fits || time.len() < STAMP {
            buf.set_string(area.x + x as u16, y, time, setting.theme.dim);
        }
        fits
    };
    // The day is added where it differs and there is room.
    if !time::same_day(wall, clock) && put(time::of_day_and_day(wall), buf) {
        return;
    }
    put(time::of_day(wall), buf);
}

/// The range of parts that an event may change.
fn touched(blocks: &[block::Block], event: &Event) -> (usize, usize) {
    let turn = || blocks.iter().rposition(|block| matches!(block.body, BlockBody::Said { .. }));
    match event {
        Event::StepOutput { .. } => (blocks.len(), 0),
        Event::Delta { .. } | Event::ReasoningDelta { .. } => match blocks.last() {
            Some(last) => (blocks.len() - 1, last.opened_parts().saturating_sub(1)),
            None => (0, 0),
        },
        Event::Cleared | Event::Rewound { .. } => (0, 0),
        _ => (turn().unwrap_or_default(), 0),
    }
}

fn unfold(block: &mut block::Block, fold: Fold) {
    if block.is_open().is_some() {
        block.refold(fold);
    }
}

#[cfg(test)]
mod tests;
