//! `avocet gateway run` and `status`: the services of the settings, each with the sessions of its
//! chats.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::key_source;
use super::live_settings::is_unreadable;
use super::session_builder;
use super::startup::Startup;
use super::step_runner::SessionPurpose;
use crate::cli::{Exit, output};
use avocet_config::extensions::ExtensionLibrary;
use avocet_config::gateway::{ChatToken, GatewaySettings, PlatformSettings};
use avocet_config::load::{SettingsStamp, load, stamps};
use avocet_config::{Sources, atomic_file};
use avocet_core::i18n::{Lang, Localize as _, LocalizedText, chat as w, common};
use avocet_core::protocol::{ChatPlatform, Extensions, Notice};
use avocet_core::signals;
use avocet_gateway::access::{AccessRole, Admission};
use avocet_gateway::access_file::{self, AccessAnswer, AccessGate};
use avocet_gateway::chat::{OpenSession, SessionRequest};
use avocet_gateway::discord::{Discord, DiscordConfig};
use avocet_gateway::feishu::{Feishu, FeishuApp};
use avocet_gateway::ledger::Ledger;
use avocet_gateway::menu::{MenuNames, MenuOptions, MenuRows};
use avocet_gateway::platform::{Cursor, Incoming, Platform, PlatformError};
use avocet_gateway::run::{
    self, Admit, ConversationSettings, ServiceAdmission, ServiceBounds, ServiceCommands,
    ServiceHealth, ServiceParts,
};
use avocet_gateway::shown_menu::{ServiceMenu, ShownMenu};
use avocet_gateway::slack::{IsCommand, Slack, SlackConfig, SlackPatience};
use avocet_gateway::telegram::Telegram;
use avocet_present::commands::{self, CalledRows};
use avocet_session::SessionConfig;
use avocet_session::persistence::{Replay, ResumeTarget};
use avocet_tools::system;
use avocet_tools::temp::TempFolder;

/// Options of the command line that set settings, for other folders.
pub type GivenOptions = Vec<(&'static str, String)>;

/// The health of each service.
type HealthReports = Vec<(ChatPlatform, watch::Receiver<ServiceHealth>)>;

/// Runs until a signal ends it, or until no service is left.
pub fn run(startup: Startup, options: GivenOptions, only: Option<ChatPlatform>) -> Exit {
    startup.report_problems();
    // It runs unattended: what was refused can be read later.
    startup.shared.log.keep_at_least("info", startup.paths.log());
    let settings = startup.loaded.settings.gateway.clone();
    let wanted = |platform: &ChatPlatform| match only {
        Some(only) => only == *platform,
        None => settings.platform(*platform).enabled,
    };
    let platforms: Vec<ChatPlatform> = ChatPlatform::ALL.into_iter().filter(wanted).collect();
    if platforms.is_empty() {
        let notice = Notice::error(w::NONE_ENABLED).with_hint(w::NONE_ENABLED_HINT);
        return startup.fail(&notice, Exit::WrongUse);
    }
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(error) => return startup.fail_io(&error),
    };
    let own = ExtensionLibrary::load(&startup.search_path()).extensions();
    let unusable = super::gateway::unusable_names(&own).into_iter();
    for why in unusable.chain(unknown_names(&settings, &own, startup.lang())) {
        startup.fail(&Notice::warning(why), Exit::Done);
    }
    let startup = Arc::new(startup);
    let exit = runtime.block_on(serve(&startup, options, &settings, &platforms));
    runtime.shutdown_background();
    exit
}

/// Two threads pass messages on; slow work has threads of its own.
fn runtime() -> io::Result<Runtime> {
    Builder::new_multi_thread().worker_threads(2).enable_all().build()
}

