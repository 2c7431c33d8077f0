//! Keeps what must outlive the screen, on a thread of its own: each line as it is sent,
//! what waits as soon as it changes, and what stands in the input before the frame that
//! shows it, so that a killed program loses nothing that was seen. What was sent stays in
//! the draft until the session has it in its file. A machine that loses its power loses no
//! more than what was typed since the last rest.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::event::{Input, Millis};
use super::state::State;
use crate::config::draft::{self, Draft};
use crate::config::history::History;
use crate::protocol;
use crate::safety::redact::{Redactor, is_masked};
use crate::words::Say;

/// How long the last words may take.
const FAREWELL: Duration = Duration::from_millis(500);

/// How long nothing is typed before the input is written to the disk itself, and how long at
/// most it is not.
const REST: Millis = 500;
const MOST: Millis = 5_000;
/// A draft of so many bytes may be written once in a millisecond, a longer one less often.
const BYTES: usize = 256;
/// How long a frame waits for what it shows to be written. Where the disk takes longer, no
/// frame waits until it has caught up.
const GRACE: Duration = Duration::from_millis(30);
/// How long a line that was sent stays in the draft when the session begins nothing with it,
/// as with most commands.
const HELD: Millis = 5_000;

/// Where to keep what; `None`: it is not kept.
#[derive(Clone, Debug, Default)]
pub struct Files {
    pub history: Option<PathBuf>,
    pub draft: Option<PathBuf>,
}

#[derive(Debug)]
pub struct Clerk {
    desk: Sender<Paper>,
    done: oneshot::Receiver<()>,
    /// What the thread was given last, and whether it is only in passing.
    given: Draft,
    passing: bool,
    /// What was typed since the draft went to the disk itself: when the first of it came,
    /// and when it does.
    typed: Option<(Millis, Millis)>,
    /// Ends when what was given in passing last is written.
    written: Option<Receiver<()>>,
    is_slow: bool,
    /// Something was typed since the last frame.
    fresh: bool,
    /// Before this the draft is not written again for a frame.
    again: Millis,
    /// Lines that were sent and are not in the session yet, and until when that is waited for.
    sent: (VecDeque<String>, Millis),
}

#[derive(Debug)]
enum Paper {
    Line(String),
    Draft(Draft),
    /// A draft that changes in a moment: what a killed program must leave, and no more.
    Passing(Draft, Sender<()>),
}

impl Clerk {
    /// `offered` is the draft that the input began with.
    pub fn start(files: Files, offered: Draft) -> Clerk {
        let (desk, papers) = channel();
        let (over, done) = oneshot::channel();
        let work = move || {
            file_away(&files, &papers);
            // Nobody may be waiting any more.
            let _ = over.send(());
        };
        // Without a thread nothing is kept: a pity, not a fault to stop for.
        let _ = thread::Builder::new().name("clerk".into()).spawn(work);
        Clerk {
            desk,
            done,
            given: offered,
            passing: false,
            written: None,
            is_slow: false,
            typed: None,
            fresh: false,
            again: 0,
            sent: (VecDeque::new(), 0),
        }
    }

    /// A line that was sent. Until the session has it, it stands in the draft.
    pub fn line(&mut self, line: String, at: Millis) {
        self.sent.0.push_back(line.clone());
        self.sent.1 = at + HELD;
        let Draft { queue, later, .. } = self.given.clone();
        self.pass(Draft { queue, later, ..self.with_sent(Draft::default()) });
        let _ = self.desk.send(Paper::Line(line));
    }

    /// Something happened that may change the input.
    pub fn happened(&mut self, input: &Input, at: Millis) {
        let typed = match input {
            Input::Key(_) | Input::Paste(_) | Input::Edited(_) | Input::First(_) => true,
            // A message that was taken back stands in the input.
            Input::Session(event) => {
                matches!(**event, protocol::Event::Queued { .. } | protocol::Event::Rewound { .. })
            }
            _ => false,
        };
        // The session has it now, in its file or among what waits: it is not offered again.
        if matches!(input, Input::Session(event) if self.taken(event)) {
            self.typed = Some((at, at));
        } else if typed {
            self.fresh = true;
            let first = self.typed.map_or(at, |(first, _)| first);
            self.typed = Some((first, (at + REST).min(first + MOST)));
        }
    }

    /// True when something of what was sent is in the session now.
    fn taken(&mut self, event: &protocol::Event) -> bool {
        let (sent, _) = &mut self.sent;
        let before = sent.len();
        match event {
            protocol::Event::TurnStarted { text, .. } => {
                // It may stand there in other words, as what a command is made into.
                let at = sent.iter().position(|line| line == text).unwrap_or(0);
                sent.remove(at);
            }
            protocol::Event::Queued { texts } => sent.retain(|line| !texts.contains(line)),
            _ => {}
        }
        sent.len() < before
    }

    /// Gives the thread what is due: what waits at once, what is written after a rest.
    pub fn look(&mut self, state: &State, at: Millis) {
        let Some((_, due)) = self.typed else { return };
        let (queue, later) = state.queue.waiting();
        let waits = queue != self.given.queue || later != self.given.later;
        if !(waits || due <= at) {
            return;
        }
        let (sent, until) = &mut self.sent;
        if *until <= at {
            sent.clear();
        }
        self.typed = (!sent.is_empty()).then_some((at, *until));
        let draft = self.with_sent(state.draft());
        if std::mem::take(&mut self.fresh) {
            self.pass(draft.clone());
        }
        if self.passing || draft != self.given {
            self.passing = false;
            self.given = draft.clone();
            let _ = self.desk.send(Paper::Draft(draft));
        }
    }

