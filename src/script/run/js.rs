//! The script's JavaScript engine: what goes in, what it requests, and what comes back.

use serde_json::{Map, Value};

use super::super::directive;
use super::super::error::{CallResult, ScriptFlow, ScriptResult, quoted};
use super::super::host::ScriptEvent;
use super::super::js::{
    Engine, JsLimits, JsTask, ModuleKind, RuntimeCall, ScopeChanges, TaskEvent, TaskOutcome,
    function_name, function_source,
};
use super::super::manifest::DeclaredFunction;
use super::super::manifest::imports::strip_dollar;
use super::arguments::ArgValues;
use super::frame::{Callee, Frame, ScriptRun};
use super::modules::JsFile;
use super::scope::text_of;
use crate::i18n::script_run as words;

/// How many unknown names a condition may hold; they count as undefined.
const MOST_UNKNOWN: usize = 16;

/// Declares the functions defined in the script.
pub async fn declare_functions(run: &mut ScriptRun, frame: &mut Frame) -> ScriptResult {
    let shape = frame.manifest.clone();
    for function in &shape.functions {
        frame.require_trust("!fn")?;
        let (came, spot) = (declare_function(run, frame, function).await, &function.location);
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
    let name = function_name(source).ok_or(words::FUNCTION_NO_NAME)?;
    let name = strip_dollar(name);
    define_function(run, frame, &name, source).await?;
    match name.strip_prefix("template$") {
        Some(short) => frame.imports.add_template(short, &name),
        None if function.template => frame.imports.add_template(&name, &name),
        None => {
            let takes_object = takes_object(source);
            frame.imports.add(&name, Callee::Js { name: name.clone(), takes_object });
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
    run_task(run, frame, task, Map::new()).await.map(|_| ())
}

/// Names an anonymous function, and returns the name.
pub async fn define_anonymous(
    run: &mut ScriptRun,
    frame: &mut Frame,
    source: &str,
) -> ScriptResult<String> {
    frame.require_trust("!fn")?;
    frame.imports.anonymous_count += 1;
    let name = format!("nameless{}", frame.imports.anonymous_count);
    let source = js_source(source)?;
    define_function(run, frame, &name, source).await?;
    let takes_object = takes_object(source);
    frame.imports.add(&name, Callee::Js { name: name.clone(), takes_object });
    Ok(name)
}

/// Runs an expression in the engine.
pub async fn evaluate(
    run: &mut ScriptRun,
    frame: &mut Frame,
    text: &str,
) -> ScriptResult<TaskOutcome> {
    let scope = expression_scope(frame);
    run_task(run, frame, JsTask::Eval(text.to_owned()), scope).await
}

/// The same for a condition, in which unknown names are undefined.
pub async fn evaluate_condition(
    run: &mut ScriptRun,
    frame: &mut Frame,
    text: &str,
) -> ScriptResult<TaskOutcome> {
    let mut unknown = Vec::new();
    loop {
        let mut scope = expression_scope(frame);
        scope.extend(unknown.iter().map(|name: &String| (name.clone(), Value::Null)));
        match run_task(run, frame, JsTask::Eval(text.to_owned()), scope).await? {
            TaskOutcome::Unknown(name)
                if unknown.len() < MOST_UNKNOWN && !unknown.contains(&name) =>
            {
                unknown.push(name);
            }
            got => return Ok(got),
        }
    }
}

/// Calls a function of the engine.
pub async fn call_js(
    run: &mut ScriptRun,
    frame: &mut Frame,
    name: &str,
    args: Vec<Value>,
) -> CallResult {
    let scope = expression_scope(frame);
    match run_task(run, frame, JsTask::Call { name: name.to_owned(), args }, scope).await? {
        TaskOutcome::Unknown(name) | TaskOutcome::Invalid(name) => {
            Err(words::NO_DIRECTIVE.with("name", quoted(&name)).into())
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
        .imports
        .template_function(name)
        .ok_or_else(|| words::NO_DIRECTIVE.with("name", quoted(name)))?;
    Box::pin(call_js(run, frame, &function, args)).await
}

/// Loads a module: returns its id in the engine, and the names of its functions. The last of
/// its files is the module, the others are its imports; no files: it is built in.
pub async fn load_js_module(
    run: &mut ScriptRun,
    frame: &mut Frame,
    name: &str,
    mut files: Vec<JsFile>,
) -> ScriptResult<(String, Vec<String>)> {
    frame.imports.anonymous_count += 1;
    let id = format!("module{}", frame.imports.anonymous_count);
    let at = |file: &JsFile| format!("{id}/{}", file.name);
    let main = files.pop();
    for file in &files {
        let task = JsTask::Declare { file: at(file), source: file.source.clone() };
        run_task(run, frame, task, Map::new()).await?;
    }
    let (kind, file, source) = match main {
        Some(main) => (ModuleKind::Auto, at(&main), main.source),
        None => (ModuleKind::Builtin, String::new(), name.to_owned()),
    };
    let task = JsTask::Module { id: id.clone(), kind, file, source };
    let listed = run_task(run, frame, task, Map::new()).await?.into_value().unwrap_or_default();
    let functions = listed.get("functions").and_then(Value::as_array);
    Ok((id, functions.into_iter().flatten().map(text_of).collect()))
}

/// Binds a name to a module or one of its functions, inside the engine too.
pub async fn bind_js(run: &mut ScriptRun, frame: &mut Frame, name: &str, to: &str) -> ScriptResult {
    let task = JsTask::Bind { name: name.to_owned(), to: to.to_owned() };
    run_task(run, frame, task, Map::new()).await.map(|_| ())
}

fn engine(frame: &mut Frame) -> ScriptResult<Engine> {
    frame.require_trust("JavaScript")?;
    if let Some(engine) = &frame.imports.engine {
        return Ok(engine.clone());
    }
    let engine = Engine::start(JsLimits::default())?;
    frame.imports.engine = Some(engine.clone());
    Ok(engine)
}

/// Runs a task to its end, and serves its requests on the way.
async fn run_task(
    run: &mut ScriptRun,
    frame: &mut Frame,
    task: JsTask,
    scope_now: Map<String, Value>,
) -> ScriptResult<TaskOutcome> {
    let engine = engine(frame)?;
    let mut under_way = engine.run(task, scope_now);
    loop {
        match under_way.next().await {
            TaskEvent::Log(line) => run.host.emit(ScriptEvent::Print(Value::String(line))),
            TaskEvent::Ended(ended) => {
                apply_changes(frame, &ended.changes);
                return Ok(ended.outcome?);
            }
            TaskEvent::Call(want) => {
                apply_changes(frame, &want.changes);
                let id = want.id;
                let answer = match Box::pin(serve_runtime_call(run, frame, want)).await {
                    Ok(value) => Ok(value.unwrap_or(Value::Null)),
                    Err(ScriptFlow::Failed(failure)) => Err(failure.to_string()),
                    Err(halt) => return Err(halt),
                };
                under_way.answer(id, answer, expression_scope(frame));
            }
        }
    }
}

/// Serves a call that JavaScript makes to the runtime.
async fn serve_runtime_call(
    run: &mut ScriptRun,
    frame: &mut Frame,
    want: RuntimeCall,
) -> CallResult {
    run.limits.count_instruction()?;
    let passed = ArgValues { positional: want.args, ..ArgValues::default() };
    if !frame.imports.has_function(&want.name)
        && let Some(row) = directive::find(&want.name)
    {
        frame.require_trust(&format!("${}", want.name))?;
        let before = frame.values.latest.clone();
        let value = row.run_with(run, frame, passed).await?;
        let changed = (frame.values.latest != before).then(|| frame.values.latest.clone());
        return Ok(value.or(changed));
    }
    run.call_function(frame, &want.name, passed).await
}

/// The scope of an expression: everything that has a name; inputs without a value are null.
fn expression_scope(frame: &Frame) -> Map<String, Value> {
    let mut scope = frame.values.scope();
    for input in &frame.manifest.inputs {
        scope.entry(input.name.clone()).or_insert(Value::Null);
    }
    scope
}

/// Applies JavaScript's assignments.
fn apply_changes(frame: &mut Frame, changes: &ScopeChanges) {
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
        .map_err(|foreign| words::FOREIGN_LANGUAGE.with("name", quoted(&foreign.0)).into())
}

/// Whether the first parameter is destructured: `make({content})`.
fn takes_object(source: &str) -> bool {
    let params = source.split_once('(').map(|(_, params)| params.trim_start());
    params.is_some_and(|params| params.starts_with('{'))
}
