//! The state of the writing thread: the file, the session it writes to, and the rows that could not
//! be written yet.
//!
//! A write error loses nothing: rows wait in memory, the error is reported once, and they are tried
//! again before each later row. Not here: the thread (`recorder`).

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;

use super::disk::PATIENCE;
use super::moved::{Carried, Stands};
use super::read::SessionRecord;
use super::rows::{EventRow, grows, is_kept};
use super::write::PendingParts;
use super::{Database, EventPage, Lock, Remembered, SavingError, Store, StoreError};
use crate::protocol::Event;
use crate::safety::redact::Redactor;
use crate::words::{Localize, LocalizedText};

/// The maximum size of rows that wait for a disk, in bytes; beyond it the oldest are lost.
const WAITING: usize = 32 << 20;
/// How long a disk is left alone after an error.
const AGAIN: Duration = Duration::from_secs(2);
/// How long to wait for another window after an earlier wait for it failed.
const HURRY: Duration = Duration::from_millis(100);
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

/// The data a session begins with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionHeader {
    pub id: String,
    /// Absolute, with links resolved.
    pub folder: String,
    pub bot: Option<String>,
    /// A name that the user gave it before it began.
    pub title: Option<String>,
}

impl SessionHeader {
    /// A new session in a folder. Ids are short enough to type.
    pub fn new(folder: &str, bot: Option<&str>) -> SessionHeader {
        // Without letters that look like digits or like each other.
        const LETTERS: &[u8] = b"abcdefghjkmnpqrstvwxyz23456789";
        let letter = |_| char::from(*fastrand::choice(LETTERS).unwrap_or(&b'a'));
        let id = (0..8).map(letter).collect();
        SessionHeader { id, folder: folder.to_owned(), bot: bot.map(str::to_owned), title: None }
    }
}

/// Whether anything is written.
#[derive(Debug)]
enum WriteLock {
    /// It has not begun, or no other window has it.
    Ours(Option<Lock>),
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
    faults: UnboundedSender<SavingError>,
    disk: Option<Database>,
    head: SessionHeader,
    /// Set once the session is in the file.
    key: Option<i64>,
    begun: bool,
    /// Events before the session began; they follow the start of its first turn.
    ahead: Vec<Event>,
    hold: WriteLock,
    growing: Option<(Event, Instant)>,
    waiting: Waiting,
    parts: PendingParts,
    /// Copied out of a file that was replaced.
    carried: Option<Carried>,
    /// The report for when the removed file is open again.
    back: Option<SavingError>,
    /// The last try failed: later tries delay nothing for long.
    in_vain: bool,
}

/// Rows that are not in the file yet.
#[derive(Debug, Default)]
struct Waiting {
    rows: VecDeque<EventRow>,
    weight: usize,
    /// When the disk last failed, and why.
    failed: Option<Instant>,
    why: Option<LocalizedText>,
}

/// Milliseconds since 1970.
pub(super) fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

impl StoreWriter {
    pub fn new(
        store: Store,
        head: SessionHeader,
        redactor: Arc<Redactor>,
        faults: UnboundedSender<SavingError>,
    ) -> StoreWriter {
        StoreWriter {
            store,
            redactor,
            faults,
            disk: None,
            head,
            key: None,
            begun: false,
            ahead: Vec::new(),
            hold: WriteLock::Ours(None),
            growing: None,
            waiting: Waiting::default(),
            parts: PendingParts::default(),
            carried: None,
            back: None,
            in_vain: false,
        }
    }

    pub fn id(&self) -> &str {
        &self.head.id
    }

    // What happens

    /// Takes an event; it is in the file after the next [`Desk::flush`].
    pub fn note(&mut self, event: Event) {
        let starts = matches!(event, Event::TurnStarted { .. });
        if !self.begun && matches!(event, Event::FolderAdded { .. }) {
            return self.ahead.push(event);
        }
        if !is_kept(&event) || matches!(self.hold, WriteLock::ReadOnly) || !(self.begun || starts) {
            return;
        }
        self.begun = true;
        if grows(&event) {
            return self.grow(event);
        }
        self.ripen(None);
        self.push(&event);
        for event in std::mem::take(&mut self.ahead) {
            self.push(&event);
        }
    }

