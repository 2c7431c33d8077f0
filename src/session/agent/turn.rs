//! Decides what a turn does next. Pure: no waiting, no I/O, no clock.
//!
//! A [`TurnInput`] says what happened, the returned [`TurnAction`] says what to do; events for the
//! surfaces are drained with [`Turn::take_side_effects`]. The order of a reply's steps: all are
//! judged before the first one runs, so that a later refusal is known in advance; each is judged
//! again when its turn comes, since an earlier one may have changed the environment; a refused,
//! declined or failed one ends the list.

use std::sync::Arc;

use super::{ModelRequest, RequestNews, TurnSettings};
use crate::agent::{Steering, StepAdvice};
use crate::context::history::TurnRecord;
use avocet_core::i18n::{Localize, LocalizedText, agent as phrases};
use avocet_core::protocol::budget::Budget;
use avocet_core::protocol::{
    Decision, Dialect, Event, Image, Observation, Outcome, Question, SandboxDenial, Step,
    StepAction, StepQuestion, Tier, TurnOutcome, Usage,
};
use avocet_hooks::{ActiveHooks, HookEvent};
use avocet_model::{ModelError, ModelReply};
use avocet_safety::{
    self as safety, ClearedStep, Grant, Judgement, NeedsApproval, PolicyContext, Verdict,
};

mod advice;
mod batch;
mod decision;
mod hook_answers;
mod interaction;
mod limits;
mod log;
mod offered_rules;
mod preapproval;
mod reply;
mod reply_meaning;
#[cfg(test)]
mod tests;
mod transcript;
pub mod trust;
mod wall;

use batch::{StepBatch, StepIds, step_to_retry, steps_that_keep};
pub use decision::continues;
pub use hook_answers::add_note;
pub use limits::StepCounter;
use limits::{TurnLimits, TurnUsage};
pub use log::SideEffect;
use log::TurnLog;
use offered_rules::joined_coverage;
pub use offered_rules::joined_rules;
use preapproval::RemainingSteps;
use transcript::{TurnMessages, not_run_observation};

/// The initial data of a turn.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnStart {
    /// The user's message.
    pub text: String,
    pub images: Vec<Image>,
    /// Steps before the turn pauses, as set by the user; 0: no limit.
    pub max_steps: Option<usize>,
    /// What counts to that.
    pub step_counter: StepCounter,
    /// The project's check, which runs after a list of steps that changed files.
    pub check: Option<StepAction>,
    /// What the turn may spend.
    pub budget: Budget,
    /// The number of the first step.
    pub next_step: u64,
    /// How the model proposes steps.
    pub dialect: Dialect,
    /// Small models are watched for steps that bring nothing new.
    pub is_small_model: bool,
    /// What is asked about each step before it is judged.
    pub hooks: Arc<ActiveHooks>,
    /// The subagent whose turn it is, by the step that began it; `None`: the session's own.
    pub agent: Option<String>,
}

impl TurnStart {
    /// With the user's message, which the text that is already there follows.
    #[must_use]
    pub fn with_message(self, message: String, images: Vec<Image>) -> TurnStart {
        TurnStart { text: message + &self.text, images, ..self }
    }
}

/// An event for the turn.
#[derive(Debug)]
pub enum TurnInput {
    Begin,
    /// Something is new before a request was sent.
    News(RequestNews),
    Replied(Result<ModelReply, ModelError>),
    /// Another model answers now. `usage`: what the refused answer cost.
    FellBack {
        dialect: Dialect,
        usage: Usage,
    },
    Decided(Decision),
    /// What hooks say of a step.
    Advised(Box<StepAdvice>),
    /// A hook wants the turn to go on.
    GoOn(String),
    Observed(Observation),
    /// The ends of tasks that ran at the same time; true: the turn was cancelled meanwhile.
    TasksEnded(Vec<Observation>, bool),
    /// The turn was cancelled while this step ran.
    Stopped(Observation),
    Cancelled,
}

/// The next thing to do.
#[derive(Debug)]
pub enum TurnAction {
    Call(ModelRequest),
    Ask(Box<Question>),
    /// The hooks of this event are asked about a step.
    Consult(HookEvent, Box<Step>),
    Run(Box<ClearedStep>),
    /// Tasks that run at the same time.
    RunTogether(Vec<ClearedStep>),
    End(TurnOutcome),
}

/// The result of a turn.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnResult {
    pub ending: TurnOutcome,
    /// The turn's record for the conversation history.
    pub record: TurnRecord,
    pub usage: Usage,
    /// The first free step number for the next turn.
    pub next_step: u64,
}

