//! Divides the screen and lets each area draw itself.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::composer::ComposerStyle;
use super::draw::{self, DrawContext, HorizontalRule};
use super::focus::{Focus, focus, input_focus};
use super::state::{MouseOwner, State};
use super::status::{self, KeyHint};
use super::time::Millis;
use super::transcript::{DrawOptions, Stage};
use super::{text, welcome};
use crate::i18n::{input, plural, screen as words};

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

/// The areas, from top to bottom. Those without room have no height.
#[derive(Clone, Copy, Debug, Default)]
struct Areas {
    transcript: Rect,
    queue: Rect,
    suggestions: Rect,
    activity: Rect,
    /// The input with its rules.
    input: Rect,
    status: Rect,
}

pub fn view(state: &mut State, frame: &mut Frame<'_>, now: Millis) {
    let screen = frame.area();
    let theme = state.appearance.theme.clone();
    let lang = state.appearance.lang;
    let pen = DrawContext { theme: &theme, lang, now };
    draw::fill(frame.buffer_mut(), theme.text);
    if screen.width < SMALLEST.0 || screen.height < SMALLEST.1 {
        draw_too_small(screen, frame, &pen);
        return;
    }
    let caret = match focus(state, now) {
        focus @ (Focus::Question | Focus::Draft) => {
            draw_with_question(state, screen, frame, &pen, focus)
        }
        Focus::Page => state.modals.draw(screen, frame.buffer_mut(), &pen),
        Focus::Picker => draw_with_picker(state, screen, frame, &pen),
        focus => draw_main(state, screen, frame, &pen, focus),
    };
    if let Some(caret) = caret.filter(|caret| screen.contains(*caret)) {
        frame.set_cursor_position(caret);
    }
}

/// A question, and below it the draft, while one is being typed.
fn draw_with_question(
    state: &mut State,
    screen: Rect,
    frame: &mut Frame<'_>,
    pen: &DrawContext<'_>,
    focus: Focus,
) -> Option<Position> {
    let writes = !state.composer.is_blank();
    state.modals.set_listening(state.guard.focus_notice(pen.now, writes));
    let rows = match !state.composer.is_empty() && screen.height > DRAFT_FROM {
        true => state.composer.rows(input_width(screen)).min(DRAFT_ROWS) + 1,
        false => 0,
    };
    // Messages queued over the question are shown as queued.
    let queued = if screen.height >= QUEUE_FROM { state.queue.rows().min(QUEUE_ROWS) } else { 0 };
    let above = Rect { height: screen.height - rows - queued, ..screen };
    let queue = Rect { y: above.bottom(), height: queued, ..screen };
    state.queue.draw(queue, frame.buffer_mut(), pen);
    let sheet = state.modals.height(above, pen).unwrap_or(above.height);
    let rest = Rect { height: above.height.saturating_sub(sheet), ..above };
    draw_transcript(state, rest, frame, pen);
    let answers = state.modals.draw(above, frame.buffer_mut(), pen);
    if rows == 0 {
        return answers;
    }
    let draft = Rect { y: queue.bottom(), height: rows, ..screen };
    let written = draw_draft(state, draft, frame, pen, focus);
    if focus == Focus::Draft { written } else { answers }
}

/// The draft below a question; highlighted while keys go there.
fn draw_draft(
    state: &mut State,
    area: Rect,
    frame: &mut Frame<'_>,
    pen: &DrawContext<'_>,
    focus: Focus,
) -> Option<Position> {
    let here = focus == Focus::Draft;
    let tone = if here { pen.theme.accent } else { pen.theme.dim };
    let line = state.palette.draft().is_some();
    let label = if line { words::LINE_LABEL } else { words::DRAFT_LABEL };
    let label = Span::styled(label.text(pen.lang), tone);
    HorizontalRule::new(if here { tone } else { pen.theme.border })
        .left(label)
        .draw(area, frame.buffer_mut());
    let inner = Rect { y: area.y + 1, height: area.height - 1, width: input_width(area), ..area };
    let dress =
        ComposerStyle { theme: pen.theme, hint: "", sigil: tone.add_modifier(Modifier::BOLD) };
    let caret = state.composer.draw(inner, frame.buffer_mut(), &dress);
    let above = Rect { y: 0, height: area.y, ..area };
    draw_list(state, above, frame.buffer_mut(), pen, input_focus(state));
    caret
}

