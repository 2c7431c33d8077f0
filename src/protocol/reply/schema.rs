//! The JSON Schema of a reply, for servers with constrained output.

use serde_json::{Value, json};

/// The schema. `message` comes before `data`, so that a server which writes fields in this order
/// sends the readable text early; kept small, because it is sent with each request.
pub fn schema() -> Value {
    let text = json!({"type": "string"});
    let texts = json!({"type": "array", "items": text});
    let flag = json!({"type": "boolean"});
    let requires = object(
        json!({"confirm": flag, "elevated": flag, "network": flag, "write": flag}),
        json!([]),
    );
    let exec = object(
        json!({"program": text, "args": texts, "requires": requires}),
        json!(["program", "args"]),
    );
    let tool = object(json!({"tool": text, "input": {"type": "object"}}), json!(["tool", "input"]));
    let data = object(
        json!({
            "format": {"enum": ["plain", "markdown"]},
            "suggestions": texts,
            "cwd": {"type": ["string", "null"]},
            "commands": {"type": "array", "items": {"anyOf": [exec, tool]}},
            "expected_effect": text,
        }),
        json!([]),
    );
    object(
        json!({"type": {"enum": ["chat", "cmd", "error"]}, "message": text, "data": data}),
        json!(["type", "message", "data"]),
    )
}

fn object(properties: Value, required: Value) -> Value {
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}
