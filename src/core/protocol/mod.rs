//! The shared vocabulary, as plain data: no I/O, no clock, no decisions.
//!
//! | word | meaning |
//! |---|---|
//! | session | one conversation in one folder |
//! | turn | everything after one message of the user, until the model ends it |
//! | reply | one answer of the model: `chat`, `cmd` or `error` |
//! | step | one action a `cmd` reply proposes: a program with its args, or a tool |
//! | risk | the judgement by `safety`: a tier, and the reasons for it |
//! | ask | a question that blocks the turn until the user decides |
//! | observation | the result of a step; it is sent back to the model |
//! | op | a request of a surface to a session |
//! | event | a message of a session to its surfaces |
//! | surface | the screen, the command line, a chat platform |
//!
//! A session reads [`Op`]s, each in a [`Submission`], and writes [`Event`]s; nothing else is
//! exchanged.

mod approval_mode;
mod ask;
pub mod budget;
mod change;
mod chat;
mod command_traits;
mod compaction;
mod cost;
mod denied;
mod effort;
mod event;
mod extensions;
mod form;
mod goal;
pub mod growing_reply;
mod job;
mod json_string;
mod mcp_action;
mod message;
mod model_offer;
mod model_override;
mod money;
mod note;
mod observation;
mod op;
mod page;
mod prompt;
mod provider;
pub mod reply;
mod request_settings;
mod risk;
mod session_info;
mod setting;
mod step;
pub mod streaming;
mod subagent;
mod submit_id;
mod usage;
mod worktree_request;

pub use approval_mode::ApprovalMode;
pub use ask::{
    ApprovalScope, Ask, AskId, Decision, Question, RemainingStep, StepQuestion, SubCommand,
    TemplateCommand, TrustOffer, UntrustedFile,
};
pub use change::{Change, PlanItem, PlanState};
pub use chat::ChatPlatform;
pub use command_traits::{
    Availability, Category, CommandArgument, CommandTraits, Surface, USUAL_PRIORITY, WhileBusy,
};
pub use compaction::{Compaction, CompactionSummary, DroppedPart};
pub use cost::{Prices, TokenPrices, cost};
pub use denied::SandboxDenial;
pub use effort::{Effort, effort_names};
pub use event::{
    Event, ModelMessage, Notice, NoticeLevel, Topic, Truncation, TurnOrigin, TurnOutcome,
};
pub use extensions::{
    Extension, ExtensionKind, ExtensionState, Extensions, OmittedSkills, ScriptDetails, ScriptInput,
};
pub use form::{FormField, FormFieldKind};
pub use goal::{Goal, GoalRequest};
pub use job::{JobInfo, JobRequest, JobState};
pub use mcp_action::McpAction;
pub use message::{
    ContentBlock, Dialect, Image, Message, Opaque, Params, PromptSize, Role, TEXT_CALL, TextBlock,
    ToolCall, ToolResult, ToolSchema,
};
pub use model_offer::ModelOffer;
pub use model_override::ModelOverride;
pub use money::Money;
pub use note::NotePlace;
pub use observation::{LineRound, Observation, Outcome, ParsedOutput};
pub use op::{
    ExportFormat, ExtensionOp, ModelOp, Op, QuestionOp, Report, Rewind, RuleOp, SavedOp, SessionOp,
    SessionRow, SettingOp, Submission, TurnOp,
};
pub use page::{Page, PageRow};
pub use prompt::{
    ArgumentValues, AttachmentInfo, AttachmentSize, LineRange, Mention, PastedImage, Prompt,
    PromptPart, PromptSource, PromptTemplateKind, ServerPromptCall, TypedArgument,
};
pub use provider::{HOSTED, Hosted, Provider, key_variables};
pub use reply::Reply;
pub use request_settings::{KEY_PLACE, RequestSettings};
pub use risk::{Effect, Reason, Risk, Tier};
pub use session_info::{
    ContextFill, InstructionFile, SandboxMode, SandboxStatus, SessionInfo, ToolInfo, UnsavedWork,
};
pub use setting::{SettingInput, SettingRow};
pub use step::{Mode, Requires, Step, StepAction};
pub use subagent::{AgentRequest, BackgroundAgents, SubagentInfo};
pub use submit_id::{QueuedMessage, SubmitId, SubmitIds};
pub use usage::Usage;
pub use worktree_request::WorktreeRequest;
