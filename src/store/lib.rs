//! Sessions on disk, in one SQLite file. Every event is added as it happens, so that a killed
//! program loses nothing that was shown.
//!
//! | file | what it is for |
//! |---|---|
//! | `database` | opens the file: folder, locks, damage, version |
//! | `schema` | the tables, one migration a version |
//! | `write`, `read` | what is added, and what is looked up |
//! | `event_row` | what of an event is kept, found again, and called a title |
//! | `open_handles` | handles of the file that must stay open |
//! | `write_turn` | the order of the writers of one process |
//! | `shared` | the store, with the one connection of all sessions of a process |
//! | `writer`, `recorder` | what is written of one session, and the way to it |
//! | `thread` | the one thread that writes |
//! | `recover` | what can be read of a damaged file |
//! | `log` | whether the log beside the file is whole |
//! | `moved` | another file in the place of the open one |
//! | `key_value` | named values, for scripts |
//! | `opencode` | the conversations of another client |
//!
//! Nothing is opened until something must be saved or looked up. Secrets are masked before any byte
//! reaches the file. Not here: how a resumed session uses what it reads (`session`).

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use avocet_core::i18n::{Localize, LocalizedText, store as phrases};
use avocet_core::private_dir::private_folder;
use avocet_core::protocol::Event;

mod busy;
mod connection;
mod database;
mod event_row;
mod file_watch;
mod key_value;
mod log;
mod moved;
mod open_handles;
mod opencode;
mod read;
mod recorder;
mod recover;
mod schema;
mod shared;
mod thread;
mod write;
mod write_turn;
mod writer;

pub use database::Database;
pub use event_row::title_of;
pub use key_value::KeyValue;
use open_handles::OpenHandles;
pub use opencode::OpencodeDatabase;
pub use read::{SessionChoices, SessionRecord};
pub use recorder::Recorder;
pub use shared::Store;
pub use write::SessionHeader;
use write_turn::WriteOrder;
pub use writer::{Resumed, SessionWriter, record_at};

/// Where sessions are saved. Copies are for one process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorePlace {
    /// `None`: nowhere; everything ends with the program.
    folder: Option<PathBuf>,
    /// Copies of a store write one after another.
    write_order: WriteOrder,
    /// And open it one after another.
    opening_order: WriteOrder,
    handles: OpenHandles,
}

impl StorePlace {
    fn new(folder: Option<PathBuf>) -> StorePlace {
        StorePlace {
            folder,
            write_order: WriteOrder::default(),
            opening_order: WriteOrder::default(),
            handles: OpenHandles::default(),
        }
    }

    pub fn is_persistent(&self) -> bool {
        self.folder.is_some()
    }

    /// The database.
    pub fn file(&self) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join("sessions.db"))
    }

    /// Locks a session for writing; `None` if another window has it. The lock ends with the
    /// process, however that ends.
    ///
    /// # Errors
    /// When the lock file cannot be created.
    pub fn lock(&self, id: &str) -> io::Result<Option<Lock>> {
        let Some(folder) = &self.folder else { return Ok(Some(Lock(None))) };
        let folder = folder.join("locks");
        private_folder(&folder)?;
        let file = open_private_file(&folder.join(format!("{id}.lock")))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Lock(Some(file)))),
            Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(error)) => Err(error),
        }
    }

    /// Removes the lock file with its session.
    fn remove_lock(&self, id: &str) {
        if let Some(folder) = &self.folder {
            // A file that remains is empty and has no effect.
            let _ = fs::remove_file(folder.join("locks").join(format!("{id}.lock")));
        }
    }
}

/// The lock of one window on a session.
#[derive(Debug)]
pub struct Lock(Option<File>);

impl Drop for Lock {
    fn drop(&mut self) {
        // A child that is being started has the file open too for a moment: closing it here would
        // leave the session locked until then.
        let _ = self.0.as_ref().map(File::unlock);
    }
}

