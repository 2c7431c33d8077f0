//! The vocabulary everyone shares, as plain data: no I/O, no clock, no decisions.
//!
//! | word | meaning |
//! |---|---|
//! | session | one conversation in one folder |
//! | turn | all that follows one line of a person, until the model ends it |
//! | reply | one answer of the model: `chat`, `cmd` or `error` |
//! | step | one thing a `cmd` reply proposes: a program with its args, or a tool |
//! | risk | what `safety` found: a tier, and the reasons for it |
//! | ask | a question that holds the turn until a person decides |
//! | observation | what came of a step; it goes back to the model |
//! | op | what a surface wants of a session |
//! | event | what a session tells its surfaces |
//! | surface | the screen, the command line, a chat platform |
//!
//! A session reads [`Op`]s and writes [`Event`]s; nothing else crosses.

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
