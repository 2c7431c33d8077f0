//! Tools by text: lists the available scripts for the model, runs the calls it names, and lets it
//! answer with their results. Any model can do that.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};

use super::super::error::{ScriptResult, SourcePosition, quoted};
use super::super::manifest::{Export, ImportKind, Manifest, key_location};
use super::super::settings::find_setting;
use super::super::source::ScriptLibrary;
use super::super::tool_protocol::{self, ParsedToolCall, ToolHelp};
use super::arguments::ArgValues;
use super::frame::{Callee, Frame, ScriptRun};
use super::import::start_toolset;
use super::limits::{MAX_ROUNDS, RunLimits, limit_error};
use super::model_call::{CallOptions, ReplyUse, ScriptReply, TRIES, complete, no_choice_error};
use super::scope::{merge, text_of};
use super::script_tool::{
    AFTER_USER, KEYWORD, Results, ScriptTool, ToolKind, builtin_tool, script_tool,
};
use super::tool_schedule::{
    ToolSchedule, bind_calls, result_value, run_calls, run_concurrently, run_tool, tool_jobs,
};
use avocet_core::i18n::script_run as phrases;
use avocet_core::protocol::{Message, Role};

/// Maximum number of tools of one script.
const MAX_TOOLS: usize = 100;

/// The result of a tool that has not ended, for the model.
const STILL_RUNNING: &str = "(still running; answer now, without its result)";

/// The script events at which a tool can run without a call of the model.
const STARTUP: &str = "AtStartup";
const SHUTDOWN: &str = "BeforeShutdown";
const AFTER_AI: &str = "AfterAIResponse";
const MEMORY: &str = "MemoryChanged";
const ADDED: &str = "MemoryAdded";
const UPDATED: &str = "MemoryUpdated";
const REMOVED: &str = "MemoryRemoved";

/// When a tool can run: when the model calls it, or at an event.
#[rustfmt::skip]
pub const TRIGGERS: &[&str] = &[
    "AI", AFTER_USER, AFTER_AI, KEYWORD, STARTUP, SHUTDOWN, MEMORY, ADDED, UPDATED, REMOVED,
];

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
            MemoryEvent::Added => ADDED,
            MemoryEvent::Updated => UPDATED,
            MemoryEvent::Removed => REMOVED,
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

/// What a model answers with the help of tools: it calls them until it has its answer.
pub struct ToolLoopInput {
    /// The message to answer; `None` if it is not the user's.
    pub said: Option<String>,
    /// Its place in the dialogue, if it has one.
    pub asked: Option<usize>,
    /// The messages for the model.
    pub sent: Vec<Message>,
    /// The start of the answer.
    pub begun: String,
}

impl ToolLoopInput {
    /// The last message of the dialogue above `end`, if it is the user's.
    pub fn about(frame: &Frame, end: usize, messages: &[Message], begun: &str) -> ToolLoopInput {
        let asked = end.checked_sub(1);
        let line = asked.and_then(|at| frame.dialogue.messages.get(at));
        let said = line.filter(|line| line.role == "user").map(|line| line.text());
        ToolLoopInput { said, asked, sent: messages.to_vec(), begun: begun.to_owned() }
    }
}

/// Answers the user's last message with the help of tools; `None` if the model calls none, or
/// if there are none.
pub async fn answer_with_tools(
    run: &mut ScriptRun,
    frame: &mut Frame,
    input: ToolLoopInput,
    options: &CallOptions,
) -> ScriptResult<Option<ScriptReply>> {
    let Some(said) = input.said.clone().filter(|_| !options.is_retry) else { return Ok(None) };
    let tools = list_tools(run, frame, &said).await?;
    if tools.is_empty() {
        return Ok(None);
    }
    let mut results = Results::default();
    for tool in
        tools.iter().filter(|tool| tool.has_trigger(AFTER_USER) || tool.matches_keyword(&said))
    {
        let mut args = Map::new();
        args.insert("message".to_owned(), Value::from(said.as_str()));
        if tool.has_trigger(KEYWORD) {
            let keyword = tool.keywords.iter().find(|word| said.contains(*word));
            args.insert("keyword".to_owned(), keyword.cloned().into());
        }
        run_tool(run, frame, tool, args, &mut results).await?;
    }
    let tools: Vec<&ScriptTool> = tools.iter().filter(|tool| tool.is_model_callable()).collect();
    let mode = ToolSchedule::from_settings(frame)?;
    let answers_meanwhile = frame.values.flag("concurrent_answer") == Some(true);
    for round in 0..mode.rounds {
        if tools.is_empty() {
            break;
        }
        let wanted = request_calls(run, frame, &input, &tools, mode, &results, options).await?;
        if wanted.is_empty() {
            break;
        }
        if answers_meanwhile {
            let calls = bind_calls(&tools, &wanted);
            let came = answer_meanwhile(run, frame, &input, calls, mode.at_once, results, options);
            return came.await.map(Some);
        }
        run_calls(run, frame, &tools, &wanted, mode.at_once, &mut results).await?;
        if round + 1 == MAX_ROUNDS {
            run.host.emit_note(phrases::TOOL_ROUNDS.with("most", MAX_ROUNDS));
        }
    }
    if results.calls.is_empty() {
        return Ok(None);
    }
    final_answer(run, frame, &input, &tools, mode, results, options).await.map(Some)
}

