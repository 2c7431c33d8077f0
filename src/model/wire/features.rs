//! The optional parts of a request, which a server may not support.
//!
//! Servers differ in what they accept in addition to messages. [`RequestFeatures`] says what is
//! requested; [`CapabilityCache`](super::capability_cache::CapabilityCache) remembers the refusals.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::super::error_body::ServerMessage;
use super::super::{Effort, Request};
use avocet_core::i18n::{LocalizedText, model as phrases};
use avocet_core::protocol::{ContentBlock, Message, Params, Role};

/// The optional parts of one request. Each bit is a part given up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RequestFeatures(pub(super) u32);

/// The request to try next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Downgrade {
    /// The server takes no tools.
    NoTools,
    /// The server named the part it refuses.
    Named(RequestFeatures),
    /// It named none; whether this was the cause is known when it accepts.
    Guessed(RequestFeatures),
    /// It refuses the images that are new in this request.
    NoImages,
}

impl RequestFeatures {
    const NO_SCHEMA: RequestFeatures = RequestFeatures(1);
    const NO_OBJECT: RequestFeatures = RequestFeatures(2);
    const NO_USAGE: RequestFeatures = RequestFeatures(4);
    const NEW_LIMIT: RequestFeatures = RequestFeatures(8);
    /// All system messages are sent as one: some templates accept only one.
    pub(super) const ONE_SYSTEM: RequestFeatures = RequestFeatures(16);
    /// Biases by text: only servers with their own tokenizer accept them.
    pub(super) const NO_BIAS: RequestFeatures = RequestFeatures(32);
    const NO_EFFORT: RequestFeatures = RequestFeatures(64);
    /// No thinking, requested explicitly: some models take tools only then.
    const EFFORT_NONE: RequestFeatures = RequestFeatures(128);
    /// Marks where a prompt may be kept.
    const NO_CACHE: RequestFeatures = RequestFeatures(256);
    /// What models that reason want to see again.
    pub(super) const NO_INCLUDE: RequestFeatures = RequestFeatures(512);
    /// A summary of the reasoning.
    pub(super) const NO_SUMMARY: RequestFeatures = RequestFeatures(1024);
    /// What a provider wanted back with its reasoning.
    const NO_REASONING: RequestFeatures = RequestFeatures(2048);
    /// The parameters that only some servers know.
    const NO_MORE: RequestFeatures = RequestFeatures(4096);
    /// The system prompt is sent as the beginning of the first message.
    const NO_SYSTEM: RequestFeatures = RequestFeatures(8192);
    pub(super) const NO_STORE: RequestFeatures = RequestFeatures(16_384);
    /// Schemas of tools go in Gemini's older field.
    pub(super) const OLD_SCHEMA: RequestFeatures = RequestFeatures(32_768);
    /// A parameter was refused for its value: another one may be taken.
    const OF_VALUE: RequestFeatures = RequestFeatures(1 << 25);
    /// What a server refuses of all its models alike.
    pub(super) const OF_SERVER: RequestFeatures = RequestFeatures(511);
    /// Everything but messages, parameters and tools.
    const PLAIN: RequestFeatures = RequestFeatures(1 | 2 | 4 | 32 | 64 | 256);

    pub(super) fn has(self, features: RequestFeatures) -> bool {
        self.0 & features.0 == features.0
    }

    fn with(self, features: RequestFeatures) -> RequestFeatures {
        RequestFeatures(self.0 | features.0)
    }

