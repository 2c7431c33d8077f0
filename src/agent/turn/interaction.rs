//! Steps that only interact with the user: a question of the model, its plan. No tool runs them;
//! the turn itself asks, shows and answers.

use super::{Turn, TurnAction, Waiting, transcript};
use crate::i18n::agent as words;
use crate::protocol::{Decision, Event, Observation, Outcome, Question, TurnOutcome};
use crate::safety::{Assessment, Cleared, PolicyContext, ToolTask};

/// Whether the step is one of those.
pub(super) fn is_interaction(judged: &Assessment) -> bool {
    matches!(judged.task, Some(ToolTask::Ask(_) | ToolTask::Plan(_)))
}

impl Turn {
    pub(super) fn interact(&mut self, cleared: &Cleared, scene: PolicyContext<'_>) -> TurnAction {
        let judged = cleared.assessment();
        match &judged.task {
            Some(ToolTask::Ask(choice)) => {
                self.waiting = Waiting::Choice { judged: Box::new(judged.clone()) };
                TurnAction::Ask(Box::new(Question::Choice {
                    step: judged.step.id.clone(),
                    text: choice.text.clone(),
                    choices: choice.choices.clone(),
                    free: choice.free,
                }))
            }
            Some(ToolTask::Plan(items)) => {
                self.emit(Event::Plan { items: items.clone() });
                self.record_answer(judged, String::new());
                self.advance(scene)
            }
            _ => self.advance(scene),
        }
    }

    /// Applies the user's answer to the model's question.
    pub(super) fn apply_answer(
        &mut self,
        judged: &Assessment,
        decision: Decision,
        scene: PolicyContext<'_>,
    ) -> TurnAction {
        let note = match decision {
            Decision::Answer { text } => {
                self.record_answer(judged, text);
                return self.advance(scene);
            }
            Decision::Stop => {
                self.record_not_run(judged, Outcome::Declined, Some(words::UNANSWERED.into()));
                self.stop_batch(scene);
                return self.end(TurnOutcome::Stopped);
            }
            Decision::Reject { word: Some(word) } => words::UNANSWERED_WORD.with("word", word),
            Decision::Reject { word: None }
            | Decision::Dismiss
            | Decision::Trust
            | Decision::TrustParent
            | Decision::Approve
            | Decision::ApproveAll { .. }
            | Decision::Remember(_)
            | Decision::Edit(_) => words::UNANSWERED.into(),
        };
        self.record_not_run(judged, Outcome::Declined, Some(note));
        self.skip_rest(words::SKIPPED, scene);
        self.advance(scene)
    }

    fn record_answer(&mut self, judged: &Assessment, text: String) {
        let seen = Observation {
            exit_code: Some(0),
            stdout: text,
            ..transcript::not_run_observation(judged, Outcome::Ran, None)
        };
        self.limits.record_outcome(&seen);
        self.record(seen);
    }
}
