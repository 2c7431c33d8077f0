//! The settings of a running session: read again when a file changed, shown with their origin, and
//! written.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::startup::Startup;
use super::user_themes;
use crate::cli::config::without_password;
use crate::config::diagnostic::{ConfigDiagnostic, ConfigError, DiagnosticSource};
use crate::config::{Environment, Loaded, Paths, Sources, edit, load};
use crate::i18n::{Lang, Localize, LocalizedText, cli as words, session};
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

/// A whole file that could not be read.
fn is_unreadable(problem: &ConfigDiagnostic) -> bool {
    let is_file = matches!(problem.origin, DiagnosticSource::File(_));
    is_file && problem.key.is_none() && !matches!(problem.fault, ConfigError::TooMany { .. })
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
        let loaded = load(Sources {
            paths: &self.paths,
            environment: &self.environment,
            options: &self.options,
            project: &self.project,
        });
        // A file that is being written, or was saved half, says nothing of what the user wants: what
        // was read last stays until a save that can be read.
        if let Some(broken) = loaded.problems.iter().find(|problem| is_unreadable(problem)) {
            let notice = broken.notice();
            let say = session::CONFIG_KEPT.with("problem", notice.say.clone());
            let live = self.live(vec![Notice { say, ..notice }]);
            return Some(live);
        }
        let known = std::mem::replace(&mut self.loaded, loaded).problems;
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_half_saved_file_leaves_the_last_good_settings_until_the_next_good_save() {
        let root = tempfile::tempdir().unwrap();
        let paths = Paths::with_root(root.path(), root.path().join("home"));
        let file = paths.settings();
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let environment = Environment::default();
        let sources =
            |paths| Sources { paths, environment: &environment, options: &[], project: &[] };
        let good = "[safety]\nmax_auto_steps_per_turn = 7\nallow = [\"cargo build *\"]\n";
        fs::write(&file, good).unwrap();
        let loaded = load(sources(&paths));
        let mut files = SettingsFiles {
            environment: environment.clone(),
            options: Vec::new(),
            project: Vec::new(),
            loaded,
            stamps: Vec::new(),
            paths,
        };
        files.stamps = files.current_stamps();
        assert!(files.reload().is_none(), "nothing changed");
        fs::write(&file, "[safety]\nmax_auto_steps_per_turn = 7\nallow = [\"cargo bu").unwrap();
        let live = files.reload().unwrap();
        assert_eq!((live.max_steps, live.policy.allowed.len()), (7, 1));
        let [problem] = &live.problems[..] else { panic!("{:?}", live.problems) };
        let said = problem.say.text(Lang::En);
        assert!(said.contains("The settings that were read last stay."), "{said}");
        assert!(files.reload().is_none(), "it is said once");
        fs::write(&file, "[safety]\nmax_auto_steps_per_turn = 9\n").unwrap();
        let live = files.reload().unwrap();
        assert_eq!((live.max_steps, live.policy.allowed.len()), (9, 0));
        assert!(live.problems.is_empty(), "{:?}", live.problems);
    }
}
