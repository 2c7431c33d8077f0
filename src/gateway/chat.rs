//! Runs one conversation: its session, its messages to the service one at a time, the files that
//! come, and the signal that an answer is being written.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::{BoxFuture, join_all};
use tokio::sync::mpsc::{Receiver, Sender};
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep_until, timeout};

use super::call::perform;
use super::conversation::{
    ChatConversation, ChatEffect, ChatOptions, ChatRecovery, FetchState, Speaker, SuggestQuery,
};
use super::fetch::{FetchedFile, MessageAwaitingFiles};
use super::files::{ReceivedFiles, mask_event};
use super::ledger::LedgerRecord;
use super::menu::SentCommand;
use super::platform::{
    ChatAddress, DeliveryId, Incoming, IncomingKind, MessageId, Platform, PlatformError, UserId,
};
use super::question_watch::QuestionWatch;
use super::shown_menu::ShownMenu;
use super::timeline::{ChatOperation, PostResult, ServiceCall, TimelineAction};
use super::wait::{finished, until};
use avocet_core::i18n::{Lang, LocalizedText, chat as w};
use avocet_core::protocol::{ExtensionOp, JobInfo, Op, SessionOp, Submission};
use avocet_safety::redact::Redactor;
use avocet_session::{self as session, Handle, SessionConfig};

mod fetching;
mod home;
mod opening;
mod watching;

/// Builds the session of a chat.
pub type OpenSession =
    Arc<dyn Fn(SessionRequest) -> Result<SessionConfig, LocalizedText> + Send + Sync>;

/// Which session a chat needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionRequest {
    /// The working folder; `None`: that of the gateway.
    pub folder: Option<String>,
    /// The folder of the files that came, which the session may read.
    pub files: Option<PathBuf>,
    /// The session to resume.
    pub resume: Option<String>,
    /// The language; `None`: that of the settings.
    pub lang: Option<Lang>,
}

/// A delivery for a chat, with who sent it.
#[derive(Clone, Debug)]
pub struct ChatDelivery {
    pub incoming: Incoming,
    pub speaker: Speaker,
    /// It was not meant for the bot, and counts only if it answers the open question.
    pub is_overheard: bool,
}

/// What a chat tells the gateway.
#[derive(Debug)]
pub enum ChatNote {
    Record(LedgerRecord),
    /// Nothing runs, waits or is unsent here, after so many deliveries.
    Quiet(ChatAddress, u64),
    /// The chat works in this folder from now on: it ends, and begins again with the next message.
    Moved(ChatAddress, String),
    /// The buttons of this nonce answer the question of this chat, wherever they are.
    Referred(String, ChatAddress),
    /// Its deliveries that are not done and have not begun are for the next one at this address.
    Ended(ChatAddress),
}

/// The parts of a chat.
pub struct ChatParts {
    pub platform: Arc<dyn Platform>,
    /// Who decides what only an admin decides, where no admin is.
    pub admin: Option<UserId>,
    pub options: ChatOptions,
    pub open_session: OpenSession,
    pub request: SessionRequest,
    pub recovery: ChatRecovery,
    pub notes: Sender<ChatNote>,
    /// What the service shows.
    pub menu: watch::Receiver<ShownMenu>,
    /// The files of the user's commands may have changed.
    pub menu_changes: Sender<()>,
    /// Calls to the service at once.
    pub connections: Arc<Semaphore>,
    /// Conversations that are opened at once.
    pub openings: Arc<Semaphore>,
    pub files: ReceivedFiles,
    /// Largest file that is read, in bytes.
    pub most_file: u64,
}

/// A call, its answer, and how many messages had been taken when it began.
type CallDone = (ServiceCall, Result<Option<MessageId>, PlatformError>, u64);

