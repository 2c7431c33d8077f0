//! Saved sessions: resumes, forks, renames and rewinds them, and reports the state of the disk.
//! `store` writes them; every event reaches it through the outbox before it is shown.

use std::path::Path;
use std::sync::Arc;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinHandle;

use super::listing::{hits_page, list_page};
use super::queue::UserInput;
use super::state::Session;
use super::{export, recovery};
use crate::context::history::{History, TurnPosition};
use crate::i18n::{Localize, LocalizedText, plural, session as words};
use crate::protocol::{
    Event, Notice, Op, Rewind, SessionInfo, SessionRow, Topic, TurnOrigin, UnsavedWork,
};
use crate::safety::redact::{Redactor, is_masked};
use crate::store::{
    EventPage, Listed, Recorder, Resumed, SavingError, SessionHeader, Store, StoreError,
    StoreWriter, title_of,
};

/// The number of events shown at once when a session is resumed.
const TAIL: usize = 200;
/// The number of events in each later part.
const PIECE: usize = 1_000;
/// The maximum size of events read back from one session, in bytes; older ones stay in its file.
const READ_BACK: usize = 48 << 20;
/// The maximum number of listed sessions, and of hits.
const LISTED: usize = 300;
const HITS: usize = 50;

/// Where a session is saved, and which one to resume.
#[derive(Clone, Debug)]
pub struct Persistence {
    pub store: Store,
    pub resume: Option<ResumeTarget>,
    pub replay: Replay,
}

/// How many of the earlier events are shown again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replay {
    All,
    /// The last ones.
    End,
    Nothing,
}

/// A saved session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResumeTarget {
    /// The last one of this folder.
    Last,
    /// By its id, or the beginning of one.
    Id(String),
}

impl Persistence {
    /// A new session that ends with the program.
    pub fn in_memory() -> Persistence {
        Persistence { store: Store::in_memory(), resume: None, replay: Replay::Nothing }
    }
}

type PendingPage = JoinHandle<Option<Result<EventPage, StoreError>>>;

/// The session's side of its store.
pub(super) struct SessionStore {
    recorder: Recorder,
    faults: UnboundedReceiver<SavingError>,
    resume: Option<ResumeTarget>,
    replay: Replay,
    pending_page: Option<PendingPage>,
    /// The size of the events read back, in bytes.
    bytes_read: usize,
    is_persistent: bool,
}

/// A message from the store.
pub(super) enum StoreEvent {
    Fault(SavingError),
    Page(Option<Result<EventPage, StoreError>>),
}

impl SessionStore {
    /// Starts the thread that writes; nothing is opened yet.
    pub fn start(
        keeping: Persistence,
        facts: &mut SessionInfo,
        redactor: Arc<Redactor>,
    ) -> SessionStore {
        let head = SessionHeader::new(&facts.cwd, facts.bot.as_deref());
        let is_kept = keeping.store.is_persistent();
        facts.session = if is_kept { head.id.clone() } else { String::new() };
        let (told, faults) = unbounded_channel();
        let recorder = Recorder::start(keeping.store, head, redactor, told);
        let Persistence { resume, replay, .. } = keeping;
        SessionStore {
            recorder,
            faults,
            resume,
            replay,
            pending_page: None,
            bytes_read: 0,
            is_persistent: is_kept,
        }
    }

    pub fn recorder(&self) -> Recorder {
        self.recorder.clone()
    }

