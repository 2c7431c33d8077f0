//! The interface between a script and its host, as plain data. A terminal, the command line and a
//! test each implement it.

use futures_util::future::{self, BoxFuture};
use futures_util::stream::BoxStream;
use serde_json::Value;

use crate::i18n::{LocalizedText, script_run as words};
use crate::protocol::{Message, Observation, Params, Risk, Step, StepAction, Truncation, Usage};

/// Everything a running script needs from outside.
pub trait ScriptHost: Send {
    /// Starts one model call; dropping the stream cancels it.
    fn call_model(
        &mut self,
        call: ModelCall,
    ) -> BoxStream<'static, Result<AnswerPart, LocalizedText>>;

    /// The name of the model, if it has one.
    fn model_name(&self) -> Option<String> {
        None
    }

    /// Reports an event; never waits.
    fn emit(&mut self, told: ScriptEvent);

    /// Asks the user whether a script may make a call. `false` if there is no user.
    fn confirm(&mut self, question: LocalizedText) -> BoxFuture<'_, bool>;

    /// Runs a step through the safety policy and returns its output.
    fn run_step(&mut self, work: StepAction) -> BoxFuture<'_, Result<String, LocalizedText>>;

    /// A value of the store of `pack://`; `None` if there is none.
    fn load_value(&mut self, _key: PackKey) -> BoxFuture<'_, Result<Option<Value>, LocalizedText>> {
        Box::pin(future::ready(Ok(None)))
    }

    /// Stores a value there, or removes it; returns the previous one.
    fn store_value(
        &mut self,
        _key: PackKey,
        _value: Option<Value>,
    ) -> BoxFuture<'_, Result<Option<Value>, LocalizedText>> {
        Box::pin(future::ready(Err(words::NO_STORE.into())))
    }
}

impl dyn ScriptHost + '_ {
    pub fn emit_note(&mut self, say: impl Into<LocalizedText>) {
        self.emit(ScriptEvent::Note(say.into()));
    }
}

/// One model call.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelCall {
    pub messages: Vec<Message>,
    pub params: Params,
    /// The JSON Schema the answer should follow, if the server accepts one.
    pub schema: Option<Value>,
}

/// A part of a streamed answer.
#[derive(Clone, Debug, PartialEq)]
pub enum AnswerPart {
    Text(String),
    Reasoning(String),
    Finished(Option<Truncation>),
}

/// An event that a running script reports.
#[derive(Clone, Debug, PartialEq)]
pub enum ScriptEvent {
    /// `$print`.
    Print(Value),
    /// The next text of the answer being generated.
    Delta(String),
    /// The next text of the model's reasoning, if the script wants it shown.
    Reasoning(String),
    /// A model call begins.
    ModelCallStarted,
    /// The token usage of a model call.
    TokensUsed(Usage),
    /// An approved step begins.
    StepStarted(Box<(Step, Risk)>),
    /// More output of the running step: its ID, and the text.
    Output(String, String),
    /// An approved step has run.
    StepFinished(Box<Observation>),
    /// A script is called: its ID.
    ScriptCalled(String),
    /// A note for the user.
    Note(LocalizedText),
}

/// The address of a value in the knowledge store: `pack://id?tbl=collection&db=name`. Omitted parts
/// default to the script's own ID and folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackKey {
    pub id: String,
    pub table: String,
    pub database: String,
}
