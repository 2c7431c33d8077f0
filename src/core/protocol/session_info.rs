//! The current state of a session, for the status line and for commands that show it. Sent as a
//! whole whenever a part of it changes.

use serde::{Deserialize, Serialize};

use super::budget::SpendLimits;
use super::{ApprovalMode, BackgroundAgents, Effort, Goal, JobInfo, Mode, Prices, Provider, Usage};
use crate::i18n::{Lang, LocalizedText, Phrase, context as phrases, sandbox};
use crate::text;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionInfo {
    /// The current model, as the server names it.
    pub model: String,
    /// Who answers.
    pub provider: Provider,
    /// The address of its server; empty for a built-in one.
    pub base_url: String,
    /// The host that receives a key without encryption; empty if there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub exposed: String,
    pub profile: String,
    pub mode: Mode,
    /// Which steps ask.
    #[serde(default, skip_serializing_if = "ApprovalMode::is_default")]
    pub approval: ApprovalMode,
    /// The level of reasoning that is asked for; `None`: as the model does by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// The levels to choose from; empty if the model has none, or none are known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effort_levels: Vec<Effort>,
    /// What the model costs, as far as that is known.
    #[serde(skip)]
    pub prices: Option<Prices>,
    pub lang: Lang,
    pub bot: Option<String>,
    /// The session's folder, absolute.
    pub cwd: String,
    /// Folders the user added to it, absolute.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<String>,
    pub branch: Option<String>,
    /// Files that differ from the last commit; `None`: not counted.
    #[serde(skip)]
    pub changed_files: Option<usize>,
    /// Whether the folder is trusted.
    #[serde(default)]
    pub trusted: bool,
    pub tools: Vec<ToolInfo>,
    /// Rules in force in addition to the built-in policy, as `/allow` and `/deny` accept them.
    pub allowed: Vec<String>,
    pub denied: Vec<String>,
    /// The extent of each allowing rule, in the same order.
    #[serde(default)]
    pub allowed_covers: Vec<Vec<LocalizedText>>,
    /// Number of steps a turn runs before it pauses, if it is set; 0: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_steps: Option<usize>,
    /// The subagents that run at once; 0: the usual number.
    #[serde(skip)]
    pub max_subagents: usize,
    /// What a turn, the session and this run may spend.
    #[serde(skip)]
    pub spend_limits: SpendLimits,
    /// The project's check: a program and its args, run after changes of files.
    #[serde(default)]
    pub check: Vec<String>,
    /// Turns and steps so far.
    pub turns: u64,
    /// Those among the turns that only restored files: they are not counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub restoring_turns: Vec<u64>,
    pub steps: u64,
    pub usage: Usage,
    /// The id of the saved session; empty if it is not saved.
    #[serde(default)]
    pub session: String,
    /// The title; empty before the first message.
    #[serde(default)]
    pub title: String,
    /// Another window writes to it.
    #[serde(default)]
    pub read_only: bool,
    /// Set while the conversation cannot be saved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsaved: Option<UnsavedWork>,
    /// Set once the sandbox has been tested, after the session opened.
    #[serde(default)]
    pub shelter: SandboxStatus,
    /// The steps in the background, and those of them that ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<JobInfo>,
    /// The subagents in the background.
    #[serde(default, skip_serializing_if = "BackgroundAgents::is_empty")]
    pub agents: BackgroundAgents,
    /// How full the context is, and how much a message may add.
    #[serde(skip)]
    pub context: ContextFill,
    /// The settings of the screen in force, each by its key with its value.
    #[serde(skip)]
    pub screen: Vec<(&'static str, String)>,
    /// What the program for the status line printed.
    #[serde(skip)]
    pub status_text: String,
    /// Instruction files of the project sent with each request, outermost first.
    #[serde(default)]
    pub notes: Vec<InstructionFile>,
    /// What the session works towards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<Box<Goal>>,
}

impl SessionInfo {
    /// The mode after this one: *auto* only where a sandbox holds what it lets run.
    pub fn next_approval_mode(&self) -> ApprovalMode {
        let can_hold = matches!(self.shelter, SandboxStatus::Held | SandboxStatus::Unknown);
        match self.approval.next() {
            ApprovalMode::Auto if !(self.trusted && can_hold) => ApprovalMode::Auto.next(),
            mode => mode,
        }
    }

    /// The turns that are counted, the last first.
    pub fn counted_turns(&self) -> impl Iterator<Item = u64> {
        (1..=self.turns).rev().filter(|turn| !self.restoring_turns.contains(turn))
    }
}

/// The state of the context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextFill {
    /// The share of the last or the next request in what the model takes; `None` before the first.
    pub percent: Option<usize>,
    /// Of that request and in all, in estimated tokens; 0: unknown.
    pub used_tokens: usize,
    pub room_tokens: usize,
    /// The longest message that is sent whole, in bytes and in estimated tokens; 0: unknown.
    pub longest_bytes: usize,
    pub longest_tokens: usize,
}

