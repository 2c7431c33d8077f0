//! Who speaks in a chat.

use super::super::platform::UserId;
use avocet_core::text::{cut, one_line};

/// Who speaks, as the gateway knows them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Speaker {
    pub id: UserId,
    pub name: String,
    pub is_admin: bool,
}

impl Speaker {
    /// Every refusal is in the log: who was refused and what, without the words of the message.
    pub fn log_refusal(&self, what: &str) {
        tracing::warn!(user = ?self.id.0, what, "refused");
    }
}

/// A name that a user chose, for a sentence.
pub fn display_name(name: &str) -> String {
    cut(&one_line(&avocet_core::text::escape(name).text), 40)
}
