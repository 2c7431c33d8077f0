//! Requests as they are written, and answers as they are read.

use super::super::tests::{call, conversation, gather, read, written};
use super::*;
use crate::{Chunk, ModelError, Request, ToolSchema};
use avocet_core::protocol::{Opaque, Params, Provider, ToolCall};

fn write(model: &str, request: &Request) -> Value {
    GenerateContent.body(&call(Provider::Gemini, model, request))
}

fn request() -> Request {
    let signature = json!({ "thoughtSignature": "c2ln" });
    conversation(Provider::Gemini, [None, Some(signature), None])
}

fn part(part: Value) -> Value {
    json!({ "candidates": [{ "content": { "role": "model", "parts": [part] }, "index": 0 }] })
}

fn stop(reason: &str) -> Value {
    json!({
        "candidates": [{ "content": { "parts": [{ "text": "" }] }, "finishReason": reason }],
        "usageMetadata": { "promptTokenCount": 5, "candidatesTokenCount": 2, "thoughtsTokenCount": 3,
            "cachedContentTokenCount": 4 },
    })
}

#[test]
fn a_request_holds_calls_with_signatures_results_and_images() {
    insta::assert_snapshot!(written(Provider::Gemini, "m", &request()));
}

#[test]
fn a_call_of_another_model_goes_with_a_sentinel() {
    let parts = |model: &str| write(model, &request())["contents"][1]["parts"].take();
    let signatures = |model: &str| {
        let parts = parts(model);
        [1, 2].map(|at: usize| parts[at].get("thoughtSignature").cloned())
    };
    assert_eq!(signatures("m"), [Some(json!("c2ln")), None]);
    assert_eq!(signatures("n"), [Some(json!(NO_SIGNATURE)), None]);
}

#[test]
fn older_models_think_by_a_budget() {
    let config =
        |model: &str| write(model, &request())["generationConfig"]["thinkingConfig"].take();
    assert_eq!(config("gemini-2.5-pro")["thinkingBudget"], 24_576);
    assert_eq!(config("gemini-3.1-pro")["thinkingLevel"], "high");
    let request = Request { effort: Some(Effort::None), ..Request::default() };
    let sent = write("gemini-2.5-flash", &request);
    assert_eq!(sent["generationConfig"]["thinkingConfig"]["thinkingBudget"], 0);
}

#[test]
fn schemas_are_sent_as_json_schema() {
    let given = json!({
        "type": "object", "additionalProperties": false,
        "properties": { "type": { "const": "chat" }, "value": {}, "set": { "type": "object" } },
        "required": ["type"],
    });
    let mut expected = given.clone();
    expected["properties"]["type"] = json!({ "enum": ["chat"] });
    let params = Params { max_tokens: Some(9), ..Params::default() };
    let request = Request { params, schema: Some(given.clone().into()), ..Request::default() };
    let sent = write("m", &request);
    assert_eq!(sent["generationConfig"]["responseJsonSchema"], expected);
    assert_eq!(sent["generationConfig"]["maxOutputTokens"], 9);
    let tool = |parameters| ToolSchema { name: "t".into(), description: "d".into(), parameters };
    let tools = [tool(given), tool(json!({ "type": "object", "properties": {} }))];
    let sent = write("m", &Request { tools: tools.into(), ..Request::default() });
    let declared = &sent["tools"][0]["functionDeclarations"];
    assert_eq!(declared[0]["parametersJsonSchema"], expected);
    assert_eq!(
        declared[1].get("parametersJsonSchema"),
        None,
        "an object without fields is refused"
    );
}

#[test]
fn thoughts_calls_and_signatures_are_told_apart() {
    let seal = |signature: &str| Opaque {
        wire: "gemini".into(),
        model: "m".into(),
        data: json!({ "thoughtSignature": signature }),
    };
    let call = |id: &str, opaque: Option<Opaque>| {
        let (name, arguments) = ("f".to_owned(), "{\"a\":1}".to_owned());
        Chunk::Call(ToolCall { id: id.into(), name, arguments, opaque: opaque.map(Box::new) })
    };
    let made = json!({ "name": "f", "args": { "a": 1 } });
    let events = [
        part(json!({ "text": "hm", "thought": true })),
        part(json!({ "text": "a", "thoughtSignature": "s" })),
        part(json!({ "functionCall": made, "thoughtSignature": "t" })),
        part(json!({ "functionCall": made })),
        part(json!({ "executableCode": { "code": "1" } })),
        stop("STOP"),
    ];
    let usage = Usage { cached_tokens: 4, reasoning_tokens: 3, ..Usage::counted(5, 5) };
    let expected = vec![
        Chunk::Thought("hm".into()),
        Chunk::Text("a".into()),
        Chunk::SealedText(seal("s")),
        call("call_0", Some(seal("t"))),
        call("call_1", None),
        Chunk::Usage(usage),
        Chunk::Finished(None),
    ];
    assert_eq!(gather(Provider::Gemini, &events), expected);
    assert_eq!(gather(Provider::Gemini, &[Value::Array(events.to_vec())]), expected);
}

#[test]
fn an_answer_may_be_cut_blocked_or_malformed() {
    let cut = |events: &[Value]| gather(Provider::Gemini, events).pop();
    let finished = |cut| Some(Chunk::Finished(Some(cut)));
    assert_eq!(cut(&[stop("MAX_TOKENS")]), finished(Truncation::Length));
    assert_eq!(cut(&[stop("PROHIBITED_CONTENT")]), finished(Truncation::Filtered));
    let blocked = json!({ "promptFeedback": { "blockReason": "SAFETY" } });
    assert_eq!(cut(&[blocked]), finished(Truncation::Filtered));
    for passing in [
        stop("MALFORMED_FUNCTION_CALL"),
        json!({ "error": { "code": 503, "status": "UNAVAILABLE", "message": "x" } }),
    ] {
        let (_, error) = read(Provider::Gemini, &[passing]);
        assert!(matches!(error, Some(ModelError::Reported { passing: true, .. })), "{error:?}");
    }
}
