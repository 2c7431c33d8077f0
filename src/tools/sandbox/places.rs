//! Which folders a sandboxed program may read, as a list of whole trees.
//!
//! Landlock can allow a tree and cannot take a part of it back, so around each place
//! that stays closed its neighbours are allowed one by one. What that costs in truth:
//! a tree is allowed by the file it was when the list was made, so the folders that
//! were looked through are watched, and a change in one makes a new list.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::safety;

/// More entries than this in one folder are not told apart: it is allowed as a whole.
const ENTRIES_MOST: usize = 2_000;

/// A folder that changed this shortly before it was read may change again unseen: its
/// time stamp is too coarse to tell.
const SETTLED: Duration = Duration::from_millis(100);

/// The folders of one session, absolute with links resolved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    pub workspace: PathBuf,
    pub home: PathBuf,
    /// Folders of trusted programs.
    pub programs: Vec<PathBuf>,
}

/// Where systems keep programs and the interpreters that scripts of theirs name.
const PROGRAM_TREES: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/nix",
    "/snap",
    "/run/current-system",
    "/home/linuxbrew",
];

/// Where rustup keeps what `cargo` and `rustc` stand for.
const TOOLCHAINS: &str = ".rustup/toolchains";

/// The devices that are no device.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Where people have their homes; only the user's own is open.
const HOMES: &[&str] = &["/home", "/Users"];

/// Trees, and what they were made from.
#[derive(Debug, Default)]
pub(super) struct Trees {
    /// May be read, whole.
    pub read: Vec<PathBuf>,
    /// Programs in these may be started.
    pub run: Vec<PathBuf>,
    /// Folders that were looked through, each with its state then.
    watched: Vec<(PathBuf, Stamp)>,
    /// False when some folder had too many entries.
    pub all_hidden: bool,
    made: Option<SystemTime>,
}

/// Identifies the contents of a folder: device, inode, change in nanoseconds.
type Stamp = (u64, u64, i128);

impl Trees {
    /// Looks through the folders that lead to a closed place. Reads names only.
    pub fn of(places: &Places) -> Trees {
        let mut trees =
            Trees { all_hidden: true, made: Some(SystemTime::now()), ..Trees::default() };
        let mut closed = closed(places);
        let mut read = trees.around(Path::new("/"), &closed);
        read.extend(DEVICES.iter().map(PathBuf::from));
        if closed.iter().any(|place| places.workspace.starts_with(place)) {
            // Where one works is open, wherever that is.
            closed.retain(|place| *place != places.workspace);
            read.extend(trees.around(&places.workspace, &closed));
        }
        trees.read = read;
        trees.run = trees.programs(places);
        trees
    }

    /// Where programs lie, without the workspace.
    fn programs(&mut self, places: &Places) -> Vec<PathBuf> {
        let named = PROGRAM_TREES.iter().map(PathBuf::from).chain(places.programs.clone());
        let named = named.chain([places.home.join(TOOLCHAINS)]);
        let mut found: Vec<PathBuf> = named.filter_map(|tree| tree.canonicalize().ok()).collect();
        found.sort();
        found.dedup_by(|inner, outer| inner.starts_with(outer));
        let whole_machine = places.workspace == Path::new("/");
        found.retain(|tree| whole_machine || !tree.starts_with(&places.workspace));
        let inside = if whole_machine { &[] } else { std::slice::from_ref(&places.workspace) };
        found.iter().flat_map(|tree| self.around(tree, inside)).collect()
    }

    /// Whether the list still says what is there.
    pub fn is_fresh(&self) -> bool {
        self.watched.iter().all(|(folder, stamp)| stamp_of(folder) == Some(*stamp))
            && !self.watched.iter().any(|(_, (.., changed))| self.is_recent(*changed))
    }

    /// Changed so shortly before the list was made that a later change may look the same.
    fn is_recent(&self, changed: i128) -> bool {
        let made = self.made.and_then(|made| made.duration_since(SystemTime::UNIX_EPOCH).ok());
        let made = made.and_then(|made| i128::try_from(made.as_nanos()).ok()).unwrap_or(0);
        let settled = i128::try_from(SETTLED.as_nanos()).unwrap_or(0);
        made - changed < settled
    }

    /// The trees that cover a folder except for what is closed.
    fn around(&mut self, folder: &Path, closed: &[PathBuf]) -> Vec<PathBuf> {
        if closed.iter().any(|place| place == folder) && folder != Path::new("/") {
            return Vec::new();
        }
        if !closed.iter().any(|place| place.starts_with(folder)) {
            return vec![folder.to_owned()];
        }
        let before = stamp_of(folder);
        let (Some(entries), Some(stamp)) = (entries(folder), before) else {
            // Not readable for us, so not for our children.
            return Vec::new();
        };
        self.watched.push((folder.to_owned(), stamp));
        if entries.len() > ENTRIES_MOST {
            self.all_hidden = false;
            return vec![folder.to_owned()];
        }
        entries.iter().flat_map(|entry| self.around(entry, closed)).collect()
    }
}

