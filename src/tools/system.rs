//! Answers the rules' questions about this machine: where a path leads, and which program a
//! name refers to.
//!
//! Programs are looked up in trusted folders only, never in `PATH`, so nothing that is in
//! the workspace or that another user may change can take the place of one. Only reading
//! happens here: names, metadata, and the few small files the rules ask for; nothing is
//! started.

use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::around;
use super::large_search;
use super::read_tracker::ReadTracker;
use super::shelves::{self, ToolchainDirs, executable, is_safe_from_others};
use avocet_safety::redact::Redactor;
use avocet_safety::{
    Contents, EditSearch, FileKind, Machine, OwnProgram, PathKind, Program, SearchedFile,
};

/// Which changes of files an undo brings back.
pub trait UndoCoverage: std::fmt::Debug + Send + Sync {
    /// Whether what programs change is looked at.
    fn is_taken(&self) -> bool;
    /// Whether an undo would bring back all that is at and below a path of a folder.
    fn covers(&self, root: &Path, path: &Path) -> bool;
}

/// The machine as it is.
#[derive(Clone, Debug)]
pub struct System {
    /// Trusted folders of programs, links resolved, first wins.
    folders: Vec<PathBuf>,
    workspace: PathBuf,
    /// The files as the model saw them.
    read_tracker: ReadTracker,
    /// Folders of programs that are the project's own, or a toolchain manager's.
    toolchains: ToolchainDirs,
    /// The values of the session's masks.
    secrets: Option<Arc<Redactor>>,
    /// What programs change is kept here.
    checkpoints: Option<Arc<dyn UndoCoverage>>,
}

/// Where systems keep their programs.
const FOLDERS: &[&str] = &[
    "/usr/local/bin",
    "/usr/bin",
    "/bin",
    "/usr/local/sbin",
    "/usr/sbin",
    "/sbin",
    "/usr/local/go/bin",
    "/opt/homebrew/bin",
    "/opt/homebrew/sbin",
    "/opt/local/bin",
    "/home/linuxbrew/.linuxbrew/bin",
    "/snap/bin",
    "/run/current-system/sw/bin",
    "/nix/var/nix/profiles/default/bin",
];

/// How many links in a row are followed before a path is taken as it is.
const MAX_LINKS: usize = 40;

impl System {
    /// `extra`: folders of programs the user listed, which come first. A folder counts only
    /// when it is outside the workspace and only root and the user may write to it.
    pub fn new(workspace: &Path, home: &Path, extra: &[PathBuf]) -> System {
        let workspace = resolve_links(workspace, MAX_LINKS);
        let home = resolve_links(home, MAX_LINKS);

        let cargo = home.join(".cargo/bin");
        let all = FOLDERS.iter().map(Path::new).chain([cargo.as_path()]);
        let mut folders: Vec<PathBuf> = Vec::new();
        for folder in extra.iter().map(PathBuf::as_path).chain(all) {
            if let Some(folder) = trusted_folder(folder, &workspace)
                && !folders.contains(&folder)
            {
                folders.push(folder);
            }
        }
        let listed = extra.iter().filter_map(|folder| fs::canonicalize(folder).ok());
        let listed = listed.filter(|folder| folder.starts_with(&workspace)).collect();
        let around = around::enclosing_repository(&workspace, &home);
        let roots = std::iter::once(workspace.clone()).chain(around).collect();
        let dirs = ToolchainDirs { roots, home, listed, ..ToolchainDirs::default() };
        System {
            folders,
            workspace,
            read_tracker: ReadTracker::default(),
            toolchains: dirs,
            secrets: None,
            checkpoints: None,
        }
    }

    /// The same machine, with the model's view of its files.
    #[must_use]
    pub fn with_read_tracker(self, tracker: ReadTracker) -> System {
        System { read_tracker: tracker, ..self }
    }

    /// The same machine, with the values of masks.
    #[must_use]
    pub fn with_secrets(self, redactor: Arc<Redactor>) -> System {
        System { secrets: Some(redactor), ..self }
    }

    /// The same machine, where what programs change is kept.
    #[must_use]
    pub fn with_checkpoints(self, checkpoints: Option<Arc<dyn UndoCoverage>>) -> System {
        System { checkpoints, ..self }
    }

    /// The same machine, which also finds programs in other folders. `path`: as in the
    /// environment.
    #[must_use]
    pub fn with_user_path(self, path: Option<PathBuf>) -> System {
        let path = path.map(|path| std::env::split_paths(&path).collect()).unwrap_or_default();
        System { toolchains: ToolchainDirs { path, ..self.toolchains }, ..self }
    }