async fn serve(
    startup: &Arc<Startup>,
    options: GivenOptions,
    settings: &GatewaySettings,
    platforms: &[ChatPlatform],
) -> Exit {
    // Before anything is received that an end would have to save.
    let mut signals = signals::listen_ending();
    let leaving = startup.shared.leaving.clone();
    let open_session = session_opener(Arc::clone(startup), options);
    let mut services = JoinSet::new();
    let mut reports: HealthReports = Vec::new();
    // Removed when the services have ended.
    let mut folders: Vec<TempFolder> = Vec::new();
    let mut refused = Exit::Failed;
    for platform in platforms {
        let (health, report) = watch::channel(ServiceHealth::default());
        match service(startup, settings, *platform, Arc::clone(&open_session), health) {
            Ok((parts, files)) => {
                folders.push(files);
                reports.push((*platform, report));
                let platform = *platform;
                services.spawn(async move { (platform, run::run(parts).await) });
            }
            Err((why, exit)) => refused = startup.fail(&Notice::error(why), exit),
        }
    }
    if services.is_empty() {
        return refused;
    }
    announce(startup, settings, &reports);
    tokio::spawn(write_status(Arc::clone(startup), reports));
    let mut exit = Exit::Done;
    loop {
        tokio::select! {
            Some(_) = signals.recv() => leaving.cancel(),
            ended = services.join_next() => match ended {
                None => return exit,
                Some(Ok((_, Ok(())))) => {}
                Some(Ok((platform, Err(error)))) => {
                    // A wrong token does not get better by another start.
                    exit = match error {
                        PlatformError::Unauthorized => Exit::WrongUse,
                        _ => Exit::Failed,
                    };
                    report_end(startup, platform.name(), &error.to_string(), exit);
                }
                Some(Err(error)) => {
                    exit = Exit::Failed;
                    report_end(startup, "?", &error.to_string(), exit);
                }
            },
        }
    }
}

/// Tells the terminal who may talk, and which services are connected once they are.
fn announce(startup: &Arc<Startup>, settings: &GatewaySettings, reports: &HealthReports) {
    for (platform, report) in reports {
        warn_of_nobody(startup, settings, *platform);
        tokio::spawn(say_connected(Arc::clone(startup), *platform, report.clone()));
    }
}

/// Says when a service is connected, and when it is not any more.
async fn say_connected(
    startup: Arc<Startup>,
    platform: ChatPlatform,
    mut report: watch::Receiver<ServiceHealth>,
) {
    let is_known = |health: &ServiceHealth| health.connected || health.problem.is_some();
    loop {
        let problem = report.wait_for(is_known).await.map(|health| health.problem.clone());
        if let Ok(Some(why)) = problem {
            let say = w::NOT_CONNECTED.with("name", platform.title()).with("why", why);
            startup.fail(&Notice::warning(say), Exit::Done);
        }
        let health = report.wait_for(|health| health.connected).await.map(|health| health.clone());
        let Ok(ServiceHealth { bot, texts, .. }) = health else { return };
        let say = w::CONNECTED.with("name", platform.title()).with("bot", bot);
        startup.fail(&Notice::info(say), Exit::Done);
        for text in texts {
            let say = common::LABELLED.with("name", platform.title()).with("text", text);
            startup.fail(&Notice::info(say), Exit::Done);
        }
        if report.wait_for(|health| !health.connected).await.is_err() {
            return;
        }
    }
}

/// An empty list admits no user, which is easily forgotten.
fn warn_of_nobody(startup: &Startup, settings: &GatewaySettings, platform: ChatPlatform) {
    let of = settings.platform(platform);
    let roster = access_file::read(&startup.paths.gateway_users()).unwrap_or_default();
    let is_paired = roster.users.iter().any(|user| user.platform == platform);
    if of.allow.is_empty() && of.admins.is_empty() && !is_paired {
        let say = w::NOBODY.with("name", platform.title());
        startup.fail(&Notice::warning(say).with_hint(w::NOBODY_HINT), Exit::Done);
    }
}

fn report_end(startup: &Startup, name: &str, why: &str, exit: Exit) {
    startup.fail(&Notice::error(w::SERVICE_ENDED.with("name", name).with("why", why)), exit);
}

