//! The model client against a real server on this machine.

use std::io::{BufRead as _, Read as _, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::support::server::{self, Reply, Server, delta, event, finish};
use avocet::model::{
    Chunk, ConnectError, Endpoint, HttpModel, Local, Model, ModelError, Request, Retry,
    RetryPolicy, Timeouts, ToolSchema, find_servers, list_models,
};
use avocet::protocol::{
    ContentBlock, Image, Message, Params, Provider, ToolCall, ToolResult, Truncation, Usage,
};
use futures_util::StreamExt;
use serde_json::{Value, json};

const KEY: &str = "sk-test-0123456789";

fn endpoint(base_url: String) -> Endpoint {
    Endpoint {
        api_key: Some(KEY.into()),
        key_name: "TEST_KEY".into(),
        model: "tiny".into(),
        ..Endpoint::at(base_url)
    }
}

fn client(server: &Server) -> HttpModel {
    HttpModel::new(endpoint(server.base_url())).unwrap()
}

fn impatient(server: &Server, idle: Duration) -> HttpModel {
    let timeouts = Timeouts { idle, first_byte: idle, ..Timeouts::default() };
    HttpModel::new(Endpoint { timeouts, ..endpoint(server.base_url()) }).unwrap()
}

fn patient(model: impl Model + 'static) -> Retry {
    let short = Duration::from_millis(1);
    Retry::new(
        Arc::new(model),
        RetryPolicy { first: short, longest: short, ..RetryPolicy::default() },
    )
}

fn request() -> Request {
    Request {
        messages: vec![Message::system("Be brief."), Message::user("Hello?")],
        params: Params::default(),
        schema: Some(json!({ "type": "object" }).into()),
        ..Request::default()
    }
}

async fn call(model: &dyn Model) -> Vec<Result<Chunk, ModelError>> {
    model.stream(request()).collect().await
}

fn text(chunks: &[Result<Chunk, ModelError>]) -> String {
    let text = chunks.iter().filter_map(|chunk| match chunk {
        Ok(Chunk::Text(text)) => Some(text.as_str()),
        _ => None,
    });
    text.collect()
}

fn waits(chunks: &[Result<Chunk, ModelError>]) -> Vec<(u32, u32, u64)> {
    let wait = |chunk: &Result<Chunk, ModelError>| match chunk {
        Ok(Chunk::Retrying { attempt, of, wait_ms, .. }) => Some((*attempt, *of, *wait_ms)),
        _ => None,
    };
    chunks.iter().filter_map(wait).collect()
}

fn fault(chunks: &[Result<Chunk, ModelError>]) -> &ModelError {
    chunks.last().unwrap().as_ref().unwrap_err()
}

const DONE: Result<Chunk, ModelError> = Ok(Chunk::Finished(None));

#[tokio::test]
async fn an_answer_comes_in_pieces_as_it_is_streamed() {
    let server = Server::start(vec![Reply::text("Hello, 世界! 👍", 5)]);
    let chunks = call(&client(&server)).await;
    assert_eq!(text(&chunks), "Hello, 世界! 👍");
    assert_eq!((chunks.len(), chunks.last()), (6, Some(&DONE)));
}

#[tokio::test]
async fn the_key_is_sent_only_in_its_header() {
    let server = Server::start(vec![Reply::text("x", 1)]);
    call(&client(&server)).await;
    let seen = server.requests().remove(0);
    assert_eq!(seen.line, "POST /v1/chat/completions");
    assert_eq!(seen.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    let elsewhere = seen.headers.iter().filter(|(name, _)| name != "authorization");
    assert!(!format!("{:?} {}", elsewhere.collect::<Vec<_>>(), seen.body).contains(KEY));
    assert!(!format!("{:?}", endpoint(server.base_url())).contains(KEY));
    assert!(!format!("{:?}", client(&server)).contains(KEY));
}

#[tokio::test]
async fn without_a_key_no_header_is_sent() {
    let server = Server::start(vec![Reply::text("x", 1)]);
    let keyless = Endpoint { api_key: Some("  ".into()), ..endpoint(server.base_url()) };
    call(&HttpModel::new(keyless).unwrap()).await;
    assert_eq!(server.requests().remove(0).header("authorization"), None);
}

#[tokio::test]
async fn the_request_contains_messages_parameters_and_response_format() {
    let server = Server::start(vec![Reply::text("x", 1)]);
    let params = Params { temperature: Some(0.0), ..Params::default() };
    client(&server).stream(Request { params, ..request() }).count().await;
    assert_eq!(
        server.requests().remove(0).json(),
        json!({
            "model": "tiny",
            "messages": [
                { "role": "system", "content": "Be brief." },
                { "role": "user", "content": "Hello?" },
            ],
            "stream": true,
            "temperature": 0.0,
            "stream_options": { "include_usage": true },
            "response_format": {
                "type": "json_schema",
                "json_schema": { "name": "reply", "schema": { "type": "object" } },
            },
        })
    );
}

#[tokio::test]
async fn a_server_that_does_not_stream_works() {
    let body = json!({
        "choices": [{ "index": 0, "message": { "content": "whole" }, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 3, "completion_tokens": 1 },
    });
    let server = Server::start(vec![Reply::json(200, &body)]);
    let usage = Usage::counted(3, 1);
    let expected = [Ok(Chunk::Text("whole".into())), Ok(Chunk::Usage(usage)), DONE];
    assert_eq!(call(&client(&server)).await, expected);
}

#[tokio::test]
async fn an_answer_in_one_piece_is_asked_for_as_each_format_does() {
    let body = json!({ "choices": [{ "message": { "content": "x" }, "finish_reason": "stop" }] });
    let server = Server::start(vec![Reply::json(200, &body)]);
    let params = Params { is_whole: true, ..Params::default() };
    let asked = Request { params, ..request() };
    let chunks: Vec<_> = client(&server).stream(asked.clone()).collect().await;
    assert_eq!(text(&chunks), "x");
    let seen = server.requests().remove(0).json();
    assert_eq!((&seen["stream"], seen.get("stream_options")), (&json!(false), None));

    let body = json!({ "candidates": [{
        "content": { "parts": [{ "text": "y" }] }, "finishReason": "STOP",
    }] });
    let server = Server::start(vec![Reply::json(200, &body)]);
    let provider = Some(Provider::Gemini);
    let gemini = HttpModel::new(Endpoint { provider, ..endpoint(server.base_url()) }).unwrap();
    let chunks: Vec<_> = gemini.stream(asked).collect().await;
    assert_eq!(text(&chunks), "y");
    let line = server.requests().remove(0).line;
    assert!(line.ends_with(":generateContent"), "{line}");
}

#[tokio::test]
async fn messages_of_a_sealed_script_stay_in_the_network() {
    let params = Params { is_private: true, ..Params::default() };
    let asked = Request { params, ..request() };
    let far = HttpModel::new(endpoint("https://api.example.com/v1".to_owned())).unwrap();
    let chunks: Vec<_> = far.stream(asked.clone()).collect().await;
    assert!(matches!(fault(&chunks), ModelError::NotPrivate { .. }), "{chunks:?}");
    let server = Server::start(vec![Reply::text("x", 1)]);
    assert_eq!(text(&client(&server).stream(asked).collect::<Vec<_>>().await), "x");
}

#[tokio::test]
async fn token_counts_and_truncation_are_reported() {
    let count = json!({ "choices": [], "usage": { "prompt_tokens": 7, "completion_tokens": 2 } });
    let events = [event(&delta("half")), event(&finish("length")), event(&count)];
    let server = Server::start(vec![Reply::events(events)]);
    let usage = Usage::counted(7, 2);
    let expected = [
        Ok(Chunk::Text("half".into())),
        Ok(Chunk::Usage(usage)),
        Ok(Chunk::Finished(Some(Truncation::Length))),
    ];
    assert_eq!(call(&client(&server)).await, expected);
}

#[tokio::test]
async fn every_recorded_stream_ends_as_it_should() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/sse");
    let index: Vec<Value> =
        serde_json::from_slice(&std::fs::read(root.join("index.json")).unwrap()).unwrap();
    assert!(index.len() > 20);
    for row in index {
        let file = row["file"].as_str().unwrap();
        let provider = match file {
            name if name.contains("responses") => Provider::OpenAiResponses,
            name if name.contains("anthropic") => Provider::Anthropic,
            name if name.starts_with("gemini/") => Provider::Gemini,
            name if name.ends_with(".ndjson") => Provider::Ollama,
            _ => Provider::OpenAi,
        };
        let bytes = std::fs::read(root.join(file)).unwrap();
        let pieces: Vec<_> = bytes.chunks(1_000).map(<[u8]>::to_vec).collect();
        let server = Server::start(vec![Reply::events(pieces)]);
        let chunks = call(&speaking(provider, &server)).await;
        let end = chunks.last().unwrap();
        if file.contains("multi-line-data") {
            assert!(matches!(end, Err(ModelError::Foreign { .. })), "{file}: {end:?}");
        } else if file.contains("error") {
            assert!(matches!(end, Err(ModelError::Reported { .. })), "{file}: {end:?}");
        } else {
            assert!(matches!(end, Ok(Chunk::Finished(_))), "{file}: {end:?}");
            let usage = chunks.iter().filter(|chunk| matches!(chunk, Ok(Chunk::Usage(_)))).count();
            let counts = ["\"usage\":{", "\"usageMetadata\"", "\"eval_count\""];
            let body = String::from_utf8_lossy(&bytes);
            let expected = usize::from(counts.iter().any(|count| body.contains(count)));
            assert_eq!(usage, expected, "{file}");
        }
    }
}

#[tokio::test]
async fn errors_that_the_user_must_fix_are_not_retried() {
    let cases = [
        (401, "{}", "TEST_KEY"),
        (403, "{}", "does not allow"),
        (404, r#"{"error":{"message":"model 'tiny' not found"}}"#, "no model `tiny`"),
        (404, "<html>nothing</html>", "base_url"),
        (400, r#"{"error":{"message":"temperature is too high"}}"#, "temperature is too high"),
        (400, r#"{"error":{"code":"context_length_exceeded","message":"x"}}"#, "/new"),
    ];
    for (status, body, hint) in cases {
        let server = Server::start(vec![Reply::status(status).body(body)]);
        let chunks = call(&patient(client(&server))).await;
        let said = fault(&chunks).to_string();
        assert!(said.contains(hint), "{status}: {said}");
        assert_eq!((chunks.len(), server.requests().len()), (1, 1), "{status}");
    }
}

#[tokio::test]
async fn echoed_server_text_never_shows_the_key_or_control_characters() {
    let body = format!("{{\"error\":{{\"message\":\"bad key {KEY}\\u001b[2J\"}}}}");
    let server = Server::start(vec![Reply::status(401).body(body)]);
    let said = fault(&call(&client(&server)).await).to_string();
    assert!(said.ends_with("bad key [key] [2J\"."), "{said}");
}

#[tokio::test]
async fn a_busy_server_is_retried_after_the_pause_it_asks_for() {
    let busy = Reply::status(429).header("retry-after", "0.02").body("slow down");
    let server = Server::start(vec![busy, Reply::text("at last", 1)]);
    let chunks = call(&patient(client(&server))).await;
    assert_eq!(waits(&chunks), [(2, 5, 20)]);
    assert_eq!((text(&chunks).as_str(), chunks.last()), ("at last", Some(&DONE)));
}

#[tokio::test]
async fn a_pause_beyond_our_patience_ends_the_call_with_the_time_in_it() {
    for status in [429, 503] {
        let busy = Reply::status(status).header("retry-after", "5400");
        let server = Server::start(vec![busy, Reply::text("at last", 1)]);
        let chunks = call(&patient(client(&server))).await;
        assert_eq!((waits(&chunks).len(), server.requests().len()), (0, 1));
        let said = fault(&chunks).to_string();
        assert!(said.contains("90 minutes") && said.contains(&status.to_string()), "{said}");
    }
}

#[tokio::test]
async fn a_pause_is_read_behind_the_words_that_are_kept() {
    let message =
        format!("You exceeded your current quota. {} Please retry in 31s.", "x".repeat(300));
    let busy = Reply::json(429, &json!({ "error": { "message": message } }));
    let server = Server::start(vec![busy]);
    let after = Some(Duration::from_secs(31));
    assert!(
        matches!(fault(&call(&client(&server)).await), ModelError::Busy { after: a, .. } if *a == after)
    );
}

#[tokio::test]
async fn a_refused_parameter_is_left_out_said_and_remembered_by_model() {
    let refusal = json!({ "error": { "message": "Unsupported value: 'temperature'", "param": "temperature" } });
    let server = Server::start(vec![
        Reply::json(400, &refusal),
        Reply::text("ok", 1),
        Reply::text("again", 1),
        Reply::text("other", 1),
    ]);
    let model = client(&server);
    let request = || {
        let params = Params { temperature: Some(0.5), ..Params::default() };
        Request { params, ..request() }
    };
    let first: Vec<_> = model.stream(request()).collect().await;
    assert_eq!(text(&first), "ok");
    let told = first.iter().any(
        |chunk| matches!(chunk, Ok(Chunk::Notice(say)) if say.to_string().contains("temperature")),
    );
    assert!(told, "{first:?}");
    for model in [model.clone(), model.with_model("other")] {
        let chunks: Vec<_> = model.stream(request()).collect().await;
        assert!(chunks.iter().all(|chunk| !matches!(chunk, Ok(Chunk::Notice(_)))));
    }
    let sent: Vec<bool> =
        server.requests().iter().map(|sent| sent.json().get("temperature").is_some()).collect();
    assert_eq!(sent, [true, false, false, true]);
}

fn with_tools(names: &[&str]) -> Request {
    let tool = |name: &&str| ToolSchema {
        name: (*name).to_owned(),
        description: "d".into(),
        parameters: json!({ "type": "object", "properties": { "x": { "type": "string" } } }),
    };
    Request { schema: None, tools: names.iter().map(tool).collect(), ..request() }
}

fn tool_names(sent: &Value) -> Vec<String> {
    let tools = sent["tools"].as_array().into_iter().flatten();
    tools.map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_tool_whose_schema_is_refused_is_left_out_said_and_remembered() {
    let said = "Invalid schema for function 'plan': array schema missing items.";
    let refusal = json!({ "error": { "message": said } });
    let server =
        Server::start(vec![Reply::json(400, &refusal), Reply::text("ok", 1), Reply::text("b", 1)]);
    let model = client(&server);
    let first: Vec<_> = model.stream(with_tools(&["exec", "plan"])).collect().await;
    assert_eq!(text(&first), "ok");
    let is_told = |chunk: &Result<Chunk, ModelError>| matches!(chunk, Ok(Chunk::Notice(say)) if say.to_string().contains("`plan`"));
    assert!(first.iter().any(is_told), "{first:?}");
    let _second: Vec<_> = model.stream(with_tools(&["exec", "plan"])).collect().await;
    let sent: Vec<Vec<String>> =
        server.requests().iter().map(|sent| tool_names(&sent.json())).collect();
    assert_eq!(sent, [vec!["exec", "plan"], vec!["exec"], vec!["exec"]]);
}

#[tokio::test]
async fn the_longest_answer_that_a_server_names_is_kept_to() {
    let said =
        "max_tokens is too large: 50000. This model supports at most 16384 completion tokens";
    let refusal = json!({ "error": { "message": said } });
    let server =
        Server::start(vec![Reply::json(400, &refusal), Reply::text("ok", 1), Reply::text("b", 1)]);
    let model = client(&server);
    for expected in ["ok", "b"] {
        let params = Params { max_tokens: Some(50_000), ..Params::default() };
        let chunks: Vec<_> = model.stream(Request { params, ..request() }).collect().await;
        assert_eq!(text(&chunks), expected);
    }
    let sent: Vec<Value> =
        server.requests().iter().map(|sent| sent.json()["max_tokens"].clone()).collect();
    assert_eq!(sent, [50_000, 16_384, 16_384]);
}

#[tokio::test]
async fn a_result_that_a_server_refuses_without_a_word_is_left_out_and_the_rest_goes_on() {
    let server = Server::start(vec![
        Reply::text("first", 1),
        Reply::status(400).body(""),
        Reply::text("ok", 1),
        Reply::text("next", 1),
    ]);
    let model = client(&server);
    let _first: Vec<_> = model.stream(with_tools(&["exec"])).collect().await;
    let mut request = with_tools(&["exec"]);
    let call =
        ToolCall { id: "c".into(), name: "exec".into(), arguments: "{}".into(), opaque: None };
    let result = ToolResult {
        call: "c".into(),
        name: "exec".into(),
        content: "poison".into(),
        is_error: false,
    };
    request
        .messages
        .push(Message { blocks: vec![ContentBlock::ToolCall(call)], ..Message::assistant("") });
    request
        .messages
        .push(Message { blocks: vec![ContentBlock::ToolResult(result)], ..Message::user("") });
    for expected in ["ok", "next"] {
        let chunks: Vec<_> = model.stream(request.clone()).collect().await;
        assert_eq!(text(&chunks), expected, "{chunks:?}");
    }
    let sent: Vec<bool> =
        server.requests().iter().map(|sent| sent.body.contains("poison")).collect();
    assert_eq!(sent, [false, true, false, false]);
    assert!(server.requests().iter().all(|sent| tool_names(&sent.json()) == ["exec"]));
}

#[tokio::test]
async fn a_server_that_takes_no_system_message_gets_it_with_the_first_message() {
    for said in ["System role not supported", "Conversation roles must alternate user/assistant"] {
        let refusal = json!({ "error": { "message": said } });
        let server = Server::start(vec![Reply::json(400, &refusal), Reply::text("ok", 1)]);
        let chunks = call(&client(&server)).await;
        assert_eq!(text(&chunks), "ok");
        let sent = server.requests().remove(1).json();
        let messages = sent["messages"].as_array().unwrap();
        let content = messages[0]["content"].to_string();
        assert_eq!((messages.len(), &messages[0]["role"]), (1, &json!("user")));
        assert!(content.contains("Be brief.") && content.contains("Hello?"), "{content}");
    }
}

#[tokio::test]
async fn an_image_that_is_refused_is_left_out_and_said_and_does_not_come_back() {
    let refusal = json!({ "error": { "message": "image exceeds 5 MB maximum" } });
    let server = Server::start(vec![
        Reply::json(400, &refusal),
        Reply::text("ok", 1),
        Reply::text("next", 1),
    ]);
    let model = client(&server);
    let request = || {
        let mut request = request();
        let image = Image { mime: "image/png".into(), data: "aW1n".into() };
        request.messages[1].blocks.push(ContentBlock::Image(image));
        request
    };
    let first: Vec<_> = model.stream(request()).collect().await;
    assert_eq!(text(&first), "ok");
    assert!(first.iter().any(|chunk| matches!(chunk, Ok(Chunk::Notice(_)))), "{first:?}");
    let second: Vec<_> = model.stream(request()).collect().await;
    assert_eq!(text(&second), "next");
    let sent: Vec<bool> = server.requests().iter().map(|sent| sent.body.contains("aW1n")).collect();
    assert_eq!(sent, [true, false, false]);
}

#[tokio::test]
async fn the_window_that_a_server_names_is_kept_to() {
    let message =
        "This model's maximum context length is 8192 tokens. However, you requested 9000.";
    let refusal = json!({ "error": { "message": message, "code": "context_length_exceeded" } });
    // Before the answer, and in its stream.
    for reply in [Reply::json(400, &refusal), Reply::events([event(&refusal)])] {
        let server = Server::start(vec![reply]);
        let model = client(&server);
        assert_eq!(model.enforced_window(), None);
        assert!(matches!(fault(&call(&model).await), ModelError::TooLong { .. }));
        assert_eq!(model.enforced_window(), Some(8_192));
    }
}

#[tokio::test]
async fn a_thought_in_the_content_is_no_part_of_the_answer() {
    let server = Server::start(vec![Reply::text("<think>\na < b\n</think>\n\nYes.", 7)]);
    let chunks = call(&client(&server)).await;
    assert_eq!(text(&chunks), "Yes.");
    let thought = |chunk: &Result<Chunk, ModelError>| match chunk {
        Ok(Chunk::Thought(text)) => text.clone(),
        _ => String::new(),
    };
    assert_eq!(chunks.iter().map(thought).collect::<String>(), "\na < b\n");
}

#[tokio::test]
async fn a_failing_server_is_tried_five_times() {
    let replies = [500, 502, 503, 408, 529].map(Reply::status);
    let server = Server::start(replies.to_vec());
    let chunks = call(&patient(client(&server))).await;
    let attempts: Vec<_> =
        waits(&chunks).into_iter().map(|(attempt, of, _)| (attempt, of)).collect();
    assert_eq!(attempts, [(2, 5), (3, 5), (4, 5), (5, 5)]);
    assert!(matches!(fault(&chunks), ModelError::Faulty { status: 529, .. }));
    assert_eq!(server.requests().len(), 5);
}

#[tokio::test]
async fn a_connection_that_breaks_before_any_output_is_retried() {
    let silent = Reply::raw("");
    let cut = Reply::events([": hello\n\n"]).cut_after(1);
    let server = Server::start(vec![silent, cut, Reply::text("here", 1)]);
    let chunks = call(&patient(client(&server))).await;
    assert_eq!((waits(&chunks).len(), text(&chunks).as_str()), (2, "here"));
}

#[tokio::test]
async fn a_break_in_mid_answer_keeps_the_text_and_is_not_retried() {
    let server = Server::start(vec![Reply::text("Hello, world", 4).cut_after(2)]);
    let chunks = call(&patient(client(&server))).await;
    assert_eq!(text(&chunks), "Hello,");
    assert!(matches!(fault(&chunks), ModelError::Broken { .. }));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_stream_that_ends_without_a_finish_reason_is_broken() {
    let open = Reply::events([event(&delta("a"))]);
    let finished = Reply::events([event(&delta("a")), event(&finish("stop"))]);
    let torn = Reply::events([event(&delta("a")), event(&finish("stop"))]).cut_after(2);
    let server = Server::start(vec![open, finished, torn]);
    assert!(matches!(fault(&call(&client(&server)).await), ModelError::Unended { .. }));
    assert_eq!(call(&client(&server)).await.last(), Some(&DONE));
    assert_eq!(call(&client(&server)).await.last(), Some(&DONE));
}

#[tokio::test]
async fn a_text_that_twice_in_a_row_has_no_end_is_whole_and_half_a_call_never_is() {
    let open = || Reply::events([event(&delta("It is three."))]);
    let server = Server::start(vec![open(), open(), open()]);
    let chunks: Vec<_> = patient(client(&server)).stream(restartable()).collect().await;
    assert_eq!((kept(&chunks).as_str(), chunks.last()), ("It is three.", Some(&DONE)));
    assert_eq!(server.requests().len(), 2);
    let torn = || open().cut_after(1);
    let server = Server::start(vec![open(), torn(), open(), open(), open()]);
    let chunks: Vec<_> = patient(client(&server)).stream(restartable()).collect().await;
    assert_eq!((chunks.last(), server.requests().len()), (Some(&DONE), 4), "in a row");
    let function = json!({ "name": "f", "arguments": "{}" });
    let begun = json!({ "tool_calls": [{ "index": 0, "id": "a", "function": function }] });
    let begun = json!({ "choices": [{ "index": 0, "delta": begun }] });
    let half = || Reply::events([event(&delta("I look.")), event(&begun)]);
    let server = Server::start((0..5).map(|_| half()).collect());
    let chunks: Vec<_> = patient(client(&server)).stream(restartable()).collect().await;
    assert!(matches!(fault(&chunks), ModelError::Broken { .. }), "{chunks:?}");
}

#[tokio::test]
async fn an_answer_that_the_server_paused_goes_on_as_one() {
    let part = |text: &str, end: &str, tokens: u64| {
        let delta = json!({ "type": "text_delta", "text": text });
        let usage = json!({ "input_tokens": tokens, "output_tokens": tokens });
        Reply::events([
            event(&json!({ "type": "message_start", "message": { "usage": usage } })),
            event(&json!({ "type": "content_block_delta", "index": 0, "delta": delta })),
            event(&json!({ "type": "message_delta", "delta": { "stop_reason": end } })),
            event(&json!({ "type": "message_stop" })),
        ])
    };
    let server = Server::start(vec![part("One, ", "pause_turn", 3), part("two.", "end_turn", 4)]);
    let provider = Some(avocet::protocol::Provider::Anthropic);
    let model = HttpModel::new(Endpoint { provider, ..endpoint(server.base_url()) }).unwrap();
    let chunks: Vec<_> = patient(model).stream(restartable()).collect().await;
    assert_eq!((text(&chunks).as_str(), chunks.last()), ("One, two.", Some(&DONE)));
    let usage = chunks.iter().rev().find_map(|chunk| match chunk {
        Ok(Chunk::Usage(usage)) => Some(usage.input_tokens),
        _ => None,
    });
    assert_eq!(usage, Some(7), "both parts are paid for");
    let back = server.requests()[1].json();
    assert_eq!(back["messages"][1]["content"][0]["text"], "One, ");
}

#[tokio::test]
async fn a_stall_is_reported_and_retried_once() {
    let stall = || Reply::text("x", 1).hang_after(0);
    let server = Server::start(vec![stall(), stall(), Reply::text("never asked", 1)]);
    let model = impatient(&server, Duration::from_millis(40));
    let chunks = call(&patient(model)).await;
    let attempts: Vec<_> =
        waits(&chunks).into_iter().map(|(attempt, of, _)| (attempt, of)).collect();
    assert_eq!(attempts, [(2, 2)]);
    assert!(matches!(fault(&chunks), ModelError::Stalled { .. }));
    server.gone(2).await;
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn a_stall_in_the_middle_ends_the_answer() {
    let server = Server::start(vec![Reply::text("abcd", 4).hang_after(2)]);
    // Long enough for a busy machine to send the beginning.
    let chunks = call(&patient(impatient(&server, Duration::from_secs(2)))).await;
    assert_eq!((text(&chunks).as_str(), waits(&chunks).len()), ("ab", 0));
    assert!(matches!(fault(&chunks), ModelError::Stalled { seconds: 2, .. }));
}

#[tokio::test]
async fn comments_keep_a_slow_answer_alive() {
    let mut pieces: Vec<String> = (0..8).map(|_| ": still here\n\n".to_owned()).collect();
    pieces.push(event(&delta("slow")));
    pieces.push("data: [DONE]\n\n".into());
    // The comments alone take longer than the silence that is allowed.
    let server = Server::start(vec![Reply::events(pieces).pause(Duration::from_millis(500))]);
    let chunks = call(&impatient(&server, Duration::from_secs(3))).await;
    assert_eq!((text(&chunks).as_str(), chunks.last()), ("slow", Some(&DONE)));
}

#[tokio::test]
async fn a_web_page_is_named_with_its_address() {
    for status in [200, 404] {
        let page = Reply::status(status)
            .header("content-type", "text/html")
            .body("\n<!DOCTYPE html><html><script>x</script></html>");
        let server = Server::start(vec![page]);
        let said = fault(&call(&client(&server)).await).to_string();
        assert!(said.contains(&server.base_url()) && !said.contains("<"), "{said}");
    }
}

#[tokio::test]
async fn an_error_after_status_200_is_an_error() {
    let error = json!({ "error": { "message": "no such tool", "code": 400 } });
    let replies = vec![
        Reply::events([event(&delta("a")), event(&error)]),
        Reply::events([event(&delta("a")), format!("event: error\n{}", event(&error))]),
        Reply::json(200, &error),
    ];
    let server = Server::start(replies);
    for number in 0..3 {
        let chunks = call(&patient(client(&server))).await;
        let said = fault(&chunks).to_string();
        assert!(said.contains("no such tool"), "{number}: {said}");
    }
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn a_temporary_stream_error_is_retried_before_any_output() {
    let error = json!({ "error": { "message": "overloaded", "code": 503 } });
    let server = Server::start(vec![Reply::events([event(&error)]), Reply::text("ok", 1)]);
    let chunks = call(&patient(client(&server))).await;
    assert_eq!((waits(&chunks).len(), text(&chunks).as_str()), (1, "ok"));
}

#[tokio::test]
async fn an_endless_line_is_stopped() {
    let piece = vec![b'x'; 1 << 20];
    let server = Server::start(vec![Reply::events(vec![piece; 64])]);
    let chunks = call(&client(&server)).await;
    assert!(matches!(fault(&chunks), ModelError::TooLarge { mib: 8, .. }), "{chunks:?}");
    server.gone(1).await;
}

#[tokio::test]
async fn an_endless_answer_is_stopped() {
    let comment = format!(": {}\n\n", "x".repeat(1 << 20));
    let server = Server::start(vec![Reply::events(vec![comment; 20])]);
    let chunks = call(&client(&server)).await;
    assert!(matches!(fault(&chunks), ModelError::TooLarge { mib: 16, .. }), "{chunks:?}");
}

#[tokio::test]
async fn invalid_bytes_are_replaced() {
    let mut bytes = event(&delta("a?b")).into_bytes();
    let at = bytes.iter().position(|byte| *byte == b'?').unwrap();
    bytes[at] = 0xff;
    let server = Server::start(vec![Reply::events([bytes, b"data: [DONE]\n\n".to_vec()])]);
    let chunks = call(&client(&server)).await;
    assert_eq!((text(&chunks).as_str(), chunks.last()), ("a\u{fffd}b", Some(&DONE)));
}

#[tokio::test]
async fn garbage_is_one_clear_error() {
    let server = Server::start(vec![
        Reply::raw("\0\x01\x02 not http at all\r\n\r\n"),
        Reply::events(["data: hello\n\n"]),
        Reply::status(200),
    ]);
    assert!(matches!(fault(&call(&client(&server)).await), ModelError::Broken { .. }));
    assert!(matches!(fault(&call(&client(&server)).await), ModelError::Foreign { .. }));
    assert!(matches!(fault(&call(&client(&server)).await), ModelError::Broken { .. }));
}

#[tokio::test]
async fn one_invalid_line_does_not_end_the_answer() {
    let stop = event(&finish("stop"));
    let (a, b) = (event(&delta("a")), event(&delta("b")));
    let server = Server::start(vec![
        Reply::events([a.as_str(), "data: not json\n\n", &b, &stop, "data: [DONE]\n\n"]),
        Reply::events(["data: not json\n\n", &a, "\0\x01 no field\n\n", &b, "data: [DONE]\n\n"]),
    ]);
    for _ in 0..2 {
        let chunks = call(&client(&server)).await;
        assert_eq!((text(&chunks).as_str(), chunks.last()), ("ab", Some(&DONE)), "{chunks:?}");
    }
}

#[tokio::test]
async fn an_unreachable_server_is_reported_at_once() {
    let closed = server::nobody();
    let chunks = call(&patient(HttpModel::new(endpoint(closed.clone())).unwrap())).await;
    let gone = ModelError::Unreachable { url: closed, why: ConnectError::Refused };
    assert_eq!(chunks, [Err(gone)]);
}

#[tokio::test]
async fn an_https_address_of_an_http_server_is_one_sentence() {
    let server = Server::start(vec![]);
    let secure = server.base_url().replace("http:", "https:");
    let chunks = call(&HttpModel::new(endpoint(secure.clone())).unwrap()).await;
    assert!(matches!(fault(&chunks), ModelError::Unreachable { url, .. } if *url == secure));
}

#[tokio::test]
async fn dropping_the_stream_frees_the_connection() {
    let server = Server::start(vec![
        Reply::text("Hello, world", 4).hang_after(1),
        Reply::text("Hello", 1).hang_after(0),
    ]);
    let model = client(&server);
    let mut chunks = model.stream(request());
    assert_eq!(chunks.next().await, Some(Ok(Chunk::Text("Hel".into()))));
    drop(chunks);
    server.gone(1).await;

    // Also while nothing has been answered yet.
    let waiting = tokio::spawn(model.stream(request()).count());
    server.arrived(2).await;
    waiting.abort();
    server.gone(2).await;
}

#[tokio::test]
async fn a_redirect_is_not_followed_with_the_key() {
    let other = Server::start(vec![Reply::text("stolen", 1)]);
    let away = Reply::status(307).header("location", &format!("{}/chat", other.base_url()));
    let server = Server::start(vec![away]);
    let said = fault(&call(&patient(client(&server))).await).to_string();
    assert!(said.contains(&other.base_url()), "{said}");
    assert!(other.requests().is_empty());
}

fn format_of(request: &server::ReceivedRequest) -> Value {
    request.json()["response_format"]["type"].take()
}

#[tokio::test]
async fn refused_request_parts_are_omitted_and_not_tried_again() {
    let refuse = |what: &str| {
        let message = format!("{what} is not supported");
        Reply::json(400, &json!({ "error": { "message": message } }))
    };
    let server = Server::start(vec![
        refuse("response_format json_schema"),
        refuse("response_format json_object"),
        refuse("stream_options"),
        Reply::text("plain", 1),
        Reply::text("again", 1),
    ]);
    let model = client(&server);
    let chunks = call(&patient(model.clone())).await;
    assert_eq!((text(&chunks).as_str(), waits(&chunks).len()), ("plain", 0));
    assert_eq!(text(&call(&model.with_model("other")).await), "again");

    let seen = server.requests();
    let formats: Vec<Value> = seen.iter().map(format_of).collect();
    let expected =
        [json!("json_schema"), json!("json_object"), Value::Null, Value::Null, Value::Null];
    assert_eq!(formats, expected);
    let counts: Vec<bool> = seen.iter().map(|s| s.json().get("stream_options").is_some()).collect();
    assert_eq!(counts, [true, true, true, false, false]);
    assert_eq!(seen[4].json()["model"], "other");
}

#[tokio::test]
async fn a_vague_refusal_leads_to_one_plain_request() {
    let vague = || Reply::status(422).body("Extra inputs are not permitted");
    let server = Server::start(vec![vague(), Reply::text("ok", 1), vague(), vague(), vague()]);
    let model = client(&server);
    assert_eq!(text(&call(&model).await), "ok");
    assert!(matches!(fault(&call(&model).await), ModelError::Rejected { status: 422, .. }));
    assert!(matches!(fault(&call(&client(&server)).await), ModelError::Rejected { .. }));
    assert_eq!(server.requests().len(), 5);
}

#[tokio::test]
async fn the_models_of_a_server_are_listed() {
    let server = Server::start_with_models(vec![], &["small", "large"]);
    let models = list_models(endpoint(server.base_url())).await;
    assert_eq!(models, Ok(vec!["small".to_owned(), "large".to_owned()]));

    let listing = |reply| Server::start_with_pages(vec![], vec![("/v1/models", reply)]);
    let shut = listing(Reply::status(401));
    let models = list_models(Endpoint::at(shut.base_url())).await;
    assert!(matches!(models, Err(ModelError::KeyMissing { .. })), "{models:?}");
    let page = listing(Reply::status(200).body("<html>"));
    let models = list_models(Endpoint::at(page.base_url())).await;
    assert!(matches!(models, Err(ModelError::WebPage { .. })), "{models:?}");
}

#[tokio::test]
async fn discovery_finds_running_servers_and_set_keys() {
    let up = Server::start_with_models(vec![], &["tiny"]);
    let listing = |reply| Server::start_with_pages(vec![], vec![("/v1/models", reply)]);
    let page = listing(Reply::status(200).body("<html>"));
    let slow = listing(Reply::status(200).hang_after(0));
    let down = server::nobody();
    let urls = [up.base_url(), page.base_url(), slow.base_url(), down];
    let names = ["Up", "Page", "Slow", "Down"];
    let local: Vec<Local<'_>> =
        names.into_iter().zip(&urls).map(|(name, base_url)| Local { name, base_url }).collect();
    let env = |name: &str| match name {
        "OPENAI_API_KEY" => Some(KEY.to_owned()),
        "GROQ_API_KEY" => Some(String::new()),
        _ => None,
    };
    let mut offers = find_servers(env, &local).await;
    // A second to answer is little on a busy machine.
    for _ in 0..4 {
        if offers.iter().any(|offer| offer.name == "Up") && !page.lookups().is_empty() {
            break;
        }
        offers = find_servers(env, &local).await;
    }
    let found: Vec<_> =
        offers.iter().map(|o| (o.name.as_str(), o.key_env.as_deref(), o.models.len())).collect();
    assert_eq!(found, [("Up", None, 1), ("OpenAI", Some("OPENAI_API_KEY"), 0)]);
    assert!(page.lookups()[0].header("authorization").is_none());
}

#[test]
fn a_client_is_created_without_a_runtime_or_a_connection() {
    let server = Server::start(vec![]);
    assert_eq!(client(&server).name(), "tiny");
    assert!(server.requests().is_empty());
    let unusable = Endpoint { api_key: Some("a\nb".into()), ..endpoint(server.base_url()) };
    let error = HttpModel::new(unusable).map(|_| ());
    assert_eq!(error, Err(ModelError::KeyUnusable { key: "TEST_KEY".into() }));
}

/// A request whose caller can take back what it showed.
fn restartable() -> Request {
    Request { restarts: true, ..request() }
}

/// The text that is left after every restart.
fn kept(chunks: &[Result<Chunk, ModelError>]) -> String {
    let last = chunks.iter().rposition(|chunk| matches!(chunk, Ok(Chunk::Restart)));
    text(&chunks[last.map_or(0, |at| at + 1)..])
}

fn restarts(chunks: &[Result<Chunk, ModelError>]) -> usize {
    chunks.iter().filter(|chunk| matches!(chunk, Ok(Chunk::Restart))).count()
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_asked_for_again_and_replaced_when_the_new_one_begins() {
    let overloaded = json!({ "error": { "message": "overloaded", "code": 503 } });
    let broken: [Reply; 3] = [
        Reply::text("Hello, world", 4).cut_after(2),
        Reply::events([event(&delta("Hello,"))]),
        Reply::events([event(&delta("Hello,")), event(&overloaded)]),
    ];
    for first in broken {
        let server = Server::start(vec![first, Reply::raw(""), Reply::text("Hello, world", 4)]);
        let model = patient(client(&server));
        let chunks: Vec<_> = model.stream(restartable()).collect().await;
        assert_eq!((kept(&chunks).as_str(), restarts(&chunks)), ("Hello, world", 1));
        assert_eq!(text(&chunks), "Hello,Hello, world");
        let at = |wanted: fn(&Chunk) -> bool| {
            chunks.iter().rposition(|chunk| chunk.as_ref().is_ok_and(wanted))
        };
        let waiting = at(|chunk| matches!(chunk, Chunk::Retrying { .. }));
        let restart = at(|chunk| matches!(chunk, Chunk::Restart));
        assert!(waiting.is_some() && waiting < restart, "{chunks:?}");
        assert_eq!(chunks.last(), Some(&DONE));
    }
}

#[tokio::test]
async fn an_answer_that_never_comes_back_whole_keeps_its_first_part() {
    let server = Server::start(vec![Reply::text("Hello, world", 4).cut_after(2)]);
    let model = patient(client(&server));
    let chunks: Vec<_> = model.stream(restartable()).collect().await;
    assert_eq!((text(&chunks).as_str(), restarts(&chunks)), ("Hello,", 0));
    assert!(fault(&chunks).is_drop() || matches!(fault(&chunks), ModelError::Faulty { .. }));
}

#[tokio::test]
async fn a_reply_whose_object_is_closed_needs_no_end_from_the_server() {
    let reply = "{\"type\":\"chat\",\"message\":\"hi\"}";
    let server = Server::start(vec![
        Reply::events([event(&delta(reply))]),
        Reply::events([event(&delta(reply))]).cut_after(1),
    ]);
    for _ in 0..2 {
        let chunks: Vec<_> = patient(client(&server)).stream(restartable()).collect().await;
        let end = Ok(Chunk::Finished(Some(Truncation::Broken)));
        assert_eq!((text(&chunks).as_str(), chunks.last()), (reply, Some(&end)));
    }
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn a_drop_in_the_reasoning_is_retried_without_a_word_taken_back() {
    let thought = json!({ "choices": [{ "delta": { "reasoning_content": "hm" } }] });
    let server = Server::start(vec![
        Reply::events([event(&thought)]).cut_after(1),
        Reply::text("answer", 1),
    ]);
    let chunks = call(&patient(client(&server))).await;
    assert_eq!((text(&chunks).as_str(), chunks.last()), ("answer", Some(&DONE)));
}

#[tokio::test]
async fn a_server_that_loads_its_model_is_asked_until_it_has_and_announced_once() {
    let loading =
        || Reply::json(503, &json!({ "error": { "message": "Loading model", "code": 503 } }));
    let mut replies: Vec<Reply> = (0..9).map(|_| loading()).collect();
    replies.push(Reply::text("ready", 1));
    let server = Server::start(replies);
    let poll = Duration::from_millis(1);
    let model =
        Retry::new(Arc::new(client(&server)), RetryPolicy { poll, ..RetryPolicy::default() });
    let chunks = call(&model).await;
    assert_eq!((text(&chunks).as_str(), waits(&chunks).len()), ("ready", 1));
    assert_eq!(server.requests().len(), 10);
}

#[tokio::test]
async fn a_server_that_broke_off_and_refuses_connections_is_given_time_to_restart() {
    let (poll, gone) = (Duration::from_millis(1), Duration::from_secs(30));
    let policy = RetryPolicy { poll, gone, first: poll, longest: poll, ..RetryPolicy::default() };
    let steps = vec![
        Err(ModelError::Broken { url: "u".into() }),
        Err(ModelError::Unreachable { url: "u".into(), why: ConnectError::Refused }),
        Err(ModelError::Unreachable { url: "u".into(), why: ConnectError::Refused }),
        Ok(Chunk::Text("back".into())),
    ];
    let model = Retry::new(Arc::new(Steps(std::sync::Mutex::new(steps.into()))), policy);
    let chunks = call(&model).await;
    assert_eq!((text(&chunks).as_str(), waits(&chunks).len()), ("back", 2));
    // Without a drop before it, a refused connection is final; and it is not waited for for ever.
    let refused = || Err(ModelError::Unreachable { url: "u".into(), why: ConnectError::Refused });
    let model = Retry::new(Arc::new(Steps(std::sync::Mutex::new(vec![refused()].into()))), policy);
    assert_eq!(call(&model).await, [refused()]);
    let broken = Err(ModelError::Broken { url: "u".into() });
    let endless = std::iter::once(broken).chain(std::iter::repeat_with(refused).take(100_000));
    let brief = RetryPolicy { gone: Duration::from_millis(50), ..policy };
    let model = Retry::new(Arc::new(Steps(std::sync::Mutex::new(endless.collect()))), brief);
    assert_eq!(call(&model).await.last(), Some(&refused()));
}

/// A model whose calls each give the next of these.
struct Steps(std::sync::Mutex<std::collections::VecDeque<Result<Chunk, ModelError>>>);

impl Model for Steps {
    fn name(&self) -> &str {
        "steps"
    }

    fn stream(
        &self,
        _: Request,
    ) -> futures_util::stream::BoxStream<'static, Result<Chunk, ModelError>> {
        let next = self.0.lock().unwrap().pop_front();
        futures_util::stream::iter(next).boxed()
    }
}

#[tokio::test]
async fn a_model_without_tools_is_named_and_not_asked_again() {
    let refusal = json!({ "error": { "message": "tiny does not support tools" } });
    let server = Server::start(vec![Reply::json(400, &refusal), Reply::text("plain", 1)]);
    let model = client(&server);
    let tool = ToolSchema {
        name: "shell".into(),
        description: "Runs.".into(),
        parameters: json!({ "type": "object" }),
    };
    for _ in 0..2 {
        let request = Request { tools: [tool.clone()].into(), ..request() };
        let chunks: Vec<_> = model.stream(request).collect().await;
        assert!(matches!(fault(&chunks), ModelError::NoTools { .. }), "{chunks:?}");
    }
    assert_eq!(text(&call(&model).await), "plain");
    assert_eq!(server.requests().len(), 2);
}

/// One server for each format: its provider, an answer in pieces of which the first shows text, and
/// the path, key header and usage that belong to it.
struct Format {
    provider: Provider,
    path: &'static str,
    key: (&'static str, String),
    pieces: Vec<String>,
}

fn formats() -> Vec<Format> {
    let bearer = || ("authorization", format!("Bearer {KEY}"));
    let anthropic = [
        json!({ "type": "message_start", "message": { "usage": { "input_tokens": 3, "cache_read_input_tokens": 4, "output_tokens": 1 } } }),
        json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "Hel" } }),
        json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": "lo" } }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" }, "usage": { "output_tokens": 2 } }),
        json!({ "type": "message_stop" }),
    ];
    let responses = [
        json!({ "type": "response.created", "response": {} }),
        json!({ "type": "response.output_text.delta", "item_id": "m", "delta": "Hel" }),
        json!({ "type": "response.output_text.delta", "item_id": "m", "delta": "lo" }),
        json!({ "type": "response.completed", "response": { "status": "completed", "usage": {
            "input_tokens": 7, "output_tokens": 2, "input_tokens_details": { "cached_tokens": 4 } } } }),
    ];
    let gemini = [
        json!({ "candidates": [{ "content": { "parts": [{ "text": "Hel" }] } }] }),
        json!({ "candidates": [{ "content": { "parts": [{ "text": "lo" }] }, "finishReason": "STOP" }],
            "usageMetadata": { "promptTokenCount": 7, "candidatesTokenCount": 2, "cachedContentTokenCount": 4 } }),
    ];
    let chat = [
        delta("Hel"),
        delta("lo"),
        finish("stop"),
        json!({ "choices": [], "usage": { "prompt_tokens": 7, "completion_tokens": 2,
            "prompt_tokens_details": { "cached_tokens": 4 } } }),
    ];
    let ollama = [
        json!({ "message": { "content": "Hel" }, "done": false }),
        json!({ "message": { "content": "lo" }, "done": false }),
        json!({ "message": { "content": "" }, "done": true, "done_reason": "stop",
            "prompt_eval_count": 7, "eval_count": 2 }),
    ];
    let events = |values: &[Value]| values.iter().map(event).collect::<Vec<_>>();
    let lines = |values: &[Value]| values.iter().map(|value| format!("{value}\n")).collect();
    let format = |provider, path, key, pieces| Format { provider, path, key, pieces };
    vec![
        format(Provider::OpenAi, "/v1/chat/completions", bearer(), events(&chat)),
        format(Provider::OpenRouter, "/v1/chat/completions", bearer(), events(&chat)),
        format(Provider::Azure, "/v1/chat/completions", ("api-key", KEY.into()), events(&chat)),
        format(Provider::OpenAiResponses, "/v1/responses", bearer(), events(&responses)),
        format(Provider::Anthropic, "/v1/messages", ("x-api-key", KEY.into()), events(&anthropic)),
        format(
            Provider::Gemini,
            "/v1/models/tiny:streamGenerateContent?alt=sse",
            ("x-goog-api-key", KEY.into()),
            events(&gemini),
        ),
        format(Provider::Ollama, "/api/chat", bearer(), lines(&ollama)),
    ]
}

fn speaking(provider: Provider, server: &Server) -> HttpModel {
    let provider = Some(provider);
    HttpModel::new(Endpoint { provider, ..endpoint(server.base_url()) }).unwrap()
}

#[tokio::test]
async fn every_format_streams_counts_and_sends_its_key() {
    for Format { provider, path, key, pieces } in formats() {
        let server = Server::start(vec![Reply::events(pieces)]);
        let chunks = call(&speaking(provider, &server)).await;
        assert_eq!((text(&chunks).as_str(), chunks.last()), ("Hello", Some(&DONE)), "{provider:?}");
        let usage = chunks.iter().find_map(|chunk| match chunk {
            Ok(Chunk::Usage(usage)) => Some(*usage),
            _ => None,
        });
        let cached = if provider == Provider::Ollama { 0 } else { 4 };
        let expected = Usage { cached_tokens: cached, ..Usage::counted(7, 2) };
        assert_eq!(usage, Some(expected), "{provider:?}");
        let seen = server.requests().remove(0);
        assert_eq!(seen.line, format!("POST {path}"), "{provider:?}");
        assert_eq!(seen.header(key.0), Some(key.1.as_str()), "{provider:?}");
        assert!(!seen.body.contains(KEY));
    }
}

#[tokio::test]
async fn every_format_frees_the_connection_when_it_is_dropped() {
    for Format { provider, pieces, .. } in formats() {
        let shown = pieces.iter().position(|piece| piece.contains("Hel")).unwrap();
        let server = Server::start(vec![Reply::events(pieces).hang_after(shown + 1)]);
        let mut chunks = speaking(provider, &server).stream(request());
        assert_eq!(chunks.next().await, Some(Ok(Chunk::Text("Hel".into()))), "{provider:?}");
        drop(chunks);
        server.gone(1).await;
    }
}

#[tokio::test]
async fn every_format_skips_a_broken_event_and_marks_the_gap() {
    for Format { provider, mut pieces, .. } in formats() {
        let shown = pieces.iter().position(|piece| piece.contains("Hel")).unwrap();
        let end = if provider == Provider::Ollama { "\n" } else { "\n\n" };
        let start = if provider == Provider::Ollama { "" } else { "data: " };
        pieces.insert(shown + 1, format!("{start}{{\"text\":\"bro{end}"));
        let server = Server::start(vec![Reply::events(pieces)]);
        let chunks = call(&speaking(provider, &server)).await;
        assert_eq!((text(&chunks).as_str(), chunks.last()), ("Hello", Some(&DONE)), "{provider:?}");
        let gaps = chunks.iter().filter(|chunk| matches!(chunk, Ok(Chunk::Gap))).count();
        assert_eq!(gaps, 1, "{provider:?}");
    }
}

#[tokio::test]
async fn every_format_is_asked_again_after_a_drop_and_after_a_passing_error() {
    let overloaded =
        json!({ "error": { "type": "overloaded_error", "code": 503, "message": "Overloaded" } });
    for Format { provider, pieces, .. } in formats() {
        let shown = pieces.iter().position(|piece| piece.contains("Hel")).unwrap() + 1;
        let mut failing: Vec<String> = pieces[..shown].to_vec();
        failing.push(match provider {
            Provider::Ollama => format!("{overloaded}\n"),
            _ => event(&overloaded),
        });
        let server = Server::start(vec![
            Reply::events(pieces.clone()).cut_after(shown),
            Reply::events(failing),
            Reply::status(529).body(overloaded.to_string()),
            Reply::events(pieces),
        ]);
        let model = patient(speaking(provider, &server));
        let chunks: Vec<_> = model.stream(restartable()).collect().await;
        assert_eq!((kept(&chunks).as_str(), restarts(&chunks)), ("Hello", 2), "{provider:?}");
        assert_eq!((waits(&chunks).len(), chunks.last()), (3, Some(&DONE)), "{provider:?}");
    }
}

#[tokio::test]
async fn every_format_says_what_to_mend_before_the_stream() {
    let cases = [
        (401, r#"{"error":{"message":"bad key"}}"#, "TEST_KEY"),
        (402, r#"{"error":{"message":"pay"}}"#, "credit"),
        (404, r#"{"error":{"message":"model 'tiny' not found"}}"#, "no model `tiny`"),
        (400, r#"{"error":{"message":"prompt is too long: 9 tokens > 8"}}"#, "too long"),
        (400, r#"{"error":"temperature is too high"}"#, "temperature is too high"),
    ];
    for Format { provider, .. } in formats() {
        for (status, body, hint) in cases {
            let server = Server::start(vec![Reply::status(status).body(body)]);
            let chunks = call(&patient(speaking(provider, &server))).await;
            let said = fault(&chunks).to_string();
            assert!(said.contains(hint), "{provider:?} {status}: {said}");
            assert_eq!(server.requests().len(), 1, "{provider:?} {status}");
        }
    }
}

#[tokio::test]
async fn every_format_recognises_the_others_by_their_first_event() {
    let kind = |provider: Provider| provider.format();
    for Format { provider: asked, .. } in formats() {
        for Format { provider: answers, pieces, .. } in formats() {
            if kind(asked) == kind(answers) || asked == Provider::Ollama {
                continue;
            }
            let server = Server::start(vec![Reply::events(pieces)]);
            let chunks = call(&patient(speaking(asked, &server))).await;
            let named = matches!(fault(&chunks), ModelError::OtherFormat { provider, .. } if *provider == kind(answers));
            assert!(named, "{asked:?} {answers:?}: {chunks:?}");
            assert_eq!(server.requests().len(), 1);
        }
    }
}

/// A server that ends the body of each answer only when it is told that the answer was taken.
struct SlowEnd {
    address: std::net::SocketAddr,
    /// The number of the connection on which each request came.
    asked: std::sync::mpsc::Receiver<usize>,
    taken: std::sync::mpsc::Sender<()>,
}

impl SlowEnd {
    fn start() -> SlowEnd {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (ask, asked) = std::sync::mpsc::channel();
        let (taken, is_taken) = std::sync::mpsc::channel();
        let is_taken = Arc::new(std::sync::Mutex::new(is_taken));
        std::thread::spawn(move || {
            for (number, socket) in listener.incoming().flatten().enumerate() {
                let (ask, is_taken) = (ask.clone(), Arc::clone(&is_taken));
                std::thread::spawn(move || {
                    while read_request(&socket) {
                        let _ = ask.send(number);
                        let sent = (&socket).write_all(SlowEnd::answer().as_bytes());
                        if sent.is_err() || is_taken.lock().unwrap().recv().is_err() {
                            break;
                        }
                        let _ = (&socket).write_all(b"0\r\n\r\n");
                    }
                });
            }
        });
        SlowEnd { address, asked, taken }
    }

    /// All but its end.
    fn answer() -> String {
        let lines = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"},\
            \"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
            transfer-encoding: chunked\r\n\r\n";
        format!("{head}{:x}\r\n{lines}\r\n", lines.len())
    }
}

/// Reads a request with its body; false at the end of the connection.
fn read_request(socket: &std::net::TcpStream) -> bool {
    let mut reader = std::io::BufReader::new(socket);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return false;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line == "\r\n" {
            return reader.read_exact(&mut vec![0; length]).is_ok();
        }
    }
}

#[tokio::test]
async fn a_connection_whose_answer_ends_after_its_last_event_serves_the_next_request() {
    let server = SlowEnd::start();
    let model = HttpModel::new(endpoint(format!("http://{}/v1", server.address))).unwrap();
    let mut connections = Vec::new();
    let mut is_kept = false;
    for _ in 0..50 {
        assert_eq!(text(&call(&model).await), "Hi");
        connections.push(server.asked.recv().unwrap());
        server.taken.send(()).unwrap();
        // It is free again a moment after its end was sent, which only the next request can show.
        is_kept = connections.iter().filter(|number| **number == connections[0]).count() > 1;
        if is_kept {
            break;
        }
        tokio::task::yield_now().await;
    }
    assert!(is_kept, "a new connection for each request: {connections:?}");
}
