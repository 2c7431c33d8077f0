//! Ollama's own `/api/chat`: one JSON object a line.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::calls::CallPieces;
use super::format::{
    Answer, Framing, Origin, ReadError, WireCall, WireFormat, WireReader, arguments_object,
    count_at, text_at,
};
use crate::{Effort, Request};
use avocet_core::protocol::{ContentBlock, Message, Role, TextBlock, Truncation, Usage};

#[derive(Debug)]
pub(super) struct OllamaChat;

/// The context that is asked for: its own default is so small that the system prompt would be
/// dropped without a word. Steps of doubling, because each change loads the model again.
const MIN_CONTEXT: u64 = 16_384;
const MAX_CONTEXT: u64 = 262_144;

/// Room for the answer, and the most of it: an answer seldom is as long as it may be, and the
/// larger context takes memory from the first word.
const ANSWER: u64 = 4_096;
const MAX_ANSWER: u64 = 8_192;

/// Options by their name here.
const OPTIONS: &[(&str, &str)] = &[
    ("temperature", "temperature"),
    ("top_p", "top_p"),
    ("top_k", "top_k"),
    ("min_p", "min_p"),
    ("seed", "seed"),
    ("max_tokens", "num_predict"),
    ("presence_penalty", "presence_penalty"),
    ("frequency_penalty", "frequency_penalty"),
    ("repeat_penalty", "repeat_penalty"),
    ("num_ctx", "num_ctx"),
    ("stop", "stop"),
];

impl WireFormat for OllamaChat {
    fn path(&self, _: &str) -> String {
        "api/chat".to_owned()
    }

    fn body(&self, call: &WireCall<'_>) -> Value {
        let (request, features) = (call.request, call.features);
        let mut options = json!({ "num_ctx": context(request) });
        let params = serde_json::to_value(&request.params).unwrap_or_default();
        for (ours, theirs) in OPTIONS {
            if let Some(value) = params.get(ours) {
                options[theirs] = value.clone();
            }
        }
        let mut body = json!({
            "model": call.model,
            "messages": messages(call),
            "stream": true,
            "options": options,
            // An error instead of a conversation without its beginning.
            "truncate": false,
            "shift": false,
        });
        // It would keep the model from calling tools.
        let is_held = request.tools.is_empty();
        if let Some(schema) = features.schema(request).filter(|_| is_held) {
            body["format"] = schema.clone();
        } else if is_held && features.asks_json(request) {
            body["format"] = json!("json");
        }
        if !request.tools.is_empty() {
            let tools = request.tools.iter().map(|tool| {
                let function = json!({
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters,
                });
                json!({ "type": "function", "function": function })
            });
            body["tools"] = tools.collect();
        }
        if let Some(effort) = features.effort(request) {
            body["think"] = think(call.model, effort);
        }
        body
    }

    fn reader(&self, call: &WireCall<'_>) -> Box<dyn WireReader> {
        Box::new(OllamaReader {
            origin: call.origin(),
            keeps_thinking: call.keeps_opaque(),
            taken: call.taken_ids(),
            is_thinking: false,
            calls: CallPieces::default(),
        })
    }

    fn framing(&self) -> Framing {
        Framing::Lines
    }
}

/// Only some models know levels; the others are switched.
fn think(model: &str, effort: Effort) -> Value {
    match effort {
        Effort::None if !model.contains("gpt-oss") => json!(false),
        Effort::None | Effort::Minimal | Effort::Low if model.contains("gpt-oss") => json!("low"),
        Effort::Medium if model.contains("gpt-oss") => json!("medium"),
        _ if model.contains("gpt-oss") => json!("high"),
        _ => json!(true),
    }
}

/// How large the context must be for this request and its answer: as large as it is already, if
/// that does, and no larger than the model can have.
fn context(request: &Request) -> u64 {
    let answer = request.params.max_tokens.map_or(ANSWER, u64::from).min(MAX_ANSWER);
    let needed = request.estimate_tokens() + answer;
    if let Some(loaded) = request.limits.loaded.filter(|loaded| *loaded >= needed) {
        return loaded;
    }
    let most = request.limits.window.unwrap_or(MAX_CONTEXT);
    needed.clamp(MIN_CONTEXT, MAX_CONTEXT).next_power_of_two().min(most)
}

