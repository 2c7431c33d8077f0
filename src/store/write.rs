//! Writes to the database. Each call is one transaction.

use std::collections::VecDeque;
use std::ops::Deref;

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use super::connection::WAIT_TIMEOUT;
use super::event_row::{self, EventRow, RowKind};
use super::schema::index_text;
use super::write_turn::WriteTurn;
use super::{Database, StoreError, StorePlace};
use avocet_core::protocol::{Event, Usage};

/// The maximum size of a running step's output that is kept, in bytes; older output is dropped.
const OUTPUT: usize = 128 * 1024;

/// Rows to remove once the reply or step that they are parts of is complete.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PendingParts {
    reply: Vec<i64>,
    output: VecDeque<(i64, usize)>,
}

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

/// Milliseconds since 1970.
pub(super) fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

/// A transaction that writes, in its turn.
#[derive(Debug)]
pub(super) struct WriteTransaction<'a> {
    // Ends before its turn does: fields are dropped in this order.
    change: Transaction<'a>,
    _turn: WriteTurn,
}

impl WriteTransaction<'_> {
    pub fn commit(self) -> Result<(), StoreError> {
        Ok(self.change.commit()?)
    }
}

impl Deref for WriteTransaction<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.change
    }
}

impl Database {
    /// Adds rows to a session, and creates the session with the first of them. Returns its key.
    pub fn add(
        &mut self,
        key: Option<i64>,
        header: &SessionHeader,
        rows: &[EventRow],
        parts: &mut PendingParts,
    ) -> Result<i64, StoreError> {
        let mut now = parts.clone();
        let change = self.write_transaction()?;
        let key = match key {
            Some(key) => key,
            None => insert_session(&change, header, rows.first())?,
        };
        for row in rows {
            insert_row(&change, key, row, &mut now)?;
        }
        change.commit()?;
        *parts = now;
        Ok(key)
    }

