//! Whose conversation a delivery is for, and in which language.

use super::platform::{Incoming, Sender};
use super::service::ConversationSettings;
use avocet_core::i18n::Lang;

impl ConversationSettings {
    /// In a group a user may have a conversation of their own.
    pub fn assign(&self, incoming: &mut Incoming) {
        if self.is_per_user && incoming.is_group && incoming.at.user.is_none() {
            incoming.at.user = Some(incoming.sender.id.clone());
        }
    }

    /// The language of the sender's client, if it counts and is one of ours.
    pub fn lang_of(&self, sender: &Sender) -> Option<Lang> {
        let named = sender.language.as_deref().filter(|_| self.follows_sender)?;
        Lang::parse(named)
    }
}