/// Credentials, devices, other people's homes. A link's target is closed with it.
fn closed(places: &Places) -> Vec<PathBuf> {
    let homes = HOMES.iter().filter_map(|homes| entries(Path::new(homes))).flatten();
    let others = homes.filter(|home| !places.home.starts_with(home));
    let mut closed = safety::secret_places(&places.home);
    closed.extend(others);
    closed.push("/dev".into());
    if let Some(entries) = entries(&places.home).filter(|all| all.len() <= ENTRIES_MOST) {
        closed.extend(entries.into_iter().filter(|entry| is_secret_name(entry)));
    }
    let targets: Vec<PathBuf> = closed
        .iter()
        .filter(|place| place.is_symlink())
        .filter_map(|place| place.canonicalize().ok())
        .collect();
    closed.extend(targets);
    closed.retain(|place| place.exists());
    closed
}

fn is_secret_name(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(safety::is_sensitive_name)
}

/// What lies in a folder, links left out: what they lead to is listed where it lies.
/// `None` when it cannot be read.
fn entries(folder: &Path) -> Option<Vec<PathBuf>> {
    let found = fs::read_dir(folder).ok()?.flatten();
    let plain = found.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
    Some(plain.map(|entry| entry.path()).take(ENTRIES_MOST + 1).collect())
}

fn stamp_of(folder: &Path) -> Option<Stamp> {
    let meta = fs::metadata(folder).ok()?;
    let changed = i128::from(meta.mtime()) * 1_000_000_000 + i128::from(meta.mtime_nsec());
    Some((meta.dev(), meta.ino(), changed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home() -> (tempfile::TempDir, Places) {
        let temp = tempfile::tempdir().unwrap();
        let home = temp.path().canonicalize().unwrap();
        for folder in [".ssh", ".config/gh", ".config/app", "code/shop"] {
            fs::create_dir_all(home.join(folder)).unwrap();
        }
        for file in [".netrc", ".bash_history", ".gitconfig", "notes.txt"] {
            fs::write(home.join(file), "x").unwrap();
        }
        let places =
            Places { workspace: home.join("code/shop"), home, programs: vec!["/usr/bin".into()] };
        (temp, places)
    }

    fn covers(trees: &[PathBuf], path: &Path) -> bool {
        trees.iter().any(|tree| path.starts_with(tree))
    }

    #[test]
    fn secrets_are_in_no_tree_and_their_neighbours_are() {
        let (_temp, places) = home();
        let trees = Trees::of(&places);
        for secret in [".ssh/id_ed25519", ".config/gh/hosts.yml", ".netrc", ".bash_history"] {
            assert!(!covers(&trees.read, &places.home.join(secret)), "{secret}");
        }
        for open in [".config/app/x", ".gitconfig", "notes.txt", "code/shop/src/main.rs"] {
            assert!(covers(&trees.read, &places.home.join(open)), "{open}");
        }
        assert!(!covers(&trees.read, Path::new("/etc/shadow")));
        assert!(covers(&trees.read, Path::new("/etc/passwd")));
        assert!(!covers(&trees.read, Path::new("/dev/mem")));
        assert!(trees.all_hidden);
    }

    #[test]
    fn the_target_of_a_linked_secret_is_closed_too() {
        let (_temp, places) = home();
        fs::remove_dir(places.home.join(".ssh")).unwrap();
        fs::create_dir(places.home.join("keys")).unwrap();
        std::os::unix::fs::symlink(places.home.join("keys"), places.home.join(".ssh")).unwrap();
        let trees = Trees::of(&places);
        assert!(!covers(&trees.read, &places.home.join("keys/id_rsa")));
    }

    #[test]
    fn nothing_of_the_workspace_may_be_started() {
        let (_temp, mut places) = home();
        places.programs.push(places.workspace.join("bin"));
        fs::create_dir(places.workspace.join("bin")).unwrap();
        let trees = Trees::of(&places);
        assert!(covers(&trees.run, Path::new("/usr/bin/ls")));
        assert!(!covers(&trees.run, &places.workspace.join("bin/ls")));
    }

    #[test]
    fn a_new_file_beside_a_secret_makes_the_list_stale() {
        let (_temp, places) = home();
        let old = SystemTime::now() - Duration::from_secs(60);
        for folder in [".config", ""] {
            let folder = fs::File::open(places.home.join(folder)).unwrap();
            folder.set_modified(old).unwrap();
        }
        let mut trees = Trees::of(&places);
        // Folders of the system may be changing while this runs.
        trees.watched.retain(|(folder, _)| folder.starts_with(&places.home));
        assert!(trees.is_fresh());
        fs::write(places.home.join("new"), "").unwrap();
        assert!(!trees.is_fresh());
        assert!(!Trees::of(&places).is_fresh(), "what just changed is not relied on");
    }
}
