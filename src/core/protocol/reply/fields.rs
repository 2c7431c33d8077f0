//! Reads the fields of an object, or names the one that is wrong.

use serde_json::{Map, Value};

use crate::i18n::{LocalizedText, Phrase, common, protocol as phrases};

pub(super) type Object = Map<String, Value>;

/// An object and its path, so that an error can name the field.
pub(super) struct ObjectReader<'a> {
    pub object: &'a Object,
    pub path: &'a str,
}

impl<'a> ObjectReader<'a> {
    pub fn field(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    /// The first of these fields that is given, in whatever way its name is written.
    pub fn find(&self, names: &[&str]) -> Option<(&'a str, &'a Value)> {
        let given = |name: &&str| {
            let named =
                |(key, _): &(&String, &Value)| fold_field_name(key) == fold_field_name(name);
            self.object.iter().filter(|(_, value)| !value.is_null()).find(named)
        };
        names.iter().find_map(given).map(|(key, value)| (key.as_str(), value))
    }

    pub fn required(&self, name: &str) -> Result<&'a Value, LocalizedText> {
        self.object.get(name).ok_or_else(|| phrases::MISSING.with("field", self.field(name)))
    }

    /// `null` counts as omitted.
    pub fn optional(&self, name: &str) -> Option<&'a Value> {
        self.object.get(name).filter(|value| !value.is_null())
    }

    pub fn text(&self, name: &str) -> Result<String, LocalizedText> {
        match self.required(name)? {
            Value::String(text) => Ok(text.clone()),
            other => Err(wrong_type(&self.field(name), common::A_STRING, other)),
        }
    }

    pub fn optional_text(&self, name: &str) -> Result<Option<String>, LocalizedText> {
        self.optional(name).map(|_| self.text(name)).transpose()
    }

    pub fn optional_object(&self, name: &str) -> Result<Option<&'a Object>, LocalizedText> {
        match self.optional(name) {
            None => Ok(None),
            Some(Value::Object(object)) => Ok(Some(object)),
            Some(other) => Err(wrong_type(&self.field(name), phrases::AN_OBJECT, other)),
        }
    }

    pub fn flag(&self, name: &str) -> Result<bool, LocalizedText> {
        match self.optional(name).filter(|value| !is_unsaid(value)) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("true") => Ok(true),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("false") => Ok(false),
            Some(other) => Err(wrong_type(&self.field(name), common::A_BOOLEAN, other)),
        }
    }

    /// A list that may have been written as the text of one; a number in it is a text.
    pub fn texts(&self, name: &str) -> Result<Vec<String>, LocalizedText> {
        let list = match self.optional(name).filter(|value| !is_unsaid(value)) {
            None => return Ok(Vec::new()),
            Some(Value::Array(list)) => list.clone(),
            Some(other) => other
                .as_str()
                .and_then(|text| serde_json::from_str(text).ok())
                .ok_or_else(|| wrong_type(&self.field(name), common::STRINGS, other))?,
        };
        let texts = list.iter().enumerate().map(|(index, value)| match value {
            Value::String(text) => Ok(text.clone()),
            Value::Number(number) => Ok(number.to_string()),
            other => {
                let item = format!("{}[{index}]", self.field(name));
                Err(phrases::WRONG_ITEM
                    .with("field", self.field(name))
                    .with("item", item)
                    .with("found", kind(other)))
            }
        });
        texts.collect()
    }
}

/// A name of a field in lower case without signs.
pub(super) fn fold_field_name(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Models that fill in every field write this for one that they do not mean.
pub(super) fn is_unsaid(value: &Value) -> bool {
    value.as_str() == Some("") || value.as_u64() == Some(0)
}

pub(super) fn wrong_type(field: &str, phrase: Phrase, found: &Value) -> LocalizedText {
    phrases::WRONG.with("field", field).with("wanted", phrase).with("found", kind(found))
}

fn kind(value: &Value) -> Phrase {
    match value {
        Value::Null => phrases::IS_NULL,
        Value::Bool(_) => phrases::IS_BOOLEAN,
        Value::Number(_) => phrases::IS_NUMBER,
        Value::String(_) => common::A_STRING,
        Value::Array(_) => common::A_LIST,
        Value::Object(_) => phrases::AN_OBJECT,
    }
}
