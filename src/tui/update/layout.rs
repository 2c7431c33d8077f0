//! Divides the screen among the areas before each frame, and fits the areas to it: which rows of
//! the conversation are in view, which of a question were shown. Drawing only reads that.

use ratatui::layout::Rect;

use crate::tui::Millis;
use crate::tui::draw::DrawContext;
use crate::tui::focus::{Focus, focus};
use crate::tui::state::State;
use crate::tui::transcript::DrawOptions;

/// On a smaller screen only a sentence is shown.
const SMALLEST: (u16, u16) = (20, 4);
/// Below this height rules and blank rows are dropped.
const LOW: u16 = 14;
/// Rows of a draft below a question, and the height from which they are shown.
const DRAFT_ROWS: u16 = 4;
const DRAFT_FROM: u16 = 8;
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
    let theme = state.appearance.theme.clone();
    let pen = DrawContext { theme: &theme, lang: state.appearance.lang, now };
    let focus = focus(state, now);
    let areas = match focus {
        Focus::Question | Focus::Draft => with_question(state, screen, &pen),
        Focus::Page | Focus::Picker => {
            // A page covers the whole screen.
            let rows = state.modals.fit(screen, &pen).unwrap_or(screen.height);
            let height = screen.height.saturating_sub(rows);
            Layout { transcript: Rect { height, ..screen }, dialog: screen, ..Layout::default() }
        }
        focus => without_dialog(state, screen, focus, &pen),
    };
    if !areas.transcript.is_empty() && !is_welcome(state) {
        let look = DrawOptions {
            theme: &theme,
            lang: pen.lang,
            spinner: state.activity.spinner(now),
            elapsed_ms: state.activity.elapsed(now),
            clock: state.appearance.timestamps.then_some(state.appearance.clock),
        };
        state.transcript.fit(areas.transcript, &look);
    }
    Layout { focus, ..areas }
}

/// Whether the welcome is shown in place of the conversation.
pub fn is_welcome(state: &State) -> bool {
    state.transcript.is_empty() && !state.activity.is_busy()
}

/// A question, and below it the draft, while one is being typed.
fn with_question(state: &mut State, screen: Rect, pen: &DrawContext<'_>) -> Layout {
    let writes = !state.composer.is_blank();
    state.modals.set_listening(state.guard.focus_notice(pen.now, writes));
    let input_rows = match !state.composer.is_empty() && screen.height > DRAFT_FROM {
        true => state.composer.fit(input_width(screen), pen.theme),
        false => 0,
    };
    let rows = if input_rows > 0 { input_rows.min(DRAFT_ROWS) + 1 } else { 0 };
    // Messages queued over the question are shown as queued.
    let queued = if screen.height >= QUEUE_FROM { state.queue.rows().min(QUEUE_ROWS) } else { 0 };
    let dialog = Rect { height: screen.height - rows - queued, ..screen };
    let queue = Rect { y: dialog.bottom(), height: queued, ..screen };
    let taken = state.modals.fit(dialog, pen).unwrap_or(dialog.height);
    Layout {
        transcript: Rect { height: dialog.height.saturating_sub(taken), ..dialog },
        queue,
        input: Rect { y: queue.bottom(), height: rows, ..screen },
        input_rows,
        dialog,
        ..Layout::default()
    }
}

fn without_dialog(state: &mut State, screen: Rect, focus: Focus, pen: &DrawContext<'_>) -> Layout {
    let low = screen.height < LOW;
    let rules = if low { 0 } else { 2 };
    let input_rows = match focus {
        Focus::TranscriptSearch => 1,
        _ => state.composer.fit(input_width(screen), pen.theme),
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
    let chips = match state.activity.is_busy() {
        true => 0,
        false => take(apart(state.suggestions.rows(screen.width))),
    };
    let mut y = screen.y;
    let mut next = |height: u16| {
        let area = Rect { y, height, ..screen };
        y += height;
        area
    };
    Layout {
        transcript: next(room),
        queue: next(queue),
        suggestions: next(chips),
        activity: next(activity),
        input: next(rows + rules),
        input_rows,
        status: next(status),
        ..Layout::default()
    }
}

/// One column is left free on the right.
pub fn input_width(screen: Rect) -> u16 {
    screen.width.saturating_sub(1)
}
