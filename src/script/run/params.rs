//! Splits a script's parameters into those for the model and those that control the call.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::super::settings::{SAMPLING, SamplingSpec};
use super::super::text::bias::{Bias, BiasAmount};
use super::super::text::regex;
use super::scope::ScopeValues;
use avocet_core::protocol::Params;

/// What `parameters` may hold that is not for the server: settings of the call, and what this
/// program fills in itself.
const NOT_SENT: &[&str] = &[
    "stop_words",
    "stop",
    "max_tokens",
    "maxTokens",
    "temperature",
    "top_p",
    "topP",
    "presence_penalty",
    "frequency_penalty",
    "continueOnLengthLimit",
    "maxRetry",
    "stream",
    "timeout",
    "response_format",
    "minTailRepeatCount",
    "SystemTemplate",
    "naturalOutput",
    "forceJson",
    "shouldThink",
    "keepThinking",
    "keepOriginal",
    "keepOrginal",
    "llmStream",
    "llmReturnResult",
    "disableLlmRequest",
    "shouldAppendResponse",
    "add_generation_prompt",
    "completion_delimiter",
    "autoBuildOutputPrompt",
    "templateFormat",
    "pushMessage",
    "model",
    "messages",
    "tools",
    "tool_choice",
    "functions",
    "stream_options",
    "n",
];
const MAX_TOKENS: u32 = 2048;
const TIMEOUT: u64 = 120_000;
const MAX_RETRY: u64 = 7;
const MIN_TAIL: u64 = 7;
/// Maximum number of texts whose likelihood one call changes.
const MAX_BIASES: usize = 256;

/// Every parameter that is known here.
pub fn parameter_names() -> impl Iterator<Item = &'static str> {
    NOT_SENT.iter().copied().chain(SAMPLING.iter().flat_map(|row| row.names).copied())
}

/// The settings of one call.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelCallSettings {
    pub params: Params,
    pub streams: bool,
    pub timeout: Duration,
    /// How often a truncated answer is continued.
    pub retries: u64,
    /// How often the tail of an answer may repeat; 0: no limit.
    pub max_tail_repeats: u64,
}

/// Reads the parameters of a call: its own first, then the prompt's, then the script's.
pub fn model_call_settings(
    values: &ScopeValues,
    call: &Map<String, Value>,
    is_json: bool,
) -> ModelCallSettings {
    let of = |names: &[&str]| {
        for layer in [call, &values.prompt, &values.parameters] {
            let given = names.iter().find_map(|name| Some((*name, layer.get(*name)?)));
            let given = given.filter(|(name, value)| !value.is_null() && is_usable(name, value));
            if let Some((_, value)) = given {
                return Some(value);
            }
        }
        None
    };
    let number = |names: &[&str]| of(names).and_then(as_number);
    let whole = |names: &[&str], default: u64| {
        of(names).and_then(as_number).map_or(default, |number| number.max(0.0) as u64)
    };
    let max_tokens = of(&["max_tokens", "maxTokens"]).and_then(as_number);
    let max_tokens = max_tokens.map_or(u64::from(MAX_TOKENS), |most| most.max(0.0) as u64);
    // 0 and -1 mean: no limit.
    let max_tokens = (max_tokens > 0).then(|| u32::try_from(max_tokens).unwrap_or(u32::MAX));
    let mut more = Map::new();
    for row in SAMPLING {
        let given =
            of(row.names).filter(|value| sampling_kind(row).is_none_or(|it| it.fits(value)));
        if let Some(value) = given {
            more.insert(row.name.to_owned(), sent_value(value, sampling_kind(row)));
        }
    }
    add_unlisted(&values.parameters, &mut more);
    let continues = continues_on_length_limit(values, call);
    let wants = of(&["stream"]).and_then(Value::as_bool);
    let wants = wants.or(values.flag("llmStream")).unwrap_or(true);
    ModelCallSettings {
        params: Params {
            temperature: number(&["temperature"]),
            top_p: number(&["top_p", "topP"]),
            max_tokens,
            is_unlimited: max_tokens.is_none(),
            is_whole: !wants,
            is_private: false,
            presence_penalty: number(&["presence_penalty"]),
            frequency_penalty: number(&["frequency_penalty"]),
            stop: stop_words(values, call),
            more,
        },
        streams: wants,
        timeout: Duration::from_millis(whole(&["timeout"], TIMEOUT)),
        retries: if continues && !is_json { whole(&["maxRetry"], MAX_RETRY) } else { 0 },
        max_tail_repeats: whole(&["minTailRepeatCount"], MIN_TAIL),
    }
}

fn continues_on_length_limit(values: &ScopeValues, call: &Map<String, Value>) -> bool {
    let option = values.option("continueOnLengthLimit");
    let is_flag = |value: &&Value| value.is_boolean();
    let given = call.get("continueOnLengthLimit").filter(is_flag).or(option.as_ref());
    given.and_then(Value::as_bool).unwrap_or(false)
}

