//! A group that gets another id: its conversations go on there, and what waits for them goes along.

use super::super::ledger::{ChatRecord, JournalState, LedgerRecord};
use super::super::platform::{ChatAddress, ChatId, Incoming};
use super::{ChatDelivery, Service, Speaker};

impl Service {
    /// The chats of a group go on at its new place, and so does what waits for them.
    pub(super) fn move_group(&mut self, old_id: &ChatId, incoming: &Incoming) {
        let new_id = &incoming.at.chat;
        for record in moved(&self.parts.ledger.state, old_id, new_id) {
            self.append(record);
        }
        let of_group = self.chats.keys().filter(|at| at.chat == *old_id);
        for before in of_group.cloned().collect::<Vec<_>>() {
            let at = ChatAddress { chat: new_id.clone(), ..before.clone() };
            if self.chats.contains_key(&at) {
                // Someone was faster there.
                self.end_chat(&before);
                continue;
            }
            let Some(mut chat) = self.chats.remove(&before) else { continue };
            let incoming = Incoming { at: at.clone(), ..incoming.clone() };
            let speaker = Speaker::of(&incoming, false);
            let delivery = ChatDelivery { incoming, speaker, is_overheard: false };
            chat.handed += 1;
            let is_told = chat.deliveries.try_send(delivery).is_ok();
            self.chats.insert(at.clone(), chat);
            if !is_told {
                self.end_chat(&at);
            }
        }
        self.moved.insert(old_id.clone(), new_id.clone());
        let waiting = self.overflow.iter_mut().map(|one| &mut one.incoming.at);
        waiting.filter(|at| at.chat == *old_id).for_each(|at| at.chat.clone_from(new_id));
    }

    /// What is for a group that has moved is for its new place.
    pub(super) fn readdress(&self, address: &mut ChatAddress) {
        if let Some(new_id) = self.moved.get(&address.chat)
            && !self.chats.contains_key(address)
        {
            address.chat.clone_from(new_id);
        }
    }
}

/// What is known of the conversations of a group goes with it to its new place.
fn moved(state: &JournalState, old_id: &ChatId, new_id: &ChatId) -> Vec<LedgerRecord> {
    let new_place = |address: &ChatAddress| {
        let is_there = address.chat == *old_id;
        is_there.then(|| ChatAddress { chat: new_id.clone(), ..address.clone() })
    };
    let mut records = Vec::new();
    for (before, chat) in &state.chats {
        let Some(at) = new_place(before) else { continue };
        let ChatRecord { session, folder, earlier, .. } = chat.clone();
        records.push(LedgerRecord::Chat { at, session, folder, earlier });
        records.push(LedgerRecord::Question { at: before.clone(), message: None });
    }
    for pending in state.pending() {
        let Some(at) = new_place(&pending.incoming.at) else { continue };
        let incoming = Box::new(Incoming { at, ..pending.incoming.clone() });
        records.push(LedgerRecord::Received { incoming });
    }
    records
}
