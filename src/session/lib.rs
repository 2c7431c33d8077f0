//! One conversation in one folder: reads [`Op`]s, runs turns, writes [`Event`]s.
//!
//! `run` is the loop and only dispatches; a running turn is its own task with a
//! `turn_scope::TurnScope`, so an op is answered at any moment. Two channels lead in and out; three
//! small ones connect the loop and its turn (decisions down, the policy down, notes up), all with
//! plain data.
//!
//! Not here: the meaning of a line (`commands`, `prompt`), and any frontend.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::sync::mpsc::{Receiver, Sender};
use tokio::task::JoinHandle;

use avocet_core::i18n::{Lang, LocalizedText};
use avocet_core::protocol::{Effort, Event, ModelOffer, Params, Provider, SessionInfo, Submission};
use avocet_lsp::LanguageServers;
use avocet_model::{Model, ModelError};
use avocet_safety::redact::Redactor;
use avocet_safety::{Machine, Policy, PolicyRule, Terms, Workspace};
use avocet_tools::Toolbox;

pub mod agent;
mod attachments;
mod change_log;
mod changed_files;
mod compaction;
mod configure;
pub mod context;
mod conversation;
mod diff_report;
mod dispatch;
mod event_sink;
pub mod expansion_stop;
pub mod export;
mod export_html;
mod extension_ops;
pub mod extensions;
pub mod folders;
mod foreground_step;
mod goal;
mod goal_progress;
mod hook_ops;
mod hook_runner;
mod job;
mod job_board;
mod job_place;
mod job_tool;
mod jobs;
mod kept_jobs;
mod language_steps;
mod limit_question;
pub mod listing;
mod masked_turn;
mod mcp_ops;
mod mcp_page;
mod mcp_requests;
mod mcp_sampling;
mod mcp_schemas;
pub mod mcp_servers;
mod mcp_tool;
mod memory;
mod message_queue;
mod model_selection;
mod offered_tools;
mod pages;
pub mod permissions;
pub mod persistence;
mod plugin_section;
mod preview;
mod prompt_expansion;
mod provider_search;
mod question_ops;
mod queue;
mod recall_tool;
mod recovery;
mod restore_turn;
mod rewind;
mod run;
pub mod run_clock;
mod running_step;
mod saved_sessions;
mod script_hooks;
pub mod script_host;
pub mod script_places;
mod script_start;
mod script_tool;
pub mod script_turn;
pub mod send_tool;
mod session_effects;
pub mod session_hooks;
pub mod session_policy;
mod session_questions;
mod session_settings;
pub mod settings;
mod settings_takeover;
mod shared_queues;
mod shell_turn;
mod side_question;
mod side_request;
mod skill_tool;
mod state;
mod status_line;
mod step_judge;
mod subagent;
mod subagent_bounds;
mod subagent_list;
mod subagent_ops;
mod subagent_worktree;
mod summarizer;
mod system_prompts;
mod task_tool;
pub mod trust;
mod trust_question;
mod turn_account;
mod turn_clock;
mod turn_context;
mod turn_conversation;
mod turn_events;
mod turn_hooks;
mod turn_host;
mod turn_messages;
mod turn_parts;
mod turn_resources;
mod turn_scope;
mod turn_steps;
mod turn_update;
mod undo;
mod usage_log;
mod user_input;
mod wall;
pub mod worktree_access;
pub mod worktrees;

pub use job::KeptJobs;
pub use pages::plugins as plugins_page;
pub use run::start;
pub use status_line::{RunStatusCommand, StatusLine};

/// A handle to a session.
#[derive(Debug)]
pub struct Handle {
    pub ops: Sender<Submission>,
    pub events: Receiver<Event>,
    /// Ends when the session is closed and everything it started has ended; returns what could not
    /// be saved.
    pub task: JoinHandle<Option<Rescue>>,
}

/// A conversation that could not be saved when it was closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rescue {
    pub why: LocalizedText,
    /// The name for a file that contains it.
    pub name: String,
    /// Markdown, masked.
    pub text: String,
}

/// The parts of a session. `app` builds them and passes them in.
pub struct SessionConfig {
    /// The session info at the start; the session keeps it up to date.
    pub info: SessionInfo,
    pub model_access: ModelAccess,
    pub security: Security,
    pub tools: Toolbox,
    /// What the prompt says of the workspace.
    pub workspace_facts: crate::context::system::WorkspaceFacts,
    pub persona: Persona,
    /// The folder for long outputs of steps; `None`: they are not kept.
    pub outputs: Option<std::path::PathBuf>,
    pub access: SessionAccess,
    /// Files with the user's own instructions.
    pub user_notes: Vec<std::path::PathBuf>,
    /// Where the session is saved.
    pub persistence: persistence::Persistence,
    /// Commands, skills and bots; read once the session is open.
    pub extensions: extensions::ExtensionCache,
    /// The maximum size of a request.
    pub bounds: crate::context::window::Bounds,
    /// Whether the changed files of the folder are counted.
    pub counts_changed_files: bool,
    /// Notices shown once, when the session opens.
    pub opening_notices: Vec<avocet_core::protocol::Notice>,
    /// Whether template shell commands that are not of high risk run without a question.
    pub approves_template_commands: bool,
}

