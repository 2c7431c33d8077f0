//! The input of a hook: an event with its data, in the names of the program that defines the hook.

use std::path::{Component, Path, PathBuf};

use serde_json::{Map, Value, json};

use avocet_core::i18n::LocalizedText;
use avocet_core::protocol::reply::{read_call, wire_name};
use avocet_core::protocol::{ApprovalMode, Observation, Outcome, Step, StepAction, ToolCall};
use avocet_core::text::{command_line, short_name};

use super::definition::{Hook, HookProgram};
use super::event::HookEvent;

/// The session that a hook belongs to.
#[derive(Clone, Debug, Default)]
pub struct HookSession {
    pub id: String,
    pub cwd: PathBuf,
    pub mode: ApprovalMode,
    /// The file with its conversation.
    pub transcript: Option<PathBuf>,
}

/// An event with its data.
#[derive(Clone, Debug, PartialEq)]
pub struct HookCall {
    pub event: HookEvent,
    /// What matchers are compared with.
    subjects: Vec<String>,
    fields: Map<String, Value>,
    tool: Option<ToolView>,
}

/// A step in the names of other programs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ToolView {
    pub claude: String,
    crush: String,
    pub input: Value,
}

/// Our tools, and what Claude Code and crush call them.
const TOOLS: [(&str, &str, &str); 6] = [
    ("exec", "Bash", "bash"),
    ("file.read", "Read", "view"),
    ("file.edit", "Edit", "edit"),
    ("file.write", "Write", "write"),
    ("file.search", "Grep", "grep"),
    ("file.list", "Glob", "glob"),
];

impl HookCall {
    /// An event that is about this one thing: how a session starts, which kind of question waits.
    pub fn new(event: HookEvent, subject: &str, fields: Value) -> HookCall {
        let fields = match fields {
            Value::Object(fields) => fields,
            _ => Map::new(),
        };
        HookCall { event, subjects: vec![subject.to_owned()], fields, tool: None }
    }

    /// An event about a step.
    pub fn of_step(event: HookEvent, step: &Step, cwd: &Path) -> HookCall {
        let view = ToolView::new(&step.work, step.cwd.as_deref(), cwd);
        let mut subjects = vec![view.claude.clone(), view.crush.clone()];
        let own = step.work.tool();
        subjects.extend([own.to_owned(), wire_name(own)]);
        if matches!(own, "file.edit" | "file.write") {
            subjects.push("apply_patch".to_owned());
        }
        if own == "file.edit" {
            subjects.push("MultiEdit".to_owned());
        }
        subjects.dedup();
        let fields = Map::from_iter([("tool_use_id".to_owned(), json!(step.id))]);
        HookCall { event, subjects, fields, tool: Some(view) }
    }

    /// A step has ended.
    pub fn of_result(observation: &Observation, cwd: &Path) -> HookCall {
        let mut call = HookCall::of_step(HookEvent::PostToolUse, &observation.step, cwd);
        let response = json!({
            "stdout": observation.stdout,
            "stderr": observation.stderr,
            "exit_code": observation.exit_code,
            "success": observation.succeeded(),
            "interrupted": matches!(observation.outcome, Outcome::Cancelled | Outcome::TimedOut),
            "isImage": false,
        });
        call.fields.insert("tool_response".to_owned(), response);
        call
    }

    pub fn is_for(&self, hook: &Hook) -> bool {
        hook.event == self.event && hook.matches(&self.subjects)
    }

    /// The JSON that a hook reads.
    pub fn input(&self, session: &HookSession, hook: &Hook) -> String {
        let mut fields = self.fields.clone();
        let mut set = |name: &str, value: Value| fields.insert(name.to_owned(), value);
        set("session_id", json!(session.id));
        let transcript = session.transcript.as_ref().map(|path| path.to_string_lossy());
        set("transcript_path", json!(transcript));
        set("cwd", json!(session.cwd.to_string_lossy()));
        set("permission_mode", json!(mode_name(session.mode)));
        set("hook_event_name", json!(self.event.name()));
        if let Some(tool) = &self.tool {
            let name = match hook.origin.program {
                HookProgram::Crush => &tool.crush,
                _ => &tool.claude,
            };
            set("tool_name", json!(name));
            set("tool_input", tool.input.clone());
        }
        Value::Object(fields).to_string()
    }

