//! Opens one SQLite file and brings it up to date.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::file_watch::ensure_number;
use super::schema::{self, MIGRATIONS};
use super::{StoreError, open_private_file};

/// How long one window waits for another to finish writing.
pub(super) const WAIT_TIMEOUT: Duration = Duration::from_secs(1);

/// Opens one file and brings it up to date.
pub(super) fn connect(file: &Path) -> Result<Connection, StoreError> {
    connect_with_timeout(file, WAIT_TIMEOUT)
}

pub(super) fn connect_with_timeout(
    file: &Path,
    patience: Duration,
) -> Result<Connection, StoreError> {
    if !file.exists() {
        // SQLite gives its own files the same owner and rights.
        open_private_file(file)?;
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(file, flags)?;
    db.busy_timeout(patience)?;
    let newer = || StoreError::Newer { file: file.to_owned() };
    if schema::version(&db)? > schema::newest() {
        return Err(newer());
    }
    // Without shared memory, SQLite keeps its journal, which is slower.
    let _: String = db.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    let mut db = configure(db)?;
    // The next window that writes creates it.
    let _ = ensure_number(&mut db);
    // The roots of the two main tables: damage there shows at once.
    db.query_row("SELECT max(id) FROM events", [], |row| row.get::<_, Option<i64>>(0))?;
    db.query_row("SELECT max(touched) FROM sessions", [], |row| row.get::<_, Option<i64>>(0))?;
    Ok(db)
}

pub(super) fn configure(mut connection: Connection) -> Result<Connection, StoreError> {
    connection.execute_batch(
        "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF;
         PRAGMA cell_size_check = ON; PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY;
         PRAGMA journal_size_limit = 8388608;",
    )?;
    schema::migrate(&mut connection, MIGRATIONS)?;
    Ok(connection)
}