struct Chat {
    parts: ChatParts,
    conversation: ChatConversation,
    session: Handle,
    /// Masks what is sent to the chat as a file.
    redactor: Arc<Redactor>,
    call: Option<BoxFuture<'static, CallDone>>,
    typing: TypingSign,
    fetch_queue: FetchQueue,
    phase: ChatPhase,
    /// What the ledger knows.
    recorded: Recorded,
    /// Nothing can be shown in this chat any more.
    is_lost: bool,
    was_quiet: bool,
    question: QuestionWatch,
    /// When no more answers to the commands so far will come: the session may take a moment.
    rests_at: Option<Instant>,
    /// Deliveries that were taken.
    taken: u64,
    asked_extensions: bool,
}

/// The sign that an answer is being written.
#[derive(Default)]
struct TypingSign {
    /// From when on it is shown, while one is.
    from: Option<Instant>,
    call: Option<BoxFuture<'static, ()>>,
}

#[derive(Default)]
struct FetchQueue {
    /// The files of a message that is submitted once it has them.
    fetch: Option<MessageAwaitingFiles>,
    download: Option<BoxFuture<'static, FetchedFile>>,
    /// Messages that came after it.
    waiting: VecDeque<ChatDelivery>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChatPhase {
    Running,
    /// The chat ends: what comes is for the next one.
    Leaving,
}

#[derive(Debug, Default, PartialEq)]
struct Recorded {
    session: String,
    question: Option<MessageId>,
}

/// After so long without an end of the turn the chat is shown that an answer is being written: a
/// quick answer needs no call for that.
const UNANSWERED: Duration = Duration::from_millis(300);

/// So long after its last sign a conversation has nothing more to say.
const REST: Duration = Duration::from_secs(10);

/// How long the dismissal of the last commands may take.
const DISMISSAL: Duration = Duration::from_millis(500);

/// How long the last messages may take when the program ends.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(1_500);

/// Runs a chat until its channel closes or its session ends.
pub async fn run(mut parts: ChatParts, mut deliveries: Receiver<ChatDelivery>) {
    let mut opened = parts.open_conversation().await;
    let mut no_home = None;
    if let (Err(why), Some(_)) = (&opened, &parts.request.folder) {
        // Its own folder may be gone: the chat goes on in that of the gateway.
        no_home = Some(why.clone());
        (parts.request.folder, parts.request.resume) = (None, None);
        opened = parts.open_conversation().await;
    }
    let config = match opened {
        Ok(config) => config,
        Err(why) => return parts.refuse(why, &mut deliveries).await,
    };
    let recovery = std::mem::take(&mut parts.recovery);
    let mut conversation =
        ChatConversation::new(parts.options.clone(), config.info.clone(), recovery);
    if let Some(why) = no_home {
        let folder = config.info.cwd.as_str();
        conversation.view.posts.say(w::HOME_GONE.with("why", why).with("folder", folder));
    }
    let recorded = Recorded {
        session: parts.request.resume.clone().unwrap_or_default(),
        ..Recorded::default()
    };
    let chat = Chat {
        conversation,
        redactor: Arc::clone(&config.security.redactor),
        session: session::start(config),
        call: None,
        typing: TypingSign::default(),
        fetch_queue: FetchQueue::default(),
        phase: ChatPhase::Running,
        recorded,
        is_lost: false,
        was_quiet: false,
        question: QuestionWatch::default(),
        rests_at: None,
        taken: 0,
        asked_extensions: false,
        parts,
    };
    // What it holds for as long as the chat lives is not copied along with what opened it.
    Box::pin(chat.run(deliveries)).await;
}

impl Chat {
    async fn run(mut self, mut deliveries: Receiver<ChatDelivery>) {
        // What a restart left is completed once they are read.
        if !self.conversation.is_idle() {
            self.read_extensions().await;
        }
        while self.phase == ChatPhase::Running {
            self.after_change().await;
            let wake = self.next_wake();
            tokio::select! {
                biased;
                done = finished(&mut self.call) => {
                    let effects = self.on_call_done(done);
                    self.apply(effects).await;
                }
                file = finished(&mut self.fetch_queue.download) => Box::pin(self.on_downloaded(file)).await,
                // What a restart interrupted comes before what came after it.
                delivery = deliveries.recv(), if self.conversation.recovery.is_over() => match delivery {
                    Some(delivery) => Box::pin(self.on_delivery(delivery)).await,
                    None => break,
                },
                event = self.session.events.recv() => match event {
                    Some(event) => {
                        let effects = self.conversation.on_event(mask_event(event, &self.redactor));
                        self.apply(effects).await;
                    }
                    None => break,
                },
                () = finished(&mut self.typing.call) => {}
                referred = self.question.asked() => self.on_referred(referred),
                () = until(wake) => {}
            }
        }
        Box::pin(self.end()).await;
    }

