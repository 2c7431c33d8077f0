//! Runs the cases of `tests/scripts/*.md` (their form: `tests/support/script_cases.rs`) with canned
//! replies. `expect` has these keys; each that is there must hold:
//!
//! | key | of |
//! |---|---|
//! | `result` | the value |
//! | `result_in`, `result_match` | a list of values, or a regular expression for a text |
//! | `error` | the error: a part of its text, or `true` for any; without this key there is none |
//! | `visible` | the messages that a user sees |
//! | `printed` | what was printed, in order |
//! | `requests`, `n_requests` | the messages of every request, or how many requests there were |
//! | `contains`, `not_contains` | pairs of the number of a request and a part of it |
//! | `noted` | parts of notes to the user |
//! | `params` | parameters of each request |

use std::sync::Arc;

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
    "contains",
    "not_contains",
    "noted",
    "params",
];

/// Says what is wrong with a case; nothing when it passes.
fn faults(case: &ScriptCase) -> Vec<String> {
    let Some(Value::Object(expect)) = case.json("expect") else {
        return vec!["`expect` is not an object".to_owned()];
    };
    let folder = tempfile::tempdir().unwrap();
    case.write_to(folder.path());
    let replies = case.json("llm").unwrap_or(json!([]));
    let args = case.json("args").unwrap_or(Value::Null);
    let replies = replies.as_array().expect("a list of replies");
    let (came, seen) = play_in(folder.path(), "script.ai.yaml", args, replies, (true, false), &[]);
    let mut faults: Vec<String> = expect
        .keys()
        .filter(|key| !KEYS.contains(&key.as_str()))
        .map(|key| format!("unknown expectation `{key}`"))
        .collect();
    match (&came, expect.get("error")) {
        (Err(failure), None) => faults.push(format!("failed: {failure}")),
        (Ok(done), Some(_)) => faults.push(format!("no error, but {}", done.value)),
        (Err(failure), Some(Value::String(part))) if !failure.to_string().contains(part) => {
            faults.push(format!("`{failure}` does not name `{part}`"));
        }
        _ => {}
    }
    if let Ok(done) = &came {
        faults.extend(result_faults(&expect, done));
    }
    faults.extend(log_faults(&expect, &seen));
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
    if let Some(count) = expect.get("n_requests").and_then(Value::as_u64)
        && count != seen.calls.len() as u64
    {
        faults.push(format!("n_requests {count}, got {}", seen.calls.len()));
    }
    if let Some(Value::Array(requests)) = expect.get("requests") {
        let got: Vec<_> = seen.calls.iter().map(|call| sent(&call.messages)).collect();
        let wanted: Vec<_> = requests.iter().map(pairs).collect();
        if got != wanted {
            faults.push(format!("requests {wanted:?}\n     got {got:?}"));
        }
    }
    for (key, should) in [("contains", true), ("not_contains", false)] {
        for row in list(expect, key) {
            let at = usize::try_from(row[0].as_u64().unwrap()).unwrap();
            let part = row[1].as_str().unwrap();
            let call = seen.calls.get(at).map(|call| &call.messages);
            let text = call.map(|call| serde_json::to_string(call).unwrap());
            let escaped = serde_json::to_string(part).unwrap();
            let has = text.is_some_and(|text| {
                text.contains(part) || text.contains(escaped.trim_matches('"'))
            });
            if has != should {
                faults.push(format!("{key} {row}\n    got {call:?}"));
            }
        }
    }
    for part in list(expect, "noted") {
        let part = part.as_str().unwrap();
        if !seen.noted.iter().any(|note| note.contains(part)) {
            faults.push(format!("noted {part}\n    got {:?}", seen.noted));
        }
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
    assert!(cases.len() >= 484, "{} cases", cases.len());
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
    let folder = tempfile::tempdir().unwrap();
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
