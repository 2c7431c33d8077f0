//! Reads what weak models write in the place of a reply: fields under other names, steps as lines,
//! a bare step, a call of a tool as text. What is read here counts as repaired, so its steps ask.

use serde_json::{Map, Value};

use super::tool_names::{LINE, tool_name};
use super::{MAX_COMMANDS, Proposal, Reply, decode};
use crate::protocol::{Requires, StepAction};

type Object = Map<String, Value>;

const MESSAGES: &[&str] = &["message", "content", "text", "response", "answer", "reply"];
/// Types that mean a chat. `None`: the type is missing.
const CHATS: &[&str] =
    &["chat", "message", "answer", "text", "response", "reply", "final", "error"];
const LISTS: &[&str] = &["commands", "steps", "tool_calls", "calls", "actions"];
const PROGRAMS: &[&str] = &["program", "command", "cmd"];
const INPUTS: &[&str] = &["input", "arguments", "parameters", "args"];

/// The reply that an object means, although it is none of the protocol.
pub(super) fn reply(object: &Object) -> Option<Reply> {
    let kind = object.get("type").and_then(Value::as_str);
    let message = text(object, MESSAGES).unwrap_or_default().to_owned();
    if let Some(commands) = commands(object) {
        let data = object.get("data").and_then(Value::as_object);
        let cwd = [Some(object), data].into_iter().flatten().find_map(|part| text(part, &["cwd"]));
        let cwd = cwd.filter(|cwd| !cwd.is_empty()).map(str::to_owned);
        return Some(Reply::Cmd { message, cwd, commands, expected: String::new() });
    }
    let is_chat = kind.is_none_or(|kind| CHATS.contains(&kind));
    let is_empty = message.trim().is_empty();
    let chat = || Reply::Chat { message, markdown: true, suggestions: Vec::new() };
    (is_chat && !is_empty).then(chat)
}

/// Whether an object has the fields of anything that is read here.
pub(super) fn is_like_reply(object: &Object) -> bool {
    match object.get("type") {
        Some(Value::String(kind)) => {
            kind == "cmd"
                || CHATS.contains(&kind.as_str())
                || ["message", "data"].iter().any(|key| object.contains_key(*key))
        }
        Some(_) => true,
        None => {
            ["message", "data", "_fallback", "commands", "program", "tool", "tool_calls"]
                .iter()
                .any(|key| object.contains_key(*key))
                || is_call(object)
        }
    }
}

/// Whether an object says itself that it is a reply of the protocol, or a call.
pub(super) fn is_marked_reply(object: &Object) -> bool {
    let kind = object.get("type").and_then(Value::as_str);
    kind.is_some_and(|kind| matches!(kind, "chat" | "cmd" | "error"))
        || object.contains_key("_fallback")
        || is_call(object)
}

/// `{"name":"exec","arguments":{…}}`, the form in which models are trained to call.
fn is_call(object: &Object) -> bool {
    object.get("name").is_some_and(Value::is_string)
        && ["arguments", "parameters"].iter().any(|key| object.contains_key(*key))
}

fn commands(object: &Object) -> Option<Vec<Proposal>> {
    let data = object.get("data");
    let inner = data.and_then(Value::as_object).into_iter().chain([object]);
    let list = inner.flat_map(|part| LISTS.iter().filter_map(|key| part.get(*key))).next();
    let list = list.or_else(|| data.filter(|data| data.is_array()));
    let steps: Vec<&Value> = match list {
        Some(Value::Array(list)) => list.iter().collect(),
        Some(one) => vec![one],
        None => Vec::new(),
    };
    let proposals: Option<Vec<Proposal>> = match steps.as_slice() {
        [] => step(object).map(|one| vec![one]),
        steps if steps.len() > MAX_COMMANDS => None,
        steps => steps.iter().map(|value| any_step(value)).collect(),
    };
    proposals
}

fn any_step(value: &Value) -> Option<Proposal> {
    match value {
        Value::String(line) => {
            exec(line, None).map(|work| Proposal { work, requires: Requires::default(), cwd: None })
        }
        Value::Object(object) => match object.get("function") {
            Some(Value::Object(call)) => step(call),
            _ => step(object),
        },
        _ => None,
    }
}

fn step(object: &Object) -> Option<Proposal> {
    // What would make the step stricter is never lost.
    let requires = decode::read_requires(object).ok()?;
    action(object).map(|work| Proposal { work, requires, cwd: None })
}

fn action(object: &Object) -> Option<StepAction> {
    if object.contains_key("tool") && PROGRAMS.iter().any(|key| object.contains_key(*key)) {
        return None;
    }
    if let Some(program) = text(object, PROGRAMS) {
        return exec(program, object.get("args").or_else(|| object.get("arguments")));
    }
    let name = match text(object, &["tool"]) {
        Some(name) => name,
        None if is_call(object) => text(object, &["name"])?,
        None => return None,
    };
    let name = tool_name(name);
    let input = match INPUTS.iter().find_map(|key| object.get(*key)) {
        None | Some(Value::Null) => decode::empty_object(),
        Some(Value::Bool(_)) => return None,
        Some(input) => decode::tool_input(&name, input),
    };
    match (name.as_str(), &input) {
        ("exec", input) => exec(text(input.as_object()?, PROGRAMS)?, input.get("args")),
        ("", _) => None,
        (LINE, input) => decode::call(&name, input.as_object()?).ok().map(|step| step.work),
        _ => Some(StepAction::Tool { name, input }),
    }
}

