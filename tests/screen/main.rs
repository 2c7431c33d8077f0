//! Tests that start the program in a terminal of its own.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::print_stdout,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "tests"
)]

#[path = "../support/mod.rs"]
mod support;

mod extensions;
mod live_settings;
mod modes;
#[cfg(target_os = "linux")]
mod persistence;
#[cfg(target_os = "linux")]
mod plain;
#[cfg(target_os = "linux")]
mod pty;
#[cfg(target_os = "linux")]
mod secrets;
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
