//! Reads the definitions of MCP servers after a session opened, starts the servers, follows their
//! events, and passes calls on.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::timeout_at;

use super::mcp_page;
use super::mcp_schemas::offered_schemas;
use super::mcp_servers::{
    DefinitionState, McpServerState, McpServers, ServerNews, SessionServer, folders_of,
};
use super::mcp_tool::McpTool;
use super::session_effects::{Effects, SessionEffect};
use super::session_questions::SessionQuestion;
use super::state::Session;
use super::turn_messages::TurnMessage;
use avocet_core::i18n::{Localize, mcp_pages as phrases};
use avocet_core::protocol::{Event, McpAction, Notice, Page};
use avocet_mcp::{McpEvent, McpRequest, McpServer, ServerDefinitions};
use avocet_safety::Workspace;
use avocet_safety::redact::Redactor;
use avocet_tools::Toolbox;

/// The first turn of a session without a screen waits so long for servers that start.
pub(super) const START_WAIT: Duration = Duration::from_secs(10);
/// The same for a message that is a prompt of one.
pub(super) const NAMED_START_WAIT: Duration = Duration::from_secs(40);

impl McpServers {
    /// Reads the definitions after the start, or again.
    pub(super) fn load(&mut self, trusted: bool) {
        let Some(access) = &self.access else { return };
        let reader = access.reader(trusted);
        let read = self.channels.read.clone();
        self.definitions = DefinitionState::Reading;
        tokio::task::spawn_blocking(move || read.send(reader()));
    }

    /// The start is over.
    pub(super) fn load_at_start(&mut self, trusted: bool) {
        if self.definitions == DefinitionState::Unread {
            self.load(trusted);
        }
    }

    /// Starts what is new, ends what is gone or changed, and leaves the rest as it is.
    async fn set_definitions(
        &mut self,
        definitions: ServerDefinitions,
        workspace: &Workspace,
    ) -> Effects {
        self.definitions = DefinitionState::Read;
        let mut before = std::mem::take(&mut self.servers);
        for definition in definitions.servers {
            let same = before.iter().position(|server| server.definition == definition);
            let server = same.map(|at| before.remove(at)).unwrap_or(SessionServer {
                definition,
                state: McpServerState::Off,
                without: None,
                running: None,
            });
            self.servers.push(server);
        }
        let gone = before.into_iter().filter_map(|server| server.running);
        join_all(gone.map(McpServer::stop)).await;
        let mut effects: Effects = Vec::new();
        for at in 0..self.servers.len() {
            if self.servers.get(at).is_some_and(|server| server.running.is_none()) {
                self.start(at, workspace);
            }
            let fault = self.servers.get(at).and_then(SessionServer::fault);
            effects.extend(fault.map(Into::into));
        }
        let faults = definitions.diagnostics.iter().filter(|fault| !self.faults.contains(fault));
        effects.extend(faults.map(|fault| Notice::warning(fault.localized()).into()));
        self.faults = definitions.diagnostics;
        self.remarks = definitions.remarks;
        effects.extend(self.update_catalog());
        effects.extend(self.unanswered_notice().map(Into::into));
        effects
    }

    fn handle_event(&mut self, name: String, event: McpEvent) -> Effects {
        let Some(server) = self.find(&name).filter(|server| server.running.is_some()) else {
            return Vec::new();
        };
        match event {
            McpEvent::Started(facts) | McpEvent::Changed(facts) => {
                server.state = McpServerState::Running(facts);
                return self.update_catalog();
            }
            McpEvent::Failed { error, retry_after } => {
                let is_told = matches!(server.state, McpServerState::Failed { .. });
                let again_at = retry_after.map(|after| Instant::now() + after);
                let why = error.localized();
                server.state = McpServerState::Failed { error, again_at };
                self.drop_calls(&name);
                let mut effects = self.update_catalog();
                if !is_told {
                    let say = phrases::FAILED_NOTICE.with("name", name).with("why", why);
                    effects.push(Notice::warning(say).into());
                }
                return effects;
            }
            McpEvent::Progress { id, done, total, text } => {
                if let Some(call) = self.calls.get(&id) {
                    let share = total.filter(|total| *total > 0.0).map(|total| done / total);
                    let percent = share.map(|share| format!("{:.0}% ", share * 100.0));
                    let line = format!("{}{text}\n", percent.unwrap_or_default());
                    // The call may have been given up.
                    let _ = call.progress.send(line);
                }
            }
            McpEvent::Answered { id, result } => {
                if let Some(call) = self.calls.remove(&id) {
                    // The same.
                    let _ = call.reply.send(result);
                }
            }
            McpEvent::Logged(line) => tracing::info!(server = name, line, "MCP server"),
            McpEvent::Asked(question) => {
                return vec![SessionEffect::Ask(SessionQuestion::Asked(name, question))];
            }
            McpEvent::Sampled(request) => {
                return vec![SessionEffect::Sample { server: name, request: Box::new(request) }];
            }
            McpEvent::Withdrawn(question) => {
                return vec![SessionEffect::Withdraw { server: name, question }];
            }
        }
        Vec::new()
    }

