//! The typed settings in force, merged from all layers.
//!
//! [`load`](mod@super::load) reads them; the modules that receive them give them their effect.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Environment;
use super::connection::{self, Connection};
use super::diagnostic::{ConfigDiagnostic, ConfigError, DiagnosticSource};
use super::gateway::GatewaySettings;
use super::layers::{Layers, SettingsLayer};
use super::toml_schema::{self, TomlValue};
use super::web;
use avocet_core::i18n::Lang;
use avocet_core::protocol::budget::{SpendLimit, SpendLimits};
use avocet_core::protocol::{ApprovalMode, Effort, Mode, ModelOverride, SandboxMode, TokenPrices};
use avocet_safety::{EffectLimits, Limit, Policy, PolicyRule, Unknown};

#[derive(Clone, Debug)]
pub struct Settings {
    /// Which steps ask in a new session: of the user's settings alone.
    pub approval: ApprovalMode,
    /// The same of folders, as the user names them.
    pub folder_modes: Vec<(String, ApprovalMode)>,
    pub lang: Lang,
    pub look: ScreenSettings,
    /// The level of the log file; `None`: nothing is logged.
    pub log: Option<String>,
    pub models: ModelSettings,
    /// `None` if no setting says how to reach a model.
    pub connection: Option<Connection>,
    pub limits: LimitSettings,
    /// What a turn, a session and a run may spend.
    pub spend_limits: SpendLimits,
    pub sandbox: SandboxMode,
    /// A program with its arguments that checks the project; empty: none.
    pub check: Vec<String>,
    /// More folders of trusted programs, absolute or from `~/`.
    pub program_folders: Vec<String>,
    /// Variables of the environment that scripts may read.
    pub script_environment: Vec<String>,
    pub gateway: GatewaySettings,
    policy: Policy,
}

/// Which model answers, and how it is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelSettings {
    /// The active profile.
    pub profile: String,
    pub mode: Mode,
    /// How much models reason; `None`: as they do by themselves.
    pub effort: Option<Effort>,
    /// The model set by an option or a variable, for both modes.
    pub name: Option<String>,
    /// What the user says of models.
    pub overrides: Vec<ModelOverride>,
    /// Whether saved keys may be in the keyring of the system.
    pub uses_keyring: bool,
    /// Hosts that may get a key without encryption.
    pub plain_http_hosts: Vec<String>,
}

/// Settings of the screen only.
#[allow(clippy::struct_excessive_bools, reason = "each is a setting of the user")]
#[derive(Clone, Debug)]
pub struct ScreenSettings {
    /// `auto`, or the name of a theme.
    pub theme: String,
    /// Whether the input uses vi keys.
    pub vim: bool,
    /// Whether times are shown next to messages and steps.
    pub timestamps: bool,
    /// Whether anything on the screen moves.
    pub motion: bool,
    pub show_thinking: ShowThinking,
    /// Whether images are shown as pictures where the terminal can.
    pub show_pictures: bool,
    /// The program for the status line, and its arguments.
    pub status_command: Vec<String>,
    pub enter_while_busy: BusyInput,
    pub color: Color,
    pub notify: Notify,
}

/// How the reasoning of a model is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShowThinking {
    /// Its last lines while it grows, then one line that unfolds.
    #[default]
    Folded,
    Full,
    Off,
}

/// What Enter does with a message while a turn runs; Tab does the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BusyInput {
    /// The model reads it before its next step.
    #[default]
    Steer,
    /// It is sent after the turn.
    Queue,
}

impl ShowThinking {
    pub fn parse(text: &str) -> Option<ShowThinking> {
        match text {
            "folded" => Some(ShowThinking::Folded),
            "full" => Some(ShowThinking::Full),
            "off" => Some(ShowThinking::Off),
            _ => None,
        }
    }
}

impl BusyInput {
    pub fn parse(text: &str) -> Option<BusyInput> {
        match text {
            "steer" => Some(BusyInput::Steer),
            "queue" => Some(BusyInput::Queue),
            _ => None,
        }
    }

    #[must_use]
    pub fn other(self) -> BusyInput {
        match self {
            BusyInput::Steer => BusyInput::Queue,
            BusyInput::Queue => BusyInput::Steer,
        }
    }
}

