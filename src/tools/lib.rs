//! The tools that execute steps. A [`Tool`] takes a [`ClearedStep`] step, so none can be called
//! around the policy, and it never fails: a program that does not start, a non-zero exit
//! and a timeout are observations the model should read.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;

use avocet_core::i18n::Phrase;
use avocet_core::protocol::{
    Observation, PromptSize, SandboxStatus, StepAction, ToolInfo, ToolSchema, reply,
};
use avocet_safety::{
    self as safety, ClearedStep, MCP_CALL_TOOL, MCP_PREFIX, ToolRestriction, ToolTask,
};

mod around;
pub mod attachments;
pub mod checkpoint;
pub mod code_checker;
pub mod exec;
pub mod file;
pub mod file_host;
pub mod git_branch;
pub mod git_worktree;
pub mod image;
pub mod interaction;
mod large_search;
pub mod output_file;
pub mod parse;
pub mod read_tracker;
pub mod sandbox;
mod shelves;
pub mod system;
pub mod temp;
pub mod walk;
pub mod web;

/// A tool's name, and its descriptions.
#[derive(Clone, Copy, Debug)]
pub struct ToolSpec {
    pub name: &'static str,
    /// One line for users (`/tools`).
    pub about: Phrase,
    /// One line for the model's system prompt.
    pub prompt: &'static str,
}

pub trait Tool: Send + Sync {
    fn spec(&self) -> ToolSpec;

    fn run(&self, step: ClearedStep, control: RunControl) -> BoxFuture<'static, Observation>;

    /// Runs a shell piece of a template: with an input, and for all of its output.
    fn run_piped(
        &self,
        step: ClearedStep,
        _input: ShellInput,
        control: RunControl,
    ) -> BoxFuture<'static, PipedOutput> {
        let running = self.run(step, control);
        async move {
            let seen = running.await;
            PipedOutput { output: Some(seen.stdout.clone()), observation: seen }
        }
        .boxed()
    }

    /// Runs a step while it has the terminal, which the caller has given over.
    fn run_in_terminal(
        &self,
        step: ClearedStep,
        control: RunControl,
    ) -> BoxFuture<'static, Observation> {
        self.run(step, control)
    }

    /// Whether the model gets it now.
    fn is_offered(&self) -> bool {
        true
    }

    /// What is to be done in place of a step of this tool, to be judged in turn; `None`: the step
    /// itself. `task`: that of the step.
    fn replacement(&self, _task: &ToolTask) -> BoxFuture<'static, Option<StepAction>> {
        std::future::ready(None).boxed()
    }

    /// Tries out whether the system holds the tool's steps back; `None` where there is
    /// nothing to hold.
    fn sandbox_status(&self) -> BoxFuture<'static, Option<SandboxStatus>> {
        std::future::ready(None).boxed()
    }
}

/// What a shell piece is given.
#[derive(Clone, Debug, Default)]
pub struct ShellInput {
    pub text: Arc<[u8]>,
    /// Variables beside the usual ones.
    pub variables: BTreeMap<String, String>,
}

impl From<Vec<u8>> for ShellInput {
    fn from(text: Vec<u8>) -> ShellInput {
        ShellInput { text: text.into(), ..ShellInput::default() }
    }
}

/// The result of a shell piece.
#[derive(Clone, Debug)]
pub struct PipedOutput {
    pub observation: Observation,
    /// Its standard output, secrets masked; `None`: there was more than a piece may write.
    pub output: Option<String>,
}

/// How a running step is watched from outside.
#[derive(Clone, Debug)]
pub struct RunControl {
    pub cancel: CancellationToken,
    /// Decoded output as it arrives; the tool bounds what it sends here.
    pub output: UnboundedSender<String>,
    pub background: BackgroundControl,
}

