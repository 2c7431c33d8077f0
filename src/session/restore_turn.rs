//! A turn without a model that gives files another content: what they held before a change, or what
//! they held after it. Each file is judged, asked about if it was changed since, and reported to
//! the model with the next message.

use std::collections::BTreeSet;

use super::change_log::{
    AfterRestore, ChangedFile, RestoreTurn, Restores, UndoScope, files_kept_event,
};
use super::job_place::BackgroundUse;
use super::shell_turn;
use super::turn_messages::FinishedTurn;
use super::turn_scope::TurnScope;
use crate::context::history::TurnRecord;
use avocet_core::i18n::{Phrase, plural, session as phrases};
use avocet_core::protocol::{Event, Notice, Outcome, TurnOrigin, TurnOutcome, Usage};
use avocet_safety::tools::{Restore, digest};
use avocet_safety::{self as safety, Verdict};

/// More files than these are not shown one by one, unless there is a question about one.
const SHOWN: usize = 20;
/// Paths that are named to the model.
const NAMED: usize = 50;

pub async fn run(turn: RestoreTurn, mut scope: TurnScope) -> FinishedTurn {
    let RestoreTurn { text, after, restores } = turn;
    scope.begin(text.to_owned(), TurnOrigin::Command);
    let Restores { steps, is_incomplete } = restores;
    let all: Vec<String> = steps.iter().map(|restore| restore.path.clone()).collect();
    let is_quiet = all.len() > SHOWN;
    let kept_changes: Vec<ChangedFile> = steps.iter().map(still_changed).collect();
    let plan = safety::plan_restores(steps, scope.policy_context());
    let already = plan.done.len();
    let done = plan.done.into_iter().map(|restore| restore.path).collect();
    let declined = BTreeSet::new();
    let mut run = RestoreRun { is_quiet, done, declined, ending: TurnOutcome::Done };
    let mut is_held = !run.restore(plan.writes, &mut scope).await || is_incomplete;
    // A file that would go may be the only copy of one that is not restored.
    if !is_held {
        let (copies, deletes): (Vec<_>, Vec<_>) =
            plan.deletes.into_iter().partition(|it| run.is_copy_of_declined(it));
        is_held = !run.restore(deletes, &mut scope).await;
        is_held |= !run.restore(plan.late_writes, &mut scope).await;
        is_held |= !copies.is_empty();
    }
    let RestoreRun { done, ending, .. } = run;
    let record = restore_record(&after, &all, &done);
    let changed = done.len() - already;
    let files: Vec<ChangedFile> =
        kept_changes.into_iter().filter(|change| !done.contains(&change.path)).collect();
    let command = after.command();
    if !done.is_empty() || (is_incomplete && !files.is_empty()) {
        let (one, many) = after.record(&files, &mut scope).await;
        let say = match changed {
            0 if files.is_empty() => phrases::RESTORE_ALREADY.into(),
            n => plural(n, one, many),
        };
        if changed > 0 || files.is_empty() {
            scope.events.emit(Event::Notice(Notice::info(say))).await;
        }
    }
    if is_held && !files.is_empty() {
        let say = phrases::RESTORE_HELD.with("n", files.len()).with("command", command);
        scope.events.emit(Event::Notice(Notice::warning(say))).await;
    }
    scope.end(ending, record, Usage::default()).await
}

/// The files as they are restored.
struct RestoreRun {
    is_quiet: bool,
    /// The paths of those that are as they should be.
    done: Vec<String>,
    /// Contents that the user did not want restored, by their digests.
    declined: BTreeSet<String>,
    ending: TurnOutcome,
}

impl RestoreRun {
    fn is_copy_of_declined(&self, restore: &Restore) -> bool {
        restore.after.as_ref().is_some_and(|digest| self.declined.contains(digest))
    }

