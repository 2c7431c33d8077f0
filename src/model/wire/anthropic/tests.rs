//! Requests as they are written, and answers as they are read.

use super::super::tests::{call, conversation, gather, read, written};
use super::*;
use crate::{Chunk, Request};
use avocet_core::protocol::{Opaque, Params, Provider, ToolCall};

fn request() -> Request {
    let signature = json!({ "signature": "c2ln" });
    conversation(Provider::Anthropic, [Some(signature), None, None])
}

fn write(model: &str, request: &Request) -> Value {
    Messages.body(&call(Provider::Anthropic, model, request))
}

fn sealed(data: Value) -> Chunk {
    Chunk::SealedThought(Opaque { wire: "anthropic".into(), model: "m".into(), data })
}

#[test]
fn a_request_holds_thinking_calls_results_images_and_breakpoints() {
    insta::assert_snapshot!(written(Provider::Anthropic, "m", &request()));
}

#[test]
fn thinking_comes_first_and_goes_back_to_its_model_alone() {
    let types = |sent: &Value| -> Vec<String> {
        let blocks = sent["messages"][1]["content"].as_array().cloned().unwrap_or_default();
        blocks.iter().map(|block| text_at(block, "type").to_owned()).collect()
    };
    assert_eq!(types(&write("m", &request())), ["thinking", "text", "tool_use", "tool_use"]);
    assert_eq!(types(&write("n", &request())), ["text", "tool_use", "tool_use"]);
    let unsigned = conversation(Provider::Anthropic, [Some(json!({})), None, None]);
    assert_eq!(types(&write("m", &unsigned)), ["text", "tool_use", "tool_use"]);
    let hidden = json!({ "redacted": "x" });
    let hidden = conversation(Provider::Anthropic, [Some(hidden), None, None]);
    let block = json!({ "type": "redacted_thinking", "data": "x" });
    assert_eq!(write("m", &hidden)["messages"][1]["content"][0], block);
}

#[test]
fn older_models_think_by_a_budget_and_only_if_the_turn_began_so() {
    let mut request = request();
    request.params.max_tokens = Some(1_000);
    let sent = write("claude-sonnet-4-5", &request);
    assert_eq!(sent.get("thinking"), None, "the open turn began without it");
    request.messages.truncate(2);
    let sent = write("claude-sonnet-4-5", &request);
    assert_eq!(sent["thinking"], json!({ "type": "enabled", "budget_tokens": 15_360 }));
    assert_eq!(sent["max_tokens"], 16_360);
    assert_eq!(write("claude-opus-4-8", &request)["output_config"]["effort"], "high");
}

#[test]
fn the_last_message_is_the_users_and_parameters_it_lacks_are_left_out() {
    let params = Params {
        temperature: Some(0.2),
        presence_penalty: Some(1.0),
        stop: vec!["END".into()],
        ..Params::default()
    };
    let messages = vec![Message::user("a"), Message::user("b"), Message::assistant("{")];
    let sent = write("m", &Request { messages, params, ..Request::default() });
    assert_eq!(sent["messages"][0]["content"].as_array().map(Vec::len), Some(2));
    assert_eq!(sent["messages"].as_array().map(Vec::len), Some(3));
    assert_eq!(sent["messages"][2]["role"], "user");
    assert_eq!((&sent["temperature"], &sent["stop_sequences"]), (&json!(0.2), &json!(["END"])));
    assert_eq!(sent.get("presence_penalty"), None);
}

#[test]
fn counts_are_cumulative_and_hold_what_was_cached() {
    let events = [
        json!({ "type": "message_start", "message": { "usage": {
            "input_tokens": 3, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 20,
            "output_tokens": 1,
        } } }),
        json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" }, "usage": { "output_tokens": 9 } }),
        json!({ "type": "message_stop" }),
    ];
    let usage = Usage { cached_tokens: 100, cache_write_tokens: 20, ..Usage::counted(123, 9) };
    assert_eq!(gather(Provider::Anthropic, &events), [Chunk::Usage(usage), Chunk::Finished(None)]);
}

