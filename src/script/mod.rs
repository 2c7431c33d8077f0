//! The ISDK script language, `.ai.yaml`: a dialogue that is written down, with marks in
//! its messages, directives between them, and other scripts behind it.
//!
//! | folder | what it does |
//! |---|---|
//! | `source` | finds a script by its ID or path; reads through [`source::Files`] only |
//! | `syntax` | text to a tree with positions; pure |
//! | `shape` | what a script declares: inputs, output, base, imports, exports; pure |
//! | `run` | walks the dialogue: messages, marks, model calls, chains, roles |
//! | `directive` | the table of `$directives` |
//!
//! A script reaches the world through [`Host`] alone. What a model, a file or an argument
//! says is put into a text once and never read for marks again.
//!
//! Not in here: files, processes, network and keys. The host has them, behind the policy.

mod failure;
mod fault;
pub mod syntax;

pub use failure::{Failure, Spot};
