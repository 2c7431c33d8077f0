//! A hostile model and a hostile repository, through real runs: links that change between
//! the judgement and the run, inputs of the wrong type, and settings of a repository that
//! are planted during the session. With the sandbox and without it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use serde_json::{Value, json};

use crate::support::bench::TestDir;
use crate::support::server::{Reply, Server};
use crate::support::skip::{Reason, skip};

const DONE: &str = r#"{"type":"chat","message":"Done.","data":{}}"#;
/// What lies outside of the workspace; no step may bring it in.
const OUTSIDE: &str = "contents-from-outside-5521";
const SANDBOXES: [&str; 2] = ["work", "off"];

fn steps(commands: &[Value], cwd: Option<&str>) -> String {
    let data = json!({ "cwd": cwd, "commands": commands, "expected_effect": "" });
    json!({ "type": "cmd", "message": "steps", "data": data }).to_string()
}

fn file(tool: &str, input: Value) -> Value {
    json!({ "tool": tool, "input": input })
}

fn program(program: &str, args: &[&str]) -> Value {
    json!({ "program": program, "args": args })
}

fn hostile_dir(sandbox: &str) -> TestDir {
    let bench = TestDir::new();
    bench.settings(&format!("[safety]\nsandbox = \"{sandbox}\"\n"));
    fs::create_dir(bench.path("outside")).unwrap();
    fs::write(bench.path("outside/secret.txt"), format!("{OUTSIDE}\n")).unwrap();
    fs::write(bench.work().join("plain.txt"), "plain\n").unwrap();
    bench
}

/// Everything a run prints, events included; it may fail, but in order.
fn run(bench: &TestDir, replies: &[String], args: &[&str]) -> String {
    let model = bench.script(replies);
    let output = bench.command(&[&["--model", &model, "--json"], args].concat()).output().unwrap();
    assert_orderly(&output)
}

#[track_caller]
fn assert_orderly(output: &Output) -> String {
    let said =
        String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned();
    assert!(matches!(output.status.code(), Some(0..=5)), "{:?}: {said}", output.status);
    assert!(!said.contains("panicked"), "{said}");
    said
}

/// A link that points now here and now there, until it is dropped.
struct FlippingLink {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl FlippingLink {
    fn start(link: PathBuf, targets: [PathBuf; 2]) -> FlippingLink {
        symlink(&targets[0], &link).unwrap();
        let over = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&over);
        let thread = std::thread::spawn(move || {
            let next = link.with_extension("next");
            for target in targets.iter().rev().cycle() {
                if ended.load(Ordering::SeqCst) {
                    return;
                }
                symlink(target, &next).unwrap();
                fs::rename(&next, &link).unwrap();
                std::thread::yield_now();
            }
        });
        FlippingLink { over, thread: Some(thread) }
    }
}

impl Drop for FlippingLink {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        self.thread.take().unwrap().join().unwrap();
    }
}

#[test]
fn a_file_tool_follows_no_link_that_changes_after_its_assessment() {
    for sandbox in SANDBOXES {
        let bench = hostile_dir(sandbox);
        let work = bench.work();
        let targets = [work.join("plain.txt"), bench.path("outside/secret.txt")];
        let _flipping = FlippingLink::start(work.join("link.txt"), targets);
        let read = steps(&vec![file("file.read", json!({ "path": "link.txt" })); 10], None);
        let search = steps(&vec![file("file.search", json!({ "pattern": "contents" })); 5], None);
        let said = run(
            &bench,
            &[vec![read; 8], vec![search; 2], vec![DONE.to_owned()]].concat(),
            &["-p", "go"],
        );
        assert!(!said.contains(OUTSIDE), "{sandbox}: {said}");
    }
}

#[test]
fn an_approved_edit_changes_no_file_outside_by_a_link_that_changes() {
    for sandbox in SANDBOXES {
        let bench = hostile_dir(sandbox);
        let work = bench.work();
        let targets = [work.join("plain.txt"), bench.path("outside/secret.txt")];
        let _flipping = FlippingLink::start(work.join("link.txt"), targets);
        let write = |n: usize| {
            let read = file("file.read", json!({ "path": "link.txt" }));
            let write =
                file("file.write", json!({ "path": "link.txt", "content": format!("evil {n}\n") }));
            let edit =
                file("file.edit", json!({ "path": "link.txt", "old": "plain", "new": "evil" }));
            steps(&[read, write, edit], None)
        };
        let mut replies: Vec<String> = (0..12).map(write).collect();
        replies.push(DONE.to_owned());
        let said = run(&bench, &replies, &["-p", "-y", "go"]);
        let left = fs::read_to_string(bench.path("outside/secret.txt")).unwrap();
        assert_eq!(left.trim(), OUTSIDE, "{sandbox}: {said}");
    }
}

