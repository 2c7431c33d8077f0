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
mod extensions;
mod change;
mod denied;
mod event;
mod session_info;
mod message;
mod observation;
mod op;
mod page;
pub mod streaming;
mod prompt;
mod compaction;
pub mod reply;
mod risk;
mod step;
mod json_string;

pub use ask::{UpcomingStep, Ask, AskId, Decision, UntrustedFile, SubCommand, Question, ApprovalScope, TemplateCommand, TrustOffer};
pub use extensions::{Extensions, Extension, ExtensionKind, ExtensionState, OmittedSkills};
pub use change::{Change, PlanItem, PlanState};
pub use denied::SandboxDenial;
pub use event::{Truncation, TurnOutcome, Event, NoticeLevel, Notice, TurnOrigin, ModelMessage, Topic, Usage};
pub use session_info::{SessionInfo, InstructionFile, Provider, SandboxMode, SandboxStatus, ToolInfo, UnsavedWork};
pub use message::{Message, Params, Role};
pub use observation::{Observation, Outcome, ParsedOutput};
pub use op::{ExportFormat, Op, Report, Rewind, SessionRow};
pub use page::{Page, PageRow};
pub use prompt::{AttachmentInfo, LineRange, Mention, PromptPart, Prompt, AttachmentSize, PromptSource, PromptSourceKind};
pub use compaction::{DroppedPart, Compaction, CompactionSummary, format_bytes};
pub use reply::Reply;
pub use risk::{Effect, Reason, Risk, Tier};
pub use step::{Mode, Requires, Step, StepAction};