#[test]
fn redacted_and_signed_thinking_are_sealed_and_unknown_blocks_are_passed_over() {
    let start = |index, block| json!({ "type": "content_block_start", "index": index, "content_block": block });
    let stop = |index| json!({ "type": "content_block_stop", "index": index });
    let delta = |delta| json!({ "type": "content_block_delta", "index": 0, "delta": delta });
    let events = [
        json!({ "type": "message_start", "message": { "usage": null } }),
        start(0, json!({ "type": "thinking", "thinking": "" })),
        delta(json!({ "type": "thinking_delta", "thinking": "hm" })),
        delta(json!({ "type": "signature_delta", "signature": "c2" })),
        delta(json!({ "type": "signature_delta", "signature": "ln" })),
        stop(0),
        start(1, json!({ "type": "redacted_thinking", "data": "x" })),
        stop(1),
        start(2, json!({ "type": "compaction", "content": null })),
        delta(json!({ "type": "compaction_delta", "content": "?" })),
        stop(2),
        start(3, json!({ "type": "tool_use", "id": "", "name": "f", "input": {} })),
        delta(json!({ "type": "input_json_delta", "partial_json": "" })),
        stop(3),
        json!({ "type": "novelty" }),
        json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" } }),
        json!({ "type": "message_stop" }),
    ];
    let chunks = gather(Provider::Anthropic, &events);
    let call =
        ToolCall { id: "call_0".into(), name: "f".into(), arguments: "{}".into(), opaque: None };
    let expected = [
        Chunk::Thought("hm".into()),
        sealed(json!({ "signature": "c2ln" })),
        sealed(json!({ "redacted": "x" })),
        Chunk::Call(call),
        Chunk::Finished(None),
    ];
    assert_eq!(chunks, expected);
}

#[test]
fn blocks_that_overlap_are_told_apart_by_their_index() {
    let start = |index, id: &str| {
        json!({ "type": "content_block_start", "index": index,
        "content_block": { "type": "tool_use", "id": id, "name": "f", "input": {} } })
    };
    let piece = |index, json: &str| {
        json!({ "type": "content_block_delta", "index": index,
        "delta": { "type": "input_json_delta", "partial_json": json } })
    };
    let events = [
        json!({ "type": "message_start", "message": {} }),
        start(0, "a"),
        start(1, "b"),
        piece(0, "{\"n\""),
        piece(1, "{}"),
        piece(0, ":1}"),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" } }),
        json!({ "type": "message_stop" }),
    ];
    let call = |id: &str, arguments: &str| {
        let (id, arguments) = (id.to_owned(), arguments.to_owned());
        Chunk::Call(ToolCall { id, name: "f".into(), arguments, opaque: None })
    };
    let expected = [call("a", "{\"n\":1}"), call("b", "{}"), Chunk::Finished(None)];
    assert_eq!(gather(Provider::Anthropic, &events), expected);
}

#[test]
fn a_body_that_was_not_streamed_and_an_error_in_the_middle_are_read() {
    let body = json!({
        "type": "message",
        "content": [{ "type": "text", "text": "hi" }],
        "stop_reason": "max_tokens",
        "usage": { "input_tokens": 2, "output_tokens": 3 },
    });
    let expected = [
        Chunk::Text("hi".into()),
        Chunk::Usage(Usage::counted(2, 3)),
        Chunk::Finished(Some(Truncation::Length)),
    ];
    assert_eq!(gather(Provider::Anthropic, &[body]), expected);
    let overloaded = json!({ "type": "error", "error": { "type": "overloaded_error", "message": "Overloaded" } });
    let (_, error) = read(Provider::Anthropic, &[overloaded]);
    assert!(matches!(error, Some(crate::ModelError::Reported { passing: true, .. })), "{error:?}");
}

#[test]
fn an_answer_may_be_as_long_as_the_model_can_write_and_the_window_has_room_for() {
    let limit = |output: Option<u64>, window: Option<u64>| {
        let limits = crate::ModelLimits { output, window, ..crate::ModelLimits::default() };
        let messages = vec![Message::user("x".repeat(3_000))];
        write("m", &Request { messages, limits, ..Request::default() })["max_tokens"].clone()
    };
    assert_eq!(limit(Some(128_000), Some(1_000_000)), 128_000);
    assert_eq!(limit(Some(64_000), Some(40_000)), 38_990, "the question shares the window");
    assert_eq!(limit(Some(64_000), Some(1_000)), 1_024, "never nothing");
    assert_eq!(limit(None, None), MAX_TOKENS);
}

#[test]
fn thoughts_between_calls_stay_between_them() {
    let thought = |text: &str| {
        let data = json!({ "signature": text });
        let opaque = Opaque { wire: "anthropic".into(), model: "m".into(), data };
        let opaque = Some(Box::new(opaque));
        ContentBlock::Reasoning(TextBlock { text: text.into(), opaque })
    };
    let mut request = request();
    let calls: Vec<ContentBlock> = request.messages[2].blocks.drain(2..).collect();
    let [first, second] = &calls[..] else { panic!("two calls") };
    request.messages[2].blocks = vec![thought("S1"), first.clone(), thought("S2"), second.clone()];
    let sent = write("m", &request);
    let blocks = sent["messages"][1]["content"].as_array().cloned().unwrap_or_default();
    let said: Vec<&str> = blocks.iter().map(|block| text_at(block, "type")).collect();
    assert_eq!(said, ["thinking", "tool_use", "thinking", "tool_use"]);
    assert_eq!(blocks[2]["signature"], "S2");
}

