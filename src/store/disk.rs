//! The file itself: made, opened, and set aside when it is damaged.
//!
//! Every window holds a shared lock beside the file. Only who has that lock alone may
//! set the file aside, so no window ever writes to one that another has moved away.
//!
//! The last window that closes the file leaves nothing in the log beside it, so that the
//! file alone is all there is to be copied. Not in here: whether a log is whole (`log`), and
//! going on in a file that was put in the place of this one (`moved`).

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::moved::{Stands, Witness, draw_number};
use super::schema::{self, MIGRATIONS};
use super::{Fault, Store, StoreError, log, own_file, recover};
use crate::disk::private_folder;

/// Damaged files that are kept; the oldest give way.
const SET_ASIDE: usize = 3;

/// How long one window waits for another to have written.
pub(super) const PATIENCE: Duration = Duration::from_secs(1);

/// An open file of sessions. Used from one thread at a time.
#[derive(Debug)]
pub struct Disk {
    pub(super) db: Connection,
    pub(super) file: Option<PathBuf>,
    /// What the file was like when it was last looked at, where that is watched. Closed after
    /// the database: as long as that is open, closing another handle of the file would give
    /// up its locks.
    pub(super) witness: Option<Witness>,
    /// Held as long as the file is open.
    _shared: Option<File>,
}

impl Disk {
    /// Opens the file, making or mending it where that is needed; beside it what is to
    /// be said about that.
    ///
    /// # Errors
    /// When it cannot be had: no folder, no room, a later version, damage that another
    /// window holds on to.
    pub fn open(store: &Store) -> Result<(Disk, Option<Fault>), StoreError> {
        Disk::open_within(store, PATIENCE)
    }

    /// The same, waiting for another window for so long at most.
    pub(super) fn open_within(
        store: &Store,
        patience: Duration,
    ) -> Result<(Disk, Option<Fault>), StoreError> {
        let (Some(folder), Some(file)) = (&store.folder, store.file()) else {
            let db = ready(Connection::open_in_memory()?)?;
            return Ok((Disk { db, file: None, witness: None, _shared: None }, None));
        };
        Disk::open_file(folder, &file, patience).map_err(|error| error.of_file(&file))
    }

    fn open_file(
        folder: &Path,
        file: &Path,
        patience: Duration,
    ) -> Result<(Disk, Option<Fault>), StoreError> {
        private_folder(folder)?;
        let gate = own_file(&folder.join("sessions.lock"))?;
        // Whoever comes first looks at what the last one left.
        if gate.try_lock().is_ok() && !log::is_whole(file) {
            return set_aside(file, gate);
        }
        gate.lock_shared()?;
        match connect_within(file, patience) {
            Ok(db) => {
                let file = Some(file.to_owned());
                Ok((Disk { db, file, witness: None, _shared: Some(gate) }, None))
            }
            Err(error) if error.is_damage() => set_aside(file, gate),
            Err(error) => Err(error),
        }
    }

    /// Sets this file aside and starts a new one with what can be read of it.
    ///
    /// # Errors
    /// When another window has it open as well, or the new one cannot be had.
    pub fn mend(self, store: &Store) -> Result<(Disk, Option<Fault>), StoreError> {
        let Disk { db, file, witness, _shared } = self;
        // Closing a damaged file may fail; it is left behind either way.
        drop(db);
        drop((witness, _shared));
        let (Some(folder), Some(file)) = (&store.folder, file) else {
            return Disk::open(store);
        };
        let gate = own_file(&folder.join("sessions.lock"))?;
        set_aside(&file, gate)
    }

    /// The file was taken away while it was open: writes all of it again at its place. This
    /// one is to be closed before that is opened.
    ///
    /// # Errors
    /// When it cannot be written there.
    pub fn write_again(&self, store: &Store) -> Result<Option<Fault>, StoreError> {
        let (Some(folder), Some(file)) = (&store.folder, &self.file) else { return Ok(None) };
        private_folder(folder)?;
        // Only its owner may read it, also while it grows.
        own_file(file)?;
        let written = self.db.execute("VACUUM INTO ?1", [file.to_string_lossy()]);
        // What is half written stands for nothing, and would be taken for another file.
        written.inspect_err(|_| recover::forget(file))?;
        self.leave_log();
        Ok(Some(Fault::PutBack { file: file.clone() }))
    }

