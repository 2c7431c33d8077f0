//! Decodes data to a [`Reply`], or names the invalid field.
//!
//! Optional fields are defined here: small models omit `data` of a chat, `args`, `requires`, `cwd`.
//! A field that is present must have the right type.

use serde_json::Value;

use super::super::{Requires, StepAction};
use super::fields::{Object, ObjectReader, is_unsaid, wrong_type};
use super::time::read_times;
use super::tool_names::{LINE, tool_name};
use super::translated::translate;
use super::{MAX_COMMANDS, NativeStep, Proposal, Reply, object_input, patch};
use crate::i18n::{LocalizedText, common, protocol as phrases};
use crate::text;

const EXEC: &str = "exec";
/// What only a shell could do.
const SHELL_SIGNS: &[char] = &['|', '>', '<', ';', '&', '`', '$'];
/// The tool that starts a program in the background.
const JOB_START: &str = "job.start";
/// The tool that calls one of an MCP server by its name.
const MCP_CALL: &str = "mcp.call";

pub(super) fn reply(object: &Object) -> Result<Reply, LocalizedText> {
    let reader = ObjectReader { object, path: "" };
    match reader.required("type")? {
        Value::String(kind) => match kind.as_str() {
            "chat" => chat(&reader),
            "cmd" => cmd(&reader),
            "error" => Ok(Reply::Error { message: reader.text("message")? }),
            other => Err(phrases::UNKNOWN_TYPE.with("found", excerpt(other))),
        },
        other => Err(wrong_type("type", common::A_STRING, other)),
    }
}

fn chat(reader: &ObjectReader<'_>) -> Result<Reply, LocalizedText> {
    let message = reader.text("message")?;
    let Some(data) = reader.optional_object("data")? else {
        return Ok(Reply::Chat { message, markdown: true, suggestions: Vec::new() });
    };
    let object_reader = ObjectReader { object: data, path: "data" };
    let markdown = object_reader.optional_text("format")?.is_none_or(|format| format != "plain");
    Ok(Reply::Chat { message, markdown, suggestions: object_reader.texts("suggestions")? })
}

fn cmd(reader: &ObjectReader<'_>) -> Result<Reply, LocalizedText> {
    let message = reader.optional_text("message")?.unwrap_or_default();
    let data = match reader.required("data")? {
        Value::Object(object) => ObjectReader { object, path: "data" },
        other => return Err(wrong_type("data", phrases::AN_OBJECT, other)),
    };
    let list = match data.required("commands")? {
        Value::Array(list) => list,
        other => return Err(wrong_type("data.commands", common::A_LIST, other)),
    };
    if list.is_empty() {
        return Err(phrases::NO_COMMANDS.into());
    }
    if list.len() > MAX_COMMANDS {
        return Err(phrases::TOO_MANY.with("count", list.len()).with("most", MAX_COMMANDS));
    }
    let commands = list.iter().enumerate().map(|(index, value)| {
        let path = format!("data.commands[{index}]");
        match value {
            Value::Object(object) => proposal(&ObjectReader { object, path: &path }),
            other => Err(wrong_type(&path, phrases::AN_OBJECT, other)),
        }
    });
    Ok(Reply::Cmd {
        message,
        cwd: data.optional_text("cwd")?.filter(|cwd| !cwd.is_empty()),
        commands: commands.collect::<Result<_, _>>()?,
        expected: data.optional_text("expected_effect")?.unwrap_or_default(),
    })
}

fn proposal(reader: &ObjectReader<'_>) -> Result<Proposal, LocalizedText> {
    let asked = requires(reader)?;
    let program = reader.optional_text("program")?;
    let tool_name = reader.optional_text("tool")?;

    let step = match (program, tool_name) {
        (Some(_), Some(_)) => return Err(phrases::BOTH.with("field", reader.path)),
        (None, None) => return Err(phrases::NEITHER.with("field", reader.path)),
        (Some(_), None) => program_step(reader)?,
        (None, Some(name)) => tool(reader, name)?,
    };
    let NativeStep { work, cwd, requires } = step;
    let background = asked.background || requires.background;
    let Requires { timeout_s, foreground_s, .. } = requires;
    Ok(Proposal { work, requires: Requires { background, timeout_s, foreground_s, ..asked }, cwd })
}

