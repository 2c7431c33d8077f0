//! Handles a step that the sandbox denied something: tells the user what was denied, and asks
//! whether to run it again with that opened. And asks about files that were put back after a step.

use super::{SideEffect, Turn, TurnAction, Waiting};
use avocet_core::protocol::{
    ApprovalScope, Decision, Observation, Question, Requires, SandboxDenial, Step, StepAction,
    StepQuestion, Tier,
};
use avocet_safety::{self as safety, NeedsApproval, PolicyContext, SessionOpening};

impl Turn {
    /// The step to run again, if an approved one was denied something.
    pub(super) fn step_to_retry(
        &mut self,
        observation: &Observation,
        cx: PolicyContext<'_>,
    ) -> Option<(NeedsApproval, SandboxDenial)> {
        let denied = observation.denied.clone().filter(SandboxDenial::is_offered)?;
        if observation.risk.tier == Tier::L0 || !matches!(self.waiting, Waiting::Run { .. }) {
            return None;
        }
        let id = format!("cmd_{:03}", self.next_step);
        let step = Step { id, ..observation.step.clone() };
        let held = safety::assess(step, cx).into_needs_approval()?;
        self.next_step += 1;
        Some((held, denied))
    }

    /// For each file that was put back after a step, the one that writes it again: the question about
    /// it shows the change.
    pub(super) fn steps_that_keep(&mut self, observation: &Observation) -> Vec<Step> {
        let write = |(path, text): &(String, String)| {
            let id = format!("cmd_{:03}", self.next_step);
            self.next_step += 1;
            let input = serde_json::json!({ "path": path, "content": text });
            let tool = StepAction::Tool { name: "file.write".to_owned(), input };
            Step { id, work: tool, requires: Requires::default(), cwd: None }
        };
        observation.put_back.iter().map(write).collect()
    }

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
            ..self.step_question(judged)
        });
        self.waiting = Waiting::Denied { held: Box::new(approval), denied };
        TurnAction::Ask(Box::new(question))
    }

    /// The user wants it to run again without the sandbox: a graver question, which is asked by
    /// itself.
    fn ask_without_sandbox(&mut self, approval: NeedsApproval) -> TurnAction {
        let judged = approval.judgement();
        let question = Question::Step(StepQuestion {
            risk: safety::unsandboxed_risk(judged),
            ..self.step_question(judged)
        });
        self.waiting = Waiting::Unsandboxed { held: Box::new(approval) };
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
                self.side_effects.push(SideEffect::OpenForSession(Box::new(opening)));
                self.run(held.approve_with(denied), None)
            }
            Decision::WithoutSandbox => self.ask_without_sandbox(held),
            Decision::Edit(work) => self.run_edited(held.judgement(), work, cx),
            Decision::Stop
            | Decision::Reject { .. }
            | Decision::NotAsked { .. }
            | Decision::Dismiss
            | Decision::Trust
            | Decision::TrustParent
            | Decision::AcceptPlan { .. }
            | Decision::ApproveAll { .. }
            | Decision::Remember(ApprovalScope::Project)
            | Decision::Choose { .. }
            | Decision::Answer { .. }
            | Decision::Fill { .. } => self.reject_step(&held, decision, cx),
        }
    }
}