    /// The step that a hook wants in place of its own, from an input in that program's names.
    ///
    /// # Errors
    /// What cannot be understood of it.
    pub fn changed_step(&self, step: &Step, input: &Value) -> Result<Step, LocalizedText> {
        let Some(tool) = &self.tool else { return Ok(step.clone()) };
        let mut whole = tool.input.clone();
        if let (Some(whole), Some(changed)) = (whole.as_object_mut(), input.as_object()) {
            whole.extend(changed.clone());
        }
        if whole == tool.input {
            return Ok(step.clone());
        }
        let call = ToolCall {
            id: String::new(),
            name: tool.claude.clone(),
            arguments: whole.to_string(),
            opaque: None,
        };
        let read = read_call(&call)?;
        // What the step needs stays as the model named it.
        Ok(Step { work: read.work, cwd: read.cwd.or_else(|| step.cwd.clone()), ..step.clone() })
    }
}

impl ToolView {
    pub fn new(action: &StepAction, step_folder: Option<&str>, cwd: &Path) -> ToolView {
        let folder = step_folder.map_or_else(|| cwd.to_owned(), |folder| cwd.join(folder));
        let (own, input) = match action {
            StepAction::Exec { program, args } => {
                let mut input = json!({ "command": shell_line(program, args) });
                if let Some(folder) = step_folder {
                    input["cwd"] = json!(folder);
                }
                ("exec", input)
            }
            StepAction::Shell { line } => ("exec", json!({ "command": line })),
            StepAction::Tool { name, input } => (name.as_str(), tool_input(name, input, &folder)),
        };
        let row = TOOLS.iter().find(|(name, ..)| *name == own);
        let names = row.map(|(_, claude, crush)| ((*claude).to_owned(), (*crush).to_owned()));
        let (claude, crush) = names.unwrap_or_else(|| (wire_name(own), wire_name(own)));
        ToolView { claude, crush, input }
    }
}

/// The line of a step that gives one to a shell, or a program with its arguments as a line.
fn shell_line(program: &str, args: &[String]) -> String {
    match args {
        [flag, line]
            if matches!(short_name(program), "bash" | "sh" | "zsh")
                && matches!(flag.as_str(), "-c" | "-lc") =>
        {
            line.clone()
        }
        _ => command_line(std::iter::once(&program.to_owned()).chain(args)),
    }
}

/// The input of a tool of ours, in Claude Code's names: ours, and theirs as models may have sent
/// them.
fn tool_input(name: &str, input: &Value, folder: &Path) -> Value {
    const NAMES: [(&str, &[&str], &str); 10] = [
        ("", &["path", "file", "filename"], "file_path"),
        ("file.read", &["from", "start", "start_line", "line"], "offset"),
        ("file.write", &["contents", "text", "file_text"], "content"),
        ("file.edit", &["old", "old_str", "old_text"], "old_string"),
        ("file.edit", &["new", "new_str", "new_text"], "new_string"),
        ("file.edit", &["all"], "replace_all"),
        ("file.search", &["query", "regex"], "pattern"),
        ("file.list", &["glob"], "pattern"),
        ("file.search", &["mode"], "output_mode"),
        ("file.read", &["lines"], "limit"),
    ];
    let Some(given) = input.as_object().filter(|_| name.starts_with("file.")) else {
        return input.clone();
    };
    let is_place = matches!(name, "file.search" | "file.list");
    let mut fields = Map::new();
    for (field, value) in given {
        let row = NAMES.iter().find(|(tool, names, _)| {
            (*tool == name || tool.is_empty() && !is_place) && names.contains(&field.as_str())
        });
        let field = row.map_or(field.as_str(), |(_, _, theirs)| theirs);
        let value = match (field, value) {
            ("file_path" | "path", Value::String(path)) => json!(absolute(path, folder)),
            ("edits", Value::Array(edits)) => {
                edits.iter().map(|edit| tool_input(name, edit, folder)).collect()
            }
            _ => value.clone(),
        };
        fields.insert(field.to_owned(), value);
    }
    // One edit is a call of another tool than several.
    if let Some(Value::Array(edits)) = fields.get("edits")
        && let [Value::Object(edit)] = &edits[..]
    {
        let edit = edit.clone();
        fields.remove("edits");
        fields.extend(edit);
    }
    Value::Object(fields)
}

/// A path as other programs send it: absolute, without `.`.
fn absolute(path: &str, folder: &Path) -> String {
    let joined = folder.join(path);
    let parts = joined.components().filter(|part| !matches!(part, Component::CurDir));
    parts.collect::<PathBuf>().to_string_lossy().into_owned()
}

fn mode_name(mode: ApprovalMode) -> &'static str {
    match mode {
        ApprovalMode::Ask => "default",
        ApprovalMode::Edits => "acceptEdits",
        ApprovalMode::Auto => "auto",
        ApprovalMode::Plan => "plan",
    }
}
