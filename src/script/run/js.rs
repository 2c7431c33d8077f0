//! The script's JavaScript engine: what goes in, what it requests, and what comes back.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::super::directive;
use super::super::error::{
    CallResult, ErrorCause, LocatedError, Location, ScriptFlow, ScriptResult, SourcePosition,
    quoted,
};
use super::super::host::ScriptEvent;
use super::super::js::{
    Engine, EngineScopeUpdate, JsExpression, JsLimits, JsPlace, JsTask, ModuleKind, PAUSE,
    RuntimeCall, ScopeChanges, TaskEnd, TaskEvent, TaskOutcome, function_name, function_source,
};
use super::super::manifest::DeclaredFunction;
use super::super::manifest::imports::strip_dollar;
use super::arguments::ArgValues;
use super::frame::{Callee, Frame, ScriptRun};
use super::modules::JsFile;
use super::scope::text_of;
use avocet_core::deadline::with_timeout;
use avocet_core::i18n::script_run as phrases;

/// How many unknown names a condition may hold; they count as undefined.
const MAX_UNKNOWN: usize = 16;

/// Declares the functions defined in the script.
pub async fn declare_functions(run: &mut ScriptRun, frame: &mut Frame) -> ScriptResult {
    let shape = frame.manifest.clone();
    for function in &shape.functions {
        frame.require_trust("!fn")?;
        let came = declare_function(run, frame, function).await;
        let spot = &function.location;

        came.map_err(|halt| halt.or_location(&spot.file, spot.position))?;
    }
    Ok(())
}

async fn declare_function(
    run: &mut ScriptRun,
    frame: &mut Frame,
    function: &DeclaredFunction,
) -> ScriptResult {
    let source = js_source(&function.source)?;
    let name = function_name(source).ok_or(phrases::FUNCTION_NO_NAME)?;
    let name = strip_dollar(name);
    define_function(run, frame, &name, source).await?;
    match name.strip_prefix("template$") {
        Some(short) => frame.bindings.add_template(short, &name),
        None if function.template => frame.bindings.add_template(&name, &name),
        None => {
            let takes_object = takes_object(source);
            frame.bindings.add(&name, Callee::Js { name: name.clone(), takes_object });
        }
    }
    Ok(())
}

async fn define_function(
    run: &mut ScriptRun,
    frame: &mut Frame,
    name: &str,
    source: &str,
) -> ScriptResult {
    let task = JsTask::Define { name: name.to_owned(), source: source.to_owned() };
    run_task(run, frame, task, &[]).await.map(|_| ())
}

/// Names an anonymous function, and returns the name.
pub async fn define_anonymous(
    run: &mut ScriptRun,
    frame: &mut Frame,
    source: &str,
) -> ScriptResult<String> {
    frame.require_trust("!fn")?;
    frame.bindings.anonymous_count += 1;
    let name = format!("nameless{}", frame.bindings.anonymous_count);
    let source = js_source(source)?;
    define_function(run, frame, &name, source).await?;
    let takes_object = takes_object(source);
    frame.bindings.add(&name, Callee::Js { name: name.clone(), takes_object });
    Ok(name)
}

/// Runs an expression in the engine.
pub async fn evaluate(
    run: &mut ScriptRun,
    frame: &mut Frame,
    expression: &Arc<JsExpression>,
) -> ScriptResult<TaskOutcome> {
    Box::pin(run_task(run, frame, JsTask::Eval(Arc::clone(expression)), &[])).await
}

/// The same for a condition, in which unknown names are undefined.
pub async fn evaluate_condition(
    run: &mut ScriptRun,
    frame: &mut Frame,
    expression: &Arc<JsExpression>,
) -> ScriptResult<TaskOutcome> {
    let mut unknown = Vec::new();
    let mut outcome = evaluate(run, frame, expression).await?;
    while let TaskOutcome::Unknown(name) = &outcome
        && unknown.len() < MAX_UNKNOWN
        && !unknown.contains(name)
    {
        unknown.push(name.clone());
        let task = JsTask::Eval(Arc::clone(expression));
        outcome = Box::pin(run_task(run, frame, task, &unknown)).await?;
    }
    Ok(outcome)
}

