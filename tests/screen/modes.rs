//! Modes: which steps ask. Plan mode only reads and ends with a plan, accepted edits run, and a
//! conversation goes on in its mode. And the options of a run without the screen.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

use crate::support::bench::TestDir;
use crate::support::pty::Screen;
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

fn plan() -> String {
    let items = json!([{ "text": "write a.txt", "state": "pending" }]);
    steps(json!([{ "tool": "plan", "input": { "items": items } }]))
}

fn run(bench: &TestDir, replies: &[&str], args: &[&str]) -> (i32, String, String) {
    let model = bench.script(replies);
    let Output { status, stdout, stderr } =
        bench.command(&[&["--model", &model], args].concat()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

#[test]
fn in_plan_mode_nothing_is_changed_and_the_plan_is_the_answer() {
    let bench = TestDir::new();
    let replies: &[&str] = &[&write("a.txt"), &exec("mkdir", &["made"]), &plan(), DONE];
    let (code, out, err) =
        run(&bench, replies, &["--mode", "plan", "--allow", "mkdir *", "-p", "do it"]);
    assert_eq!((code, out.as_str()), (0, "[ ] write a.txt\n"), "{err}");
    assert!(err.contains("In plan mode"), "{err}");
    assert_eq!(fs::read_dir(bench.work()).unwrap().count(), 0);
}

#[test]
fn a_plan_approved_in_advance_is_carried_out() {
    let bench = TestDir::new();
    let replies: &[&str] = &[&plan(), &write("a.txt"), DONE];
    let (code, out, err) =
        run(&bench, replies, &["--mode", "plan", "--approve-steps", "-p", "do it"]);
    assert_eq!((code, out.as_str()), (0, "All done.\n"), "{err}");
    assert_eq!(fs::read_to_string(bench.work().join("a.txt")).unwrap(), "new\n");
}

#[test]
fn accepted_edits_change_files_here_and_nothing_else() {
    let bench = TestDir::new();
    let edits = |replies: &[&str]| run(&bench, replies, &["--mode", "edits", "-p", "do it"]).0;
    assert_eq!(edits(&[&write("a.txt"), DONE]), 0);
    assert!(bench.work().join("a.txt").exists());
    // A file that steers programs or agents, one outside, and a program ask as before.
    for reply in [write("AGENTS.md"), write("../b.txt"), exec("sh", &["make.sh"])] {
        assert_eq!(edits(&[&reply, DONE]), 3, "{reply}");
    }
    let untrusted = bench.script(&[&write("c.txt"), DONE]);
    let args = ["--model", &untrusted, "--mode", "edits", "-p", "do it"];
    assert_eq!(bench.untrusted_command(&args).output().unwrap().status.code(), Some(3));
    let left: Vec<_> = ["AGENTS.md", "../b.txt", "made", "c.txt"].into();
    assert!(left.iter().all(|name| !bench.work().join(name).exists()));
}

#[test]
fn accepted_edits_ask_about_files_with_other_names_and_those_that_the_notes_take_in() {
    let bench = TestDir::new();
    let work = bench.work();
    fs::create_dir_all(work.join(".git")).unwrap();
    fs::create_dir_all(work.join("docs")).unwrap();
    fs::write(work.join(".git/config"), "[core]\n").unwrap();
    fs::hard_link(work.join(".git/config"), work.join("cfg.txt")).unwrap();
    fs::write(work.join("AGENTS.md"), "see @docs/rules.md and @docs/later.md\n").unwrap();
    fs::write(work.join("docs/rules.md"), "read @inner.md\n").unwrap();
    let edits = |reply: &str| {
        let args = ["--mode", "edits", "--allow", "file.write *", "--allow", "file.edit *"];
        run(&bench, &[reply, DONE], &[&args[..], &["-p", "do it"]].concat()).0
    };
    let edit = |path: &str, old: &str| {
        let input = json!({ "path": path, "old": old, "new": "new\n" });
        steps(json!([{ "tool": "file.edit", "input": input }]))
    };
    for reply in [
        edit("cfg.txt", "[core]\n"),
        edit("docs/rules.md", "read"),
        write("docs/later.md"),
        write("docs/inner.md"),
    ] {
        assert_eq!(edits(&reply), 3, "{reply}");
    }
    assert_eq!(fs::read_to_string(work.join(".git/config")).unwrap(), "[core]\n");
    assert!(!work.join("docs/later.md").exists() && !work.join("docs/inner.md").exists());
    assert_eq!(edits(&write("docs/other.md")), 0);
    assert_eq!(edits(&edit("docs/other.md", "new")), 0);
}

#[test]
fn accepted_edits_ask_about_hooks_of_the_project_and_what_cannot_be_undone() {
    let bench = TestDir::new();
    let work = bench.work();
    for folder in [".git/objects", ".git/refs", "hooks"] {
        fs::create_dir_all(work.join(folder)).unwrap();
    }
    fs::write(work.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(work.join(".git/config"), "[core]\n\thooksPath = hooks\n").unwrap();
    let large = "a line of a log\n".repeat(400_000) + "the last\n";
    fs::write(work.join("big.log"), &large).unwrap();
    let edit = json!({ "path": "big.log", "old": "the last", "new": "the end" });
    let edit = steps(json!([{ "tool": "file.edit", "input": edit }]));
    for reply in [write("hooks/pre-commit"), write(".g\u{200c}it/config"), edit] {
        let args = ["--mode", "edits", "--allow", "file.write *", "--allow", "file.edit *"];
        let (code, _, err) = run(&bench, &[&reply, DONE], &[&args[..], &["-p", "go"]].concat());
        assert_eq!(code, 3, "{reply} {err}");
    }
    assert!(!work.join("hooks/pre-commit").exists());
    assert_eq!(fs::read_to_string(work.join("big.log")).unwrap(), large);
}

/// Git with nobody's settings, in a folder.
fn git(folder: &Path, args: &[&str]) -> String {
    let output = std::process::Command::new("git")
        .args(["-c", "user.name=n", "-c", "user.email=e@x", "-c", "commit.gpgsign=false"])
        .args(args)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn approved_git_steps_record_changes_in_a_linked_working_tree_and_leave_its_hooks_alone() {
    let bench = TestDir::new();
    let work = bench.work();
    let main = work.parent().unwrap().join("main");
    fs::create_dir_all(&main).unwrap();
    git(&main, &["init", "-q", "-b", "main"]);
    git(&main, &["commit", "-q", "--allow-empty", "-m", "first"]);
    let tree = work.to_str().unwrap();
    git(&main, &["worktree", "add", "-q", tree, "-b", "side"]);
    git(&main, &["config", "user.name", "n"]);
    git(&main, &["config", "user.email", "e@x"]);
    fs::write(work.join("a.txt"), "one\n").unwrap();
    let doctor = bench.command(&["doctor"]).output().unwrap();
    let is_held =
        !String::from_utf8_lossy(&doctor.stdout).contains(avocet::i18n::sandbox::NO_KERNEL.en);
    let hook = main.join(".git/hooks/pre-commit");
    let replies: &[&str] = &[
        &exec("git", &["add", "a.txt"]),
        &exec("git", &["commit", "-m", "second"]),
        &exec("git", &["archive", "-o", hook.to_str().unwrap(), "HEAD"]),
        DONE,
    ];
    let (_, _, err) = run(&bench, replies, &["--approve-steps", "-p", "record it"]);
    assert_eq!(git(&main, &["log", "--format=%s", "side"]), "second\nfirst\n", "{err}");
    if !is_held {
        return skip(Reason::NoSandbox);
    }
    assert!(!hook.exists(), "{err}");
}

#[test]
fn a_plan_without_a_user_is_the_answer_and_no_warning_about_a_limit() {
    let bench = TestDir::new();
    let (code, out, err) = run(&bench, &[&plan(), DONE], &["--mode", "plan", "-p", "do it"]);
    assert_eq!((code, out.as_str()), (0, "[ ] write a.txt\n"), "{err}");
    assert!(!err.contains("max_auto_steps"), "{err}");
}

#[test]
fn a_mode_of_the_command_line_is_that_of_the_continued_conversation() {
    let bench = TestDir::new();
    let (code, _, err) = run(&bench, &[DONE], &["--mode", "edits", "-p", "hello"]);
    assert_eq!(code, 0, "{err}");
    let (code, _, err) = run(&bench, &[&write("a.txt"), DONE], &["-c", "-p", "go on"]);
    assert_eq!(code, 0, "{err}");
    let (code, _, err) = run(&bench, &[DONE], &["--mode", "ask", "-c", "-p", "go on"]);
    assert_eq!(code, 0, "{err}");
    let (code, _, err) = run(&bench, &[&write("b.txt"), DONE], &["-c", "-p", "go on"]);
    assert_eq!(code, 3, "{err}");
}

#[test]
fn a_rule_of_the_command_line_allows_its_steps_for_this_run() {
    let bench = TestDir::new();
    let allow = |rule: &str| {
        run(&bench, &[&exec("mkdir", &["made"]), DONE], &["--allow", rule, "-p", "do it"])
    };
    let (code, _, err) = allow("touch *");
    assert_eq!(code, 3, "{err}");
    let (code, _, err) = allow("mkdir *");
    assert_eq!(code, 0, "{err}");
    let (code, _, err) = allow("*");
    assert_eq!(code, 2, "{err}");
}

#[test]
fn only_the_listed_tools_are_offered_and_run() {
    let bench = TestDir::new();
    let with = |tools: &str, reply: &str| {
        run(&bench, &[reply, DONE], &["--tools", tools, "--approve-steps", "-p", "do it"])
    };
    let (code, _, err) = with("file.read,file.list", &exec("pwd", &[]));
    assert_eq!(code, 3, "{err}");
    assert!(err.contains("no such tool"), "{err}");
    assert_eq!(with("exec", &exec("pwd", &[])).0, 0);
    assert_eq!(with("job.start,job.list", &exec("pwd", &[])).0, 0);
    assert_eq!(with("exec,file.read", &write("a.txt")).0, 3);
    let (code, _, err) = with("exec,file.raed", DONE);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("file.raed") && err.contains("file.read"), "{err}");
}

#[test]
fn the_command_line_limits_steps_and_cost() {
    let bench = TestDir::new();
    let pwd = exec("pwd", &[]);
    let replies: &[&str] = &[&pwd, &exec("ls", &[]), DONE];
    assert_eq!(run(&bench, replies, &["--max-steps", "1", "-p", "do it"]).0, 4);
    assert_eq!(run(&bench, replies, &["--max-steps", "5", "-p", "do it"]).0, 0);
    let cost = ["--max-cost", "0.25", "config", "get", "limits.cost.run"];
    assert_eq!(run(&bench, &[DONE], &cost).1.trim(), "0.25");
}

#[test]
fn without_a_model_a_run_says_so_and_prints_no_answer() {
    let bench = TestDir::new();
    let done = bench.command(&["-p", "hello"]).output().unwrap();
    let err = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(5), "{err}");
    assert!(done.stdout.is_empty() && err.contains("No model is connected"), "{err}");
    // A key that is there for another server does not make up for a profile that is not.
    let mut misspelt = bench.command(&["--profile", "lcoal", "-p", "hello"]);
    let done = misspelt.env("OPENAI_API_KEY", "sk-nothing").output().unwrap();
    let err = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(2), "{err}");
    assert!(done.stdout.is_empty() && err.contains("lcoal"), "{err}");
}

/// The plain conversation in a terminal.
fn conversation(bench: &TestDir, replies: &[&str]) -> Screen {
    let (model, work) = (bench.script(replies), bench.work().display().to_string());
    let args = ["--linear", "--trust", &work, "--model", &model];
    let screen = Screen::start(&args, &bench.envs(), &bench.work(), (100, 60));
    screen.wait_for("scripted");
    screen
}

#[test]
fn a_setting_counts_at_once_in_the_running_session_and_is_shown_with_its_origin() {
    let bench = TestDir::new();
    bench.settings("# mine\n");
    let mut screen = conversation(&bench, &[DONE]);
    screen.press("/config safety.allow touch *\r");
    screen.wait_for("Set `safety.allow`");
    screen.press("/config gateway.max_queued 9\r");
    screen.wait_for("Read when the gateway starts.");
    screen.press("/config safety.alow x\r");
    screen.wait_for("There is no setting `safety.alow`");
    screen.press("/config safety.allow\r");
    screen.wait_for("your settings");
    screen.press("/permissions\r");
    screen.wait_for("1. touch *");
    let file = fs::read_to_string(bench.path("avocet/config.toml")).unwrap();
    assert!(file.contains("# mine") && file.contains("touch *"), "{file}");
}

#[test]
fn a_settings_file_that_changed_counts_with_the_next_message() {
    let bench = TestDir::new();
    bench.settings("[safety]\nallow = [\"touch *\"]\n");
    let mut screen = conversation(&bench, &[&exec("mkdir", &["made"]), DONE, DONE]);
    bench.settings("[safety]\nallow = [\"mkdir *\"]\n");
    screen.press("make it\r");
    screen.wait_for("All done.");
    assert!(bench.work().join("made").is_dir());
    // A file saved half: the rest goes on, and nothing is allowed that was not meant to be.
    bench.settings("[safety]\nallow = [\"mkd");
    screen.press("again\r");
    screen.wait_for("config.toml");
}
