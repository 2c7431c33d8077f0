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

use avocet_safety::{self as safety, UserPath};

/// A folder with more entries than this is not split up: it is allowed as a whole.
const ENTRIES_MOST: usize = 2_000;

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
    /// Our own folders, which no step reads or writes, wherever they are.
    pub own: Vec<PathBuf>,
    /// Folders that a variable moves elsewhere, by its name: `CARGO_HOME`.
    pub moved: BTreeMap<String, PathBuf>,
    /// The settings keep every step from the network.
    pub offline: bool,
}

/// System files that programs of all kinds read.
const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc",
    "/opt",
    "/nix",
    "/snap",
    "/run/current-system",
    "/home/linuxbrew",
    "/proc",
    "/sys",
    "/var/cache/man",
    "/var/cache/fontconfig",
];

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

/// Folders full of programs: a step that runs by itself does not even read those it may
/// not start, or the loader would start them for it.
const PROGRAM_FOLDERS: &[&str] =
    &["/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/usr/games", "/bin", "/sbin"];

/// Toolchains: the variable that moves one, and where it is otherwise.
#[rustfmt::skip]
const TOOLCHAINS: &[(&str, &str, &str)] = &[
    ("RUSTUP_HOME", ".rustup", ""),
    ("CARGO_HOME", ".cargo", "registry"), ("CARGO_HOME", ".cargo", "git"), ("CARGO_HOME", ".cargo", "env"),
    ("NVM_DIR", ".nvm", ""), ("FNM_DIR", ".local/share/fnm", ""), ("VOLTA_HOME", ".volta", ""), ("N_PREFIX", "", ""),
    ("PYENV_ROOT", ".pyenv", ""), ("RBENV_ROOT", ".rbenv", ""), ("NODENV_ROOT", ".nodenv", ""), ("GOENV_ROOT", ".goenv", ""),
    ("PLENV_ROOT", ".plenv", ""), ("PHPENV_ROOT", ".phpenv", ""), ("JENV_ROOT", ".jenv", ""), ("TFENV_ROOT", ".tfenv", ""),
    ("ASDF_DATA_DIR", ".asdf", ""), ("MISE_DATA_DIR", ".local/share/mise", ""), ("", ".local/share/rtx", ""), ("PROTO_HOME", ".proto", ""),
    ("SDKMAN_DIR", ".sdkman", ""), ("JABBA_HOME", ".jabba", ""), ("JAVA_HOME", "", ""), ("JDK_HOME", "", ""), ("", ".jdks", ""),
    ("GOROOT", "", ""), ("GOPATH", "go", ""), ("GOMODCACHE", "", ""),
    ("", ".local/lib", ""), ("", ".local/bin", ""), ("", ".local/share/pipx", ""), ("", ".local/share/uv", ""), ("VIRTUAL_ENV", "", ""),
    ("CONDA_PREFIX", "", ""), ("CONDA_ROOT", "", ""), ("", "miniconda3", ""), ("", "anaconda3", ""), ("", "miniforge3", ""), ("", "mambaforge", ""), ("MAMBA_ROOT_PREFIX", "micromamba", ""),
    ("JULIA_DEPOT_PATH", ".julia", ""), ("", ".juliaup", ""), ("OPAMROOT", ".opam", ""), ("", ".ghcup", ""), ("STACK_ROOT", ".stack", "programs"),
    ("", ".rvm", ""), ("GEM_HOME", ".local/share/gem", ""), ("", ".gem/ruby", ""), ("DOTNET_ROOT", ".dotnet", ""),
    ("BUN_INSTALL", ".bun", ""), ("DENO_INSTALL", ".deno", ""), ("", ".npm-global", ""), ("PNPM_HOME", ".local/share/pnpm", ""),
    ("", ".elan", ""), ("", ".foundry", ""), ("", ".swiftly", ""), ("", ".wasmtime", ""), ("", ".zvm", ""), ("", ".nix-profile", ""),
];

/// The user's files that git reads, and those that others look for beside them.
const OF_GIT: &[&str] = &[
    ".gitconfig",
    ".config/git",
    ".gitignore",
    ".gitignore_global",
    ".gitattributes",
    ".mailmap",
    ".ignore",
    ".inputrc",
    ".terminfo",
];

/// The harmless devices (not hardware), and those of an approved step.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
const MORE_DEVICES: &[&str] =
    &["/dev/tty", "/dev/ptmx", "/dev/pts", "/dev/shm", "/dev/dri", "/dev/kfd", "/dev/snd"];

/// The folders of users' homes; only the user's own is open.
const HOMES: &[&str] = &["/home", "/Users"];

/// Trees, and the inputs they were made from.
#[derive(Clone, Debug, Default)]
pub(super) struct Trees {
    /// May be read, whole.
    pub read: Vec<PathBuf>,
    /// Folders that were looked through, each with its state then.
    watched: Vec<(PathBuf, Stamp)>,
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
    fn new(places: &SandboxPaths) -> Trees {
        let (own, made) = (places.own.clone(), Some(SystemTime::now()));
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
        let users = places.existing_toolchains();
        let system = outermost(SYSTEM.iter().map(PathBuf::from).collect());
        let roots = system.iter().chain(&users);
        trees.read = roots.flat_map(|root| trees.cover_except(root, &closed)).collect();
        trees.read.extend(DEVICES.iter().map(PathBuf::from));
        trees
    }

