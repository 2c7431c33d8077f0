//! Tools by text: lists the available scripts for the model, runs the calls it names, and lets it
//! answer with their results. Any model can do that.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::super::fault::quoted;
use super::super::manifest::input::ScriptArgs;
use super::super::manifest::{Export, ImportKind, Manifest};
use super::super::tool_protocol::{self, Param, ParsedToolCall, ToolHelp};
use super::answer::{CallOptions, ModelReply};
use super::arguments::ArgValues;
use super::builtin_tools::{self, BuiltinTool};
use super::dialogue::SystemParts;
use super::frame::{Frame, ScriptFlow, ScriptResult, ScriptRun};
use super::scope::{merge, text_of};
use super::tool_schedule::ToolSchedule;
use crate::i18n::script_run as words;
use crate::protocol::Message;

/// Maximum number of tools of one script, and of calls in one reply.
const MOST_TOOLS: usize = 100;
pub const MOST_CALLS: usize = 20;
/// Longest result of one call sent to the model, in characters.
const LONGEST: usize = 20_000;

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
    calls: Vec<String>,
    results: Vec<String>,
}

/// The script events at which a tool can run without a call of the model.
const STARTUP: &str = "AtStartup";
const SHUTDOWN: &str = "BeforeShutdown";
const AFTER_USER: &str = "AfterUserMessage";
const AFTER_AI: &str = "AfterAIResponse";
const KEYWORD: &str = "Keyword";
const MEMORY: &str = "MemoryChanged";

/// A change of the values a script remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryEvent {
    Added,
    Updated,
    Removed,
}

impl MemoryEvent {
    fn event(self) -> &'static str {
        match self {
            MemoryEvent::Added => "MemoryAdded",
            MemoryEvent::Updated => "MemoryUpdated",
            MemoryEvent::Removed => "MemoryRemoved",
        }
    }

    /// The language's names of the operations.
    fn operation(self) -> &'static str {
        match self {
            MemoryEvent::Added => "新增",
            MemoryEvent::Updated => "修改",
            MemoryEvent::Removed => "删除",
        }
    }
}

impl Results {
    /// A call as the model would have written it, without hidden parameters.
    pub fn add_call(&mut self, tool: &ScriptTool, args: &Map<String, Value>) {
        let help = tool.help();
        let shown = args.iter().filter(|(name, _)| {
            !help.params.iter().any(|it| it.name == **name && it.is_hidden_in_result())
        });
        let shown = shown.map(|(name, value)| (Some(name.clone()), value.clone()));
        self.calls.push(ParsedToolCall { id: tool.id.clone(), args: shown.collect() }.text());
    }

    pub fn add_result(&mut self, tool: &ScriptTool, args: &Map<String, Value>, value: &Value) {
        let line = tool.help().result_line(args, value);
        self.results.push(line.chars().take(LONGEST).collect());
    }

    fn messages(&self) -> [Message; 2] {
        [Message::assistant(self.calls.join("\n")), Message::user(self.results.join("\n"))]
    }
}

impl ScriptRun {
    /// Answers the user's last message with the help of tools; `None` if the model calls none, or
    /// if there are none.
    pub async fn answer_with_tools(
        &mut self,
        frame: &mut Frame,
        end: usize,
    ) -> ScriptResult<Option<ModelReply>> {
        let asked = end.checked_sub(1).and_then(|at| frame.dialogue.messages.get(at));
        let Some(said) = asked.filter(|line| line.role == "user").map(|line| line.text()) else {
            return Ok(None);
        };
        let tools = self.list_tools(frame, &said).await?;
        if tools.is_empty() {
            return Ok(None);
        }
        let mut done = Results::default();
        for tool in
            tools.iter().filter(|tool| tool.has_trigger(AFTER_USER) || tool.matches_keyword(&said))
        {
            let mut args = Map::new();
            args.insert("message".to_owned(), Value::from(said.as_str()));
            if tool.has_trigger(KEYWORD) {
                let keyword = tool.keywords.iter().find(|word| said.contains(*word));
                args.insert("keyword".to_owned(), keyword.cloned().into());
            }
            self.run_tool(frame, tool, args, &mut done).await?;
        }
        let free: Vec<&ScriptTool> = tools.iter().filter(|tool| tool.is_model_callable()).collect();
        let mode = ToolSchedule::from_settings(frame)?;
        for _ in 0..mode.rounds {
            if free.is_empty() {
                break;
            }
            let wanted = self.request_calls(frame, end, &free, mode, &done).await?;
            if wanted.is_empty() {
                break;
            }
            self.run_calls(frame, &free, &wanted, mode.at_once, &mut done).await?;
        }
        if done.calls.is_empty() {
            return Ok(None);
        }
        let mut sent = self.model_messages(frame, end, None, &SystemParts::default());
        sent.extend(done.messages());
        Ok(Some(self.complete(frame, sent, CallOptions::default()).await?))
    }

