//! Reads the hooks of one file.

use std::time::Duration;

use serde_json::Value;

use avocet_core::i18n::{LocalizedText, hooks as phrases};
use avocet_core::text::{command_line, cut, visible};

use super::definition::{Hook, HookOrigin, HookProgram, pattern, plain_names};
use super::event::HookEvent;

const USUAL_TIMEOUT: Duration = Duration::from_secs(60);
const MAX_TIMEOUT: Duration = Duration::from_secs(600);
/// The most hooks of a file, and the longest command and matcher of one, in bytes.
const MAX_HOOKS: usize = 100;
const MAX_COMMAND: usize = 8 * 1024;
const MAX_MATCHER: usize = 1024;
const MAX_NAME: usize = 64;

/// The hooks of a document, and what of it is not used.
pub(crate) fn hooks_of(document: &Value, origin: &HookOrigin) -> (Vec<Hook>, Vec<LocalizedText>) {
    let mut hooks = Vec::new();
    let mut faults = Vec::new();
    let Some(table) = document.get("hooks") else { return (hooks, faults) };
    let Some(table) = table.as_object() else {
        faults.push(phrases::NO_TABLE.into());
        return (hooks, faults);
    };
    if has_all_disabled(document) {
        faults.push(phrases::ALL_DISABLED.into());
        return (hooks, faults);
    }
    for (name, groups) in table {
        let has_switches = matches!(origin.program, HookProgram::Codex | HookProgram::Gemini);
        // What these programs keep beside the events.
        if has_switches && name.starts_with(char::is_lowercase) {
            continue;
        }
        let shown = cut(&visible(name), MAX_NAME);
        let Some(event) = HookEvent::parse(name) else {
            if faults.len() >= MAX_HOOKS {
                break;
            }
            faults.push(phrases::UNKNOWN_EVENT.with("event", shown));
            continue;
        };
        for group in groups.as_array().into_iter().flatten() {
            // One program has no list in a group.
            let inner = group.get("hooks").and_then(Value::as_array);
            let handlers = inner.map_or(std::slice::from_ref(group), Vec::as_slice);
            for handler in handlers {
                if hooks.len() + faults.len() >= MAX_HOOKS {
                    faults.push(phrases::TOO_MANY.with("limit", MAX_HOOKS));
                    return (hooks, faults);
                }
                match hook(event, group, handler, origin) {
                    Ok(hook) => hooks.push(hook),
                    Err(why) => {
                        let say = phrases::NOT_USED.with("event", event.name()).with("why", why);
                        faults.push(say);
                    }
                }
            }
        }
    }
    (hooks, faults)
}

fn has_all_disabled(document: &Value) -> bool {
    let flag = |pointer: &str| document.pointer(pointer).and_then(Value::as_bool);
    flag("/disableAllHooks") == Some(true) || flag("/hooksConfig/enabled") == Some(false)
}

fn hook(
    event: HookEvent,
    group: &Value,
    handler: &Value,
    origin: &HookOrigin,
) -> Result<Hook, LocalizedText> {
    let text = |of: &Value, key: &str| of.get(key).and_then(Value::as_str).map(str::to_owned);
    match text(handler, "type").as_deref() {
        None | Some("command") => {}
        Some(other) => return Err(phrases::NO_COMMAND.with("type", cut(&visible(other), MAX_NAME))),
    }
    for key in ["if", "shell"] {
        if handler.get(key).is_some_and(|value| value != "bash") {
            return Err(phrases::UNKNOWN_KEY.with("key", key));
        }
    }
    let command = text(handler, "command").unwrap_or_default();
    let args: Vec<String> = handler
        .get("args")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .map(|arg| arg.as_str().map_or_else(|| arg.to_string(), str::to_owned))
        .collect();
    let command = if args.is_empty() {
        command
    } else {
        command_line(std::iter::once(&command).chain(&args))
    };
    let matcher = text(group, "matcher").unwrap_or_default();
    if command.trim().is_empty() || command.len() > MAX_COMMAND {
        return Err(phrases::BAD_COMMAND.with("limit", MAX_COMMAND));
    }
    let is_pattern = plain_names(&matcher).is_none() && matcher.trim() != "*";
    if matcher.len() > MAX_MATCHER || is_pattern && pattern(&matcher).is_none() {
        return Err(phrases::BAD_MATCHER.with("matcher", cut(&visible(&matcher), MAX_NAME)));
    }
    let unit = if origin.program == HookProgram::Gemini { 1000.0 } else { 1.0 };
    let seconds = handler.get("timeout").and_then(Value::as_f64).map(|number| number / unit);
    let timeout = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let timeout = timeout.filter(|timeout| !timeout.is_zero()).unwrap_or(USUAL_TIMEOUT);
    Ok(Hook {
        event,
        matcher,
        command,
        timeout: timeout.min(MAX_TIMEOUT),
        is_async: handler.get("async").and_then(Value::as_bool).unwrap_or_default(),
        origin: origin.clone(),
    })
}
