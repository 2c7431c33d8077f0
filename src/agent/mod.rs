//! One user turn: the loop of reply, judgement, question, step, observation.
//!
//! [`Turn`](turn::Turn) decides and is pure; [`drive`](drive::drive) waits. What a
//! turn needs of the world it asks of its [`Host`].

use std::future::Future;

use crate::model::ModelError;
use crate::protocol::{Ask, Cut, Decision, Event, Message, Observation, Scope, Usage};
use crate::safety::{Cleared, Grant, Scene};

pub mod drive;
pub mod turn;

/// What a turn asks of the world. A session is one; a test is another.
pub trait Host: Send {
    /// Where steps are judged now; the policy may have changed since the last one.
    fn scene(&mut self) -> Scene<'_>;

    /// Calls the model with what was said since the turn began. Streams to the
    /// surfaces by itself; answers with the whole text.
    fn reply(&mut self, call: Call) -> impl Future<Output = Result<Answer, ModelError>> + Send;

    /// What had come of the last call when it was dropped by a cancel; `None` when
    /// nothing had.
    fn heard(&mut self) -> Option<Answer> {
        None
    }

    /// What the user said since it was last asked, for the turn that runs. Never waits.
    fn steered(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// Puts a question and waits for its decision.
    fn ask(&mut self, ask: Ask) -> impl Future<Output = Decision> + Send;

    /// Runs a cleared step; a cancel ends it and gives an observation all the same.
    fn run(&mut self, step: Cleared) -> impl Future<Output = Observation> + Send;

    /// Tells the surfaces.
    fn tell(&mut self, event: Event) -> impl Future<Output = ()> + Send;

    /// Tells the surfaces what happened before a call of the model. The call that follows
    /// need not wait until they know.
    fn tell_ahead(&mut self, events: Vec<Event>) -> impl Future<Output = ()> + Send {
        async {
            for event in events {
                self.tell(event).await;
            }
        }
    }

    /// The user wants what this rule covers to run without a question.
    fn remember(&mut self, rule: String, scope: Scope);

    /// The same, with the terms of the step it was given for.
    fn grant(&mut self, grant: Grant, scope: Scope) {
        self.remember(grant.rule.to_string(), scope);
    }
}

/// One call of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// What the turn adds behind the session's history: the user's words first, then
    /// the model's own replies, tool results and `continue`s.
    pub messages: Vec<Message>,
    /// Set when the last reply was no valid one and is asked for again.
    pub repair: bool,
}

/// What came of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    pub text: String,
    pub usage: Usage,
    pub cut: Option<Cut>,
}
