//! The requests to an open session: look up, resume, and change the session as a whole. All waiting
//! rows are written first.

use super::{HISTORY, PART, Resumed, SessionHeader, StoreWriter, Waiting, WriteLock, now};
use crate::protocol::Event;
use crate::store::read::SessionRecord;
use crate::store::rows::{self, EventRow};
use crate::store::write::PendingParts;
use crate::store::{Database, EventPage, Listed, Remembered, SessionHit, StoreError};

impl StoreWriter {
    /// The file with all waiting rows written; repairs damage and tries once more.
    fn with<T>(
        &mut self,
        ask: impl Fn(&mut Database) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.open()?;
        self.ripen(None);
        self.flush();
        let Some(disk) = &mut self.disk else { return Err(StoreError::NothingThere) };
        match ask(disk) {
            Err(error) if error.is_damage() => {
                self.mend()?;
                self.disk.as_mut().map_or(Err(StoreError::NothingThere), ask)
            }
            done => done,
        }
    }

    pub fn list(&mut self, folder: Option<&str>, most: usize) -> Result<Vec<Listed>, StoreError> {
        self.with(|disk| disk.list(folder, most))
    }

    /// The latest sessions, and the number of all.
    pub fn listed(&mut self, most: usize) -> Result<(Vec<Listed>, usize), StoreError> {
        self.with(|disk| Ok((disk.list(None, most)?, disk.count(None)?)))
    }

    pub fn search(&mut self, words: &str, most: usize) -> Result<Vec<SessionHit>, StoreError> {
        self.with(|disk| disk.search(words, most))
    }

    /// Resumes a session: the one with an id, or the last one in the folder. Returns its last
    /// events, about this many at most.
    pub fn resume(&mut self, id: Option<&str>, most: usize) -> Result<Resumed, StoreError> {
        let folder = self.head.folder.clone();
        let known = self.with(|disk| match id {
            Some(id) => disk.find(id),
            None => disk.last(&folder)?.ok_or_else(|| StoreError::NoSession { id: String::new() }),
        })?;
        let held = matches!(self.hold, WriteLock::Ours(Some(_)));
        let ours = held && self.key == Some(known.key);
        let lock = if ours { None } else { Some(self.store.lock(&known.id)?) };
        let key = known.key;
        let tail = self.with(|disk| disk.piece(key, None, most))?;
        let history = self.with(|disk| disk.remembered(key, HISTORY))?;
        let folders = self.with(|disk| disk.folders(key))?;
        let broken = history.iter().filter_map(|one| match one {
            Remembered::Turn { turn, left: None } => Some(*turn),
            _ => None,
        });
        let broken = broken.collect::<Vec<_>>();
        let broken = broken
            .into_iter()
            .map(|turn| Ok((turn, self.with(|disk| disk.turn(key, turn))?)))
            .collect::<Result<_, StoreError>>()?;
        // The events that close an interrupted turn replace its parts.
        let parts = self.with(|disk| disk.parts(key))?;
        // From here on nothing can fail: the previous session is released.
        match lock {
            None => {}
            Some(Some(lock)) => self.hold = WriteLock::Ours(Some(lock)),
            Some(None) => self.hold = WriteLock::ReadOnly,
        }
        self.head = SessionHeader {
            id: known.id.clone(),
            folder: known.folder.clone(),
            bot: self.head.bot.clone(),
            title: None,
        };
        self.key = Some(key);
        self.begun = true;
        self.ahead.clear();
        self.parts = parts;
        let read_only = matches!(self.hold, WriteLock::ReadOnly);
        Ok(Resumed { known, tail, history, folders, broken, read_only })
    }

    /// Events before those that were already read.
    pub fn before(&mut self, seq: i64, most: usize) -> Result<EventPage, StoreError> {
        let Some(key) = self.key else { return Ok(EventPage::default()) };
        self.with(|disk| disk.piece(key, Some(seq), most))
    }

    /// The turn (`turn_3`) or the step (`cmd_012`) with an id; empty if it does not exist.
    pub fn part(&mut self, id: &str) -> Result<EventPage, StoreError> {
        let Some(key) = self.key else { return Ok(EventPage::default()) };
        match id.strip_prefix("turn_").map(str::parse) {
            Some(Ok(turn)) => self.with(|disk| disk.turn_within(key, turn, PART)),
            Some(Err(_)) => Ok(EventPage::default()),
            None => self.with(|disk| disk.step(key, id)),
        }
    }

