//! Detects another file in the place of the open one: restored, synchronised or copied over it
//! while the program runs. This is noticed before anything is written. All that is still readable of
//! the open one is written into a file beside it, and its sessions go on in the new file, where
//! everything else stays as it is.

use std::fs;
use std::io;
use std::path::PathBuf;

use super::file_watch::{self, FileWatch, PathState, file_identity};
use super::{Database, StoreError, connection::connect, open_private_file, recover, with_suffix};

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

    /// Writes all that is readable of a file that was replaced into a file beside it. Returns its
    /// name; `None` if nothing is readable.
    ///
    /// # Errors
    /// When the disk is full, or cannot be written.
    pub fn put_aside(&self) -> Result<Option<PathBuf>, StoreError> {
        let Some(file) = &self.file else { return Ok(None) };
        let aside = with_suffix(file, &format!(".replaced-{:016x}", fastrand::u64(..)));
        // Only its owner may read it, also while it grows.
        open_private_file(&aside)?;
        let copied =
            connect(&aside).and_then(|mut copy| recover::copy_all_tables(&self.db, &mut copy));
        if !copied.as_ref().is_ok_and(|found| found.sessions > 0) {
            recover::remove_database(&aside);
        }
        Ok((copied?.sessions > 0).then_some(aside))
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
}
