//! The conversation before now: a resumed session, and turns that were undone.

use super::input_changed;
use crate::protocol::Event;
use crate::tui::Millis;
use crate::tui::state::State;

/// A second Esc counts within this time.
const TWICE: Millis = 1_000;

/// `at`: the time of each event, where that is known.
pub fn earlier(state: &mut State, events: &[Event], at: &[i64]) {
    state.transcript.before(events, at);
    if !state.activity.is_busy() {
        state.chips.set(state.transcript.suggestions());
    }
}

/// Puts the undone message into the input, to be changed and sent again.
pub fn rewound(state: &mut State, text: &str) {
    state.chips.set::<&str>(&[]);
    if state.composer.is_empty() {
        state.composer.set(text, state.dress.lang);
        input_changed(state);
    }
}

/// Esc was pressed: true for the second time within a moment, with an empty input.
pub fn twice(state: &mut State, at: Millis) -> bool {
    let before = state.person.escaped.replace(at);
    let twice = before.is_some_and(|before| at < before + TWICE) && state.composer.is_empty();
    if twice {
        state.person.escaped = None;
    }
    twice && state.transcript.turns().next().is_some()
}
