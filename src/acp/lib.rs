//! Editors as frontends, over the Agent Client Protocol: JSON-RPC on standard input and output. A
//! session of an editor is a session like that of the terminal, saved in the same place.
//!
//! The types are those of the protocol's own schema; [`wire`] reads and writes the messages. [`serve`]
//! knows the open sessions and hands each message to its own; a session runs on a task of its own
//! and asks [`conversation`], which is pure, what every message and every event means.
//! [`op_server`] is for programs that take the ops and events as they are.

pub mod client_servers;
mod conversation;
mod editor_files;
mod elicitation;
mod message_fold;
pub mod op_server;
mod open_session;
mod permission;
mod prompt_blocks;
pub mod serve;
pub mod services;
mod tool_calls;
pub mod wire;
