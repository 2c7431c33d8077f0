//! The messages of a turn, masked before they are cut, which keeps a secret from being cut into a
//! part that no longer looks like one.

use avocet_core::protocol::Message;
use avocet_safety::redact::Redactor;

/// The messages of the turn with their secrets masked. Each is masked once, however often it is
/// sent.
#[derive(Debug, Default)]
pub struct MaskedTurn {
    raw: Vec<Message>,
    masked: Vec<Message>,
    /// Number of values that were masked.
    known: usize,
}

impl MaskedTurn {
    pub fn update(&mut self, messages: Vec<Message>, redactor: &Redactor) {
        let known = redactor.learned_count();
        if known != self.known {
            *self = MaskedTurn { known, ..MaskedTurn::default() };
        }
        let same = self.raw.iter().zip(&messages).take_while(|(old, new)| old == new).count();
        self.masked.truncate(same);
        let new = messages.iter().skip(same).cloned();
        self.masked.extend(new.map(|message| mask_message(redactor, message)));
        self.raw = messages;
    }

    pub fn messages(&self) -> &[Message] {
        &self.masked
    }
}

pub fn mask_message(redactor: &Redactor, mut message: Message) -> Message {
    message.texts_mut().for_each(|text| *text = redactor.mask(text).into_owned());
    message
}
