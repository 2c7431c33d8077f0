//! The handle to an engine, which computes where the script runs or on a thread of its own.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, mpsc};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio_util::sync::CancellationToken;

use super::direct::Lookup;
use super::engine_core::{EngineCore, Evaluated};
use super::expression::JsExpression;
use super::handoff::{EngineRequest, ShortLook, end_event, time_limit_error};
use super::native;
use super::task::{JsLimits, JsScope, JsTask, ScopeUpdate, TaskEnd, TaskEvent, TaskOutcome};
use super::thread;
use super::time_limit::TimeLimit;
use crate::error::ScriptError;
use avocet_core::deadline::with_timeout;
use avocet_core::i18n::script as words;

/// The call that asks the runtime to wait: `setTimeout`.
pub const PAUSE: &str = "#pause";
/// How long after the time limit an engine may take to notice it.
const GRACE: Duration = Duration::from_secs(2);

/// A handle to an engine.
#[derive(Clone, Debug)]
pub struct Engine {
    limits: JsLimits,
    shared: Arc<SharedEngine>,
}

/// What the handles share. When the last one is dropped, even a loop on the thread ends.
struct SharedEngine {
    core: Arc<Mutex<EngineCore>>,
    time_limit: Arc<TimeLimit>,
    /// The requests of the thread, once there is one.
    thread: OnceLock<mpsc::Sender<EngineRequest>>,
    /// A function was declared that may not end as soon as it is interrupted.
    has_long_functions: AtomicBool,
    next_run: AtomicU64,
    short_look: ShortLook,
}

impl std::fmt::Debug for SharedEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SharedEngine").field("time_limit", &self.time_limit).finish_non_exhaustive()
    }
}

impl Drop for SharedEngine {
    fn drop(&mut self) {
        self.time_limit.close();
    }
}

impl Engine {
    /// Starts an engine, which ends what it computes when `stop` is cancelled. Errors are those of
    /// the machine: no memory.
    pub fn start(limits: JsLimits, stop: CancellationToken) -> Result<Engine, ScriptError> {
        let time_limit = Arc::new(TimeLimit::new(limits.time, stop));
        let core = EngineCore::new(limits, &time_limit)
            .map_err(|why| words::ENGINE_START.with("why", why.to_string()))?;
        let shared = SharedEngine {
            core: Arc::new(Mutex::new(core)),
            time_limit,
            thread: OnceLock::new(),
            has_long_functions: AtomicBool::new(false),
            next_run: AtomicU64::new(1),
            short_look: ShortLook::default(),
        };
        Ok(Engine { limits, shared: Arc::new(shared) })
    }

    /// Gives the engine a task, with the current values of the script.
    pub fn run(&self, task: JsTask, scope: impl Into<ScopeUpdate>) -> JsRun {
        let scope = scope.into();
        let id = self.shared.next_run.fetch_add(1, Ordering::Relaxed);
        let is_short = self.is_short(&task);
        let core = if is_short { self.shared.core.try_lock().ok() } else { None };
        if let (Some(mut core), JsTask::Eval(expression)) = (core, &task)
            && let Some(evaluated) = core.evaluate(id, expression, &scope)
        {
            let events = RunEvents::of(&mut core, id, evaluated);
            return JsRun { engine: self.clone(), id, is_short, events };
        }
        let (said, events) = unbounded_channel();
        self.send(EngineRequest::Start { run: id, task, scope, said }, is_short);
        JsRun { engine: self.clone(), id, is_short, events: RunEvents::Channel(events) }
    }

    /// Evaluates an expression that needs no values but the plain ones that it reads, and gets
    /// them from `lookup`; `None`, with nothing done, for any other.
    pub fn run_direct(&self, expression: &JsExpression, lookup: Lookup<'_>) -> Option<JsRun> {
        if !self.is_short_expression(expression) {
            return None;
        }
        let mut core = self.shared.core.try_lock().ok()?;
        let id = self.shared.next_run.fetch_add(1, Ordering::Relaxed);
        let evaluated = core.evaluate_direct(id, expression, lookup)?;
        let events = RunEvents::of(&mut core, id, evaluated);
        Some(JsRun { engine: self.clone(), id, is_short: true, events })
    }

