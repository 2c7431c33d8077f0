//! How long a turn works: without the time in which it waits for an answer of the user.

use std::time::{Duration, Instant};

#[derive(Clone, Copy, Debug)]
pub struct TurnClock {
    started: Instant,
    waited: Duration,
}

impl TurnClock {
    pub fn start(now: Instant) -> TurnClock {
        TurnClock { started: now, waited: Duration::ZERO }
    }

    /// A question was open from `opened` until now.
    pub fn add_wait(&mut self, opened: Instant, now: Instant) {
        self.waited += now.saturating_duration_since(opened);
    }

    /// In milliseconds.
    pub fn elapsed_ms(&self, now: Instant) -> u64 {
        let worked = now.saturating_duration_since(self.started).saturating_sub(self.waited);
        u64::try_from(worked.as_millis()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_turn_is_without_that_of_its_questions() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut clock = TurnClock::start(start);
        assert_eq!(clock.elapsed_ms(at(2)), 2_000);
        clock.add_wait(at(2), at(34));
        clock.add_wait(at(35), at(40));
        assert_eq!(clock.elapsed_ms(at(41)), 4_000);
    }
}
