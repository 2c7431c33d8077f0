//! The basis of every run: the environment, the folders, the settings.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::container;
use super::folder_trust::TrustState;
use super::shared_resources::SharedResources;
use super::surroundings::Surroundings;
use super::user_themes;
use crate::cli::messages::{self, Printer};
use crate::cli::policy;
use crate::cli::{Cli, Exit, output};
use avocet_config::diagnostic::DiagnosticSource;
use avocet_config::extensions::SearchPath;
use avocet_config::paths::project_files;
use avocet_config::{
    ConfigDiagnostic, ConfigError, Environment, Loaded, Paths, SettingsLayer, Sources, atomic_file,
    edit, load,
};
use avocet_core::i18n::{Lang, Localize, cli as phrases};
use avocet_core::protocol::{ApprovalMode, Notice};
use avocet_core::secret::secret_parts;
use avocet_present::commands;
use avocet_safety::redact::{self, Redactor, is_random, is_secret_name};
use avocet_safety::tools::{PluginEntry, PluginRegistry};
use avocet_safety::{self as safety, Limit};
use avocet_session::extensions::{FindPlaces, LatestScan};
use avocet_session::{Connected, folders};
use avocet_store::Store;
use avocet_tools::git_worktree::Worktree;
use avocet_tools::sandbox::{Sandbox, SandboxPaths};
use avocet_tools::system::{self, System};
use avocet_tui::SaveSettingFn;
use avocet_tui::theme::ThemeSource;

#[derive(Debug)]
pub struct Startup {
    pub environment: Environment,
    pub paths: Paths,
    pub loaded: Loaded,
    /// The folder of the session, absolute with links resolved.
    pub folder: PathBuf,
    pub trusted: bool,
    /// The settings that the command line sets.
    pub options: Vec<(&'static str, String)>,
    /// What the command line says of the steps of this run.
    pub run_options: StepOptions,
    pub trust: TrustState,
    pub shared: SharedResources,
    /// The values that no session of this folder shows.
    pub secrets: OnceLock<Redactor>,
    /// The model that the chats of this folder begin with.
    pub chat_model: OnceLock<Connected>,
    /// The extensions that a session of this folder read last.
    pub chat_extensions: Arc<LatestScan>,
    /// What the sessions that begin now know of the machine.
    surroundings: Surroundings,
    /// Folders added on the command line, links resolved.
    pub added: Vec<PathBuf>,
    /// The worktree of `--worktree`, in use for as long as the program runs.
    pub worktree: Option<Arc<Worktree>>,
}

/// What the command line says of the steps of this run.
#[derive(Clone, Debug, Default)]
pub struct StepOptions {
    /// Which steps ask.
    pub mode: Option<ApprovalMode>,
    /// Rules for steps that run without asking.
    pub allow: Vec<String>,
    /// The only tools that the model gets; empty: all.
    pub tools: Vec<String>,
    /// This machine is thrown away: `--container`.
    pub in_container: bool,
}

impl StepOptions {
    fn from_command_line(cli: &Cli) -> StepOptions {
        let allow = cli.run.allow.clone();
        let tools = cli.run.tools.clone();

        let in_container = cli.run.container.is_some();
        StepOptions { mode: cli.approval_mode(), allow, tools, in_container }
    }
}

/// A start that failed.
#[derive(Debug)]
pub struct StartError {
    pub notice: Box<Notice>,
    pub exit: Exit,
    pub printer: Printer,
}

impl StartError {
    pub fn report(&self) -> Exit {
        messages::notice(&mut output::stderr(), &self.notice, self.printer);
        self.exit
    }
}

impl Startup {
    pub fn prepare(cli: &Cli) -> Result<Startup, StartError> {
        Startup::with_environment(cli, Environment::from_process())
    }

