//! Finds the programs that a repository's own files would make git start.
//!
//! `git status` runs what `core.fsmonitor` names, `git blame` what a diff driver does;
//! these settings come with a repository that was passed on. So before a git step runs by
//! itself, the files git would read are read here, and nothing of them is run. A setting
//! that could start a program, or that cannot be read as git would, makes the step ask.
//!
//! Nothing is remembered between two steps: looking whether a file changed costs nearly
//! what reading it costs, and a file changed twice within one tick of the clock would be
//! believed. `.gitattributes` of the tree is not read: it can only name drivers, and
//! those of the repository are found here, those of the user are their own.

use std::path::{Path, PathBuf};

use super::{Contents, FileKind, Machine, PathKind, PolicyContext};

mod index;
mod keys;
mod named;
mod outward;
mod settings;
#[cfg(test)]
mod tests;

pub use index::{TrackedFile, tracked_files};
pub use keys::starts_program;
pub use named::is_named_by_settings;
pub use settings::{GitSetting, parse};

/// The most of one file that is read, in bytes; files that include each other; folders
/// that are walked up.
const MOST: usize = 256 * 1024;
const MAX_FILES: usize = 16;
const MAX_FOLDERS: usize = 128;

/// The result of reading the repositories git could find from a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepositorySettings {
    /// Every setting of a repository's own, includes followed, with the folder of the file
    /// that contains it.
    pub settings: Vec<(GitSetting, PathBuf)>,
    /// Drivers that `info/attributes` names.
    pub drivers: Vec<String>,
    /// The parts that could not be read as git would read them.
    pub unread: Option<PathBuf>,
    /// A folder that is a repository without a working tree, and contains git's current
    /// folder.
    pub bare: Option<PathBuf>,
    /// Where it leads out of itself: each place as it is written, and where it leads.
    outside_links: Vec<(PathBuf, PathBuf)>,
    /// Working trees, with the `.git` each belongs to.
    work_trees: Vec<(PathBuf, PathBuf)>,
    /// Lists of tracked files, the innermost repository first.
    indexes: Vec<PathBuf>,
    /// The folders of a repository outside its tree, which say themselves that they are its.
    pub linked_places: Vec<PathBuf>,
}

/// What is among the tracked files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tracked {
    pub credentials: bool,
    /// Credentials that only the folder they are in tells.
    pub credential_folders: bool,
    /// A repository within the repository.
    pub submodules: bool,
}

/// One fact that makes a question of a git step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Worry {
    /// `key=value`.
    Starts(String),
    /// A driver of `info/attributes`.
    Driver(String),
    Unread(PathBuf),
    Bare(PathBuf),
    /// A place or a setting that leads git to files elsewhere.
    Outside(String),
}

/// Reads what git would, standing in `folder`: the repository it finds, and on the way
/// up every one it might take for one.
pub fn read(world: &dyn Machine, folder: &Path) -> RepositorySettings {
    let mut settings = RepositorySettings::default();
    for (walked, folder) in folder.ancestors().enumerate() {
        if walked == MAX_FOLDERS {
            settings.unread = Some(folder.to_owned());
        }
        if walked >= MAX_FOLDERS || settings.scan_folder(world, folder) {
            break;
        }
    }
    settings
}

/// Everything in it that could start a program.
pub fn find_worries(settings: &RepositorySettings, policy_cx: PolicyContext<'_>) -> Vec<Worry> {
    let starts = settings
        .settings
        .iter()
        .filter(|(entry, from)| can_start_program(entry, from, settings, policy_cx));
    let starts = starts.map(|(entry, _)| Worry::Starts(format!("{}={}", entry.key(), entry.value)));
    let drivers = settings.drivers.iter().filter(|name| !keys::BUILT_IN.contains(&name.as_str()));
    let names = settings
        .settings
        .iter()
        .filter(|(entry, _)| outward::names_outside_file(entry, settings, policy_cx));
    let names = names.map(|(entry, _)| format!("{}={}", entry.key(), entry.value));
    starts
        .chain(outward::forbidden_targets(settings, policy_cx).chain(names).map(Worry::Outside))
        .chain(drivers.cloned().map(Worry::Driver))
        .chain(settings.unread.clone().map(Worry::Unread))
        .chain(settings.bare.clone().map(Worry::Bare))
        .collect()
}

