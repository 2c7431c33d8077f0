//! Detects another file in the place of the open one: restored, synchronised or copied over it
//! while the program runs. This is noticed before anything is written; the session is copied into
//! the new file, and everything else in that file stays as it is.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, OptionalExtension, params};

use super::file_watch::{self, FileWatch, PathState, file_identity};
use super::write::remove_from_index;
use super::{Database, SavingError, StoreError, open_private_file, recover, with_suffix};

/// A session copied out of a file, and where the copy is. Locked while a program works with it: what
/// a program leaves when it ends, the next one takes over.
#[derive(Debug)]
pub struct ExportedSession {
    file: PathBuf,
    pub(super) id: String,
    _lock: File,
}

impl ExportedSession {
    /// The session that a program has left in this copy; `None` while that program runs, and if it
    /// is not a whole one, which is removed: the file that it is from was still there.
    fn left_in(copy: &Path) -> Option<ExportedSession> {
        let lock = File::open(copy).ok()?;
        lock.try_lock().ok()?;
        let id = Connection::open_with_flags(copy, OpenFlags::SQLITE_OPEN_READ_ONLY)
            .and_then(|db| db.query_row("SELECT id FROM sessions", [], |row| row.get(0)));
        match id {
            Ok(id) => Some(ExportedSession { file: copy.to_owned(), id, _lock: lock }),
            Err(error) => {
                tracing::warn!(%error, "a copy of a session cannot be read");
                // It may be the only one: what is wrong for a moment removes nothing.
                if !StoreError::from(error).may_pass() {
                    recover::remove_database(copy);
                }
                None
            }
        }
    }

    /// Removes the copy.
    pub fn remove(self) {
        recover::remove_database(&self.file);
    }
}

/// The copies of sessions beside a file.
fn copies_of(file: &Path) -> Vec<PathBuf> {
    let beginning = with_suffix(file, CARRIED);
    let beginning = beginning.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let entries = file.parent().and_then(|folder| fs::read_dir(folder).ok());
    let is_copy = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let number = name.strip_prefix(&beginning);
        number.is_some_and(|number| number.chars().all(|c| c.is_ascii_hexdigit()))
    };
    entries.into_iter().flatten().flatten().map(|entry| entry.path()).filter(is_copy).collect()
}

/// Comes before the number of a copy.
const CARRIED: &str = ".carried-";

impl Database {
    /// Watches the file at its path from now on.
    pub fn watch(&mut self) {
        // If it cannot be checked, it counts as removed once it is removed.
        let number = file_watch::number(&self.db).unwrap_or(0);
        let handles = self.handles.all();
        self.file_watch =
            self.file.as_ref().and_then(|file| FileWatch::open(file, number, handles).ok());
    }

    /// How the file at the path compares with this one.
    pub fn path_state(&mut self) -> PathState {
        match (&self.file, &mut self.file_watch) {
            (Some(file), Some(witness)) => witness.check(file),
            (Some(file), None) if !file.exists() => PathState::Gone,
            _ => PathState::Same,
        }
    }

    /// Copies a session out of a file that was replaced; `None` if it is not there.
    ///
    /// # Errors
    /// When there is no room for the copy next to the file.
    pub fn export_session(&self, key: i64) -> Result<Option<ExportedSession>, StoreError> {
        let Some(file) = &self.file else { return Ok(None) };
        // Another process may do the same with its sessions at this moment.
        let to = with_suffix(file, &format!("{CARRIED}{:016x}", fastrand::u64(..)));
        let lock = open_private_file(&to)?;
        let copied = lock.lock().map_err(StoreError::from).and_then(|()| self.copy_to(&to, key));
        match copied {
            Ok(Some(id)) => Ok(Some(ExportedSession { file: to, id, _lock: lock })),
            other => {
                recover::remove_database(&to);
                other.map(|_| None)
            }
        }
    }

    fn copy_to(&self, file: &Path, key: i64) -> Result<Option<String>, StoreError> {
        let mut carry = Connection::open(file)?;
        carry.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")?;
        super::schema::migrate(&mut carry, super::schema::MIGRATIONS)?;
        recover::copy_session(&self.db, &carry, key)?;
        Ok(carry.query_row("SELECT id FROM sessions", [], |row| row.get(0)).optional()?)
    }

