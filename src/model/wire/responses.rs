//! OpenAI's Responses, without state on the server: every request carries all items.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::calls::{id_for_wire, new_call};
use super::features::RequestFeatures;
use super::format::{
    Answer, Origin, ReadError, WireCall, WireFormat, WireReader, count_at, list_at, text_at,
};
use avocet_core::protocol::{ContentBlock, Message, Role, TextBlock, Truncation, Usage};

#[derive(Debug)]
pub(super) struct Responses;

/// The longest id of a call or an item.
const ID_LENGTH: usize = 64;

/// Parameters that are known here; others would be refused.
const PARAMS: &[&str] = &["temperature", "top_p", "service_tier", "metadata", "safety_identifier"];

impl WireFormat for Responses {
    fn path(&self, _: &str) -> String {
        "responses".to_owned()
    }

    fn body(&self, call: &WireCall<'_>) -> Value {
        let (request, features) = (call.request, call.features);
        let mut body = json!({
            "model": call.model,
            "input": input(call),
            "stream": true,
        });
        if !features.has(RequestFeatures::NO_STORE) {
            body["store"] = json!(false);
        }
        // Refused for a model that does not reason.
        if request.limits.reasons != Some(false) && !features.has(RequestFeatures::NO_INCLUDE) {
            body["include"] = json!(["reasoning.encrypted_content"]);
        }
        let systems = request.messages.iter().filter(|message| message.role == Role::System);
        let system = systems.map(Message::text).collect::<Vec<_>>().join("\n\n");
        if !system.is_empty() {
            body["instructions"] = json!(system);
        }
        if let Ok(Value::Object(params)) = serde_json::to_value(&request.params) {
            let known = params.into_iter().filter(|(name, _)| PARAMS.contains(&name.as_str()));
            known.for_each(|(name, value)| body[name] = value);
        }
        if let Some(limit) = request.params.max_tokens {
            body["max_output_tokens"] = json!(limit);
        }
        if let Some(schema) = features.schema(request) {
            let schema = json!({ "type": "json_schema", "name": "reply", "schema": schema });
            body["text"] = json!({ "format": schema });
        } else if features.asks_json(request) {
            body["text"] = json!({ "format": { "type": "json_object" } });
        }
        if !request.tools.is_empty() {
            let tools = request.tools.iter().map(|tool| {
                json!({
                    "type": "function",
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters,
                    "strict": false,
                })
            });
            body["tools"] = tools.collect();
        }
        if request.searches_web {
            body["tools"] = json!([{ "type": "web_search" }]);
            body["include"] = json!(["web_search_call.action.sources"]);
        }
        if let Some(effort) = features.effort(request) {
            body["reasoning"] = json!({ "effort": effort });
            if !features.has(RequestFeatures::NO_SUMMARY) {
                body["reasoning"]["summary"] = json!("auto");
            }
        }
        if let Some(key) = &request.cache_key {
            body["prompt_cache_key"] = json!(key);
        }
        body
    }

    fn reader(&self, call: &WireCall<'_>) -> Box<dyn WireReader> {
        Box::new(ResponsesReader {
            origin: call.origin(),
            keeps_items: call.keeps_opaque(),
            taken: call.taken_ids(),
            shown: HashMap::new(),
            open: Vec::new(),
            passed: HashSet::new(),
            has_items: false,
        })
    }
}

/// Items in the order in which they came: reasoning before the call it led to.
fn input(call: &WireCall<'_>) -> Value {
    let mut items = Vec::new();
    for message in call.request.messages.iter().filter(|message| message.role != Role::System) {
        let mut parts = Vec::new();
        for block in &message.blocks {
            match block {
                ContentBlock::Text(TextBlock { text, opaque }) => match message.role {
                    Role::Assistant => items.extend(said(text, call.opened(opaque))),
                    _ => parts.push(json!({ "type": "input_text", "text": text })),
                },
                ContentBlock::Image(image) if image.is_document() => parts.push(json!({
                    "type": "input_file",
                    "filename": "document.pdf",
                    "file_data": image.data_url(),
                })),
                ContentBlock::Image(image) => parts.push(json!({
                    "type": "input_image",
                    "detail": "auto",
                    "image_url": image.data_url(),
                })),
                ContentBlock::Reasoning(TextBlock { opaque, .. }) => {
                    items.extend(call.opened(opaque).map(reasoning));
                }
                ContentBlock::ToolCall(made) => items.push(json!({
                    "type": "function_call",
                    "call_id": id_for_wire(&made.id, ID_LENGTH),
                    "name": made.name,
                    "arguments": made.arguments,
                })),
                ContentBlock::ToolResult(result) => items.push(json!({
                    "type": "function_call_output",
                    "call_id": id_for_wire(&result.call, ID_LENGTH),
                    "output": result.content,
                })),
            }
        }
        if !parts.is_empty() {
            items.push(json!({ "type": "message", "role": "user", "content": parts }));
        }
    }
    Value::Array(items)
}

