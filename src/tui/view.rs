//! Lets each area draw itself. Only reads the state.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::composer::ComposerStyle;
use super::draw::{self, DrawContext, HorizontalRule};
use super::focus::{Focus, input_focus};
use super::keys::{EditAction, KeyAction, KeyAction as A, KeyContext as C};
use super::modal::fit_message;
use super::state::{MouseOwner, State};
use super::status::{self, KeyHint};
use super::time::Millis;
use super::transcript::{Overlays, Stage};
use super::update::layout::{Layout, bottom_rows, input_width};
use super::{jobs, text, welcome};
use avocet_config::BusyInput;
use avocet_core::i18n::{LocalizedText, agents, common, input, plural, screen as phrases};

/// Draws the state, laid out for this frame; returns the links and the pictures on the screen.
pub fn view(state: &State, layout: &Layout, frame: &mut Frame<'_>, now: Millis) -> Overlays {
    let screen = frame.area();
    let theme = &state.appearance.theme;
    let cx = DrawContext { theme, lang: state.appearance.lang, now, keymap: &state.keys.keymap };
    let buf = frame.buffer_mut();
    draw::fill(buf, theme.text);
    if layout.is_too_small {
        let say = text::elide_end(phrases::TOO_SMALL.text(cx.lang), screen.width.into());
        draw::lines(screen, buf, &[Line::styled(say, cx.theme.dim)]);
        return Overlays::default();
    }
    let mut overlays = draw_transcript(state, layout, buf, &cx);
    let caret = match layout.focus {
        Focus::Question | Focus::Draft => draw_with_question(state, layout, buf, &cx),
        Focus::Page | Focus::Picker => state.modals.draw(layout.dialog, buf, &cx),
        _ => draw_main(state, layout, buf, &cx),
    };
    if layout.side_panel.width > 0 {
        state.display.side_panel.draw(layout.side_panel, buf, &cx, &state.facts);
    }
    overlays.retain_visible(buf);
    if let Some(caret) = caret.filter(|caret| screen.contains(*caret)) {
        frame.set_cursor_position(caret);
    }
    overlays
}

/// A question, and below it the draft, while one is being typed.
fn draw_with_question(
    state: &State,
    layout: &Layout,
    buf: &mut Buffer,
    cx: &DrawContext<'_>,
) -> Option<Position> {
    state.queue.draw(layout.queue, buf, cx);
    let answers = state.modals.draw(layout.dialog, buf, cx);
    if layout.input.is_empty() {
        return answers;
    }
    let written = draw_draft(state, layout, buf, cx);
    if layout.focus == Focus::Draft { written } else { answers }
}

/// The draft below a question; highlighted while keys go there.
fn draw_draft(
    state: &State,
    layout: &Layout,
    buf: &mut Buffer,
    cx: &DrawContext<'_>,
) -> Option<Position> {
    let area = layout.input;
    let here = layout.focus == Focus::Draft;

    let tone = if here { cx.theme.accent } else { cx.theme.dim };
    let line = state.palette.draft().is_some();
    let label = if line { phrases::LINE_LABEL } else { phrases::DRAFT_LABEL };
    let label = Span::styled(label.text(cx.lang), tone);
    let edge = if cx.theme.has_surfaces() {
        HorizontalRule::edge(cx.theme)
    } else {
        HorizontalRule::new(cx.theme, if here { tone } else { cx.theme.border })
    };
    edge.left(label).draw(area, buf);
    let inner = Rect { y: area.y + 1, height: area.height - 1, width: input_width(area), ..area };
    let sigil = panel_sigil(tone, cx.theme.bar.input, cx);
    let caret =
        state.composer.draw(inner, buf, &ComposerStyle { theme: cx.theme, hint: "", sigil });
    draw::panel(area, buf, cx.theme, cx.theme.bar.input);
    let above = Rect { y: 0, height: area.y, ..area };
    draw_list(state, above, buf, cx, input_focus(state));
    caret
}

/// The list over the input. While its first names are looked for it gets no keys yet.
fn draw_list(state: &State, above: Rect, buf: &mut Buffer, cx: &DrawContext<'_>, focus: Focus) {
    match focus {
        Focus::Palette => state.palette.draw(above, buf, cx, &state.keys.keymap),
        Focus::Files | Focus::Composer => state.composer.files.draw(above, buf, cx),
        _ => {}
    }
}