    /// Opens the file before the first write; if that fails, writing reports it.
    pub fn prepare(&mut self) {
        if let Err(error) = self.open() {
            self.in_vain = true;
            tracing::debug!(%error, "the file is not open yet");
        }
    }

    /// Writes the waiting rows. Returns true if something important is among them.
    pub fn flush(&mut self) -> bool {
        let grave = self.waiting.rows.iter().any(|row| row.kind.is_grave());
        if self.waiting.rows.is_empty() || self.is_resting() {
            return false;
        }
        match self.write() {
            Ok(()) => {
                self.in_vain = false;
                self.waiting.rows.clear();
                self.waiting.weight = 0;
                if self.waiting.failed.take().is_some() {
                    self.tell(SavingError::SavedAgain);
                }
            }
            Err(error) => self.failed(error),
        }
        grave
    }

    /// After this, the written data is on the disk itself, if the disk allows it.
    pub fn settle(&self) {
        if let Some(disk) = &self.disk {
            disk.settle();
        }
    }

    /// The latest time to write growing text, and the time to try a failed disk again.
    pub fn due(&self) -> Option<Instant> {
        let grown = self.growing.as_ref().map(|(_, since)| *since + GROWING);
        let again = self.waiting.failed.filter(|_| !self.waiting.rows.is_empty());
        grown.into_iter().chain(again.map(|failed| failed + AGAIN)).min()
    }

    /// Takes text that has grown for long enough, and tries failed rows again.
    pub fn tick(&mut self) {
        self.ripen(Some(LONGEST));
        self.flush();
    }

    /// Why rows could not be written; `None` if none wait.
    pub fn unsaved(&self) -> Option<LocalizedText> {
        if self.waiting.rows.is_empty() {
            return None;
        }
        Some(self.waiting.why.clone().unwrap_or_else(|| StoreError::NothingThere.localized()))
    }

    /// The end: one more try, whenever the last one was.
    pub fn close(&mut self) {
        self.ripen(None);
        if let Some(failed) = &mut self.waiting.failed {
            *failed = failed.checked_sub(AGAIN).unwrap_or(*failed);
        }
        self.flush();
        // The next window that opens the session may write at once.
        if self.waiting.rows.is_empty() {
            if let Some(disk) = self.disk.take() {
                disk.close();
            }
            if let WriteLock::Ours(lock) = &mut self.hold {
                *lock = None;
            }
        }
    }

