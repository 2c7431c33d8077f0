//! Plays the model in a session. It continues when the results of its last calls contain what it
//! expects, retries once with a corrected call when they do not, and otherwise reports where it got
//! lost.

use serde_json::{Value, json};

use crate::support::server::{ReceivedRequest, Reply, delta, event, finish};

/// The model's last message.
pub const DONE: &str = "Done: the work is finished.";

/// The wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Chat,
    Messages,
    Responses,
}

pub type Call = (&'static str, Value);

/// One reply of the model, and what its results must contain.
pub struct Act {
    calls: Vec<Call>,
    wants: Vec<&'static str>,
    /// The corrected calls, for when the results do not contain it.
    otherwise: Option<Call>,
}

impl Act {
    pub fn wants(mut self, text: &'static str) -> Act {
        self.wants.push(text);
        self
    }

    pub fn otherwise(mut self, call: Call) -> Act {
        self.otherwise = Some(call);
        self
    }

    pub fn calls(&self) -> usize {
        self.calls.len()
    }
}

pub fn act(calls: impl IntoIterator<Item = Call>) -> Act {
    Act { calls: calls.into_iter().collect(), wants: Vec::new(), otherwise: None }
}

/// The latest results, the number of the reply they belong to, and whether that was the corrected
/// one.
struct Round {
    number: usize,
    is_mended: bool,
    results: String,
}

impl Round {
    fn of(id: &str, results: Vec<String>) -> Round {
        let number = id.trim_start_matches("call_").split('_').next().unwrap();
        let is_mended = number.ends_with('m');
        let number = number.trim_end_matches('m').parse().unwrap();
        Round { number, is_mended, results: results.join("\n") }
    }
}

/// The messages of a request in any format, without what changes by design: cache breakpoints, and
/// the open plan items at the end.
pub fn messages(format: Format, body: &Value) -> Vec<Value> {
    let field = if format == Format::Responses { "input" } else { "messages" };
    let mut messages = body[field].as_array().unwrap().clone();
    for message in &mut messages {
        if let Some(blocks) = message["content"].as_array_mut() {
            for block in blocks.iter_mut().filter_map(Value::as_object_mut) {
                block.remove("cache_control");
            }
            blocks.retain(|block| !is_plan(block));
        }
    }
    messages.retain(|message| !is_plan(message) && message["content"] != json!([]));
    messages
}

fn is_plan(value: &Value) -> bool {
    let text = value["text"].as_str().or(value["content"].as_str());
    text.is_some_and(|text| text.starts_with("Your plan, what is open of it:"))
}

fn last_round(format: Format, body: &Value) -> Option<Round> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut results = Vec::new();
    let mut first = None;
    for message in messages(format, body).iter().rev() {
        match format {
            Format::Chat if message["role"] == "tool" => {
                results.push(text(&message["content"]));
                first = message["tool_call_id"].as_str().map(str::to_owned);
            }
            Format::Responses if message["type"] == "function_call_output" => {
                results.push(text(&message["output"]));
                first = message["call_id"].as_str().map(str::to_owned);
            }
            Format::Messages if message["role"] == "user" => {
                let blocks = message["content"].as_array().into_iter().flatten();
                for block in blocks.filter(|block| block["type"] == "tool_result") {
                    results.push(text(&block["content"]));
                    first = block["tool_use_id"].as_str().map(str::to_owned);
                }
                break;
            }
            // The program adds notes to the model next to the results.
            _ if message["role"] == "user" => {}
            _ => break,
        }
    }
    results.reverse();
    Some(Round::of(&first?, results))
}

/// The reply to the last of these requests.
pub fn answer(format: Format, acts: &[Act], requests: &[ReceivedRequest]) -> Reply {
    let number = requests.len();
    let body = requests.last().unwrap().json();
    let next = match last_round(format, &body) {
        None => 0,
        Some(round) => {
            let last = &acts[round.number];
            let sees_all = last.wants.iter().all(|want| round.results.contains(want));
            match &last.otherwise {
                _ if sees_all => round.number + 1,
                Some(call) if !round.is_mended => {
                    let id = format!("call_{}m", round.number);
                    return reply(format, number, "That was not right; once more.", &id, &[call]);
                }
                _ => {
                    let lost = format!("Lost after reply {}:\n{}", round.number, round.results);
                    return reply(format, number, &lost, "", &[]);
                }
            }
        }
    };
    match acts.get(next) {
        Some(act) => {
            let calls: Vec<&Call> = act.calls.iter().collect();
            reply(format, number, "", &format!("call_{next}"), &calls)
        }
        None => reply(format, number, DONE, "", &[]),
    }
}

