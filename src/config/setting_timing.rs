//! When a setting counts that is changed while a session runs.

use avocet_core::i18n::{Phrase, session as phrases};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingTiming {
    /// The session, its screen or the running gateway takes it over.
    AtOnce,
    /// A running turn goes on with the model that it began with.
    NextTurn,
    NextStart,
    /// When the gateway starts next.
    NextGateway,
}

impl SettingTiming {
    /// When it counts, in any case.
    pub fn label(self) -> Phrase {
        match self {
            SettingTiming::AtOnce => phrases::CONFIG_AT_ONCE,
            SettingTiming::NextTurn => phrases::CONFIG_NEXT_TURN,
            SettingTiming::NextStart => phrases::CONFIG_NEXT_START,
            SettingTiming::NextGateway => phrases::CONFIG_NEXT_GATEWAY,
        }
    }

    /// A sentence for the user; nothing where it counts already.
    pub fn hint(self) -> Option<Phrase> {
        match self {
            SettingTiming::AtOnce | SettingTiming::NextTurn => None,
            SettingTiming::NextStart => Some(phrases::CONFIG_NEXT_START),
            SettingTiming::NextGateway => Some(phrases::CONFIG_NEXT_GATEWAY),
        }
    }
}
