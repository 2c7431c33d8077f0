//! The state of the writing thread: the file, the session it writes to, and the rows that could not
//! be written yet.
//!
//! A write error loses nothing: rows wait in memory, the error is reported once, and they are tried
//! again before each later row. Not here: the thread (`recorder`).

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use super::busy::{HURRY, set_patience};
use super::connection::PATIENCE;
use super::event_row::{EventRow, RowAction};
use super::file_watch::PathState;
use super::moved::ExportedSession;
use super::read::SessionRecord;
use super::write::{PendingParts, SessionHeader, now};
use super::{Database, EventPage, Lock, Remembered, SavingError, Store, StoreError};
use crate::i18n::{Localize, LocalizedText};
use crate::protocol::{ApprovalMode, Event};
use crate::safety::redact::Redactor;

/// The maximum size of rows that wait for a disk, in bytes; beyond it the oldest are lost.
const WAITING: usize = 32 << 20;
/// How long a disk is left alone after an error.
const AGAIN: Duration = Duration::from_secs(2);
/// How long other sessions of the process may take to go on in another file.
const REPAIR: Duration = Duration::from_secs(20);
/// How long growing text may wait to be written.
const GROWING: Duration = Duration::from_millis(100);
/// How many characters of a growing word may be written: the start of a secret, but not enough of
/// one.
const BEGUN: usize = 12;
/// A word longer than this is not a secret.
const LONGEST: usize = 4096;
/// The maximum size of a turn that is looked up, in bytes.
const PART: usize = 4 << 20;
/// The maximum size of the history that a session resumes with, in bytes.
const HISTORY: usize = 1 << 20;

mod asked;

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
    /// The folders that were added to it.
    pub folders: Vec<String>,
    /// The mode that was set last.
    pub approval: Option<ApprovalMode>,
    /// Turns without messages, to be made from their events.
    pub broken: Vec<(u64, EventPage)>,
    /// Another window writes to it.
    pub read_only: bool,
}

/// The state of the writing thread.
#[derive(Debug)]
pub struct StoreWriter {
    store: Store,
    redactor: Arc<Redactor>,
    errors: UnboundedSender<SavingError>,
    database: Option<Database>,
    header: SessionHeader,
    /// Set once the session is in the file.
    key: Option<i64>,
    has_begun: bool,
    /// Events before the session began; they follow the start of its first turn.
    early_events: Vec<Event>,
    write_lock: WriteLock,
    growing: Option<(Event, Instant)>,
    pending: PendingRows,
    parts: PendingParts,
    /// Copied out of a file that was replaced.
    exported: Option<ExportedSession>,
    /// The report for when the removed file is open again.
    restored_report: Option<SavingError>,
    /// The last try failed: later tries delay nothing for long.
    last_try_failed: bool,
    /// The session is ending.
    closing: CancellationToken,
}

/// Rows that are not in the file yet.
#[derive(Debug, Default)]
struct PendingRows {
    rows: VecDeque<EventRow>,
    bytes: usize,
    /// When the disk last failed, and why.
    failed_at: Option<Instant>,
    failure: Option<LocalizedText>,
}

impl StoreWriter {
    pub fn new(
        store: Store,
        header: SessionHeader,
        redactor: Arc<Redactor>,
        faults: UnboundedSender<SavingError>,
    ) -> StoreWriter {
        StoreWriter {
            store,
            redactor,
            errors: faults,
            database: None,
            header,
            key: None,
            has_begun: false,
            early_events: Vec::new(),
            write_lock: WriteLock::Writable(None),
            growing: None,
            pending: PendingRows::default(),
            parts: PendingParts::default(),
            exported: None,
            restored_report: None,
            last_try_failed: false,
            closing: CancellationToken::new(),
        }
    }

    /// Once this is cancelled, another window that holds the file is waited for only briefly.
    pub fn hurry_after(self, closing: CancellationToken) -> StoreWriter {
        StoreWriter { closing, ..self }
    }

    pub fn id(&self) -> &str {
        &self.header.id
    }

    // What happens

    /// Takes an event; it is in the file after the next [`StoreWriter::flush`].
    pub fn record(&mut self, event: Event) {
        let starts = matches!(event, Event::TurnStarted { .. });
        if !self.has_begun && matches!(RowAction::from_event(&event), RowAction::Folder) {
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
            return self.append_growing(event);
        }
        self.flush_growing(None);
        self.push(&event);
        for event in std::mem::take(&mut self.early_events) {
            self.push(&event);
        }
    }

    /// Opens the file before the first write; if that fails, writing reports it.
    pub fn prepare(&mut self) {
        if let Err(error) = self.open() {
            self.last_try_failed = true;
            tracing::debug!(%error, "the file is not open yet");
        }
    }

