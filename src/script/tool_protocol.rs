//! Tools as text, for any model that follows instructions: the help a model reads, the `@id(args)`
//! lines it answers with, and the lines that hold results.
//!
//! A model's text is data, never an expression: `@calc(process.exit())` is a call with a text
//! argument.

use serde_json::{Map, Value};

use super::output;
use super::template::print;
use super::text::{args, delimiters, json5};
use avocet_core::text::one_line;

/// Maximum number of calls taken from one reply.
const MAX_CALLS: usize = 64;
/// Longest line that is parsed as a call, in bytes.
const MAX_LINE: usize = 64 * 1024;
/// Maximum number of examples shown for one parameter.
const MAX_EXAMPLES: usize = 5;

/// A tool as it is shown to a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolHelp {
    pub id: String,
    /// One line.
    pub title: String,
    pub params: Vec<Param>,
}

/// One parameter of a tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Param {
    pub name: String,
    pub required: bool,
    pub default: Option<Value>,
    /// The script's description of it: `description`, `type`, `example(s)`, `enum`, `hidden`.
    pub about: Map<String, Value>,
}

impl Param {
    /// Hidden parameters are not shown; a required one always is.
    pub fn is_hidden(&self) -> bool {
        !self.required
            && self.about.get("hidden").is_some_and(|value| value.as_bool() == Some(true))
    }

    /// Omitted where a result names its call.
    pub fn is_hidden_in_result(&self) -> bool {
        let hidden =
            self.about.get("hiddenInResult").is_some_and(|value| value.as_bool() == Some(true));
        self.is_hidden() || (hidden && !self.required)
    }

    /// The default first, then the script's examples.
    pub fn examples(&self) -> Vec<Value> {
        let mut out: Vec<Value> =
            self.default.iter().filter(|value| !value.is_null()).cloned().collect();
        for key in ["examples", "example"] {
            match self.about.get(key) {
                None | Some(Value::Null) => {}
                Some(Value::Array(items)) => out.extend(items.iter().cloned()),
                Some(one) => out.push(one.clone()),
            }
        }
        let mut seen: Vec<Value> = Vec::new();
        out.retain(|value| {
            let new = !seen.contains(value);
            seen.push(value.clone());
            new
        });
        out.truncate(MAX_EXAMPLES);
        out
    }
}

impl ToolHelp {
    /// `- @id(param=example, …): title`, and a line for each visible parameter.
    pub fn text(&self) -> String {
        let shown = || self.params.iter().filter(|param| !param.is_hidden());
        let signature: Vec<String> = shown()
            .map(|param| match param.examples().first() {
                Some(example) => format!("{}={example}", param.name),
                None => format!("{}=…", param.name),
            })
            .collect();
        let call = if signature.is_empty() {
            String::new()
        } else {
            format!("({})", signature.join(", "))
        };
        let mut out = format!("- @{}{call}: {}", self.id, one_line(&self.title));
        for param in shown() {
            out.push_str(&format!(
                "\n  * {}",
                output::describe_field(&param.name, &param.about, param.required)
            ));
            let examples: Vec<String> = param.examples().iter().map(Value::to_string).collect();
            if !examples.is_empty() {
                out.push_str(&format!(", eg, {}", examples.join(", ")));
            }
            if let Some(default) = param.default.as_ref().filter(|default| !default.is_null()) {
                out.push_str(&format!(", default: {default}"));
            }
        }
        out
    }

    /// Arguments of a call by name: positional ones are assigned to the parameters in order,
    /// missing ones get their default. An extra argument keeps its position as its name.
    pub fn bind_args(&self, call: &ParsedToolCall) -> Map<String, Value> {
        let mut out = Map::new();
        for (at, (name, value)) in call.args.iter().enumerate() {
            let name = match name {
                Some(name) => name.clone(),
                None => {
                    self.params.get(at).map_or_else(|| at.to_string(), |param| param.name.clone())
                }
            };
            out.insert(name, value.clone());
        }
        for param in &self.params {
            if let Some(default) = &param.default {
                out.entry(param.name.clone()).or_insert_with(|| default.clone());
            }
        }
        out
    }

    /// The arguments that the tool does not have; one without parameters may read any.
    pub fn unknown_args<'a>(&self, args: &'a Map<String, Value>) -> Vec<&'a str> {
        let is_known = |name: &str| self.params.iter().any(|param| param.name == name);
        let names = args.keys().map(String::as_str).filter(|name| !is_known(name));
        names.filter(|_| !self.params.is_empty()).collect()
    }

    /// The arguments that are not hidden in results.
    pub fn shown_args(&self, args: &Map<String, Value>) -> Map<String, Value> {
        let hidden = |name: &String| {
            self.params.iter().any(|param| param.name == *name && param.is_hidden_in_result())
        };
        let shown = args.iter().filter(|(name, _)| !hidden(name));
        shown.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// `- id args: result`, without the arguments hidden in results.
    pub fn result_line(&self, args: &Map<String, Value>, result: &Value) -> String {
        let shown = self.shown_args(args);
        let shown =
            if shown.is_empty() { String::new() } else { format!(" {}", Value::Object(shown)) };
        format!("- {}{shown}: {}", self.id, print::text(result))
    }
}

