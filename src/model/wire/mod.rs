//! The wire formats: what a request is written as, and what the answer's events mean. Pure; the
//! folder above handles bytes, waiting and errors of the connection.
//!
//! One [`Api`] a provider: its format and what is particular to its address and key. A
//! [`WireFormat`] writes the body of a request and makes a [`WireReader`] for its answer, which
//! turns JSON events into chunks; [`answer`] finds the events and guards against bad ones.

use std::collections::HashSet;
use std::fmt::Debug;

use serde_json::Value;

use super::Request;
use crate::protocol::{Opaque, Provider};

pub(super) mod answer;
mod calls;
mod chat;
pub(super) mod features;
mod habits;
mod surrogates;

use self::answer::Answer;
use self::features::RequestFeatures;

/// How a provider is spoken to.
#[derive(Debug)]
pub(super) struct Api {
    pub provider: Provider,
    pub format: &'static dyn WireFormat,
    /// The path of an address that has none.
    pub base: &'static str,
    /// The header that carries the key, and what stands before the key.
    pub key: (&'static str, &'static str),
    pub headers: &'static [(&'static str, &'static str)],
    /// Where the models are listed.
    pub models: &'static str,
}

const BEARER: (&str, &str) = ("authorization", "Bearer ");

/// Any compatible server.
static USUAL: Api = Api {
    provider: Provider::OpenAi,
    format: &chat::ChatCompletions,
    base: "/v1",
    key: BEARER,
    headers: &[],
    models: "models",
};

#[rustfmt::skip]
static APIS: &[Api] = &[
    Api { provider: Provider::OpenRouter, format: &chat::ChatCompletions, base: "/api/v1",    key: BEARER,          headers: &[], models: "models" },
    Api { provider: Provider::Azure,      format: &chat::ChatCompletions, base: "/openai/v1", key: ("api-key", ""), headers: &[], models: "models" },
];

impl Api {
    /// How this provider is spoken to; as any compatible server if nothing else is known.
    pub fn of(provider: Provider) -> &'static Api {
        APIS.iter().find(|api| api.provider == provider).unwrap_or(&USUAL)
    }
}

/// One wire format.
pub(super) trait WireFormat: Debug + Sync {
    /// The path below the base, with a query if it needs one.
    fn path(&self, model: &str) -> String;

    fn body(&self, call: &WireCall<'_>) -> Value;

    fn reader(&self, call: &WireCall<'_>) -> Box<dyn WireReader>;

    /// Streams JSON values in lines instead of events.
    fn is_lines(&self) -> bool {
        false
    }
}

/// A request to one model of one server.
#[derive(Clone, Copy, Debug)]
pub(super) struct WireCall<'a> {
    pub provider: Provider,
    pub host: &'a str,
    pub model: &'a str,
    pub request: &'a Request,
    pub features: RequestFeatures,
}

impl<'a> WireCall<'a> {
    fn origin(&self) -> Origin {
        Origin { wire: self.provider.name(), model: self.model.to_owned() }
    }

    /// What hangs on a block, if it came from the same provider and model.
    fn opened(&self, opaque: &'a Option<Box<Opaque>>) -> Option<&'a Value> {
        let opaque = opaque.as_ref()?;
        let is_same = opaque.wire == self.provider.name() && opaque.model == self.model;
        is_same.then_some(&opaque.data)
    }

    /// The ids of the calls so far: a new one must differ.
    fn taken_ids(&self) -> HashSet<String> {
        let messages = self.request.messages.iter();
        messages.flat_map(|message| message.calls().map(|call| call.id.clone())).collect()
    }

    /// Whether what comes with reasoning is kept: only calls want it back.
    fn keeps_opaque(&self) -> bool {
        !self.request.tools.is_empty()
    }
}

/// Who answers: the owner of the opaque data in the answer.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    wire: &'static str,
    model: String,
}

impl Origin {
    fn seal(&self, data: Value) -> Opaque {
        Opaque { wire: self.wire.to_owned(), model: self.model.clone(), data }
    }
}

/// Reads the events of one answer.
pub(super) trait WireReader: Debug + Send {
    /// Reads one event, or the body of a server that did not stream.
    fn read(&mut self, event: &Value, answer: &mut Answer) -> Result<(), ReadError>;

    /// Passes on what was held back until the answer was complete.
    fn end(&mut self, answer: &mut Answer);
}

/// The server reports that it failed in the middle of an answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ReadError {
    /// An object that holds the error, or is it.
    pub said: Value,
    /// The server calls it temporary, whatever the words.
    pub passing: bool,
}

/// The wire format that this event or body belongs to, if it shows.
pub(super) fn recognise(value: &Value) -> Option<Provider> {
    let value = value.get(0).unwrap_or(value);
    let kind = value.get("type").and_then(Value::as_str).unwrap_or_default();
    let has = |field: &str| value.get(field).is_some();
    if has("choices") {
        Some(Provider::OpenAi)
    } else if kind.starts_with("response.") || has("output") && has("object") {
        Some(Provider::OpenAiResponses)
    } else if matches!(kind, "message_start" | "content_block_start" | "content_block_delta")
        || kind == "message" && has("content")
    {
        Some(Provider::Anthropic)
    } else if has("candidates") || has("promptFeedback") || has("usageMetadata") {
        Some(Provider::Gemini)
    } else if has("done") && (has("message") || has("response")) {
        Some(Provider::Ollama)
    } else {
        None
    }
}

/// Text of a part: itself, or its `text`.
fn text_of(part: &Value) -> &str {
    part.as_str().or_else(|| part.get("text")?.as_str()).unwrap_or_default()
}

fn text_at<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// A count at this path.
fn count_at(value: &Value, path: &str) -> Option<u64> {
    value.pointer(path)?.as_u64()
}

/// The arguments of a call as an object, for formats that want one; broken text as a field.
fn arguments_object(arguments: &str) -> Value {
    match serde_json::from_str(arguments) {
        Ok(Value::Object(object)) => Value::Object(object),
        _ if arguments.trim().is_empty() => Value::Object(serde_json::Map::new()),
        _ => serde_json::json!({ "arguments": arguments }),
    }
}

#[cfg(test)]
mod tests;
