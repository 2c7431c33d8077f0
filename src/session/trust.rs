//! The data of the question whether this folder is trusted. `app` provides the findings; nothing is
//! read here.

use avocet_core::i18n::{LocalizedText, session as phrases};
use avocet_core::protocol::{AskId, Notice, Question, TrustOffer, UntrustedFile};

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
    /// The question that is waiting for its answer.
    pub open_question: Option<AskId>,
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
            open_question: None,
            mark_sandbox_warning: told_unheld,
        }
    }

    pub(super) fn ask(&mut self, id: AskId, folder: String, because: LocalizedText) -> Question {
        self.open_question = Some(id);
        let because = match &self.hazard {
            Some(hazard) => {
                phrases::TRUST_HAZARD.with("because", because).with("hazard", hazard.clone())
            }
            None => because,
        };
        let above = self.parent.clone();
        Question::Trust { folder, above, because, found: self.untrusted_files.clone() }
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

/// Whether the session continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterTrust {
    Continue,
    Quit,
}
