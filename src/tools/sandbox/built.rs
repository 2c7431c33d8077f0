//! Caches the layers that were made, for the next step that needs the same.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::Profile;
use super::guarded::GuardedNames;
use super::landlock::{self, Kernel, Layer};
use super::programs::{self, ProgramDirs};
use super::readable_paths::{self, SandboxPaths, Stamp, Trees, read_stamp};
use super::rights::{ReadAccess, WorkAccess};
use super::temps::StepTempFolder;
use super::workspace::WorkspaceRules;
use avocet_safety::repository;

/// Layers kept at once.
const MAX_LAYERS: usize = 32;

#[derive(Debug, Default)]
pub(super) struct LayerCache(Mutex<LayerCacheState>);

#[derive(Debug, Default)]
struct LayerCacheState {
    system: Option<Trees>,
    approved: Option<Trees>,
    folders: Vec<ReadableFolder>,
    layers: Vec<CachedLayer>,
}

/// A folder that is worked in, and what of it may be read.
#[derive(Debug)]
struct ReadableFolder {
    workspace: WorkspaceRules,
    trees: Option<Trees>,
}

/// A layer, its user, and the inputs it was made from.
#[derive(Debug)]
struct CachedLayer {
    profile: Profile,
    temp_path: PathBuf,
    files: Vec<(PathBuf, Option<Stamp>)>,
    /// Trees whose entries are listed one by one around our own folders.
    around: Vec<Trees>,
    layer: Arc<Layer>,
}

impl LayerCache {
    /// Whether every place of credentials that is known of is closed to readers.
    pub fn hides_all_credentials(&self, paths: &SandboxPaths) -> bool {
        let mut kept = self.lock_state();
        kept.refresh(paths, std::slice::from_ref(&paths.workspace));
        let folders = kept.folders.iter().all(|folder| folder.workspace.is_complete);
        folders && kept.system.as_ref().is_some_and(|trees| trees.hides_all_credentials)
    }

    /// The files and folders below a root that steer what runs later.
    pub fn guarded_names(&self, root: &Path) -> GuardedNames {
        let mut kept = self.lock_state();
        let folder = kept.folder(root);
        if folder.workspace.refresh() {
            folder.trees = None;
        }
        let built = folder.workspace.built_repositories();
        folder.workspace.guarded_names().with(&built)
    }

    /// The layer of a step.
    pub fn layer(
        &self,
        kernel: Kernel,
        paths: &SandboxPaths,
        profile: &Profile,
        temp: &StepTempFolder,
    ) -> Result<Arc<Layer>, String> {
        let mut kept = self.lock_state();
        let roots = match profile {
            Profile::Read { readable, .. } => outermost(&paths.workspace, readable),
            Profile::Work { .. } => Vec::new(),
        };
        match profile {
            Profile::Read { .. } => kept.refresh(paths, &roots),
            Profile::Work { .. } => kept.refresh_approved(paths),
        }
        if let Some(layer) = kept.find_layer(profile, temp.stable_path()) {
            return Ok(layer);
        }
        let mut around = Vec::new();
        let (layer, files) = match profile {
            Profile::Read { .. } => {
                let run = startable(paths, profile);
                let layer = kept.build_read_layer(paths, &roots, profile, &run, temp)?;
                let indexes = roots.iter().map(|root| root.join(INDEX));
                (layer, run.iter().cloned().chain(indexes).collect::<Vec<PathBuf>>())
            }
            Profile::Work { opened, writes, private, named, around: entered, .. } => {
                let opened_trees =
                    opened.iter().map(|path| readable_paths::cover_opened(path, paths));
                let read: Vec<Trees> = opened_trees.collect();
                let written = writes.iter().map(|path| readable_paths::cover_written(path, paths));
                let write: Vec<Trees> = written.collect();
                let layer = kept.build_work_layer(kernel, paths, profile, (&read, &write), temp)?;
                around = read.into_iter().chain(write).collect();
                let files = writes.iter().chain(opened).chain(private).chain(named);
                (layer, files.chain(entered).cloned().collect())
            }
        };
        let layer = Arc::new(layer);
        let files = files.into_iter().map(|path| (path.clone(), file_identity(&path))).collect();
        if kept.layers.len() >= MAX_LAYERS {
            kept.layers.remove(0);
        }
        let (profile, lasting) = (profile.clone(), temp.stable_path().to_owned());
        kept.layers.push(CachedLayer {
            profile,
            temp_path: lasting,
            files,
            around,
            layer: Arc::clone(&layer),
        });
        Ok(layer)
    }

