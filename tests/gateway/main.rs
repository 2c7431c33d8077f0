//! Tests of the gateways, against chat services on loopback.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::result_large_err,
    clippy::string_slice,
    clippy::too_many_lines,
    clippy::unwrap_used,
    reason = "tests"
)]

#[path = "../support/mod.rs"]
mod support;

mod client;
mod fakes;
mod process;

mod discord;
#[cfg(target_os = "linux")]
mod discord_run;
mod feishu;
#[cfg(target_os = "linux")]
mod feishu_run;
#[cfg(target_os = "linux")]
mod journeys;
mod menu;
#[cfg(target_os = "linux")]
mod setup;
mod slack;
#[cfg(target_os = "linux")]
mod slack_run;
#[cfg(target_os = "linux")]
mod telegram;
#[cfg(target_os = "linux")]
mod telegram_faults;
#[cfg(target_os = "linux")]
mod telegram_users;
