//! A client of the Model Context Protocol: where servers are defined, what they offer, and a task
//! for each one that runs.
//!
//! From the top: `server` is the task of one server, which takes an [`McpRequest`] and sends an
//! [`McpEvent`], both plain data; `catalog` names the tools of all servers for the model;
//! `definition` is what the user wrote about a server, read in place from the files of several
//! programs. What a server sends is hostile: it is bounded and cleaned here, so that no event holds
//! a control character or more than its limit. Not here: processes, which the caller starts, and
//! questions, which the caller asks.

mod catalog;
mod clean;
mod client;
mod client_error;
mod content;
mod definition;
mod definition_files;
mod entry;
mod facts;
mod login;
mod message;
mod open;
mod pipe;
mod question;
mod running;
mod server;
mod sse;

pub use catalog::{OfferedTool, ToolCatalog};
pub use definition::{
    DefinitionOrigin, DefinitionProgram, RemoteServer, ServerDefinition, ServerTransport,
    StdioServer, ToolFilter,
};
pub use definition_files::{
    DefinitionDiagnostic, DefinitionFolders, ServerDefinitions, read_definitions,
};
pub use login::{McpLogin, begin_login};
pub use message::{
    McpCallId, McpContent, McpError, McpEvent, McpQuestion, McpQuestionId, McpReply, McpRequest,
    McpServerFacts, PromptArgument, ServerPrompt, ServerResource, ServerTool,
};
pub use server::{McpServer, ServerLaunch, ServerPipes, ServerStarter, start_server};

/// The first letters of the hash of a text.
fn short_hash(text: &str, length: usize) -> String {
    use sha2::{Digest, Sha256};
    let digest = Sha256::digest(text);
    digest
        .iter()
        .flat_map(|byte| format!("{byte:02x}").into_bytes())
        .map(char::from)
        .take(length)
        .collect()
}
