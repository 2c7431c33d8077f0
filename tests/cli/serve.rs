//! `avocet serve --stdio` as a program meets it: ops in, events out.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use super::acp::{AcpClient, DONE, write_file};
use crate::support::bench::TestDir;
use crate::support::server::{Reply, Server};
use crate::support::wait::wait_until;

fn is_event<'a>(session: &'a str, name: &'a str) -> impl Fn(&Value) -> bool + 'a {
    move |message| {
        let params = &message["params"];
        message["method"] == "session.event"
            && params["session"] == session
            && params["event"]["event"] == name
    }
}

impl AcpClient {
    fn event(&mut self, session: &str, name: &str) -> Value {
        self.wait_for(name, is_event(session, name))["params"]["event"].take()
    }

    fn open_session(&mut self, params: Value) -> String {
        let opened = self.ask("session.open", params);
        opened["session"].as_str().unwrap().to_owned()
    }

    fn op(&mut self, session: &str, op: Value) {
        self.ask("session.op", json!({ "session": session, "op": op, "later": "ignored" }));
    }
}

#[test]
fn a_program_gives_a_message_and_reads_the_events_of_the_turn() {
    let bench = TestDir::new();
    let mut client = AcpClient::program(&bench, &["--model", &bench.script(&[DONE])]);
    let told = client.ask("initialize", json!({ "client": "mine" }));
    assert_eq!(told["protocol"], 1);
    let session = client.open_session(json!({ "folder": bench.work() }));
    let submit = json!({ "session": session, "op": { "submit": { "text": "hi" } }, "submit": 7 });
    client.ask("session.op", submit);
    let begun = client.event(&session, "turn_started");
    assert_eq!((&begun["text"], &begun["submit"]), (&json!("hi"), &json!(7)), "{begun}");
    assert_eq!(client.event(&session, "replied")["message"], "All done.");
    let ended = client.event(&session, "turn_ended");
    assert_eq!(ended["ending"], "done", "{ended}");
    client.ask("session.close", json!({ "session": session }));
    client.wait_for("end", |message| message["method"] == "session.closed");
    assert_eq!(client.close().0, Some(0));
}

#[test]
fn a_step_waits_for_the_decision_of_the_program() {
    let bench = TestDir::new();
    let replies = [write_file("a.txt"), write_file("b.txt"), DONE.to_owned()];
    let replies: Vec<&str> = replies.iter().map(String::as_str).collect();
    let mut client = AcpClient::program(&bench, &["--model", &bench.script(&replies)]);
    let session = client.open_session(json!({ "folder": bench.work() }));
    client.op(&session, json!({ "submit": { "text": "write both" } }));
    for decision in [json!("approve"), json!({ "reject": { "word": "not this one" } })] {
        let asked = client.event(&session, "asked");
        assert!(!bench.work().join("b.txt").exists());
        client.op(&session, json!({ "decide": { "ask": asked["id"], "decision": decision } }));
    }
    client.event(&session, "turn_ended");
    assert!(bench.work().join("a.txt").exists());
    assert!(!bench.work().join("b.txt").exists());
}

#[test]
fn many_sessions_run_at_once_and_one_that_closes_ends_no_other() {
    let bench = TestDir::new();
    let server = Server::start(vec![Reply::chat("first").held(), Reply::chat("second")]);
    let args = ["--base-url", &server.base_url(), "--model", "own"];
    let mut client = AcpClient::program(&bench, &args);
    let first = client.open_session(json!({ "folder": bench.work() }));
    let second = client.open_session(json!({ "folder": bench.path("home") }));
    client.op(&first, json!({ "submit": { "text": "one" } }));
    server.wait_for_requests(1);
    client.op(&second, json!({ "submit": { "text": "two" } }));
    assert_eq!(client.event(&second, "replied")["message"], "second");
    client.ask("session.close", json!({ "session": first }));
    let closed = client.wait_for("end", |message| message["method"] == "session.closed");
    assert_eq!(closed["params"]["session"], first.as_str());
    server.push(Reply::chat("third"));
    client.op(&second, json!({ "submit": { "text": "again" } }));
    assert_eq!(client.event(&second, "replied")["message"], "third");
}