    fn lock_state(&self) -> std::sync::MutexGuard<'_, LayerCacheState> {
        // A thread that broke off while it had the lock left every value whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LayerCacheState {
    /// Checks whether anything changed that readers depend on, and forgets what was made
    /// from it.
    fn refresh(&mut self, paths: &SandboxPaths, roots: &[PathBuf]) {
        let mut changed = false;
        if !self.system.as_ref().is_some_and(Trees::is_fresh) {
            self.system = Some(Trees::for_system(paths));
            changed = true;
        }
        for root in roots {
            self.folder(root);
        }
        for folder in &mut self.folders {
            let looked = folder.workspace.refresh();
            if looked || !folder.trees.as_ref().is_some_and(Trees::is_fresh) {
                let root = folder.workspace.root().to_owned();
                folder.trees =
                    Some(Trees::for_folder(&root, folder.workspace.closed_paths(), paths));
                changed = true;
            }
        }
        if changed {
            self.layers.retain(|made| matches!(made.profile, Profile::Work { .. }));
        }
    }

    /// What is known of a folder, which may be nothing yet.
    fn folder(&mut self, root: &Path) -> &mut ReadableFolder {
        let known = self.folders.iter().position(|folder| folder.workspace.root() == root);
        let at = known.unwrap_or_else(|| {
            let workspace = WorkspaceRules::new(root.to_owned());
            self.folders.push(ReadableFolder { workspace, trees: None });
            self.folders.len() - 1
        });
        &mut self.folders[at]
    }

    fn refresh_approved(&mut self, paths: &SandboxPaths) {
        if !self.approved.as_ref().is_some_and(Trees::is_fresh) {
            self.approved = Some(Trees::for_approved(paths));
            self.layers.retain(|made| matches!(made.profile, Profile::Read { .. }));
        }
    }

    fn find_layer(&self, profile: &Profile, lasting: &Path) -> Option<Arc<Layer>> {
        let same = |layer: &&CachedLayer| {
            layer.profile == *profile
                && layer.temp_path == lasting
                && layer.files.iter().all(|(path, stamp)| file_identity(path) == *stamp)
                && layer.around.iter().all(Trees::is_fresh)
        };
        self.layers.iter().rev().find(same).map(|made| Arc::clone(&made.layer))
    }

    fn build_read_layer(
        &self,
        paths: &SandboxPaths,
        roots: &[PathBuf],
        profile: &Profile,
        run: &[PathBuf],
        temp: &StepTempFolder,
    ) -> Result<Layer, String> {
        let Profile::Read { compares_tracked_files: compares, reads_git_settings, lists, .. } =
            profile
        else {
            return Err("it is an approved step".to_owned());
        };
        let mut read = vec![temp.stable_path().to_owned()];
        read.extend(self.system.iter().flat_map(|trees| trees.read.iter().cloned()));
        for root in roots {
            let folder = self.folders.iter().find(|folder| folder.workspace.root() == root);
            let Some((folder, trees)) = folder.and_then(|it| Some((it, it.trees.as_ref()?))) else {
                continue;
            };
            read.extend(trees.read.iter().cloned());
            if *compares {
                let closed: Vec<&PathBuf> = folder.workspace.closed_paths().collect();
                read.extend(tracked_files(root, &closed, paths));
            }
        }
        if *reads_git_settings {
            let folders = self
                .folders
                .iter()
                .filter(|folder| roots.contains(&folder.workspace.root().to_owned()));
            let closed = folders.flat_map(|folder| folder.workspace.closed_paths());
            read.extend(closed.filter(|path| path.ends_with(".git/config")).cloned());
        }
        read.extend(run.iter().flat_map(|program| paths.installations_of(program)));
        let mut list = paths.program_folders();
        list.extend(roots.iter().chain(lists).cloned());
        let workspace = &paths.workspace;
        landlock::read_layer(&ReadAccess { read: &read, list: &list, run, workspace })
    }

