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
use avocet_core::i18n::{Localize, LocalizedText};

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

/// Whether a session may take its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hurry {
    No,
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
    /// The sessions that are written here, by their ids.
    keys: BTreeMap<String, i64>,
    /// The sessions that have it open.
    users: usize,
    /// Copied out of a file that was replaced. They are kept until all of them are in another.
    exported: Option<Vec<ExportedSession>>,
    /// The sessions that could not be copied into this file, and why.
    pub lost: BTreeMap<String, LocalizedText>,
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
            Some(PathState::Same) => {
                // The file came back before all of them were copied.
                let copies = self.exported.take();
                copies.into_iter().flatten().for_each(ExportedSession::remove);
                return Ok(false);
            }
            Some(PathState::Gone) if self.restore_removed_file(store)? => {}
            Some(PathState::Gone | PathState::Replaced) => self.export_sessions()?,
            None => {}
        }
        let (mut disk, mut report) = Database::open_with_timeout(store, patience)?;
        disk.watch();
        let mut lost = BTreeMap::new();
        if self.exported.is_some() {
            lost = self.import_sessions(&mut disk)?;
            report = disk.replaced_report();
        } else if self.put_back.is_some() {
            report = report.or(self.put_back.take());
            self.restored = self.file + 1;
        } else if self.file == 0 {
            disk.import_left_sessions();
        }
        self.begin(disk, report);
        self.lost = lost;
        Ok(true)
    }

    /// Copies the exported sessions into another file. One that cannot be copied keeps none of the
    /// others out, and its copy stays.
    fn import_sessions(
        &mut self,
        disk: &mut Database,
    ) -> Result<BTreeMap<String, LocalizedText>, StoreError> {
        let mut lost = BTreeMap::new();
        for session in self.exported.iter().flatten() {
            match disk.import_session(session) {
                Ok(()) => {}
                Err(error) if error.may_pass() => return Err(error),
                Err(error) => {
                    tracing::warn!(%error, id = session.id, "a session was not copied");
                    lost.insert(session.id.clone(), error.localized());
                }
            }
        }
        let copies = self.exported.take().into_iter().flatten();
        copies.filter(|copy| !lost.contains_key(&copy.id)).for_each(ExportedSession::remove);
        Ok(lost)
    }

    /// Sets a damaged file aside. The sessions continue with their own ids.
    pub fn salvage(&mut self, store: &StorePlace) -> Result<(), StoreError> {
        let Some(disk) = self.disk.take() else { return Ok(()) };
        let (mut disk, report) = disk.salvage(store)?;
        disk.watch();
        self.begin(disk, report);
        Ok(())
    }

    /// The sessions have other keys in it, also those that do nothing now.
    fn begin(&mut self, disk: Database, report: Option<SavingError>) {
        let ids = std::mem::take(&mut self.keys).into_keys();
        self.keys = ids
            .filter_map(|id| {
                let key = disk.find(&id).ok()?.key;
                Some((id, key))
            })
            .collect();
        self.lost.clear();
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
        let exported = self.exported.get_or_insert_default();
        for (id, key) in &self.keys {
            // After an error, only the others are left to copy.
            if !exported.iter().any(|copy| copy.id == *id) {
                exported.extend(disk.export_session(*key)?);
            }
        }
        disk.leave_replaced()?;
        self.disk = None;
        Ok(())
    }

    /// A session has the file open from now on.
    pub fn join(&mut self) {
        self.users += 1;
    }

    /// A session is done with the file; the last one closes it. If another file has its place by
    /// now, all of them go there first; what cannot stays beside it for the next program.
    pub fn leave(&mut self, store: &StorePlace, remembered: Option<&str>) {
        if self.disk.as_mut().map(Database::path_state) == Some(PathState::Replaced)
            && let Err(error) = self.open(store, HURRY)
        {
            tracing::warn!(%error, "sessions stay beside the file that replaced theirs");
        }
        remembered.into_iter().for_each(|id| self.forget(id));
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
    /// vain, this one only looks, unless it is its last try.
    pub fn patience(&self, id: &str, hurry: Hurry) -> Duration {
        let (most, quiet) = match hurry {
            Hurry::No => (PATIENCE, AGAIN),
            Hurry::AfterFailure => (HURRY, HURRY),
            Hurry::Last => return HURRY,
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
