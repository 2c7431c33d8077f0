//! The position in what Discord delivers: a session that can be resumed for a minute or two, and
//! after that the known channels with the newest message.

use serde::{Deserialize, Serialize};

use super::session::SessionKey;
use crate::gateway::platform::{Cursor, IncomingKind};

use super::incoming::DiscordIncoming;

/// So many channels are read after a long time; the oldest ones are forgotten.
const CHANNELS: usize = 50;

/// Messages do not arrive in order: those of this time before the newest one are read again. The
/// upper bits of an id are milliseconds.
const OVERLAP: u64 = 60_000 << 22;

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub struct DiscordCursor {
    pub session: Option<SessionKey>,
    /// The newest message of all channels.
    newest: u64,
    /// The newest channel is last.
    pub channels: Vec<KnownChannel>,
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
        if read.interaction.is_none() {
            let number = incoming.message.as_ref().and_then(|message| message.0.parse().ok());
            self.newest = self.newest.max(number.unwrap_or(0));
        }
        let known = KnownChannel { id: incoming.at.chat.0.clone(), guild: read.guild.clone() };
        self.channels.retain(|channel| channel.id != known.id);
        self.channels.push(known);
        if self.channels.len() > CHANNELS {
            self.channels.remove(0);
        }
    }

    /// After which message the known channels are to be read; `None` before the first one.
    pub fn missed_after(&self) -> Option<u64> {
        (self.newest > 0).then(|| self.newest.saturating_sub(OVERLAP))
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
        assert_eq!(cursor.missed_after(), None);
        for (channel, id) in [("7", OVERLAP + 9), ("8", OVERLAP + 5)] {
            let data = json!({ "id": id.to_string(), "channel_id": channel, "content": "x", "author": { "id": "1" } });
            cursor.advance(&read_event("MESSAGE_CREATE", data, "900").unwrap());
        }
        let cursor = DiscordCursor::read(&cursor.write());
        assert_eq!(cursor.missed_after(), Some(9));
        let channels: Vec<&str> =
            cursor.channels.iter().map(|channel| channel.id.as_str()).collect();
        assert_eq!(channels, ["7", "8"]);
        assert_eq!(DiscordCursor::read(&Cursor("7".into())), DiscordCursor::default());
    }
}
