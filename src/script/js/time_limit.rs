//! The time limit of an engine, which it checks while it computes.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use avocet_core::deadline::LATE;

/// The clock of one engine. Times are microseconds since `started`.
#[derive(Debug)]
pub(super) struct TimeLimit {
    started: Instant,
    limit: Duration,
    deadline: AtomicU64,
    /// When the engine last checked.
    last_check: AtomicU64,
    expired: AtomicBool,
    /// The engine is no longer needed: even a loop ends.
    closed: AtomicBool,
    /// The run is stopped.
    stop: CancellationToken,
}

impl TimeLimit {
    pub fn new(limit: Duration, stop: CancellationToken) -> TimeLimit {
        TimeLimit {
            started: Instant::now(),
            limit,
            deadline: AtomicU64::new(u64::MAX),
            last_check: AtomicU64::new(0),
            expired: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            stop,
        }
    }

    fn now(&self) -> u64 {
        microseconds(self.started.elapsed())
    }

    /// Gives the engine its full time.
    pub fn restart(&self) {
        let now = self.now();
        self.deadline.store(now.saturating_add(microseconds(self.limit)), Ordering::Relaxed);
        self.last_check.store(now, Ordering::Relaxed);
        self.expired.store(false, Ordering::Relaxed);
    }

    pub fn check_expired(&self) -> bool {
        let now = self.now();
        // The engine checks continuously unless the program is suspended.
        let looked = self.last_check.swap(now, Ordering::Relaxed);
        if now.saturating_sub(looked) > microseconds(LATE) {
            let end = now.saturating_add(microseconds(self.limit));
            self.deadline.store(end, Ordering::Relaxed);
        }
        let over = now > self.deadline.load(Ordering::Relaxed);
        if over || self.is_closed() || self.stop.is_cancelled() {
            self.expired.store(true, Ordering::Relaxed);
        }
        self.has_expired()
    }

    pub fn has_expired(&self) -> bool {
        self.expired.load(Ordering::Relaxed)
    }

    pub fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }
}

fn microseconds(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
