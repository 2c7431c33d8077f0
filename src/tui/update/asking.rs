//! Keys while a question waits: they answer it, continue the draft, or run a command that need not
//! wait for the answer. [`crate::guard`] decides which.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::input::{input_changed, open_palette, type_key};
use super::{act, apply_modal_action, list_key};
use crate::Millis;
use crate::event::ScreenEffect;
use crate::focus::{Focus, input_focus};
use crate::guard::{KeyKind, KeyRoute, KeyTarget};
use crate::keys::{self, EditAction, KeyAction, KeyContext, ScrollAction};
use crate::modal::ModalAction;
use crate::state::State;
use crate::submit;
use avocet_core::i18n::screen as phrases;
use avocet_core::protocol::{Decision, Op, QuestionOp, TurnOp};

/// A second Esc counts within this time.
const AGAIN: Millis = 1_000;
/// The question at which the modes are named, and for how long.
const HINT_AT: usize = 3;
const HINT_LASTS: Millis = 20_000;

pub(super) fn handle_key(
    state: &mut State,
    key: &KeyEvent,
    focus: Focus,
    at: Millis,
) -> Vec<ScreenEffect> {
    let draft = !state.composer.is_blank();
    let ready = state.guard.is_ready(at);
    let kind = key_kind(state, key, focus);
    let ignored = state.guard.take_ignored(at);
    match state.guard.route_key(kind, at, draft) {
        KeyRoute::FocusMoved => {
            close_lists(state);
            state.modals.reset_selection();
            Vec::new()
        }
        KeyRoute::To(KeyTarget::Question) => handle_question_key(state, key, ignored, at),
        KeyRoute::Held => hold_key(state, key, ignored, at),
        KeyRoute::To(KeyTarget::Draft) => {
            state.modals.reset_selection();
            if is_text_key(key) && !ignored.is_empty() {
                state.guard.record_typing(at);
                type_keys(state, &ignored);
            }
            let effects = handle_draft_key(state, key, ready, at);
            // The user deleted the whole draft, so typing ahead is over.
            if draft && state.composer.is_blank() && effects.is_empty() {
                state.guard.clear_typing();
            }
            effects
        }
    }
}

/// A letter of a choice that came too early: it answers nothing, and it begins a text only if
/// another letter follows.
fn hold_key(
    state: &mut State,
    key: &KeyEvent,
    held: Vec<KeyEvent>,
    at: Millis,
) -> Vec<ScreenEffect> {
    state.modals.reset_selection();
    if held.iter().all(|before| before.code == key.code) {
        state.guard.ignore(held, key, at);
        state.modals.refuse(phrases::QUESTION_PRESS_AGAIN);
        return Vec::new();
    }
    state.guard.record_typing(at);
    type_keys(state, &held);
    type_key(state, key)
}

/// Types letters that were the beginning of a text.
fn type_keys(state: &mut State, keys: &[KeyEvent]) {
    for key in keys {
        type_key(state, key);
    }
}

/// A question opens: searches and selections end, so that keys type text.
pub(super) fn open_question(state: &mut State, at: Millis) {
    state.composer.history.search = None;
    state.queue.act(Some(KeyAction::Close));
    state.guard.restart(at);
    state.presence.question_count += 1;
    if state.presence.question_count == HINT_AT && state.facts.approval.is_default() {
        let say = state.keys.keymap.with_keys(phrases::MODES_HINT);
        state.presence.temporary_message = Some((say, at + HINT_LASTS));
    }
}

/// Pastes into a field of the question, else into the draft.
pub(super) fn handle_paste(
    state: &mut State,
    text: &str,
    focus: Focus,
    at: Millis,
) -> Vec<ScreenEffect> {
    let lang = state.appearance.lang;
    if focus == Focus::Question && state.modals.has_text_field() {
        state.guard.record_paste(at);
        let action = state.modals.paste(text, lang);
        return apply_modal_action(state, action, at);
    }
    state.guard.record_typing(at);
    state.guard.record_paste(at);
    state.modals.reset_selection();
    state.composer.paste(text, lang);
    input_changed(state);
    Vec::new()
}