/// What the repositories of submodules could start: a git that fetches or sends runs another in each
/// of them, with the same rights, and their hooks.
pub fn find_submodule_worries(
    settings: &RepositorySettings,
    policy_cx: PolicyContext<'_>,
) -> Vec<Worry> {
    let world = policy_cx.world;
    let mut folders: Vec<PathBuf> =
        settings.work_trees.iter().map(|(_, git)| git.join("modules")).collect();
    let inner =
        settings.submodules(world).unwrap_or_default().into_iter().map(|it| it.join(".git"));
    folders.extend(inner.filter(|git| world.kind(git) == PathKind::Folder));
    let mut worries = Vec::new();
    let mut left = MAX_OF_MODULES;
    while let Some(folder) = folders.pop() {
        let entries = world.entries(&folder, left + 1);
        if entries.len() > left {
            worries.push(Worry::Unread(folder));
            break;
        }
        left -= entries.len();
        for (path, kind) in entries {
            let is_named = |names: &[&str]| names.iter().any(|name| path.ends_with(name));
            match kind {
                FileKind::Link => worries.push(Worry::Unread(path)),
                FileKind::File if folder.ends_with("hooks") && is_named(HOOKS) => {
                    worries.push(Worry::Starts(path.display().to_string()));
                }
                FileKind::Folder if !is_named(NO_MODULES) => folders.push(path),
                FileKind::File | FileKind::Folder | FileKind::Other => {}
            }
        }
        if world.kind(&folder.join("HEAD")) == PathKind::File {
            let mut repository_settings = RepositorySettings::default();
            repository_settings.read_repository(world, &folder, &folder);
            // Each names its own tree.
            repository_settings.settings.retain(|(entry, _)| entry.key() != "core.worktree");
            worries.extend(find_worries(&repository_settings, policy_cx));
        }
    }
    worries
}

/// The hooks that git runs on the user's machine.
#[rustfmt::skip]
pub const HOOKS: &[&str] = &[
    "pre-push", "pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "pre-merge-commit",
    "post-merge", "post-checkout", "pre-rebase", "post-rewrite", "reference-transaction",
    "pre-auto-gc", "post-index-change", "applypatch-msg", "pre-applypatch", "post-applypatch",
];

/// How many entries of folders are looked at to find the repositories of submodules.
const MAX_OF_MODULES: usize = 4_000;
/// Folders of a repository that are not searched: no submodule has its repository there.
const NO_MODULES: &[&str] = &["objects", "refs", "logs", "lfs", "info", "branches", "worktrees"];

fn can_start_program(
    setting: &GitSetting,
    from: &Path,
    settings: &RepositorySettings,
    policy_cx: PolicyContext<'_>,
) -> bool {
    match (setting.section.as_str(), setting.name.as_str()) {
        ("include" | "includeif", "path") => {
            !is_user_settings_file(&setting.value, from, policy_cx)
        }
        ("core", "worktree") => {
            let named = policy_cx.world.resolve(&from.join(&setting.value));
            !settings
                .work_trees
                .iter()
                .any(|(tree, git)| policy_cx.world.resolve(tree) == named && git == from)
        }
        _ => keys::starts_program(setting),
    }
}

/// A file with the user's own settings of git: `~/.gitconfig-work`.
fn is_user_settings_file(path: &str, from: &Path, policy_cx: PolicyContext<'_>) -> bool {
    let place = policy_cx.place;
    let real = policy_cx.resolve(path, from);
    let settings = real.strip_prefix(&place.home).is_ok_and(|inner| {
        let name = inner.to_str().unwrap_or_default();
        inner.starts_with(".config/git") || name.starts_with(".gitconfig") && !name.contains('/')
    });
    settings && !place.contains(&real)
}

