//! Reads a tool's input forgivingly: small models write `file_path` for `path`, numbers as
//! texts and one text for a list. An error names what is missing or of the wrong kind, and
//! what is expected.

use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::findings::excerpt;
use avocet_core::i18n::{LocalizedText, Phrase, common, safety as phrases};

/// The fault in an input.
#[derive(Clone, Debug, PartialEq)]
pub struct InputError {
    pub say: LocalizedText,
    /// More of it for the model: regions of files, as text.
    pub detail: String,
    /// The file that is not there: others beside it may be meant.
    pub missing: Option<Box<MissingFile>>,
    /// A field is missing or of the wrong kind, or no tool has this name: nothing was judged.
    pub is_form: bool,
}

/// A file that a call names and that is not there.
#[derive(Clone, Debug, PartialEq)]
pub struct MissingFile {
    pub path: PathBuf,
    /// As a user reads it.
    pub shown: String,
}

impl InputError {
    /// A fault in the form of a call.
    pub fn of_form(text: LocalizedText) -> InputError {
        InputError { is_form: true, ..InputError::from(text) }
    }
}

impl From<LocalizedText> for InputError {
    fn from(text: LocalizedText) -> InputError {
        InputError { say: text, detail: String::new(), missing: None, is_form: false }
    }
}

/// The fields of one input.
#[derive(Clone, Copy, Debug)]
pub struct InputFields<'a> {
    tool: &'a str,
    value: &'a Value,
}

/// A field: the names it may have, its own first.
pub type Names = &'static [&'static str];

pub const PATH: Names = &[
    "path",
    "file",
    "file_path",
    "filename",
    "absolute_path",
    "target_file",
    "notebook_path",
    "relative_workspace_path",
    "folder",
    "folder_path",
    "dir",
    "dir_path",
    "directory",
    "directory_path",
    "target_directory",
];

/// A name as it is compared: other agents write `filePath`, `file-path` or `FilePath`.
fn plain(name: &str) -> String {
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// The field of one of these names, in whatever way it is written.
pub(super) fn find_field<'a>(
    fields: &'a Map<String, Value>,
    names: &[&str],
) -> Option<(&'a str, &'a Value)> {
    let there = |(_, value): &(&'a String, &'a Value)| !value.is_null();
    let exact = names.iter().filter_map(|name| fields.get_key_value(*name)).find(there);
    let found = exact.or_else(|| fields.iter().filter(there).find(|(key, _)| is_named(key, names)));
    found.map(|(key, value)| (key.as_str(), value))
}

/// Whether a key is one of these names, in whatever way it is written. Flags like `-A` and `-a` stay
/// apart.
pub(super) fn is_named(key: &str, names: &[&str]) -> bool {
    names.iter().any(|name| *name == key || name.len() > 2 && plain(name) == plain(key))
}

impl<'a> InputFields<'a> {
    pub fn new(tool: &'a str, value: &'a Value) -> InputFields<'a> {
        InputFields { tool, value }
    }

    /// All of it, as it came.
    pub fn raw_value(&self) -> &'a Value {
        self.value
    }

    pub fn fields(&self) -> Option<&'a Map<String, Value>> {
        self.value.as_object()
    }

    /// The first of the names that is there; `null` counts as left out.
    pub fn get(&self, names: Names) -> Option<&'a Value> {
        find_field(self.fields()?, names).map(|(_, value)| value)
    }

    /// # Errors
    /// It is missing, or no text.
    pub fn text(&self, names: Names) -> Result<&'a str, InputError> {
        self.optional_text(names)?.ok_or_else(|| self.missing_field_error(names))
    }

    pub fn optional_text(&self, names: Names) -> Result<Option<&'a str>, InputError> {
        match self.get(names) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong_field_error(names, common::A_STRING, other)),
        }
    }

    pub fn number(&self, names: Names) -> Result<Option<usize>, InputError> {
        let Some(value) = self.get(names) else { return Ok(None) };
        parse_number(value)
            .map(Some)
            .ok_or_else(|| self.wrong_field_error(names, phrases::FIELD_NUMBER, value))
    }

    pub fn flag(&self, names: Names) -> Result<bool, InputError> {
        match self.get(names) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("true") => Ok(true),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("false") => Ok(false),
            Some(other) => Err(self.wrong_field_error(names, common::A_BOOLEAN, other)),
        }
    }

    /// A list of texts; one text alone is a list of it, and a number a text.
    pub fn texts(&self, names: Names) -> Result<Vec<String>, InputError> {
        let list = match self.get(names) {
            None => return Ok(Vec::new()),
            Some(Value::Array(list)) => list,
            Some(Value::String(text)) => return Ok(vec![text.clone()]),
            Some(other) => return Err(self.wrong_field_error(names, common::STRINGS, other)),
        };
        let text = |value: &Value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            Value::Object(fields) => ["label", "text", "title", "value"]
                .iter()
                .find_map(|name| fields.get(*name)?.as_str().map(str::to_owned)),
            Value::Null | Value::Bool(_) | Value::Array(_) => None,
        };
        let all: Option<Vec<String>> = list.iter().map(text).collect();
        all.ok_or_else(|| self.wrong_field_error(names, common::STRINGS, &Value::Array(Vec::new())))
    }

    /// A list that may have been written as the text of one.
    pub fn list(&self, names: Names) -> Result<Option<Vec<Value>>, InputError> {
        match self.get(names) {
            None => Ok(None),
            Some(Value::Array(list)) => Ok(Some(list.clone())),
            Some(one @ Value::Object(_)) => Ok(Some(vec![one.clone()])),
            Some(Value::String(text)) => match serde_json::from_str(text) {
                Ok(Value::Array(list)) => Ok(Some(list)),
                _ => Err(self.wrong_field_error(
                    names,
                    common::A_LIST,
                    &Value::String(String::new()),
                )),
            },
            Some(other) => Err(self.wrong_field_error(names, common::A_LIST, other)),
        }
    }

    pub fn missing_field_error(&self, names: Names) -> InputError {
        let there: Vec<&str> = self
            .fields()
            .into_iter()
            .flat_map(|fields| fields.keys())
            .map(String::as_str)
            .collect();
        let there = if there.is_empty() { "-".to_owned() } else { excerpt(&there.join(", ")) };
        InputError::of_form(
            phrases::FIELD_MISSING
                .with("tool", self.tool)
                .with("field", names.first().copied().unwrap_or_default())
                .with("there", there),
        )
    }

    fn wrong_field_error(&self, names: Names, phrase: Phrase, found: &Value) -> InputError {
        let name = self.fields().and_then(|fields| find_field(fields, names)).map(|(name, _)| name);
        InputError::of_form(
            phrases::FIELD_WRONG
                .with("tool", self.tool)
                .with("field", name.or(names.first().copied()).unwrap_or_default())
                .with("wanted", phrase)
                .with("found", excerpt(&found.to_string())),
        )
    }
}

/// A whole number from 0, also as `"12"` or `12.0`.
pub(super) fn parse_number(value: &Value) -> Option<usize> {
    match value {
        Value::Number(number) => number
            .as_u64()
            .or_else(|| number.as_f64().filter(|n| n.fract() == 0.0 && *n >= 0.0).map(|n| n as u64))
            .and_then(|n| usize::try_from(n).ok()),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}
