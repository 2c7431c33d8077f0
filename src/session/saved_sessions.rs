//! Saved sessions: resumes, forks, renames, rewinds, lists and searches them, and reports the state
//! of the disk.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::conversation::Conversation;
use super::goal;
use super::listing::{hits_page, list_page};
use super::persistence::{
    Replay, ResumeTarget, SessionStore, StoreEvent, events_of, local_millis, recent_time,
};
use super::recovery;
use super::session_effects::{Effects, SessionEffect};
use super::state::Session;
use super::user_input::UserInput;
use crate::context::history::{History, TurnPosition};
use avocet_core::i18n::{Localize, LocalizedText, plural, session as phrases};
use avocet_core::protocol::{
    Event, Notice, Op, Rewind, SavedOp, SessionInfo, SessionRow, Topic, TurnOp, TurnOrigin,
    UnsavedWork,
};
use avocet_safety::redact::is_masked;
use avocet_store::{
    EventPage, Listed, Resumed, SavingError, SessionHeader, SessionRecord, StoreError, title_of,
};

/// The number of events shown at once when a session is resumed.
const TAIL: usize = 200;
/// The maximum size of events read back from one session, in bytes; older ones stay in its file.
const READ_BACK: usize = 48 << 20;
/// The maximum number of listed sessions, and of hits.
const LISTED: usize = 300;
const HITS: usize = 50;

impl Session {
    pub(super) async fn apply_resumed(&mut self, resumed: Resumed) {
        self.hooks.restart("resume");
        let Resumed { known, tail, history, choices, broken, read_only } = resumed;
        self.jobs.stop_all().await;
        self.security.end_session();
        self.security.publish(&mut self.info);
        if !self.conversation.is_empty() {
            self.outbox.send(Event::Cleared).await;
        }
        let elsewhere = (known.folder != self.info.cwd).then(|| known.folder.clone());
        let history = recovery::rebuild_history(&history, &broken, &known.folder);
        self.conversation.restore(history, &known);
        let mut events = events_of(&tail);
        self.conversation.last_input = last_input(&events, &self.conversation.history, known.turn);
        let notes = &self.instructions.current.notes.text;
        self.resources.measure(&mut self.info, &self.conversation, &self.security, notes);
        let mut closing = recovery::closing_events(&events, &known.folder);
        if read_only {
            // Its turn goes on in the other window.
            closing.clear();
        }
        for event in &closing {
            self.store.recorder().append(event).await;
        }
        let interrupted = !closing.is_empty();
        if interrupted {
            // From now on, its entries are saved like those of any other turn.
            self.store.save_turn(known.turn, &self.conversation.history, None).await;
        }
        events.extend(closing);
        self.conversation.restore_events(&events);
        if self.store.is_persistent {
            self.info.session.clone_from(&known.id);
        }
        self.info.read_only = read_only;
        show_resumed(&known, &events, &mut self.info);
        let before = tail.events.first().filter(|_| tail.more).map(|first| first.seq);
        self.store.bytes_read = tail.bytes;
        if self.store.replay != Replay::Nothing {
            // The events that close an interrupted turn get the time of its last event.
            let at = times_of(&tail);
            self.conversation.restore_images(self.store.replay, &mut events);
            self.outbox.send(Event::HistoryChunk { events, at, more: before.is_some() }).await;
        }
        self.send_info().await;
        let replay = self.store.replay;
        let notices = resumed_notices(&self.info, replay, interrupted, tail.unreadable, elsewhere);
        self.follow(notices).await;
        let effects = self.security.restore_folders(&choices.folders, &mut self.info);
        self.follow(effects).await;
        let effects = self.security.restore_approval_mode(choices.approval, replay, &mut self.info);
        self.follow(effects).await;
        goal::restore(self, choices.goal).await;
        if let Some(seq) = before {
            self.store.read_before(seq);
        }
    }
}

impl Conversation {
    /// Follows what the store says: it could not save, or has read a page of earlier events.
    pub(super) fn handle_store_event(
        &mut self,
        event: StoreEvent,
        store: &mut SessionStore,
        info: &mut SessionInfo,
        home: &Path,
    ) -> Effects {
        match event {
            StoreEvent::Fault(error) => follow_saving_error(&error, home, info),
            StoreEvent::Page(Some(Ok(page))) => self.add_earlier(page, store, info),
            StoreEvent::Page(Some(Err(error))) => {
                let notice = phrases::EARLIER_LOST.with("why", error.localized());
                vec![Notice::warning(notice).into()]
            }
            StoreEvent::Page(None) => Effects::new(),
        }
    }

