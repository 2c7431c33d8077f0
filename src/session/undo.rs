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
use avocet_core::protocol::Notice;
use avocet_safety::tools::Restore;

impl Session {
    /// Undoes the file changes of the last `n` turns that changed files.
    pub(super) async fn undo(&mut self, n: usize) {
        match first_of_last(&changes(self.conversation.record()), n) {
            Some(from) => self.undo_since(from, "/undo").await,
            None => {
                self.report_lost(0).await;
                self.notify(Notice::info(phrases::NOTHING_TO_UNDO)).await;
            }
        }
    }

    /// Says how many changes of these turns cannot be undone.
    async fn report_lost(&mut self, from_turn: u64) {
        let lost = ChangeLog::read(self.conversation.record()).lost;
        let lost: usize = lost.iter().filter(|(turn, _)| *turn >= from_turn).map(|(_, n)| n).sum();
        if lost > 0 {
            self.notify(Notice::warning(phrases::UNDO_NOT_COVERED.with("n", lost))).await;
        }
    }

    /// Undoes the file changes from a place on. `text` names this in the conversation.
    pub(super) async fn undo_since(&mut self, point: UndoPoint, text: &'static str) {
        if self.is_undo_blocked() {
            return self.notify(Notice::warning(phrases::UNDO_BUSY)).await;
        }
        let (whose, back) = self.restore_steps(point).await;
        if back.steps.is_empty() {
            return self.notify(Notice::info(phrases::NOTHING_TO_UNDO)).await;
        }
        self.start_undo(whose, back, text);
    }

    pub(super) fn is_undo_blocked(&self) -> bool {
        !self.is_idle() || self.open_question().is_some()
    }

    /// Which file changes exist from this place on, and the steps that undo them. Reports changes
    /// that cannot be undone.
    pub(super) async fn restore_steps(&mut self, point: UndoPoint) -> (UndoScope, Restores) {
        let all = changes(self.conversation.record());
        self.report_lost(point.turn).await;
        let back = changes_since(&all, point);
        let back = self.restores(back.into_iter().map(|it| (it.before.clone(), it))).await;
        (undo_scope(&all, point), back)
    }

    /// The steps that give files these contents, by their digests.
    async fn restores(
        &mut self,
        wanted: impl Iterator<Item = (Option<String>, ChangedFile)>,
    ) -> Restores {
        let mut restores = Restores::default();
        for (content, change) in wanted {
            let executable = change.executable;
            let now = if content == change.before { change.after } else { change.before };
            let content = match content {
                None => None,
                Some(digest) => match self.backups().and_then(|kept| kept.get(&digest)) {
                    Some(bytes) => Some(bytes),
                    None => {
                        let say = phrases::UNDO_LOST.with("path", change.path);
                        self.notify(Notice::warning(say)).await;
                        restores.is_incomplete = true;
                        continue;
                    }
                },
            };
            restores.steps.push(Restore {
                path: change.path,
                before: content,
                after: now,
                executable,
            });
        }
        restores
    }

    /// Makes the changes again that were undone last.
    pub(super) async fn redo(&mut self) {
        if self.is_undo_blocked() {
            return self.notify(Notice::warning(phrases::UNDO_BUSY)).await;
        }
        let undone = ChangeLog::read(self.conversation.record()).undone.pop().unwrap_or_default();
        let merged = changes_since(&undone, UndoPoint { turn: 0, is_own: false });
        let again = self.restores(merged.into_iter().map(|it| (it.after.clone(), it))).await;
        if again.steps.is_empty() {
            return self.notify(Notice::info(phrases::NOTHING_TO_REDO)).await;
        }
        self.info.restoring_turns.push(self.info.turns + 1);
        self.info.restoring_turns.push(self.info.turns + 1);
        self.start_turn(|scope| restore_turn::run("/redo", AfterRestore::Redone, again, scope));
    }

    /// Starts the turn that undoes the changes.
    pub(super) fn start_undo(
        &mut self,
        undo_scope: UndoScope,
        restores: Restores,
        text: &'static str,
    ) {
        self.info.restoring_turns.push(self.info.turns + 1);
        self.info.restoring_turns.push(self.info.turns + 1);
        self.start_turn(|scope| {
            restore_turn::run(text, AfterRestore::Undone(undo_scope), restores, scope)
        });
    }
}