impl RepositorySettings {
    /// The tracked files in the repository that git finds; where there are none, nothing is
    /// worth a question. `None`: the list cannot be read, or not as a whole.
    pub fn classify_tracked(&self, world: &dyn Machine) -> Option<Tracked> {
        let Some(index) = self.index() else { return Some(Tracked::default()) };
        match world.read(index, index::MAX_BYTES) {
            Contents::Missing => Some(Tracked::default()),
            Contents::Bytes(bytes) => index::classify_index(&bytes),
            Contents::Unreadable => None,
        }
    }

    /// The folders of the submodules; `None` as for [`Self::classify_tracked`].
    pub fn submodules(&self, world: &dyn Machine) -> Option<Vec<PathBuf>> {
        let Some((index, (tree, _))) = self.index().zip(self.work_trees.first()) else {
            return Some(Vec::new());
        };
        let paths = match world.read(index, index::MAX_BYTES) {
            Contents::Missing => Some(Vec::new()),
            Contents::Bytes(bytes) => index::submodules(&bytes),
            Contents::Unreadable => None,
        };
        Some(paths?.iter().map(|path| tree.join(path)).collect())
    }

    /// Where a `.git` leads that is not a folder of the tree, and what its objects come from: the
    /// user is asked about these by name.
    pub fn asked_places(&self) -> impl Iterator<Item = &PathBuf> {
        self.outside_links.iter().map(|(_, to)| to).filter(|to| to.parent().is_some())
    }

    /// The working tree that git finds, and the folder of its objects.
    pub fn work_tree(&self) -> Option<(&Path, PathBuf)> {
        self.work_trees.first().map(|(tree, git)| (tree.as_path(), git.join("objects")))
    }

    /// The path of git's list of tracked files.
    pub fn index(&self) -> Option<&Path> {
        self.indexes.first().map(PathBuf::as_path)
    }

    /// Looks at one folder; true when git would look no further up.
    fn scan_folder(&mut self, world: &dyn Machine, folder: &Path) -> bool {
        let dot = folder.join(".git");
        let own = match world.kind(&dot) {
            PathKind::Folder => dot,
            PathKind::File => match read_gitdir_file(world, &dot) {
                Some(own) => own,
                None => {
                    self.unread.get_or_insert(dot);
                    return true;
                }
            },
            PathKind::Other => {
                self.unread.get_or_insert(dot);
                return true;
            }
            PathKind::Missing => return self.scan_bare_repository(world, folder),
        };
        let common = self.common_folder(world, &own);
        self.work_trees.push((folder.to_owned(), common.clone()));
        self.indexes.push(own.join("index"));
        self.linked_places.extend(outward::linked_places(world, folder, &own, &common));
        self.read_repository(world, &own, &common);
        self.outside_links.extend(outward::find_outside_links(world, folder, &own, &common));
        is_repository(world, &own, &common)
    }

    /// A folder that git would take for a repository because of its contents.
    fn scan_bare_repository(&mut self, world: &dyn Machine, folder: &Path) -> bool {
        let has = |name: &str, kind| world.kind(&folder.join(name)) == kind;
        let bare = has("HEAD", PathKind::File)
            && (has("objects", PathKind::Folder) || has("commondir", PathKind::File));
        if bare {
            self.bare.get_or_insert(folder.to_owned());
            let common = self.common_folder(world, folder);
            self.read_repository(world, folder, &common);
            self.outside_links.extend(outward::find_outside_links(world, folder, folder, &common));
        }
        bare
    }

    /// The folder of the settings that all working trees of a repository share.
    fn common_folder(&mut self, world: &dyn Machine, own: &Path) -> PathBuf {
        let file = own.join("commondir");
        match read_single_line(world, &file) {
            SingleLine::Missing => own.to_owned(),
            SingleLine::Text(path) => own.join(path),
            SingleLine::Unreadable => {
                self.unread.get_or_insert(file);
                own.to_owned()
            }
        }
    }

