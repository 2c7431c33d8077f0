//! Saves on a thread what must outlive the screen: each line when it is sent, the queue when it
//! changes, and the input before the frame that shows it, so that a killed program loses nothing
//! that was visible. A sent line stays in the draft until the session has written it to its file. A
//! power failure loses at most what was typed since the last pause.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::timeout;

use super::event::ScreenInput;
use super::state::{SavePaths, State};
use super::time::Millis;
use avocet_config::draft::{self, SavedDraft};
use avocet_config::history::InputHistory;
use avocet_core::i18n::LocalizedText;
use avocet_core::protocol::{Event, QueuedMessage, SubmitId};
use avocet_safety::redact::Redactor;

/// How long the thread may take to finish.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(500);

/// The input is synced to the disk after this pause in typing, and at the latest after the second
/// span.
const REST: Millis = 500;
const MAX_DELAY: Millis = 5_000;
/// A draft of this many bytes may be written once per millisecond, a longer one less often.
const BYTES: usize = 256;
/// How long a frame waits until what it shows is written. If the disk takes longer, no frame waits
/// until it has caught up.
const GRACE_PERIOD: Duration = Duration::from_millis(30);

#[derive(Debug)]
pub struct AutoSaver {
    jobs: Sender<SaveJob>,
    done: oneshot::Receiver<()>,
    /// The draft that the thread was given last, and whether it was unsynced.
    last_draft: SavedDraft,
    is_unsynced: bool,
    /// Typing since the draft was last synced: the time of the first key, and the time it is synced
    /// at.
    unsynced_typing: Option<(Millis, Millis)>,
    /// Closes when the last unsynced draft is written.
    pending_write: Option<Receiver<()>>,
    is_slow: bool,
    /// Something was typed since the last frame.
    has_new_input: bool,
    /// Before this time the draft is not written again for a frame.
    next_write_at: Millis,
    /// Lines that were sent, until the session has them.
    unacknowledged_lines: Vec<QueuedMessage>,
    secrets: Arc<Redactor>,
}

#[derive(Debug)]
enum SaveJob {
    Line(String),
    Draft(SavedDraft),
    /// A draft that will change in a moment: it is written, to survive a kill, but not synced.
    UnsyncedDraft(SavedDraft, Sender<()>),
}

impl AutoSaver {
    /// `offered` is the draft that the input began with.
    pub fn start(paths: SavePaths, draft: SavedDraft) -> AutoSaver {
        let (desk, jobs) = channel();
        let (over, done) = oneshot::channel();
        let shapes = || Arc::new(Redactor::new([("", ""); 0], [0; 16]));
        let secrets = paths.secrets.clone().unwrap_or_else(shapes);
        let known = Arc::clone(&secrets);
        let work = move || {
            save_loop(&paths, &jobs, &known);
            // The receiver may be gone.
            let _ = over.send(());
        };
        // Without the thread nothing is saved, which is not worth stopping for.
        let _ = thread::Builder::new().name("clerk".into()).spawn(work);
        AutoSaver {
            jobs: desk,
            done,
            last_draft: draft,
            is_unsynced: false,
            pending_write: None,
            is_slow: false,
            unsynced_typing: None,
            has_new_input: false,
            next_write_at: 0,
            unacknowledged_lines: Vec::new(),
            secrets,
        }
    }

    /// A line was sent. What the session gets of it stays in the draft until the session has it.
    pub fn save_line(&mut self, line: String, submit: Option<SubmitId>) {
        self.unacknowledged_lines.extend(submit.map(|id| QueuedMessage { id, text: line.clone() }));
        let SavedDraft { queue, later, .. } = self.last_draft.clone();
        self.save_unsynced(SavedDraft {
            queue,
            later,
            ..self.with_unacknowledged_lines(SavedDraft::default())
        });
        let _ = self.jobs.send(SaveJob::Line(line));
    }

    /// Takes note of an event that may change the input.
    pub fn note_input(&mut self, input: &ScreenInput, at: Millis) {
        let typed = match input {
            ScreenInput::Key(_)
            | ScreenInput::Paste(_)
            | ScreenInput::EditorClosed(_)
            | ScreenInput::FirstMessage(_) => true,
            // An undone message is put into the input.
            ScreenInput::Session(event) => {
                matches!(**event, Event::Queued { .. } | Event::Rewound { .. })
            }
            _ => false,
        };
        // The session has it now, in its file or in its queue: it is not offered again.
        if matches!(input, ScreenInput::Session(event) if self.remove_received(event)) {
            self.unsynced_typing = Some((at, at));
        } else if typed {
            self.has_new_input = true;
            let first = self.unsynced_typing.map_or(at, |(first, _)| first);
            self.unsynced_typing = Some((first, (at + REST).min(first + MAX_DELAY)));
        }
    }

    /// True when one of the sent lines is in the session now.
    fn remove_received(&mut self, event: &Event) -> bool {
        let before = self.unacknowledged_lines.len();
        let is_received = |id: SubmitId| match event {
            Event::TurnStarted { submit, .. } | Event::Steered { submit, .. } => {
                *submit == Some(id)
            }
            Event::Dropped { submit } => *submit == id,
            Event::Queued { messages } => messages.iter().any(|message| message.id == id),
            _ => false,
        };
        self.unacknowledged_lines.retain(|line| !is_received(line.id));
        self.unacknowledged_lines.len() < before
    }