/// The parameters of a call that cannot be what they are set to, with the values.
pub fn unusable_params<'a>(
    values: &'a ScopeValues,
    call: &'a Map<String, Value>,
) -> Vec<(&'static str, &'a Value)> {
    let given = |name: &str| {
        let layers = [call, &values.prompt, &values.parameters];
        layers.into_iter().find_map(|layer| layer.get(name)).filter(|value| !value.is_null())
    };
    let sampling = SAMPLING.iter().filter_map(|row| Some((row.names, sampling_kind(row)?)));
    let sampling = sampling.flat_map(|(names, kind)| names.iter().map(move |name| (*name, kind)));
    let found = CHECKED.iter().copied().chain(sampling);
    let found = found.filter_map(|(name, kind)| Some((name, kind, given(name)?)));
    found
        .filter(|(_, kind, value)| !kind.fits(value))
        .map(|(name, _, value)| (name, value))
        .collect()
}

/// `None` for a parameter that may be anything.
fn sampling_kind(spec: &SamplingSpec) -> Option<ParamKind> {
    match spec.types {
        ["number"] => Some(ParamKind::Number),
        ["boolean"] => Some(ParamKind::Flag),
        _ => None,
    }
}

/// A number may be written as text; servers want the number.
fn sent_value(value: &Value, kind: Option<ParamKind>) -> Value {
    let text = value.as_str().filter(|_| kind == Some(ParamKind::Number)).map(str::trim);
    text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_else(|| value.clone())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ParamKind {
    Number,
    Count,
    Time,
    Texts,
    Flag,
}

impl ParamKind {
    fn fits(self, value: &Value) -> bool {
        match self {
            ParamKind::Number => as_number(value).is_some(),
            // 0 and -1 mean: no limit.
            ParamKind::Count => as_number(value).is_some_and(|number| number >= -1.0),
            ParamKind::Time => as_number(value).is_some_and(|number| number >= 1.0),
            ParamKind::Texts => value.is_string() || value.is_array(),
            ParamKind::Flag => value.is_boolean(),
        }
    }
}

/// The parameters whose values are converted before they are sent.
const CHECKED: &[(&str, ParamKind)] = &[
    ("temperature", ParamKind::Number),
    ("top_p", ParamKind::Number),
    ("topP", ParamKind::Number),
    ("presence_penalty", ParamKind::Number),
    ("frequency_penalty", ParamKind::Number),
    ("max_tokens", ParamKind::Count),
    ("maxTokens", ParamKind::Count),
    ("timeout", ParamKind::Time),
    ("maxRetry", ParamKind::Count),
    ("minTailRepeatCount", ParamKind::Count),
    ("stop_words", ParamKind::Texts),
    ("stop", ParamKind::Texts),
    ("stream", ParamKind::Flag),
    ("continueOnLengthLimit", ParamKind::Flag),
];

/// Whether a parameter can be what it is set to; one that cannot has no effect.
fn is_usable(name: &str, value: &Value) -> bool {
    CHECKED.iter().find(|(known, _)| *known == name).is_none_or(|(_, kind)| kind.fits(value))
}

/// What no list knows is meant for the server.
pub fn add_unlisted(parameters: &Map<String, Value>, more: &mut Map<String, Value>) {
    let is_listed = |name: &str| {
        NOT_SENT.contains(&name) || SAMPLING.iter().any(|row| row.names.contains(&name))
    };
    for (name, value) in parameters.iter().filter(|(name, _)| !is_listed(name)) {
        more.entry(name.clone()).or_insert_with(|| value.clone());
    }
}

/// Whether a model matches a script's pattern: a glob, `/re/flags`, or its name.
pub fn matches_model(pattern: &str, model: &str) -> bool {
    if let Some((source, flags)) = pattern.strip_prefix('/').and_then(|it| it.rsplit_once('/')) {
        return regex::captures(source, flags, model).is_ok_and(|found| found.is_some());
    }
    let glob = globset::GlobBuilder::new(pattern).case_insensitive(true).build();
    glob.is_ok_and(|glob| glob.compile_matcher().is_match(model))
}

/// The requests of `((text:bias))` marks, by text: the form for servers that tokenize it
/// themselves. `None` if there are none.
pub fn logit_bias<'a>(biases: impl Iterator<Item = &'a Bias>) -> Option<Value> {
    let mut out: Vec<(&str, Value)> = Vec::new();
    for bias in biases {
        let value = match bias.by {
            BiasAmount::Never => Value::Bool(false),
            by => json!(by.logit()),
        };
        // The last bias for a text wins.
        out.retain(|(text, _)| *text != bias.text);
        out.push((&bias.text, value));
    }
    out.truncate(MAX_BIASES);
    (!out.is_empty()).then(|| out.into_iter().map(|(text, by)| json!([text, by])).collect())
}

fn as_number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok().filter(|it: &f64| it.is_finite()))
}

/// All stop words, each once, with the delimiter last.
fn stop_words(values: &ScopeValues, call: &Map<String, Value>) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut add = |value: Option<&Value>| {
        let words = match value {
            Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).collect(),
            Some(Value::String(word)) => vec![word.as_str()],
            _ => Vec::new(),
        };
        for word in words.into_iter().filter(|word| !word.is_empty()) {
            if out.iter().all(|known| known != word) {
                out.push(word.to_owned());
            }
        }
    };
    for layer in [call, &values.prompt, &values.parameters, &values.config] {
        for name in ["stop_words", "stop"] {
            add(layer.get(name));
        }
    }
    add(values.option("completion_delimiter").as_ref());
    out
}

