//! Messages that wait for the running turn to end.

use std::collections::VecDeque;

use super::run::Session;
use crate::protocol::{Event, Origin};

impl Session {
    /// Takes one out. It may have moved meanwhile, or have begun: nothing else is taken
    /// out in its stead.
    pub(super) async fn unqueue(&mut self, at: usize, text: &str) {
        let same = self.queue.iter().enumerate().filter(|(_, waits)| *waits == text);
        let nearest = same.map(|(found, _)| found).min_by_key(|found| found.abs_diff(at));
        if let Some(at) = nearest {
            self.queue.remove(at);
        }
        self.queue_changed().await;
    }

    /// What was said to a turn that did not hear it is asked next.
    pub(super) async fn unheard(&mut self, texts: VecDeque<String>) {
        if texts.is_empty() {
            return;
        }
        texts.into_iter().rev().for_each(|text| self.queue.push_front(text));
        self.queue_changed().await;
    }

    pub(super) async fn next_of_queue(&mut self) {
        if let Some(text) = self.queue.pop_front() {
            self.queue_changed().await;
            self.start(text, Origin::Queue).await;
        }
    }

    pub(super) async fn queue_changed(&mut self) {
        let texts = self.queue.iter().cloned().collect();
        self.outbox.send(Event::Queued { texts }).await;
    }
}
