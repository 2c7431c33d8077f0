//! Calls that a model writes into its text, in the form it was trained on, where its server does not
//! turn them into calls. Only what is whole and ends the text counts; nothing is repaired.

use parts::{Found, goes_on, is_example, is_wrapping, json_calls, named, starts_line, value_of};
use python::python_calls;

use super::fields::Object;

mod gemma;
mod markup;
mod parts;
mod python;
mod react;

pub use parts::TextCall;

/// A form: what begins a call, what ends it, and what reads the text between them. One without an
/// end goes to the next beginning.
type Form = (&'static str, &'static str, fn(&str) -> Option<Vec<TextCall>>);

const FORMS: &[Form] = &[
    ("<tool_call>", "</tool_call>", tagged),
    ("<function=", "</function>", function_tag),
    ("<invoke name=", "</invoke>", invoke_tag),
    ("<function name=", "</function>", invoke_tag),
    ("<tool_call name=", "</tool_call>", invoke_tag),
    ("<tool name=", "</tool>", invoke_tag),
    ("[TOOL_REQUEST]", "[END_TOOL_REQUEST]", json_calls),
    ("[TOOL_CALLS]", "", marked),
    ("<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>", separated),
    ("<|tool_call_begin|>", "<|tool_call_end|>", separated),
    ("<|channel|>commentary to=", "<|call|>", harmony),
    ("<start_function_call>", "<end_function_call>", gemma::call),
    ("functools[{", "", functools),
];

/// What some models put before the names of the tags.
const NAMESPACES: &[&str] = &["｜DSML｜", "steptml:", "antml:"];

/// Blocks that hold calls only if nothing else is in the text.
const FENCES: &[&str] = &["```json", "```tool_call", "```tool_code", "```"];

/// Calls in a text.
#[derive(Clone, Debug, PartialEq)]
pub struct TextCalls {
    /// What precedes them.
    pub words: String,
    pub calls: Vec<TextCall>,
    /// The calls as they are written.
    pub written: String,
}

/// The calls that a text ends with, apart from words that go on as if they were made.
pub fn text_calls(text: &str) -> Option<TextCalls> {
    let mut plain = text.trim().to_owned();
    for name in NAMESPACES {
        plain = plain.replace(&format!("<{name}"), "<").replace(&format!("</{name}"), "</");
    }
    let text = plain.as_str();
    let found = bare(text).or_else(|| written_form(text)).or_else(|| react::calls(text));
    let found = found.or_else(|| markup::calls(text)).or_else(|| calls_between_tags(text));
    let found = found.or_else(|| announced(text));
    let (words, calls, behind) = found?;
    let written = text.get(..text.len() - behind.len())?;
    let written = written
        .get(text.find(&words).filter(|_| !words.is_empty()).map_or(0, |at| at + words.len())..)?;
    Some(TextCalls { calls, written: written.to_owned(), words })
}

/// Whether a text ends within a call, which can then not be read.
pub fn breaks_off(text: &str) -> bool {
    let text = text.trim();
    let begins_json = |text: &str| {
        let error = serde_json::from_str::<serde_json::Value>(text).err();
        text.starts_with('{')
            && ["\"arguments\"", "\"parameters\""].iter().any(|field| text.contains(field))
            && error.is_some_and(|error| error.is_eof())
    };
    let fenced = FENCES.iter().find_map(|fence| text.strip_prefix(fence));
    if begins_json(fenced.unwrap_or(text).trim_start()) {
        return true;
    }
    let begun = FORMS.iter().filter(|(_, close, _)| !close.is_empty());
    let begun = begun.filter_map(|form| Some((text.rfind(form.0)?, form)));
    let Some((at, (open, close, _))) = begun.max_by_key(|(at, _)| *at) else { return false };
    let (before, call) = text.split_at(at);
    let body = call.get(open.len()..).unwrap_or_default().trim_start();
    let is_named = open.ends_with('=') || body.starts_with(['{', '[', '<']);
    is_named && !call.contains(close) && !is_example(before) && text_calls(text).is_none()
}

