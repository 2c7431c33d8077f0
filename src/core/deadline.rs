//! Time limits that count only the time in which the program ran.
//!
//! A stopped process or a suspended machine does no work and receives nothing. When it resumes, a
//! timer that expired meanwhile says nothing about the other side, so the limit starts again.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// A timer that fires later than this was late because nothing ran.
pub const LATE: Duration = Duration::from_millis(500);

/// The time limit was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the time limit ran out")]
pub struct Elapsed;

/// Waits for `future` for at most `limit`. A future that is ready counts, even when the time has
/// run out as well.
///
/// # Errors
/// [`Elapsed`] when the program ran for that long and the future was not ready.
pub async fn with_timeout<F: Future>(limit: Duration, future: F) -> Result<F::Output, Elapsed> {
    let mut future = std::pin::pin!(future);
    loop {
        let end = Instant::now() + limit;
        tokio::select! {
            biased;
            out = &mut future => return Ok(out),
            () = sleep_until(end) => {}
        }
        if Instant::now().saturating_duration_since(end) < LATE {
            return Err(Elapsed);
        }
    }
}

/// One time limit shared by several waits.
#[derive(Debug)]
pub struct Allowance {
    limit: Duration,
    end: Instant,
}

impl Allowance {
    /// Starts the limit now.
    pub fn new(limit: Duration) -> Allowance {
        Allowance { limit, end: Instant::now() + limit }
    }

    /// Waits for `future` for the rest of the time. A ready future counts, as in [`with_timeout`].
    ///
    /// # Errors
    /// [`Elapsed`] when no time is left.
    pub async fn wait<F: Future>(&mut self, future: F) -> Result<F::Output, Elapsed> {
        let mut future = std::pin::pin!(future);
        loop {
            tokio::select! {
                biased;
                out = &mut future => return Ok(out),
                () = sleep_until(self.end) => {}
            }
            if Instant::now().saturating_duration_since(self.end) < LATE {
                return Err(Elapsed);
            }
            self.end = Instant::now() + self.limit;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::task::Poll;

    use super::*;

    fn wait<T>(work: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        runtime.unwrap().block_on(work)
    }

    #[test]
    fn a_limit_expires_when_the_future_stays_pending() {
        let limit = Duration::from_millis(5);
        assert_eq!(wait(with_timeout(limit, std::future::pending::<()>())), Err(Elapsed));
        assert_eq!(wait(with_timeout(limit, async { 7 })), Ok(7));
    }

    #[test]
    fn an_allowance_is_shared_by_all_its_waits() {
        let mut allowance = Allowance::new(Duration::from_millis(60));
        assert_eq!(wait(allowance.wait(async { 7 })), Ok(7));
        assert_eq!(wait(allowance.wait(std::future::pending::<()>())), Err(Elapsed));
        assert_eq!(wait(allowance.wait(async { 8 })), Ok(8), "what is ready counts");
        assert_eq!(wait(allowance.wait(std::future::pending::<()>())), Err(Elapsed));
    }

    #[test]
    fn a_limit_restarts_after_the_program_was_stopped() {
        let (limit, stop) = (Duration::from_millis(100), LATE + Duration::from_millis(200));
        let began = std::time::Instant::now();
        let mut stopped = false;
        // Nothing else runs on this thread meanwhile, as in a stopped process.
        let silent = std::future::poll_fn(|_| {
            while !std::mem::replace(&mut stopped, true) || began.elapsed() < stop {
                std::thread::park_timeout(stop.saturating_sub(began.elapsed()));
            }
            Poll::<()>::Pending
        });
        assert_eq!(wait(with_timeout(limit, silent)), Err(Elapsed));
        assert!(began.elapsed() >= stop + limit);
    }
}
