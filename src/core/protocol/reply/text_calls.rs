//! Calls that a model writes into its text, in the form it was trained on, where its server does not
//! turn them into calls. Only what is whole and ends the text counts; nothing is repaired.

use serde_json::{Map, Value};

use super::object_input;
use python::python_calls;

mod python;

type Object = Map<String, Value>;

/// A call by the name and the arguments it is written with.
#[derive(Clone, Debug, PartialEq)]
pub struct TextCall {
    pub name: String,
    /// An object, or one value in place of it.
    pub arguments: Value,
}

/// A form: what begins a call, what ends it, and what reads the text between them. One without an
/// end goes to the next beginning.
type Form = (&'static str, &'static str, fn(&str) -> Option<Vec<TextCall>>);

const FORMS: &[Form] = &[
    ("<tool_call>", "</tool_call>", tagged),
    ("<function=", "</function>", function_tag),
    ("<invoke name=", "</invoke>", invoke_tag),
    ("[TOOL_CALLS]", "", marked),
    ("<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>", separated),
    ("<|tool_call_begin|>", "<|tool_call_end|>", separated),
    ("<|python_tag|>", "", json_calls),
];

/// Blocks that hold calls only if nothing else is in the text.
const FENCES: &[&str] = &["```json", "```tool_call", "```tool_code", "```"];

/// The calls that a text ends with, and the words before them.
pub fn text_calls(text: &str) -> Option<(String, Vec<TextCall>)> {
    let text = text.trim();
    if let Some(calls) = bare(text) {
        return Some((String::new(), calls));
    }
    let found = FORMS.iter().filter_map(|form| Some((text.find(form.0)?, form)));
    let (at, (open, close, read)) = found.min_by_key(|(at, _)| *at)?;
    let (before, mut rest) = text.split_at_checked(at)?;
    if is_example(before) {
        return None;
    }
    let mut calls = Vec::new();
    while let Some((between, after)) = rest.split_once(open) {
        if !is_wrapping(between) {
            return None;
        }
        let end = if close.is_empty() { *open } else { *close };
        let at = after.find(end).unwrap_or(after.len());
        let (body, behind) = after.split_at_checked(at)?;
        calls.extend(read(body.trim())?);
        rest = behind.strip_prefix(close).unwrap_or(behind);
    }
    let words = before.trim_end().rsplit_once('\n').filter(|(_, last)| is_wrapping(last));
    let words = words.map_or(before, |(words, _)| words);
    let words = if is_wrapping(words) { "" } else { words.trim() };
    is_wrapping(rest).then(|| (words.to_owned(), calls))
}

/// Whether the text before a call marks it as an example: a code block, a quotation, or an opening
/// quotation mark.
fn is_example(before: &str) -> bool {
    let is_in_block = ["```", "~~~"].iter().any(|fence| before.matches(fence).count() % 2 == 1);
    let line = before.rsplit('\n').next().unwrap_or_default();
    let is_quoted = line.trim_start().starts_with('>') && !is_wrapping(line)
        || line.starts_with("    ")
        || line.starts_with('\t')
        || line.ends_with(['`', '"', '\'', '“', '‘', '「', '《']);
    is_in_block || is_quoted
}

/// A text that is nothing but JSON, or one block of it.
fn bare(text: &str) -> Option<Vec<TextCall>> {
    let fenced = FENCES.iter().find_map(|fence| {
        let inner = text.strip_prefix(fence)?.strip_suffix("```")?;
        (!inner.contains("```")).then_some((*fence, inner.trim()))
    });
    match fenced {
        Some(("```tool_code", inner)) => json_calls(inner).or_else(|| {
            let calls = python_calls(inner)?.into_iter();
            let calls: Option<Vec<_>> = calls.map(|(name, input)| named(&name, input)).collect();
            Some(calls?.into_iter().flatten().collect())
        }),
        Some((_, inner)) => json_calls(inner),
        None => json_calls(text),
    }
}

/// Nothing but tags around calls.
fn is_wrapping(text: &str) -> bool {
    text.split_whitespace().all(|word| word.starts_with('<') && word.ends_with('>'))
}

/// One call or a list of them in JSON.
fn json_calls(text: &str) -> Option<Vec<TextCall>> {
    let calls = match serde_json::from_str::<Value>(text).ok()? {
        Value::Array(list) => list.iter().map(json_call).collect::<Option<Vec<_>>>()?,
        one => vec![json_call(&one)?],
    };
    (!calls.is_empty()).then_some(calls)
}

