//! The operations a surface requests of a session.

use serde::{Deserialize, Serialize};

use super::{
    AgentRequest, ApprovalMode, AskId, Decision, Effort, GoalRequest, JobRequest, McpAction,
    Mention, Mode, NotePlace, Prompt, StepAction, SubmitId, TypedArgument, WorktreeRequest,
};
use crate::i18n::Lang;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Op {
    Turn(TurnOp),
    Question(QuestionOp),
    Model(ModelOp),
    Rules(RuleOp),
    Saved(SavedOp),
    Setting(SettingOp),
    Extension(ExtensionOp),
    Session(SessionOp),
}

/// Messages, and what begins, changes or ends a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnOp {
    /// A message for the model: starts a turn, or is queued while one runs.
    Submit { text: String },
    /// A message that mentions files or contains shell pieces: those are processed first, then it
    /// is sent as one.
    #[serde(rename = "prompt")]
    SubmitPrompt { prompt: Box<Prompt> },
    /// Expands a prompt and returns its text without sending it to a model.
    Render { prompt: Box<Prompt> },
    /// A line for the user's shell. `keep`: the output goes into the context as well.
    Shell { line: String, keep: bool },
    /// Replaces the queue, in order. It follows the next turn, and does not start one by itself.
    SetQueue { texts: Vec<String> },
    /// Starts the queue, if no turn runs.
    RunQueue,
    /// Removes a message from the queue, if it is still there.
    Unqueue { id: SubmitId },
    /// A message for the running turn, delivered at its next step; an ordinary message if none
    /// runs.
    Steer { text: String },
    /// Starts a turn that reads the results of subagents that ended in the background; does nothing
    /// where there are none, or where a turn runs or a question is open.
    ReadResults,
    /// Sends the last message again; the answer to it is forgotten.
    Retry,
    /// Restores files to their state before the last so many turns that changed any.
    Undo { turns: usize },
    /// Makes the changes again that were undone last.
    Redo,
    /// Ends the running turn; does nothing if none runs.
    Stop,
    /// Invokes a custom command or a skill, by its name without the slash: its template is expanded
    /// and sent.
    Invoke {
        name: String,
        args: String,
        /// Files the user mentioned in the arguments.
        #[serde(default)]
        mentions: Vec<Mention>,
    },
    /// Runs a script as a separate turn: its ID or path, and its arguments as typed.
    RunScript { script: String, args: String },
    /// Summarises earlier turns now; the focus names what to preserve above all.
    Compress { focus: Option<String> },
    /// Includes a part again that is no longer sent.
    Recall { id: String },
    /// Merges a worktree of the project into the current branch, after a question.
    MergeWorktree { name: String },
    /// About the goal of the session.
    Goal { goal: GoalRequest },
    /// Asks the model beside the conversation, also while a turn runs. The answer is an
    /// [`Event::SideAnswer`](super::Event::SideAnswer).
    AskAside { question: String },
}

/// About a question of the session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionOp {
    Decide {
        ask: AskId,
        decision: Decision,
    },
    /// Asks how `work` would be judged in place of the step of the question `ask`.
    #[serde(rename = "judge")]
    PreviewRisk {
        ask: AskId,
        work: StepAction,
    },
}

/// Which model answers, and as whom.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelOp {
    SetModel {
        name: String,
    },
    /// Another server, by its name and address, and one of its models. The key is where it was
    /// saved, or in this variable.
    Connect {
        server: String,
        base_url: String,
        #[serde(default)]
        key_env: Option<String>,
        model: String,
    },
    /// How much the model reasons from the next turn on; `None`: as it does by itself.
    SetEffort {
        effort: Option<Effort>,
    },
    /// Switches to another bot from the next turn on; `None`: to no bot.
    SetBot {
        name: Option<String>,
    },
}

/// What runs without a question, and where.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleOp {
    /// Which steps ask from now on, in the running turn too.
    SetApprovalMode { mode: ApprovalMode },
    /// Adds a rule (`git push *`) to those this session runs without asking.
    Allow { rule: String },
    /// Adds a rule to those this session refuses.
    Deny { rule: String },
    /// Revokes a rule, in this session and in the folder's saved rules.
    Revoke { rule: String },
    /// Asks again whether this folder is trusted.
    Trust,
    /// Adds a folder to the session: it is read and changed like the session's own.
    AddFolder { path: String },
}

/// Sessions, and what of this one is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SavedOp {
    /// Starts a new conversation; what was allowed for the session ends.
    New,
    /// Writes the conversation to a file; `None`: the name is generated.
    Export { format: ExportFormat, path: Option<String> },
    /// Resumes a saved session, by its id or the start of one.
    Resume { session: String },
    /// Lists the saved sessions, for selection.
    #[serde(rename = "sessions")]
    ListSessions,
    /// Lists the saved sessions as a page; with words, only those that contain them.
    #[serde(rename = "find")]
    SearchSessions { words: String },
    /// Continues in a copy of the session; the original stays unchanged.
    Fork { name: Option<String> },
    /// Renames the session.
    Rename { name: String },
    /// Takes back everything from this turn on. Without `what`, the conversation if no file was
    /// changed since; otherwise `Event::RewindAsked` is the answer.
    Rewind { turn: u64, what: Option<Rewind> },
}

