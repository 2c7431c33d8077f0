//! Lists the folders a sandboxed program may read and write, as whole trees.
//!
//! Landlock can allow a tree and cannot take a part of it back, so around each place
//! that stays closed its neighbours are allowed one by one. What that costs in truth:
//! a tree is allowed by the file it was when the list was made, so the folders that
//! were looked through are watched, and a change in one makes a new list.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::startup;
use avocet_safety::places::{self, PlaceRow, UserPath};
use avocet_safety::{self as safety, Needs};

/// A folder with more entries than this is not split up: it is allowed as a whole.
const MAX_ENTRIES: usize = 20_000;

/// A folder that changed this shortly before it was read may change again unseen: its
/// time stamp is too coarse to tell.
const SETTLED: Duration = Duration::from_millis(100);

/// The folders of one session, absolute with links resolved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SandboxPaths {
    pub workspace: PathBuf,
    pub home: PathBuf,
    /// Folders of trusted programs.
    pub programs: Vec<PathBuf>,
    /// Those of the user's own `PATH`, where an approved step looks for programs.
    pub path: Vec<PathBuf>,
    /// Our own folders, which no step reads or writes, wherever they are.
    pub own: Vec<PathBuf>,
    /// Folders that a variable moves elsewhere, by its name: `CARGO_HOME`.
    pub moved: BTreeMap<String, PathBuf>,
    /// The settings keep every step from the network.
    pub offline: bool,
}

/// The harmless devices (not hardware), and those of an approved step.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
const MORE_DEVICES: &[&str] = &["/dev/tty", "/dev/ptmx", "/dev/shm"];

/// Trees, and the inputs they were made from.
#[derive(Clone, Debug, Default)]
pub(super) struct Trees {
    /// May be read, whole.
    pub read: Vec<PathBuf>,
    /// Folders that were looked through, each with its state then.
    watched: Vec<(PathBuf, Stamp)>,
    /// Places of the user, some of which may not be there yet.
    named: Vec<(PathBuf, Option<Stamp>)>,
    /// False when some folder had too many entries.
    pub hides_all_credentials: bool,
    /// Our own folders, around which every entry is listed by itself, however many there
    /// are.
    own_folders: Vec<PathBuf>,
    scanned_at: Option<SystemTime>,
}

/// Identifies the contents of a folder: device, inode, change in nanoseconds.
pub(super) type Stamp = (u64, u64, i128);

impl Trees {
    fn new(paths: &SandboxPaths) -> Trees {
        let own = paths.own.clone();
        let made = Some(SystemTime::now());

        Trees {
            hides_all_credentials: true,
            own_folders: own,
            scanned_at: made,
            ..Trees::default()
        }
    }

    /// The places a step that runs by itself may read beside the workspace.
    pub fn for_system(places: &SandboxPaths) -> Trees {
        let mut trees = Trees::new(places);
        let closed = closed_to_automatic_steps(places);
        let users = trees.watch_toolchains(places);
        let system = outermost(places::SYSTEM.iter().map(PathBuf::from).collect());
        let roots = system.iter().chain(&users);
        trees.read = roots.flat_map(|root| trees.cover_except(root, &closed)).collect();
        trees.read.extend(DEVICES.iter().map(PathBuf::from));
        trees
    }