    /// The next message from the store.
    pub async fn next(&mut self) -> StoreEvent {
        let SessionStore { faults, pending_page: earlier, .. } = self;
        let piece = async {
            match earlier {
                Some(piece) => piece.await.unwrap_or(None),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            Some(fault) = faults.recv() => StoreEvent::Fault(fault),
            piece = piece => {
                *earlier = None;
                StoreEvent::Page(piece)
            }
            else => std::future::pending().await,
        }
    }

    /// A turn is about to begin, with this event if it is known: it is written meanwhile.
    pub fn prepare(&self, start: Option<Event>) {
        self.recorder.prepare(start);
    }

    /// Saves the history entries of a turn.
    pub async fn save_turn(&self, turn: u64, history: &History) {
        let Ok(json) = serde_json::to_string(&history.snapshot(turn)) else { return };
        self.recorder.call(move |desk| desk.save_turn_history(turn, &json)).await;
    }

    /// Saves the history after a turn without its turns: earlier ones were summed up. The remaining
    /// turns are already saved.
    pub async fn save_outline(&self, turn: u64, history: &History) {
        let Ok(json) = serde_json::to_string(&history.outline()) else { return };
        self.recorder.call(move |desk| desk.save_whole_history(turn, &json)).await;
    }

    /// Saves the whole history after a turn, with all of its turns.
    pub async fn save_history(&self, turn: u64, history: &History) {
        let Ok(json) = serde_json::to_string(history) else { return };
        self.recorder.call(move |desk| desk.save_whole_history(turn, &json)).await;
    }

    pub async fn record_retry(&self, turn: u64) {
        self.recorder.call(move |desk| desk.discard_turn_history(turn)).await;
    }

    /// A new session starts with the next turn.
    pub async fn start_new(&mut self, facts: &mut SessionInfo) {
        let head = SessionHeader::new(&facts.cwd, facts.bot.as_deref());
        self.pending_page = None;
        (facts.title, facts.read_only) = (String::new(), false);
        facts.unsaved = None;
        if self.is_persistent {
            facts.session.clone_from(&head.id);
        }
        self.recorder.call(move |desk| desk.switch_session(head)).await;
    }

    /// Waits until everything is written; returns the error if it could not be.
    pub async fn close(&self) -> Option<LocalizedText> {
        self.recorder.close().await
    }

    /// The events of a part that `/recall` names; empty if there is none.
    pub async fn part_events(&self, id: &str) -> Vec<Event> {
        let id = id.to_owned();
        let piece = self.recorder.call(move |desk| desk.turn_or_step(&id)).await;
        piece.and_then(Result::ok).map(|piece| recovery::events_of(&piece)).unwrap_or_default()
    }

    /// The first and the last saved turn and step.
    pub async fn first_and_last(&self) -> Vec<Event> {
        let piece = self.recorder.call(StoreWriter::first_and_last).await;
        piece.and_then(Result::ok).map(|piece| recovery::events_of(&piece)).unwrap_or_default()
    }

    async fn query<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&mut StoreWriter) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, LocalizedText> {
        let gone = Err(StoreError::NothingThere);
        self.recorder.call(ask).await.unwrap_or(gone).map_err(|error| error.localized())
    }

    fn read_before(&mut self, seq: i64) {
        let recorder = self.recorder.clone();
        let read = async move { recorder.call(move |desk| desk.events_before(seq, PIECE)).await };
        self.pending_page = Some(tokio::spawn(read));
    }
}

impl Session {
    /// Resumes the session requested at the start.
    pub(super) async fn resume_at_start(&mut self) {
        match self.store.resume.take() {
            None => {}
            Some(ResumeTarget::Last) => self.resume(None).await,
            Some(ResumeTarget::Id(id)) => self.resume(Some(id)).await,
        }
    }

    pub(super) async fn handle_store_event(&mut self, came: StoreEvent) {
        match came {
            StoreEvent::Fault(fault) => self.handle_store_notice(fault).await,
            StoreEvent::Page(Some(Ok(piece))) => self.send_history_chunk(piece).await,
            StoreEvent::Page(Some(Err(error))) => {
                let notice = words::EARLIER_LOST.with("why", error.localized());
                self.notify(Notice::warning(notice)).await;
            }
            StoreEvent::Page(None) => {}
        }
    }

    /// Shows unsaved data until it is saved, and reports each problem once.
    async fn handle_store_notice(&mut self, fault: SavingError) {
        let notice = match &fault {
            SavingError::NotSaved(why) => {
                let places = self.other_places();
                let unsaved = UnsavedWork { why: why.clone(), places, elsewhere: false };
                self.info.unsaved = Some(unsaved);
                self.send_info().await;
                Notice::warning(fault.localized())
            }
            SavingError::SavedAgain => {
                self.info.unsaved = None;
                self.send_info().await;
                Notice::info(fault.localized())
            }
            SavingError::Recovered { .. }
            | SavingError::PutBack { .. }
            | SavingError::Replaced { .. } => Notice::warning(fault.localized()),
        };
        self.notify(notice).await;
    }

    /// Another place to write the conversation.
    fn other_places(&self) -> Vec<String> {
        let name = format!("avocet-{}.md", self.info.session);
        let folders = [self.security.place.home.clone(), std::env::temp_dir()];
        let files = folders.into_iter().map(|folder| folder.join(&name));
        let free = files.filter(|file| !file.exists() && file.parent().is_some_and(Path::is_dir));
        free.map(|file| file.display().to_string()).collect()
    }

