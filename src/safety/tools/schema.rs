//! The JSON Schema of a tool's input, for models that call tools in the wire format's own way. It
//! is made of the rows that name the fields a judge reads, so that what is described is what is
//! judged.

use serde_json::{Map, Value, json};

use super::input::Names;

/// One field of an input.
#[derive(Debug)]
pub struct FieldRow {
    /// The names a judge accepts; a model learns the first.
    pub names: Names,
    pub kind: FieldKind,
    pub is_required: bool,
    /// For the model, where the name does not tell it.
    pub about: &'static str,
}

impl FieldRow {
    pub const fn says(self, about: &'static str) -> FieldRow {
        FieldRow { about, ..self }
    }
}

/// What a field holds.
#[derive(Clone, Copy, Debug)]
pub enum FieldKind {
    Text,
    Number,
    Flag,
    Texts,
    OneOf(&'static [&'static str]),
    Objects(&'static [FieldRow]),
    Object,
    Anything,
}

/// A field that must be there.
pub const fn required(names: Names, kind: FieldKind) -> FieldRow {
    FieldRow { names, kind, is_required: true, about: "" }
}

pub const fn optional(names: Names, kind: FieldKind) -> FieldRow {
    FieldRow { names, kind, is_required: false, about: "" }
}

/// The schema of an object with these fields.
pub fn schema(fields: &[FieldRow]) -> Value {
    let name = |field: &FieldRow| field.names.first().copied().unwrap_or_default();
    let properties: Map<String, Value> =
        fields.iter().map(|field| (name(field).to_owned(), field.schema())).collect();
    let required: Vec<&str> = fields.iter().filter(|field| field.is_required).map(name).collect();
    let mut out = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        out["required"] = json!(required);
    }
    out
}

impl FieldRow {
    fn schema(&self) -> Value {
        let mut out = self.kind.schema();
        if !self.about.is_empty() {
            out["description"] = json!(self.about);
        }
        out
    }
}

/// An input of this form: what must be there, and each list of texts. Its words are not names of
/// files.
pub fn example(fields: &[FieldRow]) -> Value {
    let is_shown = |field: &&FieldRow| field.is_required || matches!(field.kind, FieldKind::Texts);
    let shown = fields.iter().filter(is_shown).map(|field| {
        let name = field.names.first().copied().unwrap_or_default();
        (name.to_owned(), field.kind.example(name))
    });
    Value::Object(shown.collect())
}

impl FieldKind {
    /// Whether the value says nothing: what models write that fill in every field.
    pub fn is_empty(self, value: &Value) -> bool {
        match value {
            Value::Null => true,
            Value::String(text) => text.is_empty(),
            Value::Array(list) => list.is_empty(),
            Value::Object(fields) => fields.is_empty(),
            Value::Number(number) => {
                matches!(self, FieldKind::Number) && number.as_f64().is_some_and(|n| n <= 0.0)
            }
            Value::Bool(flag) => !flag && !matches!(self, FieldKind::Flag),
        }
    }

    /// The value that is meant by one of another form: one text in a list, a list or an object as
    /// text, a flag as a word or a number.
    pub fn plain(self, value: &Value) -> Option<Value> {
        let parsed = |text: &String| {
            let value = serde_json::from_str::<Value>(text).ok();
            value.filter(|value| value.is_object() || value.is_array())
        };
        match (self, value) {
            (FieldKind::Text | FieldKind::OneOf(_), Value::Array(list)) => match list.as_slice() {
                [one @ Value::String(_)] => Some(one.clone()),
                _ => None,
            },
            (FieldKind::Flag, Value::Number(_) | Value::String(_)) => {
                match value.to_string().trim_matches('"').to_lowercase().as_str() {
                    "1" | "yes" | "on" | "true" => Some(json!(true)),
                    "0" | "no" | "off" | "false" => Some(json!(false)),
                    _ => None,
                }
            }
            (FieldKind::Objects(_), Value::String(text)) => {
                let list = parsed(text)?;
                Some(if list.is_array() { list } else { json!([list]) })
            }
            (FieldKind::Objects(_), Value::Array(list)) if list.iter().any(Value::is_string) => {
                let item = |item: &Value| match item {
                    Value::String(text) => parsed(text).unwrap_or_else(|| item.clone()),
                    _ => item.clone(),
                };
                Some(list.iter().map(item).collect())
            }
            _ => None,
        }
    }

    fn example(self, name: &str) -> Value {
        let word = name.to_uppercase();
        match self {
            FieldKind::Text => json!(word),
            FieldKind::Number => json!(1),
            FieldKind::Flag => json!(true),
            FieldKind::Texts => json!([word]),
            FieldKind::OneOf(values) => json!(values.first()),
            FieldKind::Objects(fields) => json!([example(fields)]),
            FieldKind::Object | FieldKind::Anything => json!({}),
        }
    }

    fn schema(self) -> Value {
        match self {
            FieldKind::Text => json!({ "type": "string" }),
            FieldKind::Number => json!({ "type": "integer" }),
            FieldKind::Flag => json!({ "type": "boolean" }),
            FieldKind::Texts => json!({ "type": "array", "items": { "type": "string" } }),
            FieldKind::OneOf(values) => json!({ "type": "string", "enum": values }),
            FieldKind::Objects(fields) => json!({ "type": "array", "items": schema(fields) }),
            FieldKind::Object => json!({ "type": "object" }),
            FieldKind::Anything => json!({}),
        }
    }
}
