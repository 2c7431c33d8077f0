//! Anthropic's Messages.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::calls::{id_for_wire, new_call};
use super::format::{
    Answer, Origin, ReadError, WireCall, WireFormat, WireReader, arguments_object, count_at,
    list_at, mark_kept, text_at,
};
use crate::{Chunk, Effort};
use avocet_core::protocol::{ContentBlock, Message, Role, TextBlock, Truncation, Usage};

#[derive(Debug)]
pub(super) struct Messages;

/// Every request must say how long the answer may be: of a model whose longest is not known, this.
const MAX_TOKENS: u32 = 16_384;

/// The shortest limit of an answer, however full the window is.
const MIN_OUTPUT: u32 = 1_024;

/// The most searches for one answer.
const MAX_SEARCHES: u32 = 5;

/// The longest id of a call.
const ID_LENGTH: usize = 64;

/// Parameters that are known here; others would be refused.
const PARAMS: &[&str] = &["temperature", "top_p", "top_k", "metadata", "service_tier"];

/// Families that take a number of tokens for thinking instead of an effort.
const BUDGETED: &[&str] =
    &["claude-3", "sonnet-4-0", "opus-4-0", "sonnet-4-2", "opus-4-2", "opus-4-1", "-4-5", "-4.5"];

impl WireFormat for Messages {
    fn path(&self, _: &str) -> String {
        "messages".to_owned()
    }

    fn body(&self, call: &WireCall<'_>) -> Value {
        let request = call.request;
        let thinking = Thinking::of(call);
        let longest = request.limits.output.and_then(|most| u32::try_from(most).ok());
        // The answer and what it answers share the window.
        let free = request.limits.window.map(|all| all.saturating_sub(request.estimate_tokens()));
        let free = free.and_then(|free| u32::try_from(free).ok()).unwrap_or(u32::MAX);
        let most = longest.unwrap_or(u32::MAX).min(free.max(MIN_OUTPUT));
        let usual = longest.unwrap_or(MAX_TOKENS);
        let wanted = request.params.max_tokens.unwrap_or(usual);
        let answer = wanted.min(most.saturating_sub(thinking.budget()).max(MIN_OUTPUT));
        let limit = answer.saturating_add(thinking.budget());
        let mut turns = messages(call, thinking != Thinking::Off);
        let mut system = json!({ "type": "text", "text": system(&request.messages) });
        let mut body = json!({
            "model": call.model,
            "max_tokens": limit,
            "messages": null,
            "stream": true,
        });
        if call.features.marks_cache() {
            // The last block of each request is kept, so that the next one continues it.
            mark_kept(&mut body);
            mark_kept(&mut system);
            mark_ends(&mut turns);
        }
        let turn = |(role, content)| json!({ "role": role, "content": content });
        body["messages"] = turns.into_iter().map(turn).collect();
        if !text_at(&system, "text").is_empty() {
            body["system"] = json!([system]);
        }
        if !request.tools.is_empty() {
            let tools = request.tools.iter().map(|tool| {
                json!({
                    "name": tool.name,
                    "description": tool.description,
                    "input_schema": tool.parameters,
                })
            });
            body["tools"] = tools.collect();
        }
        if request.searches_web {
            body["tools"] = json!([{
                "type": "web_search_20250305", "name": "web_search", "max_uses": MAX_SEARCHES,
            }]);
        }
        params(call, thinking, &mut body);
        thinking.write(&mut body);
        // Without tools the words of the prompt say what form an answer has.
        if !request.tools.is_empty()
            && let Some(schema) = call.features.schema(request)
        {
            body["output_config"]["format"] = json!({ "type": "json_schema", "schema": schema });
        }
        body
    }

    fn reader(&self, call: &WireCall<'_>) -> Box<dyn WireReader> {
        Box::new(MessagesReader {
            origin: call.origin(),
            keeps_thinking: call.keeps_opaque(),
            taken: call.taken_ids(),
            open: Vec::new(),
            truncation: None,
        })
    }
}

/// The body for a host that has the model in the address and its own name of the version. The mark
/// of the whole request is on its last block there.
pub(super) fn hosted_body(call: &WireCall<'_>, version: &str) -> Value {
    let mut body = Messages.body(call);
    if let Value::Object(fields) = &mut body {
        fields.remove("model");
        fields.remove("stream");
        if fields.remove("cache_control").is_some() {
            let last = fields.get_mut("messages").and_then(|all| all.as_array_mut()?.last_mut());
            let content = last.and_then(|last| last.get_mut("content")?.as_array_mut());
            content.and_then(|blocks| blocks.last_mut()).map(mark_kept);
        }
        fields.insert("anthropic_version".to_owned(), version.into());
    }
    body
}

