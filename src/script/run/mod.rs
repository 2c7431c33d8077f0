//! Runs scripts: executes the instructions, keeps the dialogue, calls models, other scripts and
//! functions. The meaning of texts and values is defined here; everything outside comes from the
//! [`ScriptHost`].

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};

use super::failure::LocatedError;
use super::fault::{ScriptError, quoted};
use super::host::{ScriptEvent, ScriptHost};
use super::manifest::input::{self, ScriptArgs};
use super::manifest::{Instruction, Manifest};
use super::permission;
use super::source::ScriptLibrary;
use super::syntax::ScriptNode;
use crate::i18n::{LocalizedText, Phrase, script_run as words};

mod answer;
mod builtin_tools;
pub mod calls;
mod chain;
pub mod dialogue;
mod eval;
mod events;
mod fill_placeholders;
mod import;
pub mod instruction;
mod js;
mod modules;
mod multi_role;
mod params;
mod reasoning;
mod render;
pub mod scope;
mod shared_host;
mod tool_schedule;
pub mod tools;

use dialogue::{Dialogue, DialogueMessage};
use events::Handler;
use import::Imports;
use scope::ScopeValues;

/// Deepest nesting of scripts that call each other.
const DEEPEST: usize = 16;
/// Maximum number of instructions in one run, counting repetitions in loops.
const MOST_STEPS: usize = 200_000;
/// Maximum number of model calls in one run.
const MOST_CALLS: usize = 1000;
/// Maximum number of messages in one dialogue, and largest text in bytes.
const MOST_LINES: usize = 10_000;
pub const LONGEST_TEXT: usize = 16 << 20;

/// A request to run a script.
#[derive(Clone, Debug)]
pub struct RunRequest {
    /// An ID or a path.
    pub script: String,
    /// The folder the search starts from.
    pub from: PathBuf,
    pub args: ScriptArgs,
    /// Answers are streamed as they arrive.
    pub streams: bool,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunResult {
    pub value: Value,
    /// Role and text of each visible message of the dialogue.
    pub visible: Vec<(String, String)>,
}

/// The reason an instruction did not end normally.
#[derive(Debug)]
pub enum ScriptFlow {
    Failed(Box<LocatedError>),
    /// `$ret`: ends the script.
    Return(Value),
    Break,
    Continue,
    /// `$exit`: ends every script.
    Exit(Value),
}

impl From<LocatedError> for ScriptFlow {
    fn from(failure: LocatedError) -> ScriptFlow {
        ScriptFlow::Failed(Box::new(failure))
    }
}

impl From<ScriptError> for ScriptFlow {
    fn from(fault: ScriptError) -> ScriptFlow {
        LocatedError::from(fault).into()
    }
}

impl From<LocalizedText> for ScriptFlow {
    fn from(what: LocalizedText) -> ScriptFlow {
        LocatedError::new(what).into()
    }
}

impl From<Phrase> for ScriptFlow {
    fn from(what: Phrase) -> ScriptFlow {
        LocatedError::new(what).into()
    }
}

/// One run of a script with everything it calls.
pub struct ScriptRun {
    pub host: Box<dyn ScriptHost>,
    pub library: ScriptLibrary,
    streams: bool,
    depth: usize,
    steps: usize,
    calls: usize,
}

/// One running script.
pub struct Frame {
    pub manifest: Arc<Manifest>,
    pub values: ScopeValues,
    pub dialogue: Dialogue,
    pub imports: Imports,
    pub handlers: Vec<Handler>,
    /// The permissions of this script and of its callers.
    pub permissions: Vec<Arc<Value>>,
    /// An unnamed text that no input takes.
    unbound_arg: Option<Value>,
    /// The file of the running instruction: a base has its own.
    pub file: Arc<str>,
}

/// Finds a script and runs it.
pub async fn run(
    order: RunRequest,
    library: ScriptLibrary,
    host: Box<dyn ScriptHost>,
) -> Result<RunResult, LocatedError> {
    let source = library.find(&order.script, &order.from)?;
    let shape = Arc::new(Manifest::load(source, &library)?);
    let mut run = ScriptRun { host, library, streams: order.streams, depth: 0, steps: 0, calls: 0 };
    let mut frame = Frame::new(shape, order.args, &[])?;
    let value = match run.run_frame(&mut frame).await {
        Ok(value) | Err(ScriptFlow::Exit(value) | ScriptFlow::Return(value)) => value,
        Err(ScriptFlow::Failed(failure)) => return Err(*failure),
        Err(ScriptFlow::Break | ScriptFlow::Continue) => Value::Null,
    };
    let mut visible = Vec::new();
    for line in frame.dialogue.visible() {
        visible.push((line.role.clone(), line.text()));
        visible.extend(line.replies.iter().cloned());
    }
    Ok(RunResult { value, visible })
}

impl Frame {
    /// A script that is about to start, with its arguments checked.
    pub fn new(
        shape: Arc<Manifest>,
        args: ScriptArgs,
        callers: &[Arc<Value>],
    ) -> Result<Frame, LocatedError> {
        let (args, left) = input::bind(&shape.inputs, args);
        let mut config = shape.config.clone();
        let prompt = take_map(&mut config, "prompt");
        let parameters = take_map(&mut config, "parameters");
        // A character card keeps in `character` what other scripts declare at the top level.
        if let Some(Value::Object(character)) = config.get("character").cloned() {
            for (name, value) in character {
                config.entry(name).or_insert(value);
            }
        }
        for input in &shape.inputs {
            let unset = config.get(&input.name).is_none_or(Value::is_null);
            if let Some(default) = input.default.clone().filter(|_| unset) {
                config.insert(input.name.clone(), default);
            }
        }
        let mut frame = Frame {
            permissions: callers.to_vec(),
            values: ScopeValues { args, prompt, parameters, config, ..ScopeValues::default() },
            dialogue: Dialogue::default(),
            imports: Imports::default(),
            handlers: Vec::new(),
            unbound_arg: None,
            file: Arc::from(shape.origin.file.as_str()),
            manifest: shape,
        };
        frame.assign_unbound_arg(left);
        let values = &frame.values;
        let known = |name: &str| values.args.get(name).or_else(|| values.config.get(name));
        input::check(&frame.manifest.inputs, known).map_err(|failure| {
            failure.or_location(&frame.manifest.origin.file, frame.manifest.front_matter.position)
        })?;
        if let Some(rules) = frame.manifest.config.get("permissions") {
            frame.permissions.push(Arc::new(rules.clone()));
        }
        add_prompt_messages(&mut frame);
        Ok(frame)
    }

