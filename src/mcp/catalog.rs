//! The tools of all servers under names that a model can call, and a search in them for when the
//! list is too long to be sent with every request.

use std::collections::BTreeSet;

use super::message::ServerTool;

/// The most characters that providers take in the name of a tool.
const MAX_NAME: usize = 64;

/// The tools of all servers that run, in a stable order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolCatalog {
    tools: Vec<OfferedTool>,
}

/// A tool as the model gets it.
#[derive(Clone, Debug, PartialEq)]
pub struct OfferedTool {
    /// `mcp__server__tool`, of letters, digits, `_` and `-` alone, unique in its catalog.
    pub name: String,
    pub server: String,
    pub tool: ServerTool,
}