/// The way of a running step into the background.
#[derive(Clone, Debug, Default)]
pub struct BackgroundControl {
    /// Once it is cancelled, the step has no time limit any more, and its output goes to the file.
    pub begins: CancellationToken,
    /// The file for output that is not kept whole, or is of a step in the background.
    pub file: Option<PathBuf>,
    /// Told of the ports that the step listens on.
    pub ports: Option<watch::Sender<Vec<u16>>>,
    /// Asked what becomes of a step that is at work when its time is up; `None`: it is stopped.
    pub at_limit: Option<UnboundedSender<TimeLimitReached>>,
    /// Orders to keep a step in the background beyond the session.
    pub keep: Option<KeepOrders>,
}

/// The receiver of [`KeepOrder`]s; clones share it.
pub type KeepOrders = Arc<tokio::sync::Mutex<UnboundedReceiver<KeepOrder>>>;

/// A step in the background is to outlive the session.
#[derive(Debug)]
pub struct KeepOrder {
    /// Avocet itself, to be started as the keeper.
    pub program: PathBuf,
    /// The folder for records and outputs of kept jobs.
    pub place: PathBuf,
    /// The workspace that finds it again.
    pub folder: PathBuf,
    pub step: String,
    /// Masked.
    pub line: String,
    /// Milliseconds since 1970.
    pub began: i64,
    pub reply: oneshot::Sender<Result<exec::KeptJob, String>>,
}

/// The time limit of a running step is up. The receiver asks the user and sends the answer.
#[derive(Debug)]
pub struct TimeLimitReached {
    pub seconds: u64,
    pub answer: oneshot::Sender<LimitAnswer>,
}

/// What becomes of the step. It may go to the background as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitAnswer {
    Stop,
    /// It may take as long again.
    Wait,
}

impl RunControl {
    /// For a step that stays in the foreground.
    pub fn new(cancel: CancellationToken, output: UnboundedSender<String>) -> RunControl {
        RunControl { cancel, output, background: BackgroundControl::default() }
    }
}

/// Describes a tool to a model: its line of the prompt without what the schema says.
fn tool_schema(name: &str, prompt: &str) -> Option<ToolSchema> {
    let mut depth = 0_i32;
    let ends = prompt.char_indices().find(|(at, c)| {
        depth += i32::from(matches!(c, '{' | '[')) - i32::from(matches!(c, '}' | ']'));
        depth == 0 && prompt.get(*at..).is_some_and(|rest| rest.starts_with(": "))
    });
    let about = ends.and_then(|(at, _)| prompt.get(at + 2..)).unwrap_or(prompt);
    Some(ToolSchema {
        name: reply::wire_name(name),
        description: about.to_owned(),
        parameters: safety::tools::input_schema(name)?,
    })
}

/// Leaves a tool's input the fields that are required, and what it works on. A small model fills
/// every field that it sees: it lists `*.rs` where all files were meant, since `glob` names that as
/// an example.
fn keep_essential(schema: &mut Value) {
    let required = schema.get("required").cloned().unwrap_or_default();
    let is_required =
        |name: &str| required.as_array().is_some_and(|all| all.iter().any(|it| it == name));
    if let Some(fields) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        fields.retain(|name, _| is_required(name) || matches!(name.as_str(), "path" | "args"));
        fields.values_mut().for_each(keep_essential);
    }
    if let Some(items) = schema.get_mut("items") {
        keep_essential(items);
    }
}

/// Whether a model is one of OpenAI, which learnt to change files by `apply_patch`.
fn writes_patches(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let families = ["gpt-4.1", "gpt-5", "gpt-oss", "codex", "o3", "o4"];
    families.iter().any(|family| name.starts_with(family))
}

/// `apply_patch` as those models know it; a call of it is one of `file.edit`.
fn patch_schema() -> ToolSchema {
    let patch = serde_json::json!({
        "type": "string",
        "description": "*** Begin Patch, *** Add|Update|Delete File: PATH, *** End Patch",
    });
    ToolSchema {
        name: "apply_patch".to_owned(),
        description: "changes files by a patch, all or none".to_owned(),
        parameters: serde_json::json!({
            "type": "object", "properties": { "input": patch }, "required": ["input"],
        }),
    }
}

