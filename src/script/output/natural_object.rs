//! Parses a natural object: `key: value` lines as users write them, with dashes, headings and bold
//! names, matched to the fields that `output` names.

use serde_json::{Map, Value};

use crate::error::{ScriptError, quoted};
use crate::text::json5;
use avocet_core::i18n::script as phrases;

/// Deepest nesting of objects.
const MAX_DEPTH: usize = 16;
/// The separators between the items of a list on one line.
const BETWEEN: &[char] = &[',', '，', '、', ';', '；'];

pub(super) fn parse(text: &str, schema: Option<&Value>) -> Result<Value, ScriptError> {
    let bare = strip_fence(text);
    if let Ok(value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(bare) {
        return Ok(value);
    }
    let empty = Value::Object(Map::new());
    let lines: Vec<Line<'_>> =
        bare.lines().filter(|line| !line.trim().is_empty()).map(Line::parse).collect();
    parse_by_type(&lines, bare, schema.unwrap_or(&empty), 0)
        .ok_or_else(|| phrases::OUTPUT_NO_FIELD.with("text", quoted(text)).into())
}

/// One line without its leading signs.
#[derive(Clone, Copy, Debug)]
struct Line<'a> {
    indent: usize,
    /// A list item or a heading.
    is_marked: bool,
    text: &'a str,
    /// The text before the first colon, without emphasis, and the text after it.
    pair: Option<(&'a str, &'a str)>,
}

impl<'a> Line<'a> {
    fn parse(line: &'a str) -> Line<'a> {
        let bare = line.trim_start();
        let indent = line.len() - bare.len();
        let text = bare.trim_start_matches(['#', '>']);
        let text = text.trim_start();
        let item = ["- ", "* ", "+ ", "• "]
            .iter()
            .find_map(|mark| text.strip_prefix(mark))
            .or_else(|| strip_number(text));
        let marked = item.is_some() || text.len() < bare.len();
        let text = item.unwrap_or(text).trim();
        Line { indent, is_marked: marked, text, pair: split_pair(text) }
    }
}

/// `1. text`, `2) text`.
fn strip_number(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    (rest.len() < text.len()).then_some(())?;
    rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "))
}

fn split_pair(text: &str) -> Option<(&str, &str)> {
    let at = text.find([':', '：'])?;
    let (name, rest) = text.split_at(at);
    let value = rest.strip_prefix([':', '：'])?;
    // The colon may be inside the emphasis: `**name:** value`.
    let value = value.trim_start_matches(['*', '_', '`', '"']).trim();
    let value = if name.starts_with(['*', '`', '"']) {
        value
    } else {
        rest.strip_prefix([':', '：'])?.trim()
    };
    let name =
        name.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | '`' | '"' | '\''));
    (!name.is_empty()).then_some((name, value))
}

