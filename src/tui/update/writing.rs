//! Keys of what opens over the input while one writes: the search through what was sent.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::tui::composer::Way;
use crate::tui::keys::{self, Action, Edit, Place};
use crate::tui::state::State;

/// Begins to look for what was sent before.
pub(super) fn search(state: &mut State) {
    state.palette.close();
    state.composer.search(Way::Older);
}

/// A key while something is looked for. False when it means something else: then what
/// was found is taken, and the key does to it what it always does.
pub(super) fn search_key(state: &mut State, key: &KeyEvent) -> bool {
    let lang = state.dress.lang;
    match keys::action(Place::Recall, key) {
        Some(Action::Next) => state.composer.search(Way::Older),
        Some(Action::Previous) => state.composer.search(Way::Newer),
        Some(Action::Edit(Edit::Back)) => state.composer.search_back(),
        Some(Action::Accept) => state.composer.take_found(lang),
        Some(Action::Close) => state.composer.leave_search(),
        Some(_) | None => match typed(key) {
            Some(c) => state.composer.search_for(c.encode_utf8(&mut [0; 4])),
            None => {
                state.composer.take_found(lang);
                return false;
            }
        },
    }
    true
}

/// The character a key types, if it types one.
fn typed(key: &KeyEvent) -> Option<char> {
    let KeyCode::Char(c) = key.code else { return None };
    let held = key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
    (!held && !c.is_control()).then_some(c)
}
