//! Turns a server's response into chunks, whatever its format: events of a stream, lines, or one
//! JSON body. Skips what is broken, recognises another format, and knows when the answer is over.

use std::collections::VecDeque;

use serde_json::Value;

use super::super::error_body::{ServerMessage, clean, is_html};
use super::super::sse::SseEvent;
use super::super::status::{self, ErrorContext};
use super::super::{Chunk, ModelError};
use super::format::{Answer, AnswerEnd, ReadError, WireReader, recognise};
use super::surrogates::SurrogateJoiner;
use super::think::ThoughtFilter;
use avocet_core::protocol::Provider;

/// A byte order mark.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// The kind of a body, from its first visible byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyKind {
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

/// Parses one answer.
#[derive(Debug)]
pub(crate) struct AnswerReader {
    url: String,
    key: Option<String>,
    model: String,
    provider: Provider,
    reader: Box<dyn WireReader>,
    answer: Answer,
    surrogates: SurrogateJoiner,
    thoughts: ThoughtFilter,
    /// Chunks that can be taken.
    ready: VecDeque<Chunk>,
    /// An event of this format has arrived.
    is_known: bool,
    /// The error of the first event that meant nothing, and the number of broken ones.
    first_invalid: Option<ModelError>,
    invalid_count: usize,
}

/// Maximum number of invalid events to skip in one answer.
const PASSED_OVER: usize = 64;

impl AnswerReader {
    pub fn new(
        url: String,
        key: Option<String>,
        model: &str,
        provider: Provider,
        reader: Box<dyn WireReader>,
    ) -> AnswerReader {
        AnswerReader {
            url,
            key,
            model: model.to_owned(),
            provider,
            reader,
            answer: Answer::default(),
            surrogates: SurrogateJoiner::default(),
            thoughts: ThoughtFilter::default(),
            ready: VecDeque::new(),
            is_known: false,
            first_invalid: None,
            invalid_count: 0,
        }
    }

    /// The next chunk that has not been taken yet.
    pub fn next_chunk(&mut self) -> Option<Chunk> {
        while self.ready.is_empty() {
            let chunk = self.answer.chunks.pop_front()?;
            self.thoughts.push(chunk, &mut self.ready);
        }
        self.ready.pop_front()
    }

    /// True when a finish reason has arrived: the rest is not worth a long wait.
    pub fn is_finishing(&self) -> bool {
        matches!(self.answer.end, AnswerEnd::Finishing(_))
    }

    pub fn is_done(&self) -> bool {
        self.answer.end == AnswerEnd::Done
    }

    /// Processes one event of a stream.
    pub fn push_event(&mut self, event: &SseEvent) -> Result<(), ModelError> {
        let data = event.data.trim();
        if data == "[DONE]" {
            self.fail_if_foreign()?;
            self.finish();
            return Ok(());
        }
        if data.is_empty() || event.name == "ping" || self.is_done() {
            return Ok(());
        }
        match self.parse(data) {
            Ok(value) if event.name == "error" => Err(self.reported_error(&value)),
            Ok(value) => self.push_value(&value),
            Err(_) if event.name == "error" => Err(self.reported_error(&Value::from(data))),
            Err(_) if data.contains('\n') => self.push_lines(data),
            Err(error) if error.is_eof() => {
                self.skip_invalid(ModelError::Broken { url: self.url.clone() })
            }
            Err(_) => self.skip_invalid(self.foreign_error(data)),
        }
    }

    /// Some servers put no empty line between events: each line is one.
    fn push_lines(&mut self, data: &str) -> Result<(), ModelError> {
        if !data
            .lines()
            .any(|line| serde_json::from_str::<Value>(line).is_ok_and(|v| v.is_object()))
        {
            return self.skip_invalid(self.foreign_error(data));
        }
        data.lines().try_for_each(|line| {
            let event = SseEvent { name: "message".to_owned(), data: line.to_owned() };
            self.push_event(&event)
        })
    }