/// A tool for shell lines, as models know it; a call of it runs the line by `bash`.
fn shell_schema() -> ToolSchema {
    ToolSchema {
        name: "shell".to_owned(),
        description: "runs a line by bash: pipes, redirections, several commands".to_owned(),
        parameters: serde_json::json!({
            "type": "object",
            "properties": {
                "command": { "type": "string" },
                "timeout_s": { "type": "integer", "description": "stops it" },
                "background": { "type": "boolean", "description": "as a job that runs on" },
            },
            "required": ["command"],
        }),
    }
}

/// The tools of a session, by name.
#[derive(Clone, Default)]
pub struct Toolbox {
    tools: Vec<Arc<dyn Tool>>,
    kept: Option<file::Backups>,
    checkpoints: Option<Arc<checkpoint::Checkpoints>>,
    checker: Option<Arc<dyn code_checker::CodeChecker>>,
    /// What holds files, if that is not the disk.
    host: Option<Arc<dyn file_host::FileHost>>,
    /// The only ones that the model gets.
    offered: Option<ToolRestriction>,
    /// Those that it does not get, since what they need is not on this machine.
    hidden: &'static [&'static str],
    /// Tools of MCP servers, which one tool calls.
    of_servers: Arc<[ToolSchema]>,
}

impl Toolbox {
    pub fn new(tools: Vec<Arc<dyn Tool>>) -> Toolbox {
        Toolbox { tools, ..Toolbox::default() }
    }

    /// With the folder of the old contents of changed files.
    #[must_use]
    pub fn with_backups(self, kept: Option<file::Backups>) -> Toolbox {
        let checkpoints = kept.clone().map(|kept| Arc::new(checkpoint::Checkpoints::new(kept)));
        Toolbox { kept, checkpoints, ..self }
    }

    /// With what holds files, if that is not the disk.
    #[must_use]
    pub fn with_file_host(self, host: Option<Arc<dyn file_host::FileHost>>) -> Toolbox {
        Toolbox { host, ..self }
    }

    pub fn file_host(&self) -> Option<Arc<dyn file_host::FileHost>> {
        self.host.clone()
    }

    pub fn backups(&self) -> Option<&file::Backups> {
        self.kept.as_ref()
    }

    pub fn checkpoints(&self) -> Option<&Arc<checkpoint::Checkpoints>> {
        self.checkpoints.as_ref()
    }

    /// With what looks at source files that steps change.
    #[must_use]
    pub fn with_checker(self, checker: Option<Arc<dyn code_checker::CodeChecker>>) -> Toolbox {
        Toolbox { checker, ..self }
    }

    pub fn checker(&self) -> Option<&Arc<dyn code_checker::CodeChecker>> {
        self.checker.as_ref()
    }

    /// The same with one more.
    #[must_use]
    pub fn with_tool(&self, tool: Arc<dyn Tool>) -> Toolbox {
        let tools = self.tools.iter().cloned().chain([tool]).collect();
        Toolbox { tools, ..self.clone() }
    }

    /// The same without these.
    #[must_use]
    pub fn without(&self, names: &[&str]) -> Toolbox {
        let tools = self.tools.iter().filter(|tool| !names.contains(&tool.spec().name));
        Toolbox { tools: tools.cloned().collect(), ..self.clone() }
    }

    /// The same with tools of MCP servers, as the model gets them.
    #[must_use]
    pub fn with_server_tools(self, schemas: Arc<[ToolSchema]>) -> Toolbox {
        Toolbox { of_servers: schemas, ..self }
    }