    /// The same machine, with the environment's settings for toolchain managers.
    #[must_use]
    pub fn with_manager_dirs(self, get: impl Fn(&str) -> Option<PathBuf>) -> System {
        let managers = shelves::variables().filter_map(get).filter(|root| root.is_absolute());
        let managers = managers.filter(|root| root.components().count() > 2).collect();
        System { toolchains: ToolchainDirs { managers, ..self.toolchains }, ..self }
    }

    /// The `PATH` of every child: the trusted folders and nothing else.
    pub fn child_path(&self) -> OsString {
        // A folder with `:` in its name cannot be part of a list.
        let plain = self.folders.iter().filter(|folder| !folder.to_string_lossy().contains(':'));
        std::env::join_paths(plain).unwrap_or_default()
    }

    /// The trusted folders, links resolved.
    pub fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// The folders of the user's own `PATH`, links resolved.
    pub fn path_folders(&self) -> Vec<PathBuf> {
        let mut folders: Vec<PathBuf> = Vec::new();
        let named = self.toolchains.path.iter().filter(|folder| folder.is_absolute());
        for folder in named.filter_map(|folder| folder.canonicalize().ok()) {
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        folders
    }

    fn trusted_program(&self, path: &Path) -> Option<Program> {
        let program = executable(path)?;
        let meta = fs::metadata(path).ok()?;
        let inside = fs::canonicalize(path).ok()?.starts_with(&self.workspace)
            && !is_system_owned(&meta, &self.workspace);
        (is_safe_from_others(&meta) && !inside).then_some(program)
    }
}

impl Machine for System {
    fn resolve(&self, path: &Path) -> PathBuf {
        resolve_links(path, MAX_LINKS)
    }

    fn kind(&self, path: &Path) -> PathKind {
        file_kind(path)
    }

    fn is_link(&self, path: &Path) -> bool {
        is_link(path)
    }

    fn has_other_names(&self, path: &Path) -> bool {
        has_other_names(path)
    }

    /// A bare name is looked up folder by folder; a path counts when its folder, links
    /// resolved, is a trusted one.
    fn program(&self, name: &str) -> Option<Program> {
        let path = Path::new(name);
        if !name.contains('/') {
            return self.folders.iter().find_map(|folder| self.trusted_program(&folder.join(name)));
        }
        let folder = fs::canonicalize(path.parent()?).ok()?;
        let known = self.folders.contains(&folder);
        known.then(|| self.trusted_program(&folder.join(path.file_name()?))).flatten()
    }

    /// Only a folder that would be trusted once it was listed.
    fn untrusted_program_folder(&self, name: &str) -> Option<PathBuf> {
        if name.contains('/') || self.program(name).is_some() {
            return None;
        }
        let trusted = |folder: &&PathBuf| trusted_folder(folder, &self.workspace).is_some();
        let holds = |folder: &&PathBuf| self.trusted_program(&folder.join(name)).is_some();
        self.toolchains.path.iter().filter(trusted).find(holds).cloned()
    }

    fn own_program(&self, name: &str) -> Option<OwnProgram> {
        if name.contains('/') {
            return self.toolchains.find_at(Path::new(name));
        }
        self.toolchains.find_named(name, |folder| self.folders.iter().any(|own| own == folder))
    }

    fn executable_at(&self, path: &Path) -> Option<Program> {
        executable(&fs::canonicalize(path).ok()?)
    }

    fn entries(&self, folder: &Path, most: usize) -> Vec<(PathBuf, FileKind)> {
        entries(folder, most)
    }

    fn unsaved_text(&self, path: &Path) -> Option<Vec<u8>> {
        let host = self.read_tracker.writing_host()?;
        // The editor answers on another task.
        tokio::task::block_in_place(|| host.read(path)).map(String::into_bytes)
    }

    fn comes_back(&self, root: &Path, path: &Path) -> bool {
        self.checkpoints.as_ref().is_some_and(|checkpoints| checkpoints.covers(root, path))
    }

    fn takes_checkpoints(&self) -> bool {
        self.checkpoints.as_ref().is_some_and(|checkpoints| checkpoints.is_taken())
    }

    fn read(&self, path: &Path, most: usize) -> Contents {
        read(path, most)
    }

    fn head(&self, path: &Path, most: usize) -> Option<Vec<u8>> {
        large_search::head(path, most)
    }

    fn sample(&self, path: &Path, most: usize) -> Option<Vec<u8>> {
        large_search::sample(path, most)
    }

    fn find_texts(
        &self,
        path: &Path,
        texts: &[Vec<u8>],
        search: EditSearch,
    ) -> Option<SearchedFile> {
        large_search::find(path, texts, search)
    }

    fn redactor(&self) -> Option<&Redactor> {
        self.secrets.as_deref()
    }

    fn last_known_digest(&self, path: &Path) -> Option<String> {
        self.read_tracker.last_digest(path)
    }

