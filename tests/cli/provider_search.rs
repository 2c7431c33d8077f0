//! `web.search` by the server of the model, with the real program and a real server.

use serde_json::{Value, json};

use crate::support::bench::TestDir;
use crate::support::server::{Reply, Server, event};

const QUERY: &str = "rust async book";

fn stream(events: &[Value]) -> Reply {
    Reply::events(events.iter().map(event))
}

/// An answer of this text as a provider streams it, with what it found before it.
fn reply(provider: &str, text: &str, found: Option<Value>) -> Reply {
    match provider {
        "anthropic" => {
            let words = json!({ "type": "text", "text": text });
            let blocks = found.into_iter().chain([words]);
            let start = |(index, block)| json!({ "type": "content_block_start", "index": index, "content_block": block });
            let end = [
                json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" } }),
                json!({ "type": "message_stop" }),
            ];
            stream(&blocks.enumerate().map(start).chain(end).collect::<Vec<_>>())
        }
        "openai-responses" => {
            let done = |item| json!({ "type": "response.output_item.done", "item": item });
            let words = json!({ "type": "response.output_text.delta", "delta": text });
            let end =
                json!({ "type": "response.completed", "response": { "status": "completed" } });
            stream(&found.map(done).into_iter().chain([words, end]).collect::<Vec<_>>())
        }
        _ => {
            let mut candidate =
                json!({ "content": { "parts": [{ "text": text }] }, "finishReason": "STOP" });
            if let Some(found) = found {
                candidate["groundingMetadata"] = found;
            }
            stream(&[json!({ "candidates": [candidate] })])
        }
    }
}

/// A provider, its tool, what it finds, and the source that is named for that.
fn cases() -> [(&'static str, Value, Value, &'static str); 3] {
    let page = json!({ "type": "web_search_result", "title": "Async Rust", "url": "https://rust.test/b", "encrypted_content": "sealed" });
    let hits = json!([page, page]);
    [
        (
            "anthropic",
            json!([{ "type": "web_search_20250305", "name": "web_search", "max_uses": 5 }]),
            json!({ "type": "web_search_tool_result", "tool_use_id": "s", "content": hits }),
            "- Async Rust https://rust.test/b",
        ),
        (
            "openai-responses",
            json!([{ "type": "web_search" }]),
            json!({ "type": "web_search_call", "id": "w", "action": { "type": "search", "query": QUERY, "sources": hits } }),
            "- Async Rust https://rust.test/b",
        ),
        (
            "gemini",
            json!([{ "google_search": {} }]),
            json!({ "groundingChunks": [{ "web": { "title": "rust.test", "uri": "https://g.test/1" } }] }),
            "- rust.test https://g.test/1",
        ),
    ]
}

#[test]
fn a_query_goes_to_the_server_of_the_model_by_itself_and_comes_back_with_sources() {
    let step = json!({ "tool": "web.search", "input": { "query": QUERY } });
    let data = json!({ "commands": [step] });
    let step = json!({ "type": "cmd", "message": "I search.", "data": data }).to_string();
    for (provider, tool, found, address) in cases() {
        let replies = |found| {
            vec![
                reply(provider, &step, None),
                reply(provider, "It is a book.", found),
                reply(provider, "Read it.", None),
            ]
        };
        let bench = TestDir::new();
        let server = Server::start(replies(Some(found)));
        let profile = format!("[profiles.default]\nprovider = \"{provider}\"\n");
        bench.settings(&format!("{profile}[web]\nsearch = \"provider\"\n"));
        let url = server.base_url();
        let run = |more: &[&str]| {
            let args = ["--base-url", &url, "--model", "gpt-5", "-p", "which book?"];
            let mut command = bench.command(&[&args[..], more].concat());
            let keys = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"];
            command.envs(keys.map(|key| (key, "key-of-a-test"))).output().unwrap()
        };
        let done = run(&["--approve-steps"]);
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.success(), "{provider}: {said}");
        assert!(said.contains(QUERY) && said.contains("127.0.0.1"), "{provider}: {said}");
        let requests = server.requests();
        let [_, query, last] = &requests[..] else { panic!("{provider}: {}", requests.len()) };
        assert_eq!(query.json()["tools"], tool, "{provider}");
        assert!(query.body.contains(QUERY) && !query.body.contains("which book?"), "{provider}");
        let result = last.json().to_string();
        assert!(result.contains("It is a book.") && result.contains(address), "{result}");
        assert!(!result.contains("sealed"), "{result}");
        assert_eq!(result.matches(address).count(), 1, "{result}");

        // Without an approval nothing is sent.
        let before = server.requests().len();
        replies(None).into_iter().step_by(2).for_each(|reply| server.push(reply));
        let done = run(&[]);
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(3), "{provider}: {said}");
        assert!(said.contains("the server of the model"), "{provider}: {said}");
        assert_eq!(server.requests().len(), before + 2, "{provider}");
    }
}
