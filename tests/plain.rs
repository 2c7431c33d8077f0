//! The plain mode, by the real program: what was typed before a question could be read
//! answers nothing.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests")]

use std::process::{Command, Stdio};

#[path = "support/bench.rs"]
mod bench;
#[path = "support/pty.rs"]
mod pty;
#[path = "support/server.rs"]
mod server;

use bench::Bench;
use pty::Screen;
use server::{Reply, Server};

fn asks() -> Vec<Reply> {
    vec![
        Reply::cmd("I make it.", "mkdir", &["made"]),
        Reply::chat("It is made."),
        Reply::chat("That was a message."),
    ]
}

fn args(server: &Server, bench: &Bench) -> Vec<String> {
    let work = bench.work().display().to_string();
    ["--linear", "--trust", &work, "--base-url", &server.base_url(), "--model", "loop-1"]
        .map(str::to_owned)
        .to_vec()
}

fn borrowed(args: &[String]) -> Vec<&str> {
    args.iter().map(String::as_str).collect()
}

#[test]
fn on_a_terminal_nothing_that_came_before_a_question_could_be_read_answers_it() {
    let (bench, server) = (Bench::new(), Server::start(asks()));
    let args = args(&server, &bench);
    let (home, avocet) = (bench.root.path().join("home"), bench.root.path().join("avocet"));
    let envs = [("HOME", home.to_str().unwrap()), ("AVOCET_HOME", avocet.to_str().unwrap())];
    let mut screen = Screen::start(&borrowed(&args), &envs, &bench.work(), (100, 40));
    screen.wait_for("leaves.\n>");
    // The number stands there already when the question comes; its Enter comes long after.
    screen.press("make it\r4");
    screen.wait_for("Type the number of a choice.\n>");
    screen.press("\r");
    screen.wait_for("answers nothing");
    assert!(!bench.work().join("made").exists());
    screen.wait_for("turn to end: 1.\n>");
    screen.press("4\r");
    screen.wait_for("It is made.");
    screen.wait_for("That was a message.");
    assert!(server.requests().iter().any(|seen| seen.json().to_string().contains("\"4\"")));
    screen.press("/exit\r");
    assert_eq!(screen.wait_for_exit(), 0);
}

#[test]
fn that_a_key_goes_out_in_the_open_is_said_without_a_screen() {
    let bench = Bench::new();
    let said = Command::new(env!("CARGO_BIN_EXE_avocet"))
        .args(["-p", "hello", "--base-url", "http://far.invalid/v1", "--model", "m"])
        .current_dir(bench.work())
        .env_clear()
        .env("HOME", bench.root.path().join("home"))
        .env("AVOCET_HOME", bench.root.path().join("avocet"))
        .env("AVOCET_API_KEY", "sk-nothing-real")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&said.stderr);
    assert!(said.contains("far.invalid without encryption"), "{said}");
}
