//! Saved sessions: resumes, forks, renames, rewinds, lists and searches them, and reports the state
//! of the disk.

use std::path::Path;
use std::sync::Arc;

use super::goal;
use super::listing::{hits_page, list_page};
use super::persistence::{Replay, ResumeTarget, StoreEvent, events_of, local_millis, recent_time};
use super::recovery;
use super::state::Session;
use super::user_input::UserInput;
use crate::context::history::{History, TurnPosition};
use avocet_core::i18n::{Localize, LocalizedText, plural, session as phrases};
use avocet_core::protocol::{
    Event, Notice, Op, Rewind, SavedOp, SessionRow, Topic, TurnOp, TurnOrigin, UnsavedWork,
};
use avocet_safety::redact::is_masked;
use avocet_store::{EventPage, Listed, Resumed, SavingError, SessionHeader, StoreError, title_of};

/// The number of events shown at once when a session is resumed.
const TAIL: usize = 200;
/// The maximum size of events read back from one session, in bytes; older ones stay in its file.
const READ_BACK: usize = 48 << 20;
/// The maximum number of listed sessions, and of hits.
const LISTED: usize = 300;
const HITS: usize = 50;

impl Session {
    /// Resumes the session requested at the start.
    pub(super) async fn resume_at_start(&mut self) {
        match self.store.resume.take() {
            // A mode of the command line is that of the conversation, too.
            None if self.command_line_mode.is_some() => self.record_folders().await,
            None => {}
            Some(ResumeTarget::Last) => self.resume(None).await,
            Some(ResumeTarget::Id(id)) => self.resume(Some(id)).await,
            Some(ResumeTarget::IfSaved(id)) => self.resume_if_saved(id).await,
        }
    }

    pub(super) async fn handle_store_event(&mut self, event: StoreEvent) {
        match event {
            StoreEvent::Fault(fault) => self.handle_store_notice(fault).await,
            StoreEvent::Page(Some(Ok(piece))) => self.send_history_chunk(piece).await,
            StoreEvent::Page(Some(Err(error))) => {
                let notice = phrases::EARLIER_LOST.with("why", error.localized());
                self.notify(Notice::warning(notice)).await;
            }
            StoreEvent::Page(None) => {}
        }
    }

