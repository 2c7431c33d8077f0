//! Steps that only interact with the user: a question of the model, its plan. No tool runs them;
//! the turn itself asks, shows and answers. And tasks for subagents, of which several may run.

use super::transcript::not_run_observation;
use super::{SideEffect, Turn, TurnAction, Waiting};
use avocet_core::i18n::LocalizedText;
use avocet_core::i18n::agent as phrases;
use avocet_core::protocol::{
    ApprovalMode, Decision, Event, Outcome, PlanItem, Question, TurnOutcome,
};
use avocet_hooks::HookEvent;
use avocet_safety::{self as safety, ClearedStep, Judgement, PolicyContext, ToolTask, Verdict};

/// Whether the step is one of those.
pub(super) fn is_interaction(judged: &Judgement) -> bool {
    matches!(judged.task, Some(ToolTask::Ask(_) | ToolTask::Plan(_)))
}

/// The fault in the form of a step, which nothing has to judge or to run.
pub(super) fn fault_of(judged: &Judgement) -> Option<LocalizedText> {
    match &judged.task {
        Some(ToolTask::Fault(fault)) if fault.is_form => Some(fault.say.clone()),
        _ => None,
    }
}

/// Whether the step hands a task to a subagent.
pub(super) fn is_task(judged: &Judgement) -> bool {
    matches!(judged.task, Some(ToolTask::Subagent(_)))
}

/// Runs a task, and with it those after it that ask nothing.
pub(super) fn run_tasks(
    turn: &mut Turn,
    step: ClearedStep,
    context: PolicyContext<'_>,
) -> TurnAction {
    let mut tasks = vec![step];
    while let Some(next) = turn.batch.todo.front() {
        if turn.start.hooks.follows_step(HookEvent::PreToolUse, next) {
            break;
        }
        let Verdict::Run(cleared) = safety::assess(next.clone(), context) else { break };
        if !is_task(cleared.judgement()) || turn.batch.advice.asks(cleared.judgement()) {
            break;
        }
        turn.batch.todo.pop_front();
        tasks.push(cleared);
    }
    turn.waiting = Waiting::Run { instead_of: None };
    TurnAction::RunTogether(tasks)
}

impl Turn {
    pub(super) fn interact(&mut self, cleared: &ClearedStep, cx: PolicyContext<'_>) -> TurnAction {
        let judged = cleared.judgement();
        match &judged.task {
            Some(ToolTask::Ask(choice)) => {
                self.waiting = Waiting::Choice { judged: Box::new(judged.clone()) };
                TurnAction::Ask(Box::new(Question::Choice {
                    step: judged.step.id.clone(),
                    script: None,
                    text: choice.text.clone(),
                    choices: choice.choices.clone(),
                    free: choice.free,
                    fallback: None,
                }))
            }
            Some(ToolTask::Plan(items)) => {
                self.log.emit(Event::Plan { items: items.clone() });
                if cx.policy.approval == ApprovalMode::Plan && self.start.agent.is_none() {
                    self.waiting = Waiting::Plan { judged: Box::new(judged.clone()) };
                    let step = judged.step.id.clone();
                    let items = items.clone();

                    return TurnAction::Ask(Box::new(Question::Plan { step, items }));
                }
                self.batch.record_answer(judged, String::new(), None, &mut self.log);
                self.advance(cx)
            }
            _ => self.advance(cx),
        }
    }

    /// Applies the user's answer to the model's question.
    pub(super) fn apply_answer(
        &mut self,
        judged: &Judgement,
        decision: Decision,
        cx: PolicyContext<'_>,
    ) -> TurnAction {
        let answer = match (&decision, &judged.task) {
            (Decision::Answer { text }, _) => Some(text),
            (Decision::Choose { index }, Some(ToolTask::Ask(task))) => task.choices.get(*index),
            _ => None,
        };
        if let Some(text) = answer {
            self.batch.record_answer(judged, text.clone(), None, &mut self.log);
            return self.advance(cx);
        }
        let note = match decision {
            Decision::Stop => {
                self.batch.record_not_run(
                    judged,
                    Outcome::Declined,
                    Some(phrases::UNANSWERED.into()),
                    &mut self.log,
                );
                self.stop_batch(cx);
                return self.end(TurnOutcome::Stopped);
            }
            Decision::Reject { word: Some(word) } => phrases::UNANSWERED_WORD.with("word", word),
            Decision::NotAsked { remedy } => remedy,
            _ => phrases::UNANSWERED.into(),
        };
        let seen = not_run_observation(judged, Outcome::Declined, Some(note));
        self.batch.break_off(seen, cx, &mut self.log);
        self.advance(cx)
    }

    /// Applies the user's decision about the plan. After a refusal without a word the user says
    /// what next; a word of theirs goes to the model, which plans again.
    pub(super) fn decide_on_plan(
        &mut self,
        judged: &Judgement,
        decision: Decision,
        cx: PolicyContext<'_>,
    ) -> TurnAction {
        match decision {
            Decision::Approve => self.accept_plan(judged, ApprovalMode::Ask, None, cx),
            Decision::AcceptPlan { mode, items } => self.accept_plan(judged, mode, items, cx),
            Decision::Answer { text: word } | Decision::Reject { word: Some(word) } => {
                let note = phrases::PLAN_REFUSED_WORD.with("word", word);
                let seen = not_run_observation(judged, Outcome::Declined, Some(note));
                self.batch.break_off(seen, cx, &mut self.log);
                self.advance(cx)
            }
            _ => {
                self.batch.record_not_run(
                    judged,
                    Outcome::Declined,
                    Some(phrases::PLAN_REFUSED.into()),
                    &mut self.log,
                );
                self.stop_batch(cx);
                self.end(TurnOutcome::Stopped)
            }
        }
    }

    /// The rest of the reply was judged in plan mode, so the model is asked again first.
    fn accept_plan(
        &mut self,
        judged: &Judgement,
        mode: ApprovalMode,
        plan_items: Option<Vec<PlanItem>>,
        cx: PolicyContext<'_>,
    ) -> TurnAction {
        let note = match plan_items.filter(|items| !items.is_empty()) {
            None => phrases::PLAN_ACCEPTED.into(),
            Some(items) => {
                let lines: Vec<String> = items.iter().map(PlanItem::line).collect();
                self.log.emit(Event::Plan { items });
                phrases::PLAN_EDITED.with("plan", lines.join("\n"))
            }
        };
        let mode = if mode == ApprovalMode::Plan { ApprovalMode::Ask } else { mode };
        self.log.side_effects.push(SideEffect::SetApprovalMode(mode));
        self.batch.record_answer(judged, String::new(), Some(note), &mut self.log);
        self.batch.skip_rest(phrases::SKIPPED, cx, &mut self.log);
        self.advance(cx)
    }
}