    /// The rows in the last turn of a session that belong to something incomplete.
    pub fn parts(&self, key: i64) -> Result<PendingParts, StoreError> {
        let mut read = self.db.prepare_cached(
            "SELECT id, kind, length(CAST(body AS BLOB)) FROM events
             WHERE session = ?1 AND undone IS NULL AND id > (SELECT coalesce(max(id), 0) FROM events
                 WHERE session = ?1 AND turn IS NOT NULL AND undone IS NULL)
             ORDER BY id",
        )?;
        let mut parts = PendingParts::default();
        let mut rows = read.query([key])?;
        while let Some(row) = rows.next()? {
            let (id, kind, size): (i64, String, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
            let size = usize::try_from(size).unwrap_or(0);
            match kind.as_str() {
                "delta" => parts.reply.push(id),
                "begins" | "end" | "whole" => parts.reply.clear(),
                "output" => parts.output.push_back((id, size)),
                "step" | "seen" => parts.output.clear(),
                _ => {}
            }
        }
        Ok(parts)
    }

    /// Saves the messages of a finished turn, and which model answered last.
    pub fn save_turn_history(
        &mut self,
        key: i64,
        turn: u64,
        body: &str,
        model: Option<&str>,
    ) -> Result<(), StoreError> {
        let change = self.write_transaction()?;
        let changed = change
            .prepare_cached(
                "UPDATE history SET body = ?3
                 WHERE session = ?1 AND turn = ?2 AND undone IS NULL AND whole = 0",
            )?
            .execute(params![key, to_sql_integer(turn), body])?;
        if changed == 0 {
            change.execute(
                "INSERT INTO history(session, turn, body) VALUES (?1, ?2, ?3)",
                params![key, to_sql_integer(turn), body],
            )?;
        }
        if let Some(model) = model {
            change
                .prepare_cached(
                    "UPDATE sessions SET model = ?2 WHERE key = ?1 AND model IS NOT ?2",
                )?
                .execute(params![key, model])?;
        }
        change.commit()
    }

    /// Saves the whole history after a turn, in place of the earlier one.
    pub fn save_whole_history(
        &mut self,
        key: i64,
        turn: u64,
        body: &str,
    ) -> Result<(), StoreError> {
        let _turn = self.write_order.take(WAIT_TIMEOUT);
        self.db.execute(
            "INSERT INTO history(session, turn, whole, body) VALUES (?1, ?2, 1, ?3)",
            params![key, to_sql_integer(turn), body],
        )?;
        Ok(())
    }

    /// Removes turns from `turn` on from the history and, if `shown` is set, from the shown events.
    /// The rows stay, and `event` records what happened; `behind` is added with it. Returns the
    /// message that began that turn.
    pub fn rewind(
        &mut self,
        key: i64,
        turn: u64,
        shown_event: Option<&Event>,
        rows: &[EventRow],
    ) -> Result<Option<String>, StoreError> {
        let change = self.write_transaction()?;
        let began: Option<(i64, String)> = change
            .query_row(
                "SELECT id, body FROM events
                 WHERE session = ?1 AND turn = ?2 AND undone IS NULL ORDER BY id DESC LIMIT 1",
                params![key, to_sql_integer(turn)],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .optional()?;
        let Some((id, body)) = began else { return Err(StoreError::NothingThere) };
        let by = match shown_event {
            Some(event) => {
                let body = event.to_value().unwrap_or_default().to_string();
                change.execute(
                    "INSERT INTO events(session, at, kind, body, undone) VALUES (?1, ?2, 'undo', ?3, 0)",
                    params![key, now(), body],
                )?;
                change.last_insert_rowid()
            }
            None => id,
        };
        if shown_event.is_some() {
            change.execute(
                "UPDATE events SET undone = ?3
                 WHERE session = ?1 AND id >= ?2 AND undone IS NULL AND kind <> 'folder'",
                params![key, id, by],
            )?;
        }
        change.execute(
            "UPDATE history SET undone = ?3 WHERE session = ?1 AND turn >= ?2 AND undone IS NULL",
            params![key, to_sql_integer(turn), by],
        )?;
        for row in rows {
            insert_row(&change, key, row, &mut PendingParts::default())?;
        }
        change.commit()?;
        Ok(match Event::from_json(&body) {
            Ok(Event::TurnStarted { text, .. }) => Some(text),
            _ => None,
        })
    }

    /// Copies a session, without its undone rows, into a new one. The old one stays unchanged.
    /// Returns the key of the new one.
    pub fn fork(
        &mut self,
        key: i64,
        header: &SessionHeader,
        title: Option<&str>,
    ) -> Result<i64, StoreError> {
        let change = self.write_transaction()?;
        let touched = next_touch(&change)?;
        change.execute(
            "INSERT INTO sessions(id, folder, title, named, created, updated, touched, parent,
                 branch, bot, next_step, next_ask, steps, input, output, estimated, cached, written, reasoning, cost,
                 model)
             SELECT ?2, ?3, coalesce(?4, title), ?4 IS NOT NULL OR named, ?5, max(?5, updated), ?6,
                 id, (SELECT max(id) FROM events WHERE session = ?1), bot, next_step, next_ask,
                 steps, input, output, estimated, cached, written, reasoning, cost, model
             FROM sessions WHERE key = ?1",
            params![key, header.id, header.folder, title, now(), touched],
        )?;
        let new = change.last_insert_rowid();
        copy_events(&change, key, new)?;
        change.execute(
            "INSERT INTO history(session, turn, whole, body)
             SELECT ?2, turn, whole, body FROM history
             WHERE session = ?1 AND undone IS NULL ORDER BY id",
            params![key, new],
        )?;
        change.commit()?;
        Ok(new)
    }

    /// Lists a session that was copied from elsewhere with those of its own time.
    pub fn place_by_time(&mut self, id: &str) -> Result<(), StoreError> {
        let _turn = self.write_order.take(WAIT_TIMEOUT);
        self.db.execute(
            "UPDATE sessions SET touched = (SELECT coalesce(max(other.touched), 0)
                 FROM sessions AS other
                 WHERE other.updated <= sessions.updated AND other.key <> sessions.key)
             WHERE id = ?1",
            [id],
        )?;
        Ok(())
    }