    /// True, with a message, if moving to another session would lose unsaved data.
    pub(super) async fn warn_if_unsaved(&mut self) -> bool {
        let Some(unsaved) = self.info.unsaved.as_ref().filter(|unsaved| !unsaved.elsewhere) else {
            return false;
        };
        let notice = Notice::warning(words::WOULD_LOSE.with("why", unsaved.why.clone()));
        self.notify(notice.with_hint(words::WOULD_LOSE_HINT)).await;
        true
    }

    /// An event for exports; a plan also for the next request.
    pub(super) fn record_event(&mut self, event: Event) {
        if let (Event::Plan { items }, Some(turn)) = (&event, self.running_turn()) {
            let redactor = Arc::clone(&self.security.redactor);
            Arc::make_mut(&mut self.conversation.history)
                .replace_plan(turn, items, |text| *text = redactor.mask(text).into_owned());
        }
        self.conversation.push_event(event);
    }

    /// Names an unnamed session after its first message.
    pub(super) fn set_default_title(&mut self, text: &str, origin: TurnOrigin) {
        if self.info.title.is_empty() {
            self.info.title = self.security.redactor.mask(&title_of(text, origin)).into_owned();
        }
    }

    /// True for an op that a read-only window cannot do.
    pub(super) fn is_read_only_for(&self, op: &Op) -> bool {
        self.info.read_only
            && matches!(
                op,
                Op::Submit { .. }
                    | Op::Shell { .. }
                    | Op::RunQueue
                    | Op::RunScript { .. }
                    | Op::SubmitPrompt { .. }
                    | Op::Render { .. }
                    | Op::Compress { .. }
                    | Op::Recall { .. }
                    | Op::Steer { .. }
                    | Op::Retry
                    | Op::Rename { .. }
                    | Op::Rewind { .. }
            )
    }

    pub(super) async fn warn_read_only(&mut self) {
        let notice = Notice::warning(words::READ_ONLY).with_hint(words::READ_ONLY_HINT);
        self.notify(notice).await;
    }

    /// The ops about saved sessions.
    pub(super) async fn handle_session_op(&mut self, op: Op) {
        let must_wait = matches!(op, Op::Resume { .. } | Op::Fork { .. } | Op::Rewind { .. });
        if must_wait && !self.is_idle() {
            return self.notify(Notice::warning(words::SAVED_BUSY)).await;
        }
        if matches!(op, Op::Resume { .. }) && self.warn_if_unsaved().await {
            return;
        }
        let done = match op {
            Op::Resume { session } => {
                self.resume(Some(session)).await;
                Ok(())
            }
            Op::ListSessions => self.list_sessions().await,
            Op::SearchSessions { words } => self.search_sessions(words).await,
            Op::Fork { name } => self.fork(name).await,
            Op::Rename { name } => self.rename(name).await,
            Op::Rewind { turn, what } => self.rewind(turn, what).await,
            _ => Ok(()),
        };
        if let Err(why) = done {
            self.notify(Notice::error(why)).await;
        }
    }

    async fn resume(&mut self, id: Option<String>) {
        let last = id.is_none();
        let asked = self.store.recorder.call(move |desk| desk.resume(id.as_deref(), TAIL)).await;
        match asked.unwrap_or(Err(StoreError::NothingThere)) {
            Ok(resumed) => self.apply_resumed(resumed).await,
            Err(StoreError::NoSession { .. }) if last => {
                self.notify(Notice::info(words::NONE_HERE).with_hint(words::NONE_HERE_HINT)).await;
            }
            Err(error) => self.notify(Notice::error(error.localized())).await,
        }
    }

