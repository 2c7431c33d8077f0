//! The parts of a session that are made at its start and again when its settings change.

use std::path::Path;
use std::sync::Arc;

use super::startup::Startup;
use avocet_config::paths::project_files;
use avocet_config::trust::{FolderTrust, TrustLevel};
use avocet_config::{Settings, diagnostic, toolchain, trust};
use avocet_core::i18n::{LocalizedText, session as phrases};
use avocet_model::exposed_host;
use avocet_safety::redact::Redactor;
use avocet_safety::{self as safety, Policy, PolicyContext};
use avocet_session::trust::{TrustAnswer, TrustPrompt};
use avocet_tools::checkpoint::Checkpoints;
use avocet_tools::exec::{Exec, Setup, StepLimits};
use avocet_tools::file_host::FileHost;
use avocet_tools::read_tracker::ReadTracker;
use avocet_tools::system::{System, UndoCoverage};
use avocet_tools::{Tool, file};

/// The user interface that the session is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionPurpose {
    Screen,
    Print,
    /// Only the expansion of a template is needed: no model is called.
    Render,
    /// A script: there is no conversation, so no welcome.
    Script,
    /// A chat of a gateway.
    Chat,
    /// A conversation in an editor.
    Editor,
}

/// The host to which a key would be sent unencrypted.
pub fn exposed_key_host(startup: &Startup) -> Option<String> {
    let connection = startup.loaded.settings.connection.as_ref()?;
    exposed_host(&connection.base_url, connection.api_key.is_some())
}

/// The variables with our own keys, which no step sees.
pub fn own_keys(settings: &Settings) -> Vec<String> {
    let own = settings.connection.iter().map(|connection| connection.key_variable.clone());
    let tokens = settings.gateway.tokens().map(|token| token.variable.clone());
    let search = settings.policy().web.search.map(|search| search.key_variable);
    own.chain(tokens).chain(search).chain(["AVOCET_API_KEY".to_owned()]).collect()
}

/// What runs the steps of a session, to be set up again when settings change.
#[derive(Clone, Debug)]
pub struct StepRunner {
    pub exec: Exec,
    pub read_tracker: ReadTracker,
    pub redactor: Arc<Redactor>,
    pub checkpoints: Option<Arc<Checkpoints>>,
}

impl StepRunner {
    pub fn new(
        startup: &Startup,
        system: &System,
        state: &file::FileToolState,
        redactor: &Arc<Redactor>,
    ) -> StepRunner {
        StepRunner {
            exec: exec(startup, system, redactor),
            read_tracker: state.read_tracker.clone(),
            redactor: Arc::clone(redactor),
            checkpoints: None,
        }
    }

    /// This machine, with what the session knows of its files.
    pub fn machine(&self, startup: &Startup) -> System {
        self.with_checkpoints(machine(startup, &self.read_tracker, &self.redactor))
    }

    pub fn with_checkpoints(&self, system: System) -> System {
        let checkpoints = self.checkpoints.clone();
        system.with_checkpoints(checkpoints.map(|checkpoints| checkpoints as Arc<dyn UndoCoverage>))
    }
}

/// What the tools for files know and keep.
pub fn file_tool_state(startup: &Startup, host: Option<Arc<dyn FileHost>>) -> file::FileToolState {
    file::FileToolState {
        read_tracker: ReadTracker::with_host(host),
        backups: Some(file::Backups::new(startup.paths.backups())),
        journal: Some(Arc::new(file::Journal::new(&startup.paths.journals()))),
        checker: None,
    }
}

/// This machine, with what the session knows of its files.
pub fn machine(startup: &Startup, read: &ReadTracker, redactor: &Arc<Redactor>) -> System {
    startup.system().with_read_tracker(read.clone()).with_secrets(Arc::clone(redactor))
}

pub fn exec_setup(startup: &Startup, system: &System, redactor: &Arc<Redactor>) -> Setup {
    let settings = &startup.loaded.settings;
    Setup {
        shell: startup
            .environment
            .path("SHELL")
            .filter(|shell| shell.is_absolute())
            .unwrap_or_else(
                // Every system with a shell has this one.
                || "/bin/sh".into(),
            ),
        environment: avocet_tools::exec::ChildEnvironment {
            user: startup
                .environment
                .iter()
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            path: system.child_path(),
            own_keys: own_keys(settings),
            keep: Vec::new(),
            set: toolchain::default(&startup.environment, &startup.paths.home)
                .map(|name| ("RUSTUP_TOOLCHAIN".to_owned(), name))
                .into_iter()
                .collect(),
        },
        limits: StepLimits {
            approved: settings.limits.step_timeout,
            piece: settings.limits.piece_timeout,
            ..StepLimits::default()
        },
        redactor: Some(Arc::clone(redactor)),
        lang: settings.lang,
    }
}

pub fn exec(startup: &Startup, system: &System, redactor: &Arc<Redactor>) -> Exec {
    Exec::new(exec_setup(startup, system, redactor))
        .with_sandbox(Arc::new(startup.sandbox(system)))
        .with_exit_token(startup.shared.leaving.clone())
        .with_step_watch(Arc::new(startup.shared.watchdog.clone()))
        .with_kept_jobs(startup.paths.kept_jobs())
}

/// The tools that start programs.
pub fn exec_tools(exec: &Exec) -> Vec<Arc<dyn Tool>> {
    vec![Arc::new(exec.clone()), exec.plugins()]
}

/// The question of trust on the screen: asked without a command if it was never answered, or if
/// files that steer programs have changed.
pub fn trust_prompt(startup: &Startup) -> TrustPrompt {
    let known = &startup.trust;
    let because = match known.standing {
        _ if known.is_named => None,
        FolderTrust::Unknown => Some(phrases::TRUST_NEW.into()),
        FolderTrust::Changed => Some(phrases::TRUST_CHANGED.into()),
        FolderTrust::Known(TrustLevel::Trusted | TrustLevel::Below | TrustLevel::ReadOnly) => None,
    };
    let mut kept = known.store.clone();
    let mut survey = known.survey.clone();

    let place = startup.workspace();
    let system = startup.system();

    let folder = startup.folder.clone();
    let above = trust::trustable_parent(&folder, &startup.paths.home).map(Path::to_owned);
    TrustPrompt {
        untrusted_files: survey.files.clone(),
        ask_because: because,
        has_settings: !startup.trusted && !project_files(&startup.folder).is_empty(),
        hazard: trust::hazard(&folder, &startup.paths.home).map(LocalizedText::from),
        parent: above.as_ref().map(|above| above.display().to_string()),
        save: Box::new(move |given| {
            let level = match given {
                TrustAnswer::Folder | TrustAnswer::Parent => TrustLevel::Trusted,
                TrustAnswer::Untrusted => TrustLevel::ReadOnly,
            };
            let below = above.as_ref().filter(|_| given == TrustAnswer::Parent);
            let done = below
                .map_or(Ok(()), |above| kept.set(above, &trust::survey(above), TrustLevel::Below));
            let policy = Policy::default();
            let cx = PolicyContext { policy: &policy, place: &place, world: &system };
            survey.hooks = Some(safety::hooks_digest(cx));
            let done = done.and_then(|()| kept.set(&folder, &survey, level));
            done.map_err(|error| diagnostic::io_reason(&error))
        }),
        mark_sandbox_warning: Box::new(|| false),
    }
}
