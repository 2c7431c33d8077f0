//! The position in what Discord delivers: a session that can be resumed for a minute or two, and
//! after that the known channels with the newest message.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::incoming::DiscordIncoming;
use super::session::SessionKey;
use crate::known_places::KnownPlaces;
use crate::platform::{Cursor, IncomingKind};

/// Messages do not arrive in order: those of this time before the newest one are read again. The
/// upper bits of an id are milliseconds.
const OVERLAP: u64 = 60_000 << 22;

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub struct DiscordCursor {
    pub session: Option<SessionKey>,
    /// The newest message or command of all channels.
    newest: u64,
    #[serde(flatten)]
    channels: KnownPlaces<KnownChannel>,
    /// The newest message that came while missed ones are read: the position stays before those.
    #[serde(skip)]
    ahead: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct KnownChannel {
    pub id: String,
    /// It is in a server: an older version wrote which.
    #[serde(default, alias = "guild", deserialize_with = "is_given")]
    pub is_group: bool,
}

fn is_given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    let value = Value::deserialize(deserializer)?;
    Ok(value != Value::Null && value != Value::Bool(false))
}

impl DiscordCursor {
    pub fn read(cursor: &Cursor) -> DiscordCursor {
        serde_json::from_str(&cursor.0).unwrap_or_default()
    }

    pub fn write(&self) -> Cursor {
        Cursor(serde_json::to_string(self).unwrap_or_default())
    }

    pub fn advance(&mut self, discord_incoming: &DiscordIncoming) {
        let incoming = &discord_incoming.incoming;
        if !incoming.is_addressed || matches!(incoming.kind, IncomingKind::Suggest { .. }) {
            return;
        }
        // The ids of messages and of interactions grow alike.
        let number = incoming.id.0.split_once(':').and_then(|(_, number)| number.parse().ok());
        let newest = self.ahead.as_mut().unwrap_or(&mut self.newest);
        *newest = (*newest).max(number.unwrap_or(0));
    }

    /// Who spoke there may talk; whether the channel is new.
    pub fn admit(&mut self, channel: KnownChannel) -> bool {
        self.channels.admit(channel)
    }

    /// In a thread that the bot has joined, what follows needs no mention.
    pub fn address(&self, discord_incoming: &mut DiscordIncoming) {
        let DiscordIncoming { incoming, in_thread, .. } = discord_incoming;
        let channel = &incoming.at.chat.0;
        let is_joined = self.channels.admitted().iter().any(|known| known.id == *channel);
        incoming.is_addressed |= *in_thread && is_joined;
    }

    /// Missed messages are being read.
    pub fn begin_catch_up(&mut self) {
        self.ahead.get_or_insert(0);
    }

    /// All of them came.
    pub fn end_catch_up(&mut self) {
        self.newest = self.newest.max(self.ahead.take().unwrap_or(0));
    }

    /// The session in which the newest event came, unless messages before it are still missing.
    pub fn reach(&mut self, session: Option<SessionKey>) {
        if session.is_some() && self.ahead.is_none() {
            self.session = session;
        }
    }

    /// The channels to read for what was missed, and after which message; none before the first one.
    pub fn missed(&self) -> Option<(Vec<KnownChannel>, u64)> {
        let channels = self.channels.admitted().to_vec();
        let after = self.newest.saturating_sub(OVERLAP);
        (self.newest > 0 && !channels.is_empty()).then_some((channels, after))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::incoming::read_event;
    use super::*;

    #[test]
    fn in_a_thread_that_the_bot_joined_what_follows_needs_no_mention() {
        let written = |channel: &str, more: serde_json::Value| {
            let mut data = json!({ "id": "5", "channel_id": channel, "guild_id": "50",
                "content": "go on", "author": { "id": "1" } });
            data.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            read_event("MESSAGE_CREATE", data, "900").unwrap()
        };
        let mut cursor = DiscordCursor::default();
        cursor.admit(known("7"));
        let is_addressed = |channel: &str, more: serde_json::Value| {
            let mut read = written(channel, more);
            cursor.address(&mut read);
            read.incoming.is_addressed
        };
        assert!(is_addressed("7", json!({ "position": 0 })));
        assert!(!is_addressed("7", json!({})), "it is a channel");
        assert!(!is_addressed("8", json!({ "position": 0 })), "it is a thread of others");
    }

    fn known(channel: &str) -> KnownChannel {
        KnownChannel { id: channel.to_owned(), is_group: true }
    }

    #[test]
    fn once_the_missed_messages_are_read_the_live_ones_count() {
        let mut cursor = DiscordCursor::default();
        cursor.admit(known("7"));
        cursor.begin_catch_up();
        let data =
            json!({ "id": (OVERLAP + 4).to_string(), "channel_id": "7", "author": { "id": "1" } });
        cursor.advance(&read_event("MESSAGE_CREATE", data, "900").unwrap());
        assert_eq!(cursor.missed(), None);
        cursor.end_catch_up();
        assert_eq!(cursor.missed(), Some((vec![known("7")], 4)));
        let old = r#"{"newest":5,"channels":[{"id":"7","guild":"50"},{"id":"8"}]}"#;
        let (channels, _) = DiscordCursor::read(&Cursor(old.into())).missed().unwrap();
        assert_eq!((channels[0].is_group, channels[1].is_group), (true, false));
    }

    #[test]
    fn a_later_run_knows_the_channels_and_the_newest_message() {
        let mut cursor = DiscordCursor::default();
        assert_eq!(cursor.missed(), None);
        for (channel, id) in [("7", OVERLAP + 9), ("8", OVERLAP + 5), ("9", OVERLAP + 2)] {
            let data = json!({ "id": id.to_string(), "channel_id": channel, "content": "x", "author": { "id": "1" } });
            cursor.advance(&read_event("MESSAGE_CREATE", data, "900").unwrap());
            if channel != "9" {
                assert!(cursor.admit(known(channel)));
            }
        }
        // What is live meanwhile does not move the position past what was missed.
        cursor.begin_catch_up();
        let data =
            json!({ "id": (OVERLAP + 99).to_string(), "channel_id": "7", "author": { "id": "1" } });
        cursor.advance(&read_event("MESSAGE_CREATE", data, "900").unwrap());
        cursor.reach(Some(SessionKey { id: "s".into(), url: "u".into(), sequence: 1, intents: 0 }));
        let cursor = DiscordCursor::read(&cursor.write());
        let (channels, after) = cursor.missed().unwrap();
        let channels: Vec<&str> = channels.iter().map(|channel| channel.id.as_str()).collect();
        assert_eq!((channels, after), (vec!["7", "8"], 9));
        assert_eq!(cursor.session, None);
        assert_eq!(DiscordCursor::read(&Cursor("7".into())), DiscordCursor::default());
    }

    #[test]
    fn a_channel_in_which_only_commands_were_chosen_is_read_from_the_newest_one() {
        let mut cursor = DiscordCursor::default();
        let data = json!({ "id": (OVERLAP + 3).to_string(), "type": 2, "channel_id": "7", "token": "t",
            "data": { "name": "status" }, "user": { "id": "1" } });
        cursor.advance(&read_event("INTERACTION_CREATE", data, "900").unwrap());
        assert!(cursor.admit(known("7")));
        assert_eq!(cursor.missed().map(|(channels, after)| (channels.len(), after)), Some((1, 3)));
    }
}
