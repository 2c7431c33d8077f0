//! Models that fail at JSON, or never end: what they say reaches the user, and each turn ends.

use std::process::Output;

use crate::support::bench::TestDir;
use crate::support::server::{Reply, Server, delta, event};

fn ask(server: &Server) -> Output {
    let bench = TestDir::new();
    let url = server.base_url();
    let args = ["--base-url", url.as_str(), "--model", "small-135m", "-p", "hello"];
    bench.command(&args).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_owned()
}

#[test]
fn prose_is_printed_after_one_request() {
    for said in ["Paris.", "[Rust](https://example.org) is fast.", "| a |\n|---|\n| 1 |"] {
        let server = Server::start(vec![Reply::text(said, 3)]);
        let done = ask(&server);
        assert_eq!((text(&done.stdout).as_str(), done.status.code()), (said, Some(0)));
        assert_eq!(server.requests().len(), 1);
    }
}

#[test]
fn a_chat_ends_when_its_message_does_whatever_follows() {
    let begun = event(&delta(r#"{"type":"chat","message":"All good.","data":{"suggestions":["a"#));
    let endless = event(&delta(&"git-git-compare ".repeat(40)));
    let mut pieces = vec![begun.clone()];
    pieces.extend(std::iter::repeat_n(endless, 20));
    let ends = [
        Reply::events(pieces),
        Reply::events([begun.clone()]).hang_after(1),
        Reply::events([begun.clone(), begun.clone()]).cut_after(1),
    ];
    for reply in ends {
        let server = Server::start(vec![reply]);
        let done = ask(&server);
        let said = (text(&done.stdout), done.status.code());
        assert_eq!(said, ("All good.".into(), Some(0)), "{}", text(&done.stderr));
        assert_eq!(server.requests().len(), 1);
    }
}

#[test]
fn an_answer_that_breaks_off_is_replaced_by_the_whole_one() {
    let words = "A story of some length, told to its end.";
    let server = Server::start(vec![Reply::text(words, 8).cut_after(3), Reply::text(words, 8)]);
    let done = ask(&server);
    assert_eq!((text(&done.stdout).as_str(), done.status.code()), (words, Some(0)));
    assert_eq!(server.requests().len(), 2, "{}", text(&done.stderr));
}

#[test]
fn a_model_that_repeats_itself_is_stopped_with_a_sentence() {
    let more = event(&delta(&"The answer is 4. ".repeat(30)));
    let pieces: Vec<String> = std::iter::repeat_n(more, 60).collect();
    let server = Server::start(vec![Reply::events(pieces).hang_after(60)]);
    let done = ask(&server);
    assert!(!done.status.success());
    let said = text(&done.stderr);
    assert!(said.contains("The model repeats itself; stopped."), "{said}");
    let all = text(&done.stdout) + &said;
    assert!(all.contains("The answer is 4."), "what it said is kept: {all}");
}

#[test]
fn a_small_model_is_offered_only_what_a_tool_needs() {
    let server = Server::start(vec![Reply::text("Hello.", 1)]);
    ask(&server);
    let sent = server.requests()[0].json();
    let fields = |name: &str| -> Vec<String> {
        let tools = sent["tools"].as_array().expect("tools");
        let tool = tools.iter().find(|tool| tool["function"]["name"] == name).expect(name);
        let fields = tool["function"]["parameters"]["properties"].as_object().expect("fields");
        fields.keys().cloned().collect()
    };
    assert_eq!(fields("exec"), ["program", "args"]);
    assert_eq!(fields("file_list"), ["path"]);
    assert_eq!(fields("file_read"), ["path"]);
    assert_eq!(fields("file_search"), ["query", "path"]);
    assert_eq!(fields("file_edit"), ["path", "edits"]);
    assert!(!sent["tools"].to_string().contains("every place"), "{sent}");
    let bytes = sent.to_string().len();
    assert!(bytes < 4_600, "{bytes}");
}

#[test]
fn a_call_that_a_small_model_wrote_as_text_is_answered_as_text() {
    let call = "```json\n{\"name\": \"file_list\", \"arguments\": {\"path\":\".\"}}\n```";
    let server = Server::start(vec![Reply::text(call, 3), Reply::text("Nothing is here.", 1)]);
    let done = ask(&server);
    assert_eq!((text(&done.stdout).as_str(), done.status.code()), ("Nothing is here.", Some(0)));
    let sent = server.requests()[1].json();
    let messages = sent["messages"].as_array().expect("messages");
    let [.., called, result] = messages.as_slice() else { panic!("{sent}") };
    assert_eq!((&called["role"], &called["content"]), (&"assistant".into(), &call.into()));
    assert!(called["tool_calls"].is_null(), "{called}");
    let words = result["content"].as_str().expect("a text");
    assert!(words.starts_with("Result of file_list:\n"), "{words}");
    assert!(words.ends_with("\n\nUse it to answer me, or make the next call."), "{words}");
    assert_eq!(result["role"], "user");
}
