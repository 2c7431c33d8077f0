//! Runs one service: receives, writes down, admits and hands each delivery to its chat; starts chats
//! when they are needed and ends those that rest.

use std::collections::{HashMap, VecDeque};
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::{Semaphore, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::chat::{self, ChatDelivery, ChatNote, ChatParts, OpenSession, SessionRequest};
use super::conversation::{BegunMessage, ChatOptions, ChatRecovery, Speaker};
use super::files::ReceivedFiles;
use super::ledger::{Ledger, LedgerRecord, PendingDelivery};
use super::platform::{
    Batch, ChatAddress, Incoming, IncomingKind, Outgoing, Platform, PlatformError,
};
use crate::i18n::{Lang, LocalizedText, chat as w};

/// Whether a delivery is heard.
#[derive(Clone, Debug, PartialEq)]
pub enum ServiceAdmission {
    Admit {
        is_admin: bool,
    },
    /// It is dropped without a word.
    Silent,
    /// The sender gets this sentence.
    Refuse(LocalizedText),
}

/// Decides who is heard.
pub type Admit = Box<dyn FnMut(&Incoming) -> ServiceAdmission + Send + Sync>;

/// The bounds of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceBounds {
    /// Conversations in memory at once.
    pub sessions: usize,
    /// Calls to the service at once.
    pub connections: usize,
    /// Messages that may wait in one chat.
    pub queued: usize,
    /// Bytes that may wait for a place in all chats.
    pub waiting_bytes: usize,
    /// Largest file that is read, in bytes.
    pub file_bytes: u64,
    /// How long an idle conversation stays in memory.
    pub session_idle: Duration,
}

/// What the settings say of commands.
#[derive(Clone, Debug, Default)]
pub struct ServiceCommands {
    /// The settings that open commands to chats.
    pub open: Vec<&'static str>,
    /// The commands that come first in a menu.
    pub first: Vec<String>,
    /// The commands of users who are not admins; empty: all that change no settings.
    pub of_users: Vec<String>,
    /// The bodies of the calls that register the menu.
    pub menu: Vec<serde_json::Value>,
}

/// The parts of a service.
pub struct ServiceParts {
    pub platform: Arc<dyn Platform>,
    pub ledger: Ledger,
    pub admit: Admit,
    pub open_session: OpenSession,
    pub lang: Lang,
    pub commands: ServiceCommands,
    pub bounds: ServiceBounds,
    /// Where files that come are kept while the program runs.
    pub files: PathBuf,
    /// What `/healthz` and `status` show.
    pub health: watch::Sender<ServiceHealth>,
    pub leaving: CancellationToken,
}

/// How a service fares.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct ServiceHealth {
    pub connected: bool,
    /// The bot's own name.
    pub bot: String,
    /// Why it is not connected.
    pub problem: Option<String>,
    /// Conversations in memory.
    pub chats: usize,
    /// Messages that came since the start.
    pub received: u64,
}

struct Service {
    parts: ServiceParts,
    chats: HashMap<ChatAddress, ActiveChat>,
    tasks: JoinSet<()>,
    notes: Sender<ChatNote>,
    connections: Arc<Semaphore>,
    /// Deliveries for chats that have no place yet.
    overflow: VecDeque<ChatDelivery>,
    /// The number of chats so far, for the names of their folders.
    started: usize,
}

struct ActiveChat {
    deliveries: Sender<ChatDelivery>,
    /// Since when nothing has happened there.
    /// Deliveries that it was given.
    handed: u64,
    quiet_since: Option<Instant>,
    /// It ends; a delivery for it waits for that.
    is_ending: bool,
}

/// Deliveries that wait for one chat's task; its own queue has a limit of its own.
const ROOM: usize = 64;

/// Pauses between tries after an error: they double from the first to the last.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LAST_PAUSE: Duration = Duration::from_secs(60);

/// The longest pause that a service may ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(3600);

/// How long chats may take to end.
const FAREWELL: Duration = Duration::from_secs(4);

type StoredBatch = (Batch, oneshot::Sender<()>);

