//! Finds the credentials in the workspace and the files that are guarded, and keeps the list up to date without walking it
//! at each step.
//!
//! Folders are searched once, those next to the root first, and each is searched again only
//! when its own time stamp says that it changed. A bound keeps that cheap, and beyond it
//! the rest is open; this is reported, and recursive readers get arguments to leave such
//! files out as well.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::guarded::{GuardedNames, is_repository};
use super::readable_paths::{Stamp, is_recent, read_stamp};
use avocet_safety as safety;

/// So many folders are looked through, and so many entries all in all.
const MAX_FOLDERS: usize = 1_000;
const MAX_ENTRIES: usize = 100_000;

/// Folders of built or fetched files, in great numbers.
const PRUNED: &[&str] = &[
    "node_modules",
    "bower_components",
    "target",
    "__pycache__",
    ".venv",
    "venv",
    ".tox",
    ".nox",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".next",
    ".nuxt",
    ".gradle",
    ".yarn",
    ".pnpm-store",
    ".hg",
    ".svn",
];

/// Of a repository's own folder only the settings may hold credentials.
const REPOSITORY: &str = ".git";

/// So many folders in each of them are looked at, and all that are made later.
const MAX_BUILT: usize = 200;

/// The known state of one tree.
#[derive(Debug)]
pub(super) struct WorkspaceRules {
    root: PathBuf,
    folders: BTreeMap<PathBuf, ScannedFolder>,
    built: BTreeMap<PathBuf, BuiltFolder>,
    /// What steers in folders that were made when there were too many already.
    guarded_beyond: Vec<PathBuf>,
    entries: usize,
    /// Made when they are asked for, until a folder changes.
    guarded_names: Option<GuardedNames>,
    /// False when not everything was looked through.
    pub is_complete: bool,
}

/// A folder to look through.
struct FolderToScan {
    path: PathBuf,
    /// It was made since the first look.
    is_new: bool,
}

/// One folder as it was.
#[derive(Debug)]
struct ScannedFolder {
    stamp: Stamp,
    scanned_at: SystemTime,
    /// Its entries that hold credentials.
    closed: Vec<PathBuf>,
    /// Those that steer what runs later.
    guarded: Vec<PathBuf>,
    subfolders: Vec<PathBuf>,
    /// Folders of built or fetched files.
    built: Vec<PathBuf>,
    entries: usize,
}

/// A folder of built or fetched files as it was.
#[derive(Debug)]
struct BuiltFolder {
    stamp: Option<Stamp>,
    scanned_at: SystemTime,
    subfolders: Vec<PathBuf>,
    /// Those that were too many at the first look.
    beyond: BTreeSet<PathBuf>,
}

impl WorkspaceRules {
    pub fn new(root: PathBuf) -> WorkspaceRules {
        WorkspaceRules {
            root,
            folders: BTreeMap::new(),
            built: BTreeMap::new(),
            guarded_beyond: Vec::new(),
            entries: 0,
            guarded_names: None,
            is_complete: true,
        }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Looks again where something changed. True when the credentials, or a folder that
    /// leads to one, may be others than before.
    pub fn refresh(&mut self) -> bool {
        let mut changed = self.folders.is_empty();
        let mut scans: VecDeque<FolderToScan> = VecDeque::new();
        for (path, folder) in &self.folders {
            let now = read_stamp(path);
            let same = now == Some(folder.stamp) && !is_recent(folder.stamp.2, folder.scanned_at);
            if !same {
                scans.push_back(FolderToScan { path: path.clone(), is_new: false });
            }
        }
        if self.folders.is_empty() {
            scans.push_back(FolderToScan { path: self.root.clone(), is_new: false });
        }
        if !scans.is_empty() {
            self.guarded_beyond.retain(|path| path.symlink_metadata().is_ok());
        }
        let leading = self.folders_above_closed();
        while let Some(FolderToScan { path, is_new }) = scans.pop_front() {
            let before = self.folders.get(&path).map(|folder| folder.closed.clone());
            let new = self.scan_folder(&path, is_new);
            let after = self.folders.get(&path).map(|folder| folder.closed.clone());
            let has_secrets =
                |list: &Option<Vec<PathBuf>>| list.as_ref().is_some_and(|l| !l.is_empty());
            changed |= leading.contains(&path) || has_secrets(&before) || has_secrets(&after);
            scans.extend(new);
        }
        changed
    }

    /// Every place of credentials that was found.
    pub fn closed_paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.folders.values().flat_map(|folder| &folder.closed)
    }

