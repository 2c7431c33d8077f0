//! What the user asks of the MCP servers of a session.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum McpAction {
    /// Lists them.
    Show,
    /// Reads their definitions again.
    Reload,
    Restart {
        server: String,
    },
    On {
        server: String,
    },
    /// Until it is switched on, or the session ends.
    Off {
        server: String,
    },
}

impl McpAction {
    /// Reads what follows `/mcp`; `None`: nothing that is understood.
    pub fn parse(text: &str) -> Option<McpAction> {
        let (verb, name) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let server = name.trim().to_owned();
        match (verb, server.is_empty()) {
            ("" | "list", true) => Some(McpAction::Show),
            ("reload", true) => Some(McpAction::Reload),
            ("restart", false) => Some(McpAction::Restart { server }),
            ("on", false) => Some(McpAction::On { server }),
            ("off", false) => Some(McpAction::Off { server }),
            _ => None,
        }
    }
}
