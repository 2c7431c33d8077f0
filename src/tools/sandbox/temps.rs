//! Temporary folders of steps: one each for those that run by themselves, and one of the
//! session for approved ones, so that the next step can use what one leaves there.

use std::fs::{DirBuilder, File, Metadata};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

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

/// Folders and files that were made for one step. What it left unused is removed with this value.
#[derive(Debug, Default)]
pub(super) struct MadePlaces {
    folders: Vec<PathBuf>,
    files: Vec<PathBuf>,
}

/// When a file says that it was written that no step has written yet.
const UNTOUCHED: SystemTime = SystemTime::UNIX_EPOCH;

impl MadePlaces {
    /// Makes caches below the home, as their programs would, with the folders that lead to
    /// them: a missing path cannot be allowed.
    pub fn create(caches: &[PathBuf], home: &Path) -> MadePlaces {
        let mut made = MadePlaces::default();
        for cache in caches.iter().filter(|cache| cache.starts_with(home) && !is_file_name(cache)) {
            made.add_folder(cache, 0o700);
        }
        made
    }

    /// Makes what is missing of the places that it was given by name.
    pub fn with_placeholders(mut self, places: &[PathBuf]) -> MadePlaces {
        for place in places {
            if place.as_os_str().as_encoded_bytes().ends_with(b"/") {
                self.add_folder(place, 0o777);
            } else if let Ok(file) = File::create_new(place)
                && file.set_modified(UNTOUCHED).is_ok()
            {
                self.files.push(place.clone());
            }
        }
        self
    }

    fn add_folder(&mut self, folder: &Path, mode: u32) {
        let missing: Vec<&Path> =
            folder.ancestors().take_while(|path| path.symlink_metadata().is_err()).collect();
        for folder in missing.into_iter().rev() {
            // Where it cannot be made the program says so.
            if DirBuilder::new().mode(mode).create(folder).is_ok() {
                self.folders.push(folder.to_owned());
            }
        }
    }
}

impl Drop for MadePlaces {
    fn drop(&mut self) {
        for file in &self.files {
            let meta = file.symlink_metadata();
            let is_untouched =
                |meta: Metadata| meta.len() == 0 && meta.modified().is_ok_and(|at| at == UNTOUCHED);
            if meta.is_ok_and(is_untouched) {
                let _ = std::fs::remove_file(file);
            }
        }
        // The innermost first; one that is used is not empty.
        for folder in self.folders.iter().rev() {
            let _ = std::fs::remove_dir(folder);
        }
    }
}

/// A name with an ending is a file.
fn is_file_name(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    path.extension().is_some() || name.starts_with(".package") || name == ".global-cache"
}
