//! The question whether this folder is trusted: when to ask it, and what an answer changes. `app`
//! provides the findings; nothing is read here.

use super::host::{TurnHost, TurnMessage};
use super::run::Session;
use crate::protocol::{
    Ask, AskId, Decision, Event, Notice, Question, SandboxStatus, TrustOffer, UntrustedFile,
};
use crate::tools::branch;
use crate::words::{LocalizedText, sandbox as held, session as words};

/// The data for the question, and the function that saves the answer.
pub struct TrustPrompt {
    pub found: Vec<UntrustedFile>,
    /// Why the question is asked when the session opens; `None`: it is not.
    pub ask: Option<LocalizedText>,
    /// Project settings take effect at the next start.
    pub settings: bool,
    /// The risks of trusting it.
    pub hazard: Option<LocalizedText>,
    /// The parent folder, if trust in it is offered.
    pub above: Option<String>,
    /// Saves the answer; an error says why it could not.
    pub keep: Box<dyn FnMut(TrustAnswer) -> Result<(), LocalizedText> + Send>,
    /// The question that is waiting for its answer.
    pub asking: Option<AskId>,
    /// Records that the user was told there is no sandbox; true for the first time.
    pub told_unheld: Box<dyn FnMut() -> bool + Send>,
}

/// The answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrustAnswer {
    Nothing,
    Folder,
    /// This folder, its parent, and the folders in it.
    Above,
}

impl TrustPrompt {
    /// For a frontend that cannot ask.
    pub fn silent() -> TrustPrompt {
        let keep = Box::new(|_| Ok(()));
        let found = Vec::new();
        let told_unheld = Box::new(|| false);
        TrustPrompt {
            found,
            ask: None,
            settings: false,
            hazard: None,
            above: None,
            keep,
            asking: None,
            told_unheld,
        }
    }

    /// What the question of a step says about the folder.
    pub fn offer(&self) -> TrustOffer {
        let (hazard, found) = (self.hazard.clone(), self.found.clone());
        TrustOffer { folder: String::new(), hazard, found }
    }
}

/// Whether the session continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterTrust {
    GoOn,
    Leave,
}

impl Session {
    /// Asks the question that has waited since the start.
    pub(super) async fn ask_trust_first(&mut self) {
        if let Some(because) = self.guard.trust.ask.take() {
            self.ask_trust(because).await;
        }
    }

    /// `/trust`: shows whether the folder is trusted, and asks again.
    pub(super) async fn ask_trust_again(&mut self) {
        let because = match self.guard.place.trusted {
            true => words::TRUST_IS,
            false => words::TRUST_IS_NOT,
        };
        if self.guard.trust.asking.is_none() && self.is_idle() {
            self.ask_trust(because.into()).await;
        }
    }

    async fn ask_trust(&mut self, because: LocalizedText) {
        let id = AskId(self.past.next_ask);
        self.past.next_ask += 1;
        self.guard.trust.asking = Some(id);
        let found = self.guard.trust.found.clone();
        let because = match &self.guard.trust.hazard {
            Some(hazard) => {
                words::TRUST_HAZARD.with("because", because).with("hazard", hazard.clone())
            }
            None => because,
        };
        let (folder, above) = (self.facts.cwd.clone(), self.guard.trust.above.clone());
        let question = Question::Trust { folder, above, because, found };
        self.outbox.send(Event::Asked(Box::new(Ask { id, question }))).await;
    }

    /// Handles the answer. Only a plain yes grants trust, and one that names the parent folder
    /// trusts that.
    pub(super) async fn trust_answered(&mut self, ask: AskId, decision: Decision) -> AfterTrust {
        self.guard.trust.asking = None;
        self.outbox.send(Event::QuestionClosed { ask }).await;
        let given = match decision {
            Decision::Approve | Decision::Trust => TrustAnswer::Folder,
            Decision::ApproveAll { steps }
                if !steps.is_empty() && self.guard.trust.above.as_slice() == steps =>
            {
                TrustAnswer::Above
            }
            Decision::Reject { .. }
            | Decision::Remember(_)
            | Decision::ApproveAll { .. }
            | Decision::Answer { .. }
            | Decision::Edit(_) => TrustAnswer::Nothing,
            // It stays unchanged, and the question may return.
            Decision::Dismiss => {
                let trusted = self.guard.place.trusted;
                let word = if trusted { words::TRUST_STAYS } else { words::TRUST_STAYS_OFF };
                let notice = Notice::info(word);
                self.say(if trusted { notice } else { notice.with_hint(words::TRUST_HOW) }).await;
                return AfterTrust::GoOn;
            }
            Decision::Stop => return AfterTrust::Leave,
        };
        let notice = told(given != TrustAnswer::Nothing, self.guard.trust.settings);
        self.set_trust(given, notice).await;
        AfterTrust::GoOn
    }

    /// The user trusts the folder during a turn, whose steps are already judged that way.
    pub(super) async fn trusted_at_step(&mut self) {
        let notice = Notice::info(words::TRUST_GIVEN_AT_STEP);
        let notice = match self.guard.trust.settings {
            true => notice.with_hint(words::TRUST_SETTINGS),
            false => notice,
        };
        self.set_trust(TrustAnswer::Folder, notice).await;
    }

    async fn set_trust(&mut self, given: TrustAnswer, notice: Notice) {
        let trusted = given != TrustAnswer::Nothing;
        self.guard.place.trusted = trusted;
        self.facts.trusted = trusted;
        self.facts.branch =
            trusted.then(|| branch::current_branch(&self.guard.place.cwd)).flatten();
        self.tell_facts().await;
        self.look();
        let kept = (self.guard.trust.keep)(given);
        self.say(notice).await;
        if let Err(why) = kept {
            self.say(Notice::warning(words::TRUST_NOT_KEPT.with("why", why))).await;
        }
    }
}

impl TurnHost {
    /// Shows the contents of the folder if a question offers trust in it; true if it does.
    pub(super) fn complete_offer(&self, ask: &mut Ask) -> bool {
        let Question::Step { trust: Some(trust), .. } = &mut ask.question else { return false };
        let TrustOffer { hazard, found, .. } = self.offer.clone();
        **trust = TrustOffer { folder: std::mem::take(&mut trust.folder), hazard, found };
        true
    }

    /// Judges the next steps as in a trusted folder; the session saves the answer.
    pub(super) fn trust(&mut self) {
        self.bench.trust();
        self.note(TurnMessage::Trusted);
    }
}

impl Session {
    /// The result of testing the sandbox.
    pub(super) async fn sheltered(&mut self, shelter: SandboxStatus) {
        self.facts.shelter = shelter;
        self.guard.policy.shelter = shelter;
        self.policy.send_replace(self.guard.policy.clone());
        self.tell_facts().await;
        if shelter == SandboxStatus::Absent && (self.guard.trust.told_unheld)() {
            let notice = Notice::warning(held::TOLD_ABSENT).with_hint(held::TOLD_ABSENT_HINT);
            self.say(notice).await;
        }
    }
}

fn told(trusted: bool, settings: bool) -> Notice {
    match (trusted, settings) {
        (true, true) => Notice::info(words::TRUST_GIVEN).with_hint(words::TRUST_SETTINGS),
        (true, false) => Notice::info(words::TRUST_GIVEN),
        (false, _) => Notice::info(words::TRUST_HELD_BACK).with_hint(words::TRUST_HOW),
    }
}
