//! `/undo`: files as they were before the last turns that changed them. It is a turn
//! without a model: each file is judged, asked about where it was changed since, put
//! back, shown, and told to the model with the next message. Nothing of the conversation
//! is deleted.
//!
//! What changed is read from the session's own events; the old contents lie with the
//! tools. What programs changed is not known here.

use std::collections::BTreeSet;
use std::time::Instant;

use tokio_util::sync::CancellationToken;

use super::host::{TurnHost, run_step};
use super::run::{Session, wires};
use super::shell;
use crate::agent::Host;
use crate::agent::drive::Ended;
use crate::context::history::Kept;
use crate::protocol::{
    AskId, Change, Ending, Event, Notice, Observation, Origin, Outcome, Page, Row, Usage,
};
use crate::safety::tools::Restore;
use crate::safety::{self, Verdict};
use crate::words::{counted, session as words};

/// What one turn did to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    pub turn: u64,
    /// Absolute.
    pub path: String,
    pub before: Option<String>,
    pub after: Option<String>,
    pub added: usize,
    pub removed: usize,
}

/// The changes that stand, oldest first: those that were taken back are left out.
pub fn changes(record: &[Event]) -> Vec<Changed> {
    let (mut now, mut by_model) = (0, true);
    let mut out: Vec<Changed> = Vec::new();
    for event in record {
        match event {
            Event::TurnStarted { turn, origin, .. } => {
                (now, by_model) = (*turn, *origin != Origin::Command);
            }
            Event::Observed(seen) if by_model && seen.succeeded() => {
                out.extend(seen.change.as_ref().map(|change| changed(now, change)));
            }
            // Only what was before it: a number comes again after turns were taken back.
            Event::Undone { turns } => out.retain(|change| !turns.contains(&change.turn)),
            _ => {}
        }
    }
    out
}

fn changed(turn: u64, change: &Change) -> Changed {
    Changed {
        turn,
        path: change.path.clone(),
        before: change.before.clone(),
        after: change.after.clone(),
        added: change.added,
        removed: change.removed,
    }
}

