//! Hooks that follow the steps of a script, as they follow those of a turn.

use super::script_host::SessionScriptHost;
use super::turn_hooks::{add_hook_notes, reason_text, step_advice};
use avocet_core::i18n::hooks as phrases;
use avocet_core::protocol::{Observation, Step};
use avocet_hooks::{HookCall, HookDecision, HookEvent, HookReply};
use avocet_safety::Verdict;
use avocet_script::{ScriptEvent, ScriptHost, StepError};

impl SessionScriptHost {
    /// The verdict about a step after its hooks: they decline it, change it, or answer an ordinary
    /// question about it.
    pub(super) async fn advised_verdict(&mut self, step: &mut Step) -> Result<Verdict, StepError> {
        let mut decision = self.advise(HookEvent::PreToolUse, step).await?;
        let mut verdict = self.judge(step);
        if matches!(verdict, Verdict::Ask(_)) && decision != Some(HookDecision::Allow) {
            decision = decision.max(self.advise(HookEvent::PermissionRequest, step).await?);
            verdict = self.judge(step);
        }
        Ok(match (verdict, decision) {
            (Verdict::Ask(held), Some(HookDecision::Allow)) => match held.approve_by_hook() {
                Ok(cleared) => Verdict::Run(cleared),
                Err(held) => Verdict::Ask(*held),
            },
            (Verdict::Run(cleared), Some(HookDecision::Ask)) => {
                Verdict::Ask(cleared.into_needs_approval())
            }
            (verdict, _) => verdict,
        })
    }

    async fn advise(
        &mut self,
        event: HookEvent,
        step: &mut Step,
    ) -> Result<Option<HookDecision>, StepError> {
        let call = HookCall::of_step(event, step, &self.place.cwd);
        let reply = self.run_hooks(&call).await;
        let (advice, notices) = step_advice(&call, step, reply);
        notices.into_iter().for_each(|notice| self.emit(ScriptEvent::Note(notice.say)));
        if advice.decision == Some(HookDecision::Deny) {
            let reason = advice.reason.unwrap_or_else(|| phrases::NO_REASON.into());
            return Err(StepError::Declined(phrases::DENIED.with("reason", reason)));
        }
        if !advice.context.is_empty() {
            self.emit(ScriptEvent::Note(phrases::TELLS_MODEL.with("text", advice.context)));
        }
        if let Some(changed) = advice.changed {
            *step = Step { id: std::mem::take(&mut step.id), ..changed };
        }
        Ok(advice.decision)
    }

    /// Hooks see the result of a step that ran.
    pub(super) async fn run_hooks_after(&mut self, observation: &mut Observation) {
        if observation.exit_code.is_some() {
            let call = HookCall::of_result(observation, &self.place.cwd);
            let reply = self.run_hooks(&call).await;
            add_hook_notes(observation, &reply);
        }
    }

    /// Runs the hooks of an event, and shows what they say. One that ends the turn ends the script.
    async fn run_hooks(&mut self, call: &HookCall) -> HookReply {
        if !self.hooks.runner.follows(call) {
            return HookReply::default();
        }
        let run = self.hooks.runner.run(call, self.policy_context(), &self.cancel);
        let mut reply = run.await;
        for notice in std::mem::take(&mut reply.notices) {
            self.emit(ScriptEvent::Note(notice.say));
        }
        if let Some(why) = &reply.halt {
            self.emit(ScriptEvent::Note(phrases::HALTED.with("reason", reason_text(why))));
            self.hooks.turn.cancel();
            self.cancel.cancel();
        }
        reply
    }
}