/// The help of several tools.
pub fn tools_help(tools: &[ToolHelp]) -> String {
    tools.iter().map(ToolHelp::text).collect::<Vec<_>>().join("\n")
}

/// A call as a model wrote it.
#[derive(Clone, Debug, PartialEq)]
pub struct ParsedToolCall {
    pub id: String,
    pub args: Vec<(Option<String>, Value)>,
}

impl ParsedToolCall {
    /// The line a model would write: `@id(a="x")`.
    pub fn text(&self) -> String {
        let args: Vec<String> = self
            .args
            .iter()
            .map(|(name, value)| match name {
                Some(name) => format!("{name}={value}"),
                None => value.to_string(),
            })
            .collect();
        if args.is_empty() {
            format!("@{}", self.id)
        } else {
            format!("@{}({})", self.id, args.join(", "))
        }
    }
}

/// Whether the start of a reply may become calls, or the word for none.
pub fn may_name_calls(start: &str) -> bool {
    let start = start.trim_start();
    let signs = start.trim_start_matches(|c: char| c.is_ascii_digit() || "-*•.) `>".contains(c));
    signs.is_empty()
        || signs.starts_with('@')
        || NO_CALLS.starts_with(signs.trim_end().trim_end_matches('.').to_lowercase().as_str())
}

/// Whether a reply is an answer: neither a call nor the word for none.
pub fn is_answer(reply: &str) -> bool {
    let signs = reply.trim_start_matches(|c: char| {
        c.is_whitespace() || c.is_ascii_digit() || "-*•.)`>".contains(c)
    });
    let word = signs.trim_end().trim_end_matches(['.', '`']);
    !signs.starts_with('@') && !word.eq_ignore_ascii_case(NO_CALLS)
}

/// What a model says that needs no tool.
const NO_CALLS: &str = "none";

/// The calls in a reply: one per line, of tools for which `is_tool` is true. Dashes, numbers and
/// code marks at the start of a line are skipped.
pub fn parse_calls(reply: &str, is_tool: impl Fn(&str) -> bool) -> Vec<ParsedToolCall> {
    let mut out = Vec::new();
    let mut rest = reply;
    while let Some(line) = rest.lines().next() {
        let next = rest.split_once('\n').map_or("", |(_, next)| next);
        let indent = line.trim_start_matches(|c: char| {
            c.is_whitespace() || c.is_ascii_digit() || "-*•.)`>".contains(c)
        });
        let from = rest.split_at(line.len() - indent.len()).1;
        match parse_call(from, &is_tool).filter(|_| out.len() < MAX_CALLS) {
            Some((call, after)) => {
                out.push(call);
                // A line may contain several calls.
                rest = after.trim_start_matches([' ', ',', ';', '`', '.']);
                if rest.starts_with('\n') || rest.is_empty() {
                    rest = rest.strip_prefix('\n').unwrap_or(rest);
                } else if !rest.starts_with('@') {
                    rest = rest.split_once('\n').map_or("", |(_, next)| next);
                }
            }
            None => rest = next,
        }
    }
    out
}

/// A call at the start of the text; its brackets may span lines.
fn parse_call<'a>(
    text: &'a str,
    is_tool: &impl Fn(&str) -> bool,
) -> Option<(ParsedToolCall, &'a str)> {
    let after = text.strip_prefix('@')?;
    let end = after
        .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '$')))
        .unwrap_or(after.len());
    let (id, rest) = after.split_at(end);
    let trimmed = id.trim_end_matches(['.', '-', '/']);
    let (id, rest) =
        if trimmed.len() < id.len() { after.split_at(trimmed.len()) } else { (id, rest) };
    if !is_tool(id) {
        return None;
    }
    let id = id.to_owned();
    let Some(open) = rest.strip_prefix('(') else {
        return Some((ParsedToolCall { id, args: Vec::new() }, rest));
    };
    let bound = (0..=MAX_LINE.min(open.len())).rev().find(|at| open.is_char_boundary(*at))?;
    let (within, _) = delimiters::bracket_content(open.split_at(bound).0, ')')?;
    let rest = open.split_at(within.len() + 1).1;
    Some((ParsedToolCall { id, args: parse_args(within) }, rest))
}

fn parse_args(within: &str) -> Vec<(Option<String>, Value)> {
    let given = args::read(within);
    // `{a: 1}` as the only argument holds named arguments.
    if let [only] = given.as_slice()
        && only.name.is_none()
        && let Some(Value::Object(map)) = json5::read(&only.expr)
    {
        return map.into_iter().map(|(name, value)| (Some(name), value)).collect();
    }
    given
        .into_iter()
        .map(|arg| (split_colon(&arg), arg))
        .map(|(colon, arg)| match colon {
            Some((name, expr)) => (Some(name), parse_value(&expr)),
            None => (arg.name, parse_value(&arg.expr)),
        })
        .collect()
}

