//! The frames of Feishu's long connection: a small message of protobuf, read and written by hand.
//! Pure.

use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// The frame is about the connection, or holds an event.
const CONTROL: u64 = 0;
const DATA: u64 = 1;

/// A payload comes in at most so many frames, and within this time.
const MAX_PARTS: usize = 64;
const PARTS_LIFETIME: Duration = Duration::from_secs(10);

/// So many payloads can come at once; then the oldest is forgotten.
const OPEN_PAYLOADS: usize = 16;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FeishuFrame {
    numbers: [u64; 4],
    headers: Vec<(String, String)>,
    pub payload: Vec<u8>,
    /// What else the service wrote, by the number of its field: an answer repeats it.
    others: Vec<(u64, Vec<u8>)>,
}

/// What a frame is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    Event,
    Pong,
    Other,
}

/// The value of a field.
enum FieldValue<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl FeishuFrame {
    pub fn ping(service: u64) -> FeishuFrame {
        let headers = vec![("type".to_owned(), "ping".to_owned())];
        FeishuFrame { numbers: [0, 0, service, CONTROL], headers, ..FeishuFrame::default() }
    }

    /// `None` for anything else.
    pub fn read(mut bytes: &[u8]) -> Option<FeishuFrame> {
        let mut frame = FeishuFrame::default();
        while !bytes.is_empty() {
            match next_field(&mut bytes)? {
                (at @ 1..=4, FieldValue::Number(number)) => {
                    *frame.numbers.get_mut(usize::try_from(at).ok()? - 1)? = number;
                }
                (5, FieldValue::Bytes(header)) => frame.headers.push(read_header(header)?),
                (8, FieldValue::Bytes(payload)) => frame.payload = payload.to_vec(),
                (at, FieldValue::Bytes(other)) => frame.others.push((at, other.to_vec())),
                (_, FieldValue::Number(_)) => {}
            }
        }
        Some(frame)
    }

    pub fn write(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for (at, number) in (1..).zip(self.numbers) {
            write_number(&mut out, at << 3);
            write_number(&mut out, number);
        }
        for (key, value) in &self.headers {
            let mut header = Vec::new();
            write_bytes(&mut header, 1, key.as_bytes());
            write_bytes(&mut header, 2, value.as_bytes());
            write_bytes(&mut out, 5, &header);
        }
        for (at, other) in &self.others {
            write_bytes(&mut out, *at, other);
        }
        write_bytes(&mut out, 8, &self.payload);
        out
    }

    pub fn kind(&self) -> FrameKind {
        let [.., method] = self.numbers;
        match (method, self.header("type")) {
            (DATA, "event" | "card") => FrameKind::Event,
            (CONTROL, "pong") => FrameKind::Pong,
            _ => FrameKind::Other,
        }
    }

    /// The answer that this event has arrived, with what its sender is shown.
    pub fn acknowledgement(mut self, answer: &Value) -> FeishuFrame {
        let data = match answer {
            Value::Null => Value::Null,
            answer => json!(STANDARD.encode(answer.to_string())),
        };
        self.payload = json!({ "code": 200, "headers": null, "data": data }).to_string().into();
        self.headers.push(("biz_rt".to_owned(), "0".to_owned()));
        self
    }

    fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str()).unwrap_or_default()
    }
}

fn next_field<'a>(bytes: &mut &'a [u8]) -> Option<(u64, FieldValue<'a>)> {
    let tag = read_number(bytes)?;
    let length = match tag & 7 {
        0 => return Some((tag >> 3, FieldValue::Number(read_number(bytes)?))),
        1 => 8,
        2 => read_number(bytes)?,
        5 => 4,
        _ => return None,
    };
    let (value, rest) = bytes.split_at_checked(usize::try_from(length).ok()?)?;
    *bytes = rest;
    Some((tag >> 3, FieldValue::Bytes(value)))
}

fn read_header(mut bytes: &[u8]) -> Option<(String, String)> {
    let mut header = (String::new(), String::new());
    while !bytes.is_empty() {
        let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
        match next_field(&mut bytes)? {
            (1, FieldValue::Bytes(key)) => header.0 = text(key),
            (2, FieldValue::Bytes(value)) => header.1 = text(value),
            _ => {}
        }
    }
    Some(header)
}

fn read_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

fn write_number(out: &mut Vec<u8>, mut number: u64) {
    loop {
        let [low, ..] = number.to_le_bytes();
        number >>= 7;
        if number == 0 {
            return out.push(low & 0x7f);
        }
        out.push(low | 0x80);
    }
}

