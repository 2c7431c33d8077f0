//! Modes of a run without the screen: what *auto* runs and what it asks about, that neither a mode
//! nor an option changes files outside the folder, and that only the user's settings name a mode.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Output;

use serde_json::{Value, json};

use crate::support::bench::TestDir;
use crate::support::skip::{Reason, skip};

const DONE: &str = r#"{"type":"chat","message":"All done.","data":{"format":"plain"}}"#;

fn steps(commands: Value) -> String {
    let data = json!({ "cwd": null, "commands": commands, "expected_effect": "" });
    json!({ "type": "cmd", "message": "next", "data": data }).to_string()
}

fn write(path: &str) -> String {
    steps(json!([{ "tool": "file.write", "input": { "path": path, "content": "new\n" } }]))
}

fn exec(program: &str, args: &[&str]) -> String {
    steps(json!([{ "program": program, "args": args }]))
}

/// The exit code, and what is said of the run.
fn run(bench: &TestDir, replies: &[&str], args: &[&str]) -> (i32, String) {
    let model = bench.script(replies);
    let args = [&["--model", &model], args, &["-p", "do it"]].concat();
    let Output { status, stderr, .. } = bench.command(&args).output().unwrap();
    (status.code().unwrap(), String::from_utf8(stderr).unwrap())
}

fn is_held(bench: &TestDir) -> bool {
    let doctor = bench.command(&["doctor"]).output().unwrap();
    String::from_utf8_lossy(&doctor.stdout).contains("`work`")
}

#[test]
fn auto_runs_what_stays_in_the_sandbox_and_asks_about_what_leaves_it() {
    let bench = TestDir::new();
    if !is_held(&bench) {
        return skip(Reason::NoSandbox);
    }
    let work = bench.work();
    fs::write(work.join("build.sh"), "mkdir -p out && echo built > out/a.txt\n").unwrap();
    let auto = |reply: &str| run(&bench, &[reply, DONE], &["--mode", "auto"]);
    for reply in [
        exec("sh", &["build.sh"]),
        exec("bash", &["-lc", "cd out && mkdir -p x && mv a.txt b.txt && ls"]),
        exec("rm", &["out/b.txt"]),
        write("src/new.txt"),
    ] {
        let (code, said) = auto(&reply);
        assert_eq!(code, 0, "{reply}: {said}");
    }
    let explain = ["policy", "explain", "--mode", "auto", "--", "mkdir", "y"];
    let repository = TestDir::new();
    fs::create_dir(repository.work().join(".git")).unwrap();
    let explained = repository.command(&explain).output().unwrap();
    assert!(String::from_utf8_lossy(&explained.stdout).contains("runs without asking"));
    assert!(work.join("out/x").is_dir() && !work.join("out/b.txt").exists());
    assert!(work.join("src/new.txt").exists());
    for reply in [
        exec("curl", &["https://example.com"]),
        exec("git", &["push"]),
        exec("touch", &["../outside.txt"]),
        exec("touch", &["AGENTS.md"]),
        exec("bash", &["-c", "sh build.sh > $(pwd)/log.txt"]),
        write("../b.txt"),
        write("AGENTS.md"),
    ] {
        let (code, said) = auto(&reply);
        assert_eq!(code, 3, "{reply}: {said}");
    }
    assert!(!work.join("../outside.txt").exists() && !work.join("../b.txt").exists());
    assert!(!work.join("AGENTS.md").exists() && !work.join("log.txt").exists());
}

#[test]
fn without_the_sandbox_or_trust_auto_is_refused_with_a_sentence_and_steps_ask() {
    let bench = TestDir::new();
    fs::write(bench.work().join("build.sh"), "echo built > a.txt\n").unwrap();
    let reply = exec("sh", &["build.sh"]);
    bench.settings("[safety]\nsandbox = \"off\"\n");
    let (code, said) = run(&bench, &[&reply, DONE], &["--mode", "auto"]);
    assert!(code == 3 && said.contains("needs the sandbox"), "{code} {said}");
    bench.settings("");
    let model = bench.script(&[&reply, DONE]);
    let args = ["--model", &model, "--mode", "auto", "-p", "do it"];
    let output = bench.untrusted_command(&args).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(3) && said.contains("needs trust"), "{said}");
    assert!(!bench.work().join("a.txt").exists());
}

