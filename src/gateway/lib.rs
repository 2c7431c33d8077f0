//! Chat services as frontends: a conversation in Telegram, Slack, Discord or Feishu is a session
//! like that of the terminal.
//!
//! [`platform`] is what a service does for the rest; each service implements it in a file of its
//! own, thin over its protocol. [`menu`] makes the lists of commands that a service shows, and
//! [`access`] decides who may talk.

pub mod access;
pub mod access_file;
mod call;
mod catch_up;
pub mod chat;
mod connection;
pub mod conversation;
pub mod discord;
mod edit_pace;
pub mod feishu;
mod fetch;
mod files;
mod known_places;
mod known_users;
pub mod ledger;
mod lenient;
pub mod markup;
pub mod menu;
mod own_conversation;
mod pieces;
pub mod platform;
mod progress;
pub mod question;
mod question_watch;
mod quote;
mod rate_limits;
mod receive;
mod recent;
mod reply;
pub mod run;
mod service;
pub mod setup;
pub mod setup_report;
pub mod shown_menu;
pub mod slack;
pub mod split;
pub mod telegram;
mod terminal_names;
pub mod timeline;
mod typed_command;
mod wait;
