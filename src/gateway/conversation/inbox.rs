//! What users sent and the session has not begun: messages, words for the running turn, commands
//! that begin a turn, and what waits for its end. Each keeps its delivery, which is not done before
//! its turn is, and who sent it, whose turn it will be.

use std::collections::VecDeque;
use std::time::SystemTime;

use super::super::platform::{DeliveryId, UserId};
use super::super::quote::quoted_lines;
use super::effect::ChatEffect;
use super::speaker::Speaker;
use super::waiting::WaitingInputs;
use avocet_core::i18n::{LocalizedText, chat as w};
use avocet_core::prompt::input::{self, Intent};
use avocet_core::protocol::{
    ExtensionOp, Mention, Op, Prompt, PromptPart, SubmitId, SubmitIds, TurnOp,
};

/// The longest message that is taken, in characters.
const MAX_MESSAGE: usize = 64_000;

/// A message handed to the session whose turn has not begun.
#[derive(Debug)]
pub struct PendingMessage {
    pub id: SubmitId,
    pub delivery: DeliveryId,
    pub text: String,
    pub by: UserId,
}

/// A command, with who sent it: it has that user's rights whenever it is run. Its delivery is done
/// once it was run, or once the message that it became is answered.
#[derive(Clone, Debug)]
pub struct CommandRequest {
    pub speaker: Speaker,
    pub delivery: DeliveryId,
    pub line: String,
    /// It has waited for the end of a turn: messages that wait do not keep it back.
    pub is_due: bool,
}

#[derive(Debug)]
pub struct Inbox {
    submit_ids: SubmitIds,
    /// Messages that may wait for their turn.
    max_submitted: usize,
    pub submitted: VecDeque<PendingMessage>,
    /// Words for the running turn that it has not read.
    pub steers: VecDeque<PendingMessage>,
    /// The commands that begin a turn without a message, and who sent them.
    pub starters: Vec<(SubmitId, UserId)>,
    /// Commands that wait for the end of the turn.
    pub deferred: VecDeque<CommandRequest>,
    /// What waits for the files of the user's commands.
    pub waiting: WaitingInputs,
}

/// The start of a turn that users asked for.
#[derive(Debug, Default)]
pub struct BegunInput {
    pub message: Option<PendingMessage>,
    /// Who sent the command that began it.
    pub starter: Option<UserId>,
}

impl Inbox {
    pub fn new(started: SystemTime, max_submitted: usize) -> Inbox {
        Inbox {
            submit_ids: SubmitIds::starting_at(started),
            max_submitted,
            submitted: VecDeque::new(),
            steers: VecDeque::new(),
            starters: Vec::new(),
            deferred: VecDeque::new(),
            waiting: WaitingInputs::default(),
        }
    }

    pub fn next_id(&mut self) -> SubmitId {
        self.submit_ids.next_id()
    }

    /// Nothing waits but messages that the session has.
    pub fn is_settled(&self) -> bool {
        self.deferred.is_empty() && self.waiting.is_empty()
    }

    /// It is neither done nor running.
    pub fn holds(&self, delivery: &DeliveryId) -> bool {
        let messages = self.submitted.iter().chain(&self.steers).map(|one| &one.delivery);
        let deferred = self.deferred.iter().map(|one| &one.delivery);
        let waiting = self.waiting.iter().map(|one| &one.delivery);
        messages.chain(deferred).chain(waiting).any(|one| one == delivery)
    }

    /// Why a message is not taken.
    pub fn refusal(&self, text: &str) -> Option<LocalizedText> {
        if text.chars().nth(MAX_MESSAGE).is_some() {
            return Some(w::TOO_LONG.with("most", MAX_MESSAGE));
        }
        let most = self.max_submitted;
        (self.submitted.len() >= most).then(|| w::QUEUE_FULL.with("most", most))
    }

    pub fn begin(&mut self, submit: Option<SubmitId>) -> BegunInput {
        let message = take(&mut self.submitted, submit);
        let starter = submit.and_then(|submit| self.take_starter(submit));
        BegunInput { message, starter }
    }

    fn take_starter(&mut self, submit: SubmitId) -> Option<UserId> {
        let starter = self.starters.iter().find(|(id, _)| *id == submit).map(|(_, by)| by.clone());
        // The session takes one after the other.
        self.starters.retain(|(id, _)| *id > submit);
        starter
    }

    /// The turn read these words.
    pub fn on_steered(&mut self, submit: Option<SubmitId>) -> Vec<ChatEffect> {
        let read = take(&mut self.steers, submit);
        read.into_iter().map(|one| ChatEffect::Done(one.delivery)).collect()
    }

    /// The session sends words that the turn did not read as messages, before all others.
    pub fn keep_unread_steers(&mut self) {
        while let Some(unread) = self.steers.pop_back() {
            self.submitted.push_front(unread);
        }
    }

    /// No turn comes of it.
    pub fn drop_turnless(&mut self, submit: SubmitId) -> Option<ChatEffect> {
        self.starters.retain(|(id, _)| *id != submit);
        take(&mut self.submitted, Some(submit)).map(|one| ChatEffect::Done(one.delivery))
    }

    /// The session takes none of its messages.
    pub fn drop_messages(&mut self) -> Vec<ChatEffect> {
        let refused = self.submitted.drain(..).chain(self.steers.drain(..));
        refused.map(|one| ChatEffect::Done(one.delivery)).collect()
    }

    /// Has the files of the user's commands read for what waits.
    pub fn read_files(&mut self) -> Option<ChatEffect> {
        self.waiting
            .ask()
            .then_some(ChatEffect::Send(Op::Extension(ExtensionOp::RefreshExtensions).into()))
    }
}

fn take(
    messages: &mut VecDeque<PendingMessage>,
    submit: Option<SubmitId>,
) -> Option<PendingMessage> {
    let found = messages.iter().position(|one| Some(one.id) == submit)?;
    messages.remove(found)
}

fn has_shell(parts: &[PromptPart]) -> bool {
    parts.iter().any(|part| matches!(part, PromptPart::Shell(_)))
}

/// The operation for a message, and its text as the session will report it.
pub fn submit_op(text: &str, mentions: Vec<Mention>) -> Option<(Op, String)> {
    let text = text.trim();
    if text.is_empty() && mentions.is_empty() {
        return None;
    }
    let op = match input::parse_with_pastes(text, &quoted_lines(text)) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_others_attach_no_file() {
        let is_plain = |text: &str| {
            let (op, _) = submit_op(text, Vec::new()).unwrap();
            op == Op::Turn(TurnOp::Submit { text: text.to_owned() })
        };
        assert!(is_plain("[Bob]\n> see @Cargo.toml\n> !`ls`"));
        assert!(!is_plain("[Bob] see @Cargo.toml"));
    }
}
