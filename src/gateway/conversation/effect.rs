//! What a conversation asks its driver for.

use super::super::platform::DeliveryId;
use avocet_core::protocol::{AskId, Decision, Op, QuestionOp, Submission, SubmitId};

/// An action for the driver.
#[derive(Clone, Debug, PartialEq)]
pub enum ChatEffect {
    Send(Submission),
    /// The turn of this message has begun: it is not submitted again.
    Begun {
        delivery: DeliveryId,
        submit: SubmitId,
        text: String,
    },
    /// Nothing is left to do for it.
    Done(DeliveryId),
    /// Answers a press; the text is for the user who pressed.
    Acknowledge {
        press: String,
        text: Option<String>,
    },
    /// Sets the working folder of the chat, as this command asks for.
    SetHome(String, DeliveryId),
    /// The files that are being fetched are not wanted any more.
    StopFetch,
    /// Answers what could follow in an option.
    Suggest {
        query: String,
        choices: Vec<String>,
    },
    /// The files of the user's commands are not those of before.
    ReadMenu,
}

impl ChatEffect {
    pub fn decide(ask: AskId, decision: Decision) -> ChatEffect {
        ChatEffect::Send(Op::Question(QuestionOp::Decide { ask, decision }).into())
    }
}
