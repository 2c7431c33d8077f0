//! Requests as they are written, and answers as they are read.

use super::super::tests::{call, conversation, gather, read, written};
use super::*;
use crate::{Chunk, ModelError, ModelLimits};
use avocet_core::protocol::{Opaque, Params, Provider, ToolCall};

fn write(model: &str, request: &Request) -> Value {
    OllamaChat.body(&call(Provider::Ollama, model, request))
}

fn line(message: Value) -> Value {
    json!({ "model": "m", "message": message, "done": false })
}

fn done(reason: &str) -> Value {
    json!({ "model": "m", "message": { "role": "assistant", "content": "" }, "done": true,
        "done_reason": reason, "prompt_eval_count": 5, "eval_count": 7 })
}

#[test]
fn a_request_holds_calls_results_images_thinking_and_options() {
    let field = json!({ "field": "thinking" });
    let request = conversation(Provider::Ollama, [Some(field), None, None]);
    insta::assert_snapshot!(written(Provider::Ollama, "m", &request));
}

#[test]
fn the_context_is_large_enough_for_the_request_and_grows_in_steps() {
    let of = |bytes: usize| {
        let messages = vec![Message::user("x".repeat(bytes))];
        write("m", &Request { messages, ..Request::default() })["options"]["num_ctx"].as_u64()
    };
    assert_eq!(
        [of(10), of(30_000), of(60_000), of(10_000_000)],
        [Some(16_384), Some(16_384), Some(32_768), Some(262_144)]
    );
    let mut params = Params { max_tokens: Some(100), ..Params::default() };
    params.more.insert("num_ctx".into(), json!(4_096));
    let sent =
        write("m", &Request { params, schema: Some(json!({}).into()), ..Request::default() });
    assert_eq!(
        (&sent["options"]["num_ctx"], &sent["options"]["num_predict"]),
        (&json!(4_096), &json!(100))
    );
    assert_eq!(
        (&sent["format"], &sent["truncate"], &sent["shift"]),
        (&json!({}), &json!(false), &json!(false))
    );
}

#[test]
fn the_context_is_no_larger_than_the_model_and_stays_as_it_is_loaded_if_that_does() {
    let of = |bytes: usize, window, loaded| {
        let messages = vec![Message::user("x".repeat(bytes))];
        let limits = ModelLimits { window, loaded, ..ModelLimits::default() };
        write("m", &Request { messages, limits, ..Request::default() })["options"]["num_ctx"]
            .as_u64()
            .unwrap()
    };
    assert_eq!(of(10, Some(8_192), None), 8_192, "small");
    assert_eq!(of(100_000, Some(40_960), None), 40_960, "not a power of two");
    assert_eq!(of(10, Some(40_960), Some(32_768)), 32_768, "no smaller: that would load again");
    assert_eq!(of(10, Some(40_960), Some(4_096)), 16_384, "what is loaded is too small");
}

#[test]
fn thinking_is_switched_or_has_a_level() {
    let think = |model: &str, effort| {
        write(model, &Request { effort: Some(effort), ..Request::default() })["think"].take()
    };
    assert_eq!(
        [think("qwen3", Effort::None), think("qwen3", Effort::Low)],
        [json!(false), json!(true)]
    );
    assert_eq!(
        [think("gpt-oss:20b", Effort::None), think("gpt-oss:20b", Effort::Max)],
        [json!("low"), json!("high")]
    );
}

#[test]
fn calls_and_thinking_are_read_from_lines() {
    let made = |index: u64, n: u64| json!([{ "function": { "index": index, "name": "f", "arguments": { "n": n } } }]);
    let lines = [
        line(json!({ "role": "assistant", "content": "", "thinking": "h" })),
        line(json!({ "role": "assistant", "content": "", "thinking": "m" })),
        line(json!({ "role": "assistant", "content": "", "tool_calls": made(0, 1) })),
        line(json!({ "role": "assistant", "content": "", "tool_calls": made(0, 2) })),
        done("stop"),
    ];
    let call = |id: &str, arguments: &str| {
        let (id, arguments) = (id.to_owned(), arguments.to_owned());
        Chunk::Call(ToolCall { id, name: "f".into(), arguments, opaque: None })
    };
    let data = json!({ "field": "thinking" });
    let expected = [
        Chunk::Thought("hm".into()),
        Chunk::SealedThought(Opaque { wire: "ollama".into(), model: "m".into(), data }),
        call("call_0", "{\"n\":1}"),
        call("call_1", "{\"n\":2}"),
        Chunk::Usage(Usage::counted(5, 7)),
        Chunk::Finished(None),
    ];
    assert_eq!(gather(Provider::Ollama, &lines), expected);
    let cut = gather(Provider::Ollama, &[line(json!({ "content": "a" })), done("length")]);
    assert_eq!(cut.last(), Some(&Chunk::Finished(Some(Truncation::Length))));
}

#[test]
fn an_error_line_ends_the_answer() {
    let error = json!({ "error": "model runner has unexpectedly stopped" });
    let (chunks, error) = read(Provider::Ollama, &[line(json!({ "content": "a" })), error]);
    assert_eq!(chunks, [Chunk::Text("a".into())]);
    assert!(matches!(error, Some(ModelError::Reported { .. })), "{error:?}");
}
