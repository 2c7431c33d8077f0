//! Judges the tools other than `exec`: what their input asks for, and what that touches.
//!
//! The input is read here and nowhere else. The result is a [`ToolTask`]: exact, and sealed
//! with the judgement, so that what runs is what was judged. For a change of a file the
//! task holds the new content, computed from the current one, so that what the user is
//! shown is what will be written.
//!
//! An input that makes no sense is not dangerous: it becomes a [`ToolTask::Fault`], which only
//! tells the model what is wrong.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::findings::{Findings, excerpt};
use super::mcp_names;
use super::spec::JudgeContext;
use super::web::{FetchTask, SEARCH, WebSearchTask};
use super::{Contents, LargeFileState, PathKind};
use avocet_core::i18n::{LocalizedText, common, safety as words};
use avocet_core::protocol::reply::wire_name;
use avocet_core::protocol::{Change, Effect, PlanItem, StepAction, Tier};
use avocet_core::text::encoding::{self, FileEncoding};

mod change;
mod closest_match;
mod code;
mod diff;
mod edit;
mod file;
mod file_patch;
mod input;
mod interaction;
mod json_edit;
mod large_edit;
pub(super) mod masks;
pub(super) mod mcp;
mod patch;
mod plugin;
mod resolved_path;
mod restore;
mod schema;
pub(super) mod scripted;
pub(super) mod skill;
pub(super) mod web;

pub use change::{NOTE, describe_change};
pub use code::{CodeLookup, CodeTask, is_replaced};
pub use diff::count_changes;
pub use file::SEND;
pub use input::InputError;
pub use interaction::{RecallTask, SUBAGENT_TOOL, SubagentTask};
pub use plugin::{PluginEntry, PluginRegistry, PluginTask, alias_of};
pub use resolved_path::ResolvedPath;
pub use restore::{Restore, RestorePlan, judge as restored, plan as plan_restores};

use input::InputFields;
use resolved_path::{resolve_path, resolve_read};
use schema::{FieldKind, FieldRow, optional, required};

/// The task of a tool.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolTask {
    /// The input asks for nothing that can be done.
    Fault(InputError),
    Read(Read),
    List(ListTask),
    Search(SearchTask),
    Change(Box<Write>),
    /// Several files, all of them or none.
    Patch(Box<PatchTask>),
    /// Places of a file that is not read whole.
    LargeEdit(Box<LargeEdit>),
    Plugin(PluginTask),
    /// Answered by the user.
    Ask(ChoiceTask),
    /// Shown to the user.
    Plan(Vec<PlanItem>),
    /// An earlier part of the conversation.
    Recall(RecallTask),
    /// A step in the background.
    Job(JobTask),
    /// Handed to a subagent.
    Subagent(SubagentTask),
    /// A page of the web.
    Fetch(Box<FetchTask>),
    /// A query to a search service.
    WebSearch(Box<WebSearchTask>),
    /// A question to a language server.
    Code(Box<CodeTask>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    pub spot: ResolvedPath,
    /// The first line, counted from 1.
    pub from: usize,
    /// The last one; `None`: as many as are given at once.
    pub to: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListTask {
    pub spot: ResolvedPath,
    pub glob: Option<String>,
    /// How many folders deep; `None`: all.
    pub depth: Option<usize>,
    /// Whether ignored and hidden names are listed as well.
    pub all: bool,
    /// Our own folders in it, which stay closed.
    pub closed: Vec<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchTask {
    pub spot: ResolvedPath,
    pub query: String,
    /// The query is a regular expression.
    pub regex: bool,
    /// Upper and lower case are alike.
    pub fold: bool,
    /// A match may go over several lines.
    pub multiline: bool,
    pub mode: SearchMode,
    pub glob: Option<String>,
    /// A kind of files: `rust`, `py`.
    pub kind: Option<String>,
    /// Lines shown before and after a match.
    pub around: (usize, usize),
    /// Our own folders in it, which stay closed.
    pub closed: Vec<PathBuf>,
}

/// What a search gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchMode {
    Lines,
    Files,
    /// How many lines of each file match.
    Counts,
}

/// One file, and what becomes of it.
#[derive(Clone, PartialEq, Eq)]
pub struct Write {
    pub spot: ResolvedPath,
    /// The whole content; `None`: the file is deleted.
    pub after: Option<Arc<[u8]>>,
    /// The part of it that is shown; `before` in it is the content the file must have when
    /// it is written.
    pub change: Change,
    /// A copy of the old file is left beside it.
    pub backup: bool,
    /// Changes made to the model's text: line ends kept, a mark kept.
    pub note: Option<LocalizedText>,
    /// The entry that the file replaces, other than a file.
    pub obstacle: Option<Obstacle>,
}

/// Files that change together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchTask {
    pub writes: Vec<Write>,
    pub change: Change,
}

