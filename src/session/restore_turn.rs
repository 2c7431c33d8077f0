//! A turn without a model that gives files another content: what they held before a change, or what
//! they held after it. Each file is judged, asked about if it was changed since, and reported to
//! the model with the next message.

use super::change_log::{UndoScope, files_kept_event};
use super::job_place::BackgroundUse;
use super::shell_turn;
use super::turn_messages::FinishedTurn;
use super::turn_scope::TurnScope;
use crate::context::history::TurnRecord;
use crate::i18n::{Phrase, plural, session as words};
use crate::protocol::{Event, Notice, TurnOrigin, TurnOutcome, Usage};
use crate::safety::tools::Restore;
use crate::safety::{self, Verdict};

/// More files than these are not shown one by one, unless there is a question about one.
const SHOWN: usize = 20;
/// Paths that are named to the model.
const NAMED: usize = 50;

/// What is recorded when the files were written.
pub enum AfterRestore {
    Undone(UndoScope),
    Redone,
}

pub async fn run(
    text: &str,
    after: AfterRestore,
    restore_steps: Vec<Restore>,
    mut scope: TurnScope,
) -> FinishedTurn {
    scope.begin(text.to_owned(), TurnOrigin::Command);
    let all: Vec<String> = restore_steps.iter().map(|restore| restore.path.clone()).collect();
    let is_quiet = all.len() > SHOWN;
    let (mut ending, mut done) = (TurnOutcome::Done, Vec::new());
    for restore in restore_steps {
        let id = scope.next_step_id();
        let verdict = safety::assess_restore(&id, &restore, scope.policy_context());
        let (end, seen) = match verdict {
            Verdict::Run(cleared) if is_quiet => {
                (TurnOutcome::Done, scope.run_quietly(cleared).await)
            }
            verdict => shell_turn::run_or_ask(verdict, BackgroundUse::Never, &mut scope).await,
        };
        if seen.succeeded() {
            done.extend(seen.change.map(|change| change.path));
        }
        ending = end;
        if ending != TurnOutcome::Done || scope.context.cancel.is_cancelled() {
            break;
        }
    }
    let record = restore_record(&after, &all, &done);
    if !done.is_empty() {
        let (one, many) = after.record(&mut scope).await;
        scope.emit(Event::Notice(Notice::info(plural(done.len(), one, many)))).await;
    }
    scope.end(ending, record, Usage::default()).await
}

impl AfterRestore {
    /// Records it; returns the sentences for one file and for many.
    async fn record(self, scope: &mut TurnScope) -> (Phrase, Phrase) {
        match self {
            AfterRestore::Undone(UndoScope { turns, kept_turns, kept_changes }) => {
                scope.emit(Event::Undone { turns, kept_files_of: kept_turns }).await;
                if let Some(event) = files_kept_event(&kept_changes) {
                    scope.emit(event).await;
                }
                (words::UNDONE_ONE, words::UNDONE_MANY)
            }
            AfterRestore::Redone => {
                scope.emit(Event::Redone).await;
                (words::REDONE_ONE, words::REDONE_MANY)
            }
        }
    }
}

/// The report for the model with the next message, including files that could not be restored.
fn restore_record(after: &AfterRestore, all: &[String], done: &[String]) -> TurnRecord {
    let mut kept = TurnRecord::default();
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
        kept.add_user(&format!("(The user {was_done}: {}.)", list_paths(&done)));
    }
    if !left.is_empty() {
        kept.add_user(&format!(
            "(The user wanted to {was_wanted}, but these files stay as they are now: {}.)",
            list_paths(&left)
        ));
    }
    kept
}

/// The first paths, and how many more there are.
pub fn list_paths(paths: &[&str]) -> String {
    let first = paths.get(..NAMED).unwrap_or(paths).join(", ");
    match paths.len().saturating_sub(NAMED) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}
