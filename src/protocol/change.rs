//! What a step does to one file: shown before it is done, kept when it was done.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Absolute, links resolved.
    pub path: String,
    /// SHA-256 of the content before, in hex; `None`: there was no file.
    pub before: Option<String>,
    /// Of the content after; `None`: the file is deleted.
    pub after: Option<String>,
    /// Lines.
    pub added: usize,
    pub removed: usize,
    /// A unified diff, with the path as it is seen from the workspace. Text of files:
    /// not cleaned.
    pub diff: String,
    /// True when the diff is longer than what is kept of it.
    pub cut: bool,
}

/// One line of the list of what is to be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanItem {
    pub text: String,
    pub state: PlanState,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanState {
    #[default]
    Pending,
    Doing,
    Done,
}