/// What the session reaches beside models and tools.
#[derive(Default)]
pub struct SessionAccess {
    /// What keeping jobs beyond the session needs; `None`: none is kept, and none is looked for.
    pub kept_jobs: Option<KeptJobs>,
    /// What MCP servers need; `None`: there are none.
    pub servers: Option<Box<dyn mcp_servers::McpAccess>>,
    /// What hooks need; `None`: there are none.
    pub hooks: Option<Box<dyn session_hooks::HookAccess>>,
    /// The settings in their files; `None`: they stay as they are.
    pub settings: Option<Box<dyn settings::SettingsAccess>>,
}

/// Connections to models.
pub struct ModelAccess {
    /// The model that answers first.
    pub first: Connected,
    /// How much it is to reason.
    pub effort: Option<Effort>,
    /// Searches for models nearby, once, after the session has opened.
    pub discover: Option<BoxFuture<'static, Vec<FoundModelServer>>>,
    /// Connects to another model, as named by `/model` or `/mode`.
    pub connect: Connect,
    pub callbacks: Callbacks,
}

/// Actions that the session calls and `app` provides.
pub struct Callbacks {
    /// Collects the facts that `/doctor` shows.
    pub doctor: Doctor,
    /// Describes the chat platforms for `/platforms`.
    pub platforms: DescribePlatforms,
    /// The language servers; `None`: there are none.
    pub languages: Option<LanguageServers>,
    /// How agents get worktrees; `None`: they get none.
    pub worktrees: Option<worktree_access::WorktreeAccess>,
    /// What a program adds to the status line.
    pub status: StatusLine,
}

/// Connects to a model; the language is for the guide, which speaks one at a time.
pub type Connect = Arc<dyn Fn(&Wanted, Lang) -> Result<Connected, LocalizedText> + Send + Sync>;
pub type KeepRule = Box<dyn FnMut(&PolicyRule, RuleChange) -> Result<(), LocalizedText> + Send>;

/// Saves or forgets a rule for this folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleChange {
    /// Allow on these terms, if the rule was made for a step.
    Keep(Option<Terms>),
    Forget,
}

/// True if the folder is trusted now.
pub type Doctor =
    Arc<dyn Fn(bool) -> BoxFuture<'static, avocet_core::protocol::Page> + Send + Sync>;

pub type DescribePlatforms = Arc<dyn Fn() -> avocet_core::protocol::Page + Send + Sync>;

/// Which model the user wants.
#[derive(Clone, Debug, PartialEq)]
pub enum Wanted {
    /// A model by its name, at the same server or where it was found.
    Model { name: String, found: Option<FoundModelServer> },
    /// The profile's model for a mode.
    Mode(avocet_core::protocol::Mode),
    /// The offline guide.
    Guide,
}

/// A callable model, and its name.
#[derive(Clone)]
pub struct Connected {
    pub model: Arc<dyn Model>,
    pub provider: Provider,
    /// Empty for a built-in one.
    pub base_url: String,
    /// The models that answer when it cannot, in this order.
    pub fallbacks: Vec<Fallback>,
    /// Asks the server for its list of models.
    pub list: ListOffers,
}

impl std::fmt::Debug for Connected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connected").field("base_url", &self.base_url).finish_non_exhaustive()
    }
}

/// Asks a server for its models.
pub type ListOffers =
    Arc<dyn Fn() -> BoxFuture<'static, Result<Vec<ModelOffer>, ModelError>> + Send + Sync>;

/// A model that answers in place of another.
#[derive(Clone)]
pub struct Fallback {
    /// As the settings name it.
    pub name: String,
    /// The sentence says why it cannot be used.
    pub model: Result<Arc<dyn Model>, LocalizedText>,
}

/// A server that was found, with its models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundModelServer {
    pub name: String,
    pub base_url: String,
    /// The environment variable that contains its key.
    pub key_env: Option<String>,
    pub models: Vec<String>,
}

/// The policy and the redactor.
pub struct Security {
    pub policy: Policy,
    pub place: Workspace,
    pub world: Arc<dyn Machine>,
    pub redactor: Arc<Redactor>,
    /// Saves a rule for this folder or forgets it; an error says why it could not.
    pub keep_rule: KeepRule,
    pub session: session_policy::SessionPolicy,
    pub trust: trust::TrustPrompt,
}

/// The bot's part of the system prompt and its sampling, and the form of the answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Persona {
    pub prompt: Option<String>,
    pub params: Params,
    /// The JSON Schema that the final answer has to fit.
    pub answer_schema: Option<Arc<Value>>,
}
