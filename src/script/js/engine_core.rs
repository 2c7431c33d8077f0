//! The engine itself: a QuickJS runtime and the prelude in it.

use std::sync::Arc;
use std::time::Duration;

use rquickjs::{Context, Function, Module, Runtime};
use serde_json::Value;

use super::messages::{OutcomeKind, PreludeEvent, answer_json, read_events, start_json};
use super::prelude::{self, Prelude};
use super::request_queue::{EngineRequest, RequestQueue};
use super::task::{JsLimits, JsPlace, RuntimeCall, ScopeChanges, TaskEnd, TaskEvent, TaskOutcome};
use super::time_limit::TimeLimit;
use crate::error::{ScriptError, quoted};
use avocet_core::i18n::script as phrases;

/// Maximum number of `console.log` lines per order.
const MAX_LINES: usize = 1000;

/// What JavaScript threw, and where.
type Thrown = (String, Option<JsPlace>);

/// The engine, and who waits for what.
pub(super) struct EngineCore {
    context: Context,
    state: CoreState,
}

struct CoreState {
    queue: Arc<RequestQueue>,
    limits: JsLimits,
    time_limit: Arc<TimeLimit>,
    /// Endless jobs stay in the queue, so nothing else can run after them.
    is_stuck: bool,
}

pub(super) fn end_event(outcome: Result<TaskOutcome, ScriptError>) -> TaskEvent {
    TaskEvent::Ended(TaskEnd { outcome, changes: ScopeChanges::default(), place: None })
}

pub(super) fn time_limit_error(limits: JsLimits) -> ScriptError {
    ScriptError::limit(phrases::ENGINE_TIME.with("seconds", format_seconds(limits.time)))
}

