//! Sends events to the thread that writes. An event is sent before it is shown, and shown once it
//! is in the file, so that a killed program loses nothing that was shown; growing text is not
//! waited for and is written within a moment.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::{self, Receiver, Sender, UnboundedSender, error::TrySendError};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use super::write::SessionHeader;
use super::writer::StoreWriter;
use super::{SavingError, Store};
use avocet_core::i18n::{LocalizedText, store as phrases};
use avocet_core::protocol::Event;
use avocet_safety::redact::Redactor;

/// The maximum number of waiting jobs.
const CAPACITY: usize = 1024;
/// The maximum number of jobs in a group.
const GROUP: usize = 64;
/// How long important data may exist only where a power failure would lose it. Waiting for the disk
/// each time would delay what comes next.
const SETTLE: Duration = Duration::from_millis(50);
/// A disk slower than this is not waited for; also how long the last write waits for it.
const WAIT_TIMEOUT: Duration = Duration::from_millis(1_200);
const CLOSE_TIMEOUT: Duration = Duration::from_millis(1_500);

enum Job {
    /// Must be in the file before the answer.
    Event(Box<Event>, oneshot::Sender<()>),
    /// Must be in the file at once; the same event follows and is waited for.
    Early(Box<Event>),
    /// Is written in order; nothing waits for it.
    Later(Box<Event>),
    Run(Box<dyn FnOnce(&mut StoreWriter) + Send>),
}

/// Sends events to the thread that writes. The session is closed when the last copy is dropped.
#[derive(Clone, Debug)]
pub struct Recorder {
    jobs: Sender<Job>,
    /// The session is ending: a slow disk delays nothing any longer.
    closing: CancellationToken,
}

impl Recorder {
    /// Begins a session on the thread that writes. It opens nothing until there is work.
    pub fn start(
        store: Store,
        header: SessionHeader,
        redactor: Arc<Redactor>,
        faults: UnboundedSender<SavingError>,
    ) -> Recorder {
        let (jobs, waiting) = mpsc::channel(CAPACITY);
        let closing = CancellationToken::new();
        let thread = store.thread.clone();
        let writer = StoreWriter::new(store, header, redactor, faults).hurry_after(closing.clone());
        if let Err(error) = thread.run(run_writer(writer, waiting)) {
            // Every job is then dropped, and dropping one answers it.
            tracing::warn!(%error, "no thread for the store");
        }
        Recorder { jobs, closing }
    }

    /// Waits until the event is in the file, or until it is clear that it cannot be.
    pub async fn append(&self, event: &Event) {
        let (done, written) = oneshot::channel();
        if self.jobs.send(Job::Event(Box::new(event.clone()), done)).await.is_ok() {
            let _ = timeout(WAIT_TIMEOUT, self.closing.run_until_cancelled(written)).await;
        }
    }

    /// Sends an event in order, waiting for room but not until it is written.
    pub async fn send(&self, event: &Event) {
        // A session that has ended writes nothing.
        let _ = self.jobs.send(Job::Later(Box::new(event.clone()))).await;
    }

    /// Starts writing the known first event of a turn, or at least opens the file, without waiting.
    /// [`Recorder::append`] of the same event then waits for that one.
    pub fn prepare(&self, start_event: Option<Event>) {
        let job = match start_event {
            Some(event) => Job::Early(Box::new(event)),
            None => Job::Run(Box::new(StoreWriter::prepare)),
        };
        // Without room, it is written, and the file opened, with the next job.
        let _ = self.jobs.try_send(job);
    }

    /// Sends growing text, without waiting; returns it if there is no room.
    pub fn try_send(&self, event: Event) -> Option<Event> {
        match self.jobs.try_send(Job::Later(Box::new(event))) {
            Err(TrySendError::Full(Job::Later(event))) => Some(*event),
            Ok(()) | Err(_) => None,
        }
    }

    /// Runs a job in order, without waiting; without room it is left out.
    pub fn run(&self, work: impl FnOnce(&mut StoreWriter) + Send + 'static) {
        let _ = self.jobs.try_send(Job::Run(Box::new(work)));
    }

    /// Runs a job in order; `None` if the session has ended.
    pub async fn call<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&mut StoreWriter) -> T + Send + 'static,
    ) -> Option<T> {
        let (answer, answered) = oneshot::channel();
        let job = Job::Run(Box::new(move |writer| drop(answer.send(ask(writer)))));
        self.jobs.send(job).await.ok()?;
        answered.await.ok()
    }

    /// From now on nothing waits for a slow disk: what is sent is still written in order.
    pub fn begin_closing(&self) {
        self.closing.cancel();
    }

    /// Waits briefly until all jobs are written. Returns the error if they could not be.
    pub async fn close(&self) -> Option<LocalizedText> {
        self.begin_closing();
        let close = self.call(|writer| {
            writer.close();
            writer.unsaved_reason()
        });
        match timeout(CLOSE_TIMEOUT, close).await {
            Ok(Some(unsaved)) => unsaved,
            // A thread that could not start never received anything.
            Ok(None) => None,
            Err(_) => Some(phrases::BUSY.into()),
        }
    }
}

async fn run_writer(mut writer: StoreWriter, mut jobs: Receiver<Job>) {
    let mut settle: Option<Instant> = None;
    let mut early = None;
    loop {
        let due = writer.next_deadline().map(Instant::from_std).into_iter().chain(settle).min();
        let next = match due {
            Some(due) => timeout_at(due, jobs.recv()).await,
            None => Ok(jobs.recv().await),
        };
        let is_important = match next {
            Ok(Some(job)) => write_group(&mut writer, job, &mut jobs, &mut early),
            Ok(None) => break,
            Err(_) => writer.tick(),
        };
        if is_important {
            settle = settle.or_else(|| Some(Instant::now() + SETTLE));
        }
        if settle.is_some_and(|due| due <= Instant::now()) {
            settle = writer.sync(SETTLE).map(Instant::from_std);
        }
    }
    writer.close();
}

/// Takes all waiting jobs, writes them as one group, then answers. `early` is written before it is
/// waited for. True if something important was among them.
fn write_group(
    writer: &mut StoreWriter,
    job: Job,
    jobs: &mut Receiver<Job>,
    early: &mut Option<Box<Event>>,
) -> bool {
    let mut answers = Vec::new();
    let mut is_urgent = false;

    let mut next = Some(job);
    for _ in 0..GROUP {
        match next.take().or_else(|| jobs.try_recv().ok()) {
            Some(Job::Event(event, done)) => {
                is_urgent = true;
                let is_there = early.take_if(|early| *early == event).is_some();
                if !is_there {
                    writer.record(*event);
                }
                answers.push(done);
            }
            Some(Job::Early(event)) => {
                is_urgent = true;
                writer.record((*event).clone());
                *early = Some(event);
            }
            Some(Job::Later(event)) => writer.record_later(*event),
            Some(Job::Run(ask)) => {
                writer.flush();
                ask(writer);
            }
            None => break,
        }
    }
    let grave = is_urgent && writer.flush();
    for done in answers {
        // The receiver may have stopped waiting.
        let _ = done.send(());
    }
    grave
}
