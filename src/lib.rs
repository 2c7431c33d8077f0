//! A coding agent for the terminal: you talk to a model, it proposes steps, and only steps that you
//! allowed run.
//!
//! The folders below `src` are crates of one workspace, and each uses only what its `Cargo.toml`
//! names; from the outside in:
//!
//! - `app` and `cli`, here: build and connect all parts, once; the command line
//! - `tui`, `gateway` and `acp`: frontends
//! - `present`: what every frontend offers and shows, and the table of commands
//! - `session`: one conversation, with its agent loop and its context
//! - `script`: the ISDK language
//! - `tools`, `model`, `store`, `config`: the edges, which reach programs, files and the network
//! - `safety`: decides whether a step may run
//! - `core`: plain data, words and text
//!
//! `tests/inproc/architecture.rs` checks what no compiler does: that `text`, `protocol`, `safety`,
//! `context`, `prompt` and `agent::turn` use no `async`, no I/O and no clock, that only
//! `tools::exec` starts processes, only `model` speaks HTTP, only `config` reads the environment,
//! only `tui` names ratatui or crossterm, and only `safety` makes a [`safety::ClearedStep`] step.

pub mod app;
pub mod cli;

// One name for each part, for tests and benches.
pub use avocet_acp as acp;
pub use avocet_config as config;
pub use avocet_config::extensions;
pub use avocet_core::{
    deadline, i18n, private_dir, prompt, protocol, signals, terminal_modes, text,
};
pub use avocet_gateway as gateway;
pub use avocet_hooks as hooks;
pub use avocet_lsp as lsp;
pub use avocet_mcp as mcp;
pub use avocet_model as model;
pub use avocet_model::net;
pub use avocet_present as present;
pub use avocet_present::commands;
pub use avocet_safety as safety;
pub use avocet_script as script;
pub use avocet_session as session;
pub use avocet_session::{agent, context};
pub use avocet_store as store;
pub use avocet_tools as tools;
pub use avocet_tui as tui;
