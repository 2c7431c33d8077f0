//! Quitting takes three seconds at most, whatever is running, hanging or locked.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::bench::TestDir;
use crate::support::pty::{Modes, Screen};
use crate::support::server::{Reply, Server};
use crate::support::wait::{assert_quick, wait_until};

/// The ways out of the full screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExitKey {
    Exit,
    CtrlD,
    CtrlC,
    Term,
}

const OUT: [ExitKey; 4] = [ExitKey::Exit, ExitKey::CtrlD, ExitKey::CtrlC, ExitKey::Term];

fn envs(bench: &TestDir, more: &[(&'static str, String)]) -> Vec<(&'static str, String)> {
    bench.envs().into_iter().chain(more.iter().cloned()).collect()
}

fn screen(bench: &TestDir, server: &Server, more: &[(&'static str, String)]) -> Screen {
    let envs = envs(bench, more);
    let (work, url) = (bench.work().display().to_string(), server.base_url());
    let args = ["--trust", &work, "--base-url", &url, "--model", "loop-1"];
    let screen = Screen::start(&args, &envs, &bench.work(), (80, 24));
    screen.wait_for("loop-1");
    screen
}

/// Quits, and answers how long it took.
fn leave(screen: &mut Screen, out: ExitKey, what: &str) -> Duration {
    let began = Instant::now();
    match out {
        ExitKey::Exit => screen.press("\x15/exit\r"),
        ExitKey::CtrlD => screen.press("\x15\x04"),
        ExitKey::CtrlC => screen.press("\x03\x03\x03"),
        ExitKey::Term => screen.signal("TERM"),
    }
    let code = screen.wait_for_exit();
    let took = began.elapsed();
    assert_eq!(code, if out == ExitKey::Term { 143 } else { 0 }, "{what}, {out:?}");
    assert_eq!(screen.modes(), Modes::default(), "{what}, {out:?}");
    took
}

fn program(path: &Path, lines: &str) {
    fs::write(path, format!("#!/bin/sh\n{lines}")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn step(program: &str) -> Reply {
    let commands = [json!({ "program": program, "args": [], "requires": {} })];
    let data = json!({ "cwd": null, "commands": commands, "expected_effect": "" });
    Reply::text(&json!({ "type": "cmd", "message": "Let me try.", "data": data }).to_string(), 4)
}

/// The number a script has written of itself.
fn pid(file: &Path) -> Option<u32> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

/// One that has ended and was not collected yet does not.
fn is_running(file: &Path) -> bool {
    let stat = |pid: u32| fs::read_to_string(format!("/proc/{pid}/stat")).ok();
    let stat = pid(file).and_then(stat).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

/// A step that ignores every signal it can, and one whose child holds its pipe open.
const STUBBORN: &[(&str, &str)] = &[
    (
        "a step that ignores signals",
        "trap '' INT TERM HUP QUIT\necho $$ > pid\nwhile :; do sleep 1; done\n",
    ),
    (
        "a child that holds the pipe",
        "setsid sh -c 'trap \"\" INT TERM HUP; echo $$ > pid; while :; do sleep 1; done' &\n\
         while [ ! -s pid ]; do :; done\n",
    ),
];

#[test]
fn the_screen_exits_at_once_whatever_a_step_does() {
    for (what, lines) in STUBBORN {
        for out in OUT {
            assert_quick(&format!("{what}, {out:?}"), || {
                let bench = TestDir::new();
                program(&bench.work().join("stubborn.sh"), lines);
                let server = Server::start(vec![step("./stubborn.sh"), Reply::chat("Done.")]);
                let mut screen = screen(&bench, &server, &[]);
                screen.press("go\r");
                screen.answer("Run this?", "y");
                let file = bench.work().join("pid");
                wait_until("the step runs", || pid(&file).is_some());
                let took = leave(&mut screen, out, what);
                assert!(!is_running(&file), "{what}, {out:?}");
                took
            });
        }
    }
}

#[test]
fn the_screen_exits_at_once_while_the_server_hangs() {
    for silent in [Reply::text("{\"type\":", 2).hang_after(1), Reply::status(200).hang_after(0)] {
        for out in OUT {
            let what = "a server that hangs";
            assert_quick(&format!("{what}, {out:?}"), || {
                let bench = TestDir::new();
                let server = Server::start(vec![silent.clone()]);
                let mut screen = screen(&bench, &server, &[]);
                screen.press("go\r");
                wait_until("it is asked", || !server.requests().is_empty());
                leave(&mut screen, out, what)
            });
        }
    }
}

#[test]
fn the_screen_exits_at_once_while_another_program_locks_the_database() {
    for out in OUT {
        assert_quick(&format!("a database that is held, {out:?}"), || {
            let bench = TestDir::new();
            let server = Server::start(vec![Reply::chat("Hello."), Reply::chat("Again.")]);
            let mut screen = screen(&bench, &server, &[]);
            screen.press("one\r");
            screen.wait_for("Hello.");
            screen.wait_until_idle();
            let file = database(&bench);
            let other = rusqlite::Connection::open(file).unwrap();
            other.execute_batch("BEGIN IMMEDIATE").unwrap();
            screen.press("two\r");
            if out == ExitKey::Term {
                wait_until("it is asked", || server.requests().len() == 2);
            }
            let began = Instant::now();
            match out {
                ExitKey::Exit => screen.press("\x15/exit\r"),
                ExitKey::CtrlD => screen.press("\x15\x04"),
                ExitKey::CtrlC => screen.press("\x03\x03\x03"),
                ExitKey::Term => screen.signal("TERM"),
            }
            screen.wait_for_exit();
            let took = began.elapsed();
            let said = String::from_utf8_lossy(&screen.raw()).into_owned();
            assert!(said.contains("could not be saved"), "{out:?}: {said}");
            let data = fs::read_dir(bench.root.path().join("avocet/data")).unwrap().flatten();
            let texts: Vec<PathBuf> = data.map(|file| file.path()).collect();
            let text = texts.iter().find(|path| path.extension().is_some_and(|it| it == "md"));
            assert!(fs::read_to_string(text.unwrap()).unwrap().contains("two"), "{out:?}");
            took
        });
    }
}

fn database(bench: &TestDir) -> PathBuf {
    let files = fs::read_dir(bench.root.path().join("avocet/data")).unwrap().flatten();
    let mut files = files.map(|file| file.path());
    files.find(|path| path.extension().is_some_and(|it| it == "db")).unwrap()
}

#[test]
fn the_screen_exits_at_once_while_an_editor_hangs() {
    let what = "an editor that hangs";
    assert_quick(what, || {
        let bench = TestDir::new();
        let editor = bench.root.path().join("editor");
        program(&editor, "echo $$ > pid\ntrap '' INT TERM HUP QUIT\nwhile :; do sleep 1; done\n");
        let server = Server::start(vec![]);
        let more = [("VISUAL", editor.display().to_string())];
        let mut screen = screen(&bench, &server, &more);
        screen.press("a draft");
        screen.wait_for("a draft");
        screen.press("\x07");
        let file = bench.work().join("pid");
        wait_until("the editor is open", || pid(&file).is_some());
        let took = leave(&mut screen, ExitKey::Term, what);
        assert!(!is_running(&file), "the editor is gone");
        took
    });
}

/// The ways without a screen.
fn headless(bench: &TestDir, server: &Server) -> Vec<Vec<String>> {
    let script = "---\ntools: [exec]\n---\nuser: go\nassistant: \"[[A]]\"\n";
    fs::write(bench.work().join("ask.ai.yaml"), script).unwrap();
    let url = server.base_url();
    let ways: [&[&str]; 3] =
        [&["-p", "-y", "go"], &["--json", "-p", "-y", "go"], &["run", "-y", "ask.ai.yaml"]];
    let model = ["--base-url", &url, "--model", "loop-1"];
    ways.map(|way| model.iter().chain(way).map(|word| (*word).to_owned()).collect()).into()
}

fn start(bench: &TestDir, args: &[String]) -> Child {
    let mut command = bench.command(&[]);
    command.args(args).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

/// Ends it by a signal, and answers how long it took.
fn end(mut child: Child, signal: &str, what: &str) -> Duration {
    let began = Instant::now();
    let done = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status();
    assert!(done.unwrap().success());
    let status = child.wait().unwrap();
    let took = began.elapsed();
    let code = if signal == "INT" { 130 } else { 143 };
    assert_eq!(status.code(), Some(code), "{what}");
    took
}

#[test]
fn a_headless_run_exits_at_once_whatever_its_step_does() {
    for way in 0..3 {
        for signal in ["INT", "TERM"] {
            let (what, lines) = STUBBORN[0];
            let what = format!("{what}, way {way}, {signal}");
            assert_quick(&what, || {
                let bench = TestDir::new();
                program(&bench.work().join("stubborn.sh"), lines);
                let call = Reply::text("@exec(program=\"./stubborn.sh\")", 4);
                let step = if way == 2 { call } else { step("./stubborn.sh") };
                let server = Server::start(vec![step, Reply::chat("Done.")]);
                let child = start(&bench, &headless(&bench, &server)[way]);
                let file = bench.work().join("pid");
                wait_until("the step runs", || pid(&file).is_some());
                let took = end(child, signal, &what);
                assert!(!is_running(&file), "{what}");
                took
            });
        }
    }
}

#[test]
fn a_headless_run_exits_at_once_while_the_server_hangs() {
    for way in 0..3 {
        for signal in ["INT", "TERM"] {
            let what = format!("a server that hangs, way {way}, {signal}");
            assert_quick(&what, || {
                let bench = TestDir::new();
                let server = Server::start(vec![Reply::text("{\"type\":", 2).hang_after(1)]);
                let child = start(&bench, &headless(&bench, &server)[way]);
                wait_until("it is asked", || !server.requests().is_empty());
                end(child, signal, &what)
            });
        }
    }
}
