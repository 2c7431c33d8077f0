//! Tells whether the file at a path is still the open one.
//!
//! A file is identified by its device and inode, and by a random number in its first bytes. The
//! first bytes are read through a handle that stays open: closing one would release the locks of
//! the database.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::open_handles::OpenHandles;
use super::{StoreError, with_suffix};

/// The number of bytes at the start of a file that identify it, and the offsets of the file's
/// number and of its change counter in them.
const HEAD: usize = 100;

const NUMBER: usize = 68;

const CHANGES: usize = 24;

/// How the file at the path compares with the open one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathState {
    Same,
    /// There is no file.
    Gone,
    /// It is another file.
    Replaced,
}

/// The state of the file at the last check.
#[derive(Debug)]
pub(super) struct FileWatch {
    /// `None` once it is dropped.
    file: Option<File>,
    handles: OpenHandles,
    /// Its random number; the start of the file contains it as soon as the log is written into it.
    number: u32,
    header: Option<[u8; HEAD]>,
    /// The device and inode of its log.
    pub(super) log: Option<(u64, u64)>,
}

impl FileWatch {
    pub(super) fn open(path: &Path, number: u32, handles: &OpenHandles) -> io::Result<FileWatch> {
        let file = Some(handles.take(path)?);
        let handles = handles.clone();

        let mut watch = FileWatch { file, handles, number, header: None, log: None };
        watch.header = watch.read_head();
        watch.update_log(path);
        Ok(watch)
    }

    fn read_head(&self) -> Option<[u8; HEAD]> {
        let mut header = [0; HEAD];
        self.file.as_ref()?.read_exact_at(&mut header, 0).ok().map(|()| header)
    }

    fn update_log(&mut self, path: &Path) {
        self.log = self.log.or_else(|| file_identity(&with_suffix(path, "-wal")));
    }

    pub(super) fn check(&mut self, path: &Path) -> PathState {
        let Ok(there) = fs::metadata(path) else { return PathState::Gone };
        let ours = self
            .file
            .as_ref()
            .and_then(|file| file.metadata().ok())
            .map(|meta| (meta.dev(), meta.ino()));
        if ours != Some((there.dev(), there.ino())) {
            return PathState::Replaced;
        }
        self.update_log(path);
        let header = self.read_head();
        if header == self.header {
            return PathState::Same;
        }
        // Writing the log into the file changes its start, but neither its number nor the direction
        // in which its counter moves.
        let follows = match (&self.header, &header) {
            (Some(before), Some(now)) => {
                read_u32(now, NUMBER) == Some(self.number)
                    && read_u32(now, CHANGES) >= read_u32(before, CHANGES)
            }
            (None, Some(now)) => read_u32(now, NUMBER) == Some(self.number),
            (_, None) => false,
        };
        if follows {
            self.header = header;
            return PathState::Same;
        }
        PathState::Replaced
    }
}

impl Drop for FileWatch {
    fn drop(&mut self) {
        if let Some(file) = self.file.take() {
            self.handles.give_back(file);
        }
    }
}

fn read_u32(header: &[u8; HEAD], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(header.get(at..at + 4)?.try_into().ok()?))
}

pub(super) fn file_identity(file: &Path) -> Option<(u64, u64)> {
    let meta = fs::metadata(file).ok()?;
    Some((meta.dev(), meta.ino()))
}

/// Gives a database a random number if it has none. Of several windows that do this at once, one
/// draws the number: a window that has read it would take the file with another one for another
/// file.
///
/// # Errors
/// When it cannot be written.
pub(super) fn ensure_number(connection: &mut Connection) -> Result<(), StoreError> {
    if number(connection)? == 0 {
        let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if number(&change)? == 0 {
            change.pragma_update(None, "application_id", fastrand::i32(1..))?;
        }
        change.commit()?;
    }
    Ok(())
}

/// The random number of a database, zero if it has none.
pub(super) fn number(connection: &Connection) -> Result<u32, StoreError> {
    Ok(connection.query_row("PRAGMA application_id", [], |row| row.get(0))?)
}
