//! What the writing thread holds: the file, the session that is written to, and what
//! could not be written yet.
//!
//! A file that cannot be written loses nothing: rows wait in memory, it is said once,
//! and they are tried again before each next one. Not in here: the thread (`recorder`).

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;

use super::disk::PATIENCE;
use super::moved::{Carried, Stands};
use super::read::Known;
use super::rows::{Row, grows, is_kept};
use super::write::Parts;
use super::{Disk, Fault, Lock, Piece, Remembered, Store, StoreError};
use crate::protocol::Event;
use crate::safety::redact::Redactor;
use crate::words::{Say, Spoken};

/// Bytes of rows that wait for a disk; past it the oldest are lost.
const WAITING: usize = 32 << 20;
/// How long a disk is left alone after a fault.
const AGAIN: Duration = Duration::from_secs(2);
/// How long another window is waited for that was waited for in vain before.
const HURRY: Duration = Duration::from_millis(100);
/// How long text that grows may wait to be written.
const GROWING: Duration = Duration::from_millis(100);
/// Characters of a word that is still growing that may be written: the start of a
/// secret, but not enough of one.
const BEGUN: usize = 12;
/// A word longer than this is no secret.
const LONGEST: usize = 4096;
/// Bytes of a turn that is looked up.
const PART: usize = 4 << 20;
/// Bytes of history that a session goes on with.
const HISTORY: usize = 1 << 20;

mod asked;

/// What a session begins with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    pub id: String,
    /// Absolute, with links resolved.
    pub folder: String,
    pub bot: Option<String>,
    /// A name a person gave it before it began.
    pub title: Option<String>,
}

impl Head {
    /// A new session in a folder. Ids are short enough to be typed.
    pub fn new(folder: &str, bot: Option<&str>) -> Head {
        // Without letters that are taken for digits or for each other.
        const LETTERS: &[u8] = b"abcdefghjkmnpqrstvwxyz23456789";
        let letter = |_| char::from(*fastrand::choice(LETTERS).unwrap_or(&b'a'));
        let id = (0..8).map(letter).collect();
        Head { id, folder: folder.to_owned(), bot: bot.map(str::to_owned), title: None }
    }
}

/// Whether anything is written.
#[derive(Debug)]
enum Hold {
    /// It is not begun, or nobody else has it.
    Ours(Option<Lock>),
    /// Another window writes to it.
    ReadOnly,
}

/// A session as it is taken up again.
#[derive(Clone, Debug, PartialEq)]
pub struct Resumed {
    pub known: Known,
    /// The end of it.
    pub tail: Piece,
    pub history: Vec<Remembered>,
    /// The folders that were added to it.
    pub folders: Vec<String>,
    /// Turns without messages that are to be made from what happened in them.
    pub broken: Vec<(u64, Piece)>,
    /// Another window writes to it.
    pub read_only: bool,
}

/// The state of the writing thread.
#[derive(Debug)]
pub struct Desk {
    store: Store,
    redactor: Arc<Redactor>,
    faults: UnboundedSender<Fault>,
    disk: Option<Disk>,
    head: Head,
    /// Set once the session is in the file.
    key: Option<i64>,
    begun: bool,
    /// What was said of the session before it began; it follows its first turn's start.
    ahead: Vec<Event>,
    hold: Hold,
    growing: Option<(Event, Instant)>,
    waiting: Waiting,
    parts: Parts,
    /// On its way from a file whose place another one has taken.
    carried: Option<Carried>,
    /// What is said once the file that was gone is open again.
    back: Option<Fault>,
    /// The last try failed: none of the next ones holds anything up for long.
    in_vain: bool,
}

/// Rows that are not in the file yet.
#[derive(Debug, Default)]
struct Waiting {
    rows: VecDeque<Row>,
    weight: usize,
    /// When the disk failed last, and why.
    failed: Option<Instant>,
    why: Option<Say>,
}

/// Milliseconds since 1970.
pub(super) fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

impl Desk {
    pub fn new(
        store: Store,
        head: Head,
        redactor: Arc<Redactor>,
        faults: UnboundedSender<Fault>,
    ) -> Desk {
        Desk {
            store,
            redactor,
            faults,
            disk: None,
            head,
            key: None,
            begun: false,
            ahead: Vec::new(),
            hold: Hold::Ours(None),
            growing: None,
            waiting: Waiting::default(),
            parts: Parts::default(),
            carried: None,
            back: None,
            in_vain: false,
        }
    }

    pub fn id(&self) -> &str {
        &self.head.id
    }

    // What happens

