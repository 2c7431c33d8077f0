//! Reads the files of a folder that are guarded, until they are too many bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::super::readable_paths::is_recent;
use crate::file::safe_open::{FileSlot, MissingFolders};
use avocet_safety::steering::WORKTREES;
use avocet_safety::{HOOKS, repository};

/// The most that is kept, in bytes. What exceeds this is recognised by its length and time.
const MAX_BYTES: u64 = 16 * 1024 * 1024;
/// The most of a folder that is followed as a whole, unless it had fewer files before.
pub(super) const MAX_FILES: usize = 400;
const LEVELS: usize = 6;
/// How deep the repositories of submodules are looked for: their names may be paths.
const DEPTH: usize = 16;

/// Folders of a repository that hold none of another.
const OF_REPOSITORY: &[&str] =
    &["objects", "refs", "logs", "lfs", "hooks", "info", "branches", "worktrees"];

/// What is left of a rebase that stopped; its lines may run programs.
pub(super) const REBASE: &str = "rebase-merge/git-rebase-todo";

/// The longest text of a guarded file that is read, or that the user may keep after it was put back,
/// in bytes.
const MAX_TEXT: usize = 64 * 1024;

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Content {
    File { bytes: Arc<[u8]>, mode: u32 },
    Link(PathBuf),
    Large { len: u64, changed: i64 },
}

/// A file, and its state when it was read.
#[derive(Clone, Debug)]
pub(super) struct FileSnapshot {
    pub content: Content,
    stamp: (u64, u64, i128),
    read_at: SystemTime,
}

pub(super) type Files = BTreeMap<PathBuf, FileSnapshot>;

impl Content {
    pub fn has_bytes_of(&self, content: Option<&Content>) -> bool {
        match (self, content) {
            (Content::File { bytes, .. }, Some(Content::File { bytes: others, .. })) => {
                bytes == others
            }
            _ => false,
        }
    }

    pub fn text(&self) -> Option<&str> {
        match self {
            Content::File { bytes, .. } if bytes.len() <= MAX_TEXT => {
                std::str::from_utf8(bytes).ok()
            }
            Content::File { .. } | Content::Link(_) | Content::Large { .. } => None,
        }
    }
}

pub(super) fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.is_dir())
}

/// Whether git takes a folder for a repository, whatever it is called: its objects may be
/// reached by a link, or be in the folder that another file names.
pub(in super::super) fn is_repository(path: &Path) -> bool {
    path.join("HEAD").is_file()
        && (path.join("objects").is_dir() || path.join("commondir").is_file())
}

pub(super) fn is_in_repository(path: &Path) -> bool {
    path.ancestors().any(|above| above.ends_with(".git") || is_repository(above))
}

/// Settings that git writes itself, and that lead nowhere: of a branch, and of a new repository.
pub(super) fn is_harmless(path: &Path, was: Option<&Content>, content: Option<&Content>) -> bool {
    let name = path.file_name().unwrap_or_default();
    let Some(Content::File { bytes, .. }) = content else { return false };
    let is_hook = path.parent().is_some_and(|folder| folder.ends_with("hooks"));
    if is_hook && path.extension().is_some_and(|end| end == "sample") {
        return true;
    }
    if path.ends_with(REBASE) {
        let before = was.and_then(Content::text).unwrap_or_default();
        return String::from_utf8_lossy(bytes).lines().all(|line| {
            let runs = ["exec", "x"].contains(&line.split_whitespace().next().unwrap_or_default());
            !runs || before.lines().any(|was| was == line)
        });
    }
    if name == "commondir" {
        // Of a further tree: it leads back to its repository.
        let above = path.ancestors().nth(2);
        return above.is_some_and(|it| it.ends_with("worktrees")) && bytes.trim_ascii() == b"../..";
    }
    if let (Some(Content::File { bytes: before, .. }), Some("json")) =
        (was, path.extension().and_then(|end| end.to_str()))
    {
        // The same in another form.
        let parsed = |bytes: &[u8]| serde_json::from_slice::<serde_json::Value>(bytes).ok();
        return parsed(before).is_some_and(|before| parsed(bytes) == Some(before));
    }
    let before = match was {
        Some(Content::File { bytes, .. }) => Some(repository::parse(bytes).unwrap_or_default()),
        Some(Content::Link(_) | Content::Large { .. }) => return false,
        None => None,
    };
    let config = (name == "config" || name == "config.worktree") && is_in_repository(path);
    let now = config.then(|| repository::parse(bytes)).flatten();
    now.is_some_and(|now| are_harmless(before.as_deref(), &now))
}

