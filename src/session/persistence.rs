//! The session's side of the store, which writes it: every event reaches it through the outbox
//! before it is shown.

use std::sync::Arc;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinHandle;

use crate::context::history::History;
use avocet_core::i18n::{Localize, LocalizedText};
use avocet_core::protocol::{Event, SessionInfo};
use avocet_safety::redact::Redactor;
use avocet_store::{
    EventPage, Recorder, SavingError, SessionHeader, SessionWriter, Store, StoreError,
};

/// The number of events in each later part.
const PIECE: usize = 1_000;

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
    /// Also the images of the user's messages, for a screen that shows pictures.
    AllWithImages,
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
    /// By its id; if nothing of it was ever saved, the new one goes on in its place.
    IfSaved(String),
}

impl Replay {
    pub fn is_whole(self) -> bool {
        matches!(self, Replay::All | Replay::AllWithImages)
    }
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
    pub resume: Option<ResumeTarget>,
    pub replay: Replay,
    pending_page: Option<PendingPage>,
    /// The size of the events read back, in bytes.
    pub bytes_read: usize,
    pub is_persistent: bool,
}

/// A message from the store.
pub(super) enum StoreEvent {
    Fault(SavingError),
    Page(Option<Result<EventPage, StoreError>>),
}

impl SessionStore {
    /// Starts the thread that writes; nothing is opened yet.
    pub fn start(
        persistence: Persistence,
        info: &mut SessionInfo,
        redactor: Arc<Redactor>,
    ) -> SessionStore {
        let header = SessionHeader::new(&info.cwd, info.bot.as_deref());
        let is_kept = persistence.store.is_persistent();
        info.session = if is_kept { header.id.clone() } else { String::new() };
        let (told, faults) = unbounded_channel();
        let recorder = Recorder::start(persistence.store, header, redactor, told);
        let Persistence { resume, replay, .. } = persistence;
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

    /// From now on the session waits for no slow disk.
    pub fn begin_closing(&self) {
        self.recorder.begin_closing();
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
    pub fn prepare(&self, event: Option<Event>) {
        self.recorder.prepare(event);
    }

    /// Saves the history entries of a turn, and the model that answered, if one did.
    pub async fn save_turn(&self, turn: u64, history: &History, model: Option<&str>) {
        let Ok(json) = serde_json::to_string(&history.turn_snapshot(turn)) else { return };
        let model = model.map(str::to_owned);
        let save = move |writer: &mut SessionWriter| {
            writer.save_turn_history(turn, &json, model.as_deref());
        };
        self.recorder.call(save).await;
    }

    /// Saves the history after a turn without its turns: earlier ones were summed up. The remaining
    /// turns are already saved.
    pub async fn save_outline(&self, turn: u64, history: &History) {
        let Ok(json) = serde_json::to_string(&history.outline()) else { return };
        self.recorder.call(move |writer| writer.save_whole_history(turn, &json)).await;
    }

    /// Saves a history that was compressed. Texts that were only shortened are shortened again when
    /// the session is resumed.
    pub async fn save_compacted(&self, turn: u64, before: &History, history: &History) {
        if !history.has_same_outline(before) {
            self.save_outline(turn, history).await;
        }
    }

    /// Saves the whole history after a turn, with all of its turns.
    pub async fn save_history(&self, turn: u64, history: &History) {
        let Ok(json) = serde_json::to_string(history) else { return };
        self.recorder.call(move |writer| writer.save_whole_history(turn, &json)).await;
    }

    pub async fn record_retry(&self, turn: u64) {
        self.recorder.call(move |writer| writer.discard_turn_history(turn)).await;
    }

    /// A new session starts with the next turn.
    pub async fn start_new(&mut self, info: &mut SessionInfo) {
        let header = SessionHeader::new(&info.cwd, info.bot.as_deref());
        self.pending_page = None;
        (info.title, info.read_only) = (String::new(), false);
        info.unsaved = None;
        if self.is_persistent {
            info.session.clone_from(&header.id);
        }
        self.recorder.call(move |writer| writer.switch_session(header)).await;
    }

    /// Waits until everything is written; returns the error if it could not be.
    pub async fn close(&self) -> Option<LocalizedText> {
        self.recorder.close().await
    }

    /// The events of a part that `/recall` names; empty if there is none.
    pub async fn part_events(&self, id: &str) -> Vec<Event> {
        let id = id.to_owned();
        let piece = self.recorder.call(move |writer| writer.turn_or_step(&id)).await;
        piece.and_then(Result::ok).map(|piece| events_of(&piece)).unwrap_or_default()
    }

    /// The first and the last saved turn and step.
    pub async fn first_and_last(&self) -> Vec<Event> {
        let piece = self.recorder.call(SessionWriter::first_and_last).await;
        piece.and_then(Result::ok).map(|piece| events_of(&piece)).unwrap_or_default()
    }

    pub async fn query<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&mut SessionWriter) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, LocalizedText> {
        let gone = Err(StoreError::NothingThere);
        self.recorder.call(ask).await.unwrap_or(gone).map_err(|error| error.localized())
    }

    pub fn read_before(&mut self, seq: i64) {
        let recorder = self.recorder.clone();
        let read =
            async move { recorder.call(move |writer| writer.events_before(seq, PIECE)).await };
        self.pending_page = Some(tokio::spawn(read));
    }
}

/// A time in milliseconds since 1970 as local time in that zone.
pub fn local_millis(milliseconds: i64, zone: &jiff::tz::TimeZone) -> i64 {
    let Ok(at) = jiff::Timestamp::from_millisecond(milliseconds) else { return milliseconds };
    milliseconds + i64::from(zone.to_offset(at).seconds()) * 1_000
}

/// A time as the user reads it, in the time zone of this machine.
pub fn format_time(milliseconds: i64) -> String {
    let Ok(at) = jiff::Timestamp::from_millisecond(milliseconds) else { return String::new() };
    at.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
}

/// The time of something recent: its hour today, its day and hour this year, else its date.
pub fn recent_time(milliseconds: i64, now: &jiff::Zoned) -> String {
    let Ok(at) = jiff::Timestamp::from_millisecond(milliseconds) else { return String::new() };
    let at = at.to_zoned(now.time_zone().clone());
    let format = match (at.year() == now.year(), at.date() == now.date()) {
        (_, true) => "%H:%M",
        (true, false) => "%m-%d %H:%M",
        (false, false) => "%Y-%m-%d",
    };
    at.strftime(format).to_string()
}

pub fn events_of(page: &EventPage) -> Vec<Event> {
    page.events.iter().map(|kept| kept.event.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_as_long_as_it_must_be_to_be_told_from_others() {
        let now: jiff::Zoned = "2026-03-02T00:30:00+01:00[+01:00]".parse().unwrap();
        for (at, shown) in [
            ("2026-03-02T00:05:00+01:00[+01:00]", "00:05"),
            ("2026-03-01T23:59:00+01:00[+01:00]", "03-01 23:59"),
            ("2026-01-01T00:00:00+01:00[+01:00]", "01-01 00:00"),
            ("2025-12-31T23:59:00+01:00[+01:00]", "2025-12-31"),
        ] {
            let at: jiff::Zoned = at.parse().unwrap();
            assert_eq!(recent_time(at.timestamp().as_millisecond(), &now), shown);
        }
    }
}
