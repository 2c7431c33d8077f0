//! A client of the Model Context Protocol: where servers are defined, what they offer, and a task
//! for each one that runs.
//!
//! In layers, from the top: `server` is the task of one server, which takes an [`McpRequest`] and
//! sends an [`McpEvent`], both plain data; `catalog` names the tools of all servers for the model;
//! `definition` is what the user wrote about a server, read in place from the files of several
//! programs. What a server sends is hostile: it is capped here and cleaned here, so that no event
//! holds a control character or more than its limit. Not here: processes, which the caller starts,
//! and questions, which the caller asks.

pub mod catalog;
pub mod definition;
pub mod definition_files;
pub mod login;
pub mod message;
pub mod server;

pub use catalog::{OfferedTool, ToolCatalog};
pub use definition::{
    DefinitionOrigin, DefinitionProgram, RemoteServer, ServerDefinition, ServerTransport,
    StdioServer, ToolFilter,
};
pub use definition_files::{DefinitionFolders, ServerDefinitions, read_definitions};
pub use message::{
    McpCallId, McpError, McpEvent, McpQuestion, McpQuestionId, McpReply, McpRequest, McpResult,
    PromptArgument, ServerFacts, ServerPrompt, ServerResource, ServerTool,
};
pub use server::{McpServer, ServerConnector, ServerPipes, ServerSettings, start_server};