    /// Writes the waiting rows. Returns true if something important is among them.
    pub fn flush(&mut self) -> bool {
        let grave = self.pending.rows.iter().any(|row| row.kind.needs_sync());
        if self.pending.rows.is_empty() || self.is_backing_off() {
            return false;
        }
        match self.write() {
            Ok(()) => {
                self.last_try_failed = false;
                self.pending.rows.clear();
                self.pending.bytes = 0;
                if self.pending.failed_at.take().is_some() {
                    self.report(SavingError::SavedAgain);
                }
            }
            Err(error) => self.record_failure(error),
        }
        grave
    }

    /// After this, the written data is on the disk itself, if the disk allows it.
    pub fn sync(&self) {
        if let Some(disk) = &self.database {
            disk.sync();
        }
    }

    /// The latest time to write growing text, and the time to try a failed disk again.
    pub fn next_deadline(&self) -> Option<Instant> {
        let grown = self.growing.as_ref().map(|(_, since)| *since + GROWING);
        let again = self.pending.failed_at.filter(|_| !self.pending.rows.is_empty());
        grown.into_iter().chain(again.map(|failed| failed + AGAIN)).min()
    }

    /// Takes text that has grown for long enough, and tries failed rows again.
    pub fn tick(&mut self) {
        self.flush_growing(Some(LONGEST));
        self.flush();
    }

    /// Why rows could not be written; `None` if none wait.
    pub fn unsaved_reason(&self) -> Option<LocalizedText> {
        if self.pending.rows.is_empty() {
            return None;
        }
        Some(self.pending.failure.clone().unwrap_or_else(|| StoreError::NothingThere.localized()))
    }

    /// The end: one more try, whenever the last one was.
    pub fn close(&mut self) {
        self.flush_growing(None);
        if let Some(failed) = &mut self.pending.failed_at {
            *failed = failed.checked_sub(AGAIN).unwrap_or(*failed);
        }
        self.flush();
        // The next window that opens the session may write at once.
        if self.pending.rows.is_empty() {
            if let Some(disk) = self.database.take() {
                disk.close();
            }
            if let WriteLock::Writable(lock) = &mut self.write_lock {
                *lock = None;
            }
        }
    }

    fn append_growing(&mut self, event: Event) {
        let event = match self.growing.take() {
            None => (event, Instant::now()),
            Some((mut earlier, since)) => match merge_text(&mut earlier, event) {
                None => (earlier, since),
                Some(later) => {
                    self.push(&earlier);
                    (later, Instant::now())
                }
            },
        };
        self.growing = Some(event);
    }

    /// Turns the grown text into a row. With `held`, a word at its end that might be the start of a
    /// secret is held back until it is complete.
    fn flush_growing(&mut self, held: Option<usize>) {
        let Some((mut event, _)) = self.growing.take() else { return };
        if let Some(most) = held
            && let Some(text) = growing_text(&mut event)
        {
            let word = text.len() - unfinished_token_len(text);
            if text.len() - word > BEGUN && text.len() - word < most {
                let rest = text.split_off(word);
                let mut later = event.clone();
                if let Some(text) = growing_text(&mut later) {
                    *text = rest;
                }
                self.growing = Some((later, Instant::now()));
            }
        }
        if growing_text(&mut event).is_some_and(|text| !text.is_empty()) {
            self.push(&event);
        }
    }

    fn push(&mut self, event: &Event) {
        let Some(row) = EventRow::new(event, now(), &self.redactor) else { return };
        self.pending.bytes += row.weight();
        self.pending.rows.push_back(row);
        while self.pending.bytes > WAITING
            && let Some(lost) = self.pending.rows.pop_front()
        {
            self.pending.bytes -= lost.weight();
        }
    }

    fn write(&mut self) -> Result<(), StoreError> {
        let done = self.try_write();
        match done {
            Err(error) if error.is_damage() => {
                self.salvage()?;
                self.try_write()
            }
            done => done,
        }
    }

    fn try_write(&mut self) -> Result<(), StoreError> {
        self.open()?;
        if matches!(self.write_lock, WriteLock::Writable(None)) {
            match self.store.lock(&self.header.id)? {
                Some(lock) => self.write_lock = WriteLock::Writable(Some(lock)),
                None => return Err(StoreError::Held { id: self.header.id.clone() }),
            }
        }
        let patience = self.busy_timeout();
        let Some(disk) = &mut self.database else { return Ok(()) };
        set_patience(&mut disk.db, patience, &self.closing)?;
        let rows = self.pending.rows.make_contiguous();
        self.key = Some(disk.add(self.key, &self.header, rows, &mut self.parts)?);
        Ok(())
    }