/// What is in the place of a file, and goes when the file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// A folder without any file in it.
    EmptyFolder,
    /// A link, a pipe, a socket or a device.
    NoFile,
}

impl std::fmt::Debug for Write {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Write").field("change", &self.change).finish_non_exhaustive()
    }
}

/// One place of a file, and what is put there.
#[derive(Clone, PartialEq, Eq)]
pub struct Cut {
    pub at: u64,
    pub old: Arc<[u8]>,
    pub new: Arc<[u8]>,
}

/// A large file, and what is cut out of it.
#[derive(Clone, PartialEq, Eq)]
pub struct LargeEdit {
    pub spot: ResolvedPath,
    /// As it was when it was judged.
    pub stamp: LargeFileState,
    /// In the order of the file; they do not overlap.
    pub cuts: Vec<Cut>,
    pub change: Change,
}

impl std::fmt::Debug for LargeEdit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LargeEdit").field("change", &self.change).finish_non_exhaustive()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChoiceTask {
    pub text: String,
    pub choices: Vec<String>,
    pub free: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobTask {
    List,
    /// With lines that contain a text, or a page; else what is new since the last time.
    Read {
        id: u64,
        page: Option<usize>,
        query: Option<String>,
        /// How many seconds news are waited for, if the model says so.
        wait: Option<usize>,
    },
    Stop {
        id: u64,
    },
}

impl ToolTask {
    pub fn change(&self) -> Option<&Change> {
        match self {
            ToolTask::Change(write) => Some(&write.change),
            ToolTask::Patch(patch) => Some(&patch.change),
            ToolTask::LargeEdit(edit) => Some(&edit.change),
            _ => None,
        }
    }
}

type TaskResult = Result<ToolTask, InputError>;
type Judge = fn(&InputFields<'_>, &JudgeContext<'_>, &mut Findings) -> TaskResult;

/// A tool: what judges it, and the fields that it reads.
#[derive(Debug)]
struct ToolRow {
    name: &'static str,
    judge: Judge,
    fields: &'static [FieldRow],
}

/// Every tool a model may name that is judged here.
#[rustfmt::skip]
const TOOLS: &[ToolRow] = &[
    ToolRow { name: "file.read",         judge: file::read,        fields: file::READ_FIELDS },
    ToolRow { name: "file.list",         judge: file::list,        fields: file::LIST_FIELDS },
    ToolRow { name: "file.search",       judge: file::search,      fields: file::SEARCH_FIELDS },
    ToolRow { name: "file.write",        judge: change::write,     fields: change::WRITE_FIELDS },
    ToolRow { name: "file.edit",         judge: large_edit::edit,   fields: change::EDIT_FIELDS },
    ToolRow { name: "config.json_patch", judge: patch::judge,      fields: patch::FIELDS },
    ToolRow { name: change::NOTE,        judge: change::note,      fields: change::NOTE_FIELDS },
    ToolRow { name: "plugin.run",        judge: plugin::judge,     fields: plugin::FIELDS },
    ToolRow { name: "ask",               judge: interaction::ask,  fields: interaction::ASK_FIELDS },
    ToolRow { name: "plan",              judge: interaction::plan, fields: interaction::PLAN_FIELDS },
    ToolRow { name: "job.list",          judge: interaction::job_list, fields: &[] },
    ToolRow { name: "job.read",          judge: interaction::job_read, fields: interaction::JOB_READ_FIELDS },
    ToolRow { name: "job.stop",          judge: interaction::job_stop, fields: interaction::JOB_STOP_FIELDS },
    ToolRow { name: "web.fetch",         judge: |input, context, out| Ok(ToolTask::Fetch(Box::new(web::fetch(input, context, out)?))), fields: web::FETCH_FIELDS },
    ToolRow { name: SEARCH,              judge: |input, context, out| Ok(ToolTask::WebSearch(Box::new(web::search(input, context, out)?))), fields: web::SEARCH_FIELDS },
    ToolRow { name: "code.symbols",      judge: |input, context, out| file::judge_lookup(CodeLookup::Symbols, input, context, out), fields: code::SYMBOLS_FIELDS },
    ToolRow { name: "code.definition",   judge: |input, context, out| file::judge_lookup(CodeLookup::Definition, input, context, out), fields: code::LOOKUP_FIELDS },
    ToolRow { name: "code.references",   judge: |input, context, out| file::judge_lookup(CodeLookup::References, input, context, out), fields: code::LOOKUP_FIELDS },
    ToolRow { name: "code.hover",        judge: |input, context, out| file::judge_lookup(CodeLookup::Hover, input, context, out), fields: code::LOOKUP_FIELDS },
    ToolRow { name: code::RENAME,       judge: |input, context, out| file::judge_lookup(CodeLookup::Rename, input, context, out), fields: code::RENAME_FIELDS },
    ToolRow { name: SUBAGENT_TOOL,       judge: interaction::task, fields: interaction::TASK_FIELDS },
    ToolRow { name: file::SEND,          judge: file::send,        fields: file::SEND_FIELDS },
    ToolRow { name: "recall",            judge: interaction::recall, fields: interaction::RECALL_FIELDS },
];

