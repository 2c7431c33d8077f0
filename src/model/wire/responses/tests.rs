//! Requests as they are written, and answers as they are read.

use super::super::tests::{call, conversation, gather, read, written};
use super::*;
use crate::{Chunk, ModelError, ModelLimits, Request};
use avocet_core::protocol::{Opaque, Params, Provider, ToolCall};

fn item() -> Value {
    json!({ "id": "rs_1", "type": "reasoning", "status": null, "summary": [], "encrypted_content": "e" })
}

fn write(model: &str, request: &Request) -> Value {
    Responses.body(&call(Provider::OpenAiResponses, model, request))
}

fn completed(status: &str, output: Value) -> Value {
    json!({ "type": "response.completed", "response": {
        "object": "response", "status": status, "error": null, "output": output,
        "usage": { "input_tokens": 5, "output_tokens": 7, "input_tokens_details": { "cached_tokens": 4 },
            "output_tokens_details": { "reasoning_tokens": 3 } },
    } })
}

fn end() -> [Chunk; 2] {
    let usage = Usage { cached_tokens: 4, reasoning_tokens: 3, ..Usage::counted(5, 7) };
    [Chunk::Usage(usage), Chunk::Finished(None)]
}

#[test]
fn a_request_holds_reasoning_items_calls_outputs_images_and_phases() {
    let phase = json!({ "phase": "commentary" });
    let request = conversation(Provider::OpenAiResponses, [Some(item()), None, Some(phase)]);
    insta::assert_snapshot!(written(Provider::OpenAiResponses, "m", &request));
    let sent = write("n", &request).to_string();
    assert!(!sent.contains("rs_1") && !sent.contains("commentary"), "{sent}");
}

#[test]
fn words_of_the_model_go_back_as_a_strict_server_takes_them() {
    let sent =
        write("m", &Request { messages: vec![Message::assistant("Hello")], ..Request::default() });
    let words = json!({ "type": "message", "role": "assistant", "content": "Hello" });
    assert_eq!(sent["input"], json!([words]));
}

#[test]
fn parameters_have_their_names_here_and_a_schema_is_the_texts_format() {
    let params = Params { max_tokens: Some(9), frequency_penalty: Some(1.0), ..Params::default() };
    let schema = Some(json!({ "type": "object" }));
    let sent =
        write("m", &Request { params, schema: schema.map(Into::into), ..Request::default() });
    assert_eq!((&sent["max_output_tokens"], sent.get("frequency_penalty")), (&json!(9), None));
    assert_eq!(sent["text"]["format"]["schema"], json!({ "type": "object" }));
    assert_eq!((&sent["store"], sent.get("tools")), (&json!(false), None));
}

