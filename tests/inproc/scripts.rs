//! Scripts with canned replies. A folder of `tests/scripts` is a case: `script.ai.yaml`, the
//! scripts next to it, `llm.json` with the replies in order, optionally `args.json`, and
//! `expect.json`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::script_replay::{Disk, HostLog, joined, play_in, sent};
use avocet::script::source::ScriptLibrary;
use avocet::script::{built_in, check};
use serde_json::{Value, json};

fn cases() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts");
    let mut cases: Vec<PathBuf> = std::fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("expect.json").is_file())
        .collect();
    cases.sort();
    cases
}

fn json_of(path: &Path) -> Option<Value> {
    Some(serde_json::from_str(&std::fs::read_to_string(path).ok()?).unwrap())
}

/// What is wrong with a case; nothing when it passes.
fn faults(case: &Path) -> Vec<String> {
    let expect = json_of(&case.join("expect.json")).unwrap()["expect"].take();
    let replies = json_of(&case.join("llm.json")).unwrap_or(json!([]));
    let args = json_of(&case.join("args.json")).unwrap_or(Value::Null);
    let (came, seen) =
        play_in(case, "script.ai.yaml", args, replies.as_array().unwrap(), (true, false), &[]);
    let mut faults = Vec::new();
    match (&came, expect.get("error")) {
        (Err(failure), None) => faults.push(format!("failed: {failure}")),
        (Ok(done), Some(_)) => faults.push(format!("no error, but {}", done.value)),
        (Err(failure), Some(Value::String(part))) if !failure.to_string().contains(part) => {
            faults.push(format!("`{failure}` does not name `{part}`"));
        }
        _ => {}
    }
    if let Ok(done) = &came {
        let mut wants = |holds: bool, what: &str| {
            if !holds {
                faults.push(format!("{what}: got {}", done.value));
            }
        };
        let given = |key: &str| expect.get(key);
        wants(
            given("result").is_none_or(|it| *it == done.value),
            &format!("result {:?}", given("result")),
        );
        let listed = given("result_in").and_then(Value::as_array);
        wants(listed.is_none_or(|list| list.contains(&done.value)), "result_in");
        let pattern = given("result_match").and_then(Value::as_str);
        let text = done.value.as_str().unwrap_or_default();
        let fits = pattern.is_none_or(|it| regex::Regex::new(it).unwrap().is_match(text));
        wants(fits, "result_match");
        if let Some(visible) = given("visible") {
            let got =
                joined(done.visible.iter().map(|(role, text)| (role.as_str(), text.as_str())));
            if got != pairs(visible) {
                faults.push(format!("visible {visible}: got {got:?}"));
            }
        }
    }
    faults.extend(calls(&expect, &seen));
    faults
}

