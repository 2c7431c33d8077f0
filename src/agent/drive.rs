//! Drives a turn: carries out the actions of the state machine, and waits for their results or a
//! cancel.

use std::time::Instant;

use tokio_util::sync::CancellationToken;

use super::turn::{Action, Input, Told, Turn};
use super::{Answer, Host};
use crate::context::history::TurnRecord;
use crate::protocol::{Event, Truncation, TurnOutcome, Usage};

/// The result of a turn, for the session to store.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    pub ending: TurnOutcome,
    /// The turn's record for the conversation history.
    pub kept: TurnRecord,
    pub usage: Usage,
    /// The first free step and question numbers for the next turn.
    pub next_step: u64,
    pub next_ask: u64,
}

/// Runs a turn to its end. A cancel drops the model call, withdraws a question, and lets a running
/// step end by itself (its tool gets the same cancel).
pub async fn drive(mut turn: Turn, host: &mut impl Host, cancel: CancellationToken) -> Ended {
    let started = Instant::now();
    let mut input = Input::Begin;
    loop {
        host.steered().into_iter().for_each(|words| turn.steer(words));
        let action = turn.next(input, host.scene());
        let mut ahead = Vec::new();
        for told in turn.told() {
            match told {
                Told::Event(event) if matches!(action, Action::Call(_)) => ahead.push(*event),
                Told::Event(event) => host.tell(*event).await,
                Told::Remember { grant, scope } => host.grant(*grant, scope),
            }
        }
        host.tell_ahead(ahead).await;
        input = match action {
            Action::Call(call) => {
                let answer = tokio::select! {
                    biased;
                    () = cancel.cancelled() => None,
                    answer = host.reply(call) => Some(answer),
                };
                answer.map_or_else(|| broken_off(host.heard()), Input::Replied)
            }
            Action::Ask(ask) => {
                let id = ask.id;
                let decision = tokio::select! {
                    biased;
                    () = cancel.cancelled() => None,
                    decision = host.ask(*ask) => Some(decision),
                };
                match decision {
                    Some(decision) => Input::Decided(decision),
                    None => {
                        host.tell(Event::Answered { ask: id }).await;
                        Input::Cancelled
                    }
                }
            }
            Action::Run(step) => {
                let seen = host.run(*step).await;
                if cancel.is_cancelled() { Input::Stopped(seen) } else { Input::Observed(seen) }
            }
            Action::End(ending) => {
                let elapsed_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
                let ended = turn.ended(ending);
                host.tell(Event::TurnEnded {
                    turn: turn.number(),
                    ending: ended.ending.clone(),
                    usage: ended.usage,
                    elapsed_ms,
                })
                .await;
                return ended;
            }
        };
    }
}

/// The part of an answer that arrived before the call was dropped is kept, marked as cut off.
fn broken_off(heard: Option<Answer>) -> Input {
    match heard {
        Some(answer) => Input::Replied(Ok(Answer { cut: Some(Truncation::Cancelled), ..answer })),
        None => Input::Cancelled,
    }
}