#[derive(Debug)]
pub struct Turn {
    start: TurnStart,
    transcript: TurnMessages,
    batch: StepBatch,
    waiting: Waiting,
    log: TurnLog,
    usage: TurnUsage,
    /// The user's messages since then; the model gets them before its next step.
    steering: Vec<Steering>,
    ids: StepIds,
    /// What can be shown of the reply that is asked for again.
    first_message: Option<String>,
}

/// The kind of input the turn is waiting for.
#[derive(Debug)]
enum Waiting {
    Reply,
    /// The user's decision about a step.
    Step {
        held: Box<NeedsApproval>,
        grants: Vec<Grant>,
        ahead: RemainingSteps,
    },
    /// The user's answer to a question of the model.
    Choice {
        judged: Box<Judgement>,
    },
    /// The user's decision about the model's plan.
    Plan {
        judged: Box<Judgement>,
    },
    /// The user's decision whether a step runs again with what the sandbox denied it.
    Denied {
        held: Box<NeedsApproval>,
        denied: SandboxDenial,
    },
    /// The user's decision whether that step runs again without the sandbox.
    Unsandboxed {
        held: Box<NeedsApproval>,
    },
    /// The user's decision whether to continue.
    Pause {
        why: LocalizedText,
        before: PausedBefore,
    },
    /// The end of a running step. `instead_of`: the step as the model had proposed it.
    Run {
        instead_of: Option<StepAction>,
    },
}

#[derive(Clone, Copy, Debug)]
enum PausedBefore {
    Step,
    Call,
}

impl Turn {
    pub fn new(start: TurnStart) -> Turn {
        Turn {
            transcript: TurnMessages::new(&start.text, start.images.clone(), start.dialect),
            batch: StepBatch::default(),
            waiting: Waiting::Reply,
            log: TurnLog {
                side_effects: Vec::new(),
                limits: TurnLimits::new(
                    start.max_steps,
                    start.is_small_model,
                    start.step_counter.clone(),
                ),
                untold_usage: Usage::default(),
            },
            usage: TurnUsage::default(),
            steering: Vec::new(),
            ids: StepIds { agent: start.agent.clone(), next: start.next_step },
            first_message: None,
            start,
        }
    }

    /// The side effects for the host, in order, each once.
    pub fn take_side_effects(&mut self) -> Vec<SideEffect> {
        std::mem::take(&mut self.log.side_effects)
    }

    /// Adds a message from the user to the running turn. It takes effect at the next boundary: the
    /// rest of the list is not run, and the model answers the message.
    pub fn steer(&mut self, steering: Steering) {
        self.steering.push(steering);
    }

    /// The result of the turn.
    pub fn result(&self, outcome: TurnOutcome) -> TurnResult {
        TurnResult {
            ending: outcome,
            record: self.transcript.record(),
            usage: self.usage.own,
            next_step: self.ids.next,
        }
    }

    /// Advances the state machine by one step.
    pub fn next(&mut self, input: TurnInput, cx: PolicyContext<'_>) -> TurnAction {
        match input {
            TurnInput::Begin => self.call_model(),
            TurnInput::News(RequestNews { settings, results, spent }) => {
                self.usage.count_all(spent);
                settings.into_iter().for_each(|new| self.take_over(new));
                match results.trim() {
                    "" => self.call_model(),
                    results => self.go_on(results),
                }
            }
            TurnInput::Replied(Ok(answer)) => self.handle_reply(answer, cx),
            TurnInput::Replied(Err(ModelError::NoTools { .. })) if self.transcript.use_json() => {
                self.call_model()
            }
            TurnInput::FellBack { dialect, usage } => {
                self.usage.own = self.usage.own.plus(usage);
                self.transcript.go_on_in(dialect);
                self.call_model()
            }
            TurnInput::Advised(advice) => self.apply_advice(*advice, cx),
            TurnInput::GoOn(reason) => self.go_on(&reason),
            TurnInput::Replied(Err(error)) => {
                self.end(TurnOutcome::Failed { why: error.localized() })
            }
            TurnInput::Decided(decision) => self.handle_decision(decision, cx),
            TurnInput::Observed(seen) => {
                let is_running = matches!(self.waiting, Waiting::Run { .. });
                let again = step_to_retry(&seen, is_running, &mut self.ids, cx);
                let kept = steps_that_keep(&seen, &mut self.ids);
                let failed = self.batch.failed_approval(&seen);
                let goes_on = self.handle_observation(seen);
                if !goes_on && again.is_none() {
                    self.batch.skip_rest(phrases::SKIPPED, cx, &mut self.log);
                } else if let Some(why) = failed {
                    self.batch.skip_approved(&why, cx, &mut self.log);
                }
                self.batch.total += kept.len();
                self.batch.keeping.extend(kept.iter().map(|step| step.id.clone()));
                kept.into_iter().rev().for_each(|step| self.batch.todo.push_front(step));
                if let Some((held, denied)) = again {
                    return self.ask_to_open(held, denied);
                }
                self.advance(cx)
            }
            TurnInput::TasksEnded(all, is_stopped) => {
                all.into_iter().for_each(|seen| _ = self.handle_observation(seen));
                if is_stopped { self.handle_cancel(cx) } else { self.advance(cx) }
            }
            TurnInput::Stopped(seen) => {
                self.handle_observation(seen);
                self.handle_cancel(cx)
            }
            TurnInput::Cancelled => self.handle_cancel(cx),
        }
    }

