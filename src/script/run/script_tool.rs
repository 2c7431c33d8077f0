//! A tool that a script offers to its model: a script, or one of the program's own tools; and the
//! results of its calls.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::super::error::{ScriptResult, quoted};
use super::super::host::ScriptHost;
use super::super::manifest::Manifest;
use super::super::manifest::input::ScriptArgs;
use super::super::permission::CallNames;
use super::super::source::ScriptLibrary;
use super::super::tool_protocol::{ParsedToolCall, ToolHelp};
use super::builtin_tools::{self, BuiltinTool};
use super::frame::{Frame, ScriptRun, not_allowed_error};
use super::scope::{merge, texts_of};
use avocet_core::i18n::{LocalizedText, script_run as phrases};
use avocet_core::protocol::Message;

/// Longest result of one call sent to the model, in characters.
const MAX_LENGTH: usize = 20_000;
/// Triggers of a tool that does not wait for a call of the model.
pub const AFTER_USER: &str = "AfterUserMessage";
pub const KEYWORD: &str = "Keyword";

/// A tool the model may call.
#[derive(Clone, Debug)]
pub struct ScriptTool {
    pub id: String,
    pub title: String,
    pub defaults: Map<String, Value>,
    pub triggers: Vec<String>,
    pub keywords: Vec<String>,
    pub kind: ToolKind,
}

/// The kind of a tool.
#[derive(Clone, Debug)]
pub enum ToolKind {
    Script(Arc<Manifest>),
    /// One of the program's own tools.
    Builtin(&'static BuiltinTool),
}

/// The calls made for one answer, and their results, a line each.
#[derive(Clone, Debug, Default)]
pub struct Results {
    pub calls: Vec<String>,
    results: Vec<String>,
}

impl ToolKind {
    /// The tool of a name; a script takes precedence.
    pub fn find(frame: &Frame, library: &ScriptLibrary, name: &str) -> ScriptResult<ToolKind> {
        match (frame.find_script(library, name), builtin_tools::find(name)) {
            (Err(halt), Some(own)) if halt.is_not_found() => Ok(ToolKind::Builtin(own)),
            (found, _) => found.map(ToolKind::Script),
        }
    }

    pub fn is_sealed(&self) -> bool {
        matches!(self, ToolKind::Script(shape) if shape.origin.is_sealed)
    }

    /// The names a rule may know it by; `written` is the one of the call.
    pub fn call_names(&self, written: &str) -> CallNames {
        match self {
            ToolKind::Script(shape) => shape.call_names(written, []),
            ToolKind::Builtin(own) => own.call_names(written),
        }
    }

    /// The question of the permissions that is to be answered now. That of a step is asked with
    /// the step, so that it is one question.
    pub async fn confirm_call(
        &self,
        host: &mut dyn ScriptHost,
        id: &str,
        question: Option<LocalizedText>,
    ) -> ScriptResult<Option<LocalizedText>> {
        match (self, question) {
            (ToolKind::Script(_), Some(question)) => {
                if host.confirm(question).await {
                    Ok(None)
                } else {
                    Err(not_allowed_error(id))
                }
            }
            (_, question) => Ok(question),
        }
    }

    /// Runs it on behalf of scripts with these permissions.
    pub async fn run(
        &self,
        run: &mut ScriptRun,
        callers: &[Arc<Value>],
        args: ScriptArgs,
        text: Option<LocalizedText>,
    ) -> ScriptResult<Value> {
        match self {
            ToolKind::Builtin(own) => own.run(run, &args.named, text).await,
            ToolKind::Script(shape) => {
                Box::pin(run.run_manifest(callers, shape.clone(), args)).await
            }
        }
    }
}

impl Results {
    /// A call as the model would have written it, without hidden parameters.
    pub fn add_call(&mut self, tool: &ScriptTool, args: &Map<String, Value>) {
        let shown = tool.help().shown_args(args).into_iter();
        let shown = shown.map(|(name, value)| (Some(name), value));
        self.calls.push(ParsedToolCall { id: tool.id.clone(), args: shown.collect() }.text());
    }

    pub fn add_result(&mut self, tool: &ScriptTool, args: &Map<String, Value>, value: &Value) {
        let line = tool.help().result_line(args, value);
        self.results.push(line.chars().take(MAX_LENGTH).collect());
    }

    pub fn messages(&self) -> [Message; 2] {
        [Message::assistant(self.calls.join("\n")), Message::user(self.results.join("\n"))]
    }
}

impl ScriptTool {
    /// The arguments of a call, completed with those the calling script adds.
    pub fn complete_args(&self, given: Map<String, Value>) -> Map<String, Value> {
        let mut args = self.defaults.clone();
        merge(&mut args, given);
        args
    }

    /// As the model sees it: the calling script's defaults take precedence.
    pub fn help(&self) -> ToolHelp {
        let id = self.id.clone();
        let title = self.title.clone();

        match &self.kind {
            ToolKind::Builtin(own) => own.help(&title, &self.defaults),
            ToolKind::Script(shape) => ToolHelp { id, title, params: shape.params(&self.defaults) },
        }
    }

    pub fn has_trigger(&self, event: &str) -> bool {
        self.triggers.iter().any(|known| known.eq_ignore_ascii_case(event))
    }

    pub fn matches_keyword(&self, said: &str) -> bool {
        self.has_trigger(KEYWORD) && self.keywords.iter().any(|word| said.contains(word))
    }

    /// The model decides when it runs.
    pub fn is_model_callable(&self) -> bool {
        let free = self.triggers.is_empty() || self.has_trigger("AI") || self.has_trigger("Auto");
        free && !self.has_trigger(AFTER_USER)
    }
}

pub fn script_tool(
    manifest: Arc<Manifest>,
    about: &Value,
    defaults: Map<String, Value>,
) -> ScriptResult<ScriptTool> {
    let own = manifest.text_setting("title").or(manifest.text_setting("description"));
    let title = about.get("title").and_then(Value::as_str).or(own);
    let Some(title) = title.map(|title| title.lines().next().unwrap_or("").to_owned()) else {
        return Err(phrases::TOOL_NO_TITLE.with("name", quoted(manifest.id())).into());
    };
    let list = |key: &str| texts_of(about.get(key).or(manifest.config.get(key)));
    let triggers = list("trigger");
    let keywords = list("keywords");

    let id = manifest.id().to_owned();
    Ok(ScriptTool { id, title, defaults, triggers, keywords, kind: ToolKind::Script(manifest) })
}

pub fn builtin_tool(
    tool: &'static BuiltinTool,
    about: &Value,
    defaults: Map<String, Value>,
) -> ScriptTool {
    let title = about.get("title").and_then(Value::as_str).unwrap_or(tool.title);
    ScriptTool {
        id: tool.id.to_owned(),
        title: title.to_owned(),
        defaults,
        triggers: Vec::new(),
        keywords: Vec::new(),
        kind: ToolKind::Builtin(tool),
    }
}
