//! The thread of one engine, and the handle to it.

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rquickjs::context::EvalOptions;
use rquickjs::{Context, Ctx, Function, Module, Object, Runtime};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::task::{
    JsLimits, JsPlace, JsScope, JsTask, ModuleKind, RuntimeCall, ScopeChanges, ScopeUpdate,
    TaskEnd, TaskEvent, TaskOutcome,
};
use crate::deadline::{LATE, with_timeout};
use crate::i18n::script as words;
use crate::script::error::{ScriptError, quoted};

const PRELUDE: &str = include_str!("prelude.js");
const BUILTINS: &str = include_str!("builtins.js");
/// The call that asks the runtime to wait: `setTimeout`.
pub const PAUSE: &str = "#pause";
/// Maximum number of random bytes of one call.
const MOST_RANDOM: usize = 64 * 1024;
/// Longest value that is passed in or out, in bytes of its JSON.
const MOST_VALUE: usize = 16 * 1024 * 1024;
/// Stack of the thread; the engine's own limit is far lower.
const THREAD_STACK: usize = 8 * 1024 * 1024;
/// How long after the time limit an engine may take to notice it.
const GRACE: Duration = Duration::from_secs(2);
/// Maximum number of `console.log` lines per order.
const MOST_LINES: usize = 1000;

/// A handle to a running engine. Dropping the last one ends the thread.
#[derive(Clone, Debug)]
pub struct Engine {
    requests: mpsc::Sender<EngineRequest>,
    next_run: Arc<AtomicU64>,
    close_on_drop: Arc<CloseOnDrop>,
    limits: JsLimits,
}

/// Stops the thread once all handles are dropped, even in the middle of a loop.
#[derive(Debug, Default)]
struct CloseOnDrop {
    closed: Arc<AtomicBool>,
}

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::Relaxed);
    }
}

enum EngineRequest {
    Start { run: u64, task: JsTask, scope: ScopeUpdate, said: UnboundedSender<TaskEvent> },
    Answer { run: u64, id: u64, result: Result<Value, String>, scope: ScopeUpdate },
}

impl Engine {
    /// Starts an engine. Errors are those of the machine: no thread, no memory.
    pub fn start(limits: JsLimits) -> Result<Engine, ScriptError> {
        let (orders, inbox) = mpsc::channel();
        let open = Arc::new(CloseOnDrop::default());
        let closed = open.closed.clone();
        thread::Builder::new()
            .name("script".to_owned())
            .stack_size(THREAD_STACK)
            .spawn(move || run_thread(&inbox, limits, &closed))
            .map_err(|why| words::ENGINE_START.with("why", why.to_string()))?;
        Ok(Engine {
            requests: orders,
            next_run: Arc::new(AtomicU64::new(1)),
            close_on_drop: open,
            limits,
        })
    }

    /// Gives the engine a task, with the current values of the script.
    pub fn run(&self, task: JsTask, scope: impl Into<ScopeUpdate>) -> JsRun {
        let scope = scope.into();
        let (said, hear) = unbounded_channel();
        let run = self.next_run.fetch_add(1, Ordering::Relaxed);
        // If the engine is gone, the closed channel answers.
        let _ = self.requests.send(EngineRequest::Start { run, task, scope, said });
        JsRun { engine: self.clone(), id: run, events: hear }
    }

    /// Runs a task that needs nothing from the runtime; any request is answered with an error.
    pub async fn compute(&self, task: JsTask, scope: JsScope) -> TaskEnd {
        let mut run = self.run(task, scope.clone());
        loop {
            match run.next().await {
                TaskEvent::Ended(ended) => return ended,
                TaskEvent::Call(want) => {
                    run.answer(
                        want.id,
                        Err(format!("${} cannot be called here", want.name)),
                        scope.clone(),
                    );
                }
                TaskEvent::Log(_) => {}
            }
        }
    }
}

/// A running task.
#[derive(Debug)]
pub struct JsRun {
    engine: Engine,
    id: u64,
    events: UnboundedReceiver<TaskEvent>,
}

impl JsRun {
    /// The next message of the task. The end is the last one; after it, the engine itself may be
    /// gone.
    pub async fn next(&mut self) -> TaskEvent {
        let patience = self.engine.limits.time * 2 + GRACE;
        match with_timeout(patience, self.events.recv()).await {
            Ok(Some(said)) => said,
            Ok(None) => end_event(Err(words::ENGINE_GONE.into())),
            // A native call that cannot be interrupted: its thread is abandoned.
            Err(_) => {
                self.engine.close_on_drop.closed.store(true, Ordering::Relaxed);
                end_event(Err(time_limit_error(self.engine.limits)))
            }
        }
    }

    /// Answers a request with a value, or with a reason that JavaScript can catch, and the current
    /// values of the script.
    pub fn answer(&self, id: u64, result: Result<Value, String>, scope: impl Into<ScopeUpdate>) {
        let scope = scope.into();
        let _ =
            self.engine.requests.send(EngineRequest::Answer { run: self.id, id, result, scope });
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

fn end_event(got: Result<TaskOutcome, ScriptError>) -> TaskEvent {
    TaskEvent::Ended(TaskEnd { outcome: got, changes: ScopeChanges::default(), place: None })
}

fn time_limit_error(limits: JsLimits) -> ScriptError {
    words::ENGINE_TIME.with("seconds", format_seconds(limits.time)).into()
}

fn format_seconds(time: Duration) -> String {
    let text = format!("{:.1}", time.as_secs_f64());
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

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
fn run_thread(inbox: &mpsc::Receiver<EngineRequest>, limits: JsLimits, closed: &Arc<AtomicBool>) {
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
        while let Ok(order) = inbox.recv() {
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
        let (run, text, starts) = match order {
            EngineRequest::Start { run, task, scope, said } => {
                self.listeners.insert(run, said);
                (run, EngineThread::start_json(run, &task, &scope), true)
            }
            EngineRequest::Answer { run, id, result, scope } => {
                (run, EngineThread::answer_json(id, result, &scope), false)
            }
        };
        let function = if starts { &self.prelude.start } else { &self.prelude.answer };
        let mut failed =
            function.call::<_, ()>((text,)).err().map(|error| self.prelude.exception_text(error));
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
