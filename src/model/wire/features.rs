//! The optional parts of a request, which a server may not support.
//!
//! Servers differ in what they accept in addition to messages. [`RequestFeatures`] says what is
//! requested; [`CapabilityCache`] remembers the refusals, for as long as the client lives.

use std::sync::atomic::{AtomicU16, Ordering};

use serde_json::{Value, json};

use super::super::error_body::ServerMessage;
use super::super::{Effort, Request};
use avocet_core::protocol::Role;

/// The optional parts of one request. Each bit is a part given up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RequestFeatures(u16);

/// The request to try next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Downgrade {
    /// The server takes no tools.
    NoTools,
    /// The server named the part it refuses.
    Named(RequestFeatures),
    /// It named none; whether this was the cause is known when it accepts.
    Guessed(RequestFeatures),
}

impl RequestFeatures {
    const NO_SCHEMA: RequestFeatures = RequestFeatures(1);
    const NO_OBJECT: RequestFeatures = RequestFeatures(2);
    const NO_USAGE: RequestFeatures = RequestFeatures(4);
    const NEW_LIMIT: RequestFeatures = RequestFeatures(8);
    /// All system messages are sent as one: some templates accept only one.
    pub(super) const ONE_SYSTEM: RequestFeatures = RequestFeatures(16);
    /// Biases by text: only servers with their own tokenizer accept them.
    const NO_BIAS: RequestFeatures = RequestFeatures(32);
    const NO_EFFORT: RequestFeatures = RequestFeatures(64);
    /// No thinking, requested explicitly: some models take tools only then.
    const EFFORT_NONE: RequestFeatures = RequestFeatures(128);
    /// Marks where a prompt may be kept.
    const NO_CACHE: RequestFeatures = RequestFeatures(256);
    /// Everything but messages, parameters and tools.
    const PLAIN: RequestFeatures = RequestFeatures(1 | 2 | 4 | 32 | 64 | 256);

    pub(super) fn has(self, part: RequestFeatures) -> bool {
        self.0 & part.0 == part.0
    }

    fn with(self, part: RequestFeatures) -> RequestFeatures {
        RequestFeatures(self.0 | part.0)
    }

    /// The request to try after this refusal; `None` if no optional part is to blame.
    pub fn step_down(
        self,
        request: &Request,
        status: u16,
        said: &ServerMessage,
    ) -> Option<Downgrade> {
        if !matches!(status, 400 | 404 | 415 | 422 | 500 | 501) {
            return None;
        }
        if let Some(part) = self.named_part(request, said) {
            return Some(Downgrade::Named(self.with(part)));
        }
        if !request.tools.is_empty() && refuses_tools(said) {
            return Some(Downgrade::NoTools);
        }
        if said.mentions(FORMAT) {
            return self.next_format(request).map(Downgrade::Named);
        }
        // The refusal names nothing, but complains of something unknown: send the plain request,
        // once.
        if matches!(status, 404 | 500) || !(said.text.is_empty() || said.mentions(VAGUE)) {
            return None;
        }
        let plain = self.with(RequestFeatures::PLAIN);
        if plain.optional_parts(request) != self.optional_parts(request) {
            Some(Downgrade::Guessed(plain))
        } else {
            (!request.tools.is_empty()).then_some(Downgrade::NoTools)
        }
    }

    /// The part that the server names.
    fn named_part(self, request: &Request, said: &ServerMessage) -> Option<RequestFeatures> {
        let refused = |part: RequestFeatures, is_sent: bool, names: &[&str]| {
            (is_sent && !self.has(part) && said.mentions(names)).then_some(part)
        };
        let systems = request.messages.iter().filter(|message| message.role == Role::System);
        let clashes = !request.tools.is_empty() && said.mentions(&["function tools with"]);
        let effort = self.effort(request).is_some() && said.mentions(UNSUPPORTED);
        refused(RequestFeatures::NO_USAGE, true, &["stream_options", "include_usage"])
            .or_else(|| {
                let limit = request.params.max_tokens.is_some();
                refused(RequestFeatures::NEW_LIMIT, limit, &["max_completion_tokens"])
            })
            .or_else(|| refused(RequestFeatures::ONE_SYSTEM, systems.count() > 1, SYSTEMS))
            .or_else(|| {
                let bias = self.bias(request).is_some();
                refused(RequestFeatures::NO_BIAS, bias, &["logit_bias", "logit bias"])
            })
            .or_else(|| refused(RequestFeatures::NO_CACHE, true, &["cache_control"]))
            .or_else(|| refused(RequestFeatures::EFFORT_NONE, clashes, &["reasoning_effort"]))
            .or_else(|| refused(RequestFeatures::NO_EFFORT, effort, EFFORT))
    }

