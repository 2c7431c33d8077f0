//! `$match`: compares a value with patterns; the keys that begin with `:` hold the actions.

use serde_json::Value;

use super::super::error::{CallResult, ScriptResult, quoted};
use super::super::run::arguments::CallSyntax;
use super::super::run::frame::{Frame, ScriptRun};
use super::super::run::scope::{is_truthy, text_of};
use super::super::syntax::ScriptValue;
use super::super::text::{json5, regex};
use super::control::sibling_node;
use avocet_core::i18n::script_run as phrases;

/// The name by which a case refers to the value.
const VALUE: &str = "COND__";

pub async fn run_match(run: &mut ScriptRun, frame: &mut Frame, call: CallSyntax<'_>) -> CallResult {
    let called = &call;
    let value = match (called.args.first(), called.head) {
        (Some(arg), _) => run.evaluate_expression(frame, &arg.expr).await?.unwrap_or(Value::Null),
        (None, Some(node)) => match node.as_text() {
            Some(text) => {
                let expression = text.strip_prefix("?=").unwrap_or(text);
                let value = run.evaluate_expression(frame, expression).await?;
                value.unwrap_or_else(|| Value::String(text.to_owned()))
            }
            None => run.evaluate_value(frame, node).await?,
        },
        (None, None) => return Err(phrases::NO_CONDITION.into()),
    };
    let named = called.args.iter().find(|arg| arg.name.as_deref() == Some("allMatches"));
    let all = sibling_node(called, "allMatches")
        .map(ScriptValue::to_value)
        .is_some_and(|it| is_truthy(&it))
        || named.is_some_and(|arg| arg.expr == "true");
    let mut local = serde_json::Map::new();
    local.insert(VALUE.to_owned(), value.clone());
    frame.values.locals.push(local);
    let came = run_cases(run, frame, called, &value, all).await;
    frame.values.locals.pop();
    came.map(|()| None)
}

async fn run_cases(
    run: &mut ScriptRun,
    frame: &mut Frame,
    called: &CallSyntax<'_>,
    value: &Value,
    all: bool,
) -> ScriptResult {
    let mut matched = false;
    let mut otherwise = None;
    for (key, block) in cases(called) {
        let Some(key) = key.key_text() else { continue };
        if key == "_" || key == ":_" {
            otherwise = Some(block);
            continue;
        }
        let Some(pattern) = key.strip_prefix(':') else {
            if key == "allMatches" {
                continue;
            }
            return Err(phrases::MATCH_NO_COLON.with("key", quoted(&key)).into());
        };
        if !pattern_matches(run, frame, pattern.trim(), value).await? {
            continue;
        }
        matched = true;
        run.run_block(frame, block).await?;
        if !all {
            return Ok(());
        }
    }
    match otherwise {
        Some(block) if !matched => run.run_block(frame, block).await,
        _ => Ok(()),
    }
}

/// The cases: beside the value, or below it if the value is in brackets.
fn cases<'a>(called: &CallSyntax<'a>) -> Vec<(&'a ScriptValue, &'a ScriptValue)> {
    let below = called.head.filter(|_| !called.args.is_empty());
    let below = below.map_or(&[][..], ScriptValue::pairs).iter().map(|(key, block)| (key, block));
    called.other_keys.iter().copied().chain(below).collect()
}

async fn pattern_matches(
    run: &mut ScriptRun,
    frame: &mut Frame,
    pattern: &str,
    value: &Value,
) -> ScriptResult<bool> {
    if let Some((source, flags)) = pattern.strip_prefix('/').and_then(|it| it.rsplit_once('/')) {
        return Ok(regex::captures(source, flags, &text_of(value))?.is_some());
    }
    for (sign, holds) in COMPARISONS {
        if let Some(right) = pattern.strip_prefix(sign) {
            let right = run.evaluate_expression(frame, right).await?.unwrap_or(Value::Null);
            return Ok(holds(value, &right));
        }
    }
    if let Some(expression) = pattern.strip_prefix("?=") {
        let value = run.evaluate_expression(frame, expression).await?;
        return Ok(value.is_some_and(|value| is_truthy(&value)));
    }
    if let Some((start, end)) = pattern.split_once("..")
        && let (Ok(start), Some(number)) = (start.trim().parse::<f64>(), value.as_f64())
    {
        let (end, open) = match end.trim().strip_prefix('<') {
            Some(end) => (end, true),
            None => (end.trim(), false),
        };
        let Ok(end) = end.parse::<f64>() else { return Ok(false) };
        return Ok(number >= start && (number < end || (!open && number <= end)));
    }
    Ok(match json5::read(pattern) {
        Some(wanted) => contains(&wanted, value),
        None => text_of(value) == pattern,
    })
}

type Compare = fn(&Value, &Value) -> bool;

const COMPARISONS: &[(&str, Compare)] = &[
    (">=", |left, right| number(left) >= number(right)),
    ("<=", |left, right| number(left) <= number(right)),
    ("==", |left, right| text_of(left) == text_of(right)),
    ("!=", |left, right| text_of(left) != text_of(right)),
    (">", |left, right| number(left) > number(right)),
    ("<", |left, right| number(left) < number(right)),
];

fn number(value: &Value) -> f64 {
    let text = value.as_str().and_then(|text| text.trim().parse().ok());
    value.as_f64().or(text).unwrap_or(f64::NAN)
}

/// A list matches a list of equal length, a map one that has its entries, `_` anything.
fn contains(wanted: &Value, value: &Value) -> bool {
    match (wanted, value) {
        (Value::String(any), _) if any == "_" => true,
        (Value::Array(wanted), Value::Array(list)) => {
            wanted.len() == list.len() && wanted.iter().zip(list).all(|(w, v)| contains(w, v))
        }
        (Value::Object(wanted), Value::Object(map)) => {
            wanted.iter().all(|(key, w)| map.get(key).is_some_and(|v| contains(w, v)))
        }
        (Value::Number(_), Value::Number(_)) => number(wanted) == number(value),
        (wanted, value) => wanted == value,
    }
}