    /// Asks the model which calls it needs.
    async fn request_calls(
        &mut self,
        frame: &mut Frame,
        end: usize,
        tools: &[&ScriptTool],
        mode: ToolSchedule,
        done: &Results,
    ) -> ScriptResult<Vec<ParsedToolCall>> {
        let mut sent: Vec<Message> = self.model_messages(frame, end, None, &SystemParts::default());
        sent.retain(|message| message.role != crate::protocol::Role::System);
        sent.insert(0, Message::system(tools_prompt(tools, mode)));
        if !done.calls.is_empty() {
            sent.extend(done.messages());
        }
        let wish = CallOptions { quiet: true, ..CallOptions::default() };
        let reply = self.complete(frame, sent, wish).await?;
        // This auxiliary call does not count as an answer of the script.
        frame.dialogue.model_calls = frame.dialogue.model_calls.saturating_sub(1);
        let mut wanted =
            tool_protocol::parse_calls(&reply.text, |id| tools.iter().any(|tool| tool.id == id));
        wanted.truncate(mode.calls);
        Ok(wanted)
    }

    /// Runs one tool, and records its result.
    pub async fn run_tool(
        &mut self,
        frame: &mut Frame,
        tool: &ScriptTool,
        given: Map<String, Value>,
        done: &mut Results,
    ) -> ScriptResult {
        let args = tool.complete_args(given);
        done.add_call(tool, &args);
        // A forbidden call is not retried in another way: it ends the script.
        self.check_permission(frame, &tool.id, &args).await?;
        let came = match &tool.kind {
            ToolKind::Builtin(own) => self.run_builtin_tool(own, &args).await,
            ToolKind::Script(shape) => {
                let args = ScriptArgs { positional: Vec::new(), named: args.clone() };
                Box::pin(self.run_manifest(frame, shape.clone(), args)).await
            }
        };
        let value = self.result_value(tool, came)?;
        done.add_result(tool, &args, &value);
        Ok(())
    }

    /// The result as the model reads it: the value, or the error.
    pub fn result_value(
        &mut self,
        tool: &ScriptTool,
        came: ScriptResult<Value>,
    ) -> ScriptResult<Value> {
        match came {
            Ok(value) => Ok(value),
            Err(ScriptFlow::Failed(failure)) => {
                let why = failure.message.clone();
                self.emit_note(words::TOOL_FAILED.with("name", tool.id.clone()).with("why", why));
                Ok(Value::String(format!("error: {}", failure.message)))
            }
            Err(halt) => Err(halt),
        }
    }

    /// Runs the tools that are notified of an answer.
    pub async fn run_after_answer_tools(&mut self, frame: &mut Frame, text: &str) -> ScriptResult {
        self.run_event_tools(frame, &[AFTER_AI], || json!({ "message": text })).await
    }

    /// Runs the tools that are notified when a value is remembered, changed or forgotten.
    pub async fn run_memory_tools(
        &mut self,
        frame: &mut Frame,
        what: MemoryEvent,
        memory: Value,
    ) -> ScriptResult {
        let args = || json!({ "memory": memory, "operation": what.operation() });
        self.run_event_tools(frame, &[MEMORY, what.event()], args).await
    }