    fn build_work_layer(
        &self,
        kernel: Kernel,
        paths: &SandboxPaths,
        profile: &Profile,
        (opened, writes): (&[Trees], &[Trees]),
        temp: &StepTempFolder,
    ) -> Result<Layer, String> {
        let Profile::Work { private, named, around, devices, network, signals, .. } = profile
        else {
            return Err("it is not an approved step".to_owned());
        };
        let mut read: Vec<PathBuf> =
            self.approved.iter().flat_map(|trees| trees.read.iter().cloned()).collect();
        read.extend(opened.iter().flat_map(|trees| trees.read.iter().cloned()));
        let mut write = vec![temp.stable_path().to_owned()];
        write.extend(writes.iter().flat_map(|trees| trees.read.iter().cloned()));
        // The user may have put links there.
        read.extend(
            private.iter().map(|path| path.canonicalize().unwrap_or_else(|_| path.clone())),
        );
        write.extend(readable_paths::devices(devices));
        let network = *network;
        let signals = *signals;

        let access = WorkAccess {
            read: &read,
            write: &write,
            named,
            around,
            workspace: &paths.workspace,
            network,
            signals,
        };
        landlock::work_layer(kernel, &access)
    }
}

/// The programs a step that runs by itself may start.
pub(super) fn startable(paths: &SandboxPaths, profile: &Profile) -> Vec<PathBuf> {
    let Profile::Read { programs, helpers, .. } = profile else { return Vec::new() };
    let trees = paths.program_trees();
    let toolchains = paths.rustup_toolchains();

    let dirs = ProgramDirs { folders: &paths.programs, toolchains: &toolchains, trees: &trees };
    programs::startable(programs, helpers, dirs)
}

/// Where a repository keeps the list of its files. It is replaced when that changes.
const INDEX: &str = ".git/index";

/// Those of the closed places of a folder that git tracks, and so compares. Where its list cannot
/// be read, all of them.
fn tracked_files(root: &Path, closed: &[&PathBuf], paths: &SandboxPaths) -> Vec<PathBuf> {
    let private = paths.private_places();
    // git follows no link in the working tree.
    let may_open = |path: &PathBuf| {
        path.starts_with(root)
            && !path.ends_with(".git/config")
            && !private.iter().any(|place| path.starts_with(place))
            && path.canonicalize().is_ok_and(|real| real == *path)
    };
    if !closed.iter().any(|path| may_open(path)) {
        return Vec::new();
    }
    let index = std::fs::read(root.join(INDEX)).ok();
    let Some(tracked) = index.and_then(|bytes| repository::tracked_files(&bytes)) else {
        return closed.iter().map(|path| (*path).clone()).filter(may_open).collect();
    };
    let tracked = tracked.into_iter().map(|(path, _)| root.join(path));
    let is_closed = |path: &PathBuf| closed.iter().any(|place| path.starts_with(place));
    tracked.filter(|path| is_closed(path) && may_open(path)).collect()
}

/// Which file it is: a tree is allowed by the file it was.
fn file_identity(path: &Path) -> Option<Stamp> {
    read_stamp(path).map(|(device, inode, _)| (device, inode, 0))
}

/// The folders that are read, without those inside another of them.
fn outermost(workspace: &Path, readable: &[PathBuf]) -> Vec<PathBuf> {
    let mut roots: Vec<PathBuf> =
        readable.iter().map(PathBuf::as_path).chain([workspace]).map(Path::to_owned).collect();
    roots.sort_unstable();
    roots.dedup_by(|inner, outer| inner.starts_with(outer));
    roots
}
