//! How long a session waits for another program that holds the database: briefly once it is
//! ending, also when the wait began before that.

use std::time::{Duration, Instant};

use rusqlite::Connection;
use tokio_util::sync::CancellationToken;

/// How long to wait once the session is ending, and after an earlier wait failed.
pub(super) const SHORT_WAIT: Duration = Duration::from_millis(100);
/// The pause between two tries.
const PAUSE: Duration = Duration::from_millis(5);

/// Sets how long a connection waits.
pub(super) fn set_patience(
    connection: &mut Connection,
    patience: Duration,
    closing: &CancellationToken,
) -> rusqlite::Result<()> {
    let closing = closing.clone();
    let mut wait = Wait::new(Instant::now(), patience);
    connection.busy_handler(Some(move |tries| {
        let now = Instant::now();
        if tries == 0 {
            wait = Wait::new(now, patience);
        }
        let again = wait.goes_on(now, closing.is_cancelled());
        if again {
            std::thread::park_timeout(PAUSE);
        }
        again
    }))
}

/// One wait.
struct Wait {
    until: Instant,
    is_hurried: bool,
}

impl Wait {
    fn new(began: Instant, patience: Duration) -> Wait {
        Wait { until: began + patience, is_hurried: false }
    }

    fn goes_on(&mut self, now: Instant, is_closing: bool) -> bool {
        if is_closing && !self.is_hurried {
            self.is_hurried = true;
            self.until = self.until.min(now + SHORT_WAIT);
        }
        now < self.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_ends_after_its_time_and_soon_after_the_session_begins_to_end() {
        let began = Instant::now();
        let at = |ms| began + Duration::from_millis(ms);
        let mut wait = Wait::new(began, Duration::from_secs(1));
        assert!(wait.goes_on(at(999), false));
        assert!(!wait.goes_on(at(1000), false));
        let mut hurried = Wait::new(began, Duration::from_secs(1));
        assert!(hurried.goes_on(at(300), false));
        assert!(hurried.goes_on(at(400), true));
        assert!(hurried.goes_on(at(499), true));
        assert!(!hurried.goes_on(at(500), true));
        let mut late = Wait::new(began, Duration::from_secs(1));
        assert!(!late.goes_on(at(1000), true), "an ending session adds no time");
    }

    #[test]
    fn a_session_that_ends_stops_waiting_for_a_held_database() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("held.db");
        let other = Connection::open(&file).unwrap();
        other.execute_batch("CREATE TABLE t(x); BEGIN IMMEDIATE").unwrap();
        let mut ours = Connection::open(&file).unwrap();
        let closing = CancellationToken::new();
        set_patience(&mut ours, Duration::from_secs(600), &closing).unwrap();
        let waits = std::thread::spawn(move || ours.execute_batch("INSERT INTO t VALUES (1)"));
        closing.cancel();
        assert!(waits.join().unwrap().is_err());
    }
}
