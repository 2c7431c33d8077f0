//! How each server is started: the table of known ones, and `[lsp.NAME]` of the user's settings.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use toml::Table;

use super::table::SERVERS;
use avocet_core::i18n::{LocalizedText, lsp as phrases};

/// The memory of each process of a server, unless the settings say otherwise, in MiB.
const MEMORY: u64 = 4096;
const MAX_SETTINGS: u64 = 4 << 20;

/// One server, for files of some languages.
#[derive(Clone, Debug, PartialEq)]
pub struct LanguageDefinition {
    pub name: String,
    /// The program, and its arguments.
    pub command: Vec<String>,
    /// Endings of names, each with its language.
    pub languages: Vec<(String, String)>,
    /// Files that are in the folder of a project.
    pub roots: Vec<String>,
    pub is_enabled: bool,
    /// The most that each of its processes may have, in MiB.
    pub memory: u64,
    /// Its initialization options.
    pub options: Value,
}

/// All servers, and what of the settings is not used.
#[derive(Clone, Debug, Default)]
pub struct LanguageDefinitions {
    pub servers: Vec<LanguageDefinition>,
    pub faults: Vec<LocalizedText>,
}

/// Reads `[lsp.NAME]` of a file of settings. Blocks.
pub fn read_languages(settings: &Path) -> LanguageDefinitions {
    let is_small = fs::metadata(settings).is_ok_and(|meta| meta.len() <= MAX_SETTINGS);
    let text =
        if is_small { fs::read_to_string(settings).unwrap_or_default() } else { String::new() };
    // The faults of the file itself are reported where all settings are read.
    let table = text.parse::<Table>().unwrap_or_default();
    let own = table.get("lsp").and_then(toml::Value::as_table).cloned().unwrap_or_default();
    let mut definitions = LanguageDefinitions { servers: known(), faults: Vec::new() };
    for (name, value) in own {
        let Some(fields) = value.as_table() else {
            definitions.faults.push(phrases::BAD_SETTING.with("key", format!("lsp.{name}")));
            continue;
        };
        definitions.add(name, fields);
    }
    definitions
}

fn known() -> Vec<LanguageDefinition> {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let definition = |row: &super::table::ServerRow| LanguageDefinition {
        name: row.name.to_owned(),
        command: owned(row.command),
        languages: row.languages.iter().map(|(end, id)| ((*end).into(), (*id).into())).collect(),
        roots: owned(row.roots),
        is_enabled: true,
        memory: MEMORY,
        options: Value::Null,
    };
    SERVERS.iter().map(definition).collect()
}

impl LanguageDefinitions {
    /// Adds a server before those of the table, or changes the one of its name.
    fn add(&mut self, name: String, table: &Table) {
        let at = self.servers.iter().position(|server| server.name == name);
        let mut definition = match at {
            Some(at) => self.servers.remove(at),
            None => LanguageDefinition {
                name: name.clone(),
                command: Vec::new(),
                languages: Vec::new(),
                roots: Vec::new(),
                is_enabled: true,
                memory: MEMORY,
                options: Value::Null,
            },
        };
        for (key, value) in table {
            if definition.set(key, value).is_none() {
                self.faults.push(phrases::BAD_SETTING.with("key", format!("lsp.{name}.{key}")));
            }
        }
        if definition.command.is_empty() || definition.languages.is_empty() {
            self.faults.push(phrases::INCOMPLETE.with("name", name));
        } else {
            self.servers.insert(0, definition);
        }
    }
}

impl LanguageDefinition {
    /// `None`: the key is unknown, or its value is of another kind.
    fn set(&mut self, key: &str, value: &toml::Value) -> Option<()> {
        match key {
            "command" => self.command = texts(value)?,
            "languages" => self.languages = languages(value)?,
            "roots" => self.roots = texts(value)?,
            "enabled" => self.is_enabled = value.as_bool()?,
            "memory_mib" => self.memory = u64::try_from(value.as_integer()?).ok()?.max(64),
            "options" => self.options = serde_json::to_value(value.as_table()?).ok()?,
            _ => return None,
        }
        Some(())
    }

    /// The language of a file; `None`: it is for others.
    pub(crate) fn language_of(&self, path: &Path) -> Option<&str> {
        let ending = path.extension()?.to_str()?;
        let found = self.languages.iter().find(|(known, _)| known == ending)?;
        Some(&found.1)
    }

    /// The folder of the project that a file is in: the outermost one below `folder` with a file of
    /// the list, so that the parts of a project share a server. Blocks.
    pub(crate) fn root_of(&self, path: &Path, folder: &Path) -> PathBuf {
        let above = path.ancestors().skip(1).take_while(|above| above.starts_with(folder));
        let is_root = |above: &&Path| self.roots.iter().any(|name| above.join(name).exists());
        above.filter(is_root).last().unwrap_or(folder).to_owned()
    }
}

fn texts(value: &toml::Value) -> Option<Vec<String>> {
    match value {
        toml::Value::String(text) => Some(vec![text.clone()]),
        value => value.as_array()?.iter().map(|text| Some(text.as_str()?.to_owned())).collect(),
    }
}

/// A table of endings, or a list of those that are the names of their languages.
fn languages(value: &toml::Value) -> Option<Vec<(String, String)>> {
    match value.as_table() {
        Some(table) => {
            table.iter().map(|(end, id)| Some((end.clone(), id.as_str()?.to_owned()))).collect()
        }
        None => Some(texts(value)?.into_iter().map(|end| (end.clone(), end)).collect()),
    }
}
