//! What all folders and sessions of one run of the program share.

use std::path::PathBuf;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use avocet_config::Paths;
use avocet_config::log::LogLevel;
use avocet_store::Store;
use avocet_tools::exec::Watchdog;
use avocet_tools::sandbox::SandboxTrial;
use avocet_tools::temp::{RunFolder, TempFolder};

#[derive(Clone, Debug)]
pub struct SharedResources {
    /// Where sessions are saved; in memory for `--no-save`.
    pub store: Store,
    /// The folder for all temporary files of this run.
    pub temp: Arc<RunFolder>,
    /// Whether the sandbox works here.
    pub sandbox_trial: SandboxTrial,
    /// Cleans up after a sudden death of this process.
    pub watchdog: Watchdog,
    /// The program is exiting: running steps are ended sooner.
    pub leaving: CancellationToken,
    pub log: LogLevel,
}

impl SharedResources {
    pub fn new(store: Store, temp_folders: Vec<PathBuf>) -> SharedResources {
        SharedResources {
            store,
            temp: Arc::new(RunFolder::new(temp_folders)),
            sandbox_trial: SandboxTrial::default(),
            watchdog: Watchdog::new(std::env::current_exe().ok()),
            leaving: CancellationToken::new(),
            log: LogLevel::default(),
        }
    }

    /// The folder for long outputs of steps: one that is removed with this run, if nothing of it is
    /// saved.
    pub fn outputs(&self, paths: &Paths) -> Option<PathBuf> {
        if self.store.is_persistent() {
            Some(paths.outputs())
        } else {
            self.temp.create_folder("outputs").ok().map(TempFolder::into_run)
        }
    }
}
