//! A titled list of lines that answers a command such as `/status`.

use serde::{Deserialize, Serialize};

use crate::i18n::{LocalizedText, PhraseValue};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Page {
    pub title: LocalizedText,
    pub rows: Vec<PageRow>,
}

/// One line of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PageRow {
    Heading(PhraseValue),
    /// A label and its value; the values of a page are aligned in a column.
    Pair {
        label: PhraseValue,
        value: PhraseValue,
    },
    Line(PhraseValue),
}

impl PageRow {
    pub fn heading(text: impl Into<PhraseValue>) -> PageRow {
        PageRow::Heading(text.into())
    }

    pub fn pair(label: impl Into<PhraseValue>, value: impl Into<PhraseValue>) -> PageRow {
        PageRow::Pair { label: label.into(), value: value.into() }
    }

    pub fn line(text: impl Into<PhraseValue>) -> PageRow {
        PageRow::Line(text.into())
    }
}
