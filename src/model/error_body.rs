//! Extracts a server's error message: found in a body, cleaned, shortened, and without the key it
//! may have echoed. Pure; [`super::status`] interprets it.

use std::time::Duration;

use serde_json::Value;

use avocet_core::text;
use avocet_safety::is_hidden;
use avocet_safety::redact::Redactor;

/// Longest message that is kept, in characters.
const MAX_LENGTH: usize = 300;

/// Longest message that is looked at, in bytes.
const MAX_READ: usize = 16 * 1024;

/// Shorter keys are not masked: that would blank out ordinary words.
const MIN_KEY: usize = 6;

/// A server's own words about an error.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ServerMessage {
    /// For display; empty if there are none.
    pub text: String,
    /// All of them, as far as they are looked at.
    whole: String,
    /// `code` and `type` of the error, joined by a space, in lower case.
    pub code: String,
    /// The status inside the error, if there is one.
    pub status: Option<u16>,
    /// The field that the error is about, if it names one.
    pub param: String,
    /// The field that it names, where the request had none of this name.
    pub unsent: Option<String>,
    /// The pause that is asked for, and the context in tokens that is enforced: read in the whole
    /// text, of which only the beginning is kept.
    pub pause: Option<Duration>,
    pub window: Option<u64>,
}

impl ServerMessage {
    /// Reads the body of a failed request.
    pub fn from_body(body: &str, key: Option<&str>) -> ServerMessage {
        match serde_json::from_str::<Value>(body) {
            Ok(value) => ServerMessage::from_value(&value, key),
            Err(_) if is_html(body) => ServerMessage::default(),
            Err(_) => ServerMessage {
                pause: asked_pause(body),
                window: named_window(body),
                text: clean(body, key),
                whole: beginning(body),
                ..ServerMessage::default()
            },
        }
    }

    /// Reads an object that contains an error, or is one.
    pub fn from_value(value: &Value, key: Option<&str>) -> ServerMessage {
        let value = value.get(0).unwrap_or(value);
        let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
        // A router passes on the words of the server that it asked.
        let raw = error.pointer("/metadata/raw").and_then(Value::as_str).unwrap_or_default();
        let inner = ServerMessage::from_body(raw, key);
        if !inner.text.is_empty() {
            return ServerMessage { status: inner.status.or_else(|| inner_status(error)), ..inner };
        }
        let text = match error {
            Value::String(text) => text.clone(),
            _ => ["message", "detail", "msg", "error", "title"]
                .iter()
                .find_map(|field| error.get(field).or_else(|| value.get(field)))
                .map(message_text)
                .unwrap_or_default(),
        };
        let mut words = Vec::new();
        for field in ["code", "type", "status"] {
            words.extend(error.get(field).and_then(Value::as_str).map(str::to_lowercase));
        }
        let details = error.get("details").and_then(Value::as_array).into_iter().flatten();
        let delay = details.filter_map(|detail| detail.get("retryDelay")?.as_str()).next();
        ServerMessage {
            pause: delay.and_then(pause_of).or_else(|| asked_pause(&text)),
            window: named_window(&error.to_string()),
            text: clean(&text, key),
            whole: beginning(&text),
            code: words.join(" "),
            status: inner_status(error),
            param: error_field(error).to_owned(),
            unsent: None,
        }
    }

    /// The same, knowing the request that it answers.
    #[must_use]
    pub fn about(self, body: &Value) -> ServerMessage {
        let unsent = self.named_field().filter(|field| !has_field(body, field));
        ServerMessage { unsent, ..self }
    }

    /// The field that the error is about, in whatever words it says so.
    fn named_field(&self) -> Option<String> {
        let text = self.whole.to_lowercase();
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        let name_behind = |word: &&str| {
            let (_, rest) = text.split_once(*word)?;
            let rest = rest.trim_start_matches('s').trim_start();
            let rest = rest.strip_prefix("supplied").unwrap_or(rest);
            let name = rest.trim_start_matches([' ', ':', '[', '(', '\'', '"', '`']);
            let marks = rest.split_at(rest.len() - name.len()).0;
            let end = name.find(|c: char| !is_name(c)).unwrap_or(name.len());
            (!marks.trim().is_empty()).then(|| name.split_at(end).0.trim_end_matches('.'))
        };
        let before = || {
            text.split_once(": extra inputs")
                .and_then(|(before, _)| before.split_whitespace().next_back())
        };
        let param = Some(self.param.to_lowercase()).filter(|param| !param.is_empty());
        let in_words = || FIELD_WORDS.iter().find_map(name_behind).or_else(before);
        let path = param.or_else(|| in_words().map(str::to_owned))?;
        let mut names = path.rsplit('.').filter_map(|part| part.split('[').next());
        let is_field = |name: &&str| name.contains(|c: char| c.is_ascii_alphabetic());
        names.find(is_field).map(str::to_owned)
    }