/// Tools that are judged elsewhere in `safety`: a program, a skill, a script.
const OTHERS: &[(&str, &[FieldRow])] = &[
    (
        "exec",
        &[
            required(&["program"], FieldKind::Text),
            optional(&["args"], FieldKind::Texts).says("one argument each"),
            optional(&["cwd"], FieldKind::Text).says("folder to run in"),
            optional(&["timeout_s"], FieldKind::Number).says("stops it"),
            optional(&["background"], FieldKind::Flag).says("as a job that runs on"),
        ],
    ),
    ("skill", &[required(&["name"], FieldKind::Text), optional(&["args"], FieldKind::Text)]),
    (
        "script.run",
        &[required(&["script"], FieldKind::Text), optional(&["args"], FieldKind::Object)],
    ),
];

/// The JSON Schema of a tool's input; `None`: an unknown tool.
pub fn input_schema(name: &str) -> Option<Value> {
    fields(name).map(schema::schema)
}

/// Whether there is a tool of this name.
pub fn is_known(name: &str) -> bool {
    fields(name).is_some()
}

fn fields(name: &str) -> Option<&'static [FieldRow]> {
    let own = TOOLS.iter().map(|row| (row.name, row.fields));
    let mut all = own.chain(OTHERS.iter().copied());
    all.find(|(known, _)| *known == name).map(|(_, fields)| fields)
}

/// The field for a call that sends a bare value instead of its arguments: the only required field, or
/// the first field if none is required.
pub fn sole_field(name: &str) -> Option<&'static str> {
    match name {
        "exec" | "shell" | "job.start" => return Some("command"),
        "file.edit" => return Some("patch"),
        _ => {}
    }
    let fields = fields(name)?;
    let mut required = fields.iter().filter(|field| field.is_required);
    let field = match (required.next(), required.next()) {
        (None, _) => fields.first(),
        (one, None) => one,
        (Some(_), Some(_)) => None,
    };
    field?.names.first().copied()
}

/// The form of a tool's input and an example of it, as a model reads them; empty for an unknown
/// tool.
pub fn describe_form(name: &str) -> String {
    // What is offered in place of a line for a shell.
    let name = if name == "shell" { "exec" } else { name };
    let Some(fields) = fields(name) else { return String::new() };
    let (form, example) = (schema::schema(fields), schema::example(fields));
    format!("The input of `{}`: {form}\nFor example: {example}", wire_name(name))
}

/// The names of the tools that every model has, as it calls them.
fn usual_names() -> String {
    let is_usual = |name: &&str| {
        !OF_SLOTHTOOL.contains(name) && !name.starts_with("code.") && ![SEARCH, SEND].contains(name)
    };
    let own = TOOLS.iter().map(|row| row.name).filter(is_usual);
    let names: Vec<String> = std::iter::once("exec").chain(own).map(wire_name).collect();
    names.join(", ")
}

/// The fields as they are described, where a model gave them in another form. What it left empty because
/// it fills in every field was not given.
fn plain_fields<'a>(fields: &[FieldRow], input: &'a Value) -> Cow<'a, Value> {
    let Some(given) = input.as_object() else { return Cow::Borrowed(input) };
    let row = |name: &str| fields.iter().find(|row| input::is_named(name, row.names));
    let mut changed = Cow::Borrowed(input);
    for (name, value) in given {
        let Some(row) = row(name) else { continue };
        let plain = row.kind.plain(value);
        let value = plain.as_ref().unwrap_or(value);
        if !row.is_required && row.kind.is_empty(value) {
            if let Some(fields) = changed.to_mut().as_object_mut() {
                fields.remove(name);
            }
        } else if let (FieldKind::Objects(inner), Some(items)) = (row.kind, value.as_array()) {
            let items: Vec<Cow<'_, Value>> =
                items.iter().map(|item| plain_fields(inner, item)).collect();
            if plain.is_some() || items.iter().any(|item| matches!(item, Cow::Owned(_))) {
                changed.to_mut()[name] = items.into_iter().map(Cow::into_owned).collect();
            }
        } else if let Some(plain) = plain {
            changed.to_mut()[name] = plain;
        }
    }
    changed
}

