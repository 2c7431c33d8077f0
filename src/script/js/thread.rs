//! The thread of one engine: a QuickJS runtime and the prelude in it.

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use rquickjs::context::EvalOptions;
use rquickjs::{Context, Ctx, Function, Module, Object, Runtime};
use serde::Deserialize;
use serde_json::{Number, Value, json};
use tokio::sync::mpsc::UnboundedSender;

use super::handoff::{EngineRequest, ShortLook, end_event, time_limit_error};
use super::task::{
    JsLimits, JsPlace, JsTask, ModuleKind, RuntimeCall, ScopeChanges, ScopeUpdate, TaskEnd,
    TaskEvent, TaskOutcome,
};
use crate::deadline::LATE;
use crate::i18n::script as words;
use crate::script::error::{ScriptError, quoted};

const PRELUDE: &str = include_str!("prelude.js");
const BUILTINS: &str = include_str!("builtins.js");
/// Maximum number of random bytes of one call.
const MOST_RANDOM: usize = 64 * 1024;
/// Longest value that is passed in or out, in bytes of its JSON.
const MOST_VALUE: usize = 16 * 1024 * 1024;
/// Maximum number of `console.log` lines per order.
const MOST_LINES: usize = 1000;

/// The clock the engine checks while it computes.
#[derive(Clone, Default)]
struct TimeLimit {
    deadline: Rc<Cell<Option<Instant>>>,
    /// When the engine last checked, and its time limit.
    last_check: Rc<Cell<Option<Instant>>>,
    limit: Rc<Cell<Duration>>,
    expired: Rc<Cell<bool>>,
}

impl TimeLimit {
    fn restart(&self, time: Duration) {
        self.deadline.set(Instant::now().checked_add(time));
        self.last_check.set(Some(Instant::now()));
        self.limit.set(time);
        self.expired.set(false);
    }

    fn check_expired(&self, closed: &AtomicBool) -> bool {
        let now = Instant::now();
        // The engine checks continuously unless the program is suspended.
        let looked = self.last_check.replace(Some(now));
        if looked.is_some_and(|looked| now.saturating_duration_since(looked) > LATE) {
            self.deadline.set(now.checked_add(self.limit.get()));
        }
        let over = self.deadline.get().is_some_and(|until| now > until);
        if over || closed.load(Ordering::Relaxed) {
            self.expired.set(true);
        }
        self.expired.get()
    }
}

/// The main loop of the thread.
pub(super) fn run_thread(
    inbox: &mpsc::Receiver<EngineRequest>,
    limits: JsLimits,
    closed: &Arc<AtomicBool>,
) {
    let watch = TimeLimit::default();
    let Ok(runtime) = Runtime::new() else { return };
    runtime.set_memory_limit(limits.memory);
    runtime.set_max_stack_size(limits.stack);
    let (clock, gone) = (watch.clone(), closed.clone());
    runtime.set_interrupt_handler(Some(Box::new(move || clock.check_expired(&gone))));
    let Ok(context) = Context::full(&runtime) else { return };
    context.with(|ctx| {
        let Ok(inside) = Prelude::new(&ctx) else { return };
        let mut desk =
            EngineThread { prelude: inside, listeners: HashMap::new(), limits, time_limit: watch };
        let short = ShortLook::default();
        while let Some(order) = short.find(|| inbox.try_recv().ok()).or_else(|| inbox.recv().ok()) {
            if closed.load(Ordering::Relaxed) || !desk.serve_request(order, closed) {
                return;
            }
        }
    });
}

/// The functions of the prelude.
struct Prelude<'js> {
    ctx: Ctx<'js>,
    start: Function<'js>,
    answer: Function<'js>,
    modules: Function<'js>,
    drain: Function<'js>,
    /// An expression: its value if that is plain and nothing has changed, or else an object.
    quick: Function<'js>,
    /// Takes values that have changed, as JSON.
    update: Function<'js>,
    /// The values of the script.
    vars: Object<'js>,
}

