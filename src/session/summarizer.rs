//! Chooses the model that sums up a long conversation.

use std::sync::Arc;

use super::{Connect, Connected, Wanted};
use avocet_core::i18n::Lang;
use avocet_core::protocol::{Mode, Provider};
use avocet_model::Model;

/// The model that sums up: the profile's model for mode low if it is at the same server as the
/// model that answers, so that the conversation is sent to no other server.
#[derive(Clone)]
pub struct Summarizer {
    connect: Connect,
    connected: Connected,
    lang: Lang,
}

impl Summarizer {
    pub fn new(connect: &Connect, connected: &Connected, lang: Lang) -> Summarizer {
        Summarizer { connect: Arc::clone(connect), connected: connected.clone(), lang }
    }

    /// Created when it is needed. The guide cannot sum up.
    pub fn model(&self) -> Option<Arc<dyn Model>> {
        match self.connected.provider {
            Provider::Guide => None,
            Provider::Scripted => Some(Arc::clone(&self.connected.model)),
            _ => match (self.connect)(&Wanted::Mode(Mode::Low), self.lang) {
                Ok(low) if low.base_url == self.connected.base_url => Some(low.model),
                Ok(_) | Err(_) => Some(Arc::clone(&self.connected.model)),
            },
        }
    }
}
