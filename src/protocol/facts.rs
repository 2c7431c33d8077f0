//! What a session is at this moment, for the status line and for commands that
//! answer from it. Sent whole whenever a part of it changes.

use serde::{Deserialize, Serialize};

use super::{Mode, Usage};
use crate::words::{Lang, Say};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// The model that answers now, as the server names it.
    pub model: String,
    /// `openai`, `guide` or `scripted`.
    pub provider: String,
    /// Where it is reached; empty for a built-in one.
    pub base_url: String,
    pub profile: String,
    pub mode: Mode,
    pub lang: Lang,
    pub bot: Option<String>,
    /// The session's folder, absolute.
    pub cwd: String,
    pub branch: Option<String>,
    pub tools: Vec<ToolFact>,
    /// Rules in force beside the built-in policy, as `/allow` and `/deny` take them.
    pub allowed: Vec<String>,
    pub denied: Vec<String>,
    /// The limit of steps a turn runs by itself.
    pub max_steps: usize,
    /// Turns and steps so far.
    pub turns: u64,
    pub steps: u64,
    pub usage: Usage,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolFact {
    pub name: String,
    pub about: Say,
}
