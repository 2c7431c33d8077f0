//! Fixes a shell service with JSON settings, with our own tool names: programs without a shell,
//! background jobs, recalled outputs, and a settings file that breaks along the way.

use serde_json::{Value, json};

use super::{Budget, Session, replay};
use crate::replay::actor::{Act, Call, Format, act, answer};
use crate::support::server::{ReceivedRequest, Reply};

const SERVICE: &str = r#"#!/bin/sh
# Writes a line for each tick until it is stopped; the settings say how many at most.
set -eu
most=$(sed -n 's/.*"most": *\([0-9]*\).*/\1/p' settings.json)
word=$(sed -n 's/.*"word": *"\([^"]*\)".*/\1/p' settings.json)
n=0
while [ "$n" -le "$most" ]; do
    echo "$word $n"
    n=$((n + 1))
    sleep 0.05
done
echo "stopped after $n"
"#;

const TEST: &str = r#"out=$(sh service.sh)
failed=0
expect() {
    if echo "$out" | grep -qx "$1"; then
        echo "ok $1"
    else
        echo "FAILED: no line '$1' in:"
        echo "$out"
        failed=1
    fi
}
expect "tick 0"
expect "tick 4"
expect "stopped after 5"
[ $failed = 0 ] && echo "all passed"
exit $failed
"#;

const FILES: &[(&str, &str)] = &[
    ("service.sh", SERVICE),
    ("settings.json", "{\n  \"most\": 5,\n  \"word\": \"tock\"\n}\n"),
    ("test.sh", TEST),
    ("README.md", "# service\n\n`sh test.sh` tests it.\n"),
];

fn exec(program: &str, args: &[&str]) -> Call {
    ("exec", json!({ "program": program, "args": args }))
}

fn edit(path: &str, pairs: &[(&str, &str)]) -> Call {
    let pair = |(old, new): &(&str, &str)| json!({ "old": old, "new": new });
    let edits: Vec<Value> = pairs.iter().map(pair).collect();
    ("file_edit", json!({ "path": path, "edits": edits }))
}

fn read(path: &str) -> Call {
    ("file_read", json!({ "path": path }))
}

fn plan(state: &str) -> Call {
    let item = |text: &str| json!({ "text": text, "state": state });
    ("plan", json!({ "items": [item("Find out what fails"), item("Mend it"), item("Commit")] }))
}

fn first_acts() -> Vec<Act> {
    let tests = || exec("sh", &["test.sh"]);
    let service =
        || ("exec", json!({ "program": "sh", "args": ["service.sh"], "background": true }));
    vec![
        act([plan("doing"), ("file_list", json!({ "path": "." })), read("README.md")])
            .wants("service.sh"),
        act([read("service.sh"), read("settings.json"), read("test.sh")])
            .wants("\"word\": \"tock\""),
        act([exec("git", &["log", "--oneline"]), exec("git", &["status", "--short"])])
            .wants("Begin"),
        act([tests()]).wants("FAILED: no line 'tick 0'"),
        act([("file_search", json!({ "query": "word|most", "mode": "files" }))])
            .wants("settings.json"),
        // A value that is not in the file.
        act([edit("settings.json", &[("\"word\": \"tack\"", "\"word\": \"tick\"")])])
            .wants("+1 -1")
            .otherwise(edit("settings.json", &[("\"word\": \"tock\"", "\"word\": \"tick\"")])),
        act([tests()]).wants("FAILED: no line 'stopped after 5'"),
        act([edit("service.sh", &[("-le \"$most\"", "-lt \"$most\"")])]).wants("+1 -1"),
        act([tests()]).wants("all passed"),
        act([edit("settings.json", &[("\"most\": 5", "\"most\": 4000")])]).wants("+1 -1"),
        act([service()]).wants("job 1"),
        act([("job_list", json!({}))]).wants("service.sh"),
        act([("job_read", json!({ "id": 1 }))]).wants("tick"),
        act([service()]).wants("job 2"),
        act([("job_read", json!({ "id": 2 }))]).wants("tick"),
        act([("job_read", json!({ "id": 2 }))]),
        act([("job_read", json!({ "id": 2, "query": "tick 1" }))]).wants("tick 1"),
        act([("job_stop", json!({ "id": 1 }))]),
        act([("job_stop", json!({ "id": 2 }))]),
    ]
}

/// Turns the pause into a setting.
fn later_acts() -> Vec<Act> {
    let tests = || exec("sh", &["test.sh"]);
    vec![
        act([edit("settings.json", &[("\"most\": 4000", "\"most\": 5")])]).wants("+1 -1"),
        act([tests()]).wants("all passed"),
        act([exec("seq", &["-f", "%gth line of a log that nobody reads whole", "1", "6000"])])
            .wants("6000th"),
        act([("recall", json!({ "id": "cmd_028", "page": 2 }))]).wants("th line of a log"),
        act([edit(
            "service.sh",
            &[
                ("    sleep 0.05", "    sleep \"$pause\""),
                (
                    "n=0\n",
                    "pause=$(sed -n 's/.*\"pause\": *\\([0-9.]*\\).*/\\1/p' settings.json)\nn=0\n",
                ),
            ],
        )])
        .wants("+2 -1"),
        act([tests()]).wants("FAILED"),
        // A comma is missing.
        act([edit(
            "settings.json",
            &[("\"word\": \"tick\"", "\"word\": \"tick\"\n  \"pause\": 0.01")],
        )])
        .wants("`settings.json` is not valid JSON now, line 4"),
        act([edit("settings.json", &[("\"tick\"\n", "\"tick\",\n")])]).wants("+1 -1"),
        act([tests()]).wants("all passed"),
        act([(
            "file_write",
            json!({ "path": "CHANGES.md", "content": "- The pause is a setting.\n" }),
        )]),
        act([edit(
            "README.md",
            &[("tests it.", "tests it; `settings.json` says how long it pauses.")],
        )]),
        act([exec("git", &["diff", "--stat"]), exec("git", &["diff", "service.sh"])])
            .wants("pause"),
        act([
            exec("git", &["add", "-A"]),
            exec("git", &["commit", "-q", "-m", "Make the pause a setting"]),
        ]),
        act([
            exec("git", &["log", "-1", "--stat"]),
            exec("git", &["status", "--short"]),
            plan("done"),
        ])
        .wants("CHANGES.md"),
    ]
}

fn acts() -> Vec<Act> {
    first_acts().into_iter().chain(later_acts()).collect()
}

fn responder(requests: &[ReceivedRequest]) -> Reply {
    answer(Format::Chat, &acts(), requests)
}

#[test]
fn a_service_is_mended_with_our_own_names() {
    replay(&Session {
        name: "our own names",
        format: Format::Chat,
        provider: "openai",
        model: "gpt-4o",
        files: FILES,
        prompt: "The test of this service fails. Mend it, make its pause a setting, and commit.",
        acts,
        responder,
        budget: Budget { requests: 35, sent: 850, new: 52, asked: [19, 10, 0] },
    });
}
