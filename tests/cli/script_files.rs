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

/// Programs in the place of `age`, which is not on every machine: they hide a text, and ask for the
/// key to show it.
const AGE: [(&str, &str); 2] = [
    (
        "age",
        "#!/bin/sh
hide() { tr a-zA-Z n-za-mN-ZA-M; }
if [ \"$1\" = --encrypt ]; then
    echo '-----BEGIN AGE ENCRYPTED FILE-----'; echo \"for $4 $6\"; hide
else
    read -r key; [ \"$key\" = AGE-SECRET-KEY-1A ] && sed 1,2d \"$4\" | hide
fi
",
    ),
    (
        "age-keygen",
        "#!/bin/sh
if [ \"$1\" = -y ]; then
    cat > /dev/null; echo age1own
else
    printf '# public key: age1own\\nAGE-SECRET-KEY-1A\\n'
fi
",
    ),
];

/// A folder of a user who has these programs, and runs the program with them.
fn sealing(place: &TestDir, args: &[&str]) -> Output {
    use std::os::unix::fs::PermissionsExt as _;

    let programs = place.path("bin");
    if !programs.exists() {
        fs::create_dir(&programs).unwrap();
        for (name, text) in AGE {
            fs::write(programs.join(name), text).unwrap();
            fs::set_permissions(programs.join(name), fs::Permissions::from_mode(0o755)).unwrap();
        }
    }
    let model = place.script(&["the answer"]);
    let mut command = place.command(&["--model", &model]);
    command.env("PATH", format!("{}:/usr/bin:/bin", programs.display()));
    command.args(args).stdin(Stdio::null()).output().unwrap()
}

/// Every file below a folder, as text.
fn all_text(folder: &std::path::Path) -> String {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let text = |path: std::path::PathBuf| {
        if path.is_dir() {
            all_text(&path)
        } else {
            String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned()
        }
    };
    entries.map(text).collect()
}

const SECRET: &str = "---\ninput: [{topic: {index: 0, default: bread}}]\n---\nsystem: Keep the ancient recipe.\n---\nuser: \"The ancient recipe of {{topic}}\"\nassistant: \"[[A]]\"\n$echo: \"?=A\"\n";

#[test]
fn a_sealed_script_runs_and_its_words_are_nowhere_to_be_read() {
    let place = place(&[("plain.ai.yaml", SECRET), ("uses.ai.yaml", "-> plain.sealed\n")]);
    let ran = sealing(&place, &["script", "seal", "plain.ai.yaml", "--to", "age1other"]);
    assert_eq!(ran.status.code(), Some(0), "{}", err(&ran));
    assert!(err(&ran).contains("age1own, age1other"), "{}", err(&ran));
    let sealed = fs::read_to_string(place.work().join("plain.sealed.ai.yaml")).unwrap();
    assert!(sealed.contains("for age1own age1other") && !sealed.contains("recipe"), "{sealed}");
    fs::remove_file(place.work().join("plain.ai.yaml")).unwrap();
    let run = |args: &[&str]| {
        let ran = sealing(&place, args);
        let all = format!("{}{}", out(&ran), err(&ran));
        assert!(!all.contains("recipe"), "{args:?}: {all}");
        (ran.status.code(), all)
    };
    let (code, all) = run(&["run", "plain.sealed", "-v"]);
    assert_eq!((code, all.contains("the answer")), (Some(0), true), "{all}");
    let (code, all) = run(&["run", "uses", "--json"]);
    assert_eq!((code, all.contains("the answer")), (Some(0), true), "{all}");
    let (code, all) = run(&["script", "check", "."]);
    assert!(code == Some(0) && all.contains("warning: "), "{all}");
    let (_, all) = run(&["run", "plain.sealed", "--dry-run"]);
    assert!(all.contains("(sealed)"), "{all}");
    let (_, all) = run(&["script", "show", "plain.sealed"]);
    assert!(all.contains("sealed"), "{all}");
    let (code, all) = run(&["-p", "/run plain.sealed cake"]);
    assert_eq!((code, all.contains("the answer")), (Some(0), true), "{all}");
    assert!(!all_text(&place.path("avocet")).contains("recipe"));
    // The key is gone: nothing opens it.
    fs::remove_file(place.path("avocet/data/keys.toml")).unwrap();
    let (code, all) = run(&["run", "plain.sealed"]);
    assert!(code == Some(1) && all.contains("No key for sealed scripts"), "{all}");
}
