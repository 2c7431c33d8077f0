//! The question whether this folder is trusted: when it is put, and what an answer
//! changes. What was found there is handed over by `app`; nothing is read in here.

use super::run::Session;
use crate::protocol::{Ask, AskId, Decision, Event, Lying, Notice, Question, Shelter};
use crate::tools::branch;
use crate::words::{Say, session as words};

/// What a session needs to ask, and to keep the answer.
pub struct Trust {
    pub found: Vec<Lying>,
    /// Why the question comes by itself when the session opens; `None`: it does not.
    pub ask: Option<Say>,
    /// Settings of the project wait for the next start.
    pub settings: bool,
    /// Keeps the answer, true for trust; an error says why it could not.
    pub keep: Box<dyn FnMut(bool) -> Result<(), Say> + Send>,
    /// The question that waits for its answer.
    pub asking: Option<AskId>,
}

impl Trust {
    /// For a surface that asks nobody.
    pub fn silent() -> Trust {
        let keep = Box::new(|_| Ok(()));
        Trust { found: Vec::new(), ask: None, settings: false, keep, asking: None }
    }
}

/// Whether the session goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    GoOn,
    Leave,
}

impl Session {
    /// Puts the question that waits since the start.
    pub(super) async fn ask_trust_first(&mut self) {
        if let Some(because) = self.guard.trust.ask.take() {
            self.ask_trust(because).await;
        }
    }

    /// `/trust`: how the folder stands, and the question again.
    pub(super) async fn ask_trust_again(&mut self) {
        let because = match self.guard.place.trusted {
            true => words::TRUST_IS,
            false => words::TRUST_IS_NOT,
        };
        if self.guard.trust.asking.is_none() && self.is_idle() {
            self.ask_trust(because.into()).await;
        }
    }

    async fn ask_trust(&mut self, because: Say) {
        let id = AskId(self.past.next_ask);
        self.past.next_ask += 1;
        self.guard.trust.asking = Some(id);
        let found = self.guard.trust.found.clone();
        let question = Question::Trust { folder: self.facts.cwd.clone(), because, found };
        self.outbox.send(Event::Asked(Box::new(Ask { id, question }))).await;
    }

    /// The answer. Only a plain yes trusts.
    pub(super) async fn trust_answered(&mut self, ask: AskId, decision: Decision) -> After {
        self.guard.trust.asking = None;
        self.outbox.send(Event::Answered { ask }).await;
        let trusted = match decision {
            Decision::Approve => true,
            Decision::Reject { .. }
            | Decision::Remember(_)
            | Decision::ApproveAll { .. }
            | Decision::Answer { .. }
            | Decision::Edit(_) => false,
            Decision::Stop => return After::Leave,
        };
        self.guard.place.trusted = trusted;
        self.facts.branch = trusted.then(|| branch::of(&self.guard.place.cwd)).flatten();
        self.tell_facts().await;
        self.look();
        let kept = (self.guard.trust.keep)(trusted);
        self.say(told(trusted, self.guard.trust.settings)).await;
        if let Err(why) = kept {
            self.say(Notice::warning(words::TRUST_NOT_KEPT.with("why", why))).await;
        }
        After::GoOn
    }
}

impl Session {
    /// What trying the sandbox out came to.
    pub(super) async fn sheltered(&mut self, shelter: Shelter) {
        self.facts.shelter = shelter;
        self.guard.policy.unheld = shelter == Shelter::Missing;
        self.policy.send_replace(self.guard.policy.clone());
        self.tell_facts().await;
    }
}

fn told(trusted: bool, settings: bool) -> Notice {
    match (trusted, settings) {
        (true, true) => Notice::info(words::TRUST_GIVEN).hint(words::TRUST_SETTINGS),
        (true, false) => Notice::info(words::TRUST_GIVEN),
        (false, _) => Notice::info(words::TRUST_HELD_BACK).hint(words::TRUST_HOW),
    }
}
