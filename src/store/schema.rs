//! The tables, and the migrations of older files. A released migration is never changed: the next
//! one is added after it.
//!
//! `sessions` a row each · `events` what happened, in the order of `id` · `history` what
//! goes to the model · `words` an index of what can be searched, by the `id` of the event,
//! without the text itself · `said` and `found` the same of files of 0.1, which copied the
//! text: nothing is added to them · `pairs` named values. What was taken back stays and names in
//! `undone` the event that did it.

use rusqlite::{Connection, TransactionBehavior, params};

use super::StoreError;

/// Version n is the result of the first n of these.
pub const MIGRATIONS: &[&str] = &[
    "CREATE TABLE sessions(
        key INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        folder TEXT NOT NULL,
        title TEXT NOT NULL,
        named INTEGER NOT NULL DEFAULT 0,
        created INTEGER NOT NULL,
        updated INTEGER NOT NULL,
        touched INTEGER NOT NULL,
        parent TEXT,
        branch INTEGER,
        bot TEXT,
        next_step INTEGER NOT NULL DEFAULT 1,
        next_ask INTEGER NOT NULL DEFAULT 1,
        steps INTEGER NOT NULL DEFAULT 0,
        input INTEGER NOT NULL DEFAULT 0,
        output INTEGER NOT NULL DEFAULT 0,
        estimated INTEGER NOT NULL DEFAULT 0
    );
    CREATE INDEX sessions_touched ON sessions(touched);
    CREATE INDEX sessions_folder ON sessions(folder, touched);
    CREATE TABLE events(
        id INTEGER PRIMARY KEY,
        session INTEGER NOT NULL REFERENCES sessions(key) ON DELETE CASCADE,
        at INTEGER NOT NULL,
        kind TEXT NOT NULL,
        turn INTEGER,
        body TEXT NOT NULL,
        undone INTEGER
    );
    CREATE INDEX events_session ON events(session, id);
    CREATE INDEX events_turn ON events(session, turn)
        WHERE turn IS NOT NULL AND undone IS NULL;
    CREATE TABLE history(
        id INTEGER PRIMARY KEY,
        session INTEGER NOT NULL REFERENCES sessions(key) ON DELETE CASCADE,
        turn INTEGER NOT NULL,
        whole INTEGER NOT NULL DEFAULT 0,
        body TEXT,
        undone INTEGER
    );
    CREATE INDEX history_session ON history(session, turn, whole, id);
    CREATE TABLE said(
        id INTEGER PRIMARY KEY,
        session INTEGER NOT NULL REFERENCES sessions(key) ON DELETE CASCADE,
        text TEXT NOT NULL
    );
    CREATE INDEX said_session ON said(session, id);
    CREATE VIRTUAL TABLE found USING fts5(
        text, content='said', content_rowid='id', tokenize='trigram'
    );
    CREATE TRIGGER said_added AFTER INSERT ON said BEGIN
        INSERT INTO found(rowid, text) VALUES (new.id, new.text);
    END;
    CREATE TRIGGER said_gone AFTER DELETE ON said BEGIN
        INSERT INTO found(found, rowid, text) VALUES ('delete', old.id, old.text);
    END;
    CREATE TABLE pairs(
        namespace TEXT NOT NULL,
        name TEXT NOT NULL,
        value TEXT NOT NULL,
        PRIMARY KEY (namespace, name)
    );",
    "CREATE INDEX events_folder ON events(session, id) WHERE kind = 'folder';",
    // Must fit on the first page with the rest: see `recover`.
    "DROP TRIGGER said_added;
    CREATE VIRTUAL TABLE words USING fts5(
        text, content='', contentless_delete=1, detail=none, tokenize='trigram'
    );",
    // Of the tokens: from the cache, into it, for reasoning. The cost is in millionths of a dollar.
    "ALTER TABLE sessions ADD COLUMN cached INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE sessions ADD COLUMN written INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE sessions ADD COLUMN reasoning INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE sessions ADD COLUMN cost INTEGER NOT NULL DEFAULT 0;",
    // The model of the last turn that asked one.
    "ALTER TABLE sessions ADD COLUMN model TEXT;",
];

/// The version of files that this program writes.
pub fn newest() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

pub fn version(connection: &Connection) -> Result<i64, StoreError> {
    Ok(connection.query_row("PRAGMA user_version", [], |row| row.get(0))?)
}

/// Migrates a file to this version, step by step. Each step is atomic; two windows that start
/// together do it once. False if the file is of a later version.
pub fn migrate(connection: &mut Connection, steps: &[&str]) -> Result<bool, StoreError> {
    let wanted = i64::try_from(steps.len()).unwrap_or(i64::MAX);
    let found = version(connection)?;
    if found >= wanted {
        return Ok(found == wanted);
    }
    let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another window may have done it during the wait.
    let done = usize::try_from(version(&change)?).unwrap_or(0);
    for (step, number) in steps.iter().zip(1_i64..).skip(done) {
        change.execute_batch(step)?;
        change.pragma_update(None, "user_version", number)?;
    }
    change.commit()?;
    Ok(true)
}

/// Adds the words of an event to the search index.
pub(super) fn index_text(connection: &Connection, id: i64, said: &str) -> Result<(), StoreError> {
    if !said.is_empty() {
        connection
            .prepare_cached("INSERT INTO words(rowid, text) VALUES (?1, ?2)")?
            .execute(params![id, said])?;
    }
    Ok(())
}
