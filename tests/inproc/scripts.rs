//! Runs the cases of `tests/scripts/*.md` (their form: `tests/support/script_cases.rs`) with canned
//! replies. `expect` has these keys; each that is there must hold:
//!
//! | key | of |
//! |---|---|
//! | `result` | the value |
//! | `result_in`, `result_match` | a list of values, or a regular expression for a text |
//! | `error` | the error: a part of its text, a list of parts, or `true` for any; without it there is none |
//! | `visible` | the messages that a user sees |
//! | `printed` | what was printed, in order |
//! | `requests`, `n_requests` | the messages of every request, or how many requests there were |
//! | `request` | pairs of the number of a request and its messages |
//! | `contains`, `not_contains` | pairs of the number of a request and a part of it |
//! | `system`, `system_contains`, `system_lacks` | the same of the system message: its text, or a part |
//! | `streamed` | the text that was shown while it came |
//! | `noted` | parts of notes to the user |
//! | `n_printed`, `n_notes`, `n_steps`, `n_questions` | how many there were |
//! | `params` | parameters of each request |
//! | `whole` | whether each answer was asked for in one piece |

use std::sync::Arc;

use avocet::protocol::Message;
use avocet::script::source::ScriptLibrary;
use avocet::script::{RunResult, built_in, check};
use serde_json::{Map, Value, json};

use crate::script_replay::{Disk, HostLog, joined, play_in, sent};
use crate::support::script_cases::{ScriptCase, script_case_fault, script_cases};

const KEYS: &[&str] = &[
    "result",
    "result_in",
    "result_match",
    "error",
    "visible",
    "printed",
    "requests",
    "n_requests",
    "request",
    "contains",
    "not_contains",
    "system",
    "system_contains",
    "system_lacks",
    "streamed",
    "noted",
    "n_printed",
    "n_notes",
    "n_steps",
    "n_questions",
    "params",
    "whole",
];

/// Says what is wrong with a case; nothing when it passes.
fn faults(case: &ScriptCase) -> Vec<String> {
    let Some(Value::Object(expect)) = case.json("expect") else {
        return vec!["`expect` is not an object".to_owned()];
    };
    let folder = crate::support::temp_dir();
    case.write_to(folder.path());
    let replies = case.json("llm").unwrap_or(json!([]));
    let args = case.json("args").unwrap_or(Value::Null);
    let replies = replies.as_array().expect("a list of replies");
    let person = case.json("person").unwrap_or(json!({}));
    let trusts = person["trusts"].as_bool().unwrap_or(true);
    let approves = person["approves"].as_bool().unwrap_or(false);
    let (came, seen) =
        play_in(folder.path(), "script.ai.yaml", args, replies, (trusts, approves), &[]);
    let mut faults: Vec<String> = expect
        .keys()
        .filter(|key| !KEYS.contains(&key.as_str()))
        .map(|key| format!("unknown expectation `{key}`"))
        .collect();
    match (&came, expect.get("error")) {
        (Err(failure), None) => faults.push(format!("failed: {failure}")),
        (Ok(done), Some(_)) => faults.push(format!("no error, but {}", done.value)),
        (Err(failure), Some(error)) => {
            let said = failure.to_string();
            let parts = error.as_array().map_or(std::slice::from_ref(error), Vec::as_slice);
            let missing =
                parts.iter().filter_map(Value::as_str).filter(|part| !said.contains(part));
            faults.extend(missing.map(|part| format!("`{failure}` does not name `{part}`")));
        }
        (Ok(_), None) => {}
    }
    if let Ok(done) = &came {
        faults.extend(result_faults(&expect, done));
    }
    faults.extend(log_faults(&expect, &seen));
    faults.extend(request_faults(&expect, &seen));
    faults
}

fn list<'a>(expect: &'a Map<String, Value>, key: &str) -> impl Iterator<Item = &'a Value> {
    expect.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn result_faults(expect: &Map<String, Value>, done: &RunResult) -> Vec<String> {
    let mut faults = Vec::new();
    if let Some(result) = expect.get("result")
        && *result != done.value
    {
        faults.push(format!("result {result}\n    got {}", done.value));
    }
    if expect.contains_key("result_in") && !list(expect, "result_in").any(|it| *it == done.value) {
        faults.push(format!("result_in {}\n    got {}", expect["result_in"], done.value));
    }
    if let Some(pattern) = expect.get("result_match").and_then(Value::as_str) {
        let text = done.value.as_str().unwrap_or_default();
        if !regex::Regex::new(pattern).unwrap().is_match(text) {
            faults.push(format!("result_match {pattern}\n    got {}", done.value));
        }
    }
    if let Some(visible) = expect.get("visible") {
        let got = joined(done.visible.iter().map(|(role, text)| (role.as_str(), text.as_str())));
        if got != pairs(visible) {
            faults.push(format!("visible {visible}\n    got {got:?}"));
        }
    }
    faults
}

