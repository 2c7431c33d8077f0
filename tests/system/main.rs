//! Tests of what depends on the system or changes the state of a process: signals, limits, the
//! sandbox, daemons, jobs, what is left after a run or a crash.

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

#[cfg(target_os = "linux")]
mod cleanup;
#[cfg(target_os = "linux")]
mod crash_recovery;
#[cfg(target_os = "linux")]
mod daemons;
#[cfg(unix)]
mod differential;
#[cfg(unix)]
mod exec;
#[cfg(target_os = "linux")]
mod fault_tolerance;
#[cfg(unix)]
mod harmless_commands;
#[cfg(target_os = "linux")]
mod headless_signals;
mod jobs;
#[cfg(target_os = "linux")]
mod large_sessions;
#[cfg(target_os = "linux")]
mod program_jobs;
#[cfg(unix)]
mod programs;
#[cfg(unix)]
mod repositories;
#[cfg(unix)]
mod sandbox;
#[cfg(unix)]
mod sandbox_approval;
#[cfg(target_os = "linux")]
mod shutdown;
#[cfg(target_os = "linux")]
mod signals;
#[cfg(target_os = "linux")]
mod stress;
#[cfg(target_os = "linux")]
mod suspension;