impl ContextFill {
    /// From here on the share is shown as a warning.
    pub const NEARLY_FULL: usize = 70;

    /// The bytes of a message of this size that are not sent.
    pub fn omitted_bytes(self, bytes: usize, tokens: usize) -> usize {
        if self.longest_bytes == 0 {
            return 0;
        }
        let over = tokens.saturating_sub(self.longest_tokens);
        let by_tokens = bytes.saturating_mul(over) / tokens.max(1);
        bytes.saturating_sub(self.longest_bytes).max(by_tokens)
    }
}

/// A conversation that is not saved, and the remedies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnsavedWork {
    /// The file, and its problem.
    pub why: LocalizedText,
    /// Files it could be written to instead; none of them exists yet.
    pub places: Vec<String>,
    /// The whole conversation has since been written to another place.
    pub elsewhere: bool,
}

/// An instruction file of the project, written for agents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstructionFile {
    /// Relative to the project's root.
    pub path: String,
    /// Its size in bytes, and the bytes of it that are sent.
    pub bytes: usize,
    pub sent: usize,
}

impl InstructionFile {
    pub fn localized(&self) -> LocalizedText {
        let sent = text::size(self.sent);
        let whole = text::size(self.bytes);

        if self.sent == self.bytes {
            phrases::NOTE.with("path", self.path.as_str()).with("size", sent)
        } else {
            phrases::NOTE_CUT
                .with("path", self.path.as_str())
                .with("size", sent)
                .with("whole", whole)
        }
    }
}

/// Whether the system confines steps, and which.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxStatus {
    /// Not tested yet.
    #[default]
    Unknown,
    /// Automatic steps can only read; approved ones are confined to the workspace.
    Held,
    /// Automatic steps can only read; approved ones are not confined.
    ReadOnly,
    /// This system has no sandbox.
    Absent,
    /// Disabled in the user's settings.
    Off,
}

impl SandboxStatus {
    /// What that means for steps; `None` if it is not known yet.
    pub fn about(self) -> Option<Phrase> {
        match self {
            SandboxStatus::Unknown => None,
            SandboxStatus::Held => Some(sandbox::IS_WORK),
            SandboxStatus::ReadOnly => Some(sandbox::IS_READ),
            SandboxStatus::Absent => Some(sandbox::IS_ABSENT),
            SandboxStatus::Off => Some(sandbox::IS_OFF),
        }
    }
}

/// `[safety] sandbox`: the steps to confine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxMode {
    /// All: automatic ones can only read, approved ones can write to the workspace.
    #[default]
    Work,
    /// Automatic ones only.
    Read,
    Off,
}

impl SandboxMode {
    /// Parses the spelling of the settings file; `None` for any other word.
    pub fn parse(text: &str) -> Option<SandboxMode> {
        match text {
            "work" | "all" => Some(SandboxMode::Work),
            "read" | "auto" => Some(SandboxMode::Read),
            "off" => Some(SandboxMode::Off),
            _ => None,
        }
    }

    /// The current spelling in the settings file.
    pub fn name(self) -> &'static str {
        match self {
            SandboxMode::Work => "work",
            SandboxMode::Read => "read",
            SandboxMode::Off => "off",
        }
    }

    /// How many steps it confines, for comparing two values.
    pub fn strictness(self) -> u8 {
        match self {
            SandboxMode::Work => 2,
            SandboxMode::Read => 1,
            SandboxMode::Off => 0,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolInfo {
    pub name: String,
    pub about: LocalizedText,
}