    fn next_format(self, request: &Request) -> Option<RequestFeatures> {
        request.schema.as_ref()?;
        if !self.has(RequestFeatures::NO_SCHEMA) {
            Some(self.with(RequestFeatures::NO_SCHEMA))
        } else if !self.has(RequestFeatures::NO_OBJECT) {
            Some(self.with(RequestFeatures::NO_OBJECT))
        } else {
            None
        }
    }

    pub(super) fn asks_usage(self) -> bool {
        !self.has(RequestFeatures::NO_USAGE)
    }

    /// The optional parts that are actually sent with this request.
    fn optional_parts(
        self,
        request: &Request,
    ) -> (Option<Value>, bool, Option<&Value>, Option<Effort>) {
        (self.format(request), self.asks_usage(), self.bias(request), self.effort(request))
    }

    /// The effort that is requested.
    pub(super) fn effort(self, request: &Request) -> Option<Effort> {
        if self.has(RequestFeatures::EFFORT_NONE) && !request.tools.is_empty() {
            return Some(Effort::None);
        }
        request.effort.filter(|_| !self.has(RequestFeatures::NO_EFFORT))
    }

    /// The schema, as long as the server takes one.
    pub(super) fn schema(self, request: &Request) -> Option<&Value> {
        request.schema.as_deref().filter(|_| !self.has(RequestFeatures::NO_SCHEMA))
    }

    pub(super) fn marks_cache(self) -> bool {
        !self.has(RequestFeatures::NO_CACHE)
    }

    /// Any JSON is asked for.
    pub(super) fn asks_json(self, request: &Request) -> bool {
        request.schema.is_some() && !self.has(RequestFeatures::NO_OBJECT)
    }

    /// The parameters under their own names.
    pub(super) fn write_params(self, request: &Request, body: &mut Value) {
        let Ok(Value::Object(params)) = serde_json::to_value(&request.params) else { return };
        for (name, value) in params {
            if name == BIAS && value.is_array() && self.has(RequestFeatures::NO_BIAS) {
                continue;
            }
            let new = name == "max_tokens" && self.has(RequestFeatures::NEW_LIMIT);
            body[if new { "max_completion_tokens".to_owned() } else { name }] = value;
        }
    }

    /// Biases by text that are sent; those by token are an ordinary parameter.
    fn bias(self, request: &Request) -> Option<&Value> {
        let bias = request.params.more.get(BIAS).filter(|bias| bias.is_array())?;
        (!self.has(RequestFeatures::NO_BIAS)).then_some(bias)
    }

    pub(super) fn format(self, request: &Request) -> Option<Value> {
        if let Some(schema) = self.schema(request) {
            let schema = json!({ "name": "reply", "schema": schema });
            Some(json!({ "type": "json_schema", "json_schema": schema }))
        } else {
            self.asks_json(request).then(|| json!({ "type": "json_object" }))
        }
    }
}

/// True if the server says that it, or the model, takes no tools; not if it complains of how one is
/// written or answered.
fn refuses_tools(said: &ServerMessage) -> bool {
    said.mentions(TOOLS) && said.mentions(UNSUPPORTED) && !said.mentions(TOOL_MISTAKES)
}

/// The parameter, and its form by text: `[["happy", 0.2], ["never", false]]`.
const BIAS: &str = "logit_bias";

/// How servers name the part that asks for JSON.
const FORMAT: &[&str] =
    &["response_format", "response format", "json_schema", "json_object", "json schema", "grammar"];

/// How servers name tools.
const TOOLS: &[&str] = &[
    "tools",
    "tool use",
    "tool_use",
    "tool call",
    "tool_call",
    "tool choice",
    "function call",
    "functions",
    "tool-call",
];

/// How servers complain of a particular tool, call or result.
const TOOL_MISTAKES: &[&str] = &[
    "tool_call_id",
    "tool_calls must",
    "tool_calls\" must",
    "tool messages",
    "role 'tool'",
    "without",
    "tools.0",
    "tools[0]",
    "schema for function",
    "thought_signature",
    "reasoning_content",
];

/// How servers name how much to think.
const EFFORT: &[&str] = &["effort", "think", "reasoning"];

/// How servers say that they lack something.
const UNSUPPORTED: &[&str] = &[
    "support",
    "unavailable",
    "not available",
    "not enabled",
    "requires --",
    "unknown",
    "unrecognized",
    "unrecognised",
    "unexpected",
    "not permitted",
    "not allowed",
    "extra ",
    "not implemented",
    "invalid value",
    "invalid option",
];

