//! `/undo`: restores files to their state before the last turns that changed them. It is a turn
//! without a model: each file is judged, asked about if it was changed since, restored, shown, and
//! reported to the model with the next message. It deletes nothing from the conversation.
//!
//! The changes are read from the session's own events; the tools keep the old contents. Changes
//! made by programs are not known here.

use std::collections::BTreeSet;
use std::time::Instant;

use tokio_util::sync::CancellationToken;

use super::host::{TurnHost, run_step};
use super::run::{Session, turn_channels};
use super::shell;
use crate::agent::Host;
use crate::agent::drive::TurnResult;
use crate::context::history::TurnRecord;
use crate::protocol::{
    AskId, Change, Event, Notice, Observation, Outcome, Page, PageRow, TurnOrigin, TurnOutcome,
    Usage,
};
use crate::safety::tools::Restore;
use crate::safety::{self, Verdict};
use crate::words::{plural, session as words};

/// The change of one file by one turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    pub turn: u64,
    /// It was kept when the chat of its turn was rewound.
    pub left: bool,
    /// The absolute path.
    pub path: String,
    pub before: Option<String>,
    pub after: Option<String>,
    pub added: usize,
    pub removed: usize,
}

/// The changes in force, oldest first, without those that were undone.
pub fn changes(record: &[Event]) -> Vec<Changed> {
    let (mut now, mut by_model) = (0, true);
    let mut out: Vec<Changed> = Vec::new();
    for event in record {
        match event {
            Event::TurnStarted { turn, origin, .. } => {
                (now, by_model) = (*turn, *origin != TurnOrigin::Command);
            }
            Event::StepFinished(seen) if by_model && seen.succeeded() => {
                out.extend(seen.change.as_ref().map(|change| changed(now, change)));
            }
            // Only earlier changes: a number is used again after a rewind.
            Event::Undone { turns, kept_files_of: left } => out.retain(|change| {
                let gone = if change.left { left } else { turns };
                !gone.contains(&change.turn)
            }),
            Event::FilesKept { turn, files } => {
                out.retain(|change| change.turn < *turn);
                let left = |file| Changed { left: true, ..changed(*turn, file) };
                out.extend(files.iter().map(left));
            }
            _ => {}
        }
    }
    out
}

fn changed(turn: u64, change: &Change) -> Changed {
    Changed {
        turn,
        left: false,
        path: change.path.clone(),
        before: change.before.clone(),
        after: change.after.clone(),
        added: change.added,
        removed: change.removed,
    }
}

impl Changed {
    /// Its position: changes kept from a rewound turn come before the turn that reuses its number.
    /// that got its number.
    fn place(&self) -> Since {
        Since { turn: self.turn, own: !self.left }
    }

