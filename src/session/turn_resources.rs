//! What the turns of a session work with, and what a turn and its requests get of it.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use super::conversation::Conversation;
use super::extensions::ExtensionCache;
use super::job_board::JobBoard;
use super::mcp_servers::McpServers;
use super::model_selection::ModelSelection;
use super::plugin_section::plugin_section;
use super::recall_tool::RecallTool;
use super::script_tool::{ScriptRunTool, with_script_section};
use super::session_effects::Effects;
use super::skill_tool::{self, ActiveSkills, MachineWithSkills};
use super::system_prompts::{SystemPrompts, answer_section};
use super::task_tool::TaskTool;
use super::turn_context::{TurnContext, TurnResponder, TurnScripts, TurnServers};
use super::turn_messages::TurnMessage;
use super::{Security, job_tool};
use crate::context::message_size::tools_size;
use crate::context::request;
use crate::context::size::ContextSize;
use crate::context::system::WorkspaceFacts;
use crate::context::window::{ContextUsage, RequestParts};
use avocet_core::protocol::{Dialect, Provider, SessionInfo};
use avocet_safety::web::{SEARCH, SearchSettings};
use avocet_safety::{Machine, Workspace};
use avocet_tools::Toolbox;

/// What the turns of a session work with.
pub(super) struct TurnResources {
    pub model: ModelSelection,
    pub extensions: ExtensionCache,
    pub servers: McpServers,
    pub tools: Toolbox,
    /// What the prompt says of the workspace.
    pub workspace_facts: WorkspaceFacts,
    /// The folder for long outputs of steps.
    pub outputs: Option<PathBuf>,
    /// Whether shell commands that are not of high risk were approved at the start of the program.
    pub approves_template_commands: bool,
    pub messages: UnboundedSender<TurnMessage>,
}

impl TurnResources {
    /// Reads the extensions and waits, so that a message is sent with the current ones.
    pub async fn refresh(&mut self, workspace: &Workspace) -> Effects {
        // A read that is already running, as right after the start, is recent enough.
        if self.extensions.pending_scan.is_none() {
            self.extensions.refresh(workspace, &self.messages);
        }
        match self.extensions.pending_scan.take() {
            Some(scan) => match scan.await {
                Ok(scan) => self.extensions.take_over(scan, &self.servers.offers),
                Err(_) => Effects::new(),
            },
            None => Effects::new(),
        }
    }

    /// The tools of a turn.
    fn toolbox(&self, security: &Security) -> Toolbox {
        let recall = Arc::new(RecallTool { session: self.messages.clone() });
        let tools = skill_tool::toolbox(&self.tools, &self.extensions.library).with_tool(recall);
        let tools = job_tool::all(&self.messages)
            .fold(tools, |tools, tool| tools.with_tool(Arc::new(tool)));
        let connected = &self.model.connected;
        // The guide has its own way.
        let tools = match connected.provider {
            Provider::Guide => tools,
            _ => self.servers.add_tools(tools, &self.messages, &security.redactor),
        };
        let tools = tools.with_tool(Arc::new(TaskTool));
        let search = security.policy.web.search.as_ref();
        let cannot_search = search.is_some_and(SearchSettings::is_by_provider)
            && connected.model.search_host().is_none();
        let tools = if cannot_search { tools.without(&[SEARCH]) } else { tools };
        if self.extensions.scripts_for(connected.provider).is_empty() {
            tools
        } else {
            tools.with_tool(Arc::new(ScriptRunTool))
        }
    }

    /// The tools that later turns have; true if they are others than those shown.
    pub fn show_tools(&self, security: &Security, info: &mut SessionInfo) -> bool {
        let tools = self.toolbox(security).tool_infos();
        let is_news = tools != info.tools;
        info.tools = tools;
        is_news
    }

