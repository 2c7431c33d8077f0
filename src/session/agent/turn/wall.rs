//! Handles a step that the sandbox denied something: tells the user what was denied, and asks
//! whether to run it again with that opened.

use super::{SideEffect, Turn, TurnAction, Waiting};
use avocet_core::protocol::{ApprovalScope, Decision, Question, SandboxDenial, StepQuestion};
use avocet_safety::{self as safety, NeedsApproval, PolicyContext, SessionOpening};

impl Turn {
    pub(super) fn ask_to_open(
        &mut self,
        approval: NeedsApproval,
        denied: SandboxDenial,
    ) -> TurnAction {
        let judged = approval.judgement();
        // An opening is never one of several. For the session it is for exactly this command.
        let question = Question::Step(StepQuestion {
            risk: safety::opening_risk(judged, &denied),
            rule: Some(judged.step.work.short_line()),
            ..self.batch.question(judged)
        });
        self.waiting = Waiting::Denied { held: Box::new(approval), denied };
        TurnAction::Ask(Box::new(question))
    }

    /// Only a plain approval runs it, and one for the session.
    pub(super) fn apply_opening_decision(
        &mut self,
        (held, denied): (NeedsApproval, SandboxDenial),
        decision: Decision,
        cx: PolicyContext<'_>,
    ) -> TurnAction {
        match decision {
            Decision::Approve => self.run(held.approve_with(denied), None),
            Decision::Remember(ApprovalScope::Session) => {
                let judged = held.judgement();
                let command = judged.step.work.clone();
                let cwd = judged.cwd.clone();

                let opening = SessionOpening { command, cwd, denied: denied.clone() };
                self.log.side_effects.push(SideEffect::OpenForSession(Box::new(opening)));
                self.run(held.approve_with(denied), None)
            }
            // A graver question, which is asked by itself.
            Decision::WithoutSandbox => {
                let question = Question::Step(StepQuestion {
                    risk: safety::unsandboxed_risk(held.judgement()),
                    ..self.batch.question(held.judgement())
                });
                self.waiting = Waiting::Unsandboxed { held: Box::new(held) };
                TurnAction::Ask(Box::new(question))
            }
            Decision::Edit(work) => self.run_edited(held.judgement(), work, cx),
            _ => self.reject_step(&held, decision, cx),
        }
    }
}