fn draw_main(
    state: &State,
    layout: &Layout,
    buf: &mut Buffer,
    cx: &DrawContext<'_>,
) -> Option<Position> {
    state.queue.draw(bottom_rows(layout.queue, state.queue.rows()), buf, cx);
    state.suggestions.draw(layout.suggestions, buf, cx);
    let agents = bottom_rows(layout.jobs, state.display.agents.rows());
    let jobs = Rect { height: layout.jobs.height - agents.height, ..layout.jobs };
    jobs::draw(&state.facts.jobs, jobs, buf, cx);
    state.display.agents.draw(agents, buf, cx);
    if layout.plan.height > 0 {
        state.display.side_panel.draw_plan_row(layout.plan, buf, cx);
    }
    let right = notice_line(state, layout.activity.width, cx);
    if layout.activity.height > 0 {
        state.activity.draw(layout.activity, buf, cx, &right);
    }
    let caret = draw_input(state, layout, buf, cx);
    if layout.focus == Focus::HistorySearch {
        return draw_search(state, layout.status, buf, cx);
    }
    draw_status(state, layout, buf, cx, &right);
    let above = Rect { y: 0, height: layout.input.y, ..layout.input };
    draw_list(state, above, buf, cx, layout.focus);
    caret
}

fn draw_transcript(
    state: &State,
    layout: &Layout,
    buf: &mut Buffer,
    cx: &DrawContext<'_>,
) -> Overlays {
    if layout.transcript.is_empty() {
        return Overlays::default();
    }
    if layout.is_start_page {
        if let Some(page) = welcome::compose(state, layout.transcript, cx) {
            page.draw(buf, cx);
        }
        return Overlays::default();
    }
    state.transcript.draw(buf)
}

fn draw_input(
    state: &State,
    layout: &Layout,
    buf: &mut Buffer,
    cx: &DrawContext<'_>,
) -> Option<Position> {
    let area = layout.input;
    if let Some(status) = state.transcript.search_status()
        && layout.focus == Focus::TranscriptSearch
    {
        let inner = match area.height {
            0..3 => area,
            _ => {
                HorizontalRule::edge(cx.theme).draw(area, buf);
                HorizontalRule::edge(cx.theme)
                    .draw(Rect { y: area.bottom() - 1, height: 1, ..area }, buf);
                Rect { y: area.y + 1, height: area.height - 2, ..area }
            }
        };
        let caret = status.draw(inner, buf, cx);
        draw::surface(area, buf, cx.theme);
        return caret;
    }
    let shell = state.composer.display_text().starts_with('!');
    let (tone, bar) = if shell {
        (cx.theme.warn, cx.theme.bar.question)
    } else {
        (cx.theme.accent, cx.theme.bar.input)
    };
    let mut inner = Rect { width: input_width(area), ..area };
    if area.height > layout.input_rows.min(area.height.saturating_sub(2)) && area.height > 2 {
        let mut rule = HorizontalRule::edge(cx.theme);
        if shell {
            rule = rule.left(Span::styled(phrases::INPUT_SHELL.text(cx.lang), cx.theme.warn));
        }
        rule.draw(area, buf);
        HorizontalRule::edge(cx.theme).draw(Rect { y: area.bottom() - 1, height: 1, ..area }, buf);
        inner = Rect { y: area.y + 1, height: area.height - 2, ..inner };
    }
    let hint = match (state.activity.is_busy(), state.keys.enter_while_busy) {
        (true, BusyInput::Steer) => phrases::INPUT_HINT_BUSY,
        (true, BusyInput::Queue) => phrases::INPUT_HINT_BUSY_QUEUES,
        (false, _) => phrases::INPUT_HINT,
    };
    let hint = match state.display.agents.selected() {
        Some(agent) => agents::WRITE_TO.with("name", agent.name.as_str()),
        None => cx.keymap.with_keys(hint),
    };
    let style = ComposerStyle {
        theme: cx.theme,
        hint: &hint.text(cx.lang),
        sigil: panel_sigil(tone, bar, cx),
    };
    let caret = state.composer.draw(inner, buf, &style);
    draw::panel(area, buf, cx.theme, bar);
    caret
}

/// On a bar the sigil is only there for a copy of the screen.
fn panel_sigil(tone: Style, style: Style, cx: &DrawContext<'_>) -> Style {
    let tone = tone.add_modifier(Modifier::BOLD);
    if cx.theme.has_surfaces() { Style { fg: style.bg, ..tone } } else { tone }
}

