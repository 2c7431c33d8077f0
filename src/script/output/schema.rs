//! Turns `output` into a JSON Schema, and checks values against it.

use std::error::Error;

use boon::{Compiler, Draft, SchemaIndex, Schemas, UrlLoader, ValidationError};
use serde_json::{Map, Value, json};

use crate::error::{ScriptError, quoted};
use avocet_config::suggest;
use avocet_core::i18n::{LocalizedText, script as phrases};

/// Depth to which a schema is normalised; deeper parts stay unchanged.
const MAX_DEPTH: usize = 32;
/// Keys that make a map a schema rather than a list of fields.
const SCHEMA_WORDS: &[&str] = &[
    "type",
    "properties",
    "items",
    "prefixItems",
    "enum",
    "const",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "$ref",
    "$defs",
    "required",
    "additionalProperties",
    "format",
    "pattern",
    "minimum",
    "maximum",
    "if",
];

/// The schema in JSON Schema's form. Scripts may also write a list of fields as for `input`, a map
/// of fields without `properties`, `required: true` inside a field, and the short names of types.
pub fn normalize(output: &Value) -> Value {
    normalize_field(output, 0)
}

fn normalize_field(value: &Value, depth: usize) -> Value {
    if depth > MAX_DEPTH {
        return value.clone();
    }
    match value {
        Value::String(name) => match type_name(name) {
            Some(kind) => json!({ "type": kind }),
            None => json!({ "description": name }),
        },
        Value::Array(items) => normalize_field_list(items, depth),
        Value::Object(map) if is_schema(map) => normalize_schema(map, depth),
        Value::Object(map) => normalize_schema(
            &[("properties".to_owned(), Value::Object(map.clone()))].into_iter().collect(),
            depth,
        ),
        Value::Bool(_) => value.clone(),
        _ => json!({}),
    }
}

/// The sentence for a `type` that is nearly the name of a type.
pub fn misspelt_type(output: &Value) -> Option<LocalizedText> {
    misspelt_type_name(output.get("type")?.as_str()?)
}

/// The same for the name alone.
pub fn misspelt_type_name(name: &str) -> Option<LocalizedText> {
    let types = ["object", "array", "string", "number", "integer", "boolean", "null"];
    let near = suggest::nearest(name, types).first().copied();
    let near = near.filter(|_| type_name(name).is_none())?;
    Some(phrases::OUTPUT_TYPE.with("name", quoted(name)).with("near", near))
}

/// True when a map is a schema of a value; a field may itself be called `type`, but then its value
/// is not the name of a type.
fn is_schema(map: &Map<String, Value>) -> bool {
    map.is_empty()
        || map.iter().any(|(key, value)| match key.as_str() {
            "type" => match value {
                Value::String(name) => type_name(name).is_some(),
                Value::Array(_) => true,
                _ => false,
            },
            "properties" | "$defs" => value.is_object(),
            "enum" | "anyOf" | "oneOf" | "allOf" | "prefixItems" => value.is_array(),
            "required" => value.is_array() || value.is_boolean(),
            key => SCHEMA_WORDS.contains(&key) && !matches!(value, Value::Null),
        })
        || map.keys().all(|key| {
            matches!(key.as_str(), "description" | "title" | "default" | "example" | "examples")
        })
}

fn type_name(name: &str) -> Option<&'static str> {
    Some(match name.trim().to_ascii_lowercase().as_str() {
        "string" | "str" | "text" => "string",
        "number" | "float" | "double" => "number",
        "integer" | "int" => "integer",
        "boolean" | "bool" => "boolean",
        "array" | "list" => "array",
        "object" | "map" | "dict" => "object",
        "null" => "null",
        _ => return None,
    })
}

/// `[name, {other: {type: number}}]`.
fn normalize_field_list(items: &[Value], depth: usize) -> Value {
    let mut properties = Map::new();
    for item in items {
        match item {
            Value::String(name) => {
                properties.insert(name.clone(), json!({}));
            }
            Value::Object(map) => properties.extend(map.clone()),
            _ => {}
        }
    }
    normalize_schema(
        &[("properties".to_owned(), Value::Object(properties))].into_iter().collect(),
        depth,
    )
}

fn normalize_schema(map: &Map<String, Value>, depth: usize) -> Value {
    let mut out = map.clone();
    if let Some(Value::String(name)) = map.get("type")
        && let Some(kind) = type_name(name)
    {
        out.insert("type".to_owned(), kind.into());
    }
    // `required: true` moves to the parent.
    if map.get("required").is_some_and(Value::is_boolean) {
        out.remove("required");
    }
    if let Some(Value::Object(properties)) = map.get("properties") {
        let mut required: Vec<Value> = match map.get("required") {
            Some(Value::Array(names)) => names.clone(),
            _ => Vec::new(),
        };
        let mut normal = Map::new();
        for (name, value) in properties {
            if value.get("required") == Some(&Value::Bool(true)) && !required.contains(&json!(name))
            {
                required.push(json!(name));
            }
            normal.insert(name.clone(), normalize_field(value, depth + 1));
        }
        out.insert("properties".to_owned(), Value::Object(normal));
        if !required.is_empty() {
            out.insert("required".to_owned(), Value::Array(required));
        }
        out.entry("type").or_insert_with(|| "object".into());
    }
    if let Some(items) = map.get("items").filter(|items| items.is_object() || items.is_string()) {
        out.insert("items".to_owned(), normalize_field(items, depth + 1));
    }
    Value::Object(out)
}

/// Why nothing could be checked against a schema.
pub fn schema_fault(output: &Value) -> Option<ScriptError> {
    compile(&normalize(output)).err()
}

fn compile(schema: &Value) -> Result<(Schemas, SchemaIndex), ScriptError> {
    let mut schemas = Schemas::new();
    let mut compiler = Compiler::new();

    compiler.set_default_draft(Draft::V2020_12);
    compiler.use_loader(Box::new(NoLoader));
    let why = |error: boon::CompileError| {
        ScriptError::from(phrases::OUTPUT_SCHEMA.with("why", quoted(&format!("{error:#}"))))
    };
    compiler.add_resource("output.json", schema.clone()).map_err(why)?;
    let index = compiler.compile("output.json", &mut schemas).map_err(why)?;
    Ok((schemas, index))
}

/// Checks a value; the error names the path and the problem.
pub fn check(value: &Value, schema: &Value) -> Result<(), ScriptError> {
    let (schemas, index) = compile(schema)?;
    schemas.validate(value, index).map_err(|error| validation_error(&error))
}

/// Loads nothing: a schema is self-contained.
struct NoLoader;

impl UrlLoader for NoLoader {
    fn load(&self, url: &str) -> Result<Value, Box<dyn Error>> {
        Err(format!("`{url}` is not part of the schema").into())
    }
}

/// The deepest first cause: its path and the problem.
fn validation_error(error: &ValidationError<'_, '_>) -> ScriptError {
    let mut deepest = error;
    while let Some(cause) = deepest.causes.first() {
        deepest = cause;
    }
    let path = deepest.instance_location.to_string();
    let path = if path.is_empty() { "/".to_owned() } else { path };
    let why = deepest.kind.to_string();
    phrases::OUTPUT_MISFIT.with("path", quoted(&path)).with("why", quoted(&why)).into()
}