    /// No user can be asked about servers of the project.
    fn unanswered_notice(&self) -> Option<Notice> {
        let waits = self.servers.iter();
        let waits = waits.filter(|server| matches!(server.state, McpServerState::Unanswered));
        let names: Vec<&str> = waits.map(|server| server.definition.name.as_str()).collect();
        let say = phrases::NOT_ASKED.with("names", names.join(", "));
        (!self.has_user() && !names.is_empty())
            .then(|| Notice::warning(say).with_hint(phrases::NOT_ASKED_HINT))
    }

    /// The tools of a turn with those of servers.
    pub(super) fn add_tools(
        &self,
        tools: Toolbox,
        messages: &UnboundedSender<TurnMessage>,
        redactor: &Arc<Redactor>,
    ) -> Toolbox {
        if self.catalog.tools().is_empty() {
            return tools;
        }
        let tool = McpTool {
            catalog: Arc::clone(&self.catalog),
            session: messages.clone(),
            next_call: Arc::clone(&self.next_call),
            redactor: Arc::clone(redactor),
        };
        tools.with_tool(Arc::new(tool)).with_server_tools(offered_schemas(&self.catalog))
    }

    /// The user added a folder.
    pub(super) fn set_folders(&self, workspace: &Workspace) {
        let folders = folders_of(workspace);
        for running in self.servers.iter().filter_map(|server| server.running.as_ref()) {
            // One that has too many requests asks for them later.
            let _ = running.send(McpRequest::SetFolders(folders.clone()));
        }
    }

    /// Starts a server again, or ends it.
    async fn switch(
        &mut self,
        name: &str,
        is_on: bool,
        workspace: &Workspace,
    ) -> Result<Effects, Notice> {
        let Some(at) = self.servers.iter().position(|server| server.definition.name == name) else {
            return Err(Notice::error(phrases::UNKNOWN.with("name", name)));
        };
        let server = &mut self.servers[at];
        server.state = McpServerState::Off;
        server.definition.is_enabled |= is_on;
        if let Some(running) = server.running.take() {
            running.stop().await;
        }
        self.drop_calls(name);
        if is_on {
            self.start(at, workspace);
        }
        Ok(self.update_catalog())
    }

    pub(super) async fn handle_news(&mut self, news: ServerNews, workspace: &Workspace) -> Effects {
        match news {
            ServerNews::Read(definitions) => {
                let mut effects = self.set_definitions(definitions, workspace).await;
                effects.push(SessionEffect::QuestionWaits);
                effects
            }
            ServerNews::Event(name, event) => self.handle_event(name, event),
        }
    }

    /// `/mcp`.
    pub(super) async fn handle(&mut self, action: McpAction, workspace: &Workspace) -> Effects {
        let switched = match action {
            McpAction::Show => return vec![SessionEffect::ShowServers],
            McpAction::Reload => {
                self.load(workspace.trusted);
                return vec![Notice::info(phrases::RELOADED).into()];
            }
            McpAction::Restart { server } | McpAction::On { server } => {
                self.switch(&server, true, workspace).await
            }
            McpAction::Off { server } => self.switch(&server, false, workspace).await,
        };
        match switched {
            Err(notice) => vec![notice.into()],
            Ok(mut effects) => {
                effects.extend([SessionEffect::ShowServers, SessionEffect::QuestionWaits]);
                effects
            }
        }
    }

    /// `/mcp` shows this.
    pub(super) fn page(&self) -> Event {
        let page = Page { title: phrases::TITLE.into(), rows: mcp_page::rows(self) };
        Event::Page(Box::new(page))
    }
}

impl Session {
    /// A turn that no other will follow begins with the tools of servers, if they start in time. With
    /// a user, who sees them start, nothing waits.
    pub(super) async fn wait_for_servers(&mut self, patience: Duration) {
        let servers = &self.resources.servers;
        if servers.access.is_none() || servers.has_user() || !servers.is_starting() {
            return;
        }
        self.resources.servers.load_at_start(self.security.place.trusted);
        // What is late comes with a later turn.
        let end = tokio::time::Instant::now() + patience;
        while let Ok(news) = timeout_at(end, self.resources.servers.next()).await {
            let effects = self.resources.servers.handle_news(news, &self.security.place).await;
            Box::pin(self.follow(effects)).await;
            if !self.resources.servers.is_starting() {
                break;
            }
        }
    }
}