fn key_kind(state: &State, key: &KeyEvent, focus: Focus) -> KeyKind {
    let listed = focus == Focus::Draft && input_focus(state) != Focus::Composer;
    match key.code {
        KeyCode::Esc if listed || (focus == Focus::Question && state.modals.has_text_field()) => {
            KeyKind::Other
        }
        KeyCode::Esc => KeyKind::Esc,
        KeyCode::Tab | KeyCode::Up | KeyCode::Down if listed => KeyKind::Other,
        KeyCode::Tab if focus == Focus::Question && state.modals.is_form_on_top() => KeyKind::Other,
        KeyCode::Tab => KeyKind::Tab,
        arrow if key.modifiers.is_empty() && state.composer.is_at_edge(arrow) => KeyKind::Edge,
        KeyCode::Char(' ') if state.composer.is_blank() => KeyKind::Other,
        _ if is_text_key(key) && state.composer.is_empty() && state.modals.is_choice(key) => {
            KeyKind::Choice
        }
        _ if is_text_key(key) => KeyKind::Text,
        _ => match keys::action(KeyContext::Input, key) {
            Some(KeyAction::Edit(_)) if !state.composer.is_empty() => KeyKind::Text,
            _ => KeyKind::Other,
        },
    }
}

/// Whether a key types a character.
pub(super) fn is_text_key(key: &KeyEvent) -> bool {
    let held = key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
    matches!(key.code, KeyCode::Char(c) if !held && !c.is_control())
}

fn close_lists(state: &mut State) {
    state.palette.close();
    state.composer.files.close();
}

/// A key for the question.
fn handle_question_key(
    state: &mut State,
    key: &KeyEvent,
    ignored: Vec<KeyEvent>,
    at: Millis,
) -> Vec<ScreenEffect> {
    let lang = state.appearance.lang;
    if !state.modals.has_text_field() && keys::letter(key) == Some('/') {
        return open_command_line(state, at);
    }
    // A line break in a paste was not typed.
    if state.guard.is_pasting(at) && keys::action(KeyContext::Input, key) == Some(KeyAction::Send) {
        return Vec::new();
    }
    let unread = state.guard.precedes_reading(at);
    if unread && keys::action(KeyContext::Question, key) == Some(KeyAction::Accept) {
        state.guard.focus_question(at);
        state.modals.refuse(phrases::QUESTION_PRESS_AGAIN);
        return Vec::new();
    }
    if begins_word(state, key, &ignored) {
        return type_word(state, key, &ignored, at);
    }
    if state.guard.is_in_burst() && state.modals.is_choice(key) {
        state.guard.ignore(ignored, key, at);
        return Vec::new();
    }
    // In a text it is one of its letters.
    if keys::letter(key) == Some('?') && ignored.is_empty() && !state.modals.has_text_field() {
        return act(state, KeyAction::Help, key, at);
    }
    match state.modals.key(key, (at, unread), lang) {
        ModalAction::Undecided if is_text_key(key) => {
            if unread {
                state.guard.focus_question(at);
            }
            state.guard.ignore(ignored, key, at);
            Vec::new()
        }
        ModalAction::Send(op) => decide(state, op, Some(key), at),
        ModalAction::Unhandled if is_text_key(key) => type_word(state, key, &ignored, at),
        ModalAction::Unhandled => match keys::action(KeyContext::Anywhere, key) {
            Some(KeyAction::Palette) => open_command_line(state, at),
            Some(
                KeyAction::Search
                | KeyAction::SearchHistory
                | KeyAction::Stop
                | KeyAction::Interrupt,
            )
            | None => Vec::new(),
            Some(action) => act(state, action, key, at),
        },
        action => apply_modal_action(state, action, at),
    }
}

/// Whether a letter after some that decided nothing makes them a word. Letters that only mark may
/// follow each other, and a repeated one is a key held down.
fn begins_word(state: &State, key: &KeyEvent, before: &[KeyEvent]) -> bool {
    before.last().is_some_and(|before| before.code != key.code)
        && is_text_key(key)
        && !state.modals.has_text_field()
        && !state.modals.is_marking(key)
}

/// Types a letter and those before it, which answer nothing any more.
fn type_word(
    state: &mut State,
    key: &KeyEvent,
    before: &[KeyEvent],
    at: Millis,
) -> Vec<ScreenEffect> {
    state.guard.record_typing(at);
    state.modals.reset_selection();
    type_keys(state, before);
    type_key(state, key)
}