    /// A folder that is worked in, around its credentials.
    pub fn for_folder<'a>(
        root: &Path,
        credentials: impl Iterator<Item = &'a PathBuf>,
        paths: &SandboxPaths,
    ) -> Trees {
        let mut trees = Trees::new(paths);
        let mut closed = paths.private_places();
        closed.extend(credentials.cloned());
        trees.read = trees.cover_around(root, closed);
        trees
    }

    /// The places an approved step may read: the system, toolchains, caches and the
    /// workspace. What no list has is closed.
    pub fn for_approved(paths: &SandboxPaths) -> Trees {
        let mut trees = Trees::new(paths);
        let closed = closed_paths(paths);
        let users = trees.watch_toolchains(paths);
        trees.watch_programs(paths);
        let programs = paths.programs_of_path();
        let system = outermost(places::SYSTEM.iter().map(PathBuf::from).collect());
        let roots = system.iter().chain(&users).chain(&programs);
        trees.read = roots.flat_map(|root| trees.cover_except(root, &closed)).collect();
        trees.read.extend(DEVICES.iter().chain(MORE_DEVICES).map(PathBuf::from));
        let workspace = trees.cover_around(&paths.workspace, paths.private_places());
        trees.read.extend(workspace);
        trees
    }

    /// The readable trees of the folder `root`, wherever it is, without the `closed` paths below it.
    fn cover_around(&mut self, root: &Path, mut closed: Vec<PathBuf>) -> Vec<PathBuf> {
        closed.retain(|place| place.starts_with(root) && place != root);
        if root == Path::new("/") {
            closed.extend(["/dev".into(), "/proc".into()]);
        }
        self.cover_except(root, &closed)
    }

    /// The toolchains that are there. One that is made later, or another in its place, makes a new
    /// list.
    fn watch_toolchains(&mut self, paths: &SandboxPaths) -> Vec<PathBuf> {
        let named = paths.user_places().into_iter();
        self.named = named.map(|path| (path.clone(), identity(&path))).collect();
        paths.existing_toolchains()
    }

    /// A program that is installed later makes a new list.
    fn watch_programs(&mut self, paths: &SandboxPaths) {
        let folders = paths.path.iter().filter(|folder| !folder.starts_with(&paths.workspace));
        let known = folders.filter_map(|folder| Some((folder.clone(), read_stamp(folder)?)));
        self.watched.extend(known);
    }

    /// Whether the list is still up to date.
    pub fn is_fresh(&self) -> bool {
        let made = self.scanned_at.unwrap_or(SystemTime::UNIX_EPOCH);
        self.named.iter().all(|(path, stamp)| identity(path) == *stamp)
            && self.watched.iter().all(|(folder, stamp)| {
                read_stamp(folder) == Some(*stamp) && !is_recent(stamp.2, made)
            })
    }

    /// The trees that cover a folder except for the closed paths.
    pub fn cover_except(&mut self, folder: &Path, closed: &[PathBuf]) -> Vec<PathBuf> {
        if closed.iter().any(|place| place == folder) && folder != Path::new("/") {
            return Vec::new();
        }
        if !closed.iter().any(|place| place.starts_with(folder)) {
            return vec![folder.to_owned()];
        }
        let before = read_stamp(folder);
        let leads_to_ours = self.own_folders.iter().any(|own| own.starts_with(folder));
        let most = if leads_to_ours { usize::MAX } else { MAX_ENTRIES };
        let (Some(entries), Some(stamp)) = (entries(folder, most), before) else {
            // Not readable for us, so not for our children.
            return Vec::new();
        };
        self.watched.push((folder.to_owned(), stamp));
        if entries.len() > most {
            self.hides_all_credentials = false;
            return vec![folder.to_owned()];
        }
        entries.iter().flat_map(|entry| self.cover_except(entry, closed)).collect()
    }
}

impl SandboxPaths {
    /// Where a place of the user is on this machine; `None`: nowhere.
    pub fn resolve_user_path(&self, path: &UserPath) -> Option<PathBuf> {
        path.resolve(&self.home, &self.moved)
    }

    fn places_of(&self, rows: &'static [PlaceRow]) -> impl Iterator<Item = PathBuf> {
        let here = places::places_of(rows).filter_map(|spot| self.resolve_user_path(&spot));
        // What a variable moves into the workspace belongs to it: `CARGO_TARGET_DIR`.
        let is_home_inside = self.home.starts_with(&self.workspace);
        here.filter(move |path| is_home_inside || !path.starts_with(&self.workspace))
    }

    /// What no step reaches but a program to which it belongs: our own folders, credentials
    /// and homes of programs.
    pub fn private_places(&self) -> Vec<PathBuf> {
        let mut all = safety::credential_places(&self.home);
        all.extend(self.places_of(places::CREDENTIALS).chain(self.places_of(places::HOMES)));
        all.extend(self.own.iter().cloned());
        all
    }

    /// What the sandbox leaves to no step without being asked to: also the toolchains and caches
    /// that only their programs write.
    pub fn guarded_places(&self) -> Vec<PathBuf> {
        let mut all = self.private_places();
        all.extend(self.places_of(places::BASE).chain(self.places_of(places::CACHES)));
        all
    }

