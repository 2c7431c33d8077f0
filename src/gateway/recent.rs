//! A small memory of the newest values by their key, for what a service gives out for a short time:
//! addresses and tokens that answer a press or a command.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

#[derive(Debug)]
pub struct Recent<T> {
    values: Mutex<VecDeque<(String, Instant, T)>>,
    most: usize,
    lifetime: Duration,
}

impl<T: Clone> Recent<T> {
    /// Remembers at most so many values, each for so long.
    pub fn new(most: usize, lifetime: Duration) -> Recent<T> {
        Recent { values: Mutex::default(), most, lifetime }
    }

    fn values(&self) -> MutexGuard<'_, VecDeque<(String, Instant, T)>> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn insert(&self, key: impl Into<String>, value: T, now: Instant) {
        let mut values = self.values();
        if values.len() == self.most {
            values.pop_front();
        }
        values.push_back((key.into(), now + self.lifetime, value));
    }

    /// The newest value of this key.
    pub fn get(&self, key: &str, now: Instant) -> Option<T> {
        let fits = |(known, until, _): &&(String, Instant, T)| known == key && *until > now;
        self.values().iter().rev().find(fits).map(|(_, _, value)| value.clone())
    }

    /// Takes the oldest value of this key.
    pub fn take(&self, key: &str, now: Instant) -> Option<T> {
        let mut values = self.values();
        values.retain(|(_, until, _)| *until > now);
        let at = values.iter().position(|(known, _, _)| known == key)?;
        values.remove(at).map(|(_, _, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_newest_values_are_remembered_and_only_for_their_time() {
        let (minute, now) = (Duration::from_secs(60), Instant::now());
        let recent = Recent::new(2, minute);
        for (key, value) in [("a", 1), ("b", 2), ("b", 3)] {
            recent.insert(key, value, now);
        }
        assert_eq!(recent.get("a", now), None);
        assert_eq!(recent.get("b", now), Some(3));
        assert_eq!(recent.take("b", now), Some(2));
        assert_eq!(recent.take("b", now + minute), None);
    }
}