/// A text of the model, with the phase it gave it. As parts it would need the other fields that only
/// answers have: strict servers, vLLM among them, refuse it without.
fn said(text: &str, data: Option<&Value>) -> Option<Value> {
    if text.is_empty() {
        return None;
    }
    let mut item = json!({ "type": "message", "role": "assistant", "content": text });
    if let Some(phase) = data.and_then(|data| data.get("phase")) {
        item["phase"] = phase.clone();
    }
    Some(item)
}

/// A reasoning item as it came, but for what only answers have.
fn reasoning(data: &Value) -> Value {
    let mut item = json!({ "type": "reasoning" });
    for field in ["id", "summary", "content", "encrypted_content"] {
        let value = data.get(field).filter(|value| !value.is_null());
        let is_long = value.and_then(Value::as_str).is_some_and(|id| id.len() > ID_LENGTH);
        if let Some(value) = value.filter(|_| field != "id" || !is_long) {
            item[field] = value.clone();
        }
    }
    if item.get("summary").is_none() {
        item["summary"] = json!([]);
    }
    item
}

/// Reads the events of one answer.
#[derive(Debug)]
struct ResponsesReader {
    origin: Origin,
    keeps_items: bool,
    taken: HashSet<String>,
    /// How many bytes of each item were shown before it was complete.
    shown: HashMap<String, usize>,
    /// Calls that began and are not complete: their place, and the item as far as it came.
    open: Vec<(String, Value)>,
    /// The places, ids and arguments of calls that were passed on: some servers give two of them
    /// one id.
    passed: HashSet<[String; 3]>,
    /// An item, or a part of one, has arrived.
    has_items: bool,
}