/// `before`: those of a repository that was there.
fn are_harmless(before: Option<&[repository::GitSetting]>, now: &[repository::GitSetting]) -> bool {
    let plain = |value: &str| !value.contains(['/', ':', '\\']);
    // Any other name is that of a folder, whose hooks a push would run.
    let is_remote = |name: &str| {
        let is_it = |it: &repository::GitSetting| {
            it.section == "remote" && it.subsection.as_deref() == Some(name)
        };
        name == "." || before.unwrap_or(now).iter().any(is_it)
    };
    let harmless = |setting: &repository::GitSetting| {
        let names = match setting.section.as_str() {
            "branch" => &["merge", "rebase", "description", "remote", "pushremote"][..],
            "core" => &[
                "repositoryformatversion",
                "filemode",
                "bare",
                "logallrefupdates",
                "ignorecase",
                "precomposeunicode",
                "symlinks",
            ],
            // A repository that was fetched. In one that was there they say where a push goes.
            "remote" if before.is_none() => &["url", "fetch", "tagopt"],
            "submodule" if before.is_none() => &["url", "active"],
            _ => &[],
        };
        names.contains(&setting.name.as_str())
            && match setting.name.as_str() {
                "merge" | "fetch" => true,
                "remote" | "pushremote" => is_remote(&setting.value),
                "url" => is_address(&setting.value),
                _ => plain(&setting.value),
            }
    };
    let before = before.unwrap_or_default();
    now.iter().all(|setting| before.contains(setting) || harmless(setting))
        && before.iter().all(|setting| now.contains(setting) || harmless(setting))
}

/// Whether it names a repository on another machine, and no program that fetches it.
fn is_address(url: &str) -> bool {
    let starts = ["https://", "http://", "ssh://", "git://", "git@"];
    starts.iter().any(|start| url.starts_with(start)) && !url.contains("::")
}

/// Reads files until they are too many bytes.
pub(super) struct Reader<'a> {
    known: &'a Files,
    /// The folders that are looked through.
    roots: &'a [PathBuf],
    /// The folders that were cut before the step, where it is looked at what it changed.
    before: Option<&'a BTreeSet<PathBuf>>,
    pub files: Files,
    /// Folders of which only a part was read.
    pub cut: BTreeSet<PathBuf>,
    left: u64,
}

