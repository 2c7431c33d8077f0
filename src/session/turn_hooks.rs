//! The events of a turn that hooks follow, and what their answers change.

use serde_json::json;

use super::hook_runner::HookNews;
use super::turn_messages::TurnMessage;
use super::turn_parts::TurnParts;
use crate::agent::turn::add_note;
use crate::agent::{Steering, StepAdvice};
use avocet_core::i18n::{LocalizedText, PhraseValue, hooks as phrases};
use avocet_core::protocol::{Event, Notice, Observation, Step};
use avocet_hooks::{HookCall, HookDecision, HookEvent, HookReply};

/// How often hooks may put off the end of one turn.
const MAX_PUT_OFF: usize = 3;

impl TurnParts<'_> {
    /// Runs the hooks of an event, and shows what they say. One that ends the turn cancels it.
    pub(super) async fn run_hooks(&mut self, call: &HookCall) -> HookReply {
        if !self.hooks.follows(call) {
            return HookReply::default();
        }
        let run = self.hooks.run(call, self.judge.policy_context(), &self.context.cancel);
        let mut reply = run.await;
        for notice in std::mem::take(&mut reply.notices) {
            self.events.emit(Event::Notice(notice)).await;
        }
        if let Some(why) = &reply.halt {
            let say = phrases::HALTED.with("reason", reason_text(why));
            self.events.emit(Event::Notice(Notice::warning(say))).await;
            self.context.cancel.cancel();
        }
        reply
    }

    /// Hooks see the result of a step that ran, and may add something for the model.
    pub(super) async fn run_hooks_after(&mut self, observation: &mut Observation) {
        if observation.exit_code.is_none() {
            return;
        }
        let call = HookCall::of_result(observation, self.judge.folder());
        let reply = self.run_hooks(&call).await;
        add_hook_notes(observation, &reply);
    }

    /// Hooks see a message before the model does: what they add to it.
    ///
    /// # Errors
    /// Why they do not let it pass.
    pub(super) async fn hear_hooks(&mut self, message: &str) -> Result<String, LocalizedText> {
        let mut added = match self.hooks.start.take() {
            Some(start) => {
                let cancel = self.context.cancel.clone();
                let reply = cancel.run_until_cancelled(start).await.unwrap_or_default();
                self.events.notify(TurnMessage::Hook(HookNews::StartHeard));
                reply.context
            }
            None => String::new(),
        };
        let prompt = json!({ "prompt": message });
        let call = HookCall::new(HookEvent::UserPromptSubmit, "", prompt);
        let reply = self.run_hooks(&call).await;
        if reply.decision == Some(HookDecision::Deny) || reply.halt.is_some() {
            let why = reply.halt.unwrap_or(reply.reason);
            return Err(phrases::PROMPT_BLOCKED.with("reason", reason_text(&why)));
        }
        if !reply.context.is_empty() {
            let say = phrases::ADDED.with("text", avocet_core::text::one_line(&reply.context));
            self.events.emit(Event::Notice(Notice::info(say))).await;
        }
        if !added.is_empty() && !reply.context.is_empty() {
            added.push('\n');
        }
        added.push_str(&reply.context);
        if added.is_empty() {
            return Ok(added);
        }
        Ok(format!("\n\n<added-by-hooks>\n{added}\n</added-by-hooks>"))
    }

    /// The same for a message to the running turn.
    pub(super) async fn admit_steering(&mut self, steering: Steering) -> Option<Steering> {
        let Steering { submit, text } = steering;
        match self.hear_hooks(&text).await {
            Ok(added) => Some(Steering { submit, text: text + &added }),
            Err(why) => {
                self.events.emit(Event::Notice(Notice::warning(why))).await;
                None
            }
        }
    }

    /// What a hook wants the model to do before the turn ends.
    pub(super) async fn put_off_end(&mut self) -> Option<String> {
        let count = self.hooks.put_off;
        let fields = json!({ "stop_hook_active": count > 0 });
        let call = HookCall::new(self.hooks.end, "", fields);
        let reply = self.run_hooks(&call).await;
        let goes_on = reply.decision == Some(HookDecision::Deny) && count < MAX_PUT_OFF;
        if !goes_on || reply.reason.is_empty() || reply.halt.is_some() {
            return None;
        }
        self.hooks.put_off += 1;
        let say = phrases::GOES_ON.with("reason", avocet_core::text::one_line(&reply.reason));
        self.events.emit(Event::Notice(Notice::info(say))).await;
        Some(reply.reason)
    }

    /// A question waits for the user; nothing waits for these hooks.
    pub(super) fn run_hooks_of_question(&mut self) {
        const KIND: &str = "permission_prompt";
        let message = phrases::WAITS.text(self.context.lang);
        let fields = json!({ "message": message, "notification_type": KIND });
        let call = HookCall::new(HookEvent::Notification, KIND, fields);
        if self.hooks.follows(&call) {
            let run = self.hooks.run(&call, self.judge.policy_context(), &self.context.cancel);
            let mut outbox = self.events.outbox.split_off();
            tokio::spawn(async move {
                for notice in run.await.notices {
                    outbox.send(Event::Notice(notice)).await;
                }
            });
        }
    }

    /// Hooks before the conversation is shortened.
    ///
    /// # Errors
    /// Why they do not want it: nothing is summed up then.
    pub(super) async fn run_hooks_before_compaction(
        &mut self,
        trigger: &str,
        focus: &str,
    ) -> Result<(), LocalizedText> {
        let fields = json!({ "trigger": trigger, "custom_instructions": focus });
        let call = HookCall::new(HookEvent::PreCompact, trigger, fields);
        let reply = self.run_hooks(&call).await;
        if reply.decision == Some(HookDecision::Deny) {
            let reason = reason_text(&reply.reason);
            return Err(phrases::COMPACTION_BLOCKED.with("reason", reason));
        }
        Ok(())
    }
}

/// What the answer of hooks means for a step, and what the user sees of that.
pub(super) fn step_advice(
    call: &HookCall,
    step: &Step,
    reply: HookReply,
) -> (StepAdvice, Vec<Notice>) {
    let changed = reply.input.map(|input| call.changed_step(step, &input)).transpose();
    let changed = match changed {
        Ok(changed) => changed.filter(|changed| changed.work != step.work),
        Err(why) => {
            let reason = Some(phrases::BAD_INPUT.with("why", why).into());
            let decision = Some(HookDecision::Deny);
            return (StepAdvice { decision, reason, ..StepAdvice::default() }, Vec::new());
        }
    };
    let mut notices = Vec::new();
    if let Some(changed) = &changed {
        notices.push(Notice::info(phrases::CHANGED.with("step", changed.work.short_line())));
    }
    if reply.decision == Some(HookDecision::Ask) {
        notices.push(Notice::info(phrases::ASKS.with("reason", reason_text(&reply.reason))));
    }
    let reason = Some(reason_text(&reply.reason));
    (StepAdvice { decision: reply.decision, reason, changed, context: reply.context }, notices)
}

/// Adds what hooks say of a result to it.
pub(super) fn add_hook_notes(observation: &mut Observation, reply: &HookReply) {
    let blocks = reply.decision == Some(HookDecision::Deny) && !reply.reason.is_empty();
    let texts = [reply.reason.as_str()].into_iter().filter(|_| blocks);
    for text in texts.chain([reply.context.as_str()]).filter(|text| !text.is_empty()) {
        add_note(observation, phrases::TELLS_MODEL.with("text", text));
    }
}

pub(super) fn reason_text(reason: &str) -> PhraseValue {
    match reason {
        "" => phrases::NO_REASON.into(),
        reason => reason.into(),
    }
}
