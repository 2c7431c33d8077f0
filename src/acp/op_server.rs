//! Programs as frontends: ops go in and events come out, as the session has them and as `--json`
//! prints them. JSON-RPC like that of editors, with fewer methods: `initialize`, `session.open`,
//! `session.op`, `session.close` and `session.list`; `session.event` and `session.closed` come by
//! themselves. Fields that are not known are ignored.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::Arc;

use agent_client_protocol_schema::v1::{Error, RequestId};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::serve::MAX_SESSIONS;
use super::services::{EditorOffers, EditorRequest, EditorServices, SESSION_CAPACITY};
use super::wire::{
    AgentAnswer, ClientMessage, LAST_WRITE_TIMEOUT, MessageSender, answer_of, parse_params,
    read_messages, watch_end,
};
use avocet_core::i18n::{LocalizedText, acp as phrases, json_with_text};
use avocet_core::protocol::{Event, Op, SessionOp, Submission, SubmitId};
use avocet_session::{self as session, Rescue};
use avocet_store::Listed;

/// The version of these messages: it grows when a client of the earlier one would misunderstand.
const PROTOCOL: u32 = 1;
/// Saved sessions in a list of which no length was asked for.
const LISTED: usize = 50;

#[derive(Deserialize)]
struct OpenParams {
    /// Without one, that of the program.
    #[serde(default)]
    folder: PathBuf,
    /// The id of a saved session to continue, or its beginning.
    #[serde(default)]
    resume: Option<String>,
}

#[derive(Deserialize)]
struct OpParams {
    session: String,
    op: Value,
    /// Named in the events that come of the op.
    #[serde(default)]
    submit: Option<SubmitId>,
}

#[derive(Deserialize)]
struct CloseParams {
    session: String,
}

#[derive(Deserialize)]
struct ListParams {
    #[serde(default)]
    folder: Option<PathBuf>,
    #[serde(default)]
    limit: Option<usize>,
}

struct OpServer {
    services: Arc<EditorServices>,
    sender: MessageSender,
    sessions: HashMap<String, Sender<Submission>>,
    tasks: JoinSet<(String, Option<Rescue>)>,
    opened: usize,
}

/// Runs until the client goes away or the program is leaving. Returns what could not be saved.
///
/// # Errors
/// The system starts no threads.
pub async fn serve_ops(
    input: impl Read + AsFd + Send + 'static,
    output: impl Write + Send + 'static,
    services: EditorServices,
) -> io::Result<Vec<Rescue>> {
    let leaving = services.leaving.clone();
    let input_ended = watch_end(&input)?;
    let mut messages = read_messages(input)?;
    let (sender, mut written) = MessageSender::start(output, leaving.clone(), input_ended)?;
    let mut server = OpServer {
        services: Arc::new(services),
        sender,
        sessions: HashMap::new(),
        tasks: JoinSet::new(),
        opened: 0,
    };
    let mut rescues = Vec::new();
    loop {
        tokio::select! {
            biased;
            () = leaving.cancelled() => break,
            Some(ended) = server.tasks.join_next() => rescues.extend(server.forget(ended.ok())),
            message = messages.recv() => match message {
                Some(message) => server.handle(message).await,
                None => break,
            },
            () = server.sender.closed() => break,
        }
    }
    server.sessions.clear();
    while let Some(ended) = tokio::select! {
        ended = server.tasks.join_next() => ended,
        // A client that reads no more keeps no session open.
        () = sleep(LAST_WRITE_TIMEOUT), if !leaving.is_cancelled() => {
            leaving.cancel();
            server.tasks.join_next().await
        }
    } {
        rescues.extend(server.forget(ended.ok()));
    }
    drop(server);
    let _ = timeout(LAST_WRITE_TIMEOUT, written.recv()).await;
    Ok(rescues)
}

impl OpServer {
    fn forget(&mut self, ended: Option<(String, Option<Rescue>)>) -> Option<Rescue> {
        let (name, rescue) = ended?;
        self.sessions.remove(&name);
        rescue
    }

    async fn handle(&mut self, message: ClientMessage) {
        match message {
            ClientMessage::Invalid { id, error } => self.sender.answer(&id, &Err(error)).await,
            ClientMessage::Request { id, method, params } => {
                if let Some(answer) = self.on_request(&id, &method, &params).transpose() {
                    self.sender.answer(&id, &answer).await;
                }
            }
            ClientMessage::Notification { .. } | ClientMessage::Response { .. } => {}
        }
    }

    /// The answer, unless it comes later.
    fn on_request(
        &mut self,
        id: &RequestId,
        method: &str,
        params: &RawValue,
    ) -> Result<Option<Box<RawValue>>, Error> {
        match method {
            "initialize" => answer_of(&json!({
                "protocol": PROTOCOL, "name": "avocet", "version": env!("CARGO_PKG_VERSION"),
            }))
            .map(Some),
            "session.open" => self.open(id, parse_params(params)?).map(|()| None),
            "session.op" => self.submit(parse_params(params)?).map(Some),
            "session.close" => {
                let CloseParams { session } = parse_params(params)?;
                let closed = self.sessions.remove(&session);
                closed.ok_or_else(|| not_open(&session))?;
                answer_of(&json!({})).map(Some)
            }
            "session.list" => {
                self.list(id, parse_params(params)?);
                Ok(None)
            }
            method => Err(Error::method_not_found().data(json!({ "method": method }))),
        }
    }

