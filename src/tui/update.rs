//! Applies events to the state. Pure: no I/O, no clock, no channel; it routes each event to the
//! area it belongs to and returns what the driver must do.

use crossterm::event::{
    KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};

use super::event::{Millis, ScreenEffect, ScreenInput, TimedInput};
use super::keys::{self, KeyAction, KeyContext, Scrolled};
use super::modal::{Modal, ModalAction};
use super::palette;
use super::state::{Mouse, State, WindowFocus};
use super::submit;
use super::transcript::{Released, Scroll};
use super::{choosing, ring, start, title};
use crate::protocol::{self, Notice, Op};
use crate::words::{LocalizedText, screen as words};

mod asking;
mod past;
mod writing;

/// A second Ctrl-C counts within this time.
const LEAVING: Millis = 3_000;
/// A temporary message is shown this long.
const TOLD: Millis = 4_000;
/// A turn longer than this notifies the user when it ends and the terminal is not focused.
const LONG_TURN: Millis = 20_000;
/// A larger paste is refused: no model could read such a message.
const PASTE: usize = 4 << 20;
/// Lines per step of the wheel.
const WHEEL: i32 = 3;

pub fn update(state: &mut State, event: TimedInput) -> Vec<ScreenEffect> {
    let TimedInput { at, input } = event;
    state.transcript.at(at);
    let mut effects = match input {
        ScreenInput::Key(key) if key.kind == KeyEventKind::Release => return Vec::new(),
        ScreenInput::Key(key) => key_pressed(state, &key, at),
        ScreenInput::Paste(text) => pasted(state, &text, at),
        ScreenInput::Mouse(mouse) => moused(state, mouse, at),
        ScreenInput::Resized => vec![ScreenEffect::Redraw],
        ScreenInput::Copied(copied) => told(state, copied.say(), at),
        ScreenInput::FocusGained => attend(state, WindowFocus::Here),
        ScreenInput::FocusLost => attend(state, WindowFocus::Elsewhere),
        ScreenInput::Session(event) => happened(state, *event, at),
        ScreenInput::Ground(ground) => {
            state.dress.stands_on(ground);
            Vec::new()
        }
        ScreenInput::NotKept(why) => {
            state.transcript.notice(Notice::warning(*why));
            Vec::new()
        }
        ScreenInput::Tick => ticked(state, at),
        ScreenInput::Edited(edited) => {
            state.guard.opened(at);
            writing::edited(state, edited)
        }
        ScreenInput::First(text) => {
            let draft = state.composer.draft();
            state.composer.set(&text, state.dress.lang);
            let effects = submit::send(state, at);
            state.composer.restore(draft);
            effects
        }
    };
    effects.extend(state.palette.has_opened().then_some(ScreenEffect::Look));
    effects.extend(title::changed(state));
    effects
}

/// Shows a temporary message over the input.
fn told(state: &mut State, say: LocalizedText, at: Millis) -> Vec<ScreenEffect> {
    state.person.told = Some((say, at + TOLD));
    Vec::new()
}

fn attend(state: &mut State, attention: WindowFocus) -> Vec<ScreenEffect> {
    state.person.attention = attention;
    Vec::new()
}

fn ticked(state: &mut State, at: Millis) -> Vec<ScreenEffect> {
    if state.person.leaving_until.is_some_and(|until| until <= at) {
        state.person.leaving_until = None;
    }
    if state.person.told.as_ref().is_some_and(|(_, until)| *until <= at) {
        state.person.told = None;
    }
    Vec::new()
}

/// A key goes to the topmost part: a dialog, the palette, the input, and then to its global
/// meaning.
fn key_pressed(state: &mut State, key: &KeyEvent, at: Millis) -> Vec<ScreenEffect> {
    let leaving = state.person.leaving_until.take();
    state.person.leaves_when_written = false;
    if state.modals.is_asking() {
        return asking::key(state, key, at);
    }
    state.guard.pressed(at);
    if !state.modals.is_empty() {
        return modal_key(state, key, at);
    }
    if state.activity.is_busy() && asking::types(key) {
        state.guard.wrote(at);
    }
    if state.queue.is_picking()
        && let Some(effects) = writing::queue_key(state, key)
    {
        return effects;
    }
    if state.composer.searching().is_some() && writing::search_key(state, key) {
        return Vec::new();
    }
    if state.transcript.search_key(key) {
        return Vec::new();
    }
    if state.palette.is_open()
        && let Some(action) = keys::action(KeyContext::Palette, key)
    {
        return palette_key(state, action, at);
    }
    if state.composer.files.is_open()
        && let Some(action) = keys::action(KeyContext::Palette, key)
    {
        writing::files_key(state, action);
        return Vec::new();
    }
    if state.composer.vim_key(key) {
        input_changed(state);
        return Vec::new();
    }
    let action = Some(KeyContext::EmptyInput)
        .filter(|_| state.composer.is_empty())
        .and_then(|place| keys::action(place, key))
        .or_else(|| keys::action(KeyContext::Input, key))
        .or_else(|| keys::action(KeyContext::Anywhere, key));
    match action {
        Some(KeyAction::Interrupt) => interrupt(state, leaving, at),
        Some(action) => act(state, action, key, at),
        None => {
            if state.composer.typed(key) {
                input_changed(state);
            }
            Vec::new()
        }
    }
}