#[test]
fn what_a_command_removes_in_accept_edits_comes_back_or_asks() {
    let bench = TestDir::new();
    let work = bench.work();
    fs::create_dir_all(work.join("build")).unwrap();
    for (name, text) in [("a.txt", "text\n"), ("build/x.o", "x"), (".env", "KEY=1\n")] {
        fs::write(work.join(name), text).unwrap();
    }
    fs::write(work.join(".gitignore"), "build\n").unwrap();
    let edits = |reply: &str| run(&bench, &[reply, DONE], &["--mode", "edits"]);
    for reply in [exec("rm", &["-r", "build"]), exec("rm", &[".env"]), exec("mv", &["build", "b"])]
    {
        let (code, said) = edits(&reply);
        assert_eq!(code, 3, "{reply}: {said}");
    }
    assert!(work.join("build/x.o").exists() && work.join(".env").exists());
    for reply in [exec("mv", &["a.txt", "c.txt"]), exec("rm", &["c.txt"])] {
        let (code, said) = edits(&reply);
        assert_eq!(code, 0, "{reply}: {said}");
    }
    assert!(!work.join("a.txt").exists() && !work.join("c.txt").exists());
}

#[test]
fn on_a_machine_that_is_thrown_away_every_step_runs_that_no_rule_of_the_user_refuses() {
    let bench = TestDir::new();
    let host = fs::read_to_string("/proc/sys/kernel/hostname");
    let host = host.unwrap_or_else(|_| "localhost".to_owned());
    let container = format!("--container={}", host.trim());
    let own = bench.path("own-tool");
    fs::write(&own, "#!/bin/sh\necho made > \"$1\"\n").unwrap();
    fs::set_permissions(&own, fs::Permissions::from_mode(0o755)).unwrap();
    let own = own.to_str().unwrap();
    let out = bench.path("out");
    fs::create_dir(&out).unwrap();
    let at = |name: &str| out.join(name).display().to_string();
    // More steps than a turn without the sandbox has elsewhere.
    let mut replies: Vec<String> = (0..26).map(|n| exec("touch", &[&at(&n.to_string())])).collect();
    replies.extend([exec(own, &[&at("by-own")]), write(&at("by-tool")), DONE.to_owned()]);
    let replies: Vec<&str> = replies.iter().map(String::as_str).collect();
    let made = || fs::read_dir(&out).unwrap().count();

    let (code, said) = run(&bench, &replies, &["--container=of-another", "-y"]);
    assert!(code == 2 && said.contains("another machine") && made() == 0, "{code} {said}");
    let (code, said) = run(&bench, &replies, &["-y"]);
    assert!(code != 0 && !out.join("by-own").exists(), "{code} {said}");
    let (code, said) = run(&bench, &replies, &[&container]);
    assert!(code == 3 && !out.join("by-own").exists(), "only with -y: {code} {said}");
    let (code, said) = run(&bench, &replies, &[&container, "-y"]);
    assert_eq!((code, made()), (0, 28), "{said}");

    // In the container even a command that is refused elsewhere runs, and nothing suggests lifting
    // the rule. The folder it would delete does not exist.
    let replies = [&exec("rm", &["-rf", &at("not-there")]), DONE];
    let (code, said) = run(&bench, &replies, &["-y"]);
    assert!(code == 3 && said.contains("Refused"), "{code} {said}");
    let (code, said) = run(&bench, &replies, &[&container, "-y"]);
    assert!(code == 0 && !said.contains("safety.lift"), "{code} {said}");

    bench.settings("[safety]\ndeny = [\"touch *\"]\n");
    let denied = exec("touch", &[&at("denied")]);
    let (code, said) = run(&bench, &[&denied, DONE], &[&container, "-y"]);
    assert!(code == 3 && !out.join("denied").exists(), "{code} {said}");
}