    async fn send(&mut self, submission: Submission) {
        let _ = self.session.ops.send(submission).await;
    }

    /// The commands of the user, which most messages do not need.
    async fn read_extensions(&mut self) {
        if !std::mem::replace(&mut self.asked_extensions, true) {
            self.send(Op::Extension(ExtensionOp::RefreshExtensions).into()).await;
        }
    }

    async fn record(&mut self, record: LedgerRecord) {
        let _ = self.parts.notes.send(ChatNote::Record(record)).await;
    }

    /// Starts the next call, and tells the gateway what changed.
    async fn after_change(&mut self) {
        self.record_finished().await;
        self.watch_question().await;
        self.start_call();
        self.start_typing();
        self.record_changes().await;
        let quiet = self.is_quiet();
        if quiet && !self.was_quiet {
            self.rests_at = Some(Instant::now() + REST);
            let at = self.parts.options.address.clone();
            let _ = self.parts.notes.send(ChatNote::Quiet(at, self.taken)).await;
        }
        self.rests_at = self.rests_at.filter(|_| quiet);
        if self.rests_at.is_some_and(|at| at <= Instant::now()) {
            self.rests_at = None;
            self.conversation
                .view
                .posts
                .open_commands
                .take()
                .into_iter()
                .for_each(|command| self.dismiss(command));
        }
        self.was_quiet = quiet;
    }

    /// Where the service shows that an answer will come, it does not any more.
    fn dismiss(&self, command: DeliveryId) {
        let platform = Arc::clone(&self.parts.platform);
        tokio::spawn(async move {
            let _ = platform.dismiss(&command).await;
        });
    }

    fn is_quiet(&self) -> bool {
        self.call.is_none()
            && self.conversation.is_idle()
            && !self.conversation.info().jobs.iter().any(JobInfo::is_running)
            && self.conversation.info().agents.running == 0
            && (self.is_lost || self.conversation.view.posts.timeline.is_idle())
    }

    fn start_call(&mut self) {
        if self.call.is_some() || self.is_lost {
            return;
        }
        if let TimelineAction::Call(call) = self.conversation.view.next_call(Instant::now()) {
            let platform = Arc::clone(&self.parts.platform);
            let at = self.parts.options.address.clone();

            let connections = Arc::clone(&self.parts.connections);
            let taken = self.taken;
            self.conversation.view.posts.timeline.begin(call.key);
            self.call = Some(Box::pin(async move {
                let _permit = connections.acquire_owned().await;
                let answer = perform(&*platform, &at, &call).await;
                (*call, answer, taken)
            }));
        }
    }

    fn on_call_done(&mut self, (call, answer, taken): CallDone) -> Vec<ChatEffect> {
        self.call = None;
        let key = call.key;
        let file = match &call.kind {
            ChatOperation::Upload(file) => Some(file.name.clone()),
            _ => None,
        };
        match self.conversation.view.posts.timeline.finish(call, answer, Instant::now()) {
            PostResult::Shown | PostResult::Again => Vec::new(),
            PostResult::Dropped(why) => {
                tracing::warn!(%why, "a message was given up");
                match file {
                    _ if self.conversation.view.on_dropped(key) => Vec::new(),
                    Some(name) => {
                        let say = w::FILE_NOT_SENT.with("name", name).with("why", why);
                        self.conversation.view.posts.say(say);
                        Vec::new()
                    }
                    None => self.conversation.view.on_given_up(key, &why),
                }
            }
            PostResult::Lost => {
                // Who wrote since the call began can be answered here again.
                self.is_lost = self.taken == taken;
                Vec::new()
            }
        }
    }