    /// True if the error is about the field of this name.
    pub fn names(&self, field: &str) -> bool {
        let quoted = |quote: char| self.whole.contains(&format!("{quote}{field}{quote}"));
        self.param == field || ['\'', '`', '"'].into_iter().any(quoted)
    }

    /// True if the text or the code contains one of these, in lower case.
    pub fn mentions(&self, any: &[&str]) -> bool {
        let text = self.whole.to_lowercase();
        any.iter().any(|word| text.contains(word) || self.code.contains(word))
    }

    /// The longest answer that the server allows, where it complains that one of `asked` tokens is
    /// too long.
    pub fn longest_answer(&self, asked: u64) -> Option<u64> {
        let numbers = self.whole.split(|c: char| !c.is_ascii_digit());
        let smaller = numbers.filter_map(|number| number.parse::<u64>().ok());
        let smaller = smaller.filter(|number| (MIN_TOKENS..asked).contains(number));
        smaller.max().filter(|_| self.mentions(ANSWER_LIMITS))
    }

    /// The tool among these that the error is about: by its name, or by its place.
    pub fn refused_tool<'a>(&self, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
        let names: Vec<&str> = names.collect();
        let is_of_tools = self.mentions(&["schema", "parameters", "properties"]);
        let named = names.iter().find(|name| is_of_tools && self.names(name));
        let by_place =
            || (0..names.len()).find(|at| self.names_place(*at)).and_then(|at| names.get(at));
        named.or_else(by_place).copied()
    }

    /// Whether the error is about the tool at this place. Gemini has all declarations in one tool.
    fn names_place(&self, at: usize) -> bool {
        let is_inner = self.whole.contains("function_declarations[");
        let before = if is_inner { &["function_declarations["][..] } else { &["tools[", "tools."] };
        before.iter().any(|before| {
            let place = format!("{before}{at}");
            let mut behind = [self.whole.as_str(), &self.param].into_iter();
            behind.any(|text| {
                text.split_once(&place).is_some_and(|(_, rest)| rest.starts_with([']', '.']))
            })
        })
    }
}

/// The path of the field that an error is about. A server that checks with types lists it in parts.
fn error_field(error: &Value) -> &str {
    let place = error.pointer("/detail/0/loc").or_else(|| error.pointer("/message/detail/0/loc"));
    let last = place.and_then(|place| place.as_array()?.iter().rev().find_map(Value::as_str));
    error.get("param").and_then(Value::as_str).or(last).unwrap_or_default()
}

/// Whether a field of this name is anywhere in a request.
fn has_field(body: &Value, name: &str) -> bool {
    match body {
        Value::Object(fields) => fields
            .iter()
            .any(|(field, value)| field.to_lowercase() == name || has_field(value, name)),
        Value::Array(items) => items.iter().any(|item| has_field(item, name)),
        _ => false,
    }
}

/// What servers call a field, before its name.
const FIELD_WORDS: &[&str] = &["parameter", "argument", "field", "property"];

/// No model answers in fewer tokens.
const MIN_TOKENS: u64 = 256;

/// How servers name the longest answer.
const ANSWER_LIMITS: &[&str] = &[
    "max_tokens",
    "max_output_tokens",
    "max_completion_tokens",
    "maxoutputtokens",
    "maximum tokens",
    "output tokens",
    "completion tokens",
];

fn beginning(text: &str) -> String {
    text.split_at(text.floor_char_boundary(MAX_READ)).0.to_owned()
}

/// Removes control characters, line breaks and the key from foreign text, and cuts it.
pub(super) fn clean(text: &str, key: Option<&str>) -> String {
    let text = match key.filter(|key| key.len() >= MIN_KEY) {
        Some(key) => text.replace(key, "[key]"),
        None => text.to_owned(),
    };
    // Mask other keys by their form: servers echo their input.
    let text = Redactor::new([("", ""); 0], [0; 16]).mask(&text).into_owned();
    let text: String = text.chars().map(|c| if is_hidden(c) { ' ' } else { c }).collect();
    text::cut(&text::one_line(&text), MAX_LENGTH)
}

