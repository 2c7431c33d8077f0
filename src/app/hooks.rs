//! What a session needs for hooks: their files, the answers about those of a project, and what runs
//! them.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use tokio_util::sync::CancellationToken;

use super::startup::Startup;
use avocet_config::approvals::Approvals;
use avocet_config::diagnostic;
use avocet_core::i18n::LocalizedText;
use avocet_hooks::{HookFiles, HookFolders, read_hooks};
use avocet_session::session_hooks::HookAccess;
use avocet_tools::Tool;
use avocet_tools::exec::Exec;
use avocet_tools::temp::{RunFolder, TempFolder};

/// The hooks of a folder.
pub struct FolderHooks {
    folders: HookFolders,
    approvals: Approvals,
    exec: Exec,
    temp: Arc<RunFolder>,
    transcripts: OnceLock<Option<PathBuf>>,
    has_user: bool,
}

impl FolderHooks {
    pub fn new(startup: &Startup, exec: &Exec, has_user: bool) -> FolderHooks {
        FolderHooks {
            folders: hook_folders(startup),
            // The session reports a damaged file when it reads the rules in it.
            approvals: Approvals::open(&startup.paths.approvals(), &startup.folder).0,
            // Those of the session's end run while the program exits.
            exec: exec.clone().with_exit_token(CancellationToken::new()),
            temp: Arc::clone(&startup.shared.temp),
            transcripts: OnceLock::new(),
            has_user,
        }
    }
}

/// Where the files of hooks are.
pub fn hook_folders(startup: &Startup) -> HookFolders {
    let home = startup.paths.home.clone();
    let config_home = startup.environment.path("XDG_CONFIG_HOME");
    HookFolders {
        config_home: config_home.unwrap_or_else(|| home.join(".config")),
        home,
        settings: startup.paths.settings(),
        workspace: startup.folder.clone(),
    }
}

impl HookAccess for FolderHooks {
    fn read(&self, is_trusted: bool) -> HookFiles {
        read_hooks(&self.folders, is_trusted)
    }

    fn folders(&self) -> HookFolders {
        self.folders.clone()
    }

    fn answer(&self, hash: &str) -> Option<bool> {
        self.approvals.server(hash)
    }

    fn save_answer(&mut self, hash: &str, is_allowed: bool) -> Result<(), LocalizedText> {
        let saved = self.approvals.remember_server(hash, is_allowed);
        saved.map_err(|error| diagnostic::io_reason(&error))
    }

    fn exec(&self) -> Arc<dyn Tool> {
        Arc::new(self.exec.clone())
    }

    fn transcripts(&self) -> Option<PathBuf> {
        let create = || self.temp.create_folder("hooks").ok().map(TempFolder::into_run);
        self.transcripts.get_or_init(create).clone()
    }

    fn has_user(&self) -> bool {
        self.has_user
    }
}
