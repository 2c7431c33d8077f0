//! The requests to an open session: look up, resume, and change the session as a whole. All waiting
//! rows are written first.

use super::{HISTORY, PART, Resumed, SessionHeader, SessionWriter, WriteLock, now};
use crate::event_row::{self, EventRow};
use crate::read::SessionRecord;
use crate::write::PendingParts;
use crate::{Database, EventPage, Listed, Remembered, SessionHit, StoreError};
use avocet_core::protocol::Event;
use serde_json::Value;

impl SessionWriter {
    /// The file with all waiting rows written; repairs damage and tries once more.
    fn with_database<T>(
        &mut self,
        ask: impl Fn(&mut Database) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.pending.flush_growing(None);
        self.flush();
        self.with_file_repaired(|_, disk| ask(disk))
    }

    /// The same with the key that the session has there: the file may be another one by now.
    fn with_session<T>(
        &mut self,
        ask: impl Fn(&mut Database, i64) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.pending.flush_growing(None);
        self.flush();
        self.with_file_repaired(|writer, disk| match writer.key {
            Some(key) => ask(disk, key),
            None => Err(StoreError::NothingThere),
        })
    }

    /// The same for a session that no other window writes to.
    fn change_session<T>(
        &mut self,
        change: impl Fn(&mut Database, i64) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if matches!(self.write_lock, WriteLock::ReadOnly) {
            return Err(StoreError::Held { id: self.header.id.clone() });
        }
        self.with_session(change)
    }

    /// Whether its turns are saved.
    fn is_saved(&self) -> bool {
        self.key.is_some() && !matches!(self.write_lock, WriteLock::ReadOnly)
    }

    pub fn list(&mut self, folder: Option<&str>, most: usize) -> Result<Vec<Listed>, StoreError> {
        self.with_database(|disk| disk.list(folder, most))
    }

    /// The latest sessions, and the number of all.
    pub fn list_with_count(&mut self, most: usize) -> Result<(Vec<Listed>, usize), StoreError> {
        self.with_database(|disk| Ok((disk.list(None, most)?, disk.count(None)?)))
    }

    pub fn search(&mut self, words: &str, most: usize) -> Result<Vec<SessionHit>, StoreError> {
        self.with_database(|disk| disk.search(words, most))
    }

    /// Resumes a session: the one with an id, or the last one in the folder. Returns its last
    /// events, about this many at most.
    pub fn resume(&mut self, id: Option<&str>, most: usize) -> Result<Resumed, StoreError> {
        let folder = self.header.folder.clone();
        self.pending.flush_growing(None);
        self.flush();
        let (lock, parts, mut resumed) = self.with_file_repaired(|writer, disk| {
            let known = match id {
                Some(id) => disk.find(id)?,
                None => disk
                    .last_in_folder(&folder)?
                    .ok_or_else(|| StoreError::NoSession { id: String::new() })?,
            };
            let held = matches!(writer.write_lock, WriteLock::Writable(Some(_)));
            let ours = held && writer.key == Some(known.key);
            // Before it is read: what another window adds until then belongs to it.
            let lock = if ours { None } else { Some(writer.store.lock(&known.id)?) };
            let (parts, resumed) = read_session(disk, known, most)?;
            Ok((lock, parts, resumed))
        })?;
        // From here on nothing can fail: the previous session is released.
        match lock {
            None => {}
            Some(Some(lock)) => self.write_lock = WriteLock::Writable(Some(lock)),
            Some(None) => self.write_lock = WriteLock::ReadOnly,
        }
        let header = SessionHeader {
            id: resumed.known.id.clone(),
            folder: resumed.known.folder.clone(),
            bot: self.header.bot.clone(),
            title: None,
        };
        self.become_session(header, Some(resumed.known.key));
        self.has_begun = true;
        self.early_events.clear();
        self.parts = parts;
        resumed.read_only = matches!(self.write_lock, WriteLock::ReadOnly);
        Ok(resumed)
    }

    /// Events before those that were already read.
    pub fn events_before(&mut self, seq: i64, most: usize) -> Result<EventPage, StoreError> {
        if self.key.is_none() {
            return Ok(EventPage::default());
        }
        self.with_session(|disk, key| disk.event_page(key, Some(seq), most))
    }

    /// The turn (`turn_3`) or the step (`cmd_012`) with an id; empty if it does not exist.
    pub fn turn_or_step(&mut self, id: &str) -> Result<EventPage, StoreError> {
        if self.key.is_none() {
            return Ok(EventPage::default());
        }
        match id.strip_prefix("turn_").map(str::parse) {
            Some(Ok(turn)) => self.with_session(|disk, key| disk.turn_limited(key, turn, PART)),
            Some(Err(_)) => Ok(EventPage::default()),
            None => self.with_session(|disk, key| disk.step(key, id)),
        }
    }

    /// The first and the last existing turn and step.
    pub fn first_and_last(&mut self) -> Result<EventPage, StoreError> {
        if self.key.is_none() {
            return Ok(EventPage::default());
        }
        self.with_session(|disk, key| disk.first_and_last(key))
    }

