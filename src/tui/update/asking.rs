//! Keys while a question waits: they answer it, continue the draft, or run a command that need not
//! wait for the answer. [`crate::tui::guard`] decides which.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::{act, input_changed, palette_key, writing};
use crate::protocol::{Decision, Op};
use crate::tui::Millis;
use crate::tui::event::ScreenEffect;
use crate::tui::guard::{Focus, KeyKind, Route};
use crate::tui::keys::{self, EditAction, KeyAction, KeyContext, Scrolled};
use crate::tui::modal::ModalAction;
use crate::tui::state::State;
use crate::tui::{choosing, submit};

/// A second Esc counts within this time.
const AGAIN: Millis = 1_000;

pub(super) fn key(state: &mut State, key: &KeyEvent, at: Millis) -> Vec<ScreenEffect> {
    let draft = !state.composer.is_blank();
    let ready = state.guard.is_ready(at);
    let kind = kind(state, key, state.guard.focus(at, draft));
    match state.guard.key(kind, at, draft) {
        Route::Moved => {
            close_lists(state);
            state.modals.leave();
            Vec::new()
        }
        Route::To(Focus::Question) => answer(state, key, at),
        Route::To(Focus::Draft) => {
            state.modals.leave();
            let effects = write(state, key, ready, at);
            // The user deleted the whole draft, so typing ahead is over.
            if draft && state.composer.is_blank() && effects.is_empty() {
                state.guard.erased();
            }
            effects
        }
    }
}

/// A question opens: searches and selections end, so that keys type text.
pub(super) fn opened(state: &mut State, at: Millis) {
    state.composer.leave_search();
    state.queue.act(Some(KeyAction::Close));
    state.guard.opened(at);
}

/// Pastes into a field of the question, else into the draft.
pub(super) fn pasted(state: &mut State, text: &str, at: Millis) -> Vec<ScreenEffect> {
    let lang = state.dress.lang;
    let focus = state.guard.focus(at, !state.composer.is_blank());
    if focus == Focus::Question && state.modals.is_field() {
        state.guard.pasted(at);
        return match state.modals.paste(text, lang) {
            ModalAction::Send(op) => vec![ScreenEffect::Send(op)],
            ModalAction::Stay | ModalAction::Close | ModalAction::Chose(..) | ModalAction::Pass => {
                Vec::new()
            }
        };
    }
    state.guard.wrote(at);
    state.guard.pasted(at);
    state.modals.leave();
    state.composer.paste(text, lang);
    input_changed(state);
    Vec::new()
}

fn kind(state: &State, key: &KeyEvent, focus: Focus) -> KeyKind {
    let lists = state.palette.is_open() || state.composer.files.is_open();
    let listed = focus == Focus::Draft && lists;
    match key.code {
        KeyCode::Esc if listed || (focus == Focus::Question && state.modals.is_field()) => {
            KeyKind::Other
        }
        KeyCode::Esc => KeyKind::Esc,
        KeyCode::Tab | KeyCode::Up | KeyCode::Down if listed => KeyKind::Other,
        KeyCode::Tab => KeyKind::Tab,
        arrow if key.modifiers.is_empty() && state.composer.is_edge(arrow) => KeyKind::Edge,
        KeyCode::Char(' ') if state.composer.is_blank() => KeyKind::Other,
        _ if types(key) => KeyKind::Text,
        _ => match keys::action(KeyContext::Input, key) {
            Some(KeyAction::Edit(_)) if !state.composer.is_empty() => KeyKind::Text,
            _ => KeyKind::Other,
        },
    }
}

/// Whether a key types a character.
pub(super) fn types(key: &KeyEvent) -> bool {
    let held = key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
    matches!(key.code, KeyCode::Char(c) if !held && !c.is_control())
}

fn close_lists(state: &mut State) {
    state.palette.close();
    state.composer.files.close();
}

/// A key for the question.
fn answer(state: &mut State, key: &KeyEvent, at: Millis) -> Vec<ScreenEffect> {
    let lang = state.dress.lang;
    if !state.modals.is_field() && keys::letter(key) == Some('/') {
        return open_line(state, at);
    }
    // A line break in a paste was not typed.
    if state.guard.is_pasting(at) && keys::action(KeyContext::Input, key) == Some(KeyAction::Send) {
        return Vec::new();
    }
    match state.modals.key(key, at, lang) {
        ModalAction::Stay => Vec::new(),
        ModalAction::Close => {
            state.modals.pop();
            state.guard.opened(at);
            Vec::new()
        }
        ModalAction::Send(op) => {
            if matches!(op, Op::Decide { decision: Decision::Stop, .. }) {
                state.activity.stopping(at);
            }
            vec![ScreenEffect::Send(op)]
        }
        ModalAction::Chose(topic, choice) => choosing::chose(state, topic, choice, at),
        ModalAction::Pass if types(key) => {
            state.guard.wrote(at);
            state.modals.leave();
            typed(state, key)
        }
        ModalAction::Pass => match keys::action(KeyContext::Anywhere, key) {
            Some(KeyAction::Palette) => open_line(state, at),
            Some(
                KeyAction::Search | KeyAction::Recall | KeyAction::Stop | KeyAction::Interrupt,
            )
            | None => Vec::new(),
            Some(action) => act(state, action, key, at),
        },
    }
}