    fn end(&mut self, outcome: TurnOutcome) -> TurnAction {
        self.transcript.forget_repair();
        self.transcript.close_calls();
        TurnAction::End(outcome)
    }

    fn take_over(&mut self, settings: TurnSettings) {
        let TurnSettings { max_steps, check, spend_limits, dialect, is_small_model } = settings;
        (self.start.max_steps, self.start.check) = (max_steps, check);
        self.start.budget.set_limits(spend_limits);
        self.log.limits.update(max_steps, is_small_model);
        if let Some(dialect) = dialect.filter(|dialect| *dialect != self.transcript.dialect()) {
            self.transcript.go_on_in(dialect);
        }
    }

    // Replies

    fn call_model(&mut self) -> TurnAction {
        if let Some(why) = self.start.budget.stop_reason(self.usage.counted()) {
            return self.ask_to_continue(why, PausedBefore::Call);
        }
        self.waiting = Waiting::Reply;
        TurnAction::Call(ModelRequest {
            messages: self.transcript.messages().to_vec(),
            index: self.transcript.index().clone(),
            dialect: self.transcript.dialect(),
            repair: self.transcript.is_repairing(),
        })
    }

    // Steps

    /// Goes to the next step of the list, or back to the model.
    fn advance(&mut self, cx: PolicyContext<'_>) -> TurnAction {
        if !self.steering.is_empty() {
            self.batch.skip_rest(phrases::STEERED, cx, &mut self.log);
            if self.batch.todo.is_empty() {
                return self.send_results();
            }
        }
        let limits = &self.log.limits;
        let next = self.batch.todo.front();
        if let Some(why) = limits.pause_reason(next, cx.policy.shelter, &self.start.budget) {
            return self.ask_to_continue(why, PausedBefore::Step);
        }
        let step = self.batch.todo.pop_front().or_else(|| {
            self.batch.check_step(self.start.check.as_ref(), &mut self.ids, &mut self.log)
        });
        let Some(step) = step else { return self.send_results() };
        if let Some(consultation) = self.consult(HookEvent::PreToolUse, &step) {
            return consultation;
        }
        let verdict = safety::assess(step, cx);
        if let Some(fault) = interaction::fault_of(verdict.judgement())
            && !matches!(verdict, Verdict::Refuse(_))
        {
            self.batch.record_fault(verdict.judgement(), fault, &mut self.log);
            return self.advance(cx);
        }
        match verdict {
            Verdict::Run(cleared) if interaction::is_interaction(cleared.judgement()) => {
                self.interact(&cleared, cx)
            }
            Verdict::Run(cleared) if self.batch.has_to_ask(cleared.judgement()) => {
                self.ask_about(cleared.into_needs_approval(), cx)
            }
            Verdict::Run(cleared) if interaction::is_task(cleared.judgement()) => {
                interaction::run_tasks(self, cleared, cx)
            }
            Verdict::Run(cleared) => self.run(cleared, None),
            // A step that cannot start is not worth a question.
            Verdict::Ask(held)
                if let Some(why) = transcript::missing_program_reason(held.judgement(), cx) =>
            {
                let seen = not_run_observation(held.judgement(), Outcome::NotStarted, Some(why));
                self.batch.break_off(seen, cx, &mut self.log);
                self.advance(cx)
            }
            Verdict::Ask(held)
                if self.batch.preapproved.covers(held.judgement())
                    && !self.batch.has_to_ask(held.judgement()) =>
            {
                self.run(held.approve(), None)
            }
            Verdict::Ask(held) => self.ask_unless_advised(held, cx),
            Verdict::Refuse(refused) => {
                let seen = not_run_observation(refused.judgement(), Outcome::Refused, None);
                self.batch.break_off(seen, cx, &mut self.log);
                self.advance(cx)
            }
        }
    }

    fn run(&mut self, cleared: ClearedStep, action: Option<StepAction>) -> TurnAction {
        self.waiting = Waiting::Run { instead_of: action };
        TurnAction::Run(Box::new(cleared))
    }