    /// The next events belong to a new session. Rows of this one that could not be written are
    /// dropped.
    pub fn switch_session(&mut self, header: SessionHeader) {
        self.pending.flush_growing(None);
        self.flush();
        self.pending.clear();
        self.become_session(header, None);
        self.has_begun = false;
        self.early_events.clear();
        self.write_lock = WriteLock::Writable(None);
        self.parts = PendingParts::default();
    }

    /// Saves the history entries of a turn, and which model answered last.
    pub fn save_turn_history(&mut self, turn: u64, messages: &str, model: Option<&str>) {
        self.save_history(messages, |disk, key, body| {
            disk.save_turn_history(key, turn, body, model)
        });
    }

    /// Saves the whole history after a turn.
    pub fn save_whole_history(&mut self, turn: u64, history: &str) {
        self.save_history(history, |disk, key, body| disk.save_whole_history(key, turn, body));
    }

    fn save_history(
        &mut self,
        json: &str,
        put: impl Fn(&mut Database, i64, &str) -> Result<(), StoreError>,
    ) {
        if !self.is_saved() {
            return;
        }
        let masked = serde_json::from_str(json).map(|mut value| {
            // An image is no text: a part of it that looks like a secret would be lost.
            let mut images = Vec::new();
            each_image(&mut value, &mut |data| images.push(std::mem::take(data)));
            self.pending.redactor.mask_value(&mut value);
            let mut images = images.into_iter();
            each_image(&mut value, &mut |data| *data = images.next().unwrap_or_default());
            value.to_string()
        });
        // It was created from our own data a moment ago.
        let Ok(masked) = masked else { return };
        let saved = self.change_session(|disk, key| put(disk, key, &masked));
        // The session is not in this file, which replaced another: its history can be made from the
        // events of the turn.
        if let (Err(error), Some(_)) = (saved, self.key) {
            self.record_failure(error);
        }
    }

    /// A turn is asked again: its history entries no longer count.
    pub fn discard_turn_history(&mut self, turn: u64) {
        if self.key.is_none() {
            return;
        }
        if let Err(error) = self.change_session(|disk, key| disk.rewind(key, turn, None, &[])) {
            tracing::warn!(%error, "a turn that is asked again was not found");
        }
    }

    /// Rewinds turns from `turn` on. `event` records it in the session, and `behind` follows it, in
    /// one transaction. Returns the message that began that turn, and the history as it is now.
    pub fn rewind(
        &mut self,
        turn: u64,
        event: &Event,
        events: &[Event],
    ) -> Result<(String, Vec<Remembered>), StoreError> {
        let rows =
            events.iter().filter_map(|event| EventRow::new(event, now(), &self.pending.redactor));
        let rows: Vec<EventRow> = rows.collect();
        let text = self.change_session(|disk, key| disk.rewind(key, turn, Some(event), &rows))?;
        let history = self.with_session(|disk, key| disk.history(key, HISTORY))?;
        Ok((text.unwrap_or_default(), history))
    }

    /// Continues in a copy of the session. Returns the data of the copy.
    pub fn fork(&mut self, header: SessionHeader) -> Result<SessionRecord, StoreError> {
        let title = header.title.clone();
        let known = self.with_session(|disk, key| {
            let new = disk.fork(key, &header, title.as_deref())?;
            disk.session_record(new)
        })?;
        let lock = self.store.lock(&header.id)?;
        self.write_lock = WriteLock::Writable(lock);
        self.become_session(header, Some(known.key));
        Ok(known)
    }

    /// Names the session; before it has begun, the name waits for that.
    pub fn rename(&mut self, title: &str) -> Result<String, StoreError> {
        let title = event_row::first_line(&self.pending.redactor.mask(title), 120);
        match self.key {
            Some(_) => self.change_session(|disk, key| disk.rename(key, &title))?,
            None => self.header.title = Some(title.clone()),
        }
        Ok(title)
    }
}

/// What a session resumes with, and its parts: the events that close an interrupted turn replace
/// them.
fn read_session(
    database: &mut Database,
    record: SessionRecord,
    most: usize,
) -> Result<(PendingParts, Resumed), StoreError> {
    let key = record.key;
    let tail = database.event_page(key, None, most)?;
    let history = database.history(key, HISTORY)?;
    let choices = database.choices(key)?;
    let broken = history.iter().filter_map(|one| match one {
        Remembered::Turn { turn, left: None } => Some(*turn),
        _ => None,
    });
    let broken = broken
        .map(|turn| Ok((turn, database.turn(key, turn)?)))
        .collect::<Result<_, StoreError>>()?;
    let parts = database.parts(key)?;
    Ok((parts, Resumed { known: record, tail, history, choices, broken, read_only: false }))
}

/// The data of each image in a saved history.
fn each_image(value: &mut Value, visit: &mut impl FnMut(&mut String)) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| each_image(item, visit)),
        Value::Object(fields) => {
            let mime = fields.get("mime").and_then(Value::as_str);
            let is_image = mime.is_some_and(|mime| mime.starts_with("image/"));
            match fields.get_mut("data") {
                Some(Value::String(data)) if is_image => visit(data),
                _ => fields.values_mut().for_each(|field| each_image(field, visit)),
            }
        }
        _ => {}
    }
}
