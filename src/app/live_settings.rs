//! The settings of a running session: read again when a file changed, shown with their origin, and
//! written.

use std::path::PathBuf;
use std::sync::Arc;

use super::editable_settings;
use super::first_time::check_offer;
use super::models::ModelConnector;
use super::startup::Startup;
use super::step_runner::{self, SessionPurpose, StepRunner};
use super::user_themes;
use crate::cli::config::without_password;
use avocet_config::diagnostic::{ConfigDiagnostic, ConfigError, DiagnosticSource};
use avocet_config::load::{self, OWN_FILES, SettingsStamp};
use avocet_config::paths::project_files;
use avocet_config::{Loaded, ProviderSetting, Settings, SettingsLayer, Sources, edit};
use avocet_core::i18n::{Lang, Localize, LocalizedText, cli as phrases, session};
use avocet_core::protocol::{Mode, Notice, PageRow, SettingRow};
use avocet_core::secret::secret_parts;
use avocet_safety::Policy;
use avocet_safety::redact::is_random;
use avocet_session::Wanted;
use avocet_session::settings::{ReloadedModels, ReloadedSettings, ReloadedTools, SettingsAccess};
use avocet_session::trust::TrustPrompt;
use avocet_tools::web::WebTool;

#[cfg(test)]
mod tests;

/// The settings that the screen takes over.
const SCREEN_KEYS: &[&str] = &[
    "theme",
    "vim",
    "motion",
    "timestamps",
    "show_thinking",
    "show_pictures",
    "screen.status",
    "enter_while_busy",
    "color",
    "notify",
];

/// The settings, and how their files were when they were read.
pub struct SettingsFiles {
    /// The start of the session, with the settings that are in force now.
    startup: Startup,
    purpose: SessionPurpose,
    runner: StepRunner,
    stamps: Vec<SettingsStamp>,
    /// The project's files changed since the folder was trusted: what they had before counts.
    awaits_trust: bool,
}

impl SettingsFiles {
    pub fn new(startup: &Startup, purpose: SessionPurpose, runner: StepRunner) -> SettingsFiles {
        let startup = startup.for_session();
        let stamps = startup.loaded.stamps.clone();
        SettingsFiles { startup, purpose, runner, stamps, awaits_trust: false }
    }

    /// The project's files that count, if its folder is trusted.
    fn project(&self) -> Vec<PathBuf> {
        if self.startup.trusted { project_files(&self.startup.folder) } else { Vec::new() }
    }

    /// The project's files count as they would at a start: if they changed, they wait until the
    /// user trusts the folder again.
    fn check_project_trust(&mut self, project: &[PathBuf]) -> Option<Notice> {
        let has_settings = !project.is_empty() || self.startup.loaded.has_project_settings();
        self.awaits_trust = self.startup.trusted && has_settings && !self.startup.refresh_trust();
        let notice = Notice::warning(session::CONFIG_UNTRUSTED).with_hint(session::TRUST_HOW);
        self.awaits_trust.then_some(notice)
    }

    fn read(&self, project: &[PathBuf]) -> Loaded {
        let sources = Sources {
            paths: &self.startup.paths,
            environment: &self.startup.environment,
            options: &self.startup.options,
            project,
        };
        if self.awaits_trust {
            load::load_with_known_project(sources, &self.startup.loaded)
        } else {
            load::load(sources)
        }
    }

    /// What counts now, after these settings did.
    fn live(&mut self, settings: &Settings, notices: Vec<Notice>) -> ReloadedSettings {
        let models = self.live_models(settings);
        let tools = self.live_tools(settings);
        let now = &self.startup.loaded.settings;
        if settings.log != now.log {
            self.startup.shared.log.set(now.log.as_deref(), self.startup.paths.log());
        }
        ReloadedSettings {
            policy: now.policy(),
            max_steps: now.limits.max_auto_steps,
            max_subagents: now.limits.subagents,
            spend_limits: now.spend_limits,
            check: now.check.clone(),
            screen: screen_settings(&self.startup.loaded),
            lang: (settings.lang != now.lang).then_some(now.lang),
            models,
            tools,
            find_scripts: self.startup.script_folder_finder(),
            doctor: super::subcommands::doctor_page(&self.startup),
            platforms: super::gateway::platforms_page(&self.startup),
            notices,
        }
    }

