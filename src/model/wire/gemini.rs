//! Gemini's `generateContent`.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::calls::new_call;
use super::features::RequestFeatures;
use super::format::{
    Answer, Origin, ReadError, WireCall, WireFormat, WireReader, arguments_object, count_at,
    list_at, text_at,
};
use crate::{Effort, ToolSchema};
use avocet_core::protocol::{ContentBlock, Message, Role, TextBlock, Truncation, Usage};

#[derive(Debug)]
pub(super) struct GenerateContent;

/// Replaces the signature of a call that another model made: the server checks each.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// Parameters by their name here.
const PARAMS: &[(&str, &str)] = &[
    ("temperature", "temperature"),
    ("top_p", "topP"),
    ("top_k", "topK"),
    ("max_tokens", "maxOutputTokens"),
    ("presence_penalty", "presencePenalty"),
    ("frequency_penalty", "frequencyPenalty"),
    ("stop", "stopSequences"),
    ("seed", "seed"),
];

fn declaration(tool: &ToolSchema, features: RequestFeatures) -> Value {
    let mut declaration = json!({ "name": tool.name, "description": tool.description });
    // As JSON Schema; the older field takes a part of it only.
    let fields = tool.parameters.get("properties").and_then(Value::as_object);
    if fields.is_some_and(|fields| !fields.is_empty()) {
        let is_old = features.has(RequestFeatures::OLD_SCHEMA);
        declaration[if is_old { "parameters" } else { "parametersJsonSchema" }] =
            schema(&tool.parameters);
    }
    declaration
}

impl WireFormat for GenerateContent {
    fn path(&self, model: &str) -> String {
        let model = model.strip_prefix("models/").unwrap_or(model);
        format!("models/{model}:streamGenerateContent?alt=sse")
    }

    fn body(&self, call: &WireCall<'_>) -> Value {
        let (request, features) = (call.request, call.features);
        let mut body = json!({ "contents": contents(call) });
        let systems = request.messages.iter().filter(|message| message.role == Role::System);
        let parts: Vec<Value> = systems.map(|system| json!({ "text": system.text() })).collect();
        if !parts.is_empty() {
            body["systemInstruction"] = json!({ "parts": parts });
        }
        if !request.tools.is_empty() {
            let tools: Vec<Value> =
                request.tools.iter().map(|tool| declaration(tool, features)).collect();
            body["tools"] = json!([{ "functionDeclarations": tools }]);
        }
        if request.searches_web {
            body["tools"] = json!([{ "google_search": {} }]);
        }
        let mut config = json!({});
        let params = serde_json::to_value(&request.params).unwrap_or_default();
        for (ours, theirs) in PARAMS {
            if let Some(value) = params.get(ours) {
                config[theirs] = value.clone();
            }
        }
        // With tools the answer cannot be held to a form as well.
        if request.tools.is_empty() && features.asks_json(request) {
            config["responseMimeType"] = json!("application/json");
            if let Some(form) = features.schema(request) {
                config["responseJsonSchema"] = schema(form);
            }
        }
        if let Some(effort) = features.effort(request) {
            config["thinkingConfig"] = thinking(call.model, effort);
        }
        if config.as_object().is_some_and(|config| !config.is_empty()) {
            body["generationConfig"] = config;
        }
        body
    }

    fn reader(&self, call: &WireCall<'_>) -> Box<dyn WireReader> {
        Box::new(GeminiReader {
            origin: call.origin(),
            keeps_signatures: call.keeps_opaque(),
            taken: call.taken_ids(),
        })
    }
}

/// Gemini 3 takes a level, older models a number of tokens.
fn thinking(model: &str, effort: Effort) -> Value {
    if model.contains("gemini-2") {
        let budget = match effort {
            Effort::None => 0,
            Effort::Minimal => 512,
            Effort::Low => 2_048,
            Effort::Medium => 8_192,
            Effort::High | Effort::XHigh | Effort::Max => 24_576,
        };
        return json!({ "includeThoughts": budget > 0, "thinkingBudget": budget });
    }
    let level = match effort {
        Effort::None | Effort::Minimal => "minimal",
        Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High | Effort::XHigh | Effort::Max => "high",
    };
    json!({ "includeThoughts": true, "thinkingLevel": level })
}

/// The schema, in which a constant is written as the only choice.
fn schema(given: &Value) -> Value {
    match given {
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| match name.as_str() {
                "const" => ("enum".to_owned(), json!([value])),
                _ => (name.clone(), schema(value)),
            })
            .collect(),
        Value::Array(items) => items.iter().map(schema).collect(),
        other => other.clone(),
    }
}

fn contents(call: &WireCall<'_>) -> Value {
    let mut wire: Vec<(Role, Vec<Value>)> = Vec::new();
    for message in call.request.messages.iter().filter(|message| message.role != Role::System) {
        let mut parts = parts(call, message);
        match wire.last_mut() {
            Some((role, last)) if *role == message.role => last.append(&mut parts),
            _ if parts.is_empty() => {}
            _ => wire.push((message.role, parts)),
        }
    }
    let content = |(role, parts)| {
        let role = if role == Role::Assistant { "model" } else { "user" };
        json!({ "role": role, "parts": parts })
    };
    wire.into_iter().map(content).collect()
}

