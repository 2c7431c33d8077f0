//! The MCP servers of a session: their state, and the calls that they have not answered.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use futures_util::future::join_all;
use tokio::sync::mpsc::{self, UnboundedSender};
use tokio::sync::oneshot;

use super::event_sink::Outbox;
use super::session_effects::{Effects, SessionEffect};
use avocet_config::key_store::KeyStore;
use avocet_core::i18n::{Localize, LocalizedText, mcp_pages as phrases};
use avocet_core::protocol::{ArgumentValues, Event, Notice, ServerPromptCall, TypedArgument};
use avocet_mcp::{
    DefinitionDiagnostic, McpCallId, McpError, McpEvent, McpReply, McpRequest, McpServer,
    McpServerFacts, ServerDefinition, ServerDefinitions, ServerLaunch, ServerNeed, ServerOffers,
    ServerStarter, ToolCatalog, start_server,
};
use avocet_safety::Workspace;

/// The most events of servers that wait for the session.
const EVENT_CAPACITY: usize = 256;

/// What a session needs for servers; provided by `app`.
pub trait McpAccess: Send {
    /// Reads all definitions, those of the project only in a trusted folder. Blocks.
    fn reader(&self, trusted: bool) -> Box<dyn FnOnce() -> ServerDefinitions + Send>;

    /// What the user answered about a server of this project; `None`: nothing yet.
    fn answer(&self, definition: &ServerDefinition) -> Option<bool>;

    /// Saves the answer.
    ///
    /// # Errors
    /// A sentence with the reason.
    fn save_answer(
        &mut self,
        definition: &ServerDefinition,
        is_allowed: bool,
    ) -> Result<(), LocalizedText>;

    /// A variable of the environment.
    fn variable(&self, name: &str) -> Option<String>;

    fn starter(&self) -> Arc<dyn ServerStarter>;

    fn keys(&self) -> Arc<KeyStore>;

    /// Whether a user is there to be asked, and whose next message comes later.
    fn has_user(&self) -> bool;
}

/// The servers of a session.
pub struct McpServers {
    pub(super) access: Option<Box<dyn McpAccess>>,
    pub(super) servers: Vec<SessionServer>,
    pub(super) faults: Vec<DefinitionDiagnostic>,
    /// What is not used for a reason that is not a fault.
    pub(super) remarks: Vec<DefinitionDiagnostic>,
    /// The tools of those that run.
    pub(super) catalog: Arc<ToolCatalog>,
    /// Their prompts and resources.
    pub(super) offers: Arc<ServerOffers>,
    pub(super) next_call: Arc<AtomicU64>,
    pub(super) calls: HashMap<McpCallId, PendingCall>,
    pub(super) definitions: DefinitionState,
    pub(super) channels: ServerChannels,
}

/// Whether the files that define servers were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DefinitionState {
    Unread,
    Reading,
    Read,
}

pub(super) struct ServerChannels {
    pub(super) read: mpsc::UnboundedSender<ServerDefinitions>,
    reads: mpsc::UnboundedReceiver<ServerDefinitions>,
    event: mpsc::Sender<(String, McpEvent)>,
    events: mpsc::Receiver<(String, McpEvent)>,
}

/// What comes from outside of the session's loop.
pub(super) enum ServerNews {
    Read(ServerDefinitions),
    Event(String, McpEvent),
}

/// A call that a server has not answered.
pub(super) struct PendingCall {
    pub server: String,
    pub progress: mpsc::UnboundedSender<String>,
    pub reply: CallReply,
}

/// Where the answer to a call goes.
pub type CallReply = oneshot::Sender<Result<McpReply, McpError>>;

/// A request on its way to a server.
#[derive(Debug)]
pub struct OutgoingMcpRequest {
    pub id: McpCallId,
    pub server: String,
    pub request: McpRequest,
    pub progress: UnboundedSender<String>,
    pub reply: CallReply,
}

/// A server of a session.
pub(super) struct SessionServer {
    pub definition: ServerDefinition,
    pub state: McpServerState,
    /// What the user withholds from it.
    pub without: Option<ServerNeed>,
    pub(super) running: Option<McpServer>,
}

/// What became of a server.
#[derive(Debug)]
pub(super) enum McpServerState {
    Off,
    /// Nothing starts in a folder that is not trusted.
    Untrusted,
    /// The user has not been asked yet.
    Unanswered,
    Declined,
    Starting,
    Running(McpServerFacts),
    Failed {
        error: McpError,
        again_at: Option<Instant>,
    },
}

