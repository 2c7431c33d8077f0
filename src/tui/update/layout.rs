//! Divides the screen among the areas before each frame, and fits the areas to it: which rows of
//! the conversation are in view, which of a question were shown. Drawing only reads that.

use std::sync::Arc;

use ratatui::layout::Rect;

use crate::Millis;
use crate::draw::DrawContext;
use crate::focus::{Focus, focus};
use crate::jobs;
use crate::keys::{KeyAction, KeyContext};
use crate::side_panel;
use crate::state::{ScreenAreas, State};
use crate::transcript::DrawOptions;
use crate::welcome;

/// On a smaller screen only a sentence is shown.
const SMALLEST: (u16, u16) = (20, 4);
/// Below this height rules and blank rows are dropped.
const LOW: u16 = 14;
/// Rows of a draft below a question, and the height from which they are shown.
const DRAFT_ROWS: u16 = 4;
const DRAFT_FROM: u16 = 8;
/// The widest column, and that of screens that are wider than most.
const COLUMN: u16 = 140;
const WIDE_FROM: u16 = 160;
const WIDE_COLUMN: u16 = 156;
/// The same for the queue.
const QUEUE_ROWS: u16 = 2;
const QUEUE_FROM: u16 = 20;

/// The areas of a frame. Those without room have no height.
#[derive(Clone, Copy, Debug, Default)]
pub struct Layout {
    pub focus: Focus,
    pub is_too_small: bool,
    pub transcript: Rect,
    pub queue: Rect,
    pub suggestions: Rect,
    /// The start page is shown in place of the conversation; its rows to try.
    pub is_start_page: bool,
    pub first_steps: Rect,
    /// The jobs, and below them the subagents.
    pub jobs: Rect,
    pub plan: Rect,
    pub side_panel: Rect,
    pub activity: Rect,
    /// The input with its rules, or the draft below a question.
    pub input: Rect,
    /// The rows of its text.
    pub input_rows: u16,
    pub status: Rect,
    /// The part of the screen for a dialog, which may leave its upper rows free.
    pub dialog: Rect,
}

pub fn layout(state: &mut State, screen: Rect, now: Millis) -> Layout {
    if screen.width < SMALLEST.0 || screen.height < SMALLEST.1 {
        return Layout { is_too_small: true, ..Layout::default() };
    }
    let (whole, side_panel) = (screen, side_panel_area(state, screen));
    let screen = Rect { width: screen.width - side_panel.width, ..screen };
    // The list of files and a diff side by side need all there is.
    let screen = if state.modals.is_diff_on_top() { screen } else { column(screen) };
    let theme = state.appearance.theme.clone();
    let keymap = Arc::clone(&state.keys.keymap);
    let cx = DrawContext { theme: &theme, lang: state.appearance.lang, now, keymap: &keymap };
    let focus = focus(state, now);
    let areas = match focus {
        Focus::Question | Focus::Draft => with_question(state, screen, &cx),
        Focus::Page | Focus::Picker => {
            // A page covers the whole screen.
            let rows = state.modals.fit(screen, &cx).unwrap_or(screen.height);
            let height = screen.height.saturating_sub(rows);
            Layout { transcript: Rect { height, ..screen }, dialog: screen, ..Layout::default() }
        }
        focus => without_dialog(state, screen, focus, &cx),
    };
    let areas = with_start_page(state, areas, &cx);
    if !areas.transcript.is_empty() && !areas.is_start_page {
        let options = DrawOptions {
            theme: &theme,
            lang: cx.lang,
            steps_key: &keymap.key_of(KeyContext::Anywhere, KeyAction::Steps),
            elapsed_ms: state.activity.elapsed(now),
            clock: state.appearance.timestamps.then_some(state.appearance.clock),
            cell: state.display.graphics.graphics().map(|graphics| graphics.cell),
        };
        state.transcript.fit(areas.transcript, &options);
        state.transcript.place_pictures(now);
    }
    state.display.areas = ScreenAreas {
        above_input: Rect {
            y: screen.y,
            height: areas.input.y.saturating_sub(screen.y),
            ..areas.input
        },
        suggestions: areas.suggestions,
        first_steps: areas.first_steps,
        dialog: areas.dialog,
        transcript: areas.transcript,
        screen_width: whole.width,
    };
    Layout { focus, side_panel, ..areas }
}

