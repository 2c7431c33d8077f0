//! Decodes data to a [`Reply`], or names the invalid field.
//!
//! Optional fields are defined here: small models omit `data` of a chat, `args`, `requires`, `cwd`.
//! A field that is present must have the right type.

use serde_json::{Map, Value};

use super::super::{Requires, StepAction};
use super::{MOST_COMMANDS, NativeStep, Proposal, Reply};
use crate::i18n::{LocalizedText, Phrase, common, protocol as words};
use crate::text;

type Object = Map<String, Value>;

/// The tool that starts a program in the background.
const JOB_START: &str = "job.start";

pub(super) fn reply(object: &Object) -> Result<Reply, LocalizedText> {
    let top = ObjectReader { object, path: "" };
    match top.required("type")? {
        Value::String(kind) => match kind.as_str() {
            "chat" => chat(&top),
            "cmd" => cmd(&top),
            "error" => Ok(Reply::Error { message: top.text("message")? }),
            other => Err(words::UNKNOWN_TYPE.with("found", excerpt(other))),
        },
        other => Err(wrong_type("type", common::A_STRING, other)),
    }
}

fn chat(top: &ObjectReader<'_>) -> Result<Reply, LocalizedText> {
    let message = top.text("message")?;
    let Some(data) = top.optional_object("data")? else {
        return Ok(Reply::Chat { message, markdown: true, suggestions: Vec::new() });
    };
    let data = ObjectReader { object: data, path: "data" };
    let markdown = data.optional_text("format")?.is_none_or(|format| format != "plain");
    Ok(Reply::Chat { message, markdown, suggestions: data.texts("suggestions")? })
}

fn cmd(top: &ObjectReader<'_>) -> Result<Reply, LocalizedText> {
    let message = top.optional_text("message")?.unwrap_or_default();
    let data = match top.required("data")? {
        Value::Object(object) => ObjectReader { object, path: "data" },
        other => return Err(wrong_type("data", words::AN_OBJECT, other)),
    };
    let list = match data.required("commands")? {
        Value::Array(list) => list,
        other => return Err(wrong_type("data.commands", common::A_LIST, other)),
    };
    if list.is_empty() {
        return Err(words::NO_COMMANDS.into());
    }
    if list.len() > MOST_COMMANDS {
        return Err(words::TOO_MANY.with("count", list.len()).with("most", MOST_COMMANDS));
    }
    let commands = list.iter().enumerate().map(|(index, value)| {
        let path = format!("data.commands[{index}]");
        match value {
            Value::Object(object) => proposal(&ObjectReader { object, path: &path }),
            other => Err(wrong_type(&path, words::AN_OBJECT, other)),
        }
    });
    Ok(Reply::Cmd {
        message,
        cwd: data.optional_text("cwd")?.filter(|cwd| !cwd.is_empty()),
        commands: commands.collect::<Result<_, _>>()?,
        expected: data.optional_text("expected_effect")?.unwrap_or_default(),
    })
}

fn proposal(part: &ObjectReader<'_>) -> Result<Proposal, LocalizedText> {
    let mut requires = requires(part)?;
    let (program, tool_name) = (part.optional_text("program")?, part.optional_text("tool")?);
    let NativeStep { work, cwd, background } = match (program, tool_name) {
        (Some(_), Some(_)) => return Err(words::BOTH.with("field", part.path)),
        (None, None) => return Err(words::NEITHER.with("field", part.path)),
        (Some(_), None) => program_step(part)?,
        (None, Some(name)) => tool(part, name)?,
    };
    requires.background |= background;
    Ok(Proposal { work, requires, cwd })
}

/// A program with the other fields of its step: its folder, and whether it is to run on.
fn program_step(part: &ObjectReader<'_>) -> Result<NativeStep, LocalizedText> {
    let program = part.text("program")?;
    let cwd = part.optional_text("cwd")?.filter(|cwd| !cwd.is_empty());
    Ok(NativeStep { work: exec(part, program)?, cwd, background: part.flag("background")? })
}

fn exec(part: &ObjectReader<'_>, program: String) -> Result<StepAction, LocalizedText> {
    if program.trim().is_empty() {
        return Err(words::EMPTY.with("field", part.field("program")));
    }
    Ok(StepAction::Exec { program, args: part.texts("args")? })
}

/// A call in the wire format's own way: the arguments are the tool's input.
pub(super) fn call(name: &str, input: &Object) -> Result<NativeStep, LocalizedText> {
    let path = name.to_owned();
    let part = ObjectReader { object: input, path: &path };
    match name {
        "exec" => program_step(&part),
        JOB_START => Ok(NativeStep { background: true, ..program_step(&part)? }),
        _ => {
            let work =
                StepAction::Tool { name: name.to_owned(), input: Value::Object(input.clone()) };
            Ok(NativeStep { work, cwd: None, background: false })
        }
    }
}

