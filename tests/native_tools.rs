//! Models that call tools in their wire format's own way, with the real program and a real server.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests")]

use std::fs;
use std::process::Output;

use serde_json::{Value, json};

#[path = "support/bench.rs"]
mod bench;
#[path = "support/server.rs"]
mod server;

use bench::TestDir;
use server::{Reply, Server, delta, event, finish};

/// A model of which it is known that it takes tools.
const MODEL: &str = "gpt-4o";

/// A reply that says this and calls `exec` with these lines.
fn calls(says: &str, lines: &[&[&str]]) -> Reply {
    let calls: Vec<Value> = lines
        .iter()
        .enumerate()
        .map(|(index, line)| {
            let arguments = json!({ "program": line[0], "args": line[1..] }).to_string();
            let function = json!({ "name": "exec", "arguments": arguments });
            json!({ "index": index, "id": format!("call_{index}"), "function": function })
        })
        .collect();
    let call = json!({ "choices": [{ "index": 0, "delta": { "tool_calls": calls } }] });
    Reply::events([event(&delta(says)), event(&call), event(&finish("tool_calls"))])
}

fn says(text: &str) -> Reply {
    Reply::events([event(&delta(text)), event(&finish("stop"))])
}

fn ask(bench: &TestDir, server: &Server, args: &[&str]) -> Output {
    let url = server.base_url();
    let common = ["--base-url", url.as_str(), "--model", MODEL];
    bench.command(&[&common[..], args].concat()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_model_that_takes_tools_calls_them_and_gets_results() {
    let bench = TestDir::new();
    fs::write(bench.work().join("a.txt"), "hello from a\n").unwrap();
    let server = Server::start(vec![
        calls("I look.", &[&["cat", "a.txt"], &["ls"]]),
        says("It says **hello**, in {braces}."),
    ]);
    let done = ask(&bench, &server, &["-p", "what does a.txt say?"]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert_eq!(text(&done.stdout).trim(), "It says **hello**, in {braces}.");
    let [first, second] = &server.requests()[..] else { panic!("two requests") };
    let names = tools(&first.json());
    for expected in ["exec", "file_read", "file_edit", "ask", "plan"] {
        assert!(names.iter().any(|name| name == expected), "{names:?}");
    }
    assert_eq!(first.json()["response_format"], Value::Null);
    assert!(first.body.len() < 8 * 1024, "{} bytes", first.body.len());
    let messages = second.json()["messages"].clone();
    let last: Vec<&Value> = messages.as_array().unwrap().iter().rev().take(3).collect();
    assert_eq!(last[2]["tool_calls"][1]["function"]["name"], "exec");
    assert_eq!((&last[1]["role"], &last[1]["tool_call_id"]), (&json!("tool"), &json!("call_0")));
    assert!(last[1]["content"].as_str().unwrap().contains("hello from a"));
    assert!(last[0]["content"].as_str().unwrap().contains("a.txt"));
}

fn tools(body: &Value) -> Vec<String> {
    let all = body["tools"].as_array().unwrap();
    all.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn requests_of_a_turn_begin_with_the_one_before_and_a_step_adds_little() {
    let bench = TestDir::new();
    fs::write(bench.work().join("a.txt"), "x\n").unwrap();
    let steps = 6;
    let mut replies: Vec<Reply> =
        (0..steps).map(|n| calls("", &[&["head", "-n", &n.to_string(), "a.txt"]])).collect();
    replies.push(says("Done."));
    let server = Server::start(replies);
    let done = ask(&bench, &server, &["-p", "look at it"]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let requests = server.requests();
    assert_eq!(requests.len(), steps + 1);
    for pair in requests.windows(2) {
        let [before, after] = [&pair[0], &pair[1]].map(|request| request.json());
        assert_eq!(before["tools"], after["tools"]);
        let (old, new) = (before["messages"].as_array(), after["messages"].as_array());
        assert!(new.unwrap().starts_with(old.unwrap()), "the prefix changed");
        let added = pair[1].body.len() - pair[0].body.len();
        assert!(added <= 300, "a step adds {added} bytes");
    }
}

#[test]
fn a_server_that_refuses_tools_gets_the_json_dialect() {
    let bench = TestDir::new();
    let refusal = json!({ "error": { "message": "this model does not support tools" } });
    let server = Server::start(vec![Reply::json(400, &refusal), Reply::chat("In JSON.")]);
    let done = ask(&bench, &server, &["-p", "hello"]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert_eq!(text(&done.stdout).trim(), "In JSON.");
    let [first, second] = &server.requests()[..] else { panic!("two requests") };
    assert!(first.json()["tools"].is_array() && second.json()["tools"].is_null());
}

#[test]
fn a_call_that_is_not_allowed_is_declined_in_its_result() {
    let bench = TestDir::new();
    let server = Server::start(vec![calls("", &[&["touch", "made"]]), says("I could not.")]);
    let done = ask(&bench, &server, &["-p", "make it"]);
    assert!(!bench.work().join("made").exists());
    let requests = server.requests();
    assert_eq!(requests.len(), 2, "{}", text(&done.stderr));
    let messages = requests[1].json()["messages"].clone();
    let last = messages.as_array().unwrap().last().unwrap().clone();
    assert_eq!(last["role"], "tool");
    assert!(last["content"].as_str().unwrap().starts_with("declined"), "{last}");
}

#[test]
fn a_session_goes_on_in_the_other_dialect() {
    let bench = TestDir::new();
    fs::write(bench.work().join("a.txt"), "hello from a\n").unwrap();
    let server = Server::start(vec![
        calls("", &[&["cat", "a.txt"]]),
        says("It says hello."),
        Reply::chat("As I said."),
        says("And again."),
    ]);
    let done = ask(&bench, &server, &["-p", "what does a.txt say?"]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let url = server.base_url();
    let other = ["--base-url", &url, "--model", "unknown-1", "-c", "-p", "say it again"];
    let done = bench.command(&other).output().unwrap();
    assert_eq!(text(&done.stdout).trim(), "As I said.", "{}", text(&done.stderr));
    let done = ask(&bench, &server, &["-c", "-p", "and again"]);
    assert_eq!(text(&done.stdout).trim(), "And again.", "{}", text(&done.stderr));
    let requests = server.requests();
    let json = requests[2].json().to_string();
    assert!(json.contains("It says hello.") && !json.contains("tool_calls"), "{json}");
    let native = requests[3].json();
    let messages = native["messages"].as_array().unwrap();
    assert!(messages.iter().any(|message| message["tool_calls"].is_array()), "{native}");
    assert!(native.to_string().contains("As I said."), "{native}");
}