/// Runs until the program leaves or the service does not accept the token.
///
/// # Errors
/// [`PlatformError::Unauthorized`], or what the disk refused.
pub async fn run(parts: ServiceParts) -> Result<(), PlatformError> {
    let bot = connect(&parts).await?;
    let Some(bot) = bot else { return Ok(()) };
    parts.health.send_modify(|health| {
        (health.connected, health.bot, health.problem) = (true, bot, None);
    });
    register_menu(&parts);
    let (notes, mut note_receiver) = channel(1_024);
    let (batch_sender, mut batches) = channel(1);
    let receiver = tokio::spawn(receive(
        Arc::clone(&parts.platform),
        batch_sender,
        parts.health.clone(),
        parts.leaving.clone(),
    ));
    let connections = Arc::new(Semaphore::new(parts.bounds.connections));
    let mut service = Service {
        parts,
        chats: HashMap::new(),
        tasks: JoinSet::new(),
        notes,
        connections,
        overflow: VecDeque::new(),
        started: 0,
    };
    service.replay().await;
    let ended = service.serve(&mut batches, &mut note_receiver).await;
    drop(batches);
    service.shut_down(&mut note_receiver).await;
    let received = timeout(Duration::from_secs(1), receiver).await;
    match (ended, received) {
        (Ok(()), Ok(Ok(result))) => result,
        (ended, _) => ended,
    }
}

/// Checks the token, again and again while the service cannot be reached; `None`: the program
/// leaves.
async fn connect(parts: &ServiceParts) -> Result<Option<String>, PlatformError> {
    let mut pause = FIRST_PAUSE;
    loop {
        let connected = parts.leaving.run_until_cancelled(parts.platform.connect()).await;
        let error = match connected {
            None => return Ok(None),
            Some(Ok(bot)) => return Ok(Some(bot)),
            Some(Err(PlatformError::Unauthorized)) => return Err(PlatformError::Unauthorized),
            Some(Err(error)) => error,
        };
        note_problem(&parts.health, &error);
        pause = wait(&error, pause, &parts.leaving).await;
    }
}

/// A service without a menu works: commands can be typed.
fn register_menu(parts: &ServiceParts) {
    let (platform, menu) = (Arc::clone(&parts.platform), parts.commands.menu.clone());
    tokio::spawn(async move {
        if let Err(error) = platform.set_menu(&menu).await {
            tracing::warn!(%error, "the menu was not registered");
        }
    });
}

fn note_problem(health: &watch::Sender<ServiceHealth>, error: &PlatformError) {
    tracing::warn!(%error, "the chat service");
    health.send_modify(|health| {
        (health.connected, health.problem) = (false, Some(error.to_string()));
    });
}

/// Waits after an error; returns the next pause.
async fn wait(error: &PlatformError, pause: Duration, leaving: &CancellationToken) -> Duration {
    let asked = match error {
        PlatformError::RateLimited { after } => (*after).min(LONGEST_PAUSE),
        _ => pause,
    };
    leaving.run_until_cancelled(sleep(asked)).await;
    (pause * 2).min(LAST_PAUSE)
}

/// Receives batch after batch; each is confirmed once it is written down.
async fn receive(
    platform: Arc<dyn Platform>,
    batches: Sender<StoredBatch>,
    health: watch::Sender<ServiceHealth>,
    leaving: CancellationToken,
) -> Result<(), PlatformError> {
    let mut pause = FIRST_PAUSE;
    while let Some(received) = leaving.run_until_cancelled(platform.receive()).await {
        match received {
            Ok(batch) => {
                pause = FIRST_PAUSE;
                if !health.borrow().connected {
                    health.send_modify(|health| (health.connected, health.problem) = (true, None));
                }
                let cursor = batch.cursor.clone();
                let (stored, is_stored) = oneshot::channel();
                if batches.send((batch, stored)).await.is_err() || is_stored.await.is_err() {
                    break;
                }
                if let Some(cursor) = cursor
                    && let Err(error) = platform.confirm(&cursor).await
                {
                    tracing::warn!(%error, "a delivery was not confirmed");
                }
            }
            Err(PlatformError::Unauthorized) => {
                note_problem(&health, &PlatformError::Unauthorized);
                return Err(PlatformError::Unauthorized);
            }
            Err(error) => {
                note_problem(&health, &error);
                pause = wait(&error, pause, &leaving).await;
            }
        }
    }
    platform.close().await;
    Ok(())
}

