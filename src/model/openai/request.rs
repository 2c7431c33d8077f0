//! The body of a request, and the optional parts of it that a server may not support.
//!
//! Servers differ in what they accept in addition to messages. [`RequestFeatures`] says what is
//! requested; [`CapabilityCache`] remembers the refusals, for as long as the client lives.

use std::sync::atomic::{AtomicU8, Ordering};

use serde_json::{Value, json};

use super::super::Request;
use super::super::error_body::ServerMessage;
use crate::protocol::{Message, Role};

/// The optional parts of one request. Each bit is a part given up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RequestFeatures(u8);

/// The request to try next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Downgrade {
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
    const ONE_SYSTEM: RequestFeatures = RequestFeatures(16);
    /// Biases by text: only servers with their own tokenizer accept them.
    const NO_BIAS: RequestFeatures = RequestFeatures(32);
    /// Everything but messages and parameters.
    const PLAIN: RequestFeatures = RequestFeatures(1 | 2 | 4 | 32);

    fn has(self, part: RequestFeatures) -> bool {
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
        if !matches!(status, 400 | 415 | 422 | 500 | 501) {
            return None;
        }
        if self.asks_usage() && said.mentions(&["stream_options", "include_usage"]) {
            return Some(Downgrade::Named(self.with(RequestFeatures::NO_USAGE)));
        }
        if request.params.max_tokens.is_some()
            && !self.has(RequestFeatures::NEW_LIMIT)
            && said.mentions(&["max_completion_tokens"])
        {
            return Some(Downgrade::Named(self.with(RequestFeatures::NEW_LIMIT)));
        }
        let systems = request.messages.iter().filter(|message| message.role == Role::System);
        if systems.count() > 1 && !self.has(RequestFeatures::ONE_SYSTEM) && said.mentions(SYSTEMS) {
            return Some(Downgrade::Named(self.with(RequestFeatures::ONE_SYSTEM)));
        }
        if self.bias(request).is_some() && said.mentions(&["logit_bias", "logit bias"]) {
            return Some(Downgrade::Named(self.with(RequestFeatures::NO_BIAS)));
        }
        if said.mentions(FORMAT) {
            return self.next_format(request).map(Downgrade::Named);
        }
        // The refusal names nothing, but complains of something unknown: send the plain request,
        // once.
        let vague = status != 500 && (said.text.is_empty() || said.mentions(VAGUE));
        let plain = self.with(RequestFeatures::PLAIN);
        (vague && plain.optional_parts(request) != self.optional_parts(request))
            .then_some(Downgrade::Guessed(plain))
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

    fn asks_usage(self) -> bool {
        !self.has(RequestFeatures::NO_USAGE)
    }

    /// The optional parts that are actually sent with this request.
    fn optional_parts(self, request: &Request) -> (Option<Value>, bool, Option<&Value>) {
        (self.format(request), self.asks_usage(), self.bias(request))
    }

    /// Biases by text that are sent; those by token are an ordinary parameter.
    fn bias(self, request: &Request) -> Option<&Value> {
        let bias = request.params.more.get(BIAS).filter(|bias| bias.is_array())?;
        (!self.has(RequestFeatures::NO_BIAS)).then_some(bias)
    }

    fn format(self, request: &Request) -> Option<Value> {
        let schema = request.schema.as_ref()?;
        if !self.has(RequestFeatures::NO_SCHEMA) {
            let schema = json!({ "name": "reply", "schema": schema });
            Some(json!({ "type": "json_schema", "json_schema": schema }))
        } else if !self.has(RequestFeatures::NO_OBJECT) {
            Some(json!({ "type": "json_object" }))
        } else {
            None
        }
    }
}

/// The parameter, and its form by text: `[["happy", 0.2], ["never", false]]`.
const BIAS: &str = "logit_bias";

/// How servers name the part that asks for JSON.
const FORMAT: &[&str] =
    &["response_format", "response format", "json_schema", "json_object", "json schema", "grammar"];

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
pub(super) struct CapabilityCache(AtomicU8);

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

/// The JSON to send.
pub(super) fn body(model: &str, request: &Request, shape: RequestFeatures) -> Value {
    let messages = match shape.has(RequestFeatures::ONE_SYSTEM) {
        true => wire_messages(&one_system(&request.messages)),
        false => wire_messages(&request.messages),
    };
    let mut body = json!({ "model": model, "messages": messages, "stream": true });
    if let Ok(Value::Object(params)) = serde_json::to_value(&request.params) {
        for (name, value) in params {
            if name == BIAS && value.is_array() && shape.has(RequestFeatures::NO_BIAS) {
                continue;
            }
            let new = name == "max_tokens" && shape.has(RequestFeatures::NEW_LIMIT);
            body[if new { "max_completion_tokens".to_owned() } else { name }] = value;
        }
    }
    if shape.asks_usage() {
        body["stream_options"] = json!({ "include_usage": true });
    }
    if let Some(format) = shape.format(request) {
        body["response_format"] = format;
    }
    body
}

/// The messages as the format writes them.
fn wire_messages(messages: &[Message]) -> Value {
    let wire = |message: &Message| json!({ "role": message.role, "content": message.text() });
    messages.iter().map(wire).collect()
}

/// Joins adjacent system messages.
fn one_system(messages: &[Message]) -> Vec<Message> {
    let mut out: Vec<Message> = Vec::with_capacity(messages.len());
    for message in messages {
        match out.last_mut() {
            Some(last) if last.role == Role::System && message.role == Role::System => {
                last.merge(message.clone());
            }
            Some(_) | None => out.push(message.clone()),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Params;

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
            schema: Some(json!({ "type": "object" })),
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
}