impl SessionServer {
    /// What starts: all of the definition, or what the user gives it.
    fn as_allowed(&self) -> ServerDefinition {
        let definition = self.definition.clone();
        self.without.iter().fold(definition, ServerDefinition::without)
    }

    /// Why it could not be started at all.
    pub(super) fn fault(&self) -> Option<Notice> {
        let McpServerState::Failed { error, .. } = &self.state else { return None };
        let say = phrases::FAILED_NOTICE.with("name", self.definition.name.as_str());
        self.running.is_none().then(|| Notice::warning(say.with("why", error.localized())))
    }
}

impl McpServers {
    /// None is read yet.
    pub fn new(access: Option<Box<dyn McpAccess>>) -> McpServers {
        let (read, reads) = mpsc::unbounded_channel();
        let (event, events) = mpsc::channel(EVENT_CAPACITY);
        McpServers {
            access,
            servers: Vec::new(),
            faults: Vec::new(),
            remarks: Vec::new(),
            catalog: Arc::default(),
            offers: Arc::default(),
            next_call: Arc::default(),
            calls: HashMap::new(),
            definitions: DefinitionState::Unread,
            channels: ServerChannels { read, reads, event, events },
        }
    }

    pub(super) async fn next(&mut self) -> ServerNews {
        let ServerChannels { reads, events, .. } = &mut self.channels;
        tokio::select! {
            Some(definitions) = reads.recv() => ServerNews::Read(definitions),
            Some((name, event)) = events.recv() => ServerNews::Event(name, event),
            else => std::future::pending().await,
        }
    }

    pub(super) fn find(&mut self, name: &str) -> Option<&mut SessionServer> {
        self.servers.iter_mut().find(|server| server.definition.name == name)
    }

    /// Whether a user is there to be asked.
    pub(super) fn has_user(&self) -> bool {
        self.access.as_ref().is_some_and(|access| access.has_user())
    }

    /// Whether some may still start by themselves.
    pub(super) fn is_starting(&self) -> bool {
        self.definitions != DefinitionState::Read
            || self.servers.iter().any(|server| matches!(server.state, McpServerState::Starting))
    }

    /// One that starts may offer it by the time the turn begins.
    pub(super) fn may_offer_prompt(&self, name: &str) -> bool {
        let waits = self.access.is_some() && self.is_starting();
        self.offers.prompt(name).is_some() || waits && ServerPromptCall::is_name(name)
    }

    /// The tools that later turns have, and the prompts and resources that the user has.
    pub(super) fn update_catalog(&mut self) -> Effects {
        let running = self.servers.iter().filter_map(|server| match &server.state {
            McpServerState::Running(facts) => Some((server.definition.name.as_str(), facts)),
            _ => None,
        });
        // One that does not run keeps its name: no rule about its tools counts for another's.
        let tools = self.servers.iter().map(|SessionServer { definition, state, .. }| {
            let (tools, resources) = match state {
                McpServerState::Running(facts) => (&facts.tools[..], &facts.resources[..]),
                _ => (&[][..], &[][..]),
            };
            (definition.name.as_str(), tools, resources)
        });
        self.catalog = Arc::new(ToolCatalog::new(tools));
        let offers = Arc::new(ServerOffers::new(running));
        let before = std::mem::replace(&mut self.offers, offers);
        let changed = (self.offers != before).then_some(SessionEffect::OffersChanged);
        changed.into_iter().chain([SessionEffect::ToolsChanged]).collect()
    }

    /// Starts a server or not, as the user decided. Without a decision the question comes back with
    /// the next session.
    pub(super) fn start_as_decided(
        &mut self,
        name: &str,
        is_allowed: Option<bool>,
        need: Option<ServerNeed>,
        workspace: &Workspace,
    ) -> Option<Notice> {
        let at = self.servers.iter().position(|server| server.definition.name == name)?;
        let access = self.access.as_mut()?;
        let server = &mut self.servers[at];
        server.state = McpServerState::Declined;
        server.without = need;
        let saved = access.save_answer(&server.as_allowed(), is_allowed?);
        self.start(at, workspace);
        saved.err().map(|why| Notice::warning(phrases::NOT_SAVED.with("why", why)))
    }