    /// The name shown for it.
    pub fn told(&self) -> Change {
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
pub struct Since {
    pub turn: u64,
    /// False: include the changes kept when the chat of that number was rewound.
    pub own: bool,
}

impl Since {
    /// From the message of a turn on.
    pub fn turn(turn: u64) -> Since {
        Since { turn, own: true }
    }
}

/// Which changes are undone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Whose {
    pub turns: Vec<u64>,
    pub left: Vec<u64>,
    /// The same numbers, but not undone: they are recorded again after the rest.
    pub stays: Vec<Changed>,
}

/// The steps that undo the changes from a place on: one per file, from its current contents to
/// those before the first change.
pub fn since(changes: &[Changed], from: Since) -> Vec<Changed> {
    let mut out: Vec<Changed> = Vec::new();
    for change in changes.iter().filter(|change| change.place() >= from) {
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
fn first_of_last(changes: &[Changed], n: usize) -> Option<Since> {
    let places: BTreeSet<Since> = changes.iter().map(Changed::place).collect();
    let back = n.max(1).min(places.len());
    places.into_iter().rev().nth(back.checked_sub(1)?)
}

/// Records that the changes of one turn are kept.
pub fn still_changed(stays: &[Changed]) -> Option<Event> {
    let turn = stays.first()?.turn;
    Some(Event::FilesKept { turn, files: stays.iter().map(Changed::told).collect() })
}

fn whose(changes: &[Changed], from: Since) -> Whose {
    let places: BTreeSet<Since> =
        changes.iter().map(Changed::place).filter(|place| *place >= from).collect();
    let (own, left): (Vec<Since>, Vec<Since>) = places.into_iter().partition(|place| place.own);
    let numbers = |places: Vec<Since>| places.into_iter().map(|place| place.turn).collect();
    Whose { turns: numbers(own), left: numbers(left), stays: Vec::new() }
}

impl Session {
    /// Undoes the file changes of the last `n` turns that changed files.
    pub(super) async fn undo(&mut self, n: usize) {
        match first_of_last(&changes(self.past.record()), n) {
            Some(from) => self.put_back_since(from, "/undo").await,
            None => self.say(Notice::info(words::NOTHING_TO_UNDO)).await,
        }
    }

    /// Undoes the file changes from a place on. `text` names this in the conversation.
    pub(super) async fn put_back_since(&mut self, from: Since, text: &'static str) {
        if self.cannot_undo() {
            return self.say(Notice::warning(words::UNDO_BUSY)).await;
        }
        let (whose, back) = self.restores(from).await;
        if back.is_empty() {
            return self.say(Notice::info(words::NOTHING_TO_UNDO)).await;
        }
        self.put_back(whose, back, text);
    }

    pub(super) fn cannot_undo(&self) -> bool {
        !self.is_idle() || self.guard.trust.asking.is_some()
    }

    /// Which file changes exist from this place on, and the steps that undo them. Reports changes
    /// that cannot be undone.
    pub(super) async fn restores(&mut self, from: Since) -> (Whose, Vec<Restore>) {
        let all = changes(self.past.record());
        let mut back = Vec::new();
        for change in since(&all, from) {
            let before = match &change.before {
                None => None,
                Some(digest) => match self.kept().and_then(|kept| kept.get(digest)) {
                    Some(bytes) => Some(bytes),
                    None => {
                        let say = words::UNDO_LOST.with("path", change.path);
                        self.say(Notice::warning(say)).await;
                        continue;
                    }
                },
            };
            back.push(Restore { path: change.path, before, after: change.after });
        }
        (whose(&all, from), back)
    }

    /// Starts the turn that undoes the changes.
    pub(super) fn put_back(&mut self, whose: Whose, back: Vec<Restore>, text: &'static str) {
        self.facts.turns += 1;
        let job = Job {
            turn: self.facts.turns,
            text,
            whose,
            back,
            step: self.past.next_step,
            ask: self.past.next_ask,
        };
        let cancel = CancellationToken::new();
        let (wires, ends) = turn_channels();
        let task = tokio::spawn(run(job, self.host(&cancel, wires)));
        self.set_running(cancel, ends, task);
    }

    /// The files that this session changed, as a page.
    pub(super) fn changes_page(&mut self) -> Page {
        let all = changes(self.past.record());
        let mut rows: Vec<PageRow> = since(&all, Since { turn: 0, own: false })
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

struct Job {
    turn: u64,
    /// The request.
    text: &'static str,
    whose: Whose,
    back: Vec<Restore>,
    step: u64,
    ask: u64,
}

async fn run(job: Job, mut host: TurnHost) -> TurnResult {
    let started = Instant::now();
    let text = job.text.to_owned();
    let all: Vec<String> = job.back.iter().map(|restore| restore.path.clone()).collect();
    host.emit(Event::TurnStarted { turn: job.turn, text, origin: TurnOrigin::Command }).await;
    let (mut step, mut ask) = (job.step, job.ask);
    let (mut ending, mut done) = (TurnOutcome::Done, Vec::new());
    for restore in job.back {
        if ending != TurnOutcome::Done {
            break;
        }
        let id = format!("cmd_{step:03}");
        step += 1;
        let seen = match safety::assess_restore(&id, &restore, host.policy_context()) {
            Verdict::Run(cleared) => Some(run_step(&host.desk, &mut host.outbox, cleared).await),
            Verdict::Refuse(refused) => {
                Some(shell::not_run(refused.assessment(), Outcome::Refused))
            }
            Verdict::Ask(held) => {
                ask += 1;
                let (end, seen) = shell::asked(AskId(ask - 1), held, &mut host).await;
                ending = end;
                seen
            }
        };
        if let Some(seen) = seen {
            host.emit(Event::StepFinished(Box::new(seen.clone()))).await;
            done.push(seen);
        }
    }
    let back: Vec<Observation> = done.into_iter().filter(Observation::succeeded).collect();
    if !back.is_empty() {
        let Whose { turns, left, stays } = job.whose;
        host.emit(Event::Undone { turns, kept_files_of: left }).await;
        if let Some(event) = still_changed(&stays) {
            host.emit(event).await;
        }
        let say = plural(back.len(), words::UNDONE_ONE, words::UNDONE_MANY);
        host.emit(Event::Notice(Notice::info(say))).await;
    }
    let elapsed_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let usage = Usage::default();
    host.emit(Event::TurnEnded { turn: job.turn, ending: ending.clone(), usage, elapsed_ms }).await;
    TurnResult { ending, record: told(&all, &back), usage, next_step: step, next_ask: ask }
}

/// The report for the model with the next message, including files that could not be restored.
fn told(all: &[String], back: &[Observation]) -> TurnRecord {
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

    fn change(turn: u64, path: &str, before: Option<&str>, after: Option<&str>) -> Changed {
        let own = |text: Option<&str>| text.map(str::to_owned);
        let (before, after) = (own(before), own(after));
        Changed { turn, left: false, path: path.into(), before, after, added: 1, removed: 1 }
    }

    #[test]
    fn several_changes_of_a_file_are_taken_back_as_one() {
        let all = [
            change(1, "a", Some("0"), Some("1")),
            change(2, "a", Some("1"), Some("2")),
            change(2, "b", None, Some("x")),
            change(3, "a", Some("2"), Some("3")),
            change(3, "c", None, Some("y")),
            change(3, "c", Some("y"), None),
        ];
        assert_eq!(first_of_last(&all, 1), Some(Since::turn(3)));
        assert_eq!(first_of_last(&all, 2), Some(Since::turn(2)));
        assert_eq!(first_of_last(&all, 9), Some(Since::turn(1)));
        assert_eq!(first_of_last(&[], 1), None);
        let back = since(&all, Since::turn(2));
        let shown: Vec<_> = back
            .iter()
            .map(|c| (c.path.as_str(), c.before.as_deref(), c.after.as_deref()))
            .collect();
        assert_eq!(shown, [("a", Some("1"), Some("3")), ("b", None, Some("x"))]);
    }

    fn started(turn: u64) -> Event {
        Event::TurnStarted { turn, text: "x".into(), origin: TurnOrigin::Typed }
    }

    fn stays(turn: u64, all: &[Changed]) -> Event {
        Event::FilesKept { turn, files: all.iter().map(Changed::told).collect() }
    }

    #[test]
    fn changes_kept_from_a_rewound_turn_are_undone_apart_from_the_turn_with_its_number() {
        let left = [change(2, "a", Some("0"), Some("1"))];
        let record = [started(1), stays(2, &left), started(2)];
        let all = changes(&record);
        assert_eq!(first_of_last(&all, 1), Some(Since { turn: 2, own: false }));
        let own = change(2, "b", None, Some("x"));
        let both = [all, vec![own.clone()]].concat();
        assert_eq!(first_of_last(&both, 1), Some(Since::turn(2)));
        assert_eq!(since(&both, Since::turn(2)), [own]);
        assert_eq!(
            whose(&both, Since { turn: 2, own: false }),
            Whose { turns: vec![2], left: vec![2], stays: vec![] }
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
        assert!(again.len() == 2 && again.iter().all(|change| change.left && change.turn == 1));
    }
}
