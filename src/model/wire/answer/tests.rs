//! Events and bodies as servers send them.

use serde_json::json;

use super::super::super::Request;
use super::super::Api;
use super::super::features::RequestFeatures;
use super::super::format::WireCall;
use super::*;
use avocet_core::protocol::{Truncation, Usage};

fn reader() -> AnswerReader {
    let request = Request::default();
    let call = WireCall {
        provider: Provider::OpenAi,
        host: "s",
        model: "m",
        request: &request,
        features: RequestFeatures::default(),
    };
    let reader = Api::of(Provider::OpenAi).format.reader(&call);
    AnswerReader::new("http://s/v1".into(), Some("sk-secret".into()), "m", Provider::OpenAi, reader)
}

fn drain(reader: &mut AnswerReader) -> Vec<Chunk> {
    std::iter::from_fn(|| reader.next_chunk()).collect()
}

fn feed(events: &[Value]) -> Result<Vec<Chunk>, ModelError> {
    let mut reader = reader();
    for data in events {
        reader.push_event(&SseEvent { name: "message".into(), data: data.to_string() })?;
    }
    reader.close()?;
    Ok(drain(&mut reader))
}

fn delta(delta: Value) -> Value {
    json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] })
}

fn finish(reason: &str) -> Value {
    json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] })
}

fn text(text: &str) -> Chunk {
    Chunk::Text(text.into())
}

fn thought(text: &str) -> Chunk {
    Chunk::Thought(text.into())
}

#[test]
fn content_may_be_text_null_or_parts() {
    let events = [
        delta(json!({ "role": "assistant", "content": null })),
        delta(json!({})),
        delta(json!({ "content": "a" })),
        delta(json!({ "content": [{ "type": "text", "text": "b" }, "c"] })),
        delta(json!({ "content": [{ "type": "thinking", "thinking": [{ "text": "hm" }] }] })),
        finish("stop"),
    ];
    let expected = vec![text("a"), text("b"), text("c"), thought("hm"), Chunk::Finished(None)];
    assert_eq!(feed(&events), Ok(expected));
}

#[test]
fn reasoning_is_separated_and_not_duplicated() {
    let events = [
        delta(json!({ "reasoning_content": "x", "reasoning": "x", "content": null })),
        delta(json!({ "reasoning": "y", "content": "" })),
        delta(json!({ "reasoning_content": null, "content": "z" })),
        finish("stop"),
    ];
    assert_eq!(
        feed(&events),
        Ok(vec![thought("x"), thought("y"), text("z"), Chunk::Finished(None)])
    );
}

#[test]
fn the_reasons_to_finish_say_whether_it_was_cut() {
    let cases = [
        ("stop", None),
        ("tool_calls", None),
        ("length", Some(Truncation::Length)),
        ("content_filter", Some(Truncation::Filtered)),
        ("SAFETY", Some(Truncation::Filtered)),
    ];
    for (reason, cut) in cases {
        assert_eq!(feed(&[finish(reason)]), Ok(vec![Chunk::Finished(cut)]), "{reason}");
    }
    assert!(matches!(feed(&[finish("error")]), Err(ModelError::Reported { passing: true, .. })));
}

#[test]
fn the_last_token_count_is_reported_once_before_the_end() {
    let usage = |input, output| json!({ "prompt_tokens": input, "completion_tokens": output });
    let events = [
        json!({ "choices": [{ "delta": { "content": "a" } }], "usage": usage(1, 1) }),
        finish("stop"),
        json!({ "choices": [], "usage": null }),
        json!({ "choices": [], "usage": usage(5, 7) }),
    ];
    let usage = Usage::counted(5, 7);
    assert_eq!(feed(&events), Ok(vec![text("a"), Chunk::Usage(usage), Chunk::Finished(None)]));
}

#[test]
fn only_the_first_choice_counts() {
    let events = [
        json!({ "choices": [
            { "index": 1, "delta": { "content": "no" } },
            { "index": 0, "delta": { "content": "yes" }, "message": { "content": "no" } },
        ] }),
        finish("stop"),
    ];
    assert_eq!(feed(&events), Ok(vec![text("yes"), Chunk::Finished(None)]));
}