/// `exec` as a tool name becomes the step it means, so that it is judged as one; there is no tool
/// that takes a shell line.
fn tool(part: &ObjectReader<'_>, name: String) -> Result<NativeStep, LocalizedText> {
    let empty = Object::new();
    let input = part.optional_object("input")?.unwrap_or(&empty);
    match name.as_str() {
        "exec" | "cmd" | JOB_START => {
            let path = part.field("input");
            let inner = ObjectReader { object: input, path: &path };
            let step = program_step(&inner)?;
            let background = step.background || name == JOB_START || part.flag("background")?;
            Ok(NativeStep { background, ..step })
        }
        "shell" => Err(words::NO_SHELL.with("field", part.field("tool"))),
        "" => Err(words::EMPTY.with("field", part.field("tool"))),
        _ => {
            let work = StepAction::Tool { name, input: Value::Object(input.clone()) };
            Ok(NativeStep { work, cwd: None, background: false })
        }
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
    let part = ObjectReader { object, path: &path };
    Ok(Requires {
        confirm: part.flag("confirm")?,
        elevated: part.flag("elevated")?,
        network: part.flag("network")?,
        write: part.flag("write")?,
        background: part.flag("background")?,
    })
}

/// An object and its path, so that an error can name the field.
struct ObjectReader<'a> {
    object: &'a Object,
    path: &'a str,
}

impl<'a> ObjectReader<'a> {
    fn field(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    fn required(&self, name: &str) -> Result<&'a Value, LocalizedText> {
        self.object.get(name).ok_or_else(|| words::MISSING.with("field", self.field(name)))
    }

    /// `null` counts as omitted.
    fn optional(&self, name: &str) -> Option<&'a Value> {
        self.object.get(name).filter(|value| !value.is_null())
    }

    fn text(&self, name: &str) -> Result<String, LocalizedText> {
        match self.required(name)? {
            Value::String(text) => Ok(text.clone()),
            other => Err(wrong_type(&self.field(name), common::A_STRING, other)),
        }
    }

    fn optional_text(&self, name: &str) -> Result<Option<String>, LocalizedText> {
        self.optional(name).map(|_| self.text(name)).transpose()
    }

    fn optional_object(&self, name: &str) -> Result<Option<&'a Object>, LocalizedText> {
        match self.optional(name) {
            None => Ok(None),
            Some(Value::Object(object)) => Ok(Some(object)),
            Some(other) => Err(wrong_type(&self.field(name), words::AN_OBJECT, other)),
        }
    }

    fn flag(&self, name: &str) -> Result<bool, LocalizedText> {
        match self.optional(name).filter(|value| !is_unsaid(value)) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => Err(wrong_type(&self.field(name), common::A_BOOLEAN, other)),
        }
    }

    fn texts(&self, name: &str) -> Result<Vec<String>, LocalizedText> {
        let list = match self.optional(name).filter(|value| !is_unsaid(value)) {
            None => return Ok(Vec::new()),
            Some(Value::Array(list)) => list,
            Some(other) => return Err(wrong_type(&self.field(name), common::STRINGS, other)),
        };
        let texts = list.iter().enumerate().map(|(index, value)| match value {
            Value::String(text) => Ok(text.clone()),
            other => {
                let item = format!("{}[{index}]", self.field(name));
                Err(words::WRONG_ITEM
                    .with("field", self.field(name))
                    .with("item", item)
                    .with("found", kind(other)))
            }
        });
        texts.collect()
    }
}

/// Models that fill in every field write this for one that they do not mean.
fn is_unsaid(value: &Value) -> bool {
    value.as_str() == Some("") || value.as_u64() == Some(0)
}

fn wrong_type(field: &str, wanted: Phrase, found: &Value) -> LocalizedText {
    words::WRONG.with("field", field).with("wanted", wanted).with("found", kind(found))
}

fn kind(value: &Value) -> Phrase {
    match value {
        Value::Null => words::IS_NULL,
        Value::Bool(_) => words::IS_BOOLEAN,
        Value::Number(_) => words::IS_NUMBER,
        Value::String(_) => common::A_STRING,
        Value::Array(_) => common::A_LIST,
        Value::Object(_) => words::AN_OBJECT,
    }
}

/// The model's own text inside a sentence: one line, cut if it is long.
fn excerpt(foreign: &str) -> String {
    text::cut(&text::one_line(foreign), 40)
}