/// The list over the input. While its first names are looked for it gets no keys yet.
fn draw_list(state: &State, above: Rect, buf: &mut Buffer, pen: &DrawContext<'_>, focus: Focus) {
    match focus {
        Focus::Palette => state.palette.draw(above, buf, pen.theme, pen.lang),
        Focus::Files | Focus::Composer => state.composer.files.draw(above, buf, pen),
        _ => {}
    }
}

fn draw_with_picker(
    state: &mut State,
    screen: Rect,
    frame: &mut Frame<'_>,
    pen: &DrawContext<'_>,
) -> Option<Position> {
    let height = state.modals.height(screen, pen).unwrap_or(0);
    let rest = Rect { height: screen.height.saturating_sub(height), ..screen };
    draw_transcript(state, rest, frame, pen);
    state.modals.draw(screen, frame.buffer_mut(), pen)
}

fn draw_too_small(screen: Rect, frame: &mut Frame<'_>, pen: &DrawContext<'_>) {
    let say = text::elide_end(words::TOO_SMALL.text(pen.lang), screen.width.into());
    draw::lines(screen, frame.buffer_mut(), &[Line::styled(say, pen.theme.dim)]);
}

fn draw_main(
    state: &mut State,
    screen: Rect,
    frame: &mut Frame<'_>,
    pen: &DrawContext<'_>,
    focus: Focus,
) -> Option<Position> {
    let areas = divide_screen(state, screen, focus);
    draw_transcript(state, areas.transcript, frame, pen);
    let buf = frame.buffer_mut();
    state.queue.draw(bottom_rows(areas.queue, state.queue.rows()), buf, pen);
    state.suggestions.draw(
        bottom_rows(areas.suggestions, state.suggestions.rows(screen.width)),
        buf,
        pen,
    );
    let right = notice_line(state, screen.width, pen);
    if areas.activity.height > 0 {
        state.activity.draw(areas.activity, buf, pen, &right);
    }
    let caret = draw_input(state, areas.input, frame, pen, focus);
    if focus == Focus::HistorySearch {
        return draw_search(state, areas.status, frame, pen);
    }
    draw_status(state, &areas, frame, pen, (&right, focus));
    let above = Rect { height: areas.input.y - screen.y, ..screen };
    draw_list(state, above, frame.buffer_mut(), pen, focus);
    caret
}

/// The last rows of an area.
fn bottom_rows(area: Rect, rows: u16) -> Rect {
    let rows = rows.min(area.height);
    Rect { y: area.bottom() - rows, height: rows, ..area }
}

fn divide_screen(state: &mut State, screen: Rect, focus: Focus) -> Areas {
    let low = screen.height < LOW;
    let rules = if low { 0 } else { 2 };
    let wanted = match focus {
        Focus::TranscriptSearch => 1,
        _ => state.composer.rows(input_width(screen)),
    };
    let rows = wanted.min((screen.height / 3).max(1));
    let status = 1;
    let activity = u16::from(!low);
    let mut room = screen.height.saturating_sub(rows + rules + status + activity);
    let mut take = |wanted: u16| {
        let given = wanted.min(room / 2);
        room -= given;
        given
    };
    // A blank row separates it from the conversation.
    let queue = take(match state.queue.rows() {
        rows if rows == 0 || low => rows,
        rows => rows + 1,
    });
    let idle = !state.activity.is_busy();
    let rows_of_chips = match state.suggestions.rows(screen.width) {
        rows if rows == 0 || low => rows,
        // A blank row separates them from the conversation.
        rows => rows + 1,
    };
    let chips = if idle { take(rows_of_chips) } else { 0 };
    let mut y = screen.y;
    let mut next = |height: u16| {
        let area = Rect { y, height, ..screen };
        y += height;
        area
    };
    Areas {
        transcript: next(room),
        queue: next(queue),
        suggestions: next(chips),
        activity: next(activity),
        input: next(rows + rules),
        status: next(status),
    }
}

/// One column is left free on the right.
fn input_width(screen: Rect) -> u16 {
    screen.width.saturating_sub(1)
}

fn draw_transcript(state: &mut State, area: Rect, frame: &mut Frame<'_>, pen: &DrawContext<'_>) {
    if area.is_empty() {
        return;
    }
    if state.transcript.is_empty() && !state.activity.is_busy() {
        welcome::draw(
            area,
            frame.buffer_mut(),
            pen,
            &state.facts,
            state.completions.has_no_extensions(),
        );
        return;
    }
    let look = DrawOptions {
        theme: pen.theme,
        lang: pen.lang,
        spinner: state.activity.spinner(pen.now),
        elapsed_ms: state.activity.elapsed(pen.now),
        clock: state.appearance.timestamps.then_some(state.appearance.clock),
    };
    state.transcript.view(area, frame.buffer_mut(), &look);
}