fn log_faults(expect: &Map<String, Value>, seen: &HostLog) -> Vec<String> {
    let mut faults = Vec::new();
    if let Some(printed) = expect.get("printed")
        && *printed != Value::Array(seen.printed.clone())
    {
        faults.push(format!("printed {printed}\n    got {:?}", seen.printed));
    }
    if let Some(streamed) = expect.get("streamed")
        && *streamed != seen.deltas
    {
        faults.push(format!("streamed {streamed}\n    got {:?}", seen.deltas));
    }
    for (key, count) in [
        ("n_requests", seen.calls.len()),
        ("n_printed", seen.printed.len()),
        ("n_notes", seen.noted.len()),
        ("n_steps", seen.steps.len()),
        ("n_questions", seen.asked.len()),
    ] {
        if let Some(expected) = expect.get(key)
            && *expected != count
        {
            faults.push(format!("{key} {expected}, got {count}"));
        }
    }
    for part in list(expect, "noted") {
        let part = part.as_str().unwrap();
        if !seen.noted.iter().any(|note| note.contains(part)) {
            faults.push(format!("noted {part}\n    got {:?}", seen.noted));
        }
    }
    let whole: Value = seen.calls.iter().map(|call| call.params.is_whole).collect();
    if let Some(expected) = expect.get("whole")
        && *expected != whole
    {
        faults.push(format!("whole {expected}, got {whole}"));
    }
    for (at, params) in list(expect, "params").enumerate() {
        let got = seen.calls.get(at).map(|call| serde_json::to_value(&call.params).unwrap());
        for (name, value) in params.as_object().unwrap() {
            if got.as_ref().and_then(|got| got.get(name)) != Some(value) {
                faults.push(format!("params {name}={value}\n    got {got:?}"));
            }
        }
    }
    faults
}

/// A row of a list of pairs: the number of a request, and what is expected of it.
fn request_faults(expect: &Map<String, Value>, seen: &HostLog) -> Vec<String> {
    let mut faults = Vec::new();
    let messages = |row: &Value| {
        let at = usize::try_from(row[0].as_u64().unwrap()).unwrap();
        seen.calls.get(at).map(|call| &call.messages)
    };
    if let Some(Value::Array(requests)) = expect.get("requests") {
        let got: Vec<_> = seen.calls.iter().map(|call| sent(&call.messages)).collect();
        let wanted: Vec<_> = requests.iter().map(pairs).collect();
        if got != wanted {
            faults.push(format!("requests {wanted:?}\n     got {got:?}"));
        }
    }
    for row in list(expect, "request") {
        let got = messages(row).map(|call| sent(call));
        if got != Some(pairs(&row[1])) {
            faults.push(format!("request {row}\n    got {got:?}"));
        }
    }
    for (key, fits) in SYSTEM {
        for row in list(expect, key) {
            let got = messages(row).map(|call| system(call));
            if !got.as_ref().is_some_and(|got| fits(got, row[1].as_str().unwrap())) {
                faults.push(format!("{key} {row}\n    got {got:?}"));
            }
        }
    }
    for (key, should) in [("contains", true), ("not_contains", false)] {
        for row in list(expect, key) {
            let part = row[1].as_str().unwrap();
            let call = messages(row);
            let escaped = serde_json::to_string(part).unwrap();
            let has = call.is_some_and(|call| {
                let text = serde_json::to_string(call).unwrap();
                text.contains(part)
                    || text.contains(escaped.trim_matches('"'))
                    || lines(call).contains(part)
            });
            if has != should {
                faults.push(format!("{key} {row}\n    got {call:?}"));
            }
        }
    }
    faults
}

/// Whether a text is as another one asks for.
type TextCheck = fn(&str, &str) -> bool;

/// What may be expected of a system message.
const SYSTEM: [(&str, TextCheck); 3] = [
    ("system", |got, text| got == text),
    ("system_contains", |got, part| got.contains(part)),
    ("system_lacks", |got, part| !got.contains(part)),
];

fn system(messages: &[Message]) -> String {
    let found = sent(messages).into_iter().find(|(role, _)| role == "system");
    found.map(|(_, text)| text).unwrap_or_default()
}

