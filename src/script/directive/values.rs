//! Directives that read, write and show values.

use serde_json::{Map, Value};

use super::super::error::{CallResult, ScriptFlow};
use super::super::host::ScriptEvent;
use super::super::run::arguments::ArgValues;
use super::super::run::frame::{Frame, ScriptRun, add_prompt_messages};
use super::super::run::scope::{merge, text_of};
use avocet_core::i18n::script_run as phrases;

/// `$print: value`.
pub async fn print(run: &mut ScriptRun, _: &mut Frame, args: ArgValues) -> CallResult {
    let values = if args.positional.is_empty() { vec![all_args(args)] } else { args.positional };
    for value in values {
        run.host.emit(ScriptEvent::Print(value));
    }
    Ok(None)
}

/// `$echo: value` returns the value as the last result.
pub fn echo(_: &mut Frame, args: ArgValues) -> CallResult {
    Ok(Some(all_args(args)))
}

/// `$ret: value` ends the script.
pub fn ret(frame: &mut Frame, args: ArgValues) -> CallResult {
    let nothing = args.positional.is_empty() && args.named.is_empty();
    let value = if nothing { frame.values.latest.clone() } else { all_args(args) };
    frame.values.hidden.clear();
    Err(ScriptFlow::Return(value))
}

/// All arguments, as one value.
fn all_args(args: ArgValues) -> Value {
    match (args.positional.len(), args.named.is_empty()) {
        (0, true) => Value::Null,
        (1, true) => args.positional.into_iter().next().unwrap_or(Value::Null),
        (_, true) => Value::Array(args.positional),
        (0, false) if args.named.len() == 1 && args.named.contains_key("content") => {
            args.named.get("content").cloned().unwrap_or(Value::Null)
        }
        _ => Value::Object(args.to_map()),
    }
}

/// `$set: {name: value}` or `$set(name, value)`; with a name alone, as in `-> $set(name)`, the last
/// result.
pub fn set(frame: &mut Frame, args: ArgValues) -> CallResult {
    if let [Value::String(name), value] = args.positional.as_slice() {
        frame.values.set(name, value.clone());
        return Ok(None);
    }
    let named = args.passed_variables.keys().next().cloned();
    if let [value] = args.positional.as_slice()
        && let Some(name) = named.or_else(|| value.as_str().map(str::to_owned))
    {
        let latest = frame.values.latest.clone();
        frame.values.set(&name, latest);
        return Ok(None);
    }
    for (name, value) in args.into_map() {
        frame.values.set(&name, value);
    }
    Ok(None)
}

/// `$get: name` returns a value, `$get: [names]` a map of them.
pub fn get(frame: &mut Frame, args: ArgValues) -> CallResult {
    let of = |frame: &Frame, name: &str| frame.values.get_path(name).unwrap_or(Value::Null);
    // In `$get(name)`, the value of the variable is already known.
    if !args.passed_variables.is_empty() && args.passed_variables.len() == args.positional.len() {
        return Ok(Some(match args.positional.len() {
            1 => args.positional.into_iter().next().unwrap_or(Value::Null),
            _ => Value::Object(args.passed_variables),
        }));
    }
    let names = match args.positional.as_slice() {
        [Value::Array(names)] => names.clone(),
        [Value::Object(names)] => names.keys().map(|name| Value::from(name.as_str())).collect(),
        [Value::String(name)] => return Ok(Some(of(frame, name))),
        other => other.to_vec(),
    };
    let mut out = Map::new();
    for name in names {
        let name = text_of(&name);
        let value = of(frame, &name);
        out.insert(name, value);
    }
    Ok(Some(Value::Object(out)))
}

/// `$unset: name`, or a list of names.
pub fn unset(frame: &mut Frame, args: ArgValues) -> CallResult {
    for value in args.positional {
        match value {
            Value::Array(names) => {
                names.iter().for_each(|name| frame.values.unset(&text_of(name)));
            }
            name => frame.values.unset(&text_of(&name)),
        }
    }
    for (name, _) in args.passed_variables {
        frame.values.unset(&name);
    }
    Ok(None)
}

/// `$push: {list: value}` appends a value to a list.
pub fn push(frame: &mut Frame, args: ArgValues) -> CallResult {
    for (name, value) in args.into_map() {
        let list = frame.values.entry(&name);
        if list.is_null() {
            *list = Value::Array(Vec::new());
        }
        match list {
            Value::Array(list) => list.push(value),
            _ => return Err(phrases::NOT_A_LIST.with("name", name).into()),
        }
    }
    Ok(None)
}

/// `$format: text` renders a template now.
pub async fn format(run: &mut ScriptRun, frame: &mut Frame, args: ArgValues) -> CallResult {
    let mut data = args.to_map();
    let named = data.shift_remove("template").or_else(|| data.shift_remove("text"));
    let text = named.as_ref().or(args.first()).map(text_of).unwrap_or_default();
    frame.values.locals.push(data);
    let came = run.render_now(frame, &text).await;
    frame.values.locals.pop();
    came.map(|text| Some(Value::String(text)))
}

/// `$ctx` returns everything that has a name.
pub fn ctx(frame: &mut Frame, _: ArgValues) -> CallResult {
    Ok(Some(Value::Object(frame.values.scope())))
}

/// `$cleanResult` clears the last result.
pub fn clean_result(frame: &mut Frame, _: ArgValues) -> CallResult {
    frame.values.set_latest(Value::Null);
    Ok(None)
}

/// `$prompt: {name: value}` merges values into the prompt.
pub fn prompt(frame: &mut Frame, args: ArgValues) -> CallResult {
    merge(&mut frame.values.prompt, args.into_map());
    add_prompt_messages(frame);
    Ok(None)
}

/// `$parameters: {name: value}` merges values into the parameters.
pub fn parameters(frame: &mut Frame, args: ArgValues) -> CallResult {
    merge(&mut frame.values.parameters, args.into_map());
    Ok(None)
}
