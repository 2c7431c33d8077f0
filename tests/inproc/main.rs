//! Tests of the library alone: none starts the program. Sessions among them run steps, which makes
//! this process adopt orphans; the doc of `tests/system/main.rs` says why that matters.

#![allow(
    clippy::disallowed_methods,
    clippy::duplicate_mod,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "tests"
)]

#[path = "../support/mod.rs"]
mod support;

mod policy_fixture;
mod script_case;
mod script_replay;
mod script_slips;

mod approvals;
mod architecture;
mod checkpoints;
mod context;
mod dialogues;
mod extensions;
#[cfg(unix)]
mod extra_folders;
mod fuzz;
mod goals;
mod hooks;
mod isdk;
mod language;
mod lines;
mod live_settings;
mod long_turns;
mod masks;
mod mcp;
mod measures;
mod model;
mod modes;
mod mutated_scripts;
mod prompts;
mod protocol;
mod questions;
mod random_input;
mod readme;
mod risk;
mod sanitization;
mod screens;
mod script_steps;
mod scripts;
mod session;
mod shell;
mod subagents;
mod test_targets;
mod two_windows;
mod wire;
mod wire_schema;
mod worktrees;
