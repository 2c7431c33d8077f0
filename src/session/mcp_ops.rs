//! Reads the definitions of MCP servers after a session opened, starts the servers, follows their
//! events, and passes calls on.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use tokio::time::timeout_at;

use super::mcp_page;
use super::mcp_sampling;
use super::mcp_schemas::offered_schemas;
use super::mcp_servers::{
    DefinitionState, McpServerState, ServerNews, ServerQuestion, SessionServer, folders_of,
};
use super::mcp_tool::McpTool;
use super::state::Session;
use super::user_input::UserInput;
use avocet_core::i18n::{Localize, mcp_pages as phrases};
use avocet_core::protocol::{Event, McpAction, Notice, Page, Provider};
use avocet_mcp::{McpEvent, McpRequest, McpServer, ServerDefinitions};
use avocet_tools::Toolbox;

/// The first turn of a session without a screen waits so long for servers that start.
const START_WAIT: Duration = Duration::from_secs(10);
/// The same for a message that is a prompt of one.
const NAMED_START_WAIT: Duration = Duration::from_secs(40);

impl Session {
    /// Reads the definitions after the start, or again.
    pub(super) fn load_servers(&mut self) {
        let Some(access) = &self.servers.access else { return };
        let reader = access.reader(self.security.place.trusted);
        let read = self.servers.channels.read.clone();
        self.servers.definitions = DefinitionState::Reading;
        tokio::task::spawn_blocking(move || read.send(reader()));
    }

    /// The start is over.
    pub(super) fn load_servers_at_start(&mut self) {
        if self.servers.definitions == DefinitionState::Unread {
            self.load_servers();
        }
    }

    /// A turn that no other will follow begins with the tools of servers, if they start in time.
    pub(super) async fn wait_for_servers(&mut self, input: &UserInput) {
        let is_named = matches!(input, UserInput::Prompt(prompt) if prompt.is_of_server());
        wait_for_starts(self, if is_named { NAMED_START_WAIT } else { START_WAIT }).await;
    }

    pub(super) async fn handle_server_news(&mut self, news: ServerNews) {
        match news {
            ServerNews::Read(definitions) => Box::pin(self.set_definitions(definitions)).await,
            ServerNews::Event(name, event) => Box::pin(self.handle_server_event(name, event)).await,
        }
    }

    /// Starts what is new, ends what is gone or changed, and leaves the rest as it is.
    async fn set_definitions(&mut self, definitions: ServerDefinitions) {
        self.servers.definitions = DefinitionState::Read;
        let mut before = std::mem::take(&mut self.servers.servers);
        for definition in definitions.servers {
            let same = before.iter().position(|server| server.definition == definition);
            let server = same.map(|at| before.remove(at)).unwrap_or(SessionServer {
                definition,
                state: McpServerState::Off,
                running: None,
            });
            self.servers.servers.push(server);
        }
        let gone = before.into_iter().filter_map(|server| server.running);
        join_all(gone.map(McpServer::stop)).await;
        for at in 0..self.servers.servers.len() {
            if self.servers.servers.get(at).is_some_and(|server| server.running.is_none()) {
                self.servers.start(at, &self.security.place);
            }
            if let Some(notice) = self.servers.servers.get(at).and_then(SessionServer::fault) {
                self.notify(notice).await;
            }
        }
        for fault in
            definitions.diagnostics.iter().filter(|fault| !self.servers.faults.contains(fault))
        {
            self.outbox.send(Event::Notice(Notice::warning(fault.localized()))).await;
        }
        self.servers.faults = definitions.diagnostics;
        self.servers.remarks = definitions.remarks;
        self.publish_server_tools().await;
        self.tell_unanswered().await;
        self.ask_about_server().await;
    }

    async fn handle_server_event(&mut self, name: String, event: McpEvent) {
        let Some(server) = self.servers.find(&name).filter(|server| server.running.is_some())
        else {
            return;
        };
        match event {
            McpEvent::Started(facts) | McpEvent::Changed(facts) => {
                server.state = McpServerState::Running(facts);
                self.publish_server_tools().await;
            }
            McpEvent::Failed { error, retry_after } => {
                let is_told = matches!(server.state, McpServerState::Failed { .. });
                let again_at = retry_after.map(|after| Instant::now() + after);
                let why = error.localized();
                server.state = McpServerState::Failed { error, again_at };
                self.servers.drop_calls(&name);
                self.publish_server_tools().await;
                if !is_told {
                    let say = phrases::FAILED_NOTICE.with("name", name).with("why", why);
                    self.notify(Notice::warning(say)).await;
                }
            }
            McpEvent::Progress { id, done, total, text } => {
                if let Some(call) = self.servers.calls.get(&id) {
                    let share = total.filter(|total| *total > 0.0).map(|total| done / total);
                    let percent = share.map(|share| format!("{:.0}% ", share * 100.0));
                    let line = format!("{}{text}\n", percent.unwrap_or_default());
                    // The call may have been given up.
                    let _ = call.progress.send(line);
                }
            }
            McpEvent::Answered { id, result } => {
                if let Some(call) = self.servers.calls.remove(&id) {
                    // The same.
                    let _ = call.reply.send(result);
                }
            }
            McpEvent::Logged(line) => tracing::info!(server = name, line, "MCP server"),
            McpEvent::Asked(question) => {
                self.servers.waiting.push_back(ServerQuestion::Asked(name, question));
                self.ask_for_server().await;
            }
            McpEvent::Sampled(request) => mcp_sampling::answer(self, &name, request),
            McpEvent::Withdrawn(id) => {
                let is_it = |server_question: &ServerQuestion| matches!(server_question, ServerQuestion::Asked(of, question) if *of == name && question.id == id);
                self.servers.waiting.retain(|waits| !is_it(waits));
                if let Some((ask, _)) = self.servers.question.take_if(|(_, open)| is_it(open)) {
                    self.outbox.send(Event::QuestionClosed { ask }).await;
                    self.ask_for_server().await;
                }
            }
        }
    }

