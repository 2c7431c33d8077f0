//! Which files the turns of a session changed, read from its own events: what is in force, what was
//! undone, and what cannot be restored.

use std::collections::BTreeSet;

use avocet_core::protocol::{Change, Event, TurnOrigin};
use avocet_safety::tools::Restore;

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
    pub executable: bool,
}

/// The changes of a session.
#[derive(Debug, Default)]
pub struct ChangeLog {
    /// In force, oldest first.
    pub in_force: Vec<ChangedFile>,
    /// What each undo took back since the last change, the latest last.
    pub undone: Vec<Vec<ChangedFile>>,
    /// Turns, and how many files they changed that cannot be restored.
    pub lost: Vec<(u64, usize)>,
}

impl ChangeLog {
    pub fn read(events: &[Event]) -> ChangeLog {
        let mut now = 0;
        let mut by_model = true;

        let mut log = ChangeLog::default();
        for event in events {
            match event.of_any_agent() {
                Event::TurnStarted { turn, origin, .. } => {
                    (now, by_model) = (*turn, *origin != TurnOrigin::Command);
                }
                Event::StepFinished(seen) if by_model && seen.succeeded() => {
                    let files = seen.change.as_ref().map(Change::files);
                    log.add(now, &files.unwrap_or_default());
                }
                Event::FilesChanged { files, lost, .. } => {
                    log.add(now, files);
                    log.lost.extend((*lost > 0).then_some((now, *lost)));
                }
                Event::Undone { turns, kept_files_of, except } => {
                    log.undo(turns, kept_files_of, except);
                }
                Event::Redone { except } => log.redo(except),
                Event::FilesKept { turn, files } => {
                    log.in_force.retain(|change| change.turn < *turn);
                    let left = |file| ChangedFile { is_kept: true, ..changed_file(*turn, file) };
                    log.in_force.extend(files.iter().map(left));
                }
                _ => {}
            }
        }
        log
    }

    fn add(&mut self, turn: u64, changes: &[Change]) {
        if !changes.is_empty() {
            self.undone.clear();
            self.in_force.extend(changes.iter().map(|change| changed_file(turn, change)));
        }
    }

    /// Only earlier changes: a number is used again after a rewind.
    fn undo(&mut self, turns: &[u64], kept_files_of: &[u64], except: &[String]) {
        let is_undone = |change: &mut ChangedFile| {
            let gone = if change.is_kept { kept_files_of } else { turns };
            gone.contains(&change.turn) && !except.contains(&change.path)
        };
        self.undone.push(self.in_force.extract_if(.., is_undone).collect());
        self.lost.retain(|(turn, _)| !turns.contains(turn));
    }

    fn redo(&mut self, except: &[String]) {
        let last = self.undone.pop().unwrap_or_default();
        let (left, done): (Vec<_>, Vec<_>) =
            last.into_iter().partition(|change| except.contains(&change.path));
        self.in_force.extend(done);
        self.undone.extend((!left.is_empty()).then_some(left));
    }
}

/// The changes in force, oldest first, without those that were undone.
pub fn changes(events: &[Event]) -> Vec<ChangedFile> {
    ChangeLog::read(events).in_force
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
        executable: change.executable,
    }
}

impl ChangedFile {
    /// Its position: changes kept from a rewound turn come before the turn that reuses its number.
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
            executable: self.executable,
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
pub fn changes_since(changes: &[ChangedFile], point: UndoPoint) -> Vec<ChangedFile> {
    let mut files: Vec<ChangedFile> = Vec::new();
    for change in changes.iter().filter(|change| change.undo_point() >= point) {
        match files.iter_mut().find(|known| known.path == change.path) {
            Some(known) => {
                known.after.clone_from(&change.after);
                known.added += change.added;
                known.removed += change.removed;
            }
            None => files.push(change.clone()),
        }
    }
    files.retain(|change| change.before != change.after);
    files
}

/// The place from which the last `n` turns that changed files are undone.
pub fn first_of_last(changes: &[ChangedFile], n: usize) -> Option<UndoPoint> {
    let places: BTreeSet<UndoPoint> = changes.iter().map(ChangedFile::undo_point).collect();
    let back = n.max(1).min(places.len());
    places.into_iter().rev().nth(back.checked_sub(1)?)
}

/// Records that the changes of one turn are kept.
pub fn files_kept_event(files: &[ChangedFile]) -> Option<Event> {
    let turn = files.first()?.turn;
    Some(Event::FilesKept { turn, files: files.iter().map(ChangedFile::to_change).collect() })
}

pub fn undo_scope(changes: &[ChangedFile], point: UndoPoint) -> UndoScope {
    let places: BTreeSet<UndoPoint> =
        changes.iter().map(ChangedFile::undo_point).filter(|place| *place >= point).collect();
    let (own, left): (Vec<UndoPoint>, Vec<UndoPoint>) =
        places.into_iter().partition(|place| place.is_own);
    let numbers = |points: Vec<UndoPoint>| points.into_iter().map(|place| place.turn).collect();
    UndoScope { turns: numbers(own), kept_turns: numbers(left), kept_changes: Vec::new() }
}

/// A turn that gives files another content.
#[derive(Debug)]
pub struct RestoreTurn {
    /// Names it in the conversation.
    pub text: &'static str,
    pub after: AfterRestore,
    pub restores: Restores,
}

/// What is recorded when the files were written.
#[derive(Debug)]
pub enum AfterRestore {
    Undone(UndoScope),
    Redone,
}

/// The files of one undo or redo.
#[derive(Debug, Default)]
pub struct Restores {
    pub steps: Vec<Restore>,
    /// The content of another one is not there any more.
    pub is_incomplete: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(turn: u64, path: &str, before: Option<&str>, after: Option<&str>) -> ChangedFile {
        let own = |text: Option<&str>| text.map(str::to_owned);
        let (before, after) = (own(before), own(after));
        ChangedFile {
            turn,
            is_kept: false,
            path: path.into(),
            before,
            after,
            added: 1,
            removed: 1,
            executable: false,
        }
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

    #[test]
    fn what_could_not_be_restored_can_still_be_undone_and_redone() {
        let files = ["a", "b"].map(|path| change(1, path, Some("0"), Some("1")).to_change());
        let changed = Event::FilesChanged { step: "1".into(), files: files.into(), lost: 0 };
        let undone = |except: &[&str]| Event::Undone {
            turns: vec![1],
            kept_files_of: vec![],
            except: except.iter().map(|path| (*path).to_owned()).collect(),
        };
        let redone = Event::Redone { except: vec!["a".into()] };
        let paths = |all: &[ChangedFile]| {
            all.iter().map(|change| change.path.clone()).collect::<Vec<_>>().join(" ")
        };
        let record = [started(1), changed, undone(&["b"])];
        let log = ChangeLog::read(&record);
        assert_eq!((paths(&log.in_force).as_str(), paths(&log.undone[0]).as_str()), ("b", "a"));
        let all = [&record[..2], &[undone(&[]), redone]].concat();
        let log = ChangeLog::read(&all);
        assert_eq!((paths(&log.in_force).as_str(), paths(&log.undone[0]).as_str()), ("b", "a"));
    }

    fn started(turn: u64) -> Event {
        Event::TurnStarted { turn, text: "x".into(), origin: TurnOrigin::Typed, submit: None }
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
            changes(
                &[&record[..], &[Event::Undone { turns, kept_files_of: left, except: vec![] }]]
                    .concat(),
            )
            .len()
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