    fn enclosing_repository(&self, folder: &Path, home: &Path) -> Option<PathBuf> {
        around::enclosing_repository(folder, home)
    }
}

/// The machine where nothing is started: what its files say, and no program.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileMachine;

impl Machine for FileMachine {
    fn resolve(&self, path: &Path) -> PathBuf {
        resolve_links(path, MAX_LINKS)
    }

    fn kind(&self, path: &Path) -> PathKind {
        file_kind(path)
    }

    fn is_link(&self, path: &Path) -> bool {
        is_link(path)
    }

    fn has_other_names(&self, path: &Path) -> bool {
        has_other_names(path)
    }

    fn program(&self, _: &str) -> Option<Program> {
        None
    }

    fn read(&self, path: &Path, most: usize) -> Contents {
        read(path, most)
    }
}

fn file_kind(path: &Path) -> PathKind {
    match fs::metadata(path) {
        Ok(meta) if meta.is_file() => PathKind::File,
        Ok(meta) if meta.is_dir() => PathKind::Folder,
        Ok(_) => PathKind::Other,
        Err(_) => PathKind::Missing,
    }
}

fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink())
}

fn has_other_names(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.nlink() > 1)
}

fn entries(folder: &Path, most: usize) -> Vec<(PathBuf, FileKind)> {
    let Ok(found) = fs::read_dir(folder) else { return Vec::new() };
    let kind = |entry: &fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_symlink() => FileKind::Link,
        Ok(kind) if kind.is_dir() => FileKind::Folder,
        Ok(kind) if kind.is_file() => FileKind::File,
        Ok(_) | Err(_) => FileKind::Other,
    };
    found.flatten().take(most).map(|entry| (entry.path(), kind(&entry))).collect()
}

/// A pipe or a device is not even opened: either could wait for ever.
fn read(path: &Path, most: usize) -> Contents {
    match fs::metadata(path) {
        Ok(meta) if meta.is_file() => {}
        Ok(_) => return Contents::Unreadable,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Contents::Missing;
        }
        Err(_) => return Contents::Unreadable,
    }
    let mut bytes = Vec::new();
    let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    let done = File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes));
    if done.is_ok() && bytes.len() <= most { Contents::Bytes(bytes) } else { Contents::Unreadable }
}

/// A path with its links resolved, also where it ends in nothing yet.
pub fn resolve_path(path: &Path) -> PathBuf {
    resolve_links(path, MAX_LINKS)
}

fn trusted_folder(folder: &Path, workspace: &Path) -> Option<PathBuf> {
    let folder = fs::canonicalize(folder).ok()?;
    let meta = fs::metadata(&folder).ok()?;
    let inside = folder.starts_with(workspace) && !is_system_owned(&meta, workspace);
    let trusted = meta.is_dir() && is_safe_from_others(&meta) && !inside;
    trusted.then_some(folder)
}

/// Whether a folder in a workspace as large as the machine is still the system's: root's,
/// and writable for root only.
fn is_system_owned(meta: &Metadata, workspace: &Path) -> bool {
    workspace == Path::new("/") && meta.uid() == 0 && meta.mode() & 0o022 == 0
}

/// The path as the kernel would walk it: `..` after a link leaves the link's target. Where
/// the path does not exist, a dangling link is still followed. What a process sees as its own,
/// `/proc/self/cwd`, is another thing for a step: it stays as it is.
fn resolve_links(path: &Path, links: usize) -> PathBuf {
    let with_rest = |base: PathBuf, rest: &Path| {
        if rest.as_os_str().is_empty() { base } else { base.join(rest) }
    };
    let mut out = PathBuf::new();
    let mut parts = path.components();
    while let Some(part) = parts.next() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            Component::RootDir | Component::Prefix(_) => out.push(part),
            Component::Normal(name) => {
                let next = out.join(name);
                if is_of_process(&next) {
                    return with_rest(next, parts.as_path());
                }
                out = match fs::read_link(&next) {
                    Ok(target) if links > 0 => {
                        let target = with_rest(out.join(target), parts.as_path());
                        return resolve_links(&target, links - 1);
                    }
                    _ => next,
                };
            }
        }
    }
    // As the disk spells it.
    fs::canonicalize(&out).unwrap_or(out)
}

