//! Handles a step that the sandbox denied something: tells the user what was denied, and asks
//! whether to run it again with that opened. And asks about files that were put back after a step.

use super::{Turn, TurnAction, Waiting};
use avocet_core::i18n::agent;
use avocet_core::protocol::{
    Decision, Observation, Question, Requires, SandboxDenial, Step, StepAction, StepQuestion, Tier,
    TurnOutcome,
};
use avocet_safety::{self as safety, NeedsApproval, PolicyContext};

impl Turn {
    /// The step to run again, if an approved one was denied something.
    pub(super) fn step_to_retry(
        &mut self,
        seen: &Observation,
        scene: PolicyContext<'_>,
    ) -> Option<(NeedsApproval, SandboxDenial)> {
        let denied = seen.denied.clone().filter(SandboxDenial::is_offered)?;
        if seen.risk.tier == Tier::L0 || !matches!(self.waiting, Waiting::Run { .. }) {
            return None;
        }
        let id = format!("cmd_{:03}", self.next_step);
        let step = Step { id, ..seen.step.clone() };
        let held = safety::assess(step, scene).into_needs_approval()?;
        self.next_step += 1;
        Some((held, denied))
    }

    /// For each file that was put back after a step, the one that writes it again: the question about
    /// it shows the change.
    pub(super) fn steps_that_keep(&mut self, seen: &Observation) -> Vec<Step> {
        let write = |(path, text): &(String, String)| {
            let id = format!("cmd_{:03}", self.next_step);
            self.next_step += 1;
            let input = serde_json::json!({ "path": path, "content": text });
            let work = StepAction::Tool { name: "file.write".to_owned(), input };
            Step { id, work, requires: Requires::default(), cwd: None }
        };
        seen.put_back.iter().map(write).collect()
    }

    pub(super) fn ask_to_open(&mut self, held: NeedsApproval, denied: SandboxDenial) -> TurnAction {
        let judged = held.assessment();
        // An opening is never remembered, and never one of several.
        let question = Question::Step(StepQuestion {
            risk: safety::opening_risk(judged, &denied),
            ..self.step_question(judged)
        });
        self.waiting = Waiting::Denied { held: Box::new(held), denied };
        TurnAction::Ask(Box::new(question))
    }

    /// Only a plain approval runs it.
    pub(super) fn apply_opening_decision(
        &mut self,
        (held, denied): (NeedsApproval, SandboxDenial),
        decision: Decision,
        scene: PolicyContext<'_>,
    ) -> TurnAction {
        match decision {
            Decision::Approve => self.run(held.approve_with(denied), None),
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