/// Runs the calls while the model answers without their results (`concurrent_answer`). Each result
/// follows the message that was answered, so that the model has it from the next answer on.
async fn answer_meanwhile(
    run: &mut ScriptRun,
    frame: &mut Frame,
    input: &ToolLoopInput,
    wanted: Vec<(&ScriptTool, Map<String, Value>)>,
    at_once: usize,
    mut results: Results,
    options: &CallOptions,
) -> ScriptResult<ScriptReply> {
    let jobs = tool_jobs(run, frame, wanted, &mut results).await?;
    for (tool, args, _) in &jobs {
        results.add_result(tool, args, &Value::from(STILL_RUNNING));
    }
    let mut sent = input.sent.clone();
    sent.extend(results.messages());
    if !input.begun.is_empty() {
        sent.push(Message::assistant(input.begun.clone()));
    }
    let streams = run.streams;
    let callers = frame.permissions.clone();
    let actor = &mut *frame;
    let answer = move |mut run: ScriptRun| {
        run.streams = streams;
        answer_beside(run, actor, sent, options.clone())
    };
    let (came, reply) = run_concurrently(run, callers, &jobs, at_once, answer).await;
    let reply = reply?;
    for ((tool, args, _), came) in jobs.iter().zip(came) {
        let value = result_value(run.host.as_mut(), tool, args, came)?;
        let line = input.asked.and_then(|at| frame.dialogue.messages.get_mut(at));
        line.into_iter().for_each(|line| line.replies.push((tool.id.clone(), text_of(&value))));
    }
    Ok(reply)
}

/// An answer of the model in a run of its own.
fn answer_beside(
    mut run: ScriptRun,
    frame: &mut Frame,
    sent: Vec<Message>,
    options: CallOptions,
) -> BoxFuture<'_, (ScriptResult<ScriptReply>, RunLimits)> {
    Box::pin(async move { (complete(&mut run, frame, sent, options).await, run.limits) })
}

/// The answer that is based on the results. Without a `run_mode` the model may name further calls
/// instead of it, which are run first.
async fn final_answer(
    run: &mut ScriptRun,
    frame: &mut Frame,
    input: &ToolLoopInput,
    tools: &[&ScriptTool],
    schedule: ToolSchedule,
    mut results: Results,
    options: &CallOptions,
) -> ScriptResult<ScriptReply> {
    let mut more = if tools.is_empty() { 0 } else { schedule.more_rounds };
    let mut tries = TRIES;
    loop {
        let mut sent = input.sent.clone();
        sent.extend(results.messages());
        if !input.begun.is_empty() {
            sent.push(Message::assistant(input.begun.clone()));
        }
        let reply_use = if more > 0 { ReplyUse::AnswerOrCalls } else { ReplyUse::Answer };
        let reply =
            complete(run, frame, sent, CallOptions { reply_use, ..options.clone() }).await?;
        if more == 0 || tool_protocol::is_answer(&reply.text) {
            let ask = options.choice.as_ref();
            let Some(ask) = ask.filter(|ask| ask.match_choices(&reply.text).is_none()) else {
                return Ok(reply);
            };
            tries -= 1;
            match tries {
                0 => return Err(no_choice_error(ask, &reply.text)),
                _ => continue,
            }
        }
        let wanted = parse_calls(&reply.text, tools, schedule);
        more = if wanted.is_empty() { 0 } else { more - 1 };
        if more == 0 && !wanted.is_empty() {
            run.host.emit_note(phrases::TOOL_ROUNDS.with("most", MAX_ROUNDS + 1));
        }
        frame.dialogue.model_calls = frame.dialogue.model_calls.saturating_sub(1);
        run_calls(run, frame, tools, &wanted, schedule.at_once, &mut results).await?;
    }
}

