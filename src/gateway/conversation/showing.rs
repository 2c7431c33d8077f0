//! What the chat shows of the replies, and when a message is answered.

use std::time::Instant;

use super::super::platform::{DeliveryId, MessageId};
use super::super::reply::LiveReply;
use super::super::timeline::NextCall;
use super::{ChatConversation, ChatEffect, ChatState, EndingReply};

impl ChatConversation {
    /// The message of the open question, once it is sent.
    pub fn question_message(&self) -> Option<&MessageId> {
        match &self.state {
            ChatState::Asking(open) => self.timeline.message_of(open.post),
            ChatState::Idle | ChatState::Working => None,
        }
    }

    /// Deliveries of which everything is shown now.
    pub fn take_finished(&mut self) -> Vec<ChatEffect> {
        let mut done = Vec::new();
        for token in self.timeline.take_reached() {
            while let Some(ending) = self.ending.pop_front_if(|ending| ending.mark <= token) {
                done.push(ChatEffect::Done(ending.delivery));
            }
        }
        done
    }

    /// The delivery ends once all that is posted so far is shown.
    pub(super) fn finish(&mut self, delivery: DeliveryId) {
        self.marks += 1;
        self.ending.push_back(EndingReply { mark: self.marks, delivery });
        self.timeline.mark(self.marks);
    }

    /// The next call; none may be under way. The reply that grows is brought up to date only when its
    /// messages may be changed.
    pub fn next_call(&mut self, now: Instant) -> NextCall {
        let Some(reply) = self.reply.as_mut().filter(|reply| reply.is_behind()) else {
            return self.timeline.next_call(now);
        };
        match self.timeline.edits_from(now) {
            None => {
                self.timeline.answering.clone_from(&self.running);
                reply.show(&mut self.timeline);
                self.timeline.answering = None;
            }
            Some(from) => {
                let other = self.timeline.next_call(now);
                return if other == NextCall::Idle { NextCall::Wait(from) } else { other };
            }
        }
        self.timeline.next_call(now)
    }

    /// The reply that grew is over, whether it is whole or not.
    pub(super) fn end_reply(&mut self, end: impl FnOnce(LiveReply, &mut Self)) {
        let reply = self.reply.take().unwrap_or_default();
        end(reply, self);
    }
}
