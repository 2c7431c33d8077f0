//! Directives for control flow: conditions, loops, events, exits.

use serde_json::{Map, Number, Value};

use super::super::error::{CallResult, Location, ScriptFlow, ScriptResult, quoted};
use super::super::run::arguments::{ArgValues, CallSyntax};
use super::super::run::frame::{Frame, ScriptRun};
use super::super::run::limits::limit_error;
use super::super::run::scope::text_of;
use super::super::syntax::{ScriptValue, Tree};
use super::super::text::delimiters::unquote;
use avocet_core::i18n::script_run as phrases;

/// Maximum number of iterations of one loop.
pub const MAX_TURNS: usize = 100_000;

/// The node of a named key next to the directive's own key.
pub fn sibling_node<'a>(called: &CallSyntax<'a>, name: &str) -> Option<&'a ScriptValue> {
    let inside = called.head.and_then(|head| head.get(name));
    let pair = called.other_keys.iter().find(|(key, _)| key.key_text().as_deref() == Some(name));
    pair.map(|(_, node)| *node).or(inside)
}

/// The subject of the directive: the value of its key, or its first argument.
fn subject(called: &CallSyntax<'_>, name: &str) -> Option<ScriptValue> {
    if let Some(arg) = called.args.first() {
        return Some(ScriptValue::text(arg.expr.clone(), Default::default()));
    }
    let inside = called.head.and_then(|head| head.get(name)).cloned();
    inside.or_else(|| called.head.cloned())
}

/// `$if: condition`, `then:`, `else:`.
pub async fn run_if(run: &mut ScriptRun, frame: &mut Frame, call: CallSyntax<'_>) -> CallResult {
    let condition = subject(&call, "if").ok_or(phrases::NO_CONDITION)?;
    let inline = call.head.filter(|head| !call.args.is_empty() && head.get("else").is_none());
    let Some(then) = sibling_node(&call, "then").or(inline) else {
        return Err(phrases::IF_NEEDS.into());
    };
    let block = if run.is_condition_true(frame, &condition).await? {
        Some(then)
    } else {
        sibling_node(&call, "else")
    };
    if let Some(block) = block {
        run.run_block(frame, block).await?;
    }
    Ok(None)
}

/// `$while: condition`, `do:`.
pub async fn run_while(run: &mut ScriptRun, frame: &mut Frame, call: CallSyntax<'_>) -> CallResult {
    let condition = subject(&call, "while").ok_or(phrases::NO_CONDITION)?;
    let mut turns = 0;
    while run.is_condition_true(frame, &condition).await? {
        run.limits.count_instruction()?;
        turns += 1;
        if turns > MAX_TURNS {
            return Err(limit_error(phrases::TOO_MANY_TURNS.with("most", MAX_TURNS)));
        }
        if let Some(block) = sibling_node(&call, "do")
            && !run_iteration(run, frame, block).await?
        {
            break;
        }
        // The condition may depend on a reply of this iteration.
        run.flush_placeholders(frame).await?;
    }
    Ok(None)
}

/// One iteration of a loop; `false` when the loop is over.
async fn run_iteration(
    run: &mut ScriptRun,
    frame: &mut Frame,
    value: &ScriptValue,
) -> ScriptResult<bool> {
    match run.run_block(frame, value).await {
        Ok(()) | Err(ScriptFlow::Continue) => Ok(true),
        Err(ScriptFlow::Break) => Ok(false),
        Err(halt) => Err(halt),
    }
}

/// `$for: items`, `do:`, `as:`.
pub async fn run_for(run: &mut ScriptRun, frame: &mut Frame, call: CallSyntax<'_>) -> CallResult {
    let subject = subject(&call, "items").ok_or(phrases::NO_ITEMS)?;
    let pairs = loop_items(run, frame, &subject).await?;
    let names = match sibling_node(&call, "as") {
        Some(node) => LoopNames::from_value(&node.to_value()),
        None => LoopNames::default(),
    };
    let Some(block) = sibling_node(&call, "do") else { return Ok(None) };
    let all: Option<Value> =
        names.needs_items.then(|| pairs.iter().map(|(_, value)| value.clone()).collect());
    for (index, value) in pairs {
        run.limits.count_instruction()?;
        let mut local = Map::new();
        local.insert(names.value.clone(), value);
        local.insert(names.index.clone(), index);
        if let Some(all) = &all {
            local.insert(names.items.clone(), all.clone());
        }
        frame.values.locals.push(local);
        let came = run_iteration(run, frame, block).await;
        frame.values.locals.pop();
        if !came? {
            break;
        }
    }
    Ok(None)
}

