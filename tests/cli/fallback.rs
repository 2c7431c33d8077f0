//! Another model answers when the first cannot be had: said, in its own dialect, with its own key,
//! window and price; never for a mistake that it would meet as well.

use std::process::Output;

use serde_json::{Value, json};

use crate::support::bench::TestDir;
use crate::support::server::{Reply, Server, delta, event, finish, nobody};

/// A model that calls tools, and one that is spoken to in JSON.
const FIRST: &str = "gpt-4o";
const OTHER: &str = "own-model";

/// Settings whose default profile is at `first` and falls back to the profile `other`.
fn settings(bench: &TestDir, first: &str, other: &str, more: &str) {
    bench.settings(&format!(
        "[profiles.default]\nbase_url = \"{first}\"\nprovider = \"openai\"\nhigh = \"{FIRST}\"\n\
         api_key_env = \"FIRST_KEY\"\nfallback = [\"other\"]\n\
         [profiles.other]\nbase_url = \"{other}\"\nprovider = \"openai\"\nhigh = \"{OTHER}\"\n\
         api_key_env = \"OTHER_KEY\"\ndialect = \"json\"\n{more}"
    ));
}

fn ask(bench: &TestDir, args: &[&str]) -> Output {
    let mut command = bench.command(args);
    command.env("FIRST_KEY", "sk-first").env("OTHER_KEY", "sk-other").output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_owned()
}

fn refused() -> Reply {
    Reply::json(402, &json!({ "error": { "message": "You have no credit left" } }))
}

fn calls(program: &str, args: &[&str]) -> Reply {
    let arguments = json!({ "program": program, "args": args }).to_string();
    let function = json!({ "name": "exec", "arguments": arguments });
    let call = json!({ "index": 0, "id": "call_1", "type": "function", "function": function });
    let delta = json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [call] } }] });
    Reply::events([event(&delta), event(&finish("tool_calls"))])
}

#[test]
fn a_model_that_cannot_be_had_is_replaced_and_that_is_said() {
    let refusing = Server::start(vec![refused()]);
    let overloaded = (0..5).map(|_| Reply::status(529).header("retry-after", "0")).collect();
    let overloaded = Server::start(overloaded);
    let filtered = Reply::events([event(&delta("I will")), event(&finish("content_filter"))]);
    let filtered = Server::start(vec![filtered]);
    let firsts = [nobody(), refusing.base_url(), overloaded.base_url(), filtered.base_url()];
    for first in firsts {
        let bench = TestDir::new();
        let other = Server::start(vec![Reply::chat("I stand in.")]);
        settings(&bench, &first, &other.base_url(), "");
        let done = ask(&bench, &["-p", "hello"]);
        let said = text(&done.stderr);
        assert_eq!((text(&done.stdout).as_str(), done.status.code()), ("I stand in.", Some(0)));
        let line = "`gpt-4o` cannot answer, so `own-model (other)` answers now.";
        assert!(said.contains(line), "{said}");
    }
    assert_eq!(overloaded.requests().len(), 5, "after its retries");
}

#[test]
fn scripts_read_the_change_of_model_in_the_json_events() {
    let bench = TestDir::new();
    let other = Server::start(vec![Reply::chat("I stand in.")]);
    settings(&bench, &nobody(), &other.base_url(), "");
    let done = ask(&bench, &["--json", "-p", "hello"]);
    let out = text(&done.stdout);
    let events: Vec<Value> =
        out.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let notice = events.iter().find(|event| event.to_string().contains("session.FELL_BACK"));
    assert!(notice.unwrap().to_string().contains(OTHER), "{out}");
}

#[test]
fn the_other_model_gets_its_own_dialect_key_and_prompt() {
    let bench = TestDir::new();
    let first = Server::start(vec![refused()]);
    let other = Server::start(vec![Reply::chat("I stand in.")]);
    settings(&bench, &first.base_url(), &other.base_url(), "");
    ask(&bench, &["-p", "hello"]);
    let (sent, instead) = (&first.requests()[0], &other.requests()[0]);
    assert_eq!(sent.header("authorization"), Some("Bearer sk-first"));
    assert_eq!(instead.header("authorization"), Some("Bearer sk-other"));
    assert!(sent.json()["tools"].is_array() && instead.json().get("tools").is_none());
    assert_eq!(instead.json()["response_format"]["type"], "json_schema");
    assert_eq!(instead.json()["model"], OTHER);
    let system = instead.json()["messages"][0]["content"].as_str().unwrap().to_owned();
    assert!(system.contains("ONE JSON object"), "{system}");
}

