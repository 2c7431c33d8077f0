//! The JSON Schema of a reply, for servers with constrained output.
//!
//! A union by `type`, and bounded everywhere but in what is meant to be long: a weak model that is
//! held to an unbounded list fills it until the context is full.

use std::sync::{Arc, LazyLock};

use serde_json::{Value, json};

/// The longest argument, folder or suggestion, and the most of them.
const SHORT: usize = 1_000;
const ARGS: usize = 64;
const COMMANDS: usize = 16;
const SUGGESTIONS: usize = 4;

/// The same in [`short_schema`].
const SHORT_MESSAGE: usize = 2_000;
const SHORT_ARG: usize = 200;
const SHORT_ARGS: usize = 8;
const SHORT_COMMANDS: usize = 3;

/// [`schema`], made once for all requests.
pub fn shared_schema() -> Arc<Value> {
    static SCHEMA: LazyLock<Arc<Value>> = LazyLock::new(|| Arc::new(schema()));
    Arc::clone(&SCHEMA)
}

/// [`short_schema`], made once for all requests.
pub fn shared_short_schema() -> Arc<Value> {
    static SCHEMA: LazyLock<Arc<Value>> = LazyLock::new(|| Arc::new(short_schema()));
    Arc::clone(&SCHEMA)
}

/// The schema. `type` and `message` come first, so that a server which writes fields in this order
/// sends the readable text early; kept small, because it is sent with each request.
pub fn schema() -> Value {
    let text = json!({ "type": "string" });
    let short = json!({ "type": "string", "maxLength": SHORT });
    let flag = json!({ "type": "boolean" });
    let requires = object(
        json!({ "confirm": flag, "elevated": flag, "network": flag, "write": flag, "background": flag }),
        &[],
    );
    let exec = object(
        json!({
            "program": short,
            "args": list(&short, 0, ARGS),
            "timeout_s": { "type": "integer" },
            "requires": requires,
        }),
        &["program", "args"],
    );
    let tool = object(json!({ "tool": short, "input": { "type": "object" } }), &["tool", "input"]);
    let said = object(json!({ "suggestions": list(&short, 0, SUGGESTIONS) }), &[]);
    let steps = object(
        json!({
            "cwd": { "type": ["string", "null"] },
            "commands": list(&json!({ "anyOf": [exec, tool] }), 1, COMMANDS),
            "expected_effect": short,
        }),
        &["commands"],
    );
    let reply = |kind: &str, data: Value| {
        object(
            json!({ "type": { "const": kind }, "message": text, "data": data }),
            &["type", "message", "data"],
        )
    };
    // What an `error` says a chat says as well.
    json!({ "anyOf": [reply("chat", said), reply("cmd", steps)] })
}

/// The same for a small model: little to choose from, and an end to everything but the contents of
/// files. Longer bounds are refused by the grammars of some servers.
pub fn short_schema() -> Value {
    let text = |most: usize| json!({ "type": "string", "maxLength": most });
    let whole = json!({ "type": "string" });
    let path = text(SHORT_ARG);
    let exec = object(
        json!({ "program": path, "args": list(&path, 0, SHORT_ARGS) }),
        &["program", "args"],
    );
    let tool = |name: &str, input: Value, required: &[&str]| {
        let input = object(input, required);
        object(json!({ "tool": { "const": name }, "input": input }), &["tool", "input"])
    };
    let edit = object(json!({ "old": whole, "new": whole }), &["old", "new"]);
    let edits = list(&edit, 1, SHORT_COMMANDS);
    let command = json!({ "anyOf": [
        exec,
        tool("file.read", json!({ "path": path }), &["path"]),
        tool("file.edit", json!({ "path": path, "edits": edits }), &["path", "edits"]),
        tool("file.write", json!({ "path": path, "content": whole }), &["path", "content"]),
    ] });
    let commands = list(&command, 1, SHORT_COMMANDS);
    let steps = object(json!({ "commands": commands }), &["commands"]);
    let reply = |kind: &str, message: usize, more: Value, required: &[&str]| {
        let mut properties = json!({ "type": { "const": kind }, "message": text(message) });
        if let (Some(all), Value::Object(more)) = (properties.as_object_mut(), more) {
            all.extend(more);
        }
        object(properties, required)
    };
    json!({ "anyOf": [
        reply("chat", SHORT_MESSAGE, json!({}), &["type", "message"]),
        reply("cmd", SHORT_ARG, json!({ "data": steps }), &["type", "message", "data"]),
    ] })
}

fn list(items: &Value, least: usize, most: usize) -> Value {
    let mut out = json!({ "type": "array", "items": items, "maxItems": most });
    if least > 0 {
        out["minItems"] = json!(least);
    }
    out
}

fn object(properties: Value, required: &[&str]) -> Value {
    let mut out = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        out["required"] = json!(required);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unbounded(schema: &Value, path: &str, found: &mut Vec<String>) {
        let is = |kind: &str| schema.get("type") == Some(&json!(kind));
        if is("array") && schema.get("maxItems").is_none() {
            found.push(path.to_owned());
        }
        if is("string") && schema.get("maxLength").is_none() {
            found.push(path.to_owned());
        }
        let children = schema.as_object().into_iter().flatten();
        for (name, child) in children {
            unbounded(child, &format!("{path}/{name}"), found);
        }
        for (index, child) in schema.as_array().into_iter().flatten().enumerate() {
            unbounded(child, &format!("{path}/{index}"), found);
        }
    }

    #[test]
    fn only_the_message_is_unbounded() {
        let mut found = Vec::new();
        unbounded(&schema(), "", &mut found);
        let messages: Vec<String> =
            (0..2).map(|index| format!("/anyOf/{index}/properties/message")).collect();
        assert_eq!(found, messages);
    }

    #[test]
    fn only_the_contents_of_files_are_unbounded_for_a_small_model() {
        let mut found = Vec::new();
        unbounded(&short_schema(), "", &mut found);
        assert_eq!(found.len(), 3, "{found:?}");
        let last = |path: &String| path.rsplit('/').next().unwrap().to_owned();
        let mut names: Vec<String> = found.iter().map(last).collect();
        names.sort();
        assert_eq!(names, ["content", "new", "old"]);
    }

    #[test]
    fn steps_need_a_command_and_a_chat_has_none() {
        let schema = schema();
        let data = |index: usize| &schema["anyOf"][index]["properties"]["data"];
        assert_eq!(data(1)["required"], json!(["commands"]));
        assert_eq!(data(1)["properties"]["commands"]["minItems"], 1);
        assert_eq!(data(0)["properties"].get("commands"), None);
    }
}