/// `name: value`, another form models use for named arguments.
fn split_colon(arg: &args::Arg) -> Option<(String, String)> {
    if arg.name.is_some() {
        return None;
    }
    let (name, rest) = delimiters::leading_word(&arg.expr, |c| c == '-')?;
    let value = rest.strip_prefix(':')?;
    (value.starts_with(' ') || value.starts_with(['"', '\'']))
        .then(|| (name.to_owned(), value.trim().to_owned()))
}

/// Plain data, or else the text unchanged.
fn parse_value(expr: &str) -> Value {
    json5::read(expr).unwrap_or_else(|| Value::from(expr))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn param(name: &str, required: bool, default: Option<Value>, about: Value) -> Param {
        Param {
            name: name.to_owned(),
            required,
            default,
            about: about.as_object().unwrap().clone(),
        }
    }

    fn weather() -> ToolHelp {
        ToolHelp {
            id: "weather".to_owned(),
            title: "get weather\ninformation".to_owned(),
            params: vec![
                param(
                    "location",
                    true,
                    None,
                    json!({"description": "the place", "example": "ChongQing, China"}),
                ),
                param(
                    "date",
                    false,
                    Some(json!("today")),
                    json!({"description": "the date", "examples": ["2025-02-04", "today"]}),
                ),
                param("apikey", false, Some(json!("k1")), json!({"hidden": true})),
            ],
        }
    }

    /// ISDK-099, 100, 101: the help of a tool.
    #[test]
    fn isdk_099_a_tool_is_shown_with_its_title_and_parameters() {
        assert_eq!(
            weather().text(),
            "- @weather(location=\"ChongQing, China\", date=\"today\"): get weather information\n  * \"location\" is a required text string representing the place, eg, \"ChongQing, China\"\n  * \"date\" is an optional text string representing the date, eg, \"today\", \"2025-02-04\", default: \"today\""
        );
        let bare =
            ToolHelp { id: "now".to_owned(), title: "the time".to_owned(), params: Vec::new() };
        assert_eq!(tools_help(&[bare]), "- @now: the time");
        let shown = param("key", true, None, json!({"hidden": true}));
        assert!(!shown.is_hidden());
    }

    /// ISDK-038, 094: defaults complete a call, and hidden parameters are omitted from its result.
    #[test]
    fn isdk_094_a_call_gets_the_defaults_and_its_result_omits_hidden_parameters() {
        let call = ParsedToolCall { id: "weather".to_owned(), args: vec![(None, json!("Paris"))] };
        let args = weather().bind_args(&call);
        assert_eq!(
            Value::Object(args.clone()),
            json!({"location": "Paris", "date": "today", "apikey": "k1"})
        );
        assert_eq!(
            weather().result_line(&args, &json!("rain")),
            "- weather {\"location\":\"Paris\",\"date\":\"today\"}: rain"
        );
    }

    /// ISDK-095: the calls of a reply.
    #[test]
    fn isdk_095_calls_are_read_from_the_lines_of_a_reply() {
        let read = |text: &str| -> Vec<String> {
            parse_calls(text, |id| matches!(id, "weather" | "now" | "a/b"))
                .iter()
                .map(ParsedToolCall::text)
                .collect()
        };
        assert_eq!(
            read("@now\n- @weather(location=\"Paris, France\", days=2)\n1. `@a/b(x)`"),
            ["@now", "@weather(location=\"Paris, France\", days=2)", "@a/b(\"x\")"]
        );
        assert_eq!(
            read("I would call:\n```\n@weather({location: 'Paris', n: [1]})\n```"),
            ["@weather(location=\"Paris\", n=[1])"]
        );
        assert_eq!(
            read("@weather(location: Paris, date: \"today\")"),
            ["@weather(location=\"Paris\", date=\"today\")"]
        );
        assert_eq!(
            read("@now, @weather(\n  location=\"x\",\n  n=1\n)\nend"),
            ["@now", "@weather(location=\"x\", n=1)"]
        );
        assert_eq!(read("@now."), ["@now"]);
        assert_eq!(read("@nothing(1)\nmail a@now\nnone needed\n@weather(open"), [] as [&str; 0]);
        assert_eq!(
            read("@weather(process.exit(1), `${x}`)"),
            ["@weather(\"process.exit(1)\", \"${x}\")"]
        );
        assert_eq!(parse_calls(&"@now\n".repeat(1000), |_| true).len(), MAX_CALLS);
    }

    proptest! {
        #[test]
        fn any_reply_is_parsed(text in "[@a(){}\\[\\]\"',:=\n `.-]{0,80}") {
            for call in parse_calls(&text, |_| true) {
                let _ = weather().bind_args(&call);
            }
        }
    }
}
