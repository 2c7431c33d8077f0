//! Saved sessions: resumes, forks, renames and rewinds them, and reports the state of the disk.
//! `store` writes them; every event reaches it through the outbox before it is shown.

use std::path::Path;
use std::sync::Arc;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinHandle;

use super::listing::{hits_page, list_page};
use super::run::Session;
use super::turns::UserInput;
use super::{export, mend};
use crate::context::history::{History, TurnPosition};
use crate::protocol::{
    Event, Notice, Op, Rewind, SessionInfo, SessionRow, Topic, TurnOrigin, UnsavedWork,
};
use crate::safety::redact::{Redactor, is_masked};
use crate::store::{
    EventPage, Listed, Recorder, Resumed, SavingError, SessionHeader, Store, StoreError,
    StoreWriter, title_of,
};
use crate::words::{Localize, LocalizedText, plural, session as words};

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
    pub fn nothing() -> Persistence {
        Persistence { store: Store::in_memory(), resume: None, replay: Replay::Nothing }
    }
}

type Earlier = JoinHandle<Option<Result<EventPage, StoreError>>>;

/// The session's side of its store.
pub(super) struct Saved {
    recorder: Recorder,
    faults: UnboundedReceiver<SavingError>,
    resume: Option<ResumeTarget>,
    replay: Replay,
    earlier: Option<Earlier>,
    /// The size of the events read back, in bytes.
    read_back: usize,
    is_kept: bool,
}

/// A message from the store.
pub(super) enum StoreEvent {
    Fault(SavingError),
    Earlier(Option<Result<EventPage, StoreError>>),
}

impl Saved {
    /// Starts the thread that writes; nothing is opened yet.
    pub fn start(keeping: Persistence, facts: &mut SessionInfo, redactor: Arc<Redactor>) -> Saved {
        let head = SessionHeader::new(&facts.cwd, facts.bot.as_deref());
        let is_kept = keeping.store.is_persistent();
        facts.session = if is_kept { head.id.clone() } else { String::new() };
        let (told, faults) = unbounded_channel();
        let recorder = Recorder::start(keeping.store, head, redactor, told);
        let Persistence { resume, replay, .. } = keeping;
        Saved { recorder, faults, resume, replay, earlier: None, read_back: 0, is_kept }
    }

    pub fn recorder(&self) -> Recorder {
        self.recorder.clone()
    }

    /// The next message from the store.
    pub async fn next(&mut self) -> StoreEvent {
        let Saved { faults, earlier, .. } = self;
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
                StoreEvent::Earlier(piece)
            }
            else => std::future::pending().await,
        }
    }

    /// A turn is about to begin, with this event if it is known: it is written meanwhile.
    pub fn prepare(&self, start: Option<Event>) {
        self.recorder.prepare(start);
    }

    /// Saves the history entries of a turn.
    pub async fn remember(&self, turn: u64, history: &History) {
        let Ok(json) = serde_json::to_string(&history.snapshot(turn)) else { return };
        self.recorder.call(move |desk| desk.save_turn_history(turn, &json)).await;
    }

    /// Saves the history after a turn without its turns: earlier ones were summed up. The remaining
    /// turns are already saved.
    pub async fn remember_whole(&self, turn: u64, history: &History) {
        let Ok(json) = serde_json::to_string(&history.outline()) else { return };
        self.recorder.call(move |desk| desk.save_whole_history(turn, &json)).await;
    }

    /// Saves the whole history after a turn, with all of its turns.
    pub async fn remember_all(&self, turn: u64, history: &History) {
        let Ok(json) = serde_json::to_string(history) else { return };
        self.recorder.call(move |desk| desk.save_whole_history(turn, &json)).await;
    }

    pub async fn retried(&self, turn: u64) {
        self.recorder.call(move |desk| desk.discard_turn_history(turn)).await;
    }

    /// A new session starts with the next turn.
    pub async fn leave(&mut self, facts: &mut SessionInfo) {
        let head = SessionHeader::new(&facts.cwd, facts.bot.as_deref());
        self.earlier = None;
        (facts.title, facts.read_only) = (String::new(), false);
        facts.unsaved = None;
        if self.is_kept {
            facts.session.clone_from(&head.id);
        }
        self.recorder.call(move |desk| desk.switch_session(head)).await;
    }

    /// Waits until everything is written; returns the error if it could not be.
    pub async fn close(&self) -> Option<LocalizedText> {
        self.recorder.close().await
    }

    /// The events of a part that `/recall` names; empty if there is none.
    pub async fn part(&self, id: &str) -> Vec<Event> {
        let id = id.to_owned();
        let piece = self.recorder.call(move |desk| desk.turn_or_step(&id)).await;
        piece.and_then(Result::ok).map(|piece| mend::events_of(&piece)).unwrap_or_default()
    }

    /// The first and the last saved turn and step.
    pub async fn ends(&self) -> Vec<Event> {
        let piece = self.recorder.call(StoreWriter::first_and_last).await;
        piece.and_then(Result::ok).map(|piece| mend::events_of(&piece)).unwrap_or_default()
    }

    async fn ask<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&mut StoreWriter) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, LocalizedText> {
        let gone = Err(StoreError::NothingThere);
        self.recorder.call(ask).await.unwrap_or(gone).map_err(|error| error.localized())
    }

    fn read_before(&mut self, seq: i64) {
        let recorder = self.recorder.clone();
        let read = async move { recorder.call(move |desk| desk.events_before(seq, PIECE)).await };
        self.earlier = Some(tokio::spawn(read));
    }
}

