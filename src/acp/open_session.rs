//! One open session: builds it, shows its conversation so far, and then carries messages of the client
//! and events of the session to the conversation and back.

use std::sync::Arc;

use agent_client_protocol_schema::v1::{
    CLIENT_METHOD_NAMES, ClientCapabilities, Error, LoadSessionResponse, NewSessionResponse,
    RequestId, ResumeSessionResponse, SessionId,
};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::oneshot;

use super::conversation::{AcpEffect, EditorConversation, modes};
use super::editor_files::{EditorFiles, PendingFiles};
use super::prompt_blocks;
use super::services::{
    EditorRequest, EditorServices, ReadySession, SESSION_CAPACITY, SessionMessage,
};
use super::wire::{MessageSender, answer_of};
use avocet_core::i18n::{LocalizedText, acp as phrases, session as session_words};
use avocet_core::protocol::{Event, ExtensionOp, NoticeLevel, Op, SessionInfo, SessionOp, Topic};
use avocet_session::{self as session, Handle, Rescue};
use avocet_tools::file_host::FileHost;

/// A session that is about to be opened.
pub struct OpeningSession {
    pub request: EditorRequest,
    pub client: ClientCapabilities,
    pub answer_to: RequestId,
    /// Its name where it is not saved.
    pub number: usize,
    pub services: Arc<EditorServices>,
    pub out: MessageSender,
    pub ready: Sender<ReadySession>,
}

/// Runs a session from its start to its end. Returns its id, and what could not be saved.
pub async fn run(opening: OpeningSession) -> (String, Option<Rescue>) {
    let mut request = opening.request.clone();
    let (files, requests) = EditorFiles::new(&opening.client.fs).unzip();
    request.offers.files = files.map(|files| Arc::new(files) as Arc<dyn FileHost>);
    let files = PendingFiles::new(requests);
    let config = match opening.services.build(request).await {
        Ok(config) => config,
        Err(why) => {
            refuse(&opening, &why).await;
            return (String::new(), None);
        }
    };
    let mut handle = session::start(config);
    let mut history = OpeningHistory::new(&opening.request);
    let opened = history.read(&mut handle, &opening).await;
    match opened {
        Ok(info) => Box::pin(talk(opening, handle, (history, info), files)).await,
        Err(why) => {
            refuse(&opening, &why).await;
            (String::new(), end(handle).await)
        }
    }
}

async fn refuse(opening: &OpeningSession, why: &LocalizedText) {
    let error = Error::invalid_params().data(why.text(opening.services.lang));
    opening.out.answer(&opening.answer_to, &Err(error)).await;
}

/// Closes a session and waits until it is saved.
async fn end(mut handle: Handle) -> Option<Rescue> {
    let _ = handle.ops.send(Op::Session(SessionOp::Shutdown).into()).await;
    while handle.events.recv().await.is_some() {}
    handle.task.await.ok().flatten()
}

/// What a session says before it can be spoken to.
struct OpeningHistory {
    wanted: Option<String>,
    /// Events of earlier turns that are still to come.
    awaits_chunks: bool,
    /// In parts, the latest first.
    chunks: Vec<Vec<Event>>,
}

impl OpeningHistory {
    fn new(request: &EditorRequest) -> OpeningHistory {
        let awaits_chunks = request.resume.is_some() && request.replays;
        OpeningHistory { wanted: request.resume.clone(), awaits_chunks, chunks: Vec::new() }
    }

    /// Reads until the session is the wanted one.
    async fn read(
        &mut self,
        handle: &mut Handle,
        opening: &OpeningSession,
    ) -> Result<SessionInfo, LocalizedText> {
        let mut info: Option<SessionInfo> = None;
        while let Some(event) = handle.events.recv().await {
            match event {
                Event::Facts(facts) => info = Some(*facts),
                Event::HistoryChunk { events, more, .. } => {
                    self.awaits_chunks = more;
                    self.chunks.push(events);
                }
                Event::Notice(notice) => {
                    let is_wanted = self.is_open(info.as_ref());
                    if notice.level == NoticeLevel::Error && !is_wanted {
                        return Err(notice.say);
                    }
                    // The rest of it cannot be read.
                    self.awaits_chunks &= notice.say.phrase() != session_words::EARLIER_LOST;
                    if notice.topic != Topic::Resumed {
                        (opening.services.report)(&notice);
                    }
                }
                _ => {}
            }
            if self.is_open(info.as_ref()) && !self.awaits_chunks {
                break;
            }
        }
        info.ok_or_else(|| phrases::NOT_OPENED.with("why", phrases::ENDED))
    }