#[test]
fn a_saved_session_is_listed_and_goes_on_in_another_process() {
    let bench = TestDir::new();
    let mut first = AcpClient::program(&bench, &["--model", &bench.script(&[DONE])]);
    let session = first.open_session(json!({ "folder": bench.work() }));
    first.op(&session, json!({ "submit": { "text": "remember me" } }));
    first.event(&session, "turn_ended");
    // The program ends with its input, and everything is saved.
    assert_eq!(first.close().0, Some(0));

    let mut client = AcpClient::program(&bench, &["--model", &bench.script(&[DONE])]);
    let listed = client.ask("session.list", json!({ "folder": bench.work(), "limit": 5 }));
    let saved = &listed["sessions"][0];
    assert_eq!(saved["title"], "remember me", "{listed}");
    let again = json!({ "folder": bench.work(), "resume": saved["id"] });
    let session = client.open_session(again);
    let history = client.event(&session, "earlier").to_string();
    assert!(history.contains("remember me"), "{history}");
}

#[test]
fn what_cannot_be_done_is_said_and_harms_no_session() {
    let bench = TestDir::new();
    let mut client = AcpClient::program(&bench, &["--model", &bench.script(&[DONE])]);
    let session = client.open_session(json!({ "folder": bench.work() }));
    let wrong = |client: &mut AcpClient, method: &str, params: Value, expected: &str| {
        let refusal = client.refusal(method, params).to_string();
        assert!(refusal.contains(expected), "{refusal}");
    };
    let op = |op: Value| json!({ "session": session, "op": op });
    wrong(&mut client, "session.op", op(json!("sing")), "There is no op `sing`");
    wrong(&mut client, "session.op", op(json!({ "submit": { "txt": "x" } })), "no op `submit`");
    wrong(&mut client, "session.op", op(json!(4)), "no op");
    let nobody = json!({ "session": "s9", "op": "stop" });
    wrong(&mut client, "session.op", nobody, "s9");
    wrong(&mut client, "session.close", json!({ "session": "s9" }), "s9");
    wrong(&mut client, "session.open", json!({ "folder": "/no/such/folder" }), "/no/such/folder");
    let unknown = json!({ "folder": bench.work(), "resume": "zzzz" });
    wrong(&mut client, "session.open", unknown, "zzzz");
    wrong(&mut client, "session.sing", json!({}), "session.sing");
    client.raw(b"not json");
    client.wait_for("error", |message| message["id"].is_null() && !message["error"].is_null());
    client.op(&session, json!({ "submit": { "text": "still here?" } }));
    assert_eq!(client.event(&session, "replied")["message"], "All done.");
}

#[test]
fn a_request_whose_id_is_null_is_answered_and_one_without_an_id_is_not() {
    let bench = TestDir::new();
    let mut client = AcpClient::program(&bench, &["--model", &bench.script(&[DONE])]);
    client.raw(br#"{"jsonrpc":"2.0","method":"session.sing"}"#);
    client.raw(br#"{"jsonrpc":"2.0","id":null,"method":"initialize"}"#);
    let answer = client.wait_for("answer", |message| !message.as_object().unwrap().is_empty());
    assert_eq!((&answer["id"], &answer["result"]["protocol"]), (&Value::Null, &json!(1)));
}

#[test]
fn the_program_ends_after_its_input_also_where_the_client_reads_nothing() {
    let bench = TestDir::new();
    let model = bench.script(&[DONE]);
    let mut command = bench.command(&["--model", &model, "serve", "--stdio"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    // The pipes take all of these, and a half of the answers.
    let requests = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}\n".repeat(1_500);
    let write = std::thread::spawn(move || drop(input.write_all(requests.as_bytes())));
    wait_until("the program ends", || child.try_wait().unwrap().is_some());
    write.join().unwrap();
}

#[test]
fn the_schema_is_printed_as_it_is_shipped() {
    let bench = TestDir::new();
    let out = bench.command(&["serve", "--schema"]).output().unwrap();
    let schema: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(schema["methods"][0]["name"], "initialize");
    assert!(schema["components"]["schemas"]["Op"]["oneOf"].as_array().unwrap().len() > 50);
    let neither = bench.command(&["serve"]).output().unwrap();
    assert_eq!(neither.status.code(), Some(2));
}
