//! Converts a model's text to the value a script asked for: JSON, YAML, a natural object or a
//! scalar, checked against `output`. Also describes `output` in words for the model.
//!
//! Pure. A reply is only parsed, never evaluated, and a schema loads nothing.

use serde_json::Value;

use super::error::{ScriptError, quoted};
use super::syntax;
use super::text::json5;
use avocet_core::i18n::script as phrases;

mod describe;
mod natural_object;
mod sample;
mod schema;

pub use describe::{describe, describe_field};
use natural_object::{parse_bool, strip_fence};
pub use sample::sample;
pub use schema::{check, misspelt_type, misspelt_type_name, normalize, schema_fault};

/// Longest text that is parsed, in bytes.
const MAX_LENGTH: usize = 16 * 1024 * 1024;

/// The value of a reply. `kind` is `response_format.type`; `output` is the script's description of
/// its result. The error names the format, and the path that does not match.
pub fn convert(kind: &str, text: &str, output: Option<&Value>) -> Result<Value, ScriptError> {
    if text.len() > MAX_LENGTH {
        return Err(ScriptError::limit(phrases::OUTPUT_LONG.with("limit", MAX_LENGTH)));
    }
    let schema = output.filter(|output| !output.is_null()).map(normalize);
    let value = match kind.trim().to_ascii_lowercase().as_str() {
        "json" | "json_object" | "json_schema" => parse_json(text, schema.as_ref())?,
        "yaml" | "yml" => parse_yaml(text, schema.as_ref())?,
        "nobj" => natural_object::parse(text, schema.as_ref())?,
        "text" | "" => Value::from(text),
        other => return Err(phrases::OUTPUT_KIND.with("kind", quoted(other)).into()),
    };
    if let Some(schema) = &schema {
        check(&value, schema)?;
    }
    Ok(value)
}

fn parse_json(text: &str, schema: Option<&Value>) -> Result<Value, ScriptError> {
    let bare = strip_fence(text);
    let first = match serde_json::from_str(bare) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    for part in
        [Some(text.trim()), outermost_slice(bare, '{', '}'), outermost_slice(bare, '[', ']')]
            .into_iter()
            .flatten()
    {
        if let Ok(value) = serde_json::from_str(part) {
            return Ok(value);
        }
    }
    parse_scalar(bare, schema).ok_or_else(|| {
        let why = format!("{first}");
        phrases::OUTPUT_NOT
            .with("form", "JSON")
            .with("why", quoted(&why))
            .with("text", quoted(text))
            .into()
    })
}

/// From the first opening to the last closing sign: models often write a sentence before it.
fn outermost_slice(text: &str, open: char, close: char) -> Option<&str> {
    let start = text.find(open)?;
    let end = text.rfind(close)? + close.len_utf8();
    (start < end).then(|| text.split_at(end).0.split_at(start).1)
}

/// A text where a scalar is expected.
fn parse_scalar(text: &str, schema: Option<&Value>) -> Option<Value> {
    let value = match schema?.get("type")?.as_str()? {
        "string" => Value::from(text),
        "number" => json5::parse_number(text)?,
        "integer" => json5::parse_number(text).filter(Value::is_i64)?,
        "boolean" => parse_bool(text)?,
        _ => return None,
    };
    Some(value)
}

fn parse_yaml(text: &str, schema: Option<&Value>) -> Result<Value, ScriptError> {
    let bare = strip_fence(text);
    let bare = bare.strip_suffix("\n...").unwrap_or(bare);
    let value = syntax::parse_yaml(bare).map_err(|said| {
        // The parser's own words, without the sentence it adds for a script.
        let why = said.value("why").cloned().unwrap_or_else(|| said.clone().into());
        phrases::OUTPUT_NOT.with("form", "YAML").with("why", why).with("text", quoted(text))
    })?;
    match value {
        Value::String(_) | Value::Null => Ok(parse_scalar(bare, schema).unwrap_or(value)),
        value => Ok(value),
    }
}

#[cfg(test)]
mod tests;