fn reply(format: Format, number: usize, says: &str, id: &str, calls: &[&Call]) -> Reply {
    let calls: Vec<(String, &str, String)> = calls
        .iter()
        .enumerate()
        .map(|(at, (name, input))| (format!("{id}_{at}"), *name, input.to_string()))
        .collect();
    match format {
        Format::Chat => chat(says, &calls),
        Format::Messages => anthropic(says, &calls),
        Format::Responses => responses(number, says, &calls),
    }
}

type Made<'a> = (String, &'a str, String);

fn chat(says: &str, calls: &[Made<'_>]) -> Reply {
    let mut events = Vec::new();
    if !says.is_empty() {
        events.push(event(&delta(says)));
    }
    for (index, (id, name, arguments)) in calls.iter().enumerate() {
        let function = json!({ "name": name, "arguments": arguments });
        let call = json!({ "index": index, "id": id, "type": "function", "function": function });
        events.push(event(
            &json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [call] } }] }),
        ));
    }
    events.push(event(&finish(if calls.is_empty() { "stop" } else { "tool_calls" })));
    Reply::events(events)
}

fn named(event: &Value) -> String {
    format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap())
}

fn anthropic(says: &str, calls: &[Made<'_>]) -> Reply {
    let usage = json!({ "input_tokens": 1_000, "output_tokens": 1 });
    let message = json!({
        "id": "msg", "type": "message", "role": "assistant", "content": [], "usage": usage,
    });
    let mut events = vec![json!({ "type": "message_start", "message": message })];
    let mut blocks = Vec::new();
    if !says.is_empty() {
        let delta = json!({ "type": "text_delta", "text": says });
        blocks.push((json!({ "type": "text", "text": "" }), delta));
    }
    for (id, name, arguments) in calls {
        let block = json!({ "type": "tool_use", "id": id, "name": name, "input": {} });
        blocks.push((block, json!({ "type": "input_json_delta", "partial_json": arguments })));
    }
    for (index, (block, delta)) in blocks.into_iter().enumerate() {
        events
            .push(json!({ "type": "content_block_start", "index": index, "content_block": block }));
        events.push(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
        events.push(json!({ "type": "content_block_stop", "index": index }));
    }
    let reason = if calls.is_empty() { "end_turn" } else { "tool_use" };
    let usage = json!({ "output_tokens": 50 });
    let delta = json!({ "stop_reason": reason });
    events.push(json!({ "type": "message_delta", "delta": delta, "usage": usage }));
    events.push(json!({ "type": "message_stop" }));
    Reply::events(events.iter().map(named))
}

fn responses(number: usize, says: &str, calls: &[Made<'_>]) -> Reply {
    let mut items = Vec::new();
    if !says.is_empty() {
        let part = json!({ "type": "output_text", "text": says, "annotations": [] });
        items.push(json!({
            "type": "message", "id": format!("msg_{number}"), "status": "completed",
            "role": "assistant", "content": [part],
        }));
    }
    for (id, name, arguments) in calls {
        items.push(json!({
            "type": "function_call", "id": format!("fc_{number}_{id}"), "call_id": id,
            "name": name, "arguments": arguments, "status": "completed",
        }));
    }
    let mut events = vec![json!({ "type": "response.created", "response": { "id": "r" } })];
    for (index, item) in items.iter().enumerate() {
        let mut begun = item.clone();
        begun["status"] = json!("in_progress");
        for (kind, item) in [("added", &begun), ("done", item)] {
            let kind = format!("response.output_item.{kind}");
            events.push(json!({ "type": kind, "output_index": index, "item": item }));
        }
    }
    let usage = json!({ "input_tokens": 1_000, "output_tokens": 50, "total_tokens": 1_050 });
    let response = json!({ "id": "r", "status": "completed", "output": items, "usage": usage });
    events.push(json!({ "type": "response.completed", "response": response }));
    Reply::events(events.iter().map(named))
}
