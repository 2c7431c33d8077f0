//! Turns a server's response into chunks: events of a stream, or one JSON body. Pure; the rest of
//! the folder handles bytes and waiting.

use std::collections::VecDeque;

use serde_json::Value;

use super::super::error_body::{ServerMessage, clean, is_html};
use super::super::sse::SseEvent;
use super::super::{Chunk, ModelError, status};
use super::halves::SurrogateJoiner;
use crate::protocol::{Truncation, Usage};

/// A byte order mark.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// The kind of a body, from its first visible byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodyKind {
    Events,
    Json,
    Html,
}

impl BodyKind {
    /// `None` as long as there is only white space, or the beginning of a byte order mark. The
    /// content type is not used: servers send streams as text and errors as streams.
    pub fn detect(head: &[u8]) -> Option<BodyKind> {
        if MARK.len() > head.len() && MARK.starts_with(head) {
            return None;
        }
        let head = head.strip_prefix(MARK).unwrap_or(head);
        match head.iter().find(|byte| !byte.is_ascii_whitespace())? {
            b'{' | b'[' => Some(BodyKind::Json),
            b'<' => Some(BodyKind::Html),
            _ => Some(BodyKind::Events),
        }
    }
}

/// How the server ended the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AnswerEnd {
    Open,
    /// A finish reason has arrived; token counts may still follow.
    Finishing(Option<Truncation>),
    Done,
}

/// Parses one answer.
#[derive(Debug)]
pub(super) struct AnswerReader {
    url: String,
    key: Option<String>,
    end: AnswerEnd,
    usage: Option<Usage>,
    out: VecDeque<Chunk>,
    halves: SurrogateJoiner,
    /// A valid event has arrived.
    is_known: bool,
    /// The error of the first invalid event, and their number.
    first_invalid: Option<ModelError>,
    invalid_count: usize,
}

/// Maximum number of invalid events to skip in one answer.
const PASSED_OVER: usize = 64;

impl AnswerReader {
    pub fn new(url: String, key: Option<String>) -> AnswerReader {
        AnswerReader {
            url,
            key,
            end: AnswerEnd::Open,
            usage: None,
            out: VecDeque::new(),
            halves: SurrogateJoiner::default(),
            is_known: false,
            first_invalid: None,
            invalid_count: 0,
        }
    }

    /// The next chunk that has not been taken yet.
    pub fn next_chunk(&mut self) -> Option<Chunk> {
        self.out.pop_front()
    }

    /// True when a finish reason has arrived: the rest is not worth a long wait.
    pub fn is_finishing(&self) -> bool {
        matches!(self.end, AnswerEnd::Finishing(_))
    }

    pub fn is_done(&self) -> bool {
        self.end == AnswerEnd::Done
    }

    /// Processes one event of a stream.
    pub fn push_event(&mut self, event: &SseEvent) -> Result<(), ModelError> {
        let data = event.data.trim();
        if data == "[DONE]" {
            self.fail_if_foreign()?;
            self.finish();
            return Ok(());
        }
        if data.is_empty() || event.name == "ping" {
            return Ok(());
        }
        match self.parse(data) {
            Ok(value) if event.name == "error" => Err(self.reported_error(&value)),
            Ok(value) => {
                self.is_known |= value.is_object() || value.is_array();
                self.push_value(&value)
            }
            Err(_) if event.name == "error" => Err(self.reported_error(&Value::from(data))),
            Err(error) if error.is_eof() => {
                self.skip_invalid(ModelError::Broken { url: self.url.clone() })
            }
            Err(_) => self.skip_invalid(self.foreign_error(data)),
        }
    }

    fn parse(&mut self, data: &str) -> serde_json::Result<Value> {
        if !self.halves.is_waiting()
            && let Ok(value) = serde_json::from_str(data)
        {
            return Ok(value);
        }
        serde_json::from_str(&self.halves.join(data))
    }

    /// One invalid event does not cost the rest of the answer. A server that sends nothing else
    /// speaks another protocol.
    fn skip_invalid(&mut self, error: ModelError) -> Result<(), ModelError> {
        tracing::warn!(%error, "an event of the answer was passed over");
        self.invalid_count += 1;
        if self.invalid_count > PASSED_OVER {
            return Err(self.first_invalid.take().unwrap_or(error));
        }
        self.first_invalid.get_or_insert(error);
        Ok(())
    }

    fn fail_if_foreign(&mut self) -> Result<(), ModelError> {
        match self.first_invalid.take() {
            Some(error) if !self.is_known => Err(error),
            _ => Ok(()),
        }
    }