    fn start_typing(&mut self) {
        if !self.conversation.view.is_typing() || self.is_lost {
            self.typing.from = None;
            return;
        }
        let now = Instant::now();
        let due = *self.typing.from.get_or_insert(now + UNANSWERED);
        if self.typing.call.is_some() || now < due {
            return;
        }
        self.typing.from = Some(now + self.parts.options.limits.typing);
        let platform = Arc::clone(&self.parts.platform);
        let at = self.parts.options.address.clone();

        let connections = Arc::clone(&self.parts.connections);
        self.typing.call = Some(Box::pin(async move {
            // Only a hint: it waits for nothing.
            if let Ok(_permit) = connections.try_acquire_owned() {
                let _ = platform.typing(&at).await;
            }
        }));
    }

    fn next_wake(&mut self) -> Option<Instant> {
        // The end of the call that is under way wakes it as well.
        let may_call = self.call.is_none() && !self.is_lost;
        let next = may_call.then(|| self.conversation.view.next_call(Instant::now()));
        let call = match next {
            Some(TimelineAction::Wait(until)) => Some(until),
            _ => None,
        };
        let typing = self.typing.from.filter(|_| self.typing.call.is_none());
        call.into_iter().chain(typing).chain(self.rests_at).chain(self.question.due).min()
    }

    /// Records the session and the open question.
    async fn record_changes(&mut self) {
        let at = self.parts.options.address.clone();
        let session = self.conversation.info().session.as_str();
        // A chat that leaves for another folder has no conversation there yet.
        if !session.is_empty()
            && session != self.recorded.session
            && self.phase == ChatPhase::Running
        {
            self.recorded.session = session.to_owned();
            let session = session.to_owned();
            let folder = self.parts.request.folder.clone();

            let earlier = Vec::new();
            self.record(LedgerRecord::Chat { at: at.clone(), session, folder, earlier }).await;
        }
        let question = self.conversation.view.question_message().cloned();
        if question != self.recorded.question {
            self.recorded.question.clone_from(&question);
            self.record(LedgerRecord::Question { at, message: question }).await;
        }
    }

    /// Records what is shown whole by now.
    async fn record_finished(&mut self) {
        for effect in self.conversation.view.posts.take_finished() {
            if let ChatEffect::Done(delivery) = effect {
                self.record(LedgerRecord::Done { delivery }).await;
            }
        }
    }

    async fn apply(&mut self, effects: Vec<ChatEffect>) {
        for effect in effects {
            match effect {
                ChatEffect::Send(submission) => self.send(submission).await,
                ChatEffect::Begun { delivery, submit, text } => {
                    let submit = Some(submit);
                    self.record(LedgerRecord::Begun { delivery, submit, text }).await;
                }
                ChatEffect::Done(delivery) => self.record(LedgerRecord::Done { delivery }).await,
                ChatEffect::Acknowledge { press, text } => {
                    let platform = Arc::clone(&self.parts.platform);
                    tokio::spawn(async move {
                        let _ = platform.acknowledge(&press, text.as_deref()).await;
                    });
                }
                ChatEffect::Suggest { query, choices } => {
                    let _ = self.parts.platform.suggest(&query, &choices).await;
                }
                ChatEffect::ReadMenu => {
                    // One that waits already is enough.
                    let _ = self.parts.menu_changes.try_send(());
                }
                ChatEffect::SetHome(folder, command) => {
                    Box::pin(self.set_home(folder, command)).await;
                }
                ChatEffect::StopFetch => Box::pin(self.stop_fetch()).await,
            }
        }
    }

