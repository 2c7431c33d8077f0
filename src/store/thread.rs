//! The one thread that writes the sessions of a process. It takes turns between them; what it does
//! for one may block the others for as long as the disk takes.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;

/// What is done for one session, until it ends.
type SessionTask = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Copies share one thread. It starts with the first session, and ends with the last copy.
#[derive(Clone, Debug, Default)]
pub(super) struct WriterThread(Arc<Mutex<Option<UnboundedSender<SessionTask>>>>);

impl WriterThread {
    /// Runs a session's task until it ends.
    ///
    /// # Errors
    /// When the thread cannot be started. The task is dropped.
    pub fn run(&self, task: impl Future<Output = ()> + Send + 'static) -> std::io::Result<()> {
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let task: SessionTask = Box::pin(task);
        let Some(running) = tasks.as_ref() else { return start(&mut tasks, task) };
        match running.send(task) {
            Ok(()) => Ok(()),
            // The thread has ended.
            Err(unsent) => start(&mut tasks, unsent.0),
        }
    }
}

fn start(
    tasks: &mut Option<UnboundedSender<SessionTask>>,
    first: SessionTask,
) -> std::io::Result<()> {
    let (sender, receiver) = unbounded_channel();
    std::thread::Builder::new().name("store".into()).spawn(move || {
        // Only to wait with a deadline; the thread itself may block.
        match tokio::runtime::Builder::new_current_thread().enable_time().build() {
            Ok(runtime) => runtime.block_on(run_tasks(receiver)),
            // The tasks are dropped.
            Err(error) => tracing::warn!(%error, "the store cannot wait"),
        }
    })?;
    // It was started a moment ago.
    let _ = sender.send(first);
    *tasks = Some(sender);
    Ok(())
}

async fn run_tasks(mut new: UnboundedReceiver<SessionTask>) {
    let mut running = JoinSet::new();
    loop {
        tokio::select! {
            task = new.recv() => match task {
                Some(task) => drop(running.spawn(task)),
                None => break,
            },
            // One that ended by a fault ends no other.
            Some(_) = running.join_next() => {}
        }
    }
    while running.join_next().await.is_some() {}
}

/// A store is the same store wherever it is written.
impl PartialEq for WriterThread {
    fn eq(&self, _: &WriterThread) -> bool {
        true
    }
}

impl Eq for WriterThread {}