    /// Sends the answer to what a server asked.
    pub(super) fn answer(&mut self, name: &str, answer: McpRequest) {
        if let Some(running) = self.find(name).and_then(|server| server.running.as_ref()) {
            // One that has too many requests gets no answer.
            let _ = running.send(answer);
        }
    }

    /// Starts a server, unless it is off or waits for an answer.
    pub(super) fn start(&mut self, at: usize, workspace: &Workspace) {
        let (Some(access), Some(server)) = (&self.access, self.servers.get_mut(at)) else { return };
        let answer = if server.definition.origin.is_from_repository {
            let answered = |definition: &ServerDefinition| access.answer(definition);
            let (answer, without) = server.definition.answered(&workspace.workspace, answered);
            server.without = without;
            answer
        } else {
            Some(true)
        };
        match answer {
            _ if !server.definition.is_enabled => server.state = McpServerState::Off,
            // A program of the folder may take the place of the one that is meant.
            _ if !workspace.trusted => server.state = McpServerState::Untrusted,
            None => server.state = McpServerState::Unanswered,
            Some(false) => server.state = McpServerState::Declined,
            Some(true) => {
                let expanded = server.as_allowed().expand(&|name| access.variable(name));
                let definition = match expanded {
                    Ok(definition) => definition,
                    Err(error) => {
                        server.state = McpServerState::Failed { error, again_at: None };
                        return;
                    }
                };
                let folders = folders_of(workspace);
                let starter = access.starter();
                let keys = access.keys();

                let launch = ServerLaunch { definition, folders, starter, keys };
                server.running = Some(start_server(launch, self.channels.event.clone()));
                server.state = McpServerState::Starting;
            }
        }
    }

    /// Asks the server of a prompt for the values of an argument while that is typed.
    pub(super) fn complete_argument(&mut self, of: TypedArgument, mut outbox: Outbox) {
        let Some(offered) = self.offers.prompt(&of.prompt) else { return };
        let id = McpCallId(self.next_call.fetch_add(1, Ordering::Relaxed));
        let request = McpRequest::Complete {
            id,
            prompt: offered.prompt.name.clone(),
            argument: of.argument.clone(),
            typed: of.typed.clone(),
        };
        let server = offered.server.clone();
        let (reply, answered) = oneshot::channel();
        let (progress, _) = mpsc::unbounded_channel();
        self.call(OutgoingMcpRequest { id, server, request, progress, reply });
        tokio::spawn(async move {
            // Many servers have no values, which is not worth a message.
            if let Ok(Ok(McpReply::Values(values))) = answered.await {
                outbox.send(Event::ArgumentValues(Box::new(ArgumentValues { of, values }))).await;
            }
        });
    }

    /// Passes a call of the running turn on.
    pub(super) fn call(&mut self, call: OutgoingMcpRequest) {
        let OutgoingMcpRequest { id, server: name, request, progress, reply } = call;
        let running = self.find(&name).and_then(|server| server.running.as_ref());
        if running.is_some_and(|running| running.send(request)) {
            self.calls.insert(id, PendingCall { server: name, progress, reply });
        } else {
            // A turn that was stopped does not wait for it.
            let _ = reply.send(Err(McpError::NotRunning));
        }
    }

    pub(super) fn cancel_call(&mut self, id: McpCallId) {
        if let Some(call) = self.calls.remove(&id)
            && let Some(server) = self.find(&call.server)
            && let Some(running) = &server.running
        {
            // It ends without that as well, once it is answered.
            let _ = running.send(McpRequest::Cancel(id));
        }
    }

    /// Answers the calls of a server that will not.
    pub(super) fn drop_calls(&mut self, name: &str) {
        let lost = self.calls.extract_if(|_, call| call.server == name);
        lost.for_each(|(_, call)| drop(call.reply.send(Err(McpError::NotRunning))));
    }

    /// Ends them all, children included.
    pub(super) async fn stop(&mut self) {
        let running = self.servers.iter_mut().filter_map(|server| server.running.take());
        join_all(running.map(McpServer::stop)).await;
    }
}

/// The folders of a session, the workspace first.
pub(super) fn folders_of(workspace: &Workspace) -> Vec<PathBuf> {
    std::iter::once(&workspace.workspace).chain(&workspace.added).cloned().collect()
}
