//! Reads calls as Cline and its kin write them: `<read_file><path>a.rs</path></read_file>`.

use serde_json::Value;

use super::parts::{
    Found, TextCall, goes_on, is_example, is_wrapping, json_arguments, named, value_of,
};
use crate::protocol::reply::fields::Object;
use crate::protocol::reply::tool_names::is_alias;

/// Tags around the name of a tool and its arguments.
const WRAPPERS: &[&str] = &["tool_use", "tool_call", "function_call", "use_tool", "invoke_tool"];
/// Tags around fields, which say nothing by themselves.
const GROUPS: &[&str] = &["args", "file", "arguments", "parameters", "input"];

pub(super) fn calls(text: &str) -> Option<Found<'_>> {
    let starts = text.match_indices('\n').map(|(at, _)| at + 1);
    let mut starts = std::iter::once(0).chain(starts);
    let at = starts.find(|at| text.get(*at..).is_some_and(|rest| opening(rest).is_some()))?;
    let (before, mut rest) = text.split_at_checked(at)?;
    if is_example(before) {
        return None;
    }
    let mut calls = Vec::new();
    while let Some((name, inside)) = opening(rest.trim_start()) {
        let (body, behind) = inside.split_once(&format!("</{name}>"))?;
        if WRAPPERS.contains(&name) {
            calls.extend(named_call(body)?);
        } else {
            calls.extend(named(name, fields(body)?)?);
        }
        rest = behind;
    }
    let is_end = is_wrapping(rest) || goes_on(rest);
    let words = if is_wrapping(before) { "" } else { before.trim() };
    is_end.then(|| (words.to_owned(), calls, rest))
}

/// The name of a tool as a tag, and what follows it.
fn opening(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = tag(text)?;
    (is_alias(name) || WRAPPERS.contains(&name)).then_some((name, rest))
}

fn tag(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.strip_prefix('<')?.split_once('>')?;
    let is_name = |name: &str| name.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c));
    (!name.is_empty() && is_name(name)).then_some((name, rest))
}

/// `<name>NAME</name><arguments>{…}</arguments>`
pub(super) fn named_call(body: &str) -> Option<Vec<TextCall>> {
    let fields = children(body)?;
    let first = |names: &[&str]| {
        let found = |(key, _): &&(&str, &str)| names.contains(key);
        fields.iter().find(found).map(|(_, text)| text.trim())
    };
    let name = first(&["name", "tool_name", "tool"])?;
    let arguments = match first(&["arguments", "parameters", "input", "params"]) {
        Some(json) => json_arguments(&serde_json::from_str(json).ok()?)?,
        None => Value::Object(Object::new()),
    };
    Some(vec![TextCall { name: name.to_owned(), arguments }])
}

pub(super) fn fields(body: &str) -> Option<Object> {
    let mut out = Object::new();
    for (key, text) in children(body)? {
        let inner = Some(text).filter(|text| GROUPS.contains(&key) && tag(text.trim()).is_some());
        match inner.and_then(fields) {
            Some(inner) => out.extend(inner),
            None => drop(out.insert(key.to_owned(), value_of(key, text))),
        }
    }
    Some(out)
}

/// Tags with their texts, and nothing else. A text may hold its own tag.
fn children(body: &str) -> Option<Vec<(&str, &str)>> {
    let body = body.trim();
    if body.is_empty() {
        return Some(Vec::new());
    }
    let (key, inside) = tag(body)?;
    let close = format!("</{key}>");
    let mut ends = inside.match_indices(close.as_str());
    ends.find_map(|(at, _)| {
        let (text, rest) = inside.split_at_checked(at)?;
        let rest = children(rest.get(close.len()..)?)?;
        Some(std::iter::once((key, text)).chain(rest).collect())
    })
}