    /// Every file and folder that steers what runs later, and the folders that were searched.
    pub fn guarded_names(&mut self) -> GuardedNames {
        let make = || {
            let files = self.folders.values().flat_map(|folder| &folder.guarded);
            let files = files.chain(&self.guarded_beyond).cloned();
            GuardedNames::new(&self.root, files, self.folders.keys().cloned())
        };
        self.guarded_names.get_or_insert_with(make).clone()
    }

    /// Repositories in folders of built or fetched files, and directly below them.
    pub fn built_repositories(&mut self) -> Vec<PathBuf> {
        let outer: Vec<&PathBuf> = self.folders.values().flat_map(|it| &it.built).collect();
        self.built.retain(|path, _| outer.contains(&path));
        let mut found = Vec::new();
        for path in outer {
            let known = self.built.remove(path);
            let folder = BuiltFolder::look(path, known);
            let all = folder.subfolders.iter().chain([path]);
            let places = all.flat_map(|path| [path.join(REPOSITORY), path.clone()]);
            found.extend(places.filter(|path| {
                path.ends_with(REPOSITORY) && path.symlink_metadata().is_ok() || is_repository(path)
            }));
            self.built.insert(path.clone(), folder);
        }
        found
    }

    /// The folders that lead to a place of credentials.
    fn folders_above_closed(&self) -> Vec<PathBuf> {
        let mut all: Vec<PathBuf> = self
            .closed_paths()
            .flat_map(|place| place.ancestors().skip(1))
            .filter(|folder| folder.starts_with(&self.root))
            .map(Path::to_owned)
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Looks through one folder, and answers with those below it that are to be looked through: at
    /// first all, later those that were made since. `is_new`: it is one of these, and is seen
    /// however many there are.
    fn scan_folder(&mut self, path: &Path, is_new: bool) -> Vec<FolderToScan> {
        self.guarded_names = None;
        let gone = self.folders.remove(path);
        self.entries -= gone.as_ref().map_or(0, |folder| folder.entries);
        // A folder that is known is seen whole, whatever was added elsewhere, the root in any case.
        let most = match &gone {
            _ if is_new || path == self.root => usize::MAX,
            Some(_) => MAX_ENTRIES,
            None if self.folders.len() >= MAX_FOLDERS => 0,
            None => MAX_ENTRIES.saturating_sub(self.entries),
        };
        if most == 0 {
            self.is_complete = false;
            return Vec::new();
        }
        let looked = SystemTime::now();
        // A folder that is gone takes those below with it when they are looked for.
        let (Some(stamp), Ok(entries)) = (read_stamp(path), fs::read_dir(path)) else {
            return Vec::new();
        };
        let mut folder = ScannedFolder {
            stamp,
            scanned_at: looked,
            closed: Vec::new(),
            guarded: Vec::new(),
            subfolders: Vec::new(),
            built: Vec::new(),
            entries: 0,
        };
        let name = path.file_name().and_then(|name| name.to_str());
        for entry in entries.flatten() {
            if folder.entries >= most {
                self.is_complete = false;
                break;
            }
            folder.entries += 1;
            scan_entry(&entry, name, &mut folder);
        }
        // The insides of a repository: only its settings may hold credentials.
        if is_repository(path) {
            folder.subfolders.clear();
            folder.guarded.push(path.to_owned());
        }
        self.insert_scanned(path, folder, gone.as_ref(), is_new)
    }

    fn insert_scanned(
        &mut self,
        path: &Path,
        mut folder: ScannedFolder,
        gone: Option<&ScannedFolder>,
        is_new: bool,
    ) -> Vec<FolderToScan> {
        let mut known: Vec<&PathBuf> = gone.iter().flat_map(|gone| &gone.subfolders).collect();
        known.sort_unstable();
        let added = |below: &&PathBuf| {
            !self.folders.contains_key(*below) && known.binary_search(below).is_err()
        };
        let is_new = is_new || gone.is_some();
        let added = folder.subfolders.iter().filter(added);
        let added = added.map(|path| FolderToScan { path: path.clone(), is_new }).collect();
        if is_new && gone.is_none() && self.folders.len() >= MAX_FOLDERS {
            self.guarded_beyond.append(&mut folder.guarded);
            self.is_complete = false;
        } else {
            self.entries += folder.entries;
            self.folders.insert(path.to_owned(), folder);
        }
        added
    }
}

fn scan_entry(entry: &fs::DirEntry, folder_name: Option<&str>, folder: &mut ScannedFolder) {
    let own = entry.file_name();
    let (Some(name), Ok(kind)) = (own.to_str(), entry.file_type()) else { return };
    if safety::steering::listed_as(folder_name, name).is_some() {
        folder.guarded.push(entry.path());
    }
    if name == "config" && folder_name == Some(REPOSITORY) {
        folder.closed.extend(holds_credential(&entry.path()).then(|| entry.path()));
    } else if safety::is_credential_entry(folder_name, name) {
        folder.closed.push(entry.path());
        if kind.is_symlink() {
            folder.closed.extend(entry.path().canonicalize());
        }
    } else if kind.is_dir() && name == REPOSITORY {
        let settings = entry.path().join("config");
        folder.closed.extend(holds_credential(&settings).then_some(settings));
    } else if kind.is_dir() {
        let is_built = PRUNED.contains(&name);
        let list = if is_built { &mut folder.built } else { &mut folder.subfolders };
        list.push(entry.path());
    }
}

impl BuiltFolder {
    /// Lists the folders in it again if it changed.
    fn look(path: &Path, known_folder: Option<BuiltFolder>) -> BuiltFolder {
        let stamp = read_stamp(path);
        let is_same = |folder: &BuiltFolder| {
            let recent = stamp.is_some_and(|stamp| is_recent(stamp.2, folder.scanned_at));
            folder.stamp == stamp && !recent
        };
        let is_first = known_folder.is_none();
        let mut beyond = match known_folder {
            Some(folder) if is_same(&folder) => return folder,
            folder => folder.map(|folder| folder.beyond).unwrap_or_default(),
        };
        let scanned_at = SystemTime::now();
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        let folders = folders.map(|entry| entry.path());
        let mut subfolders: Vec<_> = folders.filter(|path| !beyond.contains(path)).collect();
        if is_first && subfolders.len() > MAX_BUILT {
            beyond.extend(subfolders.drain(MAX_BUILT..));
        }
        BuiltFolder { stamp, scanned_at, subfolders, beyond }
    }
}

/// Whether the settings of a repository hold a password or a token: in a URL, as a header, or
/// under such a name. What cannot be read holds one.
fn holds_credential(settings: &Path) -> bool {
    const MAX_LENGTH: u64 = 1024 * 1024;
    let Ok(meta) = fs::metadata(settings) else { return false };
    let text =
        (meta.is_file() && meta.len() <= MAX_LENGTH).then(|| fs::read(settings).ok()).flatten();
    let Some(text) = text else { return true };
    let text = String::from_utf8_lossy(&text).to_lowercase();
    let named = ["extraheader", "password", "passwd", "token", "secret", "authorization"];
    named.iter().any(|name| text.contains(name))
        || text.split("://").skip(1).any(|rest| {
            let host = rest.split(['/', '"', ']', '\n']).next().unwrap_or_default();
            // `git@host` names a user and nothing more.
            host.rsplit_once('@').is_some_and(|(user, _)| user != "git")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(path: &Path) {
        let old = SystemTime::now() - std::time::Duration::from_secs(60);
        fs::File::open(path).unwrap().set_modified(old).unwrap();
    }

    #[test]
    fn credentials_are_found_and_changed_folders_are_searched_again() {
        let temp = tempfile::Builder::new().prefix("avocet").tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("apps/web")).unwrap();
        fs::create_dir_all(root.join("node_modules/x")).unwrap();
        fs::write(root.join("apps/web/.env"), "").unwrap();
        fs::write(root.join("node_modules/x/.env"), "").unwrap();
        for folder in ["apps/web", "apps", "node_modules", ""] {
            settled(&root.join(folder));
        }
        let mut workspace = WorkspaceRules::new(root.clone());
        assert!(workspace.refresh());
        assert_eq!(workspace.closed_paths().collect::<Vec<_>>(), [&root.join("apps/web/.env")]);
        assert!(!workspace.refresh(), "nothing changed");
        fs::create_dir(root.join("deploy")).unwrap();
        fs::write(root.join("deploy/server.pem"), "").unwrap();
        assert!(workspace.refresh());
        assert_eq!(workspace.closed_paths().count(), 2);
        fs::remove_dir_all(root.join("deploy")).unwrap();
        assert!(workspace.refresh());
        assert_eq!(workspace.closed_paths().count(), 1);
        assert!(workspace.is_complete);
    }

    #[test]
    fn a_folder_that_is_known_is_seen_whole_however_much_a_step_adds_elsewhere() {
        let temp = tempfile::Builder::new().prefix("avocet").tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        fs::create_dir(root.join("web")).unwrap();
        let mut workspace = WorkspaceRules::new(root.clone());
        workspace.refresh();
        for n in 0..MAX_FOLDERS {
            fs::create_dir(root.join(format!("a{n}"))).unwrap();
        }
        workspace.refresh();
        // As if these held all the entries that are looked through.
        workspace.entries += MAX_ENTRIES;
        for name in [".envrc", "web/.envrc"] {
            fs::write(root.join(name), "").unwrap();
        }
        workspace.refresh();
        let found = workspace.guarded_names();
        assert_eq!(found.files.len(), 2, "{:?}", found.files);
    }

    #[test]
    fn a_folder_made_where_there_were_too_many_is_seen_and_one_that_was_there_is_not() {
        let temp = tempfile::Builder::new().prefix("avocet").tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        for n in 0..=MAX_FOLDERS {
            fs::create_dir_all(root.join(format!("a/{n}"))).unwrap();
            fs::write(root.join(format!("a/{n}/.envrc")), "").unwrap();
        }
        let mut workspace = WorkspaceRules::new(root.clone());
        workspace.refresh();
        let before = workspace.guarded_names().files.len();
        assert!(before < MAX_FOLDERS);
        let planted = root.join("a/new/deep/.git");
        fs::create_dir_all(&planted).unwrap();
        workspace.refresh();
        let found = workspace.guarded_names();
        assert_eq!(found.files.len(), before + 1);
        assert!(found.files.contains(&planted) && workspace.folders.len() <= MAX_FOLDERS);
        fs::remove_dir_all(root.join("a/new")).unwrap();
        workspace.refresh();
        assert_eq!(workspace.guarded_names().files.len(), before);
    }

    #[test]
    fn a_scan_of_too_many_folders_is_marked_incomplete() {
        let temp = tempfile::Builder::new().prefix("avocet").tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        for n in 0..=MAX_FOLDERS {
            fs::create_dir(root.join(n.to_string())).unwrap();
        }
        let mut workspace = WorkspaceRules::new(root);
        workspace.refresh();
        assert!(!workspace.is_complete && workspace.folders.len() <= MAX_FOLDERS);
    }
}