    fn open(&mut self) -> Result<(), StoreError> {
        let mut state = self.database.as_mut().map(Database::path_state);
        if state == Some(PathState::Same) {
            return Ok(());
        }
        // Until it is open again: all sessions of the process notice it at the same moment.
        let _turn = state.map(|_| self.store.repair_order.take(REPAIR));
        if state.is_some() {
            state = self.database.as_mut().map(Database::path_state);
        }
        match state {
            Some(PathState::Same) => return Ok(()),
            Some(PathState::Gone) if self.restore_removed_file()? => {}
            Some(PathState::Gone | PathState::Replaced) => self.export_session()?,
            None => {}
        }
        let (mut disk, fault) = Database::open_with_timeout(&self.store, self.busy_timeout())?;
        disk.watch();
        let mut fault = fault;
        if let Some(carried) = &self.exported {
            disk.import_session(carried)?;
            self.exported = None;
            fault = disk.replaced_report();
            self.reload_key(&disk)?;
        } else if self.restored_report.is_some() {
            fault = fault.or_else(|| self.restored_report.take());
            self.reload_key(&disk)?;
        }
        self.database = Some(disk);
        fault.into_iter().for_each(|fault| self.report(fault));
        Ok(())
    }

    /// The file was removed. While it is open, nothing of it is lost. False if another one is there
    /// now.
    fn restore_removed_file(&mut self) -> Result<bool, StoreError> {
        let Some(disk) = &self.database else { return Ok(true) };
        let Some(report) = disk.restore_removed(&self.store)? else { return Ok(false) };
        self.restored_report = Some(report);
        self.database = None;
        // The locks were removed with it.
        if matches!(self.write_lock, WriteLock::Writable(Some(_))) {
            self.write_lock = WriteLock::Writable(None);
        }
        Ok(true)
    }

    /// Another file replaced it: the session continues in that one.
    fn export_session(&mut self) -> Result<(), StoreError> {
        let Some(disk) = &mut self.database else { return Ok(()) };
        let ours = self.key.filter(|_| !matches!(self.write_lock, WriteLock::ReadOnly));
        self.exported = disk.export_session(ours)?;
        self.database = None;
        Ok(())
    }

    /// The session has other numbers in another file.
    fn reload_key(&mut self, disk: &Database) -> Result<(), StoreError> {
        self.key = disk.find(&self.header.id).ok().map(|known| known.key);
        self.parts = self.key.map(|key| disk.parts(key)).transpose()?.unwrap_or_default();
        Ok(())
    }

    /// Sets a damaged file aside. The session continues with its own id.
    fn salvage(&mut self) -> Result<(), StoreError> {
        let Some(disk) = self.database.take() else { return Ok(()) };
        let (mut disk, fault) = disk.salvage(&self.store)?;
        disk.watch();
        self.reload_key(&disk)?;
        self.database = Some(disk);
        fault.into_iter().for_each(|fault| self.report(fault));
        Ok(())
    }

    fn is_backing_off(&self) -> bool {
        self.pending.failed_at.is_some_and(|failed| failed.elapsed() < AGAIN)
    }

    fn busy_timeout(&self) -> Duration {
        if self.last_try_failed || self.closing.is_cancelled() { HURRY } else { PATIENCE }
    }

    fn record_failure(&mut self, error: StoreError) {
        self.last_try_failed = true;
        tracing::warn!(%error, "the session is not saved");
        let why = match self.store.file() {
            Some(file) => error.with_file(&file).localized(),
            None => error.localized(),
        };
        // A different reason is reported as well.
        if self.pending.failed_at.is_none() || self.pending.failure.as_ref() != Some(&why) {
            self.report(SavingError::NotSaved(why.clone()));
        }
        self.pending.failure = Some(why);
        self.pending.failed_at = Some(Instant::now());
    }

    fn report(&self, fault: SavingError) {
        // There is no receiver once the session has ended.
        let _ = self.errors.send(fault);
    }

    /// A disk with a limited amount of room.
    #[cfg(test)]
    pub fn limit_pages(&self, pages: Option<u32>) {
        if let Some(disk) = &self.database {
            let most = pages.unwrap_or(1 << 30);
            let _ = disk.db.pragma_update(None, "max_page_count", most);
        }
    }

    /// A read-only disk.
    #[cfg(test)]
    pub fn set_read_only(&self, only: bool) {
        if let Some(disk) = &self.database {
            let _ = disk.db.pragma_update(None, "query_only", only);
        }
    }
}

/// Joins text of one kind; returns text of another kind.
pub(super) fn merge_text(earlier: &mut Event, later: Event) -> Option<Event> {
    match (earlier, later) {
        (Event::Delta { text }, Event::Delta { text: more })
        | (Event::ReasoningDelta { text }, Event::ReasoningDelta { text: more }) => {
            text.push_str(&more);
            None
        }
        (Event::StepOutput { id, text }, Event::StepOutput { id: same, text: more })
            if *id == same =>
        {
            text.push_str(&more);
            None
        }
        (_, later) => Some(later),
    }
}

fn growing_text(event: &mut Event) -> Option<&mut String> {
    match event {
        Event::Delta { text } | Event::ReasoningDelta { text } | Event::StepOutput { text, .. } => {
            Some(text)
        }
        _ => None,
    }
}

/// The number of bytes at the end of a text that may continue as one token.
fn unfinished_token_len(text: &str) -> usize {
    let token = |c: char| c.is_ascii_alphanumeric() || "_-./+=:~@%".contains(c);
    text.chars().rev().take_while(|c| token(*c)).count()
}
