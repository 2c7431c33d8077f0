//! Recovers the readable data of a damaged file. Tables are read in the order of their rows;
//! unreadable pages are skipped. If the first page, which says where the tables begin, is lost,
//! that of a new file replaces it: all files of one version have the same layout.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, OpenFlags, params_from_iter};

use super::connection::connect;
use super::event_row::searchable_text_in;
use super::schema::index_text;
use super::{StoreError, with_suffix};

/// How many rows are skipped one by one before the steps grow.
const SINGLE: i64 = 256;
/// The size of a page in bytes; the first one is replaced as a whole.
const PAGE: usize = 4096;
/// A larger number of pages in a file's header is not believed: 64 GiB.
const MAX_PAGES: u64 = 1 << 24;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecoveredRows {
    pub sessions: usize,
    pub events: usize,
}

struct Table {
    name: &'static str,
    /// The row's number first.
    columns: &'static str,
}

const SESSIONS: Table = Table {
    name: "sessions",
    columns: "key, id, folder, title, named, created, updated, touched, parent, branch, bot,
              next_step, next_ask, steps, input, output, estimated, cached, written, reasoning, cost,
              model",
};
const EVENTS: Table =
    Table { name: "events", columns: "id, session, at, kind, turn, body, undone" };
const HISTORY: Table = Table { name: "history", columns: "id, session, turn, whole, body, undone" };
const PAIRS: Table = Table { name: "pairs", columns: "rowid, namespace, name, value" };

/// Copies the readable data of `from` into a new and empty file.
pub fn copy_readable_rows(
    from: &Path,
    connection: &mut Connection,
) -> Result<RecoveredRows, StoreError> {
    if let Ok(old) = open(from)
        && let Ok(found) = copy_all_tables(&old, connection)
        && found != RecoveredRows::default()
    {
        return Ok(found);
    }
    for mend in [extend_to_header_length, write_fresh_header] {
        let mended = copy_for_repair(from)?;
        let found = mend(&mended)
            .and_then(|()| open(&mended))
            .and_then(|old| copy_all_tables(&old, connection));
        remove_database(&mended);
        if let Ok(found) = found
            && found != RecoveredRows::default()
        {
            return Ok(found);
        }
    }
    Ok(RecoveredRows::default())
}

/// Opens a file for reading as it is; closing it changes nothing.
fn open(file: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(file, flags)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    db.execute_batch("PRAGMA query_only = ON; PRAGMA trusted_schema = OFF;")?;
    db.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))?;
    Ok(db)
}

/// Copies the readable data of an open file into a new and empty one.
pub fn copy_all_tables(
    connection: &Connection,
    into: &mut Connection,
) -> Result<RecoveredRows, StoreError> {
    let change = into.transaction()?;
    let mut rows =
        RecoveredRows { sessions: copy_rows(connection, &change, &SESSIONS)?, events: 0 };
    add_orphan_sessions(connection, &change, &mut rows)?;
    rows.events = copy_rows(connection, &change, &EVENTS)?;
    copy_rows(connection, &change, &HISTORY)?;
    copy_rows(connection, &change, &PAIRS)?;
    index_events(&change)?;
    change.commit()?;
    Ok(rows)
}

/// Copies the readable rows; rows that fit nowhere are left out.
fn copy_rows(
    connection: &Connection,
    new_connection: &Connection,
    table: &Table,
) -> Result<usize, StoreError> {
    let count = table.columns.split(',').count();
    let marks = vec!["?"; count].join(", ");
    let Table { name, columns } = table;
    let mut add = new_connection
        .prepare(&format!("INSERT OR IGNORE INTO {name}({columns}) VALUES ({marks})"))?;
    let mut copied = 0;
    for_each_row(connection, table, |values| {
        // A damaged row may violate a constraint of the table.
        copied += add.execute(params_from_iter(values)).unwrap_or(0);
    });
    Ok(copied)
}

/// The columns, and nothing for those that a file of an older version does not have.
fn known_columns(connection: &Connection, table: &str, columns: &str) -> String {
    let names = connection.prepare(&format!("SELECT name FROM pragma_table_info('{table}')"));
    let names = names.and_then(|mut read| {
        read.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()
    });
    let names = names.unwrap_or_default();
    // The number of a row is in no list.
    let is_known =
        |name: &str| names.is_empty() || name == "rowid" || names.iter().any(|it| it == name);
    let or_nothing = |name| match name {
        known if is_known(known) => known,
        "model" => "NULL",
        _ => "0",
    };
    columns.split(',').map(str::trim).map(or_nothing).collect::<Vec<_>>().join(", ")
}

/// Reads a table by its row numbers and skips what cannot be read.
fn for_each_row(connection: &Connection, table: &Table, mut take: impl FnMut(Vec<Value>)) {
    let Table { name, columns } = table;
    let count = columns.split(',').count();
    let first = columns.split(',').next().unwrap_or_default();
    let columns = known_columns(connection, name, columns);
    let sql = format!("SELECT {columns} FROM {name} WHERE {first} > ?1 ORDER BY {first}");
    let mut after = i64::MIN;
    let mut failed = 0_i64;

    while failed < SINGLE + 63 {
        let Ok(mut read) = connection.prepare(&sql) else { return };
        let Ok(mut rows) = read.query([after]) else { return };
        loop {
            match rows.next() {
                Ok(Some(row)) => {
                    let value = |at| row.get_ref(at).map_or(Value::Null, owned_value);
                    let values: Vec<Value> = (0..count).map(value).collect();
                    if let Some(Value::Integer(number)) = values.first() {
                        (after, failed) = (*number, 0);
                    }
                    take(values);
                }
                Ok(None) => return,
                Err(_) => break,
            }
        }
        // Numbers begin with 1; after a gap the steps grow, so that any gap ends.
        let step = 1_i64.checked_shl(u32::try_from((failed - SINGLE).max(0)).unwrap_or(0));
        after = after.max(0).saturating_add(step.unwrap_or(i64::MAX));
        failed += 1;
    }
}