    /// The page comes before what is shown.
    fn add_earlier(
        &mut self,
        page: EventPage,
        store: &mut SessionStore,
        info: &SessionInfo,
    ) -> Effects {
        let mut events = events_of(&page);
        let told: Vec<Event> =
            events.iter().filter(|event| event.is_transcript()).cloned().collect();
        self.prepend_events(&told);
        store.bytes_read += page.bytes;
        let full = store.bytes_read > READ_BACK;
        let more = page.events.first().filter(|_| page.more).map(|first| first.seq);
        let before = more.filter(|_| !full);
        let mut effects = Effects::new();
        if store.replay.is_whole() {
            let at = times_of(&page);
            self.restore_images(store.replay, &mut events);
            effects.push(Event::HistoryChunk { events, at, more: before.is_some() }.into());
        }
        match before {
            Some(seq) => store.read_before(seq),
            None if more.is_some() && store.replay.is_whole() => {
                let say = phrases::EARLIER_CUT.with("id", info.session.as_str());
                effects.push(Notice::info(say).into());
            }
            None => {}
        }
        effects
    }

    /// Rewinds the chat. `events`: the record that follows it.
    pub(super) async fn rewind(
        &mut self,
        turn: u64,
        rewind: Rewind,
        events: Vec<Event>,
        store: &SessionStore,
        info: &mut SessionInfo,
    ) -> Result<Effects, LocalizedText> {
        let event = Event::Rewound { turn, text: String::new(), what: rewind };
        let kept = events.clone();
        let (text, history) = store.query(move |writer| writer.rewind(turn, &event, &kept)).await?;
        // The message as typed, if it is still known.
        let typed = self.message_of(turn);
        self.history = Arc::new(recovery::rebuild_history(&history, &[], &info.cwd));
        self.truncate_from(turn);
        events.into_iter().for_each(|event| self.push_event(event));
        info.turns = turn.saturating_sub(1);
        info.restoring_turns.retain(|restoring| *restoring < turn);
        let text = typed.unwrap_or(text);
        // Secrets are not saved: a message typed before this program started has lost them.
        let masked = is_masked(&text);
        let mut effects =
            vec![Event::Rewound { turn, text, what: rewind }.into(), SessionEffect::InfoChanged];
        if masked {
            effects.push(Notice::warning(phrases::REWIND_MASKED).into());
        }
        Ok(effects)
    }
}

impl SessionStore {
    /// Goes to a saved session.
    pub(super) async fn resume(&self, target: ResumeTarget) -> Effects {
        let id = match &target {
            ResumeTarget::Last => None,
            ResumeTarget::Id(id) | ResumeTarget::IfSaved(id) => Some(id.clone()),
        };
        let asked = self.recorder().call(move |writer| writer.resume(id.as_deref(), TAIL)).await;
        let effect = match (asked.unwrap_or(Err(StoreError::NothingThere)), target) {
            (Ok(resumed), _) => SessionEffect::Resume(Box::new(resumed)),
            // The program ended before anything of it was saved.
            (Err(StoreError::NoSession { .. }), ResumeTarget::IfSaved(_)) => return Effects::new(),
            (Err(StoreError::NoSession { .. }), ResumeTarget::Last) => {
                Notice::info(phrases::NONE_HERE).with_hint(phrases::NONE_HERE_HINT).into()
            }
            (Err(error), _) => Notice::error(error.localized()).into(),
        };
        vec![effect]
    }

    /// The saved sessions, those of this folder first, each group by its last use.
    pub async fn sessions(&self, here: &str) -> Result<Effects, LocalizedText> {
        let (listed, all) = self.query(|writer| writer.list_with_count(LISTED)).await?;
        let more = all.saturating_sub(listed.len());
        let (near, far): (Vec<Listed>, Vec<Listed>) =
            listed.into_iter().partition(|one| one.folder == here);
        let rows = near.into_iter().chain(far).map(session_row).collect();
        Ok(vec![Event::Sessions { rows, more }.into()])
    }

    pub async fn search(&self, asked: String) -> Result<Effects, LocalizedText> {
        let page = match asked.trim() {
            "" => {
                let (listed, all) = self.query(|writer| writer.list_with_count(LISTED)).await?;
                let more = all.saturating_sub(listed.len());
                list_page(listed, more)
            }
            _ => {
                let looked_for = asked.clone();
                let hits = self.query(move |writer| writer.search(&looked_for, HITS + 1)).await?;
                hits_page(&asked, hits, HITS)
            }
        };
        Ok(vec![Event::Page(Box::new(page)).into()])
    }

    pub async fn fork(
        &self,
        name: Option<String>,
        info: &mut SessionInfo,
    ) -> Result<Effects, LocalizedText> {
        let mut header = SessionHeader::new(&info.cwd, info.bot.as_deref());
        header.title = name.map(|name| title_of(&name, TurnOrigin::Typed));
        if info.turns == 0 {
            return Ok(vec![Notice::info(phrases::NOTHING_TO_FORK).into()]);
        }
        let known = self.query(move |writer| writer.fork(header)).await?;
        if self.is_persistent {
            info.session.clone_from(&known.id);
        }
        (info.title, info.read_only) = (known.title.clone(), false);
        let say = phrases::FORKED.with("title", known.title).with("id", known.id);
        Ok(vec![SessionEffect::InfoChanged, Notice::info(say).into()])
    }