fn messages(call: &WireCall<'_>) -> Value {
    let mut wire = Vec::new();
    for message in &call.request.messages {
        match message.role {
            Role::System => wire.push(json!({ "role": "system", "content": message.text() })),
            Role::User => user(message, &mut wire),
            Role::Assistant => wire.push(assistant(call, message)),
        }
    }
    Value::Array(wire)
}

fn user(message: &Message, wire: &mut Vec<Value>) {
    let mut images = Vec::new();
    for block in &message.blocks {
        match block {
            ContentBlock::ToolResult(result) => wire.push(json!({
                "role": "tool",
                "tool_name": result.name,
                "tool_call_id": result.call,
                "content": result.content,
            })),
            ContentBlock::Image(image) => images.push(image.data.as_str()),
            ContentBlock::Text(_) | ContentBlock::Reasoning(_) | ContentBlock::ToolCall(_) => {}
        }
    }
    let text = message.text();
    if !text.is_empty() || !images.is_empty() || !message.has_results() {
        let mut said = json!({ "role": "user", "content": text });
        if !images.is_empty() {
            said["images"] = json!(images);
        }
        wire.push(said);
    }
}

fn assistant(call: &WireCall<'_>, message: &Message) -> Value {
    let mut wire = json!({ "role": "assistant", "content": message.text() });
    let calls: Vec<Value> = message
        .calls()
        .map(|made| {
            let arguments = arguments_object(&made.arguments);
            json!({ "id": made.id, "function": { "name": made.name, "arguments": arguments } })
        })
        .collect();
    if calls.is_empty() {
        return wire;
    }
    wire["tool_calls"] = Value::Array(calls);
    let thoughts = message.blocks.iter().filter_map(|block| match block {
        ContentBlock::Reasoning(TextBlock { text, opaque }) => {
            call.opened(opaque).map(|_| text.as_str())
        }
        _ => None,
    });
    let thinking: String = thoughts.collect();
    if !thinking.is_empty() {
        wire["thinking"] = json!(thinking);
    }
    wire
}

/// Reads the lines of one answer.
#[derive(Debug)]
struct OllamaReader {
    origin: Origin,
    keeps_thinking: bool,
    taken: HashSet<String>,
    is_thinking: bool,
    calls: CallPieces,
}

impl WireReader for OllamaReader {
    fn read(&mut self, line: &Value, answer: &mut Answer) -> Result<(), ReadError> {
        let message = line.get("message").unwrap_or(&Value::Null);
        let thinking = text_at(message, "thinking");
        answer.thought(thinking);
        self.is_thinking |= !thinking.is_empty();
        let text = text_at(message, "content");
        let calls = message.get("tool_calls");

        let calls = calls.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        if !text.is_empty() || !calls.is_empty() {
            self.seal(answer);
        }
        answer.text(text);
        for made in calls {
            // Each is whole; an index counts all calls of the answer, or those of this line only.
            let mut whole = made.clone();
            if let Some(whole) = whole.as_object_mut() {
                whole.remove("index");
            }
            self.calls.push(&whole, answer);
        }
        if line.get("done").and_then(Value::as_bool).unwrap_or(false) {
            answer.count(usage(line));
            answer.finish((text_at(line, "done_reason") == "length").then_some(Truncation::Length));
            answer.close();
        }
        Ok(())
    }

    fn end(&mut self, answer: &mut Answer) {
        self.seal(answer);
        self.calls.take(&mut self.taken).into_iter().for_each(|call| answer.call(call));
    }
}

impl OllamaReader {
    /// Thinking is complete when something else begins.
    fn seal(&mut self, answer: &mut Answer) {
        if std::mem::take(&mut self.is_thinking) && self.keeps_thinking {
            answer.seal_thought(self.origin.seal(json!({ "field": "thinking" })));
        }
    }
}

fn usage(line: &Value) -> Option<Usage> {
    let input = count_at(line, "/prompt_eval_count");
    let output = count_at(line, "/eval_count");

    (input.is_some() || output.is_some())
        .then(|| Usage::counted(input.unwrap_or(0), output.unwrap_or(0)))
}

#[cfg(test)]
mod tests;
