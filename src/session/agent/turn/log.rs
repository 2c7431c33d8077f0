//! What a turn tells its host, and what it counts.

use super::limits::TurnLimits;
use avocet_core::i18n::agent as phrases;
use avocet_core::protocol::{ApprovalMode, ApprovalScope, Event, ModelMessage, Observation, Usage};
use avocet_safety::{Grant, SessionOpening};

/// A side effect for the host.
#[derive(Debug, PartialEq)]
pub enum SideEffect {
    Event(Box<Event>),
    Remember {
        grant: Box<Grant>,
        scope: ApprovalScope,
    },
    /// The user opened to a command for the session what the sandbox had denied it.
    OpenForSession(Box<SessionOpening>),
    /// The user accepted a plan, to be carried out in this mode.
    SetApprovalMode(ApprovalMode),
}

#[derive(Debug)]
pub(super) struct TurnLog {
    pub side_effects: Vec<SideEffect>,
    pub limits: TurnLimits,
    /// Of replies that no message has counted yet.
    pub untold_usage: Usage,
}

impl TurnLog {
    pub fn emit(&mut self, event: Event) {
        self.side_effects.push(SideEffect::Event(Box::new(event)));
    }

    pub fn emit_message(&mut self, message: ModelMessage) {
        let usage = std::mem::take(&mut self.untold_usage);
        let usage = (usage != Usage::default()).then_some(usage);
        self.emit(Event::Replied(ModelMessage { usage, ..message }));
    }

    /// Counts a result, and tells the model if it is the same as the one before.
    pub fn count(&mut self, observation: &mut Observation) {
        if self.limits.record_outcome(observation) {
            observation.note = Some(match observation.note.take() {
                Some(note) => {
                    phrases::EDITED_AND.with("edited", note).with("note", phrases::REPEATED)
                }
                None => phrases::REPEATED.into(),
            });
        }
    }
}
