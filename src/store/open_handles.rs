//! Handles of the file that stay open until every session of this process is done with it.
//!
//! On Unix, closing any handle of a file releases all locks that the process has on it, those of
//! other connections too; another process could then take its own end for that of the last one. A
//! session that ends leaves its handle here, and the next one takes it. All connections count, those
//! without a handle of their own too.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Copies share the same handles.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenHandles(Arc<Mutex<Handles>>);

#[derive(Debug, Default)]
struct Handles {
    /// The connections to the file.
    users: usize,
    /// At most as many as there ever were users at once.
    spare: Vec<File>,
}

/// One connection to the file. Dropped after it is closed.
#[derive(Debug)]
pub(super) struct HandleUse(OpenHandles);

impl HandleUse {
    pub fn all(&self) -> &OpenHandles {
        &self.0
    }
}

impl Drop for HandleUse {
    fn drop(&mut self) {
        let mut handles = self.0.lock();
        handles.users = handles.users.saturating_sub(1);
        if handles.users == 0 {
            handles.spare.clear();
        }
    }
}

impl OpenHandles {
    /// For a connection that is about to be opened.
    pub fn begin_use(&self) -> HandleUse {
        self.lock().users += 1;
        HandleUse(self.clone())
    }

    /// A handle for reading, to be given back.
    pub fn take(&self, path: &Path) -> std::io::Result<File> {
        let there = fs::metadata(path)?;
        let mut handles = self.lock();
        let is_it = |file: &File| {
            file.metadata().is_ok_and(|meta| (meta.dev(), meta.ino()) == (there.dev(), there.ino()))
        };
        match handles.spare.iter().position(is_it) {
            Some(at) => Ok(handles.spare.swap_remove(at)),
            None => File::open(path),
        }
    }

    /// The handle of a session that has ended.
    pub fn give_back(&self, file: File) {
        self.lock().spare.push(file);
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
