//! Steps that language servers take part in: one that becomes a change of files, and results that
//! say what was found in files of earlier ones.

use super::turn_scope::TurnScope;
use crate::agent::turn::add_note;
use avocet_core::protocol::{Observation, Step};
use avocet_hooks::HookEvent;
use avocet_safety::{self as safety, Verdict};

/// The step to judge in place of one that the model proposed.
pub(super) async fn replaced_step(scope: &mut TurnScope, event: HookEvent, step: Step) -> Step {
    let tool = scope.context.tools.find(&step.work).cloned();
    let Some(tool) = tool.filter(|_| event == HookEvent::PreToolUse) else { return step };
    let Verdict::Run(cleared) = safety::assess(step.clone(), scope.policy_context()) else {
        return step;
    };
    let Some(task) = &cleared.judgement().task else { return step };
    let cancel = scope.context.cancel.clone();
    let work = cancel.run_until_cancelled(tool.replacement(task)).await.flatten();
    work.map_or_else(|| step.clone(), |work| Step { work, ..step.clone() })
}

/// Adds what was found since in files of earlier steps. A step that changed files has its own.
pub(super) async fn add_late_diagnostics(scope: &mut TurnScope, observation: &mut Observation) {
    if let Some(checker) = scope.context.tools.checker().cloned()
        && let Some(found) = checker.check(Vec::new()).await
    {
        add_note(observation, found);
    }
}