/// A path next to the file: SQLite appends its own suffixes to the whole name.
fn with_suffix(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Opens a file that only its owner can access, and creates it if it is missing.
fn open_private_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// A session as shown in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    pub id: String,
    pub folder: String,
    pub title: String,
    /// Milliseconds since 1970, by the clock at that time.
    pub created: i64,
    pub updated: i64,
    pub turns: u64,
    /// The session it was forked from.
    pub parent: Option<String>,
    /// The start of the last message.
    pub preview: String,
    /// The model that answered last; `None` where none did, and in files of older versions.
    pub model: Option<String>,
}

/// Words that were found in a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionHit {
    pub id: String,
    pub title: String,
    pub folder: String,
    pub at: i64,
    /// The text around the words, on one line.
    pub around: String,
}

/// An event with its position in the order.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredEvent {
    pub seq: i64,
    pub at: i64,
    pub event: Event,
}

/// A part of a session, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventPage {
    pub events: Vec<StoredEvent>,
    /// The number of rows that could not be read.
    pub unreadable: usize,
    /// There are earlier events.
    pub more: bool,
    /// The events as they are in the file.
    pub bytes: usize,
}

/// One turn of the history for the model, or the whole history at that point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remembered {
    /// The entries of a turn, as JSON; `None` if it never ended.
    Turn { turn: u64, left: Option<String> },
    /// The whole history up to here, as JSON, in place of the earlier one.
    Whole { turn: u64, history: String },
}

/// The reports to the user about saving sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SavingError {
    /// Nothing is saved at the moment; saving is tried again.
    NotSaved(LocalizedText),
    /// Data that could not be saved for a while is saved now.
    SavedAgain,
    /// The file was damaged: where it is now, and how much of it could be read.
    /// The number of older damaged files that were removed.
    Recovered { aside: PathBuf, sessions: usize, events: usize, removed: usize },
    /// The file was removed while it was open, and all of it was written there again.
    PutBack { file: PathBuf },
    /// Another file replaced it: where what was saved until then is now, if anything was.
    Replaced { file: PathBuf, aside: Option<PathBuf> },
}

impl Localize for SavingError {
    fn localized(&self) -> LocalizedText {
        match self {
            SavingError::NotSaved(why) => phrases::NOT_SAVED.with("why", why.clone()),
            SavingError::SavedAgain => phrases::SAVED_AGAIN.into(),
            SavingError::Recovered { aside, sessions, events, removed } => {
                let word =
                    if *removed == 0 { phrases::RECOVERED } else { phrases::RECOVERED_REMOVED };
                word.with("aside", aside.display().to_string())
                    .with("sessions", *sessions)
                    .with("events", *events)
                    .with("removed", *removed)
            }
            SavingError::PutBack { file } => {
                phrases::PUT_BACK.with("file", file.display().to_string())
            }
            SavingError::Replaced { file, aside: Some(aside) } => phrases::REPLACED_ASIDE
                .with("file", file.display().to_string())
                .with("aside", aside.display().to_string()),
            SavingError::Replaced { file, aside: None } => {
                phrases::REPLACED.with("file", file.display().to_string())
            }
        }
    }
}

/// Why something could not be saved or looked up.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.localized())]
pub enum StoreError {
    /// The file is of a later version.
    Newer {
        file: PathBuf,
    },
    /// It is damaged, and another window has it open.
    Damaged {
        file: PathBuf,
    },
    NoSession {
        id: String,
    },
    /// The start of an id that several sessions have.
    Several {
        id: String,
    },
    /// Another window writes to it.
    Held {
        id: String,
    },
    /// For example a turn that does not exist.
    NothingThere,
    TooLong,
    /// The error, with the file it concerns.
    OfFile {
        file: PathBuf,
        error: Box<StoreError>,
    },
    Io(#[from] io::Error),
    Sql(#[from] rusqlite::Error),
}

impl StoreError {
    /// True if the file itself is damaged.
    pub fn is_damage(&self) -> bool {
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
        match self {
            StoreError::OfFile { error, .. } => error.is_damage(),
            StoreError::Sql(error) => {
                matches!(error.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase))
            }
            _ => false,
        }
    }

    /// True if another program holds the file.
    fn is_busy(&self) -> bool {
        use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};
        match self {
            StoreError::OfFile { error, .. } => error.is_busy(),
            StoreError::Sql(error) => {
                matches!(error.sqlite_error_code(), Some(DatabaseBusy | DatabaseLocked))
            }
            _ => false,
        }
    }

