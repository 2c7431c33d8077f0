//! A titled list of lines that answers a command such as `/status`.

use serde::{Deserialize, Serialize};

use crate::words::{Say, Value};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Page {
    pub title: Say,
    pub rows: Vec<Row>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Row {
    Heading(Say),
    /// Shown in two aligned columns.
    Pair {
        label: Value,
        value: Value,
    },
    Text(Say),
}

impl Row {
    pub fn pair(label: impl Into<Value>, value: impl Into<Value>) -> Row {
        Row::Pair { label: label.into(), value: value.into() }
    }
}