/// A program with the other fields of its step: its folder, its time, and whether it is to run on.
/// Other agents give a line, or a program and its arguments in one list, under the name of a command.
fn program_step(reader: &ObjectReader<'_>) -> Result<NativeStep, LocalizedText> {
    let command = || COMMAND.iter().find_map(|name| Some((*name, reader.optional(name)?)));
    let program = reader.optional("program").map(|value| ("program", value));
    let args = args(reader)?;
    let work = match program.or_else(command) {
        Some((name, Value::Array(_))) => match reader.texts(name)?.as_slice() {
            [line] if line.contains(char::is_whitespace) => run_line(line),
            [program, first @ ..] => {
                StepAction::Exec { program: program.clone(), args: [first, &args].concat() }
            }
            [] => return Err(phrases::EMPTY.with("field", reader.field(name))),
        },
        Some((name, Value::String(text))) if text.trim().is_empty() => {
            return Err(phrases::EMPTY.with("field", reader.field(name)));
        }
        Some((name, Value::String(line))) if name != "program" && args.is_empty() => run_line(line),
        // The field of the program may have its first arguments too.
        Some((_, Value::String(text))) => {
            let is_line = text.contains(char::is_whitespace) && !args.is_empty();
            match words(text).filter(|_| is_line).as_deref() {
                Some([program, first @ ..]) => {
                    StepAction::Exec { program: program.clone(), args: [first, &args].concat() }
                }
                _ => StepAction::Exec { program: text.clone(), args },
            }
        }
        Some((name, other)) => {
            return Err(wrong_type(&reader.field(name), common::A_STRING, other));
        }
        None => return Err(phrases::MISSING.with("field", reader.field("program"))),
    };
    let cwd = FOLDER.iter().find(|name| reader.optional(name).is_some());
    let cwd = cwd.map(|name| reader.text(name)).transpose()?.filter(|cwd| !cwd.is_empty());
    let mut requires = read_times(reader)?;
    for name in BACKGROUND {
        requires.background |= reader.flag(name)?;
    }
    Ok(as_patch(NativeStep { work, cwd, requires }))
}

const COMMAND: &[&str] =
    &["command", "cmd", "line", "commands", "CommandLine", "script", "code", "input"];
const ARGS: &[&str] = &["args", "arguments", "argv"];
const FOLDER: &[&str] = &["cwd", "workdir", "working_directory", "dir_path", "directory", "Cwd"];
const BACKGROUND: &[&str] = &["background", "run_in_background", "is_background"];

/// A line as a program that reads it.
fn run_line(line: &str) -> StepAction {
    StepAction::Exec { program: "bash".to_owned(), args: vec!["-lc".to_owned(), line.to_owned()] }
}

/// A step that runs `apply_patch`, which most machines do not have, as the edit that it means.
fn as_patch(step: NativeStep) -> NativeStep {
    let StepAction::Exec { program, args } = &step.work else { return step };
    match patch::find(program, args) {
        Some((patch, folder)) => {
            let tool = StepAction::Tool {
                name: "file.edit".to_owned(),
                input: serde_json::json!({ "patch": patch }),
            };
            let cwd = match (&step.cwd, folder) {
                (Some(cwd), Some(folder)) if !folder.starts_with('/') => {
                    Some(format!("{cwd}/{folder}"))
                }
                (cwd, folder) => folder.or_else(|| cwd.clone()),
            };
            NativeStep { work: tool, cwd, requires: Requires::default() }
        }
        None => step,
    }
}

/// The arguments of a program: a list, or a line with no signs of a shell.
fn args(reader: &ObjectReader<'_>) -> Result<Vec<String>, LocalizedText> {
    let name = ARGS.iter().find(|name| reader.optional(name).is_some()).unwrap_or(&"args");
    let line = reader.optional(name).and_then(Value::as_str);
    let line = line.filter(|line| !line.trim_start().starts_with(['[', '{']));
    line.and_then(words).map_or_else(|| reader.texts(name), Ok)
}

/// The words of a line that needs no shell.
pub(super) fn words(line: &str) -> Option<Vec<String>> {
    shlex::split(line).filter(|_| !line.contains(SHELL_SIGNS))
}

/// A call in the wire format's own way: the arguments are the tool's input.
pub(super) fn call(name: &str, input: &Object) -> Result<NativeStep, LocalizedText> {
    let input = wrapped_input(name, input).unwrap_or(input);
    let is_empty =
        |args: &Value| args.is_null() || is_unsaid(args) || *args == Value::Array(Vec::new());
    let program = input.get("program").and_then(Value::as_str).unwrap_or_default().trim();
    let is_line = program.contains(char::is_whitespace) && input.get("args").is_none_or(is_empty);
    if name == EXEC && is_line {
        // A whole line in place of a program.
        let mut input = input.clone();
        input.insert("command".to_owned(), Value::from(program));
        input.remove("program");
        return read_tool(&ObjectReader { object: &input, path: name }, name);
    }
    read_tool(&ObjectReader { object: input, path: name }, name)
}

