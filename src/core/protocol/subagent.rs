//! What frontends show of a subagent.

use serde::{Deserialize, Serialize};

use super::{ApprovalMode, Effort};

/// A subagent that began, with what it really got.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubagentInfo {
    /// The id of the step that began it; the ids of its own steps begin with it.
    pub agent: String,
    /// The name of its definition.
    pub name: String,
    /// What it is to do, in a few words.
    pub about: String,
    pub model: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    pub mode: ApprovalMode,
    /// Those of its definition; `None`: all of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    pub folder: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
}
