//! Decides what a turn does next. Pure: no waiting, no I/O, no clock.
//!
//! A [`TurnInput`] says what happened, the returned [`TurnAction`] says what to do; events for the
//! surfaces are drained with [`Turn::take_side_effects`]. The order of a reply's steps: all are
//! judged before the first one runs, so that a later refusal is known in advance; each is judged
//! again when its turn comes, since an earlier one may have changed the environment; a refused,
//! declined or failed one ends the list.

use std::collections::VecDeque;
use std::sync::Arc;

use super::{ModelRequest, RequestNews, TurnSettings};
use crate::agent::{Steering, StepAdvice};
use crate::context::history::TurnRecord;
use avocet_core::i18n::{Localize, LocalizedText, agent as phrases};
use avocet_core::protocol::budget::Budget;
use avocet_core::protocol::{
    ApprovalMode, ApprovalScope, Decision, Dialect, Event, Image, Observation, Outcome, Question,
    SandboxDenial, Step, StepAction, StepQuestion, Tier, TurnOutcome, Usage,
};
use avocet_hooks::{ActiveHooks, HookEvent};
use avocet_model::{ModelError, ModelReply};
use avocet_safety::{
    self as safety, ClearedStep, Grant, Judgement, NeedsApproval, PolicyContext, SessionOpening,
    Verdict,
};

mod advice;
mod decision;
mod hook_answers;
mod interaction;
mod limits;
mod offered_rules;
mod preapproval;
mod project_check;
mod reply;
mod skipped_steps;
#[cfg(test)]
mod tests;
mod transcript;
pub mod trust;
mod wall;

use hook_answers::BatchAdvice;
pub use hook_answers::add_note;
use limits::{TurnLimits, TurnUsage};
use offered_rules::joined_coverage;
pub use offered_rules::joined_rules;
use preapproval::{Preapproved, RemainingSteps};
use transcript::TurnMessages;

/// The initial data of a turn.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnStart {
    /// The user's message.
    pub text: String,
    pub images: Vec<Image>,
    /// Steps before the turn pauses, as set by the user; 0: no limit.
    pub max_steps: Option<usize>,
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

/// A side effect for the host.
#[derive(Debug, PartialEq)]
pub enum SideEffect {
    Event(Box<Event>),
    Remember {
        grant: Box<Grant>,
        scope: ApprovalScope,
    },
    /// The user opened to a command for the session what the sandbox had denied it.
    OpenForSession(Box<SessionOpening>),
    /// The user accepted a plan, to be carried out in this mode.
    SetApprovalMode(ApprovalMode),
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
    batch: Batch,
    waiting: Waiting,
    limits: TurnLimits,
    usage: TurnUsage,
    side_effects: Vec<SideEffect>,
    /// The user's messages since then; the model gets them before its next step.
    steering: Vec<Steering>,
    next_step: u64,
    /// What can be shown of the reply that is asked for again.
    first_message: Option<String>,
}

/// The steps of one reply.
#[derive(Debug, Default)]
struct Batch {
    todo: VecDeque<Step>,
    observations: Vec<Observation>,
    preapproved: Preapproved,
    why: String,
    expected: String,
    total: usize,
    /// The steps that the user was asked about.
    asked: Vec<String>,
    /// The step that checks the changes of the list.
    check_id: Option<String>,
    /// The steps that would keep a change that was put back.
    keeping: Vec<String>,
    advice: BatchAdvice,
}

