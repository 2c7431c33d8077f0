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

impl FieldKind {
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
