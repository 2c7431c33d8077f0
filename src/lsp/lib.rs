//! A client of language servers: which there are, what they find in files that steps changed, and
//! what they know of code.
//!
//! From the top: `servers` is what a session holds, and one task that owns all servers; `server` is
//! one of them for one root, with the files that it has open; `connection` is its process and its
//! requests; `definition` and `table` say how it is started; `answer` and `edits` read what it
//! answers. What a server sends is hostile: it is bounded and cleaned here. Not here: processes,
//! which the caller starts.

mod answer;
mod answer_context;
mod code_tool;
mod connection;
mod definition;
mod diagnostic;
mod document;
mod edits;
mod launch;
mod page;
mod position;
mod question;
mod server;
mod servers;
mod table;
mod task;
mod wire;

pub use code_tool::code_tools;
pub use definition::{LanguageDefinition, LanguageDefinitions, read_languages};
pub use launch::{LanguageHost, LanguageProcess, LanguageServerPipes};
pub use servers::LanguageServers;

#[cfg(test)]
mod tests;