/// The error for a name that cannot be called, with the nearest one that can.
pub fn unknown_name_error(frame: &Frame, name: &str) -> ScriptFlow {
    let own = frame.bindings.callees.keys().map(String::as_str);
    directive::unknown_name_text(name, own).into()
}

/// Calls a function of the engine.
pub async fn call_js(
    run: &mut ScriptRun,
    frame: &mut Frame,
    name: &str,
    args: Vec<Value>,
) -> CallResult {
    match run_task(run, frame, JsTask::Call { name: name.to_owned(), args }, &[]).await? {
        TaskOutcome::Unknown(name) | TaskOutcome::Invalid(name) => {
            Err(unknown_name_error(frame, &name))
        }
        outcome => Ok(outcome.into_value()),
    }
}

/// Calls a template function by the name templates use.
pub async fn call_template_function(
    run: &mut ScriptRun,
    frame: &mut Frame,
    name: &str,
    args: Vec<Value>,
) -> CallResult {
    let function = frame
        .bindings
        .template_function(name)
        .ok_or_else(|| phrases::NO_DIRECTIVE.with("name", quoted(name)))?;
    Box::pin(call_js(run, frame, &function, args)).await
}

/// Loads a module: returns its id in the engine, and the names of its functions. The last of
/// its files is the module, the others are its imports; no files: it is built in.
pub async fn load_js_module(
    run: &mut ScriptRun,
    frame: &mut Frame,
    name: &str,
    folder: PathBuf,
    mut files: Vec<JsFile>,
) -> ScriptResult<(String, Vec<String>)> {
    frame.bindings.anonymous_count += 1;
    let id = format!("module{}", frame.bindings.anonymous_count);
    frame.bindings.js_folders.insert(id.clone(), folder);
    let at = |file: &JsFile| format!("{id}/{}", file.name);
    let main = files.pop();
    for file in &files {
        let task = JsTask::Declare { file: at(file), source: file.source.clone() };
        run_task(run, frame, task, &[]).await?;
    }
    let (kind, file, source) = match main {
        Some(main) => (ModuleKind::Auto, at(&main), main.source),
        None => (ModuleKind::Builtin, String::new(), name.to_owned()),
    };
    let module = JsTask::Module { id: id.clone(), kind, file, source };
    let listed = run_task(run, frame, module, &[]).await?.into_value().unwrap_or_default();
    let functions = listed.get("functions").and_then(Value::as_array);
    Ok((id, functions.into_iter().flatten().map(text_of).collect()))
}

/// Binds a name to a module or one of its functions, inside the engine too.
pub async fn bind_js(run: &mut ScriptRun, frame: &mut Frame, name: &str, to: &str) -> ScriptResult {
    let task = JsTask::Bind { name: name.to_owned(), to: to.to_owned() };
    run_task(run, frame, task, &[]).await.map(|_| ())
}

fn engine(run: &ScriptRun, frame: &mut Frame) -> ScriptResult<Engine> {
    frame.require_trust("JavaScript")?;
    if let Some(engine) = &frame.bindings.engine {
        return Ok(engine.clone());
    }
    let engine = Engine::start(JsLimits::default(), run.host.stop_token())?;
    frame.bindings.engine = Some(engine.clone());
    Ok(engine)
}

