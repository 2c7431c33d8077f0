//! The names of steps that call tools of MCP servers.

/// What the name of a step begins with that calls a tool of a server: `mcp.SERVER.TOOL`.
pub const PREFIX: &str = "mcp.";

/// The tool that calls those of servers.
pub const CALL: &str = "mcp.call";

/// The tool that looks tools of servers up.
pub const FIND: &str = "mcp.find";

/// Whether a name is one of a server's tool.
pub fn is_call(name: &str) -> bool {
    name.strip_prefix(PREFIX).is_some_and(|rest| rest.contains('.'))
}
