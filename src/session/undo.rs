//! `/undo` restores files to their state before the last turns that changed them, and `/redo` makes
//! the changes again. Both are turns without a model: each file is judged, asked about if it was
//! changed since, written, shown, and reported to the model with the next message. Nothing of the
//! conversation is deleted.

use super::change_log::{
    ChangeLog, ChangedFile, UndoPoint, UndoScope, changes, changes_since, first_of_last, undo_scope,
};
use super::restore_turn::{self, AfterRestore, Restores};
use super::state::Session;
use avocet_core::i18n::session as phrases;
use avocet_core::protocol::{Event, Notice};
use avocet_safety::tools::Restore;
use avocet_tools::file::Backups;

impl Session {
    /// Undoes the file changes of the last `n` turns that changed files.
    pub(super) async fn undo(&mut self, n: usize) {
        let record = self.conversation.record();
        match first_of_last(&changes(record), n) {
            Some(from) => self.undo_since(from, "/undo").await,
            None => {
                let nothing = Notice::info(phrases::NOTHING_TO_UNDO);
                let notices = lost_notice(record, 0).into_iter().chain([nothing]);
                self.follow(notices).await;
            }
        }
    }

    /// Undoes the file changes from a place on. `text` names this in the conversation.
    pub(super) async fn undo_since(&mut self, point: UndoPoint, text: &'static str) {
        if self.is_busy() {
            return self.notify(Notice::warning(phrases::UNDO_BUSY)).await;
        }
        let record = self.conversation.record();
        let (whose, back, notices) = restore_steps(record, self.resources.tools.backups(), point);
        self.follow(notices).await;
        if back.steps.is_empty() {
            return self.notify(Notice::info(phrases::NOTHING_TO_UNDO)).await;
        }
        self.start_restore(text, AfterRestore::Undone(whose), back);
    }

    /// Makes the changes again that were undone last.
    pub(super) async fn redo(&mut self) {
        if self.is_busy() {
            return self.notify(Notice::warning(phrases::UNDO_BUSY)).await;
        }
        let undone = ChangeLog::read(self.conversation.record()).undone.pop().unwrap_or_default();
        let merged = changes_since(&undone, UndoPoint { turn: 0, is_own: false });
        let wanted = merged.into_iter().map(|it| (it.after.clone(), it));
        let (again, notices) = restores(wanted, self.resources.tools.backups());
        self.follow(notices).await;
        if again.steps.is_empty() {
            return self.notify(Notice::info(phrases::NOTHING_TO_REDO)).await;
        }
        self.start_restore("/redo", AfterRestore::Redone, again);
    }

    /// Starts the turn that gives the files another content.
    pub(super) fn start_restore(
        &mut self,
        text: &'static str,
        after: AfterRestore,
        restores: Restores,
    ) {
        self.info.restoring_turns.push(self.info.turns + 1);
        self.start_turn(|scope| restore_turn::run(text, after, restores, scope));
    }
}

/// Which file changes exist from this place on, the steps that undo them, and what cannot be undone.
pub(super) fn restore_steps(
    events: &[Event],
    backups: Option<&Backups>,
    point: UndoPoint,
) -> (UndoScope, Restores, Vec<Notice>) {
    let all = changes(events);
    let back = changes_since(&all, point);
    let wanted = back.into_iter().map(|it| (it.before.clone(), it));
    let (back, notices) = restores(wanted, backups);
    let notices = lost_notice(events, point.turn).into_iter().chain(notices).collect();
    (undo_scope(&all, point), back, notices)
}

/// How many changes of these turns cannot be undone.
fn lost_notice(events: &[Event], from_turn: u64) -> Option<Notice> {
    let lost = ChangeLog::read(events).lost;
    let lost: usize = lost.iter().filter(|(turn, _)| *turn >= from_turn).map(|(_, n)| n).sum();
    (lost > 0).then(|| Notice::warning(phrases::UNDO_NOT_COVERED.with("n", lost)))
}

/// The steps that give files these contents, by their digests.
fn restores(
    wanted: impl Iterator<Item = (Option<String>, ChangedFile)>,
    backups: Option<&Backups>,
) -> (Restores, Vec<Notice>) {
    let mut restores = Restores::default();
    let mut notices = Vec::new();
    for (content, change) in wanted {
        let executable = change.executable;
        let now = if content == change.before { change.after } else { change.before };
        let content = match content {
            None => None,
            Some(digest) => match backups.and_then(|kept| kept.get(&digest)) {
                Some(bytes) => Some(bytes),
                None => {
                    let say = phrases::UNDO_LOST.with("path", change.path);
                    notices.push(Notice::warning(say));
                    restores.is_incomplete = true;
                    continue;
                }
            },
        };
        restores.steps.push(Restore { path: change.path, before: content, after: now, executable });
    }
    (restores, notices)
}
