//! The connection to one client: answers what concerns no session, opens sessions, and hands on what
//! is for one of them.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::sync::Arc;

use agent_client_protocol_schema::ProtocolVersion;
use agent_client_protocol_schema::v1::{
    AGENT_METHOD_NAMES as METHODS, AgentCapabilities, CancelNotification, ClientCapabilities,
    CloseSessionRequest, CloseSessionResponse, DeleteSessionRequest, DeleteSessionResponse, Error,
    Implementation, InitializeRequest, InitializeResponse, ListSessionsRequest,
    ListSessionsResponse, LoadSessionRequest, McpCapabilities, McpServer, NewSessionRequest,
    PromptCapabilities, PromptRequest, RequestId, ResumeSessionRequest, SessionCapabilities,
    SessionCloseCapabilities, SessionDeleteCapabilities, SessionId, SessionInfo,
    SessionListCapabilities, SessionResumeCapabilities, SetSessionModeRequest,
};
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::client_servers;
use super::open_session::{self, OpeningSession};
use super::services::{
    EditorOffers, EditorRequest, EditorServices, ReadySession, SESSION_CAPACITY, SessionMessage,
};
use super::wire::{
    AgentAnswer, ClientMessage, LAST_WRITE_TIMEOUT, MessageSender, answer_of, parse_params,
    read_messages, watch_end,
};
use avocet_core::i18n::{LocalizedText, acp as phrases};
use avocet_core::protocol::ApprovalMode;
use avocet_session::Rescue;
use avocet_store::Listed;

/// Sessions that are open at once.
pub(super) const MAX_SESSIONS: usize = 32;
/// Saved sessions in one answer.
const PAGE: usize = 50;

struct AcpServer {
    services: Arc<EditorServices>,
    out: MessageSender,
    sessions: HashMap<String, Sender<SessionMessage>>,
    tasks: JoinSet<(String, Option<Rescue>)>,
    ready: Sender<ReadySession>,
    rescues: Vec<Rescue>,
    opened: usize,
    /// What the client does with files, and whether it shows forms.
    client: ClientCapabilities,
}

/// Runs until the client goes away or the program is leaving. Returns what could not be saved.
///
/// # Errors
/// The system starts no threads.
pub async fn serve(
    input: impl Read + AsFd + Send + 'static,
    output: impl Write + Send + 'static,
    services: EditorServices,
) -> io::Result<Vec<Rescue>> {
    let leaving = services.leaving.clone();
    let input_ended = watch_end(&input)?;
    let mut messages = read_messages(input)?;
    let (out, mut written) = MessageSender::start(output, leaving.clone(), input_ended)?;
    let (ready, mut came) = channel(SESSION_CAPACITY);
    let mut server = AcpServer {
        services: Arc::new(services),
        out,
        sessions: HashMap::new(),
        tasks: JoinSet::new(),
        ready,
        rescues: Vec::new(),
        opened: 0,
        client: ClientCapabilities::new(),
    };
    loop {
        tokio::select! {
            biased;
            () = leaving.cancelled() => break,
            Some(session) = came.recv() => server.register(session),
            Some(ended) = server.tasks.join_next() => server.forget(ended.ok()),
            message = messages.recv() => match message {
                Some(message) => server.handle(message).await,
                None => break,
            },
            () = server.out.closed() => break,
        }
    }
    let closing = server.close(came);
    tokio::pin!(closing);
    let rescues = tokio::select! {
        rescues = &mut closing => rescues,
        // A client that reads no more keeps no session open.
        () = sleep(LAST_WRITE_TIMEOUT) => {
            leaving.cancel();
            closing.await
        }
    };
    let _ = timeout(LAST_WRITE_TIMEOUT, written.recv()).await;
    Ok(rescues)
}

impl AcpServer {
    fn register(&mut self, session: ReadySession) {
        self.sessions.insert(session.id, session.inbox);
        let _ = session.known.send(());
    }

    fn forget(&mut self, ended: Option<(String, Option<Rescue>)>) {
        let Some((id, rescue)) = ended else { return };
        if self.sessions.get(&id).is_some_and(Sender::is_closed) {
            self.sessions.remove(&id);
        }
        self.rescues.extend(rescue);
    }

    /// Ends every session, one that is being opened too.
    async fn close(mut self, came: Receiver<ReadySession>) -> Vec<Rescue> {
        drop(came);
        self.sessions.clear();
        while let Some(ended) = self.tasks.join_next().await {
            self.forget(ended.ok());
        }
        self.rescues
    }

    async fn handle(&mut self, message: ClientMessage) {
        match message {
            ClientMessage::Invalid { id, error } => self.out.answer(&id, &Err(error)).await,
            ClientMessage::Request { id, method, params } => {
                if let Some(answer) = self.on_request(&id, &method, &params) {
                    self.out.answer(&id, &answer).await;
                }
            }
            ClientMessage::Notification { method, params } => {
                if method == METHODS.session_cancel
                    && let Ok(cancel) = parse_params::<CancelNotification>(&params)
                    && let Some(inbox) = self.sessions.get(cancel.session_id.0.as_ref())
                {
                    // A session that reads slowly gets it all the same.
                    let _ = inbox.send(SessionMessage::Cancel).await;
                }
            }
            ClientMessage::Response { id, result } => self.on_response(&id, result).await,
        }
    }

