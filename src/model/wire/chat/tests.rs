//! Requests as they are written, and answers in the spellings of different servers.

use super::super::super::Chunk;
use super::super::tests::{conversation, gather, written};
use super::*;
use crate::Request;

fn write(host: &str, model: &str, request: &Request) -> Value {
    let provider = Provider::at(&format!("https://{host}/v1/chat/completions"));
    let features = RequestFeatures::default();
    ChatCompletions.body(&WireCall { provider, host, model, request, features })
}

fn delta(delta: Value) -> Value {
    json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] })
}

fn stop(reason: &str) -> Value {
    json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] })
}

fn calls(events: &[Value]) -> Vec<(String, String, String)> {
    let chunks = gather(Provider::OpenAi, events).into_iter();
    chunks
        .filter_map(|chunk| match chunk {
            Chunk::Call(call) => Some((call.id, call.name, call.arguments)),
            _ => None,
        })
        .collect()
}

#[test]
fn a_request_holds_calls_results_images_and_reasoning() {
    let field = json!({ "field": "reasoning_content" });
    let request = conversation(Provider::OpenAi, [Some(field), None, None]);
    insta::assert_snapshot!(written(Provider::OpenAi, "m", &request));
}

#[test]
fn openrouter_gets_its_reasoning_details_back_in_order() {
    let details = json!([{ "type": "reasoning.text", "text": "a", "signature": "s", "index": 0 }]);
    let data = json!({ "field": "reasoning", "reasoning_details": details });
    let request = conversation(Provider::OpenRouter, [Some(data), None, None]);
    let sent = write("openrouter.ai", "m", &request);
    assert_eq!(sent["messages"][2]["reasoning_details"], details);
    assert_eq!(sent["messages"][2].get("reasoning"), None);
    assert_eq!(sent["reasoning"], json!({ "effort": "high" }));
    assert_eq!(write("openrouter.ai", "n", &request)["messages"][2].get("reasoning_details"), None);
}

#[test]
fn each_server_gets_the_reasoning_it_wants_back() {
    let field = |name: &str| Some(json!({ "field": name }));
    let with = |name| conversation(Provider::OpenAi, [field(name), None, None]);
    let same = with("reasoning");
    assert_eq!(write("server.example", "m", &same)["messages"][2]["reasoning"], "Two calls.");
    assert_eq!(write("api.groq.com", "m", &same)["messages"][2].get("reasoning"), None);
    let content = write("api.mistral.ai", "m", &with("content"));
    let thinking = json!([{ "type": "text", "text": "Two calls." }]);
    assert_eq!(content["messages"][2]["content"][0]["thinking"], thinking);
    assert_eq!(content["messages"][2]["content"][1]["text"], "I look.");
    // DeepSeek wants the field with every call, even if another model made it.
    let other = conversation(Provider::Anthropic, [field("x"), None, None]);
    assert_eq!(write("api.deepseek.com", "m", &other)["messages"][2]["reasoning_content"], "");
    let own = with("reasoning_content");
    let sent = write("api.deepseek.com", "m", &own);
    assert_eq!(sent["messages"][2]["reasoning_content"], "Two calls.");
    assert_eq!(
        (&sent["thinking"]["type"], &sent["reasoning_effort"]),
        (&json!("enabled"), &json!("high"))
    );
}

#[test]
fn ids_are_written_as_the_server_accepts_them() {
    let request = conversation(Provider::OpenAi, [None, None, None]);
    let sent = write("api.mistral.ai", "m", &request);
    let calls = &sent["messages"][2]["tool_calls"];
    for (at, call) in calls.as_array().into_iter().flatten().enumerate() {
        assert_eq!(call["id"].as_str().map(str::len), Some(9));
        assert_eq!(call["id"], sent["messages"][3 + at]["tool_call_id"]);
    }
}

#[test]
fn calls_come_in_pieces_whole_or_in_the_old_form() {
    let piece = |value: Value| delta(json!({ "tool_calls": [value] }));
    let expected = [("a".to_owned(), "x".to_owned(), "{\"n\":1}".to_owned())];
    let first = json!({ "index": 0, "id": "a", "function": { "name": "x", "arguments": "" } });
    let in_pieces = [
        piece(first),
        piece(json!({ "index": 0, "function": { "arguments": "{\"n\"" } })),
        piece(json!({ "index": 0, "function": { "arguments": ":1}" } })),
        stop("tool_calls"),
    ];
    assert_eq!(calls(&in_pieces), expected);
    let old = |name: Value, more: &str| {
        delta(json!({ "function_call": { "name": name, "arguments": more }, "tool_calls": null }))
    };
    let old = calls(&[old(json!("x"), "{\"n\""), old(Value::Null, ":1}"), stop("function_call")]);
    assert_eq!(old.first().map(|call| (&call.1, &call.2)), Some((&expected[0].1, &expected[0].2)));
    let whole = json!({ "choices": [{
        "message": { "content": null, "tool_calls": [
            { "id": "a", "type": "function", "function": { "name": "x", "arguments": "{\"n\":1}" } },
        ] },
        "finish_reason": "tool_calls",
    }] });
    assert_eq!(calls(&[whole]), expected);
}

#[test]
fn reasoning_is_sealed_where_it_ends_with_what_its_server_wants_back() {
    let origin = |data: Value| {
        Chunk::SealedThought(avocet_core::protocol::Opaque {
            wire: "openai".into(),
            model: "m".into(),
            data,
        })
    };
    let events = [
        delta(json!({ "reasoning_content": "a", "content": null })),
        delta(json!({ "reasoning_content": "b", "content": "" })),
        delta(json!({ "content": "c" })),
        stop("stop"),
    ];
    let chunks = gather(Provider::OpenAi, &events);
    let sealed = origin(json!({ "field": "reasoning_content" }));
    assert_eq!(chunks.get(..2), Some(&[Chunk::Thought("ab".into()), sealed][..]));
    let detail = |detail: Value| {
        delta(json!({ "reasoning": detail["text"], "reasoning_details": [detail] }))
    };
    let events = [
        detail(json!({ "type": "reasoning.text", "text": "a", "index": 0 })),
        detail(json!({ "type": "reasoning.text", "text": "b", "index": 0 })),
        detail(json!({ "type": "reasoning.text", "signature": "s", "index": 0 })),
        detail(json!({ "type": "reasoning.encrypted", "data": "e", "index": 1 })),
        stop("stop"),
    ];
    let details = json!([
        { "type": "reasoning.text", "text": "ab", "signature": "s", "index": 0 },
        { "type": "reasoning.encrypted", "data": "e", "index": 1 },
    ]);
    let sealed = origin(json!({ "field": "reasoning", "reasoning_details": details }));
    let chunks = gather(Provider::OpenAi, &events);
    assert_eq!(chunks.get(..2), Some(&[Chunk::Thought("ab".into()), sealed][..]));
}
