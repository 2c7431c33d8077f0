//! Chat completions, as OpenAI, Azure, OpenRouter and every compatible server speak them.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::calls::{CallPieces, id_for_wire};
use super::features::RequestFeatures;
use super::format::{
    Answer, Origin, ReadError, WireCall, WireFormat, WireReader, count_at, mark_kept, text_at,
    text_of,
};
use super::habits::{Habits, ReasoningReturn};
use avocet_core::protocol::{ContentBlock, Message, Role, TextBlock, ToolCall, Truncation, Usage};

#[derive(Debug)]
pub(super) struct ChatCompletions;

/// The fields of a message that hold its reasoning as a list of objects: as OpenRouter writes it,
/// and as litellm passes on that of Claude.
const LISTS: &[&str] = &["reasoning_details", "thinking_blocks"];

/// Reasoning that came as a part of the content.
const CONTENT: &str = "content";

impl WireFormat for ChatCompletions {
    fn path(&self, _: &str) -> String {
        "chat/completions".to_owned()
    }

    fn body(&self, call: &WireCall<'_>) -> Value {
        let (request, features) = (call.request, call.features);
        let habits = Habits::of(call.host, call.model);
        let mut body =
            json!({ "model": call.model, "messages": messages(call, habits), "stream": true });
        features.write_params(request, &mut body);
        if features.asks_usage() {
            body["stream_options"] = json!({ "include_usage": true });
        }
        let is_held = request.tools.is_empty() || habits.schema_beside_tools;
        if let Some(format) = features.format(request).filter(|_| is_held) {
            body["response_format"] = format;
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
            habits.ask(effort, &mut body);
        }
        if let Some(key) = request.cache_key.as_ref().filter(|_| habits.cache_key) {
            body["prompt_cache_key"] = json!(key);
        }
        // Anthropic's models cache a prompt only up to a mark, behind any gateway.
        if features.marks_cache()
            && call.model.to_lowercase().contains("claude")
            && let Some(messages) = body["messages"].as_array_mut()
        {
            mark_ends(messages);
        }
        body
    }

    fn reader(&self, call: &WireCall<'_>) -> Box<dyn WireReader> {
        Box::new(ChatReader {
            origin: call.origin(),
            keeps_reasoning: call.keeps_opaque(),
            taken: call.taken_ids(),
            reasoning: None,
            calls: CallPieces::default(),
        })
    }
}

/// Marks the end of the prompt, and where this request and the one before it end: at the results,
/// because what follows those may be gone in the next request.
fn mark_ends(messages: &mut [Value]) {
    for message in messages.iter_mut() {
        if text_at(message, "role") != "assistant"
            && let Some(text) = message["content"].as_str()
        {
            message["content"] = json!([{ "type": "text", "text": text }]);
        }
    }
    let systems = messages.iter().take_while(|message| text_at(message, "role") == "system");
    let prompt = systems.count();
    let ends = messages.get_mut(prompt..).unwrap_or_default();
    let ends = ends.rsplit_mut(|message| text_at(message, "role") == "assistant");
    let mut marks: Vec<&mut Value> = Vec::new();
    for added in ends.filter(|added| !added.is_empty()).take(2) {
        let last = added.len() - 1;
        let at = added.iter().rposition(|message| text_at(message, "role") == "tool");
        marks.extend(added.get_mut(at.unwrap_or(last)));
    }
    for message in marks {
        mark_content(message);
    }
    if let Some(message) = prompt.checked_sub(1).and_then(|last| messages.get_mut(last)) {
        mark_content(message);
    }
}

fn mark_content(message: &mut Value) {
    message["content"].as_array_mut().and_then(|parts| parts.last_mut()).map(mark_kept);
}

fn messages(call: &WireCall<'_>, habits: Habits) -> Value {
    let joined;
    let messages = if call.features.has(RequestFeatures::ONE_SYSTEM) {
        joined = one_system(&call.request.messages);
        &joined
    } else {
        &call.request.messages
    };
    let mut wire = Vec::with_capacity(messages.len());
    for message in messages {
        match message.role {
            Role::System => wire.push(json!({ "role": "system", "content": message.text() })),
            Role::User => user(message, habits, &mut wire),
            Role::Assistant => wire.push(assistant(call, message, habits)),
        }
    }
    Value::Array(wire)
}