    /// Opens a session on a task of its own, which answers once it is there.
    fn open(&mut self, id: &RequestId, params: OpenParams) -> Result<(), Error> {
        if self.tasks.len() >= MAX_SESSIONS {
            let say = phrases::TOO_MANY.with("most", MAX_SESSIONS).text(self.services.lang);
            return Err(Error::invalid_params().data(say));
        }
        let folder = if params.folder.as_os_str().is_empty() { ".".into() } else { params.folder };
        let offers = EditorOffers::default();
        let request = EditorRequest { folder, resume: params.resume, replays: true, offers };
        self.opened += 1;
        let name = format!("s{}", self.opened);
        let (sender, inbox) = channel(SESSION_CAPACITY);
        self.sessions.insert(name.clone(), sender);
        let opening = OpenedSession {
            name,
            services: Arc::clone(&self.services),
            sender: self.sender.clone(),
            inbox,
            pending_submission: None,
        };
        self.tasks.spawn(opening.run(id.clone(), request));
        Ok(())
    }

    fn submit(&self, params: OpParams) -> AgentAnswer {
        let OpParams { session, op, submit } = params;
        let inbox = self.sessions.get(&session).ok_or_else(|| not_open(&session))?;
        let op: Op = serde_json::from_value(op.clone()).map_err(|_| {
            let say = phrases::NO_OP.with("name", name_of(&op)).text(self.services.lang);
            Error::invalid_params().data(say)
        })?;
        match inbox.try_send(Submission { id: submit, op }) {
            Ok(()) => answer_of(&json!({})),
            Err(TrySendError::Closed(_)) => Err(not_open(&session)),
            Err(TrySendError::Full(_)) => {
                let say = phrases::TOO_FAST.text(self.services.lang);
                Err(Error::invalid_request().data(say))
            }
        }
    }

    fn list(&self, id: &RequestId, params: ListParams) {
        let services = Arc::clone(&self.services);
        let sender = self.sender.clone();
        let id = id.clone();
        tokio::spawn(async move {
            let lang = services.lang;
            let limit = params.limit.unwrap_or(LISTED);
            let list = move || (services.list)(params.folder.as_deref(), limit);
            let answer = match tokio::task::spawn_blocking(list).await {
                Ok(Ok(rows)) => {
                    let rows: Vec<Value> = rows.iter().map(saved_row).collect();
                    answer_of(&json!({ "sessions": rows }))
                }
                Ok(Err(why)) => Err(Error::internal_error().data(why.text(lang))),
                Err(error) => Err(Error::internal_error().data(error.to_string())),
            };
            sender.answer(&id, &answer).await;
        });
    }
}

fn not_open(session: &str) -> Error {
    Error::invalid_params().data(json!({ "session": session }))
}

/// The name of what was meant to be an op.
fn name_of(op: &Value) -> String {
    match op {
        Value::Object(fields) => fields.keys().next().cloned().unwrap_or_default(),
        Value::String(name) => name.clone(),
        other => other.to_string(),
    }
}

fn saved_row(listed: &Listed) -> Value {
    json!({
        "id": listed.id, "folder": listed.folder, "title": listed.title, "updated": listed.updated,
    })
}

/// A session between its client and its loop.
struct OpenedSession {
    name: String,
    services: Arc<EditorServices>,
    sender: MessageSender,
    inbox: Receiver<Submission>,
    /// An op for which the session has no room yet; its events are read meanwhile.
    pending_submission: Option<Submission>,
}

impl OpenedSession {
    async fn run(
        mut self,
        answer_to: RequestId,
        request: EditorRequest,
    ) -> (String, Option<Rescue>) {
        let config = match self.services.build(request).await {
            Ok(config) => config,
            Err(why) => {
                self.refuse(&answer_to, &why).await;
                return (self.name, None);
            }
        };
        self.sender.answer(&answer_to, &answer_of(&json!({ "session": self.name }))).await;
        let mut handle = session::start(config);
        let mut is_open = true;
        loop {
            tokio::select! {
                event = handle.events.recv() => match event {
                    Some(event) => self.report(&event).await,
                    None => break,
                },
                room = handle.ops.reserve(), if self.pending_submission.is_some() => {
                    if let (Ok(room), Some(submission)) = (room, self.pending_submission.take()) {
                        room.send(submission);
                    }
                }
                submission = self.inbox.recv(), if is_open && self.pending_submission.is_none() => {
                    is_open = submission.is_some();
                    let end = || Op::Session(SessionOp::Shutdown).into();
                    self.pending_submission = Some(submission.unwrap_or_else(end));
                }
            }
        }
        let rescue = handle.task.await.ok().flatten();
        self.sender.notify("session.closed", &json!({ "session": self.name })).await;
        (self.name, rescue)
    }

    async fn refuse(&self, answer_to: &RequestId, text: &LocalizedText) {
        let error = Error::invalid_params().data(text.text(self.services.lang));
        self.sender.answer(answer_to, &Err(error)).await;
    }

    async fn report(&self, event: &Event) {
        let Ok(event) = event.to_value() else { return };
        let Ok(event) = RawValue::from_string(json_with_text(event, self.services.lang)) else {
            return;
        };
        self.sender
            .notify("session.event", &SessionEvent { session: &self.name, event: &event })
            .await;
    }
}

#[derive(serde::Serialize)]
struct SessionEvent<'a> {
    session: &'a str,
    event: &'a RawValue,
}
