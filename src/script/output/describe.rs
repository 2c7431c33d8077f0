//! Describes a schema in words, for a model and for the help of a tool.

use serde_json::{Map, Value};

use super::schema::normalize;
use crate::script::template::print;
use crate::text::one_line;

/// Depth of the fields that are described.
const DEEPEST: usize = 8;
/// Longest description, in bytes.
const LONGEST: usize = 64 * 1024;

/// The fields `output` asks for, one per line: `* "name" is a required text string representing
/// full name`.
pub fn describe(output: &Value) -> String {
    let schema = normalize(output);
    let mut out = String::new();
    match schema.get("properties").and_then(Value::as_object) {
        Some(properties) => write_fields(properties, &schema, 0, &mut out),
        None => write_value(&schema, &mut out),
    }
    out.trim_end().to_owned()
}

/// One field in words: `"name" is a required text string representing full name`.
pub fn describe_field(name: &str, about: &Map<String, Value>, required: bool) -> String {
    let need = if required { "required" } else { "optional" };
    let kind = kind_text(about);
    let (article, kind) = match kind.split_once(' ') {
        Some((article @ ("a" | "an"), rest)) => (article, rest),
        _ => ("", kind.as_str()),
    };
    let article = match (article.is_empty(), need) {
        (true, _) => "",
        (false, "optional") => "an ",
        (false, _) => "a ",
    };
    format!("\"{}\" is {article}{need} {kind}{}", one_line(name), description_suffix(about))
}

fn write_fields(properties: &Map<String, Value>, schema: &Value, depth: usize, out: &mut String) {
    let required = schema.get("required").and_then(Value::as_array);
    for (name, about) in properties {
        if out.len() > LONGEST {
            return;
        }
        let required = required.is_some_and(|names| names.iter().any(|known| known == name));
        let empty = Map::new();
        let map = about.as_object().unwrap_or(&empty);
        out.push_str(&format!("{}* {}\n", "  ".repeat(depth), describe_field(name, map, required)));
        let inner = [Some(about), about.get("items")].into_iter().flatten();
        for inner in inner {
            if let Some(properties) = inner.get("properties").and_then(Value::as_object)
                && depth < DEEPEST
            {
                write_fields(properties, inner, depth + 1, out);
            }
        }
    }
}

/// A schema that is not a map of fields.
fn write_value(schema: &Value, out: &mut String) {
    let empty = Map::new();
    let map = schema.as_object().unwrap_or(&empty);
    out.push_str(&format!("{}{}\n", kind_text(map), description_suffix(map)));
    if let Some(items) = schema.get("items")
        && let Some(properties) = items.get("properties").and_then(Value::as_object)
    {
        write_fields(properties, items, 1, out);
    }
}

fn kind_text(about: &Map<String, Value>) -> String {
    if let Some(choices) = about.get("enum").and_then(Value::as_array) {
        let choices: Vec<_> = choices.iter().map(Value::to_string).collect();
        return format!("a choice of {}", choices.join(", "));
    }
    let name = match about.get("type") {
        Some(Value::Array(names)) => names.iter().map(print::text).collect::<Vec<_>>().join(" or "),
        Some(name) => print::text(name),
        None => String::new(),
    };
    match name.as_str() {
        "string" | "" => "a text string".to_owned(),
        "number" => "a number".to_owned(),
        "integer" => "a whole number".to_owned(),
        "boolean" => "a boolean (true or false)".to_owned(),
        "array" => match about.get("items").and_then(Value::as_object) {
            Some(items) => format!("a list, each item of it {}", kind_text(items)),
            None => "a list".to_owned(),
        },
        "object" => "an object".to_owned(),
        other => format!("a value ({other})"),
    }
}

fn description_suffix(about: &Map<String, Value>) -> String {
    let text = ["description", "title"]
        .iter()
        .find_map(|key| about.get(*key))
        .map(print::text)
        .unwrap_or_default();
    let text = one_line(&text);
    if text.is_empty() { String::new() } else { format!(" representing {text}") }
}
