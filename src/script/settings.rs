//! The names that a script may use in its head, with what each is for: settings, parameters of a
//! model call, attributes of an input, keys of `shouldThink` and of a tool. The check, the help, the
//! JSON Schema and the language server all read these tables.

use super::error::quoted;
use super::template;
use avocet_core::i18n::{LocalizedText, Phrase, script_help as docs, script_run as phrases};

/// One name, the JSON types of its value, and the only texts the value may be.
#[derive(Clone, Copy, Debug)]
pub struct SettingSpec {
    pub name: &'static str,
    pub types: &'static [&'static str],
    /// Empty: any text.
    pub choices: &'static [&'static str],
    pub about: Phrase,
}

const TEXT: &[&str] = &["string"];
const FLAG: &[&str] = &["boolean"];
const FLAG_OR_TEXT: &[&str] = &["boolean", "string"];
const FLAG_OR_NULL: &[&str] = &["boolean", "null"];
const NUMBER: &[&str] = &["number"];
const WHOLE: &[&str] = &["integer"];
const MAP: &[&str] = &["object"];
const LIST: &[&str] = &["array", "string"];
const LIST_OR_MAP: &[&str] = &["array", "object", "string"];
const ANY: &[&str] = &[];

const fn of(name: &'static str, types: &'static [&'static str], phrase: Phrase) -> SettingSpec {
    SettingSpec { name, types, choices: &[], about: phrase }
}

const fn one_of(
    name: &'static str,
    types: &'static [&'static str],
    choices: &'static [&'static str],
    phrase: Phrase,
) -> SettingSpec {
    SettingSpec { name, types, choices, about: phrase }
}

const THINK_MODES: &[&str] = &["off", "last", "first", "deep"];

/// The settings; any other key of the head is a variable.
#[rustfmt::skip]
pub const SETTINGS: &[SettingSpec] = &[
    of("_id", TEXT, docs::SETTING_ID),
    of("title", TEXT, docs::SETTING_TITLE),
    of("description", TEXT, docs::SETTING_DESCRIPTION),
    of("name", TEXT, docs::SETTING_NAME),
    of("version", ANY, docs::SETTING_VERSION),
    of("type", TEXT, docs::SETTING_TYPE),
    of("extends", TEXT, docs::SETTING_EXTENDS),
    of("input", LIST_OR_MAP, docs::SETTING_INPUT),
    of("output", MAP, docs::SETTING_OUTPUT),
    of("import", LIST_OR_MAP, docs::SETTING_IMPORT),
    of("export", LIST, docs::SETTING_EXPORT),
    of("prompt", MAP, docs::SETTING_PROMPT),
    of("parameters", MAP, docs::SETTING_PARAMETERS),
    of("tools", LIST_OR_MAP, docs::SETTING_TOOLS),
    of("roles", MAP, docs::SETTING_ROLES),
    of("character", MAP, docs::SETTING_CHARACTER),
    of("permissions", MAP, docs::SETTING_PERMISSIONS),
    one_of("templateFormat", TEXT, template::FORMATS, docs::SETTING_TEMPLATE_FORMAT),
    one_of("formatStringStrategy", TEXT, &["Raw", "Deferred", "Immediate"], docs::SETTING_STRATEGY),
    of("contentType", TEXT, docs::SETTING_CONTENT_TYPE),
    of("modelPattern", LIST, docs::SETTING_MODEL_PATTERN),
    of("on", LIST_OR_MAP, docs::SETTING_ON),
    one_of("shouldThink", &["boolean", "object", "string"], THINK_MODES, docs::SETTING_THINK),
    of("keepThinking", FLAG_OR_TEXT, docs::SETTING_KEEP_THINKING),
    of("keepOriginal", FLAG_OR_TEXT, docs::SETTING_KEEP_ORIGINAL),
    of("forceJson", FLAG_OR_NULL, docs::SETTING_FORCE_JSON),
    of("llmStream", FLAG, docs::SETTING_STREAM),
    of("llmReturnResult", TEXT, docs::SETTING_RETURN),
    of("autoRunLLMIfPromptAvailable", FLAG, docs::SETTING_AUTO_RUN),
    of("autoBuildOutputPrompt", FLAG, docs::SETTING_AUTO_OUTPUT),
    of("shouldAppendResponse", FLAG_OR_NULL, docs::SETTING_APPEND),
    of("disableLlmRequest", FLAG, docs::SETTING_NO_REQUEST),
    of("completion_delimiter", TEXT, docs::SETTING_DELIMITER),
    of("stop_words", LIST, docs::SETTING_STOP),
    of("response_format", &["object", "string"], docs::SETTING_FORMAT),
    one_of("run_mode", TEXT, &["parallel", "sequential", "serial", "cascaded", "planer", "planner"],
        docs::SETTING_RUN_MODE),
    one_of("planner", TEXT, &["default", "advanced"], docs::SETTING_PLANNER),
    of("concurrency_level", WHOLE, docs::SETTING_CONCURRENCY),
    of("concurrent_answer", FLAG, docs::SETTING_CONCURRENT),
    of("SystemNotesTitle", TEXT, docs::SETTING_NOTES_TITLE),
    of("SystemOutputTitle", TEXT, docs::SETTING_OUTPUT_TITLE),
    of("SystemTemplate", &["object", "string"], docs::SETTING_SYSTEM_TEMPLATE),
    of("trigger", LIST, docs::SETTING_TRIGGER),
    of("keywords", LIST, docs::SETTING_KEYWORDS),
    of("defaults", MAP, docs::SETTING_DEFAULTS),
    of("runSelfBeforeInitializeExec", FLAG, docs::SETTING_RUN_FIRST),
    of("$initializeExec", &["boolean", "object", "string"], docs::SETTING_INITIALIZE),
];