/// What takes back the changes from a turn on: each file once, from what it is now to
/// what it was before the first of them.
pub fn since(changes: &[Changed], turn: u64) -> Vec<Changed> {
    let mut out: Vec<Changed> = Vec::new();
    for change in changes.iter().filter(|change| change.turn >= turn) {
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

/// The turn from which on the last `n` turns that changed files are taken back.
fn first_of_last(changes: &[Changed], n: usize) -> Option<u64> {
    let turns: BTreeSet<u64> = changes.iter().map(|change| change.turn).collect();
    let back = n.max(1).min(turns.len());
    turns.into_iter().rev().nth(back.checked_sub(1)?)
}

impl Session {
    /// Takes back what the last `n` turns that changed files did to them.
    pub(super) async fn undo(&mut self, n: usize) {
        match first_of_last(&changes(self.past.record()), n) {
            Some(turn) => self.put_back_since(turn, "/undo").await,
            None => self.say(Notice::info(words::NOTHING_TO_UNDO)).await,
        }
    }

    /// Takes back what was done to files since a turn began. `text` is what that is
    /// called in the conversation.
    pub(super) async fn put_back_since(&mut self, turn: u64, text: &'static str) {
        if self.cannot_undo() {
            return self.say(Notice::warning(words::UNDO_BUSY)).await;
        }
        let (turns, back) = self.restores(turn).await;
        if back.is_empty() {
            return self.say(Notice::info(words::NOTHING_TO_UNDO)).await;
        }
        self.put_back(turns, back, text);
    }

    pub(super) fn cannot_undo(&self) -> bool {
        !self.is_idle() || self.guard.trust.asking.is_some()
    }

    /// The turns that changed files from this one on, and what puts those back. What is
    /// lost is said.
    pub(super) async fn restores(&mut self, turn: u64) -> (Vec<u64>, Vec<Restore>) {
        let all = changes(self.past.record());
        let turns: BTreeSet<u64> =
            all.iter().map(|change| change.turn).filter(|known| *known >= turn).collect();
        let mut back = Vec::new();
        for change in since(&all, turn) {
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
        (turns.into_iter().collect(), back)
    }

    /// Starts the turn that does it.
    pub(super) fn put_back(&mut self, turns: Vec<u64>, back: Vec<Restore>, text: &'static str) {
        self.facts.turns += 1;
        let job = Job {
            turn: self.facts.turns,
            text,
            turns,
            back,
            step: self.past.next_step,
            ask: self.past.next_ask,
        };
        let cancel = CancellationToken::new();
        let (wires, ends) = wires();
        let task = tokio::spawn(run(job, self.host(&cancel, wires)));
        self.set_running(cancel, ends, task);
    }

    /// The files this session changed, as a page.
    pub(super) fn changes_page(&mut self) -> Page {
        let all = changes(self.past.record());
        let mut rows: Vec<Row> = since(&all, 0)
            .into_iter()
            .map(|change| {
                let sum = format!("+{} -{}", change.added, change.removed);
                Row::pair(change.path, sum)
            })
            .collect();
        if rows.is_empty() {
            rows.push(Row::line(words::CHANGED_NOTHING));
        }
        Page { title: words::CHANGED_FILES.into(), rows }
    }
}

struct Job {
    turn: u64,
    /// What was asked for.
    text: &'static str,
    /// The turns that are taken back.
    turns: Vec<u64>,
    back: Vec<Restore>,
    step: u64,
    ask: u64,
}

async fn run(job: Job, mut host: TurnHost) -> Ended {
    let started = Instant::now();
    let text = job.text.to_owned();
    let all: Vec<String> = job.back.iter().map(|restore| restore.path.clone()).collect();
    host.tell(Event::TurnStarted { turn: job.turn, text, origin: Origin::Command }).await;
    let (mut step, mut ask) = (job.step, job.ask);
    let (mut ending, mut done) = (Ending::Done, Vec::new());
    for restore in job.back {
        if ending != Ending::Done {
            break;
        }
        let id = format!("cmd_{step:03}");
        step += 1;
        let seen = match safety::assess_restore(&id, &restore, host.scene()) {
            Verdict::Run(cleared) => Some(run_step(&host.desk, &mut host.outbox, cleared).await),
            Verdict::Refuse(refused) => Some(shell::not_run(refused.judged(), Outcome::Refused)),
            Verdict::Ask(held) => {
                ask += 1;
                let (end, seen) = shell::asked(AskId(ask - 1), held, &mut host).await;
                ending = end;
                seen
            }
        };
        if let Some(seen) = seen {
            host.tell(Event::Observed(Box::new(seen.clone()))).await;
            done.push(seen);
        }
    }
    let back: Vec<Observation> = done.into_iter().filter(Observation::succeeded).collect();
    if !back.is_empty() {
        host.tell(Event::Undone { turns: job.turns }).await;
        let say = counted(back.len(), words::UNDONE_ONE, words::UNDONE_MANY);
        host.tell(Event::Notice(Notice::info(say))).await;
    }
    let elapsed_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let usage = Usage::default();
    host.tell(Event::TurnEnded { turn: job.turn, ending: ending.clone(), usage, elapsed_ms }).await;
    Ended { ending, kept: told(&all, &back), usage, next_step: step, next_ask: ask }
}

/// What the model is told of it with the next message: also which files were to be put
/// back and are not.
fn told(all: &[String], back: &[Observation]) -> Kept {
    let mut kept = Kept::default();
    let changes = back.iter().filter_map(|seen| seen.change.as_ref());
    let done: Vec<&str> = changes.map(|change| change.path.as_str()).collect();
    let left: Vec<&str> =
        all.iter().map(String::as_str).filter(|path| !done.contains(path)).collect();
    if !done.is_empty() {
        kept.user(&format!(
            "(The user took back your changes: these files are as they were before them: {}.)",
            done.join(", ")
        ));
    }
    if !left.is_empty() {
        kept.user(&format!(
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
        Changed { turn, path: path.into(), before, after, added: 1, removed: 1 }
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
        assert_eq!(first_of_last(&all, 1), Some(3));
        assert_eq!(first_of_last(&all, 2), Some(2));
        assert_eq!(first_of_last(&all, 9), Some(1));
        assert_eq!(first_of_last(&[], 1), None);
        let back = since(&all, 2);
        let shown: Vec<_> = back
            .iter()
            .map(|c| (c.path.as_str(), c.before.as_deref(), c.after.as_deref()))
            .collect();
        assert_eq!(shown, [("a", Some("1"), Some("3")), ("b", None, Some("x"))]);
    }
}
