//! What a script asks of the world, as plain data. A terminal, the command line and a
//! test are each one host.

use futures_util::future::{self, BoxFuture};
use futures_util::stream::BoxStream;
use serde_json::Value;

use crate::protocol::{Cut, Message, Observation, Params, Risk, Step, Usage, Work};
use crate::words::{Say, script_run as words};

/// What a running script asks of the world.
pub trait Host: Send {
    /// Starts one call of the model; dropping the stream cancels it.
    fn model(&mut self, call: ModelCall) -> BoxStream<'static, Result<Part, Say>>;

    /// The name of the model, where it has one.
    fn model_name(&self) -> Option<String> {
        None
    }

    /// Tells what happened; never waits.
    fn tell(&mut self, told: Told);

    /// Asks a person whether a script may make a call. `false` where nobody is there.
    fn confirm(&mut self, question: Say) -> BoxFuture<'_, bool>;

    /// Runs a step behind the safety policy and gives its output.
    fn step(&mut self, work: Work) -> BoxFuture<'_, Result<String, Say>>;

    /// A value of the store behind `pack://`; `None` when there is none.
    fn knowledge(&mut self, _key: Key) -> BoxFuture<'_, Result<Option<Value>, Say>> {
        Box::pin(future::ready(Ok(None)))
    }

    /// Keeps a value there, or forgets it; gives the one before it.
    fn keep(
        &mut self,
        _key: Key,
        _value: Option<Value>,
    ) -> BoxFuture<'_, Result<Option<Value>, Say>> {
        Box::pin(future::ready(Err(words::NO_STORE.into())))
    }
}

/// One call of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelCall {
    pub messages: Vec<Message>,
    pub params: Params,
    /// The JSON Schema the answer should follow, where the server takes one.
    pub schema: Option<Value>,
}

/// A stretch of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    Text(String),
    Thought(String),
    Finished(Option<Cut>),
}

/// What a script tells on its way.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    /// `$print`.
    Print(Value),
    /// More of the answer that is being made.
    Delta(String),
    /// More of the model's thinking, where the script wants it shown.
    Thought(String),
    /// A call of the model begins.
    Answering,
    /// What a call of the model cost.
    Used(Usage),
    /// A step that was cleared begins.
    Began(Box<(Step, Risk)>),
    /// More output of the step that runs: its ID, and the text.
    Output(String, String),
    /// A step that was cleared has run.
    Ran(Box<Observation>),
    /// A script is called: its ID.
    Calling(String),
    /// Something a person should know.
    Note(Say),
}

/// Names a value of the knowledge store: `pack://id?tbl=collection&db=name`. What is left
/// out is the script's own: its ID, and the folder it lies in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    pub id: String,
    pub table: String,
    pub database: String,
}