/// One service with its ledger, and the folder of the files that come.
fn service(
    startup: &Arc<Startup>,
    settings: &GatewaySettings,
    platform: ChatPlatform,
    open_session: OpenSession,
    sender: watch::Sender<ServiceHealth>,
) -> Result<(ServiceParts, TempFolder), (LocalizedText, Exit)> {
    let name = platform.name();
    let of = settings.platform(platform);
    // Another start does not mend a setting.
    let wrong = |text: LocalizedText| (text, Exit::WrongUse);
    let failed = |text: LocalizedText| (text, Exit::Failed);
    let token = chat_token(startup, &of.token).ok_or_else(|| {
        wrong(w::NO_TOKEN.with("name", name).with("variable", of.token.variable.as_str()))
    })?;
    let ledger = Ledger::open(&ledgers(startup), name).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => failed(w::RUNS_ALREADY.with("name", name)),
        _ => failed(w::NO_LEDGER.with("name", name).with("why", error.to_string())),
    })?;
    let cursor = ledger.state.cursor.as_ref();
    let menu = service_menu(startup, settings, platform);
    let is_command = known_names(settings, &menu);
    let connection = connect(startup, of, is_command, (platform, token, cursor)).map_err(wrong)?;
    let files =
        startup.shared.temp.create_folder("chat-files").map_err(|error| failed(error.say()))?;
    let parts = ServiceParts {
        platform: connection,
        admin: of.admins.first().map(|id| id.as_str().into()),
        ledger,
        admit: admission(startup, settings, platform),
        open_session,
        lang: startup.lang(),
        settings: ConversationSettings {
            is_per_user: of.session_per_user,
            follows_sender: settings.follows_sender,
        },
        commands: ServiceCommands {
            open: settings.open.clone(),
            first: settings.menu_first.clone(),
            of_users: settings.user_commands.clone(),
        },
        menu,
        bounds: ServiceBounds {
            sessions: settings.bounds.sessions,
            connections: settings.bounds.connections,
            queued: settings.bounds.queued,
            waiting_bytes: settings.bounds.waiting_bytes,
            file_bytes: settings.bounds.file_bytes as u64,
            session_idle: settings.bounds.session_idle,
            question_time: settings.bounds.question_time,
        },
        files: files.path().to_owned(),
        health: sender,
        leaving: startup.shared.leaving.clone(),
    };
    Ok((parts, files))
}

/// The menu of a service, read again when the files of the user's commands change.
fn service_menu(
    startup: &Arc<Startup>,
    settings: &GatewaySettings,
    platform: ChatPlatform,
) -> ServiceMenu {
    let startup = Arc::clone(startup);
    let settings = settings.clone();

    let read = move || {
        let own = ExtensionLibrary::load(&startup.search_path()).extensions();
        let menu = super::gateway::platform_menu(platform, &settings, &own, startup.lang());
        let rows: MenuRows = commands::rows(&own, startup.lang()).into();
        ShownMenu { known: Arc::clone(&rows), rows, calls: menu.calls }
    };
    let (shown, _) = watch::channel(read());
    ServiceMenu { shown, read: Arc::new(read) }
}

/// The names in the settings that no command has.
fn unknown_names(
    settings: &GatewaySettings,
    extensions: &Extensions,
    lang: Lang,
) -> Vec<LocalizedText> {
    let rows = commands::rows(extensions, lang);
    let called = CalledRows::new(&rows);
    let lists = [
        ("gateway.user_commands", &settings.user_commands),
        ("gateway.menu_first", &settings.menu_first),
    ];
    let names =
        lists.into_iter().flat_map(|(key, names)| names.iter().map(move |name| (key, name)));
    let unknown = names.filter(|(_, name)| called.find(name).is_none());
    unknown
        .map(|(key, name)| w::UNKNOWN_LISTED.with("name", name.as_str()).with("key", key))
        .collect()
}

/// Tells which words after a sign are commands of Slack.
fn known_names(settings: &GatewaySettings, menu: &ServiceMenu) -> IsCommand {
    let open = settings.open.clone();
    let first = settings.menu_first.clone();

    let shown = menu.shown.subscribe();
    Arc::new(move |name: &str| {
        let rows = Arc::clone(&shown.borrow().known);
        let options = MenuOptions { open: &open, first: &first };
        let platform = ChatPlatform::Slack;
        MenuNames { platform, rows: &rows, shown: &rows, options }.row_name(name).is_some()
    })
}