    /// Shows unsaved data until it is saved, and reports each problem once.
    async fn handle_store_notice(&mut self, error: SavingError) {
        let notice = match &error {
            SavingError::NotSaved(why) => {
                let places = self.other_places();
                let unsaved = UnsavedWork { why: why.clone(), places, elsewhere: false };
                self.info.unsaved = Some(unsaved);
                self.send_info().await;
                Notice::warning(error.localized())
            }
            SavingError::SavedAgain => {
                self.info.unsaved = None;
                self.send_info().await;
                Notice::info(error.localized())
            }
            SavingError::Recovered { .. }
            | SavingError::PutBack { .. }
            | SavingError::Replaced { .. } => Notice::warning(error.localized()),
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
        let notice = Notice::warning(phrases::WOULD_LOSE.with("why", unsaved.why.clone()));
        self.notify(notice.with_hint(phrases::WOULD_LOSE_HINT)).await;
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

    pub(super) async fn warn_read_only(&mut self) {
        let notice = Notice::warning(phrases::READ_ONLY).with_hint(phrases::READ_ONLY_HINT);
        self.notify(notice.with_topic(Topic::ReadOnly)).await;
    }

    /// Goes to another session, unless a turn is running or unsaved work would be lost.
    pub(super) async fn switch_session(&mut self, session: String) {
        if !self.is_busy_for_switch().await && !self.warn_if_unsaved().await {
            self.resume(Some(session)).await;
        }
    }

    /// True, with a message, while a turn is running.
    pub(super) async fn is_busy_for_switch(&mut self) -> bool {
        if !self.is_idle() {
            self.notify(Notice::warning(phrases::SAVED_BUSY)).await;
        }
        !self.is_idle()
    }

    pub(super) async fn notify_failure(&mut self, done: Result<(), LocalizedText>) {
        if let Err(why) = done {
            self.notify(Notice::error(why)).await;
        }
    }

    async fn resume(&mut self, id: Option<String>) {
        let last = id.is_none();
        let asked =
            self.store.recorder().call(move |writer| writer.resume(id.as_deref(), TAIL)).await;
        match asked.unwrap_or(Err(StoreError::NothingThere)) {
            Ok(resumed) => self.apply_resumed(resumed).await,
            Err(StoreError::NoSession { .. }) if last => {
                self.notify(Notice::info(phrases::NONE_HERE).with_hint(phrases::NONE_HERE_HINT))
                    .await;
            }
            Err(error) => self.notify(Notice::error(error.localized())).await,
        }
    }

    async fn resume_if_saved(&mut self, id: String) {
        let asked = self.store.recorder().call(move |writer| writer.resume(Some(&id), TAIL)).await;
        match asked.unwrap_or(Err(StoreError::NothingThere)) {
            Ok(resumed) => self.apply_resumed(resumed).await,
            // The program ended before anything of it was saved.
            Err(StoreError::NoSession { .. }) => {}
            Err(error) => self.notify(Notice::error(error.localized())).await,
        }
    }

    async fn apply_resumed(&mut self, resumed: Resumed) {
        self.restart_hooks("resume");
        let Resumed { known, tail, history, choices, broken, read_only } = resumed;
        self.leave_session().await;
        if !self.conversation.is_empty() {
            self.outbox.send(Event::Cleared).await;
        }
        let elsewhere = (known.folder != self.info.cwd).then(|| known.folder.clone());
        self.conversation.clear();
        self.conversation.history =
            Arc::new(recovery::rebuild_history(&history, &broken, &known.folder));
        self.conversation.next_step = self.conversation.next_step.max(known.next_step);
        self.conversation.shared.skip_ask_ids(known.next_ask);
        let mut events = events_of(&tail);
        self.conversation.last_input = last_input(&events, &self.conversation.history, known.turn);
        self.measure_context();
        let mut closing = recovery::closing_events(&events, &known.folder);
        if read_only {
            // Its turn goes on in the other window.
            closing.clear();
        }
        for event in &closing {
            self.store.recorder().append(event).await;
        }
        self.save_recovered_turn(known.turn, &closing).await;
        let interrupted = !closing.is_empty();
        events.extend(closing);
        let told = events.iter().filter(|event| event.is_transcript());
        told.for_each(|event| self.conversation.push_event(event.clone()));
        if self.store.is_persistent {
            self.info.session.clone_from(&known.id);
        }
        (self.info.title, self.info.read_only) = (known.title.clone(), read_only);
        (self.info.turns, self.info.steps) = (known.turn, known.steps);
        self.info.restoring_turns = events.iter().filter_map(restoring_turn).collect();
        self.info.usage = known.usage;
        for event in &events {
            if let Event::TurnEnded { turn, usage, .. } = event {
                self.conversation.add_usage(*turn, *usage);
            }
        }
        let before = tail.events.first().filter(|_| tail.more).map(|first| first.seq);
        self.store.bytes_read = tail.bytes;
        if self.store.replay != Replay::Nothing {
            // The events that close an interrupted turn get the time of its last event.
            let at = times_of(&tail);
            self.restore_images(&mut events);
            self.outbox.send(Event::HistoryChunk { events, at, more: before.is_some() }).await;
        }
        self.send_info().await;
        self.notify_resumed(&known.title, interrupted, tail.unreadable, elsewhere).await;
        self.restore_folders(&choices.folders).await;
        self.restore_approval_mode(choices.approval).await;
        goal::restore(self, choices.goal).await;
        if let Some(seq) = before {
            self.store.read_before(seq);
        }
    }

    /// From now on, the entries of an interrupted turn are saved like those of any other.
    async fn save_recovered_turn(&mut self, turn: u64, events: &[Event]) {
        if events.is_empty() {
            return;
        }
        self.store.save_turn(turn, &self.conversation.history, None).await;
    }

    /// Gives the attachments of earlier messages the images that the conversation still has.
    fn restore_images(&self, events: &mut [Event]) {
        if self.store.replay != Replay::AllWithImages {
            return;
        }
        let mut current_turn = 0;
        for event in events {
            match event {
                Event::TurnStarted { turn, .. } => current_turn = *turn,
                Event::Attached { items, images } => {
                    let found = self.conversation.history.images_of(current_turn);
                    if items.iter().filter(|item| item.is_image()).count() == found.len() {
                        images.extend(found.into_iter().cloned().map(Arc::new));
                    }
                }
                _ => {}
            }
        }
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
                Notice::info(phrases::RESUMED.with("title", title)).with_topic(Topic::Resumed),
            )
            .await;
        }
        if interrupted && self.store.replay == Replay::Nothing {
            self.notify(Notice::info(phrases::INTERRUPTED)).await;
        }
        if unreadable > 0 {
            let say = plural(unreadable, phrases::UNREADABLE_ONE, phrases::UNREADABLE);
            self.notify(Notice::warning(say)).await;
        }
        if let Some(folder) = elsewhere {
            let say =
                phrases::ELSEWHERE.with("folder", folder).with("here", self.info.cwd.as_str());
            self.notify(Notice::warning(say)).await;
        }
    }