/// What a question sends: a decision, or an edit to be assessed.
pub(super) fn decide(
    state: &mut State,
    op: Op,
    key: Option<&KeyEvent>,
    at: Millis,
) -> Vec<ScreenEffect> {
    if let Op::Question(QuestionOp::Decide { decision, .. }) = &op {
        state.guard.record_decision(key, at, !state.composer.is_blank());
        match decision {
            Decision::Stop => return submit::stop_turn(state, op, at),
            Decision::ApproveAll { steps } => state.transcript.approve_ahead(steps),
            _ => {}
        }
    }
    vec![ScreenEffect::Send(op)]
}

/// A key for the draft, with the same meaning as while a turn runs.
fn handle_draft_key(
    state: &mut State,
    key: &KeyEvent,
    ready: bool,
    at: Millis,
) -> Vec<ScreenEffect> {
    if let Some(effects) = handle_list_key(state, key, at) {
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
        Some(KeyAction::Stop) => handle_escape(state, ready, at),
        Some(KeyAction::Interrupt) if state.composer.is_empty() => {
            handle_question_key(state, key, Vec::new(), at)
        }
        Some(KeyAction::Interrupt) => {
            state.composer.clear();
            input_changed(state);
            Vec::new()
        }
        Some(KeyAction::Palette) => open_command_line(state, at),
        Some(KeyAction::Scroll(by @ (ScrollAction::PageUp | ScrollAction::PageDown)))
            if state.modals.scroll(by) =>
        {
            Vec::new()
        }
        Some(
            KeyAction::Search
            | KeyAction::SearchHistory
            | KeyAction::Editor
            | KeyAction::Suggest
            | KeyAction::SuggestNth,
        ) => Vec::new(),
        Some(action) => act(state, action, key, at),
        None if keys::letter(key) == Some('/') && state.composer.is_empty() => {
            open_command_line(state, at)
        }
        None => {
            // With an empty draft, a space scrolls what does not fit.
            if key.code == KeyCode::Char(' ') && state.composer.is_blank() {
                state.modals.scroll(ScrollAction::PageDown);
            }
            type_key(state, key)
        }
    }
}

/// A key of a list that is open over the draft.
fn handle_list_key(state: &mut State, key: &KeyEvent, at: Millis) -> Option<Vec<ScreenEffect>> {
    let line = state.palette.draft().is_some();
    let effects = list_key(state, key, at)?;
    if line && state.palette.draft().is_none() {
        state.guard.focus_question(at);
    }
    Some(effects)
}

/// Enter queues the draft, as it does while a turn runs. An empty draft sends nothing, and an Enter
/// in a paste is a line break.
fn send(state: &mut State, at: Millis) -> Vec<ScreenEffect> {
    if state.composer.is_blank() {
        return Vec::new();
    }
    if state.guard.is_pasting(at) {
        state.composer.edit(EditAction::InsertNewline);
        input_changed(state);
        return Vec::new();
    }
    if state.composer.break_at_backslash() {
        return Vec::new();
    }
    let is_command =
        state.palette.draft().is_some() || state.composer.display_text().starts_with('/');
    let text = state.composer.display_text();
    if !is_command && (state.guard.ends_word(&text) || !state.guard.confirm_sending(at)) {
        state.modals.refuse(phrases::QUESTION_ENTER_AGAIN);
        return Vec::new();
    }
    let line = state.palette.draft().is_some();
    let effects = submit::send(state, at);
    if line && state.palette.draft().is_none() {
        state.guard.focus_question(at);
    }
    effects
}

/// Opens the command line over the question and the draft.
fn open_command_line(state: &mut State, at: Millis) -> Vec<ScreenEffect> {
    state.guard.record_typing(at);
    open_palette(state);
    Vec::new()
}

/// Esc leads from the command line back to the question. In a draft it stops the turn, as it does
/// everywhere; while the user is typing, only the second one does.
fn handle_escape(state: &mut State, ready: bool, at: Millis) -> Vec<ScreenEffect> {
    let before = state.presence.last_escape.replace(at);
    if let Some(draft) = state.palette.take_draft() {
        state.composer.set_text(&draft, state.appearance.lang);
        close_lists(state);
        state.guard.focus_question(at);
        return Vec::new();
    }
    let again = before.is_some_and(|before| at < before + AGAIN);
    if !state.activity.is_busy() || !(again || ready) {
        return Vec::new();
    }
    submit::stop_turn(state, Op::Turn(TurnOp::Stop), at)
}
