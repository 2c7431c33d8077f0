//! Reads what a server lists, item by item: one that is wrong costs only itself.

use std::sync::Arc;

use rmcp::model::ServerPeerInfo;
use serde_json::{Map, Value, json};

use super::clean;
use super::client::Caller;
use super::definition::ToolFilter;
use super::message::{
    McpError, McpServerFacts, PromptArgument, ServerPrompt, ServerResource, ServerTool,
};

/// The most items of a list, and the most pages that they may come in.
const MAX_ITEMS: usize = 500;
const MAX_PAGES: usize = 50;
const MAX_INSTRUCTIONS: usize = 4096;
const MAX_NAME: usize = 128;
const MAX_URI: usize = 2048;
const MAX_LINE: usize = 500;
const MAX_DESCRIPTION: usize = 4096;
/// The most bytes of a tool's schema. A larger one is not sent: the model then knows only that an
/// object is wanted.
const MAX_SCHEMA: usize = 16 << 10;
const MAX_ARGUMENTS: usize = 32;

/// Asks a server for all that it lists.
///
/// # Errors
/// Why its tools cannot be listed. Prompts and resources that cannot be are left out.
pub(crate) async fn read(
    mut caller: Caller,
    info: Arc<ServerPeerInfo>,
    filter: ToolFilter,
) -> Result<McpServerFacts, McpError> {
    let mut facts = McpServerFacts {
        title: info.server_info.as_ref().map_or_else(String::new, |server| {
            clean::line(&format!("{} {}", server.name, server.version), MAX_NAME)
        }),
        revision: clean::line(info.protocol_version.as_str(), MAX_NAME),
        instructions: clean::paragraph(
            info.instructions.as_deref().unwrap_or_default(),
            MAX_INSTRUCTIONS,
        ),
        ..McpServerFacts::default()
    };
    let offers = info.capabilities.clone();
    if offers.tools.is_some() {
        let items = list(&mut caller, "tools/list", "tools").await?;
        facts.tools = items.iter().filter_map(|item| tool(item, &filter)).collect();
    }
    if offers.prompts.is_some() {
        let items = list(&mut caller, "prompts/list", "prompts").await.unwrap_or_default();
        facts.prompts = items.iter().filter_map(prompt).collect();
    }
    if offers.resources.is_some() {
        let items = list(&mut caller, "resources/list", "resources").await.unwrap_or_default();
        facts.resources = items.iter().filter_map(resource).collect();
    }
    Ok(facts)
}

async fn list(
    caller: &mut Caller,
    method: &'static str,
    key: &'static str,
) -> Result<Vec<Value>, McpError> {
    let mut items = Vec::new();
    let mut params = Map::new();
    for _ in 0..MAX_PAGES {
        let mut page = caller.ask(method, params.clone()).await?;
        if let Some(Value::Array(listed)) = page.get_mut(key).map(Value::take) {
            items.extend(listed);
        }
        match page.get("nextCursor").filter(|cursor| cursor.is_string()) {
            Some(cursor) if items.len() < MAX_ITEMS => {
                params.insert("cursor".to_owned(), cursor.clone());
            }
            _ => break,
        }
    }
    items.truncate(MAX_ITEMS);
    Ok(items)
}

fn tool(item: &Value, filter: &ToolFilter) -> Option<ServerTool> {
    let name = name(item, "name", MAX_NAME).filter(|name| filter.allows(name))?;
    let description = item.get("description").and_then(Value::as_str).unwrap_or_default();
    let said = item.get("annotations").and_then(|hints| hints.get("readOnlyHint"));
    Some(ServerTool {
        name,
        description: clean::paragraph(description, MAX_DESCRIPTION).into(),
        schema: schema(item.get("inputSchema")),
        is_said_read_only: said.and_then(Value::as_bool).unwrap_or(false),
    })
}

fn prompt(item: &Value) -> Option<ServerPrompt> {
    let arguments = item.get("arguments").and_then(Value::as_array);
    let arguments = arguments.into_iter().flatten().filter_map(|argument| {
        Some(PromptArgument {
            name: name(argument, "name", MAX_NAME)?,
            description: clean::member(argument, "description", MAX_LINE),
            is_required: argument.get("required").and_then(Value::as_bool).unwrap_or(false),
        })
    });
    Some(ServerPrompt {
        name: name(item, "name", MAX_NAME)?,
        description: clean::member(item, "description", MAX_LINE),
        arguments: arguments.take(MAX_ARGUMENTS).collect(),
    })
}

fn resource(item: &Value) -> Option<ServerResource> {
    Some(ServerResource {
        uri: name(item, "uri", MAX_URI)?,
        name: clean::member(item, "name", MAX_LINE),
        description: clean::member(item, "description", MAX_LINE),
        mime: clean::member(item, "mimeType", MAX_NAME),
    })
}

/// A name is sent back as it is, so one that cannot be shown as it is cannot be used.
fn name(item: &Value, key: &str, limit: usize) -> Option<String> {
    let name = item.get(key)?.as_str()?;
    let is_shown = clean::line(name, limit) == name && !name.is_empty();
    is_shown.then(|| name.to_owned())
}

/// A schema of type `object`, as every provider wants it.
fn schema(sent: Option<&Value>) -> Arc<str> {
    let schema = sent.and_then(Value::as_object).map(clean::table).unwrap_or_default();
    let text = object_schema(schema);
    let text = if text.len() > MAX_SCHEMA { object_schema(Map::new()) } else { text };
    text.into()
}

fn object_schema(mut schema: Map<String, Value>) -> String {
    schema.remove("$schema");
    schema.insert("type".to_owned(), json!("object"));
    if !schema.get("properties").is_some_and(Value::is_object) {
        schema.insert("properties".to_owned(), json!({}));
    }
    Value::Object(schema).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(item: &Value) -> Option<ServerTool> {
        tool(item, &ToolFilter::default())
    }

    #[test]
    fn a_schema_is_always_an_object_of_bounded_size() {
        let of = |schema: Value| {
            let tool = read(&json!({"name": "t", "inputSchema": schema})).unwrap();
            serde_json::from_str::<Value>(&tool.schema).unwrap()
        };
        let empty = json!({"type": "object", "properties": {}});
        assert_eq!(of(json!(null)), empty);
        assert_eq!(of(json!({"type": "string", "properties": 7})), empty);
        assert_eq!(
            of(json!({"properties": {"a": {"description": "x".repeat(MAX_SCHEMA)}}})),
            empty
        );
        let hidden = of(json!({"properties": {"a\u{202e}": {"enum": ["\u{1b}[2Jb"]}}}));
        assert_eq!(hidden["properties"]["a\\u{202e}"]["enum"], json!(["b"]));
    }

    #[test]
    fn a_name_that_cannot_be_shown_is_not_offered() {
        for name in ["", "a\u{1b}[31m", "a\nb", "a\u{200b}b", &"x".repeat(MAX_NAME + 1)] {
            assert_eq!(read(&json!({"name": name})), None, "{name:?}");
        }
        assert_eq!(read(&json!({"name": 7})), None);
        assert_eq!(read(&json!({"name": "read file"})).unwrap().name, "read file");
    }

    #[test]
    fn a_prompt_keeps_the_arguments_that_can_be_read() {
        let item =
            json!({"name": "p", "arguments": [{"name": "a", "required": true}, {"name": 1}, 7]});
        let arguments = prompt(&item).unwrap().arguments;
        assert_eq!(arguments.len(), 1);
        assert!(arguments[0].is_required);
    }
}