/// Asks the model which calls it needs.
async fn request_calls(
    run: &mut ScriptRun,
    frame: &mut Frame,
    input: &ToolLoopInput,
    tools: &[&ScriptTool],
    schedule: ToolSchedule,
    results: &Results,
    options: &CallOptions,
) -> ScriptResult<Vec<ParsedToolCall>> {
    let (system, mut sent): (Vec<Message>, Vec<Message>) =
        input.sent.iter().cloned().partition(|message| message.role == Role::System);
    let own = system.iter().map(|message| message.text().into_owned());
    let all: Vec<String> = own.chain([tools_prompt(tools, schedule)]).collect();
    sent.insert(0, Message::system(all.join("\n\n")));
    if !results.calls.is_empty() {
        sent.extend(results.messages());
    }
    let options = CallOptions { reply_use: ReplyUse::Internal, ..options.clone() };
    let reply = complete(run, frame, sent, options).await?;
    // This auxiliary call does not count as an answer of the script.
    frame.dialogue.model_calls = frame.dialogue.model_calls.saturating_sub(1);
    Ok(parse_calls(&reply.text, tools, schedule))
}

fn parse_calls(reply: &str, tools: &[&ScriptTool], schedule: ToolSchedule) -> Vec<ParsedToolCall> {
    let mut wanted = tool_protocol::parse_calls(reply, |id| tools.iter().any(|tool| tool.id == id));
    wanted.truncate(schedule.calls);
    wanted
}

/// Runs the tools that are notified of an answer.
pub async fn run_after_answer_tools(
    run: &mut ScriptRun,
    frame: &mut Frame,
    text: &str,
) -> ScriptResult {
    run_event_tools(run, frame, &[AFTER_AI], json!({ "message": text })).await
}

/// Runs the tools that are notified when a value is remembered, changed or forgotten.
pub async fn run_memory_tools(
    run: &mut ScriptRun,
    frame: &mut Frame,
    event: MemoryEvent,
    memory: Value,
) -> ScriptResult {
    let args = json!({ "memory": memory, "operation": event.operation() });
    run_event_tools(run, frame, &[MEMORY, event.event()], args).await
}

/// The tools of a script, as its settings name them.
async fn list_tools(
    run: &mut ScriptRun,
    frame: &mut Frame,
    said: &str,
) -> ScriptResult<Vec<ScriptTool>> {
    let Some(wanted) = frame.manifest.config.get("tools").cloned() else {
        return Ok(Vec::new());
    };
    frame.require_trust("tools")?;
    let mut out = Vec::new();
    for (id, about) in tool_entries(&wanted) {
        if let Some(route) = id.strip_prefix('$') {
            let defaults = about.get("globalDefaults").or(about.get("defaults")).cloned();
            let defaults = defaults.unwrap_or_default();
            let takes_object =
                matches!(frame.bindings.callee(route), Some(Callee::Js { takes_object: true, .. }));
            let passed = if takes_object {
                vec![json!({ "context": said, "globalDefaults": defaults })]
            } else {
                vec![Value::from(said), defaults]
            };
            let passed = ArgValues::from(passed);
            let listed = Box::pin(run.call_function(frame, route, passed)).await?;
            for (id, about) in tool_entries(&listed.unwrap_or_default()) {
                add_entry(run, frame, &id, &about, &mut out).await?;
            }
            continue;
        }
        add_entry(run, frame, &id, &about, &mut out).await?;
    }
    // A script that may not use one of its tools ends before it asks a model.
    for tool in &out {
        if tool.kind.is_sealed() {
            run.host.seal();
        }
        frame.check_usable(&tool.kind.call_names(&tool.id))?;
    }
    Ok(out)
}

/// One entry of the settings; a toolset is started the first time.
async fn add_entry(
    run: &mut ScriptRun,
    frame: &mut Frame,
    id: &str,
    about: &Value,
    tools: &mut Vec<ScriptTool>,
) -> ScriptResult {
    let added = add_tool(&run.library, frame, id, about, tools);
    let place = entry_position(&frame.manifest, id);
    let file = frame.manifest.origin.file.clone();
    let Some(started) = added.map_err(|halt| halt.or_location(&file, place))? else {
        return Ok(());
    };
    if frame.bindings.started_toolsets.insert(started.shape.origin.file.clone()) {
        for name in &started.functions {
            let toolset = quoted(started.shape.id());
            run.host.emit_note(
                phrases::TOOLSET_FUNCTION.with("name", quoted(name)).with("toolset", toolset),
            );
        }
        let came = start_toolset(run, frame, started.shape, started.defaults).await;
        came.map_err(|halt| halt.or_location(&file, place))?;
    }
    Ok(())
}

/// The place of an entry of `tools`.
fn entry_position(manifest: &Manifest, id: &str) -> SourcePosition {
    let tools = manifest.front_matter.get("tools");
    let place = tools.and_then(|tools| tools.find_name(id));
    place.unwrap_or_else(|| key_location(manifest, "tools").position)
}

/// A toolset that the settings name.
struct NamedToolset {
    shape: Arc<Manifest>,
    defaults: Map<String, Value>,
    /// Its exported functions, which cannot be tools.
    functions: Vec<String>,
}

