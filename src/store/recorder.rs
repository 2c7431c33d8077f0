//! The way to the thread that writes. Whoever shows an event hands it over first and
//! waits until it is in the file, so nothing was ever shown that a killed program
//! loses; text that grows is not waited for and is written within a moment.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::{self, Receiver, Sender, UnboundedSender, error::TrySendError};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout, timeout_at};

use super::desk::{Desk, Head};
use super::{Fault, Store};
use crate::protocol::Event;
use crate::safety::redact::Redactor;
use crate::words::{Say, store as words};

/// Jobs that may wait.
const ROOM: usize = 1024;
/// Jobs that are one group.
const GROUP: usize = 64;
/// How long what is grave may lie where a machine that loses its power loses it. Waiting
/// for the disk each time would hold up what comes next.
const SETTLE: Duration = Duration::from_millis(50);
/// A disk slower than this is not waited for, and how long the last words wait for it.
const PATIENCE: Duration = Duration::from_millis(1_200);
const FAREWELL: Duration = Duration::from_millis(1_500);

enum Job {
    /// To be in the file before the answer comes.
    Event(Box<Event>, oneshot::Sender<()>),
    /// To be in the file at once; the same event follows to be waited for.
    Early(Box<Event>),
    /// To be in the file in its turn; nobody waits.
    Later(Box<Event>),
    Do(Box<dyn FnOnce(&mut Desk) + Send>),
}

/// Hands events to the thread that writes. The thread ends when no copy is left.
#[derive(Clone, Debug)]
pub struct Recorder {
    jobs: Sender<Job>,
}

impl Recorder {
    /// Starts the thread. It opens nothing before there is something to do.
    pub fn start(
        store: Store,
        head: Head,
        redactor: Arc<Redactor>,
        faults: UnboundedSender<Fault>,
    ) -> Recorder {
        let (jobs, waiting) = mpsc::channel(ROOM);
        let desk = Desk::new(store, head, redactor, faults);
        let started =
            std::thread::Builder::new().name("store".into()).spawn(move || work(desk, waiting));
        if let Err(error) = started {
            // Every job is dropped then, and dropping one answers it.
            tracing::warn!(%error, "no thread for the store");
        }
        Recorder { jobs }
    }

    /// Waits until the event is in the file, or until it is clear that it cannot be.
    pub async fn append(&self, event: &Event) {
        let (done, written) = oneshot::channel();
        if self.jobs.send(Job::Event(Box::new(event.clone()), done)).await.is_ok() {
            let _ = timeout(PATIENCE, written).await;
        }
    }

    /// Takes an event in its order, waiting for room but not until it is written.
    pub async fn hand(&self, event: &Event) {
        // A thread that is gone writes nothing.
        let _ = self.jobs.send(Job::Later(Box::new(event.clone()))).await;
    }

    /// Has what a turn is known to start with written ahead, or at least the file opened,
    /// without waiting. [`Recorder::append`] of the same event then waits for that one.
    pub fn prepare(&self, start: Option<Event>) {
        let job = match start {
            Some(event) => Job::Early(Box::new(event)),
            None => Job::Do(Box::new(Desk::prepare)),
        };
        // Without room it is written, and the file opened, with what follows.
        let _ = self.jobs.try_send(job);
    }

    /// Takes text that grows, without waiting; gives it back when there is no room.
    pub fn grow(&self, event: Event) -> Option<Event> {
        match self.jobs.try_send(Job::Later(Box::new(event))) {
            Err(TrySendError::Full(Job::Later(event))) => Some(*event),
            Ok(()) | Err(_) => None,
        }
    }

    /// Has something done in order; `None` when the thread is gone.
    pub async fn ask<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&mut Desk) -> T + Send + 'static,
    ) -> Option<T> {
        let (answer, answered) = oneshot::channel();
        let job = Job::Do(Box::new(move |desk| drop(answer.send(ask(desk)))));
        self.jobs.send(job).await.ok()?;
        answered.await.ok()
    }

    /// Waits until all is written that was handed over, for a moment at most. The answer is
    /// why it could not be.
    pub async fn close(&self) -> Option<Say> {
        let close = self.ask(|desk| {
            desk.close();
            desk.unsaved()
        });
        match timeout(FAREWELL, close).await {
            Ok(Some(unsaved)) => unsaved,
            // Nothing was ever handed to a thread that could not be started.
            Ok(None) => None,
            Err(_) => Some(words::BUSY.into()),
        }
    }
}

fn work(mut desk: Desk, mut jobs: Receiver<Job>) {
    // Only to wait with a deadline; the thread itself may block as it likes.
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_time().build() else {
        return;
    };
    runtime.block_on(async {
        let mut settle: Option<Instant> = None;
        let mut early = None;
        loop {
            let due = desk.due().map(Instant::from_std).into_iter().chain(settle).min();
            let next = match due {
                Some(due) => timeout_at(due, jobs.recv()).await,
                None => Ok(jobs.recv().await),
            };
            match next {
                Ok(Some(job)) => {
                    if group(&mut desk, job, &mut jobs, &mut early) {
                        settle = settle.or_else(|| Some(Instant::now() + SETTLE));
                    }
                }
                Ok(None) => break,
                Err(_) => desk.tick(),
            }
            if settle.is_some_and(|settle| settle <= Instant::now()) {
                desk.settle();
                settle = None;
            }
        }
    });
    desk.close();
}

/// Takes in what waits already, writes it as one, then answers. `early` is written before it
/// is waited for. True when something grave was among it.
fn group(
    desk: &mut Desk,
    first: Job,
    jobs: &mut Receiver<Job>,
    early: &mut Option<Box<Event>>,
) -> bool {
    let mut answers = Vec::new();
    let mut next = Some(first);
    for _ in 0..GROUP {
        match next.take().or_else(|| jobs.try_recv().ok()) {
            Some(Job::Event(event, done)) => {
                let is_there = early.take_if(|early| *early == event).is_some();
                if !is_there {
                    desk.note(*event);
                }
                answers.push(done);
            }
            Some(Job::Early(event)) => {
                desk.note((*event).clone());
                *early = Some(event);
            }
            Some(Job::Later(event)) => desk.note(*event),
            Some(Job::Do(ask)) => {
                desk.flush();
                ask(desk);
            }
            None => break,
        }
    }
    let grave = desk.flush();
    for done in answers {
        // Who asked may have given up.
        let _ = done.send(());
    }
    grave
}
