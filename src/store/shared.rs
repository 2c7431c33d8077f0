//! The file as all sessions of a process have it open: one connection, one after the other.
//!
//! Hundreds of conversations would else each read the tables and compile every statement. When the
//! file is removed, replaced or damaged while it is open, all of them go on in the next one.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::busy::HURRY;
use super::connection::PATIENCE;
use super::file_watch::PathState;
use super::moved::ExportedSession;
use super::thread::WriterThread;
use super::{Database, SavingError, StoreError, StorePlace};

/// After a session has waited in vain for another program, the others do not wait as well.
const AGAIN: Duration = Duration::from_secs(2);

/// A place for sessions, with what those of this process share. Copies share it too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    place: StorePlace,
    /// What their sessions have open.
    pub(super) shared: SharedDatabase,
    /// Where those are written.
    pub(super) thread: WriterThread,
}

impl Store {
    /// In the user's data folder. Nothing is created or opened yet.
    pub fn in_folder(folder: PathBuf) -> Store {
        Store::at(StorePlace::new(Some(folder)))
    }

    /// Everything works, nothing is saved.
    pub fn in_memory() -> Store {
        Store::at(StorePlace::new(None))
    }

    fn at(place: StorePlace) -> Store {
        Store { place, shared: SharedDatabase::default(), thread: WriterThread::default() }
    }
}

impl Deref for Store {
    type Target = StorePlace;

    fn deref(&self) -> &StorePlace {
        &self.place
    }
}

/// Copies share one open file.
#[derive(Clone, Debug, Default)]
pub(super) struct SharedDatabase(Arc<Mutex<OpenDatabase>>);

/// The open file, if it is open.
#[derive(Debug, Default)]
pub(super) struct OpenDatabase {
    pub disk: Option<Database>,
    /// The number of files so far; in another one, sessions have other keys.
    pub file: u64,
    /// The file that was written again after the one before it was removed, with all locks.
    pub restored: u64,
    /// What happened when the file took the place of another.
    pub report: Option<SavingError>,
    /// The sessions that are written here, by their ids.
    keys: BTreeMap<String, i64>,
    /// The sessions that have it open.
    users: usize,
    /// Copied out of a file that was replaced.
    exported: Option<Vec<ExportedSession>>,
    /// The report for when the removed file is open again.
    put_back: Option<SavingError>,
    /// When the data was last on the disk itself.
    pub synced: Option<Instant>,
    /// When a session last waited in vain, and which.
    failed: Option<(Instant, String)>,
}

impl SharedDatabase {
    pub fn lock(&self) -> MutexGuard<'_, OpenDatabase> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenDatabase {
    /// Opens the file, or the one that is there now. True if it was not open.
    pub fn open(&mut self, store: &StorePlace, patience: Duration) -> Result<bool, StoreError> {
        match self.disk.as_mut().map(Database::path_state) {
            Some(PathState::Same) => return Ok(false),
            Some(PathState::Gone) if self.restore_removed_file(store)? => {}
            Some(PathState::Gone | PathState::Replaced) => self.export_sessions()?,
            None => {}
        }
        let (mut disk, mut report) = Database::open_with_timeout(store, patience)?;
        disk.watch();
        if let Some(carried) = &mut self.exported {
            while let Some(session) = carried.last() {
                disk.import_session(session)?;
                carried.pop();
            }
            self.exported = None;
            report = disk.replaced_report();
        } else if self.put_back.is_some() {
            report = report.or(self.put_back.take());
            self.restored = self.file + 1;
        }
        self.begin(disk, report);
        Ok(true)
    }

    /// Sets a damaged file aside. The sessions continue with their own ids.
    pub fn salvage(&mut self, store: &StorePlace) -> Result<(), StoreError> {
        let Some(disk) = self.disk.take() else { return Ok(()) };
        let (mut disk, report) = disk.salvage(store)?;
        disk.watch();
        self.begin(disk, report);
        Ok(())
    }

    fn begin(&mut self, disk: Database, report: Option<SavingError>) {
        self.disk = Some(disk);
        self.file += 1;
        self.report = report;
    }

    /// The file was removed. While it is open, nothing of it is lost. False if another one is there
    /// now.
    fn restore_removed_file(&mut self, store: &StorePlace) -> Result<bool, StoreError> {
        let Some(disk) = &self.disk else { return Ok(true) };
        let Some(report) = disk.restore_removed(store)? else { return Ok(false) };
        self.put_back = Some(report);
        self.disk = None;
        Ok(true)
    }

    /// Another file replaced it: the sessions continue in that one.
    fn export_sessions(&mut self) -> Result<(), StoreError> {
        let Some(disk) = &self.disk else { return Ok(()) };
        let mut exported = Vec::new();
        for key in self.keys.values() {
            exported.extend(disk.export_session(*key)?);
        }
        disk.leave_replaced()?;
        self.exported = Some(exported);
        self.disk = None;
        Ok(())
    }

    /// A session has the file open from now on.
    pub fn join(&mut self) {
        self.users += 1;
    }

    /// A session is done with the file; the last one closes it.
    pub fn leave(&mut self, id: &str) {
        self.forget(id);
        self.users = self.users.saturating_sub(1);
        if self.users == 0
            && let Some(disk) = self.disk.take()
        {
            disk.close();
        }
    }

    /// The session is carried along into the next file.
    pub fn remember(&mut self, id: &str, key: i64) {
        if self.keys.get(id) != Some(&key) {
            self.keys.insert(id.to_owned(), key);
        }
    }

    pub fn forget(&mut self, id: &str) {
        self.keys.remove(id);
    }

    /// Puts the data written until `last` on the disk itself, unless that was done since, for another
    /// session. All of them wait meanwhile: returns when to ask again if it was done less than
    /// `pause` ago.
    pub fn sync(&mut self, last: Instant, pause: Duration) -> Option<Instant> {
        let now = Instant::now();
        match self.synced {
            Some(synced) if synced > last => return None,
            Some(synced) if synced + pause > now => return Some(synced + pause),
            _ => {}
        }
        if let Some(disk) = &self.disk {
            disk.sync();
            self.synced = Some(now);
        }
        None
    }

    /// How long a session may wait for another program. If another session has just waited in
    /// vain, this one only looks.
    pub fn patience(&self, id: &str, is_hurried: bool) -> Duration {
        let (most, quiet) = if is_hurried { (HURRY, HURRY) } else { (PATIENCE, AGAIN) };
        match &self.failed {
            Some((at, other)) if other != id && at.elapsed() < quiet => Duration::ZERO,
            _ => most,
        }
    }

    /// Whether a session could write after it had waited for so long.
    pub fn tried(&mut self, id: &str, patience: Duration, error: Option<&StoreError>) {
        if error.is_none() {
            self.failed = None;
        } else if error.is_some_and(StoreError::is_busy) && !patience.is_zero() {
            self.failed = Some((Instant::now(), id.to_owned()));
        }
    }
}

/// A store is the same store whatever it has open.
impl PartialEq for SharedDatabase {
    fn eq(&self, _: &SharedDatabase) -> bool {
        true
    }
}

impl Eq for SharedDatabase {}
