//! Runs one service: receives, writes down, admits and hands each delivery to its chat; starts chats
//! when they are needed and ends those that rest.

use std::collections::{HashMap, VecDeque};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use futures_util::FutureExt as _;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinSet;
use tokio::time::{sleep_until, timeout};
use tokio_util::task::AbortOnDropHandle;

use super::chat::{self, ChatDelivery, ChatNote, ChatParts, SessionRequest};
use super::conversation::{BegunMessage, ChatOptions, ChatRecovery, Speaker};
use super::files::ReceivedFiles;
use super::ledger::{LedgerRecord, PendingDelivery};
use super::pieces::Pieces;
use super::platform::{
    Batch, ChatAddress, ChatId, DeliveryId, Incoming, IncomingKind, NewMessage, Outgoing,
    PlatformError, PostContent,
};
use super::question::ButtonData;
pub use super::receive::ServiceHealth;
use super::receive::{StoredBatch, connect, receive};
pub use super::service::{
    Admit, ConversationSettings, ServiceAdmission, ServiceBounds, ServiceCommands, ServiceParts,
};
use super::setup_report::SetupReport;
use super::shown_menu;
use super::wait::until;
use avocet_core::i18n::{Lang, LocalizedText, chat as w};

mod group_move;

struct Service {
    parts: ServiceParts,
    chats: HashMap<ChatAddress, ActiveChat>,
    tasks: JoinSet<()>,
    notes: Sender<ChatNote>,
    menu_changes: Sender<()>,
    connections: Arc<Semaphore>,
    /// Calls that refuse or dismiss, which hold no other up.
    refusals: Arc<Semaphore>,
    openings: Arc<Semaphore>,
    /// What may not be whole yet.
    pieces: Pieces,
    /// Deliveries for chats that have no place yet.
    overflow: VecDeque<ChatDelivery>,
    /// The questions that an admin was shown in private, and where they were asked.
    referred: HashMap<String, ChatAddress>,
    /// The groups that have another place now.
    moved: HashMap<ChatId, ChatId>,
    /// The number of chats so far, for the names of their folders.
    started: usize,
    /// How often a delivery was handed over again after its chat had ended.
    again: HashMap<DeliveryId, u32>,
    /// Why nothing more can be written down.
    disk_error: Option<PlatformError>,
}

struct ActiveChat {
    deliveries: Sender<ChatDelivery>,
    /// Deliveries that it was given.
    handed: u64,
    /// Since when nothing has happened there.
    quiet_since: Option<Instant>,
    /// It ends; a delivery for it waits for that.
    is_ending: bool,
}

impl ActiveChat {
    fn new(deliveries: Sender<ChatDelivery>) -> ActiveChat {
        ActiveChat { deliveries, handed: 0, quiet_since: None, is_ending: false }
    }
}

/// Deliveries that wait for one chat's task; its own queue has a limit of its own.
const CAPACITY: usize = 64;

/// Chats that may end over one delivery; after them it waits for the next start of the program.
const MAX_AGAIN: u32 = 3;

/// Refusals and dismissals at once: those who send more of what is refused get no word for it.
const REFUSALS: usize = 4;

/// Conversations that are opened at the same time, each in a thread: later ones find what the first
/// ones read.
const OPENINGS: usize = 32;

/// How long chats may take to end.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(4);

