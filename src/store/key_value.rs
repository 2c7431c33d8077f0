//! Named values that outlive a session, for scripts. Namespaces are separate from each other.

use rusqlite::{OptionalExtension, params};

use super::{Database, Store, StoreError};

/// The maximum size of a name, and of a value, in bytes.
const NAME: usize = 512;
const VALUE: usize = 1 << 20;
/// The maximum size of all values of a namespace, in bytes.
const ALL: i64 = 64 << 20;

/// The values of one namespace. The file is opened at the first use. Use it only where blocking on
/// the disk is allowed.
#[derive(Debug)]
pub struct KeyValue {
    store: Store,
    namespace: String,
    disk: Option<Database>,
}

impl KeyValue {
    /// Separate for each `namespace`.
    pub fn new(store: &Store, namespace: &str) -> KeyValue {
        KeyValue { store: store.clone(), namespace: namespace.to_owned(), disk: None }
    }

    /// # Errors
    /// When the file cannot be read.
    pub fn get(&mut self, name: &str) -> Result<Option<String>, StoreError> {
        let namespace = self.namespace.clone();
        let mut read = self
            .database()?
            .db
            .prepare_cached("SELECT value FROM pairs WHERE namespace = ?1 AND name = ?2")?;
        Ok(read.query_row(params![namespace, name], |row| row.get(0)).optional()?)
    }

    /// Saves a value in place of the previous one.
    ///
    /// # Errors
    /// When the file cannot be written, or a name or a value is too long.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), StoreError> {
        if name.len() > NAME || value.len() > VALUE {
            return Err(StoreError::TooLong);
        }
        let namespace = self.namespace.clone();
        let disk = self.database()?;
        let size: i64 = disk.db.query_row(
            "SELECT coalesce(sum(length(CAST(value AS BLOB))), 0) FROM pairs
             WHERE namespace = ?1 AND name <> ?2",
            params![namespace, name],
            |row| row.get(0),
        )?;
        if size.saturating_add(i64::try_from(value.len()).unwrap_or(i64::MAX)) > ALL {
            return Err(StoreError::TooLong);
        }
        disk.db.execute(
            "INSERT INTO pairs(namespace, name, value) VALUES (?1, ?2, ?3)
             ON CONFLICT DO UPDATE SET value = excluded.value",
            params![namespace, name, value],
        )?;
        Ok(())
    }

    /// Deletes a value; true if it existed.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn remove(&mut self, name: &str) -> Result<bool, StoreError> {
        let namespace = self.namespace.clone();
        let gone = self.database()?.db.execute(
            "DELETE FROM pairs WHERE namespace = ?1 AND name = ?2",
            params![namespace, name],
        )?;
        Ok(gone > 0)
    }

    /// The existing names, in order.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn names(&mut self) -> Result<Vec<String>, StoreError> {
        let namespace = self.namespace.clone();
        let mut read = self
            .database()?
            .db
            .prepare_cached("SELECT name FROM pairs WHERE namespace = ?1 ORDER BY name")?;
        let names = read.query_map([namespace], |row| row.get(0))?;
        Ok(names.collect::<Result<_, _>>()?)
    }

    fn database(&mut self) -> Result<&mut Database, StoreError> {
        match &mut self.disk {
            Some(disk) => Ok(disk),
            none => Ok(none.insert(Database::open(&self.store)?.0)),
        }
    }
}
