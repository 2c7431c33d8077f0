//! Whose conversation a delivery is for, and in which language.

use std::collections::HashMap;

use super::ledger::{ChatRecord, LedgerRecord};
use super::platform::{ChatAddress, ChatId, Incoming, Sender};
use super::service::ConversationSettings;
use avocet_core::i18n::Lang;

/// What is known of the conversations of a group goes with it to its new place.
pub fn moved(
    chats: &HashMap<ChatAddress, ChatRecord>,
    old_id: &ChatId,
    new_id: &ChatId,
) -> Vec<(ChatAddress, LedgerRecord)> {
    let of_group = chats.iter().filter(|(at, _)| at.chat == *old_id);
    let record = |(before, chat): (&ChatAddress, &ChatRecord)| {
        let at = ChatAddress { chat: new_id.clone(), ..before.clone() };
        let ChatRecord { session, folder, earlier, .. } = chat.clone();
        (before.clone(), LedgerRecord::Chat { at, session, folder, earlier })
    };
    of_group.map(record).collect()
}

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
