//! The thread of one engine, and the handle to it.

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rquickjs::{Context, Ctx, Function, Module, Object, Runtime};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::{Changes, Got, JsLimits, JsScope, JsTask, ModuleKind, TaskEnd, TaskEvent, Want};
use crate::deadline::{LATE, with_timeout};
use crate::script::fault::{ScriptError, quoted};
use crate::words::script as words;

const PRELUDE: &str = include_str!("prelude.js");
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
    orders: mpsc::Sender<Order>,
    runs: Arc<AtomicU64>,
    open: Arc<Open>,
    limits: JsLimits,
}

/// Stops the thread once all handles are dropped, even in the middle of a loop.
#[derive(Debug, Default)]
struct Open {
    closed: Arc<AtomicBool>,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::Relaxed);
    }
}

enum Order {
    Start { run: u64, task: JsTask, scope: JsScope, said: UnboundedSender<TaskEvent> },
    Answer { run: u64, id: u64, result: Result<Value, String>, scope: JsScope },
}

impl Engine {
    /// Starts an engine. Errors are those of the machine: no thread, no memory.
    pub fn start(limits: JsLimits) -> Result<Engine, ScriptError> {
        let (orders, inbox) = mpsc::channel();
        let open = Arc::new(Open::default());
        let closed = open.closed.clone();
        thread::Builder::new()
            .name("script".to_owned())
            .stack_size(THREAD_STACK)
            .spawn(move || serve(&inbox, limits, &closed))
            .map_err(|why| words::ENGINE_START.with("why", why.to_string()))?;
        Ok(Engine { orders, runs: Arc::new(AtomicU64::new(1)), open, limits })
    }

    /// Gives the engine a task, with the current values of the script.
    pub fn run(&self, task: JsTask, scope: JsScope) -> JsRun {
        let (said, hear) = unbounded_channel();
        let run = self.runs.fetch_add(1, Ordering::Relaxed);
        // If the engine is gone, the closed channel answers.
        let _ = self.orders.send(Order::Start { run, task, scope, said });
        JsRun { engine: self.clone(), run, hear }
    }

