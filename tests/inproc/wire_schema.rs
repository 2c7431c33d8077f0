//! `assets/sdk/openrpc.json`, which `avocet serve --schema` prints: what it says of ops and events
//! is made from the recorded lines of `tests/fixtures/wire`. `UPDATE=1` writes it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use boon::{Compiler, Draft, Schemas};
use serde_json::{Map, Value, json};

fn in_project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn recorded(name: &str) -> Vec<Value> {
    let text = fs::read_to_string(in_project("tests/fixtures/wire").join(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The schema that all these values fit.
fn shape(values: &[&Value]) -> Value {
    let kind = |value: &&Value| match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let kinds: BTreeSet<&str> = values.iter().map(kind).collect();
    let items: Vec<&Value> = values.iter().filter_map(|it| it.as_array()).flatten().collect();
    let objects: Vec<&Map<String, Value>> = values.iter().filter_map(|it| it.as_object()).collect();
    if kinds.len() == 1 && !objects.is_empty() && objects.iter().all(|it| is_sentence(it)) {
        return json!({ "$ref": "#/components/schemas/Sentence" });
    }
    let mut schema = match kinds.iter().collect::<Vec<_>>().as_slice() {
        [kind] => json!({ "type": kind }),
        _ => json!({ "type": kinds }),
    };
    if !items.is_empty() {
        schema["items"] = shape(&items);
    }
    if !objects.is_empty() {
        let fields = fields(&objects);
        let in_all = |name: &&String| objects.iter().all(|object| object.contains_key(*name));
        let required: Vec<&String> = fields.keys().filter(in_all).collect();
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        schema["properties"] =
            fields.iter().map(|(name, all)| (name.clone(), shape(all))).collect();
    }
    schema
}

/// A sentence of the catalogue: its key and values, to which `--json` adds its text.
fn is_sentence(object: &Map<String, Value>) -> bool {
    object.len() == 2
        && object.get("key").is_some_and(Value::is_string)
        && object.contains_key("values")
}

fn fields<'a>(objects: &[&'a Map<String, Value>]) -> BTreeMap<String, Vec<&'a Value>> {
    let mut fields: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
    for (name, value) in objects.iter().copied().flatten() {
        fields.entry(name.clone()).or_default().push(value);
    }
    fields
}

/// An op is its name, or an object with its name as the only field.
fn ops() -> Value {
    let lines = recorded("op.jsonl");
    let mut kinds: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
    for line in &lines {
        match line {
            Value::String(name) => _ = kinds.entry(name.clone()).or_default(),
            line => {
                let (name, fields) = line.as_object().unwrap().iter().next().unwrap();
                kinds.entry(name.clone()).or_default().push(fields);
            }
        }
    }
    let schema = |(name, fields): (String, Vec<&Value>)| match fields.as_slice() {
        [] => json!({ "title": name, "const": name }),
        fields => {
            let op = json!({ name.as_str(): shape(fields) });
            json!({ "title": name, "type": "object", "required": [name], "properties": op })
        }
    };
    json!({ "oneOf": kinds.into_iter().map(schema).collect::<Vec<_>>() })
}

/// An event says its name in the field `event`.
fn events() -> Value {
    let lines = recorded("event.jsonl");
    let mut kinds: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for line in &lines {
        kinds.entry(line["event"].as_str().unwrap()).or_default().push(line);
    }
    let schema = |(name, lines): (&str, Vec<&Value>)| {
        let mut event = shape(&lines);
        event["title"] = json!(name);
        event["properties"]["event"] = json!({ "const": name });
        event
    };
    json!({ "oneOf": kinds.into_iter().map(schema).collect::<Vec<_>>() })
}

#[test]
fn the_schema_that_serve_prints_is_that_of_the_recorded_ops_and_events() {
    let file = in_project("assets/sdk/openrpc.json");
    let text = fs::read_to_string(&file).unwrap();
    let mut schema: Value = serde_json::from_str(&text).unwrap();
    schema["components"]["schemas"]["Op"] = ops();
    schema["components"]["schemas"]["Event"] = events();
    let now = schema.to_string() + "\n";
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&file, &now).unwrap();
    }
    assert!(text == now, "run this test with UPDATE=1, which writes assets/sdk/openrpc.json");
}

/// In JSON for other programs a sentence has its text, too.
#[test]
fn every_recorded_op_and_event_fits_the_schema() {
    let text = fs::read_to_string(in_project("assets/sdk/openrpc.json")).unwrap();
    for (name, lines) in [("Op", "op.jsonl"), ("Event", "event.jsonl")] {
        let mut schemas = Schemas::new();
        let mut compiler = Compiler::new();
        compiler.set_default_draft(Draft::V2020_12);
        let document = serde_json::from_str(&text).unwrap();
        compiler.add_resource("openrpc.json", document).unwrap();
        let place = format!("openrpc.json#/components/schemas/{name}");
        let index = compiler.compile(&place, &mut schemas).unwrap();
        for line in recorded(lines) {
            let printed = avocet::i18n::json_with_text(line, avocet::i18n::Lang::En);
            let value: Value = serde_json::from_str(&printed).unwrap();
            if let Err(error) = schemas.validate(&value, index) {
                panic!("{value}: {error}");
            }
        }
        let wrong = json!({ "event": "no such thing" });
        assert!(schemas.validate(&wrong, index).is_err(), "{name}");
    }
}
