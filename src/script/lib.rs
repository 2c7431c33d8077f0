//! The ISDK script language: `.ai.yaml` files that talk to models, call each other and compute. A
//! script is a written dialogue with marks in its messages and directives between them.
//!
//! | part | what it does |
//! |---|---|
//! | `source` | finds a script by its ID or path; reads through [`source::SourceFiles`] only |
//! | `syntax` | parses text to a tree with positions |
//! | `manifest` | what a script declares: inputs, output, base, imports, exports |
//! | `run` | executes the dialogue: messages, marks, model calls, chains, roles |
//! | `directive` | the table of `$directives` |
//! | `text` `template` `output` | the marks inside a text, and what they render to |
//! | `js` `wasm` | engines without host objects, within limits |
//! | `permission` | what a script may call |
//!
//! A script reaches the outside through [`ScriptHost`] alone, as plain data. Text from a model, a
//! file or an argument is inserted once and never scanned for marks again.
//!
//! Encrypted prompts (a design, not built): the language lets a script be sealed for a local model,
//! so that the user who runs it does not read it. A sealed script would be a file whose head stays
//! plain and whose body is one `age` message for a key that the user's key store holds under the
//! publisher's name; `source` would decrypt it in memory, mark its [`source::ScriptOrigin`] as
//! sealed, and [`ScriptHost`] would refuse a sealed script any model that is not on this machine
//! and show neither its messages nor a dry run. Sealing protects against copying and casual
//! reading, not against the owner of the machine: what a local model receives can be read from its
//! memory, so the promise would be no more than that. It depends on the signatures (`签`) that
//! identify a script's publisher: without them a sealed script could not be distinguished from a
//! hostile one, and could not be inspected.
//!
//! Not in here: files, processes, network and keys. The host has them and applies the policy.

pub mod built_in;
pub mod check;
pub mod directive;
pub mod editor;
mod error;
pub mod host;
pub mod js;
pub mod manifest;
pub mod output;
pub mod permission;
mod program_output;
pub mod reference;
pub mod run;
pub mod settings;
pub mod source;
pub mod syntax;
pub mod template;
pub mod text;
pub mod tool_protocol;
pub mod wasm;

pub use check::check;
pub use error::{ErrorCause, LocatedError, Location, ScriptError, StepError, quoted};
pub use host::{AnswerPart, ModelCall, ScriptEvent, ScriptHost};
pub use program_output::ProgramOutput;
pub use run::{RunRequest, RunResult, run};
