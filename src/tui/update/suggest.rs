//! Takes a suggestion: into the input, or where it is a command, at once.

use crate::event::ScreenEffect;
use crate::state::State;
use crate::{Millis, submit};

/// Tab cycles through the suggestions while the input contains nothing else; one that is a command
/// runs.
pub(super) fn suggest(state: &mut State, number: Option<usize>, at: Millis) -> Vec<ScreenEffect> {
    let shown = state.composer.display_text();
    if !(shown.is_empty() || state.suggestions.is_last_inserted(&shown)) || state.activity.is_busy()
    {
        return Vec::new();
    }
    let text = match number {
        Some(number) => state.suggestions.nth(number),
        None => state.suggestions.next(),
    };
    if let Some(text) = text.map(str::to_owned) {
        state.composer.set_text(&text, state.appearance.lang);
        if state.suggestions.run_at_once() {
            return submit::send(state, at);
        }
    }
    Vec::new()
}