impl<'js> Prelude<'js> {
    fn new(ctx: &Ctx<'js>) -> rquickjs::Result<Prelude<'js>> {
        let make: Function<'js> = ctx.eval(PRELUDE)?;
        let builtins: Function<'js> = ctx.eval(BUILTINS)?;
        let compile = Function::new(ctx.clone(), compile_named)?;
        let random = Function::new(ctx.clone(), random_bytes)?;
        let made: Object<'js> = make.call((MOST_VALUE, compile, random, builtins, platform()))?;
        Ok(Prelude {
            ctx: ctx.clone(),
            start: made.get("start")?,
            answer: made.get("answer")?,
            modules: made.get("modules")?,
            drain: made.get("drain")?,
            quick: made.get("quick")?,
            update: made.get("update")?,
            vars: made.get("vars")?,
        })
    }

    /// The reason the last call failed, as text.
    fn exception_text(&self, error: rquickjs::Error) -> String {
        self.exception(error).0
    }

    /// The same, with the place that its stack begins with.
    fn exception(&self, error: rquickjs::Error) -> (String, Option<JsPlace>) {
        if !error.is_exception() {
            return (error.to_string(), None);
        }
        let value = self.ctx.catch();
        match value.as_exception() {
            Some(exception) => {
                let stack = exception.stack().unwrap_or_default();
                (exception.message().unwrap_or_default(), stack.lines().find_map(stack_place))
            }
            None => ("unknown".to_owned(), None),
        }
    }
}

/// `    at f (module1/a.mjs:2:10)`.
fn stack_place(line: &str) -> Option<JsPlace> {
    let place = line.trim().trim_end_matches(')');
    let place = place.rsplit(['(', ' ']).next()?;
    let (rest, column) = place.rsplit_once(':')?;
    let (file, line) = rest.rsplit_once(':')?;
    let place =
        JsPlace { file: file.to_owned(), line: line.parse().ok()?, column: column.parse().ok()? };
    (file.starts_with("fn:") || file.starts_with("module")).then_some(place)
}

/// Compiles a text under a name that errors in it give as their file.
fn compile_named<'js>(
    ctx: Ctx<'js>,
    text: String,
    file: String,
) -> rquickjs::Result<rquickjs::Value<'js>> {
    let mut options = EvalOptions::default();
    options.strict = false;
    options.filename = Some(file);
    ctx.eval_with_options(text, options)
}

/// The name of the system, as scripts know it.
fn platform() -> &'static str {
    match std::env::consts::OS {
        "macos" => "darwin",
        "windows" => "win32",
        other => other,
    }
}

fn random_bytes(count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count.min(MOST_RANDOM)];
    match getrandom::fill(&mut bytes) {
        Ok(()) => bytes,
        Err(_) => Vec::new(),
    }
}

/// An event of the prelude.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum PreludeEvent {
    Log {
        run: u64,
        text: String,
    },
    Wants {
        run: u64,
        id: u64,
        name: String,
        args: Vec<Value>,
        changes: PreludeChanges,
    },
    Done {
        run: u64,
        kind: OutcomeKind,
        value: Value,
        place: Option<(String, u32, u32)>,
        changes: PreludeChanges,
    },
    Module {
        run: u64,
        id: String,
        file: String,
        source: String,
    },
    Declared {
        run: u64,
        file: String,
        source: String,
    },
}

#[derive(Deserialize)]
struct PreludeChanges {
    set: Vec<(String, Value)>,
    gone: Vec<String>,
}

