//! Keys of the lists over the input: the list of files, and the search in the history.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::protocol::{Extensions, Notice};
use crate::tui::composer::SearchSource;
use crate::tui::event::ScreenEffect;
use crate::tui::files;
use crate::tui::keys::{self, EditAction, KeyAction, KeyContext};
use crate::tui::queue;
use crate::tui::state::State;
use crate::words::LocalizedText;

/// A key in the list of files.
pub(super) fn files_key(state: &mut State, action: KeyAction) {
    match state.composer.files.act(action) {
        files::FileListAction::Stay => return,
        files::FileListAction::Take(path) => state.composer.mention_path(&path),
        files::FileListAction::Enter(folder) => state.composer.mention_folder(&folder),
    }
    refresh_files(state);
}

/// The user's extensions were read: one of them may be the command being completed.
pub(super) fn kept_came(state: &mut State, kept: Extensions) {
    state.known.looked = true;
    if state.known.kept == kept {
        return;
    }
    state.known.kept = kept;
    if state.palette.is_wanted() {
        super::input_changed(state);
    }
}

/// A key while a queued message is selected; `None`: it has another meaning.
pub(super) fn queue_key(state: &mut State, key: &KeyEvent) -> Option<Vec<ScreenEffect>> {
    let op = match state.queue.act(keys::action(KeyContext::Queue, key)) {
        queue::QueueAction::Stay => None,
        queue::QueueAction::Gone(op) => op,
        queue::QueueAction::Edit(text, op) => {
            state.composer.set(&text, state.dress.lang);
            op
        }
        queue::QueueAction::Pass => return None,
    };
    Some(op.map(ScreenEffect::Send).into_iter().collect())
}

/// After each change of the input: updates the list for the mention at the cursor.
pub(super) fn refresh_files(state: &mut State) {
    let mention = state.composer.mention();
    state.composer.files.refresh(mention);
}

/// The external editor was closed.
pub(super) fn edited(
    state: &mut State,
    edited: Result<String, LocalizedText>,
) -> Vec<ScreenEffect> {
    match edited {
        Ok(text) => {
            state.composer.rewrite(&text, state.dress.lang);
            super::input_changed(state);
        }
        Err(say) => state.transcript.notice(Notice::error(say)),
    }
    Vec::new()
}

/// Begins a search in the history.
pub(super) fn search(state: &mut State) {
    state.palette.close();
    state.composer.files.close();
    state.composer.search(SearchSource::Older);
}

/// A key during the search. False when it has another meaning: the hit is then accepted first, and
/// the key applies to it.
pub(super) fn search_key(state: &mut State, key: &KeyEvent) -> bool {
    let lang = state.dress.lang;
    match keys::action(KeyContext::Recall, key) {
        Some(KeyAction::Next) => state.composer.search(SearchSource::Older),
        Some(KeyAction::Previous) => state.composer.search(SearchSource::Newer),
        Some(KeyAction::Edit(EditAction::Back)) => state.composer.search_back(),
        Some(KeyAction::Accept) => state.composer.take_found(lang),
        Some(KeyAction::Close) => state.composer.leave_search(),
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