    /// Whether a task ends as soon as it is interrupted.
    fn is_short(&self, task: &JsTask) -> bool {
        if let JsTask::Eval(expression) = task {
            return self.is_short_expression(expression);
        }
        if task.declared_code().is_some_and(|code| !native::ends_when_interrupted(code)) {
            self.shared.has_long_functions.store(true, Ordering::Relaxed);
            return false;
        }
        !self.shared.has_long_functions.load(Ordering::Relaxed)
    }

    fn is_short_expression(&self, expression: &JsExpression) -> bool {
        let long_functions = &self.shared.has_long_functions;
        if !expression.ends_when_interrupted() {
            // A function in it may be called later.
            if native::has_function(expression.text()) {
                long_functions.store(true, Ordering::Relaxed);
            }
            return false;
        }
        !expression.calls_script() || !long_functions.load(Ordering::Relaxed)
    }

    /// Has a request served, here if that is short.
    fn send(&self, request: EngineRequest, is_short: bool) {
        if is_short && let Ok(mut core) = self.shared.core.try_lock() {
            return core.serve(request);
        }
        let thread = &self.shared.thread;
        if thread.get().is_none()
            && let Ok(requests) = thread::start(&self.shared.core)
        {
            let _ = thread.set(requests);
        }
        // If the thread is gone or cannot start, the closed channel answers.
        if let Some(requests) = thread.get() {
            let _ = requests.send(request);
        }
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
    /// It is served where the script runs.
    is_short: bool,
    events: RunEvents,
}

#[derive(Debug)]
enum RunEvents {
    /// Its end, which has already come.
    End(Option<TaskOutcome>),
    Channel(UnboundedReceiver<TaskEvent>),
}

impl RunEvents {
    /// What comes of an expression, evaluated as far as that needs no listener.
    fn of(core: &mut EngineCore, run: u64, evaluated: Evaluated) -> RunEvents {
        match evaluated {
            Evaluated::Done(outcome) => RunEvents::End(Some(outcome)),
            Evaluated::Unfinished(rest) => {
                let (listener, events) = unbounded_channel();
                core.finish(run, rest, listener);
                RunEvents::Channel(events)
            }
        }
    }
}

impl JsRun {
    /// The outcome, if it has already come without any change or error.
    #[expect(clippy::result_large_err, reason = "moved once; a box would cost more")]
    pub fn into_outcome(self) -> Result<TaskOutcome, JsRun> {
        match self.events {
            RunEvents::End(Some(outcome)) => Ok(outcome),
            events => Err(JsRun { events, ..self }),
        }
    }

    /// The next message of the task. The end is the last one; after it, the engine itself may be
    /// gone.
    pub async fn next(&mut self) -> TaskEvent {
        let events = match &mut self.events {
            RunEvents::End(end) => {
                // Others get their turn, as the one that stops the run.
                tokio::task::coop::consume_budget().await;
                return end_event(end.take().ok_or_else(|| words::ENGINE_GONE.into()));
            }
            RunEvents::Channel(events) => events,
        };
        if let Some(event) = self.engine.shared.short_look.find(|| events.try_recv().ok()) {
            return event;
        }
        let limits = self.engine.limits;
        match with_timeout(limits.time * 2 + GRACE, events.recv()).await {
            Ok(Some(said)) => said,
            Ok(None) => end_event(Err(words::ENGINE_GONE.into())),
            // A native call that cannot be interrupted: its thread is abandoned.
            Err(_) => {
                self.engine.shared.time_limit.close();
                end_event(Err(time_limit_error(limits)))
            }
        }
    }

    /// Answers a request with a value, or with a reason that JavaScript can catch, and the current
    /// values of the script.
    pub fn answer(&self, id: u64, result: Result<Value, String>, scope: impl Into<ScopeUpdate>) {
        let request = EngineRequest::Answer { run: self.id, id, result, scope: scope.into() };
        self.engine.send(request, self.is_short);
    }
}
