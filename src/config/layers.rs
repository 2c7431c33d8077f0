//! The values of all layers of settings, each with the layer that has won so far.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::keys::KEYS;
use super::toml_schema::{self, SettingKey, TomlValue};
use avocet_core::i18n::{self, Localize, LocalizedText, Phrase};
use avocet_core::protocol::Money;

/// The layer that set a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingsLayer {
    BuiltIn,
    User(PathBuf),
    Project(PathBuf),
    Variable(String),
    CommandLine,
    /// The strictest value, because the value in this file is invalid.
    Strictest(PathBuf),
}

impl SettingsLayer {
    /// Its kind in a word or two.
    pub fn label(&self) -> Phrase {
        use i18n::config as w;
        match self {
            SettingsLayer::BuiltIn => w::FROM_BUILT_IN,
            SettingsLayer::User(_) => w::OF_USER,
            SettingsLayer::Project(_) => w::OF_PROJECT,
            SettingsLayer::Variable(_) => w::OF_VARIABLE,
            SettingsLayer::CommandLine => w::FROM_COMMAND_LINE,
            SettingsLayer::Strictest(_) => w::OF_STRICTEST,
        }
    }
}

impl Localize for SettingsLayer {
    fn localized(&self) -> LocalizedText {
        use i18n::config as w;
        let shown = |file: &Path| file.display().to_string();
        match self {
            SettingsLayer::BuiltIn => w::FROM_BUILT_IN.into(),
            SettingsLayer::User(file) => w::FROM_USER.with("file", shown(file)),
            SettingsLayer::Project(file) => w::FROM_PROJECT.with("file", shown(file)),
            SettingsLayer::Variable(name) => w::FROM_VARIABLE.with("name", name.as_str()),
            SettingsLayer::CommandLine => w::FROM_COMMAND_LINE.into(),
            SettingsLayer::Strictest(file) => w::FROM_STRICTEST.with("file", shown(file)),
        }
    }
}

/// Values by their dotted path, each with the layer that has won so far.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    pub(super) values: BTreeMap<String, (TomlValue, SettingsLayer)>,
}

impl Layers {
    pub fn get(&self, path: &str) -> Option<TomlValue> {
        match self.values.get(path) {
            Some((value, _)) => Some(value.clone()),
            None => toml_schema::find(KEYS, path).and_then(built_in),
        }
    }

    pub fn text(&self, path: &str) -> Option<String> {
        match self.get(path)? {
            TomlValue::Text(text) => Some(text).filter(|text| !text.is_empty()),
            TomlValue::Flag(_)
            | TomlValue::Count(_)
            | TomlValue::Number(_)
            | TomlValue::List(_) => None,
        }
    }

    pub fn flag(&self, path: &str) -> bool {
        self.get(path) == Some(TomlValue::Flag(true))
    }

    /// Zero for a key that is not a number; a test of the table checks that none is requested.
    pub fn count(&self, path: &str) -> u64 {
        match self.get(path) {
            Some(TomlValue::Count(count)) => count,
            _ => 0,
        }
    }

    /// An amount in dollars.
    pub fn money(&self, path: &str) -> Option<Money> {
        match self.get(path) {
            Some(TomlValue::Number(dollars)) => Money::from_dollars(dollars),
            _ => None,
        }
    }

    pub fn list(&self, path: &str) -> Vec<String> {
        match self.get(path) {
            Some(TomlValue::List(items)) => items,
            _ => Vec::new(),
        }
    }

    pub fn layer(&self, path: &str) -> SettingsLayer {
        self.values.get(path).map_or(SettingsLayer::BuiltIn, |(_, layer)| layer.clone())
    }

    /// The names in place of the `*` of `profiles.*`.
    pub fn profiles(&self) -> Vec<String> {
        let mut names: Vec<String> = self
            .values
            .keys()
            .filter_map(|path| path.strip_prefix("profiles.")?.split('.').next())
            .map(str::to_owned)
            .collect();
        names.dedup();
        names
    }

    /// The sections below a table that the user names: `models."qwen3*"`.
    pub fn sections(&self, table: &str) -> Vec<String> {
        let below = |path: &String| {
            let parts: Vec<&str> = toml_schema::raw_parts(path).collect();
            let [first, name, _] = parts[..] else { return None };
            (first == table).then(|| format!("{first}.{name}"))
        };
        let mut sections: Vec<String> = self.values.keys().filter_map(below).collect();
        sections.dedup();
        sections
    }

    pub(super) fn set(&mut self, path: &str, value: TomlValue, layer: SettingsLayer) {
        self.values.insert(path.to_owned(), (value, layer));
    }
}

fn built_in(key: &SettingKey) -> Option<TomlValue> {
    match key.kind {
        toml_schema::TomlKind::List(_) if key.built_in.is_empty() => {
            Some(TomlValue::List(Vec::new()))
        }
        _ if key.built_in.is_empty() => None,
        kind => kind.parse(key.built_in).ok(),
    }
}
