//! `/undo`: restores files to their state before the last turns that changed them. It is a turn
//! without a model: each file is judged, asked about if it was changed since, restored, shown, and
//! reported to the model with the next message. It deletes nothing from the conversation.
//!
//! The changes are read from the session's own events; the tools keep the old contents. Changes
//! made by programs are not known here.

use std::collections::BTreeSet;

use super::shell_turn;
use super::state::Session;
use super::turn_messages::FinishedTurn;
use super::turn_scope::TurnScope;
use crate::context::history::TurnRecord;
use crate::i18n::{plural, session as words};
use crate::protocol::{
    Change, Event, Notice, Observation, Page, PageRow, TurnOrigin, TurnOutcome, Usage,
};
use crate::safety;
use crate::safety::tools::Restore;

/// The change of one file by one turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    pub turn: u64,
    /// It was kept when the chat of its turn was rewound.
    pub is_kept: bool,
    /// The absolute path.
    pub path: String,
    pub before: Option<String>,
    pub after: Option<String>,
    pub added: usize,
    pub removed: usize,
}

/// The changes in force, oldest first, without those that were undone.
pub fn changes(record: &[Event]) -> Vec<ChangedFile> {
    let (mut now, mut by_model) = (0, true);
    let mut out: Vec<ChangedFile> = Vec::new();
    for event in record {
        match event {
            Event::TurnStarted { turn, origin, .. } => {
                (now, by_model) = (*turn, *origin != TurnOrigin::Command);
            }
            Event::StepFinished(seen) if by_model && seen.succeeded() => {
                out.extend(seen.change.as_ref().map(|change| changed_file(now, change)));
            }
            // Only earlier changes: a number is used again after a rewind.
            Event::Undone { turns, kept_files_of: left } => out.retain(|change| {
                let gone = if change.is_kept { left } else { turns };
                !gone.contains(&change.turn)
            }),
            Event::FilesKept { turn, files } => {
                out.retain(|change| change.turn < *turn);
                let left = |file| ChangedFile { is_kept: true, ..changed_file(*turn, file) };
                out.extend(files.iter().map(left));
            }
            _ => {}
        }
    }
    out
}

fn changed_file(turn: u64, change: &Change) -> ChangedFile {
    ChangedFile {
        turn,
        is_kept: false,
        path: change.path.clone(),
        before: change.before.clone(),
        after: change.after.clone(),
        added: change.added,
        removed: change.removed,
    }
}

impl ChangedFile {
    /// Its position: changes kept from a rewound turn come before the turn that reuses its number.
    /// that got its number.
    fn undo_point(&self) -> UndoPoint {
        UndoPoint { turn: self.turn, is_own: !self.is_kept }
    }

    /// The name shown for it.
    pub fn to_change(&self) -> Change {
        Change {
            path: self.path.clone(),
            before: self.before.clone(),
            after: self.after.clone(),
            added: self.added,
            removed: self.removed,
            ..Change::default()
        }
    }
}

/// The place from which changes are undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UndoPoint {
    pub turn: u64,
    /// False: include the changes kept when the chat of that number was rewound.
    pub is_own: bool,
}

impl UndoPoint {
    /// From the message of a turn on.
    pub fn turn(turn: u64) -> UndoPoint {
        UndoPoint { turn, is_own: true }
    }
}

/// Which changes are undone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UndoScope {
    pub turns: Vec<u64>,
    pub kept_turns: Vec<u64>,
    /// The same numbers, but not undone: they are recorded again after the rest.
    pub kept_changes: Vec<ChangedFile>,
}

/// The steps that undo the changes from a place on: one per file, from its current contents to
/// those before the first change.
pub fn changes_since(changes: &[ChangedFile], from: UndoPoint) -> Vec<ChangedFile> {
    let mut out: Vec<ChangedFile> = Vec::new();
    for change in changes.iter().filter(|change| change.undo_point() >= from) {
        match out.iter_mut().find(|known| known.path == change.path) {
            Some(known) => {
                known.after.clone_from(&change.after);
                known.added += change.added;
                known.removed += change.removed;
            }
            None => out.push(change.clone()),
        }
    }
    out.retain(|change| change.before != change.after);
    out
}

/// The place from which the last `n` turns that changed files are undone.
fn first_of_last(changes: &[ChangedFile], n: usize) -> Option<UndoPoint> {
    let places: BTreeSet<UndoPoint> = changes.iter().map(ChangedFile::undo_point).collect();
    let back = n.max(1).min(places.len());
    places.into_iter().rev().nth(back.checked_sub(1)?)
}