/// The query replaces the facts, next to the useful keys.
fn draw_search(
    state: &State,
    area: Rect,
    buf: &mut Buffer,
    cx: &DrawContext<'_>,
) -> Option<Position> {
    let search = state.composer.history.search.as_ref()?;
    if search.has_no_note() {
        let taken = u16::try_from(search.width(cx)).unwrap_or(area.width).min(area.width);
        let rest = Rect { x: area.x + taken, width: area.width - taken, ..area };
        status::draw_hints(rest, buf, cx, RECALL);
    }
    Some(search.draw(area, buf, cx))
}

/// Columns of the activity beside a notice and how to stop: its sign.
const SIGN: usize = 4;

/// On the right over the input: a notice, or what is out of view, and how to stop, if both fit.
fn notice_line(state: &State, width: u16, cx: &DrawContext<'_>) -> Line<'static> {
    let width = usize::from(width);
    let says = |text: LocalizedText| cx.keymap.with_keys(text).text(cx.lang);
    let unseen = state.transcript.unseen_rows();
    let notice = match &state.presence.temporary_message {
        Some((say, _)) => Some((say.text(cx.lang), cx.theme.info)),
        None if unseen > 0 => {
            let say = plural(unseen, phrases::LINE_BELOW, phrases::LINES_BELOW);
            Some((says(say), cx.theme.accent))
        }
        None if !state.transcript.is_following() => {
            Some((says(phrases::SCROLLED_BACK.into()), cx.theme.dim))
        }
        None => None,
    };
    let stops = Some(phrases::ESC_STOPS).filter(|_| state.activity.is_animated());
    let stops = stops.map(|say| says(say.into()));
    let (Some((notice, style)), Some(stops)) = (&notice, &stops) else {
        let (text, style) = notice.or(stops.map(|say| (say, cx.theme.dim))).unwrap_or_default();
        return fit_message(&Line::styled(text, style), width.saturating_sub(1));
    };
    let mut line = fit_message(&Line::styled(notice.clone(), *style), width.saturating_sub(1));
    let stops = format!("   {stops}");
    if line.width() + text::width(&stops) + SIGN <= width {
        line.spans.push(Span::styled(stops, cx.theme.dim));
    }
    line
}

fn draw_status(
    state: &State,
    layout: &Layout,
    buf: &mut Buffer,
    cx: &DrawContext<'_>,
    right_line: &Line<'_>,
) {
    let area = draw_vim_mode(state, layout.status, buf, cx);
    if state.presence.confirm_quit_until.is_some() {
        let say = match state.facts.agents.running {
            0 => phrases::LEAVE_ASKED.into(),
            n => agents::QUIT_STOPS.with("n", n),
        };
        let say = text::elide_end(&say.text(cx.lang), area.width.into());
        draw::line(area, buf, 2, area.width.into(), &Line::styled(say, cx.theme.warn));
    } else if let Some(say) = state.omitted_notice() {
        let say = text::elide_end(&say.text(cx.lang), area.width.saturating_sub(3).into());
        draw::line(area, buf, 2, area.width.into(), &Line::styled(say, cx.theme.warn));
    } else if let Some(hints) = list_hints(state, layout.focus) {
        status::draw_hints(area, buf, cx, hints);
    } else if layout.activity.height == 0 && (state.activity.is_busy() || right_line.width() > 0) {
        state.activity.draw(area, buf, cx, right_line);
    } else if state.display.mouse == MouseOwner::Terminal {
        status::draw_hints(area, buf, cx, RELEASED);
    } else {
        status::draw(area, buf, cx, &state.facts, hints(state));
    }
}

/// The vi mode at the start of the line, and the rest of the line.
fn draw_vim_mode(state: &State, area: Rect, buf: &mut Buffer, cx: &DrawContext<'_>) -> Rect {
    let Some(mode) = state.composer.vim_mode() else { return area };
    let name = mode.name().text(cx.lang);
    let style = cx.theme.accent.add_modifier(Modifier::BOLD);
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
        Focus::Agents => Some(AGENTS),
        Focus::Palette if state.palette.can_run() => Some(PALETTE),
        // Enter sends what is typed, not a guess.
        Focus::Palette => PALETTE.get(1..),
        Focus::Files => Some(FILES),
        _ => None,
    }
}

/// The useful keys at this moment.
fn hints(state: &State) -> &'static [KeyHint] {
    match (state.activity.is_busy(), state.composer.is_empty()) {
        _ if state.display.agents.selected().is_some() => TO_AGENT,
        (_, true) if !state.display.agents.is_empty() => SELECT_AGENT,
        (true, _) if !state.queue.is_empty() => BUSY_QUEUE,
        (true, true) => &[],
        (true, false) => match state.keys.enter_while_busy {
            BusyInput::Steer => STEER,
            BusyInput::Queue => ENQUEUE,
        },
        (false, true) => EMPTY,
        (false, false) => WRITING,
    }
}