    /// Restores these; false where one could not be restored. What the user declined stays.
    async fn restore(&mut self, restores: Vec<Restore>, scope: &mut TurnScope) -> bool {
        let mut is_whole = true;
        for restore in restores {
            if self.ending != TurnOutcome::Done || scope.context.cancel.is_cancelled() {
                return false;
            }
            let id = scope.next_step_id();
            let verdict = safety::assess_restore(&id, &restore, scope.policy_context());
            let (ending, seen) = match verdict {
                Verdict::Run(cleared) if self.is_quiet => {
                    let seen = scope.run_quietly(cleared).await;
                    if !seen.succeeded() {
                        scope.events.emit(Event::StepFinished(Box::new(seen.clone()))).await;
                    }
                    (TurnOutcome::Done, seen)
                }
                verdict => shell_turn::run_or_ask(verdict, BackgroundUse::Never, scope).await,
            };
            self.ending = ending;
            if seen.succeeded() {
                self.done.push(restore.path)
            } else if seen.outcome == Outcome::Declined {
                self.declined.extend(restore.before.as_deref().map(digest));
            } else {
                is_whole = false
            }
        }
        is_whole
    }
}

/// The change that stays when the file is not restored.
fn still_changed(restore: &Restore) -> ChangedFile {
    ChangedFile {
        turn: 0,
        is_kept: true,
        path: restore.path.clone(),
        before: restore.before.as_deref().map(digest),
        after: restore.after.clone(),
        added: 0,
        removed: 0,
        executable: restore.executable,
    }
}

impl AfterRestore {
    /// The command that restores the rest.
    fn command(&self) -> &'static str {
        match self {
            AfterRestore::Undone(_) => "/undo",
            AfterRestore::Redone => "/redo",
        }
    }

    /// Records it, but for the files that are `left`; returns the sentences for one file and for
    /// many.
    async fn record(self, left: &[ChangedFile], scope: &mut TurnScope) -> (Phrase, Phrase) {
        let except = left.iter().map(|change| change.path.clone()).collect();
        match self {
            AfterRestore::Undone(UndoScope { turns, kept_turns, mut kept_changes }) => {
                scope.events.emit(Event::Undone { turns, kept_files_of: kept_turns, except }).await;
                // What is recorded again replaces what stayed of that turn.
                if let Some(turn) = kept_changes.first().map(|change| change.turn) {
                    let left = left.iter().cloned();
                    kept_changes.extend(left.map(|change| ChangedFile { turn, ..change }));
                }
                if let Some(event) = files_kept_event(&kept_changes) {
                    scope.events.emit(event).await;
                }
                (phrases::UNDONE_ONE, phrases::UNDONE_MANY)
            }
            AfterRestore::Redone => {
                scope.events.emit(Event::Redone { except }).await;
                (phrases::REDONE_ONE, phrases::REDONE_MANY)
            }
        }
    }
}

/// The report for the model with the next message, including files that could not be restored.
fn restore_record(after: &AfterRestore, all: &[String], done: &[String]) -> TurnRecord {
    let mut record = TurnRecord::default();
    let left: Vec<&str> =
        all.iter().filter(|path| !done.contains(path)).map(String::as_str).collect();
    let done: Vec<&str> = done.iter().map(String::as_str).collect();
    let (was_done, was_wanted) = match after {
        AfterRestore::Undone(_) => (
            "took back your changes: these files are as they were before them",
            "take back your changes",
        ),
        AfterRestore::Redone => {
            ("made your changes again: these files are as you left them", "make your changes again")
        }
    };
    if !done.is_empty() {
        record.add_user(&format!("(The user {was_done}: {}.)", list_paths(&done)));
    }
    if !left.is_empty() {
        record.add_user(&format!(
            "(The user wanted to {was_wanted}, but these files stay as they are now: {}.)",
            list_paths(&left)
        ));
    }
    record
}

/// The first paths, and how many more there are.
pub fn list_paths(paths: &[&str]) -> String {
    let first = paths.get(..NAMED).unwrap_or(paths).join(", ");
    match paths.len().saturating_sub(NAMED) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}