/// A key for the draft, with the same meaning as while a turn runs.
fn write(state: &mut State, key: &KeyEvent, ready: bool, at: Millis) -> Vec<ScreenEffect> {
    if let Some(effects) = listed(state, key, at) {
        return effects;
    }
    if state.composer.vim_key(key) {
        input_changed(state);
        return Vec::new();
    }
    let action =
        keys::action(KeyContext::Input, key).or_else(|| keys::action(KeyContext::Anywhere, key));
    match action {
        Some(KeyAction::Send) => send(state, at),
        Some(KeyAction::Stop) => leave(state, ready, at),
        Some(KeyAction::Interrupt) if state.composer.is_empty() => answer(state, key, at),
        Some(KeyAction::Interrupt) => {
            state.composer.clear();
            input_changed(state);
            Vec::new()
        }
        Some(KeyAction::Palette) => open_line(state, at),
        Some(KeyAction::Scroll(by @ (Scrolled::PageUp | Scrolled::PageDown)))
            if state.modals.scroll(by) =>
        {
            Vec::new()
        }
        Some(
            KeyAction::Search
            | KeyAction::Recall
            | KeyAction::Editor
            | KeyAction::Suggest
            | KeyAction::SuggestNth,
        ) => Vec::new(),
        Some(action) => act(state, action, key, at),
        None if keys::letter(key) == Some('/') && state.composer.is_empty() => open_line(state, at),
        None => {
            // With an empty draft, a space scrolls what does not fit.
            if key.code == KeyCode::Char(' ') && state.composer.is_blank() {
                state.modals.scroll(Scrolled::PageDown);
            }
            typed(state, key)
        }
    }
}

/// A key of a list that is open over the draft; `None`: it is none of its keys.
fn listed(state: &mut State, key: &KeyEvent, at: Millis) -> Option<Vec<ScreenEffect>> {
    let action = keys::action(KeyContext::Palette, key)?;
    if state.palette.is_open() {
        let line = state.palette.draft().is_some();
        let effects = palette_key(state, action, at);
        if line && state.palette.draft().is_none() {
            state.guard.returned(at);
        }
        return Some(effects);
    }
    if state.composer.files.is_open() {
        writing::files_key(state, action);
        return Some(Vec::new());
    }
    None
}

fn typed(state: &mut State, key: &KeyEvent) -> Vec<ScreenEffect> {
    if state.composer.typed(key) {
        input_changed(state);
    }
    Vec::new()
}

/// Enter queues the draft, as it does while a turn runs. An empty draft sends nothing, and an Enter
/// in a paste is a line break.
fn send(state: &mut State, at: Millis) -> Vec<ScreenEffect> {
    if state.composer.is_blank() {
        return Vec::new();
    }
    if state.guard.is_pasting(at) {
        state.composer.edit(EditAction::Break);
        input_changed(state);
        return Vec::new();
    }
    if state.composer.break_at_backslash() {
        return Vec::new();
    }
    let line = state.palette.draft().is_some();
    let effects = submit::send(state, at);
    if line && state.palette.draft().is_none() {
        state.guard.returned(at);
    }
    effects
}

/// Opens the command line over the question and the draft.
fn open_line(state: &mut State, at: Millis) -> Vec<ScreenEffect> {
    state.guard.wrote(at);
    super::open_palette(state);
    Vec::new()
}

/// Esc leads from the command line back to the question. In a draft it stops the turn, as it does
/// everywhere; while the user is typing, only the second one does.
fn leave(state: &mut State, ready: bool, at: Millis) -> Vec<ScreenEffect> {
    let before = state.person.escaped.replace(at);
    if let Some(draft) = state.palette.take_draft() {
        state.composer.set(&draft, state.dress.lang);
        close_lists(state);
        state.guard.returned(at);
        return Vec::new();
    }
    let again = before.is_some_and(|before| at < before + AGAIN);
    if !state.activity.is_busy() || !(again || ready) {
        return Vec::new();
    }
    state.activity.stopping(at);
    vec![ScreenEffect::Send(Op::Stop)]
}