    async fn on_delivery(&mut self, delivery: ChatDelivery) {
        let ChatDelivery { incoming: Incoming { kind, .. }, is_overheard, .. } = &delivery;
        let is_button = matches!(kind, IncomingKind::Button { .. } | IncomingKind::Suggest { .. });
        if self.conversation.info().read_only && self.taken > 0 && !is_button && !is_overheard {
            // The other process may have ended: the next chat opens the conversation again.
            self.phase = ChatPhase::Leaving;
            return;
        }
        self.was_quiet = false;
        self.taken += 1;
        // Who writes here can be answered here again.
        self.is_lost = false;
        if self.fetch_queue.fetch.is_some() && !is_overheard {
            match kind {
                IncomingKind::Files { .. } => return self.wait_for_fetch(delivery).await,
                IncomingKind::Text { text } => {
                    let speaker = &delivery.speaker;
                    let id = &delivery.incoming.id;

                    match self.conversation.view.typed_answer(speaker, id, text) {
                        Some(effects) => return self.apply(effects).await,
                        None => return self.wait_for_fetch(delivery).await,
                    }
                }
                _ => {}
            }
        }
        self.act_on(delivery).await;
    }

    async fn act_on(&mut self, delivery: ChatDelivery) {
        let ChatDelivery { incoming: Incoming { id, at, kind, .. }, speaker, is_overheard } =
            delivery;
        if matches!(kind, IncomingKind::Command { .. } | IncomingKind::Suggest { .. }) {
            let menu = Arc::clone(&self.parts.menu.borrow().rows);
            self.conversation.keep_shown_menu(menu);
            self.read_extensions().await;
        }
        let effects = match kind {
            IncomingKind::Text { text } if is_overheard => {
                self.conversation.view.on_overheard(&speaker, id, &text)
            }
            IncomingKind::Text { text } => {
                self.conversation.on_text(&speaker, id, &text, Vec::new())
            }
            IncomingKind::Command { name, args, options } => {
                self.conversation.on_command(&speaker, id, SentCommand { name, args, options })
            }
            IncomingKind::Button { data, press } => {
                self.conversation.on_press(&speaker, id, &data, press)
            }
            IncomingKind::Files { files, text } => {
                self.conversation.fetching = FetchState::Fetching;
                self.fetch_queue.fetch = Some(MessageAwaitingFiles::new(speaker, id, files, text));
                self.fetch_next().await;
                Vec::new()
            }
            IncomingKind::Edited => Vec::new(),
            IncomingKind::Moved { .. } => {
                self.parts.options.address = at;
                self.conversation.view.show_question_again();
                Vec::new()
            }
            IncomingKind::Suggest { command, option, typed, query } => {
                let query = SuggestQuery { command, option, typed, query };
                let suggested = self.conversation.on_suggest(query);
                std::iter::once(ChatEffect::Done(id)).chain(suggested).collect()
            }
        };
        self.apply(effects).await;
    }

    /// Ends the session, and shows what is left to show.
    async fn end(mut self) {
        self.conversation.view.stop_phrase = w::PROGRAM_ENDS;
        let _ = self.session.ops.try_send(Op::Session(SessionOp::Shutdown).into());
        let farewell = async {
            while let Some(event) = self.session.events.recv().await {
                let effects = self.conversation.on_event(mask_event(event, &self.redactor));
                for effect in effects {
                    if let ChatEffect::Begun { delivery, submit, text } = effect {
                        let submit = Some(submit);
                        self.record(LedgerRecord::Begun { delivery, submit, text }).await;
                    }
                }
            }
            while !self.is_lost {
                self.start_call();
                if self.call.is_none() {
                    // An edit may have to wait for its time.
                    match self.conversation.view.next_call(Instant::now()) {
                        TimelineAction::Wait(due) => sleep_until(due.into()).await,
                        _ => break,
                    }
                    continue;
                }
                let done = finished(&mut self.call).await;
                let _ = self.on_call_done(done);
            }
        };
        let _ = timeout(CLOSE_TIMEOUT, farewell).await;
        let commands = self.conversation.view.posts.open_commands.take();
        let platform = &self.parts.platform;
        let dismissed = join_all(commands.iter().map(|command| platform.dismiss(command)));
        let _ = timeout(DISMISSAL, dismissed).await;
        // Also when there was no time for all of it: what is shown must not be shown again.
        self.record_changes().await;
        self.record_finished().await;
        let _ = timeout(CLOSE_TIMEOUT, self.session.task).await;
        let _ = self.parts.notes.send(ChatNote::Ended(self.parts.options.address)).await;
    }
}