    pub fn rename(&mut self, key: i64, title: &str) -> Result<(), StoreError> {
        let _turn = self.write_order.take(WAIT_TIMEOUT);
        self.db.execute(
            "UPDATE sessions SET title = ?2, named = 1 WHERE key = ?1",
            params![key, title],
        )?;
        Ok(())
    }

    /// Deletes a session and all of its data.
    ///
    /// # Errors
    /// When a window has it open.
    pub fn delete(&mut self, store: &StorePlace, id: &str) -> Result<(), StoreError> {
        let known = self.find(id)?;
        let Some(_ours) = store.lock(&known.id)? else {
            return Err(StoreError::Held { id: known.id });
        };
        let key = known.key;
        let change = self.write_transaction()?;
        remove_from_index(&change, key)?;
        change.execute("DELETE FROM sessions WHERE key = ?1", [key])?;
        change.commit()?;
        // It is removed from the log as well, unless another window reads for longer than we wait:
        // then it stays until the log is next emptied.
        let _ = self.db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        store.remove_lock(&known.id);
        Ok(())
    }

    pub(super) fn write_transaction(&mut self) -> Result<WriteTransaction<'_>, StoreError> {
        let turn = self.write_order.take(WAIT_TIMEOUT);
        let change = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        Ok(WriteTransaction { change, _turn: turn })
    }
}

/// Converts one of our numbers for SQLite.
pub(super) fn to_sql_integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Sessions are ordered by this and never by a clock, which may jump.
fn next_touch(connection: &Connection) -> Result<i64, StoreError> {
    let mut next =
        connection.prepare_cached("SELECT coalesce(max(touched), 0) + 1 FROM sessions")?;
    Ok(next.query_row([], |row| row.get(0))?)
}

fn insert_session(
    connection: &Connection,
    header: &SessionHeader,
    first_row: Option<&EventRow>,
) -> Result<i64, StoreError> {
    let title = first_row.and_then(|row| match Event::from_json(&row.body) {
        Ok(Event::TurnStarted { text, origin, .. }) => Some(event_row::title_of(&text, origin)),
        _ => None,
    });
    let title = match (&header.title, title) {
        (Some(named), _) => named.clone(),
        (None, title) => title.unwrap_or_default(),
    };
    let at = first_row.map_or_else(now, |row| row.at);
    connection
        .prepare_cached(
            "INSERT INTO sessions(id, folder, title, named, created, updated, touched, bot)
         VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6, ?7)",
        )?
        .execute(params![
            header.id,
            header.folder,
            title,
            header.title.is_some(),
            at,
            next_touch(connection)?,
            header.bot
        ])?;
    Ok(connection.last_insert_rowid())
}

