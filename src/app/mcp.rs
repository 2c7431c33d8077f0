//! What a session needs for MCP servers: their definitions, the answers about those of a project,
//! and the start of their programs.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::key_source::key_store;
use super::startup::Startup;
use avocet_config::Environment;
use avocet_config::approvals::Approvals;
use avocet_config::diagnostic;
use avocet_config::key_store::KeyStore;
use avocet_core::i18n::{LocalizedText, cli as words};
use avocet_mcp::{
    DefinitionFolders, ServerDefinition, ServerDefinitions, ServerPipes, ServerStarter,
    StdioServer, read_definitions,
};
use avocet_safety::{Machine, Policy, PolicyContext, Verdict, Workspace, assess_server};
use avocet_session::mcp_servers::McpAccess;
use avocet_tools::exec::Exec;

/// The servers of a folder.
pub struct FolderServers {
    environment: Environment,
    /// With the workspace, whether it is trusted or not.
    folders: DefinitionFolders,
    approvals: Approvals,
    starter: Arc<SandboxedStarter>,
    keys: Arc<KeyStore>,
    has_user: bool,
}

/// Starts programs of servers as approved steps are started.
pub struct SandboxedStarter {
    pub exec: Exec,
    pub policy: Policy,
    pub place: Workspace,
    pub world: Arc<dyn Machine>,
}

impl FolderServers {
    pub fn new(startup: &Startup, starter: SandboxedStarter, has_user: bool) -> FolderServers {
        let home = startup.paths.home.clone();
        let config_home = startup.environment.path("XDG_CONFIG_HOME");
        let config_home = config_home.unwrap_or_else(|| home.join(".config"));
        let (settings, workspace) = (startup.paths.settings(), Some(startup.folder.clone()));
        let folders = DefinitionFolders { home, config_home, settings, workspace };
        FolderServers {
            environment: startup.environment.clone(),
            folders,
            // The session reports a damaged file when it reads the rules in it.
            approvals: Approvals::open(&startup.paths.approvals(), &startup.folder).0,
            starter: Arc::new(starter),
            keys: Arc::new(key_store(startup)),
            has_user,
        }
    }
}

impl McpAccess for FolderServers {
    fn reader(&self, trusted: bool) -> Box<dyn FnOnce() -> ServerDefinitions + Send> {
        let workspace = trusted.then(|| self.folders.workspace.clone()).flatten();
        let folders = DefinitionFolders { workspace, ..self.folders.clone() };
        Box::new(move || read_definitions(&folders))
    }

    fn answer(&self, definition: &ServerDefinition) -> Option<bool> {
        self.approvals.server(&definition.hash())
    }

    fn save_answer(
        &mut self,
        definition: &ServerDefinition,
        is_allowed: bool,
    ) -> Result<(), LocalizedText> {
        let saved = self.approvals.remember_server(&definition.hash(), is_allowed);
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
            let place = match server.cwd {
                Some(folder) => {
                    Workspace { cwd: self.place.workspace.join(folder), ..self.place.clone() }
                }
                None => self.place.clone(),
            };
            let context =
                PolicyContext { policy: &self.policy, place: &place, world: self.world.as_ref() };
            let verdict = assess_server(&server.command, &server.args, context);
            let step = match verdict {
                Verdict::Run(step) => step,
                Verdict::Ask(step) => step.approve_named(),
                Verdict::Refuse(step) => {
                    let why = step.assessment().risk.main_reason().cloned();
                    return Err(why.unwrap_or_else(|| words::NO_REASON.into()));
                }
            };
            let process = self.exec.start_server(&step, server.env).await?;
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
