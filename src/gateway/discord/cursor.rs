//! The position in what Discord delivers: a session that can be resumed for a minute or two, and
//! after that the known channels with the newest message.

use serde::{Deserialize, Serialize};

use super::incoming::DiscordIncoming;
use super::session::SessionKey;
use crate::gateway::known_places::KnownPlaces;
use crate::gateway::platform::{ChatId, Cursor, IncomingKind};

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
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct KnownChannel {
    pub id: String,
    /// The server it is in; `None` for direct messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guild: Option<String>,
}

impl DiscordCursor {
    pub fn read(cursor: &Cursor) -> DiscordCursor {
        serde_json::from_str(&cursor.0).unwrap_or_default()
    }

    pub fn write(&self) -> Cursor {
        Cursor(serde_json::to_string(self).unwrap_or_default())
    }

    pub fn advance(&mut self, read: &DiscordIncoming) {
        let incoming = &read.incoming;
        if !incoming.is_addressed || matches!(incoming.kind, IncomingKind::Suggest { .. }) {
            return;
        }
        // The ids of messages and of interactions grow alike.
        let number = incoming.id.0.split_once(':').and_then(|(_, number)| number.parse().ok());
        self.newest = self.newest.max(number.unwrap_or(0));
        let (id, guild) = (incoming.at.chat.0.clone(), read.guild.clone());
        self.channels.heard(KnownChannel { id, guild });
    }

    /// Who spoke there may talk; whether that was news.
    pub fn admit(&mut self, channel: &ChatId) -> bool {
        self.channels.admit(|known| known.id == channel.0)
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
    fn a_later_run_knows_the_channels_and_the_newest_message() {
        let mut cursor = DiscordCursor::default();
        assert_eq!(cursor.missed(), None);
        for (channel, id) in [("7", OVERLAP + 9), ("8", OVERLAP + 5), ("9", OVERLAP + 2)] {
            let data = json!({ "id": id.to_string(), "channel_id": channel, "content": "x", "author": { "id": "1" } });
            cursor.advance(&read_event("MESSAGE_CREATE", data, "900").unwrap());
            if channel != "9" {
                assert!(cursor.admit(&channel.into()));
            }
        }
        let cursor = DiscordCursor::read(&cursor.write());
        let (channels, after) = cursor.missed().unwrap();
        let channels: Vec<&str> = channels.iter().map(|channel| channel.id.as_str()).collect();
        assert_eq!((channels, after), (vec!["7", "8"], 9));
        assert_eq!(DiscordCursor::read(&Cursor("7".into())), DiscordCursor::default());
    }

    #[test]
    fn a_channel_in_which_only_commands_were_chosen_is_read_from_the_newest_one() {
        let mut cursor = DiscordCursor::default();
        let data = json!({ "id": (OVERLAP + 3).to_string(), "type": 2, "channel_id": "7", "token": "t",
            "data": { "name": "status" }, "user": { "id": "1" } });
        cursor.advance(&read_event("INTERACTION_CREATE", data, "900").unwrap());
        assert!(cursor.admit(&"7".into()));
        assert_eq!(cursor.missed().map(|(channels, after)| (channels.len(), after)), Some((1, 3)));
    }
}