impl<'a> Reader<'a> {
    pub fn new(
        known: &'a Files,
        roots: &'a [PathBuf],
        before: Option<&'a BTreeSet<PathBuf>>,
    ) -> Reader<'a> {
        Reader { known, roots, before, files: Files::new(), cut: BTreeSet::new(), left: MAX_BYTES }
    }

    /// The content of a file that names others, from before the step, which may have changed it.
    fn content_before(&self, path: &Path) -> Option<&Content> {
        let files = if self.before.is_some() { self.known } else { &self.files };
        files.get(path).map(|file| &file.content)
    }

    /// A path that was found by its name.
    pub fn add_found(&mut self, path: &Path) {
        match path.file_name().and_then(|name| name.to_str()) {
            Some(".git") if is_folder(path) => self.add_repository(path),
            Some(".git") => self.add_pointer(path),
            // Their stores are large.
            Some(".hg" | ".jj" | ".svn" | ".bzr" | ".sl" | ".pijul" | ".cargo" | ".yarn")
                if is_folder(path) =>
            {
                entries(&path.join("releases")).iter().for_each(|path| self.add(path));
                for name in ["hgrc", "config", "config.toml", "repo/config.toml"] {
                    self.add(&path.join(name));
                }
            }
            // Installed packages.
            Some("bundle") => {}
            _ if is_repository(path) => self.add_bare_repository(path),
            _ if is_folder(path) => self.add_tree(path),
            _ => self.add(path),
        }
    }

    /// What names the folder of the repository: of a further tree, of a submodule, or a link.
    fn add_pointer(&mut self, path: &Path) {
        self.add(path);
        let named = match self.content_before(path) {
            Some(Content::Link(target)) => Some(target.as_path()),
            content => content.and_then(Content::text).and_then(|text| {
                text.trim().strip_prefix("gitdir:").map(|named| Path::new(named.trim()))
            }),
        };
        let Some(own) =
            named.and_then(|named| path.with_file_name("").join(named).canonicalize().ok())
        else {
            return;
        };
        self.add_repository(&own);
        let common = self.content_before(&own.join("commondir")).and_then(Content::text);
        if let Some(common) = common.map(|common| own.join(common.trim())) {
            self.add_repository(&common);
        }
    }

    fn add_tree(&mut self, tree: &Path) {
        // What was not read then cannot be told from what is new.
        if self.before.is_some_and(|cut| cut.contains(tree)) {
            return;
        }
        let mut left = if self.before.is_none() { MAX_FILES } else { usize::MAX };
        self.add_folder(tree, LEVELS, &mut left);
        if left == 0 {
            self.cut.insert(tree.to_owned());
        }
    }

    fn add_folder(&mut self, folder: &Path, levels: usize, left: &mut usize) {
        for path in entries(folder) {
            if *left == 0 {
                return;
            }
            if !is_folder(&path) {
                *left -= 1;
                self.add(&path);
            } else if levels > 0 && !path.ends_with(WORKTREES) {
                self.add_folder(&path, levels - 1, left);
            }
        }
    }

    /// A folder that git takes for a repository, although it is not called `.git`.
    pub fn add_bare_repository(&mut self, folder: &Path) {
        if !is_repository(folder) {
            return;
        }
        let settings = folder.join("config");
        let is_new = self.before.is_some() && !self.known.contains_key(&settings);
        if !is_new {
            self.add_repository(folder);
            return;
        }
        let meta = settings.symlink_metadata().ok();
        let content = meta.and_then(|meta| self.read(&settings, &meta));
        let is_plain = content.as_ref().is_none_or(|is| is_harmless(&settings, None, Some(is)));
        if !is_plain || folder.join("commondir").exists() {
            // Without this file it is none. The others may be the project's.
            self.add(&folder.join("HEAD"));
        }
    }

    fn add_repository(&mut self, git: &Path) {
        let git = &git.canonicalize().unwrap_or_else(|_| git.to_owned());
        // A link that a step made may lead to a repository that it has nothing to do with.
        let is_inside = self.roots.iter().any(|root| git.starts_with(root));
        let mut known = self.known.range(git.clone()..).map(|(path, _)| path);
        if self.before.is_some()
            && !is_inside
            && !known.next().is_some_and(|it| it.starts_with(git))
        {
            return;
        }
        self.add_git_files(git);
        self.add_modules(&git.join("modules"), DEPTH);
        self.named_by_settings(git).iter().for_each(|path| self.add(path));
    }

    fn add_git_files(&mut self, git: &Path) {
        // A folder is in none of them, a link in its place is. Where there is a `commondir`, the
        // settings and hooks are those of another folder.
        for name in ["config", "config.worktree", "commondir", "hooks", "info", "modules"] {
            self.add(&git.join(name));
        }
        // Git still reads remotes of an older form from files.
        let folders = ["hooks", "remotes", "branches"].map(|name| entries(&git.join(name)));
        folders.iter().flatten().for_each(|path| self.add(path));
        if is_folder(&git.join("info")) {
            self.add(&git.join("info/attributes"));
        }
        self.add(&git.join(REBASE));
        for tree in entries(&git.join("worktrees")) {
            let names = ["config.worktree", "commondir", REBASE];
            names.iter().for_each(|name| self.add(&tree.join(name)));
        }
    }

    /// The repositories of submodules, and of theirs.
    fn add_modules(&mut self, folder: &Path, levels: usize) {
        let is_own = levels < DEPTH && folder.join("objects").is_dir();
        if is_own {
            self.add_git_files(folder);
        }
        let is_part =
            |path: &PathBuf| is_own && OF_REPOSITORY.iter().any(|name| path.ends_with(name));
        for path in entries(folder).into_iter().filter(|path| !is_part(path)) {
            if !is_folder(&path) {
                // A link in the place of a repository.
                if path.is_dir() {
                    self.add(&path);
                }
            } else if levels > 0 {
                self.add_modules(&path, levels - 1);
            }
        }
    }

    /// The hooks, settings and programs in the project that the settings of a repository name.
    fn named_by_settings(&self, git: &Path) -> Vec<PathBuf> {
        let settings = match self.content_before(&git.join("config")) {
            Some(Content::File { bytes, .. }) => repository::parse(bytes).unwrap_or_default(),
            Some(Content::Link(_) | Content::Large { .. }) | None => Vec::new(),
        };
        let tree = git.parent().filter(|_| git.ends_with(".git")).unwrap_or(git);
        let mut named = Vec::new();
        for setting in settings {
            match (setting.section.as_str(), setting.name.as_str()) {
                ("core", "hookspath") => {
                    let folder = tree.join(&setting.value);
                    named.extend(HOOKS.iter().map(|name| folder.join(name)));
                }
                ("include" | "includeif", "path") => named.push(git.join(&setting.value)),
                _ if repository::starts_program(&setting) => {
                    let words =
                        setting.value.split(|c: char| c.is_whitespace() || "!;&|'\"=".contains(c));
                    let words = words.filter(|word| word.contains(['/', '.']));
                    named.extend(words.map(|word| tree.join(word)).filter(|path| path.is_file()));
                }
                _ => {}
            }
        }
        let real = |path: PathBuf| {
            let folder = path.parent()?.canonicalize().ok()?;
            Some(folder.join(path.file_name()?)).filter(|path| path.starts_with(tree))
        };
        named.into_iter().filter_map(real).collect()
    }

    pub fn add_known(&mut self, path: &Path) {
        if !self.files.contains_key(path) {
            self.add(path);
        }
    }

    fn add(&mut self, path: &Path) {
        let Ok(meta) = path.symlink_metadata() else { return };
        let changed = i128::from(meta.ctime()) * 1_000_000_000 + i128::from(meta.ctime_nsec());
        let stamp = (meta.ino(), meta.len(), changed);
        let known = self
            .known
            .get(path)
            .filter(|known| known.stamp == stamp && !is_recent(changed, known.read_at));
        let read_at = SystemTime::now();
        let file = known.cloned().or_else(|| {
            let content = self.read(path, &meta)?;
            Some(FileSnapshot { content, stamp, read_at })
        });
        if let Some(file) = file {
            if matches!(file.content, Content::File { .. }) {
                self.left = self.left.saturating_sub(meta.len());
            }
            self.files.insert(path.to_owned(), file);
        }
    }

    fn read(&self, path: &Path, meta: &fs::Metadata) -> Option<Content> {
        match meta.file_type() {
            kind if kind.is_symlink() => fs::read_link(path).ok().map(Content::Link),
            kind if kind.is_file() && meta.len() <= self.left => {
                let slot = FileSlot::open(path, MissingFolders::Fail).ok()?;
                let bytes = slot.file().ok()??.read(self.left).ok()?.into();
                Some(Content::File { bytes, mode: meta.permissions().mode() & 0o7777 })
            }
            kind if kind.is_dir() => None,
            _ => Some(Content::Large { len: meta.len(), changed: meta.ctime() }),
        }
    }
}

/// The entries of a folder, not of one that a link leads to.
fn entries(folder: &Path) -> Vec<PathBuf> {
    if !is_folder(folder) {
        return Vec::new();
    }
    let found = fs::read_dir(folder).into_iter().flatten().flatten();
    found.map(|entry| entry.path()).collect()
}