/// Connects to a service as its settings say.
fn connect(
    startup: &Arc<Startup>,
    settings: &PlatformSettings,
    is_command: IsCommand,
    (platform, token, cursor): (ChatPlatform, String, Option<&Cursor>),
) -> Result<Arc<dyn Platform>, LocalizedText> {
    let name = platform.name();
    let address = || w::NO_ADDRESS.with("name", name).with("url", settings.api_url.as_str());
    Ok(match platform {
        ChatPlatform::Telegram => {
            Arc::new(Telegram::new(&settings.api_url, &token, cursor).map_err(|_| address())?)
        }
        ChatPlatform::Slack => {
            let app = settings.app_token.as_ref();
            let app_token = app.and_then(|app| chat_token(startup, app)).ok_or_else(|| {
                let variable = app.map_or("", |app| app.variable.as_str());
                w::NO_APP_TOKEN.with("name", name).with("variable", variable)
            })?;
            let config = SlackConfig {
                api_url: settings.api_url.clone(),
                app_token,
                bot_token: token,
                is_command,
                patience: SlackPatience::default(),
            };
            Arc::new(Slack::new(config, cursor).map_err(|_| address())?)
        }
        ChatPlatform::Feishu => {
            let id = settings.app_id.clone().filter(|id| !id.is_empty());
            let id = id.ok_or_else(|| w::NO_APP_ID.with("name", name))?;
            let app = FeishuApp { id, secret: token };
            Arc::new(Feishu::new(&settings.api_url, app).map_err(|_| address())?)
        }
        ChatPlatform::Discord => {
            let api_url = settings.api_url.clone();
            let reads_all = !settings.mention_required;

            let config = DiscordConfig { api_url, token, reads_all };
            Arc::new(Discord::new(config, cursor).map_err(|_| address())?)
        }
    })
}

fn ledgers(startup: &Startup) -> PathBuf {
    startup.paths.data.join("gateway")
}

/// The token of its variable, or the saved one.
fn chat_token(startup: &Startup, token: &ChatToken) -> Option<String> {
    let saved = || key_source::key_store(startup).read(&token.entry).ok().flatten();
    let token = token.value.clone().or_else(saved)?;
    Some(token.expose().to_owned())
}

/// Who may talk, as the files of settings say now.
struct LiveAccess {
    startup: Arc<Startup>,
    stamps: Vec<SettingsStamp>,
}

impl LiveAccess {
    /// The settings, if their files changed. A file that cannot be read changes nothing.
    fn changed(&mut self) -> Option<GatewaySettings> {
        let stamps = own_stamps(&self.startup);
        if stamps == self.stamps {
            return None;
        }
        self.stamps = stamps;
        let loaded = load(Sources {
            paths: &self.startup.paths,
            environment: &self.startup.environment,
            options: &self.startup.options,
            // No project says who may talk.
            project: &[],
        });
        match loaded.problems.iter().find(|problem| is_unreadable(problem)) {
            Some(problem) => {
                let why = problem.localized().text(self.startup.lang()).to_string();
                tracing::error!(why, "who may talk stays as it was read last");
                None
            }
            None => {
                tracing::info!("the settings were read again");
                Some(loaded.settings.gateway)
            }
        }
    }
}

fn own_stamps(startup: &Startup) -> Vec<SettingsStamp> {
    stamps(&startup.paths, &[])
}

fn admission(startup: &Arc<Startup>, settings: &GatewaySettings, platform: ChatPlatform) -> Admit {
    let mut gate = AccessGate::new(settings.clone(), startup.paths.gateway_users());
    let mut live = LiveAccess { startup: Arc::clone(startup), stamps: own_stamps(startup) };
    Box::new(move |incoming: &Incoming| {
        if let Some(now) = live.changed() {
            gate.set_settings(now);
        }
        let AccessAnswer { admission, say } = gate.admit(platform, incoming);
        match (admission, say) {
            (Admission::Admitted(role), _) => {
                ServiceAdmission::Admit { is_admin: role == AccessRole::Admin }
            }
            (Admission::Overheard(role), _) => {
                ServiceAdmission::Overheard { is_admin: role == AccessRole::Admin }
            }
            (_, Some(say)) => ServiceAdmission::Refuse(say),
            (_, None) => ServiceAdmission::Silent,
        }
    })
}

/// Builds the sessions of chats, each in its folder.
fn session_opener(startup: Arc<Startup>, options: GivenOptions) -> OpenSession {
    let folders: Mutex<HashMap<PathBuf, Arc<Startup>>> = Mutex::new(HashMap::new());
    Arc::new(move |request: SessionRequest| {
        let home = startup.loaded.settings.gateway.folder.clone();
        let base = match request.folder.clone().or(home) {
            None => Arc::clone(&startup),
            Some(folder) => {
                let folder = chat_folder(&startup, &folder)?;
                let mut folders = folders.lock().unwrap_or_else(PoisonError::into_inner);
                let made = folders
                    .entry(folder.clone())
                    .or_insert_with(|| Arc::new(startup.in_folder(folder, None, &options)));
                Arc::clone(made)
            }
        };
        open_session(&base, &request)
    })
}

