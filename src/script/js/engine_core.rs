//! The engine itself: a QuickJS runtime and the prelude in it. One thread at a time uses it.

use std::collections::HashMap;
use std::sync::Arc;

use rquickjs::{Array, Context, Function, Module, Object, Runtime};
use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;

use super::direct::{DirectExpressions, DirectValue, Lookup, plain_outcome, plain_value};
use super::expression::JsExpression;
use super::handoff::{EngineRequest, end_event, time_limit_error};
use super::messages::{
    OutcomeKind, PreludeEvent, answer_json, read_events, request_json, start_json,
};
use super::prelude::{self, Prelude};
use super::task::{
    JsLimits, JsPlace, JsTask, RuntimeCall, ScopeChanges, ScopeUpdate, TaskEnd, TaskEvent,
    TaskOutcome,
};
use super::time_limit::TimeLimit;
use crate::error::{ScriptError, quoted};
use avocet_core::i18n::script as words;

/// Maximum number of `console.log` lines per order.
const MOST_LINES: usize = 1000;

/// What JavaScript threw, and where.
type Thrown = (String, Option<JsPlace>);

/// The engine, and who waits for what.
pub(super) struct EngineCore {
    context: Context,
    state: CoreState,
}

struct CoreState {
    direct: DirectExpressions,
    listeners: HashMap<u64, UnboundedSender<TaskEvent>>,
    limits: JsLimits,
    time_limit: Arc<TimeLimit>,
    /// Endless jobs stay in the queue, so nothing else can run after them.
    is_stuck: bool,
}

/// How far an expression is evaluated.
pub(super) enum Evaluated {
    Done(TaskOutcome),
    /// There is more to do, and more to report, before the value if there is one.
    Unfinished(Result<Option<TaskOutcome>, String>),
}

impl EngineCore {
    pub fn new(limits: JsLimits, time_limit: &Arc<TimeLimit>) -> rquickjs::Result<EngineCore> {
        let runtime = Runtime::new()?;
        runtime.set_memory_limit(limits.memory);
        runtime.set_max_stack_size(limits.stack);
        let clock = Arc::clone(time_limit);
        runtime.set_interrupt_handler(Some(Box::new(move || clock.check_expired())));
        let context = Context::full(&runtime)?;
        context.with(|ctx| prelude::install(&ctx))?;
        let time_limit = Arc::clone(time_limit);
        let state = CoreState {
            direct: DirectExpressions::default(),
            listeners: HashMap::new(),
            limits,
            time_limit,
            is_stuck: false,
        };
        Ok(EngineCore { context, state })
    }

    /// Serves a request. One that cannot be served is dropped, with its listener.
    pub fn serve(&mut self, request: EngineRequest) {
        self.enter(|engine| engine.serve_request(request));
    }

    /// Evaluates an expression as far as that needs no listener.
    pub fn evaluate(
        &mut self,
        run: u64,
        expression: &JsExpression,
        scope: &ScopeUpdate,
    ) -> Option<Evaluated> {
        self.enter(|engine| engine.evaluate_plainly(run, expression.text(), scope))
    }

    /// The same for an expression that needs no values but the plain ones that it reads; `None`,
    /// with nothing done, for any other.
    pub fn evaluate_direct(
        &mut self,
        run: u64,
        expression: &JsExpression,
        lookup: Lookup<'_>,
    ) -> Option<Evaluated> {
        self.enter(|engine| engine.evaluate_direct(run, expression, lookup)).flatten()
    }

    /// Does what is left to do of an expression.
    pub fn finish(
        &mut self,
        run: u64,
        rest: Result<Option<TaskOutcome>, String>,
        listener: UnboundedSender<TaskEvent>,
    ) {
        self.enter(|engine| {
            engine.state.listeners.insert(run, listener);
            engine.finish_request(run, rest);
        });
    }

    fn enter<T>(&mut self, work: impl FnOnce(&mut EnteredEngine<'_, '_>) -> T) -> Option<T> {
        let state = &mut self.state;
        if state.is_stuck || state.time_limit.is_closed() {
            return None;
        }
        self.context.with(|ctx| {
            let functions = ctx.userdata::<Vec<Function<'_>>>()?;
            let plans = ctx.userdata::<Array<'_>>()?;
            let vars = ctx.userdata::<Object<'_>>()?;
            let prelude = Prelude::of(&ctx, &functions, &plans, &vars)?;
            Some(work(&mut EnteredEngine { prelude, state }))
        })
    }
}

/// The engine while a thread uses it.
struct EnteredEngine<'c, 'js> {
    prelude: Prelude<'c, 'js>,
    state: &'c mut CoreState,
}