    /// What is missing in a home that is worked in, but for what a step is made to make there: of the
    /// places that are left to no step, and of what starts by itself. The kernel closes only what is
    /// there.
    pub fn missing_places(&self, needs: &Needs) -> Vec<PathBuf> {
        if !self.home.starts_with(&self.workspace) {
            return Vec::new();
        }
        let Needs { credentials, homes, caches, refreshed, made, .. } = needs;
        let own = [credentials, homes, caches, refreshed, made].into_iter().flatten();
        let own: Vec<PathBuf> = own.filter_map(|place| self.resolve_user_path(place)).collect();
        let is_own =
            |path: &PathBuf| own.iter().any(|one| path.starts_with(one) || one.starts_with(path));
        let closed = self.guarded_places().into_iter().filter(|path| !self.own.contains(path));
        let missing = |path: &PathBuf| path.symlink_metadata().is_err();
        let all = startup::places(&self.home).chain(closed);
        all.filter(|path| missing(path) && !is_own(path)).collect()
    }

    /// Toolchains, caches and the settings of git, wherever they would be.
    fn user_places(&self) -> Vec<PathBuf> {
        let users = self.places_of(places::BASE).chain(self.places_of(places::CACHES));
        let users = users.chain(files_named_by_git_config(self));
        users.chain(self.listed_installations()).collect()
    }

    /// Those of them that are there.
    pub fn existing_toolchains(&self) -> Vec<PathBuf> {
        let mut roots = outermost(self.user_places());
        // A variable that names the home, or a folder above it, does not name a toolchain.
        roots.retain(|root| !self.home.starts_with(root) && !self.workspace.starts_with(root));
        roots
    }

    /// The folder of the toolchains that rustup's `cargo` and `rustc` refer to.
    pub fn rustup_toolchains(&self) -> PathBuf {
        let root = self.moved.get("RUSTUP_HOME").cloned();
        root.unwrap_or_else(|| self.home.join(".rustup")).join("toolchains")
    }

    /// Folders of programs, whose names are not secret: interpreters look there for what
    /// else is installed.
    pub fn program_folders(&self) -> Vec<PathBuf> {
        let folders =
            places::PROGRAMS.iter().map(PathBuf::from).chain(self.programs.iter().cloned());
        folders.filter_map(|folder| folder.canonicalize().ok()).collect()
    }
}

/// The devices an approved step may write to. `*` at the end matches any rest.
pub(super) fn devices(more: &[&str]) -> Vec<PathBuf> {
    let families: Vec<&str> = more.iter().filter_map(|name| name.strip_suffix('*')).collect();
    let of_family = |entry: &PathBuf| {
        let text = entry.to_string_lossy();
        families.iter().any(|family| text.starts_with(family))
    };
    let found = if families.is_empty() { None } else { entries(Path::new("/dev"), MAX_ENTRIES) };
    let found = found.unwrap_or_default().into_iter().filter(of_family);
    DEVICES.iter().chain(MORE_DEVICES).chain(more).map(PathBuf::from).chain(found).collect()
}

/// A folder that a step writes, around what is not the step's own below it.
pub(super) fn cover_written(tree: &Path, paths: &SandboxPaths) -> Trees {
    let started = startup::places(&paths.home);
    cover_around(tree, paths.guarded_places().into_iter().chain(started).collect(), paths)
}

/// A place that was opened to a step by name, around what stays closed below it.
pub(super) fn cover_opened(tree: &Path, paths: &SandboxPaths) -> Trees {
    cover_around(tree, paths.private_places(), paths)
}

/// A tree around those of the closed places that are in it, and around what they link to.
fn cover_around(tree: &Path, closed: Vec<PathBuf>, paths: &SandboxPaths) -> Trees {
    let mut trees = Trees::new(paths);
    let is_linked = |place: &&PathBuf| place.is_symlink();
    let above = |place: &&PathBuf| place.starts_with(tree);
    let targets = closed.iter().filter(above).filter(is_linked);
    let targets: Vec<PathBuf> = targets.filter_map(|place| place.canonicalize().ok()).collect();
    let there = closed.into_iter().chain(targets);
    let there = there.filter(|own| own.starts_with(tree) && own.symlink_metadata().is_ok());
    trees.read = trees.cover_around(tree, there.collect());
    trees
}

