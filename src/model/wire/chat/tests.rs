//! Requests as they are written, and answers in the spellings of different servers.

use super::super::super::Chunk;
use super::super::tests::{conversation, gather, written};
use super::*;
use crate::Request;
use avocet_core::protocol::Provider;

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

#[test]
fn claude_behind_any_gateway_gets_marks_where_the_prompt_and_the_last_two_requests_end() {
    let marked = |host: &str, model: &str| -> Vec<usize> {
        let mut request = conversation(Provider::OpenAi, [None, None, None]);
        let more = request.messages[2..].to_vec();
        request.messages.extend(more);
        request.messages.push(Message::user("Your plan: …"));
        let sent = write(host, model, &request);
        assert_eq!(sent.get("cache_control"), None);
        let messages = sent["messages"].as_array().cloned().unwrap_or_default();
        let has_mark = |message: &Value| message["content"].to_string().contains("cache_control");
        messages.iter().enumerate().filter(|(_, it)| has_mark(it)).map(|(at, _)| at).collect()
    };
    // System, user, call, two results, call, two results, plan.
    for (host, model) in [
        ("openrouter.ai", "anthropic/claude-sonnet-4.5"),
        ("127.0.0.1", "claude-opus-4-8"),
        ("litellm.example.com", "anthropic/claude-haiku-4-5"),
        ("gateway.example.com", "bedrock/us.anthropic.claude-sonnet-4-5-v1:0"),
    ] {
        assert_eq!(marked(host, model), [0, 4, 7], "{host} {model}");
    }
    assert_eq!(marked("openrouter.ai", "openai/gpt-5"), [0; 0]);
}

#[test]
fn thinking_blocks_of_a_gateway_go_back_to_it_whole_and_in_order() {
    let piece = |block: Value| {
        delta(json!({ "reasoning_content": block["thinking"], "thinking_blocks": [block] }))
    };
    let events = [
        piece(json!({ "type": "thinking", "thinking": "a", "signature": null })),
        piece(json!({ "type": "thinking", "thinking": "b", "signature": "" })),
        piece(json!({ "type": "thinking", "thinking": "", "signature": "s1" })),
        piece(json!({ "type": "thinking", "thinking": "c" })),
        piece(json!({ "type": "thinking", "thinking": "", "signature": "s2" })),
        piece(json!({ "type": "redacted_thinking", "data": "x" })),
        piece(json!({ "type": "redacted_thinking", "data": "y" })),
        delta(
            json!({ "tool_calls": [{ "index": 0, "id": "a", "function": { "name": "x", "arguments": "{}" } }] }),
        ),
        stop("tool_calls"),
    ];
    let blocks = json!([
        { "type": "thinking", "thinking": "ab", "signature": "s1" },
        { "type": "thinking", "thinking": "c", "signature": "s2" },
        { "type": "redacted_thinking", "data": "x" },
        { "type": "redacted_thinking", "data": "y" },
    ]);
    let chunks = gather(Provider::OpenAi, &events);
    let sealed = chunks.iter().find_map(|chunk| match chunk {
        Chunk::SealedThought(opaque) => Some(opaque.data.clone()),
        _ => None,
    });
    assert_eq!(sealed.as_ref().map(|data| &data["thinking_blocks"]), Some(&blocks));
    assert_eq!(chunks.first(), Some(&Chunk::Thought("abc".into())), "shown once");
    let request = conversation(Provider::OpenAi, [sealed, None, None]);
    let back = |model| write("127.0.0.1", model, &request)["messages"][2]["thinking_blocks"].take();
    assert_eq!(back("m"), blocks);
    assert_eq!(back("claude-other"), Value::Null, "nothing reaches another model");
}

#[test]
fn tokens_are_counted_wherever_a_server_writes_them() {
    let counts = json!({ "prompt_tokens": 3, "completion_tokens": 4 });
    let choice = json!({ "index": 0, "delta": {}, "finish_reason": "stop" });
    let mut of_choice = choice.clone();
    of_choice["usage"] = counts.clone();
    for event in [
        json!({ "choices": [of_choice] }),
        json!({ "choices": [choice], "x_groq": { "id": "r", "usage": counts } }),
        json!({ "choices": [choice], "usage": counts }),
    ] {
        let expected = [Chunk::Usage(Usage::counted(3, 4)), Chunk::Finished(None)];
        assert_eq!(gather(Provider::OpenAi, std::slice::from_ref(&event)), expected, "{event}");
    }
}

#[test]
fn a_schema_is_sent_beside_tools_only_where_it_does_not_hold_back_calls() {
    let schema = Some(json!({ "type": "object" }).into());
    let request = Request { schema, ..conversation(Provider::OpenAi, [None, None, None]) };
    let is_sent =
        |host, request: &Request| write(host, "m", request).get("response_format").is_some();
    assert!(is_sent("api.openai.com", &request) && !is_sent("127.0.0.1", &request));
    assert!(is_sent("127.0.0.1", &Request { tools: [].into(), ..request }));
}

#[test]
fn a_long_call_says_how_long_it_is_while_it_grows() {
    let piece = |name: &str, more: &str| {
        let function = json!({ "name": name, "arguments": more });
        delta(json!({ "tool_calls": [{ "index": 0, "id": "a", "function": function }] }))
    };
    let half = "x".repeat(700);
    let events = [
        piece("file_write", "{\"content\":\""),
        piece("", &half),
        piece("", &half),
        piece("", &half),
        piece("", "\"}"),
        stop("tool_calls"),
    ];
    let chunks = gather(Provider::OpenAi, &events);
    let progress: Vec<usize> = chunks
        .iter()
        .filter_map(|chunk| match chunk {
            Chunk::CallProgress { name, bytes } if name == "file_write" => Some(*bytes),
            _ => None,
        })
        .collect();
    assert_eq!(progress, [1_412, 2_112]);
}