/// Tools that are offered where slothtool is installed.
pub const OF_SLOTHTOOL: [&str; 2] = ["config.json_patch", "plugin.run"];

/// Tools whose remembered approval covers what they do in the workspace.
pub const REMEMBERED: &[&str] = &["file.write", "file.edit"];

/// The task, and the findings about it. `None`: there is no such tool, or it is none of
/// files and programs.
pub fn judge(
    name: &str,
    input: &Value,
    context: &JudgeContext<'_>,
    findings: &mut Findings,
) -> Option<ToolTask> {
    match name {
        skill::TOOL => skill::judge(input, context, findings),
        scripted::TOOL => scripted::judge(input, context, findings),
        name if mcp::judge(name, context, findings) => {}
        _ => return judge_task(name, input, context, findings),
    }
    None
}

fn judge_task(
    name: &str,
    input: &Value,
    context: &JudgeContext<'_>,
    out: &mut Findings,
) -> Option<ToolTask> {
    let Some(ToolRow { name, judge, fields }) = TOOLS.iter().find(|row| row.name == name) else {
        let say = words::TOOL_UNKNOWN.with("tool", excerpt(name)).with("tools", usual_names());
        out.add("tool.unknown", Tier::L0, say.clone(), None, &[]);
        return Some(ToolTask::Fault(InputError::of_form(say)));
    };
    let mut findings = Findings::default();
    let input = plain_fields(fields, input);
    let task = match judge(&InputFields::new(name, &input), context, &mut findings) {
        Ok(task) => task,
        Err(fault) => {
            // The fault may quote the file: where reading it needs approval, so does this.
            if findings.tier_or(Tier::L0) == Tier::L0 || !leaves_workspace(&findings) {
                findings = Findings::default();
                findings.add("tool.fault", Tier::L0, words::TOOL_FAULT, None, &[]);
            }
            ToolTask::Fault(fault)
        }
    };
    out.merge(&findings);
    Some(task)
}

fn leaves_workspace(findings: &Findings) -> bool {
    [Effect::Outside, Effect::Secret].into_iter().any(|effect| findings.has(effect))
        || findings.tier() == Tier::L2
}

/// SHA-256 in hex.
pub fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether this is the name of a tool.
pub fn is_tool(name: &str) -> bool {
    TOOLS.iter().any(|row| row.name == name)
}

/// Whether rules may cover every call of a tool.
pub fn is_remembered(name: &str) -> bool {
    REMEMBERED.contains(&name) || name == SEARCH || mcp_names::is_call(name)
}

/// The terms a rule would have to cover.
pub fn remembered_tool(action: &StepAction) -> Option<&str> {
    match action {
        StepAction::Tool { name, .. } => is_remembered(name).then_some(name),
        StepAction::Exec { .. } | StepAction::Shell { .. } => None,
    }
}

/// The bytes of a file as text.
fn as_text<'a>(bytes: &'a [u8], path: &ResolvedPath) -> Result<&'a str, InputError> {
    std::str::from_utf8(bytes).map_err(|_| path.say(words::TOOL_NOT_TEXT).into())
}

/// The same in any encoding.
fn decode<'a>(
    bytes: &'a [u8],
    path: &ResolvedPath,
) -> Result<(Cow<'a, str>, FileEncoding), InputError> {
    encoding::decode(bytes).ok_or_else(|| path.say(words::TOOL_NOT_TEXT).into())
}

/// The bytes of a file to change; `None`: there is none.
fn content(
    path: &ResolvedPath,
    context: &JudgeContext<'_>,
    most: usize,
) -> Result<Option<Vec<u8>>, InputError> {
    let world = context.policy_cx.world;
    match (world.read(&path.path, most), world.kind(&path.path)) {
        (Contents::Bytes(bytes), _) => {
            let is_text = path.inside && std::str::from_utf8(&bytes).is_ok();
            let unsaved = if is_text { world.unsaved_text(&path.path) } else { None };
            Ok(Some(unsaved.filter(|text| text.len() <= most).unwrap_or(bytes)))
        }
        (Contents::Missing, _) => Ok(None),
        (Contents::Unreadable, PathKind::Folder) => Err(path.say(common::IS_FOLDER).into()),
        (Contents::Unreadable, PathKind::File) => {
            Err(path.say(words::TOOL_TOO_BIG).with("most", most / 1024).into())
        }
        (Contents::Unreadable, PathKind::Missing) => Err(path.say(words::TOOL_NO_FILE).into()),
        (Contents::Unreadable, PathKind::Other) => Err(path.say(common::NOT_REGULAR).into()),
    }
}

#[cfg(test)]
mod edit_corpus;
#[cfg(test)]
mod masks_tests;
#[cfg(test)]
mod tests;