    fn live_models(&self, settings: &Settings) -> Option<ReloadedModels> {
        let now = &self.startup.loaded.settings;
        if is_reached_alike(settings, now) {
            return None;
        }
        let redactor = Arc::clone(&self.runner.redactor);
        let key = now.connection.as_ref().and_then(|connection| connection.api_key.as_ref());
        let parts = key.map(|key| secret_parts(key.expose())).unwrap_or_default();
        redactor.learn_values(parts.iter().map(String::as_str));
        let words = now.connection.iter().flat_map(|connection| connection.request.header_words());
        redactor.learn_values(words.map(|(_, word)| word).filter(|word| is_random(word)));
        let wanted = match &now.connection {
            _ if model_target(settings) == model_target(now) => None,
            None => Some(Wanted::Guide),
            Some(_) => Some(Wanted::Mode(now.models.mode)),
        };
        Some(ReloadedModels {
            connect: ModelConnector::new(&self.startup).with_redactor(redactor).into_connect(),
            wanted,
            mode: (settings.models.mode != now.models.mode).then_some(now.models.mode),
            effort: (settings.models.effort != now.models.effort).then_some(now.models.effort),
            profile: now.models.profile.clone(),
            exposed: step_runner::exposed_key_host(&self.startup).unwrap_or_default(),
        })
    }

    fn live_tools(&mut self, settings: &Settings) -> Option<ReloadedTools> {
        let now = &self.startup.loaded.settings;
        let is_same = are_steps_run_alike(settings, now);
        let is_same_sandbox = are_steps_confined_alike(settings, now);
        if is_same && is_same_sandbox {
            return None;
        }
        let StepRunner { exec, redactor, .. } = &self.runner;
        let world = self.runner.machine(&self.startup);
        let setup = step_runner::exec_setup(&self.startup, &world, redactor);
        let exec = exec.with_setup(setup);
        let exec = if is_same_sandbox {
            exec
        } else {
            exec.with_sandbox(Arc::new(self.startup.sandbox(&world)))
        };
        self.runner.exec = exec;
        let mut tools = step_runner::exec_tools(&self.runner.exec);
        tools.push(Arc::new(WebTool::for_searching(&now.policy().web)));
        Some(ReloadedTools { tools, world: Arc::new(world) })
    }
}

/// Which model the settings name.
fn model_target(settings: &Settings) -> (&str, Mode, Option<(&ProviderSetting, [&str; 3])>) {
    let connection = settings.connection.as_ref();
    let target =
        connection.map(|it| (&it.provider, [it.base_url.as_str(), it.low.as_str(), &it.high]));
    (&settings.models.profile, settings.models.mode, target)
}

/// Whether a connection to a model would be the same.
fn is_reached_alike(settings: &Settings, now: &Settings) -> bool {
    model_target(settings) == model_target(now)
        && settings.connection == now.connection
        && settings.models.effort == now.models.effort
        && settings.models.overrides == now.models.overrides
        && settings.models.uses_keyring == now.models.uses_keyring
        && settings.models.plain_http_hosts == now.models.plain_http_hosts
        && settings.limits.idle_timeout == now.limits.idle_timeout
}

/// Whether a step would be run the same way.
fn are_steps_run_alike(settings: &Settings, now: &Settings) -> bool {
    settings.limits.step_timeout == now.limits.step_timeout
        && settings.limits.piece_timeout == now.limits.piece_timeout
        && settings.lang == now.lang
        && settings.policy().web == now.policy().web
        && step_runner::own_keys(settings) == step_runner::own_keys(now)
}

fn are_steps_confined_alike(settings: &Settings, now: &Settings) -> bool {
    settings.sandbox == now.sandbox
        && settings.program_folders == now.program_folders
        && settings.policy().limits.network == now.policy().limits.network
}

/// The settings of the screen in force, each by its key with its value.
pub fn screen_settings(loaded: &Loaded) -> Vec<(&'static str, String)> {
    let value = |key: &str| loaded.get(key).map_or_else(String::new, |value| value.display_text());
    SCREEN_KEYS.iter().map(|key| (*key, value(key))).collect()
}