/// Records that the changes of one turn are kept.
pub fn files_kept_event(stays: &[ChangedFile]) -> Option<Event> {
    let turn = stays.first()?.turn;
    Some(Event::FilesKept { turn, files: stays.iter().map(ChangedFile::to_change).collect() })
}

fn undo_scope(changes: &[ChangedFile], from: UndoPoint) -> UndoScope {
    let places: BTreeSet<UndoPoint> =
        changes.iter().map(ChangedFile::undo_point).filter(|place| *place >= from).collect();
    let (own, left): (Vec<UndoPoint>, Vec<UndoPoint>) =
        places.into_iter().partition(|place| place.is_own);
    let numbers = |places: Vec<UndoPoint>| places.into_iter().map(|place| place.turn).collect();
    UndoScope { turns: numbers(own), kept_turns: numbers(left), kept_changes: Vec::new() }
}

impl Session {
    /// Undoes the file changes of the last `n` turns that changed files.
    pub(super) async fn undo(&mut self, n: usize) {
        match first_of_last(&changes(self.conversation.record()), n) {
            Some(from) => self.undo_since(from, "/undo").await,
            None => self.notify(Notice::info(words::NOTHING_TO_UNDO)).await,
        }
    }

    /// Undoes the file changes from a place on. `text` names this in the conversation.
    pub(super) async fn undo_since(&mut self, from: UndoPoint, text: &'static str) {
        if self.is_undo_blocked() {
            return self.notify(Notice::warning(words::UNDO_BUSY)).await;
        }
        let (whose, back) = self.restore_steps(from).await;
        if back.is_empty() {
            return self.notify(Notice::info(words::NOTHING_TO_UNDO)).await;
        }
        self.start_undo(whose, back, text);
    }

    pub(super) fn is_undo_blocked(&self) -> bool {
        !self.is_idle() || self.security.trust.open_question.is_some()
    }

    /// Which file changes exist from this place on, and the steps that undo them. Reports changes
    /// that cannot be undone.
    pub(super) async fn restore_steps(&mut self, from: UndoPoint) -> (UndoScope, Vec<Restore>) {
        let all = changes(self.conversation.record());
        let mut back = Vec::new();
        for change in changes_since(&all, from) {
            let before = match &change.before {
                None => None,
                Some(digest) => match self.backups().and_then(|kept| kept.get(digest)) {
                    Some(bytes) => Some(bytes),
                    None => {
                        let say = words::UNDO_LOST.with("path", change.path);
                        self.notify(Notice::warning(say)).await;
                        continue;
                    }
                },
            };
            back.push(Restore { path: change.path, before, after: change.after });
        }
        (undo_scope(&all, from), back)
    }

    /// Starts the turn that undoes the changes.
    pub(super) fn start_undo(&mut self, whose: UndoScope, back: Vec<Restore>, text: &'static str) {
        self.start_turn(|scope| run(text, whose, back, scope));
    }

    /// The files that this session changed, as a page.
    pub(super) fn changes_page(&mut self) -> Page {
        let all = changes(self.conversation.record());
        let mut rows: Vec<PageRow> = changes_since(&all, UndoPoint { turn: 0, is_own: false })
            .into_iter()
            .map(|change| {
                let sum = format!("+{} -{}", change.added, change.removed);
                PageRow::pair(change.path, sum)
            })
            .collect();
        if rows.is_empty() {
            rows.push(PageRow::line(words::CHANGED_NOTHING));
        }
        Page { title: words::CHANGED_FILES.into(), rows }
    }
}

async fn run(
    text: &str,
    whose: UndoScope,
    restore_steps: Vec<Restore>,
    mut scope: TurnScope,
) -> FinishedTurn {
    scope.begin(text.to_owned(), TurnOrigin::Command);
    let all: Vec<String> = restore_steps.iter().map(|restore| restore.path.clone()).collect();
    let (mut ending, mut done) = (TurnOutcome::Done, Vec::new());
    for restore in restore_steps {
        let id = scope.next_step_id();
        let verdict = safety::assess_restore(&id, &restore, scope.policy_context());
        let (end, seen) = shell_turn::run_or_ask(verdict, &mut scope).await;
        done.push(seen);
        ending = end;
        if ending != TurnOutcome::Done {
            break;
        }
    }
    let back: Vec<Observation> = done.into_iter().filter(Observation::succeeded).collect();
    if !back.is_empty() {
        let UndoScope { turns, kept_turns: left, kept_changes: stays } = whose;
        scope.emit(Event::Undone { turns, kept_files_of: left }).await;
        if let Some(event) = files_kept_event(&stays) {
            scope.emit(event).await;
        }
        let say = plural(back.len(), words::UNDONE_ONE, words::UNDONE_MANY);
        scope.emit(Event::Notice(Notice::info(say))).await;
    }
    scope.end(ending, undo_record(&all, &back), Usage::default()).await
}

