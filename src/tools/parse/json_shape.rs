//! Describes the shape of an output that is one JSON value: its top level, not its depth.

use serde_json::{Value, json};

use super::items::{FinishedCommand, Items, clip};

/// Longest text of a field that is shown whole.
const SHOWN: usize = 80;

pub(super) fn read(run: &FinishedCommand<'_>) -> Option<Items> {
    let text = run.stdout.trim();
    if !run.whole || !text.starts_with(['{', '[']) {
        return None;
    }
    match serde_json::from_str(text).ok()? {
        Value::Object(fields) => Some(
            fields
                .iter()
                .map(|(key, value)| json!({ "key": clip(key), "value": summary(value) }))
                .collect(),
        ),
        Value::Array(values) => Some(values.iter().map(element).collect()),
        _ => None,
    }
}

/// An element of a list: its fields one level down.
fn element(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let shown = fields.iter().take(8).map(|(key, value)| (clip(key), summary(value)));
            Value::Object(shown.collect())
        }
        other => summary(other),
    }
}

fn summary(value: &Value) -> Value {
    match value {
        Value::Object(fields) => json!(format!("object of {}", fields.len())),
        Value::Array(values) => json!(format!("list of {}", values.len())),
        Value::String(text) => json!(avocet_core::text::cut(text, SHOWN)),
        other => other.clone(),
    }
}
