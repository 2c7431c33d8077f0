//! A coding agent for the terminal: you talk to a model, it proposes steps, and only steps that you
//! allowed run.
//!
//! The modules below are listed in layers, from the outside in. A module may use any module in a
//! layer below its own, and nothing else: modules of one layer do not know each other.
//! `tests/inproc/architecture.rs` reads this list and checks that the source follows it.
//!
//! It also checks what must be absent: `text`, `protocol`, `safety`, `context`, `prompt` and
//! `agent::turn` use no `async`, no I/O and no clock. Only `tools::exec` starts processes, only
//! `model` and `net` speak HTTP, only `config` reads the environment, only `tui` names ratatui or
//! crossterm, and only `safety` makes a [`safety::Cleared`] step.

// Top: builds and connects all parts, once.
pub mod app;

// Frontends: how users reach it.
pub mod cli;
pub mod gateway;
pub mod tui;

// Presentation: what every frontend offers and shows, decided once.
pub mod present;

// Sessions: runs each line of input.
pub mod commands;
pub mod session;

// Scripts: the ISDK language.
pub mod script;

// Loop: one turn of the user.
pub mod agent;

// Extensions: reads the bots, commands and skills that users write.
pub mod extensions;

// Edges: network, processes, files.
pub mod config;
pub mod model;
pub mod store;
pub mod tools;

// Connections: what the edges speak HTTP with.
pub mod net;

// System: what the layers above share.
pub mod deadline;
pub mod private_dir;
pub mod signals;
pub mod terminal_modes;

// Rules: pure decisions.
pub mod context;
pub mod prompt;
pub mod safety;

// Protocol: the plain data that passes between the layers.
pub mod protocol;

// Words: the sentences that users read.
pub mod i18n;

// Text: cuts, quotes and escapes text, and knows nothing else.
pub mod text;