    /// What stays the same throughout a turn, unless settings change.
    pub fn turn_context(
        &self,
        info: &SessionInfo,
        conversation: &Conversation,
        security: &Security,
        cancel: &CancellationToken,
    ) -> TurnContext {
        let extensions = &self.extensions;
        let outputs = self.outputs.clone();
        let persona = &self.model.persona;
        let connected = &self.model.connected;
        TurnContext {
            responder: TurnResponder {
                model: Arc::clone(&connected.model),
                fallbacks: connected.fallbacks.iter().cloned().collect(),
                params: persona.params.clone(),
                effort: self.model.effort,
                answer_schema: persona.answer_schema.clone(),
                prompt_size: connected.model.prompt_size(),
                bounds: self.model.request_bounds(),
                usual_bounds: self.model.usual_bounds,
                cache_key: Some(info.session.clone()).filter(|id| !id.is_empty()),
            },
            system: self.system_prompts(info, &conversation.active_skills, security),
            summarizer: self.model.summarizer(info.lang),
            outputs: outputs.map(|folder| (folder, info.session.clone())),
            tools: self.toolbox(security),
            extensions: Arc::clone(&extensions.library),
            servers: TurnServers {
                offers: Arc::clone(&self.servers.offers),
                next_call: Arc::clone(&self.servers.next_call),
            },
            redactor: Arc::clone(&security.redactor),
            approves_template_commands: self.approves_template_commands,
            // A turn begins by reading the extensions again.
            scripts: TurnScripts {
                places: extensions.scripts.places.clone(),
                store: extensions.store.clone(),
            },
            budget: conversation.budget(info),
            lang: info.lang,
            cancel: cancel.clone(),
        }
    }

    /// The machine of a turn, with the skills and scripts that its model may use.
    pub fn machine(&self, security: &Security, jobs: &JobBoard) -> Arc<dyn Machine> {
        Arc::new(MachineWithSkills {
            world: Arc::clone(&security.world),
            library: Arc::clone(&self.extensions.library),
            model_scripts: self.extensions.scripts_for(self.model.connected.provider),
            jobs_of_model: jobs.of_model.clone(),
            server_tools: Arc::clone(&self.servers.catalog),
        })
    }

    /// How the room of the next request is divided, without the words that are yet to come.
    pub fn next_request(
        &self,
        info: &SessionInfo,
        conversation: &Conversation,
        security: &Security,
        notes: &str,
    ) -> ContextUsage {
        let model = &self.model.connected.model;
        let prompts = self.system_prompts(info, &conversation.active_skills, security);
        let system = prompts.text(model.dialect(), model.prompt_size());
        let tools = match model.dialect() {
            Dialect::Tools => {
                let size = model.prompt_size();
                tools_size(&prompts.tools.schemas(model.name(), size, model.offers_shell()))
            }
            Dialect::Json => ContextSize::default(),
        };
        let history = &conversation.history;
        let parts = RequestParts { system: &system, tools, notes, history, turn: &[] };
        request::build(parts, self.model.request_bounds()).1
    }

    /// Shows the share that the next request will have, if there was one.
    pub fn measure(
        &self,
        info: &mut SessionInfo,
        conversation: &Conversation,
        security: &Security,
        notes: &str,
    ) {
        if !conversation.history.is_empty() {
            let usage = self.next_request(info, conversation, security, notes);
            show_usage(&usage, info);
        }
    }

    fn system_prompts(
        &self,
        info: &SessionInfo,
        skills: &ActiveSkills,
        security: &Security,
    ) -> SystemPrompts {
        let skills =
            skill_tool::with_skill_section(String::new(), &self.extensions.library, skills);
        let scripts = self.extensions.scripts_for(self.model.connected.provider);
        let persona = &self.model.persona;
        SystemPrompts {
            cwd: info.cwd.clone(),
            workspace_facts: self.workspace_facts.clone(),
            lang: info.lang,
            bot: persona.prompt.clone(),
            tools: self.toolbox(security),
            sections: with_script_section(skills, &scripts)
                + &plugin_section(&self.tools, &security.place.home, security.world.as_ref())
                + &answer_section(persona.answer_schema.as_deref()),
        }
    }
}

/// How full the context is with this request; true if that is another percentage.
pub(super) fn show_usage(usage: &ContextUsage, info: &mut SessionInfo) -> bool {
    let used = usage.total_size();
    let percent = Some(used.percent_of(usage.room));
    info.context.used_tokens = used.tokens;
    info.context.room_tokens = usage.room.tokens;
    std::mem::replace(&mut info.context.percent, percent) != percent
}
