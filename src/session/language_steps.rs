//! Steps that language servers take part in: one that becomes a change of files, and results that
//! say what was found in files of earlier ones.

use std::sync::Arc;

use super::turn_scope::TurnScope;
use crate::agent::turn::add_note;
use avocet_core::protocol::{Observation, Step};
use avocet_hooks::HookEvent;
use avocet_safety::{self as safety, Verdict};

impl TurnScope {
    /// The step to judge in place of one that the model proposed.
    pub(super) async fn replaced_step(&mut self, event: HookEvent, step: Step) -> Step {
        let tool = self.context.tools.find(&step.work).cloned();
        let Some(tool) = tool.filter(|_| event == HookEvent::PreToolUse) else { return step };
        let Verdict::Run(cleared) = safety::assess(step.clone(), self.policy_context()) else {
            return step;
        };
        let Some(task) = &cleared.judgement().task else { return step };
        let cancel = self.context.cancel.clone();
        let work = cancel.run_until_cancelled(tool.replacement(task)).await.flatten();
        work.map_or_else(|| step.clone(), |work| Step { work, ..step.clone() })
    }

    /// Adds what was found since in files of earlier steps. A step that changed files has its own.
    pub(super) async fn add_late_diagnostics(&mut self, seen: &mut Observation) {
        if let Some(checker) = self.context.tools.checker().map(Arc::clone)
            && let Some(found) = checker.check(Vec::new()).await
        {
            add_note(seen, found);
        }
    }
}
