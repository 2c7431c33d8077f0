//! `avocet review`: findings about a change, in the forms of code hosts, and comments only where they
//! are asked for.

use std::fs;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::support::bench::TestDir;

fn git(bench: &TestDir, args: &[&str]) {
    let mut git = Command::new("git");
    let user = ["-c", "user.name=A", "-c", "user.email=a@example.com"];
    git.args(user).args(args).current_dir(bench.work()).envs(bench.envs());
    let done = git.output().unwrap();
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// A repository with a commit, and a change of `a.txt` that is in no commit.
fn project() -> TestDir {
    let bench = TestDir::new();
    fs::write(bench.work().join("a.txt"), "one\n").unwrap();
    git(&bench, &["init", "-q", "-b", "main"]);
    git(&bench, &["add", "a.txt"]);
    git(&bench, &["commit", "-q", "-m", "begin"]);
    fs::write(bench.work().join("a.txt"), "one\ntwo\n").unwrap();
    bench
}

fn answer(findings: &Value) -> String {
    let message = json!({ "findings": findings }).to_string();
    json!({ "type": "chat", "message": message, "data": {} }).to_string()
}

fn finding(path: &str, line: u32, severity: &str) -> Value {
    json!({ "path": path, "line": line, "severity": severity, "title": "Two", "text": "Why two?" })
}

/// The review in an untrusted folder, with this reply of the model.
fn review(bench: &TestDir, findings: &Value, args: &[&str]) -> Output {
    let model = bench.script(&[answer(findings)]);
    bench.untrusted_command(&[&["review", "--model", &model], args].concat()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_finding_is_printed_and_ends_with_1_where_it_is_bad_enough() {
    let bench = project();
    let findings = json!([finding("a.txt", 2, "medium"), finding("b.txt", 1, "high")]);
    let done = review(&bench, &findings, &[]);
    assert_eq!(text(&done.stdout), "a.txt:2: medium: Two\n    Why two?\n");
    assert!(text(&done.stderr).contains("no changed file: 1"), "{}", text(&done.stderr));
    assert_eq!(done.status.code(), Some(0));
    let codes = ["high", "medium", "low"]
        .map(|severity| review(&bench, &findings, &["--fail-on", severity]).status.code());
    assert_eq!(codes, [Some(0), Some(1), Some(1)]);
    let github = review(&bench, &findings, &["--format", "github"]);
    assert_eq!(text(&github.stdout), "::warning file=a.txt,line=2,title=Two::Why two?\n");
}

#[test]
fn the_range_and_the_index_say_what_is_reviewed() {
    let bench = project();
    let findings = json!([finding("a.txt", 2, "low")]);
    let none = review(&bench, &findings, &["--staged"]);
    assert_eq!((text(&none.stdout), none.status.code()), (String::new(), Some(0)));
    assert!(text(&none.stderr).contains("Nothing is changed."), "{}", text(&none.stderr));
    git(&bench, &["add", "a.txt"]);
    assert!(text(&review(&bench, &findings, &["--staged"]).stdout).starts_with("a.txt:2: low"));
    git(&bench, &["commit", "-q", "-m", "two"]);
    let range = review(&bench, &findings, &["--range", "HEAD~1..HEAD"]);
    assert!(text(&range.stdout).starts_with("a.txt:2: low"));
    for wrong in ["no-such..HEAD", "--output=x"] {
        let wrong = review(&bench, &findings, &["--range", wrong]);
        assert_eq!(wrong.status.code(), Some(2), "{}", text(&wrong.stderr));
    }
    assert!(!bench.work().join("x").exists());
}

#[test]
fn a_large_file_in_a_change_keeps_no_other_from_being_reviewed() {
    let bench = project();
    fs::write(bench.work().join("lock.json"), "a line of a lock file\n".repeat(300_000)).unwrap();
    git(&bench, &["add", "."]);
    let findings = json!([finding("a.txt", 2, "low"), finding("lock.json", 9, "low")]);
    let done = review(&bench, &findings, &["--staged"]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    let expected = "a.txt:2: low: Two\n    Why two?\nlock.json:9: low: Two\n    Why two?\n";
    assert_eq!(text(&done.stdout), expected);
}

#[test]
fn steps_that_change_something_do_not_run_and_a_wrong_answer_is_no_review() {
    let bench = project();
    let write = json!({ "tool": "file.write", "input": { "path": "b.txt", "content": "b" } });
    let step = json!({ "type": "cmd", "message": "x", "data": { "commands": [write] } });
    let model = bench.script(&[step.to_string(), answer(&json!([]))]);
    let args = ["review", "--model", &model, "--approve-steps", "--mode", "auto"];
    let done = bench.command(&args).output().unwrap();
    assert!(!bench.work().join("b.txt").exists());
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    let words = json!({ "type": "chat", "message": "All is well.", "data": {} }).to_string();
    let model = bench.script(&[words.clone(), words]);
    let done = bench.command(&["review", "--model", &model]).output().unwrap();
    assert_eq!(done.status.code(), Some(5), "{}", text(&done.stderr));
}

#[test]
fn a_comment_is_written_only_where_it_is_asked_for() {
    use std::os::unix::fs::PermissionsExt as _;
    let bench = project();
    let bin = bench.path("bin");
    fs::create_dir(&bin).unwrap();
    let script = "#!/bin/sh\necho \"$*\" >> \"$HOME/args\"\ncat > \"$HOME/body\"\n";
    fs::write(bin.join("gh"), script).unwrap();
    fs::set_permissions(bin.join("gh"), fs::Permissions::from_mode(0o755)).unwrap();
    let model = bench.script(&[answer(&json!([finding("a.txt", 2, "low")]))]);
    let review = |args: &[&str]| {
        let mut command = bench.command(&[&["review", "--model", &model], args].concat());
        command.env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
        command.output().unwrap()
    };
    let args = bench.path("home/args");
    review(&["--format", "github"]);
    assert!(!args.exists());
    assert_eq!(review(&["--comment", "7"]).status.code(), Some(2));
    let done = review(&["--format", "github", "--comment", "7"]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    assert!(fs::read_to_string(args).unwrap().contains("repos/{owner}/{repo}/pulls/7/reviews"));
    let body: Value =
        serde_json::from_str(&fs::read_to_string(bench.path("home/body")).unwrap()).unwrap();
    assert_eq!(body["comments"][0]["path"], "a.txt");
    let missing = review(&["--format", "gitlab", "--comment", "7"]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(text(&missing.stderr).contains("`glab` is not a program"), "{}", text(&missing.stderr));
}
