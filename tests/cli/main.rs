//! Tests that start the program without a terminal. Nothing here runs a step in this process: see
//! `tests/system/main.rs`.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests"
)]

#[path = "../support/mod.rs"]
mod support;

mod acp;
mod acp_offers;

#[cfg(target_os = "linux")]
mod adversarial;
mod agents;
mod approval_modes;
#[cfg(target_os = "linux")]
mod backward_compatibility;
mod batch;
#[cfg(unix)]
mod bedrock;
mod commands;
mod config;
#[cfg(target_os = "linux")]
mod daemons;
mod eval;
mod extensions;
mod fallback;
mod headless;
#[cfg(unix)]
mod hooks;
#[cfg(unix)]
mod import;
#[cfg(unix)]
mod install;
mod login;
#[cfg(unix)]
mod lsp;
#[cfg(unix)]
mod mcp;
mod message_stream;
mod model_habits;
mod native_tools;
mod profile_requests;
mod prompt_cache;
mod provider_search;
#[cfg(unix)]
mod replay;
mod review;
mod run_command;
mod script_files;
mod script_help;
mod script_lsp;
#[cfg(target_os = "linux")]
mod secrets;
#[cfg(target_os = "linux")]
mod self_update;
mod serve;
mod server_facts;
mod stream_faults;
#[cfg(target_os = "linux")]
mod suspension;
mod tls;
#[cfg(unix)]
mod vertex;
mod weak_models;
mod worktrees;