fn draw_input(
    state: &mut State,
    area: Rect,
    frame: &mut Frame<'_>,
    pen: &DrawContext<'_>,
    focus: Focus,
) -> Option<Position> {
    let buf = frame.buffer_mut();
    if focus == Focus::TranscriptSearch {
        let inner = match area.height {
            0..3 => area,
            _ => {
                HorizontalRule::new(pen.theme.border).draw(area, buf);
                HorizontalRule::new(pen.theme.border)
                    .draw(Rect { y: area.bottom() - 1, height: 1, ..area }, buf);
                Rect { y: area.y + 1, height: area.height - 2, ..area }
            }
        };
        return state.transcript.draw_search(inner, buf, pen);
    }
    let shell = state.composer.display_text().starts_with('!');
    let tone = if shell { pen.theme.warn } else { pen.theme.accent };
    let mut inner = Rect { width: input_width(area), ..area };
    let rows = state.composer.rows(input_width(area));
    if area.height > rows.min(area.height.saturating_sub(2)) && area.height > 2 {
        let mut rule = HorizontalRule::new(pen.theme.border);
        if shell {
            rule = rule.left(Span::styled(words::INPUT_SHELL.text(pen.lang), pen.theme.warn));
        }
        rule.draw(area, buf);
        HorizontalRule::new(pen.theme.border)
            .draw(Rect { y: area.bottom() - 1, height: 1, ..area }, buf);
        inner = Rect { y: area.y + 1, height: area.height - 2, ..inner };
    }
    let hint = match state.activity.is_busy() {
        true => words::INPUT_HINT_BUSY,
        false => words::INPUT_HINT,
    };
    let dress = ComposerStyle {
        theme: pen.theme,
        hint: hint.text(pen.lang),
        sigil: tone.add_modifier(Modifier::BOLD),
    };
    state.composer.draw(inner, buf, &dress)
}

/// The query replaces the facts, next to the useful keys.
fn draw_search(
    state: &State,
    area: Rect,
    frame: &mut Frame<'_>,
    pen: &DrawContext<'_>,
) -> Option<Position> {
    let buf = frame.buffer_mut();
    let search = state.composer.active_search()?;
    if search.has_no_note() {
        let taken = u16::try_from(search.width(pen)).unwrap_or(area.width).min(area.width);
        let rest = Rect { x: area.x + taken, width: area.width - taken, ..area };
        status::draw_hints(rest, buf, pen, RECALL);
    }
    state.composer.draw_search(area, buf, pen)
}