    /// The answer, unless it comes later.
    fn on_request(
        &mut self,
        id: &RequestId,
        method: &str,
        params: &RawValue,
    ) -> Option<AgentAnswer> {
        let done = match method {
            name if name == METHODS.initialize => self.initialize(params).map(Some),
            name if name == METHODS.session_new => self.new_session(id, params),
            name if name == METHODS.session_load => self.load_session(id, params),
            name if name == METHODS.session_resume => self.resume_session(id, params),
            name if name == METHODS.session_list => self.list_sessions(id, params),
            name if name == METHODS.session_prompt => self.prompt(id, params),
            name if name == METHODS.session_set_mode => self.set_mode(id, params),
            name if name == METHODS.session_close => self.close_session(params),
            name if name == METHODS.session_delete => self.delete_session(id, params),
            name => Err(Error::method_not_found().data(json!({ "method": name }))),
        };
        match done {
            Ok(None) => None,
            Ok(Some(answer)) => Some(Ok(answer)),
            Err(error) => Some(Err(error)),
        }
    }

    fn initialize(&mut self, params: &RawValue) -> AgentAnswer {
        // Whatever version the client has, this is the one there is.
        let InitializeRequest { client_capabilities, .. } = parse_params(params)?;
        self.client = client_capabilities;
        let prompts = PromptCapabilities::new().image(true).embedded_context(true);
        let sessions = SessionCapabilities::new()
            .list(SessionListCapabilities::new())
            .resume(SessionResumeCapabilities::new())
            .close(SessionCloseCapabilities::new())
            .delete(SessionDeleteCapabilities::new());
        let capabilities = AgentCapabilities::new()
            .load_session(true)
            .mcp_capabilities(McpCapabilities::new().http(true).sse(true))
            .prompt_capabilities(prompts)
            .session_capabilities(sessions);
        let version = env!("CARGO_PKG_VERSION");
        answer_of(
            &InitializeResponse::new(ProtocolVersion::V1)
                .agent_capabilities(capabilities)
                .agent_info(Implementation::new("avocet", version).title("Avocet".to_owned())),
        )
    }

    fn new_session(&mut self, id: &RequestId, params: &RawValue) -> LaterAnswer {
        let NewSessionRequest { cwd, mcp_servers, .. } = parse_params(params)?;
        let offers = offers(mcp_servers);
        self.open(id, EditorRequest { folder: cwd, resume: None, replays: false, offers })
    }

    fn load_session(&mut self, id: &RequestId, params: &RawValue) -> LaterAnswer {
        let LoadSessionRequest { cwd, session_id, mcp_servers, .. } = parse_params(params)?;
        let offers = offers(mcp_servers);
        let resume = Some(session_id.0.to_string());
        self.open(id, EditorRequest { folder: cwd, resume, replays: true, offers })
    }

    fn resume_session(&mut self, id: &RequestId, params: &RawValue) -> LaterAnswer {
        let ResumeSessionRequest { cwd, session_id, mcp_servers, .. } = parse_params(params)?;
        let offers = offers(mcp_servers);
        let resume = Some(session_id.0.to_string());
        self.open(id, EditorRequest { folder: cwd, resume, replays: false, offers })
    }

    /// Opens a session on a task of its own, which answers once it is there.
    fn open(&mut self, id: &RequestId, request: EditorRequest) -> LaterAnswer {
        let say = |text: LocalizedText| Error::invalid_params().data(text.text(self.services.lang));
        if !request.folder.is_absolute() {
            let folder = request.folder.display().to_string();
            return Err(say(phrases::NOT_ABSOLUTE.with("folder", folder)));
        }
        if self.tasks.len() >= MAX_SESSIONS {
            return Err(say(phrases::TOO_MANY.with("most", MAX_SESSIONS)));
        }
        let before = request.resume.as_ref().and_then(|id| self.sessions.remove(id));
        self.opened += 1;
        let opening = OpeningSession {
            request,
            client: self.client.clone(),
            answer_to: id.clone(),
            number: self.opened,
            services: Arc::clone(&self.services),
            out: self.out.clone(),
            ready: self.ready.clone(),
        };
        self.tasks.spawn(async move {
            if let Some(before) = before {
                let _ = before.send(SessionMessage::Close).await;
                // It is saved by then, and its lock is free.
                before.closed().await;
            }
            open_session::run(opening).await
        });
        Ok(None)
    }

