//! The tools of MCP servers as the model gets them.

use std::sync::Arc;

use serde_json::json;

use avocet_core::protocol::{ToolSchema, reply};
use avocet_mcp::{OfferedTool, ToolCatalog};
use avocet_safety::{MCP_CALL_TOOL, MCP_FIND_TOOL};

/// The most bytes of tools that are described to the model; of more it gets the names.
const MAX_SCHEMAS: usize = 4 * 1024;
/// The most bytes of names in their place.
const MAX_NAMES: usize = 2 * 1024;
fn schema(offered: &OfferedTool) -> ToolSchema {
    ToolSchema {
        name: offered.name.clone(),
        description: offered.tool.description.to_string(),
        parameters: serde_json::from_str(&offered.tool.schema).unwrap_or_default(),
    }
}

/// The tools of servers for a model: each with its input while they are few, else their names and
/// two tools, to look them up and to call them. Requests begin alike however often it looks.
pub(super) fn offered_schemas(catalog: &ToolCatalog) -> Arc<[ToolSchema]> {
    if catalog.bytes() <= MAX_SCHEMAS {
        return catalog.tools().iter().map(schema).collect();
    }
    let mut names = String::new();
    for offered in catalog.tools() {
        if names.len() + offered.name.len() > MAX_NAMES {
            names.push_str(" …");
            break;
        }
        names.push(' ');
        names.push_str(&offered.name);
    }
    let find = json!({
        "type": "object", "properties": { "query": { "type": "string" } }, "required": ["query"],
    });
    let call = json!({
        "type": "object",
        "properties": { "tool": { "type": "string" }, "input": { "type": "object" } },
        "required": ["tool", "input"],
    });
    let schema = ToolSchema {
        name: reply::wire_name(MCP_FIND_TOOL),
        description: format!("gives the inputs of the tools of servers that match, of:{names}"),
        parameters: find,
    };
    let tool_schema = ToolSchema {
        name: reply::wire_name(MCP_CALL_TOOL),
        description: "calls a tool that mcp_find gave".to_owned(),
        parameters: call,
    };
    [schema, tool_schema].into()
}

/// The same for a model that does not call tools, as a part of its prompt.
pub(super) fn server_section<'a>(schemas: impl Iterator<Item = &'a ToolSchema>) -> String {
    let line = |tool: &ToolSchema| {
        let name = reply::tool_name(&tool.name);
        format!("\n- {name}: {}; input {}", tool.description, tool.parameters)
    };
    let lines: String = schemas.map(line).collect();
    if lines.is_empty() { lines } else { format!("\n\nTools of servers:{lines}") }
}