/// Runs a task to its end, with the values that it may read, and serves its requests on the way.
async fn run_task(
    run: &mut ScriptRun,
    frame: &mut Frame,
    task: JsTask,
    unknown: &[String],
) -> ScriptResult<TaskOutcome> {
    let engine = engine(run, frame)?;
    frame.bindings.reads_messages |= reads_messages(&task);
    let expression = match &task {
        JsTask::Eval(expression) => Some(Arc::clone(expression)),
        _ => None,
    };
    let update = scope_update(frame, unknown, expression.as_deref());
    let mut under_way = engine.run(task, update);
    let mut pauses: FuturesUnordered<BoxFuture<'_, u64>> = FuturesUnordered::new();
    let mut cause = ErrorCause::Script;
    let stop = run.host.stop_token();
    loop {
        let event = tokio::select! {
            biased;
            Some(id) = pauses.next(), if !pauses.is_empty() => {
                // The run is stopped: its value is not awaited.
                if stop.is_cancelled() {
                    return Err(ScriptFlow::Exit(Value::Null));
                }
                under_way.answer(id, Ok(Value::Null), scope_update(frame, unknown, None));
                continue;
            }
            event = under_way.next() => event,
        };
        match event {
            TaskEvent::Log(line) => run.host.emit(ScriptEvent::Print(Value::String(line))),
            TaskEvent::Ended(ended) => {
                apply_changes(frame, &ended.changes);
                return task_outcome(frame, ended, cause);
            }
            TaskEvent::Call(want) if want.name == PAUSE => {
                apply_changes(frame, &want.changes);
                run.limits.count_instruction()?;
                let time = want.args.first().and_then(Value::as_u64).unwrap_or(0);
                let time = Duration::from_millis(time).min(MAX_PAUSE);
                pauses.push(Box::pin(pause(want.id, time, stop.clone())));
            }
            TaskEvent::Call(want) => {
                apply_changes(frame, &want.changes);
                let id = want.id;
                run.limits.enter_call(want.name.trim_start_matches('#'))?;
                let came = Box::pin(serve_runtime_call(run, frame, want)).await;
                run.limits.leave_call();
                let answer = match came {
                    Ok(value) => Ok(value.unwrap_or(Value::Null)),
                    // What stops the whole run is nothing that JavaScript can catch.
                    Err(ScriptFlow::Failed(failure)) if failure.cause == ErrorCause::Limit => {
                        return Err(ScriptFlow::Failed(failure));
                    }
                    Err(ScriptFlow::Failed(failure)) => {
                        cause = failure.cause;
                        Err(thrown(&failure))
                    }
                    Err(halt) => return Err(halt),
                };
                under_way.answer(id, answer, scope_update(frame, unknown, None));
            }
        }
    }
}

/// A failure as JavaScript catches it: a program's has its `code`, `stdout` and `stderr`.
fn thrown(failure: &LocatedError) -> Value {
    match failure.output() {
        Some(output) => json!({ "message": failure.to_string(), "properties": output.to_value() }),
        None => json!({ "message": failure.to_string() }),
    }
}

/// How a task ended; an error has the place that threw it, and the cause of the call that failed in
/// it.
fn task_outcome(frame: &Frame, end: TaskEnd, cause: ErrorCause) -> ScriptResult<TaskOutcome> {
    let error = match end.outcome {
        Ok(TaskOutcome::NoFunction(name)) => unknown_name_error(frame, &name),
        Ok(outcome) => return Ok(outcome),
        Err(why) if cause == ErrorCause::Script => why.into(),
        Err(why) => LocatedError::from(why).caused_by(cause).into(),
    };
    Err(located(frame, error, end.place))
}

/// Longest pause of `setTimeout`: an engine that answers nothing for longer counts as stuck.
const MAX_PAUSE: Duration = Duration::from_secs(10);

/// Waits for this time, or until the run is stopped.
async fn pause(id: u64, time: Duration, stop: CancellationToken) -> u64 {
    // The limit is what is waited for.
    let _ = with_timeout(time, stop.cancelled()).await;
    id
}

/// Whether the text of a task mentions the messages.
fn reads_messages(task: &JsTask) -> bool {
    match task {
        JsTask::Eval(expression) => expression.reads_messages(),
        JsTask::Compile(source)
        | JsTask::Define { source, .. }
        | JsTask::Module { source, .. }
        | JsTask::Declare { source, .. } => source.contains("messages"),
        JsTask::Call { .. } | JsTask::Bind { .. } => false,
    }
}

