//! The wire formats: what a request is written as, and what the answer's events mean. Pure; the
//! folder above handles bytes, waiting and errors of the connection.
//!
//! One [`Api`] a provider: its format and what is particular to its address and key. A
//! [`WireFormat`] writes the body of a request and makes a reader for its answer, which turns JSON
//! events into chunks; [`answer`] finds the events and guards against bad ones.

use avocet_core::protocol::Provider;

pub(super) mod answer;
mod anthropic;
mod bedrock;
pub(super) mod calls;
pub(super) mod capability_cache;
mod chat;
pub(super) mod features;
pub(super) mod format;
mod gemini;
mod habits;
mod ollama;
mod responses;
mod surrogates;
mod think;
mod vertex;

use self::format::WireFormat;

/// How a provider is spoken to.
#[derive(Debug)]
pub(super) struct Api {
    pub provider: Provider,
    pub format: &'static dyn WireFormat,
    /// The path of an address that has none.
    pub base: &'static str,
    /// The header that carries the key, and what comes before the key.
    pub key: (&'static str, &'static str),
    pub headers: &'static [(&'static str, &'static str)],
    /// Where the models are listed.
    pub models: &'static str,
}

pub(super) const BEARER: (&str, &str) = ("authorization", "Bearer ");

/// Any compatible server.
static USUAL: Api = Api {
    provider: Provider::OpenAi,
    format: &chat::ChatCompletions,
    base: "/v1",
    key: BEARER,
    headers: &[],
    models: "models",
};

#[rustfmt::skip]
static APIS: &[Api] = &[
    Api { provider: Provider::OpenAiResponses, format: &responses::Responses,    base: "/v1",        key: BEARER,                 headers: &[],                                    models: "models" },
    Api { provider: Provider::Anthropic,       format: &anthropic::Messages,     base: "/v1",        key: ("x-api-key", ""),      headers: &[("anthropic-version", "2023-06-01")], models: "models?limit=1000" },
    Api { provider: Provider::Gemini,          format: &gemini::GenerateContent, base: "/v1beta",    key: ("x-goog-api-key", ""), headers: &[],                                    models: "models?pageSize=1000" },
    Api { provider: Provider::Ollama,          format: &ollama::OllamaChat,      base: "",           key: BEARER,                 headers: &[],                                    models: "api/tags" },
    Api { provider: Provider::Bedrock,         format: &bedrock::Bedrock,        base: "",           key: BEARER,                 headers: &[],                                    models: "inference-profiles?maxResults=1000" },
    Api { provider: Provider::Vertex,          format: &vertex::Vertex,          base: "",           key: BEARER,                 headers: &[],                                    models: "models" },
    Api { provider: Provider::OpenRouter,      format: &chat::ChatCompletions,   base: "/api/v1",    key: BEARER,                 headers: &[],                                    models: "models" },
    Api { provider: Provider::Azure,           format: &chat::ChatCompletions,   base: "/openai/v1", key: ("api-key", ""),        headers: &[],                                    models: "models" },
];

impl Api {
    /// How this provider is spoken to; as any compatible server if nothing else is known.
    pub fn of(provider: Provider) -> &'static Api {
        APIS.iter().find(|api| api.provider == provider).unwrap_or(&USUAL)
    }
}

#[cfg(test)]
mod tests;