    pub fn with_environment(cli: &Cli, environment: Environment) -> Result<Startup, StartError> {
        let lang = early_lang(cli, &environment);
        let paths =
            Paths::find(&environment).map_err(|fault| start_error(fault.localized(), lang))?;
        let folder = resolve_folder(cli.run.cwd.as_deref(), lang)?;
        if let Some(named) = cli.run.trust.as_deref().filter(|named| !named.is_dir()) {
            let say = phrases::TRUST_NO_FOLDER.with("folder", named.display().to_string());
            return Err(start_error(say, lang));
        }
        container::check(cli, &paths).map_err(|say| start_error(say, lang))?;
        let trust = TrustState::load(&folder, cli.run.trust.as_deref(), &paths);
        let trusted = trust.is_trusted();
        // A project's own settings count only where its folder is trusted.
        let project = if trusted { project_files(&folder) } else { Vec::new() };
        let loaded = load(Sources {
            paths: &paths,
            environment: &environment,
            options: &cli.settings(),
            project: &project,
        });
        check_named_settings(cli, &loaded, &paths, lang)?;
        let store =
            if cli.run.no_save { Store::in_memory() } else { Store::in_folder(paths.data.clone()) };
        let shared = SharedResources::new(store, temp_folders(&environment, &paths));
        shared.log.set(loaded.settings.log.as_deref(), paths.log());
        let mut startup = Startup {
            environment,
            paths,
            loaded,
            folder,
            trusted,
            trust,
            shared,
            options: cli.settings(),
            run_options: StepOptions::from_command_line(cli),
            added: Vec::new(),
            worktree: None,
            secrets: OnceLock::new(),
            chat_model: OnceLock::new(),
            chat_extensions: Arc::default(),
            surroundings: Surroundings::default(),
        };
        for named in &cli.run.add_dir {
            // Given in the user's shell, so relative to its folder.
            let named = named.canonicalize().unwrap_or_else(|_| named.clone());
            let added = folders::resolve_added_folder(
                &named.to_string_lossy(),
                // Not what sessions share: each folder counts for the next one.
                &startup.find_workspace(),
                &startup.system(),
            );
            startup.added.push(added.map_err(|why| start_error(why, lang))?);
        }
        Ok(startup)
    }

