//! One turn as the session runs it: it begins, asks, runs steps and ends the same way, whoever
//! decides what happens in it: the model, a script, a shell line, a template or an undo.

use std::time::Instant;

use tokio::sync::OwnedSemaphorePermit;

use super::hook_runner::HookRunner;
use super::shared_queues::SharedQueues;
use super::step_judge::StepJudge;
use super::turn_account::TurnAccount;
use super::turn_clock::TurnClock;
use super::turn_context::TurnContext;
use super::turn_conversation::TurnConversation;
use super::turn_events::TurnEvents;
use super::turn_messages::{FinishedTurn, TurnInbox, TurnMessage};
use super::turn_parts::TurnParts;
use crate::agent::turn::continues;
use crate::context::history::TurnRecord;
use avocet_core::i18n::{LocalizedText, agent as phrases};
use avocet_core::protocol::budget::Budget;
use avocet_core::protocol::{
    Ask, AskId, Decision, Event, Question, StepQuestion, SubmitId, TrustOffer, TurnOrigin,
    TurnOutcome, Usage,
};
use avocet_model::ModelReply;
use avocet_safety::{PolicyContext, ToolRestriction};

/// A running turn.
pub struct TurnScope {
    pub turn: u64,
    /// What began it, if a frontend follows that.
    pub submit: Option<SubmitId>,
    pub clock: TurnClock,
    /// The number of the next step.
    pub next_step: u64,
    pub shared: SharedQueues,
    pub context: TurnContext,
    pub conversation: TurnConversation,
    pub hooks: HookRunner,
    pub events: TurnEvents,
    pub inbox: TurnInbox,
    /// The reply so far; it outlives a call that is dropped.
    pub answer: ModelReply,
    pub judge: StepJudge,
    pub account: TurnAccount,
    /// The contents of the folder, for a question that offers trust in it.
    pub trust_offer: TrustOffer,
    /// Its steps are those of the model, and not a line or a script of the user.
    pub has_steps_of_model: bool,
}

impl TurnScope {
    /// The conversation, and the rest of the turn that its work needs.
    pub fn split(&mut self) -> (&mut TurnConversation, TurnParts<'_>) {
        let parts = TurnParts {
            context: &self.context,
            judge: &mut self.judge,
            hooks: &mut self.hooks,
            events: &mut self.events,
            account: &mut self.account,
            spending: &self.shared.spending,
        };
        (&mut self.conversation, parts)
    }

