//! What hooks say of the steps of a reply: they decline a step, change it, or answer the question
//! about it. A changed step is judged like any other, and only an ordinary question can be answered.

use super::transcript::not_run_observation;
use super::{Turn, TurnAction, Waiting};
use crate::agent::StepAdvice;
use avocet_core::i18n::hooks as phrases;
use avocet_core::protocol::{Outcome, Step};
use avocet_hooks::{HookDecision, HookEvent};
use avocet_safety::{self as safety, NeedsApproval, PolicyContext};

impl Turn {
    /// Asks the hooks of an event about a step, once. The step stays the next one.
    pub(super) fn consult(&mut self, event: HookEvent, step: &Step) -> Option<TurnAction> {
        let key = (step.id.clone(), event);
        let is_followed =
            safety::is_replaced(&step.work) || self.start.hooks.follows_step(event, step);
        if self.batch.advice.consulted.contains(&key) || !is_followed {
            return None;
        }
        self.batch.advice.consulted.push(key);
        self.batch.todo.push_front(step.clone());
        self.waiting = Waiting::Reply;
        Some(TurnAction::Consult(event, Box::new(step.clone())))
    }

    pub(super) fn apply_advice(
        &mut self,
        mut advice: StepAdvice,
        cx: PolicyContext<'_>,
    ) -> TurnAction {
        let Some(mut step) = self.batch.todo.pop_front() else { return self.advance(cx) };
        if advice.decision == Some(HookDecision::Deny) {
            let verdict = safety::assess(step, cx);
            let reason = advice.reason.unwrap_or_else(|| phrases::NO_REASON.into());
            let note = phrases::DENIED.with("reason", reason);
            let seen = not_run_observation(verdict.judgement(), Outcome::Declined, Some(note));
            self.batch.break_off(seen, cx, &mut self.log);
            return self.advance(cx);
        }
        if let Some(changed) = advice.changed.take() {
            step = Step { id: step.id, ..changed };
        }
        self.batch.advice.given.push((step.id.clone(), advice));
        self.batch.todo.push_front(step);
        self.advance(cx)
    }

    /// Asks about a step, unless a hook answers: before, or to the question.
    pub(super) fn ask_unless_advised(
        &mut self,
        held: NeedsApproval,
        cx: PolicyContext<'_>,
    ) -> TurnAction {
        if self.batch.keeps_change(held.judgement()) {
            return self.ask_about(held, cx);
        }
        let is_allowed =
            |turn: &Turn| turn.batch.advice.decision(held.judgement()) == Some(HookDecision::Allow);
        if !is_allowed(self)
            && let Some(consultation) =
                self.consult(HookEvent::PermissionRequest, &held.judgement().step)
        {
            return consultation;
        }
        if !is_allowed(self) {
            return self.ask_about(held, cx);
        }
        match held.approve_by_hook() {
            Ok(cleared) => self.run(cleared, None),
            Err(held) => self.ask_about(*held, cx),
        }
    }

    /// The turn would have ended, and a hook gave a reason to go on.
    pub(super) fn go_on(&mut self, reason: &str) -> TurnAction {
        self.transcript.add_steering(reason);
        self.call_model()
    }
}