/// The name of a document, which has to have one.
const DOCUMENT: &str = "document.pdf";

/// Joins adjacent system messages.
fn one_system(messages: &[Message]) -> Vec<Message> {
    let mut out: Vec<Message> = Vec::with_capacity(messages.len());
    for message in messages {
        match out.last_mut() {
            Some(last) if last.role == Role::System && message.role == Role::System => {
                last.merge(message.clone());
            }
            Some(_) | None => out.push(message.clone()),
        }
    }
    out
}

/// The user's side: results in messages of their own, directly after the calls, then the rest.
fn user(message: &Message, habits: Habits, wire: &mut Vec<Value>) {
    let mut images = Vec::new();
    let mut has_text = false;
    for block in &message.blocks {
        match block {
            ContentBlock::ToolResult(result) => wire.push(json!({
                "role": "tool",
                "tool_call_id": id_for_wire(&result.call, habits.id_length),
                "content": result.content,
            })),
            ContentBlock::Image(image) if image.is_document() => images.push(json!({
                "type": "file",
                "file": { "filename": DOCUMENT, "file_data": image.data_url() },
            })),
            ContentBlock::Image(image) => images.push(json!({
                "type": "image_url",
                "image_url": { "url": image.data_url() },
            })),
            ContentBlock::Text(_) => has_text = true,
            ContentBlock::Reasoning(_) | ContentBlock::ToolCall(_) => {}
        }
    }
    let text = message.text();
    if !images.is_empty() {
        let mut parts = Vec::with_capacity(images.len() + 1);
        if !text.is_empty() {
            parts.push(json!({ "type": "text", "text": text }));
        }
        parts.extend(images);
        wire.push(json!({ "role": "user", "content": parts }));
    } else if has_text || !message.has_results() {
        wire.push(json!({ "role": "user", "content": text }));
    }
}

fn assistant(call: &WireCall<'_>, message: &Message, habits: Habits) -> Value {
    let text = message.text();
    let calls: Vec<Value> = message.calls().map(|made| wire_call(made, habits)).collect();
    let mut wire = json!({ "role": "assistant", "content": text });
    if calls.is_empty() {
        return wire;
    }
    if text.is_empty() {
        wire["content"] = Value::Null;
    }
    wire["tool_calls"] = Value::Array(calls);
    match habits.returns {
        ReasoningReturn::Never => {}
        ReasoningReturn::Same => give_back(call, message, &mut wire),
        ReasoningReturn::Always(field) => {
            wire[field] = json!("");
            give_back(call, message, &mut wire);
        }
    }
    wire
}

/// Puts reasoning of the same model into the field it came in.
fn give_back(call: &WireCall<'_>, message: &Message, wire: &mut Value) {
    let sealed = message.blocks.iter().filter_map(|block| match block {
        ContentBlock::Reasoning(thought) => Some((thought, call.opened(&thought.opaque)?)),
        _ => None,
    });
    for (TextBlock { text, .. }, data) in sealed {
        let field = text_at(data, "field");
        let list = LISTS.iter().find_map(|list| Some((*list, data.get(*list)?.as_array()?)));
        match list {
            Some((list, details)) => append(wire, list, details.clone()),
            None if field == CONTENT => {
                let inner = json!([{ "type": "text", "text": text }]);
                let mut parts = vec![json!({ "type": "thinking", "thinking": inner })];
                if let Some(answer) = wire[CONTENT].as_str().filter(|text| !text.is_empty()) {
                    parts.push(json!({ "type": "text", "text": answer }));
                }
                wire[CONTENT] = Value::Array(parts);
            }
            None if matches!(field, "reasoning_content" | "reasoning") => {
                let before = text_at(wire, field);
                wire[field] = json!(format!("{before}{text}"));
            }
            None => {}
        }
    }
}

fn append(wire: &mut Value, field: &str, more: Vec<Value>) {
    match wire.get_mut(field).and_then(Value::as_array_mut) {
        Some(list) => list.extend(more),
        None => wire[field] = Value::Array(more),
    }
}

