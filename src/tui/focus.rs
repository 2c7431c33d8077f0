//! Who gets a key, a paste or a turn of the wheel: decided here, for the keys and for what is
//! drawn.

use super::guard::KeyTarget;
use super::state::State;
use super::time::Millis;

/// The part of the screen that gets the input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Focus {
    /// The question on top.
    Question,
    /// The draft below that question.
    Draft,
    /// A page over the whole screen.
    Page,
    Picker,
    /// A queued message.
    Queue,
    /// A running subagent, while nothing is typed to it.
    Agents,
    /// The search in the history.
    HistorySearch,
    /// The search in the conversation.
    TranscriptSearch,
    /// The list of commands over the input.
    Palette,
    /// The list of files over the input.
    Files,
    #[default]
    Composer,
}

pub fn focus(state: &State, now: Millis) -> Focus {
    if state.modals.is_question_on_top() {
        return match state.guard.target(now, !state.composer.is_blank()) {
            KeyTarget::Question => Focus::Question,
            KeyTarget::Draft => Focus::Draft,
        };
    }
    if state.modals.is_picker_on_top() {
        Focus::Picker
    } else if !state.modals.is_empty() {
        Focus::Page
    } else if state.queue.has_selection() {
        Focus::Queue
    } else if state.display.agents.selected().is_some() && state.composer.is_empty() {
        Focus::Agents
    } else if state.composer.history.search.is_some() {
        Focus::HistorySearch
    } else if state.transcript.search_status().is_some() {
        Focus::TranscriptSearch
    } else {
        input_focus(state)
    }
}

/// The focus while a text is written: a list over it gets the keys that move in lists.
pub fn input_focus(state: &State) -> Focus {
    if state.palette.is_open() {
        Focus::Palette
    } else if state.composer.files.is_open() {
        Focus::Files
    } else {
        Focus::Composer
    }
}
