//! Messages that the session has and has not begun. Each keeps its delivery, which is not done before
//! its turn is, and who sent it, whose turn it will be.

use super::super::platform::{DeliveryId, UserId};
use super::{ChatConversation, ChatEffect, ChatState, Submitted};
use avocet_core::i18n::chat as w;
use avocet_core::prompt::input::{self, Intent};
use avocet_core::protocol::{Mention, Op, Prompt, PromptPart, SubmitId, TurnOp};

/// The longest message that is taken, in characters.
const LONGEST: usize = 64_000;

impl ChatConversation {
    /// Notes a message that is submitted now; false: it is refused, with a sentence.
    pub(super) fn accept(
        &mut self,
        id: SubmitId,
        by: &UserId,
        delivery: &DeliveryId,
        text: String,
    ) -> bool {
        let most = self.options.most_queued;
        let refusal = match () {
            () if text.chars().nth(LONGEST).is_some() => Some(w::TOO_LONG.with("most", LONGEST)),
            () if self.submitted.len() >= most => Some(w::QUEUE_FULL.with("most", most)),
            () if self.info.read_only => {
                self.say_read_only();
                return false;
            }
            () => None,
        };
        if let Some(refusal) = refusal {
            self.say(refusal);
            return false;
        }
        let (delivery, by) = (delivery.clone(), by.clone());
        self.submitted.push_back(Submitted { id, delivery, text, by });
        // The first one begins at once if nothing runs.
        let begins = usize::from(matches!(self.state, ChatState::Idle));
        let waiting = self.submitted.len() - begins;
        if waiting > 0 {
            self.say(w::WAITS.with("n", waiting));
        }
        true
    }

    /// Says once for each message that another process has the conversation.
    pub(super) fn say_read_only(&mut self) {
        if !std::mem::replace(&mut self.said_read_only, true) {
            self.say(w::BUSY_ELSEWHERE);
        }
    }

    /// Whose turn begins: who sent the command that began it.
    pub(super) fn take_starter(&mut self, submit: Option<SubmitId>) -> Option<UserId> {
        let submit = submit?;
        let starter = self.starters.iter().find(|(id, _)| *id == submit).map(|(_, by)| by.clone());
        // The session takes one after the other.
        self.starters.retain(|(id, _)| *id > submit);
        starter
    }

    /// The turn read these words.
    pub(super) fn on_steered(&mut self, submit: Option<SubmitId>) -> Vec<ChatEffect> {
        let found = self.steers.iter().position(|one| Some(one.id) == submit);
        let read = found.and_then(|at| self.steers.remove(at));
        read.into_iter().map(|one| ChatEffect::Done(one.delivery)).collect()
    }

    /// The session sends words that the turn did not read as messages, before all others.
    pub(super) fn keep_unread_steers(&mut self) {
        while let Some(unread) = self.steers.pop_back() {
            self.submitted.push_front(unread);
        }
    }

    /// No turn comes of it: a notice before gave the reason.
    pub(super) fn on_turnless(&mut self, submit: SubmitId) -> Vec<ChatEffect> {
        self.starters.retain(|(id, _)| *id != submit);
        self.file_requests.retain(|(id, _)| *id != submit);
        let found = self.submitted.iter().position(|one| one.id == submit);
        let lost = found.and_then(|at| self.submitted.remove(at));
        let done = lost.map(|one| ChatEffect::Done(one.delivery));
        done.into_iter().chain(self.run_deferred_when_idle()).collect()
    }

    /// The session takes no messages: those that it was sent are refused with one sentence.
    pub(super) fn drop_refused(&mut self) -> Vec<ChatEffect> {
        let refused: Vec<Submitted> =
            self.submitted.drain(..).chain(self.steers.drain(..)).collect();
        if refused.is_empty() {
            return Vec::new();
        }
        self.say_read_only();
        let mut effects: Vec<_> =
            refused.into_iter().map(|one| ChatEffect::Done(one.delivery)).collect();
        effects.extend(self.run_deferred_when_idle());
        effects
    }

    pub(super) fn run_deferred_when_idle(&mut self) -> Vec<ChatEffect> {
        if self.has_turn() { Vec::new() } else { self.run_deferred() }
    }
}

fn has_shell(parts: &[PromptPart]) -> bool {
    parts.iter().any(|part| matches!(part, PromptPart::Shell(_)))
}

/// The operation for a message, and its text as the session will report it.
pub(super) fn submit_op(text: &str, mentions: Vec<Mention>) -> Option<(Op, String)> {
    let text = text.trim();
    if text.is_empty() && mentions.is_empty() {
        return None;
    }
    let op = match input::parse(text) {
        Intent::Message { parts } if mentions.is_empty() && !has_shell(&parts) => {
            input::submit_op(parts, str::to_owned)
        }
        // A chat has no shell of its own, and its commands come as commands.
        _ if mentions.is_empty() => Op::Turn(TurnOp::Submit { text: text.to_owned() }),
        _ => {
            let parts = vec![PromptPart::Text(text.to_owned())];
            let mut prompt = Prompt { shown: text.to_owned(), parts, ..Prompt::default() };
            prompt.attach(mentions);
            Op::Turn(TurnOp::SubmitPrompt { prompt: Box::new(prompt) })
        }
    };
    let shown = match &op {
        Op::Turn(TurnOp::Submit { text }) => text.clone(),
        Op::Turn(TurnOp::SubmitPrompt { prompt }) => prompt.shown.clone(),
        _ => text.to_owned(),
    };
    Some((op, shown))
}