fn wire_call(call: &ToolCall, habits: Habits) -> Value {
    json!({
        "id": id_for_wire(&call.id, habits.id_length),
        "type": "function",
        "function": { "name": call.name, "arguments": call.arguments },
    })
}

/// Reads the chunks of one answer.
#[derive(Debug)]
struct ChatReader {
    origin: Origin,
    keeps_reasoning: bool,
    taken: HashSet<String>,
    /// The reasoning that is being read.
    reasoning: Option<Reasoning>,
    calls: CallPieces,
}

#[derive(Debug)]
struct Reasoning {
    field: &'static str,
    /// The field of [`LISTS`] that the details came in.
    list: &'static str,
    details: Vec<Value>,
}

impl WireReader for ChatReader {
    fn read(&mut self, event: &Value, answer: &mut Answer) -> Result<(), ReadError> {
        let event = event.get(0).unwrap_or(event);
        // Some count in the choice, or in a field of their own.
        let counts = ["/usage", "/x_groq/usage", "/choices/0/usage"];
        let counts = counts.iter().filter_map(|path| event.pointer(path));
        answer.count(counts.into_iter().find_map(usage));
        let choices = event.get("choices").and_then(Value::as_array);
        let choice = choices
            .into_iter()
            .flatten()
            .find(|choice| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0);
        match choice {
            Some(choice) => self.choice(choice, answer),
            None => Ok(()),
        }
    }

    fn end(&mut self, answer: &mut Answer) {
        self.seal(answer);
        self.calls.take(&mut self.taken).into_iter().for_each(|call| answer.call(call));
    }
}

impl ChatReader {
    fn choice(&mut self, choice: &Value, answer: &mut Answer) -> Result<(), ReadError> {
        let parts = ["delta", "message"].iter().filter_map(|field| choice.get(field));
        if let Some(part) = parts.into_iter().find(|part| part.is_object()) {
            self.reasoning(part, answer);
            self.content(part.get("content").unwrap_or(&Value::Null), answer);
            self.text(text_at(part, "refusal"), answer);
            self.calls(part, answer);
        } else {
            self.text(text_at(choice, "text"), answer);
        }
        match text_at(choice, "finish_reason") {
            "" => Ok(()),
            reason => finish(reason, answer),
        }
    }

    /// One of its spellings; several hold the same.
    fn reasoning(&mut self, part: &Value, answer: &mut Answer) {
        let list = LISTS.iter().find_map(|list| Some((*list, part.get(*list)?.as_array()?)));
        let list = list.filter(|(_, details)| !details.is_empty());
        let plain = ["reasoning_content", "reasoning"]
            .into_iter()
            .map(|field| (field, text_at(part, field)))
            .find(|(_, text)| !text.is_empty());
        if let Some((field, text)) = plain {
            self.open(field);
            answer.thought(text);
        } else {
            for detail in list.iter().flat_map(|(_, details)| *details) {
                let texts = ["text", "summary", "thinking"].map(|field| text_at(detail, field));
                texts.into_iter().for_each(|text| answer.thought(text));
            }
        }
        if let Some((field, details)) = list {
            let reasoning = self.open(field);
            reasoning.list = field;
            details.iter().for_each(|detail| merge_detail(&mut reasoning.details, detail));
        }
    }

    fn open(&mut self, field: &'static str) -> &mut Reasoning {
        self.reasoning.get_or_insert(Reasoning { field, list: "", details: Vec::new() })
    }

    /// The reasoning is complete when something else begins.
    fn seal(&mut self, answer: &mut Answer) {
        if let Some(Reasoning { field, list, details }) = self.reasoning.take()
            && self.keeps_reasoning
        {
            let data = if details.is_empty() {
                json!({ "field": field })
            } else {
                json!({ "field": field, list: details })
            };
            answer.seal_thought(self.origin.seal(data));
        }
    }

    fn text(&mut self, text: &str, answer: &mut Answer) {
        if !text.is_empty() {
            self.seal(answer);
            answer.text(text);
        }
    }