/// What `parameters` may hold; other names are passed to the model's server.
#[rustfmt::skip]
pub const PARAMETERS: &[SettingSpec] = &[
    of("temperature", NUMBER, docs::PARAMETER_TEMPERATURE),
    of("top_p", NUMBER, docs::PARAMETER_TOP_P),
    of("max_tokens", WHOLE, docs::PARAMETER_MAX_TOKENS),
    of("continueOnLengthLimit", FLAG, docs::PARAMETER_CONTINUE),
    of("maxRetry", WHOLE, docs::PARAMETER_RETRY),
    of("timeout", NUMBER, docs::PARAMETER_TIMEOUT),
    of("minTailRepeatCount", WHOLE, docs::PARAMETER_TAIL),
    of("naturalOutput", FLAG, docs::PARAMETER_NATURAL),
    of("response_format", &["object", "string"], docs::SETTING_FORMAT),
    of("stop_words", LIST, docs::SETTING_STOP),
    of("stream", FLAG, docs::SETTING_STREAM),
];

#[rustfmt::skip]
pub const INPUT_ATTRIBUTES: &[SettingSpec] = &[
    of("required", FLAG, docs::INPUT_REQUIRED),
    of("index", WHOLE, docs::INPUT_INDEX),
    of("description", TEXT, docs::INPUT_DESCRIPTION),
    of("default", ANY, docs::INPUT_DEFAULT),
    of("type", &["array", "string"], docs::INPUT_TYPE),
    of("enum", &["array"], docs::INPUT_ENUM),
    of("example", ANY, docs::INPUT_EXAMPLE),
    of("examples", ANY, docs::INPUT_EXAMPLE),
    of("hidden", FLAG, docs::INPUT_HIDDEN),
    of("hiddenInResult", FLAG, docs::INPUT_HIDDEN_RESULT),
];

#[rustfmt::skip]
pub const THINK_KEYS: &[SettingSpec] = &[
    one_of("mode", FLAG_OR_TEXT, THINK_MODES, docs::THINK_MODE),
    of("visible", FLAG, docs::THINK_VISIBLE),
    of("depth", WHOLE, docs::THINK_DEPTH),
    of("steps", WHOLE, docs::THINK_STEPS),
    of("thinkTag", LIST, docs::THINK_TAG),
    of("answerTag", LIST, docs::THINK_ANSWER_TAG),
    of("skipDefaultPrompt", FLAG, docs::THINK_SKIP),
    of("defaultThinkPrompt", MAP, docs::THINK_PROMPT),
];

#[rustfmt::skip]
pub const TOOL_KEYS: &[SettingSpec] = &[
    of("title", TEXT, docs::TOOL_TITLE),
    of("defaults", MAP, docs::TOOL_DEFAULTS),
    of("trigger", LIST, docs::TOOL_TRIGGER),
    of("keywords", LIST, docs::TOOL_KEYWORDS),
];

/// A sampling parameter that servers of models know besides those of the program.
#[derive(Clone, Copy, Debug)]
pub struct SamplingSpec {
    /// The name it is sent under, and all names that scripts may give it.
    pub name: &'static str,
    pub names: &'static [&'static str],
    pub types: &'static [&'static str],
}

const fn sampling(names: &'static [&'static str], types: &'static [&'static str]) -> SamplingSpec {
    SamplingSpec { name: names[0], names, types }
}

pub const SAMPLING: &[SamplingSpec] = &[
    sampling(&["top_k", "topK"], NUMBER),
    sampling(&["min_p", "minP"], NUMBER),
    sampling(&["typical_p"], NUMBER),
    sampling(&["tfs_z"], NUMBER),
    sampling(&["repeat_penalty", "repeatPenalty"], NUMBER),
    sampling(&["repetition_penalty"], NUMBER),
    sampling(&["repeat_last_n"], NUMBER),
    sampling(&["mirostat"], NUMBER),
    sampling(&["mirostat_tau"], NUMBER),
    sampling(&["mirostat_eta"], NUMBER),
    sampling(&["seed"], NUMBER),
    sampling(&["logit_bias"], ANY),
    sampling(&["grammar"], ANY),
    sampling(&["dry_multiplier"], NUMBER),
    sampling(&["xtc_probability"], NUMBER),
    sampling(&["reasoning_effort", "reasoningEffort"], ANY),
    sampling(&["enable_thinking"], FLAG),
    sampling(&["chat_template_kwargs"], ANY),
];