impl Batch {
    fn keeps_change(&self, judged: &Judgement) -> bool {
        self.keeping.contains(&judged.step.id)
    }
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
            batch: Batch::default(),
            waiting: Waiting::Reply,
            limits: TurnLimits::new(start.max_steps, start.is_small_model),
            usage: TurnUsage::default(),
            side_effects: Vec::new(),
            steering: Vec::new(),
            next_step: start.next_step,
            first_message: None,
            start,
        }
    }

    /// The side effects for the host, in order, each once.
    pub fn take_side_effects(&mut self) -> Vec<SideEffect> {
        std::mem::take(&mut self.side_effects)
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
            next_step: self.next_step,
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
                let again = self.step_to_retry(&seen, cx);
                let kept = self.steps_that_keep(&seen);
                let failed = self.failed_approval(&seen);
                let goes_on = self.handle_observation(seen);
                if !goes_on && again.is_none() {
                    self.skip_rest(phrases::SKIPPED, cx);
                } else if let Some(why) = failed {
                    self.skip_approved(&why, cx);
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
        self.limits.update(max_steps, is_small_model);
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
            self.skip_rest(phrases::STEERED, cx);
            if self.batch.todo.is_empty() {
                return self.send_results();
            }
        }
        if let Some(why) = self.pause_reason(self.batch.todo.front(), cx) {
            return self.ask_to_continue(why, PausedBefore::Step);
        }
        let step = self.batch.todo.pop_front().or_else(|| self.check_step());
        let Some(step) = step else { return self.send_results() };
        if let Some(consultation) = self.consult(HookEvent::PreToolUse, &step) {
            return consultation;
        }
        match safety::assess(step, cx) {
            Verdict::Run(cleared) if interaction::is_interaction(cleared.judgement()) => {
                self.interact(&cleared, cx)
            }
            Verdict::Run(cleared)
                if let Some(fault) = interaction::fault_of(cleared.judgement()) =>
            {
                self.record_fault(cleared.judgement(), fault, cx)
            }
            Verdict::Run(cleared)
                if self.batch.keeps_change(cleared.judgement())
                    || self.batch.advice.asks(cleared.judgement()) =>
            {
                self.ask_about(cleared.into_needs_approval(), cx)
            }
            Verdict::Run(cleared) if interaction::is_task(cleared.judgement()) => {
                interaction::run_tasks(self, cleared, cx)
            }
            Verdict::Run(cleared) => self.run(cleared, None),
            Verdict::Ask(held) if let Some(fault) = interaction::fault_of(held.judgement()) => {
                self.record_fault(held.judgement(), fault, cx)
            }
            // A step that cannot start is not worth a question.
            Verdict::Ask(held)
                if let Some(why) = transcript::missing_program_reason(held.judgement(), cx) =>
            {
                self.record_not_run(held.judgement(), Outcome::NotStarted, Some(why));
                self.skip_rest(phrases::SKIPPED, cx);
                self.advance(cx)
            }
            Verdict::Ask(held)
                if self.batch.preapproved.covers(held.judgement())
                    && !self.batch.keeps_change(held.judgement())
                    && !self.batch.advice.asks(held.judgement()) =>
            {
                self.run(held.approve(), None)
            }
            Verdict::Ask(held) => self.ask_unless_advised(held, cx),
            Verdict::Refuse(refused) => {
                self.record_not_run(refused.judgement(), Outcome::Refused, None);
                self.skip_rest(phrases::SKIPPED, cx);
                self.advance(cx)
            }
        }
    }

    fn run(&mut self, cleared: ClearedStep, action: Option<StepAction>) -> TurnAction {
        self.waiting = Waiting::Run { instead_of: action };
        TurnAction::Run(Box::new(cleared))
    }

    fn pause_reason(&self, step: Option<&Step>, cx: PolicyContext<'_>) -> Option<LocalizedText> {
        self.limits.pause_reason(step, cx.policy.shelter, &self.start.budget)
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
        let asked = self.step_question(judged);
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
        self.mark_check(&mut observation);
        if !observation.runs_on() {
            self.count(&mut observation);
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
        self.record(observation);
        goes_on
    }

    /// A reason to skip the other steps of a batch approval because this one failed: the user who
    /// approved tests and a commit expected the tests to pass.
    fn failed_approval(&self, observation: &Observation) -> Option<LocalizedText> {
        let is_approved = !self.batch.preapproved.is_empty() && observation.risk.tier > Tier::L0;
        let has_failed = observation.exit_code.is_some_and(|code| code != 0);
        let why = || phrases::SKIPPED_TOGETHER.with("step", observation.step.work.short_line());
        (is_approved && has_failed).then(why)
    }

    fn record_not_run(
        &mut self,
        judged: &Judgement,
        outcome: Outcome,
        text: Option<LocalizedText>,
    ) {
        let mut seen = transcript::not_run_observation(judged, outcome, text);
        self.count(&mut seen);
        self.record(seen);
    }

    /// Counts a result, and tells the model if it is the same as the one before.
    fn count(&mut self, observation: &mut Observation) {
        if self.limits.record_outcome(observation) {
            observation.note = Some(match observation.note.take() {
                Some(note) => {
                    phrases::EDITED_AND.with("edited", note).with("note", phrases::REPEATED)
                }
                None => phrases::REPEATED.into(),
            });
        }
    }

    fn record(&mut self, mut observation: Observation) {
        self.batch.advice.add_context(&mut observation);
        self.emit(Event::StepFinished(Box::new(observation.clone())));
        self.batch.observations.push(observation);
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
            self.emit(Event::Steered { text, submit });
        }
        self.limits.reset();
        self.call_model()
    }

    fn handle_cancel(&mut self, cx: PolicyContext<'_>) -> TurnAction {
        match std::mem::replace(&mut self.waiting, Waiting::Reply) {
            Waiting::Step { held, .. } => {
                let note = Some(phrases::CANCELLED.into());
                self.record(transcript::not_run_observation(
                    held.judgement(),
                    Outcome::Cancelled,
                    note,
                ));
            }
            Waiting::Choice { judged } | Waiting::Plan { judged } => {
                let note = Some(phrases::CANCELLED.into());
                self.record(transcript::not_run_observation(&judged, Outcome::Cancelled, note));
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

    fn emit(&mut self, event: Event) {
        self.side_effects.push(SideEffect::Event(Box::new(event)));
    }
}