impl Session {
    /// Resumes the session requested at the start.
    pub(super) async fn resume_first(&mut self) {
        match self.saved.resume.take() {
            None => {}
            Some(ResumeTarget::Last) => self.take_up(None).await,
            Some(ResumeTarget::Id(id)) => self.take_up(Some(id)).await,
        }
    }

    pub(super) async fn saved_came(&mut self, came: StoreEvent) {
        match came {
            StoreEvent::Fault(fault) => self.fault_came(fault).await,
            StoreEvent::Earlier(Some(Ok(piece))) => self.earlier(piece).await,
            StoreEvent::Earlier(Some(Err(error))) => {
                let notice = words::EARLIER_LOST.with("why", error.localized());
                self.say(Notice::warning(notice)).await;
            }
            StoreEvent::Earlier(None) => {}
        }
    }

    /// Shows unsaved data until it is saved, and reports each problem once.
    async fn fault_came(&mut self, fault: SavingError) {
        let notice = match &fault {
            SavingError::NotSaved(why) => {
                let places = self.other_places();
                let unsaved = UnsavedWork { why: why.clone(), places, elsewhere: false };
                self.facts.unsaved = Some(unsaved);
                self.tell_facts().await;
                Notice::warning(fault.localized())
            }
            SavingError::SavedAgain => {
                self.facts.unsaved = None;
                self.tell_facts().await;
                Notice::info(fault.localized())
            }
            SavingError::Recovered { .. }
            | SavingError::PutBack { .. }
            | SavingError::Replaced { .. } => Notice::warning(fault.localized()),
        };
        self.say(notice).await;
    }

    /// Another place to write the conversation.
    fn other_places(&self) -> Vec<String> {
        let name = format!("avocet-{}.md", self.facts.session);
        let folders = [self.guard.place.home.clone(), std::env::temp_dir()];
        let files = folders.into_iter().map(|folder| folder.join(&name));
        let free = files.filter(|file| !file.exists() && file.parent().is_some_and(Path::is_dir));
        free.map(|file| file.display().to_string()).collect()
    }

    /// True, with a message, if moving to another session would lose unsaved data.
    pub(super) async fn would_lose(&mut self) -> bool {
        let Some(unsaved) = self.facts.unsaved.as_ref().filter(|unsaved| !unsaved.elsewhere) else {
            return false;
        };
        let notice = Notice::warning(words::WOULD_LOSE.with("why", unsaved.why.clone()));
        self.say(notice.with_hint(words::WOULD_LOSE_HINT)).await;
        true
    }

    /// An event for exports; a plan also for the next request.
    pub(super) fn recorded(&mut self, event: Event) {
        if let (Event::Plan { items }, Some(turn)) = (&event, self.running_turn()) {
            let redactor = Arc::clone(&self.guard.redactor);
            Arc::make_mut(&mut self.past.history)
                .replace_plan(turn, items, |text| *text = redactor.mask(text).into_owned());
        }
        self.past.note(event);
    }

    /// Names an unnamed session after its first message.
    pub(super) fn entitle(&mut self, text: &str, origin: TurnOrigin) {
        if self.facts.title.is_empty() {
            self.facts.title = self.guard.redactor.mask(&title_of(text, origin)).into_owned();
        }
    }

