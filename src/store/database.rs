//! The database file: creates it, opens it, and sets it aside when it is damaged.
//!
//! Every window holds a shared lock next to the file. Only a window that holds that lock
//! exclusively may set the file aside, so no window ever writes to a file that another has moved
//! away.
//!
//! The last window that closes the file empties the log next to it, so that copying the file alone
//! is enough. Not here: whether a log is complete (`log`), and continuing in a file that replaced
//! this one (`moved`).

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use super::connection::{WAIT_TIMEOUT, configure, connect, connect_with_timeout};
use super::file_watch::{FileWatch, PathState};
use super::open_handles::{HandleUse, OpenHandles};
use super::write_turn::WriteOrder;
use super::{SavingError, StoreError, StorePlace, log, open_private_file, recover, with_suffix};
use avocet_core::private_dir::private_folder;

/// The maximum number of damaged files that are kept; the oldest are removed.
const SET_ASIDE: usize = 3;

/// An open file of sessions. Used from one thread at a time.
#[derive(Debug)]
pub struct Database {
    pub(super) db: Connection,
    pub(super) file: Option<PathBuf>,
    /// The state of the file at the last check, if it is watched. Closed after the database: while
    /// that is open, closing another handle of the file would release its locks.
    pub(super) file_watch: Option<FileWatch>,
    /// The order of the other writers of this process.
    pub(super) write_order: WriteOrder,
    /// The handles of the file that they have. Dropped after the database and its watch.
    pub(super) handles: HandleUse,
    /// Held as long as the file is open.
    _shared: Option<File>,
}

/// How long the sessions of this process that open the file before this one may take.
const OPENING: Duration = Duration::from_secs(20);

impl Database {
    /// Opens the file, and creates or repairs it if needed; also returns what to report about that.
    ///
    /// # Errors
    /// When it cannot be opened: no folder, no room, a later version, or damage while another
    /// window has it open.
    pub fn open(store: &StorePlace) -> Result<(Database, Option<SavingError>), StoreError> {
        Database::open_with_timeout(store, WAIT_TIMEOUT)
    }

    /// The same, with a limit on the wait for another window.
    pub(super) fn open_with_timeout(
        store: &StorePlace,
        patience: Duration,
    ) -> Result<(Database, Option<SavingError>), StoreError> {
        let (Some(folder), Some(file)) = (&store.folder, store.file()) else {
            let db = configure(Connection::open_in_memory()?)?;
            return Ok((Database::new(db, None, None), None));
        };
        // Counted before there is a connection: the handles must stay open from then on.
        let handles = store.handles.begin_use();
        // One after the other: many that begin at once, on a busy machine, would else wait for each
        // other's locks longer than for another program's.
        let _opening = store.opening_order.take(OPENING);
        // Whoever creates the file closes a handle of it, which would release the locks that another
        // thread has on it by then.
        let _turn = (!file.exists()).then(|| store.write_order.take(patience));
        let opened = Database::open_file(folder, &file, patience);
        let (disk, fault) = opened.map_err(|error| error.with_file(&file))?;
        Ok((disk.of(store, handles), fault))
    }

    /// Together with the other sessions of this process.
    fn of(self, store: &StorePlace, handles: HandleUse) -> Database {
        Database { write_order: store.write_order.clone(), handles, ..self }
    }

    fn new(connection: Connection, file: Option<PathBuf>, shared: Option<File>) -> Database {
        let write_order = WriteOrder::default();
        let handles = OpenHandles::default().begin_use();

        Database { db: connection, file, file_watch: None, write_order, handles, _shared: shared }
    }

    fn open_file(
        folder: &Path,
        file: &Path,
        patience: Duration,
    ) -> Result<(Database, Option<SavingError>), StoreError> {
        private_folder(folder)?;
        let gate = open_private_file(&folder.join("sessions.lock"))?;
        // The first window checks the state that the last one left.
        if gate.try_lock().is_ok() && !log::is_intact(file) {
            return set_aside(file, gate);
        }
        gate.lock_shared()?;
        match connect_with_timeout(file, patience) {
            Ok(db) => Ok((Database::new(db, Some(file.to_owned()), Some(gate)), None)),
            Err(error) if error.is_damage() => set_aside(file, gate),
            Err(error) => Err(error),
        }
    }

    /// Sets this file aside and starts a new one with the data that can be read from it.
    ///
    /// # Errors
    /// When another window has it open as well, or the new one cannot be created.
    pub fn salvage(
        self,
        store: &StorePlace,
    ) -> Result<(Database, Option<SavingError>), StoreError> {
        let Database { db, file, file_watch: witness, _shared, .. } = self;
        // Closing a damaged file may fail; it is abandoned either way.
        drop(db);
        drop((witness, _shared));
        let (Some(folder), Some(file)) = (&store.folder, file) else {
            return Database::open(store);
        };
        let handles = store.handles.begin_use();
        let gate = open_private_file(&folder.join("sessions.lock"))?;
        let (disk, fault) = set_aside(&file, gate)?;
        Ok((disk.of(store, handles), fault))
    }

