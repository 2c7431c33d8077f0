//! A titled list of lines that answers a command such as `/status`.

use serde::{Deserialize, Serialize};

use crate::words::{Say, Value};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Page {
    pub title: Say,
    pub rows: Vec<PageRow>,
}

/// One line of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PageRow {
    Heading(Value),
    /// A label and its value; the values of a page are aligned in a column.
    Pair {
        label: Value,
        value: Value,
    },
    Line(Value),
}

impl PageRow {
    pub fn heading(text: impl Into<Value>) -> PageRow {
        PageRow::Heading(text.into())
    }

    pub fn pair(label: impl Into<Value>, value: impl Into<Value>) -> PageRow {
        PageRow::Pair { label: label.into(), value: value.into() }
    }

    pub fn line(text: impl Into<Value>) -> PageRow {
        PageRow::Line(text.into())
    }
}
