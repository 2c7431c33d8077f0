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

impl SubagentInfo {
    /// The number by which commands name it: that of its step.
    pub fn number(&self) -> &str {
        let id = self.agent.as_str();
        id.rsplit('_').next().unwrap_or(id).trim_start_matches('0')
    }
}

/// The subagents in the background of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackgroundAgents {
    pub running: usize,
    /// Those that ended by themselves, and whose results the model has not read.
    pub unread: usize,
}

impl BackgroundAgents {
    pub fn is_empty(&self) -> bool {
        *self == BackgroundAgents::default()
    }
}

/// What the user asks of a running subagent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentRequest {
    Stop,
    /// A message, which it reads before its next request.
    Steer {
        text: String,
    },
}
