//! Runs scripts: executes the instructions, keeps the dialogue, calls models, other scripts and
//! functions. The meaning of texts and values is defined here; everything outside comes from the
//! [`ScriptHost`].

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};

use super::check::settings::setting_faults;
use super::directive::ask_missing_inputs;
use super::error::{LocatedError, ScriptFlow, ScriptResult, quoted};
use super::host::{ScriptEvent, ScriptHost};
use super::manifest::Manifest;
use super::manifest::input::ScriptArgs;
use super::permission;
use super::source::ScriptLibrary;
use avocet_core::i18n::{Localize, script_run as phrases};
use events::add_declared_handlers;
use expression::ExpressionCache;
use frame::{Frame, ScriptRun};
use import::load_imports;
use js::declare_functions;
use limits::RunLimits;
use tools::{run_shutdown_tools, run_startup_tools};
use unread_args::report_unread_args;

mod answer;
pub mod arguments;
pub mod builtin_tools;
mod calls;
mod chain;
pub mod dialogue;
mod eval;
mod events;
mod expression;
mod fill_placeholders;
pub mod frame;
mod import;
mod instruction;
mod js;
pub mod limits;
mod model_call;
pub mod modules;
mod multi_role;
pub mod params;
mod reasoning;
mod render;
pub mod scope;
mod script_tool;
mod shared_host;
mod tool_schedule;
pub mod tools;
mod unread_args;

pub use builtin_tools::{builtin_tools, is_builtin_tool};
use dialogue::DialogueMessage;
pub use eval::single_interpolation;

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
    /// The user is asked for required inputs that are missing.
    pub asks_inputs: bool,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunResult {
    pub value: Value,
    /// Role and text of each visible message of the dialogue.
    pub visible: Vec<(String, String)>,
}

/// Finds a script and runs it.
pub async fn run(
    request: RunRequest,
    library: ScriptLibrary,
    host: Box<dyn ScriptHost>,
) -> Result<RunResult, LocatedError> {
    let source = library.find_typed(&request.script, &request.from)?;
    let is_sealed = source.origin.is_sealed;
    let shape = Manifest::load(source, &library).map_err(|error| error.concealed(is_sealed))?;
    let shape = Arc::new(shape);
    let limits = RunLimits::new(host.budget());
    let expressions = ExpressionCache::default();
    let mut run = ScriptRun { host, library, limits, streams: request.streams, expressions };
    let args = if request.asks_inputs {
        ask_missing_inputs(run.host.as_mut(), &shape, request.args).await
    } else {
        request.args
    };
    report_unread_args(run.host.as_mut(), &shape, &args);
    let mut frame = Frame::new(shape, args, &[])?;
    let value = match run.run_frame(&mut frame).await {
        Ok(value) | Err(ScriptFlow::Exit(value) | ScriptFlow::Return(value)) => value,
        Err(ScriptFlow::Failed(failure)) => return Err(failure.concealed(run.host.is_sealed())),
        Err(ScriptFlow::Break | ScriptFlow::Continue) => Value::Null,
    };
    let mut visible = Vec::new();
    for line in frame.dialogue.visible().filter(|_| !run.host.is_sealed()) {
        visible.push((line.role.clone(), line.text()));
        visible.extend(line.replies.iter().cloned());
    }
    Ok(RunResult { value, visible })
}

impl ScriptRun {
    /// Runs a script from its first instruction to its end.
    pub fn run_frame<'a>(&'a mut self, frame: &'a mut Frame) -> BoxFuture<'a, ScriptResult<Value>> {
        Box::pin(async move {
            self.limits.enter(frame.manifest.id())?;
            let came = run_to_end(self, frame).await;
            self.limits.leave();
            // What happens after the last instruction, as an automatic answer, belongs to it.
            came.map_err(|halt| halt.or_location(&frame.file, frame.position))
        })
    }

    /// Sets up everything needed before the first instruction.
    pub async fn prepare(&mut self, frame: &mut Frame) -> ScriptResult {
        if frame.manifest.origin.is_sealed {
            self.host.seal();
        }
        if frame.manifest.origin.trusted {
            let environment = Value::Object(self.host.environment());
            frame.values.constants.insert("env".to_owned(), environment);
        }
        for fault in
            setting_faults(&frame.manifest).iter().filter(|_| self.limits.is_first_script())
        {
            self.host.emit_note(fault.localized());
        }
        report_unsupported_settings(self.host.as_mut(), frame);
        declare_functions(self, frame).await?;
        load_imports(self, frame).await?;
        add_declared_handlers(self, frame).await?;
        run_startup_tools(self, frame).await
    }

