//! The threads and timers of a run, and how they end.

use std::io;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

use super::rescue;
use super::startup::Startup;
use crate::cli::{Exit, print};
use avocet_core::i18n::cli as phrases;
use avocet_core::protocol::Notice;
use avocet_session::Rescue;

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

/// The same after a run without a screen: a slow disk may need this long to save the
/// conversation.
const SAVING: Duration = Duration::from_secs(60);

/// What is left of that time after a turn without a screen.
pub fn shutdown_timeout(exit: Exit) -> Duration {
    match exit {
        Exit::Done => SAVING,
        Exit::Signal(_) => LEAVING.saturating_sub(print::GRACE_PERIOD),
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
    /// running.
    pub fn shut_down(self, runtime: Runtime) -> Unsaved {
        match self {
            SessionEnd::Ended(rescue) => {
                runtime.shutdown_background();
                rescue.map_or(Unsaved::Nothing, Unsaved::Conversation)
            }
            SessionEnd::Late => {
                runtime.shutdown_timeout(DROPPED);
                Unsaved::Unknown
            }
        }
    }
}

/// What a session leaves unsaved.
#[derive(Debug)]
pub enum Unsaved {
    Nothing,
    Conversation(Rescue),
    /// It was dropped before it could tell.
    Unknown,
}

impl Unsaved {
    /// Nothing if the user has taken care of it already.
    pub fn unless(self, is_handled: bool) -> Unsaved {
        if is_handled { Unsaved::Nothing } else { self }
    }

    /// Saves a conversation in another place, and says what became of it. Returns false if there
    /// was anything to say.
    pub fn report(self, startup: &Startup) -> bool {
        match self {
            Unsaved::Nothing => return true,
            Unsaved::Conversation(rescue) => rescue::write(startup, &rescue),
            Unsaved::Unknown => {
                startup.fail(&Notice::error(phrases::LEFT_LATE), Exit::Failed);
            }
        }
        false
    }
}

/// How long dropping late tasks may take.
const DROPPED: Duration = Duration::from_millis(300);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_session_that_is_late_leaves_unsaved_is_not_taken_for_nothing() {
        let runtime = runtime().unwrap();
        let end = |most| {
            let late = runtime.spawn(std::future::pending());
            runtime.block_on(wait_for_session(late, most))
        };
        assert!(matches!(end(Duration::ZERO), SessionEnd::Late));
        let unsaved = SessionEnd::Late.shut_down(runtime);
        assert!(matches!(unsaved, Unsaved::Unknown));
        assert!(matches!(unsaved.unless(true), Unsaved::Nothing));
    }

    #[test]
    fn a_session_that_ended_in_time_leaves_nothing_unsaved() {
        let runtime = runtime().unwrap();
        let ended = runtime.spawn(std::future::ready(None));
        let end = runtime.block_on(wait_for_session(ended, LEAVING));
        assert!(matches!(end.shut_down(runtime), Unsaved::Nothing));
    }
}