    fn grow(&mut self, event: Event) {
        let event = match self.growing.take() {
            None => (event, Instant::now()),
            Some((mut earlier, since)) => match joined(&mut earlier, event) {
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
    fn ripen(&mut self, held: Option<usize>) {
        let Some((mut event, _)) = self.growing.take() else { return };
        if let Some(most) = held
            && let Some(text) = growing_text(&mut event)
        {
            let word = text.len() - unfinished(text);
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
        self.waiting.weight += row.weight();
        self.waiting.rows.push_back(row);
        while self.waiting.weight > WAITING
            && let Some(lost) = self.waiting.rows.pop_front()
        {
            self.waiting.weight -= lost.weight();
        }
    }

    fn write(&mut self) -> Result<(), StoreError> {
        let done = self.try_write();
        match done {
            Err(error) if error.is_damage() => {
                self.mend()?;
                self.try_write()
            }
            done => done,
        }
    }

    fn try_write(&mut self) -> Result<(), StoreError> {
        self.open()?;
        if matches!(self.hold, WriteLock::Ours(None)) {
            match self.store.lock(&self.head.id)? {
                Some(lock) => self.hold = WriteLock::Ours(Some(lock)),
                None => return Err(StoreError::Held { id: self.head.id.clone() }),
            }
        }
        let patience = self.patience();
        let Some(disk) = &mut self.disk else { return Ok(()) };
        disk.db.busy_timeout(patience)?;
        let rows = self.waiting.rows.make_contiguous();
        self.key = Some(disk.add(self.key, &self.head, rows, &mut self.parts)?);
        Ok(())
    }

    fn open(&mut self) -> Result<(), StoreError> {
        match self.disk.as_mut().map(Database::stands) {
            Some(Stands::There) => return Ok(()),
            Some(Stands::Gone) => self.put_back()?,
            Some(Stands::Replaced) => self.carry()?,
            None => {}
        }
        let (mut disk, fault) = Database::open_within(&self.store, self.patience())?;
        disk.watch();
        let mut fault = fault;
        if let Some(carried) = &self.carried {
            disk.take_in(carried)?;
            self.carried = None;
            fault = disk.replaced();
            self.found_again(&disk)?;
        } else if self.back.is_some() {
            fault = fault.or_else(|| self.back.take());
            self.found_again(&disk)?;
        }
        self.disk = Some(disk);
        fault.into_iter().for_each(|fault| self.tell(fault));
        Ok(())
    }

    /// The file was removed. While it is open, nothing of it is lost.
    fn put_back(&mut self) -> Result<(), StoreError> {
        let Some(disk) = &self.disk else { return Ok(()) };
        self.back = disk.write_again(&self.store)?;
        self.disk = None;
        // The locks were removed with it.
        if matches!(self.hold, WriteLock::Ours(Some(_))) {
            self.hold = WriteLock::Ours(None);
        }
        Ok(())
    }

    /// Another file replaced it: the session continues in that one.
    fn carry(&mut self) -> Result<(), StoreError> {
        let Some(disk) = &mut self.disk else { return Ok(()) };
        let ours = self.key.filter(|_| !matches!(self.hold, WriteLock::ReadOnly));
        self.carried = disk.carry(ours)?;
        self.disk = None;
        Ok(())
    }

    /// The session has other numbers in another file.
    fn found_again(&mut self, disk: &Database) -> Result<(), StoreError> {
        self.key = disk.find(&self.head.id).ok().map(|known| known.key);
        self.parts = self.key.map(|key| disk.parts(key)).transpose()?.unwrap_or_default();
        Ok(())
    }

    /// Sets a damaged file aside. The session continues with its own id.
    fn mend(&mut self) -> Result<(), StoreError> {
        let Some(disk) = self.disk.take() else { return Ok(()) };
        let (mut disk, fault) = disk.mend(&self.store)?;
        disk.watch();
        self.found_again(&disk)?;
        self.disk = Some(disk);
        fault.into_iter().for_each(|fault| self.tell(fault));
        Ok(())
    }

    fn is_resting(&self) -> bool {
        self.waiting.failed.is_some_and(|failed| failed.elapsed() < AGAIN)
    }

    fn patience(&self) -> Duration {
        if self.in_vain { HURRY } else { PATIENCE }
    }

    fn failed(&mut self, error: StoreError) {
        self.in_vain = true;
        tracing::warn!(%error, "the session is not saved");
        let why = match self.store.file() {
            Some(file) => error.of_file(&file).localized(),
            None => error.localized(),
        };
        // A different reason is reported as well.
        if self.waiting.failed.is_none() || self.waiting.why.as_ref() != Some(&why) {
            self.tell(SavingError::NotSaved(why.clone()));
        }
        self.waiting.why = Some(why);
        self.waiting.failed = Some(Instant::now());
    }

    fn tell(&self, fault: SavingError) {
        // There is no receiver once the session has ended.
        let _ = self.faults.send(fault);
    }

    /// A disk with a limited amount of room.
    #[cfg(test)]
    pub fn limit_pages(&self, pages: Option<u32>) {
        if let Some(disk) = &self.disk {
            let most = pages.unwrap_or(1 << 30);
            let _ = disk.db.pragma_update(None, "max_page_count", most);
        }
    }

    /// A read-only disk.
    #[cfg(test)]
    pub fn only_read(&self, only: bool) {
        if let Some(disk) = &self.disk {
            let _ = disk.db.pragma_update(None, "query_only", only);
        }
    }
}

/// Joins text of one kind; returns text of another kind.
pub(super) fn joined(earlier: &mut Event, later: Event) -> Option<Event> {
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
fn unfinished(text: &str) -> usize {
    let token = |c: char| c.is_ascii_alphanumeric() || "_-./+=:~@%".contains(c);
    text.chars().rev().take_while(|c| token(*c)).count()
}
