//! Runs scripts: executes the instructions, keeps the dialogue, calls models, other scripts and
//! functions. The meaning of texts and values is defined here; everything outside comes from the
//! [`ScriptHost`].

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};

use super::failure::LocatedError;
use super::fault::quoted;
use super::host::ScriptHost;
use super::manifest::Manifest;
use super::manifest::input::ScriptArgs;
use super::permission;
use super::source::ScriptLibrary;
use crate::i18n::script_run as words;
use frame::{Frame, ScriptFlow, ScriptResult, ScriptRun, locate_halt};

mod answer;
pub mod arguments;
mod builtin_tools;
mod calls;
mod chain;
pub mod dialogue;
mod eval;
mod events;
mod fill_placeholders;
pub mod frame;
mod import;
mod instruction;
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

use dialogue::DialogueMessage;

/// Deepest nesting of scripts that call each other.
const DEEPEST: usize = 16;
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

impl ScriptRun {
    /// Runs a script from its first instruction to its end.
    pub fn run_frame<'a>(&'a mut self, frame: &'a mut Frame) -> BoxFuture<'a, ScriptResult<Value>> {
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

    async fn run_to_end(&mut self, frame: &mut Frame) -> ScriptResult<Value> {
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
    pub async fn prepare(&mut self, frame: &mut Frame) -> ScriptResult {
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
    pub async fn run_body(&mut self, frame: &mut Frame) -> ScriptResult {
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
    async fn finish(&mut self, frame: &mut Frame) -> ScriptResult {
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
}