fn chat_folder(startup: &Startup, folder: &str) -> Result<PathBuf, LocalizedText> {
    let named = match folder.strip_prefix("~/") {
        Some(rest) => startup.paths.home.join(rest),
        None => startup.folder.join(folder),
    };
    let real = named.canonicalize().ok().filter(|folder| folder.is_dir());
    real.ok_or_else(|| w::NO_HOME.with("folder", folder))
}

fn open_session(
    startup: &Startup,
    request: &SessionRequest,
) -> Result<SessionConfig, LocalizedText> {
    // Who may have files changed there could admit himself.
    let mut own = startup.paths.program_files().into_iter();
    if own.any(|own| startup.folder.starts_with(system::resolve_path(&own))) {
        return Err(w::HOME_OWN.with("folder", startup.folder.display().to_string()));
    }
    if startup.folder.parent().is_none()
        || startup.folder == system::resolve_path(&startup.paths.home)
    {
        return Err(w::HOME_TOO_WIDE.with("folder", startup.folder.display().to_string()));
    }
    let built = session_builder::build(startup, None, SessionPurpose::Chat);
    let mut config = built.map_err(|failure| failure.notice.say.clone())?;
    config.security.place.added.extend(request.files.clone());
    config.info.lang = request.lang.unwrap_or(config.info.lang);
    config.persistence.replay = Replay::End;
    config.persistence.resume = request.resume.clone().map(ResumeTarget::IfSaved);
    Ok(config)
}

/// Keeps the file that `gateway status` reads.
async fn write_status(startup: Arc<Startup>, mut reports: HealthReports) {
    let file = ledgers(&startup).join("status.json");
    let mut written = Value::Null;
    loop {
        let all = reports.iter_mut().map(|(platform, health)| {
            let health = serde_json::to_value(&*health.borrow_and_update()).unwrap_or_default();
            (platform.name().to_owned(), health)
        });
        let status = json!({ "pid": std::process::id(), "services": Value::Object(all.collect()) });
        if status != written {
            if let Err(error) = atomic_file::write(&file, &status.to_string()) {
                tracing::warn!(%error, "the status file");
            }
            written = status;
        }
        let changes = reports.iter_mut().map(|(_, health)| Box::pin(health.changed()));
        if futures_util::future::select_all(changes).await.0.is_err() {
            return;
        }
    }
}

/// Which services run, and how they fare.
pub fn status(startup: &Startup, json: bool) -> Exit {
    let folder = ledgers(startup);
    let text = atomic_file::read(&folder.join("status.json")).ok().flatten();
    let known: Value =
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or(Value::Null);
    let mut services = serde_json::Map::new();
    for platform in ChatPlatform::ALL {
        let runs = Ledger::is_open_elsewhere(&folder, platform.name());
        let health = known.pointer(&format!("/services/{}", platform.name()));
        let health = health.filter(|_| runs).cloned().unwrap_or(Value::Null);
        services.insert(platform.name().to_owned(), json!({ "runs": runs, "health": health }));
    }
    let mut running = services.values().filter(|service| service["runs"] == true).peekable();
    let is_well =
        running.peek().is_some() && running.all(|service| service["health"]["connected"] == true);
    let text = if json {
        format!("{}\n", Value::Object(services))
    } else {
        services.iter().map(|(name, of)| status_line(startup, name, of)).collect()
    };
    let _ = io::Write::write_all(&mut output::stdout(), text.as_bytes());
    if is_well { Exit::Done } else { Exit::Failed }
}

fn status_line(startup: &Startup, name: &str, service: &Value) -> String {
    let health = |key: &str| service["health"][key].as_str().unwrap_or_default().to_owned();
    let line = match (service["runs"].as_bool(), service["health"]["connected"].as_bool()) {
        (Some(true), Some(true)) => w::STATUS_CONNECTED.with("bot", health("bot")),
        (Some(true), _) => w::STATUS_WAITS.with("why", health("problem")),
        _ => w::STATUS_OFF.into(),
    };
    format!("{name}: {}\n", line.text(startup.lang()))
}