fn parts(call: &WireCall<'_>, message: &Message) -> Vec<Value> {
    let signature = |opaque| call.opened(opaque).and_then(|data| data.get("thoughtSignature"));
    let mut parts = Vec::new();
    let mut has_call = false;
    for block in &message.blocks {
        match block {
            ContentBlock::Text(TextBlock { text, opaque }) => {
                let signature = signature(opaque);
                if !text.is_empty() || signature.is_some() {
                    parts.push(signed(json!({ "text": text }), signature));
                }
            }
            // Its thoughts are not read again; only signatures count.
            ContentBlock::Reasoning(_) => {}
            ContentBlock::ToolCall(made) => {
                let arguments = arguments_object(&made.arguments);
                let part = json!({ "functionCall": { "id": made.id, "name": made.name, "args": arguments } });
                let sentinel = json!(NO_SIGNATURE);
                // Of several calls at once, only the first has a signature.
                let is_checked = !has_call && !call.model.contains("gemini-2");
                let given = signature(&made.opaque).or(is_checked.then_some(&sentinel));
                parts.push(signed(part, given));
                has_call = true;
            }
            ContentBlock::ToolResult(result) => {
                let field = if result.is_error { "error" } else { "output" };
                let response = json!({ field: result.content });
                parts.push(json!({ "functionResponse": {
                    "id": result.call, "name": result.name, "response": response,
                } }));
            }
            ContentBlock::Image(image) => parts.push(json!({
                "inlineData": { "mimeType": image.mime, "data": image.data },
            })),
        }
    }
    parts
}

fn signed(mut part: Value, signature: Option<&Value>) -> Value {
    if let Some(signature) = signature {
        part["thoughtSignature"] = signature.clone();
    }
    part
}

/// Reads the responses of one answer; each is a part of it.
#[derive(Debug)]
struct GeminiReader {
    origin: Origin,
    keeps_signatures: bool,
    taken: HashSet<String>,
}

impl WireReader for GeminiReader {
    fn read(&mut self, event: &Value, answer: &mut Answer) -> Result<(), ReadError> {
        // Without `alt=sse` all responses come in one list.
        if let Some(responses) = event.as_array() {
            return responses.iter().try_for_each(|response| self.read(response, answer));
        }
        answer.count(event.get("usageMetadata").map(usage));
        let blocked = event.pointer("/promptFeedback/blockReason").is_some();
        let candidate = event.pointer("/candidates/0");
        let parts = candidate.and_then(|candidate| candidate.pointer("/content/parts"));
        for part in parts.and_then(Value::as_array).into_iter().flatten() {
            self.part(part, answer);
        }
        let grounds = candidate.and_then(|candidate| candidate.get("groundingMetadata"));
        let pages = grounds.into_iter().flat_map(|found| list_at(found, "groundingChunks"));
        answer.sources(pages.filter_map(|page| page.get("web")), ["title", "uri"]);
        match candidate.map_or("", |candidate| text_at(candidate, "finishReason")) {
            "" if blocked => answer.finish(Some(Truncation::Filtered)),
            "" => {}
            "MAX_TOKENS" => answer.finish(Some(Truncation::Length)),
            "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "LANGUAGE"
            | "IMAGE_SAFETY" | "NO_IMAGE" => answer.finish(Some(Truncation::Filtered)),
            reason @ ("MALFORMED_FUNCTION_CALL"
            | "UNEXPECTED_TOOL_CALL"
            | "TOO_MANY_TOOL_CALLS"
            | "MISSING_THOUGHT_SIGNATURE") => {
                return Err(ReadError { said: json!({ "message": reason }), passing: true });
            }
            _ => answer.finish(None),
        }
        Ok(())
    }

    fn end(&mut self, _: &mut Answer) {}
}

impl GeminiReader {
    fn part(&mut self, part: &Value, answer: &mut Answer) {
        let signature = part.get("thoughtSignature").filter(|_| self.keeps_signatures);
        let opaque = signature.map(|it| self.origin.seal(json!({ "thoughtSignature": it })));
        let text = text_at(part, "text");
        if let Some(call) = part.get("functionCall") {
            let arguments = call.get("args").cloned().unwrap_or_else(|| json!({})).to_string();
            let name = text_at(call, "name").to_owned();
            answer.call(new_call(text_at(call, "id"), name, arguments, opaque, &mut self.taken));
        } else if part.get("thought").and_then(Value::as_bool).unwrap_or(false) {
            answer.thought(text);
        } else {
            answer.text(text);
            if let Some(opaque) = opaque {
                answer.seal_text(opaque);
            }
        }
    }
}

/// Each event counts everything up to it.
fn usage(value: &Value) -> Usage {
    let count = |path: &str| count_at(value, path).unwrap_or(0);
    let reasoning_tokens = count("/thoughtsTokenCount");
    let input = count("/promptTokenCount") + count("/toolUsePromptTokenCount");
    Usage {
        cached_tokens: count("/cachedContentTokenCount"),
        reasoning_tokens,
        ..Usage::counted(input, count("/candidatesTokenCount") + reasoning_tokens)
    }
}

#[cfg(test)]
mod tests;