    pub async fn rename(
        &self,
        name: String,
        info: &mut SessionInfo,
    ) -> Result<Effects, LocalizedText> {
        let title = self.query(move |writer| writer.rename(&name)).await?;
        info.title.clone_from(&title);
        let notice = Notice::info(phrases::RENAMED.with("title", title));
        Ok(vec![SessionEffect::InfoChanged, notice.into()])
    }
}

/// Shows unsaved data until it is saved, and reports each problem once.
fn follow_saving_error(error: &SavingError, home: &Path, info: &mut SessionInfo) -> Effects {
    let warning = Notice::warning(error.localized());
    match error {
        SavingError::NotSaved(why) => {
            let places = other_places(home, &info.session);
            info.unsaved = Some(UnsavedWork { why: why.clone(), places, elsewhere: false });
            vec![SessionEffect::InfoChanged, warning.into()]
        }
        SavingError::SavedAgain => {
            info.unsaved = None;
            vec![SessionEffect::InfoChanged, Notice::info(error.localized()).into()]
        }
        SavingError::Recovered { .. }
        | SavingError::PutBack { .. }
        | SavingError::Replaced { .. } => vec![warning.into()],
    }
}

/// Another place to write the conversation.
fn other_places(home: &Path, session: &str) -> Vec<String> {
    let name = format!("avocet-{session}.md");
    let files = [home.to_owned(), std::env::temp_dir()].map(|folder| folder.join(&name));
    let is_free = |file: &PathBuf| !file.exists() && file.parent().is_some_and(Path::is_dir);
    let free = files.into_iter().filter(is_free);
    free.map(|file| file.display().to_string()).collect()
}

/// Why moving to another session would lose unsaved data.
pub(super) fn unsaved_warning(info: &SessionInfo) -> Option<Notice> {
    let unsaved = info.unsaved.as_ref().filter(|unsaved| !unsaved.elsewhere)?;
    let notice = Notice::warning(phrases::WOULD_LOSE.with("why", unsaved.why.clone()));
    Some(notice.with_hint(phrases::WOULD_LOSE_HINT))
}

/// Whether an op is one that a read-only window cannot do.
pub(super) fn is_writing(op: &Op) -> bool {
    matches!(
        op,
        Op::Turn(
            TurnOp::Submit { .. }
                | TurnOp::Shell { .. }
                | TurnOp::RunQueue
                | TurnOp::RunScript { .. }
                | TurnOp::SubmitPrompt { .. }
                | TurnOp::Render { .. }
                | TurnOp::Compress { .. }
                | TurnOp::Recall { .. }
                | TurnOp::Steer { .. }
                | TurnOp::Retry
                | TurnOp::MergeWorktree { .. }
        ) | Op::Saved(SavedOp::Rename { .. } | SavedOp::Rewind { .. })
    )
}

pub(super) fn read_only_notice() -> Notice {
    let notice = Notice::warning(phrases::READ_ONLY).with_hint(phrases::READ_ONLY_HINT);
    notice.with_topic(Topic::ReadOnly)
}

fn show_resumed(record: &SessionRecord, events: &[Event], info: &mut SessionInfo) {
    info.title.clone_from(&record.title);
    (info.turns, info.steps) = (record.turn, record.steps);
    info.restoring_turns = events.iter().filter_map(restoring_turn).collect();
    info.usage = record.usage;
}

/// What the user hears of a session that goes on.
fn resumed_notices(
    info: &SessionInfo,
    replay: Replay,
    interrupted: bool,
    unreadable: usize,
    elsewhere: Option<String>,
) -> Vec<Notice> {
    let mut notices = Vec::new();
    if info.read_only {
        notices.push(read_only_notice());
    } else if replay != Replay::Nothing {
        let say = phrases::RESUMED.with("title", info.title.as_str());
        notices.push(Notice::info(say).with_topic(Topic::Resumed));
    }
    if interrupted && replay == Replay::Nothing {
        notices.push(Notice::info(phrases::INTERRUPTED));
    }
    if unreadable > 0 {
        let say = plural(unreadable, phrases::UNREADABLE_ONE, phrases::UNREADABLE);
        notices.push(Notice::warning(say));
    }
    if let Some(folder) = elsewhere {
        let say = phrases::ELSEWHERE.with("folder", folder).with("here", info.cwd.as_str());
        notices.push(Notice::warning(say));
    }
    notices
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

fn restoring_turn(event: &Event) -> Option<u64> {
    match event {
        Event::TurnStarted { turn, origin: TurnOrigin::Command, .. } => Some(*turn),
        _ => None,
    }
}

fn times_of(page: &EventPage) -> Vec<i64> {
    let zone = jiff::tz::TimeZone::system();
    page.events.iter().map(|kept| local_millis(kept.at, &zone)).collect()
}

fn session_row(listed: Listed) -> SessionRow {
    let now = jiff::Zoned::now();
    let Listed { id, folder, title, updated, turns, preview, model, .. } = listed;
    SessionRow { id, title, folder, when: recent_time(updated, &now), preview, turns, model }
}
