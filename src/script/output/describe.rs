//! Describes a schema in words, for a model and for the help of a tool.

use serde_json::{Map, Value};

use super::schema::normalize;
use crate::template::print;
use avocet_core::text::one_line;

/// Depth of the fields that are described.
const MAX_DEPTH: usize = 8;
/// Longest description, in bytes.
const MAX_LENGTH: usize = 64 * 1024;

/// The value `output` asks for, a field per line, in the words of the published engine: `* "name" is
/// a required text string representing full name`.
pub fn describe(output: &Value) -> String {
    let schema = normalize(output);
    let empty = Map::new();
    let about = schema.as_object().unwrap_or(&empty);
    let mut out = String::new();
    let kind = kind_text(about);
    let has_fields = about.contains_key("properties");
    if about.contains_key("items") || (has_fields && about.contains_key("description")) {
        out.push_str(&format!("This is {}\n", with_article(&kind)));
    } else if !has_fields {
        return kind;
    }
    write_parts(about, None, 0, &mut out);
    out.trim_end().to_owned()
}

/// One field in words: `"name" is a required text string representing full name`.
pub fn describe_field(name: &str, about: &Map<String, Value>, required: bool) -> String {
    let need = if required { "a required" } else { "an optional" };
    format!("\"{}\" is {need} {}", one_line(name), kind_text(about))
}

/// The fields of an object, or the items of a list, below it.
fn write_parts(about: &Map<String, Value>, name: Option<&str>, depth: usize, out: &mut String) {
    if out.len() > MAX_LENGTH || depth > MAX_DEPTH {
        return;
    }
    let indent = "  ".repeat(depth);
    if let Some(fields) = about.get("properties").and_then(Value::as_object) {
        let required = about.get("required").and_then(Value::as_array);
        let empty = Map::new();
        for (name, field) in fields {
            let required = required.is_some_and(|names| names.iter().any(|known| known == name));
            let field = field.as_object().unwrap_or(&empty);
            out.push_str(&format!("{indent}* {}\n", describe_field(name, field, required)));
            write_parts(field, Some(name), depth + 1, out);
        }
    } else if let Some(items) = about.get("items").and_then(Value::as_object) {
        if items.contains_key("properties") || items.contains_key("items") {
            write_parts(items, None, depth, out);
        } else {
            let item = name.map_or_else(|| "item".to_owned(), |name| one_line(&singular(name)));
            let kind = with_article(&kind_text(items));
            out.push_str(&format!("{indent}- The {item} is {kind}\n"));
        }
    }
}

/// The name of one of several.
fn singular(name: &str) -> String {
    match (name.strip_suffix("ies"), name.strip_suffix('s')) {
        (Some(stem), _) => format!("{stem}y"),
        (None, Some(stem)) => stem.to_owned(),
        (None, None) => name.to_owned(),
    }
}

fn with_article(kind: &str) -> String {
    let article = if kind.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {kind}")
}

/// The type of a value, what it is, and which values it may have.
fn kind_text(about: &Map<String, Value>) -> String {
    let name = match about.get("type") {
        Some(Value::Array(names)) => names.iter().map(print::text).collect::<Vec<_>>().join(" or "),
        Some(name) => print::text(name),
        None => String::new(),
    };
    let item = about.get("items").and_then(|items| items.get("type")).and_then(Value::as_str);
    let kind = match (name.as_str(), item) {
        ("string" | "", _) => "text string".to_owned(),
        ("array", Some(item)) if item != "array" => format!("list of {item}"),
        ("array", _) => "list".to_owned(),
        _ => one_line(&name),
    };
    let choices = about.get("enum").and_then(Value::as_array).map(|choices| {
        let choices: Vec<_> = choices.iter().map(print::text).collect();
        format!(", the value must be one of {}", one_line(&choices.join(", ")))
    });
    kind + &description_suffix(about) + &choices.unwrap_or_default()
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