/// How thinking is requested.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Thinking {
    Off,
    Adaptive(Effort),
    Budget(u32),
}

impl Thinking {
    fn of(call: &WireCall<'_>) -> Thinking {
        let effort = match call.features.effort(call.request) {
            None | Some(Effort::None) => return Thinking::Off,
            Some(effort) => effort,
        };
        let model = call.model.to_lowercase();
        if !BUDGETED.iter().any(|family| model.contains(family)) {
            return Thinking::Adaptive(effort);
        }
        // After results of a turn without thinking, the model cannot think.
        if model.contains("claude-3-5") || model.contains("claude-3-h") || !can_keep_thinking(call)
        {
            return Thinking::Off;
        }
        Thinking::Budget(match effort {
            Effort::None | Effort::Minimal => 1_024,
            Effort::Low => 2_048,
            Effort::Medium => 8_192,
            // With the room of the answer it stays below what the smallest of them may write.
            Effort::High => 15_360,
            Effort::XHigh | Effort::Max => 31_999,
        })
    }

    fn budget(self) -> u32 {
        match self {
            Thinking::Budget(tokens) => tokens,
            Thinking::Off | Thinking::Adaptive(_) => 0,
        }
    }

    fn write(self, body: &mut Value) {
        match self {
            Thinking::Off => {}
            Thinking::Budget(tokens) => {
                body["thinking"] = json!({ "type": "enabled", "budget_tokens": tokens });
            }
            Thinking::Adaptive(effort) => {
                let effort = effort.max(Effort::Low);
                body["thinking"] = json!({ "type": "adaptive", "display": "summarized" });
                body["output_config"]["effort"] = json!(effort);
            }
        }
    }
}

/// True unless the request ends with results of a turn that has no thinking of this model: the
/// server refuses to go on thinking after such a turn.
fn can_keep_thinking(call: &WireCall<'_>) -> bool {
    let mut messages = call.request.messages.iter().rev();
    let open = match messages.next() {
        Some(last) if last.has_results() => messages.next(),
        _ => return true,
    };
    open.is_none_or(|turn| turn.blocks.iter().any(|block| thinking_block(call, block).is_some()))
}

fn params(call: &WireCall<'_>, thinking: Thinking, body: &mut Value) {
    let params = &call.request.params;
    if !params.stop.is_empty() {
        body["stop_sequences"] = json!(params.stop);
    }
    let Ok(Value::Object(given)) = serde_json::to_value(params) else { return };
    for (name, value) in given {
        // A model that thinks has its own sampling.
        let samples = matches!(name.as_str(), "temperature" | "top_p" | "top_k");
        if PARAMS.contains(&name.as_str()) && !(samples && thinking != Thinking::Off) {
            body[name] = value;
        }
    }
}

fn system(messages: &[Message]) -> String {
    let systems = messages.iter().filter(|message| message.role == Role::System);
    systems.map(|message| message.text()).collect::<Vec<_>>().join("\n\n")
}

/// Marks where this request and the one before it end. The server looks for what it kept only a few
/// blocks before a mark, and a reply may have more calls than that.
fn mark_ends(turns: &mut [(Role, Vec<Value>)]) {
    let ends = turns.iter_mut().rev().filter(|(role, _)| *role == Role::User);
    for (back, (_, blocks)) in ends.take(2).enumerate() {
        let last = blocks.len().saturating_sub(1);
        // What follows the results may be gone in the next request.
        let at = blocks.iter().rposition(|block| text_at(block, "type") == "tool_result");
        let at = at.unwrap_or(last);
        // The very last block is marked by the request itself.
        if let Some(block) = blocks.get_mut(at).filter(|_| back > 0 || at < last) {
            mark_kept(block);
        }
    }
}

