//! Handles a step that the sandbox denied something: tells the user what was denied, and asks
//! whether to run it again without the sandbox.

use super::{Turn, TurnAction, Waiting};
use avocet_core::i18n::agent;
use avocet_core::protocol::{
    Decision, Observation, Question, SandboxDenial, Step, StepQuestion, Tier, TurnOutcome,
};
use avocet_safety::{self as safety, NeedsApproval, PolicyContext};

impl Turn {
    /// The step to run again, if an approved one was denied something.
    pub(super) fn step_to_retry(
        &mut self,
        seen: &Observation,
        scene: PolicyContext<'_>,
    ) -> Option<(NeedsApproval, SandboxDenial)> {
        let denied = seen.denied.clone()?;
        if seen.risk.tier == Tier::L0 || !matches!(self.waiting, Waiting::Run { .. }) {
            return None;
        }
        let id = format!("cmd_{:03}", self.next_step);
        let step = Step { id, ..seen.step.clone() };
        let held = safety::assess(step, scene).into_needs_approval()?;
        self.next_step += 1;
        Some((held, denied))
    }

    pub(super) fn ask_unsandboxed(
        &mut self,
        held: NeedsApproval,
        denied: &SandboxDenial,
    ) -> TurnAction {
        let judged = held.assessment();
        // Running without the sandbox is never remembered, and never one of several.
        let question = Question::Step(StepQuestion {
            risk: safety::unsandboxed_risk(judged, denied),
            ..self.step_question(judged)
        });
        self.waiting = Waiting::Unsandboxed { held: Box::new(held) };
        TurnAction::Ask(Box::new(question))
    }

    /// Only a plain approval runs it.
    pub(super) fn apply_unsandboxed_decision(
        &mut self,
        held: NeedsApproval,
        decision: Decision,
        scene: PolicyContext<'_>,
    ) -> TurnAction {
        match decision {
            Decision::Approve => self.run(held.approve_unsandboxed(), None),
            Decision::Stop => {
                self.stop_batch(scene);
                self.end(TurnOutcome::Stopped)
            }
            Decision::Edit(work) => self.run_edited(held.assessment(), work, scene),
            Decision::Reject { .. }
            | Decision::NotAsked { .. }
            | Decision::Dismiss
            | Decision::Trust
            | Decision::TrustParent
            | Decision::AcceptPlan { .. }
            | Decision::ApproveAll { .. }
            | Decision::Remember(_)
            | Decision::Answer { .. }
            | Decision::Fill { .. } => {
                self.skip_rest(agent::SKIPPED, scene);
                self.advance(scene)
            }
        }
    }
}
