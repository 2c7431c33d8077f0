//! One conversation in one folder: reads [`Op`]s, runs turns, writes [`Event`]s.
//!
//! `run` is the loop and stays a router; a running turn is a task of its own with a
//! `host::Desk` as its host, so an op is answered at any moment. Two channels lead
//! in and out; between the loop and its turn run three small ones (decisions down,
//! the policy down, notes up), all of plain data.
//!
//! Not in here: what a line means (`commands`, `prompt`), and any surface.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::task::JoinHandle;

use crate::model::{Model, ModelError};
use crate::protocol::{Event, Facts, Op, Params, Provider};
use crate::safety::redact::Redactor;
use crate::safety::{Place, Policy, Rule, Terms, World};
use crate::tools::Toolbox;
use crate::words::{Lang, Say};

mod answering;
mod context;
mod edited;
pub mod export;
mod files;
pub mod folders;
mod host;
pub mod library;
mod mend;
mod offered;
mod outbox;
mod prompting;
mod report;
mod rewind;
pub mod rules;
mod run;
pub mod saved;
pub mod script;
pub mod scripting;
mod shell;
mod skills;
mod state;
pub mod trust;
mod turns;
mod undo;
mod wall;

pub use report::plugins as plugins_page;

/// How many ops may wait for a session.
const ROOM: usize = 256;

/// A session from outside.
#[derive(Debug)]
pub struct Handle {
    pub ops: Sender<Op>,
    pub events: Receiver<Event>,
    /// Ends when the session is closed and everything it started is gone, with what could not
    /// be saved.
    pub task: JoinHandle<Option<Rescue>>,
}

/// A conversation that could not be saved when it was closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rescue {
    pub why: Say,
    /// What a file with it is called.
    pub name: String,
    /// Markdown, masked.
    pub text: String,
}

/// What a session is made of. Everything is built by `app` and handed over.
pub struct Parts {
    /// What is known from the start; the session keeps it up to date.
    pub facts: Facts,
    pub reach: Reach,
    pub guard: Guard,
    pub tools: Toolbox,
    pub persona: Persona,
    /// Where it is kept.
    pub keep: saved::Keeping,
    /// Commands, skills and bots; read once the session is open.
    pub kept: library::Kept,
    /// How much a request may hold.
    pub bounds: crate::context::window::Bounds,
    /// Said once, when the session opens.
    pub greeting: Vec<crate::protocol::Notice>,
    /// Whether the shell pieces of templates that are not grave run without a question.
    pub approves_pieces: bool,
}

/// How models are reached.
pub struct Reach {
    /// The one that answers first.
    pub first: Connected,
    /// Looks for models nearby, once, after the session opened.
    pub discover: Option<BoxFuture<'static, Vec<Found>>>,
    pub ways: Ways,
}

/// What a session does not know how to do by itself.
pub struct Ways {
    /// Connects to another model by what `/model` or `/mode` names.
    pub connect: Connect,
    /// Collects what `/doctor` shows.
    pub doctor: Doctor,
}

/// Connects; the language is for the guide, which speaks one at a time.
pub type Connect = Arc<dyn Fn(&Wanted, Lang) -> Result<Connected, Say> + Send + Sync>;
pub type KeepRule = Box<dyn FnMut(&Rule, Memory) -> Result<(), Say> + Send>;

/// What happens to a rule that is remembered for this folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Memory {
    /// On these terms, where it was given for a step.
    Keep(Option<Terms>),
    Forget,
}

/// True: the folder is trusted now.
pub type Doctor = Arc<dyn Fn(bool) -> BoxFuture<'static, crate::protocol::Page> + Send + Sync>;

/// What a person wants to talk to.
#[derive(Clone, Debug, PartialEq)]
pub enum Wanted {
    /// A model by its name, at the same server or where it was found.
    Model { name: String, found: Option<Found> },
    /// The profile's model for a mode.
    Mode(crate::protocol::Mode),
    /// The offline guide.
    Guide,
}

/// A model that can be called, and how it is spoken of.
#[derive(Clone)]
pub struct Connected {
    pub model: Arc<dyn Model>,
    pub provider: Provider,
    /// Empty for a built-in one.
    pub base_url: String,
    /// Asks the server which models it offers.
    pub list: Arc<dyn Fn() -> BoxFuture<'static, Result<Vec<String>, ModelError>> + Send + Sync>,
}

/// A server that was found, with its models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub name: String,
    pub base_url: String,
    /// The environment variable that holds its key.
    pub key_env: Option<String>,
    pub models: Vec<String>,
}

/// What judges and masks.
pub struct Guard {
    pub policy: Policy,
    pub place: Place,
    pub world: Arc<dyn World>,
    pub redactor: Arc<Redactor>,
    /// Keeps a rule for this folder or forgets it; an error says why it could not.
    pub keep_rule: KeepRule,
    pub trust: trust::Trust,
}

/// Who answers: the bot's part of the system prompt and its sampling.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Persona {
    pub prompt: Option<String>,
    pub params: Params,
}

/// Starts a session on the current runtime.
pub fn start(mut parts: Parts) -> Handle {
    let (ops, op_receiver) = mpsc::channel(ROOM);
    let (events, event_receiver) = mpsc::channel(outbox::ROOM);
    let keep = std::mem::replace(&mut parts.keep, saved::Keeping::nothing());
    let redactor = Arc::clone(&parts.guard.redactor);
    let saved = saved::Saved::start(keep, &mut parts.facts, redactor);
    let outbox = outbox::Outbox::new(events, Some(saved.recorder()));
    let task = tokio::spawn(run::run(parts, saved, op_receiver, outbox));
    Handle { ops, events: event_receiver, task }
}
