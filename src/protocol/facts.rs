//! What a session is at this moment, for the status line and for commands that
//! answer from it. Sent whole whenever a part of it changes.

use serde::{Deserialize, Serialize};

use super::{Mode, Usage, shown};
use crate::words::{Lang, Say, context as words};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// The model that answers now, as the server names it.
    pub model: String,
    /// `openai`, `guide` or `scripted`.
    pub provider: Provider,
    /// Where it is reached; empty for a built-in one.
    pub base_url: String,
    /// The host that a key goes to without encryption; empty for none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub exposed: String,
    pub profile: String,
    pub mode: Mode,
    pub lang: Lang,
    pub bot: Option<String>,
    /// The session's folder, absolute.
    pub cwd: String,
    /// Folders the user added to it, absolute.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<String>,
    pub branch: Option<String>,
    /// Whether the folder is trusted.
    #[serde(default)]
    pub trusted: bool,
    pub tools: Vec<ToolFact>,
    /// Rules in force beside the built-in policy, as `/allow` and `/deny` take them.
    pub allowed: Vec<String>,
    pub denied: Vec<String>,
    /// What each of the rules that allow covers, in their order.
    #[serde(default)]
    pub allowed_covers: Vec<Vec<Say>>,
    /// The limit of steps a turn runs by itself.
    pub max_steps: usize,
    /// The project's check: a program and its args, run behind changes of files.
    #[serde(default)]
    pub check: Vec<String>,
    /// Turns and steps so far.
    pub turns: u64,
    pub steps: u64,
    pub usage: Usage,
    /// The id the session is saved under; empty when it is not saved.
    #[serde(default)]
    pub session: String,
    /// What it is called; empty before its first words.
    #[serde(default)]
    pub title: String,
    /// Another window writes to it.
    #[serde(default)]
    pub read_only: bool,
    /// Set for as long as what was said cannot be saved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsaved: Option<Unsaved>,
    /// Filled in once it has been tried out, after the session opened.
    #[serde(default)]
    pub shelter: Shelter,
    /// Files of the project that go along with each request, outermost first.
    #[serde(default)]
    pub notes: Vec<NoteFact>,
}

/// That a conversation is not saved, and what can be done about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unsaved {
    /// The file, and what is wrong with it.
    pub why: Say,
    /// Files it could be written to instead; none is there yet.
    pub places: Vec<String>,
    /// All of it was written to another place since.
    pub elsewhere: bool,
}

/// A file that a project wrote for agents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoteFact {
    /// From the project's root on.
    pub path: String,
    /// Bytes it has, and bytes of it that are sent.
    pub bytes: usize,
    pub sent: usize,
}

/// What kind of model answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    /// A server that speaks OpenAI's chat completions.
    #[default]
    OpenAi,
    /// The built-in offline guide, which is not a language model.
    Guide,
    /// Replies from a file.
    Scripted,
}

impl Provider {
    /// As the settings file names it.
    pub fn name(self) -> &'static str {
        match self {
            Provider::OpenAi => "openai",
            Provider::Guide => "guide",
            Provider::Scripted => "scripted",
        }
    }
}

impl NoteFact {
    pub fn say(&self) -> Say {
        let (sent, whole) = (shown(self.sent), shown(self.bytes));
        match self.sent == self.bytes {
            true => words::NOTE.with("path", self.path.as_str()).with("size", sent),
            false => words::NOTE_CUT
                .with("path", self.path.as_str())
                .with("size", sent)
                .with("whole", whole),
        }
    }
}

/// Whether the system holds steps back, and which.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shelter {
    /// Not tried out yet.
    #[default]
    Unknown,
    /// Those that run by themselves only read; approved ones are held to the workspace.
    Held,
    /// Those that run by themselves only read; approved ones are free.
    ReadOnly,
    /// This system offers nothing that would.
    Absent,
    /// The user's settings switch it off.
    Off,
}

/// `[safety] sandbox`: which steps are held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sandboxing {
    /// All: those that run by themselves only read, approved ones work in the workspace.
    #[default]
    Work,
    /// Those that run by themselves.
    Read,
    Off,
}

impl Sandboxing {
    /// As the settings file spells it; `None` for any other word.
    pub fn parse(text: &str) -> Option<Sandboxing> {
        match text {
            "work" | "all" => Some(Sandboxing::Work),
            "read" | "auto" => Some(Sandboxing::Read),
            "off" => Some(Sandboxing::Off),
            _ => None,
        }
    }

    /// As the settings file spells it today.
    pub fn name(self) -> &'static str {
        match self {
            Sandboxing::Work => "work",
            Sandboxing::Read => "read",
            Sandboxing::Off => "off",
        }
    }

    /// How many steps it holds, to compare two by.
    pub fn strictness(self) -> u8 {
        match self {
            Sandboxing::Work => 2,
            Sandboxing::Read => 1,
            Sandboxing::Off => 0,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolFact {
    pub name: String,
    pub about: Say,
}