    /// The first and the last existing turn and step.
    pub fn ends(&mut self) -> Result<EventPage, StoreError> {
        let Some(key) = self.key else { return Ok(EventPage::default()) };
        self.with(|disk| disk.ends(key))
    }

    /// The next events belong to a new session. Rows of this one that could not be written are
    /// dropped.
    pub fn leave(&mut self, head: SessionHeader) {
        self.ripen(None);
        self.flush();
        let failed = self.waiting.failed.filter(|_| !self.waiting.rows.is_empty());
        self.waiting = Waiting { failed, ..Waiting::default() };
        self.head = head;
        self.key = None;
        self.begun = false;
        self.ahead.clear();
        self.hold = WriteLock::Ours(None);
        self.parts = PendingParts::default();
    }

    /// Saves the history entries of a turn.
    pub fn remember(&mut self, turn: u64, messages: &str) {
        self.keep(messages, |disk, key, body| disk.remember(key, turn, body));
    }

    /// Saves the whole history after a turn.
    pub fn remember_whole(&mut self, turn: u64, history: &str) {
        self.keep(history, |disk, key, body| disk.remember_whole(key, turn, body));
    }

    fn keep(
        &mut self,
        json: &str,
        put: impl Fn(&mut Database, i64, &str) -> Result<(), StoreError>,
    ) {
        let Some(key) = self.key.filter(|_| !matches!(self.hold, WriteLock::ReadOnly)) else {
            return;
        };
        let masked = serde_json::from_str(json).map(|mut value| {
            self.redactor.mask_value(&mut value);
            value.to_string()
        });
        // It was created from our own data a moment ago.
        let Ok(masked) = masked else { return };
        if let Err(error) = self.with(|disk| put(disk, key, &masked)) {
            self.failed(error);
        }
    }

    /// A turn is asked again: its history entries no longer count.
    pub fn retried(&mut self, turn: u64) {
        let Some(key) = self.key else { return };
        if let Err(error) = self.with(|disk| disk.take_back(key, turn, None, &[])) {
            tracing::warn!(%error, "a turn that is asked again was not found");
        }
    }

    /// Rewinds turns from `turn` on. `event` records it in the session, and `behind` follows it, in
    /// one transaction. Returns the message that began that turn, and the history as it is now.
    pub fn take_back(
        &mut self,
        turn: u64,
        event: &Event,
        behind: &[Event],
    ) -> Result<(String, Vec<Remembered>), StoreError> {
        let key = self.writable()?;
        let rows = behind.iter().filter_map(|event| EventRow::new(event, now(), &self.redactor));
        let rows: Vec<EventRow> = rows.collect();
        let text = self.with(|disk| disk.take_back(key, turn, Some(event), &rows))?;
        let history = self.with(|disk| disk.remembered(key, HISTORY))?;
        Ok((text.unwrap_or_default(), history))
    }

    /// Continues in a copy of the session. Returns the data of the copy.
    pub fn fork(&mut self, head: SessionHeader) -> Result<SessionRecord, StoreError> {
        let Some(key) = self.key else { return Err(StoreError::NothingThere) };
        let title = head.title.clone();
        let known = self.with(|disk| {
            let new = disk.fork(key, &head, title.as_deref())?;
            disk.known(new)
        })?;
        let lock = self.store.lock(&head.id)?;
        self.hold = WriteLock::Ours(lock);
        self.head = head;
        self.key = Some(known.key);
        Ok(known)
    }

    /// Names the session; before it has begun, the name waits for that.
    pub fn rename(&mut self, title: &str) -> Result<String, StoreError> {
        let title = rows::one_line(&self.redactor.mask(title), 120);
        match self.key {
            Some(_) => {
                let key = self.writable()?;
                self.with(|disk| disk.rename(key, &title))?;
            }
            None => self.head.title = Some(title.clone()),
        }
        Ok(title)
    }

    fn writable(&self) -> Result<i64, StoreError> {
        match (&self.hold, self.key) {
            (WriteLock::ReadOnly, _) => Err(StoreError::Held { id: self.head.id.clone() }),
            (WriteLock::Ours(_), Some(key)) => Ok(key),
            (WriteLock::Ours(_), None) => Err(StoreError::NothingThere),
        }
    }
}
