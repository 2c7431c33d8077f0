//! `script check`, `script test`, scripts as commands, and the agent of a script, through the program.

use std::fs;
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use crate::support::bench::TestDir;

const GREET: &str = "---\ninput: [{who: {index: 0, required: true}}]\n---\nuser: \"Greet {{who}}\"\nassistant: \"[[A]]\"\n$print: \"?=A\"\n";

/// A folder with these files.
fn place(files: &[(&str, &str)]) -> TestDir {
    let place = TestDir::new();
    for (name, text) in files {
        let path = place.work().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    place
}

/// Runs the program in the folder, which is trusted, with these replies of the model.
fn avocet(place: &TestDir, args: &[&str], replies: &[&str]) -> Output {
    let model = place.script(replies);
    let mut command = place.command(&["--model", &model]);
    command.args(args).stdin(Stdio::null()).output().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn lines(output: &Output) -> Vec<Value> {
    out(output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn scripts_of_a_folder_are_checked_at_once_with_severities_and_places() {
    let place = place(&[
        ("all/sound.ai.yaml", "user: hi\n"),
        ("all/odd.ai.yaml", "user: \"{{later}}\"\n"),
        ("all/deep/bad.ai.yaml", "user: hi\n$pritn: x\n"),
    ]);
    let ran = avocet(&place, &["script", "check", "all"], &[]);
    assert_eq!(ran.status.code(), Some(1));
    assert_eq!(out(&ran), "scripts: 3, errors: 1, warnings: 1\n");
    assert!(err(&ran).contains("warning: ") && err(&ran).contains("odd.ai.yaml:1:7"));
    assert!(err(&ran).contains("bad.ai.yaml:2:1"), "{}", err(&ran));
    let ran = avocet(&place, &["script", "check", "all/odd.ai.yaml", "all/sound.ai.yaml"], &[]);
    assert_eq!(ran.status.code(), Some(0), "warnings are no failure: {}", err(&ran));
    let ran = avocet(
        &place,
        &["run", "all/sound.ai.yaml", "all/deep/bad.ai.yaml", "--check", "--json"],
        &[],
    );
    assert_eq!(ran.status.code(), Some(1));
    let fault = lines(&ran)[0].clone();
    assert_eq!((&fault["severity"], &fault["line"]), (&json!("error"), &json!(2)), "{fault}");
    assert!(fault["file"].as_str().unwrap().ends_with("bad.ai.yaml"), "{fault}");
}

#[test]
fn the_tests_of_a_script_stand_beside_it_with_its_replies() {
    let tests = json!([
        { "name": "greets", "args": { "who": "Ann" }, "replies": ["Hello Ann"],
          "expect": { "printed": ["Hello Ann"], "requests": ["Greet Ann"] } },
        { "name": "asks", "inputs": ["Bo"], "replies": ["Hi"], "expect": { "result": "Hi" } },
        { "name": "wrong", "args": { "who": "Ann" }, "replies": ["Hi", "again"] },
    ]);
    let build = "- $try: {$exec: {program: make}}\n  catch: {$ret: \"?=error.stderr\"}\n";
    let failed =
        json!({ "steps": [{ "code": 2, "stderr": "boom" }], "expect": { "result": "boom" } });
    let place = place(&[
        ("greet.ai.yaml", GREET),
        ("greet.replies.json", &tests.to_string()),
        ("build.ai.yaml", build),
        ("build.replies.json", &failed.to_string()),
        ("untested.ai.yaml", "user: hi\n"),
    ]);
    let ran = avocet(&place, &["script", "test"], &[]);
    assert_eq!(ran.status.code(), Some(1), "{}", err(&ran));
    let said = out(&ran);
    assert!(said.contains("greet.ai.yaml: greets\n") && said.contains("build.ai.yaml: 1\n"));
    assert!(said.contains("wrong: replies that were not used: 1"), "{said}");
    assert!(said.ends_with("tests passed: 3 of 4\n"), "{said}{}", err(&ran));
    let ran = avocet(&place, &["script", "test", "build", "--json"], &[]);
    assert_eq!((ran.status.code(), lines(&ran).len()), (Some(0), 2), "{}", out(&ran));
    let ran = avocet(&place, &["script", "test", "untested.ai.yaml"], &[]);
    assert!(ran.status.code() == Some(1) && err(&ran).contains("no test"), "{}", err(&ran));
}

#[test]
fn a_script_of_the_scripts_folder_is_a_command_without_a_screen_too() {
    let place = place(&[(".avocet/scripts/greet.ai.yaml", GREET)]);
    let ran = avocet(&place, &["-p", "/greet Ann"], &["Hello Ann"]);
    assert_eq!(out(&ran), "Hello Ann\n", "{}", err(&ran));
}

#[test]
fn an_agent_of_a_script_works_in_a_session_of_its_own() {
    let script = "$agent: {task: Look, mode: plan}\n$print: \"?='so: ' + LatestResult\"\n";
    let place = place(&[("s.ai.yaml", script)]);
    let list = json!({ "type": "cmd", "message": "I look.", "data": { "commands": [{ "cmd": "ls", "args": [] }] } });
    let answer = json!({ "type": "chat", "message": "One script." });
    let ran = avocet(&place, &["run", "s"], &[&list.to_string(), &answer.to_string()]);
    assert_eq!(out(&ran).lines().next(), Some("so: One script."), "{}", err(&ran));
    let ran = avocet(&place, &["run", "s"], &[]);
    assert_eq!(ran.status.code(), Some(1), "{}", err(&ran));
    assert!(err(&ran).contains("did not finish"), "{}", err(&ran));
}
