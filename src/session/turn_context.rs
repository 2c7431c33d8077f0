//! What stays the same throughout a turn, unless settings change.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::Fallback;
use super::script_places::ScriptPlaces;
use super::summarizer::Summarizer;
use super::system_prompts::SystemPrompts;
use crate::context::window::{Bounds, History};
use avocet_config::extensions::ExtensionSet;
use avocet_config::project_instructions::ProjectInstructions;
use avocet_core::i18n::Lang;
use avocet_core::protocol::budget::Budget;
use avocet_core::protocol::{Dialect, Effort, Params};
use avocet_model::Model;
use avocet_safety::redact::Redactor;
use avocet_store::Store;
use avocet_tools::Toolbox;

/// The data that stays the same throughout a turn.
#[derive(Clone)]
pub struct TurnContext {
    pub model: Arc<dyn Model>,
    /// The models that answer when it cannot, the next one first.
    pub fallbacks: VecDeque<Fallback>,
    pub params: Params,
    pub effort: Option<Effort>,
    pub system: SystemPrompts,
    pub history: Arc<History>,
    pub instructions: Arc<ProjectInstructions>,
    pub summarizer: Summarizer,
    pub bounds: Bounds,
    /// The same, whatever the model.
    pub usual_bounds: Bounds,
    /// Names the session to a provider that keeps prompts; `None` for one that is not saved.
    pub cache_key: Option<String>,
    pub user_notes: Vec<PathBuf>,
    /// The folder for long outputs, and the session they belong to.
    pub outputs: Option<(PathBuf, String)>,
    pub tools: Toolbox,
    pub extensions: Arc<ExtensionSet>,
    pub redactor: Arc<Redactor>,
    /// Whether shell commands that are not of high risk were approved in advance.
    pub approves_template_commands: bool,
    /// The script folders, and the store for the data that scripts save.
    pub script_places: ScriptPlaces,
    pub script_store: Store,
    /// What the turn may spend, given what was spent before it.
    pub budget: Budget,
    pub lang: Lang,
    pub cancel: CancellationToken,
}

impl TurnContext {
    /// The limits of a request in this dialect.
    pub fn bounds_for(&self, dialect: Dialect) -> Bounds {
        if self.bounds.dialect == dialect {
            self.bounds
        } else {
            Bounds { dialect, ..Bounds::from_room(self.bounds.room) }
        }
    }
}
