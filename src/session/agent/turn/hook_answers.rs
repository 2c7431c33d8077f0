//! The answers of hooks about the steps of a reply.

use crate::agent::StepAdvice;
use avocet_core::i18n::{LocalizedText, agent as words, hooks as phrases};
use avocet_core::protocol::Observation;
use avocet_hooks::{HookDecision, HookEvent};
use avocet_safety::Judgement;

/// The answers about the steps of a list.
#[derive(Debug, Default)]
pub(super) struct BatchAdvice {
    pub(super) consulted: Vec<(String, HookEvent)>,
    pub(super) given: Vec<(String, StepAdvice)>,
}

impl BatchAdvice {
    fn of(&self, step: &str) -> impl Iterator<Item = &StepAdvice> {
        self.given.iter().filter(move |(id, _)| id == step).map(|(_, advice)| advice)
    }

    /// The strictest answer.
    pub(super) fn decision(&self, judged: &Judgement) -> Option<HookDecision> {
        self.of(&judged.step.id).filter_map(|advice| advice.decision).max()
    }

    /// Whether the user is to decide about a step.
    pub(super) fn asks(&self, judged: &Judgement) -> bool {
        self.decision(judged) == Some(HookDecision::Ask)
    }

    /// Adds what hooks say of a step to its result.
    pub(super) fn add_context(&self, observation: &mut Observation) {
        let id = observation.step.id.clone();
        for advice in self.of(&id).filter(|advice| !advice.context.is_empty()) {
            add_note(observation, phrases::TELLS_MODEL.with("text", advice.context.as_str()));
        }
    }
}

/// Adds a sentence to the note of a result.
pub fn add_note(observation: &mut Observation, text: LocalizedText) {
    observation.note = Some(match observation.note.take() {
        Some(before) => words::EDITED_AND.with("edited", before).with("note", text),
        None => text,
    });
}