    fn ask_about(&mut self, approval: NeedsApproval, cx: PolicyContext<'_>) -> TurnAction {
        let ahead = RemainingSteps::assess(&self.batch.todo, cx);
        let judged = approval.judgement();
        let grants = if self.batch.keeps_change(judged) {
            Vec::new()
        } else {
            safety::suggest_grants(judged, cx)
        };
        let risk = if self.batch.keeps_change(judged) {
            safety::keeping_risk(&judged.risk)
        } else {
            safety::with_sandbox_reasons(judged, cx.policy)
        };
        let asked = self.batch.question(judged);
        let question = Question::Step(StepQuestion {
            of: asked.of + ahead.questions(&self.batch.preapproved),
            risk,
            rule: joined_rules(&grants),
            rule_covers: joined_coverage(&grants, &judged.cwd),
            trust: trust::offer(judged, cx),
            change: judged.change().cloned(),
            rest: ahead.upcoming_steps(),
            ..asked
        });
        self.waiting = Waiting::Step { held: Box::new(approval), grants, ahead };
        TurnAction::Ask(Box::new(question))
    }

    fn ask_to_continue(&mut self, why: LocalizedText, before: PausedBefore) -> TurnAction {
        self.waiting = Waiting::Pause { why: why.clone(), before };
        TurnAction::Ask(Box::new(Question::Pause { why }))
    }

    /// Processes the observation of a step; true if the rest of the list may follow.
    fn handle_observation(&mut self, mut observation: Observation) -> bool {
        let waiting = std::mem::replace(&mut self.waiting, Waiting::Reply);
        if let Waiting::Run { instead_of: Some(original) } = waiting {
            let edited = phrases::EDITED.with("step", original.short_line());
            observation.note = Some(match observation.note.take() {
                Some(note) => phrases::EDITED_AND.with("edited", edited).with("note", note),
                None => edited,
            });
            if observation.outcome == Outcome::Ran {
                observation.outcome = Outcome::Edited;
            }
        }
        self.batch.mark_check(&mut observation);
        if !observation.runs_on() {
            self.log.count(&mut observation);
        }
        let goes_on = match (observation.outcome, observation.exit_code) {
            (Outcome::Ran | Outcome::Edited, Some(0)) => true,
            // A read that finds nothing exits with 1; the next step may depend on a change that
            // failed. The prompt says that calls of one reply should be independent.
            (Outcome::Ran | Outcome::Edited, Some(_)) => {
                let is_program = !matches!(observation.step.work, StepAction::Tool { .. });
                let is_call = self.transcript.dialect() == Dialect::Tools && is_program;
                is_call || observation.risk.tier == Tier::L0
            }
            // Ended by a signal, unless it runs on.
            (Outcome::Ran | Outcome::Edited, None) => observation.runs_on(),
            (
                Outcome::Declined
                | Outcome::Refused
                | Outcome::TimedOut
                | Outcome::Cancelled
                | Outcome::Interrupted
                | Outcome::NotStarted,
                _,
            ) => false,
        };
        self.batch.record(observation, &mut self.log);
        goes_on
    }

    /// The list is done: sends the results to the model.
    fn send_results(&mut self) -> TurnAction {
        let seen = std::mem::take(&mut self.batch.observations);
        self.transcript.add_results(&seen);
        if self.steering.is_empty() {
            self.transcript.add_continue();
            return self.call_model();
        }
        self.deliver_steering()
    }

    /// Sends the user's messages to the model, which answers them.
    fn deliver_steering(&mut self) -> TurnAction {
        for Steering { submit, text } in std::mem::take(&mut self.steering) {
            self.transcript.add_steering(&text);
            self.log.emit(Event::Steered { text, submit });
        }
        self.log.limits.reset();
        self.call_model()
    }

    fn handle_cancel(&mut self, cx: PolicyContext<'_>) -> TurnAction {
        match std::mem::replace(&mut self.waiting, Waiting::Reply) {
            Waiting::Step { held, .. } => {
                let note = Some(phrases::CANCELLED.into());
                self.batch.record(
                    not_run_observation(held.judgement(), Outcome::Cancelled, note),
                    &mut self.log,
                );
            }
            Waiting::Choice { judged } | Waiting::Plan { judged } => {
                let note = Some(phrases::CANCELLED.into());
                self.batch
                    .record(not_run_observation(&judged, Outcome::Cancelled, note), &mut self.log);
            }
            Waiting::Reply
            | Waiting::Denied { .. }
            | Waiting::Unsandboxed { .. }
            | Waiting::Pause { .. }
            | Waiting::Run { .. } => {}
        }
        self.stop_batch(cx);
        self.transcript.forget_repair();
        self.transcript.add_cancelled();
        self.end(TurnOutcome::Cancelled)
    }

    /// Skips all that is left of the list.
    fn stop_batch(&mut self, cx: PolicyContext<'_>) {
        let seen = self.batch.stop(cx, &mut self.log);
        self.transcript.add_results(&seen);
    }
}