/// One entry: a script, or every script of a toolset, which is returned.
fn add_tool(
    library: &ScriptLibrary,
    frame: &Frame,
    id: &str,
    about: &Value,
    tools: &mut Vec<ScriptTool>,
) -> ScriptResult<Option<NamedToolset>> {
    if tools.len() >= MAX_TOOLS {
        return Err(limit_error(phrases::TOO_MANY_TOOLS.with("most", MAX_TOOLS)));
    }
    let mut defaults = Map::new();
    if let Some(Value::Object(own)) = about.get("defaults") {
        merge(&mut defaults, own.clone());
    }
    let shape = match ToolKind::find(frame, library, id)? {
        ToolKind::Script(shape) => shape,
        ToolKind::Builtin(own) => {
            tools.push(builtin_tool(own, about, defaults));
            return Ok(None);
        }
    };
    if shape.exports.is_some() {
        return add_toolset(library, shape, defaults, tools).map(Some);
    }
    tools.push(script_tool(shape, about, defaults)?);
    Ok(None)
}

/// Every script of a toolset.
fn add_toolset(
    library: &ScriptLibrary,
    manifest: Arc<Manifest>,
    defaults: Map<String, Value>,
    tools: &mut Vec<ScriptTool>,
) -> ScriptResult<NamedToolset> {
    let weak = toolset_defaults(&manifest, &manifest, &defaults);
    let mut functions = Vec::new();
    for export in manifest.exports.iter().flatten() {
        match export {
            Export::Import(import) => {
                if let ImportKind::Script(name) = &import.kind {
                    let source = library.find(name, &manifest.origin.folder)?;
                    let inner = Arc::new(Manifest::load(source, library)?);
                    let mut given = weak.clone();
                    merge(&mut given, toolset_defaults(&manifest, &inner, &defaults));
                    tools.push(script_tool(inner, &Value::Null, given)?);
                }
            }
            Export::Function { name, alias } => {
                functions.push(alias.as_ref().unwrap_or(name).clone());
            }
            Export::Itself => {}
        }
    }
    Ok(NamedToolset { shape: manifest, defaults: weak, functions })
}

/// The defaults a toolset gives to the inputs of a script: its own settings are the weakest.
fn toolset_defaults(
    toolset: &Manifest,
    tool: &Manifest,
    defaults: &Map<String, Value>,
) -> Map<String, Value> {
    let names = tool.inputs.iter().map(|input| &input.name);
    let own = names.filter(|name| find_setting(name).is_none());
    let mut weak: Map<String, Value> =
        own.filter_map(|name| Some((name.clone(), toolset.config.get(name)?.clone()))).collect();
    if let Some(Value::Object(own)) = toolset.config.get("defaults") {
        merge(&mut weak, own.clone());
    }
    merge(&mut weak, defaults.clone());
    weak
}

/// Runs the tools of the startup event.
pub async fn run_startup_tools(run: &mut ScriptRun, frame: &mut Frame) -> ScriptResult {
    run_event_tools(run, frame, &[STARTUP], json!(frame.values.args)).await
}

/// Runs the tools of the shutdown event.
pub async fn run_shutdown_tools(run: &mut ScriptRun, frame: &mut Frame) -> ScriptResult {
    run_event_tools(run, frame, &[SHUTDOWN], json!(frame.values.args)).await
}

/// Runs the tools that are registered for one of these events.
async fn run_event_tools(
    run: &mut ScriptRun,
    frame: &mut Frame,
    events: &[&str],
    args: Value,
) -> ScriptResult {
    let Some(wanted) = frame.manifest.config.get("tools").cloned() else { return Ok(()) };
    // A route lists tools for the model to choose from; a missing one is reported when it is
    // used.
    let mut tools = Vec::new();
    for (id, about) in tool_entries(&wanted).iter().filter(|(id, _)| !id.starts_with('$')) {
        drop(add_tool(&run.library, frame, id, about, &mut tools));
    }
    tools.retain(|tool| events.iter().any(|event| tool.has_trigger(event)));
    if tools.is_empty() {
        return Ok(());
    }
    frame.require_trust("tools")?;
    for tool in &tools {
        let given = args.as_object().cloned().unwrap_or_default();
        run_tool(run, frame, tool, given, &mut Results::default()).await?;
    }
    Ok(())
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
fn tools_prompt(tools: &[&ScriptTool], schedule: ToolSchedule) -> String {
    let helps: Vec<ToolHelp> = tools.iter().map(|tool| tool.help()).collect();
    format!(
        concat!(
            "You can have these tools run before you answer:\n\n{}\n\n",
            "Read the conversation. If tools are needed to answer its last message, reply with the ",
            "calls alone, one `@id(param=value, ...)` on each line, strings in double quotes, and ",
            "nothing else. {} If none is needed, reply with `none`.",
        ),
        tool_protocol::tools_help(&helps),
        schedule.instruction
    )
}
