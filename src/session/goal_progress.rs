//! How the work towards a goal goes, and what was found out about it.

use avocet_core::i18n::{LocalizedText, PhraseValue};

/// What was found out about a goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GoalVerdict {
    Met,
    NotMet(PhraseValue),
    Unclear(LocalizedText),
}

/// How the work towards a goal goes.
#[derive(Debug, Default)]
pub struct GoalProgress {
    /// The running turn judges the goal.
    pub is_judging: bool,
    pub verdict: Option<GoalVerdict>,
    /// Turns in a row that brought nothing, and the steps of the session before the last one.
    pub stalled: u8,
    pub steps: u64,
}
