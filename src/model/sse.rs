//! Parses server-sent events from a byte stream.
//!
//! `eventsource-stream` parses the fields. Alone it would panic on a byte order mark, copy the rest
//! of its buffer for every line, end at one invalid byte and grow without bound. So it never sees
//! the raw bytes: `Lines` passes it one whole line at a time, without the mark, with `\n` at its
//! end, as valid UTF-8, and counts the bytes of the event. The cost is linear in the bytes, however
//! they are split.
//!
//! Not in here: what an event means.

use std::mem::take;

use eventsource_stream::{EventStream, EventStreamError};
use futures_util::stream::{self, Stream, StreamExt, TryStreamExt};

/// Maximum size of one event, in bytes.
pub const EVENT_CAP: usize = 8 << 20;

const MARK: &[u8] = b"\xef\xbb\xbf";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SseEvent {
    /// The `event:` field; `message` if there is none.
    pub name: String,
    /// The `data:` lines, joined by `\n`.
    pub data: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SseError<E> {
    /// The source of the bytes failed.
    Source(E),
    /// An event, or an unterminated line, exceeded the cap.
    TooLarge,
}

/// The events in `bytes`, none larger than `cap`. An event cut short by the end of the stream is
/// passed on as far as it arrived. After an error the stream ends.
pub fn events<S, B, E>(
    bytes: S,
    cap: usize,
) -> impl Stream<Item = Result<SseEvent, SseError<E>>> + Send
where
    S: Stream<Item = Result<B, E>> + Send,
    B: AsRef<[u8]> + Send,
    E: Send,
{
    let lines = split(bytes, Lines::new(cap, CapScope::Event));
    let mut over = false;
    EventStream::new(lines)
        .filter_map(|event| async {
            match event {
                Ok(event) => Some(Ok(SseEvent { name: event.event, data: event.data })),
                Err(EventStreamError::Transport(fault)) => Some(Err(fault)),
                // Whole lines of valid UTF-8 always parse.
                Err(EventStreamError::Utf8(_) | EventStreamError::Parser(_)) => None,
            }
        })
        .take_while(move |event| {
            let go_on = !over;
            over = event.is_err();
            async move { go_on }
        })
}

/// The lines of a server that streams one JSON value a line, as events.
pub fn lines<S, B, E>(
    bytes: S,
    cap: usize,
) -> impl Stream<Item = Result<SseEvent, SseError<E>>> + Send
where
    S: Stream<Item = Result<B, E>> + Send,
    B: AsRef<[u8]> + Send,
    E: Send,
{
    split(bytes, Lines::new(cap, CapScope::Line))
        .map_ok(|line| SseEvent { name: "message".to_owned(), data: line.trim().to_owned() })
}

fn split<S, B, E>(
    bytes: S,
    mut lines: Lines,
) -> impl Stream<Item = Result<String, SseError<E>>> + Send
where
    S: Stream<Item = Result<B, E>> + Send,
    B: AsRef<[u8]> + Send,
    E: Send,
{
    let pieces = bytes.map_ok(Some).chain(stream::once(async { Ok(None) }));
    pieces.flat_map(move |piece| {
        stream::iter(match piece {
            Ok(Some(bytes)) => lines.feed(bytes.as_ref()),
            Ok(None) => lines.end(),
            Err(error) => vec![Err(SseError::Source(error))],
        })
    })
}

/// What the cap limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CapScope {
    Event,
    Line,
}

/// Splits bytes into lines that end in `\n`, whatever their original line ending.
#[derive(Debug)]
struct Lines {
    cap: usize,
    unit: CapScope,
    /// The incomplete last line.
    partial: Vec<u8>,
    /// Bytes of the event before `partial`.
    event_bytes: usize,
    has_begun: bool,
    /// The last byte was `\r`, so a `\n` now belongs to it.
    after_cr: bool,
    is_over: bool,
}

impl Lines {
    fn new(cap: usize, unit: CapScope) -> Lines {
        Lines {
            cap,
            unit,
            partial: Vec::new(),
            event_bytes: 0,
            has_begun: false,
            after_cr: false,
            is_over: false,
        }
    }

    fn feed<E>(&mut self, mut bytes: &[u8]) -> Vec<Result<String, SseError<E>>> {
        let mut lines = Vec::new();
        while !self.is_over && !bytes.is_empty() {
            if take(&mut self.after_cr)
                && let Some(rest) = bytes.strip_prefix(b"\n")
            {
                bytes = rest;
                continue;
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let (part, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
            if self.event_bytes + self.partial.len() + part.len() > self.cap {
                self.is_over = true;
                self.partial = Vec::new();
                lines.push(Err(SseError::TooLarge));
                return lines;
            }
            self.partial.extend_from_slice(part);
            bytes = rest;
            if let Some((end, rest)) = rest.split_first() {
                self.after_cr = *end == b'\r';
                bytes = rest;
                lines.push(Ok(self.line()));
            }
        }
        lines
    }

    /// The rest at the end of the bytes: the incomplete line, and the end of its event.
    fn end<E>(&mut self) -> Vec<Result<String, SseError<E>>> {
        if self.is_over {
            return Vec::new();
        }
        vec![Ok(self.line()), Ok("\n".to_owned())]
    }

    fn line(&mut self) -> String {
        let line = take(&mut self.partial);
        let begun = std::mem::replace(&mut self.has_begun, true);
        let line = match line.strip_prefix(MARK) {
            Some(rest) if !begun => rest,
            _ => &line,
        };
        self.event_bytes = if self.unit == CapScope::Line || line.is_empty() {
            0
        } else {
            self.event_bytes + line.len()
        };
        let mut line = String::from_utf8_lossy(line).into_owned();
        line.push('\n');
        line
    }
}

#[cfg(test)]
mod tests;
