//! A shell command of a template or a step of a script to which the sandbox denied something: asks
//! the same question as after a step of the model.

use super::shell_turn;
use avocet_core::protocol::{Observation, Question, SandboxDenial, Step, StepQuestion};
use avocet_safety::{self as safety, NeedsApproval, Verdict};

/// The step as it would run again, and the question whether it should. `judge` judges it again,
/// since its first run may have changed what its verdict depends on. `None` if nothing was denied,
/// or if it is refused now.
pub(super) fn denied_retry(
    observation: &Observation,
    id: String,
    judge: impl FnOnce(Step) -> Verdict,
) -> Option<(NeedsApproval, Question, SandboxDenial)> {
    let denied = observation.denied.clone().filter(SandboxDenial::is_offered)?;
    let held = judge(Step { id, ..observation.step.clone() }).into_needs_approval()?;
    let question = question(&held, &denied);
    Some((held, question, denied))
}

fn question(approval: &NeedsApproval, denied: &SandboxDenial) -> Question {
    let mut question = shell_turn::question(approval);
    if let Question::Step(StepQuestion { risk, .. }) = &mut question {
        *risk = safety::opening_risk(approval.judgement(), denied);
    }
    question
}
