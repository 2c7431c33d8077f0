//! Merges the layers of settings: the command line overrides the environment, then the project, the
//! user and the built-in values. Each value remembers the layer it came from.
//!
//! A project's file may only tighten safety. An invalid safety key falls back to its strictest
//! value, and an unreadable settings file makes every safety key do so: a typing error must not
//! allow what the user meant to forbid.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::diagnostic::{ConfigDiagnostic, ConfigError, DiagnosticSource};
use super::keys::KEYS;
use super::layers::{Layers, SettingsLayer};
use super::settings::Settings;
use super::toml_schema::{self, SettingKey, TomlEntry, TomlReport, TomlValue};
use super::{Environment, Paths, atomic_file};
use avocet_core::i18n::LocalizedText;
use avocet_core::protocol::SandboxMode;

/// The sources of the layers.
#[derive(Clone, Copy, Debug)]
pub struct Sources<'a> {
    pub paths: &'a Paths,
    pub environment: &'a Environment,
    /// Key and value of each given option.
    pub options: &'a [(&'static str, String)],
    /// The project's files, outermost first; empty unless the folder is trusted.
    pub project: &'a [PathBuf],
}

/// The settings in force, and their origin.
#[derive(Clone, Debug)]
pub struct Loaded {
    pub settings: Settings,
    pub problems: Vec<ConfigDiagnostic>,
    /// The files as they were before they were read.
    pub stamps: Vec<SettingsStamp>,
    layers: Layers,
    /// The contents of the project's files.
    project: Vec<(PathBuf, TomlReport)>,
}

/// How a file is, to tell whether it was changed or replaced since.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsStamp {
    file: PathBuf,
    /// Time, size and place on the disk; `None`: the file does not exist.
    state: Option<(SystemTime, u64, u64)>,
}

impl SettingsStamp {
    fn of(file: PathBuf) -> SettingsStamp {
        use std::os::unix::fs::MetadataExt;
        let meta = std::fs::metadata(&file).ok();
        let state = meta.and_then(|meta| Some((meta.modified().ok()?, meta.len(), meta.ino())));
        SettingsStamp { file, state }
    }
}

/// The user's files first; the others are the project's.
pub const OWN_FILES: usize = 2;

/// The stamps of all files of settings.
pub fn stamps(paths: &Paths, project: &[PathBuf]) -> Vec<SettingsStamp> {
    let own: [PathBuf; OWN_FILES] = [paths.settings(), paths.prices()];
    own.into_iter().chain(project.iter().cloned()).map(SettingsStamp::of).collect()
}

impl Loaded {
    /// The current value of a key, `None` if it has none or the key is unknown.
    pub fn get(&self, path: &str) -> Option<TomlValue> {
        self.layers.get(path)
    }

    /// The layer that won for a key.
    pub fn layer_of(&self, path: &str) -> SettingsLayer {
        self.layers.layer(path)
    }

    /// Whether the project has settings that were read.
    pub fn has_project_settings(&self) -> bool {
        !self.project.is_empty()
    }

    /// Every key that has a value, in the order of the table.
    pub fn all(&self) -> Vec<(String, TomlValue, SettingsLayer)> {
        let row = |path: &str| Some((path.to_owned(), self.get(path)?, self.layer_of(path)));
        let mut rows = Vec::new();
        for key in KEYS {
            if key.path.contains('*') {
                let of_key = |path: &&String| {
                    toml_schema::find(KEYS, path).is_some_and(|k| k.path == key.path)
                };
                rows.extend(self.layers.values.keys().filter(of_key).filter_map(|path| row(path)));
            } else {
                rows.extend(row(key.path));
            }
        }
        rows
    }
}

/// Reads every layer. Never fails: an invalid part becomes a problem in the result, and the rest
/// counts.
pub fn load(sources: Sources<'_>) -> Loaded {
    let read_file = |file: &PathBuf| (file.clone(), read(file, KEYS));
    load_with(sources, || sources.project.iter().map(read_file).collect())
}

/// The same with the project's files as they were read before, whatever they contain now.
pub fn load_with_known_project(sources: Sources<'_>, before_loaded: &Loaded) -> Loaded {
    load_with(sources, || before_loaded.project.clone())
}

