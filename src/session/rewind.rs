//! `/rewind`: back to before a turn, with the chat, the files, or both. The chat is rewound first,
//! so that restoring files is a turn after the remaining ones; `undo` restores them, and `store`
//! records it. The model learns what it could not know: which files were restored, and which still
//! contain changes that it has forgotten.

use std::sync::Arc;

use super::change_log::{AfterRestore, ChangedFile, UndoPoint, UndoScope, changes, changes_since};
use super::conversation::Conversation;
use super::persistence::SessionStore;
use super::restore_turn::list_paths;
use super::session_effects::{Effects, SessionEffect};
use super::state::Session;
use super::undo::{restore_steps, undo_since};
use crate::context::history::TurnRecord;
use avocet_core::i18n::{LocalizedText, session as phrases};
use avocet_core::protocol::{Event, Notice, Rewind, SessionInfo};
use avocet_safety::redact::Redactor;
use avocet_tools::file::Backups;

impl Session {
    pub(super) async fn rewind(
        &mut self,
        turn: u64,
        rewind: Option<Rewind>,
    ) -> Result<Effects, LocalizedText> {
        let is_busy = self.is_busy();
        let Session { conversation, resources, store, info, security, .. } = self;
        let backups = resources.tools.backups();
        let record = conversation.record();
        let changed = changes_since(&changes(record), UndoPoint::turn(turn));
        match rewind {
            None if !changed.is_empty() => {
                Ok(vec![Event::RewindAsked { turn, files: changed.len() }.into()])
            }
            None | Some(Rewind::Chat) => {
                conversation.rewind_chat(turn, &changed, store, info, &security.redactor).await
            }
            Some(Rewind::Files) => {
                Ok(undo_since(record, backups, UndoPoint::turn(turn), REWIND, is_busy))
            }
            Some(Rewind::Both) if is_busy => Err(phrases::UNDO_BUSY.into()),
            Some(Rewind::Both) => conversation.rewind_both(turn, backups, store, info).await,
        }
    }
}

impl Conversation {
    async fn rewind_chat(
        &mut self,
        turn: u64,
        changed: &[ChangedFile],
        store: &SessionStore,
        info: &mut SessionInfo,
        redactor: &Redactor,
    ) -> Result<Effects, LocalizedText> {
        let ReplacementRecord { undone, events, .. } =
            replacement_record(self.record(), turn, changed);
        let mut effects = self.rewind(turn, Rewind::Chat, events, store, info).await?;
        if changed.is_empty() && undone.is_empty() {
            return Ok(effects);
        }
        let before = turn.saturating_sub(1);
        let holds = self.history.contains_turn(before);
        Arc::make_mut(&mut self.history).append_to_turn(
            before,
            files_record(changed, &undone),
            |text| {
                *text = redactor.mask(text).into_owned();
            },
        );
        if holds {
            store.save_turn(before, &self.history, None).await
        } else {
            // The turn before it was summed up long ago.
            store.save_history(before, &self.history).await
        }
        if !changed.is_empty() {
            effects.push(Notice::info(phrases::REWIND_LEFT.with("n", changed.len())).into());
        }
        Ok(effects)
    }

    /// The chat is rewound first, and the file changes of its turns can be undone until then, even
    /// if the program ends in between.
    async fn rewind_both(
        &mut self,
        turn: u64,
        backups: Option<&Backups>,
        store: &SessionStore,
        info: &mut SessionInfo,
    ) -> Result<Effects, LocalizedText> {
        let from = UndoPoint::turn(turn);
        let record = self.record();
        let changed = changes_since(&changes(record), from);
        let (mut whose, back, notices) = restore_steps(record, backups, from);
        let ReplacementRecord { kept_changes: stayed, events, .. } =
            replacement_record(record, turn, &changed);
        let mut effects: Effects = notices.into_iter().map(Into::into).collect();
        effects.extend(self.rewind(turn, Rewind::Both, events, store, info).await?);
        if !back.steps.is_empty() {
            whose.kept_changes = stayed;
            whose.kept_turns.push(turn);
            effects.push(SessionEffect::restore(REWIND, AfterRestore::Undone(whose), back));
        }
        Ok(effects)
    }
}

/// The record about files that replaces the forgotten turns: files restored in one of them stay
/// restored, and the changes to other files can still be undone.
fn replacement_record(record: &[Event], turn: u64, changed: &[ChangedFile]) -> ReplacementRecord {
    let is_it = |event: &Event| matches!(event, Event::TurnStarted { turn: n, .. } if *n == turn);
    let start = record.iter().rposition(is_it).unwrap_or(record.len());
    let stood = changes(record);
    let mut before = changes(record.get(..start).unwrap_or_default());
    let mut whose = UndoScope::default();
    let mut undone = Vec::new();

    before.retain(|change| {
        let stands =
            stood.iter().any(|one| one.is_kept == change.is_kept && one.turn == change.turn);
        if !stands {
            let numbers = if change.is_kept { &mut whose.kept_turns } else { &mut whose.turns };
            numbers.push(change.turn);
            undone.push(change.path.clone());
        }
        stands
    });
    before.retain(|change| change.is_kept && change.turn == turn);
    let mut events = Vec::new();
    if whose != UndoScope::default() {
        let turns = whose.turns;
        let kept_files_of = whose.kept_turns;

        events.push(Event::Undone { turns, kept_files_of, except: Vec::new() });
    }
    if !changed.is_empty() {
        let all: Vec<ChangedFile> = before.iter().chain(changed).cloned().collect();
        let all = changes_since(&all, UndoPoint { turn: 0, is_own: false });
        let files = all.iter().map(ChangedFile::to_change).collect();
        events.push(Event::FilesKept { turn, files });
    }
    undone.sort();
    undone.dedup();
    ReplacementRecord { kept_changes: before, undone, events }
}

/// The record that replaces forgotten turns.
struct ReplacementRecord {
    /// Changes that were kept when the chat was rewound to this turn earlier.
    kept_changes: Vec<ChangedFile>,
    /// Files that were restored in them.
    undone: Vec<String>,
    events: Vec<Event>,
}

/// The name of the turn that restores files.
const REWIND: &str = "/rewind";

/// The report to the model about files whose changes it has forgotten.
fn files_record(changed: &[ChangedFile], undone: &[String]) -> TurnRecord {
    let mut record = TurnRecord::default();
    let changed: Vec<&str> = changed.iter().map(|one| one.path.as_str()).collect();
    if !changed.is_empty() {
        record.add_user(&format!(
            "(The user took back what was said after this. Files that you changed in it stay changed: {}.)",
            list_paths(&changed)
        ));
    }
    let undone: Vec<&str> = undone.iter().map(String::as_str).collect();
    if !undone.is_empty() {
        record.add_user(&format!(
            "(The user took back your changes to these files, which are as they were before them: {}.)",
            list_paths(&undone)
        ));
    }
    record
}
