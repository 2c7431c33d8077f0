//! Calls of tools that other agents have and we do not, as the steps that do the same.

use serde_json::{Value, json};

use super::super::StepAction;
use super::fields::{ObjectReader, wrong_type};
use super::tool_names::{DELETE, INPUT, MAKE_FOLDER, MOVE, READ_MANY};
use crate::i18n::{LocalizedText, common, protocol as phrases};

const PATH: &[&str] =
    &["path", "file_path", "target_file", "file", "filename", "absolute_path", "directory", "dir"];
const PATHS: &[&str] = &["paths", "files", "file_paths", "include", "path", "absolute_paths"];
const FROM: &[&str] = &["source", "old_path", "from", "src", "source_path", "path", "old"];
const TO: &[&str] =
    &["destination", "new_path", "to", "dest", "destination_path", "target", "new_name", "new"];
const TYPED: &[&str] = &["chars", "input", "text", "keys", "data", "stdin"];

/// What Ctrl-C sends.
const INTERRUPT: &str = "\u{3}";
/// The first lines of each file that are read at once.
const LINES: &str = "2000";

/// What a call means; `None`: it is of a tool of ours, or of none.
pub(super) fn translate(
    name: &str,
    reader: &ObjectReader<'_>,
) -> Option<Result<StepAction, LocalizedText>> {
    Some(match name {
        DELETE => path(reader, PATH).map(|path| patch(&format!("*** Delete File: {path}"))),
        MOVE => path(reader, FROM).and_then(|from| {
            let to = path(reader, TO)?;
            Ok(patch(&format!("*** Update File: {from}\n*** Move to: {to}")))
        }),
        MAKE_FOLDER => {
            path(reader, PATH).map(|path| StepAction::exec("mkdir", &["-p", "--", path]))
        }
        READ_MANY => paths(reader).map(|paths| read_all(&paths)),
        INPUT => job(reader),
        _ => return None,
    })
}

fn tool(name: &str, input: Value) -> StepAction {
    StepAction::Tool { name: name.to_owned(), input }
}

fn patch(section: &str) -> StepAction {
    let patch = format!("*** Begin Patch\n{section}\n*** End Patch");
    tool("file.edit", json!({ "patch": patch }))
}

fn path<'a>(reader: &ObjectReader<'a>, names: &[&str]) -> Result<&'a str, LocalizedText> {
    let missing = || phrases::MISSING.with("field", reader.field(names.first().unwrap_or(&"path")));
    let (name, value) = reader.find(names).ok_or_else(missing)?;
    let text =
        value.as_str().ok_or_else(|| wrong_type(&reader.field(name), common::A_STRING, value))?;
    // More than one line would be more than one file.
    Some(text).filter(|text| !text.is_empty() && !text.contains('\n')).ok_or_else(missing)
}

fn paths<'a>(reader: &ObjectReader<'a>) -> Result<Vec<&'a str>, LocalizedText> {
    let missing = || phrases::MISSING.with("field", reader.field("paths"));
    let (name, value) = reader.find(PATHS).ok_or_else(missing)?;
    let path = |value: &'a Value| value.as_str().or_else(|| value.get("path")?.as_str());
    let list = match value {
        Value::Array(list) => list.iter().map(path).collect(),
        one => path(one).map(|path| vec![path]),
    };
    let list: Vec<&str> =
        list.ok_or_else(|| wrong_type(&reader.field(name), common::STRINGS, value))?;
    Some(list).filter(|list| !list.is_empty()).ok_or_else(missing)
}

fn read_all(paths: &[&str]) -> StepAction {
    match paths {
        [path] => tool("file.read", json!({ "path": path })),
        paths => StepAction::exec("head", &[&["-n", LINES, "--"], paths].concat()),
    }
}

/// Input for a running program: none is a look at its output, and Ctrl-C ends it.
fn job(reader: &ObjectReader<'_>) -> Result<StepAction, LocalizedText> {
    let typed = reader.find(TYPED);
    let text = typed.and_then(|(_, value)| value.as_str()).unwrap_or_default();
    let mut rest = reader.object.clone();
    if let Some((name, _)) = typed {
        rest.remove(name);
    }
    match text {
        "" => Ok(tool("job.read", Value::Object(rest))),
        INTERRUPT => Ok(tool("job.stop", Value::Object(rest))),
        _ => Err(phrases::NO_INPUT.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::ToolCall;
    use super::super::read_call;
    use super::*;

    fn line(name: &str, input: &Value) -> Result<String, String> {
        let (id, arguments) = ("1".to_owned(), input.to_string());
        let call = ToolCall { id, name: name.to_owned(), arguments, opaque: None };
        let step = read_call(&call).map_err(|fault| fault.text(crate::i18n::Lang::En))?;
        Ok(match step.work {
            StepAction::Tool { name, input } => format!("{name} {input}"),
            work => work.command_line(),
        })
    }

    #[test]
    fn tools_that_only_other_agents_have_are_steps_of_ours() {
        let patch = |section: &str| {
            let patch = format!("*** Begin Patch\n{section}\n*** End Patch");
            format!("file.edit {}", json!({ "patch": patch }))
        };
        for (name, input, expected) in [
            ("delete_file", json!({"target_file": "a b"}), patch("*** Delete File: a b")),
            ("fsDelete", json!({"filePath": "a"}), patch("*** Delete File: a")),
            (
                "move_file",
                json!({"source": "a", "destination": "b/c"}),
                patch("*** Update File: a\n*** Move to: b/c"),
            ),
            ("create_directory", json!({"path": "-x"}), "mkdir -p -- -x".to_owned()),
            ("read_many_files", json!({"paths": ["a", "b"]}), "head -n 2000 -- a b".to_owned()),
            (
                "read_multiple_files",
                json!({"paths": ["a"]}),
                r#"file.read {"path":"a"}"#.to_owned(),
            ),
            (
                "read_files",
                json!({"files": [{"path": "a"}]}),
                r#"file.read {"path":"a"}"#.to_owned(),
            ),
            (
                "write_stdin",
                json!({"session_id": 3, "chars": "", "yield_time_ms": 1000}),
                r#"job.read {"session_id":3,"yield_time_ms":1000}"#.to_owned(),
            ),
            (
                "write_stdin",
                json!({"session_id": 3, "chars": "\u{3}"}),
                r#"job.stop {"session_id":3}"#.to_owned(),
            ),
        ] {
            assert_eq!(line(name, &input), Ok(expected), "{name}");
        }
        for (name, input) in [
            ("write_stdin", json!({"session_id": 3, "chars": "y\n"})),
            ("delete_file", json!({})),
            ("delete_file", json!({"path": "a\n*** Delete File: b"})),
            ("move_file", json!({"source": "a"})),
            ("read_many_files", json!({"paths": [3]})),
        ] {
            assert!(line(name, &input).is_err(), "{name} {input}");
        }
    }
}