const PALETTE: &[KeyHint] = &[
    KeyHint::bound(C::Palette, A::Accept, phrases::HINT_RUN),
    KeyHint::bound(C::Palette, A::Complete, phrases::HINT_COMPLETE),
    KeyHint::pair(C::Palette, phrases::HINT_MOVE),
    KeyHint::bound(C::Palette, A::Close, phrases::HINT_CLOSE),
];
const QUEUE: &[KeyHint] = &[
    KeyHint::bound(C::Queue, A::Accept, common::HINT_EDIT),
    KeyHint::bound(C::Queue, A::Remove, input::HINT_QUEUE_REMOVE),
    KeyHint::pair(C::Queue, phrases::HINT_MOVE),
    KeyHint::bound(C::Queue, A::Close, phrases::HINT_CLOSE),
];
const AGENTS: &[KeyHint] = &[
    KeyHint::bound(C::Agents, A::Accept, agents::HINT_WORK),
    KeyHint::bound(C::Agents, A::Remove, agents::HINT_STOP),
    KeyHint::pair(C::Agents, phrases::HINT_MOVE),
    KeyHint::bound(C::Agents, A::Close, phrases::HINT_CLOSE),
];
const SELECT_AGENT: &[KeyHint] = &[KeyHint::bound(C::Input, A::Up, agents::HINT_AGENTS)];
const TO_AGENT: &[KeyHint] = &[
    KeyHint::bound(C::Input, A::Send, agents::HINT_SEND),
    KeyHint::bound(C::Agents, A::Close, phrases::HINT_CLOSE),
];
const FILES: &[KeyHint] = &[
    KeyHint::bound(C::Palette, A::Accept, input::HINT_TAKE_FILE),
    KeyHint::bound(C::Palette, A::Complete, input::HINT_ENTER_FOLDER),
    KeyHint::bound(C::Palette, A::Close, phrases::HINT_CLOSE),
];
const RECALL: &[KeyHint] = &[
    KeyHint::bound(C::HistorySearch, A::Next, input::HINT_OLDER),
    KeyHint::bound(C::HistorySearch, A::Accept, input::HINT_TAKE),
    KeyHint::bound(C::HistorySearch, A::Close, input::HINT_AS_IT_WAS),
];
const SEARCH: &[KeyHint] = &[
    KeyHint::bound(C::Search, A::Next, phrases::HINT_NEXT),
    KeyHint::bound(C::Search, A::Previous, phrases::HINT_PREVIOUS),
    KeyHint::bound(C::Search, A::Close, phrases::HINT_CLOSE),
];
const FOUND: &[KeyHint] = &[
    KeyHint::bound(C::SearchResults, A::Next, phrases::HINT_NEXT),
    KeyHint::bound(C::SearchResults, A::Previous, phrases::HINT_PREVIOUS),
    KeyHint::bound(C::SearchResults, A::Search, phrases::HINT_OTHER_WORDS),
    KeyHint::bound(C::Search, A::Close, phrases::HINT_CLOSE),
];
const RELEASED: &[KeyHint] = &[KeyHint::bound(C::Anywhere, A::Mouse, phrases::HINT_MOUSE_BACK)];
const STEER: &[KeyHint] = &[
    KeyHint::bound(C::Input, A::Send, phrases::HINT_STEER),
    KeyHint::bound(C::Input, A::Suggest, phrases::HINT_QUEUE),
];
const ENQUEUE: &[KeyHint] = &[
    KeyHint::bound(C::Input, A::Send, phrases::HINT_QUEUE),
    KeyHint::bound(C::Input, A::Suggest, phrases::HINT_STEER),
];
const BUSY_QUEUE: &[KeyHint] = &[KeyHint::bound(C::Input, A::Up, phrases::HINT_TAKE_BACK)];
const EMPTY: &[KeyHint] = &[
    KeyHint::typed("/", phrases::PALETTE_TITLE),
    KeyHint::bound(C::EmptyInput, A::Help, phrases::HINT_HELP),
];
const WRITING: &[KeyHint] = &[
    KeyHint::bound(C::Input, A::Send, phrases::HINT_SEND),
    KeyHint::bound(C::Input, KeyAction::Edit(EditAction::InsertNewline), phrases::HINT_BREAK),
];