/// How to notify a user who looks elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Notify {
    /// A notification if the terminal supports them, otherwise the bell.
    #[default]
    Auto,
    Bell,
    Off,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Color {
    Auto,
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitSettings {
    /// The number of steps a turn runs before it asks to continue; 0: no limit; `None`: as many as
    /// suit the model and the sandbox.
    pub max_auto_steps: Option<usize>,
    /// How long a model may send nothing.
    pub idle_timeout: Duration,
    /// How long a step may run.
    pub step_timeout: Duration,
    /// How long a shell command of a template may run.
    pub piece_timeout: Duration,
    /// How long a script may run; `None`: no limit.
    pub script_timeout: Option<Duration>,
    /// The subagents that run at once.
    pub subagents: usize,
}

impl Settings {
    /// The built-in settings, for a user without a file.
    pub fn built_in() -> Settings {
        Settings::from_layers(&Layers::default(), &Environment::default(), &mut Vec::new())
    }

    /// The policy of the settings. Rules remembered for a project are added to it.
    pub fn policy(&self) -> Policy {
        self.policy.clone()
    }

    /// Which steps ask in a new session of a folder: as the innermost folder around it has it that
    /// the user names.
    pub fn mode_of_folder(&self, folder: &Path, home: &Path) -> ApprovalMode {
        let path_of = |text: &String| match text.strip_prefix("~/") {
            Some(rest) => home.join(rest),
            None => PathBuf::from(text),
        };
        let real = |path: PathBuf| path.canonicalize().unwrap_or(path);
        let named = self.folder_modes.iter().map(|(text, mode)| (real(path_of(text)), *mode));
        let around = named.filter(|(named, _)| folder.starts_with(named));
        let nearest = around.max_by_key(|(named, _)| named.components().count());
        nearest.map_or(self.approval, |(_, mode)| mode)
    }

    pub(super) fn from_layers(
        layers: &Layers,
        environment: &Environment,
        diagnostics: &mut Vec<ConfigDiagnostic>,
    ) -> Settings {
        let profile = layers.text("profile").unwrap_or_else(|| "default".to_owned());
        check_profile(&profile, layers, diagnostics);
        diagnostics.extend(connection::unset_variables(&profile, layers, environment));
        Settings {
            approval: approval(&profile, layers),
            folder_modes: folder_modes(layers),
            lang: lang(layers, environment),
            look: ScreenSettings::from_layers(layers),
            log: layers.text("log").filter(|level| level != "off"),
            connection: connection::connection(&profile, layers, environment),
            limits: LimitSettings {
                max_auto_steps: match layers.get("safety.max_auto_steps_per_turn") {
                    Some(TomlValue::Count(steps)) => usize::try_from(steps).ok(),
                    _ => None,
                },
                idle_timeout: Duration::from_secs(layers.count("limits.idle_timeout_s")),
                step_timeout: Duration::from_secs(layers.count("limits.step_timeout_s")),
                piece_timeout: Duration::from_secs(layers.count("limits.piece_timeout_s")),
                script_timeout: Some(layers.count("limits.script_timeout_s"))
                    .filter(|seconds| *seconds > 0)
                    .map(Duration::from_secs),
                subagents: usize::try_from(layers.count("limits.subagents")).unwrap_or(1),
            },
            spend_limits: spend_limits(layers),
            sandbox: sandbox(layers),
            check: layers.list("project.check"),
            program_folders: layers.list("safety.program_folders"),
            script_environment: layers.list("scripts.environment"),
            gateway: GatewaySettings::from_layers(layers, environment),
            policy: policy(layers, environment),
            models: ModelSettings::from_layers(profile, layers),
        }
    }
}

impl ModelSettings {
    fn from_layers(profile: String, layers: &Layers) -> ModelSettings {
        ModelSettings {
            mode: layers.text("mode").and_then(|mode| Mode::parse(&mode)).unwrap_or_default(),
            effort: effort(&profile, layers),
            name: layers.text("model"),
            overrides: model_overrides(layers),
            uses_keyring: layers.text("key_store").as_deref() != Some("file"),
            plain_http_hosts: layers.list("plain_http_hosts"),
            profile,
        }
    }
}

impl ScreenSettings {
    fn from_layers(layers: &Layers) -> ScreenSettings {
        ScreenSettings {
            theme: layers.text("theme").unwrap_or_else(|| "auto".to_owned()),
            vim: layers.flag("vim"),
            timestamps: layers.flag("timestamps"),
            motion: layers.flag("motion"),
            show_thinking: layers
                .text("show_thinking")
                .and_then(|text| ShowThinking::parse(&text))
                .unwrap_or_default(),
            show_pictures: layers.flag("show_pictures"),
            status_command: layers.list("screen.status_command"),
            enter_while_busy: layers
                .text("enter_while_busy")
                .and_then(|text| BusyInput::parse(&text))
                .unwrap_or_default(),
            color: match layers.text("color").as_deref() {
                Some("never") => Color::Never,
                _ => Color::Auto,
            },
            notify: match layers.text("notify").as_deref() {
                Some("bell") => Notify::Bell,
                Some("off") => Notify::Off,
                _ => Notify::Auto,
            },
        }
    }
}

/// Reports a requested profile that is not defined anywhere.
fn check_profile(profile: &str, layers: &Layers, diagnostics: &mut Vec<ConfigDiagnostic>) {
    let source = match layers.layer("profile") {
        SettingsLayer::BuiltIn => return,
        SettingsLayer::Variable(name) => DiagnosticSource::Variable(name),
        SettingsLayer::CommandLine => DiagnosticSource::CommandLine,
        SettingsLayer::User(file)
        | SettingsLayer::Project(file)
        | SettingsLayer::Strictest(file) => DiagnosticSource::File(file),
    };
    let known = layers.profiles();
    if profile != "default" && !known.iter().any(|name| name == profile) {
        let fault = ConfigError::NoProfile { known };
        diagnostics.push(ConfigDiagnostic {
            origin: source,
            place: None,
            key: Some(profile.to_owned()),
            fault,
        });
    }
}

/// An option of this run counts more than the profile.
fn effort(profile: &str, layers: &Layers) -> Option<Effort> {
    let of_profile = || layers.text(&format!("profiles.{profile}.effort"));
    layers.text("effort").or_else(of_profile).and_then(|name| Effort::from_name(&name))
}

/// `auto` follows the locale of the terminal.
fn lang(layers: &Layers, environment: &Environment) -> Lang {
    let named = layers.text("lang").and_then(|lang| Lang::parse(&lang));
    named.unwrap_or_else(|| {
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"];
        let locale = locale.iter().find_map(|name| environment.get(name));
        locale.and_then(Lang::parse).unwrap_or_default()
    })
}

fn spend_limits(layers: &Layers) -> SpendLimits {
    let of = |scope: &str| SpendLimit {
        cost: layers.money(&format!("limits.cost.{scope}")),
        tokens: Some(layers.count(&format!("limits.tokens.{scope}"))).filter(|most| *most > 0),
    };
    SpendLimits {
        turn: of("turn"),
        session: of("session"),
        run: of("run"),
        ..SpendLimits::default()
    }
}

fn model_overrides(layers: &Layers) -> Vec<ModelOverride> {
    let of = |section: &String| {
        let path = |key: &str| format!("{section}.{key}");
        let count = |key| Some(layers.count(&path(key))).filter(|count| *count > 0);
        let flag = |key| layers.get(&path(key)).map(|_| layers.flag(&path(key)));
        let price = |key| layers.money(&path(key));
        let prices = price("price_input").zip(price("price_output")).map(|(input, output)| {
            let cached = price("price_cached").unwrap_or(input);
            let written = price("price_written").unwrap_or(input);
            TokenPrices { input, output, cached, written }.into()
        });
        ModelOverride {
            pattern: toml_schema::path_parts(section).nth(1).unwrap_or_default(),
            window: count("window"),
            output: count("output"),
            tools: flag("tools"),
            images: flag("images"),
            prices,
        }
    };
    layers.sections("models").iter().map(of).collect()
}

/// That of the profile before that of all.
fn approval(profile: &str, layers: &Layers) -> ApprovalMode {
    let named = layers.text(&format!("profiles.{profile}.mode"));
    let named = named.or_else(|| layers.text("safety.mode"));
    named.and_then(|name| ApprovalMode::parse(&name)).unwrap_or_default()
}

fn folder_modes(layers: &Layers) -> Vec<(String, ApprovalMode)> {
    let of = |section: &String| {
        let mode = ApprovalMode::parse(&layers.text(&format!("{section}.mode"))?)?;
        Some((toml_schema::path_parts(section).nth(1)?, mode))
    };
    layers.sections("folders").iter().filter_map(of).collect()
}

fn sandbox(layers: &Layers) -> SandboxMode {
    let named = layers.text("safety.sandbox");
    named.and_then(|word| SandboxMode::parse(&word)).unwrap_or_default()
}

fn policy(layers: &Layers, environment: &Environment) -> Policy {
    let limit = |path: &str| if layers.flag(path) { Limit::Ask } else { Limit::Refuse };
    let rules = |path: &str| {
        layers.list(path).iter().filter_map(|text| PolicyRule::parse(text).ok()).collect()
    };
    Policy {
        allowed_programs: layers.list("safety.allowed_programs"),
        unknown_program: match layers.text("safety.unknown_program").as_deref() {
            Some("confirm") => Unknown::Confirm,
            _ => Unknown::Refuse,
        },
        limits: EffectLimits {
            network: limit("safety.allow_network"),
            write: limit("safety.allow_write"),
            elevate: limit("safety.allow_sudo"),
        },
        lift: layers.list("safety.lift"),
        allowed: rules("safety.allow"),
        denied: rules("safety.deny"),
        config_files: layers.list("safety.config_files"),
        web: web::settings(layers, environment),
        ..Policy::default()
    }
}
