//! The command line: parses arguments and runs everything that needs no screen.
//!
//! [`args`] parses the arguments and does no work; each of the other files does one thing with the
//! values and writers it is given. `app` connects them.

pub mod args;
pub mod batch;
pub mod cluster;
pub mod config;
pub mod doctor;
pub mod eval;
pub mod exit;
pub mod extensions;
pub mod gateway;
pub mod headless;
mod headless_effect;
pub mod import;

pub mod help;
pub mod input;
pub mod language_server;
pub mod login;
pub mod mcp_command;
pub mod message_stream;
pub mod messages;
pub mod model;
mod open_choices;
pub mod output;
pub mod plain;
pub mod policy;
pub mod print;
mod related_options;
pub mod resume;
pub mod review;
pub mod review_formats;
pub mod run_mode;
mod run_options;
pub mod schema;
pub mod script;
pub mod script_command;
pub mod self_command;
pub mod session;
mod shell_approval;
pub mod shell_files;
pub mod subcommand_args;
pub mod table;
pub mod task_results;
mod usage_error;
pub mod worktree_command;

pub use args::Cli;
pub use exit::Exit;
pub use run_mode::RunMode;

/// Makes foreign text safe for its target: a terminal, or not.
pub type Clean = fn(&str) -> String;