    /// The tools of MCP servers that the model gets.
    pub fn server_tools(&self) -> impl Iterator<Item = &ToolSchema> {
        let left = |tool: &&ToolSchema| {
            let name = reply::tool_name(&tool.name);
            self.offered.as_ref().is_none_or(|offered| offered.offers(&name))
        };
        self.of_servers.iter().filter(left)
    }

    /// The same with these in place of those of the same names.
    #[must_use]
    pub fn replacing(&self, new: &[Arc<dyn Tool>]) -> Toolbox {
        let newest = |tool: &Arc<dyn Tool>| {
            let same = new.iter().find(|other| other.spec().name == tool.spec().name);
            Arc::clone(same.unwrap_or(tool))
        };
        Toolbox { tools: self.tools.iter().map(newest).collect(), ..self.clone() }
    }

    /// Only these are offered to the model. The user's own lines and what is undone need no offer.
    #[must_use]
    pub fn offering(self, restriction: ToolRestriction) -> Toolbox {
        Toolbox { offered: Some(restriction), ..self }
    }

    /// These are not offered to the model.
    #[must_use]
    pub fn hiding(self, hidden: &'static [&'static str]) -> Toolbox {
        Toolbox { hidden, ..self }
    }

    pub fn iter(&self) -> impl Iterator<Item = &dyn Tool> {
        let left = |tool: &&Arc<dyn Tool>| {
            let offered = self.offered.as_ref();
            tool.is_offered()
                && !self.hidden.contains(&tool.spec().name)
                && offered.is_none_or(|offered| offered.offers(tool.spec().name))
        };
        self.tools.iter().filter(left).map(AsRef::as_ref)
    }

    /// The steps the system sandboxes, from the first tool that knows; the others are not
    /// asked. `None`: nothing is to be sandboxed.
    pub fn sandbox_status(&self) -> impl Future<Output = Option<SandboxStatus>> + Send + use<> {
        let asked: Vec<_> = self.tools.iter().map(|tool| tool.sandbox_status()).collect();
        async move {
            for answer in asked {
                if let Some(shelter) = answer.await {
                    return Some(shelter);
                }
            }
            None
        }
    }

    /// Each as it is described to a model that calls tools. Models of OpenAI write patches, and
    /// some are offered a shell.
    pub fn schemas(&self, model: &str, size: PromptSize, offers_shell: bool) -> Arc<[ToolSchema]> {
        let own = self.iter().filter_map(|tool| tool_schema(tool.spec().name, tool.spec().prompt));
        let own = own.map(|mut tool| {
            if size == PromptSize::Short {
                keep_essential(&mut tool.parameters);
            }
            tool
        });
        let has = |name: &str| self.iter().any(|tool| tool.spec().name == name);
        let patch = (has("file.edit") && writes_patches(model)).then(patch_schema);
        let shell = (offers_shell && has("exec")).then(shell_schema);
        own.chain(patch).chain(shell).chain(self.server_tools().cloned()).collect()
    }

    /// Each by its name and purpose.
    pub fn tool_infos(&self) -> Vec<ToolInfo> {
        let fact = |tool: &dyn Tool| ToolInfo {
            name: tool.spec().name.to_owned(),
            about: tool.spec().about.into(),
        };
        self.iter().map(fact).collect()
    }

    /// The tool that does this work; `None` when there is none of that name.
    pub fn find(&self, action: &StepAction) -> Option<&Arc<dyn Tool>> {
        let name = match action {
            StepAction::Shell { .. } => "exec",
            // Only the user asks for an undo, so no tool has that name: it writes a file.
            StepAction::Tool { name, .. } if name == "file.restore" => "file.write",
            StepAction::Tool { name, .. } if name.starts_with(MCP_PREFIX) => MCP_CALL_TOOL,
            other => other.tool(),
        };
        self.tools.iter().find(|tool| tool.spec().name == name)
    }
}

impl std::fmt::Debug for Toolbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter().map(|tool| tool.spec().name)).finish()
    }
}