/// Calls in one of the forms, and the words before them.
fn written_form(text: &str) -> Option<Found<'_>> {
    let found = FORMS.iter().filter_map(|form| Some((text.find(form.0)?, form)));
    let (at, (open, close, read)) = found.min_by_key(|(at, _)| *at)?;
    let (before, mut rest) = text.split_at_checked(at)?;
    if is_example(before) {
        return None;
    }
    let mut calls = Vec::new();
    while let Some((between, after)) = rest.split_once(open) {
        if !is_wrapping(between) && !are_own_lines(between) {
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
    let words = words.strip_suffix("<|start|>assistant").unwrap_or(words);
    let words = if is_wrapping(words) { "" } else { words.trim() };
    let is_end = is_wrapping(rest) || ends_line(before) && goes_on(rest);
    is_end.then(|| (words.to_owned(), calls, rest))
}

/// Whether a call may follow this at the beginning of a line.
fn ends_line(before: &str) -> bool {
    before.trim_end_matches([' ', '\t']).ends_with('\n') || is_wrapping(before)
}

/// Words on lines of their own between two calls.
fn are_own_lines(between: &str) -> bool {
    starts_line(between) && ends_line(between) && !is_example(between)
}

/// Calls in JSON or Python between marks of whatever name, from the beginning of a line to the end:
/// `<TOOLCALL>[…]</TOOLCALL>`, `<|tool_call|>[…]`.
fn calls_between_tags(text: &str) -> Option<Found<'_>> {
    let is_mark =
        |mark: &str| !mark.contains(char::is_whitespace) && !mark.contains(['=', '"', '{']);
    let lines = text.match_indices('\n').map(|(at, _)| at + 1);
    let mut lines = std::iter::once(0).chain(lines);
    let at = lines.find(|at| text.get(*at..).is_some_and(|rest| rest.starts_with('<')))?;
    let (words, mut body) = text.split_at_checked(at)?;
    if is_example(words) {
        return None;
    }
    while let Some((mark, rest)) = body.strip_prefix('<').and_then(|rest| rest.split_once('>')) {
        body = Some(rest.trim_start()).filter(|_| is_mark(mark))?;
    }
    while let Some((rest, mark)) = body.strip_suffix('>').and_then(|rest| rest.rsplit_once('<')) {
        body = Some(rest.trim_end()).filter(|_| is_mark(mark))?;
    }
    let calls = json_calls(body).or_else(|| python_list(body)).or_else(|| python(body))?;
    Some((words.trim().to_owned(), calls, ""))
}

/// `[exec(program="ls")]`
fn python_list(text: &str) -> Option<Vec<TextCall>> {
    python(text.strip_prefix('[')?.strip_suffix(']')?)
}

fn python(text: &str) -> Option<Vec<TextCall>> {
    let calls = python_calls(text)?.into_iter();
    let calls: Option<Vec<_>> = calls.map(|(name, input)| named(&name, input)).collect();
    Some(calls?.into_iter().flatten().collect())
}

/// A text that begins with JSON, or with a block of it, and has nothing else.
fn bare(text: &str) -> Option<Found<'_>> {
    let fenced = FENCES.iter().find_map(|fence| {
        let (inner, behind) = text.strip_prefix(fence)?.split_once("```")?;
        Some((*fence, inner.trim(), behind))
    });
    let (calls, behind) = match fenced {
        Some(("```tool_code", inner, behind)) => {
            (json_calls(inner).or_else(|| python(inner)), behind)
        }
        Some((_, inner, behind)) => (json_calls(inner), behind),
        None => match json_calls(text).or_else(|| python_list(text)).or_else(|| python(text)) {
            Some(calls) => (Some(calls), ""),
            None => {
                let (whole, behind) = text.split_at_checked(text.rfind(['}', ']'])? + 1)?;
                (json_calls(whole), behind)
            }
        },
    };
    let is_end = behind.trim().is_empty() || goes_on(behind);
    calls.filter(|_| is_end).map(|calls| (String::new(), calls, behind))
}

/// A block after words that say what comes next.
fn announced(text: &str) -> Option<Found<'_>> {
    let (words, block) = text.split_at_checked(text.find("\n```json")?)?;
    let last = words.trim_end().rfind("\n\n").map_or(0, |at| at + 1);
    let is_plan = goes_on(&format!("\n{}", words.get(last..)?.trim()));
    let (_, calls, behind) = bare(block.trim_start()).filter(|_| is_plan)?;
    Some((words.trim().to_owned(), calls, behind))
}

