//! The threads and timers of a run, and how they end.

use std::io;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

use crate::cli::{Exit, print};
use crate::session::Rescue;

/// One worker thread, for the session and what it waits for: it mostly passes messages on, and
/// doing so between two threads costs more than the work itself. Slow work has threads of its own.
/// The user interface has the main thread.
pub fn runtime() -> io::Result<Runtime> {
    Builder::new_multi_thread().worker_threads(1).enable_all().build()
}

/// For the screen alone: its timers and signals wake no other thread.
pub fn screen_runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

/// Whether a session ended in time.
#[derive(Debug)]
pub enum SessionEnd {
    /// With the data that could not be saved.
    Ended(Option<Rescue>),
    Late,
}

/// How long exiting may take, before whatever is late is dropped. A child that ignores signals
/// takes one second, a database that another program has locked one and a half.
pub const LEAVING: Duration = Duration::from_millis(2500);

/// What is left of that time after a turn without a screen.
pub fn shutdown_timeout(exit: Exit) -> Duration {
    match exit {
        Exit::Signal(_) => LEAVING.saturating_sub(print::GRACE),
        _ => LEAVING,
    }
}

/// Lets a session finish its work, for this long at most.
pub async fn wait_for_session(task: JoinHandle<Option<Rescue>>, most: Duration) -> SessionEnd {
    match tokio::time::timeout(most, task).await {
        Ok(ended) => SessionEnd::Ended(ended.ok().flatten()),
        Err(_) => SessionEnd::Late,
    }
}

impl SessionEnd {
    /// Ends a session's runtime. Late tasks are dropped, which kills every step that is still
    /// running. Returns the data that could not be saved.
    pub fn shut_down(self, runtime: Runtime) -> Option<Rescue> {
        match self {
            SessionEnd::Ended(rescue) => {
                runtime.shutdown_background();
                rescue
            }
            SessionEnd::Late => {
                runtime.shutdown_timeout(DROPPED);
                None
            }
        }
    }
}

/// How long dropping late tasks may take.
const DROPPED: Duration = Duration::from_millis(300);