impl Service {
    async fn serve(
        &mut self,
        batches: &mut Receiver<StoredBatch>,
        notes: &mut Receiver<ChatNote>,
    ) -> Result<(), PlatformError> {
        let leaving = self.parts.leaving.clone();
        loop {
            let rest = self.next_rest();
            tokio::select! {
                biased;
                () = leaving.cancelled() => return Ok(()),
                Some(note) = notes.recv() => {
                    let mut all = vec![note];
                    while let Some(note) = notes.try_recv().ok().filter(|_| all.len() < 256) {
                        all.push(note);
                    }
                    self.take_notes(all).await?;
                }
                batch = batches.recv() => match batch {
                    Some((batch, stored)) => {
                        let new = self.store(batch)?;
                        let _ = stored.send(());
                        for incoming in new {
                            self.route(incoming).await;
                        }
                    }
                    None => return Ok(()),
                },
                () = until(rest) => self.end_resting(),
            }
        }
    }

    /// Writes down what is new, and the position after it, before anything is done about it.
    fn store(&mut self, batch: Batch) -> Result<Vec<Incoming>, PlatformError> {
        let ledger = &mut self.parts.ledger;
        let mut new: Vec<Incoming> = Vec::new();
        for incoming in batch.messages {
            let repeated = new.iter().any(|known| known.id == incoming.id);
            if !repeated && !ledger.state.is_known(&incoming.id) {
                new.push(incoming);
            }
        }
        let mut records: Vec<_> = new
            .iter()
            .map(|incoming| LedgerRecord::Received { incoming: Box::new(incoming.clone()) })
            .collect();
        let moved = batch.cursor.filter(|cursor| ledger.state.cursor.as_ref() != Some(cursor));
        records.extend(moved.map(|cursor| LedgerRecord::Cursor { cursor }));
        if !records.is_empty() {
            ledger.append(records, true).map_err(disk)?;
        }
        self.parts.health.send_modify(|health| health.received += new.len() as u64);
        Ok(new)
    }

    /// What was not done when the program ended. A turn that had begun is for its chat to complete.
    async fn replay(&mut self) {
        let pending: Vec<PendingDelivery> = self.parts.ledger.state.pending().cloned().collect();
        let open: Vec<ChatAddress> = self
            .parts
            .ledger
            .state
            .chats
            .iter()
            .filter(|(_, chat)| chat.question.is_some())
            .map(|(at, _)| at.clone())
            .collect();
        for at in pending
            .iter()
            .filter(|one| one.begun.is_some())
            .map(|one| &one.incoming.at)
            .chain(&open)
        {
            if !self.chats.contains_key(at) {
                self.start(at.clone());
            }
        }
        for delivery in pending.into_iter().filter(|one| one.begun.is_none()) {
            self.route(delivery.incoming).await;
        }
    }

    /// Admits a delivery, and hands it to its chat.
    async fn route(&mut self, incoming: Incoming) {
        if incoming.sender.is_bot {
            return self.done(&incoming);
        }
        match (self.parts.admit)(&incoming) {
            ServiceAdmission::Admit { is_admin } => {
                let name = super::conversation::display_name(&incoming.sender.name);
                let speaker = Speaker { id: incoming.sender.id.clone(), name, is_admin };
                self.hand_over(ChatDelivery { incoming, speaker });
            }
            ServiceAdmission::Silent => {
                tracing::info!(user = %incoming.sender.id, "a message was not admitted");
                self.done(&incoming);
            }
            ServiceAdmission::Refuse(why) => {
                tracing::info!(user = %incoming.sender.id, "a message was refused");
                self.done(&incoming);
                self.answer(incoming, &why);
            }
        }
    }

    /// One sentence for a sender who has no conversation.
    fn answer(&mut self, incoming: Incoming, why: &LocalizedText) {
        let (platform, text) = (Arc::clone(&self.parts.platform), why.text(self.parts.lang));
        let connections = Arc::clone(&self.connections);
        self.tasks.spawn(async move {
            let Ok(_permit) = connections.acquire().await else { return };
            let _ = match &incoming.kind {
                IncomingKind::Button { press, .. } => {
                    platform.acknowledge(press, Some(&text)).await
                }
                _ => platform.send(&incoming.at, &Outgoing::plain(text)).await.map(drop),
            };
        });
    }

