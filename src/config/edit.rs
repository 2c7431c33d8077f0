//! Changes one key of the settings file and keeps the rest: order, blank lines, comments, keys this
//! version does not know.
//!
//! A file that is not TOML is left alone and reported, never overwritten.

use std::io;
use std::path::Path;

use toml_edit::{Array, DocumentMut, Item, Table, TableLike};

use super::atomic_file;
use super::diagnostic::{self, ConfigDiagnostic, ConfigError, DiagnosticSource, Mismatch};
use super::keys::KEYS;
use super::toml_schema::{self, ListKind, SettingKey, TomlKind, TomlValue};
use avocet_core::i18n::{self, Localize, LocalizedText, common};
use avocet_safety as safety;

/// Why a key was not changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}", self.localized())]
pub enum EditError {
    /// The file or the key is already wrong.
    Problem(Box<ConfigDiagnostic>),
    /// The typed value has the wrong type.
    Value {
        key: String,
        mismatch: Box<Mismatch>,
    },
    NoKey {
        key: String,
        near: Option<String>,
    },
    /// The key does not belong in the file.
    Elsewhere {
        key: String,
        place: LocalizedText,
    },
    NotSaved {
        file: String,
        why: LocalizedText,
    },
}

impl Localize for EditError {
    fn localized(&self) -> LocalizedText {
        use i18n::config as w;
        match self {
            EditError::Problem(problem) => problem.localized(),
            EditError::Value { key, mismatch } => w::BAD_VALUE
                .with("key", key.as_str())
                .with("expected", mismatch.expected.clone())
                .with("found", mismatch.found.clone()),
            EditError::NoKey { key, near: None } => w::NO_KEY.with("key", key.as_str()),
            EditError::NoKey { key, near: Some(near) } => {
                w::NO_KEY_NEAR.with("key", key.as_str()).with("near", near.as_str())
            }
            EditError::Elsewhere { key, place } => {
                w::KEY_ELSEWHERE.with("key", key.as_str()).with("where", place.clone())
            }
            EditError::NotSaved { file, why } => {
                common::NOT_WRITTEN.with("file", file.as_str()).with("why", why.clone())
            }
        }
    }
}

/// Writes `value`, as the user typed it, under `key`. Returns the parsed value.
pub fn set(file: &Path, key: &str, value: &str) -> Result<TomlValue, EditError> {
    let value = check(key, value)?;
    let _lock = lock(file)?;
    let mut document = open(file)?;
    if let ("profile", TomlValue::Text(name)) = (key, &value) {
        check_profile(&document, file, name)?;
    }
    insert_value(document.as_table_mut(), key, &value)
        .map_err(|fault| not_a_table(file, key, fault))?;
    save(file, &document)?;
    Ok(value)
}

/// A missing profile would otherwise be reported only at the next start.
fn check_profile(document: &DocumentMut, file: &Path, name: &str) -> Result<(), EditError> {
    let known = document.get("profiles").and_then(Item::as_table_like);
    let known: Vec<String> =
        known.iter().flat_map(|table| table.iter()).map(|(name, _)| name.to_owned()).collect();
    if name == "default" || known.iter().any(|one| one == name) {
        return Ok(());
    }
    let problem = ConfigDiagnostic::of_file(file, ConfigError::NoProfile { known });
    Err(EditError::Problem(Box::new(ConfigDiagnostic { key: Some(name.to_owned()), ..problem })))
}

/// Removes `key`; true if it was there.
pub fn unset(file: &Path, key: &str) -> Result<bool, EditError> {
    find(key)?;
    let _lock = lock(file)?;
    let mut document = open(file)?;
    let there = remove_value(document.as_table_mut(), key);
    if there {
        save(file, &document)?;
    }
    Ok(there)
}

/// Which of these values the file does not have yet: `None` where the key has another, and of a list
/// what it lacks.
pub fn missing(
    file: &Path,
    wanted: &[(String, TomlValue)],
) -> Result<Vec<Option<TomlValue>>, EditError> {
    let mut document = open(file)?;
    Ok(wanted.iter().map(|(key, value)| lacking(document.as_table_mut(), key, value)).collect())
}

fn lacking(table: &mut dyn TableLike, key: &str, value: &TomlValue) -> Option<TomlValue> {
    match (item_at(table, key).map(|item| item.as_array()), value) {
        (None, _) => Some(value.clone()),
        (Some(Some(array)), TomlValue::List(items)) => {
            let has = |item: &&String| array.iter().any(|one| one.as_str() == Some(item.as_str()));
            let items: Vec<String> = items.iter().filter(|item| !has(item)).cloned().collect();
            (!items.is_empty()).then_some(TomlValue::List(items))
        }
        (Some(_), _) => None,
    }
}

fn item_at<'t>(table: &'t mut dyn TableLike, path: &str) -> Option<&'t mut Item> {
    match toml_schema::split_first(path) {
        None => table.get_mut(path),
        Some((section, rest)) => item_at(table.get_mut(section)?.as_table_like_mut()?, rest),
    }
}

/// Writes those that are missing, all at once. Nothing that is set changes, but a list grows.
pub fn add(file: &Path, wanted: &[(String, TomlValue)]) -> Result<(), EditError> {
    let _lock = lock(file)?;
    let mut document = open(file)?;
    let table = document.as_table_mut();
    for (key, value) in wanted {
        let Some(value) = lacking(table, key, value) else { continue };
        match (item_at(table, key).and_then(Item::as_array_mut), &value) {
            (Some(array), TomlValue::List(items)) => extend(array, items),
            _ => insert_value(table, key, &value).map_err(|fault| not_a_table(file, key, fault))?,
        }
    }
    save(file, &document)
}