    /// The same error with the file and the system's reason.
    fn with_file(self, file: &Path) -> StoreError {
        use rusqlite::ErrorCode::{CannotOpen, PermissionDenied, ReadOnly};
        let refused = |error: &rusqlite::Error| {
            matches!(error.sqlite_error_code(), Some(CannotOpen | PermissionDenied | ReadOnly))
        };
        let error = match self {
            StoreError::Sql(error) if refused(&error) => {
                access_error(file).map_or(StoreError::Sql(error), StoreError::Io)
            }
            StoreError::Io(_) | StoreError::Sql(_) => self,
            StoreError::Newer { .. }
            | StoreError::Damaged { .. }
            | StoreError::NoSession { .. }
            | StoreError::Several { .. }
            | StoreError::Held { .. }
            | StoreError::NothingThere
            | StoreError::TooLong
            | StoreError::OfFile { .. } => return self,
        };
        StoreError::OfFile { file: file.to_owned(), error: Box::new(error) }
    }
}

/// The reason of the system against changing a file. The file is not opened: closing it again would
/// release the locks of an open database.
fn access_error(file: &Path) -> Option<io::Error> {
    let folder = file.parent()?;
    match fs::metadata(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Some(error),
        Ok(meta) if meta.is_dir() => Some(io::ErrorKind::IsADirectory.into()),
        Ok(_) => access(file, Access::READ_OK | Access::WRITE_OK).err().map(io::Error::from),
        Err(_) if file.is_symlink() => Some(io::ErrorKind::NotFound.into()),
        Err(_) => access(folder, Access::WRITE_OK).err().map(io::Error::from),
    }
}

impl Localize for StoreError {
    fn localized(&self) -> LocalizedText {
        match self {
            StoreError::Newer { file } => phrases::NEWER.with("file", file.display().to_string()),
            StoreError::Damaged { file } => {
                phrases::DAMAGED.with("file", file.display().to_string())
            }
            StoreError::NoSession { id } => phrases::NO_SESSION.with("id", id.as_str()),
            StoreError::Several { id } => phrases::SEVERAL.with("id", id.as_str()),
            StoreError::Held { id } => phrases::HELD.with("id", id.as_str()),
            StoreError::NothingThere => phrases::NOTHING_THERE.into(),
            StoreError::TooLong => phrases::TOO_LONG.into(),
            StoreError::OfFile { file, error } => phrases::OF_FILE
                .with("file", file.display().to_string())
                .with("why", error.localized()),
            StoreError::Io(error) => phrases::DISK.with("why", system_message(error)),
            StoreError::Sql(error) => sql_message(error),
        }
    }
}

/// The message of the system, without its number.
fn system_message(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error ") {
        Some((reason, _)) => reason.to_owned(),
        None => text,
    }
}

fn sql_message(error: &rusqlite::Error) -> LocalizedText {
    use rusqlite::ErrorCode::{
        CannotOpen, DatabaseBusy, DatabaseLocked, DiskFull, PermissionDenied, ReadOnly,
    };
    match error.sqlite_error_code() {
        Some(DiskFull) => phrases::FULL.into(),
        Some(ReadOnly | PermissionDenied) => phrases::READ_ONLY.into(),
        Some(CannotOpen) => phrases::CANNOT_OPEN.into(),
        Some(DatabaseBusy | DatabaseLocked) => phrases::BUSY.into(),
        _ => phrases::DISK.with("why", error.to_string()),
    }
}

#[cfg(test)]
mod tests;