/// `/proc/self`, `/proc/thread-self`, `/proc/7`.
fn is_of_process(path: &Path) -> bool {
    let name = path.strip_prefix("/proc").ok().and_then(Path::to_str).unwrap_or_default();
    ["self", "thread-self"].contains(&name)
        || !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn what_a_process_sees_as_its_own_is_not_looked_at_through_ours() {
        let folder = tempfile::tempdir().unwrap();
        let real = fs::canonicalize(folder.path()).unwrap();
        symlink("/proc/self/cwd", real.join("l")).unwrap();
        symlink("l", real.join("m")).unwrap();
        symlink("/proc/thread-self/root/etc", real.join("n")).unwrap();
        fs::create_dir(real.join("sub")).unwrap();
        symlink("sub", real.join("s")).unwrap();
        let of = |path: &str| resolve_path(&real.join(path));
        assert_eq!(of("l/config"), Path::new("/proc/self/cwd/config"));
        assert_eq!(of("m"), Path::new("/proc/self/cwd"));
        assert_eq!(of("sub/../n/passwd"), Path::new("/proc/thread-self/root/etc/passwd"));
        let fd = resolve_path(Path::new("/dev/fd/0"));
        assert!(fd.starts_with("/proc/self") || !Path::new("/dev/fd").exists(), "{fd:?}");
        assert_eq!((of("s/new"), of("s/..")), (real.join("sub/new"), real.clone()));
    }

    fn program(folder: &Path, name: &str, mode: u32) {
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join(name), "#!/bin/sh\n").unwrap();
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    fn folder(parent: &Path, name: &str, mode: u32) -> PathBuf {
        let path = parent.join(name);
        fs::create_dir_all(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    #[test]
    fn a_name_is_found_in_trusted_folders_only() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        let workspace = folder(&root, "ws", 0o755);
        let inside = folder(&workspace, "bin", 0o755);
        let open = folder(&root, "open", 0o777);
        let good = folder(&root, "good", 0o755);
        for place in [&inside, &open, &good] {
            program(place, "avocet-test-tool", 0o755);
        }
        let find = |extra: &[PathBuf]| {
            let system = System::new(&workspace, &root, extra);
            system.program("avocet-test-tool").map(|program| program.path)
        };
        assert_eq!(find(&[]), None);
        assert_eq!(find(&[inside.clone(), open.clone()]), None);
        assert_eq!(find(&[inside, open, good.clone()]), Some(good.join("avocet-test-tool")));
    }

    #[test]
    fn a_program_of_the_users_own_path_is_mentioned_but_not_used() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        let workspace = folder(&root, "ws", 0o755);
        let inside = folder(&workspace, "bin", 0o755);
        let open = folder(&root, "open", 0o777);
        let own = folder(&root, "own", 0o755);
        for place in [&inside, &open, &own] {
            program(place, "avocet-test-tool", 0o755);
        }
        let path = std::env::join_paths([&inside, &open, &own]).unwrap();
        let system = System::new(&workspace, &root, &[]).with_user_path(Some(path.clone().into()));
        assert_eq!(system.untrusted_program_folder("avocet-test-tool"), Some(own.clone()));
        assert_eq!(system.program("avocet-test-tool"), None);
        assert_eq!(system.untrusted_program_folder("avocet-test-nothing"), None);
        let listed = System::new(&workspace, &root, &[own]).with_user_path(Some(path.into()));
        assert_eq!(listed.untrusted_program_folder("avocet-test-tool"), None);
    }

    #[test]
    fn a_file_others_may_change_or_a_link_into_the_workspace_is_not_a_program() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        let workspace = folder(&root, "ws", 0o755);
        let good = folder(&root, "good", 0o755);
        program(&good, "anybody", 0o777);
        program(&good, "plain", 0o644);
        program(&workspace, "evil", 0o755);
        symlink(workspace.join("evil"), good.join("linked")).unwrap();
        let system = System::new(&workspace, &root, std::slice::from_ref(&good));
        for name in ["anybody", "plain", "linked", "missing"] {
            assert_eq!(system.program(name), None, "{name}");
        }
        assert!(system.program(&workspace.join("evil").to_string_lossy()).is_none());
        assert!(system.executable_at(&workspace.join("evil")).is_some());
    }

    #[test]
    fn a_path_is_walked_as_the_kernel_would() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        let workspace = folder(&root, "ws", 0o755);
        folder(&root, "away/deep", 0o755);
        symlink(root.join("away/deep"), workspace.join("link")).unwrap();
        symlink(root.join("away/nothing"), workspace.join("dangling")).unwrap();
        symlink(workspace.join("round"), workspace.join("round")).unwrap();
        let system = System::new(&workspace, &root, &[]);
        assert_eq!(system.resolve(&workspace.join("link/../x")), root.join("away/x"));
        assert_eq!(system.resolve(&workspace.join("dangling")), root.join("away/nothing"));
        assert_eq!(system.resolve(&workspace.join("new/../file")), workspace.join("file"));
        assert!(system.resolve(&workspace.join("round")).starts_with(&workspace));
    }

    #[test]
    fn the_path_of_children_contains_only_trusted_folders() {
        let temp = tempfile::tempdir().unwrap();
        let system = System::new(temp.path(), temp.path(), &[PathBuf::from(".")]);
        let path = system.child_path();
        let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
        assert!(!folders.is_empty());
        assert!(folders.iter().all(|f| f.is_absolute() && !f.starts_with(temp.path())));
    }
}
