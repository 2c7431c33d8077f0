//! What happened before: a session that was taken up again, and turns that were taken
//! back.

use super::input_changed;
use crate::protocol::Event;
use crate::tui::Millis;
use crate::tui::state::State;

/// A second Esc counts for this long.
const TWICE: Millis = 1_000;

/// `at`: when each happened, where that is known.
pub fn earlier(state: &mut State, events: &[Event], at: &[i64]) {
    state.transcript.before(events, at);
    if !state.activity.is_busy() {
        state.chips.set(state.transcript.suggestions());
    }
}

/// The words that were taken back can be changed and sent again.
pub fn rewound(state: &mut State, text: &str) {
    state.chips.set::<&str>(&[]);
    if state.composer.is_empty() {
        state.composer.set(text, state.dress.lang);
        input_changed(state);
    }
}

/// Esc was pressed: true for the second time within a moment, with nothing written.
pub fn twice(state: &mut State, at: Millis) -> bool {
    let before = state.person.escaped.replace(at);
    let twice = before.is_some_and(|before| at < before + TWICE) && state.composer.is_empty();
    if twice {
        state.person.escaped = None;
    }
    twice && state.transcript.turns().next().is_some()
}