/// Other parameters that servers of models know. They are passed on like any other name; a check
/// only has to know that they are not misspelt.
#[rustfmt::skip]
const SERVER_PARAMETERS: &[&str] = &[
    "stop", "model", "maxTokens", "topP", "top_a", "top_n", "top_n_sigma", "min_k",
    "presence_penalty", "frequency_penalty", "logprobs", "top_logprobs", "json_schema", "dry_base",
    "xtc_threshold", "thinking", "max_completion_tokens", "min_tokens", "cache_prompt", "samplers",
    "penalty_last_n", "n_predict", "n_probs", "n_keep", "num_ctx", "num_predict", "keep_alive",
    "add_generation_prompt", "keepOrginal", "messages", "functions", "function_call", "tool_choice",
    "parallel_tool_calls", "stream_options", "metadata", "service_tier", "store", "user", "best_of",
    "echo", "suffix", "provider", "transforms", "models", "safe_prompt", "random_seed",
    "pushMessage",
];

/// The names of parameters that servers of models know.
pub fn server_parameters() -> impl Iterator<Item = &'static str> + Clone {
    let sampling = SAMPLING.iter().flat_map(|row| row.names).copied();
    sampling.chain(SERVER_PARAMETERS.iter().copied())
}

/// The types an input may have.
#[rustfmt::skip]
pub const INPUT_TYPES: &[&str] = &[
    "string", "text", "number", "integer", "float", "boolean", "bool", "object", "array", "list",
    "any", "null", "file", "path", "date", "time", "datetime", "url", "image", "json", "enum",
    "function", "double", "regexp", "email", "password", "int", "str", "map", "dict",
];

/// The formats of a reply, `response_format.type`.
pub const REPLY_FORMATS: &[&str] =
    &["json", "json_object", "json_schema", "yaml", "yml", "nobj", "text", ""];

pub const PERMISSION_KEYS: &[&str] = &["ai", "defaultAction", "overwriteAction"];
pub const PERMISSION_CALLER_KEYS: &[&str] = &["call", "defaultAction", "overwriteAction"];
pub const PERMISSION_RULE_KEYS: &[&str] = &["name", "action", "parameters"];

/// What `defaultThinkPrompt` may hold, also below its `prompt`.
#[rustfmt::skip]
pub const THINK_PROMPTS: &[&str] = &[
    "prompt", "templateFormat", "lastThinkPrompt", "firstThinkPrompt", "deepThinkPrompt",
    "rolePrompt",
];

/// The events a run emits by itself.
pub const EVENTS: &[&str] = &["llm", "llmBefore", "llmParams", "llmRequest", "llmStream"];

/// The keys beside a directive that mean something; of any other directive, all are arguments.
#[rustfmt::skip]
pub const DIRECTIVE_KEYS: &[(&str, &[&str])] = &[
    ("if", &["if", "then", "else"]),
    ("for", &["items", "do", "as"]),
    ("while", &["while", "do"]),
    ("try", &["try", "catch", "retry"]),
    ("agent", AGENT_KEYS),
    ("on", &["event", "callback"]),
    ("once", &["event", "callback"]),
    ("off", &["event", "callback"]),
    ("emit", &["event", "args"]),
    ("writeFile", &["path", "content"]),
    ("listFilenames", &["dir", "extname", "recursive"]),
    ("isDir", &["path", "content"]),
    ("pushMessage", &["role", "content", "message"]),
    ("replaceMessage", &["index", "role", "content", "message"]),
    ("input", INPUT_KEYS),
    ("consoleInput", INPUT_KEYS),
];

/// The keys of `$agent`.
pub const AGENT_KEYS: &[&str] = &["task", "tools", "mode", "agent"];

const INPUT_KEYS: &[&str] = &[
    "content",
    "message",
    "question",
    "title",
    "choices",
    "options",
    "enum",
    "inputType",
    "type",
    "value",
    "default",
    "initial",
    "required",
];

/// The directives whose one value is all they take: a key beside it would be dropped.
pub const ONE_VALUE: &[&str] =
    &["print", "echo", "ret", "exit", "get", "unset", "throw", "break", "continue"];

/// The keys that may be written beside a directive that has a value; `None`: any.
pub fn directive_keys(name: &str) -> Option<&'static [&'static str]> {
    let row = DIRECTIVE_KEYS.iter().find(|(known, _)| *known == name).map(|(_, keys)| *keys);
    row.or_else(|| ONE_VALUE.contains(&name).then_some(&[]))
}

/// Whether the value of a directive is data of the script, of which any map may be one.
pub fn takes_data(name: &str) -> bool {
    matches!(name, "for" | "try") || ONE_VALUE.contains(&name)
}

/// The row of a setting.
pub fn find_setting(name: &str) -> Option<&'static SettingSpec> {
    SETTINGS.iter().find(|row| row.name == name)
}

/// The error for a list or a map as a message. Under the name of a setting it was meant as one.
pub fn no_text_error(role: &str) -> LocalizedText {
    let is_setting = find_setting(role).is_some();
    let phrase = if is_setting { phrases::SETTING_NO_HEAD } else { phrases::CONTENT_NO_TEXT };
    phrase.with("role", quoted(role))
}
