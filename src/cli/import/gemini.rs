//! Gemini CLI: one file a chat, a list of messages with the calls in them.

use serde_json::Value;

use super::session_reader::{ImportedSession, LostPart, SessionReader, action, items, text_of};

pub fn read(bytes: &[u8]) -> ImportedSession {
    let mut reader = SessionReader::default();
    let Ok(chat) = serde_json::from_slice::<Value>(bytes) else {
        reader.lose(LostPart::Unread);
        return reader.finish();
    };
    reader.session.id = text_of(&chat, "sessionId").to_owned();
    reader.set_time(chat.get("startTime"));
    if text_of(&chat, "kind") == "subagent" {
        reader.lose(LostPart::Subagent);
        return reader.finish();
    }
    for message in items(&chat, "messages") {
        let text = content(message.get("content").unwrap_or(&Value::Null), &mut reader);
        reader.set_time(message.get("timestamp"));
        match text_of(message, "type") {
            "user" => reader.user(&text),
            "gemini" => {
                for _ in items(message, "thoughts") {
                    reader.lose(LostPart::Reasoning);
                }
                reader.assistant(&text);
                items(message, "toolCalls").iter().for_each(|call| step(call, &mut reader));
            }
            "info" | "error" | "warning" => {}
            _ => reader.lose(LostPart::Unread),
        }
    }
    reader.finish()
}

fn content(content: &Value, reader: &mut SessionReader) -> String {
    let part = |part: &Value| part.as_str().unwrap_or_else(|| text_of(part, "text")).to_owned();
    match content {
        Value::Array(parts) => {
            let images = parts.iter().filter(|part| part.get("inlineData").is_some());
            images.for_each(|_| reader.lose(LostPart::Image));
            parts.iter().map(part).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
        }
        other => part(other),
    }
}

fn step(call: &Value, reader: &mut SessionReader) {
    let id = text_of(call, "id");
    reader.call(id, action(text_of(call, "name"), call.get("args").unwrap_or(&Value::Null)));
    let status = text_of(call, "status");
    if status == "cancelled" {
        return;
    }
    let texts: Vec<&str> = items(call, "result")
        .iter()
        .filter_map(|part| {
            let response = part.pointer("/functionResponse/response")?;
            response.get("output").or_else(|| response.get("error"))?.as_str()
        })
        .collect();
    reader.result(id, &texts.join("\n"), Some(i32::from(status == "error")));
}
