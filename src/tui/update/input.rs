//! Changes of the input; the lists over it, of commands and files; the search in the history.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::agents::AgentKeyOutcome;
use crate::composer::SearchSource;
use crate::event::ScreenEffect;
use crate::files;
use crate::folders::FolderListing;
use crate::keys::{self, EditAction, KeyAction, KeyContext};
use crate::queue;
use crate::side_panel;
use crate::state::State;
use crate::submit;
use crate::time::Millis;
use crate::transcript::toggle_agent;
use avocet_core::i18n::{LocalizedText, screen as phrases};
use avocet_core::protocol::{ArgumentValues, Extensions, Notice};

pub(super) fn open_palette(state: &mut State) {
    state.palette.keep(state.composer.full_text());
    state.composer.set_text("/", state.appearance.lang);
    input_changed(state);
}

/// After each change of the input by the user.
pub(super) fn input_changed(state: &mut State) {
    let shown = state.composer.display_text();
    let draft = if shown.is_empty() { state.palette.take_draft() } else { None };
    if let Some(draft) = draft {
        state.composer.set_text(&draft, state.appearance.lang);
    }
    refresh_palette(state);
    refresh_files(state);
}

fn refresh_palette(state: &mut State) {
    let mut palette = std::mem::take(&mut state.palette);
    let shown = state.composer.display_text();
    palette.refresh(&shown, &state.command_context(), state.composer.history.entries());
    state.palette = palette;
}

pub(super) fn type_key(state: &mut State, key: &KeyEvent) -> Vec<ScreenEffect> {
    if state.composer.type_key(key) {
        input_changed(state);
    }
    Vec::new()
}

/// Sends a text as if it was typed, beside the draft.
pub(super) fn send_first(state: &mut State, text: &str, at: Millis) -> Vec<ScreenEffect> {
    let draft = state.composer.draft();
    state.composer.set_text(text, state.appearance.lang);
    let effects = submit::send(state, at);
    state.composer.restore(draft);
    effects
}

/// A choice in the list of files.
pub(super) fn apply_files_action(state: &mut State, action: files::FileListAction) {
    match action {
        files::FileListAction::Stay => return,
        files::FileListAction::Insert(path) => state.composer.mention_path(&path),
        files::FileListAction::OpenFolder(folder) => state.composer.mention_folder(&folder),
    }
    refresh_files(state);
}

/// Takes the folders found. Those of another path came too late.
pub(super) fn set_folder_listing(state: &mut State, listing: FolderListing) {
    if state.folder_prefix().as_ref() == Some(&listing.prefix) {
        state.completions.folders = listing.folders;
        refresh_palette(state);
    }
}

/// Takes the values of an argument. Those of another one came too late.
pub(super) fn set_argument_values(state: &mut State, values: ArgumentValues) {
    if state.completions.typed_argument.as_ref() == Some(&values.of) {
        state.completions.argument_values = Some(values);
        refresh_palette(state);
    }
}

/// The user's extensions were read: one of them may be the command being completed.
pub(super) fn set_extensions(state: &mut State, extensions: Extensions) {
    state.completions.has_loaded_extensions = true;
    if state.completions.extensions == extensions {
        return;
    }
    state.composer.files.resources.clone_from(&extensions.resources);
    state.completions.extensions = extensions;
    if state.palette.is_completing() {
        input_changed(state);
    }
}

/// A key while a queued message is selected; `None`: it has another meaning.
pub(super) fn queue_key(state: &mut State, key: &KeyEvent) -> Option<Vec<ScreenEffect>> {
    let op = match state.queue.act(keys::action(KeyContext::Queue, key)) {
        queue::QueueKeyOutcome::Stay => None,
        queue::QueueKeyOutcome::Removed(op) => op,
        queue::QueueKeyOutcome::Edit(text, op) => {
            state.composer.set_text(&text, state.appearance.lang);
            op
        }
        queue::QueueKeyOutcome::Pass => return None,
    };
    Some(op.map(ScreenEffect::Send).into_iter().collect())
}

/// A key while a subagent is selected; `None`: it has another meaning.
pub(super) fn agent_key(state: &mut State, key: &KeyEvent) -> Option<Vec<ScreenEffect>> {
    match state.display.agents.act(keys::action(KeyContext::Agents, key)) {
        AgentKeyOutcome::Stay => {}
        AgentKeyOutcome::Toggle(agent) => toggle_agent(&mut state.transcript, &agent),
        AgentKeyOutcome::Send(op) => return Some(vec![ScreenEffect::Send(op)]),
        AgentKeyOutcome::Above if state.queue.select_last() => {}
        AgentKeyOutcome::Above => {
            state.composer.up(state.appearance.lang);
        }
        AgentKeyOutcome::Pass => return None,
    }
    Some(Vec::new())
}

/// After each change of the input: updates the list for the mention at the cursor.
pub(super) fn refresh_files(state: &mut State) {
    let mention = state.composer.mention();
    state.composer.files.refresh(mention);
}

/// Opens the panel at the right, or says what it needs.
pub(super) fn toggle_side_panel(state: &mut State, at: Millis) {
    if state.display.areas.screen_width < side_panel::FROM && !state.display.side_panel.is_open {
        state.presence.show_message(phrases::PANEL_TOO_NARROW.with("n", side_panel::FROM), at);
        return;
    }
    state.display.side_panel.is_open ^= true;
}

/// The external editor was closed.
pub(super) fn apply_editor_result(
    state: &mut State,
    edited: Result<String, LocalizedText>,
    at: Millis,
) -> Vec<ScreenEffect> {
    // The last key was one of the editor's.
    state.guard.record_key(at);
    state.guard.restart(at);
    match edited {
        Ok(text) => {
            state.composer.rewrite(&text, state.appearance.lang);
            input_changed(state);
        }
        Err(say) => state.transcript.add_notice(Notice::error(say)),
    }
    Vec::new()
}

/// Begins a search in the history.
pub(super) fn search(state: &mut State) {
    state.palette.close();
    state.composer.files.close();
    state.composer.search_history(SearchSource::Older);
}

/// A key during the search. False when it has another meaning: the hit is then accepted first, and
/// the key applies to it.
pub(super) fn search_key(state: &mut State, key: &KeyEvent) -> bool {
    let lang = state.appearance.lang;
    match keys::action(KeyContext::HistorySearch, key) {
        Some(KeyAction::Next) => state.composer.search_history(SearchSource::Older),
        Some(KeyAction::Previous) => state.composer.search_history(SearchSource::Newer),
        Some(KeyAction::Edit(EditAction::DeleteBack)) => state.composer.history.shorten_search(),
        Some(KeyAction::Accept) => state.composer.accept_search(lang),
        Some(KeyAction::Close) => state.composer.history.search = None,
        Some(_) | None => match typed_char(key) {
            Some(c) => state.composer.history.extend_search(c.encode_utf8(&mut [0; 4])),
            None => {
                state.composer.accept_search(lang);
                return false;
            }
        },
    }
    true
}

/// The character a key types, if it types one.
fn typed_char(key: &KeyEvent) -> Option<char> {
    let KeyCode::Char(c) = key.code else { return None };
    let held = key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
    (!held && !c.is_control()).then_some(c)
}