    /// The request to try after this refusal; `None` if no optional part is to blame.
    pub fn step_down(
        self,
        request: &Request,
        status: u16,
        server_message: &ServerMessage,
    ) -> Option<Downgrade> {
        let images = request.messages.iter().flat_map(|message| &message.blocks);
        let has_images = images.into_iter().any(|block| matches!(block, ContentBlock::Image(_)));
        let is_of_images = has_images && (status == 413 || server_message.mentions(IMAGES));
        if is_of_images && matches!(status, 400 | 404 | 413 | 415 | 422 | 500) {
            return Some(Downgrade::NoImages);
        }
        if !matches!(status, 400 | 404 | 415 | 422 | 500 | 501) {
            return None;
        }
        if let Some(part) = self.named_part(request, server_message) {
            return Some(Downgrade::Named(self.with(part)));
        }
        if !request.tools.is_empty() && refuses_tools(server_message) {
            return Some(Downgrade::NoTools);
        }
        if server_message.mentions(FORMAT) {
            return self.next_format(request).map(Downgrade::Named);
        }
        if has_images && status == 400 && server_message.text.is_empty() {
            return Some(Downgrade::NoImages);
        }
        // The refusal names nothing, but complains of something unknown: send the plain request,
        // once.
        let is_vague = server_message.mentions(VAGUE)
            && !server_message.mentions(OF_THE_ACCOUNT)
            && server_message.unsent.is_none();
        if matches!(status, 404 | 500) || !(server_message.text.is_empty() || is_vague) {
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
    fn named_part(self, request: &Request, message: &ServerMessage) -> Option<RequestFeatures> {
        let refused = |features: RequestFeatures, is_sent: bool, names: &[&str]| {
            (is_sent && !self.has(features) && message.mentions(names)).then_some(features)
        };
        let systems = request.messages.iter().filter(|sent| sent.role == Role::System).count();
        let clashes = !request.tools.is_empty() && message.mentions(&["function tools with"]);
        let is_of_effort = |field: &str| EFFORT.iter().any(|word| field.contains(word));
        let effort = self.effort(request).is_some()
            && message.mentions(UNSUPPORTED)
            && message.unsent.as_deref().is_none_or(is_of_effort);
        refused(RequestFeatures::NO_USAGE, true, &["stream_options", "include_usage"])
            .or_else(|| {
                let limit = request.params.max_tokens.is_some();
                refused(RequestFeatures::NEW_LIMIT, limit, &["max_completion_tokens"])
            })
            .or_else(|| refused(RequestFeatures::ONE_SYSTEM, systems > 1, SYSTEMS))
            .or_else(|| refused(RequestFeatures::NO_SYSTEM, systems > 0, SYSTEMS))
            .or_else(|| refused(RequestFeatures::OLD_SCHEMA, true, &["parametersjsonschema"]))
            .or_else(|| refused(RequestFeatures::NO_STORE, message.names("store"), &["store"]))
            .or_else(|| {
                let bias = self.bias(request).is_some();
                refused(RequestFeatures::NO_BIAS, bias, &["logit_bias", "logit bias"])
            })
            .or_else(|| refused(RequestFeatures::NO_CACHE, true, &["cache_control"]))
            .or_else(|| refused(RequestFeatures::EFFORT_NONE, clashes, &["reasoning_effort"]))
            .or_else(|| {
                let is_asked = self.effort(request).is_some();
                refused(
                    RequestFeatures::NO_SUMMARY,
                    is_asked,
                    &["reasoning summar", "reasoning.summary"],
                )
            })
            .or_else(|| refused(RequestFeatures::NO_INCLUDE, true, INCLUDE))
            .or_else(|| self.refused_param(request, message))
            .or_else(|| {
                let has_reasoning = request.messages.iter().any(has_sealed_reasoning);
                refused(RequestFeatures::NO_REASONING, has_reasoning, SIGNATURES)
            })
            .or_else(|| refused(RequestFeatures::NO_EFFORT, effort, EFFORT))
    }

    /// A parameter that the server names and that was sent.
    fn refused_param(self, request: &Request, message: &ServerMessage) -> Option<RequestFeatures> {
        let sent = param_names(&request.params);
        let part = |name: &String| match OMITTABLE.iter().position(|known| known == name) {
            Some(at) => RequestFeatures(1 << (PARAMS_FROM + at)),
            None => RequestFeatures::NO_MORE,
        };
        let mut refused = sent.iter().filter(|name| message.names(name)).map(part);
        let part = refused.find(|part| !self.has(*part))?;
        Some(if message.mentions(VALUES) { part.with(RequestFeatures::OF_VALUE) } else { part })
    }

    /// The request without the parameters and the reasoning that were given up.
    pub(super) fn trim<'a>(self, request: &'a Request) -> Cow<'a, Request> {
        let mut out = Cow::Borrowed(request);
        let mut params = request.params.clone();
        if self.has(RequestFeatures::NO_MORE) {
            params.more.clear();
        }
        for (at, name) in OMITTABLE.iter().enumerate() {
            if self.has(RequestFeatures(1 << (PARAMS_FROM + at))) {
                omit(&mut params, name);
            }
        }
        if params != request.params {
            out.to_mut().params = params;
        }
        if self.has(RequestFeatures::NO_SYSTEM) {
            let (systems, mut others): (Vec<Message>, Vec<Message>) =
                out.messages.iter().cloned().partition(|message| message.role == Role::System);
            if let Some(first) = others.iter_mut().find(|message| message.role == Role::User) {
                let prompt = systems.into_iter().flat_map(|message| message.blocks);
                first.blocks.splice(..0, prompt);
            }
            out.to_mut().messages = others;
        }
        if self.has(RequestFeatures::NO_REASONING) {
            for message in &mut out.to_mut().messages {
                message.blocks.retain(|block| !matches!(block, ContentBlock::Reasoning(_)));
            }
        }
        out
    }

