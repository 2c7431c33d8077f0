//! What the user asks of the worktrees of a project.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorktreeRequest {
    List,
    Show {
        name: String,
    },
    /// Unless something of it would be lost.
    Remove {
        name: String,
    },
}