    /// The tools that later turns have, and the prompts and resources that the user has.
    async fn publish_server_tools(&mut self) {
        let offers = Arc::clone(&self.servers.offers);
        self.servers.update_catalog();
        if self.servers.offers != offers {
            self.publish_extensions().await;
        }
        let tools = self.toolbox().tool_infos();
        if tools != self.info.tools {
            self.info.tools = tools;
            self.send_info().await;
        }
    }

    /// No user can be asked about servers of the project.
    async fn tell_unanswered(&mut self) {
        let has_user = self.servers.has_user();
        let waits = self.servers.servers.iter();
        let waits = waits.filter(|server| matches!(server.state, McpServerState::Unanswered));
        let names: Vec<&str> = waits.map(|server| server.definition.name.as_str()).collect();
        if !has_user && !names.is_empty() {
            let say = phrases::NOT_ASKED.with("names", names.join(", "));
            self.notify(Notice::warning(say).with_hint(phrases::NOT_ASKED_HINT)).await;
        }
    }

    /// The user added a folder.
    pub(super) fn tell_servers_of_folders(&self) {
        let folders = folders_of(&self.security.place);
        for running in self.servers.servers.iter().filter_map(|server| server.running.as_ref()) {
            // One that has too many requests asks for them later.
            let _ = running.send(McpRequest::SetFolders(folders.clone()));
        }
    }

    /// `/mcp`.
    pub(super) async fn handle_mcp(&mut self, action: McpAction) {
        let (name, is_on) = match action {
            McpAction::Show => return self.send_servers_page().await,
            McpAction::Reload => {
                self.load_servers();
                return self.notify(Notice::info(phrases::RELOADED)).await;
            }
            McpAction::Restart { server } | McpAction::On { server } => (server, true),
            McpAction::Off { server } => (server, false),
        };
        let servers = &mut self.servers.servers;
        let Some(at) = servers.iter().position(|server| server.definition.name == name) else {
            return self.notify(Notice::error(phrases::UNKNOWN.with("name", name))).await;
        };
        let server = &mut servers[at];
        if let Some(running) = server.running.take() {
            running.stop().await;
        }
        self.servers.drop_calls(&name);
        self.servers.servers[at].state = McpServerState::Off;
        if is_on {
            self.servers.servers[at].definition.is_enabled = true;
            self.servers.start(at, &self.security.place);
        }
        self.publish_server_tools().await;
        self.send_servers_page().await;
        self.ask_about_server().await;
    }

    async fn send_servers_page(&mut self) {
        wait_for_starts(self, START_WAIT).await;
        let rows = mcp_page::rows(&self.servers);
        let page = Page { title: phrases::TITLE.into(), rows };
        self.outbox.send(Event::Page(Box::new(page))).await;
    }

    /// The tools of a turn with those of servers; the guide has its own way.
    pub(super) fn with_server_tools(&self, tools: Toolbox) -> Toolbox {
        let catalog = &self.servers.catalog;
        let is_guide = self.responder.connected.provider == Provider::Guide;
        if is_guide || catalog.tools().is_empty() {
            return tools;
        }
        let tool = McpTool {
            catalog: Arc::clone(catalog),
            session: self.turn_messages.clone(),
            next_call: Arc::clone(&self.servers.next_call),
            redactor: Arc::clone(&self.security.redactor),
        };
        tools.with_tool(Arc::new(tool)).with_server_tools(offered_schemas(catalog))
    }
}

/// Waits without a user, who would see the servers start.
async fn wait_for_starts(session: &mut Session, patience: Duration) {
    let has_access = session.servers.access.is_some();
    if !has_access || session.servers.has_user() || !session.servers.is_starting() {
        return;
    }
    session.load_servers_at_start();
    // What is late comes with a later turn.
    let end = tokio::time::Instant::now() + patience;
    while let Ok(news) = timeout_at(end, session.servers.next()).await {
        session.handle_server_news(news).await;
        if !session.servers.is_starting() {
            break;
        }
    }
}