/// The column that everything is in. On wide screens it is in the middle, and wide enough for a
/// diff side by side where the screen is.
fn column(screen: Rect) -> Rect {
    let width = match screen.width {
        WIDE_FROM.. => WIDE_COLUMN,
        columns => columns.min(COLUMN),
    };
    Rect { x: screen.x + (screen.width - width) / 2, width, ..screen }
}

fn side_panel_area(state: &State, screen: Rect) -> Rect {
    let is_shown = state.display.side_panel.is_open && screen.width >= side_panel::FROM;
    let width = if is_shown { side_panel::WIDTH } else { 0 };
    Rect { x: screen.right() - width, width, ..screen }
}

/// Whether no turn has begun yet.
fn has_not_begun(state: &State) -> bool {
    state.transcript.has_only_notices() && !state.activity.is_busy()
}

/// The start page in place of the conversation, where it fits.
fn with_start_page(state: &State, layout: Layout, cx: &DrawContext<'_>) -> Layout {
    if layout.transcript.is_empty() || !has_not_begun(state) {
        return layout;
    }
    match welcome::compose(state, layout.transcript, cx) {
        Some(page) => Layout { is_start_page: true, first_steps: page.first_steps, ..layout },
        None => layout,
    }
}

/// A question, and below it the draft, while one is being typed.
fn with_question(state: &mut State, screen: Rect, cx: &DrawContext<'_>) -> Layout {
    let writes = !state.composer.is_blank();
    state.modals.set_listening(state.guard.focus_notice(cx.now, writes));
    let input_rows = if !state.composer.is_empty() && screen.height > DRAFT_FROM {
        state.composer.fit(input_width(screen), cx.theme)
    } else {
        0
    };
    let rows = if input_rows > 0 { input_rows.min(DRAFT_ROWS) + 1 } else { 0 };
    // Messages queued over the question are shown as queued.
    let queued = if screen.height >= QUEUE_FROM { state.queue.rows().min(QUEUE_ROWS) } else { 0 };
    let dialog = Rect { height: screen.height - rows - queued, ..screen };
    let queue = Rect { y: dialog.bottom(), height: queued, ..screen };
    let taken = state.modals.fit(dialog, cx).unwrap_or(dialog.height);
    Layout {
        transcript: Rect { height: dialog.height.saturating_sub(taken), ..dialog },
        queue,
        input: Rect { y: queue.bottom(), height: rows, ..screen },
        input_rows,
        dialog,
        ..Layout::default()
    }
}

fn without_dialog(state: &mut State, screen: Rect, focus: Focus, cx: &DrawContext<'_>) -> Layout {
    let low = screen.height < LOW;
    let rules = if low { 0 } else { 2 };
    let input_rows = match focus {
        Focus::TranscriptSearch => 1,
        _ => state.composer.fit(input_width(screen), cx.theme),
    };
    let rows = input_rows.min((screen.height / 3).max(1));
    let status = 1;
    let activity = u16::from(!low);
    let mut room = screen.height.saturating_sub(rows + rules + status + activity);
    let mut take = |wanted: u16| {
        let given = wanted.min(room / 2);
        room -= given;
        given
    };
    // A blank row separates them from the conversation.
    let apart = |rows: u16| if rows == 0 || low { rows } else { rows + 1 };
    let queue = take(apart(state.queue.rows()));
    // The start page has them in rows of its own.
    let has_chips = !state.activity.is_busy() && !has_not_begun(state);
    let chip_rows = if has_chips { state.suggestions.rows(screen.width) } else { 0 };
    let chips = take(apart(chip_rows));
    let job_rows = if state.display.side_panel.is_open { 0 } else { jobs::rows(&state.facts.jobs) };
    let jobs = take(job_rows + state.display.agents.rows());
    let follows_plan = state.activity.is_busy() && state.display.side_panel.has_open_plan();
    let plan = take(u16::from(follows_plan && !low));
    let mut y = screen.y;
    let mut next = |height: u16| {
        let area = Rect { y, height, ..screen };
        y += height;
        area
    };
    Layout {
        transcript: next(room),
        queue: next(queue),
        suggestions: bottom_rows(next(chips), chip_rows),
        jobs: next(jobs),
        plan: next(plan),
        activity: next(activity),
        input: next(rows + rules),
        input_rows,
        status: next(status),
        ..Layout::default()
    }
}

/// The last rows of an area.
pub fn bottom_rows(area: Rect, rows: u16) -> Rect {
    let rows = rows.min(area.height);
    Rect { y: area.bottom() - rows, height: rows, ..area }
}

/// One column is left free on the right.
pub fn input_width(screen: Rect) -> u16 {
    screen.width.saturating_sub(1)
}