    fn read_repository(&mut self, world: &dyn Machine, own: &Path, common: &Path) {
        self.read_settings(world, vec![common.join("config"), own.join("config.worktree")]);
        let attributes = [common.join("info/attributes"), own.join("info/attributes")];
        let several = if own == common { 1 } else { 2 };
        for file in attributes.into_iter().take(several) {
            match world.read(&file, MOST) {
                Contents::Missing => {}
                Contents::Bytes(bytes) => {
                    self.drivers.extend(driver_names(&String::from_utf8_lossy(&bytes)));
                }
                Contents::Unreadable => {
                    self.unread.get_or_insert(file);
                }
            }
        }
    }

    fn read_settings(&mut self, world: &dyn Machine, mut files: Vec<PathBuf>) {
        let mut read = 0;
        while let Some(file) = files.pop() {
            read += 1;
            let entries = match world.read(&file, MOST) {
                Contents::Missing => continue,
                Contents::Bytes(bytes) if read <= MAX_FILES => settings::parse(&bytes),
                Contents::Bytes(_) | Contents::Unreadable => None,
            };
            let Some(entries) = entries else {
                self.unread.get_or_insert(file);
                return;
            };
            let folder = file.parent().unwrap_or(Path::new("/"));
            // A file below the home is the user's, or is a worry by itself.
            let included = entries.iter().filter(|e| e.name == "path" && !e.value.starts_with('~'));
            let included = included.filter(|e| e.section.starts_with("include"));
            files.extend(included.map(|entry| folder.join(&entry.value)));
            self.settings.extend(entries.into_iter().map(|entry| (entry, folder.to_owned())));
        }
    }
}

/// Where a `.git` that is a file points to; `None` for what git would refuse.
fn read_gitdir_file(world: &dyn Machine, file: &Path) -> Option<PathBuf> {
    let SingleLine::Text(text) = read_single_line(world, file) else { return None };
    let path = text.strip_prefix("gitdir: ")?;
    Some(file.parent()?.join(path))
}

/// Whether git is sure to take this for a repository and look no further.
fn is_repository(world: &dyn Machine, own: &Path, common: &Path) -> bool {
    let SingleLine::Text(head) = read_single_line(world, &own.join("HEAD")) else { return false };
    let commit = [40, 64].contains(&head.len()) && head.chars().all(|c| c.is_ascii_hexdigit());
    let named = head.strip_prefix("ref:").is_some_and(|name| name.trim().starts_with("refs/"));
    let folder = |name| world.kind(&common.join(name)) == PathKind::Folder;
    (commit || named) && folder("objects") && folder("refs")
}

enum SingleLine {
    Missing,
    Text(String),
    Unreadable,
}

/// The one line of a small file of git's own.
fn read_single_line(world: &dyn Machine, file: &Path) -> SingleLine {
    match world.read(file, 16 * 1024) {
        Contents::Missing => SingleLine::Missing,
        Contents::Unreadable => SingleLine::Unreadable,
        Contents::Bytes(bytes) => match String::from_utf8(bytes) {
            Ok(text) => SingleLine::Text(text.trim_end_matches(['\n', '\r']).to_owned()),
            Err(_) => SingleLine::Unreadable,
        },
    }
}

/// Every driver that attributes name: `*.png diff=exif filter=lfs`. Macros and quoted
/// patterns are words as well, and too many found do no harm.
fn driver_names(text: &str) -> impl Iterator<Item = String> {
    let lines = text.lines().map(str::trim_start).filter(|line| !line.starts_with('#'));
    lines.flat_map(str::split_whitespace).filter_map(|word| {
        let (name, driver) = word.split_once('=')?;
        matches!(name, "diff" | "filter" | "merge").then(|| driver.to_owned())
    })
}
