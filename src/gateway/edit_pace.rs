//! How far apart the edits of a chat are: further after each refusal. Pure.

use std::time::{Duration, Instant};

/// Edits come at an eighth of their usual pace at least, and quicker again after so long.
const MAX_DOUBLINGS: u32 = 3;
const QUIET: Duration = Duration::from_secs(60);

#[derive(Debug, Default)]
pub struct EditPace {
    /// From when on the time to the next edit counts.
    pub since: Option<Instant>,
    /// How often it was doubled, and when this changed.
    doublings: u32,
    doubled_at: Option<Instant>,
    /// The service refuses edits until then.
    pub refused_until: Option<Instant>,
}

impl EditPace {
    /// When a message that still grows may be changed.
    pub fn growing(&self, base: Duration) -> Option<Instant> {
        self.ending(base * (1 << self.doublings))
    }

    /// When a message gets its last text.
    pub fn ending(&self, base: Duration) -> Option<Instant> {
        self.since.map(|since| since + base).max(self.refused_until)
    }

    pub fn slow_down(&mut self, now: Instant) {
        self.doublings = (self.doublings + 1).min(MAX_DOUBLINGS);
        self.doubled_at = Some(now);
    }

    /// A call was accepted.
    pub fn quicken(&mut self, now: Instant) {
        if self.doubled_at.is_some_and(|at| now.duration_since(at) > QUIET) {
            self.doublings = self.doublings.saturating_sub(1);
            self.doubled_at = Some(now);
        }
    }
}
