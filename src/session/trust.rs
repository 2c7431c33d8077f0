//! The data of the question whether this folder is trusted. `app` provides the findings; nothing is
//! read here.

use avocet_core::i18n::{LocalizedText, session as phrases};
use avocet_core::protocol::{Decision, Notice, Question, TrustOffer, UntrustedFile};

/// The data for the question, and the function that saves the answer.
pub struct TrustPrompt {
    pub untrusted_files: Vec<UntrustedFile>,
    /// Why the question is asked when the session opens; `None`: it is not.
    pub ask_because: Option<LocalizedText>,
    /// The project has settings of its own.
    pub has_settings: bool,
    /// The risks of trusting it.
    pub hazard: Option<LocalizedText>,
    /// The parent folder, if trust in it is offered.
    pub parent: Option<String>,
    /// Saves the answer; an error says why it could not.
    pub save: Box<dyn FnMut(TrustAnswer) -> Result<(), LocalizedText> + Send>,
    /// Records that the user was told there is no sandbox; true for the first time.
    pub mark_sandbox_warning: Box<dyn FnMut() -> bool + Send>,
}

/// The answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrustAnswer {
    Untrusted,
    Folder,
    /// This folder, its parent, and the folders in it.
    Parent,
}

impl TrustPrompt {
    /// For a frontend that cannot ask.
    pub fn without_question() -> TrustPrompt {
        let keep = Box::new(|_| Ok(()));
        let found = Vec::new();
        let told_unheld = Box::new(|| false);
        TrustPrompt {
            untrusted_files: found,
            ask_because: None,
            has_settings: false,
            hazard: None,
            parent: None,
            save: keep,
            mark_sandbox_warning: told_unheld,
        }
    }

    pub(super) fn question(&self, folder: String, because: LocalizedText) -> Question {
        let because = match &self.hazard {
            Some(hazard) => {
                phrases::TRUST_HAZARD.with("because", because).with("hazard", hazard.clone())
            }
            None => because,
        };
        let above = self.parent.clone();
        Question::Trust { folder, above, because, found: self.untrusted_files.clone() }
    }

    /// What a decision means: only a plain yes grants trust, and one that names the parent folder
    /// trusts that; `None`: it stays unchanged, and the question may return.
    pub(super) fn answer(&self, decision: &Decision) -> Option<TrustAnswer> {
        Some(match decision {
            Decision::Approve | Decision::Trust => TrustAnswer::Folder,
            Decision::TrustParent if self.parent.is_some() => TrustAnswer::Parent,
            Decision::Reject { .. }
            | Decision::NotAsked { .. }
            | Decision::TrustParent
            | Decision::WithoutSandbox
            | Decision::Remember(_)
            | Decision::ApproveAll { .. }
            | Decision::Choose { .. }
            | Decision::Answer { .. }
            | Decision::Fill { .. }
            | Decision::AcceptPlan { .. }
            | Decision::Edit(_) => TrustAnswer::Untrusted,
            Decision::Dismiss | Decision::Stop => return None,
        })
    }

    /// What the user hears of an answer.
    pub(super) fn notice(&self, answer: TrustAnswer) -> Notice {
        let given = Notice::info(phrases::TRUST_GIVEN);
        match answer {
            TrustAnswer::Untrusted => {
                Notice::info(phrases::TRUST_HELD_BACK).with_hint(phrases::TRUST_HOW)
            }
            _ if self.has_settings => given.with_hint(phrases::TRUST_SETTINGS),
            TrustAnswer::Folder | TrustAnswer::Parent => given,
        }
    }

    /// Takes over the question about the files as they are now: the user is shown what there is, and
    /// that is what counts as trusted.
    pub(super) fn renew(&mut self, new: TrustPrompt) {
        let mark_sandbox_warning =
            std::mem::replace(&mut self.mark_sandbox_warning, Box::new(|| false));
        *self = TrustPrompt { mark_sandbox_warning, ..new };
    }

    /// What the user hears who trusts the folder during a turn.
    pub(super) fn notice_at_step(&self) -> Notice {
        let notice = Notice::info(phrases::TRUST_GIVEN_AT_STEP);
        if self.has_settings { notice.with_hint(phrases::TRUST_SETTINGS) } else { notice }
    }

    /// What the question of a step says about the folder.
    pub fn offer(&self) -> TrustOffer {
        let hazard = self.hazard.clone();
        let found = self.untrusted_files.clone();

        TrustOffer { folder: String::new(), hazard, found }
    }
}

/// The folder is trusted or not, as before.
pub(super) fn unchanged_notice(is_trusted: bool) -> Notice {
    if is_trusted {
        Notice::info(phrases::TRUST_STAYS)
    } else {
        Notice::info(phrases::TRUST_STAYS_OFF).with_hint(phrases::TRUST_HOW)
    }
}

/// Whether the session continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterTrust {
    Continue,
    Quit,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_yes_is_trust_and_the_parent_only_where_it_is_offered() {
        let mut trust = TrustPrompt::without_question();
        assert_eq!(trust.answer(&Decision::Approve), Some(TrustAnswer::Folder));
        assert_eq!(trust.answer(&Decision::TrustParent), Some(TrustAnswer::Untrusted));
        trust.parent = Some("/home/ann".into());
        assert_eq!(trust.answer(&Decision::TrustParent), Some(TrustAnswer::Parent));
        assert_eq!(trust.answer(&Decision::Choose { index: 0 }), Some(TrustAnswer::Untrusted));
        assert_eq!(trust.answer(&Decision::Dismiss), None);
    }
}
