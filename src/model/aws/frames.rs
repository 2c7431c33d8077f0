//! Parses AWS's event streams: binary frames with checksums, whose payloads are JSON. They become
//! the events of a text stream.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures_util::stream::{self, Stream, StreamExt};
use serde_json::{Value, json};

use crate::ModelError;
use crate::sse::{EVENT_CAP, SseError, SseEvent};

/// Lengths of the frame and its headers, and a checksum of both.
const PRELUDE: usize = 12;
const CHECKSUM: usize = 4;

type FrameResult = Result<SseEvent, SseError<ModelError>>;

/// Why a stream cannot be read on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FrameError {
    TooLarge,
    /// A checksum is wrong, or the headers are.
    Damaged,
}

/// The events in `bytes`. After an error the stream ends.
pub fn events(
    bytes: impl Stream<Item = Result<Bytes, ModelError>> + Send + 'static,
    damaged: impl Fn() -> ModelError + Send,
) -> impl Stream<Item = FrameResult> + Send {
    let mut frames = Frames::default();
    bytes.flat_map(move |piece| {
        stream::iter(match piece {
            Ok(bytes) => {
                let read = frames.feed(&bytes).into_iter();
                let error = |error| match error {
                    FrameError::TooLarge => SseError::TooLarge,
                    FrameError::Damaged => SseError::Source(damaged()),
                };
                read.map(|frame| frame.map_err(error)).collect()
            }
            Err(error) => vec![Err(SseError::Source(error))],
        })
    })
}

#[derive(Debug, Default)]
struct Frames {
    buffer: Vec<u8>,
    is_over: bool,
}

impl Frames {
    fn feed(&mut self, bytes: &[u8]) -> Vec<Result<SseEvent, FrameError>> {
        let mut out = Vec::new();
        if self.is_over {
            return out;
        }
        self.buffer.extend_from_slice(bytes);
        loop {
            match self.frame() {
                Ok(None) => return out,
                Ok(Some(frame)) => out.extend(event_of(&frame).map(Ok)),
                Err(error) => {
                    self.is_over = true;
                    self.buffer = Vec::new();
                    out.push(Err(error));
                    return out;
                }
            }
        }
    }

    /// The next complete frame. Its length is believed once the checksum of the prelude is right.
    fn frame(&mut self) -> Result<Option<Frame>, FrameError> {
        let Some(prelude) = self.buffer.get(..PRELUDE) else { return Ok(None) };
        let (lengths, checksum) = prelude.split_at(PRELUDE - CHECKSUM);
        if crc32fast::hash(lengths) != number(checksum) {
            return Err(FrameError::Damaged);
        }
        let (total, headers) = lengths.split_at(4);
        let total = number(total) as usize;
        let headers = number(headers) as usize;
        if total > EVENT_CAP {
            return Err(FrameError::TooLarge);
        }
        let end = total.checked_sub(CHECKSUM).ok_or(FrameError::Damaged)?;
        let payload = PRELUDE.checked_add(headers).filter(|at| *at <= end);
        let payload = payload.ok_or(FrameError::Damaged)?;
        if self.buffer.len() < total {
            return Ok(None);
        }
        let frame: Vec<u8> = self.buffer.drain(..total).collect();
        let (content, checksum) = frame.split_at(end);
        if crc32fast::hash(content) != number(checksum) {
            return Err(FrameError::Damaged);
        }
        let (start, payload) = content.split_at(payload);
        let headers = start.get(PRELUDE..).unwrap_or_default();
        let headers = read_headers(headers).ok_or(FrameError::Damaged)?;
        Ok(Some(Frame { headers, payload: payload.to_vec() }))
    }
}

#[derive(Debug)]
struct Frame {
    /// Those that are texts.
    headers: Vec<(String, String)>,
    payload: Vec<u8>,
}

impl Frame {
    fn header(&self, name: &str) -> &str {
        let header = self.headers.iter().find(|(known, _)| known == name);
        header.map_or("", |(_, value)| value)
    }
}

/// An event under its name; of a chunk, what it wraps. An exception is an error.
fn event_of(frame: &Frame) -> Option<SseEvent> {
    let payload: Value = serde_json::from_slice(&frame.payload).unwrap_or_default();
    let (name, data) = match (frame.header(":message-type"), frame.header(":event-type")) {
        ("exception", _) => {
            let message = payload.get("message").or_else(|| payload.get("originalMessage"));
            ("error", error(frame.header(":exception-type"), message.cloned().unwrap_or_default()))
        }
        ("error", _) => {
            ("error", error(frame.header(":error-code"), frame.header(":error-message").into()))
        }
        (_, "chunk") => {
            let bytes = payload.get("bytes").and_then(Value::as_str).unwrap_or_default();
            let bytes = STANDARD.decode(bytes).unwrap_or_default();
            ("message", String::from_utf8_lossy(&bytes).into_owned())
        }
        (_, "" | "initial-response") => return None,
        (_, event) => ("message", json!({ event: payload }).to_string()),
    };
    Some(SseEvent { name: name.to_owned(), data })
}