    /// A text that no input takes becomes the script's `content` if the script mentions that,
    /// otherwise one more message of the user.
    fn assign_unbound_arg(&mut self, left: Option<Value>) {
        let Some(left) = left else { return };
        let speaks = |item: &Instruction| item.node.to_value().to_string().contains("content");
        let knows = self.manifest.inputs.iter().any(|input| input.name == "content")
            || self.manifest.body.iter().any(speaks)
            || self.manifest.functions.iter().any(|function| function.source.contains("content"));
        match knows && !self.values.args.contains_key("content") {
            true => {
                self.values.args.insert("content".to_owned(), left);
            }
            false => self.unbound_arg = Some(left),
        }
    }

    /// The script of a chat role.
    pub fn role_script(&self, role: &str) -> Option<String> {
        let script = self.manifest.roles().get(role)?.as_str()?.to_owned();
        Some(script)
    }
}

/// Adds `prompt.messages` to the dialogue.
pub fn add_prompt_messages(frame: &mut Frame) {
    let Some(Value::Array(messages)) = frame.values.prompt.shift_remove("messages") else { return };
    for message in messages {
        let role = message.get("role").and_then(Value::as_str).unwrap_or("user").to_owned();
        if let Some(content) = message.get("content") {
            frame.dialogue.push(instruction::message_from_value(&role, content));
        }
    }
}

fn take_map(config: &mut Map<String, Value>, key: &str) -> Map<String, Value> {
    match config.shift_remove(key) {
        Some(Value::Object(map)) => map,
        _ => Map::new(),
    }
}

impl ScriptRun {
    /// Runs a script from its first instruction to its end.
    pub fn run_frame<'a>(
        &'a mut self,
        frame: &'a mut Frame,
    ) -> BoxFuture<'a, Result<Value, ScriptFlow>> {
        Box::pin(async move {
            if self.depth >= DEEPEST {
                let name = quoted(frame.manifest.id());
                return Err(words::TOO_MANY_SCRIPTS
                    .with("most", DEEPEST)
                    .with("name", name)
                    .into());
            }
            self.depth += 1;
            let came = self.run_to_end(frame).await;
            self.depth -= 1;
            came
        })
    }

    async fn run_to_end(&mut self, frame: &mut Frame) -> Result<Value, ScriptFlow> {
        self.prepare(frame).await?;
        match self.run_body(frame).await {
            Ok(()) => self.finish(frame).await?,
            Err(ScriptFlow::Return(value)) => frame.values.latest = value,
            Err(ScriptFlow::Break | ScriptFlow::Continue) => {}
            Err(halt) => return Err(halt),
        }
        self.run_shutdown_tools(frame).await?;
        Ok(frame.values.latest.clone())
    }

    /// Sets up everything needed before the first instruction.
    pub async fn prepare(&mut self, frame: &mut Frame) -> Result<(), ScriptFlow> {
        if let Some(said) =
            frame.manifest.config.get("permissions").and_then(permission::ignored_setting_note)
        {
            self.emit_note(said);
        }
        self.report_unsupported_settings(frame);
        self.declare_functions(frame).await?;
        self.load_imports(frame).await?;
        self.add_declared_handlers(frame).await?;
        self.run_startup_tools(frame).await
    }

    /// Reports the settings that the current model cannot follow.
    fn report_unsupported_settings(&mut self, frame: &Frame) {
        if frame.values.option("SystemTemplate").is_some() {
            self.emit_note(words::TEMPLATE_OF_SERVER);
        }
        let patterns = match frame.manifest.config.get("modelPattern") {
            None | Some(Value::Null) => return,
            Some(Value::Array(list)) => list.iter().map(scope::text_of).collect(),
            Some(one) => vec![scope::text_of(one)],
        };
        let Some(model) = self.host.model_name() else { return };
        if !patterns.iter().any(|pattern| params::matches_model(pattern, &model)) {
            self.emit_note(
                words::OTHER_MODEL
                    .with("name", quoted(frame.manifest.id()))
                    .with("pattern", quoted(&patterns.join(", ")))
                    .with("model", quoted(&model)),
            );
        }
    }

    /// Runs the instructions of the script.
    pub async fn run_body(&mut self, frame: &mut Frame) -> Result<(), ScriptFlow> {
        let shape = frame.manifest.clone();
        for item in &shape.body {
            frame.file.clone_from(&item.file);
            self.run_instruction(frame, &item.node)
                .await
                .map_err(|halt| locate_halt(halt, item))?;
        }
        if let Some(extra) = frame.unbound_arg.take() {
            frame.dialogue.prologue_len.get_or_insert(frame.dialogue.messages.len());
            frame.dialogue.push(DialogueMessage::rendered("user", scope::text_of(&extra)));
        }
        Ok(())
    }

    /// Does the work that remains after the last instruction.
    async fn finish(&mut self, frame: &mut Frame) -> Result<(), ScriptFlow> {
        self.flush(frame).await?;
        let may = frame.values.flag("autoRunLLMIfPromptAvailable").unwrap_or(true);
        let last = frame.dialogue.messages.last();
        let asks = last.is_some_and(|line| line.role == "user" && line.replies.is_empty());
        let never = frame.dialogue.model_calls == 0
            && !frame.dialogue.messages.is_empty()
            && last.is_some_and(|line| line.replies.is_empty());
        if may && (asks || never) {
            self.answer(frame, &Map::new()).await?;
        }
        Ok(())
    }

    /// Counts an instruction against the limit.
    pub fn count_instruction(&mut self) -> Result<(), ScriptFlow> {
        self.steps += 1;
        match self.steps > MOST_STEPS {
            true => Err(words::TOO_MANY_STEPS.with("most", MOST_STEPS).into()),
            false => Ok(()),
        }
    }

    /// A script of an untrusted folder may contain messages, and nothing else.
    pub fn require_trust(&self, frame: &Frame, what: &str) -> Result<(), ScriptFlow> {
        match frame.manifest.origin.trusted {
            true => Ok(()),
            false => Err(words::UNTRUSTED
                .with("file", frame.manifest.origin.file.clone())
                .with("what", quoted(what))
                .into()),
        }
    }

    pub fn emit_note(&mut self, say: impl Into<LocalizedText>) {
        self.host.emit(ScriptEvent::Note(say.into()));
    }
}

/// The failure with the place of the instruction it came from.
pub fn locate_failure(failure: LocatedError, item: &Instruction) -> LocatedError {
    failure.or_location(&item.file, item.node.position)
}

fn locate_halt(halt: ScriptFlow, item: &Instruction) -> ScriptFlow {
    match halt {
        ScriptFlow::Failed(failure) => locate_failure(*failure, item).into(),
        other => other,
    }
}

/// The same for an instruction inside a block.
pub fn locate_in_block(halt: ScriptFlow, frame: &Frame, node: &ScriptNode) -> ScriptFlow {
    match halt {
        ScriptFlow::Failed(failure) => failure.or_location(&frame.file, node.position).into(),
        other => other,
    }
}