    /// Runs a task that needs nothing from the runtime; any request is answered with an error.
    pub async fn compute(&self, task: JsTask, scope: JsScope) -> TaskEnd {
        let mut run = self.run(task, scope.clone());
        loop {
            match run.next().await {
                TaskEvent::Ended(ended) => return ended,
                TaskEvent::Wants(want) => {
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
    run: u64,
    hear: UnboundedReceiver<TaskEvent>,
}

impl JsRun {
    /// The next message of the task. The end is the last one; after it, the engine itself may be
    /// gone.
    pub async fn next(&mut self) -> TaskEvent {
        let patience = self.engine.limits.time * 2 + GRACE;
        match with_timeout(patience, self.hear.recv()).await {
            Ok(Some(said)) => said,
            Ok(None) => ended(Err(words::ENGINE_GONE.into())),
            // A native call that cannot be interrupted: its thread is abandoned.
            Err(_) => {
                self.engine.open.closed.store(true, Ordering::Relaxed);
                ended(Err(too_long(self.engine.limits)))
            }
        }
    }

    /// Answers a request with a value, or with a reason that JavaScript can catch, and the current
    /// values of the script.
    pub fn answer(&self, id: u64, result: Result<Value, String>, scope: JsScope) {
        let _ = self.engine.orders.send(Order::Answer { run: self.run, id, result, scope });
    }
}

fn ended(got: Result<Got, ScriptError>) -> TaskEvent {
    TaskEvent::Ended(TaskEnd { got, changes: Changes::default() })
}

fn too_long(limits: JsLimits) -> ScriptError {
    words::ENGINE_TIME.with("seconds", seconds(limits.time)).into()
}

fn seconds(time: Duration) -> String {
    let text = format!("{:.1}", time.as_secs_f64());
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// The clock the engine checks while it computes.
#[derive(Clone, Default)]
struct Watch {
    until: Rc<Cell<Option<Instant>>>,
    /// When the engine last checked, and its time limit.
    looked: Rc<Cell<Option<Instant>>>,
    time: Rc<Cell<Duration>>,
    tripped: Rc<Cell<bool>>,
}

impl Watch {
    fn wind(&self, time: Duration) {
        self.until.set(Instant::now().checked_add(time));
        self.looked.set(Some(Instant::now()));
        self.time.set(time);
        self.tripped.set(false);
    }

    fn is_over(&self, closed: &AtomicBool) -> bool {
        let now = Instant::now();
        // The engine checks continuously unless the program is suspended.
        let looked = self.looked.replace(Some(now));
        if looked.is_some_and(|looked| now.saturating_duration_since(looked) > LATE) {
            self.until.set(now.checked_add(self.time.get()));
        }
        let over = self.until.get().is_some_and(|until| now > until);
        if over || closed.load(Ordering::Relaxed) {
            self.tripped.set(true);
        }
        self.tripped.get()
    }
}

/// The main loop of the thread.
fn serve(inbox: &mpsc::Receiver<Order>, limits: JsLimits, closed: &Arc<AtomicBool>) {
    let watch = Watch::default();
    let Ok(runtime) = Runtime::new() else { return };
    runtime.set_memory_limit(limits.memory);
    runtime.set_max_stack_size(limits.stack);
    let (clock, gone) = (watch.clone(), closed.clone());
    runtime.set_interrupt_handler(Some(Box::new(move || clock.is_over(&gone))));
    let Ok(context) = Context::full(&runtime) else { return };
    context.with(|ctx| {
        let Ok(inside) = Inside::new(&ctx) else { return };
        let mut desk =
            Desk { inside, mirror: JsScope::new(), hearers: HashMap::new(), limits, watch };
        while let Ok(order) = inbox.recv() {
            if closed.load(Ordering::Relaxed) || !desk.take(order, closed) {
                return;
            }
        }
    });
}

/// The functions of the prelude.
struct Inside<'js> {
    ctx: Ctx<'js>,
    start: Function<'js>,
    answer: Function<'js>,
    modules: Function<'js>,
    drain: Function<'js>,
}

impl<'js> Inside<'js> {
    fn new(ctx: &Ctx<'js>) -> rquickjs::Result<Inside<'js>> {
        let make: Function<'js> = ctx.eval(PRELUDE)?;
        let made: Object<'js> = make.call((MOST_VALUE,))?;
        Ok(Inside {
            ctx: ctx.clone(),
            start: made.get("start")?,
            answer: made.get("answer")?,
            modules: made.get("modules")?,
            drain: made.get("drain")?,
        })
    }

    /// The reason the last call failed, as text.
    fn caught(&self, error: rquickjs::Error) -> String {
        if !error.is_exception() {
            return error.to_string();
        }
        let value = self.ctx.catch();
        match value.as_exception() {
            Some(exception) => exception.message().unwrap_or_default(),
            None => "unknown".to_owned(),
        }
    }
}

/// An event of the prelude.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Told {
    Log { run: u64, text: String },
    Wants { run: u64, id: u64, name: String, args: Vec<Value>, changes: Changed },
    Done { run: u64, kind: Kind, value: Value, changes: Changed },
    Module { run: u64, id: String, file: String, source: String },
    Declared { run: u64, file: String, source: String },
}

#[derive(Deserialize)]
struct Changed {
    set: Vec<(String, Value)>,
    gone: Vec<String>,
}

impl From<Changed> for Changes {
    fn from(told: Changed) -> Changes {
        Changes { set: told.set, gone: told.gone }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Value,
    Undefined,
    Function,
    Unknown,
    Invalid,
    Thrown,
    Stuck,
}

/// Serves orders one after the other.
struct Desk<'js> {
    inside: Inside<'js>,
    /// The values as the engine has them, so that only changes are sent.
    mirror: JsScope,
    hearers: HashMap<u64, UnboundedSender<TaskEvent>>,
    limits: JsLimits,
    watch: Watch,
}

impl Desk<'_> {
    /// Serves one order; false when the engine can no longer be used.
    fn take(&mut self, order: Order, closed: &AtomicBool) -> bool {
        self.watch.wind(self.limits.time);
        let (run, text, starts) = match order {
            Order::Start { run, task, scope, said } => {
                self.hearers.insert(run, said);
                (run, self.start_text(run, &task, scope), true)
            }
            Order::Answer { run, id, result, scope } => {
                (run, self.answer_text(id, result, scope), false)
            }
        };
        let function = if starts { &self.inside.start } else { &self.inside.answer };
        let mut failed =
            function.call::<_, ()>((text,)).err().map(|error| self.inside.caught(error));
        let mut lines = 0;
        loop {
            let turned = self.turn(closed);
            if self.watch.tripped.get() || !turned {
                self.tell_end(run, Err(too_long(self.limits)));
                // Endless jobs stay in the queue, so nothing else could run.
                return turned;
            }
            let told = match self.inside.drain.call::<_, String>((run,)) {
                Ok(text) => serde_json::from_str::<Vec<Told>>(&text).unwrap_or_default(),
                Err(error) => {
                    failed.get_or_insert(self.inside.caught(error));
                    Vec::new()
                }
            };
            let mut again = false;
            for told in told {
                again |= self.tell(told, &mut lines);
            }
            if !again {
                break;
            }
        }
        if let Some(why) = failed {
            self.tell_end(run, Err(self.thrown(&why)));
        }
        true
    }

    /// Runs the pending jobs; false when they never end.
    fn turn(&self, closed: &AtomicBool) -> bool {
        let mut count = 0_u32;
        while self.inside.ctx.execute_pending_job() {
            count = count.wrapping_add(1);
            if count.is_multiple_of(64) && self.watch.is_over(closed) {
                return false;
            }
        }
        true
    }

    fn start_text(&mut self, run: u64, task: &JsTask, scope: JsScope) -> String {
        let mut order = match task {
            JsTask::Eval(expr) => json!({"type": "eval", "expr": expr}),
            JsTask::Define { name, source } => {
                json!({"type": "define", "name": name, "source": source})
            }
            JsTask::Call { name, args } => json!({"type": "call", "name": name, "args": args}),
            JsTask::Bind { name, to } => json!({"type": "bind", "name": name, "to": to}),
            JsTask::Declare { file, source } => {
                json!({"type": "declare", "file": file, "source": source})
            }
            JsTask::Module { id, kind, file, source } => {
                let kind = match kind {
                    ModuleKind::Module => "module",
                    ModuleKind::Common => "common",
                    ModuleKind::Auto => "auto",
                    ModuleKind::Builtin => "builtin",
                };
                json!({"type": "module", "id": id, "kind": kind, "file": file, "source": source})
            }
        };
        if let Some(order) = order.as_object_mut() {
            order.insert("run".to_owned(), run.into());
            self.update(order, scope);
        }
        order.to_string()
    }

    fn answer_text(&mut self, id: u64, result: Result<Value, String>, scope: JsScope) -> String {
        let mut order = match result {
            Ok(value) => json!({"id": id, "ok": true, "value": value}),
            Err(why) => json!({"id": id, "ok": false, "value": why}),
        };
        if let Some(order) = order.as_object_mut() {
            self.update(order, scope);
        }
        order.to_string()
    }

    /// Adds the values that changed since the last order.
    fn update(&mut self, order: &mut JsScope, scope: JsScope) {
        let set: Vec<Value> = scope
            .iter()
            .filter(|(name, value)| self.mirror.get(*name) != Some(value))
            .map(|(name, value)| json!([name, value]))
            .collect();
        let gone: Vec<Value> = self
            .mirror
            .keys()
            .filter(|name| !scope.contains_key(*name))
            .map(|name| json!(name))
            .collect();
        order.insert("set".to_owned(), set.into());
        order.insert("gone".to_owned(), gone.into());
        self.mirror = scope;
    }

    /// Forwards an event; true when the engine has more to do for it.
    fn tell(&mut self, told: Told, lines: &mut usize) -> bool {
        match told {
            Told::Log { run, text } => {
                *lines += 1;
                if *lines <= MOST_LINES
                    && let Some(said) = self.hearers.get(&run)
                {
                    let _ = said.send(TaskEvent::Log(text));
                }
            }
            Told::Wants { run, id, name, args, changes } => {
                let changes = Changes::from(changes);
                changes.apply(&mut self.mirror);
                if let Some(said) = self.hearers.get(&run) {
                    let _ = said.send(TaskEvent::Wants(Want { id, name, args, changes }));
                }
            }
            Told::Done { run, kind, value, changes } => {
                let changes = Changes::from(changes);
                changes.apply(&mut self.mirror);
                let got = self.got(kind, value);
                if let Some(said) = self.hearers.remove(&run) {
                    let _ = said.send(TaskEvent::Ended(TaskEnd { got, changes }));
                }
            }
            Told::Declared { run, file, source } => {
                let declared = Module::declare(self.inside.ctx.clone(), file, source);
                let got = match declared.map_err(|error| self.inside.caught(error)) {
                    Ok(_) => Ok(Got::Undefined),
                    Err(why) => Err(self.thrown(&why)),
                };
                self.tell_end(run, got);
            }
            Told::Module { run, id, file, source } => {
                if let Err(why) = self.evaluate(run, &id, &file, &source) {
                    self.tell_end(run, Err(self.thrown(&why)));
                }
                return true;
            }
        }
        false
    }

    fn got(&self, kind: Kind, value: Value) -> Result<Got, ScriptError> {
        let text = |value: Value| value.as_str().unwrap_or_default().to_owned();
        match kind {
            Kind::Value => Ok(Got::Value(value)),
            Kind::Undefined => Ok(Got::Undefined),
            Kind::Function => Ok(Got::Function(text(value))),
            Kind::Unknown => Ok(Got::Unknown(text(value))),
            Kind::Invalid => Ok(Got::Invalid(text(value))),
            Kind::Thrown => Err(self.thrown(&text(value))),
            Kind::Stuck => Err(words::ENGINE_STUCK.into()),
        }
    }

    /// A sentence for what JavaScript threw; each limit has its own.
    fn thrown(&self, why: &str) -> ScriptError {
        if self.watch.tripped.get() || why.contains("interrupted") {
            too_long(self.limits)
        } else if why.contains("out of memory") {
            words::ENGINE_MEMORY.with("megabytes", self.limits.memory / (1024 * 1024)).into()
        } else if why.contains("call stack size exceeded") || why.contains("stack overflow") {
            words::ENGINE_STACK.into()
        } else {
            words::ENGINE_THREW.with("why", quoted(why)).into()
        }
    }

    fn tell_end(&mut self, run: u64, got: Result<Got, ScriptError>) {
        if let Some(said) = self.hearers.remove(&run) {
            let _ = said.send(ended(got));
        }
    }

    /// Evaluates an engine module and passes its exports to the prelude.
    fn evaluate(&self, run: u64, id: &str, file: &str, source: &str) -> Result<(), String> {
        let caught = |error| self.inside.caught(error);
        let name = if file.is_empty() { id } else { file };
        let declared = Module::declare(self.inside.ctx.clone(), name, source).map_err(caught)?;
        let (module, promise) = declared.eval().map_err(caught)?;
        while self.inside.ctx.execute_pending_job() {
            if self.watch.tripped.get() {
                return Err("interrupted".to_owned());
            }
        }
        match promise.result::<rquickjs::Value<'_>>() {
            Some(done) => done.map_err(caught)?,
            None => return Err("the module waits for something that never comes".to_owned()),
        };
        let namespace = module.namespace().map_err(caught)?;
        self.inside.modules.call::<_, ()>((run, id, namespace)).map_err(caught)
    }
}
