//! Judges a step that the user edits at a question, at each key, as its turn would.

use super::state::RunningTurn;
use avocet_core::protocol::{AskId, Event, Step, StepAction};
use avocet_safety::{self as safety, Policy, PolicyContext};

impl RunningTurn {
    /// The text that replaces the step of a question. The limits of an entered skill apply to it as
    /// to the step itself.
    pub(super) fn preview_risk(
        &self,
        ask: AskId,
        action: StepAction,
        context: PolicyContext<'_>,
    ) -> Option<Event> {
        let step = Step { work: action.clone(), ..self.step_of_question(ask)?.clone() };
        let policy = Policy { narrowed: self.restriction.clone(), ..context.policy.clone() };
        let cx = PolicyContext { policy: &policy, ..context };
        let verdict = match &action {
            StepAction::Shell { line } => safety::assess_shell(&step.id, line, cx),
            StepAction::Exec { .. } | StepAction::Tool { .. } => safety::assess(step, cx),
        };
        let judged = verdict.judgement();
        let risk = judged.risk.clone();
        let change = judged.change().cloned().map(Box::new);
        Some(Event::Judged { ask, work: action, risk, change })
    }
}
