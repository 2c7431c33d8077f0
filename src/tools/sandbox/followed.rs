//! Finds the files of a project to which the user's own settings lead: what links in their home lead
//! to, as in a project of settings files, and what their settings of git name.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::readable_paths::{SandboxPaths, Stamp, files_named_by_git_config, read_stamp};
use avocet_safety::{HOOKS, repository};

/// Where programs look for settings, below the home.
const FOLDERS: &[&str] = &[
    "",
    ".config",
    ".config/git",
    ".config/fish",
    ".config/systemd/user",
    ".config/autostart",
    ".gitconfig",
    ".config/git/config",
];

/// Files that settings of the home lead to, as they were found until something changes where they
/// were looked for.
#[derive(Debug, Default)]
pub(super) struct HomeLinkedFiles(Mutex<Found>);

#[derive(Debug, Default)]
struct Found {
    stamps: Vec<Option<Stamp>>,
    files: Vec<PathBuf>,
    /// Folders of hooks, which may be named as seen from the top of a repository.
    hooks: Vec<PathBuf>,
}

impl HomeLinkedFiles {
    /// Those below a root.
    pub fn inside(&self, root: &Path, paths: &SandboxPaths) -> Vec<PathBuf> {
        let stamps = FOLDERS.iter().map(|name| read_stamp(&paths.home.join(name))).collect();
        let mut found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if found.stamps != stamps {
            *found = Found { stamps, files: find(paths), hooks: find_hooks(paths) };
        }
        let hooks = found.hooks.iter().map(|folder| root.join(folder));
        let hooks = hooks.flat_map(|folder| HOOKS.iter().map(move |name| folder.join(name)));
        let is_inside = |path: &PathBuf| path.starts_with(root) && path != root;
        found.files.iter().cloned().chain(hooks).filter(is_inside).collect()
    }
}

fn find(paths: &SandboxPaths) -> Vec<PathBuf> {
    let folders = FOLDERS.iter().map(|name| paths.home.join(name));
    let entries = folders.filter_map(|folder| folder.read_dir().ok()).flatten().flatten();
    let links = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()));
    // In the home itself other links are the user's own shortcuts.
    let links = links.map(|entry| entry.path()).filter(|link| {
        let rest = link.strip_prefix(&paths.home).unwrap_or(link);
        rest.as_os_str().as_encoded_bytes().starts_with(b".")
    });
    let named = files_named_by_git_config(paths).into_iter();
    links.chain(named).filter_map(|path| path.canonicalize().ok()).collect()
}

fn find_hooks(paths: &SandboxPaths) -> Vec<PathBuf> {
    let files = [".gitconfig", ".config/git/config"].map(|name| paths.home.join(name));
    let texts = files.iter().filter(|file| file.is_file()).filter_map(|file| fs::read(file).ok());
    let settings = texts.filter_map(|text| repository::parse(&text)).flatten();
    let hooks = settings.filter(|it| (&*it.section, &*it.name) == ("core", "hookspath"));
    let folders = hooks.map(|setting| match setting.value.strip_prefix("~/") {
        Some(below) => paths.home.join(below),
        None => PathBuf::from(setting.value),
    });
    folders.collect()
}