/// A whole file that could not be read.
pub fn is_unreadable(diagnostic: &ConfigDiagnostic) -> bool {
    let is_file = matches!(diagnostic.origin, DiagnosticSource::File(_));
    is_file && diagnostic.key.is_none() && !matches!(diagnostic.fault, ConfigError::TooMany { .. })
}

impl SettingsAccess for SettingsFiles {
    fn reload(&mut self) -> Option<ReloadedSettings> {
        let project = self.project();
        let stamps = load::stamps(&self.startup.paths, &project);
        if stamps == self.stamps {
            return None;
        }
        let has_other_project = stamps.get(OWN_FILES..) != self.stamps.get(OWN_FILES..);
        self.stamps = stamps;
        let untrusted = has_other_project.then(|| self.check_project_trust(&project)).flatten();
        let mut notices: Vec<Notice> = untrusted.into_iter().collect();
        let loaded = self.read(&project);
        let before = self.startup.loaded.settings.clone();
        // A file that is being written, or was saved half, says nothing of what the user wants: what
        // was read last stays until a save that can be read.
        if let Some(broken) = loaded.problems.iter().find(|problem| is_unreadable(problem)) {
            let notice = broken.notice();
            let say = session::CONFIG_KEPT.with("problem", notice.say.clone());
            // Its hint is about a start, where nothing was read before.
            notices.push(Notice { say, hint: None, ..notice });
            return Some(self.live(&before, notices));
        }
        let known = self.startup.set_loaded(loaded).problems;
        let new = self.startup.loaded.problems.iter().filter(|problem| !known.contains(problem));
        notices.extend(new.map(ConfigDiagnostic::notice));
        Some(self.live(&before, notices))
    }

    fn set_trusted(&mut self, is_trusted: bool) -> Option<ReloadedSettings> {
        self.startup.set_trusted(is_trusted);
        self.awaits_trust = false;
        self.stamps.clear();
        let mut live = self.reload()?;
        if is_trusted && self.purpose == SessionPurpose::Screen {
            let world = self.runner.machine(&self.startup);
            live.notices.extend(check_offer(&self.startup, &world));
        }
        Some(live)
    }

    fn trust_prompt(&mut self) -> Option<TrustPrompt> {
        if !matches!(self.purpose, SessionPurpose::Screen | SessionPurpose::Editor) {
            return None;
        }
        self.startup.refresh_trust();
        let prompt = step_runner::trust_prompt(&self.startup);
        let has_settings = !project_files(&self.startup.folder).is_empty();
        Some(TrustPrompt { ask_because: None, has_settings, ..prompt })
    }

    fn policy(&self) -> Policy {
        self.startup.loaded.settings.policy()
    }

    fn overridden_by(&self, key: &str) -> Option<LocalizedText> {
        match self.startup.loaded.layer_of(key) {
            SettingsLayer::BuiltIn | SettingsLayer::User(_) => None,
            other => Some(other.localized()),
        }
    }

    fn rows(&self, beginning: &str, lang: Lang) -> Vec<PageRow> {
        let all =
            self.startup.loaded.all().into_iter().filter(|(key, ..)| key.starts_with(beginning));
        all.map(|(key, value, layer)| {
            let value = without_password(&key, value).toml().to_string();
            let value = phrases::CONFIG_ROW
                .with("value", value)
                .with("origin", layer.localized().text(lang));
            PageRow::pair(key, value)
        })
        .collect()
    }

    fn editable(&self) -> Vec<SettingRow> {
        editable_settings::rows(&self.startup.loaded)
    }

    fn set(&mut self, key: &str, value: Option<&str>) -> Result<LocalizedText, LocalizedText> {
        let file = self.startup.paths.settings();
        let shown = file.display().to_string();
        let Some(value) = value else {
            let done = edit::unset(&file, key).map_err(|error| error.localized())?;
            let word = if done { phrases::CONFIG_UNSET } else { phrases::CONFIG_WAS_UNSET };
            return Ok(word.with("key", key).with("file", shown));
        };
        user_themes::check_setting(&self.startup.paths, key, value)?;
        let value = edit::set(&file, key, value).map_err(|error| error.localized())?;
        let value = without_password(key, value).display_text();
        Ok(phrases::CONFIG_SET.with("key", key).with("value", value).with("file", shown))
    }
}