    /// The tools of a script, as its settings name them.
    async fn list_tools(&mut self, frame: &mut Frame, said: &str) -> ScriptResult<Vec<ScriptTool>> {
        let Some(wanted) = frame.manifest.config.get("tools").cloned() else {
            return Ok(Vec::new());
        };
        self.require_trust(frame, "tools")?;
        let mut out = Vec::new();
        for (id, about) in tool_entries(&wanted) {
            if let Some(route) = id.strip_prefix('$') {
                let defaults = about.get("globalDefaults").or(about.get("defaults")).cloned();
                let args = vec![Value::from(said), defaults.unwrap_or(Value::Null)];
                let passed = ArgValues::from(args);
                let listed = Box::pin(self.call_function(frame, route, passed)).await?;
                for (id, about) in tool_entries(&listed.unwrap_or(Value::Null)) {
                    self.add_tool(frame, &id, &about, &Map::new(), &mut out)?;
                }
                continue;
            }
            self.add_tool(frame, &id, &about, &Map::new(), &mut out)?;
        }
        Ok(out)
    }

    /// One entry: a script, or every script of a toolset.
    fn add_tool(
        &self,
        frame: &Frame,
        id: &str,
        about: &Value,
        over: &Map<String, Value>,
        out: &mut Vec<ScriptTool>,
    ) -> ScriptResult {
        if out.len() >= MOST_TOOLS {
            return Err(words::TOO_MANY_TOOLS.with("most", MOST_TOOLS).into());
        }
        let mut defaults = over.clone();
        if let Some(Value::Object(own)) = about.get("defaults") {
            merge(&mut defaults, own.clone());
        }
        let shape = match (self.find_script(frame, id), builtin_tools::find(id)) {
            (Ok(shape), _) => shape,
            // A script of that name takes precedence.
            (Err(halt), Some(own)) if is_not_found(&halt) => {
                out.push(builtin_tool(own, about, defaults));
                return Ok(());
            }
            (Err(halt), _) => return Err(halt),
        };
        if let Some(exports) = &shape.exports {
            // The toolset's own settings are the weakest defaults.
            let mut weak: Map<String, Value> = shape
                .inputs
                .iter()
                .filter_map(|it| Some((it.name.clone(), shape.config.get(&it.name)?.clone())))
                .collect();
            if let Some(Value::Object(own)) = shape.config.get("defaults") {
                merge(&mut weak, own.clone());
            }
            merge(&mut weak, defaults);
            let folder = shape.origin.folder.clone();
            for export in exports {
                if let Export::Import(import) = export
                    && let ImportKind::Script(name) = &import.kind
                {
                    let source = self.library.find(name, &folder)?;
                    let inner = Arc::new(Manifest::load(source, &self.library)?);
                    out.push(script_tool(inner, &Value::Null, weak.clone())?);
                }
            }
            return Ok(());
        }
        out.push(script_tool(shape, about, defaults)?);
        Ok(())
    }

    /// Runs the tools of the startup event.
    pub async fn run_startup_tools(&mut self, frame: &mut Frame) -> ScriptResult {
        if frame.values.flag("concurrent_answer") == Some(true) {
            self.emit_note(words::ANSWER_WAITS);
        }
        let args = Value::Object(frame.values.args.clone());
        self.run_event_tools(frame, &[STARTUP], || args).await
    }

    /// Runs the tools of the shutdown event.
    pub async fn run_shutdown_tools(&mut self, frame: &mut Frame) -> ScriptResult {
        let args = Value::Object(frame.values.args.clone());
        self.run_event_tools(frame, &[SHUTDOWN], || args).await
    }

    /// Runs the tools that are registered for one of these events.
    async fn run_event_tools(
        &mut self,
        frame: &mut Frame,
        events: &[&str],
        args: impl FnOnce() -> Value,
    ) -> ScriptResult {
        let Some(wanted) = frame.manifest.config.get("tools").cloned() else { return Ok(()) };
        // A route lists tools for the model to choose from; a missing one is reported when it is
        // used.
        let mut tools = Vec::new();
        for (id, about) in tool_entries(&wanted).iter().filter(|(id, _)| !id.starts_with('$')) {
            drop(self.add_tool(frame, id, about, &Map::new(), &mut tools));
        }
        tools.retain(|tool| events.iter().any(|event| tool.has_trigger(event)));
        if tools.is_empty() {
            return Ok(());
        }
        self.require_trust(frame, "tools")?;
        let args = args();
        for tool in &tools {
            let given = args.as_object().cloned().unwrap_or_default();
            self.run_tool(frame, tool, given, &mut Results::default()).await?;
        }
        Ok(())
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
        let shape = match &self.kind {
            ToolKind::Builtin(own) => return own.help(Some(&self.title)),
            ToolKind::Script(shape) => shape,
        };
        let params = shape.inputs.iter().map(|input| {
            let set = self.defaults.get(&input.name).or(shape.config.get(&input.name));
            Param {
                name: input.name.clone(),
                required: input.required,
                default: set.or(input.default.as_ref()).cloned(),
                about: input.about.clone(),
            }
        });
        ToolHelp { id: self.id.clone(), title: self.title.clone(), params: params.collect() }
    }

