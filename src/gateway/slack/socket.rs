//! Socket Mode: reads its frames, and keeps which of them must still be acknowledged. Pure; the
//! caller says what time it is.

use std::collections::VecDeque;
use std::time::Instant;

use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Clone, Debug, PartialEq)]
pub enum SlackFrame {
    Hello,
    Envelope(Envelope),
    /// The service is about to close the connection: another one should take over.
    Refresh,
    /// Socket Mode was switched off for the app.
    Disabled,
    /// Not understood, and not needed.
    Unknown,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Envelope {
    pub id: String,
    pub kind: String,
    pub payload: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SocketFrame {
    #[serde(rename = "type")]
    kind: String,
    reason: Option<String>,
    envelope_id: Option<String>,
    payload: Value,
}

impl SlackFrame {
    pub fn read(text: &str) -> SlackFrame {
        let frame: SocketFrame = serde_json::from_str(text).unwrap_or_default();
        match (frame.kind.as_str(), frame.envelope_id) {
            ("hello", _) => SlackFrame::Hello,
            ("disconnect", _) => match frame.reason.as_deref() {
                Some("link_disabled") => SlackFrame::Disabled,
                _ => SlackFrame::Refresh,
            },
            (_, Some(id)) => {
                SlackFrame::Envelope(Envelope { id, kind: frame.kind, payload: frame.payload })
            }
            (_, None) => SlackFrame::Unknown,
        }
    }
}

/// The frame that acknowledges an envelope.
pub fn acknowledgement(envelope: &str) -> String {
    json!({ "envelope_id": envelope }).to_string()
}

/// The envelopes of a connection that are not acknowledged yet, in the order in which they came.
#[derive(Clone, Debug, Default)]
pub struct Unacknowledged {
    waiting: VecDeque<WaitingEnvelope>,
}

#[derive(Clone, Debug)]
struct WaitingEnvelope {
    envelope: String,
    /// The number under which it was handed over.
    number: u64,
    until: Instant,
}

impl Unacknowledged {
    pub fn push(&mut self, envelope: String, number: u64, until: Instant) {
        self.waiting.push_back(WaitingEnvelope { envelope, number, until });
    }

    /// Everything up to this number is stored: returns the envelopes to acknowledge.
    pub fn confirm(&mut self, number: u64) -> Vec<String> {
        self.take(|waiting| waiting.number <= number)
    }

    /// The envelopes that cannot wait any longer.
    pub fn overdue(&mut self, now: Instant) -> Vec<String> {
        self.take(|waiting| waiting.until <= now)
    }

    pub fn deadline(&self) -> Option<Instant> {
        self.waiting.front().map(|waiting| waiting.until)
    }

    fn take(&mut self, fits: impl Fn(&WaitingEnvelope) -> bool) -> Vec<String> {
        let mut out = Vec::new();
        while let Some(waiting) = self.waiting.pop_front_if(|waiting| fits(waiting)) {
            out.push(waiting.envelope);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn frames_are_told_apart_and_unknown_ones_are_ignored() {
        let read = SlackFrame::read;
        assert_eq!(read(r#"{"type":"hello","num_connections":1}"#), SlackFrame::Hello);
        for reason in ["warning", "refresh_requested", "too_many_websockets", "new"] {
            let frame = json!({ "type": "disconnect", "reason": reason });
            assert_eq!(read(&frame.to_string()), SlackFrame::Refresh);
        }
        let disabled = r#"{"type":"disconnect","reason":"link_disabled"}"#;
        assert_eq!(read(disabled), SlackFrame::Disabled);
        let envelope = r#"{"envelope_id":"e1","type":"events_api","payload":{"a":1},"new":0}"#;
        let (id, kind) = ("e1".to_owned(), "events_api".to_owned());
        let payload = json!({ "a": 1 });
        assert_eq!(read(envelope), SlackFrame::Envelope(Envelope { id, kind, payload }));
        for text in ["", "{", "[]", "null", r#"{"type":7}"#, "Ping from applink", r#"{"type":"x"}"#]
        {
            assert_eq!(read(text), SlackFrame::Unknown, "{text}");
        }
    }

    #[test]
    fn envelopes_are_acknowledged_once_when_they_are_stored_or_when_their_time_is_up() {
        let now = Instant::now();
        let mut waiting = Unacknowledged::default();
        for (number, id) in ["a", "b", "c"].into_iter().enumerate() {
            waiting.push(id.into(), number as u64, now + Duration::from_secs(number as u64 + 2));
        }
        assert_eq!(waiting.confirm(0), ["a"]);
        assert_eq!(waiting.confirm(0), [""; 0]);
        let deadline = waiting.deadline().unwrap();
        assert_eq!(deadline, now + Duration::from_secs(3));
        assert_eq!(waiting.overdue(now), [""; 0]);
        assert_eq!(waiting.overdue(deadline), ["b"]);
        assert_eq!(waiting.confirm(9), ["c"]);
        assert_eq!(waiting.deadline(), None);
    }
}
