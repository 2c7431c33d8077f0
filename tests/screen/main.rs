//! Tests that start the program in a terminal of its own: what it shows and takes, and how it ends
//! by keys, signals, crashes and faults. Nothing here runs a step in this process: see
//! `tests/system/main.rs`.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::print_stdout,
    clippy::string_slice,
    clippy::type_complexity,
    clippy::unwrap_used,
    reason = "tests"
)]

#[path = "../support/mod.rs"]
mod support;

#[cfg(target_os = "linux")]
mod disk;

#[cfg(target_os = "linux")]
mod cleanup;
#[cfg(target_os = "linux")]
mod crash_recovery;
mod extensions;
#[cfg(target_os = "linux")]
mod fault_tolerance;
#[cfg(target_os = "linux")]
mod goals;
#[cfg(target_os = "linux")]
mod headless_signals;
#[cfg(target_os = "linux")]
mod large_sessions;
mod live_settings;
mod modes;
#[cfg(target_os = "linux")]
mod persistence;
#[cfg(target_os = "linux")]
mod plain;
#[cfg(target_os = "linux")]
mod program_jobs;
#[cfg(target_os = "linux")]
mod pty;
#[cfg(target_os = "linux")]
mod readme;
#[cfg(target_os = "linux")]
mod secrets;
#[cfg(target_os = "linux")]
mod shutdown;
#[cfg(target_os = "linux")]
mod signals;
#[cfg(target_os = "linux")]
mod stress;
#[cfg(unix)]
mod terminal;
#[cfg(target_os = "linux")]
mod terminal_injection;
#[cfg(target_os = "linux")]
mod terminal_output;
#[cfg(target_os = "linux")]
mod terminal_programs;
#[cfg(target_os = "linux")]
mod windows;
