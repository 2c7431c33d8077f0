//! Seven faults of servers and connections, each with the real program: the answer is whole, printed
//! once, and the turn succeeds.

use std::time::Duration;

use serde_json::json;

use crate::support::bench::TestDir;
use crate::support::server::{Reply, Server, delta, event, finish, nobody};

const WORDS: &str = "Grüße aus dem Wald: 三只鹭, one heron 🐦 and the end.";

/// The whole answer as its events.
fn events() -> Vec<String> {
    let reply = json!({ "type": "chat", "message": WORDS, "data": {} }).to_string();
    let chars: Vec<char> = reply.chars().collect();
    let pieces = chars.chunks(9).map(|piece| event(&delta(&piece.iter().collect::<String>())));
    pieces.chain([event(&finish("stop")), "data: [DONE]\n\n".to_owned()]).collect()
}

fn whole() -> Reply {
    Reply::events(events())
}

/// The answer with something else in its middle.
fn with_middle(middle: &str) -> Reply {
    let mut events = events();
    events.insert(events.len() / 2, middle.to_owned());
    Reply::events(events)
}

/// The answer is printed whole, once, after so many requests.
fn answers(replies: Vec<Reply>, requests: usize) {
    let server = Server::start(replies);
    let bench = TestDir::new();
    let url = server.base_url();
    let mut command = bench.command(&["--base-url", &url, "--model", "own", "-p", "hello"]);
    let done = command.env("AVOCET_IDLE_TIMEOUT_S", "20").output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    let printed = String::from_utf8_lossy(&done.stdout).trim().to_owned();
    assert_eq!((printed.as_str(), done.status.code()), (WORDS, Some(0)), "{said}");
    assert_eq!(server.requests().len(), requests, "{said}");
}

#[test]
fn characters_that_arrive_byte_by_byte_are_whole() {
    let bytes = events().concat().into_bytes();
    answers(vec![Reply::events(bytes.chunks(1).map(<[u8]>::to_vec))], 1);
}

#[test]
fn a_slow_stream_with_comments_between_is_waited_for() {
    let slow = events().into_iter().map(|piece| format!(": keep-alive\n\n{piece}"));
    answers(vec![Reply::events(slow).pause(Duration::from_millis(60))], 1);
}

#[test]
fn a_malformed_event_is_skipped() {
    answers(vec![with_middle("data: {\"choices\":[{\"delta\":{\"conte\n\n")], 1);
}

#[test]
fn an_event_that_is_no_json_is_skipped() {
    answers(vec![with_middle("data: not json\n\n")], 1);
}

#[test]
fn a_connection_that_drops_in_the_middle_is_tried_again() {
    let middle = events().len() / 2;
    answers(vec![whole().cut_after(middle), whole()], 2);
}

#[test]
fn a_server_that_is_busy_is_asked_again() {
    answers(vec![Reply::status(429).header("retry-after", "0"), whole()], 2);
}

#[test]
fn a_server_that_fails_is_asked_again() {
    answers(vec![Reply::status(500), Reply::status(503), whole()], 3);
}

#[test]
fn a_dead_proxy_is_named_and_no_proxy_for_all_hosts_is_honoured() {
    let server = Server::start(vec![Reply::chat("Hi.")]);
    // Another name of this machine, which does not look like it.
    let url = server.base_url().replace("127.0.0.1", "0.0.0.0");
    let proxy = nobody().replace("/v1", "");
    let run = |bypassed: &str| {
        let bench = TestDir::new();
        let mut command = bench.command(&["--base-url", &url, "--model", "own", "-p", "hello"]);
        command.env("http_proxy", &proxy).env("NO_PROXY", bypassed).output().unwrap()
    };
    let failed = run("");
    let said = String::from_utf8_lossy(&failed.stderr).into_owned();
    assert_eq!(failed.status.code(), Some(5), "{said}");
    assert!(said.contains(&format!("through the proxy {proxy}")), "{said}");
    let done = run("*");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}
