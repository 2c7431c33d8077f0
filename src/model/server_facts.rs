//! Reads what servers say of their models: lists of models in the spellings of each kind of server,
//! llama.cpp's `/props`, Ollama's `/api/show`. Pure.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use avocet_core::protocol::{Money, Prices, TokenPrices};

/// What a server says of a model; what it does not say is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerFacts {
    pub window: Option<u64>,
    pub loaded: Option<u64>,
    pub output: Option<u64>,
    pub tools: Option<bool>,
    /// Whether tools worked when they were tried, which counts more.
    pub tried_tools: Option<bool>,
    pub images: Option<bool>,
    pub parameters: Option<u64>,
    pub prices: Option<Prices>,
    /// The parameters that it refused by name.
    #[serde(default)]
    pub refused: Vec<String>,
}

impl ServerFacts {
    /// True if nothing is known from the server.
    pub fn is_silent(&self) -> bool {
        let facts = ServerFacts { tried_tools: None, refused: Vec::new(), ..self.clone() };
        facts == ServerFacts::default()
    }

    /// These facts after `earlier` ones: what was tried counts until the server says otherwise.
    #[must_use]
    pub fn after(&self, server_facts: &ServerFacts) -> ServerFacts {
        let is_same = self.tools.is_none() || self.tools == server_facts.tools;
        let tried_tools = self.tried_tools.or(server_facts.tried_tools.filter(|_| is_same));
        let facts = if self.is_silent() { server_facts } else { self };
        let mut refused = server_facts.refused.clone();
        refused.extend(
            self.refused.iter().filter(|name| !server_facts.refused.contains(name)).cloned(),
        );
        ServerFacts { tried_tools, refused, ..facts.clone() }
    }

    /// These facts, and `other` where they say nothing.
    #[must_use]
    pub fn or(self, facts: ServerFacts) -> ServerFacts {
        ServerFacts {
            window: self.window.or(facts.window),
            loaded: self.loaded.or(facts.loaded),
            output: self.output.or(facts.output),
            tools: self.tools.or(facts.tools),
            tried_tools: self.tried_tools.or(facts.tried_tools),
            images: self.images.or(facts.images),
            parameters: self.parameters.or(facts.parameters),
            prices: self.prices.or(facts.prices),
            refused: if self.refused.is_empty() { facts.refused } else { self.refused },
        }
    }
}

/// The facts in one entry of a list of models.
pub fn facts_of_listed(item: &Value) -> ServerFacts {
    let meta = item.get("meta").unwrap_or(&Value::Null);
    let top = item.get("top_provider").unwrap_or(&Value::Null);
    let architecture = item.get("architecture").unwrap_or(&Value::Null);
    let can = item.get("capabilities").unwrap_or(&Value::Null);
    ServerFacts {
        // The loaded context of LM Studio counts more than what the model could have.
        window: count(item, &["loaded_context_length", "max_model_len", "context_length"])
            .or_else(|| count(item, &["context_window", "max_context_length", "inputTokenLimit"]))
            .or_else(|| count(item, &["max_input_tokens"]))
            .or_else(|| count(meta, &["n_ctx", "n_ctx_train"]))
            .or_else(|| count(top, &["context_length"])),
        loaded: None,
        output: count(item, &["max_completion_tokens", "max_output_tokens", "outputTokenLimit"])
            .or_else(|| count(top, &["max_completion_tokens"])),
        tools: flag(can, &["function_calling", "tools"])
            .or_else(|| listed(item, "supported_parameters", "tools"))
            .or_else(|| listed(item, "capabilities", "tools"))
            .or_else(|| listed(item, "capabilities", "tool_use")),
        tried_tools: None,
        images: flag(can, &["vision"])
            .or_else(|| flag(item, &["supports_image_in"]))
            .or_else(|| listed(architecture, "input_modalities", "image"))
            .or_else(|| listed(item, "capabilities", "vision"))
            .or_else(|| (item.get("type")?.as_str()? == "vlm").then_some(true)),
        parameters: count(meta, &["n_params"]),
        prices: item.get("pricing").and_then(listed_prices),
        refused: Vec::new(),
    }
}

