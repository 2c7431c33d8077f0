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
//! A session reads [`Op`]s and writes [`Event`]s; nothing else is exchanged.

mod ask;
pub mod budget;
mod change;
mod compaction;
mod cost;
mod denied;
mod event;
mod extensions;
pub mod growing_reply;
mod json_string;
mod message;
mod model_override;
mod money;
mod observation;
mod op;
mod page;
mod prompt;
mod provider;
pub mod reply;
mod risk;
mod session_info;
mod step;
pub mod streaming;
mod usage;

pub use ask::{
    ApprovalScope, Ask, AskId, Decision, Question, StepQuestion, SubCommand, TemplateCommand,
    TrustOffer, UntrustedFile, UpcomingStep,
};
pub use change::{Change, PlanItem, PlanState};
pub use compaction::{Compaction, CompactionSummary, DroppedPart};
pub use cost::{Prices, TokenPrices, cost};
pub use denied::SandboxDenial;
pub use event::{
    Event, ModelMessage, Notice, NoticeLevel, Topic, Truncation, TurnOrigin, TurnOutcome,
};
pub use extensions::{Extension, ExtensionKind, ExtensionState, Extensions, OmittedSkills};
pub use message::{
    ContentBlock, Dialect, Image, Message, Opaque, Params, Role, TextBlock, ToolCall, ToolResult,
    ToolSchema,
};
pub use model_override::ModelOverride;
pub use money::Money;
pub use observation::{Observation, Outcome, ParsedOutput};
pub use op::{ExportFormat, Op, Report, Rewind, SessionRow};
pub use page::{Page, PageRow};
pub use prompt::{
    AttachmentInfo, AttachmentSize, LineRange, Mention, Prompt, PromptPart, PromptSource,
    PromptSourceKind,
};
pub use provider::{HOSTED, Hosted, Provider, key_variables};
pub use reply::Reply;
pub use risk::{Effect, Reason, Risk, Tier};
pub use session_info::{
    InstructionFile, SandboxMode, SandboxStatus, SessionInfo, ToolInfo, UnsavedWork,
};
pub use step::{Mode, Requires, Step, StepAction};
pub use usage::Usage;
