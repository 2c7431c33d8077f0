//! How long a script may take.

use std::time::{Duration, Instant};

use avocet_core::deadline::with_timeout;
use avocet_core::i18n::script_run;
use avocet_script::{ErrorCause, LocatedError};

/// The time limit of a whole run. It does not count while the user is asked.
#[derive(Debug)]
pub struct RunClock {
    limit: Option<Duration>,
    left: Duration,
    started: Instant,
}

impl RunClock {
    pub fn new(limit: Option<Duration>) -> RunClock {
        RunClock { limit, left: limit.unwrap_or_default(), started: Instant::now() }
    }

    /// The user is asked.
    pub fn pause(&mut self) {
        self.left = self.left.saturating_sub(self.started.elapsed());
    }

    /// The user has answered.
    pub fn resume(&mut self) {
        self.started = Instant::now();
    }

    /// Waits until the time is over; forever without a limit.
    pub async fn expired(&self) -> LocatedError {
        let rest = self.left.saturating_sub(self.started.elapsed());
        match self.limit {
            None => std::future::pending().await,
            Some(limit) => {
                // The limit is what is waited for.
                let _ = with_timeout(rest, std::future::pending::<()>()).await;
                let why = script_run::RUN_TIME.with("seconds", limit.as_secs());
                LocatedError::new(why).caused_by(ErrorCause::Limit)
            }
        }
    }
}
