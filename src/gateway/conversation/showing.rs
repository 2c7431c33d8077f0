//! What the chat shows of the replies, and what of that outlives a restart.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::Instant;

use super::super::platform::{DeliveryId, MessageId};
use super::super::reply::LiveReply;
use super::super::timeline::{NextCall, PostKey};
use super::{ChatConversation, ChatEffect, ChatState, EndingReply};
use avocet_core::i18n::chat as w;

/// A message that is not answered whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnfinishedReply {
    pub delivery: DeliveryId,
    /// The messages that show its reply so far.
    pub messages: Vec<MessageId>,
    /// Which reply of the turn that is, from 0.
    pub reply: usize,
    /// The chat knows that a restart interrupted it.
    pub is_told: bool,
}

impl ChatConversation {
    /// The message of the open question, once it is sent.
    pub fn question_message(&self) -> Option<&MessageId> {
        match &self.state {
            ChatState::Asking(open) => self.timeline.message_of(open.post),
            ChatState::Idle | ChatState::Working => None,
        }
    }

    /// The messages that are not answered whole.
    pub fn unfinished_replies(&self) -> Vec<UnfinishedReply> {
        let messages = |keys: &[PostKey]| {
            keys.iter().filter_map(|key| self.timeline.message_of(*key).cloned()).collect()
        };
        let (keys, reply) = match &self.reply {
            Some(growing) => (growing.keys(), self.replies),
            None => (self.shown.as_slice(), self.shown_reply),
        };
        let running = self.running.iter().map(|delivery| UnfinishedReply {
            delivery: delivery.clone(),
            messages: messages(keys),
            reply,
            is_told: false,
        });
        let ending = self.ending.iter().map(|ending| UnfinishedReply {
            delivery: ending.delivery.clone(),
            messages: messages(&ending.posts),
            reply: ending.reply,
            is_told: ending.note.is_some_and(|note| self.timeline.message_of(note).is_some()),
        });
        running.chain(ending).collect()
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

    /// The delivery ends once all that is posted so far is shown; `posts` show this reply of its
    /// turn.
    pub(super) fn finish(
        &mut self,
        delivery: DeliveryId,
        (posts, reply): (Vec<PostKey>, usize),
        note: Option<PostKey>,
    ) {
        self.marks += 1;
        self.ending.push_back(EndingReply { mark: self.marks, delivery, posts, reply, note });
        self.timeline.mark(self.marks);
    }

    /// Says that a restart interrupted a message, unless the chat knows.
    pub(super) fn say_interrupted(&mut self, is_told: bool) -> Option<PostKey> {
        if is_told {
            return None;
        }
        self.say(w::INTERRUPTED);
        self.timeline.last_key()
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

    /// The next reply of the running turn.
    pub(super) fn new_reply(&self) -> LiveReply {
        match &self.running {
            Some(delivery) => LiveReply::default().numbered(reply_nonce(delivery, self.replies)),
            None => LiveReply::default(),
        }
    }

    /// The reply that grew is over, whether it is whole or not.
    pub(super) fn end_reply(&mut self, end: impl FnOnce(LiveReply, &mut Self) -> Vec<PostKey>) {
        let reply = self.reply.take().unwrap_or_else(|| self.new_reply());
        self.shown = end(reply, self);
        self.shown_reply = self.replies;
        self.replies += 1;
    }
}

/// A number for the messages of a reply that is the same in every run of the program.
pub(super) fn reply_nonce(delivery: &DeliveryId, reply: usize) -> u64 {
    let mut hasher = DefaultHasher::new();
    (&delivery.0, reply).hash(&mut hasher);
    hasher.finish()
}
