//! Nothing is left of a run: no temporary file and no process of a step.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use crate::support::bench::TestDir;
use crate::support::pty::Screen;
use crate::support::skip::{Reason, skip};
use crate::support::wait::wait_until;

trait CleanupDir {
    fn temp(&self) -> PathBuf;
    fn command_with_temp(&self, args: &[&str], temp: &Path) -> Command;
    fn envs_with_temp(&self) -> Vec<(&'static str, String)>;
    fn screen(&self, model: &str) -> Screen;
}

impl CleanupDir for TestDir {
    fn temp(&self) -> PathBuf {
        let path = self.root.path().join("temp");
        fs::create_dir_all(&path).unwrap();
        path
    }

    fn command_with_temp(&self, args: &[&str], temp: &Path) -> Command {
        let mut command = self.command(args);
        command.env("TMPDIR", temp);
        command
    }

    fn envs_with_temp(&self) -> Vec<(&'static str, String)> {
        let temp = ("TMPDIR", self.temp().display().to_string());
        self.envs().into_iter().chain([temp]).collect()
    }

    fn screen(&self, model: &str) -> Screen {
        let work = self.work();
        let args = ["--trust", work.to_str().unwrap(), "--model", model];
        Screen::start(&args, &self.envs_with_temp(), &work, (80, 24))
    }
}

fn cmd(program: &str, args: &[&str]) -> String {
    serde_json::json!({
        "type": "cmd", "message": "a step",
        "data": { "cwd": null, "commands": [{ "program": program, "args": args }], "expected_effect": "" }
    })
    .to_string()
}

const DONE: &str = r#"{"type":"chat","message":"All done.","data":{"format":"plain"}}"#;

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().flatten();
    names.map(|entry| entry.file_name().into_string().unwrap()).collect()
}

#[test]
fn a_run_that_ends_at_any_moment_leaves_no_temporary_file() {
    let bench = TestDir::new();
    let model = bench.script(&[DONE]);
    for millis in [0, 5, 10, 15, 20, 30, 40, 60] {
        let mut screen = bench.screen(&model);
        screen.wait_for("scripted");
        std::thread::sleep(Duration::from_millis(millis));
        screen.press("\x04");
        screen.wait_for_exit();
        assert!(names(&bench.temp()).is_empty(), "{millis} ms: {:?}", names(&bench.temp()));
    }
}

/// Long outputs of its steps included, which no saved session needs.
#[test]
fn a_run_that_saves_nothing_leaves_nothing() {
    let bench = TestDir::new();
    let long = cmd("seq", &["100000"]);
    let model = bench.script(&[&long, DONE]);
    let temp = bench.temp();
    let args = ["--model", &model, "--no-save", "-p", "go"];
    let output = bench.command_with_temp(&args, &temp).output().unwrap();
    assert!(output.status.success(), "{}", err(&output));
    assert!(names(&temp).is_empty(), "{:?}", names(&temp));
}

#[test]
fn the_next_run_removes_files_of_a_killed_run() {
    let bench = TestDir::new();
    let model = bench.script(&[DONE]);
    let mut screen = bench.screen(&model);
    wait_until("the run has a folder", || !names(&bench.temp()).is_empty());
    let left = names(&bench.temp());
    assert_eq!(left.len(), 1, "{left:?}");
    screen.signal("KILL");
    screen.wait_for_exit();
    let mut next = bench.screen(&model);
    next.wait_for("scripted");
    wait_until("it is swept", || !bench.temp().join(&left[0]).exists());
    next.press("\x04");
    next.wait_for_exit();
    assert!(names(&bench.temp()).is_empty());
}

#[test]
fn a_program_for_another_architecture_is_reported_and_reaches_no_shell() {
    let bench = TestDir::new();
    let other: u8 = if cfg!(target_arch = "x86_64") { 183 } else { 62 };
    let mut elf = vec![0; 64];
    elf[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
    (elf[16], elf[18]) = (2, other);
    let plain = bench.work().join("plain.sh");
    fs::write(bench.work().join("other"), elf).unwrap();
    fs::write(&plain, "touch made\n").unwrap();
    for (name, mode) in [("other", 0o755), ("plain.sh", 0o755)] {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
        fs::set_permissions(bench.work().join(name), mode).unwrap();
    }
    fs::write(bench.work().join("closed.sh"), "#!/bin/sh\n").unwrap();
    let cases = [
        ("./other", "not a program this machine can run"),
        ("./plain.sh", "names no interpreter"),
        ("./closed.sh", "is not executable"),
    ];
    for (program, expected) in cases {
        let model = bench.script(&[&cmd(program, &[]), DONE]);
        let args = ["--model", &model, "-y", "-p", "hello"];
        let output = bench.command_with_temp(&args, &bench.temp()).output().unwrap();
        assert!(err(&output).contains(expected), "{program}: {}", err(&output));
    }
    assert!(!bench.work().join("made").exists());
}

#[test]
fn too_few_descriptors_give_one_sentence_and_a_failure_code() {
    let bench = TestDir::new();
    let envs = bench.envs_with_temp();
    let model = bench.script(&[DONE]);
    let line = format!("ulimit -n 16; exec {} --model {model}", env!("CARGO_BIN_EXE_avocet"));
    let mut screen =
        Screen::start_program("/bin/sh", &["-c", &line], &envs, &bench.work(), (80, 24));
    assert_eq!(screen.wait_for_exit(), 1, "{}", screen.text());
    screen.wait_for("Not enough system resources");
}

#[test]
fn an_unusable_temporary_folder_is_named_and_replaced() {
    let bench = TestDir::new();
    let model = bench.script(&[&cmd("pwd", &[]), DONE]);
    let missing = bench.root.path().join("no-such-place");
    let output =
        bench.command_with_temp(&["--model", &model, "-p", "hello"], &missing).output().unwrap();
    assert_eq!(out(&output), "All done.\n", "{}", err(&output));
    assert!(err(&output).contains("no-such-place"), "{}", err(&output));
    assert!(!err(&output).contains("not started"), "{}", err(&output));
    assert!(!missing.exists());
}

#[test]
fn an_inaccessible_folder_is_named() {
    use std::os::unix::fs::{PermissionsExt, chown};
    use std::os::unix::process::CommandExt;
    let bench = TestDir::new();
    let closed = bench.work().join("closed");
    fs::create_dir(&closed).unwrap();
    let step = serde_json::json!({
        "type": "cmd", "message": "a step",
        "data": { "cwd": closed, "commands": [{ "program": "ls", "args": [] }], "expected_effect": "" }
    });
    let model = bench.script(&[&step.to_string(), DONE]);
    let mut command =
        bench.command_with_temp(&["--model", &model, "-y", "-p", "hello"], &bench.temp());
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    // The superuser may enter everything: an ordinary user has to try it.
    let root = bench.root.path();
    if chown(root, Some(65534), Some(65534)).is_ok() {
        for folder in ["work", "home", "avocet", "temp", "replies.txt", "work/closed"] {
            chown(root.join(folder), Some(65534), Some(65534)).unwrap();
        }
        command.uid(65534).gid(65534);
    }
    // It may lie in a folder that is closed to others.
    let Ok(output) = command.output() else { return skip(Reason::OnlyRoot) };
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
    let said = err(&output) + &out(&output);
    assert!(said.contains("closed"), "{said}");
    assert!(!said.contains("running /usr/bin/ls"), "{said}");
}