fn load_with(
    sources: Sources<'_>,
    read_project: impl FnOnce() -> Vec<(PathBuf, TomlReport)>,
) -> Loaded {
    let stamps = stamps(sources.paths, sources.project);
    let mut layers = Layers::default();
    let mut problems = load_prices(sources.paths, &mut layers);
    problems.extend(load_user(sources.paths, &mut layers));
    let project = read_project();
    for (file, reading) in &project {
        problems.extend(load_project(file, reading.clone(), &mut layers));
    }
    problems.extend(load_variables(sources.environment, &mut layers));
    problems.extend(load_command_line(sources.options, &mut layers));
    let settings = Settings::from_layers(&layers, sources.environment, &mut problems);
    Loaded { settings, problems, stamps, layers, project }
}

/// The user's prices, in a file of their own so that a list of them can be replaced as a whole.
fn load_prices(paths: &Paths, layers: &mut Layers) -> Vec<ConfigDiagnostic> {
    let file = paths.prices();
    let keys: Vec<SettingKey> =
        KEYS.iter().filter(|key| key.path.starts_with("models.*.price_")).copied().collect();
    let reading = read(&file, &keys);
    for TomlEntry { path, value, .. } in reading.found {
        layers.set(&path, value, SettingsLayer::User(file.clone()));
    }
    reading.problems
}

fn load_user(paths: &Paths, layers: &mut Layers) -> Vec<ConfigDiagnostic> {
    let file = paths.settings();
    let reading = read(&file, KEYS);
    for TomlEntry { path, value, .. } in reading.found {
        layers.set(&path, value, SettingsLayer::User(file.clone()));
    }
    fall_back(&reading.problems, &file, layers);
    reading.problems
}

fn read(file: &Path, keys: &[SettingKey]) -> TomlReport {
    match atomic_file::read(file) {
        Ok(None) => TomlReport::default(),
        Ok(Some(text)) => {
            let mut report = toml_schema::read(file, &text, keys);
            // Servers and hooks are read where they are started.
            let is_read_later =
                |key: &str| matches!(key.split('.').next(), Some("mcp" | "hooks" | "lsp"));
            report.problems.retain(|problem| !problem.key.as_deref().is_some_and(is_read_later));
            report
        }
        Err(fault) => {
            TomlReport { found: Vec::new(), problems: vec![ConfigDiagnostic::of_file(file, fault)] }
        }
    }
}

/// Makes safety keys as strict as possible if the file is invalid.
fn fall_back(diagnostics: &[ConfigDiagnostic], file: &Path, layers: &mut Layers) {
    for problem in diagnostics {
        let meant = match &problem.fault {
            // The rule itself was handled when it was read.
            ConfigError::Rule(_) => continue,
            // A misspelt key was probably meant to be the similar one.
            ConfigError::Unknown { near } => near.as_deref().or(problem.key.as_deref()),
            fault if fault.is_whole_file() => None,
            _ => problem.key.as_deref(),
        };
        match meant {
            None => set_strictest(|_| true, file, layers),
            Some(path) if !path.starts_with("safety") => {}
            Some(path) => match toml_schema::find(KEYS, path) {
                Some(SettingKey { path, strictest: Some(_), .. }) => {
                    set_strictest(|key| key.path == *path, file, layers);
                }
                // A list that forbids cannot be made stricter automatically.
                _ if matches!(
                    problem.fault,
                    ConfigError::Mismatch(_) | ConfigError::Unknown { near: Some(_) }
                ) =>
                {
                    set_strictest(|_| true, file, layers);
                }
                _ => {}
            },
        }
    }
}

fn set_strictest(which: impl Fn(&SettingKey) -> bool, file: &Path, layers: &mut Layers) {
    for key in KEYS.iter().filter(|key| which(key)) {
        if let Some(value) = key.strictest.and_then(|text| key.kind.parse(text).ok()) {
            layers.set(key.path, value, SettingsLayer::Strictest(file.to_owned()));
        }
    }
}