    /// The file was removed while it was open: writes all of it again at its path. Close this one
    /// before opening that. `None` if another session put a file there meanwhile, which stays.
    ///
    /// # Errors
    /// When it cannot be written there.
    pub fn restore_removed(&self, store: &StorePlace) -> Result<Option<SavingError>, StoreError> {
        let (Some(folder), Some(file)) = (&store.folder, &self.file) else { return Ok(None) };
        private_folder(folder)?;
        // It appears whole: another window would take half of it for a damaged file.
        let copy = with_suffix(file, &format!(".restored-{:016x}", fastrand::u64(..)));
        // Only its owner may read it, also while it grows.
        open_private_file(&copy)?;
        let written = self.db.execute("VACUUM INTO ?1", [copy.to_string_lossy()]);
        let placed = written.map_err(StoreError::from).and_then(|_| Ok(place(&copy, file)?));
        recover::remove_database(&copy);
        if !placed? {
            return Ok(None);
        }
        self.keep_log_on_close();
        Ok(Some(SavingError::PutBack { file: file.clone() }))
    }

    /// From now on, closing does not remove the log: the one at this path belongs to another file.
    pub(super) fn keep_log_on_close(&self) {
        // If this cannot be set, the next window writes its own log.
        let _ = self.db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
    }

    /// Closes the file. The last window to do so writes the log into the file and removes the log.
    pub fn close(mut self) {
        if self.path_state() != PathState::Same
            && let Err(error) = self.leave_replaced()
        {
            tracing::warn!(%error, "the log of a file that is gone stays");
        }
    }

    /// Waits until everything written so far is on the disk, in case the machine loses power.
    /// Nothing shown waits for this.
    pub fn sync(&self) {
        if let Some(file) = &self.file {
            // A file system without this cannot promise more.
            let _ = File::open(with_suffix(file, "-wal")).and_then(|log| log.sync_data());
        }
    }
}

/// Gives a file this name, unless another file has it: false then.
fn place(file: &Path, name: &Path) -> std::io::Result<bool> {
    match fs::hard_link(file, name) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
        // A file system without links.
        Err(_) if name.exists() => Ok(false),
        Err(_) => fs::rename(file, name).map(|()| true),
    }
}

/// Moves a damaged file away and copies the readable data into a new one.
fn set_aside(file: &Path, gate: File) -> Result<(Database, Option<SavingError>), StoreError> {
    gate.unlock()?;
    match gate.try_lock() {
        Ok(()) => {}
        Err(fs::TryLockError::WouldBlock) => {
            return Err(StoreError::Damaged { file: file.to_owned() });
        }
        Err(fs::TryLockError::Error(error)) => return Err(error.into()),
    }
    let (mut older, newest) = damaged_numbers(file);
    let aside = damaged_name(file, newest + 1);
    for ending in ["", "-wal", "-shm"] {
        let from = with_suffix(file, ending);
        if from.exists() {
            fs::rename(&from, with_suffix(&aside, ending))?;
        }
    }
    let mut database = Database::new(connect(file)?, Some(file.to_owned()), None);
    let found = recover::copy_readable_rows(&aside, &mut database.db)?;
    gate.unlock()?;
    gate.lock_shared()?;
    database._shared = Some(gate);
    let over = (older.len() + 1).saturating_sub(SET_ASIDE);
    older.truncate(over);
    let removed =
        older.iter().filter(|number| remove_damaged(&damaged_name(file, **number))).count();
    let sessions = found.sessions;
    let events = found.events;

    Ok((database, Some(SavingError::Recovered { aside, sessions, events, removed })))
}

/// The numbers of the damaged files, oldest first, and the highest number.
fn damaged_numbers(file: &Path) -> (Vec<u64>, u64) {
    let entries = file.parent().and_then(|folder| fs::read_dir(folder).ok());
    let names = entries
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let number = |name: String| {
        name.strip_prefix("sessions.damaged-")?.strip_suffix(".db")?.parse::<u64>().ok()
    };
    let mut numbers: Vec<u64> = names.filter_map(number).collect();
    numbers.sort_unstable();
    let newest = numbers.last().copied().unwrap_or(0);
    (numbers, newest)
}

fn damaged_name(file: &Path, number: u64) -> PathBuf {
    file.with_file_name(format!("sessions.damaged-{number}.db"))
}

/// Removes a damaged file; false if it remains.
fn remove_damaged(file: &Path) -> bool {
    for ending in ["-wal", "-shm"] {
        // Most have neither.
        let _ = fs::remove_file(with_suffix(file, ending));
    }
    fs::remove_file(file).is_ok()
}
