//! Requests as they are written, and answers as they are read.

use super::super::tests::{call, conversation, gather, read};
use super::*;
use crate::{Chunk, ModelError, Request};
use avocet_core::protocol::{Params, Provider};

fn write(model: &str, request: &Request) -> Value {
    Bedrock.body(&call(Provider::Bedrock, model, request))
}

fn request() -> Request {
    let signature = json!({ "signature": "c2ln" });
    conversation(Provider::Bedrock, [Some(signature), None, None])
}

#[test]
fn a_name_is_one_segment_of_the_path_and_chooses_the_operation() {
    let path = |model| Bedrock.path(model);
    assert_eq!(
        path("us.anthropic.claude-sonnet-4-5-v1:0"),
        "model/us.anthropic.claude-sonnet-4-5-v1%3A0/invoke-with-response-stream"
    );
    assert_eq!(path("arn:aws:x/y"), "model/arn%3Aaws%3Ax%2Fy/converse-stream");
}

#[test]
fn calls_results_reasoning_and_images_have_their_own_blocks() {
    let body = write("m", &request());
    let blocks: Vec<&str> = body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|message| message["content"].as_array().unwrap())
        .map(|block| block.as_object().unwrap().keys().next().unwrap().as_str())
        .collect();
    for kind in ["text", "image", "toolUse", "toolResult", "reasoningContent"] {
        assert!(blocks.contains(&kind), "{blocks:?}");
    }
    assert_eq!(body["toolConfig"]["tools"][0]["toolSpec"]["name"], "shell");
    assert!(body.get("model").is_none());
    let other = write("n", &request()).to_string();
    assert!(!other.contains("reasoningContent"), "of another model");
}

#[test]
fn a_model_of_anthropic_gets_messages_in_its_own_format() {
    let body = write("eu.anthropic.claude-sonnet-4-5-v1:0", &request());
    assert_eq!(body["anthropic_version"], ANTHROPIC_VERSION);
    let absent = ["model", "stream", "cache_control"];
    assert!(absent.iter().all(|field| body.get(*field).is_none()), "{body}");
    let last = body["messages"].as_array().unwrap().last().unwrap();
    let last = last["content"].as_array().unwrap().last().unwrap();
    assert_eq!(last["cache_control"]["type"], "ephemeral");
}

#[test]
fn parameters_have_their_names_there() {
    let mut params = Params { temperature: Some(0.5), max_tokens: Some(9), ..Params::default() };
    params.more.insert("service_tier".into(), json!("flex"));
    let body = write("amazon.nova-lite-v1:0", &Request { params, ..request() });
    assert_eq!(body["inferenceConfig"], json!({ "temperature": 0.5, "maxTokens": 9 }));
    assert_eq!(body["serviceTier"], json!({ "type": "flex" }));
}

#[test]
fn text_reasoning_and_calls_are_read_in_pieces() {
    let delta = |index: u64, delta: Value| json!({ "contentBlockDelta": { "contentBlockIndex": index, "delta": delta } });
    let start = json!({ "toolUse": { "toolUseId": "t1", "name": "shell" } });
    let usage = json!({ "inputTokens": 5, "outputTokens": 2, "cacheReadInputTokens": 4 });
    let chunks = gather(
        Provider::Bedrock,
        &[
            json!({ "messageStart": { "role": "assistant" } }),
            delta(0, json!({ "reasoningContent": { "text": "Hm." } })),
            delta(0, json!({ "reasoningContent": { "signature": "c2ln" } })),
            json!({ "contentBlockStop": { "contentBlockIndex": 0 } }),
            delta(1, json!({ "text": "I look." })),
            json!({ "contentBlockStart": { "contentBlockIndex": 2, "start": start } }),
            delta(2, json!({ "toolUse": { "input": "{\"args\":" } })),
            delta(2, json!({ "toolUse": { "input": "[]}" } })),
            json!({ "contentBlockStop": { "contentBlockIndex": 2 } }),
            json!({ "messageStop": { "stopReason": "tool_use" } }),
            json!({ "metadata": { "usage": usage, "metrics": { "latencyMs": 1 } } }),
        ],
    );
    assert_eq!(chunks[0], Chunk::Thought("Hm.".into()));
    assert!(matches!(&chunks[1], Chunk::SealedThought(of) if of.data["signature"] == "c2ln"));
    assert_eq!(chunks[2], Chunk::Text("I look.".into()));
    let Chunk::Call(made) = &chunks[3] else { panic!("{chunks:?}") };
    assert_eq!((made.id.as_str(), made.arguments.as_str()), ("t1", "{\"args\":[]}"));
    assert!(matches!(chunks[4], Chunk::Usage(of) if of.input_tokens == 9 && of.cached_tokens == 4));
    assert_eq!(chunks[5], Chunk::Finished(None));
}

#[test]
fn an_answer_without_its_end_broke_off() {
    let start = json!({ "messageStart": { "role": "assistant" } });
    let (_, error) = read(Provider::Bedrock, &[start]);
    assert!(matches!(error, Some(ModelError::Unended { .. })), "{error:?}");
    assert_eq!(truncation("max_tokens"), Some(Truncation::Length));
    assert_eq!(truncation("guardrail_intervened"), Some(Truncation::Filtered));
}
