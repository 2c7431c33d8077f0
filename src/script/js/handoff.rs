//! What goes between an engine's handle and its thread.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;

use super::task::{JsLimits, JsTask, ScopeChanges, ScopeUpdate, TaskEnd, TaskEvent, TaskOutcome};
use crate::i18n::script as words;
use crate::script::error::ScriptError;

/// How long a thread looks for what the other one is about to give before it falls asleep, which
/// takes longer than most expressions do.
const LOOK: Duration = Duration::from_micros(50);

/// Looks for what another thread is about to give.
pub(super) fn look_for<T>(mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let started = Instant::now();
    while started.elapsed() < LOOK {
        for _ in 0..32 {
            if let Some(found) = look() {
                return Some(found);
            }
            std::hint::spin_loop();
        }
        // The other thread may need this core.
        thread::yield_now();
    }
    None
}

pub(super) enum EngineRequest {
    Start { run: u64, task: JsTask, scope: ScopeUpdate, said: UnboundedSender<TaskEvent> },
    Answer { run: u64, id: u64, result: Result<Value, String>, scope: ScopeUpdate },
}

pub(super) fn end_event(got: Result<TaskOutcome, ScriptError>) -> TaskEvent {
    TaskEvent::Ended(TaskEnd { outcome: got, changes: ScopeChanges::default(), place: None })
}

pub(super) fn time_limit_error(limits: JsLimits) -> ScriptError {
    words::ENGINE_TIME.with("seconds", format_seconds(limits.time)).into()
}

fn format_seconds(time: Duration) -> String {
    let text = format!("{:.1}", time.as_secs_f64());
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}
