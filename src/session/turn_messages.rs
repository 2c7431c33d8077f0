//! The channels between a session and its running turn: plain data in both directions.

use std::sync::Arc;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use super::extensions::ExtensionScan;
use super::goal_progress::GoalVerdict;
use super::hook_runner::HookNews;
use super::job::JobMessage;
use super::mcp_servers::OutgoingMcpRequest;
use super::subagent_list::SubagentMessage;
use super::turn_update::TurnNews;
use crate::agent::Steering;
use crate::context::history::TurnRecord;
use crate::context::window::{ContextUsage, History};
use avocet_config::project_instructions::ProjectInstructions;
use avocet_core::i18n::LocalizedText;
use avocet_core::protocol::{
    ApprovalMode, ApprovalScope, Ask, AskId, Decision, Event, TurnOutcome, Usage,
};
use avocet_mcp::McpCallId;
use avocet_safety::{Grant, SessionOpening, ToolRestriction};

/// A message from a turn to its session.
#[derive(Debug)]
pub enum TurnMessage {
    /// The turn waits for the user.
    QuestionOpened(Box<Ask>),
    /// The turn does not wait any more.
    QuestionClosed,
    /// The user permits something from now on, at the question of a step.
    Permitted(PermissionMessage),
    /// The user accepted a plan, to be carried out in this mode.
    PlanAccepted(ApprovalMode),
    /// The user trusts the folder, at the question of a step.
    FolderTrusted,
    /// A skill was entered: its name and its text.
    SkillEntered {
        name: String,
        text: String,
    },
    /// The start is over, and the extensions can be read.
    RefreshExtensions,
    /// The extensions were read.
    ExtensionsScanned {
        number: u64,
        looked: ExtensionScan,
    },
    /// An event to keep for an export.
    Record(Box<Event>),
    /// An entered skill limits the turn to its tools, or none does any more.
    ToolsRestricted(Option<ToolRestriction>),
    /// A step ended.
    StepFinished,
    /// About what runs beside the conversation.
    Side(SideMessage),
    /// What the turn has used so far, after an answer of the model.
    Spent(Usage),
    /// The turn read the first of the messages sent to it.
    SteeringRead,
    /// The parts of the request that is being answered.
    RequestSent(Box<ContextUsage>),
    /// The history was compressed.
    HistoryCompacted(Arc<History>),
    /// The model asks for a part that may be no longer sent.
    PartRequested {
        id: String,
        reply: oneshot::Sender<Result<String, LocalizedText>>,
    },
    /// The turn is about to send a request: asks for what changed since the last one.
    SettingsNeeded {
        reply: oneshot::Sender<TurnNews>,
    },
    /// A step calls a tool of an MCP server, or gives the call up.
    ServerCalled(Box<OutgoingMcpRequest>),
    ServerCallCancelled(McpCallId),
    /// About hooks.
    Hook(HookNews),
    /// About subagents.
    Subagent(SubagentMessage),
    /// About the steps in the background.
    Job(JobMessage),
    /// The changed files of the folder were counted.
    FilesCounted(usize),
    /// What the server says of the model is known.
    ModelLearned,
    /// The current project instructions.
    InstructionsRead(Arc<ProjectInstructions>),
}

/// What the user permits from now on.
#[derive(Debug)]
pub enum PermissionMessage {
    /// What this rule covers.
    Rule(String),
    /// This step, on its terms.
    Step { grant: Box<Grant>, scope: ApprovalScope },
    /// To a command, for the session, what the sandbox had denied it.
    Opening(Box<SessionOpening>),
}

/// A message to the session from what runs beside the conversation.
#[derive(Debug)]
pub enum SideMessage {
    /// The model judged the goal.
    GoalJudged(GoalVerdict),
    /// A question was answered, which used this much.
    Answered(Usage),
    /// What the program for the status line printed.
    StatusPrinted(String),
}

/// The channels from a session to its turn.
pub struct TurnInbox {
    pub decisions: UnboundedReceiver<(AskId, Decision)>,
    /// The messages of the user to the running turn.
    pub steering: UnboundedReceiver<Steering>,
    /// The user sends the running step to the background.
    pub background: UnboundedReceiver<()>,
}

/// The session's ends of a turn's channels.
pub struct TurnHandle {
    pub decisions: UnboundedSender<(AskId, Decision)>,
    pub steering: UnboundedSender<Steering>,
    pub background: UnboundedSender<()>,
}

pub fn turn_channels() -> (TurnInbox, TurnHandle) {
    let (send_decision, decisions) = unbounded_channel();
    let (steer, steering) = unbounded_channel();
    let (send_background, background) = unbounded_channel();
    let inbox = TurnInbox { decisions, steering, background };
    let decisions = send_decision;
    (inbox, TurnHandle { decisions, steering: steer, background: send_background })
}

/// The end of a turn, for the session to store.
#[derive(Clone, Debug, PartialEq)]
pub struct FinishedTurn {
    pub ending: TurnOutcome,
    /// The turn's record for the conversation history.
    pub record: TurnRecord,
    pub usage: Usage,
    /// The first free step number for the next turn.
    pub next_step: u64,
}
