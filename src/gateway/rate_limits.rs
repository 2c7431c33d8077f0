//! Remembers until when a service refuses calls, so that no call is made in vain. Pure.
//!
//! A key is whatever the service limits by: a method and a chat, or a bucket.

use std::collections::HashMap;
use std::time::{Duration, Instant};

/// A service that asks for more is asked again after this time.
const MAX_DELAY: Duration = Duration::from_secs(3600);

/// Above this number, keys that are free again are forgotten.
const MANY: usize = 1000;

#[derive(Clone, Debug, Default)]
pub struct RateLimits {
    closed: HashMap<String, Instant>,
    all_closed: Option<Instant>,
}

impl RateLimits {
    /// How long this key is still closed.
    pub fn wait(&self, key: &str, now: Instant) -> Option<Duration> {
        let until = self.closed.get(key).copied().max(self.all_closed)?;
        until.checked_duration_since(now).filter(|left| !left.is_zero())
    }

    /// The same, whatever closes all keys.
    pub fn wait_of(&self, key: &str, now: Instant) -> Option<Duration> {
        let until = self.closed.get(key)?;
        until.checked_duration_since(now).filter(|left| !left.is_zero())
    }

    /// No call with this key for so long.
    pub fn close(&mut self, key: &str, wait: Duration, now: Instant) {
        if self.closed.len() >= MANY {
            self.closed.retain(|_, until| *until > now);
        }
        self.closed.insert(key.to_owned(), now + wait.min(MAX_DELAY));
    }

    /// No call at all for so long.
    pub fn close_all(&mut self, wait: Duration, now: Instant) {
        self.all_closed = self.all_closed.max(Some(now + wait.min(MAX_DELAY)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_closed_key_leaves_the_others_open_and_opens_in_time() {
        let (mut limits, now) = (RateLimits::default(), Instant::now());
        limits.close("a", 2 * SECOND, now);
        assert_eq!(limits.wait("a", now), Some(2 * SECOND));
        assert_eq!(limits.wait("a", now + SECOND), Some(SECOND));
        assert_eq!(limits.wait("a", now + 2 * SECOND), None);
        assert_eq!(limits.wait("b", now), None);
        limits.close_all(3 * SECOND, now);
        assert_eq!(limits.wait("b", now), Some(3 * SECOND));
        assert_eq!(limits.wait("a", now), Some(3 * SECOND), "the longer one counts");
        assert_eq!((limits.wait_of("a", now), limits.wait_of("b", now)), (Some(2 * SECOND), None));
    }

    #[test]
    fn a_wait_without_end_is_cut_and_nothing_overflows() {
        let (mut limits, now) = (RateLimits::default(), Instant::now());
        limits.close("a", Duration::MAX, now);
        assert_eq!(limits.wait("a", now), Some(MAX_DELAY));
        limits.close_all(Duration::MAX, now);
        assert_eq!(limits.wait("b", now), Some(MAX_DELAY));
    }

    #[test]
    fn keys_that_are_open_again_are_forgotten() {
        let (mut limits, now) = (RateLimits::default(), Instant::now());
        for number in 0..MANY * 3 {
            limits.close(&number.to_string(), SECOND, now + SECOND * number as u32);
        }
        assert!(limits.closed.len() <= MANY, "{}", limits.closed.len());
    }
}
