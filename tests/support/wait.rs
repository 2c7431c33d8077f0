//! Waiting for a fact that nothing tells of: a file of another program, a process that ends.

use std::time::{Duration, Instant};

use avocet::tools::exec::StepLimits;

/// Far more than a busy machine takes: only a test that fails waits so long.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// Short for a test, and long enough to leave the processor to what is waited for.
const BETWEEN_LOOKS: Duration = Duration::from_millis(3);

/// Limits of steps that no busy machine reaches, for tests of something else.
pub fn wide_limits() -> StepLimits {
    let wide = Duration::from_secs(600);
    StepLimits { alone: wide, piece: wide, ..StepLimits::default() }
}

/// Looks again until it is so.
#[track_caller]
pub fn wait_until(what: &str, mut so: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !so() {
        assert!(Instant::now() < deadline, "{what}: not so after {} s", PATIENCE.as_secs());
        std::thread::park_timeout(BETWEEN_LOOKS);
    }
}

/// Fails if quitting takes three seconds or more, five times in a row: a busy machine may delay any
/// single one.
#[track_caller]
pub fn assert_quick(what: &str, mut quit: impl FnMut() -> Duration) {
    const MOST: Duration = Duration::from_secs(3);
    let mut times = Vec::new();
    while times.len() < 5 {
        let took = quit();
        if took < MOST {
            return;
        }
        times.push(took);
    }
    panic!("{what}: {times:?}");
}
