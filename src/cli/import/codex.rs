//! Codex: one rollout a session, one line an item, in the form of OpenAI's Responses.

use serde_json::Value;

use super::session_reader::{
    ImportedSession, LostPart, SessionReader, action, items, json_lines, shell, text_of,
};

pub fn read(bytes: &[u8]) -> ImportedSession {
    let mut reader = SessionReader::default();
    for line in json_lines(bytes, &mut reader) {
        // The oldest versions wrote the items themselves.
        let payload = line.get("payload").unwrap_or(&line);
        reader.set_time(line.get("timestamp"));
        match text_of(&line, "type") {
            "session_meta" => meta(payload, &mut reader),
            "" if line.get("id").is_some() => meta(payload, &mut reader),
            "response_item" => item(payload, &mut reader),
            "event_msg" | "turn_context" | "compacted" => {}
            _ if line.get("payload").is_some() || line.get("record_type").is_some() => {}
            _ => item(payload, &mut reader),
        }
    }
    reader.finish()
}

fn meta(meta: &Value, reader: &mut SessionReader) {
    if !reader.session.id.is_empty() {
        return;
    }
    reader.session.id = text_of(meta, "id").to_owned();
    reader.session.folder = text_of(meta, "cwd").to_owned();
    reader.set_time(meta.get("timestamp"));
}

/// What the client itself puts into the user's messages.
const OWN_TEXTS: &[&str] = &[
    "<environment_context>",
    "<user_instructions>",
    "<permissions",
    "<turn_aborted>",
    "<skill>",
    "<INSTRUCTIONS>",
    "# AGENTS.md instructions",
];

fn item(item: &Value, reader: &mut SessionReader) {
    let id = text_of(item, "call_id");
    match text_of(item, "type") {
        "message" => message(item, reader),
        "function_call" => {
            let arguments = text_of(item, "arguments");
            let input = serde_json::from_str(arguments).unwrap_or_else(|_| arguments.into());
            reader.call(id, action(text_of(item, "name"), &input));
        }
        "custom_tool_call" => {
            let input = serde_json::json!({ "input": text_of(item, "input") });
            reader.call(id, action(text_of(item, "name"), &input));
        }
        "local_shell_call" => {
            let action = item.get("action").map_or_else(|| shell(""), |of| action("shell", of));
            reader.call(id, action);
        }
        "function_call_output" | "custom_tool_call_output" => {
            let (output, exit_code) = output(item.get("output").unwrap_or(&Value::Null));
            reader.result(id, &output, exit_code);
        }
        "reasoning" => reader.lose(LostPart::Reasoning),
        "web_search_call" | "ghost_snapshot" | "compaction" | "other" => {}
        _ => reader.lose(LostPart::Unread),
    }
}

fn message(item: &Value, reader: &mut SessionReader) {
    let role = text_of(item, "role");
    for part in items(item, "content") {
        let text = text_of(part, "text");
        let is_own = OWN_TEXTS.iter().any(|own| text.trim_start().starts_with(own));
        match (text_of(part, "type"), role) {
            ("input_image", _) => reader.lose(LostPart::Image),
            (_, "user") if !is_own => reader.user(text),
            (_, "assistant") => reader.assistant(text),
            _ => {}
        }
    }
}

/// The text of a result and the status of its program: written as JSON in a text, as an object, as
/// parts, or with a first line that tells it.
fn output(value: &Value) -> (String, Option<i32>) {
    let status = |value: &Value| {
        let code = value.pointer("/metadata/exit_code")?.as_i64()?;
        i32::try_from(code).ok()
    };
    match value {
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(inner @ Value::Object(_)) if inner.get("output").is_some() => {
                (text_of(&inner, "output").to_owned(), status(&inner))
            }
            _ => {
                let mut lines = text.lines().take(6);
                let code = lines.find_map(|line| {
                    let code = line.strip_prefix("Exit code: ");
                    code.or_else(|| line.strip_prefix("Process exited with code "))
                });
                (text.clone(), Some(code.and_then(|code| code.trim().parse().ok()).unwrap_or(0)))
            }
        },
        Value::Array(parts) => {
            let texts: Vec<&str> = parts.iter().map(|part| text_of(part, "text")).collect();
            (texts.join("\n"), Some(0))
        }
        other => {
            let failed = other.get("success") == Some(&Value::Bool(false));
            (text_of(other, "content").to_owned(), Some(i32::from(failed)))
        }
    }
}