    /// Closing takes no log away from now on: the one at this place is not this file's.
    pub(super) fn leave_log(&self) {
        // Where it cannot be set, the next one writes a log of its own.
        let _ = self.db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
    }

    /// Closes the file. The last one to do so writes what is in the log into the file and
    /// takes the log away.
    pub fn close(mut self) {
        if self.stands() != Stands::There {
            self.leave_log();
        }
    }

    /// Waits until what was written so far is on the disk itself, for a machine that
    /// loses its power. Nothing that is shown waits for this.
    pub fn settle(&self) {
        if let Some(file) = &self.file {
            // A file system without this is as good as it gets.
            let _ = File::open(beside(file, "-wal")).and_then(|log| log.sync_data());
        }
    }
}

/// A name beside the file: SQLite puts its own endings behind the whole name.
pub(super) fn beside(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Opens one file and brings it up to date.
pub(super) fn connect(file: &Path) -> Result<Connection, StoreError> {
    connect_within(file, PATIENCE)
}

fn connect_within(file: &Path, patience: Duration) -> Result<Connection, StoreError> {
    if !file.exists() {
        // SQLite gives its own files the same owner and rights.
        own_file(file)?;
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(file, flags)?;
    db.busy_timeout(patience)?;
    let newer = || StoreError::Newer { file: file.to_owned() };
    if schema::version(&db)? > schema::newest() {
        return Err(newer());
    }
    // Where shared memory cannot be had, SQLite stays with its journal, which is slower.
    let _: String = db.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    let db = ready(db)?;
    // A window that writes draws it the next time.
    let _ = draw_number(&db);
    // The roots of the two tables that count: damage there shows at once.
    db.query_row("SELECT max(id) FROM events", [], |row| row.get::<_, Option<i64>>(0))?;
    db.query_row("SELECT max(touched) FROM sessions", [], |row| row.get::<_, Option<i64>>(0))?;
    Ok(db)
}

fn ready(mut db: Connection) -> Result<Connection, StoreError> {
    db.execute_batch(
        "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF;
         PRAGMA cell_size_check = ON; PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY;
         PRAGMA journal_size_limit = 8388608;",
    )?;
    schema::migrate(&mut db, MIGRATIONS)?;
    Ok(db)
}

/// Moves a damaged file away and pours what can be read of it into a new one.
fn set_aside(file: &Path, gate: File) -> Result<(Disk, Option<Fault>), StoreError> {
    gate.unlock()?;
    match gate.try_lock() {
        Ok(()) => {}
        Err(fs::TryLockError::WouldBlock) => {
            return Err(StoreError::Damaged { file: file.to_owned() });
        }
        Err(fs::TryLockError::Error(error)) => return Err(error.into()),
    }
    let (mut older, newest) = set_aside_before(file);
    let aside = damaged_name(file, newest + 1);
    for ending in ["", "-wal", "-shm"] {
        let from = beside(file, ending);
        if from.exists() {
            fs::rename(&from, beside(&aside, ending))?;
        }
    }
    let (db, file_of) = (connect(file)?, Some(file.to_owned()));
    let mut disk = Disk { db, file: file_of, witness: None, _shared: None };
    let found = recover::pour(&aside, &mut disk)?;
    gate.unlock()?;
    gate.lock_shared()?;
    disk._shared = Some(gate);
    let over = (older.len() + 1).saturating_sub(SET_ASIDE);
    older.truncate(over);
    let removed = older.iter().filter(|number| forget(&damaged_name(file, **number))).count();
    let (sessions, events) = (found.sessions, found.events);
    Ok((disk, Some(Fault::Recovered { aside, sessions, events, removed })))
}

/// The numbers of damaged files that lie there, oldest first, and the highest of them.
fn set_aside_before(file: &Path) -> (Vec<u64>, u64) {
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

/// Takes a damaged file away; false when it stays.
fn forget(file: &Path) -> bool {
    for ending in ["-wal", "-shm"] {
        // Most have neither.
        let _ = fs::remove_file(beside(file, ending));
    }
    fs::remove_file(file).is_ok()
}