    async fn apply_resumed(&mut self, resumed: Resumed) {
        let Resumed { known, tail, history, folders, broken, read_only } = resumed;
        if !self.conversation.is_empty() {
            self.outbox.send(Event::Cleared).await;
        }
        let elsewhere = (known.folder != self.info.cwd).then(|| known.folder.clone());
        self.conversation.clear();
        self.conversation.history =
            Arc::new(recovery::rebuild_history(&history, &broken, &known.folder));
        self.conversation.next_step = self.conversation.next_step.max(known.next_step);
        self.conversation.next_ask = self.conversation.next_ask.max(known.next_ask);
        let mut events = recovery::events_of(&tail);
        self.conversation.last_input = last_input(&events, &self.conversation.history, known.turn);
        let closing = recovery::closing_events(&events, &known.folder);
        if !read_only {
            for event in &closing {
                self.store.recorder.append(event).await;
            }
            self.save_recovered_turn(known.turn, &closing).await;
        }
        let interrupted = !closing.is_empty();
        events.extend(closing);
        let told = events.iter().filter(|event| export::is_exported(event));
        told.for_each(|event| self.conversation.push_event(event.clone()));
        if self.store.is_persistent {
            self.info.session.clone_from(&known.id);
        }
        (self.info.title, self.info.read_only) = (known.title.clone(), read_only);
        (self.info.turns, self.info.steps) = (known.turn, known.steps);
        self.info.usage = known.usage;
        let before = tail.events.first().filter(|_| tail.more).map(|first| first.seq);
        self.store.bytes_read = tail.bytes;
        if self.store.replay != Replay::Nothing {
            // The events that close an interrupted turn get the time of its last event.
            let at = times_of(&tail);
            self.outbox.send(Event::HistoryChunk { events, at, more: before.is_some() }).await;
        }
        self.send_info().await;
        self.notify_resumed(&known.title, interrupted, tail.unreadable, elsewhere).await;
        self.restore_folders(&folders).await;
        if let Some(seq) = before {
            self.store.read_before(seq);
        }
    }

    /// From now on, the entries of an interrupted turn are saved like those of any other.
    async fn save_recovered_turn(&mut self, turn: u64, closing: &[Event]) {
        if closing.is_empty() {
            return;
        }
        self.store.save_turn(turn, &self.conversation.history).await;
    }

    async fn notify_resumed(
        &mut self,
        title: &str,
        interrupted: bool,
        unreadable: usize,
        elsewhere: Option<String>,
    ) {
        if self.info.read_only {
            self.warn_read_only().await;
        } else if self.store.replay != Replay::Nothing {
            self.notify(
                Notice::info(words::RESUMED.with("title", title)).with_topic(Topic::Resumed),
            )
            .await;
        }
        if interrupted && self.store.replay == Replay::Nothing {
            self.notify(Notice::info(words::INTERRUPTED)).await;
        }
        if unreadable > 0 {
            let say = plural(unreadable, words::UNREADABLE_ONE, words::UNREADABLE);
            self.notify(Notice::warning(say)).await;
        }
        if let Some(folder) = elsewhere {
            let say = words::ELSEWHERE.with("folder", folder).with("here", self.info.cwd.as_str());
            self.notify(Notice::warning(say)).await;
        }
    }

    async fn send_history_chunk(&mut self, piece: EventPage) {
        let events = recovery::events_of(&piece);
        let told: Vec<Event> =
            events.iter().filter(|event| export::is_exported(event)).cloned().collect();
        self.conversation.prepend_events(&told);
        self.store.bytes_read += piece.bytes;
        let full = self.store.bytes_read > READ_BACK;
        let more = piece.events.first().filter(|_| piece.more).map(|first| first.seq);
        let before = more.filter(|_| !full);
        if self.store.replay == Replay::All {
            let at = times_of(&piece);
            self.outbox.send(Event::HistoryChunk { events, at, more: before.is_some() }).await;
        }
        match before {
            Some(seq) => self.store.read_before(seq),
            None if more.is_some() && self.store.replay == Replay::All => {
                let say = words::EARLIER_CUT.with("id", self.info.session.as_str());
                self.notify(Notice::info(say)).await;
            }
            None => {}
        }
    }

    async fn list_sessions(&mut self) -> Result<(), LocalizedText> {
        let (listed, all) = self.store.query(|desk| desk.list_with_count(LISTED)).await?;
        let more = all.saturating_sub(listed.len());
        let here = self.info.cwd.clone();
        // Sessions of this folder come first, each group by its last use.
        let (near, far): (Vec<Listed>, Vec<Listed>) =
            listed.into_iter().partition(|one| one.folder == here);
        let rows = near.into_iter().chain(far).map(session_row).collect();
        self.outbox.send(Event::Sessions { rows, more }).await;
        Ok(())
    }

