//! `{name}`, and `{{` for a literal brace, as in Python's format strings and LangChain. Braces
//! around anything but a name are kept, because prompts contain JSON and code.

use serde_json::Value;

use super::limits::{MOST_OUTPUT, output_limit_error};
use super::print;
use crate::script::error::ScriptError;
use crate::script::text::delimiters;

pub(super) fn render(text: &str, data: &Value) -> Result<String, ScriptError> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        if let Some(after) = tail.strip_prefix("{{") {
            out.push('{');
            rest = after;
        } else if let Some(after) = tail.strip_prefix("}}") {
            out.push('}');
            rest = after;
        } else if let Some((value, after)) = render_field(tail, data) {
            out.push_str(&value);
            rest = after;
        } else {
            let (brace, after) = tail.split_at(1);
            out.push_str(brace);
            rest = after;
        }
        if out.len() > MOST_OUTPUT {
            return Err(output_limit_error());
        }
    }
    out.push_str(rest);
    if out.len() > MOST_OUTPUT { Err(output_limit_error()) } else { Ok(out) }
}

/// `{name}`, `{a.b}`, `{a[0]}`, `{price:.2f}`, `{name!r}`: its text and the rest.
fn render_field<'a>(text: &'a str, data: &Value) -> Option<(String, &'a str)> {
    let (inside, after) = text.strip_prefix('{')?.split_once('}')?;
    let (inside, spec) = match inside.split_once(':') {
        Some((path, spec)) => (path, Some(spec)),
        None => (inside, None),
    };
    let (path, quoted) = match inside.split_once('!') {
        Some((path, "r")) => (path, true),
        Some((path, "s" | "a")) => (path, false),
        Some(_) => return None,
        None => (inside, false),
    };
    let value = find_path(path, data)?;
    let value = value.unwrap_or(&Value::Null);
    let shown = match spec {
        Some(spec) => format_value(value, spec)?,
        None if quoted && value.is_string() => format!("'{}'", print::text(value)),
        None => print::text(value),
    };
    Some((shown, after))
}

/// The value of a path; `None` if the text is not a path.
fn find_path<'d>(path: &str, data: &'d Value) -> Option<Option<&'d Value>> {
    let (name, mut rest) = delimiters::leading_word(path, |_| false)?;
    let mut value = data.get(name);
    while !rest.is_empty() {
        let (key, after) = match rest.strip_prefix('[') {
            Some(open) => open.split_once(']')?,
            None => delimiters::leading_word(rest.strip_prefix('.')?, |_| false)?,
        };
        value = value.and_then(|value| match key.parse::<usize>() {
            Ok(index) if value.is_array() => value.get(index),
            _ => value.get(key.trim_matches(['\'', '"'])),
        });
        rest = after;
    }
    Some(value)
}

/// `.2f`, `d`, `>8`, `<8`, `^8`; `None` for an unknown format, which then stays as text.
fn format_value(value: &Value, spec: &str) -> Option<String> {
    if let Some(digits) = spec.strip_prefix('.').and_then(|spec| spec.strip_suffix('f')) {
        let digits: usize = digits.parse().ok().filter(|digits| *digits <= 20)?;
        return Some(format!("{:.digits$}", value.as_f64()?));
    }
    let text = print::text(value);
    let (side, width) = match spec.chars().next() {
        None | Some('d' | 's') if spec.len() <= 1 => return Some(text),
        Some(side @ ('<' | '>' | '^')) => (side, spec.trim_start_matches(['<', '>', '^'])),
        _ => (if value.is_number() { '>' } else { '<' }, spec),
    };
    let width: usize = width.parse().ok().filter(|width| *width <= 1000)?;
    Some(match side {
        '<' => format!("{text:<width$}"),
        '>' => format!("{text:>width$}"),
        _ => format!("{text:^width$}"),
    })
}