fn owned_value(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Integer(number),
        ValueRef::Real(number) => Value::Real(number),
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
    }
}

/// Sessions whose own row is lost, but whose events are not.
fn add_orphan_sessions(
    connection: &Connection,
    new_connection: &Connection,
    rows: &mut RecoveredRows,
) -> Result<(), StoreError> {
    let mut keys: Vec<(i64, i64)> = Vec::new();
    for_each_row(connection, &EVENTS, |values| {
        if let (Some(Value::Integer(key)), Some(Value::Integer(at))) =
            (values.get(1), values.get(2))
            && keys.last().is_none_or(|(last, _)| last != key)
            && !keys.iter().any(|(known, _)| known == key)
        {
            keys.push((*key, *at));
        }
    });
    for (key, at) in keys {
        rows.sessions += new_connection.execute(
            "INSERT OR IGNORE INTO sessions(key, id, folder, title, created, updated, touched)
             VALUES (?1, ?2, '', '', ?3, ?3, ?1)",
            (key, format!("r{key}"), at),
        )?;
    }
    Ok(())
}

/// Adds the words of the events to the search index.
fn index_events(connection: &Connection) -> Result<(), StoreError> {
    let mut read = connection.prepare("SELECT id, body FROM events ORDER BY id")?;
    let mut rows = read.query([])?;
    while let Some(row) = rows.next()? {
        let said = row.get_ref(1)?.as_str().map(searchable_text_in).unwrap_or_default();
        index_text(connection, row.get(0)?, &said)?;
    }
    Ok(())
}

/// A copy of a file and its log, to repair.
fn copy_for_repair(from: &Path) -> Result<PathBuf, StoreError> {
    let mended = with_suffix(from, ".mend");
    remove_database(&mended);
    fs::copy(from, &mended)?;
    let log = with_suffix(from, "-wal");
    if log.exists() {
        fs::copy(log, with_suffix(&mended, "-wal"))?;
    }
    Ok(mended)
}

/// Extends a cut file to the length in its header, or SQLite reads nothing of it. Its end is then
/// empty pages, which are skipped.
fn extend_to_header_length(file: &Path) -> Result<(), StoreError> {
    let mut header = [0; 32];
    let mut file = OpenOptions::new().read(true).write(true).open(file)?;
    file.read_exact(&mut header)?;
    let (_, pages) = header.split_at(28);
    let pages = pages.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    lengthen(&file, pages)
}

fn lengthen(file: &File, pages: u64) -> Result<(), StoreError> {
    let length = pages.saturating_mul(PAGE as u64);
    if file.metadata()?.len() < length && pages <= MAX_PAGES {
        file.set_len(length)?;
    }
    Ok(())
}

/// Gives a file the first page of a new one, and the other pages of the schema if those are lost.
fn write_fresh_header(mended: &Path) -> Result<(), StoreError> {
    let fresh = with_suffix(mended, ".fresh");
    remove_database(&fresh);
    drop(connect(&fresh)?);
    let new = fs::read(&fresh)?;
    remove_database(&fresh);
    let page = |number: usize| new.get((number - 1) * PAGE..number * PAGE);
    let Some(first) = page(1) else { return Ok(()) };
    let mut first = first.to_vec();
    let described = schema_pages(&first);
    // The file's length and its free pages are not those of the new one.
    for byte in first.iter_mut().take(40).skip(28) {
        *byte = 0;
    }
    let mut file = OpenOptions::new().read(true).write(true).open(mended)?;
    let length = file.metadata()?.len();
    file.write_all(&first)?;
    lengthen(&file, (new.len() / PAGE) as u64)?;
    for number in described {
        let at = (number as u64 - 1) * PAGE as u64;
        if at + PAGE as u64 > length
            && let Some(page) = page(number)
        {
            file.seek(SeekFrom::Start(at))?;
            file.write_all(page)?;
        }
    }
    Ok(())
}

/// The pages below the first one, if the schema takes more than one page.
fn schema_pages(first: &[u8]) -> Vec<usize> {
    let two = |at: usize| match first.get(at..at + 2) {
        Some([high, low]) => usize::from(*high) << 8 | usize::from(*low),
        _ => 0,
    };
    let four = |at: usize| two(at) << 16 | two(at + 2);
    // The type of the page follows the file header: 5 is an interior page.
    if first.get(100) != Some(&5) {
        return Vec::new();
    }
    let cells = (0..two(103)).map(|cell| four(two(112 + 2 * cell)));
    cells.chain([four(108)]).filter(|number| *number > 1).collect()
}

pub fn remove_database(file: &Path) {
    for ending in ["", "-wal", "-shm"] {
        match fs::remove_file(with_suffix(file, ending)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(%error, "a temporary file stays");
            }
            Ok(()) | Err(_) => {}
        }
    }
}
