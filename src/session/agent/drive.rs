//! Drives a turn: carries out the actions of the state machine, and waits for their results or a
//! cancel.

use tokio_util::sync::CancellationToken;

use super::turn::{SideEffect, Turn, TurnAction, TurnInput, TurnResult};
use super::{Host, ModelRequest, RequestNews};
use avocet_core::i18n::{Localize, agent as phrases};
use avocet_core::protocol::{Event, Truncation, TurnOutcome, Usage};
use avocet_model::{ModelError, ModelReply};

/// Runs a turn to its end. A cancel drops the model call and lets a running step end by itself (its
/// tool gets the same cancel); the host withdraws a question.
pub async fn drive(mut turn: Turn, host: &mut impl Host, cancel: CancellationToken) -> TurnResult {
    let mut input = TurnInput::Begin;
    loop {
        for steering in host.take_steering() {
            if let Some(steering) = host.admit(steering).await {
                turn.steer(steering);
            }
        }
        let action = turn.next(input, host.policy_context());
        let events = apply_effects(turn.take_side_effects(), holds_events(&action), host).await;
        input = match action {
            TurnAction::Call(call) => {
                host.emit_before_call(events).await;
                if let Some(news) = news_before(&call, host).await {
                    input = TurnInput::News(news);
                    continue;
                }
                let answer = tokio::select! {
                    biased;
                    () = cancel.cancelled() => None,
                    answer = host.call_model(call) => Some(answer),
                };
                match answer {
                    Some(answer) => input_of_answer(answer, host).await,
                    None => input_after_cancel(host.partial_answer()),
                }
            }
            TurnAction::Ask(question) => {
                host.ask(events, *question).await.map_or(TurnInput::Cancelled, TurnInput::Decided)
            }
            TurnAction::Consult(event, step) => {
                let advice = host.consult(event, *step).await;
                if cancel.is_cancelled() {
                    TurnInput::Cancelled
                } else {
                    TurnInput::Advised(Box::new(advice))
                }
            }
            TurnAction::Run(step) => {
                let seen = host.run(*step).await;
                if cancel.is_cancelled() {
                    TurnInput::Stopped(seen)
                } else {
                    TurnInput::Observed(seen)
                }
            }
            TurnAction::RunTogether(steps) => {
                TurnInput::TasksEnded(host.run_together(steps).await, cancel.is_cancelled())
            }
            TurnAction::End(ending) => {
                let is_done = ending == TurnOutcome::Done;
                let reason = if is_done { host.reason_to_go_on().await } else { None };
                match reason {
                    Some(reason) if !cancel.is_cancelled() => TurnInput::GoOn(reason),
                    _ => return turn.result(ending),
                }
            }
        };
    }
}

/// What is new, if the model hears it with this call: what was added to a reply that is asked for
/// again would be dropped with it.
async fn news_before(call: &ModelRequest, host: &mut impl Host) -> Option<RequestNews> {
    let news = if call.repair { RequestNews::default() } else { host.news().await };
    (news != RequestNews::default()).then_some(news)
}

/// Whether the events before an action go out together with it.
fn holds_events(action: &TurnAction) -> bool {
    matches!(action, TurnAction::Call(_) | TurnAction::Ask(_))
}

/// Returns the events, with `holds`, or else sends them.
async fn apply_effects(effects: Vec<SideEffect>, holds: bool, host: &mut impl Host) -> Vec<Event> {
    let mut events = Vec::new();
    for effect in effects {
        match effect {
            SideEffect::Event(event) if holds => events.push(*event),
            SideEffect::Event(event) => host.emit(*event).await,
            SideEffect::SetApprovalMode(mode) => host.set_approval_mode(mode),
            SideEffect::OpenForSession(opening) => host.open_for_session(*opening),
            SideEffect::Remember { grant, scope } => host.grant(*grant, scope),
        }
    }
    events
}

/// An answer, unless another model is to give one.
async fn input_of_answer(
    answer: Result<ModelReply, ModelError>,
    host: &mut impl Host,
) -> TurnInput {
    let (why, usage) = match &answer {
        Err(error) if error.is_mended_elsewhere() => (error.localized(), Usage::default()),
        Ok(reply) if reply.cut == Some(Truncation::Filtered) => {
            (phrases::CUT_FILTERED.into(), reply.usage)
        }
        _ => return TurnInput::Replied(answer),
    };
    match host.fall_back(why).await {
        Some(dialect) => TurnInput::FellBack { dialect, usage },
        None => TurnInput::Replied(answer),
    }
}

/// The part of an answer that arrived before the call was dropped is kept, marked as cut off.
fn input_after_cancel(reply: Option<ModelReply>) -> TurnInput {
    match reply {
        Some(answer) => {
            TurnInput::Replied(Ok(ModelReply { cut: Some(Truncation::Cancelled), ..answer }))
        }
        None => TurnInput::Cancelled,
    }
}
