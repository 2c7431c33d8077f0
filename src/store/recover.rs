//! What can be read of a damaged file. Tables are read in the order of their rows; a
//! page that cannot be read is stepped over. When the very first page is gone, which
//! says where the tables begin, that of a new file stands in for it: every file of one
//! version is laid out alike.

use std::fs::{self, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, OpenFlags, params_from_iter};

use super::rows::said;
use super::{Disk, StoreError, disk};
use crate::protocol::Event;

/// How many rows are stepped over one by one before the steps grow.
const SINGLE: i64 = 256;
/// The bytes of a page; the first one is replaced as a whole.
const PAGE: usize = 4096;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
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
              next_step, next_ask, steps, input, output, estimated",
};
const EVENTS: Table =
    Table { name: "events", columns: "id, session, at, kind, turn, body, undone" };
const HISTORY: Table = Table { name: "history", columns: "id, session, turn, whole, body, undone" };
const PAIRS: Table = Table { name: "pairs", columns: "rowid, namespace, name, value" };

/// Pours what can be read of `from` into a new and empty file.
pub fn pour(from: &Path, into: &mut Disk) -> Result<Found, StoreError> {
    if let Ok(old) = open(from)
        && let Ok(found) = pour_from(&old, into)
        && found != Found::default()
    {
        return Ok(found);
    }
    match transplanted(from) {
        Ok(mended) => {
            let found = open(&mended).and_then(|old| pour_from(&old, into));
            forget(&mended);
            Ok(found.unwrap_or_default())
        }
        Err(_) => Ok(Found::default()),
    }
}

/// Opens a file to be read as it is; closing it changes nothing.
fn open(file: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(file, flags)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    db.execute_batch("PRAGMA query_only = ON; PRAGMA trusted_schema = OFF;")?;
    db.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))?;
    Ok(db)
}

fn pour_from(old: &Connection, into: &mut Disk) -> Result<Found, StoreError> {
    let change = into.db.transaction()?;
    let mut found = Found { sessions: copy(old, &change, &SESSIONS)?, events: 0 };
    orphans(old, &change, &mut found)?;
    found.events = copy(old, &change, &EVENTS)?;
    copy(old, &change, &HISTORY)?;
    copy(old, &change, &PAIRS)?;
    index(&change)?;
    change.commit()?;
    Ok(found)
}

/// Copies the rows that can be read; rows that fit nowhere are left out.
fn copy(old: &Connection, new: &Connection, table: &Table) -> Result<usize, StoreError> {
    let count = table.columns.split(',').count();
    let marks = vec!["?"; count].join(", ");
    let Table { name, columns } = table;
    let mut add =
        new.prepare(&format!("INSERT OR IGNORE INTO {name}({columns}) VALUES ({marks})"))?;
    let mut copied = 0;
    each(old, table, count, |values| {
        // A row that was damaged in itself may break a rule of the table.
        copied += add.execute(params_from_iter(values)).unwrap_or(0);
    });
    Ok(copied)
}

/// Reads a table by the numbers of its rows, past what cannot be read.
fn each(old: &Connection, table: &Table, count: usize, mut take: impl FnMut(Vec<Value>)) {
    let Table { name, columns } = table;
    let first = columns.split(',').next().unwrap_or_default();
    let sql = format!("SELECT {columns} FROM {name} WHERE {first} > ?1 ORDER BY {first}");
    let (mut after, mut failed) = (i64::MIN, 0_i64);
    while failed < SINGLE + 63 {
        let Ok(mut read) = old.prepare(&sql) else { return };
        let Ok(mut rows) = read.query([after]) else { return };
        loop {
            match rows.next() {
                Ok(Some(row)) => {
                    let value = |at| row.get_ref(at).map_or(Value::Null, owned);
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
        // Numbers begin with 1; behind a gap the steps grow, so that any gap ends.
        let step = 1_i64.checked_shl(u32::try_from((failed - SINGLE).max(0)).unwrap_or(0));
        after = after.max(0).saturating_add(step.unwrap_or(i64::MAX));
        failed += 1;
    }
}

fn owned(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Integer(number),
        ValueRef::Real(number) => Value::Real(number),
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
    }
}

/// Sessions whose own row is lost, but not what happened in them.
fn orphans(old: &Connection, new: &Connection, found: &mut Found) -> Result<(), StoreError> {
    let mut keys: Vec<(i64, i64)> = Vec::new();
    each(old, &EVENTS, 7, |values| {
        if let (Some(Value::Integer(key)), Some(Value::Integer(at))) =
            (values.get(1), values.get(2))
            && keys.last().is_none_or(|(last, _)| last != key)
            && !keys.iter().any(|(known, _)| known == key)
        {
            keys.push((*key, *at));
        }
    });
    for (key, at) in keys {
        found.sessions += new.execute(
            "INSERT OR IGNORE INTO sessions(key, id, folder, title, created, updated, touched)
             VALUES (?1, ?2, '', '', ?3, ?3, ?1)",
            (key, format!("r{key}"), at),
        )?;
    }
    Ok(())
}

/// Makes what can be searched anew.
fn index(new: &Connection) -> Result<(), StoreError> {
    let mut read = new.prepare("SELECT id, session, body FROM events ORDER BY id")?;
    let mut add = new.prepare("INSERT INTO said(id, session, text) VALUES (?1, ?2, ?3)")?;
    let mut rows = read.query([])?;
    while let Some(row) = rows.next()? {
        let (id, session): (i64, i64) = (row.get(0)?, row.get(1)?);
        let text = row.get_ref(2)?.as_str().ok().and_then(|body| {
            let event: Event = serde_json::from_str(body).ok()?;
            Some(said(&event))
        });
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            add.execute((id, session, text))?;
        }
    }
    Ok(())
}

/// A copy of a file with the first page of a new one.
fn transplanted(from: &Path) -> Result<PathBuf, StoreError> {
    let name = |what: &str| {
        let mut name = from.as_os_str().to_owned();
        name.push(what);
        PathBuf::from(name)
    };
    let (mended, fresh) = (name(".mend"), name(".fresh"));
    forget(&mended);
    forget(&fresh);
    drop(disk::connect(&fresh)?);
    let page = fs::read(&fresh)?;
    forget(&fresh);
    let mut page: Vec<u8> = page.into_iter().take(PAGE).collect();
    // How long the file is and which pages are free is not what the new one says.
    for byte in page.iter_mut().take(40).skip(28) {
        *byte = 0;
    }
    fs::copy(from, &mended)?;
    let log = name("-wal");
    if log.exists() {
        let mut copy = mended.as_os_str().to_owned();
        copy.push("-wal");
        fs::copy(log, PathBuf::from(copy))?;
    }
    let mut file = OpenOptions::new().write(true).open(&mended)?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(&page)?;
    Ok(mended)
}

fn forget(file: &Path) {
    for ending in ["", "-wal", "-shm"] {
        let mut name = file.as_os_str().to_owned();
        name.push(ending);
        match fs::remove_file(PathBuf::from(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(%error, "a temporary file stays");
            }
            Ok(()) | Err(_) => {}
        }
    }
}