/// The arguments that a model puts into a field of their own: `{"arguments": {…}}`, as if the call were
/// an object with its name. A tool of an MCP server may have such a field.
fn wrapped_input<'a>(name: &str, input: &'a Object) -> Option<&'a Object> {
    const WRAPPERS: [&str; 4] = ["arguments", "parameters", "input", "args"];
    const NAMES: [&str; 5] = ["name", "tool", "tool_name", "function", "type"];
    let (wrapper, inner) =
        WRAPPERS.iter().find_map(|key| Some((key, input.get(*key)?.as_object()?)))?;
    let is_name = |(key, value): (&String, &Value)| {
        let names = |text: &str| tool_name(text) == name || text == "function";
        key == wrapper || NAMES.contains(&key.as_str()) && value.as_str().is_some_and(names)
    };
    (!name.starts_with("mcp.") && input.iter().all(is_name)).then_some(inner)
}

/// `exec` as a tool name becomes the step it means, so that it is judged as one, and a line one
/// that a shell reads.
fn tool(reader: &ObjectReader<'_>, name: String) -> Result<NativeStep, LocalizedText> {
    if name.is_empty() {
        return Err(phrases::EMPTY.with("field", reader.field("tool")));
    }
    let name = tool_name(&name);
    let input =
        reader.optional("input").map_or_else(empty_object, |input| tool_input(&name, input));
    let path = reader.field("input");
    let step = match &input {
        Value::Object(object) => read_tool(&ObjectReader { object, path: &path }, &name)?,
        Value::Bool(_) => return Err(wrong_type(&path, phrases::AN_OBJECT, &input)),
        _ => tool_step(&name, input),
    };
    let background = step.requires.background || reader.flag("background")?;
    Ok(NativeStep { requires: Requires { background, ..step.requires }, ..step })
}

pub(super) fn empty_object() -> Value {
    Value::Object(Object::new())
}

/// The input of a tool, where a program or a line may be given without its field. The field that the
/// one value of another tool means is known to those who judge it.
pub(super) fn tool_input(name: &str, input: &Value) -> Value {
    let field = [EXEC, LINE, JOB_START].contains(&name).then(|| COMMAND.first().copied()).flatten();
    object_input(input, field).unwrap_or_else(|| input.clone())
}

fn tool_step(name: &str, input: Value) -> NativeStep {
    let tool = StepAction::Tool { name: name.to_owned(), input };
    NativeStep { work: tool, cwd: None, requires: Requires::default() }
}

fn read_tool(reader: &ObjectReader<'_>, name: &str) -> Result<NativeStep, LocalizedText> {
    if let Some(work) = translate(name, reader) {
        return Ok(NativeStep { work: work?, cwd: None, requires: Requires::default() });
    }
    match name {
        EXEC => program_step(reader),
        // OpenAI's own shell tool.
        LINE if reader.optional("action").is_some_and(Value::is_object) => {
            let path = reader.field("action");
            let object = reader.optional_object("action")?.unwrap_or(reader.object);
            program_step(&ObjectReader { object, path: &path })
        }
        LINE if COMMAND.iter().all(|name| reader.optional(name).is_none()) => {
            let field = COMMAND.first().copied().unwrap_or_default();
            Err(phrases::MISSING.with("field", reader.field(field)))
        }
        LINE => program_step(reader),
        JOB_START => {
            let step = program_step(reader)?;
            let requires = Requires { background: true, ..step.requires };
            Ok(NativeStep { requires, ..step })
        }
        MCP_CALL => {
            let tool = reader.optional("tool").and_then(Value::as_str).unwrap_or_default();
            let given = reader.optional("input").cloned().unwrap_or_else(empty_object);
            Ok(tool_step(&tool_name(tool), object_input(&given, None).unwrap_or(given)))
        }
        _ => {
            let name = editor_tool(name, reader);
            Ok(tool_step(name, Value::Object(reader.object.clone())))
        }
    }
}

/// The tool that a command of the text editor of other agents means.
fn editor_tool<'a>(name: &'a str, reader: &ObjectReader<'_>) -> &'a str {
    match reader.object.get("command").and_then(Value::as_str) {
        Some("view") if name == "file.edit" => "file.read",
        Some("create") if name == "file.edit" => "file.write",
        _ => name,
    }
}

/// The requirements of a step whose other fields are read elsewhere.
pub(super) fn read_requires(object: &Object) -> Result<Requires, LocalizedText> {
    requires(&ObjectReader { object, path: "" })
}

fn requires(part: &ObjectReader<'_>) -> Result<Requires, LocalizedText> {
    let Some(object) = part.optional_object("requires")? else {
        return Ok(Requires::default());
    };
    let path = part.field("requires");
    let reader = ObjectReader { object, path: &path };
    Ok(Requires {
        confirm: reader.flag("confirm")?,
        elevated: reader.flag("elevated")?,
        network: reader.flag("network")?,
        write: reader.flag("write")?,
        background: reader.flag("background")?,
        ..Requires::default()
    })
}

/// The model's own text inside a sentence: one line, cut if it is long.
fn excerpt(foreign: &str) -> String {
    text::cut(&text::one_line(foreign), 40)
}
