//! Reads a call as agents of the ReAct kind write it: `Action: NAME`, `Action Input: VALUE`.

use serde_json::Value;

use super::parts::{Found, TextCall, goes_on, is_example, json_calls};

const NAME: &str = "Action:";
const INPUT: &str = "Action Input:";
/// What a model writes in place of the result, and what it would do then.
const BEHIND: [&str; 3] = ["\nObservation", "\nThought:", "\nFinal Answer:"];

pub(super) fn calls(text: &str) -> Option<Found<'_>> {
    let starts = text.match_indices('\n').map(|(at, _)| at + 1);
    let mut starts = std::iter::once(0).chain(starts);
    let at = starts.find(|at| text.get(*at..).is_some_and(|line| line.starts_with(NAME)))?;
    let (before, call) = text.split_at_checked(at)?;
    let call = call.strip_prefix(NAME)?;
    let ends = BEHIND.iter().filter_map(|mark| call.find(mark));
    let (call, behind) = call.split_at_checked(ends.min().unwrap_or(call.len()))?;
    if is_example(before) {
        return None;
    }
    let (calls, behind) = match call.split_once(INPUT) {
        Some((name, input)) => {
            let name = name.trim().trim_matches(['`', '"', '*']).to_owned();
            let (arguments, after) = value(input)?;
            let is_name = !name.is_empty() && !name.contains(char::is_whitespace);
            let is_end = after.trim().is_empty() || goes_on(after);
            let calls = vec![TextCall { name, arguments }];
            (Some(calls).filter(|_| is_name && is_end)?, behind)
        }
        None => (json_calls(unfenced(call.trim()))?, behind),
    };
    let words = before.trim();
    let words = words.strip_prefix("Thought:").unwrap_or(words).trim();
    Some((words.to_owned(), calls, behind))
}

/// The value, and what follows it. Without JSON it is the one line.
fn value(input: &str) -> Option<(Value, &str)> {
    let input = unfenced(input.trim());
    let mut values = serde_json::Deserializer::from_str(input).into_iter::<Value>();
    if let Some(Ok(value @ (Value::Object(_) | Value::Array(_) | Value::String(_)))) = values.next()
    {
        return Some((value, input.get(values.byte_offset()..)?));
    }
    let is_line = !input.is_empty() && !input.contains('\n') && !input.starts_with(['{', '[', '"']);
    is_line.then(|| (Value::from(input), ""))
}

fn unfenced(text: &str) -> &str {
    let inner = text.strip_prefix("```").and_then(|text| text.trim_end().strip_suffix("```"));
    inner.map_or(text, |inner| inner.trim_start_matches(char::is_alphabetic).trim())
}