    fn parse(&mut self, data: &str) -> serde_json::Result<Value> {
        if !self.surrogates.is_waiting()
            && let Ok(value) = serde_json::from_str(data)
        {
            return Ok(value);
        }
        serde_json::from_str(&self.surrogates.join(data))
    }

    /// One invalid event does not cost the rest of the answer, but it may have held a part of it.
    /// A server that sends nothing else speaks another protocol.
    fn skip_invalid(&mut self, error: ModelError) -> Result<(), ModelError> {
        tracing::warn!(%error, "an event of the answer was skipped");
        self.invalid_count += 1;
        if self.invalid_count > PASSED_OVER {
            return Err(self.first_invalid.take().unwrap_or(error));
        }
        if self.answer.is_open() {
            self.answer.chunks.push_back(Chunk::Gap);
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
                self.fail_if_foreign()?;
                self.finish();
                Ok(())
            }
            Err(error) if error.is_eof() => Err(ModelError::Broken { url: self.url.clone() }),
            Err(_) => {
                self.push_lines(text)?;
                self.close()
            }
        }
    }

    /// The stream ended: normally if the answer was finished, otherwise it broke off.
    pub fn close(&mut self) -> Result<(), ModelError> {
        self.fail_if_foreign()?;
        if self.answer.is_open() {
            // Calls that are passed on only at the end of an answer may lack a part.
            self.reader.end(&mut self.answer);
            let has_calls = self.answer.chunks.iter().any(|chunk| matches!(chunk, Chunk::Call(_)));
            let url = self.url.clone();
            self.answer.chunks.clear();
            return Err(if has_calls || self.invalid_count > 0 {
                ModelError::Broken { url }
            } else {
                ModelError::Unended { url }
            });
        }
        self.finish();
        Ok(())
    }

    fn finish(&mut self) {
        if self.is_done() {
            return;
        }
        self.reader.end(&mut self.answer);
        let cut = match self.answer.end {
            AnswerEnd::Finishing(cut) => cut,
            AnswerEnd::Open | AnswerEnd::Done => None,
        };
        self.answer.end = AnswerEnd::Done;
        let usage = self.answer.usage.take();
        self.answer.chunks.extend(usage.map(Chunk::Usage));
        self.answer.chunks.push_back(Chunk::Finished(cut));
    }

    fn push_value(&mut self, value: &Value) -> Result<(), ModelError> {
        let first = value.get(0).unwrap_or(value);
        let is_error = |field: &str| first.get(field).and_then(Value::as_str) == Some("error");
        if first.get("error").is_some_and(|error| !error.is_null())
            || is_error("object")
            || is_error("type")
        {
            return Err(self.reported_error(value));
        }
        if !self.is_known {
            match recognise(value) {
                Some(format) if self.provider.speaks(format) => self.is_known = true,
                Some(format) => return Err(self.other_format(format)),
                None => {
                    let error = self.foreign_error(&value.to_string());
                    self.first_invalid.get_or_insert(error);
                }
            }
        }
        let read = self.reader.read(value, &mut self.answer);
        read.map_err(|error| self.read_error(&error))?;
        if self.answer.is_last {
            self.finish();
        }
        Ok(())
    }

    fn read_error(&self, error: &ReadError) -> ModelError {
        match self.reported_error(&error.said) {
            ModelError::Reported { url, said, passing, after } => {
                ModelError::Reported { url, said, passing: passing || error.passing, after }
            }
            other => other,
        }
    }

    fn reported_error(&self, value: &Value) -> ModelError {
        let cx = ErrorContext {
            url: &self.url,
            model: &self.model,
            key_name: "",
            has_key: true,
            is_near: false,
        };
        let said = ServerMessage::from_value(value, self.key.as_deref());
        status::reported_error(cx, said)
    }

    fn foreign_error(&self, text: &str) -> ModelError {
        let said = clean(text, self.key.as_deref());
        ModelError::Foreign { url: self.url.clone(), said }
    }

    fn other_format(&self, provider: Provider) -> ModelError {
        ModelError::OtherFormat { url: self.url.clone(), provider }
    }
}

#[cfg(test)]
mod tests;
