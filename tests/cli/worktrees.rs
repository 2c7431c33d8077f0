//! `--worktree`, tasks with worktrees and `/worktrees`, in a real repository and with the real wall.

use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::support::bench::TestDir;
use crate::support::server::{Reply, Server};

const DONE: &str = r#"{"type":"chat","message":"Done.","data":{}}"#;

fn git(bench: &TestDir, args: &[&str]) -> String {
    let mut git = Command::new("git");
    let done = git.args(args).current_dir(bench.work()).envs(bench.envs()).output().unwrap();
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
}

/// A project with one commit.
fn project() -> TestDir {
    let bench = TestDir::new();
    let user = "[user]\n\tname = A\n\temail = a@example.com\n";
    std::fs::write(bench.path("home/.gitconfig"), user).unwrap();
    std::fs::write(bench.work().join("a.txt"), "a\n").unwrap();
    git(&bench, &["init", "-q", "-b", "main"]);
    git(&bench, &["add", "a.txt"]);
    git(&bench, &["commit", "-q", "-m", "begin"]);
    bench
}

fn run(bench: &TestDir, args: &[&str]) -> Output {
    bench.command(args).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn reply(commands: Value) -> String {
    json!({ "type": "cmd", "message": "A step.", "data": { "commands": commands } }).to_string()
}

fn write(path: &str) -> Value {
    json!({ "tool": "file.write", "input": { "path": path, "content": "b\n" } })
}

#[test]
fn a_session_works_in_the_worktree_that_it_names_and_finds_it_again() {
    let bench = project();
    let model = bench.script(&[reply(json!([write("b.txt")])), DONE.to_owned()]);
    let args = ["--model", &model, "-w", "fix", "--approve-steps", "-p", "write"];
    let done = run(&bench, &args);
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert!(text(&done.stderr).contains("on the branch `avocet/fix`"), "{}", text(&done.stderr));
    assert!(!text(&done.stderr).contains("trust"), "{}", text(&done.stderr));
    let worktree = bench.work().join(".avocet/worktrees/fix");
    assert!(worktree.join("b.txt").exists() && !bench.work().join("b.txt").exists());
    assert_eq!(git(&bench, &["status", "--porcelain"]), "");

    let model = bench.script(&[reply(json!([write("c.txt")])), DONE.to_owned()]);
    let done = run(&bench, &["--model", &model, "-w", "fix", "--approve-steps", "-p", "more"]);
    assert!(text(&done.stderr).contains("works in the worktree `fix`"), "{}", text(&done.stderr));
    assert!(worktree.join("c.txt").exists());

    let list = run(&bench, &["-p", "/worktrees"]);
    assert!(text(&list.stdout).contains("files not committed: 2"), "{}", text(&list.stdout));
    let shown = run(&bench, &["-p", "/worktrees show fix"]);
    assert!(text(&shown.stdout).contains("?? c.txt"), "{}", text(&shown.stdout));
    let merged = run(&bench, &["-p", "/worktrees merge fix"]);
    assert!(!bench.work().join("b.txt").exists(), "nobody approved it");
    assert_eq!(merged.status.code(), Some(3), "it asks");
    let merged = run(&bench, &["--approve-steps", "-p", "/worktrees merge fix"]);
    assert!(merged.status.success(), "{}", text(&merged.stderr));
    assert!(bench.work().join("b.txt").exists() && bench.work().join("c.txt").exists());
}

#[test]
fn a_worktree_that_cannot_be_opened_is_a_wrong_use_with_its_reason() {
    let bench = TestDir::new();
    let done = run(&bench, &["-w", "fix", "-p", "x"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(text(&done.stderr).contains("not in the working tree"), "{}", text(&done.stderr));
    let bench = project();
    let done = run(&bench, &["-w", "../fix", "-p", "x"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(text(&done.stderr).contains("cannot name a worktree"), "{}", text(&done.stderr));
}

#[test]
fn two_sessions_do_not_work_in_one_worktree_at_once() {
    let bench = project();
    let server = Server::start(vec![Reply::chat("Done.").held(), Reply::chat("Done.")]);
    let url = server.base_url();
    let args = ["--base-url", &url, "--model", "m", "-w", "fix", "-p", "wait"];
    let mut first = bench.command(&args).spawn().unwrap();
    server.wait_for_requests(1);
    let second = run(&bench, &args);
    assert_eq!(second.status.code(), Some(2));
    assert!(text(&second.stderr).contains("`fix` is in use"), "{}", text(&second.stderr));
    let other = ["--base-url", &url, "--model", "m", "-w", "other", "-p", "go"];
    assert!(run(&bench, &other).status.success(), "another one is free");
    server.release();
    assert!(first.wait().unwrap().success());
}

#[test]
fn an_agent_commits_in_a_worktree_of_its_own_inside_the_wall() {
    let bench = project();
    let input = json!({ "description": "Add b", "prompt": "Write.", "worktree": true });
    let git = |args: &[&str]| reply(json!([{ "program": "git", "args": args }]));
    let replies = [
        reply(json!([{ "tool": "task", "input": input }])),
        reply(json!([write("b.txt")])),
        git(&["add", "b.txt"]),
        git(&["commit", "-m", "Add b"]),
        git(&["status", "--short"]),
        DONE.to_owned(),
        DONE.to_owned(),
    ];
    let model = bench.script(&replies);
    let done = run(&bench, &["--model", &model, "--approve-steps", "--json", "-p", "write"]);
    let events = text(&done.stdout);
    let result = events
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .find(|event| event["event"] == "observed");
    let result = result.unwrap_or_else(|| panic!("{events}"));
    let result = result["stdout"].as_str().unwrap();
    assert!(result.contains("branch avocet/add-b\nCommits:\n"), "{result}");
    assert!(result.contains("Add b") && !result.contains("Not committed"), "{result}");
    assert!(!bench.work().join("b.txt").exists());
}

#[test]
fn worktrees_are_listed_removed_and_pruned_from_the_shell() {
    let bench = project();
    let none = run(&bench, &["worktrees", "list"]);
    assert!(text(&none.stderr).contains("There are none"), "{}", text(&none.stderr));
    for name in ["one", "two"] {
        let path = format!(".avocet/worktrees/{name}");
        git(&bench, &["worktree", "add", "-q", "-b", &format!("avocet/{name}"), &path]);
    }
    let two = bench.work().join(".avocet/worktrees/two");
    std::fs::write(two.join("new.txt"), "new\n").unwrap();
    let list = text(&run(&bench, &["worktrees", "list"]).stdout);
    let one = list.lines().find(|line| line.contains("one")).unwrap_or_else(|| panic!("{list}"));
    assert!(
        one.contains("branch `avocet/one`, made 20") && one.ends_with("committed: 0"),
        "{list}"
    );
    let kept = run(&bench, &["worktrees", "remove", "two"]);
    assert_eq!(kept.status.code(), Some(1));
    assert!(text(&kept.stderr).contains("?? new.txt"), "{}", text(&kept.stderr));
    let asked = run(&bench, &["worktrees", "prune"]);
    assert_eq!(asked.status.code(), Some(3));
    assert!(text(&asked.stderr).contains("nobody can be asked: one."), "{}", text(&asked.stderr));
    let pruned = run(&bench, &["worktrees", "prune", "-y"]);
    assert!(pruned.status.success(), "{}", text(&pruned.stderr));
    assert!(two.exists() && !bench.work().join(".avocet/worktrees/one").exists());
    let removed = run(&bench, &["worktrees", "remove", "two", "-y"]);
    assert!(removed.status.success(), "{}", text(&removed.stderr));
    assert!(!two.exists() && git(&bench, &["branch"]).trim() == "* main");
}