struct LoopNames {
    value: String,
    index: String,
    items: String,
    needs_items: bool,
}

impl Default for LoopNames {
    fn default() -> LoopNames {
        LoopNames {
            value: "value".to_owned(),
            index: "index".to_owned(),
            items: "items".to_owned(),
            needs_items: false,
        }
    }
}

impl LoopNames {
    fn from_value(value: &Value) -> LoopNames {
        let names = LoopNames::default();
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        match value {
            Value::String(name) => LoopNames { value: name.clone(), ..names },
            _ => LoopNames {
                value: text("value").unwrap_or(names.value),
                index: text("index").unwrap_or(names.index),
                needs_items: text("items").is_some(),
                items: text("items").unwrap_or(names.items),
            },
        }
    }
}

type LoopPairs = Vec<(Value, Value)>;

/// The items a loop iterates over, each with its index or key.
async fn loop_items(
    run: &mut ScriptRun,
    frame: &mut Frame,
    script_value: &ScriptValue,
) -> ScriptResult<LoopPairs> {
    let value = match &script_value.tree {
        Tree::Text(text) => {
            let text = text.strip_prefix("?=").unwrap_or(text).trim();
            if let Some(pairs) = range_from_text(run, frame, text).await? {
                return Ok(pairs);
            }
            let value = if text.contains("{{") {
                run.evaluate_text(frame, text).await.map(Some)?
            } else {
                run.evaluate_expression(frame, text).await?
            };
            match value {
                Some(Value::String(text)) => match serde_json::from_str(&text) {
                    Ok(value) => value,
                    Err(_) => range_from_text(run, frame, &text)
                        .await?
                        .map_or(Value::String(text), pair_values),
                },
                Some(value) => value,
                None => return Err(phrases::NOT_ITEMS.with("what", quoted(text)).into()),
            }
        }
        _ => run.evaluate_value(frame, script_value).await?,
    };
    match value {
        Value::Array(list) => {
            check_item_count(list.len())?;
            Ok(list.into_iter().enumerate().map(|(at, value)| (Value::from(at), value)).collect())
        }
        Value::Number(count) => {
            let count = count.as_f64().unwrap_or(0.0).max(0.0);
            number_pairs(1.0, count.floor(), 1.0)
        }
        Value::Object(map) => match range_from_map(&map) {
            Some((start, end, step)) => number_pairs(start, end, step),
            None => Ok(map.into_iter().map(|(key, value)| (Value::String(key), value)).collect()),
        },
        Value::Null => Ok(Vec::new()),
        Value::Bool(_) | Value::String(_) => {
            Err(phrases::NOT_ITEMS.with("what", quoted(&text_of(&value))).into())
        }
    }
}

fn pair_values(pairs: LoopPairs) -> Value {
    pairs.into_iter().map(|(_, value)| value).collect()
}

/// `{start, end, step}`.
fn range_from_map(map: &Map<String, Value>) -> Option<(f64, f64, f64)> {
    let known = ["start", "end", "step"];
    let number = |key: &str| map.get(key).and_then(Value::as_f64);
    let only = map.keys().all(|key| known.contains(&key.as_str()));
    let end = number("end").filter(|_| only)?;
    Some((number("start").unwrap_or(1.0), end, number("step").unwrap_or(1.0)))
}

/// `2..5`, `2>..5`, `2..<5`; both ends may be expressions.
async fn range_from_text(
    run: &mut ScriptRun,
    frame: &mut Frame,
    text: &str,
) -> ScriptResult<Option<LoopPairs>> {
    if text.starts_with(['[', '{', '"', '\'']) {
        return Ok(None);
    }
    let Some((start, end)) = text.split_once("..") else { return Ok(None) };
    if end.starts_with('.') {
        return Ok(None);
    }
    let (start, after) = match start.trim().strip_suffix('>') {
        Some(start) => (start, true),
        None => (start, false),
    };
    let (end, before) = match end.trim().strip_prefix('<') {
        Some(end) => (end, true),
        None => (end, false),
    };
    let start = run.evaluate_expression(frame, start).await?.as_ref().and_then(Value::as_f64);
    let end = run.evaluate_expression(frame, end).await?.as_ref().and_then(Value::as_f64);
    let (Some(start), Some(end)) = (start, end) else { return Ok(None) };
    let down = start > end;
    let step = if down { -1.0 } else { 1.0 };
    let start = if after { start + step } else { start };
    let end = if before { end - step } else { end };
    number_pairs(start, end, step).map(Some)
}

