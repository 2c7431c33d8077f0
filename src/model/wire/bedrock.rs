//! Models of AWS Bedrock: Anthropic's in their own format, all others in the one that it calls
//! Converse.

use std::collections::HashSet;
use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::anthropic::{self, Messages};
use super::calls::{id_for_wire, new_call};
use super::format::{
    Answer, Framing, Origin, ReadError, WireCall, WireFormat, WireReader, arguments_object,
    count_at, text_at,
};
use avocet_core::protocol::{ContentBlock, Image, Message, Role, TextBlock, Truncation, Usage};

#[derive(Debug)]
pub(super) struct Bedrock;

/// The longest id of a call.
const ID_LENGTH: usize = 64;

/// The version of Anthropic's format there.
const ANTHROPIC_VERSION: &str = "bedrock-2023-05-31";

/// Parameters by their names here.
const PARAMS: &[(&str, &str)] = &[
    ("temperature", "temperature"),
    ("top_p", "topP"),
    ("max_tokens", "maxTokens"),
    ("stop", "stopSequences"),
];

fn is_anthropic(model: &str) -> bool {
    model.contains("anthropic.")
}

impl WireFormat for Bedrock {
    fn path(&self, model: &str) -> String {
        let operation =
            if is_anthropic(model) { "invoke-with-response-stream" } else { "converse-stream" };
        format!("model/{}/{operation}", encode(model))
    }

    fn body(&self, call: &WireCall<'_>) -> Value {
        if is_anthropic(call.model) {
            return anthropic::hosted_body(call, ANTHROPIC_VERSION);
        }
        let request = call.request;
        let mut body = json!({ "messages": messages(call) });
        let systems = request.messages.iter().filter(|message| message.role == Role::System);
        let systems: Vec<Value> = systems
            .filter(|system| !system.text().trim().is_empty())
            .map(|system| json!({ "text": system.text() }))
            .collect();
        if !systems.is_empty() {
            body["system"] = json!(systems);
        }
        if !request.tools.is_empty() {
            let tools = request.tools.iter().map(|tool| {
                let schema = json!({ "json": tool.parameters });
                let spec = json!({
                    "name": tool.name, "description": tool.description, "inputSchema": schema,
                });
                json!({ "toolSpec": spec })
            });
            body["toolConfig"] = json!({ "tools": tools.collect::<Vec<_>>() });
        }
        let params = serde_json::to_value(&request.params).unwrap_or_default();
        for (ours, theirs) in PARAMS {
            if let Some(value) = params.get(ours) {
                body["inferenceConfig"][theirs] = value.clone();
            }
        }
        if let Some(tier) = params.get("service_tier") {
            body["serviceTier"] = json!({ "type": tier });
        }
        if let Some(effort) =
            call.features.effort(request).filter(|_| call.model.contains("gpt-oss"))
        {
            body["additionalModelRequestFields"] = json!({ "reasoning_effort": effort });
        }
        body
    }

    fn reader(&self, call: &WireCall<'_>) -> Box<dyn WireReader> {
        if is_anthropic(call.model) {
            return Messages.reader(call);
        }
        Box::new(ConverseReader {
            origin: call.origin(),
            keeps_reasoning: call.keeps_opaque(),
            taken: call.taken_ids(),
            open: Vec::new(),
        })
    }

    fn framing(&self) -> Framing {
        Framing::AwsFrames
    }
}

/// The name as one segment of a path: it may be an ARN.
fn encode(model: &str) -> String {
    model.bytes().fold(String::new(), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
        out
    })
}

/// Roles alternate, beginning and ending with the user.
fn messages(call: &WireCall<'_>) -> Value {
    let mut wire: Vec<(Role, Vec<Value>)> = Vec::new();
    for message in call.request.messages.iter().filter(|message| message.role != Role::System) {
        let mut blocks = blocks(call, message);
        match wire.last_mut() {
            Some((role, last)) if *role == message.role => last.append(&mut blocks),
            _ if blocks.is_empty() => {}
            _ => wire.push((message.role, blocks)),
        }
    }
    if wire.last().is_none_or(|(role, _)| *role == Role::Assistant) {
        wire.push((Role::User, vec![json!({ "text": "Go on." })]));
    }
    wire.into_iter().map(|(role, content)| json!({ "role": role, "content": content })).collect()
}

/// Results first, as the calls before want them.
fn blocks(call: &WireCall<'_>, message: &Message) -> Vec<Value> {
    let has_calls = message.calls().next().is_some();
    let mut results = Vec::new();
    let mut rest = Vec::new();
    for block in &message.blocks {
        match block {
            ContentBlock::Text(TextBlock { text, .. }) if text.trim().is_empty() => {}
            ContentBlock::Text(TextBlock { text, .. }) => rest.push(json!({ "text": text })),
            ContentBlock::Reasoning(TextBlock { text, opaque }) => {
                let signature = call.opened(opaque).filter(|_| has_calls);
                rest.extend(signature.map(|data| reasoning(text, data)));
            }
            ContentBlock::ToolCall(made) => rest.push(json!({ "toolUse": {
                "toolUseId": id_for_wire(&made.id, ID_LENGTH),
                "name": made.name,
                "input": arguments_object(&made.arguments),
            } })),
            ContentBlock::ToolResult(result) => results.push(json!({ "toolResult": {
                "toolUseId": id_for_wire(&result.call, ID_LENGTH),
                "content": [{ "text": result.content }],
                "status": if result.is_error { "error" } else { "success" },
            } })),
            ContentBlock::Image(image) => rest.push(picture(image)),
        }
    }
    results.append(&mut rest);
    results
}

