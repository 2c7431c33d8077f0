//! Caches the layers that were made, for the next step that needs the same.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::Profile;
use super::kernel::{self, Kernel, Layer, Reading, Working};
use super::places::{self, SandboxPaths, Stamp, Trees, stamp_of};
use super::programs::{self, ProgramDirs};
use super::temps::Temp;
use super::workspace::WorkspaceRules;

/// Layers kept at once.
const MOST: usize = 32;

#[derive(Debug, Default)]
pub(super) struct Built(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    system: Option<Trees>,
    approved: Option<Trees>,
    folders: Vec<Folder>,
    layers: Vec<Made>,
}

/// A folder that is worked in, and what of it may be read.
#[derive(Debug)]
struct Folder {
    workspace: WorkspaceRules,
    trees: Option<Trees>,
}

/// A layer, its user, and the inputs it was made from.
#[derive(Debug)]
struct Made {
    profile: Profile,
    lasting: PathBuf,
    files: Vec<(PathBuf, Option<Stamp>)>,
    /// Trees whose entries are listed one by one around our own folders.
    around: Vec<Trees>,
    layer: Arc<Layer>,
}

impl Built {
    /// Whether every place of credentials that is known of is closed to readers.
    pub fn all_hidden(&self, places: &SandboxPaths) -> bool {
        let mut kept = self.kept();
        kept.refresh(places, std::slice::from_ref(&places.workspace));
        let folders = kept.folders.iter().all(|folder| folder.workspace.whole);
        folders && kept.system.as_ref().is_some_and(|trees| trees.all_hidden)
    }