/// The error, with the place in the function or file that threw it.
fn located(frame: &Frame, flow: ScriptFlow, place: Option<JsPlace>) -> ScriptFlow {
    let Some(JsPlace { file, line, column }) = place else { return flow };
    if let Some(name) = file.strip_prefix("fn:") {
        let declared = frame.manifest.functions.iter().find(|function| {
            let source = function_source(&function.source).ok();
            source.and_then(function_name).map(strip_dollar).as_deref() == Some(name)
        });
        let Some(function) = declared else { return flow };
        let Location { file, position } = &function.location;
        let first = position.line + function.first_line;
        return flow.or_location(file, SourcePosition { line: first + line - 1, column });
    }
    let path = file.split_once('/').and_then(|(module, file)| {
        let folder = frame.bindings.js_folders.get(module)?;
        Some(folder.join(file).display().to_string())
    });
    match path {
        // The instruction that called it is in another file.
        Some(path) => flow.or_location(&path, SourcePosition { line, column }).leave_script(None),
        None => flow,
    }
}

/// Serves a call that JavaScript makes to the runtime.
async fn serve_runtime_call(
    run: &mut ScriptRun,
    frame: &mut Frame,
    call: RuntimeCall,
) -> CallResult {
    run.limits.count_instruction()?;
    let values = ArgValues { positional: call.args, ..ArgValues::default() };
    // The engine's own modules mean the directive, whatever the script calls by its name.
    let own = call.name.strip_prefix('#');
    let name = own.unwrap_or(&call.name);
    if (own.is_some() || !frame.bindings.has_function(name))
        && let Some(row) = directive::find(name)
    {
        frame.require_trust(format_args!("${name}"))?;
        let before = frame.values.latest.clone();
        let value = row.run_with(run, frame, values).await?;
        let changed = (frame.values.latest != before).then(|| frame.values.latest.clone());
        return Ok(value.or(changed));
    }
    run.call_function(frame, &call.name, values).await
}

/// What has changed since the engine last got the values, as far as an expression may read them:
/// everything that has a name, inputs without a value as null, and the unknown names of a condition
/// as well.
fn scope_update(
    frame: &mut Frame,
    unknown: &[String],
    expression: Option<&JsExpression>,
) -> EngineScopeUpdate {
    let Frame { values, bindings, manifest, dialogue, .. } = frame;
    let reads = expression.and_then(JsExpression::names);
    let may_read = reads.is_none() || expression.is_some_and(JsExpression::reads_messages);
    let messages = (bindings.reads_messages && may_read).then(|| {
        let lines = dialogue.messages.iter();
        lines.map(|line| json!({ "role": line.role, "content": line.text() })).collect()
    });
    let count = Some(bindings.callees.len());
    let names = (count != bindings.sent_names).then(|| {
        bindings.sent_names = count;
        let own =
            bindings.callees.iter().filter(|(_, callee)| !matches!(callee, Callee::Js { .. }));
        let own = own.map(|(name, _)| name.clone());
        directive::TABLE.iter().map(|row| row.name.to_owned()).chain(own).collect()
    });
    let inputs = manifest.inputs.iter().map(|input| &input.name);
    let nulls = inputs.chain(unknown);
    let update = values.changes_since(&mut bindings.engine_values, nulls, messages, reads);
    EngineScopeUpdate { names, ..update }
}

/// Applies JavaScript's assignments.
fn apply_changes(frame: &mut Frame, changes: &ScopeChanges) {
    changes.apply(&mut frame.bindings.engine_values);
    for (name, value) in &changes.set {
        match (name.as_str(), value) {
            ("prompt", Value::Object(map)) => frame.values.prompt.extend(map.clone()),
            ("parameters", Value::Object(map)) => frame.values.parameters.clone_from(map),
            _ => frame.values.set(name, value.clone()),
        }
    }
    for name in &changes.removed {
        frame.values.unset(name);
    }
}

fn js_source(text: &str) -> ScriptResult<&str> {
    function_source(text)
        .map_err(|foreign| phrases::FOREIGN_LANGUAGE.with("name", quoted(&foreign.0)).into())
}

/// Whether the first parameter is destructured: `make({content})`.
fn takes_object(source: &str) -> bool {
    let params = source.split_once('(').map(|(_, params)| params.trim_start());
    params.is_some_and(|params| params.starts_with('{'))
}