    /// The same program in another folder, with links resolved; `options` set settings as the command
    /// line did, and `named` is the folder of `--trust`.
    pub fn in_folder(
        &self,
        folder: PathBuf,
        named: Option<&Path>,
        options: &[(&'static str, String)],
    ) -> Startup {
        let trust = TrustState::load(&folder, named, &self.paths);
        let trusted = trust.is_trusted();
        let project = if trusted { project_files(&folder) } else { Vec::new() };
        let loaded = load(Sources {
            paths: &self.paths,
            environment: &self.environment,
            options,
            project: &project,
        });
        Startup {
            loaded,
            folder,
            trusted,
            trust,
            options: options.to_vec(),
            chat_extensions: Arc::default(),
            added: Vec::new(),
            ..self.for_session()
        }
    }

    /// The same, owned by a session, whose settings may change.
    pub fn for_session(&self) -> Startup {
        Startup {
            environment: self.environment.clone(),
            paths: self.paths.clone(),
            loaded: self.loaded.clone(),
            folder: self.folder.clone(),
            trusted: self.trusted,
            trust: self.trust.clone(),
            shared: self.shared.clone(),
            options: self.options.clone(),
            run_options: self.run_options.clone(),
            secrets: OnceLock::new(),
            chat_model: OnceLock::new(),
            chat_extensions: Arc::clone(&self.chat_extensions),
            surroundings: Surroundings::default(),
            added: self.added.clone(),
            worktree: self.worktree.clone(),
        }
    }

    /// The same, whose steps are those of a worktree.
    pub fn at_worktree(&self, folder: &Path) -> Startup {
        Startup { folder: folder.to_owned(), added: Vec::new(), ..self.for_session() }
    }

    /// Whether the folder, with the files in it as they are now, is trusted by what the user
    /// answered.
    pub fn refresh_trust(&mut self) -> bool {
        self.trust =
            TrustState::load(&self.folder, self.trust.trusted_folder.as_deref(), &self.paths);
        self.trust.is_trusted()
    }

    /// Other settings count from now on.
    pub fn set_loaded(&mut self, loaded: Loaded) -> Loaded {
        self.surroundings = Surroundings::default();
        std::mem::replace(&mut self.loaded, loaded)
    }

    /// Whether the folder is trusted from now on.
    pub fn set_trusted(&mut self, is_trusted: bool) {
        self.surroundings = Surroundings::default();
        self.trusted = is_trusted;
    }

    /// The folders that matter for an judgement.
    pub fn workspace(&self) -> safety::Workspace {
        self.surroundings.workspace.get_or_make(|| self.find_workspace())
    }

    fn find_workspace(&self) -> safety::Workspace {
        let place =
            policy::workspace_in(&self.folder, &self.paths.home, self.trusted, &self.system());
        let own = [&self.paths.config, &self.paths.data, &self.paths.state];
        // As named too: a program that follows links meets a linked folder by that name.
        let own = own.into_iter().flat_map(|path| [system::resolve_path(path), path.clone()]);
        // A folder that contains the workspace or the home does not belong to this program alone.
        let holds = |own: &PathBuf| place.workspace.starts_with(own) || place.home.starts_with(own);
        let own = own.filter(|own| !holds(own)).collect();
        let moved = moved_paths(&self.environment);
        let secret = self.environment.iter().filter_map(|(name, value)| {
            let name = name.to_str()?;
            let value = value.to_str()?;

            safety::redact::is_secret_variable(name, value).then(|| name.to_owned())
        });
        let secret_variables = secret.collect();
        let trusted_hooks = self.trust.store.trusted_hooks(&self.folder).map(str::to_owned);
        let added = self.added.clone();
        safety::Workspace { own, added, moved, secret_variables, trusted_hooks, ..place }
    }

    /// This machine, as the rules query it.
    pub fn system(&self) -> System {
        self.surroundings.system.get_or_make(|| self.find_system())
    }

    fn find_system(&self) -> System {
        let home = &self.paths.home;
        let folder = |text: &String| match text.strip_prefix("~/") {
            Some(rest) => home.join(rest),
            None => PathBuf::from(text),
        };
        let more: Vec<PathBuf> = self.loaded.settings.program_folders.iter().map(folder).collect();
        System::new(&self.folder, home, &more)
            .with_user_path(self.environment.path("PATH"))
            .with_manager_dirs(|name| self.environment.path(name))
    }

    /// Which steps ask in a session of this folder, as the user's settings have it.
    pub fn mode_of_settings(&self) -> ApprovalMode {
        self.loaded.settings.mode_of_folder(&self.folder, &self.paths.home)
    }

    /// The model of `--model`, and not of a variable or a profile.
    pub fn named_model(&self) -> Option<&str> {
        let settings = &self.loaded.settings;
        let named = self.loaded.layer_of("model") == SettingsLayer::CommandLine;
        settings.models.name.as_deref().filter(|_| named)
    }

    /// The profile of `--profile`.
    pub fn named_profile(&self) -> Option<&str> {
        let named = self.loaded.layer_of("profile") == SettingsLayer::CommandLine;
        named.then_some(self.loaded.settings.models.profile.as_str())
    }

    pub fn lang(&self) -> Lang {
        self.loaded.settings.lang
    }

    pub fn printer(&self) -> Printer {
        printer_for(self.lang())
    }

    /// The errors in the settings, one notice each.
    pub fn notices(&self) -> Vec<Notice> {
        self.loaded.problems.iter().map(|problem| problem.notice()).collect()
    }

    /// The user's own editor, as a shell command line.
    pub fn editor(&self) -> Option<String> {
        let named = self.environment.get("VISUAL").or_else(|| self.environment.get("EDITOR"));
        named.map(str::to_owned)
    }

    pub fn report_problems(&self) {
        for notice in self.notices() {
            messages::notice(&mut output::stderr(), &notice, self.printer());
        }
    }

    pub fn fail(&self, notice: &Notice, exit: Exit) -> Exit {
        messages::notice(&mut output::stderr(), notice, self.printer());
        exit
    }

    pub fn fail_io(&self, error: &io::Error) -> Exit {
        self.fail(
            &Notice::error(phrases::PROGRAM_BROKEN.with("why", error.to_string())),
            Exit::Failed,
        )
    }

    /// The user's own themes, and the errors in their files.
    pub fn themes(&self) -> (Vec<ThemeSource>, Vec<Notice>) {
        let (sources, problems) = user_themes::read(&self.paths);
        (sources, problems.iter().map(ConfigDiagnostic::notice).collect())
    }

    /// The text of the user's own keys, and why it cannot be read.
    pub fn keymap(&self) -> (String, Option<Notice>) {
        let file = self.paths.keymap();
        match atomic_file::read(&file) {
            Ok(text) => (text.unwrap_or_default(), None),
            Err(fault) => (String::new(), Some(ConfigDiagnostic::of_file(&file, fault).notice())),
        }
    }

    /// The folders of bots, commands and skills; those of the project only if it is trusted.
    pub fn search_path(&self) -> SearchPath {
        self.search_path_finder()(self.trusted)
    }

    /// The same, for callers that learn later whether the folder is trusted.
    pub fn search_path_finder(&self) -> FindPlaces {
        let paths = self.paths.clone();
        let folder = self.folder.clone();

        Arc::new(move |trusted| {
            let project = trusted.then_some(folder.as_path());
            let places = SearchPath::new(&paths, project, &commands::built_in_names())
                .with_plugins(plugin_roots(&paths.home, &folder));
            if trusted { places } else { places.with_untrusted(&folder) }
        })
    }

    /// Masks the values of environment variables that are named like secrets, unless they are
    /// ordinary words, and the program's own keys.
    pub fn redactor(&self, keeps: bool) -> Redactor {
        self.secrets.get_or_init(|| self.known_secrets(keeps)).for_new_session()
    }

    fn known_secrets(&self, keeps: bool) -> Redactor {
        let named = self.environment.iter().filter_map(|(name, value)| {
            let name = name.to_str()?;
            let value = value.to_str()?;

            (is_secret_name(name) && is_random(value)).then(|| (name.to_owned(), value.to_owned()))
        });
        let own = self.loaded.settings.connection.iter().flat_map(|connection| {
            let key = connection.api_key.as_ref();
            let parts = key.map(|key| secret_parts(key.expose())).unwrap_or_default().into_iter();
            parts.map(move |part| (connection.key_variable.clone(), part))
        });
        let connection = self.loaded.settings.connection.as_ref();
        let words = connection.into_iter().flat_map(|it| it.request.header_words());
        let words = words.filter(|(_, word)| is_random(word));
        let words = words.map(|(name, word)| (name.to_owned(), word.to_owned()));
        let tokens = self.loaded.settings.gateway.tokens().filter_map(|token| {
            Some((token.variable.clone(), token.value.as_ref()?.expose().to_owned()))
        });
        let search = self.loaded.settings.policy().web.search;
        let search = search.and_then(|own| Some((own.key_variable, own.key?.expose().to_owned())));
        Redactor::new(named.chain(own).chain(words).chain(tokens).chain(search), self.salt(keeps))
    }

    /// The salt of the tags of masks. It is saved, so that a secret found again after a session was
    /// resumed gets the same mask; the secrets themselves are never saved.
    fn salt(&self, keeps: bool) -> [u8; 16] {
        let file = self.paths.mask_key();
        let kept = atomic_file::read(&file).ok().flatten();
        let kept = kept.unwrap_or_else(|| {
            let fresh = format!("{:032x}", fastrand::u128(..));
            if keeps && self.shared.store.is_persistent() {
                // Without the file, masks are valid for this run only.
                let _ = atomic_file::create(&file, &fresh);
            }
            fresh
        });
        redact::salt(&kept, &self.folder)
    }

    /// The sandbox of the settings, not tested yet.
    pub fn sandbox(&self, system: &System) -> Sandbox {
        Sandbox::new(self.loaded.settings.sandbox, self.sandbox_paths(system))
            .with_run_folder(Arc::clone(&self.shared.temp))
            .with_trial(self.shared.sandbox_trial.clone())
    }

    pub fn sandbox_paths(&self, system: &System) -> SandboxPaths {
        self.surroundings.sandbox_paths.get_or_make(|| self.find_sandbox_paths(system))
    }

    fn find_sandbox_paths(&self, world: &System) -> SandboxPaths {
        let real = |path: PathBuf| path.canonicalize().unwrap_or(path);
        let home = real(self.paths.home.clone());
        let holds_all =
            |folder: &PathBuf| self.folder.starts_with(folder) || home.starts_with(folder);
        // Also the paths as configured: a link in the workspace could be changed to point
        // elsewhere.
        let named = self.paths.program_files().into_iter();
        let mut own: Vec<PathBuf> =
            named.flat_map(|path| [system::resolve_path(&path), path]).collect();
        own.retain(|folder| !holds_all(folder));
        own.sort_unstable();
        own.dedup();
        SandboxPaths {
            workspace: self.folder.clone(),
            programs: world.folders().to_vec(),
            path: world.path_folders(),
            own,
            moved: moved_paths(&self.environment),
            offline: self.loaded.settings.policy().limits.network == Limit::Refuse,
            home,
        }
    }

    /// How the screen saves a setting: in the user's own file.
    pub fn setting_saver(&self) -> SaveSettingFn {
        let file = self.paths.settings();
        Arc::new(move |key, value| {
            edit::set(&file, key, value).map(|_| ()).map_err(|error| error.localized())
        })
    }
}

/// The places that variables of the user move.
fn moved_paths(environment: &Environment) -> BTreeMap<String, PathBuf> {
    let moved = safety::places::variables().filter_map(|name| {
        let path = environment.path(name).filter(|path| path.is_absolute())?;
        Some((name.to_owned(), path.canonicalize().unwrap_or(path)))
    });
    moved.collect()
}

/// Candidates for the folder of temporary files, best first.
fn temp_folders(environment: &Environment, paths: &Paths) -> Vec<PathBuf> {
    let named = |name| environment.path(name).filter(|path| !path.as_os_str().is_empty());
    let system = Some(PathBuf::from("/tmp"));
    let own = Some(paths.state.clone());
    [named("TMPDIR"), system, named("XDG_RUNTIME_DIR"), own].into_iter().flatten().collect()
}

/// Foreign text made safe for a terminal.
pub fn clean(text: &str) -> String {
    safety::sanitize::clean(text, safety::sanitize::CarriageReturnMode::EndsLine)
}

fn printer_for(lang: Lang) -> Printer {
    let stream = output::stderr();
    let clean = if stream.is_terminal() { clean } else { str::to_owned };
    Printer { lang, clean, width: stream.columns() }
}

/// The language of help, for which nothing else is started.
pub fn help_lang() -> Lang {
    let environment = Environment::from_process();
    let args: Vec<_> = std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()).collect();
    let args = args.split(|arg| arg == "--").next().unwrap_or_default();
    let named = args.iter().enumerate().find_map(|(at, arg)| match arg.strip_prefix("--lang")? {
        "" => args.get(at + 1).cloned(),
        value => value.strip_prefix('=').map(str::to_owned),
    });
    let Ok(paths) = Paths::find(&environment) else { return Lang::default() };
    let options: Vec<_> = named.into_iter().map(|lang| ("lang", lang)).collect();
    let sources =
        Sources { paths: &paths, environment: &environment, options: &options, project: &[] };
    load(sources).settings.lang
}

/// The language of errors before the settings are read.
fn early_lang(cli: &Cli, environment: &Environment) -> Lang {
    let named = cli.look.lang.as_deref();
    let named =
        named.or_else(|| environment.get("AVOCET_LANG")).or_else(|| environment.get("LANG"));
    named.and_then(Lang::parse).unwrap_or_default()
}

fn resolve_folder(named: Option<&Path>, lang: Lang) -> Result<PathBuf, StartError> {
    let asked = match named {
        Some(named) => named.to_owned(),
        None => std::env::current_dir().map_err(|_| start_error(phrases::NO_FOLDER_HERE, lang))?,
    };
    match asked.canonicalize() {
        Ok(folder) if folder.is_dir() => Ok(folder),
        Ok(_) | Err(_) => {
            let say = phrases::NO_FOLDER.with("folder", asked.display().to_string());
            Err(start_error(say, lang))
        }
    }
}

/// What the command line names has to be there: without it, something else would be done.
fn check_named_settings(
    cli: &Cli,
    loaded: &Loaded,
    paths: &Paths,
    lang: Lang,
) -> Result<(), StartError> {
    if let Some(theme) = &cli.look.theme {
        user_themes::check_setting(paths, "theme", theme).map_err(|why| start_error(why, lang))?;
    }
    let is_unknown = |diagnostic: &&ConfigDiagnostic| {
        diagnostic.origin == DiagnosticSource::CommandLine
            && matches!(diagnostic.fault, ConfigError::NoProfile { .. })
    };
    match loaded.problems.iter().find(is_unknown) {
        Some(problem) => Err(start_error(problem.localized(), lang)),
        None => Ok(()),
    }
}

pub fn start_error(say: impl Into<avocet_core::i18n::LocalizedText>, lang: Lang) -> StartError {
    StartError {
        notice: Box::new(Notice::error(say)),
        exit: Exit::WrongUse,
        printer: printer_for(lang),
    }
}

/// The package folders of the plugins that the user installed.
fn plugin_roots(home: &Path, folder: &Path) -> Vec<PathBuf> {
    // To know whom to trust costs many looks at the disk, and most have no plugins.
    if PluginRegistry::registry_path(home).symlink_metadata().is_err() {
        return Vec::new();
    }
    // A broken registry is reported by `/plugins`.
    let registry = PluginRegistry::read(home, &System::new(folder, home, &[])).ok().flatten();
    let root = |plugin: &PluginEntry| {
        let mut above = plugin.bin.ancestors().skip(1).take(4);
        above.find(|folder| folder.join("package.json").is_file()).map(Path::to_owned)
    };
    registry.unwrap_or_default().entries.iter().filter_map(root).collect()
}