/// A path that the user opened to one step, if it still is what they saw: no link in it was
/// changed, and it leads to no place that is not opened so.
pub(super) fn granted_path(text: &str, paths: &SandboxPaths) -> Option<PathBuf> {
    let path = PathBuf::from(text);
    let above = path.parent()?;
    // A slash at the end would look through a link.
    let is_link = path.components().collect::<PathBuf>().is_symlink();
    let same = above.canonicalize().is_ok_and(|real| real == above) && !is_link;
    (same && can_be_granted(&path, paths)).then_some(path)
}

/// Whether a place may be opened because the output of a program names it: nothing private, no
/// toolchain, nothing that holds one of them.
pub(super) fn can_be_granted(path: &Path, paths: &SandboxPaths) -> bool {
    let closed = |place: &PathBuf| path.starts_with(place) || place.starts_with(path);
    let of_user = paths.programs.iter().filter(|folder| folder.starts_with(&paths.home)).cloned();
    let private = paths.private_places().into_iter().chain(paths.places_of(places::BASE));
    let mut private = private.chain(of_user);
    let beside = path.parent() == Some(paths.home.as_path());
    let steers = safety::steering::steered_by(path.strip_prefix(&paths.home).unwrap_or(path));
    let config = path.strip_prefix(&paths.home).is_ok_and(|rest| rest.starts_with(".config"));
    let system = ["/proc", "/dev", "/sys", "/boot"].iter().any(|tree| path.starts_with(tree));
    let is_steering = steers.is_some() && !config || startup::is_of_session(path, &paths.home);
    let secret = safety::is_credential_path(path) || beside && is_secret_name(path);
    !(private.any(|place| closed(&place))
        || system
        || secret
        || is_steering
        || path.parent().is_none())
}

/// Creates those of our own folders that would be inside what a step writes to, before a
/// step could: only when they exist can everything else be allowed one by one.
pub(super) fn create_own_folders(paths: &SandboxPaths, writes: &[PathBuf]) {
    let within = |own: &&PathBuf| writes.iter().any(|tree| own.starts_with(tree));
    for own in paths.own.iter().filter(within).filter(|own| own.symlink_metadata().is_err()) {
        // A name with an ending is a file. What cannot be made, no step can make either.
        if own.extension().is_some() {
            let made = own.parent().map(fs::create_dir_all);
            let _ = made.and_then(Result::ok).map(|()| fs::File::create_new(own));
        } else {
            let _ = fs::DirBuilder::new().recursive(true).mode(0o700).create(own);
        }
    }
}

/// Changed so shortly before it was looked at that a later change may look the same.
pub(super) fn is_recent(changed: i128, looked: SystemTime) -> bool {
    let looked = looked.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let nanos = |span: Duration| i128::try_from(span.as_nanos()).unwrap_or(0);
    nanos(looked) - changed < nanos(SETTLED)
}

/// Files that the user's own settings of git name: included ones, and the ones for ignoring
/// and mapping everywhere.
pub(super) fn files_named_by_git_config(sandbox_paths: &SandboxPaths) -> Vec<PathBuf> {
    let files = [".gitconfig", ".config/git/config"].map(|name| sandbox_paths.home.join(name));
    let texts = files.iter().filter_map(|file| {
        let short = fs::metadata(file).is_ok_and(|meta| meta.is_file() && meta.len() < 1 << 20);
        short.then(|| fs::read_to_string(file).ok()).flatten()
    });
    let named = texts.flat_map(|text| {
        let lines = text.lines().filter_map(|line| {
            let (key, value) = line.split_once('=')?;
            let key = key.trim().to_ascii_lowercase();
            let names = ["path", "excludesfile", "attributesfile", "file", "template"];
            names.contains(&key.as_str()).then(|| value.trim().trim_matches('"').to_owned())
        });
        lines.collect::<Vec<_>>()
    });
    let paths = named.map(|name| safety::absolute(&name, &sandbox_paths.home, &sandbox_paths.home));
    // A file, so that no setting opens a whole folder.
    paths.filter(|path| path.is_file()).collect()
}

/// The paths that no step that runs by itself reads, in any tree.
fn closed_to_automatic_steps(paths: &SandboxPaths) -> Vec<PathBuf> {
    let mut closed = closed_paths(paths);
    closed.extend(paths.program_folders());
    // Wherever they are, they have lists of their own.
    closed.extend([paths.home.clone(), paths.workspace.clone()]);
    closed
}