/// JSON, a function's tag, or a name with keys and values in tags.
fn tagged(body: &str) -> Option<Vec<TextCall>> {
    if body.starts_with(['{', '[']) {
        return json_calls(body);
    }
    if let Some(function) = body.strip_prefix("<function=") {
        return function_tag(function);
    }
    if body.starts_with('<') && !body.starts_with("<arg_key>") {
        return markup::named_call(body);
    }
    if !body.contains("<arg_key>") && body.contains('{') {
        return separated(body);
    }
    let (name, mut rest) = body.split_once("<arg_key>").unwrap_or((body, ""));
    let mut arguments = Object::new();
    while let Some((key, after)) = rest.split_once("</arg_key>") {
        let (_, value) = after.split_once("<arg_value>")?;
        let (value, after) = value.split_once("</arg_value>")?;
        arguments.insert(key.trim().to_owned(), value_of(key.trim(), value));
        rest = after.split_once("<arg_key>").map_or("", |(_, next)| next);
    }
    named(name, arguments)
}

/// `NAME>` and `<parameter=KEY>VALUE</parameter>`, or an object in JSON.
fn function_tag(body: &str) -> Option<Vec<TextCall>> {
    let (name, rest) = body.split_once('>')?;
    if rest.trim_start().starts_with('{') {
        let json = rest.trim().trim_end_matches("</function>");
        return named(name, serde_json::from_str(json).ok()?);
    }
    named(name, parameters(rest, "<parameter=", ">")?)
}

/// `"NAME">` and `<parameter name="KEY">VALUE</parameter>`, `<KEY>VALUE</KEY>`, or an object in JSON.
fn invoke_tag(body: &str) -> Option<Vec<TextCall>> {
    let (name, rest) = body.split_once('>')?;
    let name = name.trim_start_matches('"').split('"').next()?;
    let rest = rest.trim();
    let arguments = if rest.starts_with('{') {
        serde_json::from_str(rest).ok()
    } else if rest.starts_with("<param ") {
        let rest = rest.replace("<param ", "<parameter ").replace("</param>", "</parameter>");
        parameters(&rest, "<parameter name=\"", "\"")
    } else if rest.contains("<parameter ") {
        parameters(rest, "<parameter name=\"", "\"")
    } else {
        markup::fields(rest)
    };
    named(name, arguments?)
}

fn parameters(body: &str, open: &str, end_of_key: &str) -> Option<Object> {
    let mut out = Object::new();
    let mut rest = body;
    while let Some((_, after)) = rest.split_once(open) {
        let (key, after) = after.split_once(end_of_key)?;
        // Other attributes may follow a quoted key.
        let after = if end_of_key == "\"" { after.split_once('>')?.1 } else { after };
        let (value, after) = after.split_once("</parameter>")?;
        out.insert(key.trim().to_owned(), value_of(key.trim(), value));
        rest = after;
    }
    Some(out)
}

/// `functions.NAME <|constrain|>json<|message|>{…}`
fn harmony(body: &str) -> Option<Vec<TextCall>> {
    let (head, json) = body.split_once("<|message|>")?;
    let name = head.split(['<', ' ']).next()?;
    named(name, serde_json::from_str(json.trim()).ok()?)
}

