//! Detects another file in the place of the open one: restored, synchronised or copied over it
//! while the program runs. This is noticed before anything is written; the session is copied into
//! the new file, and everything else in that file stays as it is.
//!
//! A file is identified by its device and inode, and by a random number in its first bytes. The
//! first bytes are read through a handle that stays open: closing one would release the locks of
//! the database.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, params};

use super::disk::beside;
use super::write::forget_words;
use super::{Database, SavingError, StoreError, own_file, recover};

/// The number of bytes at the start of a file that identify it, and the offsets of the file's
/// number and of its change counter in them.
const HEAD: usize = 100;
const NUMBER: usize = 68;
const CHANGES: usize = 24;

/// How the file at the path compares with the open one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stands {
    There,
    /// There is no file.
    Gone,
    /// It is another file.
    Replaced,
}

/// The state of the file at the last check.
#[derive(Debug)]
pub(super) struct Witness {
    file: File,
    /// Its random number; the start of the file contains it as soon as the log is written into it.
    number: u32,
    head: Option<[u8; HEAD]>,
    /// The device and inode of its log.
    log: Option<(u64, u64)>,
}

impl Witness {
    fn open(path: &Path, number: u32) -> io::Result<Witness> {
        let file = File::open(path)?;
        let mut witness = Witness { file, number, head: None, log: None };
        witness.head = witness.head();
        witness.log(path);
        Ok(witness)
    }

    fn head(&self) -> Option<[u8; HEAD]> {
        let mut head = [0; HEAD];
        self.file.read_exact_at(&mut head, 0).ok().map(|()| head)
    }

    fn log(&mut self, path: &Path) {
        self.log = self.log.or_else(|| identity(&beside(path, "-wal")));
    }

    fn judge(&mut self, path: &Path) -> Stands {
        let Ok(there) = fs::metadata(path) else { return Stands::Gone };
        let ours = self.file.metadata().ok().map(|meta| (meta.dev(), meta.ino()));
        if ours != Some((there.dev(), there.ino())) {
            return Stands::Replaced;
        }
        self.log(path);
        let head = self.head();
        if head == self.head {
            return Stands::There;
        }
        // Writing the log into the file changes its start, but neither its number nor the direction
        // in which its counter moves.
        let follows = match (&self.head, &head) {
            (Some(before), Some(now)) => {
                number(now, NUMBER) == Some(self.number)
                    && number(now, CHANGES) >= number(before, CHANGES)
            }
            (None, Some(now)) => number(now, NUMBER) == Some(self.number),
            (_, None) => false,
        };
        if follows {
            self.head = head;
            return Stands::There;
        }
        Stands::Replaced
    }
}

/// The data copied out of a file, and its key there.
#[derive(Debug)]
pub struct Carried {
    file: PathBuf,
    /// Set if it contains a session.
    id: Option<String>,
}

impl Database {
    /// Watches the file at its path from now on.
    pub fn watch(&mut self) {
        // If it cannot be checked, it counts as removed once it is removed.
        let number = self.db.query_row("PRAGMA application_id", [], |row| row.get(0));
        let number = number.unwrap_or(0);
        self.witness = self.file.as_ref().and_then(|file| Witness::open(file, number).ok());
    }

    /// How the file at the path compares with this one.
    pub fn stands(&mut self) -> Stands {
        match (&self.file, &mut self.witness) {
            (Some(file), Some(witness)) => witness.judge(file),
            (Some(file), None) if !file.exists() => Stands::Gone,
            _ => Stands::There,
        }
    }

    /// Copies a session out of a file that was replaced, and closes the file.
    ///
    /// # Errors
    /// When there is no room for the copy next to the file.
    pub fn carry(&mut self, key: Option<i64>) -> Result<Option<Carried>, StoreError> {
        let Some(file) = self.file.clone() else { return Ok(None) };
        let to = beside(&file, ".carried");
        recover::forget(&to);
        own_file(&to)?;
        let mut carry = Connection::open(&to)?;
        carry.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")?;
        super::schema::migrate(&mut carry, super::schema::MIGRATIONS)?;
        if let Some(key) = key {
            recover::copy_session(&self.db, &carry, key)?;
        }
        let id = carry.query_row("SELECT id FROM sessions", [], |row| row.get(0)).optional()?;
        // The log at this path belongs to the file that was here before, not to the one that is
        // here now.
        self.leave_log();
        let log = beside(&file, "-wal");
        let ours = self.witness.as_ref().and_then(|witness| witness.log);
        if ours.is_some() && ours == identity(&log) {
            for left in [log, beside(&file, "-shm")] {
                match fs::remove_file(left) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => {
                        return Err(error.into());
                    }
                    Ok(()) | Err(_) => {}
                }
            }
        }
        Ok(Some(Carried { file: to, id }))
    }

    /// Copies the session into this file, in place of an older state of it. Returns its key.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn take_in(&mut self, carried: &Carried) -> Result<Option<i64>, StoreError> {
        let Some(id) = &carried.id else {
            recover::forget(&carried.file);
            return Ok(None);
        };
        self.db.execute("ATTACH ?1 AS carried", [carried.file.to_string_lossy()])?;
        let done = self.take_in_attached(id);
        self.db.execute_batch("DETACH carried")?;
        let key = done?;
        recover::forget(&carried.file);
        Ok(Some(key))
    }

    fn take_in_attached(&mut self, id: &str) -> Result<i64, StoreError> {
        let change = self.change()?;
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
            forget_words(&change, key)?;
            change.execute("DELETE FROM main.sessions WHERE key = ?1", [key])?;
        }
        change.execute(
            "INSERT INTO main.sessions(id, folder, title, named, created, updated, touched, parent,
                 branch, bot, next_step, next_ask, steps, input, output, estimated)
             SELECT id, folder, title, named, created, updated,
                 (SELECT coalesce(max(touched), 0) + 1 FROM main.sessions), parent, NULL, bot,
                 next_step, next_ask, steps, input, output, estimated FROM carried.sessions",
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
        recover::index(&change, behind)?;
        change.commit()?;
        Ok(key)
    }

    /// The report about a file that replaced another.
    pub fn replaced(&self) -> Option<SavingError> {
        self.file.clone().map(|file| SavingError::Replaced { file })
    }
}

fn number(head: &[u8; HEAD], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(head.get(at..at + 4)?.try_into().ok()?))
}

fn identity(file: &Path) -> Option<(u64, u64)> {
    let meta = fs::metadata(file).ok()?;
    Some((meta.dev(), meta.ino()))
}

/// Gives a database a random number if it has none.
///
/// # Errors
/// When it cannot be written.
pub(super) fn draw_number(db: &Connection) -> Result<(), StoreError> {
    let drawn: i64 = db.query_row("PRAGMA application_id", [], |row| row.get(0))?;
    if drawn == 0 {
        db.pragma_update(None, "application_id", fastrand::i32(1..))?;
    }
    Ok(())
}
