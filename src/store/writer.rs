//! What is written of one session: where it is in the file, and the rows that could not be written
//! yet.
//!
//! A write error loses nothing: rows wait in memory, the error is reported once, and they are tried
//! again before each later row. Not here: the thread (`recorder`).

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use super::busy::set_patience;
use super::event_row::RowKind;
use super::read::{SessionChoices, SessionRecord};
use super::shared::{OpenDatabase, SharedDatabase, WriteUrgency};
use super::write::{PendingParts, SessionHeader, now};
use super::{Database, EventPage, Lock, Remembered, SavingError, Store, StoreError};
use avocet_core::i18n::{Localize, LocalizedText, store as phrases};
use avocet_core::protocol::Event;
use avocet_safety::redact::Redactor;

/// The maximum size of a turn that is looked up, in bytes.
const PART: usize = 4 << 20;
/// The maximum size of the history that a session resumes with, in bytes.
const HISTORY: usize = 1 << 20;

mod asked;
pub(super) mod pending;

use pending::{MAX_LENGTH, PendingRows};

/// Whether anything is written.
#[derive(Debug)]
enum WriteLock {
    /// It has not begun, or no other window has it.
    Writable(Option<Lock>),
    /// Another window writes to it.
    ReadOnly,
}

/// A resumed session.
#[derive(Clone, Debug, PartialEq)]
pub struct Resumed {
    pub known: SessionRecord,
    /// Its last events.
    pub tail: EventPage,
    pub history: Vec<Remembered>,
    pub choices: SessionChoices,
    /// Turns without messages, to be made from their events.
    pub broken: Vec<(u64, EventPage)>,
    /// Another window writes to it.
    pub read_only: bool,
}

/// One session, as the thread that writes has it.
#[derive(Debug)]
pub struct SessionWriter {
    store: Store,
    errors: UnboundedSender<SavingError>,
    file: SharedDatabase,
    /// The file that `key` is of; zero before it was open.
    known_file: u64,
    /// It counts among those that have the file open.
    has_joined: bool,
    /// When something important was last written that may not be on the disk itself.
    unsynced: Option<Instant>,
    header: SessionHeader,
    /// Set once the session is in the file.
    key: Option<i64>,
    has_begun: bool,
    /// Events before the session began; they follow the start of its first turn.
    early_events: Vec<Event>,
    write_lock: WriteLock,
    pending: PendingRows,
    parts: PendingParts,
    last_try: LastTry,
    /// The session is ending.
    closing: CancellationToken,
}

/// What came of the last try to write. After a failure, later tries delay nothing for long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LastTry {
    Worked,
    Failed,
    /// It did not wait, because another session had just waited in vain.
    OnlyLooked,
}

/// Lets a session take an event of another time, in milliseconds since 1970; it is not one that grows.
pub fn record_at(writer: &mut SessionWriter, event: Event, at: i64) {
    writer.pending.at = Some(at);
    writer.record(event);
    writer.pending.at = None;
}

impl SessionWriter {
    pub fn new(
        store: Store,
        header: SessionHeader,
        redactor: Arc<Redactor>,
        faults: UnboundedSender<SavingError>,
    ) -> SessionWriter {
        // A store without a file is a new one for each session.
        let file =
            if store.is_persistent() { store.shared.clone() } else { SharedDatabase::default() };
        SessionWriter {
            store,
            errors: faults,
            file,
            known_file: 0,
            has_joined: false,
            unsynced: None,
            header,
            key: None,
            has_begun: false,
            early_events: Vec::new(),
            write_lock: WriteLock::Writable(None),
            pending: PendingRows::new(redactor),
            parts: PendingParts::default(),
            last_try: LastTry::Worked,
            closing: CancellationToken::new(),
        }
    }

    /// Once this is cancelled, another window that holds the file is waited for only briefly.
    pub fn hurry_after(mut self, closing: CancellationToken) -> SessionWriter {
        self.closing = closing;
        self
    }

    pub fn id(&self) -> &str {
        &self.header.id
    }

    // What happens

