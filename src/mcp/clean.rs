//! Makes what a server sends safe to show and bounded.

use serde_json::{Map, Value};

use avocet_core::text::{cut_end, one_line};
use avocet_safety::sanitize::{self, CarriageReturnMode};

/// One line of at most `limit` bytes.
pub(crate) fn line(text: &str, limit: usize) -> String {
    cut_end(&one_line(&paragraph(text, limit)), limit)
}

/// A text of at most `limit` bytes.
pub(crate) fn paragraph(text: &str, limit: usize) -> String {
    // Cleaned text is longer at most where it shows what was hidden.
    cut_end(&sanitize::clean(&cut_end(text, limit), CarriageReturnMode::EndsLine), limit)
}

/// The text of a member, as one line; empty if there is none.
pub(crate) fn member(table: &Value, key: &str, limit: usize) -> String {
    line(table.get(key).and_then(Value::as_str).unwrap_or_default(), limit)
}

/// The same value with each of its texts and names cleaned.
pub(crate) fn table(table: &Map<String, Value>) -> Map<String, Value> {
    let clean = |text: &str| sanitize::clean(text, CarriageReturnMode::EndsLine);
    table.iter().map(|(name, member)| (clean(name), value(member))).collect()
}

fn value(of: &Value) -> Value {
    match of {
        Value::String(text) => Value::String(sanitize::clean(text, CarriageReturnMode::EndsLine)),
        Value::Array(values) => values.iter().map(value).collect(),
        Value::Object(members) => Value::Object(table(members)),
        Value::Null | Value::Bool(_) | Value::Number(_) => of.clone(),
    }
}
