//! opencode: a file a session, a file a message, a file a part of one.

use serde_json::Value;

use super::session_reader::{ImportedSession, LostPart, SessionReader, action, text_of};

/// A message and its parts, as their files say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpencodeMessage {
    pub message: Vec<u8>,
    pub parts: Vec<Vec<u8>>,
}

impl OpencodeMessage {
    pub fn of_texts((message, parts): (String, Vec<String>)) -> OpencodeMessage {
        let parts = parts.into_iter().map(String::into_bytes).collect();
        OpencodeMessage { message: message.into_bytes(), parts }
    }
}

impl ImportedSession {
    /// A session and its messages, both in the order of their files' names, which is that of time.
    pub fn of_opencode(session: &[u8], messages: &[OpencodeMessage]) -> ImportedSession {
        let mut reader = SessionReader::default();
        let about: Value = serde_json::from_slice(session).unwrap_or_default();
        let title = text_of(&about, "title");
        reader.session.id = text_of(&about, "id").to_owned();
        reader.session.folder = text_of(&about, "directory").to_owned();
        reader.session.title = Some(title.to_owned()).filter(|it| !it.starts_with("New session"));
        reader.set_time(about.pointer("/time/created"));
        if about.get("parentID").is_some() {
            reader.lose(LostPart::Subagent);
            return reader.finish();
        }
        for OpencodeMessage { message, parts } in messages {
            match serde_json::from_slice::<Value>(message) {
                Ok(message) => {
                    reader.set_time(message.pointer("/time/created"));
                    let is_user = text_of(&message, "role") == "user";
                    parts.iter().for_each(|bytes| part(bytes, is_user, &mut reader));
                }
                Err(_) => reader.lose(LostPart::Unread),
            }
        }
        reader.finish()
    }
}

fn part(bytes: &[u8], is_user: bool, reader: &mut SessionReader) {
    let Ok(part) = serde_json::from_slice::<Value>(bytes) else {
        return reader.lose(LostPart::Unread);
    };
    let is_hidden =
        ["synthetic", "ignored"].iter().any(|field| part.get(*field) == Some(&Value::Bool(true)));
    match text_of(&part, "type") {
        "text" if is_hidden => {}
        "text" if is_user => reader.user(text_of(&part, "text")),
        "text" => reader.assistant(text_of(&part, "text")),
        "tool" => step(&part, reader),
        "reasoning" => reader.lose(LostPart::Reasoning),
        "file" => reader.lose(LostPart::Image),
        "subtask" => reader.lose(LostPart::Subagent),
        "step-start" | "step-finish" | "snapshot" | "patch" | "agent" | "retry" | "compaction" => {}
        _ => reader.lose(LostPart::Unread),
    }
}

fn step(part: &Value, reader: &mut SessionReader) {
    let state = part.get("state").unwrap_or(&Value::Null);
    let id = text_of(part, "callID");
    reader.call(id, action(text_of(part, "tool"), state.get("input").unwrap_or(&Value::Null)));
    match text_of(state, "status") {
        "completed" => reader.result(id, text_of(state, "output"), Some(0)),
        "error" => reader.result(id, text_of(state, "error"), Some(1)),
        _ => {}
    }
}