/// True when text looks like the beginning of a web page.
pub(super) fn is_html(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim_start().starts_with('<')
}

fn message_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(inner) => match inner.get("message") {
            Some(Value::String(text)) => text.clone(),
            _ => value.to_string(),
        },
        other => other.to_string(),
    }
}

fn inner_status(error: &Value) -> Option<u16> {
    ["status_code", "code", "status"].iter().find_map(|field| {
        let value = error.get(field)?;
        let number = value.as_u64().or_else(|| value.as_str()?.parse().ok())?;
        u16::try_from(number).ok().filter(|status| (400..600).contains(status))
    })
}

/// The pause in a server's words: "Please try again in 11.054s", "in 28ms", "in 1m2.5s",
/// "in 35 seconds".
fn asked_pause(text: &str) -> Option<Duration> {
    let text = text.to_lowercase();
    let (_, rest) = ["try again in ", "retry in ", "retry after "]
        .iter()
        .find_map(|phrase| text.split_once(phrase))?;
    pause_of(rest)
}

/// A duration at the beginning of a text: `31s`, `1m2.5s`.
fn pause_of(text: &str) -> Option<Duration> {
    let mut rest = text.trim_start();
    let mut seconds = None;
    while let Some((number, behind)) = leading_number(rest) {
        let unit = behind.trim_start();
        let end = unit.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(unit.len());
        let (unit, behind) = unit.split_at(end);
        let factor = match unit {
            "ms" | "milliseconds" => 0.001,
            "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
            "m" | "min" | "minute" | "minutes" => 60.0,
            "h" | "hour" | "hours" => 3_600.0,
            _ => break,
        };
        seconds = Some(seconds.unwrap_or(0.0) + number * factor);
        rest = behind.trim_start();
    }
    Duration::try_from_secs_f64(seconds?).ok()
}

fn leading_number(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, behind) = text.split_at(end);
    Some((number.trim_end_matches('.').parse().ok()?, behind))
}

/// The number of tokens that a server says its context has.
pub(super) fn named_window(text: &str) -> Option<u64> {
    let text = text.to_lowercase().replace(',', "");
    let number = |name: &&str| {
        let (_, rest) = text.split_once(*name)?;
        let near = rest.split_at(rest.floor_char_boundary(32)).0;
        let numbers = near.split(|c: char| !c.is_ascii_digit());
        let mut numbers = numbers.filter_map(|number| number.parse::<u64>().ok());
        numbers.find(|tokens| *tokens >= MIN_TOKENS)
    };
    WINDOWS.iter().find_map(number)
}