/// How the program behaves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SettingOp {
    SetMode {
        mode: Mode,
    },
    SetLang {
        lang: Lang,
    },
    /// Shows the settings, those that begin so, or sets one.
    Configure {
        key: Option<String>,
        value: Option<String>,
    },
    /// Lists all settings to be edited, after one was set, or removed from the user's file.
    EditSettings {
        key: Option<String>,
        value: Option<String>,
    },
}

/// What users add: commands, skills, servers of tools, instructions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExtensionOp {
    /// Checks whether the user's extensions have changed, and sends them.
    #[serde(rename = "look")]
    RefreshExtensions,
    /// About the MCP servers of the session.
    Mcp { action: McpAction },
    /// Shows the instructions that are sent.
    ShowMemory,
    /// Adds a note to the instructions there.
    AddNote { place: NotePlace, text: String },
    /// Asks an MCP server for the values of an argument.
    CompleteArgument(TypedArgument),
}

/// About the session as a whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionOp {
    /// About a running subagent, by the id of the step that began it.
    Agent { agent: String, request: AgentRequest },
    /// About the steps that run in the background, or their output.
    Job { job: JobRequest },
    /// About the worktrees of the project.
    Worktrees { request: WorktreeRequest },
    /// Collects a report that requires I/O, then sends it.
    Report { report: Report },
    /// Cancels the running turn and ends the session.
    Shutdown,
}

impl Op {
    /// Whether the session answers this with a notice or a page, and with nothing else. What a
    /// status line shows needs no answer there.
    pub fn answers_in_transcript(&self) -> bool {
        match self {
            Op::Turn(
                TurnOp::Render { .. }
                | TurnOp::Compress { .. }
                | TurnOp::Recall { .. }
                | TurnOp::Goal { .. },
            ) => true,
            Op::Rules(op) => !matches!(op, RuleOp::SetApprovalMode { .. } | RuleOp::Trust),
            Op::Saved(op) => matches!(
                op,
                SavedOp::Export { .. } | SavedOp::SearchSessions { .. } | SavedOp::Rename { .. }
            ),
            Op::Setting(op) => matches!(op, SettingOp::Configure { .. }),
            Op::Extension(op) => {
                !matches!(op, ExtensionOp::RefreshExtensions | ExtensionOp::CompleteArgument(_))
            }
            // A view and a list to choose from.
            Op::Session(SessionOp::Report { report }) => {
                !matches!(report, Report::Changes | Report::Models)
            }
            Op::Session(op) => {
                matches!(op, SessionOp::Job { .. } | SessionOp::Worktrees { .. })
            }
            Op::Turn(_) | Op::Question(_) | Op::Model(_) => false,
        }
    }

    /// Whether it begins a turn that no message begins.
    pub fn begins_turn_without_message(&self) -> bool {
        matches!(
            self,
            Op::Turn(
                TurnOp::Retry
                    | TurnOp::ReadResults
                    | TurnOp::Undo { .. }
                    | TurnOp::Redo
                    | TurnOp::MergeWorktree { .. }
                    | TurnOp::RunQueue
                    | TurnOp::RunScript { .. }
                    | TurnOp::Render { .. }
                    | TurnOp::Compress { .. }
            )
        )
    }
}

/// An operation on its way to a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Submission {
    /// `None`: its sender does not follow what becomes of it.
    pub id: Option<SubmitId>,
    pub op: Op,
}

impl From<Op> for Submission {
    fn from(op: Op) -> Submission {
        Submission { id: None, op }
    }
}

/// What a rewind takes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rewind {
    /// Restores everything to the state before the turn. It is offered first: going back means that
    /// moment, and a model that has forgotten its changes is misled by files that still contain
    /// them. The user's own later edits are asked about, file by file.
    Both,
    /// The conversation; files stay unchanged.
    Chat,
    /// The model's changes; the conversation stays.
    Files,
}

impl Rewind {
    /// In the order of the offer.
    pub const ALL: [Rewind; 3] = [Rewind::Both, Rewind::Chat, Rewind::Files];

    pub fn name(self) -> &'static str {
        match self {
            Rewind::Both => "both",
            Rewind::Chat => "chat",
            Rewind::Files => "files",
        }
    }

    pub fn from_name(name: &str) -> Option<Rewind> {
        Rewind::ALL.into_iter().find(|what| what.name().eq_ignore_ascii_case(name))
    }
}

/// A saved session, as it is listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRow {
    pub id: String,
    pub title: String,
    pub folder: String,
    /// The time of the last activity, formatted for the user.
    pub when: String,
    /// The start of the last message.
    pub preview: String,
    pub turns: u64,
    /// The model that answered last, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExportFormat {
    Md,
    Json,
    Html,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Report {
    Doctor,
    /// The models the server offers.
    Models,
    /// How the bytes of the next request are divided.
    Context,
    /// Tokens of each turn and in total.
    Usage,
    /// The files that steps of this session changed.
    Changes,
    /// The plugins of slothtool.
    Plugins,
    /// The chat platforms, and who may talk there.
    Platforms,
    /// What runs and waits in this session.
    Running,
    /// The hooks, and why one did not run.
    Hooks,
    /// The language servers, with their memory and their last error.
    LanguageServers,
    /// The agents that tasks may be handed to.
    Agents,
}