/// Roles alternate, and the last message is the user's: an answer that only began is not taken.
fn messages(call: &WireCall<'_>, thinks: bool) -> Vec<(Role, Vec<Value>)> {
    let mut wire: Vec<(Role, Vec<Value>)> = Vec::new();
    for message in &call.request.messages {
        if message.role == Role::System {
            continue;
        }
        let mut blocks = blocks(call, message, thinks);
        match wire.last_mut() {
            Some((role, last)) if *role == message.role => last.append(&mut blocks),
            _ if blocks.is_empty() => {}
            _ => wire.push((message.role, blocks)),
        }
    }
    if wire.last().is_none_or(|(role, _)| *role == Role::Assistant) {
        wire.push((Role::User, vec![json!({ "type": "text", "text": "Go on." })]));
    }
    wire
}

/// Results first; all else in the order it came: thoughts between calls belong between them.
fn blocks(call: &WireCall<'_>, message: &Message, thinks: bool) -> Vec<Value> {
    let mut first = Vec::new();
    let mut rest = Vec::new();

    let has_calls = message.calls().next().is_some();
    for block in &message.blocks {
        match block {
            ContentBlock::Text(TextBlock { text, .. }) if text.trim().is_empty() => {}
            ContentBlock::Text(TextBlock { text, .. }) => {
                rest.push(json!({ "type": "text", "text": text }));
            }
            ContentBlock::Reasoning(_) => {
                rest.extend(thinking_block(call, block).filter(|_| thinks && has_calls));
            }
            ContentBlock::ToolCall(made) => rest.push(json!({
                "type": "tool_use",
                "id": id_for_wire(&made.id, ID_LENGTH),
                "name": made.name,
                "input": arguments_object(&made.arguments),
            })),
            ContentBlock::ToolResult(result) => first.push(json!({
                "type": "tool_result",
                "tool_use_id": id_for_wire(&result.call, ID_LENGTH),
                "content": result.content,
                "is_error": result.is_error,
            })),
            ContentBlock::Image(image) => rest.push(json!({
                "type": if image.is_document() { "document" } else { "image" },
                "source": { "type": "base64", "media_type": image.mime, "data": image.data },
            })),
        }
    }
    first.append(&mut rest);
    first
}

/// Thinking as it came, with its signature; without one it would be refused.
fn thinking_block(call: &WireCall<'_>, block: &ContentBlock) -> Option<Value> {
    let ContentBlock::Reasoning(TextBlock { text, opaque }) = block else { return None };
    let data = call.opened(opaque)?;
    if let Some(data) = data.get("redacted") {
        return Some(json!({ "type": "redacted_thinking", "data": data }));
    }
    let signature = data.get("signature")?;
    Some(json!({ "type": "thinking", "thinking": text, "signature": signature }))
}

/// Reads the events of one answer.
#[derive(Debug)]
struct MessagesReader {
    origin: Origin,
    keeps_thinking: bool,
    taken: HashSet<String>,
    /// Blocks that are not complete, by their index.
    open: Vec<(u64, OpenBlock)>,
    truncation: Option<Truncation>,
}

#[derive(Debug)]
enum OpenBlock {
    Thinking { signature: String },
    ToolUse { id: String, name: String, input: Value, pieces: String },
}

