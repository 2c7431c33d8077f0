//! What was found out lately about the machine: many sessions that begin at about the same time
//! share it, and for later ones it is found out again.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use avocet_safety::Workspace;
use avocet_tools::sandbox::SandboxPaths;
use avocet_tools::system::System;

/// How old a value may be that a new session begins with.
const RECENT: Duration = Duration::from_secs(5);

#[derive(Debug, Default)]
pub struct Surroundings {
    pub system: Lately<System>,
    pub sandbox_paths: Lately<SandboxPaths>,
    pub workspace: Lately<Workspace>,
}

/// A value that is made again once it is old.
#[derive(Debug)]
pub struct Lately<T>(Mutex<Option<(Instant, T)>>);

impl<T> Default for Lately<T> {
    fn default() -> Lately<T> {
        Lately(Mutex::new(None))
    }
}

impl<T: Clone> Lately<T> {
    /// The value that was made lately, or a new one, for which others wait.
    pub fn get_or_make(&self, make: impl FnOnce() -> T) -> T {
        self.get_at(Instant::now(), make)
    }

    fn get_at(&self, now: Instant, make: impl FnOnce() -> T) -> T {
        let mut latest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*latest {
            Some((made, value)) if now.duration_since(*made) < RECENT => value.clone(),
            _ => {
                let value = make();
                *latest = Some((now, value.clone()));
                value
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_shared_for_a_while_and_then_made_again() {
        let (lately, began) = (Lately::default(), Instant::now());
        let at = |seconds| began + Duration::from_secs(seconds);
        assert_eq!(lately.get_at(at(0), || 1), 1);
        assert_eq!(lately.get_at(at(4), || 2), 1);
        assert_eq!(lately.get_at(at(5), || 3), 3);
        assert_eq!(lately.get_at(at(9), || 4), 3);
    }
}
