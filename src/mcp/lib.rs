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
mod file_report;
mod hash;
mod http;
mod launch;
mod login;
mod message;
mod need;
mod offers;
mod open;
mod pipe;
mod question;
mod running;
mod sampling;
mod server;
mod sse;
mod throttle;

pub use catalog::{OfferedTool, ToolCatalog};
pub use definition::{
    DefinitionOrigin, DefinitionProgram, RemoteServer, ServerDefinition, ServerTransport,
    StdioServer, ToolFilter,
};
pub use definition_files::{
    DefinitionDiagnostic, DefinitionFolders, ServerDefinitions, read_definitions,
};
pub use file_report::file_rows;
pub use launch::{ServerLaunch, ServerPipes, ServerStarter};
pub use login::{McpLogin, begin_login};
pub use message::{
    McpCallId, McpContent, McpError, McpEvent, McpQuestion, McpQuestionId, McpReply, McpRequest,
    McpServerFacts, PromptArgument, SampledAnswer, SamplingRequest, ServerPrompt, ServerResource,
    ServerTool,
};
pub use need::ServerNeed;
pub use offers::{OfferedPrompt, OfferedResource, ServerOffers};
pub use server::{McpServer, start_server};

#[cfg(test)]
mod tests;
