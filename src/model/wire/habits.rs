//! How servers that speak chat completions depart from it, and from each other. Facts, by host and
//! by the model's name.

use serde_json::{Value, json};

use super::super::Effort;
use super::calls::SHORT_ID;

/// What a server wants to see again of the reasoning that led to calls of tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReasoningReturn {
    Never,
    /// In the field it came in.
    Same,
    /// In this field, with every message that has calls, even if it is empty.
    Always(&'static str),
}

/// How the effort is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EffortField {
    /// `reasoning_effort`.
    Plain,
    /// `reasoning: {effort}`.
    Object,
    /// `thinking: {type}` switches it, `reasoning_effort` says how much.
    Switch,
    /// `enable_thinking`.
    Flag,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Habits {
    host: &'static str,
    model: &'static str,
    pub returns: ReasoningReturn,
    pub effort: EffortField,
    /// It takes `prompt_cache_key`.
    pub cache_key: bool,
    /// It holds the answer to a schema even where tools may be called first; of others the schema
    /// would keep the model from calling them.
    pub schema_beside_tools: bool,
    /// The longest id of a call.
    pub id_length: usize,
}

use EffortField::{Flag, Object, Plain, Switch};
use ReasoningReturn::{Always, Never, Same};

/// The first row whose host fits, else the first whose model fits, else [`USUAL`].
#[rustfmt::skip]
const HABITS: &[Habits] = &[
    Habits { host: "openrouter.ai",    model: "",         returns: Same,                        effort: Object, cache_key: false, schema_beside_tools: true,  id_length: 64 },
    Habits { host: "api.openai.com",   model: "",         returns: Never,                       effort: Plain,  cache_key: true,  schema_beside_tools: true,  id_length: 40 },
    Habits { host: "azure.com",        model: "",         returns: Same,                        effort: Plain,  cache_key: true,  schema_beside_tools: true,  id_length: 40 },
    Habits { host: "api.deepseek.com", model: "deepseek", returns: Always("reasoning_content"), effort: Switch, cache_key: false, schema_beside_tools: false, id_length: 64 },
    Habits { host: "moonshot",         model: "kimi",     returns: Always("reasoning_content"), effort: Switch, cache_key: true,  schema_beside_tools: false, id_length: 64 },
    Habits { host: "api.z.ai",         model: "glm",      returns: Same,                        effort: Switch, cache_key: false, schema_beside_tools: false, id_length: 64 },
    Habits { host: "bigmodel.cn",      model: "",         returns: Same,                        effort: Switch, cache_key: false, schema_beside_tools: false, id_length: 64 },
    Habits { host: "dashscope",        model: "",         returns: Same,                        effort: Flag,   cache_key: false, schema_beside_tools: false, id_length: 64 },
    Habits { host: "api.x.ai",         model: "grok",     returns: Never,                       effort: Plain,  cache_key: false, schema_beside_tools: true,  id_length: 64 },
    Habits { host: "api.groq.com",     model: "",         returns: Never,                       effort: Plain,  cache_key: false, schema_beside_tools: false, id_length: 64 },
    Habits { host: "api.mistral.ai",   model: "mistral",  returns: Same,                        effort: Plain,  cache_key: false, schema_beside_tools: false, id_length: SHORT_ID },
];

const USUAL: Habits = Habits {
    host: "",
    model: "",
    returns: Same,
    effort: Plain,
    cache_key: false,
    schema_beside_tools: false,
    id_length: 64,
};

impl Habits {
    pub fn of(host: &str, model: &str) -> Habits {
        let model = model.to_lowercase();
        let host = |habits: &&Habits| !habits.host.is_empty() && host.contains(habits.host);
        let model = |habits: &&Habits| !habits.model.is_empty() && model.contains(habits.model);
        *HABITS.iter().find(host).or_else(|| HABITS.iter().find(model)).unwrap_or(&USUAL)
    }

    /// Says in a request how much to think.
    pub fn ask(self, effort: Effort, body: &mut Value) {
        let is_on = effort != Effort::None;
        match self.effort {
            Plain => body["reasoning_effort"] = json!(effort),
            Object => body["reasoning"] = json!({ "effort": effort }),
            Flag => body["enable_thinking"] = json!(is_on),
            Switch => {
                let kind = if is_on { "enabled" } else { "disabled" };
                body["thinking"] = json!({ "type": kind });
                if is_on {
                    body["reasoning_effort"] = json!(effort);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_counts_before_the_model() {
        let returns = |host, model| Habits::of(host, model).returns;
        assert_eq!(returns("openrouter.ai", "deepseek/deepseek-v4"), Same);
        assert_eq!(returns("api.deepseek.com", "x"), Always("reasoning_content"));
        assert_eq!(returns("127.0.0.1", "DeepSeek-R1"), Always("reasoning_content"));
        assert_eq!(returns("127.0.0.1", "qwen3"), Same);
        assert_eq!(Habits::of("api.mistral.ai", "x").id_length, 9);
    }
}