#[test]
fn a_stream_without_finish_and_without_done_is_broken() {
    let broken = Err(ModelError::Unended { url: "http://s/v1".into() });
    assert_eq!(feed(&[delta(json!({ "content": "a" }))]), broken);
    assert_eq!(feed(&[]), broken);
}

#[test]
fn done_alone_ends_an_answer() {
    let mut reader = reader();
    let done = SseEvent { name: "message".into(), data: " [DONE]".into() };
    assert_eq!(reader.push_event(&done), Ok(()));
    assert!(reader.is_done());
    assert_eq!(reader.close(), Ok(()));
    assert_eq!(drain(&mut reader), [Chunk::Finished(None)]);
}

#[test]
fn an_error_inside_the_stream_is_an_error_in_every_shape() {
    let cases = [
        ("message", r#"{"error":{"message":"no sk-secret","code":400}}"#, false),
        ("message", r#"{"error":"overloaded_error"}"#, true),
        ("message", r#"{"error":{"code":500,"message":"x"},"choices":[]}"#, true),
        ("message", r#"{"object":"error","message":"x","code":503}"#, true),
        ("error", r#"{"message":"x","type":"server_error"}"#, true),
        ("error", "plain words", false),
    ];
    for (name, data, passing) in cases {
        let event = SseEvent { name: name.into(), data: data.into() };
        match reader().push_event(&event) {
            Err(ModelError::Reported { said, passing: p, .. }) => {
                assert!(p == passing && !said.contains("sk-secret") && !said.is_empty(), "{data}");
            }
            other => panic!("{data}: {other:?}"),
        }
    }
}

#[test]
fn invalid_json_is_reported_and_truncated_json_is_a_break() {
    let read = |data: &str| {
        let mut reader = reader();
        reader.push_event(&SseEvent { name: "message".into(), data: data.into() })?;
        reader.push_event(&SseEvent { name: "message".into(), data: "[DONE]".into() })
    };
    assert!(matches!(read("hello"), Err(ModelError::Foreign { said, .. }) if said == "hello"));
    assert!(matches!(read(r#"{"choices":[{"del"#), Err(ModelError::Broken { .. })));
    assert_eq!(read(""), Ok(()));
}

#[test]
fn events_without_an_empty_line_between_them_are_read_one_by_one() {
    let (a, b) = (delta(json!({ "content": "a" })), delta(json!({ "content": "b" })));
    let joined = format!("{a}\n{b}\n{}", finish("stop"));
    let whole = Ok(vec![text("a"), text("b"), Chunk::Finished(None)]);
    assert_eq!(lines(&[&joined, "[DONE]"]), whole);
}

#[test]
fn an_answer_in_another_format_is_named_at_its_first_event() {
    let cases = [
        (json!({ "type": "message_start", "message": {} }), Provider::Anthropic),
        (json!({ "type": "response.created", "response": {} }), Provider::OpenAiResponses),
        (json!({ "candidates": [] }), Provider::Gemini),
        (json!({ "message": { "content": "x" }, "done": false }), Provider::Ollama),
    ];
    for (event, provider) in cases {
        let error = ModelError::OtherFormat { url: "http://s/v1".into(), provider };
        assert_eq!(feed(&[event.clone(), json!({})]), Err(error.clone()));
        assert_eq!(reader().push_body(event.to_string().as_bytes()), Err(error));
    }
    let unknown = [json!({ "type": "message-start" }), json!({ "type": "content-delta" })];
    assert!(matches!(feed(&unknown), Err(ModelError::Foreign { .. })));
}

fn lines(lines: &[&str]) -> Result<Vec<Chunk>, ModelError> {
    let mut reader = reader();
    for data in lines {
        reader.push_event(&SseEvent { name: "message".into(), data: (*data).into() })?;
    }
    reader.close()?;
    Ok(drain(&mut reader))
}

#[test]
fn one_invalid_event_does_not_end_the_answer() {
    let (a, b) = (delta(json!({ "content": "a" })), delta(json!({ "content": "b" })));
    let (a, b, end) = (a.to_string(), b.to_string(), finish("stop").to_string());
    let half = r#"{"choices":[{"del"#;
    let whole = Ok(vec![text("a"), text("b"), Chunk::Finished(None)]);
    for bad in ["not json", half, "<html>", "{'choices': 1}", "\u{0}"] {
        let gap = Ok(vec![Chunk::Gap, text("a"), text("b"), Chunk::Finished(None)]);
        assert_eq!(lines(&[bad, &a, &b, &end, "[DONE]"]), gap, "{bad}");
        let gap = Ok(vec![text("a"), Chunk::Gap, Chunk::Gap, text("b"), Chunk::Finished(None)]);
        assert_eq!(lines(&[&a, bad, bad, &b, &end]), gap, "{bad}");
        assert_eq!(lines(&[&a, &b, &end, bad, "[DONE]"]), whole, "{bad}");
    }
    // Invalid events alone, or without end, mean another protocol; a stream that merely broke off
    // is reported as such.
    assert!(matches!(lines(&["not json", "nor this"]), Err(ModelError::Foreign { .. })));
    let many: Vec<&str> = [a.as_str()].into_iter().chain(["not json"; 100]).collect();
    assert!(matches!(lines(&many), Err(ModelError::Foreign { .. })));
    assert!(matches!(lines(&[&a, half]), Err(ModelError::Broken { .. })));
}

#[test]
fn a_split_emoji_is_rejoined_and_a_lone_surrogate_is_harmless() {
    let event = |text: &str| format!(r#"{{"choices":[{{"delta":{{"content":"{text}"}}}}]}}"#);
    let (first, second) = (event("x\\ud83d"), event("\\ude42y"));
    let end = finish("stop").to_string();
    let whole = Ok(vec![text("x"), text("🙂y"), Chunk::Finished(None)]);
    assert_eq!(lines(&[&first, &second, &end]), whole);
    let half = Ok(vec![text("x"), text("z"), Chunk::Finished(None)]);
    assert_eq!(lines(&[&first, &event("z"), &end]), half);
    let lone = Ok(vec![text("\u{fffd}y"), Chunk::Finished(None)]);
    assert_eq!(lines(&[&second, &end]), lone);
}

#[test]
fn a_whole_body_is_one_answer() {
    let body = json!({
        "choices": [{ "message": { "content": "hi", "reasoning": "hm" }, "finish_reason": "length" }],
        "usage": { "prompt_tokens": 2, "completion_tokens": 3 },
    });
    let mut reader = reader();
    assert_eq!(reader.push_body(body.to_string().as_bytes()), Ok(()));
    let usage = Usage::counted(2, 3);
    let finished = Chunk::Finished(Some(Truncation::Length));
    assert_eq!(drain(&mut reader), [thought("hm"), text("hi"), Chunk::Usage(usage), finished]);
}

#[test]
fn other_bodies_with_status_200_are_recognised() {
    let read = |body: &str| reader().push_body(body.as_bytes());
    assert!(matches!(read(r#"{"error":{"message":"x"}}"#), Err(ModelError::Reported { .. })));
    assert!(matches!(read("{}"), Err(ModelError::Foreign { .. })));
    assert!(matches!(read("{\"a\":1}\n{\"b\":2}"), Err(ModelError::Foreign { .. })));
    assert!(matches!(read("[1,"), Err(ModelError::Broken { .. })));
}

#[test]
fn the_kind_is_known_at_the_first_visible_byte() {
    let cases: [(&[u8], Option<BodyKind>); 8] = [
        (b"", None),
        (b"\xef\xbb", None),
        (b" \r\n", None),
        (b"\xef\xbb\xbf {", Some(BodyKind::Json)),
        (b"\n<!doctype", Some(BodyKind::Html)),
        (b": comment", Some(BodyKind::Events)),
        (b"data: x", Some(BodyKind::Events)),
        (b"garbage", Some(BodyKind::Events)),
    ];
    for (head, kind) in cases {
        assert_eq!(BodyKind::detect(head), kind, "{head:?}");
    }
}
