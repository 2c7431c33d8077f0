//! Sentences with the name that was probably meant.

use crate::error::quoted;
use avocet_config::suggest;
use avocet_core::i18n::{LocalizedText, script_run as phrases};

/// A sentence with the nearest known name, if there is one.
pub fn with_near<'a>(
    text: LocalizedText,
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> LocalizedText {
    // A name of two letters is near to any other one.
    let near = if name.chars().count() < 3 { Vec::new() } else { suggest::nearest(name, known) };
    match near.first() {
        Some(near) => phrases::DID_YOU_MEAN.with("what", text).with("near", quoted(near)),
        None => text,
    }
}
