//! A request of a server to the model: read from its parameters, and the answer written back.

use serde_json::{Value, json};

use avocet_core::protocol::Message;

use super::clean;
use super::message::{McpQuestionId, SampledAnswer, SamplingRequest};

/// The most messages, bytes of all their texts, and tokens of an answer.
const MAX_MESSAGES: usize = 100;
const MAX_TEXT: usize = 256 * 1024;
const MAX_TOKENS: u64 = 8192;

/// Why a server gets no answer of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SamplingError {
    /// Of JSON-RPC.
    pub code: i32,
    pub message: String,
}

impl SamplingError {
    pub fn not_allowed() -> SamplingError {
        SamplingError { code: -32601, message: "the user does not allow sampling".to_owned() }
    }

    pub fn busy() -> SamplingError {
        SamplingError { code: -32603, message: "too many requests at once".to_owned() }
    }

    fn wrong(why: &str) -> SamplingError {
        SamplingError { code: -32602, message: why.to_owned() }
    }
}

/// Reads the parameters of `sampling/createMessage`. Only texts are passed on.
pub(crate) fn request(id: McpQuestionId, params: &Value) -> Result<SamplingRequest, SamplingError> {
    let given = params.get("messages").and_then(Value::as_array);
    let given = given.ok_or_else(|| SamplingError::wrong("no messages"))?;
    if given.is_empty() || given.len() > MAX_MESSAGES {
        return Err(SamplingError::wrong("1 to 100 messages are read"));
    }
    let system = params.get("systemPrompt").and_then(Value::as_str).unwrap_or_default();
    let mut messages = Vec::new();
    if !system.is_empty() {
        messages.push(Message::system(clean::paragraph(system, MAX_TEXT)));
    }
    for message in given {
        let text = clean::paragraph(&text_of(message)?, MAX_TEXT);
        messages.push(match message.get("role").and_then(Value::as_str) {
            Some("assistant") => Message::assistant(text),
            _ => Message::user(text),
        });
    }
    if messages.iter().map(Message::len).sum::<usize>() > MAX_TEXT {
        return Err(SamplingError::wrong("the messages are too long"));
    }
    let most = params.get("maxTokens").and_then(Value::as_u64).unwrap_or(MAX_TOKENS);
    let max_tokens = u32::try_from(most.clamp(1, MAX_TOKENS)).unwrap_or(u32::MAX);
    Ok(SamplingRequest { id, messages, max_tokens })
}

fn text_of(message: &Value) -> Result<String, SamplingError> {
    let content = message.get("content").unwrap_or(&Value::Null);
    let parts = content.as_array().map_or(std::slice::from_ref(content), Vec::as_slice);
    let text = |part: &Value| part.get("text").and_then(Value::as_str).map(str::to_owned);
    let texts: Option<Vec<String>> = parts.iter().map(text).collect();
    texts.map(|texts| texts.join("\n")).ok_or_else(|| SamplingError::wrong("only texts are read"))
}

/// The result of `sampling/createMessage`.
pub(crate) fn answer(sampled: Result<SampledAnswer, String>) -> Result<Value, SamplingError> {
    let SampledAnswer { model, text } =
        sampled.map_err(|message| SamplingError { code: -32603, message })?;
    Ok(json!({
        "role": "assistant",
        "content": {"type": "text", "text": text},
        "model": model,
        "stopReason": "endTurn",
    }))
}
