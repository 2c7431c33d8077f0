//! Reads the database of opencode, whose conversations are imported, and never writes to it.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::StoreError;
use super::connection::WAIT_TIMEOUT;

/// The most rows of a kind that are read, and the most bytes of a conversation.
const MAX_ROWS: usize = 100_000;
const MAX_BYTES: usize = 256 << 20;

#[derive(Debug)]
pub struct OpencodeDatabase(Connection);

impl OpencodeDatabase {
    /// `None` if its tables are not those that are known.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn open(file: &Path) -> Result<Option<OpencodeDatabase>, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let db = Connection::open_with_flags(file, flags)?;
        db.busy_timeout(WAIT_TIMEOUT)?;
        db.execute_batch("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;")?;
        // A view, or a column that is computed, could compute forever.
        let tables: i64 = db.query_row(
            "SELECT count(*) FROM sqlite_schema
             WHERE name IN ('session', 'message', 'part') AND type = 'table' AND rootpage > 0
                 AND NOT EXISTS (SELECT 1 FROM pragma_table_xinfo(sqlite_schema.name)
                     WHERE hidden > 0)",
            [],
            |row| row.get(0),
        )?;
        Ok((tables == 3).then_some(OpencodeDatabase(db)))
    }

    /// The conversations that are not of subagents: the id of each, and what its file would say.
    ///
    /// # Errors
    /// The database is damaged or busy.
    pub fn sessions(&self) -> Result<Vec<[String; 2]>, StoreError> {
        self.rows(
            "SELECT id, json_object('id', id, 'directory', directory, 'title', title,
                 'time', json_object('created', time_created))
             FROM session WHERE parent_id IS NULL AND ?1 = ''",
            "",
        )
    }

    /// The messages of a conversation, in their order, each with its parts.
    ///
    /// # Errors
    /// The database is damaged or busy.
    pub fn messages(&self, session: &str) -> Result<Vec<(String, Vec<String>)>, StoreError> {
        let messages = self.rows(
            "SELECT id, data FROM message WHERE session_id = ?1 ORDER BY time_created, id",
            session,
        )?;
        let mut left = MAX_BYTES;
        let mut whole = Vec::new();
        for [id, data] in messages {
            let parts =
                self.rows("SELECT '', data FROM part WHERE message_id = ?1 ORDER BY id", &id)?;
            let parts: Vec<String> = parts.into_iter().map(|[_, data]| data).collect();
            let size = data.len() + parts.iter().map(String::len).sum::<usize>();
            let Some(rest) = left.checked_sub(size) else { break };
            left = rest;
            whole.push((data, parts));
        }
        Ok(whole)
    }

    fn rows(&self, select: &str, of: &str) -> Result<Vec<[String; 2]>, StoreError> {
        let mut statement = self.0.prepare_cached(select)?;
        let mut rows = statement.query([of])?;
        let mut read = Vec::new();
        let mut left = MAX_BYTES;
        while let Some(row) = rows.next()? {
            let text = |column| {
                let bytes = row.get_ref(column)?.as_bytes().unwrap_or_default();
                Ok::<_, StoreError>(String::from_utf8_lossy(bytes).into_owned())
            };
            let pair = [text(0)?, text(1)?];
            let Some(rest) = left.checked_sub(pair[1].len()) else { break };
            if read.len() == MAX_ROWS {
                break;
            }
            left = rest;
            read.push(pair);
        }
        Ok(read)
    }
}