    /// Takes an event; it is in the file after the next [`SessionWriter::flush`].
    pub fn record(&mut self, event: Event) {
        let starts = matches!(event, Event::TurnStarted { .. });
        if !self.has_begun && matches!(RowKind::from_event(&event), RowKind::Folder) {
            return self.early_events.push(event);
        }
        if !event.is_recorded()
            || matches!(self.write_lock, WriteLock::ReadOnly)
            || !(self.has_begun || starts)
        {
            return;
        }
        self.has_begun = true;
        if event.is_growing_text() {
            return self.pending.append_growing(event);
        }
        self.pending.flush_growing(None);
        self.pending.push(&event);
        for event in std::mem::take(&mut self.early_events) {
            self.pending.push(&event);
        }
    }

    /// Takes an event for which nothing waits: it is written with the next one, or a moment later.
    pub fn record_later(&mut self, event: Event) {
        self.record(event);
        if !self.pending.rows.is_empty() {
            self.pending.deferred.get_or_insert_with(Instant::now);
        }
    }

    /// Opens the file before the first write; if that fails, writing reports it.
    pub fn prepare(&mut self) {
        if let Err(error) = self.with_file(|_, _| Ok(())) {
            self.last_try = LastTry::Failed;
            tracing::debug!(%error, "the file is not open yet");
        }
    }

    /// Writes the waiting rows. Returns true if something important is among them.
    pub fn flush(&mut self) -> bool {
        self.pending.deferred = None;
        let grave = self.pending.rows.iter().any(|row| row.kind.needs_sync());
        if self.pending.rows.is_empty() || self.pending.is_backing_off() {
            return false;
        }
        match self.write() {
            Ok(()) => {
                self.last_try = LastTry::Worked;
                if self.pending.was_written() {
                    self.report(SavingError::SavedAgain);
                }
                if grave {
                    self.unsynced = Some(Instant::now());
                }
            }
            Err(error) => self.record_failure(error),
        }
        grave
    }

    /// Puts what was written on the disk itself, if the disk allows it. Returns when to ask again if
    /// that was done less than `pause` ago for another session.
    pub fn sync(&mut self, pause: Duration) -> Option<Instant> {
        let again = self.file.lock().sync(self.unsynced?, pause);
        if again.is_none() {
            self.unsynced = None;
        }
        again
    }

