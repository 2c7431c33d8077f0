//! What the user asks of the worktrees of a project.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorktreeRequest {
    List,
    Show {
        name: String,
    },
    /// Unless something of it would be lost; `with_files`: commits only.
    Remove {
        name: String,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        with_files: bool,
    },
}
