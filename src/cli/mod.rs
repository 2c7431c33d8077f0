//! The command line: parses arguments and runs everything that needs no screen.
//!
//! [`args`] parses the arguments and does no work; each of the other files does one thing with the
//! values and writers it is given. `app` connects them.

pub mod args;
pub mod config;
pub mod doctor;
pub mod exit;
mod headless;
pub mod input;
pub mod extensions;
pub mod plain;
pub mod model;
pub mod output;
pub mod table;
mod shell_approval;
pub mod policy;
pub mod print;
pub mod messages;
pub mod schema;
pub mod script;
pub mod session;
mod shown;
pub mod resume;

pub use args::{Cli, RunMode};
pub use exit::Exit;

/// Makes foreign text safe for its target: a terminal, or not.
pub type Clean = fn(&str) -> String;
