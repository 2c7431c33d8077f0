//! The change a step makes to one file: shown before it is made, stored afterwards.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Absolute, links resolved.
    pub path: String,
    /// SHA-256 of the content before, in hex; `None`: the file did not exist.
    pub before: Option<String>,
    /// Of the content after; `None`: the file is deleted.
    pub after: Option<String>,
    /// Lines.
    pub added: usize,
    pub removed: usize,
    /// A unified diff, with the path relative to the workspace. Text of files: not cleaned.
    pub diff: String,
    /// True when the stored diff is cut.
    pub cut: bool,
}

impl Change {
    /// Largest stored diff of a finished change, in bytes: a question shows all of it.
    const KEPT: usize = 192 * 1024;

    /// The change in its stored form.
    pub fn into_stored(mut self) -> Change {
        if self.diff.len() > Change::KEPT {
            let most = self.diff.floor_char_boundary(Change::KEPT);
            let at = self.diff.get(..most).and_then(|kept| kept.rfind('\n'));
            self.diff.truncate(at.map_or(0, |at| at + 1));
            self.cut = true;
        }
        self
    }
}

/// One item of the plan.
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