/// A key in a dialog that is not a question: a page, or a picker.
fn modal_key(state: &mut State, key: &KeyEvent, at: Millis) -> Vec<ScreenEffect> {
    match state.modals.key(key, at, state.dress.lang) {
        ModalAction::Stay => Vec::new(),
        ModalAction::Close => {
            state.modals.pop();
            state.guard.opened(at);
            Vec::new()
        }
        ModalAction::Send(op) => vec![ScreenEffect::Send(op)],
        ModalAction::Chose(topic, choice) => choosing::chose(state, topic, choice, at),
        ModalAction::Pass => match keys::action(KeyContext::Anywhere, key) {
            Some(
                KeyAction::Palette
                | KeyAction::Search
                | KeyAction::Recall
                | KeyAction::Stop
                | KeyAction::Interrupt,
            )
            | None => Vec::new(),
            Some(action) => act(state, action, key, at),
        },
    }
}

fn palette_key(state: &mut State, action: KeyAction, at: Millis) -> Vec<ScreenEffect> {
    match state.palette.act(action) {
        palette::PaletteAction::Stay => Vec::new(),
        palette::PaletteAction::Fill(text) => {
            state.composer.set(&text, state.dress.lang);
            input_changed(state);
            Vec::new()
        }
        palette::PaletteAction::Run(text) => {
            state.composer.set(&text, state.dress.lang);
            submit::send(state, at)
        }
        palette::PaletteAction::Send => submit::send(state, at),
        palette::PaletteAction::Closed(draft) => {
            if let Some(draft) = draft {
                state.composer.set(&draft, state.dress.lang);
            }
            Vec::new()
        }
    }
}

/// Carries out the action of a key.
fn act(state: &mut State, action: KeyAction, key: &KeyEvent, at: Millis) -> Vec<ScreenEffect> {
    match action {
        KeyAction::Stop => return stop(state, at),
        KeyAction::Leave => return choosing::leave(state),
        KeyAction::Redraw => return vec![ScreenEffect::Redraw],
        KeyAction::Suspend => return vec![ScreenEffect::Suspend],
        KeyAction::Mouse => return vec![hand_over_mouse(state)],
        KeyAction::Send => return enter(state, at),
        KeyAction::Up => return up(state),
        KeyAction::Help => {
            let help = Modal::help(&state.known.kept);
            state.modals.open(help);
        }
        KeyAction::Steps => state.transcript.toggle_steps(),
        KeyAction::Dump => return submit::dump(state),
        KeyAction::Copy => {
            return state.transcript.selected().map(ScreenEffect::Copy).into_iter().collect();
        }
        KeyAction::Search => state.transcript.search(),
        KeyAction::Scroll(by) => scroll(state, by),
        KeyAction::Palette => open_palette(state),
        KeyAction::Edit(edit) => {
            state.composer.edit(edit);
            input_changed(state);
        }
        KeyAction::Down => {
            state.composer.down(state.dress.lang);
            state.palette.close();
            writing::refresh_files(state);
        }
        KeyAction::Recall => writing::search(state),
        KeyAction::Editor => return vec![ScreenEffect::Editor(state.composer.whole())],
        KeyAction::Suggest => suggest(state, None),
        KeyAction::SuggestNth => suggest(state, keys::digit(key)),
        KeyAction::Interrupt
        | KeyAction::Next
        | KeyAction::Previous
        | KeyAction::Complete
        | KeyAction::Accept
        | KeyAction::Remove
        | KeyAction::More
        | KeyAction::Close => {}
    }
    Vec::new()
}

/// Ctrl-C: clears the input, then stops the turn, then asks whether to quit.
fn interrupt(state: &mut State, leaving: Option<Millis>, at: Millis) -> Vec<ScreenEffect> {
    if !state.composer.is_empty() {
        state.composer.clear();
        input_changed(state);
        return Vec::new();
    }
    if state.activity.is_busy() && !state.activity.is_stopping() {
        return stop(state, at);
    }
    if leaving.is_some_and(|until| at < until) {
        return choosing::leave(state);
    }
    state.person.leaving_until = Some(at + LEAVING);
    Vec::new()
}

