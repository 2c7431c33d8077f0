//! The ISDK script language: `.ai.yaml` files that talk to models, call each other and
//! compute: a dialogue that is written down, with marks in its messages and directives
//! between them.
//!
//! | part | what it does |
//! |---|---|
//! | `source` | finds a script by its ID or path; reads through [`source::Files`] only |
//! | `syntax` | text to a tree with positions |
//! | `shape` | what a script declares: inputs, output, base, imports, exports |
//! | `run` | walks the dialogue: messages, marks, model calls, chains, roles |
//! | `directive` | the table of `$directives` |
//! | `text` `template` `output` | what stands inside a text, and what is made of it |
//! | `js` `wasm` | engines without host objects, within limits |
//! | `permission` | what a script may call |
//!
//! A script reaches the world through [`Host`] alone, as plain data. What a model, a file
//! or an argument says is put into a text once and never read for marks again.
//!
//! Encrypted prompts (a design, not built): the language lets a script be sealed for a
//! local model, so that who runs it does not read it. A sealed script would be a file whose
//! head stays plain and whose body is one `age` message for a key that the person's key
//! store holds under the publisher's name; `source` would open it in memory, mark its
//! [`source::Origin`] as sealed, and [`Host`] would refuse a sealed script any model that is
//! not on this machine, and show of it neither messages nor a dry run. It hides from copies
//! and from a glance, not from the owner of the machine: what a local model is sent can be
//! read from its memory, so the promise would be no more than that. It waits for the
//! signatures (`签`) that say whose a script is: without them a sealed script could not be
//! told from a hostile one, and nobody could look.
//!
//! Not in here: files, processes, network and keys. The host has them, behind the policy.

pub mod built_in;
mod check;
pub mod directive;
mod failure;
mod fault;
pub mod host;
pub mod js;
pub mod output;
pub mod permission;
pub mod run;
pub mod shape;
pub mod source;
pub mod syntax;
pub mod template;
pub mod text;
pub mod tool_text;
pub mod wasm;

pub use check::check;
pub use failure::{Failure, Spot};
pub use fault::{Fault, quoted};
pub use host::{Host, ModelCall, Part, Told};
pub use run::{Done, Order, run};