/// A program with a list of arguments, or with all of them in one line.
fn exec(program: &str, args: Option<&Value>) -> Option<StepAction> {
    let mut words = match args {
        None | Some(Value::Null) => decode::words(program)?,
        Some(Value::Array(list)) if list.is_empty() => decode::words(program)?,
        Some(_) => vec![program.to_owned()],
    };
    match args {
        Some(Value::Array(list)) => {
            for arg in list {
                words.push(match arg {
                    Value::String(text) => text.clone(),
                    Value::Number(number) => number.to_string(),
                    _ => return None,
                });
            }
        }
        Some(Value::String(text)) => words.extend(decode::words(text)?),
        _ => {}
    }
    let mut words = words.into_iter();
    let program = words.next().filter(|program| !program.trim().is_empty())?;
    Some(StepAction::Exec { program, args: words.collect() })
}

fn text<'a>(object: &'a Object, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| object.get(*name)?.as_str())
}

#[cfg(test)]
mod tests {
    use super::super::{ParsedReply, ReplyRepair, read};
    use super::*;

    /// `chat: …` or the steps, and how they were found.
    fn meaning(text: &str) -> String {
        match read(text) {
            ParsedReply::Valid { reply: Reply::Chat { message, .. }, .. } => {
                format!("chat: {message}")
            }
            ParsedReply::Valid { reply: Reply::Cmd { commands, .. }, found } => {
                assert_eq!(found, ReplyRepair::Repaired, "{text}");
                let lines: Vec<String> =
                    commands.iter().map(|one| one.work.command_line()).collect();
                lines.join(" + ")
            }
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn near_misses_are_read_without_a_second_call() {
        let cases = [
            (r#"{"type":"message","message":"hi"}"#, "chat: hi"),
            (r#"{"type":"answer","content":"hi"}"#, "chat: hi"),
            (r#"{"message":"hi"}"#, "chat: hi"),
            (r#"{"response":"hi","data":{}}"#, "chat: hi"),
            (r#"{"type":"chat","text":"hi"}"#, "chat: hi"),
            (r#"{"type":"cmd","data":{"commands":["git status -s"]}}"#, "git status -s"),
            (r#"{"type":"cmd","commands":[{"program":"ls","args":"-l a"}]}"#, "ls -l a"),
            (r#"{"type":"cmd","data":{"commands":[{"command":"ls -l"}]}}"#, "ls -l"),
            (r#"{"type":"cmd","data":[{"program":"head","args":["-n",3]}]}"#, "head -n 3"),
            (r#"{"type":"cmd","program":"ls"}"#, "ls"),
            (r#"{"program":"ls","args":["a b"]}"#, "ls 'a b'"),
            (r#"{"tool":"file.read","input":{"path":"a"}}"#, "file.read a"),
            (r#"{"name":"file_read","arguments":{"path":"a"}}"#, "file.read a"),
            (r#"{"name":"exec","arguments":"{\"program\":\"ls\"}"}"#, "ls"),
            (r#"{"name":"exec","arguments":"ls -l"}"#, "ls -l"),
            (r#"{"tool":"bash","input":"ls | wc"}"#, "bash -lc 'ls | wc'"),
            (
                r#"<tool_call>{"name":"exec","arguments":{"program":"ls","args":["-l"]}}</tool_call>"#,
                "ls -l",
            ),
            (
                r#"{"tool_calls":[{"function":{"name":"exec","arguments":{"program":"ls"}}},{"program":"id"}]}"#,
                "ls + id",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(meaning(text), expected, "{text}");
        }
    }

    #[test]
    fn a_line_that_needs_a_shell_is_no_step() {
        for line in ["ls | wc", "echo $HOME", "a; b", "cat < x", "a && b", "echo `id`", "'open"] {
            let text = serde_json::json!({ "type": "cmd", "commands": [line] }).to_string();
            let read = read(&text);
            assert!(matches!(read, ParsedReply::Invalid { .. }), "{line}: {read:?}");
        }
    }

    #[test]
    fn json_in_the_middle_of_prose_is_an_example_unless_it_says_what_it_is() {
        for example in [
            r#"{"message":"Fix the parser"}"#,
            r#"{"type":"node","request":"launch","program":"app.js"}"#,
            r#"{"program":"ls"}"#,
            r#"{"commands":["build","test"]}"#,
            r#"{"data":[1,2]}"#,
        ] {
            for text in [
                format!("Write this:\n```json\n{example}\n```\nThat is all."),
                format!("Write {example} there."),
                format!("Set it so: {}", example.replace('"', "'")),
            ] {
                assert!(matches!(read(&text), ParsedReply::Fallback { .. }), "{text}");
            }
        }
        let call = r#"I call it. {"name":"exec","arguments":{"program":"ls"}}"#;
        assert_eq!(meaning(call), "ls");
        assert_eq!(meaning("```json\n{\"message\":\"hi\"}\n```"), "chat: hi");
    }

    #[test]
    fn json_that_was_asked_for_is_no_reply() {
        for text in [r#"{"name":"demo"}"#, "[1, 2, 3]", r#"{"type":"module"}"#, r#"{"a":{"b":1}}"#]
        {
            assert!(matches!(read(text), ParsedReply::Fallback { .. }), "{text}");
            let fenced = format!("Here is JSON:\n```json\n{text}\n```\nThat is all.");
            assert!(matches!(read(&fenced), ParsedReply::Fallback { .. }), "{fenced}");
        }
    }
}