    /// A folder that is worked in, around its credentials.
    pub fn for_folder<'a>(
        root: &Path,
        credentials: impl Iterator<Item = &'a PathBuf>,
        places: &SandboxPaths,
    ) -> Trees {
        let mut trees = Trees::new(places);
        let secrets = safety::credential_places(&places.home).into_iter();
        let mut closed: Vec<PathBuf> =
            secrets.chain(places.own.iter().cloned()).chain(credentials.cloned()).collect();
        // The workspace itself is open, wherever it is.
        closed.retain(|place| place.starts_with(root) && place != root);
        if root == Path::new("/") {
            closed.extend(["/dev".into(), "/proc".into()]);
        }
        trees.read = trees.cover_except(root, &closed);
        trees
    }

    /// The places an approved step may read: all but known places of credentials.
    pub fn for_approved(places: &SandboxPaths) -> Trees {
        let mut trees = Trees::new(places);
        let mut closed = closed_paths(places);
        let mut read = trees.cover_except(Path::new("/"), &closed);
        read.extend(DEVICES.iter().chain(MORE_DEVICES).map(PathBuf::from));
        if closed.iter().any(|place| places.workspace.starts_with(place)) {
            closed.retain(|place| !places.workspace.starts_with(place));
            read.extend(trees.cover_except(&places.workspace, &closed));
        }
        trees.read = read;
        trees
    }

    /// Whether the list is still up to date.
    pub fn is_fresh(&self) -> bool {
        let made = self.scanned_at.unwrap_or(SystemTime::UNIX_EPOCH);
        self.watched
            .iter()
            .all(|(folder, stamp)| read_stamp(folder) == Some(*stamp) && !is_recent(stamp.2, made))
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
        let most = if leads_to_ours { usize::MAX } else { ENTRIES_MOST };
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
    pub fn resolve_user_path(&self, spot: &UserPath) -> Option<PathBuf> {
        self.resolve_moved(spot.variable, spot.home, spot.rest)
    }

    fn resolve_moved(&self, variable: &str, home: &str, rest: &str) -> Option<PathBuf> {
        let moved = self.moved.get(variable).cloned();
        let base = moved.or_else(|| (!home.is_empty()).then(|| self.home.join(home)))?;
        Some(if rest.is_empty() { base } else { base.join(rest) })
    }

    /// Toolchains and the settings of git, as far as they are there.
    pub fn existing_toolchains(&self) -> Vec<PathBuf> {
        let toolchains =
            TOOLCHAINS.iter().filter_map(|row| self.resolve_moved(row.0, row.1, row.2));
        let of_git = OF_GIT.iter().map(|name| self.home.join(name));
        let users = toolchains.chain(of_git).chain(files_named_by_git_config(self));
        let users = users.chain(self.programs.iter().filter_map(|folder| prefix(folder, self)));
        let mut roots = outermost(users.collect());
        // A variable that names the home, or a folder above it, does not name a toolchain.
        roots.retain(|root| !self.home.starts_with(root) && !self.workspace.starts_with(root));
        roots
    }

    /// The folder of the toolchains that rustup's `cargo` and `rustc` refer to.
    pub fn rustup_toolchains(&self) -> PathBuf {
        self.resolve_moved("RUSTUP_HOME", ".rustup", "toolchains").unwrap_or_default()
    }

    /// Folders of programs, whose names are not secret: interpreters look there for what
    /// else is installed.
    pub fn program_folders(&self) -> Vec<PathBuf> {
        let folders =
            PROGRAM_FOLDERS.iter().map(PathBuf::from).chain(self.programs.iter().cloned());
        folders.filter_map(|folder| folder.canonicalize().ok()).collect()
    }

    /// Every tree of programs.
    pub fn program_trees(&self) -> Vec<PathBuf> {
        let named = PROGRAM_TREES.iter().map(PathBuf::from).chain(self.programs.iter().cloned());
        named.filter_map(|tree| tree.canonicalize().ok()).collect()
    }

    /// The folder a program was installed in, with what it needs to run, where that is not
    /// the system's: `~/tools/x` for `~/tools/x/bin/x`.
    pub fn install_tree(&self, program: &Path) -> Option<PathBuf> {
        let real = program.canonicalize().ok()?;
        let folder = real.parent().filter(|folder| folder.ends_with("bin"))?;
        let of_system = PROGRAM_TREES.iter().any(|tree| folder.starts_with(tree));
        let inside = folder.starts_with(&self.workspace);
        prefix(folder, self).filter(|above| !of_system && !inside && above.parent().is_some())
    }

    /// Variables that move places, for a caller that knows the environment.
    pub fn variables() -> impl Iterator<Item = &'static str> {
        let toolchains = TOOLCHAINS.iter().map(|row| row.0).filter(|name| !name.is_empty());
        toolchains.chain(safety::place_variables())
    }
}