impl From<PreludeChanges> for ScopeChanges {
    fn from(told: PreludeChanges) -> ScopeChanges {
        ScopeChanges { set: told.set, removed: told.gone }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum OutcomeKind {
    Value,
    Undefined,
    Function,
    Unknown,
    Missing,
    Invalid,
    Thrown,
    Stuck,
}

/// What JavaScript threw, and where.
type Thrown = (String, Option<JsPlace>);

/// Serves orders one after the other.
struct EngineThread<'js> {
    prelude: Prelude<'js>,
    listeners: HashMap<u64, UnboundedSender<TaskEvent>>,
    limits: JsLimits,
    time_limit: TimeLimit,
}

impl EngineThread<'_> {
    /// Serves one order; false when the engine can no longer be used.
    fn serve_request(&mut self, order: EngineRequest, closed: &AtomicBool) -> bool {
        self.time_limit.restart(self.limits.time);
        let (run, started) = match order {
            EngineRequest::Start { run, task: JsTask::Eval(text), scope, said } => {
                self.listeners.insert(run, said);
                let value = self.update_values(&scope).and_then(|()| self.evaluate(run, &text));
                match value {
                    Ok(Some(outcome)) => {
                        if !self.prelude.ctx.execute_pending_job() {
                            self.send_end(run, Ok(outcome));
                            return true;
                        }
                        // What it has left to do is done before its end is reported.
                        return self.finish_request(run, Ok(()), Some(outcome), closed);
                    }
                    Ok(None) => (run, Ok(())),
                    Err(error) => (run, Err(error)),
                }
            }
            EngineRequest::Start { run, task, scope, said } => {
                self.listeners.insert(run, said);
                let text = EngineThread::start_json(run, &task, &scope);
                (run, self.prelude.start.call((text,)))
            }
            EngineRequest::Answer { run, id, result, scope } => {
                let text = EngineThread::answer_json(id, result, &scope);
                (run, self.prelude.answer.call((text,)))
            }
        };
        self.finish_request(run, started, None, closed)
    }

    /// Brings the values of the script up to date. Plain ones need no JSON.
    fn update_values(&self, scope: &ScopeUpdate) -> rquickjs::Result<()> {
        let is_plain = |value: &Value| !value.is_array() && !value.is_object();
        let only_plain = scope.set.iter().all(|(_, value)| is_plain(value));
        if scope.is_whole || scope.names.is_some() || !scope.removed.is_empty() || !only_plain {
            return self.prelude.update.call((request_json(&Value::Null, scope),));
        }
        let vars = &self.prelude.vars;
        for (name, value) in &scope.set {
            let name = name.as_str();
            match value {
                Value::Bool(is) => vars.set(name, *is)?,
                Value::Number(number) => match number.as_i64().map(i32::try_from) {
                    Some(Ok(number)) => vars.set(name, number)?,
                    _ => vars.set(name, number.as_f64().unwrap_or_default())?,
                },
                Value::String(text) => vars.set(name, text.as_str())?,
                Value::Null | Value::Array(_) | Value::Object(_) => {
                    vars.set(name, rquickjs::Value::new_null(self.prelude.ctx.clone()))?;
                }
            }
        }
        Ok(())
    }

    /// Evaluates an expression; `None` if the prelude reports its end.
    fn evaluate(&self, run: u64, text: &str) -> rquickjs::Result<Option<TaskOutcome>> {
        let value: rquickjs::Value<'_> = self.prelude.quick.call((run, text))?;
        let of = |value: Value| Some(TaskOutcome::Value(value));
        Ok(match value.type_of() {
            rquickjs::Type::Undefined => Some(TaskOutcome::Undefined),
            rquickjs::Type::Null => of(Value::Null),
            rquickjs::Type::Bool => of(Value::Bool(value.as_bool().unwrap_or_default())),
            rquickjs::Type::Int => of(Value::from(value.as_int().unwrap_or_default())),
            rquickjs::Type::Float => {
                let number = value.as_float().unwrap_or_default();
                of(match number.fract() == 0.0 {
                    true => Value::from(number as i64),
                    false => Number::from_f64(number).map_or(Value::Null, Value::Number),
                })
            }
            rquickjs::Type::String => of(Value::String(value.get()?)),
            _ => None,
        })
    }

