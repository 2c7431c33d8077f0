//! Commands whose answer is still to come.

use std::collections::VecDeque;

use super::super::platform::DeliveryId;

#[derive(Debug, Default)]
pub struct OpenCommands {
    /// Without an answer, oldest first.
    open: VecDeque<DeliveryId>,
    /// All since the conversation last rested.
    seen: Vec<DeliveryId>,
}

impl OpenCommands {
    pub fn open(&mut self, command: &DeliveryId) {
        self.open.push_back(command.clone());
        self.seen.push(command.clone());
    }

    /// It has an answer.
    pub fn close(&mut self, command: &DeliveryId) {
        self.open.retain(|open| open != command);
    }

    pub fn is_open(&self, command: &DeliveryId) -> bool {
        self.open.contains(command)
    }

    /// The oldest one that `fits`.
    pub fn find(&self, fits: impl Fn(&DeliveryId) -> bool) -> Option<&DeliveryId> {
        self.open.iter().find(|command| fits(command))
    }

    /// All of them, with those that have an answer.
    pub fn take(&mut self) -> Vec<DeliveryId> {
        std::mem::take(self).seen
    }
}