impl WireReader for ResponsesReader {
    fn read(&mut self, event: &Value, answer: &mut Answer) -> Result<(), ReadError> {
        let response = event.get("response").unwrap_or(event);
        let item = event.get("item").unwrap_or(&Value::Null);
        let text = text_at(event, "delta");
        match text_at(event, "type") {
            "response.output_text.delta" | "response.refusal.delta" => {
                *self.shown(event) += text.len();
                answer.text(text);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                *self.shown(event) += text.len();
                answer.thought(text);
            }
            // Parts of a summary are paragraphs.
            "response.reasoning_summary_part.added" if *self.shown(event) > 0 => {
                answer.thought("\n\n");
            }
            "response.output_item.added" if is_call(item) => {
                self.open.push((place(event), item.clone()));
            }
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                self.add_arguments(event, text, answer);
            }
            "response.function_call_arguments.done" => self.set_arguments(event),
            "response.output_item.done" => self.item(&place(event), item, answer),
            "response.failed" => return Err(failed(response)),
            "response.completed" | "response.incomplete" | "response.done" | "" => {
                self.complete(response, answer)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Calls that never became complete.
    fn end(&mut self, answer: &mut Answer) {
        for (_, item) in std::mem::take(&mut self.open) {
            self.call(&item, answer);
        }
    }
}

fn is_call(item: &Value) -> bool {
    matches!(text_at(item, "type"), "function_call" | "custom_tool_call")
}

/// Where an event belongs: some servers leave out the index, others give each event another id.
fn place(event: &Value) -> String {
    match event.get("output_index").and_then(Value::as_u64) {
        Some(index) => format!("#{index}"),
        None => match text_at(event, "item_id") {
            "" => event.get("item").map_or("", |item| text_at(item, "id")).to_owned(),
            id => id.to_owned(),
        },
    }
}

impl ResponsesReader {
    fn shown(&mut self, event: &Value) -> &mut usize {
        self.has_items = true;
        self.shown.entry(place(event)).or_default()
    }

    fn add_arguments(&mut self, event: &Value, more: &str, answer: &mut Answer) {
        let place = place(event);
        if let Some((_, item)) = self.open.iter_mut().rev().find(|(open, _)| *open == place) {
            let field =
                if text_at(item, "type") == "custom_tool_call" { "input" } else { "arguments" };
            item[field] = json!(format!("{}{more}", text_at(item, field)));
            answer.grow_call(text_at(item, "name"), text_at(item, field).len(), more.len());
        }
    }

    /// The arguments once more, whole; some servers send them only so.
    fn set_arguments(&mut self, event: &Value) {
        let place = place(event);
        let arguments = text_at(event, "arguments");

        match self.open.iter_mut().rev().find(|(open, _)| *open == place) {
            Some((_, item)) if !arguments.is_empty() => item["arguments"] = json!(arguments),
            Some(_) => {}
            None if text_at(event, "name").is_empty() => {}
            None => self.open.push((
                place,
                json!({
                    "type": "function_call",
                    "id": text_at(event, "item_id"),
                    "name": text_at(event, "name"),
                    "arguments": arguments,
                }),
            )),
        }
    }

    /// A complete item: what of it was not shown, and what is kept of it.
    fn item(&mut self, place: &str, item: &Value, answer: &mut Answer) {
        self.has_items = true;
        let shown: usize = [place, text_at(item, "id"), ""]
            .iter()
            .filter_map(|place| self.shown.remove(*place))
            .sum();
        match text_at(item, "type") {
            "web_search_call" => {
                let action = item.get("action").unwrap_or(&Value::Null);
                answer.sources(list_at(action, "sources"), ["title", "url"]);
            }
            "message" => {
                let cited = list_at(item, "content").flat_map(|part| list_at(part, "annotations"));
                answer.sources(cited, ["title", "url"]);
                if shown == 0 {
                    texts(item, "content", &["text", "refusal"]).for_each(|text| answer.text(text));
                }
                if let Some(phase) = item.get("phase").filter(|phase| phase.is_string()) {
                    answer.seal_text(self.origin.seal(json!({ "phase": phase })));
                }
            }
            "reasoning" => {
                if shown == 0 {
                    let content = texts(item, "content", &["text"]);
                    let texts = texts(item, "summary", &["text"]).chain(content);
                    texts.for_each(|text| answer.thought(text));
                }
                let is_wanted = self.keeps_items && !text_at(item, "encrypted_content").is_empty();
                if is_wanted {
                    answer.seal_thought(self.origin.seal(reasoning(item)));
                }
            }
            _ if is_call(item) => {
                let id = text_at(item, "call_id");
                let key = [place, id, text_at(item, "arguments")].map(str::to_owned);
                if !self.passed.insert(key) {
                    return;
                }
                let is_here = |(open, _): &(String, Value)| open == place;
                let is_same = |(_, begun): &(String, Value)| text_at(begun, "call_id") == id;
                let begun = self.open.iter().position(is_here);
                if let Some(at) = begun.or_else(|| self.open.iter().position(is_same)) {
                    self.open.remove(at);
                }
                self.call(item, answer);
            }
            _ => {}
        }
    }

    fn call(&mut self, item: &Value, answer: &mut Answer) {
        let id = match text_at(item, "call_id") {
            "" => text_at(item, "id"),
            id => id,
        };
        let arguments = match text_at(item, "type") {
            "custom_tool_call" => json!(text_at(item, "input")).to_string(),
            _ => text_at(item, "arguments").to_owned(),
        };
        let name = text_at(item, "name").to_owned();
        answer.call(new_call(id, name, arguments, None, &mut self.taken));
    }

    /// The end of the answer, or one that was not streamed; it holds all items once more.
    fn complete(&mut self, response: &Value, answer: &mut Answer) -> Result<(), ReadError> {
        if text_at(response, "status") == "failed" {
            return Err(failed(response));
        }
        let is_new = !self.has_items;
        let mut passed: Vec<String> = self.passed.iter().map(|[_, id, _]| id.clone()).collect();
        let output = response.get("output").and_then(Value::as_array).into_iter().flatten();
        for (index, item) in output.enumerate() {
            let id = text_at(item, "call_id");
            if let Some(at) = passed.iter().position(|passed| is_call(item) && passed == id) {
                passed.swap_remove(at);
                continue;
            }
            // Without an id it may be a call that was passed on.
            if is_new || is_call(item) && !id.is_empty() {
                self.item(&format!("#{index}"), item, answer);
            }
        }
        answer.count(response.get("usage").and_then(usage));
        let reason = response.pointer("/incomplete_details/reason").and_then(Value::as_str);
        answer.finish(match reason {
            Some("content_filter") => Some(Truncation::Filtered),
            Some(_) => Some(Truncation::Length),
            None => (text_at(response, "status") == "incomplete").then_some(Truncation::Length),
        });
        answer.close();
        Ok(())
    }
}

fn failed(response: &Value) -> ReadError {
    ReadError { said: response.get("error").unwrap_or(response).clone(), passing: false }
}

/// The texts in a list of parts.
fn texts<'a>(
    item: &'a Value,
    list: &str,
    fields: &'a [&str],
) -> impl Iterator<Item = &'a str> + use<'a> {
    let parts = item.get(list).and_then(Value::as_array).into_iter().flatten();
    parts.flat_map(|part| fields.iter().map(|field| text_at(part, field)))
}

fn usage(value: &Value) -> Option<Usage> {
    let count = |path: &str| count_at(value, path).unwrap_or(0);
    value.is_object().then(|| Usage {
        cached_tokens: count("/input_tokens_details/cached_tokens"),
        cache_write_tokens: count("/input_tokens_details/cache_write_tokens"),
        reasoning_tokens: count("/output_tokens_details/reasoning_tokens"),
        ..Usage::counted(count("/input_tokens"), count("/output_tokens"))
    })
}

#[cfg(test)]
mod tests;
