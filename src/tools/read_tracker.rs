//! Tracks which version of each file the model knows: its digest as it was read, or as a
//! step left it. A change based on an older version is pointed out before it is made. An editor may
//! have a newer one than the disk.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::file_host::FileHost;

/// Files that are remembered.
const MAX_FILES: usize = 20_000;

/// One list for all who look at it. Digests are facts of a moment, so a later writer simply
/// overwrites them.
#[derive(Clone, Debug, Default)]
pub struct ReadTracker {
    digests: Arc<Mutex<BTreeMap<PathBuf, String>>>,
    /// What holds the files, if that is not the disk.
    pub host: Option<Arc<dyn FileHost>>,
}

impl ReadTracker {
    pub fn with_host(host: Option<Arc<dyn FileHost>>) -> ReadTracker {
        ReadTracker { host, ..ReadTracker::default() }
    }

    /// What holds files that are changed, if that is not the disk.
    pub fn writing_host(&self) -> Option<&dyn FileHost> {
        self.host.as_deref().filter(|host| host.can_write())
    }

    /// `None`: the file is gone.
    pub fn record(&self, path: &Path, digest: Option<String>) {
        let mut seen = self.digests.lock().unwrap_or_else(PoisonError::into_inner);
        match digest {
            Some(digest) if seen.len() < MAX_FILES || seen.contains_key(path) => {
                seen.insert(path.to_owned(), digest);
            }
            Some(_) => {}
            None => drop(seen.remove(path)),
        }
    }

    pub fn last_digest(&self, path: &Path) -> Option<String> {
        self.digests.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned()
    }
}
