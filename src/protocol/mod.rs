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
mod catalogue;
mod change;
mod denied;
mod event;
mod facts;
mod message;
mod observation;
mod op;
mod page;
pub mod partial;
mod prompt;
mod receipt;
pub mod reply;
mod risk;
mod step;
mod unescape;

pub use ask::{Ahead, Ask, AskId, Decision, Lying, Piece, Question, Scope, ShellPiece, TrustOffer};
pub use catalogue::{Catalogue, Entry, EntryKind, EntryState, Untold};
pub use change::{Change, PlanItem, PlanState};
pub use denied::Denied;
pub use event::{Cut, Ending, Event, Level, Notice, Origin, Replied, Topic, Usage};
pub use facts::{Facts, NoteFact, Provider, Sandboxing, Shelter, ToolFact, Unsaved};
pub use message::{Message, Params, Role};
pub use observation::{Observation, Outcome, Parsed};
pub use op::{ExportFormat, Op, Report, Rewind, SessionRow};
pub use page::{Page, Row};
pub use prompt::{Attached, Lines, Mention, Part, Prompt, Size, Source, SourceKind};
pub use receipt::{Dropped, Receipt, Summed, shown};
pub use reply::Reply;
pub use risk::{Effect, Reason, Risk, Tier};
pub use step::{Mode, Requires, Step, Work};
