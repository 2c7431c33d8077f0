//! Applies the user's decision about a step.

use super::log::TurnLog;
use super::transcript::not_run_observation;
use super::{PausedBefore, SideEffect, Turn, TurnAction, Waiting, trust};
use avocet_core::i18n::agent as phrases;
use avocet_core::protocol::{
    ApprovalMode, Decision, Event, Notice, Outcome, Step, StepAction, TurnOutcome,
};
use avocet_safety::{self as safety, Grant, Judgement, NeedsApproval, PolicyContext, Verdict};

impl Turn {
    pub(super) fn handle_decision(
        &mut self,
        decision: Decision,
        cx: PolicyContext<'_>,
    ) -> TurnAction {
        match std::mem::replace(&mut self.waiting, Waiting::Reply) {
            Waiting::Step { held, grants, ahead } => {
                if let Decision::ApproveAll { steps } = &decision {
                    self.batch.preapproved = ahead.preapprove(steps);
                }
                self.apply_step_decision(*held, grants, decision, cx)
            }
            Waiting::Choice { judged } => self.apply_answer(&judged, decision, cx),
            Waiting::Plan { judged } => self.decide_on_plan(&judged, decision, cx),
            Waiting::Denied { held, denied } => {
                self.apply_opening_decision((*held, denied), decision, cx)
            }
            // Only a plain approval of this question alone runs it.
            Waiting::Unsandboxed { held } => match decision {
                Decision::Approve => self.run(held.approve_without_sandbox(), None),
                Decision::Edit(work) => self.run_edited(held.judgement(), work, cx),
                _ => self.reject_step(&held, decision, cx),
            },
            Waiting::Pause { before, .. } if continues(&decision) => {
                self.log.limits.reset();
                self.start.budget.extend(self.usage.counted());
                match before {
                    PausedBefore::Step => self.advance(cx),
                    PausedBefore::Call => self.call_model(),
                }
            }
            Waiting::Pause { why, .. } => {
                self.stop_batch(cx);
                self.end(TurnOutcome::Limit { why })
            }
            // A decision without a pending question: stop rather than guess what it was about.
            Waiting::Reply | Waiting::Run { .. } => self.handle_cancel(cx),
        }
    }

    pub(super) fn apply_step_decision(
        &mut self,
        approval: NeedsApproval,
        grants: Vec<Grant>,
        decision: Decision,
        cx: PolicyContext<'_>,
    ) -> TurnAction {
        let decision = match decision {
            // An edit that changes nothing is an approval.
            Decision::Edit(work) if work == approval.judgement().step.work => Decision::Approve,
            other => other,
        };
        // Edits are accepted from now on where they could be remembered.
        let accepts_edits = !grants.is_empty()
            && approval.judgement().change().is_some()
            && matches!(decision, Decision::AcceptPlan { mode: ApprovalMode::Edits, .. });
        let yes = accepts_edits
            || matches!(
                decision,
                Decision::Approve | Decision::ApproveAll { .. } | Decision::Remember(_)
            );
        if yes && is_stale(&approval, cx, &mut self.log) {
            self.batch.todo.push_front(approval.judgement().step.clone());
            return self.advance(cx);
        }
        match decision {
            Decision::Approve => self.run(approval.approve_named(), None),
            Decision::ApproveAll { .. } => self.run(approval.approve(), None),
            Decision::AcceptPlan { mode, .. } if accepts_edits => {
                self.log.side_effects.push(SideEffect::SetApprovalMode(mode));
                self.run(approval.approve(), None)
            }
            Decision::Remember(scope) => {
                for grant in grants.into_iter().map(Box::new) {
                    self.log.side_effects.push(SideEffect::Remember { grant, scope });
                }
                self.run(approval.approve(), None)
            }
            Decision::Edit(work) => self.run_edited(approval.judgement(), work, cx),
            Decision::Trust if trust::is_given(approval.judgement(), cx) => {
                self.batch.todo.push_front(approval.judgement().step.clone());
                self.advance(cx)
            }
            _ => self.reject_step(&approval, decision, cx),
        }
    }

    /// Records a step as rejected by a decision that is no approval of it.
    pub(super) fn reject_step(
        &mut self,
        approval: &NeedsApproval,
        decision: Decision,
        cx: PolicyContext<'_>,
    ) -> TurnAction {
        let is_stop = decision == Decision::Stop;
        let note = match decision {
            Decision::NotAsked { remedy } => phrases::NOT_ASKED.with("remedy", remedy),
            // An answer to a step that was not a question is not an approval.
            Decision::Reject { word: Some(word) } | Decision::Answer { text: word } => {
                phrases::DECLINED_WORD.with("word", word)
            }
            _ => phrases::DECLINED.into(),
        };
        self.batch.record_not_run(
            approval.judgement(),
            Outcome::Declined,
            Some(note),
            &mut self.log,
        );
        if is_stop {
            self.stop_batch(cx);
            return self.end(TurnOutcome::Stopped);
        }
        self.batch.skip_rest(phrases::SKIPPED, cx, &mut self.log);
        self.advance(cx)
    }

    /// A step the user edited is judged like any other; the user has already approved it.
    pub(super) fn run_edited(
        &mut self,
        judgement: &Judgement,
        action: StepAction,
        cx: PolicyContext<'_>,
    ) -> TurnAction {
        let instead_of = judgement.step.work.clone();
        let step = Step { work: action, ..judgement.step.clone() };
        match safety::assess(step, cx) {
            Verdict::Run(cleared) => self.run(cleared, Some(instead_of)),
            Verdict::Ask(held) => self.run(held.approve(), Some(instead_of)),
            Verdict::Refuse(refused) => {
                let note = phrases::EDITED.with("step", instead_of.short_line());
                let seen = not_run_observation(refused.judgement(), Outcome::Refused, Some(note));
                self.batch.break_off(seen, cx, &mut self.log);
                self.advance(cx)
            }
        }
    }
}

/// Whether a turn that paused goes on.
pub fn continues(decision: &Decision) -> bool {
    match decision {
        Decision::Approve
        | Decision::Choose { .. }
        | Decision::Answer { .. }
        | Decision::Fill { .. }
        | Decision::ApproveAll { .. }
        | Decision::Remember(_)
        | Decision::Edit(_) => true,
        Decision::Reject { .. }
        | Decision::NotAsked { .. }
        | Decision::Dismiss
        | Decision::Trust
        | Decision::TrustParent
        | Decision::WithoutSandbox
        | Decision::AcceptPlan { .. }
        | Decision::Stop => false,
    }
}

/// True if the approved file has changed in the meantime: the user is asked again, with the
/// change as it would be now.
pub(super) fn is_stale(approval: &NeedsApproval, cx: PolicyContext<'_>, log: &mut TurnLog) -> bool {
    let judged = approval.judgement();
    let Some(shown) = judged.change() else { return false };
    let now = safety::assess(judged.step.clone(), cx);
    if now.judgement().change() == Some(shown) {
        return false;
    }
    let say = phrases::CHANGED_MEANWHILE.with("path", shown.path.as_str());
    log.emit(Event::Notice(Notice::warning(say)));
    true
}
