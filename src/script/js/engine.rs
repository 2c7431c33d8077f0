//! The handle to an engine, which runs on a thread of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::handoff::{EngineRequest, ShortLook, end_event, time_limit_error};
use super::task::{JsLimits, JsScope, JsTask, ScopeUpdate, TaskEnd, TaskEvent};
use super::thread::run_thread;
use crate::deadline::with_timeout;
use crate::i18n::script as words;
use crate::script::error::ScriptError;

/// The call that asks the runtime to wait: `setTimeout`.
pub const PAUSE: &str = "#pause";
/// Stack of the thread; the engine's own limit is far lower.
const THREAD_STACK: usize = 8 * 1024 * 1024;
/// How long after the time limit an engine may take to notice it.
const GRACE: Duration = Duration::from_secs(2);

/// A handle to a running engine. Dropping the last one ends the thread.
#[derive(Clone, Debug)]
pub struct Engine {
    requests: mpsc::Sender<EngineRequest>,
    next_run: Arc<AtomicU64>,
    close_on_drop: Arc<CloseOnDrop>,
    limits: JsLimits,
    short_look: Arc<ShortLook>,
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
            short_look: Arc::default(),
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
        if let Some(event) = self.engine.short_look.find(|| self.events.try_recv().ok()) {
            return event;
        }
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