    async fn send_history_chunk(&mut self, page: EventPage) {
        let mut events = events_of(&page);
        let told: Vec<Event> =
            events.iter().filter(|event| event.is_transcript()).cloned().collect();
        self.conversation.prepend_events(&told);
        self.store.bytes_read += page.bytes;
        let full = self.store.bytes_read > READ_BACK;
        let more = page.events.first().filter(|_| page.more).map(|first| first.seq);
        let before = more.filter(|_| !full);
        if self.store.replay.is_whole() {
            let at = times_of(&page);
            self.restore_images(&mut events);
            self.outbox.send(Event::HistoryChunk { events, at, more: before.is_some() }).await;
        }
        match before {
            Some(seq) => self.store.read_before(seq),
            None if more.is_some() && self.store.replay.is_whole() => {
                let say = phrases::EARLIER_CUT.with("id", self.info.session.as_str());
                self.notify(Notice::info(say)).await;
            }
            None => {}
        }
    }

    pub(super) async fn list_sessions(&mut self) {
        let done = self.send_sessions().await;
        self.notify_failure(done).await;
    }

    async fn send_sessions(&mut self) -> Result<(), LocalizedText> {
        let (listed, all) = self.store.query(|writer| writer.list_with_count(LISTED)).await?;
        let more = all.saturating_sub(listed.len());
        let here = self.info.cwd.clone();
        // Sessions of this folder come first, each group by its last use.
        let (near, far): (Vec<Listed>, Vec<Listed>) =
            listed.into_iter().partition(|one| one.folder == here);
        let rows = near.into_iter().chain(far).map(session_row).collect();
        self.outbox.send(Event::Sessions { rows, more }).await;
        Ok(())
    }

    pub(super) async fn search_sessions(&mut self, asked: String) -> Result<(), LocalizedText> {
        let page = match asked.trim() {
            "" => {
                let (listed, all) =
                    self.store.query(|writer| writer.list_with_count(LISTED)).await?;
                let more = all.saturating_sub(listed.len());
                list_page(listed, more)
            }
            _ => {
                let looked_for = asked.clone();
                let hits =
                    self.store.query(move |writer| writer.search(&looked_for, HITS + 1)).await?;
                hits_page(&asked, hits, HITS)
            }
        };
        self.outbox.send(Event::Page(Box::new(page))).await;
        Ok(())
    }

    pub(super) async fn fork(&mut self, name: Option<String>) -> Result<(), LocalizedText> {
        let mut header = SessionHeader::new(&self.info.cwd, self.info.bot.as_deref());
        header.title = name.map(|name| title_of(&name, TurnOrigin::Typed));
        if self.info.turns == 0 {
            self.notify(Notice::info(phrases::NOTHING_TO_FORK)).await;
            return Ok(());
        }
        let known = self.store.query(move |writer| writer.fork(header)).await?;
        if self.store.is_persistent {
            self.info.session.clone_from(&known.id);
        }
        (self.info.title, self.info.read_only) = (known.title.clone(), false);
        self.send_info().await;
        self.notify(Notice::info(phrases::FORKED.with("title", known.title).with("id", known.id)))
            .await;
        Ok(())
    }

    pub(super) async fn rename(&mut self, name: String) -> Result<(), LocalizedText> {
        let title = self.store.query(move |writer| writer.rename(&name)).await?;
        self.info.title.clone_from(&title);
        self.send_info().await;
        self.notify(Notice::info(phrases::RENAMED.with("title", title))).await;
        Ok(())
    }

    /// Rewinds the chat; `rewind` handles files. `behind` is the record that follows it.
    pub(super) async fn rewind_conversation(
        &mut self,
        turn: u64,
        rewind: Rewind,
        events: Vec<Event>,
    ) -> Result<(), LocalizedText> {
        let event = Event::Rewound { turn, text: String::new(), what: rewind };
        let kept = events.clone();
        let (text, history) =
            self.store.query(move |writer| writer.rewind(turn, &event, &kept)).await?;
        // The message as typed, if it is still known.
        let typed = self.conversation.message_of(turn);
        self.conversation.history =
            Arc::new(recovery::rebuild_history(&history, &[], &self.info.cwd));
        self.conversation.truncate_from(turn);
        events.into_iter().for_each(|event| self.conversation.push_event(event));
        self.info.turns = turn.saturating_sub(1);
        self.info.restoring_turns.retain(|restoring| *restoring < turn);
        let text = typed.unwrap_or(text);
        // Secrets are not saved: a message typed before this program started has lost them.
        let masked = is_masked(&text);
        self.outbox.send(Event::Rewound { turn, text, what: rewind }).await;
        self.send_info().await;
        if masked {
            self.notify(Notice::warning(phrases::REWIND_MASKED)).await;
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
