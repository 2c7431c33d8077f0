//! The settings of a running session: read again when a file changed, shown with their origin, and
//! written.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::startup::Startup;
use super::user_themes;
use crate::cli::config::without_password;
use crate::config::diagnostic::ConfigDiagnostic;
use crate::config::{Environment, Loaded, Paths, Sources, edit, load};
use crate::i18n::{Lang, Localize, LocalizedText, cli as words};
use crate::protocol::{Notice, PageRow};
use crate::safety::Policy;
use crate::session::settings::{LiveSettings, SettingsAccess};

/// The settings, and how their files were when they were read.
pub struct SettingsFiles {
    paths: Paths,
    environment: Environment,
    options: Vec<(&'static str, String)>,
    project: Vec<PathBuf>,
    loaded: Loaded,
    stamps: Vec<Option<(SystemTime, u64)>>,
}

impl SettingsFiles {
    pub fn new(startup: &Startup, project: Vec<PathBuf>) -> SettingsFiles {
        let mut files = SettingsFiles {
            paths: startup.paths.clone(),
            environment: startup.environment.clone(),
            options: startup.options.clone(),
            project,
            loaded: startup.loaded.clone(),
            stamps: Vec::new(),
        };
        files.stamps = files.current_stamps();
        files
    }

    fn current_stamps(&self) -> Vec<Option<(SystemTime, u64)>> {
        let own = [self.paths.settings(), self.paths.prices()];
        own.iter().chain(&self.project).map(|file| stamp(file)).collect()
    }

    fn live(&self, problems: Vec<Notice>) -> LiveSettings {
        let settings = &self.loaded.settings;
        LiveSettings {
            policy: settings.policy(),
            max_steps: settings.limits.max_auto_steps,
            spend_limits: settings.spend_limits,
            check: settings.check.clone(),
            problems,
        }
    }
}

fn stamp(file: &Path) -> Option<(SystemTime, u64)> {
    let meta = std::fs::metadata(file).ok()?;
    Some((meta.modified().ok()?, meta.len()))
}

impl SettingsAccess for SettingsFiles {
    fn reload(&mut self) -> Option<LiveSettings> {
        let stamps = self.current_stamps();
        if stamps == self.stamps {
            return None;
        }
        self.stamps = stamps;
        let known: Vec<ConfigDiagnostic> = std::mem::take(&mut self.loaded.problems);
        self.loaded = load(Sources {
            paths: &self.paths,
            environment: &self.environment,
            options: &self.options,
            project: &self.project,
        });
        let new = self.loaded.problems.iter().filter(|problem| !known.contains(problem));
        Some(self.live(new.map(ConfigDiagnostic::notice).collect()))
    }

    fn policy(&self) -> Policy {
        self.loaded.settings.policy()
    }

    fn rows(&self, beginning: &str, lang: Lang) -> Vec<PageRow> {
        let all = self.loaded.all().into_iter().filter(|(key, ..)| key.starts_with(beginning));
        all.map(|(key, value, layer)| {
            let value = without_password(&key, value).toml().to_string();
            let value =
                words::CONFIG_ROW.with("value", value).with("origin", layer.localized().text(lang));
            PageRow::pair(key, value)
        })
        .collect()
    }

    fn set(&mut self, key: &str, value: Option<&str>) -> Result<LocalizedText, LocalizedText> {
        let file = self.paths.settings();
        let shown = file.display().to_string();
        let Some(value) = value else {
            let done = edit::unset(&file, key).map_err(|error| error.localized())?;
            let word = if done { words::CONFIG_UNSET } else { words::CONFIG_WAS_UNSET };
            return Ok(word.with("key", key).with("file", shown));
        };
        user_themes::check_setting(&self.paths, key, value)?;
        let value = edit::set(&file, key, value).map_err(|error| error.localized())?;
        let value = without_password(key, value).display_text();
        Ok(words::CONFIG_SET.with("key", key).with("value", value).with("file", shown))
    }
}