/// How templates complain of a second system message.
const SYSTEMS: &[&str] = &[
    "system message",
    "system role",
    "system prompt",
    "roles must alternate",
    "must be at the beginning",
];

/// How servers complain of an unknown field without naming it.
const VAGUE: &[&str] = &[
    "unknown",
    "unrecognized",
    "unrecognised",
    "unsupported",
    "not supported",
    "unexpected",
    "not permitted",
    "extra ",
    "additional propert",
];

/// The refusals of a server.
#[derive(Debug, Default)]
pub(crate) struct CapabilityCache(AtomicU16);

impl CapabilityCache {
    /// The initial assumptions about a server: one on another machine has an unknown tokenizer, and
    /// rejects biases by text.
    pub fn for_server(is_local: bool) -> CapabilityCache {
        let ladder = CapabilityCache::default();
        if !is_local {
            ladder.remember(RequestFeatures::NO_BIAS);
        }
        ladder
    }

    pub fn features(&self) -> RequestFeatures {
        RequestFeatures(self.0.load(Ordering::Relaxed))
    }

    /// Parts this shape omits stay omitted.
    pub fn remember(&self, shape: RequestFeatures) {
        self.0.fetch_or(shape.0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::super::chat::ChatCompletions;
    use super::super::format::{WireCall, WireFormat};
    use super::*;
    use crate::ToolSchema;
    use avocet_core::protocol::{Message, Params, Provider};

    fn body(model: &str, request: &Request, features: RequestFeatures) -> Value {
        let (provider, host) = (Provider::OpenAi, "server.example");
        ChatCompletions.body(&WireCall { provider, host, model, request, features })
    }

    #[test]
    fn a_server_that_accepts_one_system_message_gets_one() {
        let mut request = request();
        request.messages.insert(1, Message::system("summary"));
        let said = ServerMessage {
            text: "System message must be at the beginning.".into(),
            ..ServerMessage::default()
        };
        let step = RequestFeatures::default().step_down(&request, 400, &said);
        assert_eq!(step, Some(Downgrade::Named(RequestFeatures::ONE_SYSTEM)));
        assert_eq!(RequestFeatures::ONE_SYSTEM.step_down(&request, 400, &said), None);
        let sent = body("m", &request, RequestFeatures::ONE_SYSTEM);
        assert_eq!(sent["messages"][0]["content"], "s\n\nsummary");
        assert_eq!(sent["messages"].as_array().map(Vec::len), Some(2));
    }

    fn request() -> Request {
        Request {
            messages: vec![Message::system("s"), Message::user("u")],
            params: Params { max_tokens: Some(9), temperature: Some(0.5), ..Params::default() },
            schema: Some(json!({ "type": "object" }).into()),
            ..Request::default()
        }
    }

    /// ISDK-110, 111: biases by text are for servers that accept them.
    #[test]
    fn isdk_110_biases_by_text_go_to_servers_that_accept_them() {
        let mut request = request();
        request.params.more.insert(BIAS.into(), json!([["happy", 0.2], ["bad", false]]));
        let near = CapabilityCache::for_server(true).features();
        assert_eq!(body("m", &request, near)[BIAS], json!([["happy", 0.2], ["bad", false]]));
        assert!(
            body("m", &request, CapabilityCache::for_server(false).features()).get(BIAS).is_none()
        );
        let said = ServerMessage {
            text: "logit_bias must be an object".into(),
            ..ServerMessage::default()
        };
        let step = near.step_down(&request, 400, &said);
        assert_eq!(step, Some(Downgrade::Named(RequestFeatures::NO_BIAS)));
        assert!(body("m", &request, RequestFeatures::NO_BIAS).get(BIAS).is_none());
        request.params.more.insert(BIAS.into(), json!({"15": 1}));
        assert_eq!(body("m", &request, RequestFeatures::NO_BIAS)[BIAS], json!({"15": 1}));
        assert_eq!(near.step_down(&request, 400, &said), None);
    }

    fn refused(shape: RequestFeatures, status: u16, message: &str) -> Option<Downgrade> {
        let said = ServerMessage { text: message.into(), ..ServerMessage::default() };
        shape.step_down(&request(), status, &said)
    }

    #[test]
    fn the_first_request_has_every_optional_part() {
        assert_eq!(
            body("m", &request(), RequestFeatures::default()),
            json!({
                "model": "m",
                "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}],
                "stream": true,
                "temperature": 0.5,
                "max_tokens": 9,
                "stream_options": {"include_usage": true},
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "reply", "schema": {"type": "object"}},
                },
            })
        );
    }

