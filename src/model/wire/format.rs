//! What a wire format is: it writes requests, and reads the events of answers.

use std::collections::{HashSet, VecDeque};
use std::fmt::Debug;

use serde_json::Value;

use super::features::RequestFeatures;
use crate::{Chunk, Request};
use avocet_core::protocol::{Opaque, Provider, ToolCall, Truncation, Usage};

/// One wire format.
pub(crate) trait WireFormat: Debug + Sync {
    /// The path below the base, with a query if it needs one.
    fn path(&self, model: &str) -> String;

    fn body(&self, call: &WireCall<'_>) -> Value;

    fn reader(&self, call: &WireCall<'_>) -> Box<dyn WireReader>;

    fn framing(&self) -> Framing {
        Framing::Events
    }
}

/// How a stream is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Server-sent events.
    Events,
    /// JSON values in lines.
    Lines,
    /// Binary frames.
    AwsFrames,
}

/// A request to one model of one server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WireCall<'a> {
    pub provider: Provider,
    pub host: &'a str,
    pub model: &'a str,
    pub request: &'a Request,
    pub features: RequestFeatures,
}

impl<'a> WireCall<'a> {
    pub(super) fn origin(&self) -> Origin {
        Origin { wire: self.provider.name(), model: self.model.to_owned() }
    }

    /// What hangs on a block, if it came from the same provider and model.
    pub(super) fn opened(&self, opaque: &'a Option<Box<Opaque>>) -> Option<&'a Value> {
        let opaque = opaque.as_ref()?;
        let is_same = opaque.wire == self.provider.name() && opaque.model == self.model;
        is_same.then_some(&opaque.data)
    }

    /// The ids of the calls so far: a new one must differ.
    pub(super) fn taken_ids(&self) -> HashSet<String> {
        let messages = self.request.messages.iter();
        messages.flat_map(|message| message.calls().map(|call| call.id.clone())).collect()
    }

    /// Whether what comes with reasoning is kept: only calls want it back.
    pub(super) fn keeps_opaque(&self) -> bool {
        !self.request.tools.is_empty()
    }
}

/// Who answers: the owner of the opaque data in the answer.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    wire: &'static str,
    model: String,
}

impl Origin {
    pub(super) fn seal(&self, data: Value) -> Opaque {
        Opaque { wire: self.wire.to_owned(), model: self.model.clone(), data }
    }
}

/// Reads the events of one answer.
pub(crate) trait WireReader: Debug + Send {
    /// Reads one event, or the body of a server that did not stream.
    fn read(&mut self, event: &Value, answer: &mut Answer) -> Result<(), ReadError>;

    /// Passes on what was held back until the answer was complete.
    fn end(&mut self, answer: &mut Answer);
}

/// The server reports that it failed in the middle of an answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ReadError {
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
    } else if ["messageStart", "contentBlockStart", "contentBlockDelta", "messageStop"]
        .into_iter()
        .any(has)
    {
        Some(Provider::Bedrock)
    } else if has("candidates") || has("promptFeedback") || has("usageMetadata") {
        Some(Provider::Gemini)
    } else if has("done") && (has("message") || has("response")) {
        Some(Provider::Ollama)
    } else {
        None
    }
}

/// Text of a part: itself, or its `text`.
pub(super) fn text_of(part: &Value) -> &str {
    part.as_str().or_else(|| part.get("text")?.as_str()).unwrap_or_default()
}

pub(super) fn text_at<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// The members of the list in this field.
pub(super) fn list_at<'a>(
    value: &'a Value,
    field: &str,
) -> impl Iterator<Item = &'a Value> + use<'a> {
    value.get(field).and_then(Value::as_array).into_iter().flatten()
}

/// A count at this path; one that no server can mean is none.
pub(super) fn count_at(value: &Value, path: &str) -> Option<u64> {
    value.pointer(path)?.as_u64().filter(|count| *count < 1 << 48)
}

/// Marks a block up to which the provider keeps the prompt.
pub(super) fn mark_kept(block: &mut Value) {
    block["cache_control"] = serde_json::json!({ "type": "ephemeral" });
}

/// The arguments of a call as an object, for formats that want one; broken text as a field.
pub(super) fn arguments_object(arguments: &str) -> Value {
    match serde_json::from_str(arguments) {
        Ok(Value::Object(object)) => Value::Object(object),
        _ if arguments.trim().is_empty() => Value::Object(serde_json::Map::new()),
        _ => serde_json::json!({ "arguments": arguments }),
    }
}

/// How many more bytes of a call there are from one report of its size to the next.
const CALL_STEP: usize = 1024;

/// How the server ended the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum AnswerEnd {
    #[default]
    Open,
    /// A finish reason has arrived; token counts may still follow.
    Finishing(Option<Truncation>),
    Done,
}

/// What a format has read of an answer.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(super) chunks: VecDeque<Chunk>,
    pub(super) usage: Option<Usage>,
    pub(super) end: AnswerEnd,
    pub(super) is_last: bool,
}

impl Answer {
    pub fn text(&mut self, text: &str) {
        if !text.is_empty() {
            self.chunks.push_back(Chunk::Text(text.to_owned()));
        }
    }

    pub fn thought(&mut self, text: &str) {
        if !text.is_empty() {
            self.chunks.push_back(Chunk::Thought(text.to_owned()));
        }
    }

    pub fn seal_text(&mut self, opaque: Opaque) {
        self.chunks.push_back(Chunk::SealedText(opaque));
    }

    pub fn seal_thought(&mut self, opaque: Opaque) {
        self.chunks.push_back(Chunk::SealedThought(opaque));
    }

    /// A call has grown by `more` to `bytes`: reported for each kibibyte of a long one.
    pub fn grow_call(&mut self, name: &str, bytes: usize, more: usize) {
        if bytes / CALL_STEP != bytes.saturating_sub(more) / CALL_STEP {
            self.chunks.push_back(Chunk::CallProgress { name: name.to_owned(), bytes });
        }
    }

    /// Pages that the answer is from, by these fields of each.
    pub fn sources<'a>(
        &mut self,
        pages: impl IntoIterator<Item = &'a Value>,
        [title, address]: [&str; 2],
    ) {
        for page in pages {
            let (title, address) = (text_at(page, title), text_at(page, address));
            if !address.is_empty() {
                self.chunks.push_back(Chunk::Source(format!("{title} {address}")));
            }
        }
    }

    pub fn call(&mut self, call: ToolCall) {
        self.chunks.push_back(Chunk::Call(call));
    }

    /// The last count is the one that holds.
    pub fn count(&mut self, usage: Option<Usage>) {
        self.usage = usage.or(self.usage);
    }

    pub fn usage(&self) -> Usage {
        self.usage.unwrap_or_default()
    }

    /// A finish reason has arrived.
    pub fn finish(&mut self, truncation: Option<Truncation>) {
        self.end = AnswerEnd::Finishing(truncation);
    }

    /// This was the last event of the stream.
    pub fn close(&mut self) {
        self.is_last = true;
    }

    pub fn is_open(&self) -> bool {
        self.end == AnswerEnd::Open
    }
}
