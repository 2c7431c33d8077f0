//! `-p --input-format stream-json`: many turns of one conversation, a message a line.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use super::acp::{AcpClient, DONE};
use super::headless::HeadlessDir as _;
use crate::support::bench::TestDir;
use crate::support::server::{Reply, Server};
use crate::support::wait::wait_until;

const STREAM: &[&str] = &["-p", "--input-format", "stream-json", "--json"];

fn is_event(name: &str) -> impl Fn(&Value) -> bool + '_ {
    move |event| event["event"] == name
}

#[test]
fn each_line_is_a_turn_of_the_same_conversation() {
    let bench = TestDir::new();
    let server = Server::start(vec![Reply::chat("Hello Ann."), Reply::chat("You are Ann.")]);
    let args = ["--base-url", &server.base_url(), "--model", "own"];
    let mut client = AcpClient::start(&bench, &args, STREAM);
    client.send(&json!({ "type": "user", "message": { "role": "user", "content": "I am Ann." } }));
    client.wait_for("end of the turn", is_event("turn_ended"));
    client.raw(b"");
    client.send(&json!({ "text": "Who am I?" }));
    let replied = |event: &Value| event["message"] == "You are Ann.";
    client.wait_for("second answer", replied);
    let (code, errors) = client.close();
    assert_eq!(code, Some(0), "{errors}");
    let second = server.requests().last().unwrap().json().to_string();
    assert!(second.contains("I am Ann.") && second.contains("Hello Ann."), "{second}");
}

#[test]
fn a_prompt_comes_before_the_lines_and_answers_are_written_in_order() {
    let bench = TestDir::new();
    let second = DONE.replace("All done.", "Second.");
    let script = bench.script(&[DONE, &second]);
    let args = ["--model", &script, "-p", "first", "--input-format", "stream-json"];
    let output = bench.run_with_input(&args, b"{\"text\":\"second\"}\n");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "All done.\nSecond.\n");
}

#[test]
fn a_line_that_is_no_message_ends_the_run_with_its_number() {
    let bench = TestDir::new();
    let script = bench.script(&[DONE]);
    let args = ["--model", &script, "-p", "--input-format", "stream-json"];
    let output = bench.run_with_input(&args, b"{\"text\":\"one\"}\nhello\n");
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("Line 2 of standard input is no message."), "{errors}");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "All done.\n");
}

#[test]
fn an_input_that_cannot_be_read_is_told_and_no_success() {
    let bench = TestDir::new();
    let script = bench.script(&[DONE]);
    let folder = std::fs::File::open(bench.work()).unwrap();
    let args = ["--model", &script, "-p", "--input-format", "stream-json"];
    let output = bench.command(&args).stdin(folder).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("Standard input cannot be read: Is a directory"), "{errors}");
}

#[test]
fn without_messages_nothing_is_asked_and_the_run_succeeds() {
    let bench = TestDir::new();
    let script = bench.script(&[DONE]);
    let args = ["--model", &script, "-p", "--input-format", "stream-json", "--json"];
    let output = bench.run_with_input(&args, b"");
    assert_eq!(output.status.code(), Some(0));
    let wrong = bench.run(&["--input-format", "stream-json", "doctor"]);
    assert_eq!(wrong.status.code(), Some(2));
}

#[test]
fn a_reader_that_closed_its_end_ends_the_run_after_the_turn() {
    let bench = TestDir::new();
    let args = ["--model", &bench.script(&[DONE]), "-p", "--input-format", "stream-json"];
    let mut child = bench
        .command(&args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"{\"text\":\"one\"}\n").unwrap();
    // Its input is still open.
    wait_until("end", || child.try_wait().unwrap().is_some());
    drop(input);
}
