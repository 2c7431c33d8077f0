//! Whether the folder of a run is trusted, and why.

use std::path::{Path, PathBuf};

use avocet_config::Paths;
use avocet_config::paths::project_of_worktree;
use avocet_config::trust::{self, FolderTrust, Survey, TrustLevel, TrustStore};
use avocet_core::i18n::LocalizedText;

/// What is known about trust in the folder.
#[derive(Clone, Debug)]
pub struct TrustState {
    pub store: TrustStore,
    /// Why the trust store could not be read.
    pub store_error: Option<LocalizedText>,
    pub survey: Survey,
    pub standing: FolderTrust,
    /// `--trust` names exactly this folder, or the project that it is a worktree of.
    pub is_named: bool,
    /// The folder of `--trust`, links resolved: scripts in it may run, wherever it is.
    pub trusted_folder: Option<PathBuf>,
}

impl TrustState {
    pub fn is_trusted(&self) -> bool {
        self.is_named || self.standing == FolderTrust::Known(TrustLevel::Trusted)
    }

    /// A store that cannot be read counts as empty.
    pub fn load(folder: &Path, named: Option<&Path>, paths: &Paths) -> TrustState {
        let (kept, broken) = TrustStore::open(paths.trust());
        let survey = trust::survey(folder);
        let standing = kept.folder_trust(folder, &survey);
        let named = named.and_then(|named| named.canonicalize().ok());
        TrustState {
            store: kept,
            store_error: broken,
            survey,
            standing,
            is_named: named.is_some()
                && [Some(folder), project_of_worktree(folder)].contains(&named.as_deref()),
            trusted_folder: named,
        }
    }
}
