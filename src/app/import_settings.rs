//! The settings of another client: reads its files, and writes what has a meaning here into the user's
//! own file. Nothing that is set there changes.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::extensions::confirm;
use super::startup::Startup;
use crate::cli::Exit;
use crate::cli::import::{ImportClient, ImportedSettings};
use crate::cli::input::Confirmation;
use avocet_config::SettingsLayer;
use avocet_config::edit::{self, EditError};
use avocet_config::foreign_file::{read_text, without_comments};
use avocet_config::toml_schema::TomlValue;
use avocet_core::i18n::{Localize as _, LocalizedText, Phrase, import as phrases};
use avocet_core::protocol::{Notice, PageRow};

/// Larger files are not read: those with a history beside the settings are large.
const MAX_FILE: u64 = 64 << 20;

pub struct SettingsImport {
    /// What the user's file lacks.
    missing: Vec<(String, TomlValue)>,
    /// What it has another value for.
    kept: Vec<(String, TomlValue)>,
    left: Vec<LocalizedText>,
}

/// A file of settings.
struct SettingsFile {
    path: PathBuf,
    /// It holds the state of the client too, not only settings.
    is_state: bool,
}

impl SettingsImport {
    pub fn find(startup: &Startup, client: ImportClient) -> Result<SettingsImport, EditError> {
        let mut imported = ImportedSettings::default();
        let mut left = Vec::new();
        for SettingsFile { path, is_state } in files(startup, client) {
            match read(&path) {
                Ok(Some(document)) => client.read_settings(&document, is_state, &mut imported),
                Ok(None) => {}
                Err(why) => {
                    let file = path.display().to_string();
                    left.push(phrases::SETTINGS_UNREAD.with("file", file).with("why", why));
                }
            }
        }
        if is_moved(startup, client) {
            // Only where they usually are, they are looked for.
            imported.unused.append(&mut imported.in_place);
        }
        for (phrase, names) in [
            (phrases::SETTINGS_IN_PLACE, &imported.in_place),
            (phrases::SETTINGS_UNUSED, &imported.unused),
        ] {
            left.extend((!names.is_empty()).then(|| phrase.with("names", names.join(", "))));
        }
        let profile = profile(startup);
        let mut missing = Vec::new();
        let mut kept = Vec::new();
        let wanted = joined(imported.found, &profile);
        let lacking = edit::missing(&startup.paths.settings(), &wanted)?;
        for ((key, value), lacking) in wanted.into_iter().zip(lacking) {
            match lacking {
                Some(value) => missing.push((key, value)),
                None => kept.push((key, value)),
            }
        }
        if let Some((hosted, model)) = imported.model {
            let of_profile = |key: &str| format!("profiles.{profile}.{key}");
            let text = |text: &str| TomlValue::Text(text.to_owned());
            // A model belongs to its server.
            let is_free = ["base_url", "provider", "high", "low"]
                .iter()
                .all(|key| startup.loaded.layer_of(&of_profile(key)) == SettingsLayer::BuiltIn);
            let place = if is_free { &mut missing } else { &mut kept };
            place.push((of_profile("base_url"), text(hosted.base_url)));
            place.push((of_profile("high"), text(&model)));
        }
        Ok(SettingsImport { missing, kept, left })
    }

    pub fn is_empty(&self) -> bool {
        self.missing.is_empty() && self.kept.is_empty() && self.left.is_empty()
    }

    /// What would be written, and what the user has already.
    pub fn rows(&self) -> Vec<PageRow> {
        let mut rows = Vec::new();
        for (title, settings) in
            [(phrases::SETTINGS_TO_COPY, &self.missing), (phrases::SETTINGS_KEPT, &self.kept)]
        {
            if !settings.is_empty() {
                rows.push(PageRow::heading(title));
            }
            let row = |(key, value): &(String, TomlValue)| {
                PageRow::pair(key.clone(), value.display_text())
            };
            rows.extend(settings.iter().map(row));
        }
        rows
    }

    pub fn left_out(&self) -> impl Iterator<Item = PageRow> {
        self.left.iter().cloned().map(PageRow::line)
    }