    /// Runs what a request has left to do, and forwards what comes of it.
    fn finish_request(
        &mut self,
        run: u64,
        started: rquickjs::Result<()>,
        outcome: Option<TaskOutcome>,
        closed: &AtomicBool,
    ) -> bool {
        let mut failed = started.err().map(|error| self.prelude.exception_text(error));
        let mut lines = 0;
        loop {
            let turned = self.run_pending_jobs(closed);
            if self.time_limit.expired.get() || !turned {
                self.send_end(run, Err(time_limit_error(self.limits)));
                // Endless jobs stay in the queue, so nothing else could run.
                return turned;
            }
            let told = match self.prelude.drain.call::<_, String>((run,)) {
                Ok(text) => serde_json::from_str::<Vec<PreludeEvent>>(&text).unwrap_or_default(),
                Err(error) => {
                    failed.get_or_insert(self.prelude.exception_text(error));
                    Vec::new()
                }
            };
            let mut again = false;
            for told in told {
                again |= self.forward_event(told, &mut lines);
            }
            if !again {
                break;
            }
        }
        if let Some(why) = failed {
            self.send_end(run, Err(self.thrown_error(&why)));
        }
        if let Some(outcome) = outcome {
            self.send_end(run, Ok(outcome));
        }
        true
    }

    /// Runs the pending jobs; false when they never end.
    fn run_pending_jobs(&self, closed: &AtomicBool) -> bool {
        let mut count = 0_u32;
        while self.prelude.ctx.execute_pending_job() {
            count = count.wrapping_add(1);
            if count.is_multiple_of(64) && self.time_limit.check_expired(closed) {
                return false;
            }
        }
        true
    }

    fn start_json(run: u64, task: &JsTask, scope: &ScopeUpdate) -> String {
        let request = match task {
            JsTask::Eval(expr) => json!({"run": run, "type": "eval", "expr": expr}),
            JsTask::Compile(expr) => json!({"run": run, "type": "compile", "expr": expr}),
            JsTask::Define { name, source } => {
                json!({"run": run, "type": "define", "name": name, "source": source})
            }
            JsTask::Call { name, args } => {
                json!({"run": run, "type": "call", "name": name, "args": args})
            }
            JsTask::Bind { name, to } => {
                json!({"run": run, "type": "bind", "name": name, "to": to})
            }
            JsTask::Declare { file, source } => {
                json!({"run": run, "type": "declare", "file": file, "source": source})
            }
            JsTask::Module { id, kind, file, source } => {
                let kind = match kind {
                    ModuleKind::Module => "module",
                    ModuleKind::Common => "common",
                    ModuleKind::Auto => "auto",
                    ModuleKind::Builtin => "builtin",
                };
                json!({"run": run, "type": "module", "id": id, "kind": kind, "file": file, "source": source})
            }
        };
        request_json(&request, scope)
    }

    fn answer_json(id: u64, result: Result<Value, String>, scope: &ScopeUpdate) -> String {
        let request = match result {
            Ok(value) => json!({"id": id, "ok": true, "value": value}),
            Err(why) => json!({"id": id, "ok": false, "value": why}),
        };
        request_json(&request, scope)
    }

    /// Forwards an event; true when the engine has more to do for it.
    fn forward_event(&mut self, told: PreludeEvent, lines: &mut usize) -> bool {
        match told {
            PreludeEvent::Log { run, text } => {
                *lines += 1;
                if *lines <= MOST_LINES
                    && let Some(said) = self.listeners.get(&run)
                {
                    let _ = said.send(TaskEvent::Log(text));
                }
            }
            PreludeEvent::Wants { run, id, name, args, changes } => {
                let changes = ScopeChanges::from(changes);
                if let Some(said) = self.listeners.get(&run) {
                    let _ = said.send(TaskEvent::Call(RuntimeCall { id, name, args, changes }));
                }
            }
            PreludeEvent::Done { run, kind, value, place, changes } => {
                let changes = ScopeChanges::from(changes);
                let got = self.task_outcome(kind, value);
                if let Some(said) = self.listeners.remove(&run) {
                    let place = place.map(|(file, line, column)| JsPlace { file, line, column });
                    let _ = said.send(TaskEvent::Ended(TaskEnd { outcome: got, changes, place }));
                }
            }
            PreludeEvent::Declared { run, file, source } => {
                let declared = Module::declare(self.prelude.ctx.clone(), file, source);
                match declared.map_err(|error| self.prelude.exception(error)) {
                    Ok(_) => self.send_end(run, Ok(TaskOutcome::Undefined)),
                    Err(thrown) => self.send_thrown(run, thrown),
                }
            }
            PreludeEvent::Module { run, id, file, source } => {
                if let Err(thrown) = self.evaluate_module(run, &id, &file, &source) {
                    self.send_thrown(run, thrown);
                }
                return true;
            }
        }
        false
    }

