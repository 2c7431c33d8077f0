//! What a chat was doing when the program ended, and what becomes of it.

use super::super::ledger::BegunTurn;
use super::super::platform::{DeliveryId, MessageId, UserId};
use avocet_core::protocol::{Event, TurnOutcome};

/// What a chat was doing when the program ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChatRecovery {
    /// The messages whose turns had begun and that were not known to be answered, oldest first.
    pub begun: Vec<BegunMessage>,
    /// The message of a question that was open.
    pub question: Option<MessageId>,
    /// The conversations that the chat had before.
    pub earlier: Vec<String>,
}

/// A message whose turn began before the program ended.
#[derive(Clone, Debug, PartialEq)]
pub struct BegunMessage {
    pub delivery: DeliveryId,
    pub turn: BegunTurn,
    pub by: UserId,
}

/// The messages that a restart interrupted, until the session tells what it has of them.
#[derive(Debug, Default)]
pub struct Recovery {
    pub begun: Vec<BegunMessage>,
}

/// What the session has of such a message.
#[derive(Debug)]
pub enum InterruptedMessage {
    /// Its turn, with the last reply.
    Answered { delivery: DeliveryId, reply: String, is_done: bool },
    /// Its turn is further back, or an older version noted it.
    TooOld(DeliveryId),
    /// Nothing: it had not reached the session.
    Unsent(BegunMessage),
}

impl Recovery {
    pub fn is_over(&self) -> bool {
        self.begun.is_empty()
    }

    /// Looks for the turns of the messages in the history.
    pub fn find_in(&mut self, events: &[Event], has_earlier: bool) -> Vec<InterruptedMessage> {
        let find = |begun: BegunMessage| match find_turn(events, &begun) {
            Some(turn) => answered(begun.delivery, turn),
            None if has_earlier || begun.turn.submit.is_none() => {
                InterruptedMessage::TooOld(begun.delivery)
            }
            None => InterruptedMessage::Unsent(begun),
        };
        std::mem::take(&mut self.begun).into_iter().map(find).collect()
    }
}

fn answered(delivery: DeliveryId, events: &[Event]) -> InterruptedMessage {
    let reply = events.iter().rev().find_map(|event| match event {
        Event::Replied(message) => Some(message.message.clone()),
        _ => None,
    });
    let is_done = events.iter().any(|event| {
        matches!(event, Event::TurnEnded { ending: TurnOutcome::Done | TurnOutcome::Error, .. })
    });
    InterruptedMessage::Answered { delivery, reply: reply.unwrap_or_default(), is_done }
}

/// The turn of a message among the events of a session.
fn find_turn<'a>(events: &'a [Event], begun: &BegunMessage) -> Option<&'a [Event]> {
    let own = begun.turn.submit?;
    let is_its =
        |event: &Event| matches!(event, Event::TurnStarted { submit, .. } if *submit == Some(own));
    let start = events.iter().rposition(is_its)?;
    let is_start = |event: &Event| matches!(event, Event::TurnStarted { .. });
    let next = events.iter().skip(start + 1).position(is_start);
    events.get(start..next.map_or(events.len(), |after| start + 1 + after))
}