fn error(kind: &str, message: Value) -> String {
    json!({ "error": { "type": kind, "message": message } }).to_string()
}

/// A number of four bytes.
fn number(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

/// The headers; `None` if they do not end where they should.
fn read_headers(mut bytes: &[u8]) -> Option<Vec<(String, String)>> {
    let mut headers = Vec::new();
    while let Some((length, rest)) = bytes.split_first() {
        let (name, rest) = rest.split_at_checked(usize::from(*length))?;
        let (kind, rest) = rest.split_first()?;
        let (length, rest) = match kind {
            0 | 1 => (0, rest),
            2 => (1, rest),
            3 => (2, rest),
            4 => (4, rest),
            5 | 8 => (8, rest),
            9 => (16, rest),
            6 | 7 => {
                let (length, rest) = rest.split_at_checked(2)?;
                (number(length) as usize, rest)
            }
            _ => return None,
        };
        let (value, rest) = rest.split_at_checked(length)?;
        if *kind == 7 {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            headers.push((text(name), text(value)));
        }
        bytes = rest;
    }
    Some(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(headers: &[(&str, &str)], payload: &str) -> Vec<u8> {
        let mut head = Vec::new();
        for (name, value) in headers {
            head.push(u8::try_from(name.len()).unwrap());
            head.extend(name.as_bytes());
            head.push(7);
            head.extend(u16::try_from(value.len()).unwrap().to_be_bytes());
            head.extend(value.as_bytes());
        }
        let total = PRELUDE + head.len() + payload.len() + CHECKSUM;
        let mut out = u32::try_from(total).unwrap().to_be_bytes().to_vec();
        out.extend(u32::try_from(head.len()).unwrap().to_be_bytes());
        out.extend(crc32fast::hash(&out).to_be_bytes());
        out.extend(head);
        out.extend(payload.as_bytes());
        out.extend(crc32fast::hash(&out).to_be_bytes());
        out
    }

    const EVENT: &[(&str, &str)] = &[(":message-type", "event"), (":event-type", "messageStop")];

    #[test]
    fn frames_are_read_however_they_are_cut() {
        let chunk = [(":message-type", "event"), (":event-type", "chunk")];
        let mut bytes = frame(EVENT, r#"{"stopReason":"end_turn"}"#);
        bytes.extend(frame(&chunk, r#"{"bytes":"eyJhIjoxfQ==","p":"abc"}"#));
        for size in [1, 7, bytes.len()] {
            let mut frames = Frames::default();
            let read: Vec<_> = bytes.chunks(size).flat_map(|piece| frames.feed(piece)).collect();
            let read: Vec<_> = read.into_iter().map(|event| event.unwrap().data).collect();
            assert_eq!(read, [r#"{"messageStop":{"stopReason":"end_turn"}}"#, r#"{"a":1}"#]);
        }
    }

    #[test]
    fn an_exception_is_an_error_with_its_name() {
        let headers = [(":message-type", "exception"), (":exception-type", "throttlingException")];
        let read = Frames::default().feed(&frame(&headers, r#"{"message":"Too many"}"#));
        let event = read[0].clone().unwrap();
        assert_eq!(event.name, "error");
        assert!(event.data.contains("throttlingException") && event.data.contains("Too many"));
    }

    #[test]
    fn a_hostile_frame_ends_the_stream() {
        let whole = frame(EVENT, "{}");
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x40;
            let mut frames = Frames::default();
            assert_eq!(frames.feed(&bytes), [Err(FrameError::Damaged)], "byte {at}");
            assert_eq!(frames.feed(&whole), [], "nothing is read after it");
        }
        let mut long = 0x7fff_ffff_u32.to_be_bytes().to_vec();
        long.extend([0; 4]);
        long.extend(crc32fast::hash(&long).to_be_bytes());
        assert_eq!(Frames::default().feed(&long), [Err(FrameError::TooLarge)]);
        for lengths in [[0, 0], [15, 0], [16, 9], [16, u32::MAX]] {
            let mut short: Vec<u8> = lengths.iter().flat_map(|it| u32::to_be_bytes(*it)).collect();
            short.extend(crc32fast::hash(&short).to_be_bytes());
            short.extend([0; 8]);
            assert_eq!(Frames::default().feed(&short), [Err(FrameError::Damaged)], "{lengths:?}");
        }
        assert_eq!(
            Frames::default().feed(b"data: {\"choices\":[]}\n\n"),
            [Err(FrameError::Damaged)]
        );
    }

    #[test]
    fn headers_that_lie_about_their_length_are_refused() {
        for bytes in [&[5, b'a'][..], &[1, b'a'], &[1, b'a', 7, 0, 9, b'x'], &[1, b'a', 77]] {
            assert_eq!(read_headers(bytes), None, "{bytes:?}");
        }
    }
}