fn format_seconds(time: Duration) -> String {
    let text = format!("{:.1}", time.as_secs_f64());
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

impl EngineCore {
    pub fn new(
        limits: JsLimits,
        time_limit: &Arc<TimeLimit>,
        queue: &Arc<RequestQueue>,
    ) -> rquickjs::Result<EngineCore> {
        let runtime = Runtime::new()?;
        runtime.set_memory_limit(limits.memory);
        runtime.set_max_stack_size(limits.stack);
        let clock = Arc::clone(time_limit);
        runtime.set_interrupt_handler(Some(Box::new(move || clock.check_expired())));
        let context = Context::full(&runtime)?;
        let (asked, clock) = (Arc::clone(queue), Arc::clone(time_limit));
        let answer = move |event: String| answer_at_once(&asked, &clock, &event);
        context.with(|ctx| prelude::install(&ctx, answer))?;
        let time_limit = Arc::clone(time_limit);
        let state = CoreState { queue: Arc::clone(queue), limits, time_limit, is_stuck: false };
        Ok(EngineCore { context, state })
    }

    /// Serves a request. One that cannot be served is dropped, with its listener.
    pub fn serve(&mut self, request: EngineRequest) {
        let EngineCore { context, state } = self;
        if state.is_stuck || state.time_limit.is_closed() {
            return;
        }
        context.with(|ctx| {
            let functions = ctx.userdata::<Vec<Function<'_>>>();
            let functions = functions.as_deref().map(Vec::as_slice).unwrap_or_default();
            if let Some(prelude) = Prelude::of(&ctx, functions) {
                EnteredEngine { prelude, state }.serve_request(request);
            }
        });
    }
}

/// Sends the calls in these events, and waits for the answer to the last one; empty if none comes.
fn answer_at_once(queue: &RequestQueue, time_limit: &TimeLimit, event: &str) -> String {
    let mut last = None;
    for event in read_events(event).unwrap_or_default() {
        if let PreludeEvent::Wants { run, id, name, args, changes } = event {
            let call = RuntimeCall { id, name, args, changes: ScopeChanges::from(changes) };
            queue.send_event(run, TaskEvent::Call(call));
            last = Some(id);
        }
    }
    match last.and_then(|id| queue.wait_for_answer(id)) {
        Some(EngineRequest::Answer { id, result, scope, .. }) => {
            time_limit.restart();
            answer_json(id, result, &scope)
        }
        _ => String::new(),
    }
}

/// The engine while a thread uses it.
struct EnteredEngine<'c, 'js> {
    prelude: Prelude<'c, 'js>,
    state: &'c mut CoreState,
}

impl EnteredEngine<'_, '_> {
    fn serve_request(&mut self, request: EngineRequest) {
        self.state.time_limit.restart();
        let (run, started) = match request {
            EngineRequest::Start { run, task, scope, listener } => {
                self.state.queue.add_listener(run, listener);
                let text = start_json(run, &task, &scope);
                (run, self.prelude.start.call::<_, ()>((text,)))
            }
            EngineRequest::Answer { run, id, result, scope } => {
                let text = answer_json(id, result, &scope);
                (run, self.prelude.answer.call::<_, ()>((text,)))
            }
        };
        let mut failed = started.err().map(|error| self.prelude.exception_text(error));
        let mut lines = 0;
        loop {
            let turned = self.run_pending_jobs();
            if self.state.time_limit.has_expired() || !turned {
                self.state.is_stuck = !turned;
                return self.send_end(run, Err(time_limit_error(self.state.limits)));
            }
            let told = match self.prelude.drain.call::<_, String>((run,)) {
                Ok(text) => match read_events(&text) {
                    Ok(events) => events,
                    // Without the events nothing would end that waits for one.
                    Err(why) => {
                        let waiting = self.state.queue.open_runs();
                        waiting.into_iter().for_each(|run| self.send_end(run, Err(why.clone())));
                        Vec::new()
                    }
                },
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
    }

    /// Runs the pending jobs; false when they never end.
    fn run_pending_jobs(&self) -> bool {
        let mut count = 0_u32;
        while self.prelude.ctx.execute_pending_job() {
            count = count.wrapping_add(1);
            if count.is_multiple_of(64) && self.state.time_limit.check_expired() {
                return false;
            }
        }
        true
    }

    /// Forwards an event; true when the engine has more to do for it.
    fn forward_event(&self, event: PreludeEvent, lines: &mut usize) -> bool {
        match event {
            PreludeEvent::Log { run, text } => {
                *lines += 1;
                if *lines <= MAX_LINES {
                    self.state.queue.send_event(run, TaskEvent::Log(text));
                }
            }
            PreludeEvent::Wants { run, id, name, args, changes } => {
                let changes = ScopeChanges::from(changes);
                let call = RuntimeCall { id, name, args, changes };
                self.state.queue.send_event(run, TaskEvent::Call(call));
            }
            PreludeEvent::Done { run, kind, value, place, changes } => {
                let changes = ScopeChanges::from(changes);
                let outcome = self.task_outcome(kind, value);
                let place = place.map(|(file, line, column)| JsPlace { file, line, column });
                let end = TaskEnd { outcome, changes, place };
                self.state.queue.send_event(run, TaskEvent::Ended(end));
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
            OutcomeKind::Stuck => Err(phrases::ENGINE_STUCK.into()),
        }
    }

    /// A sentence for what JavaScript threw; each limit has its own.
    fn thrown_error(&self, why: &str) -> ScriptError {
        if self.state.time_limit.has_expired() || why.contains("interrupted") {
            time_limit_error(self.state.limits)
        } else if why.contains("out of memory") {
            let megabytes = self.state.limits.memory / (1024 * 1024);
            ScriptError::limit(phrases::ENGINE_MEMORY.with("megabytes", megabytes))
        } else if why.contains("call stack size exceeded") || why.contains("stack overflow") {
            ScriptError::limit(phrases::ENGINE_STACK)
        } else {
            phrases::ENGINE_THREW.with("why", quoted(why.trim_end_matches('.'))).into()
        }
    }

    fn send_end(&self, run: u64, outcome: Result<TaskOutcome, ScriptError>) {
        self.state.queue.send_event(run, end_event(outcome));
    }

    fn send_thrown(&self, run: u64, (why, place): Thrown) {
        let outcome = Err(self.thrown_error(&why));
        let end = TaskEnd { outcome, changes: ScopeChanges::default(), place };
        self.state.queue.send_event(run, TaskEvent::Ended(end));
    }

    /// Evaluates an engine module and passes its exports to the prelude.
    fn evaluate_module(&self, run: u64, id: &str, file: &str, source: &str) -> Result<(), Thrown> {
        let caught = |error| self.prelude.exception(error);
        let name = if file.is_empty() { id } else { file };
        let declared = Module::declare(self.prelude.ctx.clone(), name, source).map_err(caught)?;
        let (module, promise) = declared.eval().map_err(caught)?;
        while self.prelude.ctx.execute_pending_job() {
            if self.state.time_limit.has_expired() {
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