#[test]
fn a_program_in_the_sandbox_reads_nothing_outside_by_a_link_that_changes() {
    let bench = hostile_dir("work");
    // Not below a folder that every program may read.
    if !avocet_has_sandbox(&bench) {
        return skip(Reason::NoSandbox);
    }
    let work = bench.work();
    let targets = [work.join("plain.txt"), bench.path("outside/secret.txt")];
    let _flipping = FlippingLink::start(work.join("link.txt"), targets);
    let read = steps(&vec![program("cat", &["link.txt"]); 10], None);
    let said = run(&bench, &[vec![read; 6], vec![DONE.to_owned()]].concat(), &["-p", "go"]);
    assert!(!said.contains(OUTSIDE), "{said}");
}

fn avocet_has_sandbox(bench: &TestDir) -> bool {
    let output = bench.command(&["doctor", "--json"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    said.contains("Landlock") && !said.contains("no Landlock")
}

#[test]
fn a_folder_of_a_step_that_is_a_link_out_of_the_workspace_runs_nothing_unasked() {
    for sandbox in SANDBOXES {
        let bench = hostile_dir(sandbox);
        symlink(bench.path("outside"), bench.work().join("sub")).unwrap();
        let commands = [
            program("cat", &["secret.txt"]),
            program("grep", &["-r", "contents", "."]),
            program("ls", &[]),
        ];
        let mut replies: Vec<String> = commands
            .iter()
            .map(|command| steps(std::slice::from_ref(command), Some("sub")))
            .collect();
        replies.push(steps(&[file("file.read", json!({ "path": "sub/secret.txt" }))], None));
        replies.push(steps(&[file("file.list", json!({ "path": "sub" }))], None));
        for reply in replies {
            let said = run(&bench, &[reply, DONE.to_owned()], &["-p", "go"]);
            assert!(!said.contains(OUTSIDE), "{sandbox}: {said}");
        }
    }
}

/// Values that no tool takes, for any of its inputs.
fn wrong_values() -> Vec<Value> {
    vec![
        json!(null),
        json!(5),
        json!(-1),
        json!(1e308),
        json!(u64::MAX),
        json!(true),
        json!([]),
        json!(["plain.txt"]),
        json!({ "path": "plain.txt" }),
        json!(""),
        json!("\u{0}"),
        json!("a\u{1b}]0;title\u{7}\nb"),
        json!("x".repeat(300_000)),
        json!("../".repeat(5_000)),
    ]
}

#[test]
fn inputs_of_the_wrong_type_or_of_any_size_end_in_an_answer_and_change_nothing() {
    let tools: &[(&str, &[&str])] = &[
        ("file.read", &["path", "from", "lines"]),
        ("file.list", &["path", "depth"]),
        ("file.search", &["pattern", "path"]),
        ("file.write", &["path", "content"]),
        ("file.edit", &["path", "old", "new"]),
        ("config.json_patch", &["path", "set", "unset"]),
        ("plan.update", &["items"]),
        ("no.such_tool", &["path"]),
    ];
    for sandbox in SANDBOXES {
        let bench = hostile_dir(sandbox);
        let mut replies = Vec::new();
        for (tool, fields) in tools {
            let mut commands: Vec<Value> =
                wrong_values().into_iter().map(|input| file(tool, input)).collect();
            for field in *fields {
                for value in wrong_values() {
                    let mut input =
                        json!({ "path": "plain.txt", "pattern": "p", "old": "absent", "new": "x" });
                    input[*field] = value;
                    commands.push(file(tool, input));
                }
            }
            replies.extend(commands.chunks(8).map(|commands| steps(commands, None)));
        }
        for replies in replies.chunks(12) {
            let replies = [replies, &[DONE.to_owned()]].concat();
            run(&bench, &replies, &["-p", "go"]);
        }
        assert_eq!(fs::read_to_string(bench.work().join("plain.txt")).unwrap(), "plain\n");
        let names: Vec<_> =
            fs::read_dir(bench.work()).unwrap().map(|it| it.unwrap().file_name()).collect();
        assert_eq!(names, ["plain.txt"], "{sandbox}");
    }
}

fn git(work: &Path, args: &[&str]) {
    let output = std::process::Command::new("git").args(args).current_dir(work).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// Settings that make git start a program, one file each.
const PLANTED: &[(&str, &str)] = &[
    (
        ".git/config",
        "[core]\n\tfsmonitor = touch {pwned}\n\tpager = touch {pwned}\n\tsshCommand = touch {pwned}\n[diff]\n\texternal = touch {pwned}\n[filter \"x\"]\n\tclean = touch {pwned}\n\tsmudge = touch {pwned}\n[alias]\n\tst = !touch {pwned}\n",
    ),
    (".git/config", "[include]\n\tpath = ../inc\n"),
    (".git/config", "[core]\n\tworktree = ../outside\n\tfsmonitor = ./evil.sh\n"),
];

#[test]
fn settings_of_a_repository_planted_during_the_session_start_nothing() {
    for sandbox in SANDBOXES {
        for (name, text) in PLANTED {
            let bench = hostile_dir(sandbox);
            let (work, pwned) = (bench.work(), bench.work().join("pwned"));
            git(&work, &["init", "-q"]);
            fs::write(work.join(".gitattributes"), "* filter=x diff=x\n").unwrap();
            fs::write(work.join("evil.sh"), format!("#!/bin/sh\ntouch {}\n", pwned.display()))
                .unwrap();
            fs::write(work.join("inc"), "[core]\n\tfsmonitor = ./evil.sh\n").unwrap();
            git(&work, &["add", "plain.txt"]);
            fs::set_permissions(
                work.join("evil.sh"),
                std::os::unix::fs::PermissionsExt::from_mode(0o755),
            )
            .unwrap();
            let server = Server::start(vec![Reply::cmd("look", "git", &["status", "-s"])]);
            let child = bench
                .command(&[
                    "--base-url",
                    &server.base_url(),
                    "--model",
                    "loop-1",
                    "--json",
                    "-p",
                    "go",
                ])
                .stdout(std::process::Stdio::piped())
                .stderr(std::process::Stdio::piped())
                .spawn()
                .unwrap();
            // The first step ran; the next answer comes once the file is there.
            server.wait_for_requests(2);
            let text = text.replace("{pwned}", &pwned.display().to_string());
            fs::write(work.join(name), format!("[core]\n\trepositoryformatversion = 0\n{text}"))
                .unwrap();
            let tries: &[&[&str]] = &[
                &["status"],
                &["diff"],
                &["diff", "--stat"],
                &["log"],
                &["show"],
                &["st"],
                &["ls-files"],
            ];
            for args in tries {
                server.push(Reply::cmd("look again", "git", args));
            }
            server.push(Reply::chat("Done."));
            assert_orderly(&child.wait_with_output().unwrap());
            assert!(!pwned.exists(), "{sandbox}: {name}: {text}");
        }
    }
}

#[test]
fn avocets_own_folder_is_closed_by_each_of_its_names_when_its_home_is_a_link() {
    let key = "own-folder-key-77120";
    for sandbox in SANDBOXES {
        for inside in [true, false] {
            let bench = hostile_dir(sandbox);
            let real = if inside { bench.work().join("real-own") } else { bench.path("real-own") };
            fs::create_dir(&real).unwrap();
            fs::rename(bench.path("avocet/config.toml"), real.join("config.toml")).unwrap();
            fs::write(real.join("note.txt"), format!("{key}\n")).unwrap();
            let link = bench.work().join("own");
            symlink(&real, &link).unwrap();
            let names =
                [link.join("note.txt"), real.join("note.txt"), PathBuf::from("own/note.txt")];
            let mut commands: Vec<Value> =
                names.iter().map(|name| program("cat", &[name.to_str().unwrap()])).collect();
            commands.extend(names.iter().map(|name| file("file.read", json!({ "path": name }))));
            commands.push(program("grep", &["-r", "folder-key", "."]));
            commands.push(program("grep", &["-R", "folder-key", "."]));
            commands.push(file("file.search", json!({ "pattern": "folder-key" })));
            for command in commands {
                let replies = [steps(std::slice::from_ref(&command), None), DONE.to_owned()];
                let model = bench.script(&replies);
                let mut run = bench.command(&["--model", &model, "--json", "-p", "go"]);
                let said = assert_orderly(&run.env("AVOCET_HOME", &link).output().unwrap());
                assert!(!said.contains(key), "{sandbox}, inside {inside}: {command}: {said}");
            }
        }
    }
}