#[test]
fn items_are_kept_in_their_order_and_shown_once() {
    let done = |item: Value| json!({ "type": "response.output_item.done", "item": item });
    let said = json!({ "id": "msg_1", "type": "message", "phase": "commentary", "content": [{ "type": "output_text", "text": "ab" }] });
    let made = json!({ "id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}" });
    let delta = |text: &str| json!({ "type": "response.output_text.delta", "item_id": "msg_1", "delta": text });
    let events = [
        json!({ "type": "response.created", "response": { "error": null } }),
        done(item()),
        delta("a"),
        delta("b"),
        json!({ "type": "response.novelty.delta", "delta": "?" }),
        done(said.clone()),
        done(json!({ "type": "web_search_call", "id": "ws_1" })),
        done(made.clone()),
        completed("completed", json!([item(), said, made])),
    ];
    let seal = |data| Opaque { wire: "openai-responses".into(), model: "m".into(), data };
    let kept =
        json!({ "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "e" });
    let call =
        ToolCall { id: "call_1".into(), name: "f".into(), arguments: "{}".into(), opaque: None };
    let mut expected = vec![
        Chunk::SealedThought(seal(kept)),
        Chunk::Text("ab".into()),
        Chunk::SealedText(seal(json!({ "phase": "commentary" }))),
        Chunk::Call(call),
    ];
    expected.extend(end());
    assert_eq!(gather(Provider::OpenAiResponses, &events), expected);
}

#[test]
fn items_are_told_apart_without_ids_and_calls_that_were_not_closed_are_kept() {
    let events = [
        json!({ "type": "response.output_text.delta", "delta": "a" }),
        json!({ "type": "response.output_item.done", "item": { "id": "msg_9", "type": "message", "content": [{ "text": "a" }] } }),
        json!({ "type": "response.output_text.delta", "item_id": "x", "output_index": 1, "delta": "b" }),
        json!({ "type": "response.output_item.done", "output_index": 1, "item": { "id": "y", "type": "message", "content": [{ "text": "b" }] } }),
        json!({ "type": "response.output_item.added", "output_index": 2, "item": { "type": "function_call", "call_id": "c", "name": "f", "arguments": "" } }),
        json!({ "type": "response.function_call_arguments.delta", "output_index": 2, "delta": "{\"a\"" }),
        json!({ "type": "response.function_call_arguments.delta", "output_index": 2, "delta": ":1}" }),
        completed(
            "completed",
            json!([{ "type": "function_call", "call_id": "d", "name": "g", "arguments": "{}" }]),
        ),
    ];
    let call = |id: &str, name: &str, arguments: &str| {
        let (id, name, arguments) = (id.to_owned(), name.to_owned(), arguments.to_owned());
        Chunk::Call(ToolCall { id, name, arguments, opaque: None })
    };
    let mut expected =
        vec![Chunk::Text("ab".into()), call("d", "g", "{}"), call("c", "f", "{\"a\":1}")];
    expected.extend(end());
    assert_eq!(gather(Provider::OpenAiResponses, &events), expected);
}

#[test]
fn an_answer_that_was_not_streamed_is_read_from_its_items() {
    let said = json!({ "id": "msg_1", "type": "message", "content": [{ "type": "refusal", "refusal": "no" }] });
    let body = completed("completed", json!([said]))["response"].take();
    let mut expected = vec![Chunk::Text("no".into())];
    expected.extend(end());
    assert_eq!(gather(Provider::OpenAiResponses, &[body]), expected);
}

#[test]
fn an_answer_ends_complete_cut_filtered_or_failed() {
    let incomplete = |reason: &str| {
        let response =
            json!({ "status": "incomplete", "incomplete_details": { "reason": reason } });
        vec![json!({ "type": "response.incomplete", "response": response })]
    };
    let cut = |events: &[Value]| gather(Provider::OpenAiResponses, events).pop();
    assert_eq!(
        cut(&incomplete("max_output_tokens")),
        Some(Chunk::Finished(Some(Truncation::Length)))
    );
    assert_eq!(
        cut(&incomplete("content_filter")),
        Some(Chunk::Finished(Some(Truncation::Filtered)))
    );
    let failed = |code: &str, message: &str| {
        let error = json!({ "code": code, "message": message });
        let failed = json!({ "type": "response.failed", "response": { "status": "failed", "error": error } });
        read(Provider::OpenAiResponses, &[failed]).1
    };
    let busy = failed("rate_limit_exceeded", "Please try again in 11.054s.");
    assert!(matches!(busy, Some(ModelError::Reported { passing: true, .. })), "{busy:?}");
    let quota = failed("insufficient_quota", "You exceeded your current quota.");
    assert!(!matches!(quota, None | Some(ModelError::Reported { passing: true, .. })), "{quota:?}");
    let bare = json!({ "type": "error", "code": "server_error", "message": "x", "param": null });
    assert!(read(Provider::OpenAiResponses, &[bare]).1.is_some());
}

#[test]
fn what_reasoning_models_give_back_is_asked_of_them_alone() {
    for (reasons, is_asked) in [(Some(true), true), (None, true), (Some(false), false)] {
        let limits = ModelLimits { reasons, ..ModelLimits::default() };
        let request = Request { limits, ..Request::default() };
        let sent = write("m", &request);
        assert_eq!(sent.get("include").is_some(), is_asked, "{reasons:?}");
    }
}

fn calls_of(events: &[Value]) -> Vec<(String, String)> {
    let chunks = gather(Provider::OpenAiResponses, events).into_iter();
    chunks
        .filter_map(|chunk| match chunk {
            Chunk::Call(call) => Some((call.id, call.arguments)),
            _ => None,
        })
        .collect()
}

#[test]
fn two_calls_of_one_id_are_two_calls() {
    let made = |number: usize| {
        let arguments = format!("{{\"n\":{number}}}");
        json!({ "id": format!("fc_{number}"), "type": "function_call", "call_id": "same", "name": "f", "arguments": arguments })
    };
    let event = |kind: &str, number: usize| {
        let kind = format!("response.output_item.{kind}");
        json!({ "type": kind, "output_index": number, "item": made(number) })
    };
    let both = json!([made(0), made(1)]);
    let streamed = [
        event("added", 0),
        event("added", 1),
        event("done", 0),
        event("done", 0),
        event("done", 1),
        completed("completed", both.clone()),
    ];
    let half = [event("added", 0), event("done", 0), completed("completed", both.clone())];
    for events in [&streamed[..], &half, &[completed("completed", both)]] {
        let calls = calls_of(events);
        let arguments: Vec<&str> = calls.iter().map(|(_, arguments)| arguments.as_str()).collect();
        assert_eq!(arguments, ["{\"n\":0}", "{\"n\":1}"], "{events:?}");
        assert_ne!(calls[0].0, calls[1].0, "each has an id of its own");
    }
}

#[test]
fn arguments_that_come_only_whole_are_read() {
    let begun = json!({ "type": "response.output_item.added", "output_index": 0, "item": {
        "id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "f", "arguments": "" } });
    let whole = json!({ "type": "response.function_call_arguments.done", "output_index": 0, "item_id": "fc_1", "arguments": "{\"n\":1}" });
    let mut named = whole.clone();
    named["name"] = "f".into();
    let end = completed("completed", json!([]));
    let calls = calls_of(&[begun, whole, end.clone()]);
    assert_eq!(calls, [("call_1".to_owned(), "{\"n\":1}".to_owned())]);
    assert_eq!(calls_of(&[named, end]), [("fc_1".to_owned(), "{\"n\":1}".to_owned())]);
}