/// The messages as `role: text`.
fn lines(messages: &[Message]) -> String {
    let lines: Vec<String> =
        sent(messages).iter().map(|(role, text)| format!("{role}: {text}")).collect();
    lines.join("\n")
}

fn pairs(messages: &Value) -> Vec<(String, String)> {
    let list: Vec<(&str, &str)> = messages
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["role"].as_str().unwrap(), it["content"].as_str().unwrap()))
        .collect();
    joined(list)
}

#[test]
fn every_case_gives_the_documented_result() {
    let cases = script_cases();
    assert!(cases.len() >= 642, "{} cases", cases.len());
    let failed = cases.iter().filter_map(|case| {
        let faults = faults(case);
        let text = format!("{}\n   {}", case.place, faults.join("\n   "));
        (!faults.is_empty()).then_some(text)
    });
    let failed: Vec<String> = failed.collect();
    assert!(failed.is_empty(), "{} cases fail:\n{}", failed.len(), failed.join("\n"));
}

/// What the check has against a case that runs to its end.
fn alarms(case: &ScriptCase) -> Vec<String> {
    if case.json("expect").unwrap().get("error").is_some() {
        return Vec::new();
    }
    let folder = crate::support::temp_dir();
    case.write_to(folder.path());
    let library =
        ScriptLibrary::new(Arc::new(Disk { trusted: true }), Vec::new(), built_in::SCRIPTS);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let source = library.find("script.ai.yaml", folder.path()).unwrap();
    let (_, faults) = runtime.block_on(check(source, &library));
    faults.iter().map(|fault| fault.to_string()).collect()
}

/// Cases with what a check should report, although they run.
const REPORTED: &[&str] = &[
    "Lines of template blocks leave no blank lines (ISDK-055)",
    "Unknown name in an expression stays quietly as text",
    "An unknown name in a condition is false",
    "Extra args are usable (ISDK-039)",
    "Values print as they do in JavaScript (ISDK-055)",
    "A name that nothing sets stays as text, with its place",
    "A parameter without effect is reported",
    "A message beside a directive is not dropped in silence",
    "An argument that a called script does not read",
    "Templates have conditions and loops (ISDK-055)",
    "An expression that begins with a number sign is rendered, 2 (ISDK-151)",
    "Conditions are expressions, 1 (ISDK-160)",
    "Conditions are expressions, 2 (ISDK-160)",
    "Conditions are expressions, 3 (ISDK-160)",
    "The title of the output must contain its placeholder, 2 (ISDK-018)",
    "Ret without a value returns the last result",
    "Ret with an empty value returns null",
    "Required hidden shown (ISDK-101)",
    "A plain text goes to the input with the index, 1 (ISDK-035)",
];

#[test]
fn a_check_raises_no_false_alarm_about_a_script_that_runs() {
    let cases = script_cases();
    let titles: Vec<&str> = cases.iter().map(|case| case.title.as_str()).collect();
    for title in REPORTED {
        assert!(titles.contains(title), "no case is called `{title}`");
    }
    let wrong: Vec<String> = cases
        .iter()
        .map(|case| (case, alarms(case)))
        .filter(|(case, said)| said.is_empty() == REPORTED.contains(&case.title.as_str()))
        .map(|(case, said)| format!("{}\n   {}", case.place, said.join("\n   ")))
        .collect();
    assert!(wrong.is_empty(), "{} false alarms:\n{}", wrong.len(), wrong.join("\n"));
}

/// A block or a key that is misspelt would test nothing.
#[test]
fn a_case_that_tests_nothing_is_refused() {
    let script = "```yaml script.ai.yaml\n$echo: 1\n```\n";
    let expect = "```json expect\n{}\n```\n";
    for (text, said) in [
        (format!("## a\n{script}"), "x.md: a: nothing is expected"),
        (format!("## a\n{expect}"), "x.md: a: the script is missing"),
        (format!("## a\n{script}{expect}{expect}"), "`expect` stands twice"),
        (format!("## a\n{script}{expect}```json lllm\n[]\n```\n"), "`lllm` is neither"),
        (format!("{script}## a\n"), "x.md:3: a block above a heading"),
        ("## a\n```yaml\n```\n".to_owned(), "x.md:2: a block without a name"),
        (format!("## a\n{expect}```yaml script.ai.yaml\n"), "`script.ai.yaml` has no end"),
    ] {
        let fault = script_case_fault(&text).unwrap_or_default();
        assert!(fault.contains(said), "{text}: {fault}");
    }
    assert_eq!(script_case_fault(&format!("# t\n\nprose\n\n## a\n\n{script}\n{expect}")), None);
}