/// On the right over the input: what is out of view, or how to stop.
fn notice_line(state: &State, width: u16, pen: &DrawContext<'_>) -> Line<'static> {
    if let Some((say, _)) = &state.presence.temporary_message {
        let text = text::elide_end(&say.text(pen.lang), width.into());
        return Line::styled(text, pen.theme.info);
    }
    let unseen = state.transcript.unseen_rows();
    if unseen > 0 {
        let say = plural(unseen, words::LINE_BELOW, words::LINES_BELOW).text(pen.lang);
        return Line::styled(say, pen.theme.accent);
    }
    if !state.transcript.is_following() {
        return Line::styled(words::SCROLLED_BACK.text(pen.lang), pen.theme.dim);
    }
    match state.activity.is_animated() {
        true => Line::styled(words::ESC_STOPS.text(pen.lang), pen.theme.dim),
        false => Line::default(),
    }
}

fn draw_status(
    state: &State,
    areas: &Areas,
    frame: &mut Frame<'_>,
    pen: &DrawContext<'_>,
    (right, focus): (&Line<'_>, Focus),
) {
    let buf = frame.buffer_mut();
    let area = draw_vim_mode(state, areas.status, buf, pen);
    if state.presence.confirm_quit_until.is_some() {
        let say = text::elide_end(words::LEAVE_ASKED.text(pen.lang), area.width.into());
        draw::line(area, buf, 2, area.width.into(), &Line::styled(say, pen.theme.warn));
    } else if let Some(hints) = list_hints(state, focus) {
        status::draw_hints(area, buf, pen, hints);
    } else if areas.activity.height == 0 && (state.activity.is_busy() || right.width() > 0) {
        state.activity.draw(area, buf, pen, right);
    } else if state.mouse == MouseOwner::Terminal {
        status::draw_hints(area, buf, pen, RELEASED);
    } else {
        status::draw(area, buf, pen, &state.facts, hints(state));
    }
}

/// The vi mode at the start of the line, and the rest of the line.
fn draw_vim_mode(state: &State, area: Rect, buf: &mut Buffer, pen: &DrawContext<'_>) -> Rect {
    let Some(mode) = state.composer.vim_mode() else { return area };
    let name = mode.name().text(pen.lang);
    let style = pen.theme.accent.add_modifier(Modifier::BOLD);
    draw::line(area, buf, 2, area.width.into(), &Line::styled(name, style));
    let taken = u16::try_from(text::width(name) + 3).unwrap_or(0).min(area.width);
    Rect { x: area.x + taken, width: area.width - taken, ..area }
}

/// The keys of the list or the search that has the focus.
fn list_hints(state: &State, focus: Focus) -> Option<&'static [KeyHint]> {
    match focus {
        Focus::TranscriptSearch => {
            let stage = state.transcript.search_status()?.stage;
            Some(if stage == Stage::Typing { SEARCH } else { FOUND })
        }
        Focus::Queue => Some(QUEUE),
        Focus::Palette => Some(PALETTE),
        Focus::Files => Some(FILES),
        _ => None,
    }
}

/// The useful keys at this moment.
fn hints(state: &State) -> &'static [KeyHint] {
    match (state.activity.is_busy(), state.composer.is_empty()) {
        (true, _) if !state.queue.is_empty() => BUSY_QUEUE,
        (true, _) => BUSY,
        (false, true) => EMPTY,
        (false, false) => WRITING,
    }
}

const PALETTE: &[KeyHint] = &[
    KeyHint { key: "Enter", action: words::HINT_RUN },
    KeyHint { key: "Tab", action: words::HINT_COMPLETE },
    KeyHint { key: "Up/Down", action: words::HINT_MOVE },
    KeyHint { key: "Esc", action: words::HINT_CLOSE },
];
const QUEUE: &[KeyHint] = &[
    KeyHint { key: "Enter", action: input::HINT_QUEUE_EDIT },
    KeyHint { key: "Del", action: input::HINT_QUEUE_REMOVE },
    KeyHint { key: "Up/Down", action: words::HINT_MOVE },
    KeyHint { key: "Esc", action: words::HINT_CLOSE },
];
const FILES: &[KeyHint] = &[
    KeyHint { key: "Enter", action: input::HINT_TAKE_FILE },
    KeyHint { key: "Tab", action: input::HINT_ENTER_FOLDER },
    KeyHint { key: "Esc", action: words::HINT_CLOSE },
];
const RECALL: &[KeyHint] = &[
    KeyHint { key: "Ctrl-R", action: input::HINT_OLDER },
    KeyHint { key: "Enter", action: input::HINT_TAKE },
    KeyHint { key: "Esc", action: input::HINT_AS_IT_WAS },
];
const SEARCH: &[KeyHint] = &[
    KeyHint { key: "Enter", action: words::HINT_NEXT },
    KeyHint { key: "Up", action: words::HINT_PREVIOUS },
    KeyHint { key: "Esc", action: words::HINT_CLOSE },
];
const FOUND: &[KeyHint] = &[
    KeyHint { key: "n", action: words::HINT_NEXT },
    KeyHint { key: "N", action: words::HINT_PREVIOUS },
    KeyHint { key: "/", action: words::HINT_OTHER_WORDS },
    KeyHint { key: "Esc", action: words::HINT_CLOSE },
];
const RELEASED: &[KeyHint] = &[KeyHint { key: "F2", action: words::HINT_MOUSE_BACK }];
const BUSY: &[KeyHint] = &[KeyHint { key: "Enter", action: words::HINT_QUEUE }];
const BUSY_QUEUE: &[KeyHint] = &[KeyHint { key: "Up", action: words::HINT_TAKE_BACK }];
const EMPTY: &[KeyHint] = &[
    KeyHint { key: "/", action: words::PALETTE_TITLE },
    KeyHint { key: "?", action: words::HINT_HELP },
];
const WRITING: &[KeyHint] = &[
    KeyHint { key: "Enter", action: words::HINT_SEND },
    KeyHint { key: "Ctrl-J", action: words::HINT_BREAK },
];
