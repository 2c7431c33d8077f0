//! Why a prompt was not sent.

use avocet_core::i18n::LocalizedText;

#[derive(Debug)]
pub(super) enum ExpansionStop {
    Cancelled,
    /// The user stopped at a question.
    Stopped,
    Unsent(LocalizedText),
}