fn calls(expect: &Value, seen: &HostLog) -> Vec<String> {
    let mut faults = Vec::new();
    if let Some(printed) = expect.get("printed")
        && *printed != Value::Array(seen.printed.clone())
    {
        faults.push(format!("printed {printed}: got {:?}", seen.printed));
    }
    if let Some(count) = expect.get("n_requests").and_then(Value::as_u64)
        && count != seen.calls.len() as u64
    {
        faults.push(format!("n_requests {count}: got {}", seen.calls.len()));
    }
    if let Some(Value::Array(requests)) = expect.get("requests") {
        let got: Vec<_> = seen.calls.iter().map(|call| sent(&call.messages)).collect();
        let wanted: Vec<_> = requests.iter().map(pairs).collect();
        if got != wanted {
            faults.push(format!("requests {wanted:?}\n     got {got:?}"));
        }
    }
    for (key, should) in [("contains", true), ("not_contains", false)] {
        for row in expect.get(key).and_then(Value::as_array).into_iter().flatten() {
            let at = usize::try_from(row[0].as_u64().unwrap()).unwrap();
            let part = row[1].as_str().unwrap();
            let call =
                seen.calls.get(at).map(|call| serde_json::to_string(&call.messages).unwrap());
            let has = call.is_some_and(|call| {
                call.contains(part)
                    || call.contains(serde_json::to_string(part).unwrap().trim_matches('"'))
            });
            if has != should {
                faults.push(format!(
                    "{key} {row}: got {:?}",
                    seen.calls.get(at).map(|it| &it.messages)
                ));
            }
        }
    }
    for part in expect.get("noted").and_then(Value::as_array).into_iter().flatten() {
        let part = part.as_str().unwrap();
        if !seen.noted.iter().any(|note| note.contains(part)) {
            faults.push(format!("noted {part}: got {:?}", seen.noted));
        }
    }
    for (at, params) in
        expect.get("params").and_then(Value::as_array).into_iter().flatten().enumerate()
    {
        let got = seen.calls.get(at).map(|call| serde_json::to_value(&call.params).unwrap());
        for (name, value) in params.as_object().unwrap() {
            if got.as_ref().and_then(|got| got.get(name)) != Some(value) {
                faults.push(format!("params {name}={value}: got {got:?}"));
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
fn every_case_gives_the_expected_result() {
    let mut wrong = Vec::new();
    let cases = cases();
    assert!(cases.len() >= 60, "{} cases", cases.len());
    for case in cases {
        let name = case.file_name().unwrap().to_string_lossy().into_owned();
        let faults = faults(&case);
        if !faults.is_empty() {
            wrong.push(format!("{name}\n   {}", faults.join("\n   ")));
        }
    }
    assert!(wrong.is_empty(), "{} cases fail:\n{}", wrong.len(), wrong.join("\n"));
}

/// The blocks of one case in a Markdown file: what each is, and its text.
type Blocks = Vec<(String, String)>;

/// `## title` begins a case; a fence names its language and then what it is.
fn written(markdown: &str) -> Vec<(String, Blocks)> {
    let mut cases: Vec<(String, Blocks)> = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in markdown.lines() {
        match (&mut open, line.strip_prefix("```"), line.strip_prefix("## ")) {
            (None, Some(head), _) => {
                let name = head.split_once(' ').map_or("", |(_, name)| name);
                open = Some((name.to_owned(), String::new()));
            }
            (Some(_), Some(_), _) => cases.last_mut().unwrap().1.extend(open.take()),
            (Some((_, text)), None, _) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, None, Some(title)) => cases.push((title.to_owned(), Vec::new())),
            (None, None, None) => {}
        }
    }
    cases
}

/// The cases of every Markdown file beside the folders.
fn examples() -> Vec<(String, Blocks)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts");
    let mut files: Vec<PathBuf> = std::fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "md"))
        .collect();
    files.sort();
    files.iter().flat_map(|file| written(&std::fs::read_to_string(file).unwrap())).collect()
}

/// A folder with the files of a case.
fn unfolded(blocks: Blocks) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in blocks {
        let (name, text) = match name.as_str() {
            "llm" | "args" => (format!("{name}.json"), text),
            "expect" => ("expect.json".to_owned(), format!("{{\"expect\": {text}}}")),
            _ => (name, text),
        };
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

/// What the check has against a case that runs to its end.
fn alarms(case: &Path) -> Vec<String> {
    let expect = json_of(&case.join("expect.json")).unwrap()["expect"].take();
    if expect.get("error").is_some() {
        return Vec::new();
    }
    let library =
        ScriptLibrary::new(Arc::new(Disk { trusted: true }), Vec::new(), built_in::SCRIPTS);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let source = library.find("script.ai.yaml", case).unwrap();
    let (_, faults) = runtime.block_on(check(source, &library));
    faults.iter().map(|fault| fault.to_string()).collect()
}

/// Cases with what a check should report, although they run.
const REPORTED: &[&str] = &[
    "038-template-block-trim",
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
    let named = cases().into_iter().map(|case| {
        let name = case.file_name().unwrap().to_string_lossy().into_owned();
        (name, alarms(&case))
    });
    let examples =
        examples().into_iter().map(|(title, blocks)| (title, alarms(unfolded(blocks).path())));
    let wrong: Vec<String> = named
        .chain(examples)
        .filter(|(name, said)| said.is_empty() == REPORTED.contains(&name.as_str()))
        .map(|(name, said)| format!("{name}\n   {}", said.join("\n   ")))
        .collect();
    assert!(wrong.is_empty(), "{} false alarms:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_example_gives_the_documented_result() {
    let cases = examples();
    assert!(cases.len() > 40, "{} cases", cases.len());
    let mut wrong = Vec::new();
    for (title, blocks) in cases {
        let folder = unfolded(blocks);
        let faults = faults(folder.path());
        if !faults.is_empty() {
            wrong.push(format!("{title}\n   {}", faults.join("\n   ")));
        }
    }
    assert!(wrong.is_empty(), "{} examples fail:\n{}", wrong.len(), wrong.join("\n"));
}