fn write_bytes(out: &mut Vec<u8>, at: u64, bytes: &[u8]) {
    write_number(out, at << 3 | 2);
    write_number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Puts payloads together that come in several frames.
#[derive(Debug, Default)]
pub struct FrameParts {
    open: Vec<OpenPayload>,
}

#[derive(Debug)]
struct OpenPayload {
    id: String,
    parts: Vec<Option<Vec<u8>>>,
    until: Instant,
}

impl FrameParts {
    /// The whole payload, once it is there.
    pub fn join(&mut self, frame: &FeishuFrame, now: Instant) -> Option<Vec<u8>> {
        let number = |name| frame.header(name).parse::<usize>().unwrap_or(0);
        let count = number("sum");
        if count <= 1 {
            return Some(frame.payload.clone());
        }
        let id = frame.header("message_id");
        self.open.retain(|payload| payload.until > now);
        let at = match self.open.iter().position(|payload| payload.id == id) {
            Some(at) => at,
            None if count > MAX_PARTS => return None,
            None => {
                self.open.drain(..self.open.len().saturating_sub(OPEN_PAYLOADS - 1));
                let until = now + PARTS_LIFETIME;
                let parts = vec![None; count];
                self.open.push(OpenPayload { id: id.to_owned(), parts, until });
                self.open.len() - 1
            }
        };
        let parts = &mut self.open.get_mut(at)?.parts;
        *parts.get_mut(number("seq"))? = Some(frame.payload.clone());
        let is_whole = parts.iter().all(Option::is_some);
        is_whole.then(|| self.open.remove(at).parts.into_iter().flatten().flatten().collect())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn event(id: &str, sum: usize, seq: usize, payload: &str) -> FeishuFrame {
        let header = |key: &str, value: String| (key.to_owned(), value);
        FeishuFrame {
            numbers: [300, 1 << 40, 7, DATA],
            headers: vec![
                header("type", "event".into()),
                header("message_id", id.into()),
                header("sum", sum.to_string()),
                header("seq", seq.to_string()),
            ],
            payload: payload.into(),
            others: vec![(9, b"log".to_vec())],
        }
    }

    #[test]
    fn a_frame_is_written_as_the_published_description_says() {
        let bytes = FeishuFrame::ping(300).write();
        let header = b"\x2a\x0c\x0a\x04type\x12\x04ping";
        assert_eq!(
            bytes,
            [b"\x08\0\x10\0\x18\xac\x02\x20\0".as_slice(), header, b"\x42\0"].concat()
        );
        let frame = event("m", 1, 0, "{}");
        assert_eq!(FeishuFrame::read(&frame.write()), Some(frame.clone()));
        assert_eq!(frame.kind(), FrameKind::Event);
        let answer = FeishuFrame::read(&frame.acknowledgement(&json!({ "a": 1 })).write()).unwrap();
        assert_eq!(answer.others, [(9, b"log".to_vec())], "the service finds its own words");
        let payload: Value = serde_json::from_slice(&answer.payload).unwrap();
        assert_eq!((&payload["code"], &payload["data"]), (&json!(200), &json!("eyJhIjoxfQ==")));
    }

    #[test]
    fn a_payload_in_parts_is_whole_in_any_order_and_what_lacks_a_part_is_forgotten() {
        let now = Instant::now();
        let mut parts = FrameParts::default();
        assert_eq!(parts.join(&event("a", 3, 2, "c"), now), None);
        assert_eq!(parts.join(&event("b", 2, 0, "x"), now), None);
        assert_eq!(parts.join(&event("a", 3, 0, "a"), now), None);
        assert_eq!(parts.join(&event("a", 3, 0, "a"), now), None, "again");
        assert_eq!(parts.join(&event("a", 3, 1, "b"), now), Some(b"abc".to_vec()));
        assert_eq!(parts.join(&event("b", 2, 9, "x"), now), None);
        assert_eq!(parts.join(&event("b", 2, 1, "y"), now + PARTS_LIFETIME), None, "too late");
        assert_eq!(parts.join(&event("c", usize::MAX, 0, "x"), now), None);
        for number in 0..100 {
            parts.join(&event(&number.to_string(), 2, 0, "x"), now);
        }
        assert!(parts.open.len() <= OPEN_PAYLOADS);
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_frame_or_none(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            if let Some(frame) = FeishuFrame::read(&bytes) {
                prop_assert_eq!(FeishuFrame::read(&frame.write()).map(|frame| frame.payload), Some(frame.payload));
            }
        }
    }
}
