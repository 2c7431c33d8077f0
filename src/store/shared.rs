//! The file as all sessions of a process have it open: one connection, one after the other.
//!
//! Hundreds of conversations would else each read the tables and compile every statement. When the
//! file is removed, replaced or damaged while it is open, all of them go on in the next one.

use std::ops::Deref;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::busy::SHORT_WAIT;
use super::connection::WAIT_TIMEOUT;
use super::file_watch::PathState;
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

/// How urgent an attempt to write is: what it may wait for another program follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriteUrgency {
    Normal,
    /// Its last try failed.
    AfterFailure,
    /// It ends.
    Last,
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
    /// The sessions that have it open.
    users: usize,
    /// What happened to the file before, for when the next one is open.
    change: Option<SavingError>,
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
            Some(PathState::Gone | PathState::Replaced) => self.leave_replaced_file()?,
            None => {}
        }
        let (mut disk, report) = Database::open_with_timeout(store, patience)?;
        disk.watch();
        let change = self.change.take();
        if matches!(change, Some(SavingError::PutBack { .. })) {
            self.restored = self.file + 1;
        }
        self.begin(disk, change.or(report));
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

    fn begin(&mut self, database: Database, error: Option<SavingError>) {
        self.disk = Some(database);
        self.file += 1;
        self.report = error;
    }

    /// The file was removed. While it is open, nothing of it is lost. False if another one is there
    /// now.
    fn restore_removed_file(&mut self, store: &StorePlace) -> Result<bool, StoreError> {
        let Some(disk) = &self.disk else { return Ok(true) };
        let Some(report) = disk.restore_removed(store)? else { return Ok(false) };
        self.change = Some(report);
        self.disk = None;
        Ok(true)
    }

    /// Another file replaced it: the sessions go on in that one, and what they wrote is beside it.
    fn leave_replaced_file(&mut self) -> Result<(), StoreError> {
        let Some(disk) = &self.disk else { return Ok(()) };
        if self.change.is_none()
            && let Some(file) = &disk.file
        {
            let aside = disk.put_aside()?;
            self.change = Some(SavingError::Replaced { file: file.clone(), aside });
        }
        disk.leave_replaced()?;
        self.disk = None;
        Ok(())
    }

    /// A session has the file open from now on.
    pub fn join(&mut self) {
        self.users += 1;
    }

    /// A session is done with the file; the last one closes it.
    pub fn leave(&mut self) {
        self.users = self.users.saturating_sub(1);
        if self.users == 0
            && let Some(mut disk) = self.disk.take()
        {
            if disk.path_state() == PathState::Replaced
                && let Err(error) = disk.put_aside()
            {
                tracing::warn!(%error, "sessions of a file that was replaced are lost");
            }
            disk.close();
        }
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
    /// vain, this one only looks, unless it is its last try.
    pub fn patience(&self, id: &str, urgency: WriteUrgency) -> Duration {
        let (most, quiet) = match urgency {
            WriteUrgency::Normal => (WAIT_TIMEOUT, AGAIN),
            WriteUrgency::AfterFailure => (SHORT_WAIT, SHORT_WAIT),
            WriteUrgency::Last => return SHORT_WAIT,
        };
        match &self.failed {
            Some((at, other)) if other != id && at.elapsed() < quiet => Duration::ZERO,
            _ => most,
        }
    }

    /// Another program held the file for as long as the session waited.
    pub fn was_busy(&mut self, id: &str, patience: Duration) {
        if !patience.is_zero() {
            self.failed = Some((Instant::now(), id.to_owned()));
        }
    }

    /// A session could write.
    pub fn was_written(&mut self) {
        self.failed = None;
    }
}

/// A store is the same store whatever it has open.
impl PartialEq for SharedDatabase {
    fn eq(&self, _: &SharedDatabase) -> bool {
        true
    }
}

impl Eq for SharedDatabase {}