#[test]
fn a_turn_goes_on_in_the_middle_with_what_was_done() {
    let bench = TestDir::new();
    std::fs::write(bench.work().join("a.txt"), "three herons\n").unwrap();
    let first = Server::start(vec![calls("cat", &["a.txt"]), refused()]);
    let other = Server::start(vec![Reply::cmd("I look.", "ls", &[]), Reply::chat("Three herons.")]);
    settings(&bench, &first.base_url(), &other.base_url(), "");
    let done = ask(&bench, &["-p", "how many?"]);
    assert_eq!(text(&done.stdout), "Three herons.", "{}", text(&done.stderr));
    let requests = other.requests();
    assert_eq!(requests.len(), 2, "it stays with this model until the turn ends");
    let sent = requests[0].json()["messages"].to_string();
    assert!(sent.contains("three herons") && !sent.contains("tool_calls"), "{sent}");
}

#[test]
fn a_mistake_that_every_model_would_meet_ends_the_turn() {
    for status in [400, 413, 422] {
        let bench = TestDir::new();
        let error = json!({ "error": { "message": "temperature is too high" } });
        // What is too long (413) is shortened and sent once more.
        let first = Server::start(vec![Reply::json(status, &error), Reply::json(status, &error)]);
        let other = Server::start(vec![Reply::chat("I stand in.")]);
        settings(&bench, &first.base_url(), &other.base_url(), "");
        let done = ask(&bench, &["-p", "hello"]);
        assert_eq!(done.status.code(), Some(5), "{}", text(&done.stderr));
        assert_eq!(other.requests().len(), 0, "{status}");
    }
}

#[test]
fn the_price_and_the_window_are_those_of_the_model_that_answers() {
    let bench = TestDir::new();
    let first = Server::start(vec![refused()]);
    let usage =
        json!({ "choices": [], "usage": { "prompt_tokens": 1_000_000, "completion_tokens": 0 } });
    let says = event(&delta(r#"{"type":"chat","message":"Yes.","data":{}}"#));
    let other = Reply::events([says, event(&finish("stop")), event(&usage)]);
    let other = Server::start(vec![other]);
    let more = "[models.gpt-4o]\nprice_input = 100.0\nprice_output = 100.0\n\
                [models.own-model]\nprice_input = 3.0\nprice_output = 3.0\nwindow = 4096\n";
    settings(&bench, &first.base_url(), &other.base_url(), more);
    let prompt = format!("sum this up: {}", "word ".repeat(12_000));
    let done = ask(&bench, &["--json", "-p", &prompt]);
    let out = text(&done.stdout);
    let ended = out.lines().find(|line| line.contains("\"turn_ended\"")).unwrap();
    let ended: Value = serde_json::from_str(ended).unwrap();
    assert_eq!(ended["usage"]["cost_micros"], 3_000_000, "{ended}");
    let (sent, instead) = (first.requests()[0].body.len(), other.requests()[0].body.len());
    assert!(sent > 60_000 && instead < 20_000, "{sent} and {instead} bytes");
}

#[test]
fn a_fall_back_that_cannot_be_used_is_told_and_the_next_one_answers() {
    let bench = TestDir::new();
    let first = Server::start(vec![refused(), Reply::text("Another model of the same server.", 2)]);
    bench.settings(&format!(
        "[profiles.default]\nbase_url = \"{}\"\nhigh = \"{FIRST}\"\nfallback = [\"broken\", \"gpt-4o-mini\"]\n\
         [profiles.broken]\nbase_url = \"ftp://example.com\"\nhigh = \"x\"\n",
        first.base_url()
    ));
    let done = ask(&bench, &["-p", "hello"]);
    assert_eq!(text(&done.stdout), "Another model of the same server.");
    assert!(text(&done.stderr).contains("`broken` cannot be used"), "{}", text(&done.stderr));
    assert_eq!(first.requests()[1].json()["model"], "gpt-4o-mini");
}

#[test]
fn without_an_other_model_the_error_is_the_end() {
    let bench = TestDir::new();
    let first = Server::start(vec![refused()]);
    settings(&bench, &first.base_url(), &nobody(), "");
    let done = ask(&bench, &["-p", "hello"]);
    assert_eq!(done.status.code(), Some(5));
    let said = text(&done.stderr);
    assert!(said.contains("answers now") && said.contains("nothing is listening"), "{said}");
}