    /// Gives the thread what is due: the queue at once, the input after a pause.
    pub fn save_if_due(&mut self, state: &State, at: Millis) {
        let Some((_, due)) = self.unsynced_typing else { return };
        let (queue, later) = state.queue.pending();
        let waits = queue != self.last_draft.queue || later != self.last_draft.later;
        if !(waits || due <= at) {
            return;
        }
        // The queue has them.
        let steered = state.queue.steered();
        self.unacknowledged_lines
            .retain(|line| !steered.iter().any(|message| message.id == line.id));
        self.unsynced_typing = None;
        let draft = self.with_unacknowledged_lines(state.draft());
        if std::mem::take(&mut self.has_new_input) {
            self.save_unsynced(draft.clone());
        }
        if self.is_unsynced || draft != self.last_draft {
            self.is_unsynced = false;
            self.last_draft = draft.clone();
            let _ = self.jobs.send(SaveJob::Draft(draft));
        }
    }

    /// Gives the thread what a frame is about to show, to be written without syncing it.
    pub fn start_saving_frame(&mut self, state: &State, at: Millis) {
        if self.has_new_input && self.next_write_at <= at {
            self.has_new_input = false;
            let draft = self.with_unacknowledged_lines(state.draft());
            let pasted: usize = draft.pastes.iter().map(|paste| paste.text.len()).sum();
            let size = draft.shown.len() + pasted;
            self.next_write_at = at + Millis::try_from(size / BYTES).unwrap_or(Millis::MAX);
            self.save_unsynced(draft);
        }
    }

    /// Waits until what was typed is written, before the frame with it reaches the terminal.
    pub fn finish_saving_frame(&mut self) {
        let most = if self.is_slow { Duration::ZERO } else { GRACE_PERIOD };
        if let Some(written) = &self.pending_write {
            self.is_slow = written.recv_timeout(most) == Err(RecvTimeoutError::Timeout);
        }
        if !self.is_slow {
            self.pending_write = None;
        }
    }

    fn save_unsynced(&mut self, draft: SavedDraft) {
        if draft != self.last_draft {
            (self.last_draft, self.is_unsynced) = (draft.clone(), true);
            let (done, written) = channel();
            self.pending_write = Some(written);
            let _ = self.jobs.send(SaveJob::UnsyncedDraft(draft, done));
        }
    }

    /// The draft to offer after a kill, below the sent lines that the session does not have yet.
    /// Text that is still being written stays as it is typed; secrets in what was sent are masked.
    fn with_unacknowledged_lines(&self, draft: SavedDraft) -> SavedDraft {
        let input = (!draft.shown.trim().is_empty()).then(|| draft.shown.as_str().into());
        let sent = self.unacknowledged_lines.iter().map(|line| self.secrets.mask(&line.text));
        let lines: Vec<Cow<'_, str>> = sent.chain(input).collect();
        SavedDraft { shown: lines.join("\n"), ..draft }
    }

    /// When something is due even if no event comes.
    pub fn next_wakeup(&self) -> Option<Millis> {
        self.unsynced_typing.map(|(_, due)| due)
    }

    /// Saves the last draft. Waits until all is written, for a moment at most.
    pub async fn close(self, draft: SavedDraft) {
        let _ = self.jobs.send(SaveJob::Draft(draft));
        drop(self.jobs);
        let _ = timeout(CLOSE_TIMEOUT, self.done).await;
    }
}

fn save_loop(paths: &SavePaths, jobs: &Receiver<SaveJob>, redactor: &Redactor) {
    let mut history = None;
    // Waiters for a draft also wait for the one that replaces it.
    let mut waiting = VecDeque::new();
    let mut owed = Vec::new();

    while let Some(job) = waiting.pop_front().or_else(|| jobs.recv().ok()) {
        waiting.extend(jobs.try_iter());
        // Of the drafts that arrived while the disk was slow, only the last counts.
        let is_draft = |job: &SaveJob| !matches!(job, SaveJob::Line(_));
        if is_draft(&job) && waiting.iter().any(is_draft) {
            if let SaveJob::UnsyncedDraft(_, done) = job {
                owed.push(done);
            }
            continue;
        }
        let written = match (job, &paths.history, &paths.draft) {
            (SaveJob::Line(line), Some(file), _) => {
                let line = redactor.mask(&line);
                history.get_or_insert_with(|| InputHistory::open(file.clone())).add(&line)
            }
            (SaveJob::Draft(draft), _, Some(file)) => {
                draft::save(file, &mask_queue(draft, redactor))
            }
            (SaveJob::UnsyncedDraft(draft, done), _, Some(file)) => {
                owed.push(done);
                draft::save_unsynced(file, &mask_queue(draft, redactor))
            }
            (SaveJob::Line(_), None, _)
            | (SaveJob::Draft(_) | SaveJob::UnsyncedDraft(..), _, None) => Ok(()),
        };
        if let Err(error) = written {
            tracing::warn!("not kept: {error}");
        }
        if !waiting.iter().any(is_draft) {
            owed.clear();
        }
    }
}