    fn is_open(&self, info: Option<&SessionInfo>) -> bool {
        info.is_some_and(|info| self.wanted.as_ref().is_none_or(|wanted| *wanted == info.session))
    }
}

/// Shows the conversation so far, answers the client, and runs the session until it is closed.
async fn talk(
    opening: OpeningSession,
    handle: Handle,
    (history, info): (OpeningHistory, SessionInfo),
    files: PendingFiles,
) -> (String, Option<Rescue>) {
    let OpeningSession { request, client, answer_to, number, services, out, ready } = opening;
    let name = match info.session.as_str() {
        "" => format!("unsaved-{number}"),
        id => id.to_owned(),
    };
    let id = SessionId::new(name.as_str());
    let modes = modes(info.approval, services.lang);
    let has_forms = client.elicitation.is_some_and(|offers| offers.supports_form());
    let mut conversation = EditorConversation::new(id.clone(), services.lang, info, has_forms);
    for event in history.chunks.iter().rev().flatten() {
        for update in conversation.replay(event) {
            out.update(&id, update).await;
        }
    }
    let (inbox, messages) = channel(SESSION_CAPACITY);
    let (known, is_known) = oneshot::channel();
    let _ = ready.send(ReadySession { id: name.clone(), inbox, known }).await;
    drop(ready);
    let _ = is_known.await;
    let answer = match (&request.resume, request.replays) {
        (None, _) => answer_of(&NewSessionResponse::new(id.clone()).modes(modes)),
        (Some(_), true) => answer_of(&LoadSessionResponse::new().modes(modes)),
        (Some(_), false) => answer_of(&ResumeSessionResponse::new().modes(modes)),
    };
    out.answer(&answer_to, &answer).await;
    let _ = handle.ops.send(Op::Extension(ExtensionOp::RefreshExtensions).into()).await;
    let session = EditorSession { id, handle, conversation, files, services, out };
    (name, session.run(messages).await)
}

struct EditorSession {
    id: SessionId,
    handle: Handle,
    conversation: EditorConversation,
    files: PendingFiles,
    services: Arc<EditorServices>,
    out: MessageSender,
}

impl EditorSession {
    async fn run(mut self, mut messages: Receiver<SessionMessage>) -> Option<Rescue> {
        loop {
            let effects = tokio::select! {
                event = self.handle.events.recv() => match event {
                    Some(event) => self.conversation.on_event(event),
                    None => break,
                },
                message = messages.recv() => match message {
                    None | Some(SessionMessage::Close) => break,
                    Some(message) => self.on_message(message).await,
                },
                request = self.files.next() => {
                    self.files.send(request, &self.id, &self.out).await;
                    continue;
                }
            };
            self.apply(effects).await;
        }
        let effects = self.conversation.close();
        self.apply(effects).await;
        end(self.handle).await
    }

    async fn on_message(&mut self, message: SessionMessage) -> Vec<AcpEffect> {
        match message {
            SessionMessage::Prompt(id, prompt) => {
                // An image is decoded and made smaller.
                let read = move || prompt_blocks::read(prompt.prompt);
                match tokio::task::spawn_blocking(read).await {
                    Ok(read) => self.conversation.on_prompt(id, read),
                    Err(error) => {
                        let error = Error::internal_error().data(error.to_string());
                        vec![AcpEffect::Answer(id, Err(error))]
                    }
                }
            }
            SessionMessage::Cancel => self.conversation.on_cancel(),
            SessionMessage::SetMode(id, mode) => self.conversation.on_set_mode(id, mode),
            SessionMessage::Answered { call, result }
                if self.files.answer(call, result.as_deref()) =>
            {
                Vec::new()
            }
            SessionMessage::Answered { call, result } => {
                self.conversation.on_permission(call, result.as_deref())
            }
            SessionMessage::Close => Vec::new(),
        }
    }

    async fn apply(&mut self, effects: Vec<AcpEffect>) {
        for effect in effects {
            match effect {
                AcpEffect::Send(op) => drop(self.handle.ops.send(op.into()).await),
                AcpEffect::Update(update) => self.out.update(&self.id, *update).await,
                AcpEffect::Ask(call, request) => {
                    let id = format!("{}/{call}", self.id);
                    let method = CLIENT_METHOD_NAMES.session_request_permission;
                    self.out.request(&id, method, &*request).await;
                }
                AcpEffect::ShowForm(call, form) => {
                    let id = format!("{}/{call}", self.id);
                    self.out.request(&id, CLIENT_METHOD_NAMES.elicitation_create, &form).await;
                }
                AcpEffect::Answer(id, answer) => self.out.answer(&id, &answer).await,
                AcpEffect::Report(notice) => (self.services.report)(&notice),
            }
        }
    }
}