/// A turn of this many replies with so many calls each.
fn long_turn(replies: usize, calls: usize) -> Vec<Message> {
    let mut messages = vec![Message::system("Be brief."), Message::user("Look.")];
    for reply in 0..replies {
        let ids: Vec<String> = (0..calls).map(|call| format!("call_{reply}_{call}")).collect();
        let call = |id: &String| {
            let (id, name) = (id.clone(), "exec".to_owned());
            ContentBlock::ToolCall(ToolCall { id, name, arguments: "{}".into(), opaque: None })
        };
        let result = |id: &String| {
            ContentBlock::ToolResult(avocet_core::protocol::ToolResult {
                call: id.clone(),
                name: "exec".into(),
                content: "out".into(),
                is_error: false,
            })
        };
        let blocks = ids.iter().map(call).collect();
        messages.push(Message { role: Role::Assistant, blocks });
        let blocks = ids.iter().map(result).collect();
        messages.push(Message { role: Role::User, blocks });
    }
    messages
}

/// The blocks of a request in order, and where the marks are, by the documented rules.
fn blocks_and_marks(sent: &Value) -> (Vec<Value>, Vec<usize>) {
    let messages = sent["messages"].as_array().into_iter().flatten();
    let contents = messages.flat_map(|message| message["content"].as_array().cloned());
    let mut blocks: Vec<Value> = contents.flatten().collect();
    let mut marks = Vec::new();
    for (at, block) in blocks.iter_mut().enumerate() {
        if block.as_object_mut().and_then(|block| block.remove("cache_control")).is_some() {
            marks.push(at);
        }
    }
    if sent.get("cache_control").is_some() && marks.last() != Some(&(blocks.len() - 1)) {
        marks.push(blocks.len() - 1);
    }
    (blocks, marks)
}

#[test]
fn each_request_continues_the_one_before_it_however_many_calls_a_reply_has() {
    for calls in [1, 2, 12, 16, 40] {
        // Whether the open items of a plan follow the results of a request.
        for plans in [[false; 2], [true; 2], [true, false], [false, true]] {
            let request = |replies: usize| {
                let mut messages = long_turn(replies, calls);
                if let (true, Some(last)) = (plans[replies % 2], messages.last_mut()) {
                    last.blocks.push(ContentBlock::text("Your plan: …"));
                }
                write("m", &Request { messages, ..Request::default() })
            };
            for replies in 2..5 {
                let (before, written) = blocks_and_marks(&request(replies - 1));
                let (blocks, marks) = blocks_and_marks(&request(replies));
                assert!(marks.len() <= 3, "with that of the prompt at most four: {marks:?}");
                // What is kept ends at a mark of an earlier request; it is looked for at a mark of
                // this one and at most twenty blocks before it.
                let is_found = |end: &&usize| {
                    let is_near = |mark: &usize| (**end..**end + 20).contains(mark);
                    marks.iter().any(is_near) && blocks[..=**end] == before[..=**end]
                };
                let found = written.iter().rev().find(is_found);
                let stable = before.len() - 1 - usize::from(plans[(replies - 1) % 2]);
                assert!(found.is_some_and(|end| *end >= stable), "{calls} calls, {plans:?}");
            }
        }
    }
}

#[test]
fn an_answer_that_the_server_paused_says_so() {
    let delta = json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": "a" } });
    let events = [
        json!({ "type": "message_start", "message": { "usage": null } }),
        delta,
        json!({ "type": "message_delta", "delta": { "stop_reason": "pause_turn" } }),
        json!({ "type": "message_stop" }),
    ];
    let expected = [Chunk::Text("a".into()), Chunk::Paused, Chunk::Finished(None)];
    assert_eq!(gather(Provider::Anthropic, &events), expected);
}

#[test]
fn a_schema_beside_tools_is_the_format_of_the_answer() {
    let schema = json!({ "type": "object" });
    let with = Request { schema: Some(schema.clone().into()), ..request() };
    let sent = write("m", &with);
    assert_eq!(sent["output_config"]["format"]["schema"], schema);
    assert_eq!(sent["output_config"]["effort"], "high");
    let without = Request { tools: [].into(), ..with };
    assert_eq!(write("m", &without)["output_config"].get("format"), None, "the JSON dialect");
}
