//! The functions a Go template may call.

use std::cmp::Ordering;

use serde_json::Value;

use crate::error::ScriptError;
use crate::template::limits::{MAX_OUTPUT, output_limit_error, template_error};
use crate::template::print;

/// Largest width, and largest number of digits, that `printf` accepts.
const MAX_WIDTH: usize = 1000;

/// All of them.
#[rustfmt::skip]
pub(super) const FUNCTIONS: &[&str] = &[
    "and", "or", "not", "eq", "ne", "lt", "le", "gt", "ge", "len", "index", "slice", "print",
    "println", "printf", "json", "toJson", "upper", "lower", "trim", "contains", "hasPrefix",
    "hasSuffix", "default", "join", "add", "sub",
];

pub(super) fn unknown_function_error(name: &str, line: usize) -> ScriptError {
    template_error(line, format!("there is no function `{name}`"))
}

/// Truth as Go defines it: anything but null, zero and empty values.
pub(super) fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(yes) => *yes,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(map) => !map.is_empty(),
    }
}

pub(super) fn call(name: &str, args: &[Value], line: usize) -> Result<Value, ScriptError> {
    let wrong = || template_error(line, format!("`{name}` cannot take these arguments"));
    Ok(match name {
        "and" | "or" => args.last().cloned().ok_or_else(wrong)?,
        "not" => Value::Bool(!is_truthy(args.first().ok_or_else(wrong)?)),
        "eq" => {
            let (first, others) = args.split_first().ok_or_else(wrong)?;
            Value::Bool(others.iter().any(|other| values_equal(first, other)))
        }
        "ne" | "lt" | "le" | "gt" | "ge" => match args {
            [a, b] if name == "ne" => Value::Bool(!values_equal(a, b)),
            [a, b] => {
                let order = compare(a, b).ok_or_else(wrong)?;
                Value::Bool(match name {
                    "lt" => order == Ordering::Less,
                    "le" => order != Ordering::Greater,
                    "gt" => order == Ordering::Greater,
                    _ => order != Ordering::Less,
                })
            }
            _ => return Err(wrong()),
        },
        "len" => Value::from(match args.first().ok_or_else(wrong)? {
            Value::String(text) => text.len(),
            Value::Array(items) => items.len(),
            Value::Object(map) => map.len(),
            Value::Null => 0,
            _ => return Err(wrong()),
        }),
        "index" => {
            let (first, keys) = args.split_first().ok_or_else(wrong)?;
            keys.iter().fold(first.clone(), |value, key| index_value(&value, key))
        }
        "slice" => slice(args).ok_or_else(wrong)?,
        _ => return call_text_function(name, args, line),
    })
}

/// The functions that produce text, and a few for numbers and defaults.
fn call_text_function(name: &str, args: &[Value], line: usize) -> Result<Value, ScriptError> {
    let wrong = || template_error(line, format!("`{name}` cannot take these arguments"));
    let text = |at: usize| args.get(at).map(print::text).ok_or_else(wrong);
    Ok(match name {
        "print" => Value::from(args.iter().map(print::text).collect::<String>()),
        "println" => Value::from(args.iter().map(print::text).collect::<Vec<_>>().join(" ") + "\n"),
        "printf" => {
            let (format, rest) = args.split_first().ok_or_else(wrong)?;
            Value::from(printf(&print::text(format), rest))
        }
        "json" | "toJson" => Value::from(args.first().ok_or_else(wrong)?.to_string()),
        "upper" => Value::from(text(0)?.to_uppercase()),
        "lower" => Value::from(text(0)?.to_lowercase()),
        "trim" => Value::from(text(0)?.trim()),
        "contains" => Value::Bool(text(1)?.contains(&text(0)?)),
        "hasPrefix" => Value::Bool(text(1)?.starts_with(&text(0)?)),
        "hasSuffix" => Value::Bool(text(1)?.ends_with(&text(0)?)),
        "default" => match args {
            [other, value] => {
                if is_truthy(value) {
                    value.clone()
                } else {
                    other.clone()
                }
            }
            _ => return Err(wrong()),
        },
        "join" => match args {
            [Value::Array(items), separator] | [separator, Value::Array(items)] => {
                if print::text(separator).len().saturating_mul(items.len()) > MAX_OUTPUT {
                    return Err(output_limit_error());
                }
                Value::from(
                    items.iter().map(print::text).collect::<Vec<_>>().join(&print::text(separator)),
                )
            }
            _ => return Err(wrong()),
        },
        "add" | "sub" => match args {
            [a, b] => {
                let (a, b) = (a.as_i64().ok_or_else(wrong)?, b.as_i64().ok_or_else(wrong)?);
                Value::from(if name == "add" { a.saturating_add(b) } else { a.saturating_sub(b) })
            }
            _ => return Err(wrong()),
        },
        _ => return Err(unknown_function_error(name, line)),
    })
}