    /// True for an op that a read-only window cannot do.
    pub(super) fn refuses(&self, op: &Op) -> bool {
        self.facts.read_only
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

    pub(super) async fn say_read_only(&mut self) {
        let notice = Notice::warning(words::READ_ONLY).with_hint(words::READ_ONLY_HINT);
        self.say(notice).await;
    }

    /// The ops about saved sessions.
    pub(super) async fn saved_op(&mut self, op: Op) {
        let must_wait = matches!(op, Op::Resume { .. } | Op::Fork { .. } | Op::Rewind { .. });
        if must_wait && !self.is_idle() {
            return self.say(Notice::warning(words::SAVED_BUSY)).await;
        }
        if matches!(op, Op::Resume { .. }) && self.would_lose().await {
            return;
        }
        let done = match op {
            Op::Resume { session } => {
                self.take_up(Some(session)).await;
                Ok(())
            }
            Op::ListSessions => self.list().await,
            Op::SearchSessions { words } => self.find(words).await,
            Op::Fork { name } => self.fork(name).await,
            Op::Rename { name } => self.rename(name).await,
            Op::Rewind { turn, what } => self.rewind(turn, what).await,
            _ => Ok(()),
        };
        if let Err(why) = done {
            self.say(Notice::error(why)).await;
        }
    }

    async fn take_up(&mut self, id: Option<String>) {
        let last = id.is_none();
        let asked = self.saved.recorder.call(move |desk| desk.resume(id.as_deref(), TAIL)).await;
        match asked.unwrap_or(Err(StoreError::NothingThere)) {
            Ok(resumed) => self.resumed(resumed).await,
            Err(StoreError::NoSession { .. }) if last => {
                self.say(Notice::info(words::NONE_HERE).with_hint(words::NONE_HERE_HINT)).await;
            }
            Err(error) => self.say(Notice::error(error.localized())).await,
        }
    }

    async fn resumed(&mut self, resumed: Resumed) {
        let Resumed { known, tail, history, folders, broken, read_only } = resumed;
        if !self.past.is_empty() {
            self.outbox.send(Event::Cleared).await;
        }
        let elsewhere = (known.folder != self.facts.cwd).then(|| known.folder.clone());
        self.past.clear();
        self.past.history = Arc::new(mend::history(&history, &broken, &known.folder));
        self.past.next_step = self.past.next_step.max(known.next_step);
        self.past.next_ask = self.past.next_ask.max(known.next_ask);
        let mut events = mend::events_of(&tail);
        self.past.asked = last_asked(&events, &self.past.history, known.turn);
        let closing = mend::closing(&events, &known.folder);
        if !read_only {
            for event in &closing {
                self.saved.recorder.append(event).await;
            }
            self.mend_history(known.turn, &closing).await;
        }
        let interrupted = !closing.is_empty();
        events.extend(closing);
        let told = events.iter().filter(|event| export::is_told(event));
        told.for_each(|event| self.past.note(event.clone()));
        if self.saved.is_kept {
            self.facts.session.clone_from(&known.id);
        }
        (self.facts.title, self.facts.read_only) = (known.title.clone(), read_only);
        (self.facts.turns, self.facts.steps) = (known.turn, known.steps);
        self.facts.usage = known.usage;
        let before = tail.events.first().filter(|_| tail.more).map(|first| first.seq);
        self.saved.read_back = tail.bytes;
        if self.saved.replay != Replay::Nothing {
            // The events that close an interrupted turn get the time of its last event.
            let at = times_of(&tail);
            self.outbox.send(Event::HistoryChunk { events, at, more: before.is_some() }).await;
        }
        self.tell_facts().await;
        self.tell_resumed(&known.title, interrupted, tail.unreadable, elsewhere).await;
        self.folders_again(&folders).await;
        if let Some(seq) = before {
            self.saved.read_before(seq);
        }
    }

    /// From now on, the entries of an interrupted turn are saved like those of any other.
    async fn mend_history(&mut self, turn: u64, closing: &[Event]) {
        if closing.is_empty() {
            return;
        }
        self.saved.remember(turn, &self.past.history).await;
    }

    async fn tell_resumed(
        &mut self,
        title: &str,
        interrupted: bool,
        unreadable: usize,
        elsewhere: Option<String>,
    ) {
        if self.facts.read_only {
            self.say_read_only().await;
        } else if self.saved.replay != Replay::Nothing {
            self.say(Notice::info(words::RESUMED.with("title", title)).with_topic(Topic::Resumed))
                .await;
        }
        if interrupted && self.saved.replay == Replay::Nothing {
            self.say(Notice::info(words::INTERRUPTED)).await;
        }
        if unreadable > 0 {
            let say = plural(unreadable, words::UNREADABLE_ONE, words::UNREADABLE);
            self.say(Notice::warning(say)).await;
        }
        if let Some(folder) = elsewhere {
            let say = words::ELSEWHERE.with("folder", folder).with("here", self.facts.cwd.as_str());
            self.say(Notice::warning(say)).await;
        }
    }

    async fn earlier(&mut self, piece: EventPage) {
        let events = mend::events_of(&piece);
        let told: Vec<Event> =
            events.iter().filter(|event| export::is_told(event)).cloned().collect();
        self.past.note_before(&told);
        self.saved.read_back += piece.bytes;
        let full = self.saved.read_back > READ_BACK;
        let more = piece.events.first().filter(|_| piece.more).map(|first| first.seq);
        let before = more.filter(|_| !full);
        if self.saved.replay == Replay::All {
            let at = times_of(&piece);
            self.outbox.send(Event::HistoryChunk { events, at, more: before.is_some() }).await;
        }
        match before {
            Some(seq) => self.saved.read_before(seq),
            None if more.is_some() && self.saved.replay == Replay::All => {
                let say = words::EARLIER_CUT.with("id", self.facts.session.as_str());
                self.say(Notice::info(say)).await;
            }
            None => {}
        }
    }

    async fn list(&mut self) -> Result<(), LocalizedText> {
        let (listed, all) = self.saved.ask(|desk| desk.list_with_count(LISTED)).await?;
        let more = all.saturating_sub(listed.len());
        let here = self.facts.cwd.clone();
        // Sessions of this folder come first, each group by its last use.
        let (near, far): (Vec<Listed>, Vec<Listed>) =
            listed.into_iter().partition(|one| one.folder == here);
        let rows = near.into_iter().chain(far).map(row).collect();
        self.outbox.send(Event::Sessions { rows, more }).await;
        Ok(())
    }

    async fn find(&mut self, asked: String) -> Result<(), LocalizedText> {
        let page = match asked.trim() {
            "" => {
                let (listed, all) = self.saved.ask(|desk| desk.list_with_count(LISTED)).await?;
                let more = all.saturating_sub(listed.len());
                list_page(listed, more)
            }
            _ => {
                let looked_for = asked.clone();
                let hits = self.saved.ask(move |desk| desk.search(&looked_for, HITS + 1)).await?;
                hits_page(&asked, hits, HITS)
            }
        };
        self.outbox.send(Event::Page(Box::new(page))).await;
        Ok(())
    }

    async fn fork(&mut self, name: Option<String>) -> Result<(), LocalizedText> {
        let mut head = SessionHeader::new(&self.facts.cwd, self.facts.bot.as_deref());
        head.title = name.map(|name| title_of(&name, TurnOrigin::Typed));
        if self.facts.turns == 0 {
            return Err(words::NOTHING_TO_FORK.into());
        }
        let known = self.saved.ask(move |desk| desk.fork(head)).await?;
        if self.saved.is_kept {
            self.facts.session.clone_from(&known.id);
        }
        (self.facts.title, self.facts.read_only) = (known.title.clone(), false);
        self.tell_facts().await;
        self.say(Notice::info(words::FORKED.with("title", known.title).with("id", known.id))).await;
        Ok(())
    }

    async fn rename(&mut self, name: String) -> Result<(), LocalizedText> {
        let title = self.saved.ask(move |desk| desk.rename(&name)).await?;
        self.facts.title.clone_from(&title);
        self.tell_facts().await;
        self.say(Notice::info(words::RENAMED.with("title", title))).await;
        Ok(())
    }

    /// Rewinds the chat; `rewind` handles files. `behind` is the record that follows it.
    pub(super) async fn forget_from(
        &mut self,
        turn: u64,
        what: Rewind,
        behind: Vec<Event>,
    ) -> Result<(), LocalizedText> {
        let event = Event::Rewound { turn, text: String::new(), what };
        let kept = behind.clone();
        let (text, history) = self.saved.ask(move |desk| desk.rewind(turn, &event, &kept)).await?;
        // The message as typed, if it is still known.
        let typed = self.past.words_of(turn);
        self.past.history = Arc::new(mend::history(&history, &[], &self.facts.cwd));
        self.past.take_back(turn);
        behind.into_iter().for_each(|event| self.past.note(event));
        self.facts.turns = turn.saturating_sub(1);
        let text = typed.unwrap_or(text);
        // Secrets are not saved: a message typed before this program started has lost them.
        let masked = is_masked(&text);
        self.outbox.send(Event::Rewound { turn, text, what }).await;
        self.tell_facts().await;
        if masked {
            self.say(Notice::warning(words::REWIND_MASKED)).await;
        }
        Ok(())
    }
}

/// The last message, to ask it again.
fn last_asked(events: &[Event], history: &History, turn: u64) -> Option<(UserInput, TurnPosition)> {
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
pub fn on_the_wall(milliseconds: i64, zone: &jiff::tz::TimeZone) -> i64 {
    let Ok(at) = jiff::Timestamp::from_millisecond(milliseconds) else { return milliseconds };
    milliseconds + i64::from(zone.to_offset(at).seconds()) * 1_000
}

fn times_of(piece: &EventPage) -> Vec<i64> {
    let zone = jiff::tz::TimeZone::system();
    piece.events.iter().map(|kept| on_the_wall(kept.at, &zone)).collect()
}

/// A time as the user reads it, in the time zone of this machine.
pub fn when(milliseconds: i64) -> String {
    let Ok(at) = jiff::Timestamp::from_millisecond(milliseconds) else { return String::new() };
    at.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
}

fn row(listed: Listed) -> SessionRow {
    let Listed { id, folder, title, updated, turns, preview, .. } = listed;
    SessionRow { id, title, folder, when: when(updated), preview, turns }
}
