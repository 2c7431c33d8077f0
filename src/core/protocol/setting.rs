//! A setting as an editor shows it.

use serde::{Deserialize, Serialize};

use crate::i18n::LocalizedText;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SettingRow {
    /// Its dotted path.
    pub key: String,
    /// As it is shown; empty: it has none.
    pub value: String,
    pub input: SettingInput,
    /// What it does.
    pub about: LocalizedText,
    pub origin: LocalizedText,
    /// When a change counts.
    pub timing: LocalizedText,
    /// The user's own file has it.
    pub is_own: bool,
}

/// How a value is entered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SettingInput {
    /// `true` or `false`.
    Flag,
    Choice(Vec<String>),
    Text {
        /// The text to begin with.
        start: String,
        /// What it may be.
        expected: LocalizedText,
    },
}