fn json_call(value: &Value) -> Option<TextCall> {
    let call = value.get("function").filter(|inner| inner.is_object()).unwrap_or(value);
    let name = call.get("name")?.as_str()?.to_owned();
    let arguments = match call.get("arguments").or_else(|| call.get("parameters"))? {
        arguments @ Value::Object(_) => arguments.clone(),
        bare @ Value::String(text) => match object_input(bare, None) {
            None if text.trim_start().starts_with('{') => return None,
            object => object.unwrap_or_else(|| bare.clone()),
        },
        _ => return None,
    };
    Some(TextCall { name, arguments })
}

/// JSON, a function's tag, or a name with keys and values in tags.
fn tagged(body: &str) -> Option<Vec<TextCall>> {
    if body.starts_with(['{', '[']) {
        return json_calls(body);
    }
    if let Some(function) = body.strip_prefix("<function=") {
        return function_tag(function);
    }
    let (name, mut rest) = body.split_once("<arg_key>").unwrap_or((body, ""));
    let mut arguments = Object::new();
    while let Some((key, after)) = rest.split_once("</arg_key>") {
        let (_, value) = after.split_once("<arg_value>")?;
        let (value, after) = value.split_once("</arg_value>")?;
        arguments.insert(key.trim().to_owned(), value_of(value));
        rest = after.split_once("<arg_key>").map_or("", |(_, next)| next);
    }
    named(name, arguments)
}

/// `NAME>` and `<parameter=KEY>VALUE</parameter>`.
fn function_tag(body: &str) -> Option<Vec<TextCall>> {
    let (name, rest) = body.split_once('>')?;
    named(name, parameters(rest, "<parameter=", ">")?)
}

/// `"NAME">` and `<parameter name="KEY">VALUE</parameter>`.
fn invoke_tag(body: &str) -> Option<Vec<TextCall>> {
    let (name, rest) = body.split_once('>')?;
    named(name.trim_matches('"'), parameters(rest, "<parameter name=\"", "\">")?)
}

fn parameters(body: &str, open: &str, end_of_key: &str) -> Option<Object> {
    let mut out = Object::new();
    let mut rest = body;
    while let Some((_, after)) = rest.split_once(open) {
        let (key, after) = after.split_once(end_of_key)?;
        let (value, after) = after.split_once("</parameter>")?;
        out.insert(key.trim().to_owned(), value_of(value));
        rest = after;
    }
    Some(out)
}

/// A list in JSON, or `NAME[ARGS]{…}`.
fn marked(body: &str) -> Option<Vec<TextCall>> {
    if body.starts_with('[') {
        return json_calls(body);
    }
    let (name, _) = body.split_once(['[', '{'])?;
    named(name, serde_json::from_str(body.get(body.find('{')?..)?).ok()?)
}

/// `function<sep>NAME` with a block of JSON, or `NAME:0<sep>{…}`.
fn separated(body: &str) -> Option<Vec<TextCall>> {
    let (head, json) = body.split_at_checked(body.find('{')?)?;
    let head = head.trim_end().trim_end_matches("json").trim_end_matches('`').trim();
    let head = head.strip_prefix("function<｜tool▁sep｜>").unwrap_or(head);
    let name = head.split("<").next()?.trim().trim_start_matches("functions.");
    let name = name.split_once(':').map_or(name, |(name, _)| name);
    named(name, serde_json::from_str(json.trim_end_matches('`').trim()).ok()?)
}

fn named(name: &str, arguments: Object) -> Option<Vec<TextCall>> {
    let name = name.trim();
    let is_name = !name.is_empty() && !name.contains(char::is_whitespace);
    is_name.then(|| vec![TextCall { name: name.to_owned(), arguments: Value::Object(arguments) }])
}