    /// A frame is about to show what was typed: the thread has it first, though not yet on
    /// the disk itself.
    pub fn shows(&mut self, state: &State, at: Millis) {
        if self.fresh && self.again <= at {
            self.fresh = false;
            let draft = self.with_sent(state.draft());
            let pasted: usize = draft.pastes.iter().map(|paste| paste.text.len()).sum();
            let size = draft.shown.len() + pasted;
            self.again = at + Millis::try_from(size / BYTES).unwrap_or(Millis::MAX);
            self.pass(draft);
        }
        let most = if self.is_slow { Duration::ZERO } else { GRACE };
        if let Some(written) = &self.written {
            self.is_slow = written.recv_timeout(most) == Err(RecvTimeoutError::Timeout);
        }
        if !self.is_slow {
            self.written = None;
        }
    }

    fn pass(&mut self, draft: Draft) {
        if draft != self.given {
            (self.given, self.passing) = (draft.clone(), true);
            let (done, written) = channel();
            self.written = Some(written);
            let _ = self.desk.send(Paper::Passing(draft, done));
        }
    }

    /// What a start after a kill is to offer.
    fn with_sent(&self, draft: Draft) -> Draft {
        let input = (!draft.shown.trim().is_empty()).then_some(&draft.shown);
        let lines: Vec<&str> = self.sent.0.iter().chain(input).map(String::as_str).collect();
        Draft { shown: lines.join("\n"), ..draft }
    }

    /// When there is something to give though nothing happens.
    pub fn wakes_at(&self) -> Option<Millis> {
        self.typed.map(|(_, due)| due)
    }

    /// The last paper. Waits until all is written, for a moment at most.
    pub async fn close(self, draft: Draft) {
        let _ = self.desk.send(Paper::Draft(draft));
        drop(self.desk);
        let _ = timeout(FAREWELL, self.done).await;
    }
}

fn file_away(files: &Files, papers: &Receiver<Paper>) {
    let mut history = None;
    let secrets = Redactor::new([("", ""); 0], [0; 16]);
    // Who waits for a draft also waits for one that takes its place.
    let (mut waiting, mut owed) = (VecDeque::new(), Vec::new());
    while let Some(paper) = waiting.pop_front().or_else(|| papers.recv().ok()) {
        waiting.extend(papers.try_iter());
        // Of drafts that came while the disk was slow the last one counts.
        let is_draft = |paper: &Paper| !matches!(paper, Paper::Line(_));
        if is_draft(&paper) && waiting.iter().any(is_draft) {
            if let Paper::Passing(_, done) = paper {
                owed.push(done);
            }
            continue;
        }
        let written = match (paper, &files.history, &files.draft) {
            // A line with a key in it is sent and forgotten; a draft of one stays a draft.
            (Paper::Line(line), Some(_), _) if is_masked(&secrets.mask(&line)) => Ok(()),
            (Paper::Line(line), Some(file), _) => {
                history.get_or_insert_with(|| History::open(file.clone())).add(&line)
            }
            (Paper::Draft(draft), _, Some(file)) => draft::keep(file, &draft),
            (Paper::Passing(draft, done), _, Some(file)) => {
                owed.push(done);
                draft::keep_for_now(file, &draft)
            }
            (Paper::Line(_), None, _) | (Paper::Draft(_) | Paper::Passing(..), _, None) => Ok(()),
        };
        if let Err(error) = written {
            tracing::warn!("not kept: {error}");
        }
        if !waiting.iter().any(is_draft) {
            owed.clear();
        }
    }
}

/// Keeps a setting, by its key and value, for the next start. It may wait for a disk.
pub type Keep = Arc<dyn Fn(&str, &str) -> Result<(), Say> + Send + Sync>;

/// Keeps settings where waiting is allowed.
pub struct Keeper {
    keep: Keep,
    pub faults: (UnboundedSender<Say>, UnboundedReceiver<Say>),
}

impl Keeper {
    pub fn new(keep: Keep) -> Keeper {
        Keeper { keep, faults: unbounded_channel() }
    }

    pub fn start(&self, key: &'static str, value: String) {
        let (keep, fault) = (Arc::clone(&self.keep), self.faults.0.clone());
        tokio::task::spawn_blocking(move || {
            if let Err(why) = keep(key, &value) {
                let _ = fault.send(why);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_was_handed_in_is_written_when_the_clerk_closes() {
        let folder = tempfile::tempdir().expect("a folder");
        let (history, kept) = (folder.path().join("history"), folder.path().join("d.json"));
        let files = Files { history: Some(history.clone()), draft: Some(kept.clone()) };
        let mut clerk = Clerk::start(files, Draft::default());
        clerk.line("一".into(), 0);
        clerk.line("two".into(), 0);
        clerk.close(Draft::of("half a")).await;
        assert_eq!(History::open(history).entries(), ["一", "two"]);
        assert_eq!(draft::read(&kept), Draft::of("half a"));
    }

    #[tokio::test]
    async fn without_files_nothing_is_kept_and_nothing_fails() {
        let mut clerk = Clerk::start(Files::default(), Draft::default());
        clerk.line("one".into(), 0);
        clerk.close(Draft::of("half")).await;
    }
}
