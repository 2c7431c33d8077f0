//! What stays the same throughout a turn, unless settings change.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::Fallback;
use super::script_places::ScriptPlaces;
use super::summarizer::Summarizer;
use super::system_prompts::SystemPrompts;
use crate::context::window::Bounds;
use avocet_config::extensions::ExtensionLibrary;
use avocet_core::i18n::Lang;
use avocet_core::protocol::budget::Budget;
use avocet_core::protocol::{Dialect, Effort, Params, PromptSize};
use avocet_mcp::ServerOffers;
use avocet_model::Model;
use avocet_safety::redact::Redactor;
use avocet_store::Store;
use avocet_tools::Toolbox;

/// The window of a model that calls tools and of which nothing is known, in tokens.
const WINDOW: usize = 128_000;

/// The limits of a request to this model.
pub fn bounds_of_model(model: &dyn Model, bounds: Bounds) -> Bounds {
    let window = model.window().and_then(|tokens| usize::try_from(tokens).ok());
    match (model.dialect(), window) {
        (Dialect::Json, None) => bounds,
        (Dialect::Json, Some(window)) => Bounds::for_json(window),
        (Dialect::Tools, window) => Bounds::for_tools(window.unwrap_or(WINDOW)),
    }
}

/// The model that answers, and how it is asked.
#[derive(Clone)]
pub struct TurnResponder {
    pub model: Arc<dyn Model>,
    /// The models that answer when it cannot, the next one first.
    pub fallbacks: VecDeque<Fallback>,
    pub params: Params,
    pub effort: Option<Effort>,
    /// The JSON Schema that the final answer has to fit.
    pub answer_schema: Option<Arc<Value>>,
    /// Which prompt the model gets: the same in all requests of a turn.
    pub prompt_size: PromptSize,
    pub bounds: Bounds,
    /// The same, whatever the model.
    pub usual_bounds: Bounds,
    /// Names the session to a provider that keeps prompts; `None` for one that is not saved.
    pub cache_key: Option<String>,
}

impl TurnResponder {
    /// Goes on with what is known of the model by now.
    pub fn fit_to_model(&mut self) {
        self.prompt_size = self.model.prompt_size();
        self.bounds = bounds_of_model(&*self.model, self.usual_bounds);
    }

    /// The limits of a request in this dialect.
    pub fn bounds_for(&self, dialect: Dialect) -> Bounds {
        if self.bounds.dialect == dialect {
            self.bounds
        } else {
            Bounds { dialect, ..Bounds::from_room(self.bounds.room) }
        }
    }
}

/// What MCP servers offer the user, and the number of the next request to one.
#[derive(Clone)]
pub struct TurnServers {
    pub offers: Arc<ServerOffers>,
    pub next_call: Arc<AtomicU64>,
}

/// The script folders, and the store for the data that scripts save.
#[derive(Clone)]
pub struct TurnScripts {
    pub places: ScriptPlaces,
    pub store: Store,
}

/// The data that stays the same throughout a turn.
#[derive(Clone)]
pub struct TurnContext {
    pub responder: TurnResponder,
    pub system: SystemPrompts,
    pub summarizer: Summarizer,
    /// The folder for long outputs, and the session they belong to.
    pub outputs: Option<(PathBuf, String)>,
    pub tools: Toolbox,
    pub extensions: Arc<ExtensionLibrary>,
    pub servers: TurnServers,
    pub redactor: Arc<Redactor>,
    /// Whether shell commands that are not of high risk were approved in advance.
    pub approves_template_commands: bool,
    pub scripts: TurnScripts,
    /// What the turn may spend, given what was spent before it.
    pub budget: Budget,
    pub lang: Lang,
    pub cancel: CancellationToken,
}