/// With links resolved, and without those inside another of them.
fn outermost(roots: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut roots: Vec<PathBuf> =
        roots.into_iter().filter_map(|root| root.canonicalize().ok()).collect();
    roots.sort_unstable();
    roots.dedup_by(|inner, outer| inner.starts_with(outer));
    roots
}

/// Credentials, homes of programs, our own folders. A link's target is closed with it.
fn closed_paths(paths: &SandboxPaths) -> Vec<PathBuf> {
    let mut closed = paths.private_places();
    let links = closed.iter().filter(|place| place.is_symlink());
    let targets: Vec<PathBuf> = links.filter_map(|place| place.canonicalize().ok()).collect();
    closed.extend(targets);
    // Ours may be made later.
    closed.retain(|place| place.exists() || paths.own.contains(place));
    closed
}

fn is_secret_name(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(safety::is_sensitive_name)
}

/// The entries of a folder, one more than `most` at the most, links left out: a link's
/// target is listed where it is. `None` when it cannot be read.
fn entries(folder: &Path, most: usize) -> Option<Vec<PathBuf>> {
    let found = fs::read_dir(folder).ok()?.flatten();
    let plain = found.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
    Some(plain.map(|entry| entry.path()).take(most.saturating_add(1)).collect())
}

/// Which file it is, and of a file also when it was changed.
fn identity(path: &Path) -> Option<Stamp> {
    let folder = path.is_dir();
    read_stamp(path)
        .map(|(device, inode, changed)| (device, inode, if folder { 0 } else { changed }))
}