    fn task_outcome(&self, kind: OutcomeKind, value: Value) -> Result<TaskOutcome, ScriptError> {
        let text = |value: Value| value.as_str().unwrap_or_default().to_owned();
        match kind {
            OutcomeKind::Value => Ok(TaskOutcome::Value(value)),
            OutcomeKind::Undefined => Ok(TaskOutcome::Undefined),
            OutcomeKind::Function => Ok(TaskOutcome::Function(text(value))),
            OutcomeKind::Unknown => Ok(TaskOutcome::Unknown(text(value))),
            OutcomeKind::Missing => Ok(TaskOutcome::NoFunction(text(value))),
            OutcomeKind::Invalid => Ok(TaskOutcome::Invalid(text(value))),
            OutcomeKind::Thrown => Err(self.thrown_error(&text(value))),
            OutcomeKind::Stuck => Err(words::ENGINE_STUCK.into()),
        }
    }

    /// A sentence for what JavaScript threw; each limit has its own.
    fn thrown_error(&self, why: &str) -> ScriptError {
        if self.time_limit.expired.get() || why.contains("interrupted") {
            time_limit_error(self.limits)
        } else if why.contains("out of memory") {
            words::ENGINE_MEMORY.with("megabytes", self.limits.memory / (1024 * 1024)).into()
        } else if why.contains("call stack size exceeded") || why.contains("stack overflow") {
            words::ENGINE_STACK.into()
        } else {
            words::ENGINE_THREW.with("why", quoted(why)).into()
        }
    }

    fn send_end(&mut self, run: u64, got: Result<TaskOutcome, ScriptError>) {
        if let Some(said) = self.listeners.remove(&run) {
            let _ = said.send(end_event(got));
        }
    }

    fn send_thrown(&mut self, run: u64, (why, place): Thrown) {
        let outcome = Err(self.thrown_error(&why));
        if let Some(said) = self.listeners.remove(&run) {
            let end = TaskEnd { outcome, changes: ScopeChanges::default(), place };
            let _ = said.send(TaskEvent::Ended(end));
        }
    }

    /// Evaluates an engine module and passes its exports to the prelude.
    fn evaluate_module(&self, run: u64, id: &str, file: &str, source: &str) -> Result<(), Thrown> {
        let caught = |error| self.prelude.exception(error);
        let name = if file.is_empty() { id } else { file };
        let declared = Module::declare(self.prelude.ctx.clone(), name, source).map_err(caught)?;
        let (module, promise) = declared.eval().map_err(caught)?;
        while self.prelude.ctx.execute_pending_job() {
            if self.time_limit.expired.get() {
                return Err(("interrupted".to_owned(), None));
            }
        }
        match promise.result::<rquickjs::Value<'_>>() {
            Some(done) => done.map_err(caught)?,
            None => {
                return Err(("the module waits for something that never comes".to_owned(), None));
            }
        };
        let namespace = module.namespace().map_err(caught)?;
        self.prelude.modules.call::<_, ()>((run, id, namespace)).map_err(caught)
    }
}

/// A request as JSON, with the values that changed since the last one.
fn request_json(request: &Value, scope: &ScopeUpdate) -> String {
    let ScopeUpdate { set, removed, is_whole, names } = scope;
    let json = |part: serde_json::Result<String>| part.unwrap_or_else(|_| "null".to_owned());
    let (set, removed) = (json(serde_json::to_string(set)), json(serde_json::to_string(removed)));
    let names = json(serde_json::to_string(names));
    format!(
        r#"{{"request":{request},"set":{set},"gone":{removed},"reset":{is_whole},"names":{names}}}"#
    )
}