    /// Asks, and writes.
    pub fn write(&self, startup: &Startup, yes: bool) -> Exit {
        if self.missing.is_empty() {
            return Exit::Done;
        }
        let file = startup.paths.settings();
        let say = |phrase: Phrase| {
            phrase.with("count", self.missing.len()).with("file", file.display().to_string())
        };
        when_wanted(startup, say(phrases::SETTINGS_ASK), yes, || {
            match edit::add(&file, &self.missing) {
                Ok(()) => startup.fail(&Notice::info(say(phrases::SETTINGS_DONE)), Exit::Done),
                Err(error) => startup.fail(&Notice::error(error.localized()), Exit::Failed),
            }
        })
    }
}

/// Does it if the user says so.
pub fn when_wanted(
    startup: &Startup,
    ask: LocalizedText,
    yes: bool,
    work: impl FnOnce() -> Exit,
) -> Exit {
    let sure = if yes { Confirmation::Yes } else { confirm(startup, ask, true) };
    match sure {
        Confirmation::Yes => work(),
        Confirmation::No => startup.fail(&Notice::info(phrases::NOT_WANTED), Exit::Blocked),
        Confirmation::NoUser => startup.fail(&Notice::error(phrases::NEEDS_YES), Exit::Blocked),
    }
}

/// The name of the profile that starts, as a part of a key.
fn profile(startup: &Startup) -> String {
    let profile = startup.loaded.get("profile").map(|value| value.display_text());
    let profile = profile.unwrap_or_else(|| "default".to_owned());
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    if profile.chars().all(is_plain) { profile } else { format!("\"{profile}\"") }
}

/// Each key once: the last one counts, and rules come together.
fn joined(found: Vec<(String, TomlValue)>, profile: &str) -> Vec<(String, TomlValue)> {
    let mut joined: Vec<(String, TomlValue)> = Vec::new();
    for (key, value) in found {
        let key = key.replace('*', profile);
        match (joined.iter_mut().find(|(known, _)| *known == key), value) {
            (Some((_, TomlValue::List(rules))), TomlValue::List(more)) => {
                rules.extend(
                    more.into_iter().filter(|rule| !rules.contains(rule)).collect::<Vec<_>>(),
                );
            }
            (Some((_, known)), value) => *known = value,
            (None, value) => joined.push((key, value)),
        }
    }
    joined
}

/// Whether a variable names another folder of the client.
fn is_moved(startup: &Startup, client: ImportClient) -> bool {
    let variable = match client {
        ImportClient::Claude => "CLAUDE_CONFIG_DIR",
        ImportClient::Codex => "CODEX_HOME",
        ImportClient::Gemini | ImportClient::Opencode => return false,
    };
    startup.environment.path(variable).is_some()
}

/// Where a client keeps its settings, the ones that count more last.
fn files(startup: &Startup, client: ImportClient) -> Vec<SettingsFile> {
    let home = &startup.paths.home;
    let moved = |variable: &str| startup.environment.path(variable);
    let file = |path: PathBuf| SettingsFile { path, is_state: false };
    match client {
        ImportClient::Claude => {
            let own = moved("CLAUDE_CONFIG_DIR");
            let state = own.as_ref().unwrap_or(home).join(".claude.json");
            let folder = own.unwrap_or_else(|| home.join(".claude"));
            let state_file = SettingsFile { path: state, is_state: true };
            vec![state_file, file(folder.join("settings.json"))]
        }
        ImportClient::Codex => {
            let folder = moved("CODEX_HOME").unwrap_or_else(|| home.join(".codex"));
            vec![file(folder.join("config.toml"))]
        }
        ImportClient::Gemini => vec![file(home.join(".gemini/settings.json"))],
        ImportClient::Opencode => {
            let folder = moved("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
            let names = ["config.json", "opencode.json", "opencode.jsonc", "tui.json"];
            names.iter().map(|name| file(folder.join("opencode").join(name))).collect()
        }
    }
}

/// A file as an object; `None` if there is none.
fn read(path: &Path) -> Result<Option<Value>, LocalizedText> {
    let Some(text) = read_text(path, MAX_FILE)? else { return Ok(None) };
    let is_toml = path.extension().is_some_and(|end| end == "toml");
    let document: Option<Value> = if is_toml {
        toml::from_str(&text).ok()
    } else {
        serde_json::from_str(&without_comments(&text)).ok()
    };
    match document {
        Some(document @ Value::Object(_)) => Ok(Some(document)),
        _ => Err(phrases::NOT_VALID.into()),
    }
}
