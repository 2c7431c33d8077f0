//! The conversation before now: a resumed session, and turns that were undone.

use super::input::input_changed;
use crate::Millis;
use crate::state::State;
use avocet_core::protocol::Event;

/// A second Esc counts within this time.
const TWICE: Millis = 1_000;

/// `at`: the time of each event, where that is known.
pub fn prepend_events(state: &mut State, events: &[Event], at: &[i64]) {
    state.transcript.prepend(events, at);
    if !state.activity.is_busy() {
        state.suggestions.set(state.transcript.suggestions());
    }
}

/// Puts the undone message into the input, to be changed and sent again.
pub fn restore_message(state: &mut State, text: &str) {
    state.suggestions.set::<&str>(&[]);
    if state.composer.is_empty() {
        state.composer.set_text(text, state.appearance.lang);
        input_changed(state);
    }
}

/// The model never saw the message, so the user can edit it and send it again.
pub fn restore_unsent(state: &mut State) {
    let unsent = state.transcript.turns().next().map(|(_, text)| text.to_owned());
    restore_message(state, &unsent.unwrap_or_default());
}

/// Esc was pressed: true for the second time within a moment, with an empty input.
pub fn is_second_escape(state: &mut State, at: Millis) -> bool {
    let before = state.presence.last_escape.replace(at);
    let twice = before.is_some_and(|before| at < before + TWICE) && state.composer.is_empty();
    if twice {
        state.presence.last_escape = None;
    }
    twice && state.transcript.turns().next().is_some()
}