    /// The layer of a step.
    pub fn layer(
        &self,
        kernel: Kernel,
        places: &SandboxPaths,
        profile: &Profile,
        temp: &Temp,
    ) -> Result<Arc<Layer>, String> {
        let mut kept = self.kept();
        let roots = match profile {
            Profile::Read { readable, .. } => outermost(&places.workspace, readable),
            Profile::Work { .. } => Vec::new(),
        };
        match profile {
            Profile::Read { .. } => kept.refresh(places, &roots),
            Profile::Work { .. } => kept.refresh_approved(places),
        }
        if let Some(layer) = kept.known(profile, temp.lasting()) {
            return Ok(layer);
        }
        let mut around = Vec::new();
        let (layer, files) = match profile {
            Profile::Read { compares, .. } => {
                let run = startable(places, profile);
                (kept.reading(places, &roots, *compares, &run, temp)?, run)
            }
            Profile::Work { opened, writes, network } => {
                let ours = |paths: &[PathBuf]| -> Vec<Trees> {
                    paths.iter().map(|path| places::around_ours(path, places)).collect()
                };
                let (read, write) = (ours(opened), ours(writes));
                let layer = kept.working(kernel, (&read, &write, *network), temp)?;
                around = read.into_iter().chain(write).collect();
                (layer, writes.iter().chain(opened).cloned().collect())
            }
        };
        let layer = Arc::new(layer);
        let files = files.into_iter().map(|path| (path.clone(), identity(&path))).collect();
        if kept.layers.len() >= MOST {
            kept.layers.remove(0);
        }
        let (profile, lasting) = (profile.clone(), temp.lasting().to_owned());
        kept.layers.push(Made { profile, lasting, files, around, layer: Arc::clone(&layer) });
        Ok(layer)
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        // A thread that broke off while it had the lock left every value whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    /// Checks whether anything changed that readers depend on, and forgets what was made
    /// from it.
    fn refresh(&mut self, places: &SandboxPaths, roots: &[PathBuf]) {
        let mut changed = false;
        if !self.system.as_ref().is_some_and(Trees::is_fresh) {
            self.system = Some(Trees::of_system(places));
            changed = true;
        }
        for root in roots {
            if !self.folders.iter().any(|folder| folder.workspace.root() == root) {
                let workspace = WorkspaceRules::new(root.clone());
                self.folders.push(Folder { workspace, trees: None });
            }
        }
        for folder in &mut self.folders {
            let looked = folder.workspace.refresh();
            if looked || !folder.trees.as_ref().is_some_and(Trees::is_fresh) {
                let root = folder.workspace.root().to_owned();
                folder.trees = Some(Trees::of_folder(&root, folder.workspace.closed(), places));
                changed = true;
            }
        }
        if changed {
            self.layers.retain(|made| matches!(made.profile, Profile::Work { .. }));
        }
    }

    fn refresh_approved(&mut self, places: &SandboxPaths) {
        if !self.approved.as_ref().is_some_and(Trees::is_fresh) {
            self.approved = Some(Trees::of_approved(places));
            self.layers.retain(|made| matches!(made.profile, Profile::Read { .. }));
        }
    }

    fn known(&self, profile: &Profile, lasting: &Path) -> Option<Arc<Layer>> {
        let same = |made: &&Made| {
            made.profile == *profile
                && made.lasting == lasting
                && made.files.iter().all(|(path, stamp)| identity(path) == *stamp)
                && made.around.iter().all(Trees::is_fresh)
        };
        self.layers.iter().rev().find(same).map(|made| Arc::clone(&made.layer))
    }

    fn reading(
        &self,
        places: &SandboxPaths,
        roots: &[PathBuf],
        compares: bool,
        run: &[PathBuf],
        temp: &Temp,
    ) -> Result<Layer, String> {
        let mut read = vec![temp.lasting().to_owned()];
        read.extend(self.system.iter().flat_map(|trees| trees.read.iter().cloned()));
        for root in roots {
            let folder = self.folders.iter().find(|folder| folder.workspace.root() == root);
            match folder.and_then(|folder| folder.trees.as_ref()) {
                Some(trees) if !compares => read.extend(trees.read.iter().cloned()),
                _ => read.extend(places::around_ours(root, places).read),
            }
        }
        read.extend(run.iter().filter_map(|program| places.tree_of(program)));
        let mut list = places.program_folders();
        list.extend_from_slice(roots);
        kernel::reading(&Reading { read: &read, list: &list, run })
    }

    fn working(
        &self,
        kernel: Kernel,
        (opened, writes, network): (&[Trees], &[Trees], bool),
        temp: &Temp,
    ) -> Result<Layer, String> {
        let mut read: Vec<PathBuf> =
            self.approved.iter().flat_map(|trees| trees.read.iter().cloned()).collect();
        read.extend(opened.iter().flat_map(|trees| trees.read.iter().cloned()));
        let mut write = vec![temp.lasting().to_owned()];
        write.extend(writes.iter().flat_map(|trees| trees.read.iter().cloned()));
        write.extend(places::devices());
        kernel::working(kernel, &Working { read: &read, write: &write, network })
    }
}

/// The programs a step that runs by itself may start.
pub(super) fn startable(places: &SandboxPaths, profile: &Profile) -> Vec<PathBuf> {
    let Profile::Read { programs, helpers, .. } = profile else { return Vec::new() };
    let (trees, toolchains) = (places.program_trees(), places.toolchains());
    let shelves = ProgramDirs { folders: &places.programs, toolchains: &toolchains, trees: &trees };
    programs::startable(programs, helpers, shelves)
}

/// Which file it is: a tree is allowed by the file it was.
fn identity(path: &Path) -> Option<Stamp> {
    stamp_of(path).map(|(device, inode, _)| (device, inode, 0))
}

/// The folders that are read, without those inside another of them.
fn outermost(workspace: &Path, readable: &[PathBuf]) -> Vec<PathBuf> {
    let mut roots: Vec<PathBuf> =
        readable.iter().map(PathBuf::as_path).chain([workspace]).map(Path::to_owned).collect();
    roots.sort_unstable();
    roots.dedup_by(|inner, outer| inner.starts_with(outer));
    roots
}
