//! One user turn: the loop of reply, judgement, question, step, observation.
//!
//! [`Turn`](turn::Turn) decides and is pure; [`drive`](drive::drive) waits. A turn reaches the
//! outside through its [`Host`].

use std::future::Future;

use crate::context::turn_compaction::TurnIndex;
use avocet_core::i18n::{LocalizedText, PhraseValue};
use avocet_core::protocol::budget::SpendLimits;
use avocet_core::protocol::{
    ApprovalMode, ApprovalScope, Decision, Dialect, Event, Message, Observation, Question, Step,
    StepAction, SubmitId, Usage,
};
use avocet_hooks::{HookDecision, HookEvent};
use avocet_model::{ModelError, ModelReply};
use avocet_safety::{ClearedStep, Grant, PolicyContext, SessionOpening};

pub mod drive;
pub mod turn;

/// What a running turn takes over before its next request.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnSettings {
    pub max_steps: Option<usize>,
    pub check: Option<StepAction>,
    pub spend_limits: SpendLimits,
    /// That of another model, if there is one: that of the same one stays within a turn.
    pub dialect: Option<Dialect>,
    pub is_small_model: bool,
}

/// What a running turn hears before a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestNews {
    /// What changed in the settings; `None`: nothing.
    pub settings: Option<TurnSettings>,
    /// What the model reads of subagents that ended in the background.
    pub results: String,
    /// What all requests since the turn began have used, also those of subagents; nothing: the turn
    /// knows of all.
    pub spent: Usage,
}

/// A message to the running turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steering {
    pub submit: Option<SubmitId>,
    pub text: String,
}

/// The joined answer of all hooks about one step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepAdvice {
    pub decision: Option<HookDecision>,
    /// Why it is declined.
    pub reason: Option<PhraseValue>,
    /// The step to run in its place.
    pub changed: Option<Step>,
    /// For the model, with the result.
    pub context: String,
}

/// The interface from a turn to its environment. Implemented by a session and by tests.
pub trait Host: Send {
    /// The current context for judging steps; the policy may have changed since the last one.
    fn policy_context(&mut self) -> PolicyContext<'_>;

    /// What is new since the last request.
    fn news(&mut self) -> impl Future<Output = RequestNews> + Send {
        async { RequestNews::default() }
    }

    /// Calls the model with the messages since the turn began. Streams to the surfaces itself;
    /// returns the whole text.
    fn call_model(
        &mut self,
        request: ModelRequest,
    ) -> impl Future<Output = Result<ModelReply, ModelError>> + Send;

    /// Goes on with the model that replaces the one that cannot answer, and returns how it proposes
    /// steps; `None` without another one.
    fn fall_back(&mut self, why: LocalizedText) -> impl Future<Output = Option<Dialect>> + Send {
        let _unused = why;
        async { None }
    }

    /// The part of the last call's answer that had arrived when a cancel dropped it; `None` if
    /// there was nothing.
    fn partial_answer(&mut self) -> Option<ModelReply> {
        None
    }

    /// The user's messages to the running turn since the last call of this function. Never waits.
    fn take_steering(&mut self) -> Vec<Steering> {
        Vec::new()
    }

    /// A message to the running turn as hooks let it pass; `None`: they do not.
    fn admit(&mut self, steering: Steering) -> impl Future<Output = Option<Steering>> + Send {
        async { Some(steering) }
    }

    /// What the hooks of an event say of a step.
    fn consult(&mut self, event: HookEvent, step: Step) -> impl Future<Output = StepAdvice> + Send {
        let _unused = (event, step);
        async { StepAdvice::default() }
    }

    /// What a hook wants the model to do before the turn ends.
    fn reason_to_go_on(&mut self) -> impl Future<Output = Option<String>> + Send {
        async { None }
    }

    /// Shows the events before a question and the question, and waits for its decision; `None`: the
    /// turn was cancelled, and the question is withdrawn.
    fn ask(
        &mut self,
        events: Vec<Event>,
        question: Question,
    ) -> impl Future<Output = Option<Decision>> + Send;

    /// Runs a cleared step; a cancel stops it, but it still returns an observation.
    fn run(&mut self, step: ClearedStep) -> impl Future<Output = Observation> + Send;

    /// Runs tasks at the same time; a cancel stops them, but each still returns an observation.
    fn run_together(
        &mut self,
        steps: Vec<ClearedStep>,
    ) -> impl Future<Output = Vec<Observation>> + Send {
        async {
            let mut all = Vec::new();
            for step in steps {
                all.push(self.run(step).await);
            }
            all
        }
    }

    /// Sends an event to the surfaces.
    fn emit(&mut self, event: Event) -> impl Future<Output = ()> + Send;

    /// Sends the surfaces the events before a model call. The call need not wait until they have
    /// arrived.
    fn emit_before_call(&mut self, events: Vec<Event>) -> impl Future<Output = ()> + Send {
        async {
            for event in events {
                self.emit(event).await;
            }
        }
    }

    /// The user wants steps that this rule covers to run without a question.
    fn remember(&mut self, rule: String, scope: ApprovalScope);

    /// The user wants the rest to run in this mode.
    fn set_approval_mode(&mut self, mode: ApprovalMode) {
        let _unused = mode;
    }

    /// The user opened to a command for the session what the sandbox had denied it.
    fn open_for_session(&mut self, opening: SessionOpening) {
        let _unused = opening;
    }

    /// The same, limited to the terms of the step it was given for.
    fn grant(&mut self, grant: Grant, scope: ApprovalScope) {
        self.remember(grant.rule.to_string(), scope);
    }
}

/// One call of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelRequest {
    /// The turn's messages after the session's history: the user's message first, then the model's
    /// own replies, tool results and `continue`s.
    pub messages: Vec<Message>,
    pub index: TurnIndex,
    pub dialect: Dialect,
    /// Set when the last reply was invalid and is requested again.
    pub repair: bool,
}
