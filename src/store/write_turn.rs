//! Writers of one process take turns at the file.
//!
//! SQLite lets one connection write at a time, and the others look again and again after growing
//! pauses: two hundred conversations then mostly sleep. A writer that waits here is woken when the
//! one before it is done. Between processes SQLite alone decides, so a turn is only ever an order,
//! not a permission: a writer that has waited too long goes ahead without one.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The order of the writers of one process. Copies share one order.
#[derive(Clone, Debug, Default)]
pub(super) struct WriteOrder(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    is_taken: Mutex<bool>,
    freed: Condvar,
}

/// Held while one writer writes; the next is woken when it is dropped.
#[derive(Debug)]
pub(super) struct WriteTurn {
    order: Arc<Shared>,
    /// False for a writer that went ahead without one.
    has_turn: bool,
}

impl WriteOrder {
    /// Waits for a turn among the writers of this process. After this long it goes on without one.
    pub fn take(&self, patience: Duration) -> WriteTurn {
        let waited = self.0.freed.wait_timeout_while(self.0.state(), patience, |taken| *taken);
        let (mut is_taken, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let has_turn = !*is_taken;
        *is_taken = true;
        drop(is_taken);
        WriteTurn { order: Arc::clone(&self.0), has_turn }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, bool> {
        self.is_taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for WriteTurn {
    fn drop(&mut self) {
        if self.has_turn {
            *self.order.state() = false;
            self.order.freed.notify_one();
        }
    }
}

/// Every order is as good as another: a store is the same store whatever else writes to it.
impl PartialEq for WriteOrder {
    fn eq(&self, _: &WriteOrder) -> bool {
        true
    }
}

impl Eq for WriteOrder {}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_writer_is_woken_when_the_one_before_it_is_done() {
        let order = WriteOrder::default();
        let first = order.take(LONG);
        let (done, finished) = channel();
        let second = std::thread::spawn({
            let order = order.clone();
            move || {
                let turn = order.take(LONG);
                done.send("second").unwrap();
                drop(turn);
            }
        });
        assert!(finished.try_recv().is_err());
        drop(first);
        assert_eq!(finished.recv(), Ok("second"));
        second.join().unwrap();
    }

    #[test]
    fn a_writer_that_waited_for_too_long_goes_ahead_and_frees_no_turn_of_another() {
        let order = WriteOrder::default();
        let held = order.take(LONG);
        let ahead = order.take(Duration::ZERO);
        drop(ahead);
        assert!(*order.0.state(), "the turn of the first ended with that of the other");
        drop(held);
        assert!(!*order.0.state());
    }
}