fn load_project(file: &Path, report: TomlReport, layers: &mut Layers) -> Vec<ConfigDiagnostic> {
    let mut problems = report.problems;
    fall_back(&problems, file, layers);
    for TomlEntry { path, value, place } in report.found {
        let fault = if path.starts_with("project.") {
            // The project's own data; its commands are judged like any step.
            layers.set(&path, value, SettingsLayer::Project(file.to_owned()));
            continue;
        } else if path.starts_with("safety.") {
            match tighten(&path, value, layers) {
                Tightened::Yes(value) => {
                    layers.set(&path, value, SettingsLayer::Project(file.to_owned()));
                    continue;
                }
                Tightened::Same => continue,
                Tightened::No => ConfigError::Loosens,
            }
        } else {
            ConfigError::NotForProjects
        };
        let written = DiagnosticSource::File(file.to_owned());
        problems.push(ConfigDiagnostic { origin: written, place, key: Some(path), fault });
    }
    problems
}

enum Tightened {
    Yes(TomlValue),
    Same,
    No,
}

/// Applies a project's value to the current one.
fn tighten(path: &str, value: TomlValue, layers: &Layers) -> Tightened {
    let now = layers.get(path);
    if now.as_ref() == Some(&value) {
        return Tightened::Same;
    }
    match (path, value, now) {
        ("safety.max_auto_steps_per_turn", TomlValue::Count(new), now) => {
            let is_less = match now {
                Some(TomlValue::Count(now)) => now == 0 || new < now,
                // The least that counts without a setting.
                _ => new <= 25,
            };
            if new > 0 && is_less { Tightened::Yes(TomlValue::Count(new)) } else { Tightened::No }
        }
        ("safety.allowed_programs", TomlValue::List(new), Some(TomlValue::List(mut now))) => {
            // Only removing programs is certainly stricter.
            if !new.iter().all(|name| name.starts_with('-')) {
                return Tightened::No;
            }
            now.extend(new);
            Tightened::Yes(TomlValue::List(now))
        }
        ("safety.deny", TomlValue::List(new), Some(TomlValue::List(mut now))) => {
            now.extend(new);
            Tightened::Yes(TomlValue::List(now))
        }
        // Which steps ask is the user's own choice.
        ("safety.mode", ..) => Tightened::No,
        ("safety.sandbox", TomlValue::Text(new), Some(TomlValue::Text(now))) => {
            let held = |word: &str| SandboxMode::parse(word).map(SandboxMode::strictness);
            if held(&new) > held(&now) {
                Tightened::Yes(TomlValue::Text(new))
            } else {
                Tightened::No
            }
        }
        // One of two words or flags: the stricter one is the strictest value in the table.
        (path, value @ (TomlValue::Text(_) | TomlValue::Flag(_)), _) => {
            let strictest =
                toml_schema::find(KEYS, path).and_then(|key| key.kind.parse(key.strictest?).ok());
            if strictest.as_ref() == Some(&value) { Tightened::Yes(value) } else { Tightened::No }
        }
        _ => Tightened::No,
    }
}

fn load_variables(environment: &Environment, layers: &mut Layers) -> Vec<ConfigDiagnostic> {
    let mut problems = Vec::new();
    for key in KEYS {
        let set = key.variables.iter().find_map(|name| Some((*name, environment.get(name)?)));
        let Some((name, text)) = set else { continue };
        let text = match key.path {
            // `NO_COLOR` counts if it is set, whatever its value.
            "color" => "never",
            // Values are shown to users; the key itself is passed only to the connection.
            "api_key" => "…",
            _ => text,
        };
        match key.kind.parse(text) {
            Ok(value) => layers.set(key.path, value, SettingsLayer::Variable(name.to_owned())),
            Err(found) => problems.push(invalid_value(
                key,
                DiagnosticSource::Variable(name.to_owned()),
                found,
            )),
        }
    }
    problems
}

fn load_command_line(
    line: &[(&'static str, String)],
    layers: &mut Layers,
) -> Vec<ConfigDiagnostic> {
    let mut problems = Vec::new();
    for (path, text) in line {
        let Some(key) = toml_schema::find(KEYS, path) else { continue };
        match key.kind.parse(text) {
            Ok(value) => layers.set(path, value, SettingsLayer::CommandLine),
            Err(found) => problems.push(invalid_value(key, DiagnosticSource::CommandLine, found)),
        }
    }
    problems
}

fn invalid_value(
    key: &SettingKey,
    source: DiagnosticSource,
    text: LocalizedText,
) -> ConfigDiagnostic {
    let fault = ConfigError::mismatch(key.kind.expected(), text);
    ConfigDiagnostic { origin: source, place: None, key: Some(key.path.to_owned()), fault }
}