    fn done(&mut self, incoming: &Incoming) {
        let record = LedgerRecord::Done { delivery: incoming.id.clone() };
        if let Err(error) = self.parts.ledger.append(vec![record], false) {
            tracing::error!(%error, "the ledger");
        }
    }

    fn hand_over(&mut self, delivery: ChatDelivery) {
        let at = delivery.incoming.at.clone();
        let waits = self.overflow.iter().any(|waiting| waiting.incoming.at == at);
        if !waits && !self.chats.contains_key(&at) && self.has_place() {
            self.start(at.clone());
        }
        let delivery = match self.chats.get_mut(&at).filter(|chat| !waits && !chat.is_ending) {
            Some(chat) => {
                chat.quiet_since = None;
                match chat.deliveries.try_send(delivery) {
                    Ok(()) => {
                        chat.handed += 1;
                        return;
                    }
                    Err(error) => error.into_inner(),
                }
            }
            None => delivery,
        };
        let waiting: usize = self.overflow.iter().map(|waiting| size(&waiting.incoming)).sum();
        if waiting + size(&delivery.incoming) > self.parts.bounds.waiting_bytes {
            self.done(&delivery.incoming);
            return self.answer(delivery.incoming, &w::FULL.into());
        }
        self.overflow.push_back(delivery);
    }

    /// Whether another chat may start; if not, the one that has rested longest ends.
    fn has_place(&mut self) -> bool {
        if self.chats.len() < self.parts.bounds.sessions {
            return true;
        }
        if self.chats.values().any(|chat| chat.is_ending) {
            // Its place is free in a moment.
            return false;
        }
        let resting = self.chats.iter();
        let longest = resting.filter_map(|(at, chat)| Some((chat.quiet_since?, at.clone()))).min();
        longest.into_iter().for_each(|(_, at)| self.end_chat(&at));
        false
    }

    fn end_chat(&mut self, at: &ChatAddress) {
        if let Some(chat) = self.chats.get_mut(at) {
            chat.is_ending = true;
            // Its task sees that the channel is closed.
            chat.deliveries = channel(1).0;
        }
    }

    /// The messages of this chat whose turns had begun and that are not done, oldest first.
    fn begun_messages(&self, at: &ChatAddress) -> Vec<BegunMessage> {
        let pending = self.parts.ledger.state.pending().filter(|one| one.incoming.at == *at);
        let begun = |one: &PendingDelivery| {
            Some(BegunMessage {
                delivery: one.incoming.id.clone(),
                text: one.begun.clone()?,
                by: one.incoming.sender.id.clone(),
                messages: one.messages.clone(),
            })
        };
        pending.filter_map(begun).collect()
    }

    fn start(&mut self, at: ChatAddress) {
        let known = self.parts.ledger.state.chats.get(&at).cloned().unwrap_or_default();
        let begun = self.begun_messages(&at);
        self.started += 1;
        let files = ReceivedFiles::new(self.parts.files.join(format!("chat-{}", self.started)));
        let (deliveries, receiver) = channel(ROOM);
        let parts = ChatParts {
            platform: Arc::clone(&self.parts.platform),
            options: ChatOptions {
                address: at.clone(),
                lang: self.parts.lang,
                limits: self.parts.platform.limits(),
                platform: self.parts.platform.kind(),
                open: self.parts.commands.open.clone(),
                menu_first: self.parts.commands.first.clone(),
                user_commands: self.parts.commands.of_users.clone(),
                most_queued: self.parts.bounds.queued,
            },
            open_session: Arc::clone(&self.parts.open_session),
            request: SessionRequest {
                folder: known.folder,
                files: Some(files.folder().to_owned()),
                resume: Some(known.session).filter(|session| !session.is_empty()),
            },
            recovery: ChatRecovery { begun, question: known.question },
            notes: self.notes.clone(),
            connections: Arc::clone(&self.connections),
            files,
            most_file: self.parts.bounds.file_bytes,
        };
        let (notes, address) = (self.notes.clone(), at.clone());
        self.tasks.spawn(async move {
            let ran = AssertUnwindSafe(chat::run(parts, receiver)).catch_unwind().await;
            if ran.is_err() {
                // The next message begins it anew.
                tracing::error!("a chat ended by a fault of the program");
                let _ = notes.send(ChatNote::Ended(address)).await;
            }
        });
        let chat = ActiveChat { deliveries, handed: 0, quiet_since: None, is_ending: false };
        self.chats.insert(at, chat);
        self.count();
    }