    #[test]
    fn the_format_steps_down_one_level_at_a_time() {
        let first = refused(RequestFeatures::default(), 400, "json_schema is not available");
        assert_eq!(first, Some(Downgrade::Named(RequestFeatures::NO_SCHEMA)));
        let second =
            refused(RequestFeatures::NO_SCHEMA, 422, "'response_format.type' must be text");
        assert_eq!(
            second,
            Some(Downgrade::Named(RequestFeatures::NO_SCHEMA.with(RequestFeatures::NO_OBJECT)))
        );
        let bottom = RequestFeatures::NO_SCHEMA.with(RequestFeatures::NO_OBJECT);
        assert_eq!(refused(bottom, 400, "response_format"), None);
        assert!(body("m", &request(), bottom).get("response_format").is_none());
    }

    #[test]
    fn an_unrelated_error_changes_nothing() {
        for (status, message) in [
            (401, "response_format"),
            (400, "temperature must be below 2"),
            (500, "out of memory"),
            (429, "unknown"),
        ] {
            assert_eq!(
                refused(RequestFeatures::default(), status, message),
                None,
                "{status} {message}"
            );
        }
    }

    #[test]
    fn a_vague_refusal_leads_to_one_plain_request() {
        let plain = refused(RequestFeatures::default(), 400, "Unrecognized request argument");
        assert_eq!(plain, Some(Downgrade::Guessed(RequestFeatures::PLAIN)));
        assert_eq!(refused(RequestFeatures::PLAIN, 400, "Unrecognized request argument"), None);
    }

    #[test]
    fn usage_and_the_limits_newer_name_step_down_separately() {
        let usage = refused(RequestFeatures::default(), 400, "unknown field stream_options");
        assert_eq!(usage, Some(Downgrade::Named(RequestFeatures::NO_USAGE)));
        let limit =
            refused(RequestFeatures::default(), 400, "Use 'max_completion_tokens' instead.");
        assert_eq!(limit, Some(Downgrade::Named(RequestFeatures::NEW_LIMIT)));
        let sent = body("m", &request(), RequestFeatures::NEW_LIMIT);
        assert_eq!((sent.get("max_tokens"), &sent["max_completion_tokens"]), (None, &json!(9)));
    }

    #[test]
    fn a_server_without_tools_is_recognised_and_a_mistake_in_a_call_is_not() {
        let tool = ToolSchema {
            name: "shell".into(),
            description: "Runs.".into(),
            parameters: json!({ "type": "object" }),
        };
        let request = Request { tools: [tool].into(), ..request() };
        let step = |status, message: &str| {
            let said = ServerMessage { text: message.into(), ..ServerMessage::default() };
            RequestFeatures::default().step_down(&request, status, &said)
        };
        for (status, message) in [
            (400, "registry.ollama.ai/library/gemma:2b does not support tools"),
            (404, "No endpoints found that support tool use."),
            (500, "tools param requires --jinja flag"),
            (400, "\"auto\" tool choice requires --enable-auto-tool-choice to be set"),
            (400, "This model does not support function calling"),
            (422, "Unrecognized request argument supplied: tools"),
        ] {
            assert_eq!(step(status, message), Some(Downgrade::NoTools), "{message}");
        }
        for message in [
            "tool_use ids were found without tool_result blocks immediately after",
            "Invalid schema for function 'shell': unknown type",
            "An assistant message with 'tool_calls' must be followed by tool messages",
        ] {
            assert_ne!(step(400, message), Some(Downgrade::NoTools), "{message}");
        }
        let clash = "Function tools with reasoning_effort are not supported for m in \
                     /v1/chat/completions. Set reasoning_effort to 'none'.";
        assert_eq!(step(400, clash), Some(Downgrade::Named(RequestFeatures::EFFORT_NONE)));
        let sent = body("m", &request, RequestFeatures::EFFORT_NONE);
        assert_eq!(sent["reasoning_effort"], "none");
    }

    #[test]
    fn a_server_that_cannot_be_told_how_much_to_think_is_not_told() {
        let request = Request { effort: Some(Effort::High), ..request() };
        let said = ServerMessage {
            text: "\"llama3\" does not support thinking".into(),
            ..ServerMessage::default()
        };
        let step = RequestFeatures::default().step_down(&request, 400, &said);
        assert_eq!(step, Some(Downgrade::Named(RequestFeatures::NO_EFFORT)));
        assert!(body("m", &request, RequestFeatures::NO_EFFORT).get("reasoning_effort").is_none());
    }
}
