//! Lets each area draw itself. Only reads the state.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::composer::ComposerStyle;
use super::draw::{self, DrawContext, HorizontalRule};
use super::focus::{Focus, input_focus};
use super::state::{MouseOwner, State};
use super::status::{self, KeyHint};
use super::time::Millis;
use super::transcript::{Hyperlink, Stage};
use super::update::layout::{Layout, input_width, is_welcome};
use super::{text, welcome};
use crate::i18n::{input, plural, screen as words};

/// Draws the state, laid out for this frame; returns the links on the screen.
pub fn view(state: &State, layout: &Layout, frame: &mut Frame<'_>, now: Millis) -> Vec<Hyperlink> {
    let screen = frame.area();
    let theme = &state.appearance.theme;
    let pen = DrawContext { theme, lang: state.appearance.lang, now };
    let buf = frame.buffer_mut();
    draw::fill(buf, theme.text);
    if layout.is_too_small {
        let say = text::elide_end(words::TOO_SMALL.text(pen.lang), screen.width.into());
        draw::lines(screen, buf, &[Line::styled(say, pen.theme.dim)]);
        return Vec::new();
    }
    let mut links = draw_transcript(state, layout.transcript, buf, &pen);
    let caret = match layout.focus {
        Focus::Question | Focus::Draft => draw_with_question(state, layout, buf, &pen),
        Focus::Page | Focus::Picker => state.modals.draw(layout.dialog, buf, &pen),
        _ => draw_main(state, layout, buf, &pen),
    };
    links.retain(|link| link.is_visible(buf));
    if let Some(caret) = caret.filter(|caret| screen.contains(*caret)) {
        frame.set_cursor_position(caret);
    }
    links
}

/// A question, and below it the draft, while one is being typed.
fn draw_with_question(
    state: &State,
    layout: &Layout,
    buf: &mut Buffer,
    pen: &DrawContext<'_>,
) -> Option<Position> {
    state.queue.draw(layout.queue, buf, pen);
    let answers = state.modals.draw(layout.dialog, buf, pen);
    if layout.input.is_empty() {
        return answers;
    }
    let written = draw_draft(state, layout, buf, pen);
    if layout.focus == Focus::Draft { written } else { answers }
}

/// The draft below a question; highlighted while keys go there.
fn draw_draft(
    state: &State,
    layout: &Layout,
    buf: &mut Buffer,
    pen: &DrawContext<'_>,
) -> Option<Position> {
    let (area, here) = (layout.input, layout.focus == Focus::Draft);
    let tone = if here { pen.theme.accent } else { pen.theme.dim };
    let line = state.palette.draft().is_some();
    let label = if line { words::LINE_LABEL } else { words::DRAFT_LABEL };
    let label = Span::styled(label.text(pen.lang), tone);
    HorizontalRule::new(if here { tone } else { pen.theme.border }).left(label).draw(area, buf);
    let inner = Rect { y: area.y + 1, height: area.height - 1, width: input_width(area), ..area };
    let dress =
        ComposerStyle { theme: pen.theme, hint: "", sigil: tone.add_modifier(Modifier::BOLD) };
    let caret = state.composer.draw(inner, buf, &dress);
    let above = Rect { y: 0, height: area.y, ..area };
    draw_list(state, above, buf, pen, input_focus(state));
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

fn draw_main(
    state: &State,
    layout: &Layout,
    buf: &mut Buffer,
    pen: &DrawContext<'_>,
) -> Option<Position> {
    let (queue, chips) = (layout.queue, layout.suggestions);
    state.queue.draw(bottom_rows(queue, state.queue.rows()), buf, pen);
    state.suggestions.draw(bottom_rows(chips, state.suggestions.rows(chips.width)), buf, pen);
    let right = notice_line(state, layout.activity.width, pen);
    if layout.activity.height > 0 {
        state.activity.draw(layout.activity, buf, pen, &right);
    }
    let caret = draw_input(state, layout, buf, pen);
    if layout.focus == Focus::HistorySearch {
        return draw_search(state, layout.status, buf, pen);
    }
    draw_status(state, layout, buf, pen, &right);
    let above = Rect { y: 0, height: layout.input.y, ..layout.input };
    draw_list(state, above, buf, pen, layout.focus);
    caret
}

/// The last rows of an area.
fn bottom_rows(area: Rect, rows: u16) -> Rect {
    let rows = rows.min(area.height);
    Rect { y: area.bottom() - rows, height: rows, ..area }
}

fn draw_transcript(
    state: &State,
    area: Rect,
    buf: &mut Buffer,
    pen: &DrawContext<'_>,
) -> Vec<Hyperlink> {
    if area.is_empty() {
        return Vec::new();
    }
    if is_welcome(state) {
        welcome::draw(area, buf, pen, &state.facts, state.completions.has_no_extensions());
        return Vec::new();
    }
    state.transcript.draw(buf)
}

fn draw_input(
    state: &State,
    layout: &Layout,
    buf: &mut Buffer,
    pen: &DrawContext<'_>,
) -> Option<Position> {
    let area = layout.input;
    if layout.focus == Focus::TranscriptSearch {
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
    if area.height > layout.input_rows.min(area.height.saturating_sub(2)) && area.height > 2 {
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
    buf: &mut Buffer,
    pen: &DrawContext<'_>,
) -> Option<Position> {
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
    layout: &Layout,
    buf: &mut Buffer,
    pen: &DrawContext<'_>,
    right: &Line<'_>,
) {
    let area = draw_vim_mode(state, layout.status, buf, pen);
    if state.presence.confirm_quit_until.is_some() {
        let say = text::elide_end(words::LEAVE_ASKED.text(pen.lang), area.width.into());
        draw::line(area, buf, 2, area.width.into(), &Line::styled(say, pen.theme.warn));
    } else if let Some(hints) = list_hints(state, layout.focus) {
        status::draw_hints(area, buf, pen, hints);
    } else if layout.activity.height == 0 && (state.activity.is_busy() || right.width() > 0) {
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