fn insert_row(
    connection: &Connection,
    key: i64,
    row: &EventRow,
    parts: &mut PendingParts,
) -> Result<(), StoreError> {
    connection
        .prepare_cached(
            "INSERT INTO events(session, at, kind, turn, body) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![key, row.at, row.kind.name(), row.turn.map(to_sql_integer), row.body])?;
    let id = connection.last_insert_rowid();
    if !row.searchable.is_empty() {
        index_text(connection, id, &row.searchable)?;
    }
    remove_superseded(connection, id, row, parts)?;
    update_session(connection, key, row)
}

/// Removes the words of a session from the index. Must be called before its events are removed.
pub(super) fn remove_from_index(connection: &Connection, key: i64) -> Result<(), StoreError> {
    connection.execute("DELETE FROM said WHERE session = ?1", [key])?;
    connection.execute(
        "DELETE FROM words WHERE rowid IN (SELECT id FROM events WHERE session = ?1)",
        [key],
    )?;
    Ok(())
}

/// Removes the parts of what is complete now.
fn remove_superseded(
    connection: &Connection,
    id: i64,
    row: &EventRow,
    parts: &mut PendingParts,
) -> Result<(), StoreError> {
    let mut forget = connection.prepare_cached("DELETE FROM events WHERE id = ?1")?;
    match row.kind {
        RowKind::Delta => parts.reply.push(id),
        RowKind::ReplyStarted | RowKind::TurnEnded => parts.reply.clear(),
        RowKind::ReplyComplete => {
            for id in parts.reply.drain(..) {
                forget.execute([id])?;
            }
        }
        RowKind::Output => {
            parts.output.push_back((id, row.body.len()));
            let mut size: usize = parts.output.iter().map(|(_, size)| size).sum();
            while size > OUTPUT
                && let Some((id, less)) = parts.output.pop_front()
            {
                forget.execute([id])?;
                size -= less;
            }
        }
        RowKind::StepStarted => parts.output.clear(),
        RowKind::StepFinished => {
            for (id, _) in parts.output.drain(..) {
                forget.execute([id])?;
            }
        }
        RowKind::TurnStarted | RowKind::Folder | RowKind::Other => {}
    }
    Ok(())
}

/// Applies the changes of a row to its session.
fn update_session(connection: &Connection, key: i64, row: &EventRow) -> Result<(), StoreError> {
    if let Some(turn) = row.turn {
        let touched = next_touch(connection)?;
        connection
            .prepare_cached(
                "UPDATE sessions SET updated = max(updated, ?2), touched = ?3 WHERE key = ?1",
            )?
            .execute(params![key, row.at, touched])?;
        connection
            .prepare_cached("INSERT INTO history(session, turn) VALUES (?1, ?2)")?
            .execute(params![key, to_sql_integer(turn)])?;
    }
    if row.step > 0 || row.ask > 0 {
        connection
            .prepare_cached(
                "UPDATE sessions SET next_step = max(next_step, ?2), next_ask = max(next_ask, ?3),
                 steps = steps + ?4 WHERE key = ?1",
            )?
            .execute(params![
                key,
                to_sql_integer(row.step),
                to_sql_integer(row.ask),
                row.kind == RowKind::StepStarted
            ])?;
    }
    match row.usage {
        Some(usage) => add_usage(connection, key, row.at, usage),
        None => Ok(()),
    }
}

fn add_usage(connection: &Connection, key: i64, at: i64, usage: Usage) -> Result<(), StoreError> {
    connection
        .prepare_cached(
            "UPDATE sessions SET updated = max(updated, ?2), input = input + ?3,
             output = output + ?4, estimated = estimated OR ?5, cached = cached + ?6,
             written = written + ?7, reasoning = reasoning + ?8, cost = cost + ?9
         WHERE key = ?1",
        )?
        .execute(params![
            key,
            at,
            to_sql_integer(usage.input_tokens),
            to_sql_integer(usage.output_tokens),
            usage.estimated,
            to_sql_integer(usage.cached_tokens),
            to_sql_integer(usage.cache_write_tokens),
            to_sql_integer(usage.reasoning_tokens),
            to_sql_integer(usage.cost.0)
        ])?;
    Ok(())
}

fn copy_events(connection: &Connection, from: i64, to: i64) -> Result<(), StoreError> {
    let mut read = connection.prepare(
        "SELECT at, kind, turn, body FROM events
         WHERE session = ?1 AND undone IS NULL ORDER BY id",
    )?;
    let mut add = connection
        .prepare("INSERT INTO events(session, at, kind, turn, body) VALUES (?1, ?2, ?3, ?4, ?5)")?;
    // The added rows have another session, so the query never reads them.
    let mut rows = read.query([from])?;
    while let Some(row) = rows.next()? {
        let (at, kind, turn): (i64, String, Option<i64>) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let body: String = row.get(3)?;
        add.execute(params![to, at, kind, turn, body])?;
        index_text(
            connection,
            connection.last_insert_rowid(),
            &event_row::searchable_text_in(&body),
        )?;
    }
    Ok(())
}
