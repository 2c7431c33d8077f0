//! The handle to an engine, which computes on a thread of its own: only that can be abandoned when
//! a function of the engine takes long, which nothing interrupts.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio_util::sync::CancellationToken;

use super::engine_core::{EngineCore, end_event, time_limit_error};
use super::request_queue::{EngineRequest, RequestQueue};
use super::task::{EngineScopeUpdate, JsLimits, JsScope, JsTask, TaskEnd, TaskEvent};
use super::time_limit::TimeLimit;
use crate::error::ScriptError;
use avocet_core::deadline::with_timeout;
use avocet_core::i18n::script as phrases;

/// The call that asks the runtime to wait: `setTimeout`.
pub const PAUSE: &str = "#pause";
/// How long after the time limit an engine may take to notice it.
const GRACE_PERIOD: Duration = Duration::from_secs(2);
/// Stack of the thread; the engine's own limit is far lower.
const THREAD_STACK: usize = 8 * 1024 * 1024;

/// A handle to an engine.
#[derive(Clone, Debug)]
pub struct Engine {
    limits: JsLimits,
    shared: Arc<SharedEngine>,
}

/// What the handles share. When the last one is dropped, even a loop on the thread ends.
#[derive(Debug)]
struct SharedEngine {
    requests: mpsc::Sender<EngineRequest>,
    time_limit: Arc<TimeLimit>,
    next_run: AtomicU64,
}

impl Drop for SharedEngine {
    fn drop(&mut self) {
        self.time_limit.close();
    }
}

impl Engine {
    /// Starts an engine, which ends what it computes when `stop` is cancelled. Errors are those of
    /// the machine: no memory, no thread.
    pub fn start(limits: JsLimits, stop: CancellationToken) -> Result<Engine, ScriptError> {
        let time_limit = Arc::new(TimeLimit::new(limits.time, stop));
        let failed = |why: String| phrases::ENGINE_START.with("why", why);
        let (requests, receiver) = mpsc::channel();
        let queue = Arc::new(RequestQueue::new(receiver));
        let mut core =
            EngineCore::new(limits, &time_limit, &queue).map_err(|why| failed(why.to_string()))?;
        thread::Builder::new()
            .name("script".to_owned())
            .stack_size(THREAD_STACK)
            .spawn(move || {
                while let Some(request) = queue.next_request() {
                    core.serve(request);
                }
            })
            .map_err(|why| failed(why.to_string()))?;
        let shared = SharedEngine { requests, time_limit, next_run: AtomicU64::new(1) };
        Ok(Engine { limits, shared: Arc::new(shared) })
    }

    /// Gives the engine a task, with the current values of the script.
    pub fn run(&self, task: JsTask, scope: impl Into<EngineScopeUpdate>) -> JsRun {
        let id = self.shared.next_run.fetch_add(1, Ordering::Relaxed);
        let (listener, events) = unbounded_channel();
        self.send(EngineRequest::Start { run: id, task, scope: scope.into(), listener });
        JsRun { engine: self.clone(), id, events }
    }

    /// If the thread is gone, the closed channel answers.
    fn send(&self, request: EngineRequest) {
        let _ = self.shared.requests.send(request);
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
                        Err(json!({ "message": format!("${} cannot be called here", want.name) })),
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
        let limits = self.engine.limits;
        match with_timeout(limits.time * 2 + GRACE_PERIOD, self.events.recv()).await {
            Ok(Some(event)) => event,
            Ok(None) => end_event(Err(phrases::ENGINE_GONE.into())),
            // A native call that cannot be interrupted: its thread is abandoned.
            Err(_) => {
                self.engine.shared.time_limit.close();
                end_event(Err(time_limit_error(limits)))
            }
        }
    }

    /// Answers a request with a value, or with a reason that JavaScript can catch, and the current
    /// values of the script.
    pub fn answer(
        &self,
        id: u64,
        result: Result<Value, Value>,
        scope: impl Into<EngineScopeUpdate>,
    ) {
        self.engine.send(EngineRequest::Answer { run: self.id, id, result, scope: scope.into() });
    }
}
