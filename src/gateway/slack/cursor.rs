//! The position in what Slack delivers. The service delivers again what was not acknowledged, but
//! only for a while: after a longer time the known conversations are read from where they ended.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::known_places::KnownPlaces;
use crate::platform::{ChatAddress, Cursor, Incoming};

/// Messages do not arrive in order: those of this time before the newest one are read again.
const OVERLAP: Duration = Duration::from_secs(60);

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub struct SlackPosition {
    /// Counts deliveries since the start.
    pub number: u64,
    /// The newest message, as the service counts: seconds, a dot and six digits.
    newest: String,
    #[serde(flatten)]
    places: KnownPlaces<ChatAddress>,
    /// The newest message that came while missed ones are read: the position stays before those.
    #[serde(skip)]
    ahead: Option<String>,
}

impl SlackPosition {
    /// Of an earlier run.
    pub fn resume(cursor: Option<&Cursor>) -> SlackPosition {
        let cursor = cursor.map(SlackPosition::read).unwrap_or_default();
        SlackPosition { number: 0, ..cursor }
    }

    pub fn read(cursor: &Cursor) -> SlackPosition {
        serde_json::from_str(&cursor.0).unwrap_or_default()
    }

    pub fn write(&self) -> Cursor {
        Cursor(serde_json::to_string(self).unwrap_or_default())
    }

    pub fn advance(&mut self, incoming: &Incoming) {
        self.number += 1;
        if let Some(message) = incoming.message.as_ref().filter(|_| incoming.is_addressed) {
            let newest = self.ahead.as_mut().unwrap_or(&mut self.newest);
            if message.0 > *newest {
                newest.clone_from(&message.0);
            }
        }
    }

    /// Who spoke there may talk; whether the place is new. In its channel they may begin another
    /// thread.
    pub fn admit(&mut self, address: &ChatAddress) -> bool {
        let is_new = self.places.admit(address.clone());
        let chat_address = ChatAddress { chat: address.chat.clone(), thread: None, user: None };
        self.places.admit(chat_address) || is_new
    }

    /// Missed messages are being read.
    pub fn begin_catch_up(&mut self) {
        self.ahead.get_or_insert_with(String::new);
    }

    /// All of them came.
    pub fn end_catch_up(&mut self) {
        if let Some(ahead) = self.ahead.take().filter(|ahead| *ahead > self.newest) {
            self.newest = ahead;
        }
    }

    /// The conversations to read, and from when on; none before the first message.
    pub fn missed(&self) -> (Vec<ChatAddress>, String) {
        let (seconds, rest) = self.newest.split_once('.').unwrap_or((&self.newest, "0"));
        match seconds.parse::<u64>() {
            Ok(seconds) => {
                let from = seconds.saturating_sub(OVERLAP.as_secs());
                (self.places.admitted().to_vec(), format!("{from}.{rest}"))
            }
            Err(_) => (Vec::new(), String::new()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::{DeliveryId, IncomingKind, Sender};

    fn message(chat: &str, ts: &str) -> Incoming {
        Incoming {
            id: DeliveryId(ts.into()),
            at: ChatAddress { chat: chat.into(), thread: None, user: None },
            message: Some(ts.into()),
            sender: Sender { id: "U".into(), name: String::new(), language: None, is_bot: false },
            is_group: false,
            is_addressed: true,
            quote: None,
            album: None,
            kind: IncomingKind::Text { text: String::new() },
        }
    }

    #[test]
    fn a_later_run_reads_the_known_conversations_from_where_they_ended() {
        let mut cursor = SlackPosition::default();
        assert_eq!(cursor.missed(), (Vec::new(), String::new()));
        for (chat, ts) in [("D1", "1000.000002"), ("D2", "1000.000003"), ("D1", "1000.000001")] {
            cursor.advance(&message(chat, ts));
            cursor.admit(&message(chat, ts).at);
        }
        cursor.advance(&message("D9", "1000.000001"));
        assert_eq!(cursor.number, 4);
        // What is live meanwhile does not move the position past what was missed.
        cursor.begin_catch_up();
        cursor.advance(&message("D1", "2000.000001"));
        let cursor = SlackPosition::resume(Some(&cursor.write()));
        assert_eq!(cursor.number, 0);
        let (places, from) = cursor.missed();
        let chats: Vec<&str> = places.iter().map(|place| place.chat.0.as_str()).collect();
        assert_eq!((chats, from.as_str()), (vec!["D2", "D1"], "940.000003"));
        assert_eq!(SlackPosition::resume(Some(&Cursor("7".into()))), SlackPosition::default());
    }

    #[test]
    fn once_the_missed_messages_are_read_the_live_ones_count() {
        let mut cursor = SlackPosition::default();
        cursor.admit(&message("D1", "1000.000001").at);
        cursor.begin_catch_up();
        cursor.advance(&message("D1", "1000.000001"));
        assert_eq!(cursor.missed().0, Vec::new());
        cursor.end_catch_up();
        assert_eq!(cursor.missed().1, "940.000001");
    }

    #[test]
    fn a_thread_is_remembered_with_its_channel() {
        let mut cursor = SlackPosition::default();
        let thread =
            ChatAddress { chat: "C1".into(), thread: Some("1000.000001".into()), user: None };
        assert!(cursor.admit(&thread) && !cursor.admit(&thread));
        cursor.advance(&message("C1", "1000.000001"));
        let channel = ChatAddress { chat: "C1".into(), thread: None, user: None };
        assert_eq!(cursor.missed().0, [thread, channel]);
    }
}
