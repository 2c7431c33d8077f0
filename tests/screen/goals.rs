//! A goal that outlives a kill, and the line of the user's own program in the status line.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::support::bench::TestDir;
use crate::support::pty::Screen;
use crate::support::server::{Reply, Server};
use crate::support::wait::wait_until;

const SIZE: (u16, u16) = (100, 30);

#[test]
fn a_goal_survives_a_kill_and_asks_before_it_goes_on() {
    let bench = TestDir::new();
    let work = bench.work().display().to_string();
    let server = Server::start(vec![Reply::chat("Working.").held(), Reply::chat("Once more.")]);
    let url = server.base_url();
    let args = ["--trust", &work, "--base-url", &url, "--model", "m"];
    let mut screen = Screen::start(&args, &bench.envs(), &bench.work(), SIZE);
    screen.wait_for("Ask anything");
    screen.press("/goal make it --until ls made.txt\r");
    server.wait_for_requests(1);
    screen.wait_for("goal: turn 1");
    screen.signal("KILL");
    screen.wait_for_exit();

    let args = [&args[..], &["--continue"]].concat();
    let mut screen = Screen::start(&args, &bench.envs(), &bench.work(), SIZE);
    screen.wait_for("This conversation has a goal: make it.");
    assert_eq!(server.requests().len(), 1, "nothing is sent before the answer");
    screen.answer("This conversation has a goal", "a");
    screen.wait_for("goal: turn 2");
    server.wait_for_requests(2);
    let request = server.requests().remove(1).body;
    assert!(request.contains("make it"), "{request}");
}

/// The program of the status line.
fn program(bench: &TestDir, script: &str) {
    let file = bench.path("home/status");
    fs::write(&file, format!("#!/bin/sh\n{script}")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    bench.settings(&format!(
        "[screen]\nstatus = \"model | command\"\nstatus_command = [\"{}\"]\n",
        file.display()
    ));
}

fn start(bench: &TestDir) -> Screen {
    let work = bench.work().display().to_string();
    Screen::start(&["--trust", &work], &bench.envs(), &bench.work(), SIZE)
}

#[test]
fn the_first_line_of_the_users_program_is_in_the_status_line_without_controls() {
    let bench = TestDir::new();
    let input = bench.path("home/input");
    let line = "printf '\\033]0;stolen\\007\\033[31mmy own\\033[2J line\\nsecond line\\n'";
    program(&bench, &format!("cat > '{0}.new'; mv '{0}.new' '{0}'; {line}\n", input.display()));
    let screen = start(&bench);
    screen.wait_for("my own line");
    assert!(!screen.text().contains("second line"), "{}", screen.text());
    let raw = String::from_utf8_lossy(&screen.raw()).into_owned();
    assert!(!raw.contains("stolen\u{7}") && !raw.contains("\u{1b}[31mmy"), "{raw:?}");
    let session: serde_json::Value = serde_json::from_slice(&fs::read(&input).unwrap()).unwrap();
    assert_eq!(session["cwd"], bench.work().canonicalize().unwrap().display().to_string());
}

#[test]
fn a_program_of_the_status_line_that_takes_too_long_is_ended() {
    let bench = TestDir::new();
    let file = bench.path("home/pid");
    program(&bench, &format!("echo $$ > '{}'; exec sleep 600\n", file.display()));
    let mut screen = start(&bench);
    let pid = || fs::read_to_string(&file).unwrap_or_default().trim().to_owned();
    wait_until("the program runs", || !pid().is_empty());
    let first = pid();
    wait_until("it is ended", || !Path::new(&format!("/proc/{first}/cmdline")).exists());
    screen.press("words");
    screen.wait_for("words");
}
