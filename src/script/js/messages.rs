//! The JSON that goes to the prelude, and the events that come back from it.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde::Deserialize;
use serde_json::{Value, json};

use super::task::{EngineScopeUpdate, JsTask, ModuleKind, ScopeChanges};
use crate::error::{ScriptError, quoted};
use avocet_core::i18n::script as phrases;

#[expect(clippy::unwrap_used, reason = "the pattern is fixed, and a test reads it")]
static HALF_CHARACTER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\\(?:u[dD][89a-fA-F][0-9a-fA-F]{2}|.)").unwrap());

/// The events of the prelude. Half a character, which JavaScript can hold, becomes the sign that
/// replaces an unknown one.
pub(super) fn read_events(text: &str) -> Result<Vec<PreludeEvent>, ScriptError> {
    if let Ok(events) = serde_json::from_str(text) {
        return Ok(events);
    }
    let whole = HALF_CHARACTER.replace_all(text, |found: &Captures<'_>| match &found[0] {
        half if half.len() == 6 => Cow::Borrowed("\\ufffd"),
        other => Cow::Owned(other.to_owned()),
    });
    serde_json::from_str(&whole).map_err(|error| {
        let why = error.to_string();
        if why.contains("recursion limit") {
            ScriptError::limit(phrases::ENGINE_DEEP.with("most", MAX_DEPTH))
        } else {
            phrases::ENGINE_THREW.with("why", quoted(&why)).into()
        }
    })
}

/// How deep a value that JavaScript passes out may be nested; the rest of what can be read holds
/// the event around it.
const MAX_DEPTH: usize = 120;

/// An event of the prelude.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum PreludeEvent {
    Log {
        run: u64,
        text: String,
    },
    Wants {
        run: u64,
        id: u64,
        name: String,
        args: Vec<Value>,
        changes: PreludeChanges,
    },
    Done {
        run: u64,
        kind: OutcomeKind,
        value: Value,
        place: Option<(String, u32, u32)>,
        changes: PreludeChanges,
    },
    Module {
        run: u64,
        id: String,
        file: String,
        source: String,
    },
    Declared {
        run: u64,
        file: String,
        source: String,
    },
}

#[derive(Deserialize)]
pub(super) struct PreludeChanges {
    set: Vec<(String, Value)>,
    gone: Vec<String>,
}

impl From<PreludeChanges> for ScopeChanges {
    fn from(changes: PreludeChanges) -> ScopeChanges {
        ScopeChanges { set: changes.set, removed: changes.gone }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum OutcomeKind {
    Value,
    Undefined,
    Function,
    Unknown,
    Missing,
    Invalid,
    Thrown,
    Stuck,
}

/// The start of a task.
pub(super) fn start_json(run: u64, task: &JsTask, scope: &EngineScopeUpdate) -> String {
    let request = match task {
        JsTask::Eval(expression) => {
            json!({"run": run, "type": "eval", "expr": expression.text()})
        }
        JsTask::Compile(expr) => json!({"run": run, "type": "compile", "expr": expr}),
        JsTask::Define { name, source } => {
            json!({"run": run, "type": "define", "name": name, "source": source})
        }
        JsTask::Call { name, args } => {
            json!({"run": run, "type": "call", "name": name, "args": args})
        }
        JsTask::Bind { name, to } => {
            json!({"run": run, "type": "bind", "name": name, "to": to})
        }
        JsTask::Declare { file, source } => {
            json!({"run": run, "type": "declare", "file": file, "source": source})
        }
        JsTask::Module { id, kind, file, source } => {
            let kind = match kind {
                ModuleKind::Module => "module",
                ModuleKind::Common => "common",
                ModuleKind::Auto => "auto",
                ModuleKind::Builtin => "builtin",
            };
            json!({"run": run, "type": "module", "id": id, "kind": kind, "file": file, "source": source})
        }
    };
    request_json(&request, scope)
}

/// The answer to a call.
pub(super) fn answer_json(
    id: u64,
    result: Result<Value, Value>,
    scope: &EngineScopeUpdate,
) -> String {
    let request = match result {
        Ok(value) => json!({"id": id, "ok": true, "value": value}),
        Err(why) => json!({"id": id, "ok": false, "value": why}),
    };
    request_json(&request, scope)
}

/// A request as JSON, with the values that changed since the last one.
fn request_json(request: &Value, scope: &EngineScopeUpdate) -> String {
    let EngineScopeUpdate { set, removed, is_whole, names } = scope;
    let json = |part: serde_json::Result<String>| part.unwrap_or_else(|_| "null".to_owned());
    let set = json(serde_json::to_string(set));
    let removed = json(serde_json::to_string(removed));

    let names = json(serde_json::to_string(names));
    format!(
        r#"{{"request":{request},"set":{set},"gone":{removed},"reset":{is_whole},"names":{names}}}"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(text: &str) -> String {
        format!(r#"[{{"log":{{"run":1,"text":"{text}"}}}}]"#)
    }

    #[test]
    fn half_a_character_does_not_cost_an_event() {
        let read = |text: &str| match read_events(&log(text)).unwrap().pop() {
            Some(PreludeEvent::Log { text, .. }) => text,
            _ => panic!("no event"),
        };
        assert_eq!(read(r"a\ud800b"), "a\u{fffd}b");
        assert_eq!(read(r"a\\ud800b\udfff"), "a\\ud800b\u{fffd}");
        assert!(read_events("[nothing]").is_err());
    }
}
