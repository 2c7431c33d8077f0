//! What all forms of calls in a text share: JSON, names, values, and what is only an example.

use serde_json::{Map, Value};

use crate::protocol::reply::fields::fold_field_name;
use crate::protocol::reply::object_input;
use crate::protocol::reply::tool_names::is_alias;

/// A call by the name and the arguments it is written with.
#[derive(Clone, Debug, PartialEq)]
pub struct TextCall {
    pub name: String,
    /// An object, or one value in place of it.
    pub arguments: Value,
}

/// Calls with the words before them and the text after them.
pub type Found<'a> = (String, Vec<TextCall>, &'a str);

pub fn starts_line(text: &str) -> bool {
    text.trim_start_matches([' ', '\t']).starts_with('\n')
}

/// How a model begins that goes on after its call, or makes up the result of it. Other words explain
/// an example.
const GOING_ON: &[&str] = &[
    "<tool_response",
    "<function_results",
    "<observation",
    "<result",
    "<|",
    "Observation:",
    "Result:",
    "I ",
    "I'",
    "I’",
    "Let ",
    "Let'",
    "This will",
    "Now",
    "Next",
    "Then",
    "Once",
    "After",
    "We ",
    "We'",
    "Please wait",
    "Waiting",
    "我",
    "让我",
    "接下来",
    "现在",
    "这将",
    "然后",
    "请稍候",
    "等待",
];

pub fn goes_on(behind: &str) -> bool {
    let words = behind.trim_start();
    starts_line(behind)
        && !words.contains("```")
        && GOING_ON.iter().any(|start| words.starts_with(start))
}

/// Whether the text before a call marks it as an example: a code block, a quotation, or an opening
/// quotation mark.
pub fn is_example(before: &str) -> bool {
    let is_in_block = ["```", "~~~"].iter().any(|fence| before.matches(fence).count() % 2 == 1);
    let line = before.rsplit('\n').next().unwrap_or_default();
    let is_quoted = line.trim_start().starts_with('>') && !is_wrapping(line)
        || line.starts_with("    ")
        || line.starts_with('\t')
        || line.ends_with(['`', '"', '\'', '“', '‘', '「', '《']);
    is_in_block || is_quoted
}

/// Nothing but tags around calls.
pub fn is_wrapping(text: &str) -> bool {
    text.split_whitespace().all(|word| word.starts_with('<') && word.ends_with('>'))
}

/// Calls in JSON: one, a list of them, or one after the other.
pub fn json_calls(text: &str) -> Option<Vec<TextCall>> {
    let mut calls = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        match values.next()?.ok()? {
            Value::Array(list) => {
                calls.extend(list.iter().map(json_call).collect::<Option<Vec<_>>>()?)
            }
            Value::Object(mut reply) if reply.get("tool_calls").is_some_and(Value::is_array) => {
                calls.extend(json_calls(&reply.remove("tool_calls")?.to_string())?)
            }
            one => calls.push(json_call(&one)?),
        }
        rest = rest.get(values.byte_offset()..)?;
        rest = rest.trim_start_matches(|c: char| c == ';' || c.is_whitespace());
    }
    (!calls.is_empty()).then_some(calls)
}

fn json_call(value: &Value) -> Option<TextCall> {
    let call = value.get("function").filter(|inner| inner.is_object()).unwrap_or(value);
    let first = |names: &[&str]| names.iter().find_map(|name| call.get(*name));
    let Some(name) = first(&["name", "tool_name", "tool", "action", "function"]) else {
        return sole_key_call(call.as_object()?);
    };
    let is_block = call.get("type").and_then(Value::as_str) == Some("tool_use");
    let is_ours = call.get("tool").is_some();
    let input = call.get("input").filter(|_| is_block || is_ours);
    let given = first(&["arguments", "parameters", "action_input", "tool_input", "args", "params"])
        .or(input)?;
    Some(TextCall { name: name.as_str()?.to_owned(), arguments: json_arguments(given)? })
}

pub fn json_arguments(given: &Value) -> Option<Value> {
    match given {
        Value::Object(_) => Some(given.clone()),
        Value::String(text) => match object_input(given, None) {
            None if text.trim_start().starts_with('{') => None,
            object => Some(object.unwrap_or_else(|| given.clone())),
        },
        _ => None,
    }
}

/// `{"exec": {…}}`
fn sole_key_call(call: &Map<String, Value>) -> Option<TextCall> {
    let (name, arguments) = call.iter().next().filter(|_| call.len() == 1)?;
    // An answer in JSON may have one key with an everyday name.
    let is_name = name.contains('_') || ["exec", "bash", "shell"].contains(&name.as_str());
    let is_call = arguments.is_object() && is_name && is_alias(name);
    is_call.then(|| TextCall { name: name.clone(), arguments: arguments.clone() })
}

pub fn named(name: &str, arguments: Map<String, Value>) -> Option<Vec<TextCall>> {
    let name = name.trim();
    let is_name = !name.is_empty() && !name.contains(char::is_whitespace);
    is_name.then(|| vec![TextCall { name: name.to_owned(), arguments: Value::Object(arguments) }])
}

/// Fields whose text stays one though it may look like JSON.
const TEXTS: &[&str] = &[
    "content",
    "contents",
    "filetext",
    "text",
    "code",
    "old",
    "new",
    "oldstring",
    "newstring",
    "oldstr",
    "newstr",
    "oldtext",
    "newtext",
    "oldcontent",
    "newcontent",
    "search",
    "replace",
    "command",
    "diff",
    "patch",
    "query",
    "pattern",
    "regex",
    "result",
    "message",
    "question",
];

/// A value between tags: a text, unless it is a list, an object or a flag in JSON.
pub fn value_of(key: &str, text: &str) -> Value {
    let text = text.strip_prefix('\n').unwrap_or(text);
    let text = text.strip_suffix('\n').unwrap_or(text);
    match serde_json::from_str(text.trim()) {
        Ok(value @ (Value::Array(_) | Value::Object(_) | Value::Bool(_)))
            if !TEXTS.contains(&fold_field_name(key).as_str()) =>
        {
            value
        }
        _ => Value::String(text.to_owned()),
    }
}