    /// The latest time to write growing text, and the time to try a failed disk again.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.pending.next_deadline()
    }

    /// Takes text that has grown for long enough, and tries failed rows again. Returns true if
    /// something important was among them.
    pub fn tick(&mut self) -> bool {
        self.pending.flush_growing(Some(MAX_LENGTH));
        self.flush()
    }

    /// Why rows could not be written; `None` if none wait.
    pub fn unsaved_reason(&self) -> Option<LocalizedText> {
        if self.pending.rows.is_empty() {
            return None;
        }
        Some(self.pending.failure.clone().unwrap_or_else(|| phrases::BUSY.into()))
    }

    /// The end: one more try, whenever the last one was.
    pub fn close(&mut self) {
        self.pending.flush_growing(None);
        self.pending.end_back_off();
        self.flush();
        // The next window that opens the session may write at once.
        if self.pending.rows.is_empty() {
            // The file may stay open in other sessions and programs.
            self.sync(Duration::ZERO);
            self.leave();
            if let WriteLock::Writable(lock) = &mut self.write_lock {
                *lock = None;
            }
        }
    }

    fn write(&mut self) -> Result<(), StoreError> {
        let written = self.with_file_repaired(|writer, disk| {
            if matches!(writer.write_lock, WriteLock::Writable(None)) {
                match writer.store.lock(&writer.header.id)? {
                    Some(lock) => writer.write_lock = WriteLock::Writable(Some(lock)),
                    None => return Err(StoreError::Held { id: writer.header.id.clone() }),
                }
            }
            let rows = writer.pending.rows.make_contiguous();
            writer.key = Some(disk.add(writer.key, &writer.header, rows, &mut writer.parts)?);
            Ok(())
        });
        if written.is_ok() {
            self.file.lock().was_written();
        }
        written
    }

    // The file

    /// Does something with the file, opened if it is not open; a damaged one is set aside first, and
    /// it is tried once more.
    fn with_file_repaired<T>(
        &mut self,
        work: impl Fn(&mut SessionWriter, &mut Database) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        match self.with_file(&work) {
            Err(error) if error.is_damage() => {
                self.file.clone().lock().salvage(&self.store)?;
                self.with_file(work)
            }
            done => done,
        }
    }

    /// The other sessions of the process wait meanwhile.
    fn with_file<T>(
        &mut self,
        work: impl FnOnce(&mut SessionWriter, &mut Database) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let file = self.file.clone();
        let mut file = file.lock();
        let urgency = match self.last_try {
            _ if self.closing.is_cancelled() => WriteUrgency::Last,
            LastTry::Worked => WriteUrgency::Normal,
            LastTry::Failed | LastTry::OnlyLooked => WriteUrgency::AfterFailure,
        };
        let patience = file.patience(&self.header.id, urgency);
        let done = self.work_in(&mut file, patience, work);
        if done.as_ref().is_err_and(StoreError::is_busy) {
            file.was_busy(&self.header.id, patience);
            let is_look = patience.is_zero();
            self.last_try = if is_look { LastTry::OnlyLooked } else { LastTry::Failed };
        }
        done
    }

    fn work_in<T>(
        &mut self,
        database: &mut OpenDatabase,
        patience: Duration,
        work: impl FnOnce(&mut SessionWriter, &mut Database) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let has_opened = database.open(&self.store, patience)?;
        let had_joined = std::mem::replace(&mut self.has_joined, true);
        if !had_joined {
            database.join();
        }
        if database.file != self.known_file {
            self.go_on_in(database, has_opened || had_joined)?;
        }
        let Some(disk) = &mut database.disk else { return Err(StoreError::NothingThere) };
        set_patience(&mut disk.db, patience, &self.closing)?;
        work(self, disk)
    }

    /// What is written from now on is of this session.
    fn become_session(&mut self, header: SessionHeader, key: Option<i64>) {
        (self.header, self.key) = (header, key);
    }

    /// The session has other numbers in another file. Each session of the earlier one reports what
    /// happened to it; without one, the session that opened the file does.
    fn go_on_in(&mut self, database: &OpenDatabase, reports: bool) -> Result<(), StoreError> {
        let Some(disk) = &database.disk else { return Ok(()) };
        if self.known_file > 0 {
            self.key = disk.find(&self.header.id).ok().map(|known| known.key);
            self.parts = self.key.map(|key| disk.parts(key)).transpose()?.unwrap_or_default();
            // The locks were removed with the file.
            if database.restored > self.known_file
                && matches!(self.write_lock, WriteLock::Writable(Some(_)))
            {
                self.write_lock = WriteLock::Writable(None);
            }
        }
        if reports {
            database.report.iter().for_each(|report| self.report(report.clone()));
        }
        self.known_file = database.file;
        Ok(())
    }

    fn leave(&mut self) {
        if std::mem::take(&mut self.has_joined) {
            self.file.lock().leave();
        }
    }

    fn record_failure(&mut self, error: StoreError) {
        let only_looked = error.is_busy() && self.last_try == LastTry::OnlyLooked;
        self.last_try = LastTry::Failed;
        tracing::warn!(%error, "the session is not saved");
        let why = match self.store.file() {
            Some(file) => error.with_file(&file).localized(),
            None => error.localized(),
        };
        let is_first = self.pending.failed_at.replace(Instant::now()).is_none();
        // The next failure counts, also if it only looks again.
        if only_looked && is_first {
            return;
        }
        // A different reason is reported as well.
        if self.pending.failure.as_ref() != Some(&why) {
            self.report(SavingError::NotSaved(why.clone()));
        }
        self.pending.failure = Some(why);
    }

    fn report(&self, error: SavingError) {
        // There is no receiver once the session has ended.
        let _ = self.errors.send(error);
    }

    /// A disk with a limited amount of room.
    #[cfg(test)]
    pub fn limit_pages(&self, pages: Option<u32>) {
        if let Some(disk) = &self.file.lock().disk {
            let most = pages.unwrap_or(1 << 30);
            let _ = disk.db.pragma_update(None, "max_page_count", most);
        }
    }

    /// A read-only disk.
    #[cfg(test)]
    pub fn set_read_only(&self, only: bool) {
        if let Some(disk) = &self.file.lock().disk {
            let _ = disk.db.pragma_update(None, "query_only", only);
        }
    }
}

impl Drop for SessionWriter {
    fn drop(&mut self) {
        self.leave();
    }
}