    fn count(&self) {
        let chats = self.chats.len();
        self.parts.health.send_modify(|health| health.chats = chats);
    }

    async fn take_notes(&mut self, notes: Vec<ChatNote>) -> Result<(), PlatformError> {
        let mut records = Vec::new();
        let mut moved = Vec::new();
        for note in notes {
            match note {
                ChatNote::Record(record) => records.push(record),
                ChatNote::Quiet(at, taken) => {
                    // It may have got another one since it reported that.
                    let chat = self.chats.get_mut(&at).filter(|chat| chat.handed == taken);
                    chat.into_iter().for_each(|chat| chat.quiet_since = Some(Instant::now()));
                }
                ChatNote::Moved(at, folder) => moved.push((at, folder)),
                ChatNote::Ended(at) => {
                    self.chats.remove(&at);
                    self.count();
                }
            }
        }
        for (at, folder) in moved {
            self.end_chat(&at);
            let (session, folder) = (String::new(), Some(folder));
            records.push(LedgerRecord::Chat { at, session, folder });
        }
        if !records.is_empty() {
            self.parts.ledger.append(records, false).map_err(disk)?;
        }
        while self.tasks.try_join_next().is_some() {}
        self.hand_over_waiting();
        Ok(())
    }

    fn hand_over_waiting(&mut self) {
        for delivery in std::mem::take(&mut self.overflow) {
            self.hand_over(delivery);
        }
    }

    /// When the next chat has rested long enough.
    fn next_rest(&self) -> Option<Instant> {
        let resting = self.chats.values().filter(|chat| !chat.is_ending);
        let since = resting.filter_map(|chat| chat.quiet_since).min()?;
        Some(since + self.parts.bounds.session_idle)
    }

    fn end_resting(&mut self) {
        let (now, idle) = (Instant::now(), self.parts.bounds.session_idle);
        let over = |chat: &ActiveChat| {
            !chat.is_ending && chat.quiet_since.is_some_and(|since| since + idle <= now)
        };
        let resting: Vec<_> =
            self.chats.iter().filter(|(_, chat)| over(chat)).map(|(at, _)| at.clone()).collect();
        resting.iter().for_each(|at| self.end_chat(at));
    }

    /// Ends every chat, and writes down what they still say.
    async fn shut_down(mut self, notes: &mut Receiver<ChatNote>) {
        self.chats.clear();
        let end = Instant::now() + FAREWELL;
        loop {
            tokio::select! {
                biased;
                Some(note) = notes.recv() => {
                    if let ChatNote::Record(record) = note {
                        let _ = self.parts.ledger.append(vec![record], false);
                    }
                }
                ended = self.tasks.join_next() => if ended.is_none() { break },
                () = sleep_until(end.into()) => break,
            }
        }
        self.tasks.abort_all();
        while let Ok(note) = notes.try_recv() {
            if let ChatNote::Record(record) = note {
                let _ = self.parts.ledger.append(vec![record], false);
            }
        }
    }
}

/// The text that the session got of a delivery.
fn message_text(kind: &IncomingKind) -> String {
    match kind {
        IncomingKind::Text { text } | IncomingKind::Files { text, .. } => text.trim().to_owned(),
        _ => String::new(),
    }
}

/// The bytes of a delivery that waits.
fn size(incoming: &Incoming) -> usize {
    message_text(&incoming.kind).len() + 512
}

#[expect(clippy::needless_pass_by_value, reason = "used as a function of an error")]
fn disk(error: std::io::Error) -> PlatformError {
    tracing::error!(%error, "the ledger");
    PlatformError::Refused(error.to_string())
}

async fn until(wake: Option<Instant>) {
    match wake {
        Some(wake) => sleep_until(wake.into()).await,
        None => std::future::pending().await,
    }
}