/// Whether the end of a text is one unit, repeated this often.
pub fn has_repeating_tail(text: &str, times: u64) -> bool {
    let Ok(times) = usize::try_from(times) else { return false };
    if times < 2 {
        return false;
    }
    let bytes = text.as_bytes();
    (1..=MAX_UNIT).any(|unit| {
        let Some(tail) = bytes.len().checked_sub(unit) else { return false };
        let word = &bytes[tail..];
        // Lines of dashes and spaces are drawn on purpose.
        let is_word = word.iter().any(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80);
        let same = word.iter().all(|byte| *byte == word[0]);
        let times = if is_word && !same { times } else { times.max(SAME_SIGNS) };
        unit.checked_mul(times).is_some_and(|length| {
            bytes.len() >= length
                && bytes[bytes.len() - length..].chunks_exact(unit).all(|chunk| chunk == word)
        })
    })
}

/// Longest unit that is checked, in bytes.
const MAX_UNIT: usize = 96;
/// How often one sign, or signs that are not letters, may repeat in a row.
const SAME_SIGNS: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    /// ISDK-145: the call's own parameters, then the prompt's, then the script's.
    #[test]
    fn isdk_145_the_closest_parameter_wins() {
        let values = ScopeValues {
            prompt: map(json!({"top_p": 0.2, "stop_words": ["P"]})),
            parameters: map(
                json!({"temperature": 0.1, "top_p": 0.1, "top_k": 5, "stop_words": ["S", "P"]}),
            ),
            config: map(json!({"completion_delimiter": "<E>"})),
            ..ScopeValues::default()
        };
        let manner = model_call_settings(&values, &map(json!({"temperature": 0.9})), false);
        assert_eq!(manner.params.temperature, Some(0.9));
        assert_eq!(manner.params.top_p, Some(0.2));
        assert_eq!(manner.params.max_tokens, Some(2048));
        assert_eq!(manner.params.more["top_k"], json!(5));
        assert_eq!(manner.params.stop, ["P", "S", "<E>"]);
        assert_eq!(
            (manner.retries, manner.max_tail_repeats, manner.timeout.as_secs()),
            (0, 7, 120)
        );
    }

    #[test]
    fn a_parameter_that_cannot_be_what_it_is_set_to_is_found() {
        let values = ScopeValues {
            parameters: map(json!({
                "temperature": "hot", "top_p": "0.5", "stop_words": 5, "max_tokens": 0,
                "top_k": "many", "seed": "7", "my_param": "any"
            })),
            ..ScopeValues::default()
        };
        let call = map(json!({"max_tokens": -5, "stream": true}));
        let found = unusable_params(&values, &call);
        assert_eq!(
            found,
            [
                ("temperature", &json!("hot")),
                ("max_tokens", &json!(-5)),
                ("stop_words", &json!(5)),
                ("top_k", &json!("many")),
            ]
        );
        // It is not sent, and a number in quotes is sent as one.
        let sent = model_call_settings(&values, &call, false).params.more;
        assert_eq!(sent.get("top_k"), None);
        assert_eq!(
            (sent.get("seed"), sent.get("my_param")),
            (Some(&json!(7)), Some(&json!("any")))
        );
    }

    #[test]
    fn a_parameter_without_effect_leaves_the_default() {
        let call = map(json!({"timeout": -5, "maxRetry": -9, "minTailRepeatCount": "x"}));
        let values = ScopeValues {
            parameters: map(json!({"continueOnLengthLimit": true, "timeout": 5000})),
            ..ScopeValues::default()
        };
        let read = |values: &ScopeValues, call| model_call_settings(values, call, false);
        let settings = read(&values, &call);
        assert_eq!((settings.retries, settings.max_tail_repeats), (7, 7));
        assert_eq!(settings.timeout.as_secs(), 5);
        let none = read(&ScopeValues::default(), &map(json!({"timeout": 0})));
        assert_eq!(none.timeout.as_secs(), 120);
    }

    /// ISDK-053: JSON must be complete.
    #[test]
    fn isdk_053_a_cut_json_answer_is_not_continued() {
        let values = ScopeValues {
            parameters: map(json!({"continueOnLengthLimit": true})),
            ..ScopeValues::default()
        };
        assert_eq!(model_call_settings(&values, &Map::new(), true).retries, 0);
    }

    #[test]
    fn a_repeating_tail_is_detected_and_a_drawn_line_is_not() {
        assert!(has_repeating_tail("go abababab", 4));
        assert!(!has_repeating_tail("go ababab", 4));
        assert!(has_repeating_tail(&format!("x{}", "循环".repeat(7)), 7));
        assert!(!has_repeating_tail("----------------", 7));
        assert!(!has_repeating_tail("| --- | --- | --- | --- | --- | --- | --- |", 7));
        assert!(!has_repeating_tail("aaaaaaaaaa", 0));
    }
}