    /// Takes an event in; it is in the file after the next [`Desk::flush`].
    pub fn note(&mut self, event: Event) {
        let starts = matches!(event, Event::TurnStarted { .. });
        if !self.begun && matches!(event, Event::FolderAdded { .. }) {
            return self.ahead.push(event);
        }
        if !is_kept(&event) || matches!(self.hold, Hold::ReadOnly) || !(self.begun || starts) {
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

    /// Opens the file ahead of what is to be written; where that fails, writing says so.
    pub fn prepare(&mut self) {
        if let Err(error) = self.open() {
            self.in_vain = true;
            tracing::debug!(%error, "the file is not open yet");
        }
    }

    /// Writes what waits. The answer is true when something grave is among it.
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
                    self.tell(Fault::SavedAgain);
                }
            }
            Err(error) => self.failed(error),
        }
        grave
    }

    /// What was written lies on the disk itself after this, where it can be helped.
    pub fn settle(&self) {
        if let Some(disk) = &self.disk {
            disk.settle();
        }
    }

    /// When text that grows is to be written at the latest, and when a disk that failed is
    /// tried again.
    pub fn due(&self) -> Option<Instant> {
        let grown = self.growing.as_ref().map(|(_, since)| *since + GROWING);
        let again = self.waiting.failed.filter(|_| !self.waiting.rows.is_empty());
        grown.into_iter().chain(again.map(|failed| failed + AGAIN)).min()
    }

    /// Takes in text that has grown for long enough, and tries what could not be written.
    pub fn tick(&mut self) {
        self.ripen(Some(LONGEST));
        self.flush();
    }

    /// Why something waits that could not be written; `None`: nothing does.
    pub fn unsaved(&self) -> Option<Say> {
        if self.waiting.rows.is_empty() {
            return None;
        }
        Some(self.waiting.why.clone().unwrap_or_else(|| StoreError::NothingThere.say()))
    }

    /// The end: one more try, whenever the last one was.
    pub fn close(&mut self) {
        self.ripen(None);
        if let Some(failed) = &mut self.waiting.failed {
            *failed = failed.checked_sub(AGAIN).unwrap_or(*failed);
        }
        self.flush();
        // Whoever opens the session next may write at once.
        if self.waiting.rows.is_empty() {
            if let Some(disk) = self.disk.take() {
                disk.close();
            }
            if let Hold::Ours(lock) = &mut self.hold {
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

    /// Makes a row of what has grown. With `held`, a word at its end that might be the
    /// start of a secret stays behind until it is whole.
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
        let Some(row) = Row::new(event, now(), &self.redactor) else { return };
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
        if matches!(self.hold, Hold::Ours(None)) {
            match self.store.lock(&self.head.id)? {
                Some(lock) => self.hold = Hold::Ours(Some(lock)),
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
        match self.disk.as_mut().map(Disk::stands) {
            Some(Stands::There) => return Ok(()),
            Some(Stands::Gone) => self.put_back()?,
            Some(Stands::Replaced) => self.carry()?,
            None => {}
        }
        let (mut disk, fault) = Disk::open_within(&self.store, self.patience())?;
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

    /// Somebody took the file away. While it is open, nothing of it is lost.
    fn put_back(&mut self) -> Result<(), StoreError> {
        let Some(disk) = &self.disk else { return Ok(()) };
        self.back = disk.write_again(&self.store)?;
        self.disk = None;
        // The locks went with it.
        if matches!(self.hold, Hold::Ours(Some(_))) {
            self.hold = Hold::Ours(None);
        }
        Ok(())
    }

    /// Somebody put another file in its place: the session goes on in that one.
    fn carry(&mut self) -> Result<(), StoreError> {
        let Some(disk) = &mut self.disk else { return Ok(()) };
        let ours = self.key.filter(|_| !matches!(self.hold, Hold::ReadOnly));
        self.carried = disk.carry(ours)?;
        self.disk = None;
        Ok(())
    }

    /// The session has other numbers in another file.
    fn found_again(&mut self, disk: &Disk) -> Result<(), StoreError> {
        self.key = disk.find(&self.head.id).ok().map(|known| known.key);
        self.parts = self.key.map(|key| disk.parts(key)).transpose()?.unwrap_or_default();
        Ok(())
    }

    /// Sets a damaged file aside. The session goes on under its own id.
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
            Some(file) => error.of_file(&file).say(),
            None => error.say(),
        };
        // Another reason is news as well.
        if self.waiting.failed.is_none() || self.waiting.why.as_ref() != Some(&why) {
            self.tell(Fault::NotSaved(why.clone()));
        }
        self.waiting.why = Some(why);
        self.waiting.failed = Some(Instant::now());
    }

    fn tell(&self, fault: Fault) {
        // Nobody listens any more when the session is gone.
        let _ = self.faults.send(fault);
    }

    /// A disk with so much room and no more.
    #[cfg(test)]
    pub fn limit_pages(&self, pages: Option<u32>) {
        if let Some(disk) = &self.disk {
            let most = pages.unwrap_or(1 << 30);
            let _ = disk.db.pragma_update(None, "max_page_count", most);
        }
    }

    /// A disk that is only read.
    #[cfg(test)]
    pub fn only_read(&self, only: bool) {
        if let Some(disk) = &self.disk {
            let _ = disk.db.pragma_update(None, "query_only", only);
        }
    }
}

/// Joins text of one kind; gives back what is of another.
pub(super) fn joined(earlier: &mut Event, later: Event) -> Option<Event> {
    match (earlier, later) {
        (Event::Delta { text }, Event::Delta { text: more })
        | (Event::Thought { text }, Event::Thought { text: more }) => {
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
        Event::Delta { text } | Event::Thought { text } | Event::StepOutput { text, .. } => {
            Some(text)
        }
        _ => None,
    }
}

/// Bytes at the end of a text that may go on as one token.
fn unfinished(text: &str) -> usize {
    let token = |c: char| c.is_ascii_alphanumeric() || "_-./+=:~@%".contains(c);
    text.chars().rev().take_while(|c| token(*c)).count()
}