/// The facts in `/props` of llama.cpp.
pub fn facts_of_props(props: &Value) -> ServerFacts {
    let settings = props.get("default_generation_settings").unwrap_or(&Value::Null);
    let template = props.get("chat_template_caps").unwrap_or(&Value::Null);
    let modalities = props.get("modalities").unwrap_or(&Value::Null);
    ServerFacts {
        window: count(settings, &["n_ctx"]).or_else(|| count(props, &["n_ctx"])),
        tools: flag(template, &["supports_tool_calls", "supports_tools"]),
        images: flag(modalities, &["vision"]),
        ..ServerFacts::default()
    }
}

/// The facts in `/api/show` of Ollama. Its context length is what the model can have; how much it
/// gets is chosen by the request.
pub fn facts_of_show(show: &Value) -> ServerFacts {
    let info = show.get("model_info").unwrap_or(&Value::Null);
    let ending = |end: &str| {
        let fields = info.as_object()?;
        fields.iter().find(|(name, _)| name.ends_with(end))?.1.as_u64()
    };
    ServerFacts {
        window: ending(".context_length").filter(|window| *window > 0),
        tools: listed(show, "capabilities", "tools"),
        images: listed(show, "capabilities", "vision"),
        parameters: count(info, &["general.parameter_count"]),
        ..ServerFacts::default()
    }
}

/// The context that a model is loaded with, in `/api/ps` of Ollama.
pub fn loaded_context(running: &Value, model: &str) -> Option<u64> {
    let is_named = |name: &str| name == model || name.strip_suffix(":latest") == Some(model);
    let named = |one: &&Value| {
        ["name", "model"]
            .iter()
            .any(|field| one.get(field).and_then(Value::as_str).is_some_and(is_named))
    };
    count(running.get("models")?.as_array()?.iter().find(named)?, &["context_length"])
}

/// The first of these fields that holds a number above zero, also as text.
fn count(of: &Value, fields: &[&str]) -> Option<u64> {
    fields.iter().find_map(|field| {
        let value = of.get(field)?;
        let number = value.as_u64().or_else(|| value.as_str()?.parse().ok())?;
        (number > 0).then_some(number)
    })
}

fn flag(of: &Value, fields: &[&str]) -> Option<bool> {
    fields.iter().find_map(|field| of.get(field)?.as_bool())
}

/// Whether a list of words has this one; `None` without such a list.
fn listed(of: &Value, field: &str, word: &str) -> Option<bool> {
    let words = of.get(field)?.as_array()?;
    Some(words.iter().any(|listed| listed.as_str() == Some(word)))
}

