//! What each post answers: the message of the running turn, or the command that asked for it. A
//! service may show where the answer to a command will be, or show it to its sender only.

use super::super::platform::DeliveryId;
use super::ChatConversation;
use avocet_core::i18n::LocalizedText;
use avocet_core::protocol::{Event, TurnOutcome};

impl ChatConversation {
    /// The new posts of `act` answer this delivery.
    pub(super) fn answering<T>(
        &mut self,
        delivery: Option<DeliveryId>,
        act: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let (newest, now) = (self.timeline.last_key(), delivery.clone());
        let before = std::mem::replace(&mut self.timeline.answering, now);
        let done = act(self);
        self.timeline.answering = before;
        if let Some(delivery) = delivery.filter(|_| self.timeline.last_key() != newest) {
            self.open_commands.close(&delivery);
        }
        done
    }

    /// Answers a command later than it was run.
    pub fn answer(&mut self, command: DeliveryId, say: impl Into<LocalizedText>) {
        self.answering(Some(command), |chat| chat.say(say));
    }

    /// What a post about this event answers.
    pub(super) fn answered_by(&self, event: &Event) -> Option<DeliveryId> {
        let is_of_turn = matches!(
            event,
            Event::ReplyStarted
                | Event::Delta { .. }
                | Event::Replied(_)
                | Event::StepStarted { .. }
                | Event::StepFinished(_)
                | Event::Asked(_)
        ) || is_ended_by_itself(event);
        match &self.running {
            Some(running) if is_of_turn || self.open_commands.is_open(running) => {
                Some(running.clone())
            }
            running => {
                let first = self.open_commands.find(|command| self.was_run(command));
                first.or(running.as_ref()).cloned()
            }
        }
    }

    /// Neither a message now nor one that waits.
    fn was_run(&self, command: &DeliveryId) -> bool {
        let messages = self.submitted.iter().chain(&self.steers).map(|one| &one.delivery);
        let deferred = self.deferred.iter().map(|one| &one.delivery);
        let waiting = self.waiting.iter().map(|one| &one.delivery);
        !messages.chain(deferred).chain(waiting).any(|kept| kept == command)
    }

    /// The conversation rests: the commands that get no more answers, whether they had one or not.
    pub fn take_commands(&mut self) -> Vec<DeliveryId> {
        self.open_commands.take()
    }
}

/// Not by a command.
fn is_ended_by_itself(event: &Event) -> bool {
    match event {
        Event::TurnEnded { ending, .. } => {
            !matches!(ending, TurnOutcome::Stopped | TurnOutcome::Cancelled)
        }
        _ => false,
    }
}
