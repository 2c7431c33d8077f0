//! What goes between an engine's handle and its thread.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;

use super::task::{JsLimits, JsTask, ScopeChanges, ScopeUpdate, TaskEnd, TaskEvent, TaskOutcome};
use crate::error::ScriptError;
use avocet_core::i18n::script as words;

/// How long a thread looks for what the other one is about to give before it falls asleep, which
/// takes longer than most expressions do.
const LOOK: Duration = Duration::from_micros(15);
/// After this many looks in vain, as on a busy machine, only one wait in [`RARELY`] begins with one.
const VAIN: u32 = 4;
const RARELY: u32 = 64;

/// Looks for what another thread is about to give, as long as that helps.
#[derive(Debug, Default)]
pub(super) struct ShortLook {
    vain: AtomicU32,
}

impl ShortLook {
    pub fn find<T>(&self, mut look: impl FnMut() -> Option<T>) -> Option<T> {
        let vain = self.vain.load(Ordering::Relaxed);
        if vain >= VAIN && !vain.is_multiple_of(RARELY) {
            self.vain.store(vain.wrapping_add(1), Ordering::Relaxed);
            return look();
        }
        let started = Instant::now();
        loop {
            for _ in 0..16 {
                if let Some(found) = look() {
                    self.vain.store(0, Ordering::Relaxed);
                    return Some(found);
                }
                std::hint::spin_loop();
            }
            if started.elapsed() >= LOOK {
                self.vain.store(vain.wrapping_add(1), Ordering::Relaxed);
                return None;
            }
        }
    }
}

pub(super) enum EngineRequest {
    Start { run: u64, task: JsTask, scope: ScopeUpdate, said: UnboundedSender<TaskEvent> },
    Answer { run: u64, id: u64, result: Result<Value, String>, scope: ScopeUpdate },
}

pub(super) fn end_event(got: Result<TaskOutcome, ScriptError>) -> TaskEvent {
    TaskEvent::Ended(TaskEnd { outcome: got, changes: ScopeChanges::default(), place: None })
}

pub(super) fn time_limit_error(limits: JsLimits) -> ScriptError {
    ScriptError::limit(words::ENGINE_TIME.with("seconds", format_seconds(limits.time)))
}

fn format_seconds(time: Duration) -> String {
    let text = format!("{:.1}", time.as_secs_f64());
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}