/// Dollars a token as text (OpenRouter), or dollars a million tokens as numbers (Together). Both
/// prices must be there, and neither below zero, which means that they vary.
fn listed_prices(pricing: &Value) -> Option<Prices> {
    let input = pricing.get("prompt");
    let output = pricing.get("completion");

    let a_token = input.is_some();
    let price = |value: Option<&Value>| {
        let value = value?;
        let number = value.as_f64().or_else(|| value.as_str()?.parse().ok())?;
        Money::from_dollars(if a_token { number * 1e6 } else { number })
    };
    let input = price(input.or_else(|| pricing.get("input")))?;
    let output = price(output.or_else(|| pricing.get("output")))?;
    let cached = price(pricing.get("input_cache_read").or_else(|| pricing.get("cached_input")));
    let written = price(pricing.get("input_cache_write"));
    let tokens = TokenPrices {
        input,
        output,
        cached: cached.unwrap_or(input),
        written: written.unwrap_or(input),
    };
    Some(tokens.into())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn window(item: &Value) -> Option<u64> {
        facts_of_listed(item).window
    }

    #[test]
    fn the_context_is_read_in_the_spelling_of_each_server() {
        for (item, expected) in [
            (json!({ "id": "m", "meta": { "n_ctx": 4096, "n_ctx_train": 8192 } }), 4_096),
            (json!({ "id": "m", "meta": { "n_ctx_train": 8192 } }), 8_192),
            (json!({ "id": "m", "max_model_len": 16384 }), 16_384),
            (json!({ "id": "m", "context_length": 65536 }), 65_536),
            (json!({ "id": "m", "context_window": 131072 }), 131_072),
            (
                json!({ "id": "m", "max_context_length": 32768, "loaded_context_length": 4096 }),
                4_096,
            ),
            (json!({ "name": "models/g", "inputTokenLimit": 1048576 }), 1_048_576),
        ] {
            assert_eq!(window(&item), Some(expected), "{item}");
        }
        assert_eq!(window(&json!({ "id": "m", "context_length": 0 })), None);
        assert_eq!(facts_of_listed(&json!({ "id": "m" })), ServerFacts::default());
        assert_eq!(facts_of_listed(&json!("m")), ServerFacts::default());
    }

    #[test]
    fn an_entry_of_a_llama_cpp_server_tells_its_size() {
        let facts = facts_of_listed(&json!({
            "id": "smollm2", "object": "model", "owned_by": "llamacpp",
            "meta": { "vocab_type": 2, "n_ctx": 8192, "n_params": 134515008_u64, "size": 91000000 },
        }));
        assert_eq!((facts.window, facts.parameters), (Some(8_192), Some(134_515_008)));
        assert_eq!(facts.tools, None);
    }

    #[test]
    fn a_router_tells_abilities_and_prices() {
        let facts = facts_of_listed(&json!({
            "id": "anthropic/claude-sonnet-4.5", "context_length": 1000000,
            "architecture": { "input_modalities": ["text", "image"] },
            "top_provider": { "context_length": 1000000, "max_completion_tokens": 64000 },
            "supported_parameters": ["max_tokens", "tools", "reasoning"],
            "pricing": { "prompt": "0.000003", "completion": "0.000015",
                         "input_cache_read": "0.0000003", "input_cache_write": "0.00000375" },
        }));
        assert_eq!(
            (facts.tools, facts.images, facts.output),
            (Some(true), Some(true), Some(64_000))
        );
        let prices = facts.prices.unwrap().usual;
        assert_eq!((prices.input, prices.output), (Money(3_000_000), Money(15_000_000)));
        assert_eq!((prices.cached, prices.written), (Money(300_000), Money(3_750_000)));
    }

    #[test]
    fn a_price_that_varies_or_lacks_a_half_is_no_price() {
        for pricing in [
            json!({ "prompt": "-1", "completion": "-1" }),
            json!({ "prompt": "0.000003" }),
            json!({ "input": "free", "output": 1 }),
            json!("free"),
        ] {
            assert_eq!(listed_prices(&pricing), None, "{pricing}");
        }
        let together = listed_prices(&json!({ "input": 0.18, "output": 0.18, "hourly": 0 }));
        assert_eq!(together.unwrap().usual.input, Money(180_000));
    }

    #[test]
    fn mistral_and_kimi_tell_their_abilities_by_flags() {
        let mistral = facts_of_listed(&json!({
            "id": "mistral-small-latest", "max_context_length": 131072,
            "capabilities": { "completion_chat": true, "function_calling": true, "vision": false },
        }));
        assert_eq!((mistral.tools, mistral.images), (Some(true), Some(false)));
        let kimi =
            json!({ "id": "kimi-k2.6", "context_length": 262144, "supports_image_in": true });
        assert_eq!(facts_of_listed(&kimi).images, Some(true));
    }

    #[test]
    fn the_properties_of_a_llama_cpp_server_tell_context_and_tools() {
        let facts = facts_of_props(&json!({
            "default_generation_settings": { "id": 0, "n_ctx": 2048, "params": {} },
            "total_slots": 1, "model_alias": "smollm2",
            "chat_template_caps": { "supports_tools": true, "supports_tool_calls": false },
            "modalities": { "vision": false, "audio": false },
        }));
        assert_eq!(
            (facts.window, facts.tools, facts.images),
            (Some(2_048), Some(false), Some(false))
        );
        assert_eq!(facts_of_props(&json!({ "error": "no" })), ServerFacts::default());
    }

    #[test]
    fn the_page_of_an_ollama_model_tells_context_and_abilities() {
        let facts = facts_of_show(&json!({
            "details": { "family": "qwen3", "parameter_size": "8.2B" },
            "model_info": { "general.architecture": "qwen3",
                            "general.parameter_count": 8190735360_u64,
                            "qwen3.context_length": 40960, "qwen3.embedding_length": 4096 },
            "capabilities": ["completion", "tools", "thinking"],
        }));
        assert_eq!(
            (facts.window, facts.tools, facts.images),
            (Some(40_960), Some(true), Some(false))
        );
        assert_eq!(facts.parameters, Some(8_190_735_360));
        assert_eq!(facts_of_show(&json!({ "error": "model not found" })), ServerFacts::default());
    }
}