/// A comment at the end of a list belongs to the item before it.
fn extend(array: &mut Array, items: &[String]) {
    let has_comment = array.trailing().as_str().is_some_and(|text| text.contains('#'));
    for item in items {
        let at = if has_comment { 0 } else { array.len() };
        array.insert(at, item);
    }
}

/// Where the servers of the Model Context Protocol are, each in a table of its own.
const SERVERS: &str = "mcp";

/// Writes the table of a server, in place of one of the same name.
pub fn set_server(file: &Path, name: &str, table: Table) -> Result<(), EditError> {
    let _lock = lock(file)?;
    let mut document = open(file)?;
    let servers = document.entry(SERVERS).or_insert_with(|| section_item("*.*"));
    let Some(servers) = servers.as_table_like_mut() else {
        let expected = i18n::config::A_TABLE.with("key", SERVERS);
        let found = i18n::config::FOUND_VALUE.with("value", servers.to_string().trim());
        return Err(not_a_table(file, SERVERS, ConfigError::mismatch(expected, found)));
    };
    servers.insert(name, Item::Table(table));
    save(file, &document)
}

/// Removes a server; true if it was there.
pub fn remove_server(file: &Path, name: &str) -> Result<bool, EditError> {
    let _lock = lock(file)?;
    let mut document = open(file)?;
    let servers = document.get_mut(SERVERS).and_then(Item::as_table_like_mut);
    let is_there = servers.is_some_and(|servers| servers.remove(name).is_some());
    if is_there {
        save(file, &document)?;
    }
    Ok(is_there)
}

/// The row of a key; the error names the nearest one.
pub fn find(key: &str) -> Result<&'static SettingKey, EditError> {
    toml_schema::find(KEYS, key).ok_or_else(|| EditError::NoKey {
        key: key.to_owned(),
        near: toml_schema::nearest(KEYS, key),
    })
}

fn check(key: &str, value: &str) -> Result<TomlValue, EditError> {
    let row = find(key)?;
    if let Some(place) = row.elsewhere {
        return Err(EditError::Elsewhere { key: key.to_owned(), place: place.into() });
    }
    let wrong = |found| EditError::Value {
        key: key.to_owned(),
        mismatch: Box::new(Mismatch { expected: row.kind.expected(), found }),
    };
    let value = row.kind.parse(value).map_err(wrong)?;
    // An id that no rule has lifts nothing.
    if let (TomlKind::List(ListKind::RuleIds), TomlValue::List(ids)) = (&row.kind, &value)
        && let Some(unknown) = ids.iter().find(|id| !safety::is_rule(id))
    {
        return Err(wrong(i18n::config::FOUND_VALUE.with("value", unknown.as_str())));
    }
    Ok(value)
}

fn open(file: &Path) -> Result<DocumentMut, EditError> {
    let text = atomic_file::read(file)
        .map_err(|fault| EditError::Problem(Box::new(ConfigDiagnostic::of_file(file, fault))))?
        .unwrap_or_default();
    text.parse::<DocumentMut>().map_err(|_| {
        let mut problems = toml_schema::read(file, &text, KEYS).problems;
        let whole = problems.iter().position(|problem| problem.fault.is_whole_file());
        let problem = whole.map_or_else(
            || ConfigDiagnostic::of_file(file, ConfigError::NotText),
            |index| problems.swap_remove(index),
        );
        EditError::Problem(Box::new(problem))
    })
}

/// Puts a value at its dotted path, creating tables on the way. A comment after the old value
/// stays.
fn insert_value(
    table: &mut dyn TableLike,
    path: &str,
    value: &TomlValue,
) -> Result<(), ConfigError> {
    let Some((section, rest)) = toml_schema::split_first(path) else {
        let mut new = value.toml();
        if let Some(old) = table.get(path).and_then(Item::as_value) {
            *new.decor_mut() = old.decor().clone();
        }
        match table.get_mut(path) {
            Some(item) => *item = Item::Value(new),
            None => {
                table.insert(path, Item::Value(new));
            }
        }
        return Ok(());
    };
    let inner = table.entry(section).or_insert_with(|| section_item(rest));
    match inner.as_table_like_mut() {
        Some(inner) => insert_value(inner, rest, value),
        None => Err(ConfigError::mismatch(
            i18n::config::A_TABLE.with("key", section),
            i18n::config::FOUND_VALUE.with("value", inner.to_string().trim()),
        )),
    }
}

/// A table that contains only tables needs no header of its own.
fn section_item(rest: &str) -> Item {
    let mut table = Table::new();
    table.set_implicit(rest.contains('.'));
    Item::Table(table)
}

fn remove_value(table: &mut dyn TableLike, path: &str) -> bool {
    match toml_schema::split_first(path) {
        None => table.remove(path).is_some(),
        Some((section, rest)) => table
            .get_mut(section)
            .and_then(Item::as_table_like_mut)
            .is_some_and(|inner| remove_value(inner, rest)),
    }
}

fn not_a_table(file: &Path, key: &str, error: ConfigError) -> EditError {
    let written = DiagnosticSource::File(file.to_owned());
    EditError::Problem(Box::new(ConfigDiagnostic {
        origin: written,
        place: None,
        key: Some(key.to_owned()),
        fault: error,
    }))
}

fn lock(file: &Path) -> Result<atomic_file::FileLock, EditError> {
    atomic_file::lock(file).map_err(|error| not_saved(file, &error))
}

fn save(file: &Path, document: &DocumentMut) -> Result<(), EditError> {
    atomic_file::write(file, &document.to_string()).map_err(|error| not_saved(file, &error))
}

fn not_saved(file: &Path, error: &io::Error) -> EditError {
    EditError::NotSaved { file: file.display().to_string(), why: diagnostic::io_reason(error) }
}