/// The report for the model with the next message, including files that could not be restored.
fn undo_record(all: &[String], back: &[Observation]) -> TurnRecord {
    let mut kept = TurnRecord::default();
    let changes = back.iter().filter_map(|seen| seen.change.as_ref());
    let done: Vec<&str> = changes.map(|change| change.path.as_str()).collect();
    let left: Vec<&str> =
        all.iter().map(String::as_str).filter(|path| !done.contains(path)).collect();
    if !done.is_empty() {
        kept.add_user(&format!(
            "(The user took back your changes: these files are as they were before them: {}.)",
            done.join(", ")
        ));
    }
    if !left.is_empty() {
        kept.add_user(&format!(
            "(The user wanted to take back your changes, but these files stay as they are now: {}.)",
            left.join(", ")
        ));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(turn: u64, path: &str, before: Option<&str>, after: Option<&str>) -> ChangedFile {
        let own = |text: Option<&str>| text.map(str::to_owned);
        let (before, after) = (own(before), own(after));
        ChangedFile { turn, is_kept: false, path: path.into(), before, after, added: 1, removed: 1 }
    }

    #[test]
    fn several_changes_of_a_file_are_undone_as_one() {
        let all = [
            change(1, "a", Some("0"), Some("1")),
            change(2, "a", Some("1"), Some("2")),
            change(2, "b", None, Some("x")),
            change(3, "a", Some("2"), Some("3")),
            change(3, "c", None, Some("y")),
            change(3, "c", Some("y"), None),
        ];
        assert_eq!(first_of_last(&all, 1), Some(UndoPoint::turn(3)));
        assert_eq!(first_of_last(&all, 2), Some(UndoPoint::turn(2)));
        assert_eq!(first_of_last(&all, 9), Some(UndoPoint::turn(1)));
        assert_eq!(first_of_last(&[], 1), None);
        let back = changes_since(&all, UndoPoint::turn(2));
        let shown: Vec<_> = back
            .iter()
            .map(|c| (c.path.as_str(), c.before.as_deref(), c.after.as_deref()))
            .collect();
        assert_eq!(shown, [("a", Some("1"), Some("3")), ("b", None, Some("x"))]);
    }

    fn started(turn: u64) -> Event {
        Event::TurnStarted { turn, text: "x".into(), origin: TurnOrigin::Typed }
    }

    fn stays(turn: u64, all: &[ChangedFile]) -> Event {
        Event::FilesKept { turn, files: all.iter().map(ChangedFile::to_change).collect() }
    }

    #[test]
    fn changes_kept_by_a_rewind_are_undone_separately_from_a_later_turn_with_the_same_number() {
        let left = [change(2, "a", Some("0"), Some("1"))];
        let record = [started(1), stays(2, &left), started(2)];
        let all = changes(&record);
        assert_eq!(first_of_last(&all, 1), Some(UndoPoint { turn: 2, is_own: false }));
        let own = change(2, "b", None, Some("x"));
        let both = [all, vec![own.clone()]].concat();
        assert_eq!(first_of_last(&both, 1), Some(UndoPoint::turn(2)));
        assert_eq!(changes_since(&both, UndoPoint::turn(2)), [own]);
        assert_eq!(
            undo_scope(&both, UndoPoint { turn: 2, is_own: false }),
            UndoScope { turns: vec![2], kept_turns: vec![2], kept_changes: vec![] }
        );
        // The turn of that number is undone, and the kept changes are still kept.
        let undone = |turns: &[u64], left: &[u64]| {
            let (turns, left) = (turns.to_vec(), left.to_vec());
            changes(&[&record[..], &[Event::Undone { turns, kept_files_of: left }]].concat()).len()
        };
        assert_eq!((undone(&[2], &[]), undone(&[], &[2]), undone(&[], &[1])), (1, 0, 1));
        // A second record covers both.
        let again = changes(
            &[&record[..], &[stays(1, &[left[0].clone(), change(1, "c", None, Some("y"))])]]
                .concat(),
        );
        assert!(again.len() == 2 && again.iter().all(|change| change.is_kept && change.turn == 1));
    }
}