/// The draft with the secrets of its queued messages masked.
fn mask_queue(mut draft: SavedDraft, redactor: &Redactor) -> SavedDraft {
    for line in draft.queue.iter_mut().chain(&mut draft.later) {
        *line = redactor.mask(line).into_owned();
    }
    draft
}

/// Saves a setting, by its key and value, for the next start. It may wait for a disk.
pub type SaveSettingFn = Arc<dyn Fn(&str, &str) -> Result<(), LocalizedText> + Send + Sync>;

/// Saves settings where waiting is allowed, in the order in which they were changed.
pub struct SettingsSaver {
    jobs: UnboundedSender<(&'static str, String)>,
    pub errors: UnboundedReceiver<LocalizedText>,
    task: JoinHandle<()>,
}

impl SettingsSaver {
    pub fn start(save: SaveSettingFn) -> SettingsSaver {
        let (jobs, mut waiting) = unbounded_channel::<(&'static str, String)>();
        let (failed, errors) = unbounded_channel();
        let task = tokio::spawn(async move {
            while let Some((key, value)) = waiting.recv().await {
                let save = Arc::clone(&save);
                if let Ok(Err(why)) = spawn_blocking(move || save(key, &value)).await {
                    let _ = failed.send(why);
                }
            }
        });
        SettingsSaver { jobs, errors, task }
    }

    pub fn save(&self, key: &'static str, value: String) {
        let _ = self.jobs.send((key, value));
    }

    /// Waits until all is written, for a moment at most.
    pub async fn close(self) {
        drop(self.jobs);
        let _ = timeout(CLOSE_TIMEOUT, self.task).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use avocet_core::i18n::store as phrases;

    #[tokio::test]
    async fn everything_is_written_before_the_thread_ends() {
        let folder = tempfile::tempdir().expect("a folder");
        let (history, kept) = (folder.path().join("history"), folder.path().join("d.json"));
        let draft = Some(kept.clone());
        let files = SavePaths { history: Some(history.clone()), draft, secrets: None };
        let mut clerk = AutoSaver::start(files, SavedDraft::default());
        clerk.save_line("一".into(), None);
        clerk.save_line("two".into(), None);
        clerk.close(SavedDraft::from_text("half a")).await;
        assert_eq!(InputHistory::open(history).entries(), ["一", "two"]);
        assert_eq!(draft::read(&kept), SavedDraft::from_text("half a"));
    }

    #[tokio::test]
    async fn a_line_is_offered_again_until_the_session_says_what_became_of_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let kept = folder.path().join("d.json");
        let files = SavePaths { draft: Some(kept.clone()), ..SavePaths::default() };
        let id = SubmitId(7);
        let same = || "fix it".to_owned();
        let queued = |id| Event::Queued { messages: vec![QueuedMessage { id, text: same() }] };
        let other = SubmitId(8);
        for (submit, event, left) in [
            (Some(id), None, "fix it"),
            // Another message of the same words is not this one.
            (Some(id), Some(queued(other)), "fix it"),
            (Some(id), Some(Event::Dropped { submit: other }), "fix it"),
            (Some(id), Some(queued(id)), ""),
            (Some(id), Some(Event::Dropped { submit: id }), ""),
            (Some(id), Some(Event::Steered { text: same(), submit: Some(id) }), ""),
            // A command that only the screen carries out.
            (None, None, ""),
        ] {
            let mut saver = AutoSaver::start(files.clone(), SavedDraft::default());
            saver.save_line(same(), submit);
            if let Some(event) = &event {
                saver.remove_received(event);
            }
            let draft = saver.with_unacknowledged_lines(SavedDraft::default());
            saver.close(draft).await;
            assert_eq!(draft::read(&kept), SavedDraft::from_text(left), "{submit:?} {event:?}");
        }
    }

    #[tokio::test]
    async fn settings_are_saved_in_the_order_in_which_they_were_changed_and_before_the_end() {
        let (written, order) = channel();
        // The earlier ones take longer.
        let save = move |key: &str, value: &str| {
            thread::park_timeout(Duration::from_millis(40_u64.saturating_sub(value.len() as u64)));
            written.send(format!("{key} {}", value.len())).expect("the test listens");
            Err(phrases::BUSY.into())
        };
        let mut saver = SettingsSaver::start(Arc::new(save));
        for length in [1, 20, 40] {
            saver.save("vim", "x".repeat(length));
        }
        assert!(saver.errors.recv().await.is_some());
        saver.close().await;
        assert_eq!(order.try_iter().collect::<Vec<_>>(), ["vim 1", "vim 20", "vim 40"]);
    }

    #[tokio::test]
    async fn without_files_nothing_is_saved_and_nothing_fails() {
        let mut clerk = AutoSaver::start(SavePaths::default(), SavedDraft::default());
        clerk.save_line("one".into(), Some(SubmitId(1)));
        clerk.close(SavedDraft::from_text("half")).await;
    }
}