impl EnteredEngine<'_, '_> {
    fn serve_request(&mut self, request: EngineRequest) {
        let (run, started) = match request {
            EngineRequest::Start { run, task: JsTask::Eval(expression), scope, said } => {
                self.state.listeners.insert(run, said);
                return match self.evaluate_plainly(run, expression.text(), &scope) {
                    Evaluated::Done(outcome) => self.send_end(run, Ok(outcome)),
                    Evaluated::Unfinished(rest) => self.finish_request(run, rest),
                };
            }
            EngineRequest::Start { run, task, scope, said } => {
                self.state.listeners.insert(run, said);
                if !matches!(task, JsTask::Call { .. } | JsTask::Compile(_)) {
                    // It declares what an expression may mean.
                    self.state.direct.clear();
                }
                self.state.time_limit.restart();
                let text = start_json(run, &task, &scope);
                (run, self.prelude.start.call::<_, ()>((text,)))
            }
            EngineRequest::Answer { run, id, result, scope } => {
                self.state.time_limit.restart();
                let text = answer_json(id, result, &scope);
                (run, self.prelude.answer.call::<_, ()>((text,)))
            }
        };
        let rest = started.map(|()| None).map_err(|error| self.prelude.exception_text(error));
        self.finish_request(run, rest);
    }

    fn evaluate_plainly(&self, run: u64, text: &str, scope: &ScopeUpdate) -> Evaluated {
        self.state.time_limit.restart();
        let value = self.update_values(scope).and_then(|()| self.prelude.quick.call((run, text)));
        self.evaluated(value)
    }

    fn evaluate_direct(
        &mut self,
        run: u64,
        expression: &JsExpression,
        lookup: Lookup<'_>,
    ) -> Option<Evaluated> {
        let CoreState { direct, time_limit, .. } = &mut *self.state;
        Some(match direct.call(&self.prelude, time_limit, run, expression, lookup)? {
            DirectValue::Known(outcome) => Evaluated::Done(outcome),
            DirectValue::Told(value) => self.evaluated(value),
        })
    }

    fn evaluated(&self, value: rquickjs::Result<rquickjs::Value<'_>>) -> Evaluated {
        match value.and_then(|value| plain_outcome(&value)) {
            Ok(Some(outcome)) if !self.prelude.ctx.execute_pending_job() => {
                Evaluated::Done(outcome)
            }
            // What it has left to do is done before its end is reported.
            Ok(outcome) => Evaluated::Unfinished(Ok(outcome)),
            Err(error) => Evaluated::Unfinished(Err(self.prelude.exception_text(error))),
        }
    }

    /// Brings the values of the script up to date. Plain ones need no JSON.
    fn update_values(&self, scope: &ScopeUpdate) -> rquickjs::Result<()> {
        let is_plain = |value: &Value| !value.is_array() && !value.is_object();
        let only_plain = scope.set.iter().all(|(_, value)| is_plain(value));
        if scope.is_whole || scope.names.is_some() || !scope.removed.is_empty() || !only_plain {
            return self.prelude.update.call((request_json(&Value::Null, scope),));
        }
        for (name, value) in &scope.set {
            self.prelude.vars.set(name.as_str(), plain_value(self.prelude.ctx, value)?)?;
        }
        Ok(())
    }

    /// Runs what a request has left to do, and forwards what comes of it.
    fn finish_request(&mut self, run: u64, rest: Result<Option<TaskOutcome>, String>) {
        let (outcome, mut failed) = match rest {
            Ok(outcome) => (outcome, None),
            Err(why) => (None, Some(why)),
        };
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
                        let waiting: Vec<u64> = self.state.listeners.keys().copied().collect();
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
        if let Some(outcome) = outcome {
            self.send_end(run, Ok(outcome));
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
    fn forward_event(&mut self, told: PreludeEvent, lines: &mut usize) -> bool {
        match told {
            PreludeEvent::Log { run, text } => {
                *lines += 1;
                if *lines <= MOST_LINES
                    && let Some(said) = self.state.listeners.get(&run)
                {
                    let _ = said.send(TaskEvent::Log(text));
                }
            }
            PreludeEvent::Wants { run, id, name, args, changes } => {
                let changes = ScopeChanges::from(changes);
                if let Some(said) = self.state.listeners.get(&run) {
                    let _ = said.send(TaskEvent::Call(RuntimeCall { id, name, args, changes }));
                }
            }
            PreludeEvent::Done { run, kind, value, place, changes } => {
                let changes = ScopeChanges::from(changes);
                let got = self.task_outcome(kind, value);
                if let Some(said) = self.state.listeners.remove(&run) {
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
        if self.state.time_limit.has_expired() || why.contains("interrupted") {
            time_limit_error(self.state.limits)
        } else if why.contains("out of memory") {
            let megabytes = self.state.limits.memory / (1024 * 1024);
            ScriptError::limit(words::ENGINE_MEMORY.with("megabytes", megabytes))
        } else if why.contains("call stack size exceeded") || why.contains("stack overflow") {
            ScriptError::limit(words::ENGINE_STACK)
        } else {
            words::ENGINE_THREW.with("why", quoted(why.trim_end_matches('.'))).into()
        }
    }

    fn send_end(&mut self, run: u64, got: Result<TaskOutcome, ScriptError>) {
        if let Some(said) = self.state.listeners.remove(&run) {
            let _ = said.send(end_event(got));
        }
    }

    fn send_thrown(&mut self, run: u64, (why, place): Thrown) {
        let outcome = Err(self.thrown_error(&why));
        if let Some(said) = self.state.listeners.remove(&run) {
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
