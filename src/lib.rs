//! A coding agent for the terminal: you talk to a model, it proposes steps, and
//! nothing runs that you did not allow.
//!
//! The modules below are listed from the outside in, on shelves. A module may use
//! any module on a shelf below its own, and nothing else: neighbours do not know
//! each other. `tests/architecture.rs` reads this list and holds the tree to it.
//!
//! Absences that are checked as well: `protocol`, `safety`, `context`, `prompt` and
//! `agent::turn` know no `async`, no I/O and no clock. Only `tools::exec` starts
//! processes, only `model` speaks HTTP, only `config` reads the environment, only
//! `tui` names ratatui or crossterm, and nothing outside `safety` makes a
//! [`safety::Cleared`] step.

// Top: builds every part and wires them, once.
pub mod app;

// Surfaces: how people reach it.
pub mod cli;
pub mod tui;

// Desk: what one line of input does.
pub mod commands;
pub mod session;

// Scripts: the ISDK language.
pub mod script;

// Loop: one user turn.
pub mod agent;

// Kept: what people write for the program, read from their files.
pub mod library;

// Edges: network, processes, files.
pub mod config;
pub mod model;
pub mod store;
pub mod tools;

// Ground: what every edge does alike.
pub mod deadline;
pub mod disk;
pub mod signals;
pub mod terminal_modes;

// Rules: pure decisions.
pub mod context;
pub mod prompt;
pub mod safety;

// Protocol: the plain data that crosses between the shelves.
pub mod protocol;

// Words: the sentences people read.
pub mod words;