fn stop(state: &mut State, at: Millis) -> Vec<ScreenEffect> {
    if past::twice(state, at) {
        choosing::turns(state);
        return Vec::new();
    }
    state.transcript.deselect();
    if !state.activity.is_busy() {
        return Vec::new();
    }
    state.activity.stopping(at);
    vec![ScreenEffect::Send(Op::Stop)]
}

fn enter(state: &mut State, at: Millis) -> Vec<ScreenEffect> {
    if state.composer.break_at_backslash() {
        return Vec::new();
    }
    let waits = !state.queue.waiting().0.is_empty();
    if waits && state.composer.is_empty() && !state.activity.is_busy() {
        return vec![ScreenEffect::Send(Op::RunQueue)];
    }
    submit::send(state, at)
}

/// Up on an empty input selects a queued message; else goes a row up, or back in the history.
fn up(state: &mut State) -> Vec<ScreenEffect> {
    let lang = state.dress.lang;
    if state.composer.is_empty() && state.queue.pick() {
        return Vec::new();
    }
    state.composer.up(lang);
    state.palette.close();
    writing::refresh_files(state);
    Vec::new()
}

/// Tab cycles through the suggestions while the input contains nothing else.
fn suggest(state: &mut State, number: Option<usize>) {
    let shown = state.composer.shown();
    if !(shown.is_empty() || state.chips.is_filled(&shown)) || state.activity.is_busy() {
        return;
    }
    let text = match number {
        Some(number) => state.chips.nth(number),
        None => state.chips.next(),
    };
    if let Some(text) = text.map(str::to_owned) {
        state.composer.set(&text, state.dress.lang);
    }
}

fn open_palette(state: &mut State) {
    state.palette.keep(state.composer.whole());
    state.composer.set("/", state.dress.lang);
    input_changed(state);
}

/// After each change of the input by the user.
fn input_changed(state: &mut State) {
    let shown = state.composer.shown();
    let draft = match shown.is_empty() {
        true => state.palette.take_draft(),
        false => None,
    };
    if let Some(draft) = draft {
        state.composer.set(&draft, state.dress.lang);
    }
    let mut palette = std::mem::take(&mut state.palette);
    palette.refresh(&state.composer.shown(), &state.call());
    state.palette = palette;
    writing::refresh_files(state);
}

fn pasted(state: &mut State, text: &str, at: Millis) -> Vec<ScreenEffect> {
    state.person.leaving_until = None;
    let lang = state.dress.lang;
    if text.len() > PASTE {
        let size = words::PASTE_TOO_BIG.with("size", text.len() >> 20).with("most", PASTE >> 20);
        state.transcript.notice(Notice::warning(size));
        return Vec::new();
    }
    if state.modals.is_asking() {
        return asking::pasted(state, text, at);
    }
    state.guard.pressed(at);
    if state.composer.searching().is_some() && state.modals.is_empty() {
        state.composer.search_for(text.lines().next().unwrap_or_default());
        return Vec::new();
    }
    if state.modals.is_empty() && state.transcript.search_paste(text) {
        return Vec::new();
    }
    if state.modals.is_empty() {
        state.composer.paste(text, lang);
        input_changed(state);
    }
    Vec::new()
}

fn moused(state: &mut State, mouse: MouseEvent, at: Millis) -> Vec<ScreenEffect> {
    let lines = match mouse.kind {
        MouseEventKind::ScrollUp => -WHEEL,
        MouseEventKind::ScrollDown => WHEEL,
        MouseEventKind::Down(_) if state.modals.is_asking() => {
            state.guard.pressed(at);
            return Vec::new();
        }
        MouseEventKind::Down(MouseButton::Left) if mouse.modifiers == KeyModifiers::NONE => {
            if state.modals.is_empty() {
                state.transcript.press(mouse.column, mouse.row, at);
            }
            return Vec::new();
        }
        MouseEventKind::Drag(MouseButton::Left) => {
            state.transcript.drag(mouse.column, mouse.row);
            return Vec::new();
        }
        MouseEventKind::Up(MouseButton::Left) if state.modals.is_empty() => {
            return match state.transcript.release(mouse.column, mouse.row) {
                Released::Selected(text) => vec![ScreenEffect::Copy(text)],
                Released::Clicked => Vec::new(),
            };
        }
        _ => return Vec::new(),
    };
    if state.modals.is_empty() || state.modals.is_docked() {
        state.transcript.scroll(Scroll::Lines(lines));
    } else {
        state.modals.wheel(lines);
    }
    Vec::new()
}

