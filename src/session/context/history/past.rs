//! Builds the messages of past turns.

use serde_json::json;

use super::{History, HistoryMessage, PastTurn, REPEATED_STEPS};
use avocet_core::protocol::reply::with_wire_names;
use avocet_core::protocol::{Dialect, Image, Message};

impl HistoryMessage {
    pub(super) fn for_each_text(&mut self, mut each: impl FnMut(&mut String)) {
        match self {
            HistoryMessage::User { content } => each(content),
            HistoryMessage::Assistant { message, ran, .. } => {
                each(message);
                ran.iter_mut().for_each(each);
            }
        }
    }

    /// The message as it is sent. The newest reply is the JSON of the protocol, so that a model
    /// that reads its own words keeps to it; older ones are shorter.
    fn to_message(&self, newest: bool) -> Message {
        match self {
            HistoryMessage::User { content } => Message::user(content.as_str()),
            HistoryMessage::Assistant { kind, message, ran } if newest => {
                let mut out = json!({ "type": kind.name(), "message": message });
                if !ran.is_empty() {
                    out["ran"] = json!(ran);
                }
                Message::assistant(out.to_string())
            }
            HistoryMessage::Assistant { kind, message, ran } => {
                let mut out = String::new();
                for step in ran {
                    out.push_str("ran: ");
                    out.push_str(step);
                    out.push('\n');
                }
                out.push_str(kind.name());
                out.push_str(": ");
                out.push_str(message);
                Message::assistant(out)
            }
        }
    }

    /// The message for a model that calls tools, of a turn whose messages are gone.
    pub(super) fn to_plain_message(&self) -> Message {
        match self {
            HistoryMessage::User { content } => Message::user(content.as_str()),
            HistoryMessage::Assistant { message, ran, .. } if ran.is_empty() => {
                Message::assistant(message.as_str())
            }
            HistoryMessage::Assistant { message, ran, .. } => {
                Message::assistant(format!("(Steps: {})\n{message}", ran.join("; ")))
            }
        }
    }

    pub(in crate::context) fn bytes(&self) -> usize {
        match self {
            HistoryMessage::User { content } => content.len(),
            HistoryMessage::Assistant { message, ran, .. } => {
                message.len() + ran.iter().map(|step| step.len() + 6).sum::<usize>() + 8
            }
        }
    }
}

impl PastTurn {
    pub fn id(&self) -> String {
        format!("turn_{}", self.turn)
    }

    pub fn bytes(&self) -> usize {
        let sent: usize = self.sent.iter().map(Message::len).sum();
        let lines: usize = self.messages.iter().map(HistoryMessage::bytes).sum();
        sent.max(lines + self.images.len() * Image::WEIGHT)
    }

    /// The number of listed steps.
    fn steps(&self) -> usize {
        let ran = self.messages.iter().map(|line| match line {
            HistoryMessage::User { .. } => 0,
            HistoryMessage::Assistant { ran, .. } => ran.len(),
        });
        ran.sum()
    }

    /// As it is sent in a dialect: as it was, or what is left of it.
    pub(in crate::context) fn to_messages(
        &self,
        dialect: Dialect,
        is_newest: bool,
    ) -> Vec<Message> {
        let last = self.messages.len().saturating_sub(1);
        let lines = self.messages.iter();
        let messages = match dialect {
            Dialect::Json => {
                let lines = lines.enumerate();
                lines.map(|(at, line)| line.to_message(is_newest && at == last)).collect()
            }
            Dialect::Tools if self.sent.is_empty() => {
                lines.map(HistoryMessage::to_plain_message).collect()
            }
            Dialect::Tools => return with_wire_names(&self.sent),
        };
        self.with_images(messages)
    }

    /// The beginning of the user's message.
    pub fn preview(&self) -> &str {
        let words = self.messages.iter().find_map(|line| match line {
            HistoryMessage::User { content } => Some(content.as_str()),
            HistoryMessage::Assistant { .. } => None,
        });
        words.unwrap_or_default()
    }
}

impl History {
    /// The messages of the turn at this index in the JSON dialect.
    pub(in crate::context) fn short_messages(
        &self,
        at: usize,
        first_repeated: usize,
    ) -> Vec<Message> {
        let Some(past) = self.recent.get(at) else { return Vec::new() };
        if at >= first_repeated && !past.repeated.is_empty() {
            return past.repeated.clone();
        }
        past.to_messages(Dialect::Json, at + 1 == self.recent.len())
    }

    /// The index of the first turn that the JSON dialect repeats verbatim, in at most this many bytes.
    /// When a turn exceeds a limit, all earlier ones change to their short form at once, so that most
    /// requests begin with the previous one.
    pub(in crate::context) fn first_repeated(&self, most: usize) -> usize {
        let mut first = 0;
        let mut steps = 0;
        let mut bytes = 0;

        for (at, past) in self.recent.iter().enumerate() {
            let own_bytes: usize = past.repeated.iter().map(Message::len).sum();
            let own_steps = past.steps();
            if own_steps > 0 && (own_bytes == 0 || own_bytes > most) {
                (first, steps, bytes) = (at + 1, 0, 0);
            } else if steps + own_steps > REPEATED_STEPS || bytes + own_bytes > most {
                (first, steps, bytes) = (at, own_steps, own_bytes);
            } else {
                (steps, bytes) = (steps + own_steps, bytes + own_bytes);
            }
        }
        first
    }
}