pub(super) fn read_stamp(folder: &Path) -> Option<Stamp> {
    let meta = fs::metadata(folder).ok()?;
    let changed = i128::from(meta.mtime()) * 1_000_000_000 + i128::from(meta.mtime_nsec());
    Some((meta.dev(), meta.ino(), changed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home() -> (tempfile::TempDir, SandboxPaths) {
        let temp = tempfile::Builder::new().prefix("avocet").tempdir().unwrap();
        let home = temp.path().canonicalize().unwrap();
        for folder in
            [".ssh", ".config/gh", ".config/app", ".config/git", "code/shop", ".nvm/v", "avocet"]
        {
            fs::create_dir_all(home.join(folder)).unwrap();
        }
        for file in [
            ".netrc",
            ".bash_history",
            "notes.txt",
            ".config/git/config",
            ".config/git/credentials",
            "own.inc",
        ] {
            fs::write(home.join(file), "x").unwrap();
        }
        fs::write(home.join(".gitconfig"), "[include]\n\tpath = ~/own.inc\n").unwrap();
        let places = SandboxPaths {
            workspace: home.join("code/shop"),
            own: vec![home.join("avocet")],
            home,
            programs: vec!["/usr/bin".into()],
            ..SandboxPaths::default()
        };
        (temp, places)
    }

    fn covers(trees: &[PathBuf], path: &Path) -> bool {
        trees.iter().any(|tree| path.starts_with(tree))
    }

    #[test]
    fn an_approved_step_reads_the_workspace_the_system_and_the_settings_of_git() {
        let (_temp, places) = home();
        let trees = Trees::for_approved(&places);
        for secret in
            [".ssh/id_ed25519", ".config/gh/hosts.yml", ".netrc", ".bash_history", "avocet/x"]
        {
            assert!(!covers(&trees.read, &places.home.join(secret)), "{secret}");
        }
        for closed in [".config/app/x", "notes.txt"] {
            assert!(!covers(&trees.read, &places.home.join(closed)), "{closed}");
        }
        for open in [".gitconfig", "code/shop/src/main.rs"] {
            assert!(covers(&trees.read, &places.home.join(open)), "{open}");
        }
        assert!(!covers(&trees.read, Path::new("/etc/shadow")));
        assert!(covers(&trees.read, Path::new("/etc/passwd")));
        assert!(!covers(&trees.read, Path::new("/dev/mem")));
        assert!(trees.hides_all_credentials);
    }

    #[test]
    fn an_automatic_step_reads_the_system_toolchains_and_git_settings() {
        let (_temp, mut places) = home();
        places.moved.insert("PYENV_ROOT".into(), places.home.join("elsewhere"));
        fs::create_dir(places.home.join("elsewhere")).unwrap();
        let trees = Trees::for_system(&places);
        for open in [".gitconfig", ".config/git/config", "own.inc", ".nvm/v/bin", "elsewhere/x"] {
            assert!(covers(&trees.read, &places.home.join(open)), "{open}");
        }
        for closed in
            ["notes.txt", ".config/app/x", ".config/git/credentials", ".ssh/x", "avocet/x"]
        {
            assert!(!covers(&trees.read, &places.home.join(closed)), "{closed}");
        }
        assert!(covers(&trees.read, Path::new("/usr/share/doc")));
        assert!(covers(&trees.read, Path::new("/etc/passwd")));
        for closed in ["/etc/shadow", "/usr/bin/env", "/var/log/x", "/tmp/x", "/dev/mem"] {
            assert!(!covers(&trees.read, Path::new(closed)), "{closed}");
        }
    }

    #[test]
    fn our_own_folders_stay_closed_inside_a_toolchain_and_the_workspace() {
        let (_temp, mut places) = home();
        places.own = vec![places.home.join(".nvm/own"), places.workspace.join("own")];
        for own in &places.own {
            fs::create_dir(own).unwrap();
        }
        let system = Trees::for_system(&places);
        let folder = Trees::for_folder(&places.workspace, std::iter::empty(), &places);
        let written = cover_written(&places.workspace, &places).read;
        fs::create_dir(places.workspace.join("src")).unwrap();
        let folder_again = Trees::for_folder(&places.workspace, std::iter::empty(), &places);
        for own in &places.own {
            for trees in [&system.read, &folder.read, &written, &folder_again.read] {
                assert!(!covers(trees, &own.join("config.toml")), "{own:?}");
            }
        }
        assert!(covers(&folder_again.read, &places.workspace.join("src/main.rs")));
    }

    #[test]
    fn settings_and_caches_that_are_made_or_replaced_later_are_read() {
        let (_temp, places) = home();
        for list in [Trees::for_system, Trees::for_approved] {
            let mut trees = list(&places);
            // Folders of the system may be changing while this runs.
            trees.watched.clear();
            assert!(trees.is_fresh());
            fs::write(places.home.join("new"), "[user]\n").unwrap();
            fs::rename(places.home.join("new"), places.home.join(".gitconfig")).unwrap();
            assert!(!trees.is_fresh());
            let mut trees = list(&places);
            trees.watched.clear();
            fs::create_dir_all(places.home.join(".cargo/registry")).unwrap();
            assert!(!trees.is_fresh());
            fs::remove_dir_all(places.home.join(".cargo")).unwrap();
        }
    }

    #[test]
    fn a_variable_that_names_the_home_does_not_open_it() {
        let (_temp, mut places) = home();
        places.moved.insert("GOPATH".into(), places.home.clone());
        places.moved.insert("NVM_DIR".into(), "/".into());
        let trees = Trees::for_system(&places);
        assert!(!covers(&trees.read, &places.home.join("notes.txt")));
    }

    #[test]
    fn the_target_of_a_linked_secret_is_closed_too() {
        let (_temp, places) = home();
        fs::remove_dir(places.home.join(".ssh")).unwrap();
        fs::create_dir(places.home.join("keys")).unwrap();
        std::os::unix::fs::symlink(places.home.join("keys"), places.home.join(".ssh")).unwrap();
        let trees = Trees::for_approved(&places);
        assert!(!covers(&trees.read, &places.home.join("keys/id_rsa")));
    }

    #[test]
    fn a_new_file_beside_a_secret_makes_the_list_stale() {
        let (_temp, places) = home();
        let old = SystemTime::now() - Duration::from_secs(60);
        for folder in [".config/git", ".config", ""] {
            let folder = fs::File::open(places.home.join(folder)).unwrap();
            folder.set_modified(old).unwrap();
        }
        let mut trees = Trees::for_approved(&places);
        // Folders of the system may be changing while this runs.
        trees.watched.retain(|(folder, _)| folder.starts_with(&places.home));
        assert!(trees.is_fresh());
        fs::write(places.home.join("new"), "").unwrap();
        assert!(trees.is_fresh(), "the home itself is in no list");
    }
}
