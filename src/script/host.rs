//! The interface between a script and its host, as plain data. A terminal, the command line and a
//! test each implement it.

use futures_util::future::{self, BoxFuture};
use futures_util::stream::BoxStream;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::error::StepError;
use super::program_output::ProgramOutput;
use avocet_core::i18n::{LocalizedText, script_run as phrases};
use avocet_core::protocol::budget::Budget;
use avocet_core::protocol::{
    FormField, Message, Observation, Params, Risk, Step, StepAction, Truncation, Usage,
};

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
    fn emit(&mut self, event: ScriptEvent);

    /// Asks the user whether a script may make a call. `false` without a user.
    fn confirm(&mut self, text: LocalizedText) -> BoxFuture<'_, bool>;

    /// Asks the user for an input. `None`: it was not answered.
    fn ask_input(&mut self, _question: InputQuestion) -> BoxFuture<'_, Option<InputAnswer>> {
        Box::pin(future::ready(None))
    }

    /// Asks the user for several inputs at once. A host without forms is asked for one after the
    /// other.
    fn ask_form(&mut self, _form: FormQuestion) -> BoxFuture<'_, FormAnswer> {
        Box::pin(future::ready(FormAnswer::OneByOne))
    }

    /// Runs a step through the safety policy and returns its output. A question of the script's
    /// permissions is asked only if the policy asks nothing about the step.
    fn run_step(
        &mut self,
        action: StepAction,
        text: Option<LocalizedText>,
    ) -> BoxFuture<'_, Result<ProgramOutput, StepError>>;

    /// Is cancelled when the run is stopped: whatever it computes ends.
    fn stop_token(&self) -> CancellationToken {
        CancellationToken::new()
    }

    /// The variables of the environment that scripts may read.
    fn environment(&self) -> Map<String, Value> {
        Map::new()
    }

    /// A sealed script has joined the run: until its end, what scripts write is for a model of this
    /// machine or its network alone.
    fn seal(&mut self) {}

    fn is_sealed(&self) -> bool {
        false
    }

    /// What the run may spend on models.
    fn budget(&self) -> Budget {
        Budget::default()
    }

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
        Box::pin(future::ready(Err(phrases::NO_STORE.into())))
    }
}

impl dyn ScriptHost + '_ {
    pub fn emit_note(&mut self, say: impl Into<LocalizedText>) {
        self.emit(ScriptEvent::Note(say.into()));
    }
}

/// A question of a script to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputQuestion {
    /// The ID of the script that asks.
    pub script: String,
    pub text: LocalizedText,
    pub form: InputForm,
}

/// Several questions of a script that the user answers together.
#[derive(Clone, Debug, PartialEq)]
pub struct FormQuestion {
    /// The ID of the script that asks.
    pub script: String,
    pub fields: Vec<FormField>,
}

/// The user's answer to them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormAnswer {
    /// A value for each field, in their order.
    Filled(Vec<String>),
    /// The user gives none.
    Cancelled,
    /// There are no forms here.
    OneByOne,
}

/// The form of the answer to a script's question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputForm {
    /// Any text; the default, if there is one, is offered.
    Text { default: Option<String> },
    /// Yes or no.
    Confirm,
    /// One of these, or another text if that is accepted.
    Choice { labels: Vec<String>, free: bool },
}

/// The user's answer to a script's question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputAnswer {
    Text(String),
    /// The index of a choice; yes is 0, no is 1.
    Picked(usize),
}

/// One model call.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelCall {
    pub messages: Vec<Message>,
    pub params: Params,
    /// The JSON Schema the answer should follow, if the server accepts one.
    pub schema: Option<Value>,
    /// An answer of the form that the script requires, for a host without a model.
    pub sample: Option<String>,
}

/// A part of a streamed answer.
#[derive(Clone, Debug, PartialEq)]
pub enum AnswerPart {
    Text(String),
    Reasoning(String),
    /// Tokens that the call has used.
    Usage(Usage),
    Finished(Option<Truncation>),
}

/// An event that a running script reports.
#[derive(Clone, Debug, PartialEq)]
pub enum ScriptEvent {
    /// `$print`.
    Print(Value),
    /// A message of the script's author, as it is sent: the role and the text.
    Message(String, String),
    /// The next text of the answer being generated.
    Delta(String),
    /// The next text of the model's reasoning, if the script wants it shown.
    Reasoning(String),
    /// An answer begins: its text follows in [`ScriptEvent::Delta`].
    AnswerStarted(AnswerHead),
    /// The answer is complete.
    AnswerEnded,
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

/// Where an answer comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerHead {
    /// The role that speaks; `None` for the script itself.
    pub role: Option<String>,
    /// The ID of the script.
    pub script: String,
    /// The number of the model call in this run, from 1.
    pub call: usize,
    /// It is data for the script (JSON and the like), not prose.
    pub is_data: bool,
}

/// The address of a value in the knowledge store: `pack://id?tbl=collection&db=name`. Omitted parts
/// default to the script's own ID and folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackKey {
    pub id: String,
    pub table: String,
    pub database: String,
}