/// Runs until the program leaves or the service does not accept the token.
///
/// # Errors
/// [`PlatformError::Unauthorized`], or what the disk refused.
pub async fn run(parts: ServiceParts) -> Result<(), PlatformError> {
    let report = connect(&*parts.platform, &parts.health, &parts.leaving).await?;
    let Some(SetupReport { bot, texts, .. }) = report else { return Ok(()) };
    parts.health.send_modify(|health| health.connect(bot, texts));
    let (menu_changes, changed) = channel(1);
    let menu = shown_menu::keep(Arc::clone(&parts.platform), parts.menu.clone(), changed);
    let _menu = AbortOnDropHandle::new(tokio::spawn(menu));
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
        menu_changes,
        connections,
        refusals: Arc::new(Semaphore::new(REFUSALS)),
        openings: Arc::new(Semaphore::new(OPENINGS)),
        pieces: Pieces::default(),
        overflow: VecDeque::new(),
        referred: HashMap::new(),
        moved: HashMap::new(),
        started: 0,
        again: HashMap::new(),
        disk_error: None,
    };
    service.replay().await?;
    let ended = service.serve(&mut batches, &mut note_receiver).await;
    drop(batches);
    service.shut_down(&mut note_receiver).await;
    let received = timeout(Duration::from_secs(1), receiver).await;
    match (ended, received) {
        (Ok(()), Ok(Ok(result))) => result,
        (ended, _) => ended,
    }
}