    /// Runs the instructions of the script.
    pub async fn run_body(&mut self, frame: &mut Frame) -> ScriptResult {
        let shape = frame.manifest.clone();
        for item in &shape.body {
            frame.file.clone_from(&item.file);
            frame.position = item.node.position;
            let came = self.run_instruction(frame, &item.node).await;
            came.map_err(|halt| halt.or_location(&item.file, item.node.position))?;
        }
        if let Some(extra) = frame.unbound_arg.take() {
            frame.dialogue.prologue_len.get_or_insert(frame.dialogue.messages.len());
            let text = scope::text_of(&extra);
            self.host.emit(ScriptEvent::Message("user".to_owned(), text.clone()));
            frame.dialogue.push(DialogueMessage::rendered("user", text));
        }
        Ok(())
    }

    /// Runs the instructions of the script without the automatic answer.
    pub async fn run_without_answer(&mut self, frame: &mut Frame) -> ScriptResult {
        match self.run_body(frame).await {
            Ok(()) | Err(ScriptFlow::Return(_) | ScriptFlow::Break | ScriptFlow::Continue) => {}
            Err(halt) => return Err(halt),
        }
        self.flush(frame).await
    }

    /// A script that has run its own part, and now waits for messages.
    pub fn start_agent<'a>(
        &'a mut self,
        frame: &'a Frame,
        manifest: Arc<Manifest>,
        args: ScriptArgs,
    ) -> BoxFuture<'a, ScriptResult<Frame>> {
        Box::pin(async move {
            let mut agent = Frame::new(manifest, args, &frame.permissions)?;
            self.limits.enter(agent.manifest.id())?;
            let came = run_as_agent(self, &mut agent).await;
            self.limits.leave();
            came.map(|()| agent)
        })
    }
}

async fn run_as_agent(run: &mut ScriptRun, frame: &mut Frame) -> ScriptResult {
    run.prepare(frame).await?;
    run.run_without_answer(frame).await
}

async fn run_to_end(run: &mut ScriptRun, frame: &mut Frame) -> ScriptResult<Value> {
    run.prepare(frame).await?;
    match run.run_body(frame).await {
        Ok(()) => finish(run, frame).await?,
        Err(ScriptFlow::Return(value)) => frame.values.latest = value,
        Err(ScriptFlow::Break | ScriptFlow::Continue) => {}
        Err(halt) => return Err(halt),
    }
    run_shutdown_tools(run, frame).await?;
    Ok(frame.values.latest.clone())
}

/// Reports the settings without effect, among them those the current model cannot follow.
fn report_unsupported_settings(host: &mut dyn ScriptHost, frame: &Frame) {
    let permissions = frame.manifest.config.get("permissions");
    if let Some(said) = permissions.and_then(permission::ignored_setting_note) {
        host.emit_note(said);
    }
    if frame.values.option("SystemTemplate").is_some() {
        host.emit_note(phrases::TEMPLATE_OF_SERVER);
    }
    let patterns = scope::texts_of(frame.manifest.config.get("modelPattern"));
    let Some(model) = host.model_name() else { return };
    if !patterns.is_empty()
        && !patterns.iter().any(|pattern| params::matches_model(pattern, &model))
    {
        host.emit_note(
            phrases::OTHER_MODEL
                .with("name", quoted(frame.manifest.id()))
                .with("pattern", quoted(&patterns.join(", ")))
                .with("model", quoted(&model)),
        );
    }
}

/// Does the work that remains after the last instruction.
async fn finish(run: &mut ScriptRun, frame: &mut Frame) -> ScriptResult {
    run.flush(frame).await?;
    let may = frame.values.flag("autoRunLLMIfPromptAvailable").unwrap_or(true);
    let last = frame.dialogue.messages.last();
    let asks = last.is_some_and(|line| line.role == "user" && line.replies.is_empty());
    let never = frame.dialogue.model_calls == 0
        && !frame.dialogue.messages.is_empty()
        && last.is_some_and(|line| line.replies.is_empty());
    if may && (asks || never) {
        run.answer(frame, &Map::new()).await?;
    } else if !may
        && frame.values.latest.is_null()
        && let Some(last) = frame.dialogue.messages.last()
    {
        // Without an answer, the last instruction is all that has a value.
        frame.values.latest = Value::String(last.text());
    }
    Ok(())
}