fn values_equal(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => a == b,
        _ => a == b,
    }
}

fn compare(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        _ => a.as_f64()?.partial_cmp(&b.as_f64()?),
    }
}

fn index_value(value: &Value, key: &Value) -> Value {
    let found = match key {
        Value::String(name) => value.get(name),
        _ => key.as_u64().and_then(|index| value.get(usize::try_from(index).ok()?)),
    };
    found.cloned().unwrap_or(Value::Null)
}

/// `slice x`, `slice x from`, `slice x from to`; out-of-range bounds are clamped.
fn slice(args: &[Value]) -> Option<Value> {
    let (first, bounds) = args.split_first()?;
    let bound = |at: usize| match bounds.get(at) {
        Some(bound) => bound.as_u64().and_then(|bound| usize::try_from(bound).ok()).map(Some),
        None => Some(None),
    };
    let from = bound(0)?.unwrap_or(0);
    let count = bound(1)?.map_or(usize::MAX, |to| to.saturating_sub(from));
    match first {
        Value::Array(items) => Some(items.iter().skip(from).take(count).cloned().collect()),
        Value::String(text) => Some(text.chars().skip(from).take(count).collect::<String>().into()),
        Value::Null => Some(Value::Array(Vec::new())),
        _ => None,
    }
}

/// `%s %v %d %q %t %x %f %.2f %5d %-5s %%`.
fn printf(format: &str, args: &[Value]) -> String {
    let mut out = String::new();
    let mut args = args.iter();
    let mut rest = format;
    while let Some((before, after)) = rest.split_once('%') {
        out.push_str(before);
        let end = after.find(|c: char| c.is_alphabetic() || c == '%').unwrap_or(after.len());
        let (flags, tail) = after.split_at(end);
        let mut verb = tail.chars();
        match verb.next() {
            Some('%') => out.push('%'),
            Some(c) => match args.next() {
                Some(value) => out.push_str(&pad(&format_verb(c, flags, value), flags)),
                None => out.push_str(&format!("%!{c}(MISSING)")),
            },
            None => out.push('%'),
        }
        rest = verb.as_str();
    }
    out.push_str(rest);
    out
}

fn format_verb(verb: char, flags: &str, value: &Value) -> String {
    let digits = flags.split_once('.').and_then(|(_, digits)| digits.parse().ok());
    match (verb, value) {
        ('q', value) => Value::from(print::text(value)).to_string(),
        ('f', value) if value.is_number() => {
            let digits: usize = digits.unwrap_or(6).min(MAX_WIDTH);
            format!("{:.digits$}", value.as_f64().unwrap_or(0.0))
        }
        ('x', Value::Number(number)) => {
            number.as_i64().map_or_else(String::new, |number| format!("{number:x}"))
        }
        ('s', value) => {
            let text = print::text(value);
            digits.map_or_else(|| text.clone(), |digits: usize| text.chars().take(digits).collect())
        }
        (_, value) => print::text(value),
    }
}

fn pad(text: &str, flags: &str) -> String {
    let width = flags.split('.').next().unwrap_or("").trim_start_matches(['-', '+', ' ', '#']);
    let zeros = width.starts_with('0');
    let width = width.parse::<usize>().unwrap_or(0).min(MAX_WIDTH);
    match (flags.starts_with('-'), zeros) {
        (true, _) => format!("{text:<width$}"),
        (false, true) => format!("{text:0>width$}"),
        (false, false) => format!("{text:>width$}"),
    }
}