impl WireReader for MessagesReader {
    fn read(&mut self, event: &Value, answer: &mut Answer) -> Result<(), ReadError> {
        match text_at(event, "type") {
            "message_start" => {
                let message = event.get("message").unwrap_or(&Value::Null);
                count(message, answer);
                // Some servers put a first part in here.
                self.whole(message, answer);
            }
            "message" => {
                self.whole(event, answer);
                count(event, answer);
                self.stop(event, answer);
            }
            "content_block_start" => {
                self.close(|block| matches!(block, OpenBlock::Thinking { .. }), answer);
                let block = event.get("content_block").unwrap_or(&Value::Null);
                self.open(index(event), block, answer);
            }
            "content_block_delta" => self.delta(event, answer),
            "content_block_stop" => {
                let index = index(event);
                self.close_at(|at, _| at == index, answer);
            }
            "message_delta" => {
                count(event, answer);
                self.stop(event.get("delta").unwrap_or(&Value::Null), answer);
            }
            "message_stop" => {
                if answer.is_open() {
                    answer.finish(self.truncation);
                }
                answer.close();
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, answer: &mut Answer) {
        self.close(|_| true, answer);
    }
}

fn index(event: &Value) -> u64 {
    event.get("index").and_then(Value::as_u64).unwrap_or(0)
}

impl MessagesReader {
    fn whole(&mut self, message: &Value, answer: &mut Answer) {
        for block in message.get("content").and_then(Value::as_array).into_iter().flatten() {
            self.open(0, block, answer);
            self.close(|_| true, answer);
        }
    }

    fn open(&mut self, index: u64, block: &Value, answer: &mut Answer) {
        let block = match text_at(block, "type") {
            "text" => return answer.text(text_at(block, "text")),
            "thinking" => {
                answer.thought(text_at(block, "thinking"));
                OpenBlock::Thinking { signature: text_at(block, "signature").to_owned() }
            }
            "redacted_thinking" => {
                return self.seal(json!({ "redacted": text_at(block, "data") }), answer);
            }
            "web_search_tool_result" => {
                return answer.sources(list_at(block, "content"), ["title", "url"]);
            }
            "tool_use" => OpenBlock::ToolUse {
                id: text_at(block, "id").to_owned(),
                name: text_at(block, "name").to_owned(),
                input: block.get("input").cloned().unwrap_or_default(),
                pieces: String::new(),
            },
            _ => return,
        };
        self.open.push((index, block));
    }

    fn delta(&mut self, event: &Value, answer: &mut Answer) {
        let delta = event.get("delta").unwrap_or(&Value::Null);
        answer.text(text_at(delta, "text"));
        answer.thought(text_at(delta, "thinking"));
        let index = index(event);
        match self.open.iter_mut().rev().find(|(at, _)| *at == index) {
            Some((_, OpenBlock::Thinking { signature })) => {
                signature.push_str(text_at(delta, "signature"));
            }
            Some((_, OpenBlock::ToolUse { name, pieces, .. })) => {
                let more = text_at(delta, "partial_json");
                pieces.push_str(more);
                answer.grow_call(name, pieces.len(), more.len());
            }
            None => {}
        }
    }

    fn close(&mut self, is_over: impl Fn(&OpenBlock) -> bool, answer: &mut Answer) {
        self.close_at(|_, block| is_over(block), answer);
    }

    fn close_at(&mut self, is_over: impl Fn(u64, &OpenBlock) -> bool, answer: &mut Answer) {
        let is_over = |(at, block): &mut (u64, OpenBlock)| is_over(*at, block);
        for (_, block) in self.open.extract_if(.., is_over).collect::<Vec<_>>() {
            match block {
                OpenBlock::Thinking { signature } if signature.is_empty() => {}
                OpenBlock::Thinking { signature } => {
                    self.seal(json!({ "signature": signature }), answer);
                }
                OpenBlock::ToolUse { id, name, input, pieces } => {
                    let arguments = if !pieces.is_empty() {
                        pieces
                    } else if input.is_null() {
                        Value::Object(Map::new()).to_string()
                    } else {
                        input.to_string()
                    };
                    answer.call(new_call(&id, name, arguments, None, &mut self.taken));
                }
            }
        }
    }

    fn seal(&self, data: Value, answer: &mut Answer) {
        if self.keeps_thinking {
            answer.seal_thought(self.origin.seal(data));
        }
    }

    fn stop(&mut self, delta: &Value, answer: &mut Answer) {
        self.truncation = match text_at(delta, "stop_reason") {
            "" => return,
            "pause_turn" => {
                answer.chunks.push_back(Chunk::Paused);
                None
            }
            "max_tokens" | "model_context_window_exceeded" => Some(Truncation::Length),
            "refusal" => Some(Truncation::Filtered),
            _ => None,
        };
        answer.finish(self.truncation);
    }
}

/// Counts are cumulative; a later event may leave some out.
fn count(event: &Value, answer: &mut Answer) {
    let Some(usage) = event.get("usage").filter(|usage| usage.is_object()) else { return };
    let before = answer.usage();
    let at = |path: &str, before: u64| count_at(usage, path).unwrap_or(before);
    let cached_tokens = at("/cache_read_input_tokens", before.cached_tokens);
    let cache_write_tokens = at("/cache_creation_input_tokens", before.cache_write_tokens);
    let fresh =
        before.input_tokens.saturating_sub(before.cached_tokens + before.cache_write_tokens);
    let input_tokens = at("/input_tokens", fresh) + cached_tokens + cache_write_tokens;
    answer.count(Some(Usage {
        cached_tokens,
        cache_write_tokens,
        reasoning_tokens: at("/output_tokens_details/thinking_tokens", before.reasoning_tokens),
        ..Usage::counted(input_tokens, at("/output_tokens", before.output_tokens))
    }));
}

#[cfg(test)]
mod tests;