/// A value between tags: a text, unless it is a list, an object or a flag in JSON.
fn value_of(text: &str) -> Value {
    let text = text.strip_prefix('\n').unwrap_or(text);
    let text = text.strip_suffix('\n').unwrap_or(text);
    match serde_json::from_str(text.trim()) {
        Ok(value @ (Value::Array(_) | Value::Object(_) | Value::Bool(_))) => value,
        _ => Value::String(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(String, Vec<(String, String)>)> {
        let (words, calls) = text_calls(text)?;
        let lines = calls.into_iter().map(|call| (call.name, call.arguments.to_string()));
        Some((words, lines.collect()))
    }

    const JSON: &str = r#"{"name":"exec","arguments":{"program":"ls","args":["-l"]}}"#;
    const INPUT: &str = r#"{"program":"ls","args":["-l"]}"#;

    #[test]
    fn calls_in_the_forms_that_models_are_trained_on_are_read() {
        let texts = [
            JSON.to_owned(),
            format!("[{JSON}]"),
            format!("```json\n{JSON}\n```"),
            format!("```tool_call\n{JSON}\n```"),
            format!("```tool_code\n{JSON}\n```"),
            "```tool_code\nprint(default_api.exec(program=\"ls\", args=['-l']))\n```".to_owned(),
            "```tool_code\nexec(program='ls', args=[\"-l\"])\n```".to_owned(),
            format!("<tool_call>\n{JSON}\n</tool_call>"),
            format!("<tool_call>{JSON}"),
            "<tool_call>\n<function=exec>\n<parameter=program>\nls\n</parameter>\n<parameter=args>\n[\"-l\"]\n</parameter>\n</function>\n</tool_call>".to_owned(),
            "<function=exec><parameter=program>ls</parameter><parameter=args>[\"-l\"]</parameter></function>".to_owned(),
            "<tool_call>exec\n<arg_key>program</arg_key>\n<arg_value>ls</arg_value>\n<arg_key>args</arg_key>\n<arg_value>[\"-l\"]</arg_value>\n</tool_call>".to_owned(),
            "<minimax:tool_call>\n<invoke name=\"exec\">\n<parameter name=\"program\">ls</parameter>\n<parameter name=\"args\">[\"-l\"]</parameter>\n</invoke>\n</minimax:tool_call>".to_owned(),
            format!("[TOOL_CALLS][{JSON}]"),
            format!("[TOOL_CALLS]exec[ARGS]{INPUT}"),
            format!("[TOOL_CALLS]exec{INPUT}"),
            format!("<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>exec\n```json\n{INPUT}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>"),
            format!("<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>exec<｜tool▁sep｜>{INPUT}<｜tool▁call▁end｜><｜tool▁calls▁end｜>"),
            format!("<|tool_calls_section_begin|><|tool_call_begin|>functions.exec:0<|tool_call_argument_begin|>{INPUT}<|tool_call_end|><|tool_calls_section_end|>"),
            format!("<|python_tag|>{}", JSON.replace("arguments", "parameters")),
        ];
        for text in texts {
            let (words, calls) = read(&text).expect(&text);
            let (name, input) = calls.first().expect("a call");
            assert_eq!((calls.len(), words.as_str(), input.as_str()), (1, "", INPUT), "{text}");
            assert_eq!(super::super::tool_name(name), "exec", "{text}");
        }
    }

    #[test]
    fn one_value_in_place_of_arguments_is_kept_unless_it_is_a_broken_object() {
        let call = |arguments: &str| {
            let call = serde_json::json!({ "name": "file_read", "arguments": arguments });
            read(&call.to_string()).map(|(_, calls)| calls[0].1.clone())
        };
        assert_eq!(call("a.txt").as_deref(), Some("\"a.txt\""));
        assert_eq!(call(r#"{"path":"a"}"#).as_deref(), Some(r#"{"path":"a"}"#));
        assert_eq!(call(r#"{"path":"a"#), None);
    }

    #[test]
    fn several_calls_and_the_words_before_them_are_read() {
        let text =
            format!("I will look.\n<tool_call>{JSON}</tool_call>\n<tool_call>{JSON}</tool_call>");
        let (words, calls) = text_calls(&text).expect("calls");
        assert_eq!((words.as_str(), calls.len()), ("I will look.", 2));
    }

    #[test]
    fn an_example_or_what_is_broken_is_no_call() {
        for text in [
            "Hello.".to_owned(),
            format!("Write <tool_call>{JSON}</tool_call> and it runs."),
            format!("Like this:\n```\n<tool_call>{JSON}</tool_call>\n```"),
            format!("Like this:\n```json\n{JSON}\n```"),
            "Like this:\n```tool_code\nexec(program='ls')\n```".to_owned(),
            format!("Like this:\n~~~\n<tool_call>{JSON}</tool_call>"),
            format!("Like this:\n\n    <tool_call>{JSON}</tool_call>"),
            format!("It says:\n> <tool_call>{JSON}</tool_call>"),
            format!("It says: \"<tool_call>{JSON}</tool_call>"),
            format!("````md\n```json\n{JSON}\n```\n````"),
            "```tool_code\nexec(program='ls', args=[x])\n```".to_owned(),
            "```tool_code\nexec(program='ls'\n```".to_owned(),
            "```tool_code\nimport os\n```".to_owned(),
            "```\nexec(program='ls')\n```".to_owned(),
            "<tool_call>{\"name\":\"exec\",\"arg".to_owned(),
            "<function=exec><parameter=program>ls".to_owned(),
            "[TOOL_CALLS]exec[ARGS]{\"a\":".to_owned(),
            r#"{"name":"demo"}"#.to_owned(),
            "[1, 2]".to_owned(),
            "[]".to_owned(),
        ] {
            assert_eq!(text_calls(&text), None, "{text}");
        }
    }
}