    /// The parameters that the model never takes, by name.
    pub fn refused_params(self) -> Vec<&'static str> {
        if self.has(RequestFeatures::OF_VALUE) {
            return Vec::new();
        }
        let params = OMITTABLE.iter().enumerate();
        let refused = params.filter(|(at, _)| self.has(RequestFeatures(1 << (PARAMS_FROM + at))));
        refused.map(|(_, name)| *name).collect()
    }

    /// What the user should know of the parts that are given up beyond those of `before`.
    pub fn describe_lost(self, features: RequestFeatures) -> Option<LocalizedText> {
        let is_new = |request_features: RequestFeatures| {
            self.has(request_features) && !features.has(request_features)
        };
        let params = OMITTABLE.iter().enumerate();
        let mut lost: Vec<String> = params
            .filter(|(at, _)| is_new(RequestFeatures(1 << (PARAMS_FROM + at))))
            .map(|(_, name)| format!("`{name}`"))
            .collect();
        if is_new(RequestFeatures::NO_EFFORT) && !features.has(RequestFeatures::PLAIN) {
            lost.push("`effort`".to_owned());
        }
        (!lost.is_empty()).then(|| phrases::LEFT_OUT.with("what", lost.join(", ")))
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

/// The parameters that can be given up one by one, each with a bit from [`PARAMS_FROM`] on.
const OMITTABLE: &[&str] = &[
    "temperature",
    "top_p",
    "top_k",
    "presence_penalty",
    "frequency_penalty",
    "stop",
    "seed",
    "service_tier",
    "metadata",
];

const PARAMS_FROM: usize = 16;

fn param_names(params: &Params) -> Vec<String> {
    match serde_json::to_value(params) {
        Ok(Value::Object(sent)) => sent.into_iter().map(|(name, _)| name).collect(),
        _ => Vec::new(),
    }
}

/// Takes a parameter out, if it may be.
pub(crate) fn omit(params: &mut Params, name: &str) {
    match name {
        "temperature" => params.temperature = None,
        "top_p" => params.top_p = None,
        "presence_penalty" => params.presence_penalty = None,
        "frequency_penalty" => params.frequency_penalty = None,
        "stop" => params.stop.clear(),
        _ => drop(params.more.remove(name)),
    }
}

fn has_sealed_reasoning(message: &Message) -> bool {
    let is_sealed = |block: &ContentBlock| matches!(block, ContentBlock::Reasoning(thought) if thought.opaque.is_some());
    message.blocks.iter().any(is_sealed)
}

/// How servers name images that they refuse.
const IMAGES: &[&str] = &[
    "image",
    "media_type",
    "media type",
    "vision",
    "multimodal",
    "multi-modal",
    "input_file",
    "pdf",
];

/// How servers refuse a parameter for its value.
const VALUES: &[&str] = &[
    "between",
    "at most",
    "at least",
    "less than",
    "greater than",
    "range",
    "maximum value",
    "minimum value",
    "above_max",
    "below_min",
    "too high",
    "too large",
    "too low",
    "too small",
];

/// How servers name what reasoning models are asked for with the answer.
const INCLUDE: &[&str] = &["encrypted content", "encrypted_content", "'include'", "`include`"];

/// How servers say that reasoning was not theirs.
const SIGNATURES: &[&str] = &[
    "invalid signature",
    "invalid `signature`",
    "thought_signature is not valid",
    "could not be decrypted",
    "could not be verified",
    "thinking block",
];

/// True if the server says that it, or the model, takes no tools; not if it complains of how one is
/// written or answered.
fn refuses_tools(message: &ServerMessage) -> bool {
    message.mentions(TOOLS)
        && message.mentions(UNSUPPORTED)
        && !message.mentions(TOOL_MISTAKES)
        && message.unsent.as_deref().is_none_or(|field| TOOLS.contains(&field))
}

/// The parameter, and its form by text: `[["happy", 0.2], ["never", false]]`.
const BIAS: &str = "logit_bias";

/// How servers name the part that asks for JSON.
const FORMAT: &[&str] = &[
    "response_format",
    "response format",
    "json_schema",
    "json_object",
    "output_config.format",
    "output_format",
    "structured output",
    "json schema",
    "jsonschema",
    "grammar",
];

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
    "n't enabled",
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

/// How servers and templates complain of system messages.
const SYSTEMS: &[&str] = &[
    "system message",
    "system role",
    "system prompt",
    "developer instruction",
    "does not support 'system'",
    "does not support 'developer'",
    "roles must alternate",
    "must be at the beginning",
];

/// What no other form of the request changes.
const OF_THE_ACCOUNT: &[&str] = &["location", "region", "country", "must be verified"];

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

#[cfg(test)]
mod tests;