    /// Text, null, or a list of parts.
    fn content(&mut self, content: &Value, answer: &mut Answer) {
        match content {
            Value::String(text) => self.text(text, answer),
            Value::Array(parts) => parts.iter().for_each(|part| self.part(part, answer)),
            Value::Object(_) => self.part(content, answer),
            _ => {}
        }
    }

    fn part(&mut self, part: &Value, answer: &mut Answer) {
        let is_thought = matches!(text_at(part, "type"), "reasoning" | "reasoning_text");
        let thinking = part.get("thinking").or_else(|| part.get("text").filter(|_| is_thought));
        let Some(thinking) = thinking else { return self.text(text_of(part), answer) };
        self.open(CONTENT);
        answer.thought(text_of(thinking));
        for piece in thinking.as_array().into_iter().flatten() {
            answer.thought(text_of(piece));
        }
    }

    fn calls(&mut self, part: &Value, answer: &mut Answer) {
        let calls = part.get("tool_calls").and_then(Value::as_array);
        let legacy = part.get("function_call").filter(|call| call.is_object());
        let pieces = match calls {
            Some(calls) if !calls.is_empty() => calls.as_slice(),
            _ => legacy.map_or(&[][..], std::slice::from_ref),
        };
        if !pieces.is_empty() {
            self.seal(answer);
        }
        pieces.iter().for_each(|piece| self.calls.push(piece, answer));
    }
}

/// Adds a piece of a reasoning detail: pieces of one index and type are one detail, which its
/// signature ends.
fn merge_detail(details: &mut Vec<Value>, piece: &Value) {
    let same = |field: &str, other: &Value| piece.get(field) == other.get(field);
    let begins = |last: &Value| {
        let is_signed = !text_at(last, "signature").is_empty();
        is_signed && !text_at(piece, "thinking").is_empty()
            || text_at(piece, "type") == "redacted_thinking"
    };
    let last = details.last_mut();
    let last = last.filter(|last| same("index", last) && same("type", last) && !begins(last));
    let (Some(Value::Object(last)), Some(new)) = (last, piece.as_object()) else {
        return details.push(piece.clone());
    };
    for (name, value) in new {
        let before = last.get(name).and_then(Value::as_str);
        match (name.as_str(), before, value.as_str()) {
            ("text" | "summary" | "data" | "thinking" | "signature", Some(before), Some(more)) => {
                last.insert(name.clone(), json!(format!("{before}{more}")));
            }
            _ if value.is_null() => {}
            _ => {
                last.insert(name.clone(), value.clone());
            }
        }
    }
}

fn finish(reason: &str, answer: &mut Answer) -> Result<(), ReadError> {
    let cut = match reason.to_ascii_lowercase().as_str() {
        "length" | "max_tokens" | "model_length" | "model_context_window_exceeded" => {
            Some(Truncation::Length)
        }
        "content_filter" | "safety" | "recitation" | "sensitive" => Some(Truncation::Filtered),
        "error" | "abort" | "insufficient_system_resource" | "network_error" => {
            return Err(ReadError { said: json!({ "message": reason }), passing: true });
        }
        _ => None,
    };
    answer.finish(cut);
    Ok(())
}

fn usage(value: &Value) -> Option<Usage> {
    let count = |paths: &[&str]| paths.iter().find_map(|path| count_at(value, path));
    let input = count(&["/prompt_tokens", "/input_tokens"]);
    let output = count(&["/completion_tokens", "/output_tokens"]);
    let cached =
        ["/prompt_tokens_details/cached_tokens", "/prompt_cache_hit_tokens", "/cached_tokens"];
    // Some count reasoning only in the total.
    let rest = count(&["/total_tokens"]).unwrap_or(0).saturating_sub(input.unwrap_or(0));
    (input.is_some() || output.is_some()).then(|| Usage {
        cached_tokens: count(&cached).unwrap_or(0),
        cache_write_tokens: count(&["/prompt_tokens_details/cache_write_tokens"]).unwrap_or(0),
        reasoning_tokens: count(&["/completion_tokens_details/reasoning_tokens"]).unwrap_or(0),
        ..Usage::counted(input.unwrap_or(0), output.unwrap_or(0).max(rest))
    })
}

#[cfg(test)]
mod tests;