    fn has_trigger(&self, event: &str) -> bool {
        self.triggers.iter().any(|known| known.eq_ignore_ascii_case(event))
    }

    fn matches_keyword(&self, said: &str) -> bool {
        self.has_trigger(KEYWORD) && self.keywords.iter().any(|word| said.contains(word))
    }

    /// The model decides when it runs.
    fn is_model_callable(&self) -> bool {
        let free = self.triggers.is_empty() || self.has_trigger("AI") || self.has_trigger("Auto");
        free && !self.has_trigger(AFTER_USER)
    }
}

fn script_tool(
    shape: Arc<Manifest>,
    about: &Value,
    defaults: Map<String, Value>,
) -> ScriptResult<ScriptTool> {
    let own = shape.text_setting("title").or(shape.text_setting("description"));
    let title = about.get("title").and_then(Value::as_str).or(own);
    let Some(title) = title.map(|title| title.lines().next().unwrap_or("").to_owned()) else {
        return Err(words::TOOL_NO_TITLE.with("name", quoted(shape.id())).into());
    };
    let list = |key: &str| match about.get(key).or(shape.config.get(key)) {
        Some(Value::Array(items)) => items.iter().map(text_of).collect(),
        Some(Value::Null) | None => Vec::new(),
        Some(one) => vec![text_of(one)],
    };
    let (triggers, keywords) = (list("trigger"), list("keywords"));
    let id = shape.id().to_owned();
    Ok(ScriptTool { id, title, defaults, triggers, keywords, kind: ToolKind::Script(shape) })
}

/// The name does not exist; an error inside a script would have a place.
pub fn is_not_found(halt: &ScriptFlow) -> bool {
    matches!(halt, ScriptFlow::Failed(failure) if failure.location.is_none())
}

fn builtin_tool(
    own: &'static BuiltinTool,
    about: &Value,
    defaults: Map<String, Value>,
) -> ScriptTool {
    let title = about.get("title").and_then(Value::as_str);
    let help = own.help(title);
    ScriptTool {
        id: own.id.to_owned(),
        title: help.title,
        defaults,
        triggers: Vec::new(),
        keywords: Vec::new(),
        kind: ToolKind::Builtin(own),
    }
}

/// `tools` as pairs of an ID and its settings.
fn tool_entries(wanted: &Value) -> Vec<(String, Value)> {
    match wanted {
        Value::String(id) => vec![(id.clone(), Value::Null)],
        Value::Array(items) => items.iter().flat_map(tool_entry).collect(),
        Value::Object(map) => map.iter().map(|(id, about)| (id.clone(), about.clone())).collect(),
        _ => Vec::new(),
    }
}

fn tool_entry(item: &Value) -> Vec<(String, Value)> {
    match item {
        Value::String(id) => vec![(id.clone(), Value::Null)],
        Value::Object(map) => match map.get("id").and_then(Value::as_str) {
            Some(id) => vec![(id.to_owned(), item.clone())],
            None => map.iter().map(|(id, about)| (id.clone(), about.clone())).collect(),
        },
        _ => Vec::new(),
    }
}

/// The description of the tools for the model.
fn tools_prompt(tools: &[&ScriptTool], mode: ToolSchedule) -> String {
    let helps: Vec<ToolHelp> = tools.iter().map(|tool| tool.help()).collect();
    format!(
        concat!(
            "You can have these tools run before you answer:\n\n{}\n\n",
            "Read the conversation. If tools are needed to answer its last message, reply with the ",
            "calls alone, one `@id(param=value, ...)` on each line, strings in double quotes, and ",
            "nothing else. {} If none is needed, reply with `none`.",
        ),
        tool_protocol::tools_help(&helps),
        mode.instruction
    )
}