#[test]
fn neither_an_option_nor_a_mode_changes_a_file_outside_the_folder() {
    let bench = TestDir::new();
    let outside = bench.path("outside.txt");
    fs::write(&outside, "old\n").unwrap();
    let path = outside.to_str().unwrap();
    let edit = json!({ "path": path, "old": "old", "new": "new" });
    let edit = steps(json!([{ "tool": "file.edit", "input": edit }]));
    for options in [
        &["--approve-steps"][..],
        &["-y"],
        &["--approve-steps", "--approve-secrets"],
        &["--mode", "edits"],
        &["--mode", "auto"],
        &["--mode", "auto", "--approve-steps"],
    ] {
        for reply in [&edit, &write(path), &write("../../b.txt"), &write("~/b.txt")] {
            let (code, said) = run(&bench, &[reply, DONE], options);
            assert_eq!(code, 3, "{options:?} {reply}: {said}");
        }
        let (_, said) = run(&bench, &[&edit, DONE], options);
        assert!(said.contains("outside the folder"), "{said}");
    }
    assert_eq!(fs::read_to_string(&outside).unwrap(), "old\n");
    let folder = outside.parent().unwrap().join("more");
    fs::create_dir_all(&folder).unwrap();
    let added = ["--approve-steps", "--add-dir", folder.to_str().unwrap()];
    let reply = write(folder.join("b.txt").to_str().unwrap());
    let (code, said) = run(&bench, &[&reply, DONE], &added);
    assert!(code == 0 && folder.join("b.txt").exists(), "{said}");
}

#[test]
fn a_repository_never_sets_the_mode_and_the_users_settings_do() {
    let bench = TestDir::new();
    let work = bench.work();
    fs::create_dir_all(work.join(".avocet")).unwrap();
    let writes = |name: &str| run(&bench, &[&write(name), DONE], &[]);
    let folder = work.canonicalize().unwrap().display().to_string();
    for hostile in [
        "[safety]\nmode = \"edits\"\n".to_owned(),
        "[safety]\nmode = \"auto\"\n".to_owned(),
        "[profiles.default]\nmode = \"auto\"\n".to_owned(),
        format!("[folders.\"{folder}\"]\nmode = \"edits\"\n"),
        "[folders.\"/\"]\nmode = \"edits\"\n".to_owned(),
    ] {
        fs::write(work.join(".avocet/config.toml"), &hostile).unwrap();
        let (code, said) = writes("a.txt");
        assert_eq!(code, 3, "{hostile} {said}");
    }
    assert!(!work.join("a.txt").exists());
    // Nor does it set back what the user chose, or a variable choose for the user.
    for (at, own) in [
        "[safety]\nmode = \"edits\"\n".to_owned(),
        "[profiles.default]\nmode = \"edits\"\n".to_owned(),
        "[safety]\nmode = \"plan\"\n[profiles.default]\nmode = \"edits\"\n".to_owned(),
        format!("[profiles.default]\nmode = \"ask\"\n[folders.\"{folder}\"]\nmode = \"edits\"\n"),
        format!("[folders.\"/\"]\nmode = \"ask\"\n[folders.\"{folder}\"]\nmode = \"edits\"\n"),
    ]
    .into_iter()
    .enumerate()
    {
        bench.settings(&own);
        let (code, said) = writes(&format!("own{at}.txt"));
        assert_eq!(code, 0, "{own} {said}");
        let (code, _) = run(&bench, &[&write("b.txt"), DONE], &["--mode", "ask"]);
        assert_eq!(code, 3, "the command line counts before {own}");
    }
    bench.settings("[folders.\"/nowhere\"]\nmode = \"edits\"\n");
    assert_eq!(writes("c.txt").0, 3);
    bench.settings("[safety]\nmode = \"yolo\"\n");
    let (code, said) = writes("c.txt");
    assert!(code != 0 && said.contains("safety.mode"), "{code} {said}");
}