    async fn search_sessions(&mut self, asked: String) -> Result<(), LocalizedText> {
        let page = match asked.trim() {
            "" => {
                let (listed, all) = self.store.query(|desk| desk.list_with_count(LISTED)).await?;
                let more = all.saturating_sub(listed.len());
                list_page(listed, more)
            }
            _ => {
                let looked_for = asked.clone();
                let hits = self.store.query(move |desk| desk.search(&looked_for, HITS + 1)).await?;
                hits_page(&asked, hits, HITS)
            }
        };
        self.outbox.send(Event::Page(Box::new(page))).await;
        Ok(())
    }

    async fn fork(&mut self, name: Option<String>) -> Result<(), LocalizedText> {
        let mut head = SessionHeader::new(&self.info.cwd, self.info.bot.as_deref());
        head.title = name.map(|name| title_of(&name, TurnOrigin::Typed));
        if self.info.turns == 0 {
            return Err(words::NOTHING_TO_FORK.into());
        }
        let known = self.store.query(move |desk| desk.fork(head)).await?;
        if self.store.is_persistent {
            self.info.session.clone_from(&known.id);
        }
        (self.info.title, self.info.read_only) = (known.title.clone(), false);
        self.send_info().await;
        self.notify(Notice::info(words::FORKED.with("title", known.title).with("id", known.id)))
            .await;
        Ok(())
    }

    async fn rename(&mut self, name: String) -> Result<(), LocalizedText> {
        let title = self.store.query(move |desk| desk.rename(&name)).await?;
        self.info.title.clone_from(&title);
        self.send_info().await;
        self.notify(Notice::info(words::RENAMED.with("title", title))).await;
        Ok(())
    }

    /// Rewinds the chat; `rewind` handles files. `behind` is the record that follows it.
    pub(super) async fn rewind_conversation(
        &mut self,
        turn: u64,
        what: Rewind,
        behind: Vec<Event>,
    ) -> Result<(), LocalizedText> {
        let event = Event::Rewound { turn, text: String::new(), what };
        let kept = behind.clone();
        let (text, history) =
            self.store.query(move |desk| desk.rewind(turn, &event, &kept)).await?;
        // The message as typed, if it is still known.
        let typed = self.conversation.message_of(turn);
        self.conversation.history =
            Arc::new(recovery::rebuild_history(&history, &[], &self.info.cwd));
        self.conversation.truncate_from(turn);
        behind.into_iter().for_each(|event| self.conversation.push_event(event));
        self.info.turns = turn.saturating_sub(1);
        let text = typed.unwrap_or(text);
        // Secrets are not saved: a message typed before this program started has lost them.
        let masked = is_masked(&text);
        self.outbox.send(Event::Rewound { turn, text, what }).await;
        self.send_info().await;
        if masked {
            self.notify(Notice::warning(words::REWIND_MASKED)).await;
        }
        Ok(())
    }
}

/// The last message, to ask it again.
fn last_input(events: &[Event], history: &History, turn: u64) -> Option<(UserInput, TurnPosition)> {
    let (text, origin) = events.iter().rev().find_map(|event| match event {
        Event::TurnStarted { text, origin, .. } => Some((text.clone(), *origin)),
        _ => None,
    })?;
    // The parts of an expanded prompt are no longer known.
    let plain = origin != TurnOrigin::Shell && !text.starts_with('/');
    plain.then(|| {
        let mut before = history.clone();
        before.rewind(turn);
        (UserInput::Text(text), before.position())
    })
}

/// A time in milliseconds since 1970 as local time in that zone.
pub fn local_millis(milliseconds: i64, zone: &jiff::tz::TimeZone) -> i64 {
    let Ok(at) = jiff::Timestamp::from_millisecond(milliseconds) else { return milliseconds };
    milliseconds + i64::from(zone.to_offset(at).seconds()) * 1_000
}

fn times_of(piece: &EventPage) -> Vec<i64> {
    let zone = jiff::tz::TimeZone::system();
    piece.events.iter().map(|kept| local_millis(kept.at, &zone)).collect()
}

/// A time as the user reads it, in the time zone of this machine.
pub fn format_time(milliseconds: i64) -> String {
    let Ok(at) = jiff::Timestamp::from_millisecond(milliseconds) else { return String::new() };
    at.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
}

fn session_row(listed: Listed) -> SessionRow {
    let Listed { id, folder, title, updated, turns, preview, .. } = listed;
    SessionRow { id, title, folder, when: format_time(updated), preview, turns }
}