    /// A page of the saved sessions. The cursor is the number of those before it.
    fn list_sessions(&self, id: &RequestId, params: &RawValue) -> LaterAnswer {
        let ListSessionsRequest { cwd, cursor, .. } = parse_params(params)?;
        let from = match cursor.as_deref().map(str::parse::<usize>) {
            None => 0,
            Some(Ok(from)) => from,
            Some(Err(_)) => return Err(Error::invalid_params().data("cursor")),
        };
        let services = Arc::clone(&self.services);
        let out = self.out.clone();
        let id = id.clone();
        tokio::spawn(async move {
            let lang = services.lang;
            let list = move || (services.list)(cwd.as_deref(), from.saturating_add(PAGE + 1));
            let answer = match tokio::task::spawn_blocking(list).await {
                Ok(Ok(rows)) => answer_of(&session_page(rows, from)),
                Ok(Err(why)) => Err(Error::internal_error().data(why.text(lang))),
                Err(error) => Err(Error::internal_error().data(error.to_string())),
            };
            out.answer(&id, &answer).await;
        });
        Ok(None)
    }

    fn prompt(&self, id: &RequestId, params: &RawValue) -> LaterAnswer {
        let prompt: PromptRequest = parse_params(params)?;
        let session = prompt.session_id.clone();
        self.hand_on(&session, SessionMessage::Prompt(id.clone(), prompt))
    }

    fn set_mode(&self, id: &RequestId, params: &RawValue) -> LaterAnswer {
        let SetSessionModeRequest { session_id, mode_id, .. } = parse_params(params)?;
        let Some(mode) = ApprovalMode::parse(&mode_id.0) else {
            return Err(Error::invalid_params().data(json!({ "modeId": mode_id })));
        };
        self.hand_on(&session_id, SessionMessage::SetMode(id.clone(), mode))
    }

    fn close_session(&mut self, params: &RawValue) -> LaterAnswer {
        let CloseSessionRequest { session_id, .. } = parse_params(params)?;
        match self.sessions.remove(session_id.0.as_ref()) {
            Some(_) => answer_of(&CloseSessionResponse::new()).map(Some),
            None => Err(Error::session_not_found(session_id)),
        }
    }

    /// Deletes a saved session, after it was closed.
    fn delete_session(&mut self, id: &RequestId, params: &RawValue) -> LaterAnswer {
        let DeleteSessionRequest { session_id, .. } = parse_params(params)?;
        let open = self.sessions.remove(session_id.0.as_ref());
        let services = Arc::clone(&self.services);
        let out = self.out.clone();
        let id = id.clone();
        tokio::spawn(async move {
            if let Some(open) = open {
                let _ = open.send(SessionMessage::Close).await;
                // It is saved by then, and its lock is free.
                open.closed().await;
            }
            let lang = services.lang;
            let delete = move || (services.delete)(session_id.0.as_ref());
            let answer = match tokio::task::spawn_blocking(delete).await {
                Ok(Ok(())) => answer_of(&DeleteSessionResponse::new()),
                Ok(Err(why)) => Err(Error::invalid_params().data(why.text(lang))),
                Err(error) => Err(Error::internal_error().data(error.to_string())),
            };
            out.answer(&id, &answer).await;
        });
        Ok(None)
    }

    /// Hands on what a session answers.
    fn hand_on(&self, session: &SessionId, message: SessionMessage) -> LaterAnswer {
        let Some(inbox) = self.sessions.get(session.0.as_ref()) else {
            return Err(Error::session_not_found(session.clone()));
        };
        match inbox.try_send(message) {
            Ok(()) => Ok(None),
            Err(TrySendError::Closed(_)) => Err(Error::session_not_found(session.clone())),
            Err(TrySendError::Full(_)) => {
                let say = phrases::TOO_FAST.text(self.services.lang);
                Err(Error::invalid_request().data(say))
            }
        }
    }

    /// Our requests are named after their session.
    async fn on_response(&self, id: &RequestId, result: Option<Box<RawValue>>) {
        let RequestId::Str(id) = id else { return };
        let Some((session, call)) = id.rsplit_once('/') else { return };
        let (Some(inbox), Ok(call)) = (self.sessions.get(session), call.parse()) else { return };
        let _ = inbox.send(SessionMessage::Answered { call, result }).await;
    }
}

fn offers(servers: Vec<McpServer>) -> EditorOffers {
    EditorOffers { servers: client_servers::definitions(servers), files: None }
}

/// An answer now, or nothing: it comes later.
type LaterAnswer = Result<Option<Box<RawValue>>, Error>;

fn session_page(mut rows: Vec<Listed>, from: usize) -> ListSessionsResponse {
    let more = (rows.len() > from + PAGE).then(|| (from + PAGE).to_string());
    let page = rows.drain(from.min(rows.len())..).take(PAGE).map(session_row).collect();
    ListSessionsResponse::new(page).next_cursor(more)
}

fn session_row(listed: Listed) -> SessionInfo {
    let at = jiff::Timestamp::from_millisecond(listed.updated).ok().map(|at| at.to_string());
    SessionInfo::new(listed.id, listed.folder).title(listed.title).updated_at(at)
}
