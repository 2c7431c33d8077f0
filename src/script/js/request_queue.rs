//! What the handles of an engine ask it, and who listens: the engine takes the next request, or the
//! answer that JavaScript waits for.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError, mpsc};

use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;

use super::task::{EngineScopeUpdate, JsTask, TaskEvent};

/// What an engine is asked.
pub(super) enum EngineRequest {
    Start { run: u64, task: JsTask, scope: EngineScopeUpdate, listener: UnboundedSender<TaskEvent> },
    Answer { run: u64, id: u64, result: Result<Value, Value>, scope: EngineScopeUpdate },
}

/// The requests of one engine, and the listeners of its runs.
pub(super) struct RequestQueue {
    inbox: Mutex<RequestInbox>,
    listeners: Mutex<HashMap<u64, UnboundedSender<TaskEvent>>>,
}

struct RequestInbox {
    requests: mpsc::Receiver<EngineRequest>,
    /// What came while an answer was waited for.
    postponed_requests: VecDeque<EngineRequest>,
}

impl RequestQueue {
    pub fn new(requests: mpsc::Receiver<EngineRequest>) -> RequestQueue {
        let inbox = RequestInbox { requests, postponed_requests: VecDeque::new() };
        RequestQueue { inbox: Mutex::new(inbox), listeners: Mutex::default() }
    }

    /// The next request; `None` once all handles are gone.
    pub fn next_request(&self) -> Option<EngineRequest> {
        let mut inbox = self.inbox.lock().unwrap_or_else(PoisonError::into_inner);
        inbox.postponed_requests.pop_front().or_else(|| inbox.requests.recv().ok())
    }

    /// The answer to this call; everything else waits. `None` once all handles are gone.
    pub fn wait_for_answer(&self, call: u64) -> Option<EngineRequest> {
        let mut inbox = self.inbox.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let request = inbox.requests.recv().ok()?;
            if matches!(request, EngineRequest::Answer { id, .. } if id == call) {
                return Some(request);
            }
            inbox.postponed_requests.push_back(request);
        }
    }

    pub fn add_listener(&self, run: u64, listener: UnboundedSender<TaskEvent>) {
        self.lock_listeners().insert(run, listener);
    }

    /// Sends an event to the listener of a run, which may be gone.
    pub fn send_event(&self, run: u64, event: TaskEvent) {
        let mut listeners = self.lock_listeners();
        let is_last = matches!(event, TaskEvent::Ended(_));
        if let Some(listener) = listeners.get(&run) {
            let _ = listener.send(event);
        }
        if is_last {
            listeners.remove(&run);
        }
    }

    /// The runs that have not ended.
    pub fn open_runs(&self) -> Vec<u64> {
        self.lock_listeners().keys().copied().collect()
    }

    fn lock_listeners(
        &self,
    ) -> std::sync::MutexGuard<'_, HashMap<u64, UnboundedSender<TaskEvent>>> {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
