//! What a session needs for language servers: the settings about them, and the start of their
//! programs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::startup::Startup;
use avocet_config::{Environment, toolchain};
use avocet_core::i18n::{LocalizedText, cli as words, lsp as phrases};
use avocet_core::protocol::SandboxStatus;
use avocet_lsp::{
    LanguageDefinition, LanguageDefinitions, LanguageHost, LanguageProcess, LanguageServerPipes,
    LanguageServers, read_languages,
};
use avocet_safety::{Machine, Policy, PolicyContext, Verdict, Workspace, assess_language_server};
use avocet_tools::Tool;
use avocet_tools::exec::Exec;
use avocet_tools::exec::server::ServerGuard;

/// Starts programs of language servers as approved steps are started, with the network closed.
#[derive(Clone)]
struct SandboxedLanguages {
    exec: Exec,
    policy: Policy,
    place: Workspace,
    world: Arc<dyn Machine>,
    settings: PathBuf,
    environment: Environment,
    home: PathBuf,
}

/// Nothing starts before the first file.
pub fn language_servers(
    startup: &Startup,
    exec: &Exec,
    world: Arc<dyn Machine>,
) -> LanguageServers {
    let languages = SandboxedLanguages {
        exec: exec.clone(),
        policy: startup.loaded.settings.policy(),
        // They are asked to start only where that holds.
        place: Workspace { trusted: true, ..startup.workspace() },
        world,
        settings: startup.paths.settings(),
        environment: startup.environment.clone(),
        home: startup.paths.home.clone(),
    };
    LanguageServers::new(Arc::new(languages), startup.trusted)
}

impl LanguageHost for SandboxedLanguages {
    fn folders(&self) -> Vec<PathBuf> {
        let folders = std::iter::once(&self.place.workspace).chain(&self.place.added);
        folders.cloned().collect()
    }

    fn definitions(&self) -> LanguageDefinitions {
        read_languages(&self.settings)
    }

    fn is_installed(&self, program: &str) -> bool {
        let path = Path::new(program);
        path.is_absolute() && path.is_file()
            || self.world.program(program).is_some()
            || self.world.untrusted_program_folder(program).is_some_and(|folder| {
                let path = folder.join(program);
                !toolchain::is_missing_component(&path, &self.environment, &self.home)
            })
    }

    fn start(
        &self,
        definition: LanguageDefinition,
        root: PathBuf,
    ) -> BoxFuture<'static, Result<LanguageServerPipes, LocalizedText>> {
        let host = self.clone();
        async move { host.start_program(definition, root).await }.boxed()
    }
}

impl SandboxedLanguages {
    async fn start_program(
        &self,
        definition: LanguageDefinition,
        root: PathBuf,
    ) -> Result<LanguageServerPipes, LocalizedText> {
        // What the folder holds decides what such a program runs: it needs the sandbox, unless the user
        // switched that off.
        let status = self.exec.sandbox_status().await;
        if !matches!(status, Some(SandboxStatus::Held | SandboxStatus::Off)) {
            return Err(phrases::NO_SANDBOX.into());
        }
        let workspace = Workspace { cwd: root, ..self.place.clone() };
        let context =
            PolicyContext { policy: &self.policy, place: &workspace, world: self.world.as_ref() };
        let (program, args) = definition.command.split_first().unwrap_or((&definition.name, &[]));
        let step = match assess_language_server(program, args, context) {
            Verdict::Run(step) => step,
            Verdict::Ask(step) => step.approve_named(),
            Verdict::Refuse(step) => {
                let why = step.judgement().risk.main_reason().cloned();
                return Err(why.unwrap_or_else(|| words::NO_REASON.into()));
            }
        };
        let process = self.exec.start_server(&step, Default::default()).await?;
        process.guard.limit_memory(definition.memory << 20);
        Ok(LanguageServerPipes {
            input: process.input,
            output: process.output,
            errors: process.errors,
            process: Box::new(GuardedProcess(process.guard)),
        })
    }
}

struct GuardedProcess(ServerGuard);

impl LanguageProcess for GuardedProcess {
    fn memory_probe(&self) -> Box<dyn FnOnce() -> u64 + Send> {
        Box::new(self.0.memory_probe())
    }
}
