//! Handles of the file that stay open until every session of this process is done with it.
//!
//! On Unix, closing any handle of a file releases all locks that the process has on it, those of
//! other connections too; another process could then take its own end for that of the last one. A
//! session that ends leaves its handle here, and the next one takes it.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Copies share the same handles.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenHandles(Arc<Mutex<Handles>>);

#[derive(Debug, Default)]
struct Handles {
    /// The sessions that use the file.
    users: usize,
    /// At most as many as there ever were users at once.
    spare: Vec<File>,
}

impl OpenHandles {
    /// A handle for reading, to be given back.
    pub fn take(&self, path: &Path) -> std::io::Result<File> {
        let there = fs::metadata(path)?;
        let mut handles = self.lock();
        let is_it = |file: &File| {
            file.metadata().is_ok_and(|meta| (meta.dev(), meta.ino()) == (there.dev(), there.ino()))
        };
        let file = match handles.spare.iter().position(is_it) {
            Some(at) => handles.spare.swap_remove(at),
            None => File::open(path)?,
        };
        handles.users += 1;
        Ok(file)
    }

    /// The handle of a session that has closed its connection.
    pub fn give_back(&self, file: File) {
        let mut handles = self.lock();
        handles.users = handles.users.saturating_sub(1);
        handles.spare.push(file);
        if handles.users == 0 {
            handles.spare.clear();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Handles> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A store is the same store whatever it has open.
impl PartialEq for OpenHandles {
    fn eq(&self, _: &OpenHandles) -> bool {
        true
    }
}

impl Eq for OpenHandles {}
