//! Directives that read, write and show values.

use serde_json::{Map, Value};

use super::super::host::ScriptEvent;
use super::super::run::scope::{merge, text_of};
use super::super::run::{Frame, ScriptFlow, ScriptRun, add_prompt_messages};
use super::{DirectiveCall, DirectiveResult};
use crate::i18n::script_run as words;

/// `$print: value`.
pub fn print<'a>(
    run: &'a mut ScriptRun,
    _: &'a mut Frame,
    given: DirectiveCall<'a>,
) -> DirectiveResult<'a> {
    Box::pin(async move {
        let values = match given.args.positional.is_empty() {
            true => vec![all_args(given)],
            false => given.args.positional,
        };
        for value in values {
            run.host.emit(ScriptEvent::Print(value));
        }
        Ok(None)
    })
}

/// `$echo: value` returns the value as the last result.
pub fn echo<'a>(
    _: &'a mut ScriptRun,
    _: &'a mut Frame,
    given: DirectiveCall<'a>,
) -> DirectiveResult<'a> {
    Box::pin(async move { Ok(Some(all_args(given))) })
}

/// `$ret: value` ends the script.
pub fn ret<'a>(
    _: &'a mut ScriptRun,
    frame: &'a mut Frame,
    given: DirectiveCall<'a>,
) -> DirectiveResult<'a> {
    Box::pin(async move {
        let nothing = given.args.positional.is_empty() && given.args.named.is_empty();
        let value = if nothing && given.call.head.is_none() {
            frame.values.latest.clone()
        } else {
            all_args(given)
        };
        frame.values.hidden.clear();
        Err(ScriptFlow::Return(value))
    })
}

/// All arguments, as one value.
fn all_args(given: DirectiveCall<'_>) -> Value {
    let passed = given.args;
    match (passed.positional.len(), passed.named.is_empty()) {
        (0, true) => Value::Null,
        (1, true) => passed.positional.into_iter().next().unwrap_or(Value::Null),
        (_, true) => Value::Array(passed.positional),
        (0, false) if passed.named.len() == 1 && passed.named.contains_key("content") => {
            passed.named.get("content").cloned().unwrap_or(Value::Null)
        }
        _ => Value::Object(passed.to_map()),
    }
}

/// `$set: {name: value}`.
pub fn set<'a>(
    _: &'a mut ScriptRun,
    frame: &'a mut Frame,
    given: DirectiveCall<'a>,
) -> DirectiveResult<'a> {
    Box::pin(async move {
        for (name, value) in given.args.to_map() {
            frame.values.set(&name, value);
        }
        Ok(None)
    })
}

/// `$get: name` returns a value, `$get: [names]` a map of them.
pub fn get<'a>(
    _: &'a mut ScriptRun,
    frame: &'a mut Frame,
    given: DirectiveCall<'a>,
) -> DirectiveResult<'a> {
    Box::pin(async move {
        let of = |frame: &Frame, name: &str| frame.values.get_path(name).unwrap_or(Value::Null);
        let passed = given.args;
        // In `$get(name)`, the value of the variable is already known.
        if !passed.passed_variables.is_empty()
            && passed.passed_variables.len() == passed.positional.len()
        {
            return Ok(Some(match passed.positional.len() {
                1 => passed.positional.into_iter().next().unwrap_or(Value::Null),
                _ => Value::Object(passed.passed_variables),
            }));
        }
        let names = match passed.positional.as_slice() {
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
    })
}

/// `$unset: name`, or a list of names.
pub fn unset<'a>(
    _: &'a mut ScriptRun,
    frame: &'a mut Frame,
    given: DirectiveCall<'a>,
) -> DirectiveResult<'a> {
    Box::pin(async move {
        for value in given.args.positional {
            match value {
                Value::Array(names) => {
                    names.iter().for_each(|name| frame.values.unset(&text_of(name)));
                }
                name => frame.values.unset(&text_of(&name)),
            }
        }
        for (name, _) in given.args.passed_variables {
            frame.values.unset(&name);
        }
        Ok(None)
    })
}

/// `$push: {list: value}` appends a value to a list.
pub fn push<'a>(
    _: &'a mut ScriptRun,
    frame: &'a mut Frame,
    given: DirectiveCall<'a>,
) -> DirectiveResult<'a> {
    Box::pin(async move {
        for (name, value) in given.args.to_map() {
            let mut list = match frame.values.get_path(&name) {
                Some(Value::Array(list)) => list,
                None | Some(Value::Null) => Vec::new(),
                Some(_) => return Err(words::NOT_A_LIST.with("name", name).into()),
            };
            list.push(value);
            frame.values.set(&name, Value::Array(list));
        }
        Ok(None)
    })
}

/// `$format: text` renders a template now.
pub fn format<'a>(
    run: &'a mut ScriptRun,
    frame: &'a mut Frame,
    given: DirectiveCall<'a>,
) -> DirectiveResult<'a> {
    Box::pin(async move {
        let mut data = given.args.to_map();
        let named = data.shift_remove("template").or_else(|| data.shift_remove("text"));
        let text = named.as_ref().or(given.args.first()).map(text_of).unwrap_or_default();
        frame.values.locals.push(data);
        let came = run.render_now(frame, &text).await;
        frame.values.locals.pop();
        came.map(|text| Some(Value::String(text)))
    })
}

/// `$ctx` returns everything that has a name.
pub fn ctx<'a>(
    _: &'a mut ScriptRun,
    frame: &'a mut Frame,
    _: DirectiveCall<'a>,
) -> DirectiveResult<'a> {
    Box::pin(async move { Ok(Some(Value::Object(frame.values.scope()))) })
}

/// `$cleanResult` clears the last result.
pub fn clean_result<'a>(
    _: &'a mut ScriptRun,
    frame: &'a mut Frame,
    _: DirectiveCall<'a>,
) -> DirectiveResult<'a> {
    Box::pin(async move {
        frame.values.latest = Value::Null;
        frame.values.hidden.clear();
        Ok(None)
    })
}

/// `$prompt: {name: value}` merges values into the prompt.
pub fn prompt<'a>(
    _: &'a mut ScriptRun,
    frame: &'a mut Frame,
    given: DirectiveCall<'a>,
) -> DirectiveResult<'a> {
    Box::pin(async move {
        merge(&mut frame.values.prompt, given.args.to_map());
        add_prompt_messages(frame);
        Ok(None)
    })
}

/// `$parameters: {name: value}` merges values into the parameters.
pub fn parameters<'a>(
    _: &'a mut ScriptRun,
    frame: &'a mut Frame,
    given: DirectiveCall<'a>,
) -> DirectiveResult<'a> {
    Box::pin(async move {
        merge(&mut frame.values.parameters, given.args.to_map());
        Ok(None)
    })
}
