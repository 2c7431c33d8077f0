//! Tests of steps as the system runs them: the processes of `exec` and of jobs, the sandbox, and the
//! programs of this machine.
//!
//! The library makes the process it runs in adopt orphans and looks at all its children. So these
//! tests share no process with those that start the program and kill it: its orphans would come
//! here, and a step might take them for its own.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::print_stdout,
    clippy::type_complexity,
    clippy::unwrap_used,
    reason = "tests"
)]

#[path = "../support/mod.rs"]
mod support;

/// Held by tests that run many steps at once, and by those whose steps leave processes without the
/// mark of a step: what is started beside them may be taken for theirs.
static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

#[cfg(unix)]
mod differential;
#[cfg(unix)]
mod exec;
#[cfg(unix)]
mod harmless_commands;
mod jobs;
#[cfg(unix)]
mod lines;
#[cfg(unix)]
mod programs;
#[cfg(unix)]
mod reading;
#[cfg(unix)]
mod repositories;
#[cfg(unix)]
mod sandbox;
#[cfg(unix)]
mod sandbox_approval;
#[cfg(target_os = "linux")]
mod wall;