fn reasoning(text: &str, data: &Value) -> Value {
    let mut inner = json!({ "text": text });
    if let Some(signature) = data.get("signature") {
        inner["signature"] = signature.clone();
    }
    json!({ "reasoningContent": { "reasoningText": inner } })
}

fn picture(image: &Image) -> Value {
    let source = json!({ "bytes": image.data });
    if image.is_document() {
        return json!({ "document": { "format": "pdf", "name": "document", "source": source } });
    }
    let format = image.mime.rsplit('/').next().unwrap_or_default();
    json!({ "image": { "format": format, "source": source } })
}

/// Reads the events of one answer.
#[derive(Debug)]
struct ConverseReader {
    origin: Origin,
    keeps_reasoning: bool,
    taken: HashSet<String>,
    /// Blocks that are not complete, by their index.
    open: Vec<(u64, OpenBlock)>,
}

#[derive(Debug)]
enum OpenBlock {
    Reasoning { signature: String },
    Call { id: String, name: String, pieces: String },
}

impl WireReader for ConverseReader {
    fn read(&mut self, event: &Value, answer: &mut Answer) -> Result<(), ReadError> {
        let Some((name, event)) = event.as_object().and_then(|event| event.iter().next()) else {
            return Ok(());
        };
        let index = event.get("contentBlockIndex").and_then(Value::as_u64).unwrap_or(0);
        match name.as_str() {
            "contentBlockStart" => {
                if let Some(call) = event.pointer("/start/toolUse") {
                    let id = text_at(call, "toolUseId").to_owned();
                    let name = text_at(call, "name").to_owned();
                    self.open.push((index, OpenBlock::Call { id, name, pieces: String::new() }));
                }
            }
            "contentBlockDelta" => self.delta(index, event.get("delta").unwrap_or(event), answer),
            "contentBlockStop" => self.close(|at| at == index, answer),
            "messageStop" => answer.finish(truncation(text_at(event, "stopReason"))),
            "metadata" => {
                answer.count(usage(event));
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

impl ConverseReader {
    fn delta(&mut self, index: u64, delta: &Value, answer: &mut Answer) {
        answer.text(text_at(delta, "text"));
        if let Some(reasoning) = delta.get("reasoningContent") {
            answer.thought(text_at(reasoning, "text"));
            let more = text_at(reasoning, "signature");
            match self.open.iter_mut().rev().find(|(at, _)| *at == index) {
                Some((_, OpenBlock::Reasoning { signature })) => signature.push_str(more),
                _ => self.open.push((index, OpenBlock::Reasoning { signature: more.to_owned() })),
            }
        }
        let Some(more) = delta.pointer("/toolUse/input").and_then(Value::as_str) else { return };
        let open = self.open.iter_mut().rev().find(|(at, _)| *at == index);
        if let Some((_, OpenBlock::Call { name, pieces, .. })) = open {
            pieces.push_str(more);
            answer.grow_call(name, pieces.len(), more.len());
        }
    }

    fn close(&mut self, is_over: impl Fn(u64) -> bool, answer: &mut Answer) {
        let is_over = |(at, _): &mut (u64, OpenBlock)| is_over(*at);
        for (_, block) in self.open.extract_if(.., is_over).collect::<Vec<_>>() {
            match block {
                OpenBlock::Reasoning { signature } if self.keeps_reasoning => {
                    let signed = !signature.is_empty();
                    let data = if signed { json!({ "signature": signature }) } else { json!({}) };
                    answer.seal_thought(self.origin.seal(data));
                }
                OpenBlock::Reasoning { .. } => {}
                OpenBlock::Call { id, name, pieces } => {
                    let none = || Value::Object(Map::new()).to_string();
                    let arguments = if pieces.trim().is_empty() { none() } else { pieces };
                    answer.call(new_call(&id, name, arguments, None, &mut self.taken));
                }
            }
        }
    }
}

fn truncation(reason: &str) -> Option<Truncation> {
    match reason {
        "max_tokens" | "model_context_window_exceeded" => Some(Truncation::Length),
        "guardrail_intervened" | "content_filtered" => Some(Truncation::Filtered),
        _ => None,
    }
}

fn usage(event: &Value) -> Option<Usage> {
    let usage = event.get("usage")?;
    let at = |path| count_at(usage, path).unwrap_or(0);
    let cached_tokens = at("/cacheReadInputTokens");
    let cache_write_tokens = at("/cacheWriteInputTokens");
    let input = at("/inputTokens") + cached_tokens + cache_write_tokens;
    let counted = Usage::counted(input, at("/outputTokens"));
    Some(Usage { cached_tokens, cache_write_tokens, ..counted })
}

#[cfg(test)]
mod tests;
