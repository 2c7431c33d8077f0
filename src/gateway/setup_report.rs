//! What a service says to the one who sets it up.

use avocet_core::i18n::{LocalizedText, gateway as w};

/// What a service answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SetupReport {
    pub bot: String,
    /// What is missing.
    pub texts: Vec<LocalizedText>,
    /// Telegram sends messages there, and none to a gateway.
    pub webhook: Option<String>,
}

impl SetupReport {
    /// Of a bot that lacks nothing, as far as is known.
    pub fn of(bot: String) -> SetupReport {
        SetupReport { bot, ..SetupReport::default() }
    }
}

/// Those of the permissions that were not granted.
pub fn missing(wanted: &[&str], is_granted: impl Fn(&str) -> bool) -> Option<LocalizedText> {
    let missing: Vec<&str> = wanted.iter().copied().filter(|scope| !is_granted(scope)).collect();
    (!missing.is_empty()).then(|| w::LACKS_SCOPES.with("scopes", missing.join(", ")))
}