    /// The file is about to be closed, and another one has its place.
    ///
    /// # Errors
    /// When its log cannot be removed.
    pub fn leave_replaced(&self) -> Result<(), StoreError> {
        let Some(file) = &self.file else { return Ok(()) };
        // The log at this path belongs to the file that was here before, not to the one that is
        // here now.
        self.keep_log_on_close();
        let log = with_suffix(file, "-wal");
        let ours = self.file_watch.as_ref().and_then(|witness| witness.log);
        if ours.is_some() && ours == file_identity(&log) {
            for left in [log, with_suffix(file, "-shm")] {
                match fs::remove_file(left) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => {
                        return Err(error.into());
                    }
                    Ok(()) | Err(_) => {}
                }
            }
        }
        Ok(())
    }

    /// Copies the session into this file, in place of an older state of it.
    ///
    /// # Errors
    /// When it cannot be read or written.
    pub fn import_session(&mut self, carried: &ExportedSession) -> Result<(), StoreError> {
        if !carried.file.exists() {
            return Err(StoreError::NothingThere);
        }
        self.db.execute("ATTACH ?1 AS carried", [carried.file.to_string_lossy()])?;
        let done = self.import_attached(&carried.id);
        self.db.execute_batch("DETACH carried")?;
        done.map(|_| ())
    }

    /// Takes over the sessions that programs copied out of earlier files, and that were in no file
    /// when they ended.
    pub fn import_left_sessions(&mut self) {
        let copies = self.file.as_deref().map(copies_of).unwrap_or_default();
        for copy in copies {
            let Some(session) = ExportedSession::left_in(&copy) else { continue };
            // One that is here has been continued here: both stay.
            if self.find(&session.id).is_ok() {
                continue;
            }
            match self.import_session(&session) {
                Ok(()) => session.remove(),
                Err(error) => tracing::warn!(%error, "a copy of a session is left where it is"),
            }
        }
    }

    fn import_attached(&mut self, id: &str) -> Result<i64, StoreError> {
        let change = self.write_transaction()?;
        let here: Option<(i64, i64)> = change
            .query_row(
                "SELECT key, (SELECT count(*) FROM main.events WHERE session = key)
                 FROM main.sessions WHERE id = ?1",
                [id],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .optional()?;
        let ours: i64 =
            change.query_row("SELECT count(*) FROM carried.events", [], |row| row.get(0))?;
        if let Some((key, events)) = here {
            if events > ours {
                return Ok(key);
            }
            remove_from_index(&change, key)?;
            change.execute("DELETE FROM main.sessions WHERE key = ?1", [key])?;
        }
        change.execute(
            "INSERT INTO main.sessions(id, folder, title, named, created, updated, touched, parent,
                 branch, bot, next_step, next_ask, steps, input, output, estimated, cached, written, reasoning, cost,
                 model)
             SELECT id, folder, title, named, created, updated,
                 (SELECT coalesce(max(touched), 0) + 1 FROM main.sessions), parent, NULL, bot,
                 next_step, next_ask, steps, input, output, estimated, cached, written, reasoning, cost,
                 model FROM carried.sessions",
            [],
        )?;
        let key = change.last_insert_rowid();
        let behind: i64 =
            change
                .query_row("SELECT coalesce(max(id), 0) FROM main.events", [], |row| row.get(0))?;
        for sql in [
            "INSERT INTO main.events(id, session, at, kind, turn, body, undone)
             SELECT id + ?2, ?1, at, kind, turn, body, undone + ?2 FROM carried.events ORDER BY id",
            "INSERT INTO main.history(session, turn, whole, body, undone)
             SELECT ?1, turn, whole, body, undone + ?2 FROM carried.history ORDER BY id",
        ] {
            change.execute(sql, params![key, behind])?;
        }
        recover::index_events(&change, behind)?;
        change.commit()?;
        Ok(key)
    }

    /// The report about a file that replaced another.
    pub fn replaced_report(&self) -> Option<SavingError> {
        self.file.clone().map(|file| SavingError::Replaced { file })
    }
}
