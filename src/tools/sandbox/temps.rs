//! Temporary folders of steps: one each for those that run by themselves, and one of the
//! session for approved ones, so that the next step can use what one leaves there.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::super::temp::{RunFolder, TempFolder};
use avocet_core::i18n::LocalizedText;

/// The folders of a session, made when one is needed first.
#[derive(Debug, Default)]
pub(super) struct StepTempFolders {
    run: Arc<RunFolder>,
    /// The parent folder of the folders of steps that run by themselves.
    root: Mutex<Option<Arc<TempFolder>>>,
    shared: Mutex<Option<Arc<TempFolder>>>,
}

/// The folder of one step.
#[derive(Debug)]
pub(super) enum StepTempFolder {
    /// Removed with this value; the folder that contains it with the last of them.
    Own {
        folder: TempFolder,
        root: Arc<TempFolder>,
    },
    Shared(Arc<TempFolder>),
}

impl StepTempFolder {
    pub fn path(&self) -> &Path {
        match self {
            StepTempFolder::Own { folder, .. } => folder.path(),
            StepTempFolder::Shared(folder) => folder.path(),
        }
    }

    /// The folder that stays the same from step to step.
    pub fn stable_path(&self) -> &Path {
        match self {
            StepTempFolder::Own { root, .. } => root.path(),
            StepTempFolder::Shared(folder) => folder.path(),
        }
    }
}

impl StepTempFolders {
    pub fn with_run_folder(run: Arc<RunFolder>) -> StepTempFolders {
        StepTempFolders { run, ..StepTempFolders::default() }
    }

    /// A new folder that has nothing to do with any step.
    pub fn probe_folder(&self) -> Result<TempFolder, LocalizedText> {
        self.run.create_folder("probe").map_err(|error| error.say())
    }

    pub fn run_folder_of(&self, path: &Path) -> Option<std::path::PathBuf> {
        self.run.folder_of(path)
    }

    pub fn leave(&self, path: &Path) {
        self.run.leave(path);
    }

    pub fn own_folder(&self) -> Result<StepTempFolder, LocalizedText> {
        let root = self.get_or_create(&self.root, "steps")?;
        if let Ok(folder) = root.subfolder("step") {
            return Ok(StepTempFolder::Own { folder, root });
        }
        // It is gone or full: another place may be good.
        *self.root.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let root = self.get_or_create(&self.root, "steps")?;
        let folder =
            root.subfolder("step").map_err(|error| super::not_applied(error.to_string()))?;
        Ok(StepTempFolder::Own { folder, root })
    }

    pub fn shared(&self) -> Result<StepTempFolder, LocalizedText> {
        Ok(StepTempFolder::Shared(self.get_or_create(&self.shared, "work")?))
    }

    /// The folder, created again if it was tidied away.
    fn get_or_create(
        &self,
        kept: &Mutex<Option<Arc<TempFolder>>>,
        purpose: &str,
    ) -> Result<Arc<TempFolder>, LocalizedText> {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(folder) = kept.as_ref().filter(|folder| folder.path().is_dir()) {
            return Ok(Arc::clone(folder));
        }
        let made = Arc::new(self.run.create_folder(purpose).map_err(|error| error.say())?);
        *kept = Some(Arc::clone(&made));
        Ok(made)
    }
}

/// Makes a cache where the folder above it, below the home, exists: the program would make
/// it too, and a missing path cannot be allowed.
pub(super) fn create_cache(cache: &Path, home: &Path) {
    let above = cache.parent().filter(|above| above.starts_with(home) && above.is_dir());
    // A name with an ending is a file.
    let is_file = cache.extension().is_some()
        || cache.file_name().is_some_and(|name| {
            name.to_str()
                .is_some_and(|name| name.starts_with(".package") || name == ".global-cache")
        });
    if above.is_some() && !is_file && !cache.exists() {
        // Where it cannot be made the program says so.
        let _ = DirBuilder::new().mode(0o700).create(cache);
    }
}
