//! Which steps of the model a session asks about, beside its rules.

use serde::{Deserialize, Serialize};

use crate::i18n::{Phrase, common as phrases};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalMode {
    /// Everything beyond reading asks.
    #[default]
    Ask,
    /// Changes of files in the workspace run; everything else asks.
    Edits,
    /// What stays inside the sandbox runs; what leaves it asks.
    Auto,
    /// The model only reads, until the user accepts its plan.
    Plan,
}

impl ApprovalMode {
    pub const ALL: [ApprovalMode; 4] =
        [ApprovalMode::Ask, ApprovalMode::Edits, ApprovalMode::Auto, ApprovalMode::Plan];
    pub const NAMES: &[&str] = &["ask", "edits", "auto", "plan"];

    pub fn parse(name: &str) -> Option<ApprovalMode> {
        ApprovalMode::ALL.into_iter().find(|mode| mode.name() == name)
    }

    /// The word that the user types.
    pub fn name(self) -> &'static str {
        match self {
            ApprovalMode::Ask => "ask",
            ApprovalMode::Edits => "edits",
            ApprovalMode::Auto => "auto",
            ApprovalMode::Plan => "plan",
        }
    }

    /// What it is called on the screen.
    pub fn label(self) -> Phrase {
        match self {
            ApprovalMode::Ask => phrases::MODE_ASK,
            ApprovalMode::Edits => phrases::MODE_EDITS,
            ApprovalMode::Auto => phrases::MODE_AUTO,
            ApprovalMode::Plan => phrases::MODE_PLAN,
        }
    }

    /// What it means, in a sentence.
    pub fn about(self) -> Phrase {
        match self {
            ApprovalMode::Ask => phrases::MODE_ASK_ABOUT,
            ApprovalMode::Edits => phrases::MODE_EDITS_ABOUT,
            ApprovalMode::Auto => phrases::MODE_AUTO_ABOUT,
            ApprovalMode::Plan => phrases::MODE_PLAN_ABOUT,
        }
    }

    /// The one that the key goes to.
    #[must_use]
    pub fn next(self) -> ApprovalMode {
        match self {
            ApprovalMode::Ask => ApprovalMode::Edits,
            ApprovalMode::Edits => ApprovalMode::Auto,
            ApprovalMode::Auto => ApprovalMode::Plan,
            ApprovalMode::Plan => ApprovalMode::Ask,
        }
    }

    /// Whether steps run in it that would ask in the usual mode.
    pub fn answers(self) -> bool {
        match self {
            ApprovalMode::Edits | ApprovalMode::Auto => true,
            ApprovalMode::Ask | ApprovalMode::Plan => false,
        }
    }

    pub fn is_default(&self) -> bool {
        *self == ApprovalMode::Ask
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_is_read_back_by_its_name_and_the_key_reaches_each() {
        let mut mode = ApprovalMode::Ask;
        for name in ApprovalMode::NAMES {
            assert_eq!(ApprovalMode::parse(name), Some(mode));
            mode = mode.next();
        }
        assert_eq!(mode, ApprovalMode::Ask);
        assert_eq!(ApprovalMode::parse("yolo"), None);
    }
}
