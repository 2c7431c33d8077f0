//! Offers the program's own tools to a script, by the same text protocol. The model's arguments
//! become a step: the script's permissions are checked first, then the safety policy.

use serde_json::{Map, Value, json};

use super::super::error::{ScriptFlow, ScriptResult};
use super::super::permission::CallNames;
use super::super::program_output::ProgramOutput;
use super::super::tool_protocol::{Param, ToolHelp};
use super::frame::ScriptRun;
use super::scope::texts_of;
use avocet_core::i18n::{LocalizedText, script_run as phrases};
use avocet_core::protocol::StepAction;

/// One of the program's own tools, as it is described to a model.
#[derive(Debug)]
pub struct BuiltinTool {
    pub id: &'static str,
    pub title: &'static str,
    /// The directives that take the same step.
    directives: &'static [&'static str],
    params: &'static [BuiltinParam],
}

#[derive(Debug)]
struct BuiltinParam {
    name: &'static str,
    required: bool,
    about: &'static str,
    /// JSON.
    example: &'static str,
}

impl BuiltinParam {
    fn description(&self) -> Map<String, Value> {
        let example = serde_json::from_str(self.example).unwrap_or(Value::Null);
        let kind = match &example {
            Value::Number(_) => "number",
            Value::Bool(_) => "boolean",
            Value::Array(_) => "array",
            _ => "string",
        };
        let about =
            [("type", kind.into()), ("description", self.about.into()), ("example", example)];
        about.map(|(key, value)| (key.to_owned(), value)).into_iter().collect()
    }
}

const fn required_param(
    name: &'static str,
    about: &'static str,
    example: &'static str,
) -> BuiltinParam {
    BuiltinParam { name, required: true, about, example }
}

const fn optional_param(
    name: &'static str,
    about: &'static str,
    example: &'static str,
) -> BuiltinParam {
    BuiltinParam { name, required: false, about, example }
}

/// The tools a script may offer to its model.
#[rustfmt::skip]
const TABLE: &[BuiltinTool] = &[
    BuiltinTool { id: "exec", title: "run a program, without a shell", directives: &[], params: &[
        required_param("program", "the name of the program", "\"git\""),
        optional_param("args", "the list of its arguments", "[\"status\", \"--short\"]"),
    ] },
    BuiltinTool { id: "file.read", title: "read a text file", directives: &["readFile"], params: &[
        required_param("path", "the file", "\"src/main.rs\""),
        optional_param("from", "the first line wanted, a number", "1"),
        optional_param("to", "the last line wanted, a number", "80"),
    ] },
    BuiltinTool { id: "file.list", title: "list the files of a folder", directives: &["listFilenames", "isDir"], params: &[
        optional_param("path", "the folder", "\"src\""),
        optional_param("glob", "which names", "\"*.rs\""),
    ] },
    BuiltinTool { id: "file.search", title: "look for a text in files", directives: &[], params: &[
        required_param("query", "the text", "\"fn main\""),
        optional_param("path", "the folder or file", "\"src\""),
        optional_param("regex", "whether the text is a regular expression", "false"),
    ] },
    BuiltinTool { id: "file.write", title: "write a whole file", directives: &["writeFile"], params: &[
        required_param("path", "the file", "\"notes.md\""),
        required_param("content", "all it holds then", "\"# Notes\\n\""),
    ] },
    BuiltinTool { id: "file.edit", title: "replace a text that stands once in a file", directives: &[], params: &[
        required_param("path", "the file", "\"notes.md\""),
        required_param("old", "the text as it stands there", "\"one\""),
        required_param("new", "the text in its place", "\"two\""),
    ] },
];

/// Each of the program's own tools with its parameters.
pub fn builtin_tools() -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    TABLE.iter().map(|tool| (tool.id, tool.params.iter().map(|param| param.name).collect()))
}

pub fn is_builtin_tool(id: &str) -> bool {
    find(id).is_some()
}

/// The tool with this name.
pub fn find(id: &str) -> Option<&'static BuiltinTool> {
    TABLE.iter().find(|own| own.id == id)
}

impl BuiltinTool {
    pub fn help(&self, title: &str, defaults: &Map<String, Value>) -> ToolHelp {
        let params = self.params.iter().map(|told| Param {
            name: told.name.to_owned(),
            required: told.required,
            default: defaults.get(told.name).cloned(),
            about: told.description(),
        });
        ToolHelp { id: self.id.to_owned(), title: title.to_owned(), params: params.collect() }
    }

    /// The names a permission may know it by; `written` is the one of the call.
    pub fn call_names(&self, written: &str) -> CallNames {
        CallNames::new(written, [self.id]).denied_as(self.directives.iter().copied())
    }

    /// The step for these arguments.
    pub fn step_action(&self, args: &Map<String, Value>) -> ScriptResult<StepAction> {
        if self.id != "exec" {
            return Ok(StepAction::Tool { name: self.id.to_owned(), input: json!(args) });
        }
        let program = args.get("program").and_then(Value::as_str).map(str::trim);
        let program = program.filter(|it| !it.is_empty()).ok_or(phrases::EXEC_PROGRAM)?;
        Ok(StepAction::Exec { program: program.to_owned(), args: texts_of(args.get("args")) })
    }

    /// Runs it as a step.
    pub async fn run(
        &self,
        run: &mut ScriptRun,
        args: &Map<String, Value>,
        text: Option<LocalizedText>,
    ) -> ScriptResult<Value> {
        run.limits.count_instruction()?;
        let is_checked = is_checked(args);
        let done = run.host.run_step(self.step_action(args)?, text).await;
        step_value(done.map_err(Into::into), is_checked)
    }
}

/// With `check: false` a program may fail: its result is `{code, stdout, stderr}`.
pub fn is_checked(args: &Map<String, Value>) -> bool {
    args.get("check") != Some(&Value::Bool(false))
}

/// The result of a step as a script has it.
pub fn step_value(done: ScriptResult<ProgramOutput>, is_checked: bool) -> ScriptResult<Value> {
    match done {
        Ok(output) if is_checked => Ok(Value::String(output.stdout)),
        Ok(output) => Ok(output.to_value()),
        Err(ScriptFlow::Failed(failure)) => match failure.output().filter(|_| !is_checked) {
            Some(output) => Ok(output.to_value()),
            None => Err(ScriptFlow::Failed(failure)),
        },
        Err(halt) => Err(halt),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_is_valid_and_becomes_a_step() {
        for own in TABLE {
            let help = own.help(own.title, &Map::new());
            assert!(help.text().starts_with(&format!("- @{}", own.id)), "{}", help.text());
            let example = |param: &Param| {
                let example = param.about["example"].clone();
                assert!(!example.is_null(), "{} {}", own.id, param.name);
                (param.name.clone(), example)
            };
            let args = help.params.iter().map(example).collect();
            assert_eq!(own.step_action(&args).unwrap().tool(), own.id);
        }
        assert!(find("exec").unwrap().step_action(&Map::new()).is_err());
    }
}
