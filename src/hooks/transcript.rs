//! The conversation as hooks of Claude Code read it: a line of JSON for each message.

use serde_json::{Value, json};

use avocet_core::i18n::Lang;
use avocet_core::protocol::{Event, Observation};
use avocet_core::text::cut_end;

use super::call::{HookSession, ToolView};

/// The most of a conversation, and of one text in it, in bytes.
const MAX_TRANSCRIPT: usize = 1 << 20;
const MAX_TEXT: usize = 32 * 1024;

/// The newest part of a conversation, as far as there is room for it.
pub fn transcript(
    events: &[Event],
    session: &HookSession,
    mask: &dyn Fn(&str) -> String,
) -> String {
    let mut parts = Vec::new();
    let mut room = MAX_TRANSCRIPT;
    for event in events.iter().rev() {
        let messages = messages(event, session, mask).into_iter();
        let lines: String = messages
            .map(|(role, content)| {
                let message = json!({ "role": role, "content": content });
                let cwd = session.cwd.to_string_lossy();
                let id = session.id.as_str();
                let line = json!({ "type": role, "sessionId": id, "cwd": cwd, "message": message });
                format!("{line}\n")
            })
            .collect();
        let Some(rest) = room.checked_sub(lines.len()) else { break };
        room = rest;
        parts.push(lines);
    }
    parts.reverse();
    parts.concat()
}

fn messages(
    event: &Event,
    session: &HookSession,
    mask: &dyn Fn(&str) -> String,
) -> Vec<(&'static str, Value)> {
    let bounded = |text: &str| cut_end(&mask(text), MAX_TEXT);
    match event {
        Event::TurnStarted { text, .. } | Event::Steered { text, .. } => {
            vec![("user", json!(bounded(text)))]
        }
        Event::Replied(reply) if !reply.message.is_empty() => {
            vec![("assistant", json!([{ "type": "text", "text": bounded(&reply.message) }]))]
        }
        Event::StepFinished(seen) => {
            let step = &seen.step;
            let mut view = ToolView::new(&step.work, step.cwd.as_deref(), &session.cwd);
            shorten(&mut view.input, &bounded);
            let call = json!({
                "type": "tool_use", "id": step.id, "name": view.claude, "input": view.input,
            });
            let result = json!({
                "type": "tool_result",
                "tool_use_id": step.id,
                "content": bounded(&result_text(seen)),
                "is_error": !seen.succeeded(),
            });
            vec![("assistant", json!([call])), ("user", json!([result]))]
        }
        _ => Vec::new(),
    }
}

fn result_text(observation: &Observation) -> String {
    let note = observation.note.as_ref().map(|note| note.text(Lang::En)).unwrap_or_default();
    let parts = [observation.stdout.trim_end(), observation.stderr.trim_end(), &note];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n")
}

/// Masks and bounds the texts in a value.
fn shorten(value: &mut Value, bounded: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = bounded(text),
        Value::Array(items) => items.iter_mut().for_each(|item| shorten(item, bounded)),
        Value::Object(fields) => fields.values_mut().for_each(|item| shorten(item, bounded)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