/// What precedes that number.
const WINDOWS: &[&str] = &[
    "context length is",
    "context length of",
    "context length (",
    "context length:",
    "maximum model length of",
    "max_seq_len",
    "must have less than",
    "range of input length",
    "only supports up to",
    "the max limit of",
    "the maximum length",
    "while limit is",
    "cannot exceed",
    "context window of",
    "context window is",
    "context size",
    "n_ctx",
    "context limit:",
    "maximum prompt length is",
    "token limit:",
    "supports at most",
    "tokens >",
    "must be <=",
    "exceeds the limit of",
    "the maximum number of tokens allowed",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_is_found_in_every_common_format() {
        let cases = [
            (r#"{"error":{"message":"no"}}"#, "no"),
            (r#"{"error":"no"}"#, "no"),
            (r#"[{"error":{"message":"no"}}]"#, "no"),
            (r#"{"message":"no"}"#, "no"),
            (r#"{"detail":"no"}"#, "no"),
            (r#"{"object":"error","message":"no","code":404}"#, "no"),
            (r#"{"error":{"metadata":1}}"#, r#"{"metadata":1}"#),
            ("plain words", "plain words"),
            ("<!doctype html><p>no", ""),
            ("", ""),
        ];
        for (body, expected) in cases {
            assert_eq!(ServerMessage::from_body(body, None).text, expected, "{body}");
        }
    }

    #[test]
    fn the_key_and_control_characters_are_removed() {
        let said = ServerMessage::from_body(
            "bad key sk-abcdef\u{1b}[31m\r\nnext\u{202e}x",
            Some("sk-abcdef"),
        );
        assert_eq!(said.text, "bad key [key] [31m next x");
    }

    #[test]
    fn long_messages_are_truncated() {
        let text = clean(&"字".repeat(5_000), None);
        assert_eq!(text.chars().count(), MAX_LENGTH + 1);
        assert!(text.ends_with('…'));
    }

    #[test]
    fn the_code_and_the_status_inside_are_kept() {
        let said = ServerMessage::from_body(
            r#"{"error":{"message":"x","type":"Server_Error","code":"429"}}"#,
            None,
        );
        assert_eq!((said.code.as_str(), said.status), ("429 server_error", Some(429)));
    }

    #[test]
    fn the_pause_is_read_from_the_servers_words() {
        let pause = |text: &str| asked_pause(text).map(|pause| pause.as_millis());
        assert_eq!(pause("Rate limit reached. Please try again in 11.054s. Visit …"), Some(11_054));
        assert_eq!(pause("Please try again in 28ms."), Some(28));
        assert_eq!(pause("Try again in 35 seconds."), Some(35_000));
        assert_eq!(pause("please retry in 1m2.5s"), Some(62_500));
        assert_eq!(pause("retry after 2 minutes"), Some(120_000));
        assert_eq!(pause("Please try again in a while"), None);
        assert_eq!(pause("in 3s"), None);
    }

    #[test]
    fn a_pause_and_a_window_are_read_behind_the_part_that_is_kept() {
        let long = "x".repeat(400);
        let said = |body: serde_json::Value| ServerMessage::from_value(&body, None);
        let seconds = |said: ServerMessage| said.pause.map(|pause| pause.as_secs());
        let message = format!("{long} Please retry in 31.2s.");
        assert_eq!(seconds(said(serde_json::json!({"error": {"message": message}}))), Some(31));
        let details = serde_json::json!([{"@type": "x"}, {"retryDelay": "47s"}]);
        let body = serde_json::json!({"error": {"message": long, "details": details}});
        assert_eq!(seconds(said(body)), Some(47));
    }

    #[test]
    fn the_longest_answer_and_the_tool_that_a_server_complains_of_are_read() {
        let longest = |text: &str| ServerMessage::from_body(text, None).longest_answer(32_000);
        for (text, most) in [
            (
                "max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-haiku-20241022",
                Some(8_192),
            ),
            ("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", Some(8_192)),
            (
                "The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum tokens value that is lower than 4096.",
                Some(4_096),
            ),
            ("bad temperature 8192", None),
            ("max_tokens is not supported", None),
        ] {
            assert_eq!(longest(text), most, "{text}");
        }
        let tools = ["exec", "file_read", "plan"];
        for (text, tool) in [
            ("Invalid schema for function 'plan': array schema missing items.", Some("plan")),
            ("Invalid 'tools[1].function.name': string does not match pattern.", Some("file_read")),
            ("tools.2.custom.input_schema: JSON schema is invalid", Some("plan")),
            (
                "* GenerateContentRequest.tools[0].function_declarations[1].parameters.properties: should be non-empty",
                Some("file_read"),
            ),
            ("tools are not supported", None),
            ("messages[1]: no content", None),
        ] {
            let said = ServerMessage::from_body(text, None);
            assert_eq!(said.refused_tool(tools.into_iter()), tool, "{text}");
        }
    }

    #[test]
    fn the_window_is_read_in_the_words_of_each_vendor() {
        for (text, window) in [
            (
                "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens",
                Some(8_192),
            ),
            ("prompt is too long: 210000 tokens > 200000 maximum", Some(200_000)),
            ("the request exceeds the available context size (4096 tokens)", Some(4_096)),
            ("{\"n_ctx\":4096,\"n_prompt_tokens\":9000}", Some(4_096)),
            (
                "The input token count (1200000) exceeds the maximum number of tokens allowed (1,048,576).",
                Some(1_048_576),
            ),
            ("Input is too long for requested model.", None),
            ("model is loaded with context length of only 8192 tokens", Some(8_192)),
            (
                "The input (9001 tokens) is longer than the model's context length (8192 tokens).",
                Some(8_192),
            ),
            ("longer than the maximum model length of 8192.", Some(8_192)),
            ("`inputs` must have less than 8192 tokens. Given: 9001", Some(8_192)),
            ("Range of input length should be [1, 8192]", Some(8_192)),
            ("must be less than max_seq_len (8192).", Some(8_192)),
            ("Current length is 9001 while limit is 8192", Some(8_192)),
        ] {
            assert_eq!(named_window(text), window, "{text}");
        }
    }
}
