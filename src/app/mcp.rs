//! What a session needs for MCP servers: their definitions, the answers about those of a project,
//! and the start of their programs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::key_source::key_store;
use super::startup::Startup;
use avocet_config::Environment;
use avocet_config::approvals::Approvals;
use avocet_config::diagnostic;
use avocet_config::key_store::KeyStore;
use avocet_core::i18n::{LocalizedText, cli as words, mcp_pages as phrases};
use avocet_core::protocol::PageRow;
use avocet_mcp::{
    DefinitionFolders, ServerDefinition, ServerDefinitions, ServerPipes, ServerStarter,
    StdioServer, file_rows, read_definitions,
};
use avocet_safety::{Machine, Policy, PolicyContext, Verdict, Workspace, assess_server};
use avocet_session::mcp_servers::McpAccess;
use avocet_tools::exec::Exec;

/// The servers of a folder.
pub struct FolderServers {
    environment: Environment,
    files: ServerFiles,
    approvals: Approvals,
    starter: Arc<SandboxedStarter>,
    keys: Arc<KeyStore>,
    has_user: bool,
}

/// The files that define servers, and where the answers about those of the project are.
#[derive(Clone)]
pub struct ServerFiles {
    folders: DefinitionFolders,
    answers: PathBuf,
}

/// Starts programs of servers as approved steps are started.
pub struct SandboxedStarter {
    pub exec: Exec,
    pub policy: Policy,
    pub place: Workspace,
    pub world: Arc<dyn Machine>,
}

impl FolderServers {
    /// `first`: definitions that come with the session.
    pub fn new(
        startup: &Startup,
        starter: SandboxedStarter,
        definitions: Vec<ServerDefinition>,
        has_user: bool,
    ) -> FolderServers {
        let mut files = ServerFiles::new(startup);
        files.folders.first = definitions;
        FolderServers {
            environment: startup.environment.clone(),
            files,
            // The session reports a damaged file when it reads the rules in it.
            approvals: Approvals::open(&startup.paths.approvals(), &startup.folder).0,
            starter: Arc::new(starter),
            keys: Arc::new(key_store(startup)),
            has_user,
        }
    }

    /// What a session will make of a server.
    pub fn state(&self, server: &ServerDefinition, trusted: bool) -> LocalizedText {
        let answer = server.answered(self.files.folder(), |it| self.answer(it)).0;
        start_state(server, trusted, answer)
    }
}

impl ServerFiles {
    pub fn new(startup: &Startup) -> ServerFiles {
        let home = startup.paths.home.clone();
        let config_home = startup.environment.path("XDG_CONFIG_HOME");
        let config_home = config_home.unwrap_or_else(|| home.join(".config"));
        let folders = DefinitionFolders {
            home,
            config_home,
            settings: startup.paths.settings(),
            workspace: Some(startup.folder.clone()),
            is_untrusted: false,
            first: Vec::new(),
        };
        ServerFiles { folders, answers: startup.paths.approvals() }
    }

    fn reader(&self, trusted: bool) -> impl FnOnce() -> ServerDefinitions + Send + use<> {
        let folders = DefinitionFolders { is_untrusted: !trusted, ..self.folders.clone() };
        move || read_definitions(&folders)
    }

    fn answer_hash(&self, definition: &ServerDefinition) -> String {
        definition.answer_hash(self.folder())
    }

    fn folder(&self) -> &Path {
        self.folders.workspace.as_deref().unwrap_or(Path::new(""))
    }

    /// What of each file is used, and what is not and why. Blocks.
    pub fn rows(&self, trusted: bool) -> Vec<PageRow> {
        let folder = self.folder();
        let approvals = Approvals::open(&self.answers, folder).0;
        let state = |server: &ServerDefinition| {
            let saved = |it: &ServerDefinition| approvals.server(&it.answer_hash(folder));
            start_state(server, trusted, server.answered(folder, saved).0)
        };
        let mut rows = file_rows(&self.reader(trusted)(), &state);
        if !rows.is_empty() {
            rows.insert(0, PageRow::heading(phrases::TITLE));
        }
        rows
    }
}

/// `answer`: the user's, about one of the project.
fn start_state(server: &ServerDefinition, trusted: bool, answer: Option<bool>) -> LocalizedText {
    let answer = if server.origin.is_from_repository { answer } else { Some(true) };
    match answer {
        _ if !server.is_enabled => phrases::OFF.into(),
        _ if !trusted => phrases::UNTRUSTED.into(),
        Some(true) => phrases::STARTS_WITH_SESSION.into(),
        Some(false) => phrases::DECLINED.into(),
        None => phrases::WAITS.into(),
    }
}

impl McpAccess for FolderServers {
    fn reader(&self, trusted: bool) -> Box<dyn FnOnce() -> ServerDefinitions + Send> {
        Box::new(self.files.reader(trusted))
    }

    fn answer(&self, definition: &ServerDefinition) -> Option<bool> {
        self.approvals.server(&self.files.answer_hash(definition))
    }

    fn save_answer(
        &mut self,
        definition: &ServerDefinition,
        is_allowed: bool,
    ) -> Result<(), LocalizedText> {
        let hash = self.files.answer_hash(definition);
        let saved = self.approvals.remember_server(&hash, is_allowed);
        saved.map_err(|error| diagnostic::io_reason(&error))
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.environment.get(name).map(str::to_owned)
    }

    fn starter(&self) -> Arc<dyn ServerStarter> {
        Arc::clone(&self.starter) as Arc<dyn ServerStarter>
    }

    fn keys(&self) -> Arc<KeyStore> {
        Arc::clone(&self.keys)
    }

    fn has_user(&self) -> bool {
        self.has_user
    }
}

impl ServerStarter for SandboxedStarter {
    fn start(&self, server: StdioServer) -> BoxFuture<'_, Result<ServerPipes, LocalizedText>> {
        async move {
            let StdioServer { command, args, env, cwd, reach } = server;
            let place = match cwd {
                Some(folder) => {
                    Workspace { cwd: self.place.workspace.join(folder), ..self.place.clone() }
                }
                None => self.place.clone(),
            };
            let context =
                PolicyContext { policy: &self.policy, place: &place, world: self.world.as_ref() };
            let verdict = assess_server(&command, &args, &reach, context);
            let step = match verdict {
                Verdict::Run(step) => step,
                Verdict::Ask(step) => step.approve_named(),
                Verdict::Refuse(step) => {
                    let why = step.judgement().risk.main_reason().cloned();
                    return Err(why.unwrap_or_else(|| words::NO_REASON.into()));
                }
            };
            let process = self.exec.start_server(&step, env).await?;
            Ok(ServerPipes {
                input: process.input,
                output: process.output,
                errors: process.errors,
                process: Box::new(process.guard),
            })
        }
        .boxed()
    }
}