/// Names are compared without regard to case or to the separators between their words.
fn normalize_name(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn parse_by_type(lines: &[Line<'_>], text: &str, schema: &Value, depth: usize) -> Option<Value> {
    if depth > MAX_DEPTH {
        return None;
    }
    let kind = match schema.get("type").and_then(Value::as_str) {
        Some(kind) => kind,
        None if schema.get("properties").is_some()
            || lines.iter().any(|line| line.pair.is_some()) =>
        {
            "object"
        }
        None => return None,
    };
    match kind {
        "object" => parse_object(lines, schema, depth),
        "array" => Some(parse_list(lines, text, schema.get("items"), depth)),
        kind => parse_scalar(text, kind),
    }
}

fn parse_object(lines: &[Line<'_>], schema: &Value, depth: usize) -> Option<Value> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let known = |name: &str| -> Option<(String, Value)> {
        match properties {
            Some(properties) => properties
                .iter()
                .find(|(field, about)| {
                    let title = about.get("title").and_then(Value::as_str);
                    normalize_name(field) == normalize_name(name)
                        || title.is_some_and(|title| normalize_name(title) == normalize_name(name))
                })
                .map(|(field, about)| (field.clone(), about.clone())),
            None => Some((name.to_owned(), Value::Null)),
        }
    };
    let mut found: Map<String, Value> = Map::new();
    let mut rest = lines;
    while let Some((line, after)) = rest.split_first() {
        rest = after;
        let Some((field, about)) = line.pair.and_then(|(name, _)| known(name)) else { continue };
        // The lines of a field reach up to the next field of this object.
        let more = rest
            .iter()
            .position(|next| {
                let deeper = next.indent > line.indent;
                let is_field = next.pair.is_some_and(|(name, _)| known(name).is_some());
                if properties.is_some() {
                    is_field && !(deeper && about.get("properties").is_some())
                } else {
                    !deeper && !next.is_marked
                }
            })
            .unwrap_or(rest.len());
        let (own, after) = rest.split_at(more);
        rest = after;
        let first = line.pair.map_or("", |(_, value)| value);
        if let Some(value) = parse_field(first, own, &about, depth) {
            found.entry(field).or_insert(value);
        }
    }
    if found.is_empty() {
        return None;
    }
    let Some(properties) = properties else { return Some(Value::Object(found)) };
    // In the order of the schema.
    Some(Value::Object(
        properties.keys().filter_map(|name| Some((name.clone(), found.remove(name)?))).collect(),
    ))
}

/// The value of a field: the text after its colon, and the lines below it.
fn parse_field(first: &str, own_lines: &[Line<'_>], about: &Value, depth: usize) -> Option<Value> {
    let kind = about.get("type").and_then(Value::as_str);
    match kind {
        Some("object") => parse_by_type(own_lines, first, about, depth + 1),
        Some("array") => Some(parse_list(own_lines, first, about.get("items"), depth)),
        Some(kind @ ("number" | "integer" | "boolean")) => {
            parse_scalar(first, kind).or_else(|| parse_scalar(own_lines.first()?.text, kind))
        }
        None if first.is_empty()
            && !own_lines.is_empty()
            && own_lines.iter().all(|line| line.is_marked) =>
        {
            Some(parse_list(own_lines, first, None, depth))
        }
        _ => {
            let lines: Vec<&str> = [first]
                .into_iter()
                .filter(|first| !first.is_empty())
                .chain(own_lines.iter().map(|line| line.text))
                .collect();
            let text = lines.join("\n");
            Some(Value::from(strip_emphasis(&text)))
        }
    }
}

fn parse_list(lines: &[Line<'_>], first: &str, items: Option<&Value>, depth: usize) -> Value {
    let text = first.trim();
    let inline: Vec<&str> =
        if lines.is_empty() || (!text.is_empty() && !lines.iter().any(|line| line.is_marked)) {
            text.trim_start_matches('[').trim_end_matches(']').split(BETWEEN).collect()
        } else {
            Vec::new()
        };
    let below = lines.iter().map(|line| line.text);
    let texts = if inline.is_empty() { below.collect() } else { inline };
    let kind =
        items.and_then(|items| items.get("type")).and_then(Value::as_str).unwrap_or("string");
    if kind == "object"
        && let Some(items) = items
    {
        return object_groups(lines)
            .filter_map(|group| parse_by_type(group, group.first()?.text, items, depth + 1))
            .collect();
    }
    texts
        .into_iter()
        .map(strip_emphasis)
        .filter(|text| !text.is_empty())
        .filter_map(|text| parse_scalar(text, kind))
        .collect()
}

/// The lines of each object of a list: one ends where a name comes again.
fn object_groups<'a, 'b>(lines: &'b [Line<'a>]) -> impl Iterator<Item = &'b [Line<'a>]> {
    let mut rest = lines;
    std::iter::from_fn(move || {
        let mut seen: Vec<String> = Vec::new();
        let end = rest.iter().position(|line| {
            let Some((name, _)) = line.pair else { return false };
            let name = normalize_name(name);
            let again = seen.contains(&name);
            seen.push(name);
            again
        });
        let (group, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after;
        (!group.is_empty()).then_some(group)
    })
}

fn parse_scalar(text: &str, kind: &str) -> Option<Value> {
    let text = strip_emphasis(text);
    match kind {
        "number" | "integer" => {
            let start = text.find(|c: char| c.is_ascii_digit())?;
            let negative = text.split_at(start).0.ends_with('-');
            let digits: String = text
                .split_at(start)
                .1
                .chars()
                .take_while(|c| c.is_ascii_digit() || matches!(c, '.' | ',' | '_'))
                .filter(|c| !matches!(c, ',' | '_'))
                .collect();
            let sign = if negative { "-" } else { "" };
            json5::parse_number(&format!("{sign}{}", digits.trim_end_matches('.')))
                .filter(|n| kind == "number" || n.is_i64())
        }
        "boolean" => parse_bool(text),
        "null" => Some(Value::Null),
        _ => Some(Value::from(text)),
    }
}

/// A text without the emphasis or quotes around it.
fn strip_emphasis(text: &str) -> &str {
    let text = text.trim();
    for mark in ["**", "__", "`", "\"", "'"] {
        if let Some(inside) = text.strip_prefix(mark).and_then(|text| text.strip_suffix(mark)) {
            return inside.trim();
        }
    }
    text
}

/// The content of the only code fence of a text, or the text itself, trimmed.
pub fn strip_fence(text: &str) -> &str {
    let text = text.trim();
    fence_content(text).unwrap_or(text)
}

/// The content of the first closed fence.
fn fence_content(text: &str) -> Option<&str> {
    for fence in ["```", "~~~"] {
        let Some((before, after)) = text.split_once(fence) else { continue };
        // A fence starts its line.
        if !before.is_empty() && !before.trim_end_matches([' ', '\t']).ends_with('\n') {
            continue;
        }
        let (info, inside) = after.split_once('\n').unwrap_or((after, ""));
        if let Some((one_line, _)) = info.split_once(fence) {
            return Some(one_line.trim_start_matches("json").trim());
        }
        let close = format!("\n{fence}");
        let inside = match inside.split_once(close.as_str()) {
            Some((inside, _)) => inside,
            None => inside.strip_suffix(fence)?,
        };
        return Some(inside.trim());
    }
    None
}

/// The words for true and false.
pub fn parse_bool(text: &str) -> Option<Value> {
    match text.trim().trim_end_matches(['.', '。']).to_lowercase().as_str() {
        "true" | "yes" | "y" | "on" | "是" | "对" | "真" | "有" => Some(Value::Bool(true)),
        "false" | "no" | "n" | "off" | "否" | "不是" | "不" | "假" | "无" | "没有" => {
            Some(Value::Bool(false))
        }
        _ => None,
    }
}