/// The devices an approved step may write to.
pub(super) fn devices() -> impl Iterator<Item = PathBuf> {
    let of_nvidia = |entry: &PathBuf| {
        entry.file_name().is_some_and(|name| name.to_string_lossy().starts_with("nvidia"))
    };
    let more =
        entries(Path::new("/dev"), ENTRIES_MOST).unwrap_or_default().into_iter().filter(of_nvidia);
    DEVICES.iter().chain(MORE_DEVICES).map(PathBuf::from).chain(more)
}

/// A tree that is read or written to, around our own folders.
pub(super) fn cover_except_own(tree: &Path, places: &SandboxPaths) -> Trees {
    let mut trees = Trees::new(places);
    let there: Vec<PathBuf> =
        places.own.iter().filter(|own| own.symlink_metadata().is_ok()).cloned().collect();
    trees.read = trees.cover_except(tree, &there);
    trees
}

/// Creates those of our own folders that would be inside what a step writes to, before a
/// step could: only when they exist can everything else be allowed one by one.
pub(super) fn create_own_folders(places: &SandboxPaths, writes: &[PathBuf]) {
    let within = |own: &&PathBuf| writes.iter().any(|tree| own.starts_with(tree));
    for own in places.own.iter().filter(within).filter(|own| own.symlink_metadata().is_err()) {
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

/// The folder above a folder of programs that the user listed contains the files they need.
fn prefix(folder: &Path, places: &SandboxPaths) -> Option<PathBuf> {
    let above = folder.parent()?;
    let general = places.home.starts_with(above)
        || places.workspace.starts_with(above)
        || places.own.iter().any(|own| own.starts_with(above))
        || safety::credential_places(&places.home).iter().any(|secret| secret.starts_with(above));
    (!general).then(|| above.to_owned())
}

/// Files that the user's own settings of git name: included ones, and the ones for ignoring
/// and mapping everywhere.
fn files_named_by_git_config(places: &SandboxPaths) -> Vec<PathBuf> {
    let files = [".gitconfig", ".config/git/config"].map(|name| places.home.join(name));
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
    let paths = named.map(|name| safety::absolute(&name, &places.home, &places.home));
    // A file, so that no setting opens a whole folder.
    paths.filter(|path| path.is_file()).collect()
}

/// The paths that no step that runs by itself reads, in any tree.
fn closed_to_automatic_steps(places: &SandboxPaths) -> Vec<PathBuf> {
    let mut closed = closed_paths(places);
    closed.extend(places.program_folders());
    // Wherever they are, they have lists of their own.
    closed.extend([places.home.clone(), places.workspace.clone()]);
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

/// Credentials, devices, other users' homes, our own folders. A link's target is closed
/// with it.
fn closed_paths(places: &SandboxPaths) -> Vec<PathBuf> {
    let homes = HOMES.iter().filter_map(|homes| entries(Path::new(homes), ENTRIES_MOST)).flatten();
    let others = homes.filter(|home| !places.home.starts_with(home));
    // Programs for all users may be there, as if in another user's home.
    let others = others.filter(|home| !PROGRAM_TREES.iter().any(|tree| home == Path::new(tree)));
    let mut closed = safety::credential_places(&places.home);
    closed.extend(others);
    closed.push("/dev".into());
    closed.extend(places.own.iter().cloned());
    if let Some(entries) =
        entries(&places.home, ENTRIES_MOST).filter(|all| all.len() <= ENTRIES_MOST)
    {
        closed.extend(entries.into_iter().filter(|entry| is_secret_name(entry)));
    }
    let targets: Vec<PathBuf> = closed
        .iter()
        .filter(|place| place.is_symlink())
        .filter_map(|place| place.canonicalize().ok())
        .collect();
    closed.extend(targets);
    // Ours may be made later.
    closed.retain(|place| place.exists() || places.own.contains(place));
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

pub(super) fn read_stamp(folder: &Path) -> Option<Stamp> {
    let meta = fs::metadata(folder).ok()?;
    let changed = i128::from(meta.mtime()) * 1_000_000_000 + i128::from(meta.mtime_nsec());
    Some((meta.dev(), meta.ino(), changed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home() -> (tempfile::TempDir, SandboxPaths) {
        let temp = tempfile::tempdir().unwrap();
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
    fn an_approved_step_reads_all_but_secrets_and_our_own_folders() {
        let (_temp, places) = home();
        let trees = Trees::for_approved(&places);
        for secret in
            [".ssh/id_ed25519", ".config/gh/hosts.yml", ".netrc", ".bash_history", "avocet/x"]
        {
            assert!(!covers(&trees.read, &places.home.join(secret)), "{secret}");
        }
        for open in [".config/app/x", ".gitconfig", "notes.txt", "code/shop/src/main.rs"] {
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
        let written = cover_except_own(&places.workspace, &places).read;
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
        assert!(!trees.is_fresh());
        assert!(!Trees::for_approved(&places).is_fresh(), "what just changed is not relied on");
    }
}