impl Service {
    async fn serve(
        &mut self,
        batches: &mut Receiver<StoredBatch>,
        notes: &mut Receiver<ChatNote>,
    ) -> Result<(), PlatformError> {
        let leaving = self.parts.leaving.clone();
        loop {
            if let Some(error) = self.disk_error.take() {
                return Err(error);
            }
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
                            self.route_whole(incoming).await?;
                        }
                    }
                    None => return Ok(()),
                },
                () = until(self.pieces.due()) => {
                    for whole in self.pieces.take_due(Instant::now()) {
                        self.route(whole).await;
                    }
                }
                () = until(rest) => self.end_resting(),
            }
        }
    }

    /// Writes down what is new, and the position after it, before anything is done about it.
    fn store(&mut self, batch: Batch) -> Result<Vec<Incoming>, PlatformError> {
        let ledger = &mut self.parts.ledger;
        let mut new_incomings: Vec<Incoming> = Vec::new();
        for mut incoming in batch.messages {
            self.parts.settings.assign(&mut incoming);
            let repeated = new_incomings.iter().any(|known| known.id == incoming.id);
            if !repeated && !ledger.state.is_known(&incoming.id) {
                new_incomings.push(incoming);
            }
        }
        let mut records: Vec<_> = new_incomings
            .iter()
            .map(|incoming| LedgerRecord::Received { incoming: Box::new(incoming.clone()) })
            .collect();
        let moved = batch.cursor.filter(|cursor| ledger.state.cursor.as_ref() != Some(cursor));
        records.extend(moved.map(|cursor| LedgerRecord::Cursor { cursor }));
        if !records.is_empty() {
            ledger.append(records, true).map_err(disk)?;
        }
        Ok(new_incomings)
    }

    /// What was not done when the program ended. A turn that had begun is for its chat to complete.
    async fn replay(&mut self) -> Result<(), PlatformError> {
        let pending: Vec<PendingDelivery> = self.parts.ledger.state.pending().cloned().collect();
        let chats = self.parts.ledger.state.chats.iter();
        let asked = chats.filter(|(_, chat)| chat.question.is_some());
        let asked: Vec<_> = asked.map(|(at, _)| (at.clone(), None)).collect();
        let begun = pending.iter().filter(|one| one.begun.is_some()).map(|one| &one.incoming);
        let begun = begun.map(|one| (one.at.clone(), self.parts.settings.lang_of(&one.sender)));
        for (at, lang) in begun.collect::<Vec<_>>().into_iter().chain(asked) {
            if !self.chats.contains_key(&at) {
                self.start(at, lang);
            }
        }
        for delivery in pending.into_iter().filter(|one| one.begun.is_none()) {
            self.route_whole(delivery.incoming).await?;
        }
        Ok(())
    }

    /// Admits what is whole with this delivery.
    async fn route_whole(&mut self, incoming: Incoming) -> Result<(), PlatformError> {
        let limits = self.parts.platform.limits();
        let whole = self.pieces.add(incoming, &limits, Instant::now());
        if !whole.records.is_empty() {
            self.parts.ledger.append(whole.records, true).map_err(disk)?;
        }
        for message in whole.messages {
            self.route(message).await;
        }
        Ok(())
    }

    /// Admits a delivery, and hands it to its chat.
    async fn route(&mut self, mut incoming: Incoming) {
        if let IncomingKind::Moved { old_id } = &incoming.kind {
            self.move_group(old_id, &incoming);
            return self.done(&incoming);
        }
        self.readdress(&mut incoming.at);
        if incoming.sender.is_bot {
            return self.done(&incoming);
        }
        match (self.parts.admit)(&incoming) {
            ServiceAdmission::Overheard { is_admin } if self.is_follow_up(&incoming) => {
                self.admit(incoming, is_admin);
            }
            ServiceAdmission::Admit { is_admin } => self.admit(incoming, is_admin),
            // An answer to a question needs no mention of the bot.
            ServiceAdmission::Overheard { is_admin } if self.may_answer(&incoming) => {
                let speaker = Speaker::of(&incoming, is_admin);
                self.hand_over(ChatDelivery { incoming, speaker, is_overheard: true });
            }
            ServiceAdmission::Overheard { .. } | ServiceAdmission::Silent => {
                tracing::debug!(user = ?incoming.sender.id.0, "a message was not for the bot");
                self.done(&incoming);
                self.dismiss(incoming);
            }
            ServiceAdmission::Refuse(why) => {
                self.done(&incoming);
                self.answer(incoming, &why);
            }
        }
    }

    fn admit(&mut self, mut incoming: Incoming, is_admin: bool) {
        self.parts.platform.admitted(&incoming);
        if incoming.kind == IncomingKind::Edited {
            self.done(&incoming);
            return self.answer(incoming, &w::EDITED.into());
        }
        let speaker = Speaker::of(&incoming, is_admin);
        if let IncomingKind::Button { data, .. } = &incoming.kind
            && let Some(at) = ButtonData::parse(data).and_then(|data| self.referred.get(data.nonce))
        {
            incoming.at.clone_from(at);
            self.readdress(&mut incoming.at);
        }
        self.hand_over(ChatDelivery { incoming, speaker, is_overheard: false });
    }

    /// In a thread of its own, the bot is meant without a mention. In a topic of Telegram all
    /// members of its group talk.
    fn is_follow_up(&self, incoming: &Incoming) -> bool {
        let is_thread = incoming.at.thread.is_some();
        is_thread
            && self.parts.platform.limits().customs.has_own_threads
            && (self.chats.contains_key(&incoming.at)
                || self.parts.ledger.state.chats.contains_key(&incoming.at))
    }

    /// Whether a message may be the answer to the open question of its chat.
    fn may_answer(&self, incoming: &Incoming) -> bool {
        let known = self.parts.ledger.state.chats.get(&incoming.at);
        let is_asked = known.is_some_and(|chat| chat.question.is_some());
        // A question that was shown a moment ago is not written down yet.
        let running = self.chats.get(&incoming.at);
        let is_at_work = running.is_some_and(|chat| chat.quiet_since.is_none() && !chat.is_ending);
        matches!(incoming.kind, IncomingKind::Text { .. }) && (is_asked || is_at_work)
    }

    /// One sentence for a sender who has no conversation.
    fn answer(&mut self, incoming: Incoming, why: &LocalizedText) {
        let Ok(permit) = Arc::clone(&self.refusals).try_acquire_owned() else { return };
        let (platform, text) = (Arc::clone(&self.parts.platform), why.text(self.parts.lang));
        let Incoming { id, at, kind, .. } = incoming;
        let press = match kind {
            IncomingKind::Button { press, .. } => Some(press),
            _ => None,
        };
        self.tasks.spawn(async move {
            let _permit = permit;
            let _ = match press {
                Some(press) => platform.acknowledge(&press, Some(&text)).await,
                None => {
                    let new = NewMessage::answering(Some(&id));
                    platform
                        .send(&at, PostContent::Text(&Outgoing::plain(text)), &new)
                        .await
                        .map(drop)
                }
            };
        });
    }

    /// Only a command or a press can wait to be answered.
    fn dismiss(&mut self, incoming: Incoming) {
        let press = match incoming.kind {
            IncomingKind::Command { .. } => None,
            IncomingKind::Button { press, .. } => Some(press),
            _ => return,
        };
        let Ok(permit) = Arc::clone(&self.refusals).try_acquire_owned() else { return };
        let platform = Arc::clone(&self.parts.platform);
        self.tasks.spawn(async move {
            let _permit = permit;
            let _ = match press {
                Some(press) => platform.acknowledge(&press, None).await,
                None => platform.dismiss(&incoming.id).await,
            };
        });
    }

    fn done(&mut self, incoming: &Incoming) {
        self.append(LedgerRecord::Done { delivery: incoming.id.clone() });
    }

    fn append(&mut self, record: LedgerRecord) {
        if let Err(error) = self.parts.ledger.append(vec![record], false) {
            self.disk_error = Some(disk(error));
        }
    }

    fn hand_over(&mut self, delivery: ChatDelivery) {
        let at = delivery.incoming.at.clone();
        let waits = self.overflow.iter().any(|waiting| waiting.incoming.at == at);
        if !waits && !self.chats.contains_key(&at) && self.has_place() {
            let lang = self.parts.settings.lang_of(&delivery.incoming.sender);
            self.start(at.clone(), lang);
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
        let waiting: usize = self.overflow.iter().map(|waiting| waiting.incoming.kind.size()).sum();
        if waiting + delivery.incoming.kind.size() > self.parts.bounds.waiting_bytes {
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

    fn end_chat(&mut self, address: &ChatAddress) {
        if let Some(chat) = self.chats.get_mut(address) {
            chat.is_ending = true;
            // Its task sees that the channel is closed.
            chat.deliveries = channel(1).0;
        }
    }

    /// The messages of this chat whose turns had begun and that are not done, oldest first.
    fn begun_messages(&self, address: &ChatAddress) -> Vec<BegunMessage> {
        let pending = self.parts.ledger.state.pending().filter(|one| one.incoming.at == *address);
        let begun = |delivery: &PendingDelivery| {
            Some(BegunMessage {
                delivery: delivery.incoming.id.clone(),
                turn: delivery.begun.clone()?,
                by: delivery.incoming.sender.id.clone(),
            })
        };
        pending.filter_map(begun).collect()
    }

    fn start(&mut self, address: ChatAddress, lang: Option<Lang>) {
        let known = self.parts.ledger.state.chats.get(&address).cloned().unwrap_or_default();
        let begun = self.begun_messages(&address);
        self.started += 1;
        let files = ReceivedFiles::new(self.parts.files.join(format!("chat-{}", self.started)));
        let (deliveries, receiver) = channel(CAPACITY);
        let parts = ChatParts {
            platform: Arc::clone(&self.parts.platform),
            admin: self.parts.admin.clone(),
            options: ChatOptions {
                address: address.clone(),
                lang: lang.unwrap_or(self.parts.lang),
                limits: self.parts.platform.limits(),
                platform: self.parts.platform.kind(),
                open: self.parts.commands.open.clone(),
                menu_first: self.parts.commands.first.clone(),
                user_commands: self.parts.commands.of_users.clone(),
                most_queued: self.parts.bounds.queued,
                question_time: self.parts.bounds.question_time,
                started: SystemTime::now(),
            },
            open_session: Arc::clone(&self.parts.open_session),
            request: SessionRequest {
                folder: known.folder,
                files: Some(files.folder().to_owned()),
                lang,
                resume: Some(known.session).filter(|session| !session.is_empty()),
            },
            recovery: ChatRecovery { begun, question: known.question, earlier: known.earlier },
            notes: self.notes.clone(),
            menu: self.parts.menu.shown.subscribe(),
            menu_changes: self.menu_changes.clone(),
            connections: Arc::clone(&self.connections),
            openings: Arc::clone(&self.openings),
            files,
            most_file: self.parts.bounds.file_bytes,
        };
        let (notes, ended) = (self.notes.clone(), address.clone());
        self.tasks.spawn(async move {
            let ran = AssertUnwindSafe(chat::run(parts, receiver)).catch_unwind().await;
            if ran.is_err() {
                // The next message starts it again.
                tracing::error!("a chat ended by a fault of the program");
                let _ = notes.send(ChatNote::Ended(ended)).await;
            }
        });
        self.chats.insert(address, ActiveChat::new(deliveries));
        self.count();
    }

    fn count(&self) {
        let chats = self.chats.len();
        self.parts.health.send_modify(|health| health.chats = chats);
    }

    async fn take_notes(&mut self, notes: Vec<ChatNote>) -> Result<(), PlatformError> {
        let mut records = Vec::new();
        let (mut moved, mut ended) = (Vec::new(), Vec::new());
        for note in notes {
            match note {
                ChatNote::Record(mut record) => {
                    record.address_mut().into_iter().for_each(|at| self.readdress(at));
                    records.push(record);
                }
                ChatNote::Quiet(at, taken) => {
                    // It may have got another one since it reported that.
                    let chat = self.chats.get_mut(&at).filter(|chat| chat.handed == taken);
                    chat.into_iter().for_each(|chat| chat.quiet_since = Some(Instant::now()));
                }
                ChatNote::Referred(nonce, at) => {
                    self.referred.retain(|_, asked| *asked != at);
                    self.referred.insert(nonce, at);
                }
                ChatNote::Moved(at, folder) => moved.push((at, folder)),
                ChatNote::Ended(mut at) => {
                    self.readdress(&mut at);
                    self.chats.remove(&at);
                    self.count();
                    ended.push(at);
                }
            }
        }
        for (at, folder) in moved {
            self.end_chat(&at);
            let (session, folder) = (String::new(), Some(folder));
            records.push(LedgerRecord::Chat { at, session, folder, earlier: Vec::new() });
        }
        if !records.is_empty() {
            self.parts.ledger.append(records, false).map_err(disk)?;
        }
        while self.tasks.try_join_next().is_some() {}
        for at in ended {
            self.hand_over_again(&at).await;
        }
        self.hand_over_waiting();
        Ok(())
    }

    /// A chat has ended: the next one gets what the first did not begin, in its order.
    async fn hand_over_again(&mut self, address: &ChatAddress) {
        let waiting = std::mem::take(&mut self.overflow);
        self.overflow = waiting.into_iter().filter(|one| one.incoming.at != *address).collect();
        let pending = self.parts.ledger.state.pending();
        let left_incomings: Vec<Incoming> = pending
            .filter(|one| one.begun.is_none() && one.incoming.at == *address)
            .filter(|one| !self.pieces.holds(&one.incoming.id))
            .map(|one| one.incoming.clone())
            .collect();
        let ledger = &self.parts.ledger;
        self.again.retain(|delivery, _| ledger.state.is_pending(delivery));
        for incoming in left_incomings {
            let times = self.again.entry(incoming.id.clone()).or_default();
            *times += 1;
            if *times <= MAX_AGAIN {
                self.route(incoming).await;
            }
        }
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
        let end = Instant::now() + CLOSE_TIMEOUT;
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

#[expect(clippy::needless_pass_by_value, reason = "used as a function of an error")]
fn disk(error: std::io::Error) -> PlatformError {
    tracing::error!(%error, "the ledger");
    PlatformError::Disk(error.to_string())
}
