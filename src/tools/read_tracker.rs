//! Tracks which version of each file the model knows: its digest as it was read, or as a
//! step left it. A change based on an older version is pointed out before it is made.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Files that are remembered.
const MOST: usize = 20_000;

/// One list for all who look at it. Digests are facts of a moment, so a later writer simply
/// overwrites them.
#[derive(Clone, Debug, Default)]
pub struct ReadTracker(Arc<Mutex<BTreeMap<PathBuf, String>>>);

impl ReadTracker {
    /// `None`: the file is gone.
    pub fn record(&self, path: &Path, digest: Option<String>) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match digest {
            Some(digest) if seen.len() < MOST || seen.contains_key(path) => {
                seen.insert(path.to_owned(), digest);
            }
            Some(_) => {}
            None => drop(seen.remove(path)),
        }
    }

    pub fn last_digest(&self, path: &Path) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned()
    }
}