    /// Processes the body of a server that did not stream.
    pub fn push_body(&mut self, body: &[u8]) -> Result<(), ModelError> {
        let text = String::from_utf8_lossy(body);
        let text = text.trim_start_matches('\u{feff}');
        if is_html(text) {
            return Err(ModelError::WebPage { url: self.url.clone() });
        }
        match serde_json::from_str::<Value>(text) {
            Ok(value) => {
                self.push_value(&value)?;
                if self.end == AnswerEnd::Open && value.get("choices").is_none() {
                    return Err(self.foreign_error(text));
                }
                self.finish();
                Ok(())
            }
            Err(error) if error.is_eof() => Err(ModelError::Broken { url: self.url.clone() }),
            Err(_) => Err(self.foreign_error(text)),
        }
    }

    /// The stream ended: normally if the answer was finished, otherwise it broke off.
    pub fn close(&mut self) -> Result<(), ModelError> {
        self.fail_if_foreign()?;
        if self.end == AnswerEnd::Open {
            return Err(ModelError::Broken { url: self.url.clone() });
        }
        self.finish();
        Ok(())
    }

    fn finish(&mut self) {
        let cut = match self.end {
            AnswerEnd::Done => return,
            AnswerEnd::Finishing(cut) => cut,
            AnswerEnd::Open => None,
        };
        self.end = AnswerEnd::Done;
        self.out.extend(self.usage.take().map(Chunk::Usage));
        self.out.push_back(Chunk::Finished(cut));
    }

    fn push_value(&mut self, value: &Value) -> Result<(), ModelError> {
        let first = value.get(0).unwrap_or(value);
        if first.get("error").is_some_and(|error| !error.is_null())
            || first.get("object").and_then(Value::as_str) == Some("error")
        {
            return Err(self.reported_error(value));
        }
        self.usage = value.get("usage").and_then(usage).or(self.usage);
        let choices = value.get("choices").and_then(Value::as_array);
        let choice = choices
            .into_iter()
            .flatten()
            .find(|choice| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0);
        match choice {
            Some(choice) => self.choice(choice),
            None => Ok(()),
        }
    }

    fn choice(&mut self, choice: &Value) -> Result<(), ModelError> {
        if let Some(part) = choice.get("delta").or_else(|| choice.get("message")) {
            let thought = ["reasoning_content", "reasoning"]
                .iter()
                .filter_map(|field| part.get(field)?.as_str())
                .find(|text| !text.is_empty());
            self.push(Chunk::Thought, thought.unwrap_or_default());
            self.content(part.get("content").unwrap_or(&Value::Null));
            self.push(Chunk::Text, part.get("refusal").and_then(Value::as_str).unwrap_or_default());
        }
        match choice.get("finish_reason").and_then(Value::as_str) {
            None | Some("") => Ok(()),
            Some(reason) => self.reason(reason),
        }
    }

    /// Text, null, or a list of parts.
    fn content(&mut self, content: &Value) {
        match content {
            Value::String(text) => self.push(Chunk::Text, text),
            Value::Array(parts) => parts.iter().for_each(|part| self.part(part)),
            _ => {}
        }
    }

    fn part(&mut self, part: &Value) {
        if let Some(thinking) = part.get("thinking") {
            let inner = thinking.as_array().map(Vec::as_slice).unwrap_or_default();
            for piece in inner {
                self.push(Chunk::Thought, text_of(piece));
            }
            self.push(Chunk::Thought, thinking.as_str().unwrap_or_default());
        } else {
            self.push(Chunk::Text, text_of(part));
        }
    }

    fn push(&mut self, make: fn(String) -> Chunk, text: &str) {
        if !text.is_empty() {
            self.out.push_back(make(text.to_owned()));
        }
    }

    fn reason(&mut self, reason: &str) -> Result<(), ModelError> {
        let cut = match reason.to_ascii_lowercase().as_str() {
            "length" | "max_tokens" | "model_length" => Some(Truncation::Length),
            "content_filter" | "safety" | "recitation" => Some(Truncation::Filtered),
            "error" | "abort" | "insufficient_system_resource" => {
                let (url, said) = (self.url.clone(), clean(reason, None));
                return Err(ModelError::Reported { url, said, passing: true });
            }
            _ => None,
        };
        self.end = AnswerEnd::Finishing(cut);
        Ok(())
    }

    fn reported_error(&self, value: &Value) -> ModelError {
        status::reported_error(&self.url, ServerMessage::from_value(value, self.key.as_deref()))
    }

    fn foreign_error(&self, text: &str) -> ModelError {
        let said = clean(text, self.key.as_deref());
        ModelError::Foreign { url: self.url.clone(), said }
    }
}

fn text_of(part: &Value) -> &str {
    part.as_str().or_else(|| part.get("text")?.as_str()).unwrap_or_default()
}

fn usage(value: &Value) -> Option<Usage> {
    let count = |names: [&str; 2]| names.iter().find_map(|name| value.get(name)?.as_u64());
    let input = count(["prompt_tokens", "input_tokens"]);
    let output = count(["completion_tokens", "output_tokens"]);
    (input.is_some() || output.is_some())
        .then(|| Usage::counted(input.unwrap_or(0), output.unwrap_or(0)))
}

#[cfg(test)]
mod tests;