/// `functools[{…}]`, without what begins it.
fn functools(body: &str) -> Option<Vec<TextCall>> {
    json_calls(&format!("[{{{body}"))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(String, Vec<(String, String)>)> {
        let TextCalls { words, calls, .. } = text_calls(text)?;
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
            format!("<|python_tag|>{}<|eom_id|>", JSON.replace("arguments", "parameters")),
            format!("<|tool_call|>[{JSON}]<|/tool_call|>"),
            format!("<TOOLCALL>[{JSON}]</TOOLCALL>"),
            format!("<|START_ACTION|>[{}]<|END_ACTION|>", JSON.replace("\"name\"", "\"tool_name\"")),
            format!("<tool_calls>\n<tool_call>exec\n```json\n{INPUT}\n```\n</tool_call>\n</tool_calls>"),
            "<|tool_call_start|>[exec(program=\"ls\", args=[\"-l\"])]<|tool_call_end|>".to_owned(),
            "[exec(program=\"ls\", args=['-l'])]".to_owned(),
            format!("<function=exec>{INPUT}</function>"),
            "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"exec\">\n<｜DSML｜parameter name=\"program\" string=\"true\">ls</｜DSML｜parameter>\n<｜DSML｜parameter name=\"args\" string=\"false\">[\"-l\"]</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>".to_owned(),
            format!("<|channel|>commentary to=functions.exec <|constrain|>json<|message|>{INPUT}<|call|>"),
            format!("<|start|>assistant<|channel|>commentary to=functions.exec<|message|>{INPUT}"),
            format!("{{\"type\":\"tool_use\",\"name\":\"exec\",\"input\":{INPUT}}}"),
            format!("{{\"action\":\"exec\",\"action_input\":{INPUT}}}"),
            format!("{{\"tool\":\"exec\",\"input\":{INPUT}}}"),
            format!("<|tools_prefix|>[{{\"exec\":{INPUT}}}]<|tools_suffix|>"),
            format!("functools[{JSON}]"),
            format!("Action: exec\nAction Input: {INPUT}"),
            format!("Action: `exec`\nAction Input:\n```json\n{INPUT}\n```\nObservation: a.txt"),
            format!("Action:\n```json\n[{}]\n```", JSON.replace("\"name\"", "\"tool_name\"")),
            "<start_function_call>call:exec{program:<escape>ls<escape>,args:[<escape>-l<escape>]}<end_function_call>".to_owned(),
            "<exec>\n<program>ls</program>\n<args>[\"-l\"]</args>\n</exec>".to_owned(),
            format!("<tool_use>\n<name>exec</name>\n<arguments>{INPUT}</arguments>\n</tool_use>"),
            format!("<tool_call>\n<name>exec</name>\n<arguments>{INPUT}</arguments>\n</tool_call>"),
            format!("<tool_call>{JSON}</tool_call>\nI will wait for the result."),
            format!("<tool_call>{JSON}</tool_call>\n<tool_response>\na.txt\n</tool_response>\nIt has one file."),
            format!("```json\n{JSON}\n```\nThis will list the files."),
            format!("{JSON}\nLet me see what it gives."),
        ];
        texts.iter().for_each(|text| assert_is_one_call(text));
    }

    /// That a text is this one call of `exec`.
    fn assert_is_one_call(text: &str) {
        let (words, calls) = read(text).expect(text);
        let (name, input) = calls.first().expect("a call");
        assert_eq!((calls.len(), words.as_str(), input.as_str()), (1, "", INPUT), "{text}");
        assert_eq!(super::super::tool_name(name), "exec", "{text}");
    }

    #[test]
    fn a_call_may_have_its_name_in_an_attribute_or_no_marks() {
        let texts = [
            "exec(program=\"ls\", args=['-l'])".to_owned(),
            "<|python_tag|>exec.call(program=\"ls\", args=['-l'])".to_owned(),
            format!("[TOOL_REQUEST]{JSON}[END_TOOL_REQUEST]"),
            format!("<function name=\"exec\">{INPUT}</function>"),
            format!("<tool_call name=\"exec\">{INPUT}</tool_call>"),
            "<function name=\"exec\"><param name=\"program\">ls</param><param name=\"args\">[\"-l\"]</param></function>".to_owned(),
            "<tool name=\"exec\"><program>ls</program><args>[\"-l\"]</args></tool>".to_owned(),
            format!("{{\"tool_calls\":[{{\"id\":\"1\",\"type\":\"function\",\"function\":{JSON}}}]}}"),
            format!("{{\"tool_name\":\"exec\",\"tool_input\":{INPUT}}}"),
        ];
        texts.iter().for_each(|text| assert_is_one_call(text));
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
    fn a_tool_as_a_tag_has_its_fields_as_tags_and_texts_stay_texts() {
        for (text, name, input) in [
            (
                "I read it.\n<read_file>\n<path>src/a.rs</path>\n</read_file>",
                "read_file",
                r#"{"path":"src/a.rs"}"#,
            ),
            (
                "<read_file><args><file><path>a</path></file></args></read_file>",
                "read_file",
                r#"{"path":"a"}"#,
            ),
            (
                "<write_to_file>\n<path>a.json</path>\n<content>\n{\"a\": [1]}\n</content>\n</write_to_file>",
                "write_to_file",
                r#"{"path":"a.json","content":"{\"a\": [1]}"}"#,
            ),
            (
                "<write_to_file><path>a</path><content><content>x</content></content></write_to_file>",
                "write_to_file",
                r#"{"path":"a","content":"<content>x</content>"}"#,
            ),
            (
                "<execute_command>\n<command>ls | wc -l</command>\n<requires_approval>false</requires_approval>\n</execute_command>",
                "execute_command",
                r#"{"command":"ls | wc -l","requires_approval":false}"#,
            ),
            (
                "Thought: I look.\nAction: read_file\nAction Input: src/a.rs\nObservation: nothing",
                "read_file",
                r#""src/a.rs""#,
            ),
        ] {
            let (_, calls) = read(text).expect(text);
            assert_eq!(calls, [(name.to_owned(), input.to_owned())], "{text}");
        }
    }

    #[test]
    fn several_calls_and_the_words_before_them_are_read() {
        let text =
            format!("I will look.\n<tool_call>{JSON}</tool_call>\n<tool_call>{JSON}</tool_call>");
        let TextCalls { words, calls, .. } = text_calls(&text).expect("calls");
        assert_eq!((words.as_str(), calls.len()), ("I will look.", 2));
        let text = format!("There is more.\n\nLet me look:\n```json\n{JSON}\n```");
        let TextCalls { words, calls, .. } = text_calls(&text).expect("calls");
        assert_eq!((words.as_str(), calls.len()), ("There is more.\n\nLet me look:", 1));
        for text in [
            format!("{JSON}; {JSON}"),
            format!("{JSON}\n{JSON}"),
            "[exec(program='ls'), exec(program='id')]".to_owned(),
            format!("<tool_call>{JSON}</tool_call>\nThen:\n<tool_call>{JSON}</tool_call>"),
            "<list_files>\n<path>.</path>\n</list_files>\n<list_files></list_files>".to_owned(),
        ] {
            let TextCalls { words, calls, .. } = text_calls(&text).expect("calls");
            assert_eq!((words.as_str(), calls.len()), ("", 2), "{text}");
        }
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
            format!("<p>\n{JSON}\n</p>\nThat is a call."),
            "<b>Hello.</b>".to_owned(),
            "See [exec(program='ls')]".to_owned(),
            "[]".to_owned(),
            "<div>\n<path>a</path>\n</div>".to_owned(),
            "<read_file>the file</read_file>".to_owned(),
            "Like this:\n```xml\n<read_file><path>a</path></read_file>\n```".to_owned(),
            "Action: none of them\nAction Input: x".to_owned(),
            "Action: read_file\nAction Input: {\"path\":".to_owned(),
            "functools.cache keeps results.".to_owned(),
            "<start_function_call>call:exec{program:ls}<end_function_call>".to_owned(),
            format!("<tool_call>{JSON}</tool_call>\nThat is how a call looks."),
            format!("```json\n{JSON}\n```\nThat is how a call looks."),
            r#"{"answer":{"a":1}}"#.to_owned(),
        ] {
            assert_eq!(text_calls(&text), None, "{text}");
        }
    }

    #[test]
    fn a_call_that_ends_in_the_middle_is_told_from_words_about_calls() {
        for text in [
            "I edit.\n<tool_call>{\"name\":\"exec\",\"arguments\":{\"pro",
            "<function=exec><parameter=program>ls",
            "<invoke name=\"exec\">\n<parameter name=\"program\">l",
            "{\"name\":\"exec\",\"arguments\":{\"program\":\"l",
            "```json\n{\"name\": \"exec\", \"parameters\": {",
        ] {
            assert!(breaks_off(text), "{text}");
        }
        for text in [
            format!("<tool_call>{JSON}</tool_call>"),
            format!("<tool_call>{JSON}"),
            "A call begins with `<tool_call>` and ends with `</tool_call>`.".to_owned(),
            "A call begins with <tool_call> in that format.".to_owned(),
            format!("Like this:\n```\n<tool_call>{JSON}\n```"),
            "```json\n{\"a\": 1".to_owned(),
            "{\"name\":\"exec\"}".to_owned(),
            "Done.".to_owned(),
        ] {
            assert!(!breaks_off(&text), "{text}");
        }
    }
}
