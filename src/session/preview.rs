//! Judges a step that the user edits at a question, at each key, as its turn would.

use super::state::Session;
use avocet_core::protocol::{AskId, Event, Step, StepAction};
use avocet_safety::{self as safety, Policy, PolicyContext};

impl Session {
    /// The text that replaces the step of a question. The limits of an entered skill apply to it as
    /// to the step itself.
    pub(super) async fn preview_risk(&mut self, ask: AskId, action: StepAction) {
        let Some(running) = &self.running else { return };
        let Some(held) = running.step_of_question(ask) else { return };
        let step = Step { work: action.clone(), ..held.clone() };
        let policy =
            Policy { narrowed: running.restriction.clone(), ..self.security.policy.clone() };
        let world = self.resources.machine(&self.security, &self.jobs);
        let cx =
            PolicyContext { policy: &policy, place: &self.security.place, world: world.as_ref() };
        let verdict = match &action {
            StepAction::Shell { line } => safety::assess_shell(&step.id, line, cx),
            StepAction::Exec { .. } | StepAction::Tool { .. } => safety::assess(step, cx),
        };
        let judged = verdict.judgement();
        let risk = judged.risk.clone();
        let change = judged.change().cloned().map(Box::new);

        self.outbox.send(Event::Judged { ask, work: action, risk, change }).await;
    }
}