fn number_pairs(start: f64, end: f64, step: f64) -> ScriptResult<LoopPairs> {
    if step == 0.0 || !start.is_finite() || !end.is_finite() || !step.is_finite() {
        return Err(phrases::NOT_ITEMS.with("what", format!("{start}..{end}")).into());
    }
    let count = ((end - start) / step + 1e-9).floor() + 1.0;
    if count < 1.0 {
        return Ok(Vec::new());
    }
    if count > MAX_TURNS as f64 {
        return Err(limit_error(phrases::TOO_MANY_TURNS.with("most", MAX_TURNS)));
    }
    let number = |value: f64| {
        if value.fract() == 0.0 && value.abs() < 9e15 {
            Value::from(value as i64)
        } else {
            Number::from_f64(value).map_or(Value::Null, Value::Number)
        }
    };
    let turns = count as usize;
    Ok((0..turns).map(|at| (Value::from(at), number(start + step * at as f64))).collect())
}

fn check_item_count(turns: usize) -> ScriptResult {
    if turns > MAX_TURNS {
        Err(limit_error(phrases::TOO_MANY_TURNS.with("most", MAX_TURNS)))
    } else {
        Ok(())
    }
}

/// `$on: {event, callback}` or `$on(event, callback)`.
pub async fn on(run: &mut ScriptRun, frame: &mut Frame, call: CallSyntax<'_>) -> CallResult {
    register_handler(run, frame, call, false).await
}

/// `$once`: runs only the first time.
pub async fn once(run: &mut ScriptRun, frame: &mut Frame, call: CallSyntax<'_>) -> CallResult {
    register_handler(run, frame, call, true).await
}

async fn register_handler(
    run: &mut ScriptRun,
    frame: &mut Frame,
    call: CallSyntax<'_>,
    once: bool,
) -> CallResult {
    match handler_names(run, frame, &call).await? {
        (Some(event), Some(callback)) => {
            let location = Location::new(&frame.file, frame.position);
            frame.add_handler(&event, &callback, once, location);
            Ok(None)
        }
        _ => Err(phrases::ON_NEEDS.into()),
    }
}

/// The event and the callback as they are written: the callback is named, not called.
async fn handler_names(
    run: &mut ScriptRun,
    frame: &mut Frame,
    call: &CallSyntax<'_>,
) -> ScriptResult<(Option<String>, Option<String>)> {
    let by_place = |at: usize| call.args.get(at).map(|arg| unquoted(&arg.expr));
    let named = |name: &str| {
        let arg = call.args.iter().find(|arg| arg.name.as_deref() == Some(name));
        arg.map(|arg| unquoted(&arg.expr))
    };
    let event = match sibling_node(call, "event") {
        Some(node) => node.key_text(),
        None => named("event").or_else(|| by_place(0)),
    };
    let callback = match sibling_node(call, "callback") {
        Some(node) => Some(run.callback_name(frame, node).await?),
        None => named("callback").or_else(|| by_place(1)),
    };
    Ok((event.or_else(|| call.head.and_then(ScriptValue::key_text)), callback))
}

fn unquoted(text: &str) -> String {
    unquote(text).unwrap_or_else(|| text.to_owned())
}

/// `$off: event`, or `{event, callback}`.
pub async fn off(run: &mut ScriptRun, frame: &mut Frame, call: CallSyntax<'_>) -> CallResult {
    let (event, callback) = handler_names(run, frame, &call).await?;
    frame.remove_handlers(&event.unwrap_or_default(), callback.as_deref());
    Ok(None)
}

/// `$emit: {event, args}`.
pub async fn emit(run: &mut ScriptRun, frame: &mut Frame, args: ArgValues) -> CallResult {
    let event = args.text("event").unwrap_or_default();
    let args = match args.get("args") {
        Some(Value::Array(args)) => args.clone(),
        Some(arg) => vec![arg.clone()],
        None => args.positional.iter().skip(1).cloned().collect(),
    };
    run.emit(frame, &event, args).await?;
    Ok(None)
}

/// `$break`.
pub fn break_loop(_: &mut Frame, _: ArgValues) -> CallResult {
    Err(ScriptFlow::Break)
}

/// `$continue`.
pub fn continue_loop(_: &mut Frame, _: ArgValues) -> CallResult {
    Err(ScriptFlow::Continue)
}

/// `$throw: message`.
pub fn throw(_: &mut Frame, args: ArgValues) -> CallResult {
    let message = args.text("message").unwrap_or_default();
    Err(phrases::THROWN.with("message", quoted(&message)).into())
}

/// `$exit` ends the whole run.
pub fn exit(frame: &mut Frame, args: ArgValues) -> CallResult {
    let value = args.first().cloned();
    Err(ScriptFlow::Exit(value.unwrap_or_else(|| frame.values.latest.clone())))
}