fn hand_over_mouse(state: &mut State) -> ScreenEffect {
    let (mouse, effect) = match state.mouse {
        Mouse::Ours => (Mouse::Terminals, ScreenEffect::ReleaseMouse),
        Mouse::Terminals => (Mouse::Ours, ScreenEffect::CaptureMouse),
    };
    state.mouse = mouse;
    effect
}

fn scroll(state: &mut State, by: Scrolled) {
    state.transcript.scroll(match by {
        Scrolled::LineUp => Scroll::Lines(-1),
        Scrolled::LineDown => Scroll::Lines(1),
        Scrolled::PageUp => Scroll::Pages(-1),
        Scrolled::PageDown => Scroll::Pages(1),
        Scrolled::Top => Scroll::Top,
        Scrolled::Bottom => Scroll::Bottom,
        Scrolled::TurnUp => Scroll::Turn(-1),
        Scrolled::TurnDown => Scroll::Turn(1),
    });
}

fn turn_ended(state: &mut State, elapsed_ms: u64, at: Millis) -> Vec<ScreenEffect> {
    state.modals.turn_ended();
    state.guard.opened(at);
    state.chips.set(state.transcript.suggestions());
    let mut effects = submit::later(state, at);
    if elapsed_ms >= LONG_TURN {
        effects.extend(ring::done(state));
    }
    effects
}

/// Applies an event of the session to each area that shows it.
fn happened(state: &mut State, event: protocol::Event, at: Millis) -> Vec<ScreenEffect> {
    state.activity.apply(&event, at);
    state.transcript.apply(&event);
    match event {
        protocol::Event::Asked(ask) => {
            let modal = Modal::asked(*ask, &state.facts);
            state.modals.open(modal);
            asking::opened(state, at);
            return ring::asks(state);
        }
        protocol::Event::TerminalRequested { ask } => return vec![ScreenEffect::Lend(ask)],
        protocol::Event::QuestionClosed { ask } => {
            state.modals.answered(ask);
            state.guard.opened(at);
        }
        protocol::Event::Judged { ask, work, risk, change } => {
            state.modals.judged(ask, work, risk, change.map(|change| *change));
        }
        protocol::Event::Queued { texts } => state.queue.set(texts),
        protocol::Event::TurnStarted { .. } => state.chips.set::<&str>(&[]),
        protocol::Event::TurnEnded { elapsed_ms, .. } => return turn_ended(state, elapsed_ms, at),
        protocol::Event::Facts(facts) => {
            state.facts = *facts;
            submit::set_lang(state, state.facts.lang);
            return choosing::leave_when_written(state);
        }
        protocol::Event::HistoryChunk { events, at, .. } => past::earlier(state, &events, &at),
        protocol::Event::Rewound { text, .. } => past::rewound(state, &text),
        protocol::Event::RewindAsked { turn, files } => choosing::what(state, turn, files),
        protocol::Event::Sessions { rows, more } => choosing::sessions_came(state, rows, more),
        protocol::Event::Cleared => state.chips.set(&start::suggestions(state.dress.lang)),
        protocol::Event::Models { names } => {
            state.known.models = names;
            choosing::models_came(state);
        }
        protocol::Event::Catalogue(kept) => writing::kept_came(state, *kept),
        // Keys typed meanwhile were meant for the step.
        protocol::Event::TerminalReturned => state.guard.opened(at),
        protocol::Event::Closed => return vec![ScreenEffect::Quit],
        protocol::Event::ReplyStarted
        | protocol::Event::Steered { .. }
        | protocol::Event::Attached { .. }
        | protocol::Event::Rendered { .. }
        | protocol::Event::Delta { .. }
        | protocol::Event::ReasoningDelta { .. }
        | protocol::Event::Retrying { .. }
        | protocol::Event::Repairing { .. }
        | protocol::Event::Replied(_)
        | protocol::Event::StepStarted { .. }
        | protocol::Event::StepOutput { .. }
        | protocol::Event::StepFinished(_)
        | protocol::Event::Plan { .. }
        | protocol::Event::Undone { .. }
        | protocol::Event::FilesKept { .. }
        | protocol::Event::FolderAdded { .. }
        | protocol::Event::Page(_)
        | protocol::Event::Compacting
        | protocol::Event::Compacted(_)
        | protocol::Event::Notice(_) => {}
    }
    Vec::new()
}

#[cfg(test)]
mod tests;