    pub fn parts(&mut self) -> TurnParts<'_> {
        self.split().1
    }

    /// Shows that the turn begins. Does not wait for it: a request to the model waits until the
    /// message is saved.
    pub fn begin(&mut self, text: String, origin: TurnOrigin) {
        self.has_steps_of_model = !matches!(origin, TurnOrigin::Shell | TurnOrigin::Command);
        let started = Event::TurnStarted { turn: self.turn, text, origin, submit: self.submit };
        self.events.emit_in_background(vec![started]);
    }

    /// Shows that the turn ended.
    pub async fn end(
        mut self,
        outcome: TurnOutcome,
        record: TurnRecord,
        usage: Usage,
    ) -> FinishedTurn {
        let elapsed_ms = self.clock.elapsed_ms(Instant::now());
        let ended =
            Event::TurnEnded { turn: self.turn, ending: outcome.clone(), usage, elapsed_ms };
        self.events.emit(ended).await;
        FinishedTurn { ending: outcome, record, usage, next_step: self.next_step }
    }

    pub fn next_step_id(&mut self) -> String {
        self.next_step += 1;
        format!("cmd_{:03}", self.next_step - 1)
    }

    /// Shows a question and waits for its decision; `None`: the turn was cancelled, and the
    /// question is withdrawn.
    pub async fn ask(&mut self, question: Question) -> Option<Decision> {
        self.ask_after(Vec::new(), question).await
    }

    /// Waits until no other question is open; the events go out before it does.
    async fn turn_to_ask(&mut self, events: &mut Vec<Event>) -> Option<OwnedSemaphorePermit> {
        let is_cancelled = self.context.cancel.is_cancelled();
        if let Some(permit) = self.shared.try_to_ask().filter(|_| !is_cancelled) {
            return Some(permit);
        }
        self.events.emit_all(std::mem::take(events)).await;
        self.shared.wait_to_ask(&self.context.cancel).await
    }

    /// The same with the events before it, which come together with it unless it waits for another
    /// question.
    pub async fn ask_after(
        &mut self,
        mut events: Vec<Event>,
        mut question: Question,
    ) -> Option<Decision> {
        let offers_trust = self.complete_trust_offer(&mut question);
        let steps_before = self.account.step_counter.count();
        let _asking = self.turn_to_ask(&mut events).await?;
        let is_about_spending = is_about_spending(&question);
        if is_about_spending && self.lifted().is_some() && self.limit_reached().is_none() {
            self.events.emit_all(events).await;
            return Some(Decision::Approve);
        }
        let is_about_steps = is_about_steps(&question);
        if is_about_steps && self.account.step_counter.count() < steps_before {
            self.events.emit_all(events).await;
            return Some(Decision::Approve);
        }
        let ask = self.shared.next_ask_id();
        let asked = Box::new(Ask { id: ask, question });
        self.events.notify(TurnMessage::QuestionOpened(asked.clone()));
        events.push(Event::Asked(asked));
        self.events.emit_all(events).await;
        self.parts().run_hooks_of_question();
        let opened = Instant::now();
        let decision = self.decision(ask).await;
        self.clock.add_wait(opened, Instant::now());
        if is_about_spending && decision.as_ref().is_some_and(continues) {
            self.shared.spending.lift();
        }
        if is_about_steps && decision.as_ref().is_some_and(continues) {
            self.account.step_counter.reset();
        }
        if offers_trust && decision == Some(Decision::Trust) {
            // The next steps are judged as in a trusted folder; the session saves the answer.
            self.judge.set_trusted();
            self.events.notify(TurnMessage::FolderTrusted);
        }
        self.events.emit(Event::QuestionClosed { ask }).await;
        decision
    }

    /// What was used since the turn began when the user let it, or an agent, go on beyond a limit.
    fn lifted(&self) -> Option<Usage> {
        let usage = self.shared.spending.lifted().since(self.account.before);
        (usage != Usage::default()).then_some(usage)
    }

    /// What may be spent, with what the user allowed since the turn began.
    pub(super) fn budget(&self) -> Budget {
        let mut budget = self.context.budget;
        self.lifted().into_iter().for_each(|usage| budget.extend(usage));
        budget
    }

    /// The reason to send no other request; `None`: there is none.
    pub(super) fn limit_reached(&self) -> Option<LocalizedText> {
        let spent = self.shared.spending.total().since(self.account.before);
        self.budget().stop_reason(spent)
    }

    pub(super) async fn decision(&mut self, ask: AskId) -> Option<Decision> {
        loop {
            tokio::select! {
                biased;
                () = self.context.cancel.cancelled() => return None,
                decided = self.inbox.decisions.recv() => match decided {
                    Some((to, decision)) if to == ask => return Some(decision),
                    // An answer to a question that was withdrawn.
                    Some(_) => {}
                    None => return Some(Decision::Stop),
                },
            }
        }
    }

    /// Shows the contents of the folder if a question offers trust in it; true if it does.
    fn complete_trust_offer(&self, question: &mut Question) -> bool {
        let Question::Step(StepQuestion { trust: Some(trust), .. }) = question else {
            return false;
        };
        let TrustOffer { hazard, found, .. } = self.trust_offer.clone();
        **trust = TrustOffer { folder: std::mem::take(&mut trust.folder), hazard, found };
        true
    }

    pub fn policy_context(&mut self) -> PolicyContext<'_> {
        self.judge.set_search_host(self.context.responder.model.search_host());
        self.judge.policy_context()
    }

    /// Waits until it is known whether the sandbox works: a step judged earlier would run without a
    /// question on a system without one.
    pub async fn await_sandbox_status(&mut self) {
        if self.judge.sandbox_status.is_none()
            && let Some(shelter) = self.context.tools.sandbox_status().await
        {
            self.judge.set_sandbox_status(shelter);
        }
    }

    /// Limits the following steps to the tools of a skill; the latest counts.
    pub fn restrict_tools(&mut self, restriction: Option<ToolRestriction>) {
        self.events.notify(TurnMessage::ToolsRestricted(restriction.clone()));
        self.judge.restrict(restriction);
    }

    /// Puts a skill in view.
    pub fn enter_skill(&self, name: &str, text: &str) {
        self.events
            .notify(TurnMessage::SkillEntered { name: name.to_owned(), text: text.to_owned() });
    }
}

/// True if a turn pauses because of what was spent.
fn is_about_spending(question: &Question) -> bool {
    matches!(question, Question::Pause { why } if why.value("key").is_some())
}

/// True if a turn pauses because of the number of its steps.
fn is_about_steps(question: &Question) -> bool {
    matches!(question, Question::Pause { why } if why.phrase() == phrases::LIMIT)
}
