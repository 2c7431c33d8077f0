//! The JSON Schema of a script: its head, and under `$defs` the instructions of its body. Made of the
//! same tables as the help, so it knows what the program knows.

use serde_json::{Map, Value, json};

use super::MARKS;
use crate::directive;
use crate::run::tools::TRIGGERS;
use crate::settings::{INPUT_ATTRIBUTES, PARAMETERS, SETTINGS, SettingSpec, THINK_KEYS, TOOL_KEYS};
use avocet_core::i18n::Phrase;

/// The schema as a draft 2020-12 document.
pub fn json_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The head of an .ai.yaml script",
        "type": "object",
        "properties": properties(SETTINGS),
        "$defs": {
            "body": { "type": "array", "items": { "$ref": "#/$defs/instruction" } },
            "block": { "anyOf": [
                { "$ref": "#/$defs/instruction" },
                { "$ref": "#/$defs/body" },
            ] },
            "instruction": instruction(),
            "content": { "type": ["string", "number", "boolean", "null", "object"] },
            "input": {
                "type": ["object", "string", "null"],
                "properties": properties(INPUT_ATTRIBUTES),
            },
            "tool": { "type": ["object", "null"], "properties": properties(TOOL_KEYS) },
        },
    })
}

fn english(phrase: Phrase) -> String {
    phrase.with("list", TRIGGERS.join(" ")).to_string()
}

fn properties(specs: &[SettingSpec]) -> Map<String, Value> {
    specs.iter().map(|row| (row.name.to_owned(), setting_schema(row))).collect()
}

fn setting_schema(spec: &SettingSpec) -> Value {
    let mut schema = match spec.name {
        "parameters" => json!({ "type": "object", "properties": properties(PARAMETERS) }),
        "input" => json!({ "anyOf": [
            { "type": "string" },
            { "type": "array", "items": { "anyOf": [
                { "type": ["string", "integer"] },
                { "type": "object", "additionalProperties": { "$ref": "#/$defs/input" } },
            ] } },
            { "type": "object", "additionalProperties": { "$ref": "#/$defs/input" } },
        ] }),
        "tools" => json!({ "anyOf": [
            { "type": "string" },
            { "type": "array", "items": { "type": ["string", "object"] } },
            { "type": "object", "additionalProperties": { "$ref": "#/$defs/tool" } },
        ] }),
        _ if spec.types.is_empty() => json!({}),
        _ if spec.choices.is_empty() => json!({ "type": spec.types }),
        _ => {
            let mut kinds = vec![json!({ "enum": spec.choices })];
            kinds.extend(spec.types.iter().filter(|kind| **kind != "string").map(|kind| {
                match (spec.name, *kind) {
                    ("shouldThink", "object") => {
                        json!({ "type": kind, "properties": properties(THINK_KEYS) })
                    }
                    _ => json!({ "type": kind }),
                }
            }));
            json!({ "anyOf": kinds })
        }
    };
    schema["description"] = json!(english(spec.about));
    schema
}

/// A line of the body: a message, a call, a chain or an expression.
fn instruction() -> Value {
    let marks: Vec<&str> = MARKS.iter().map(|mark| mark.form).collect();
    let mut properties: Map<String, Value> = directive::TABLE
        .iter()
        .map(|row| {
            let about = format!("{}: {}", row.signature(), english(row.about));
            (format!("${}", row.name), json!({ "description": about }))
        })
        .collect();
    for block in ["then", "else", "do", "catch"] {
        properties.insert(block.to_owned(), json!({ "$ref": "#/$defs/block" }));
    }
    json!({
        "description": format!("A message, a call or a chain; in a text: {}", marks.join(" ")),
        "anyOf": [
            { "type": ["string", "number", "boolean", "null"] },
            {
                "type": "object",
                "minProperties": 1,
                "properties": properties,
                "patternProperties": {
                    "^(system|user|assistant)(\\[.*\\])?$": { "$ref": "#/$defs/content" },
                },
            },
        ],
    })
}
