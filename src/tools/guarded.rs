//! Puts back the settings and hooks of a repository that an approved step changed although its
//! own row does not say so: what git reads there runs later, outside the sandbox.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// The most that is kept, in bytes. A repository has a few short files; what exceeds this is
/// told by its length and time.
const MOST: u64 = 16 * 1024 * 1024;

/// How deep the repositories of submodules may lie in each other.
const DEPTH: usize = 4;

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Content {
    File { bytes: Vec<u8>, mode: u32 },
    Link(PathBuf),
    Large { len: u64, changed: i64 },
}

type Files = BTreeMap<PathBuf, Content>;

/// The files before a step.
#[derive(Debug)]
pub struct GuardedFiles {
    root: PathBuf,
    files: Files,
}

impl GuardedFiles {
    /// Reads them; `None`: the folder is no repository of its own.
    pub fn read(root: &Path) -> Option<GuardedFiles> {
        let root = root.to_owned();
        is_folder(&root.join(".git"))
            .then(|| GuardedFiles { files: read_repository(&root.join(".git")), root })
    }

    /// Puts back what changed since, and answers with its names.
    pub fn put_back(self) -> Vec<String> {
        let git = self.root.join(".git");
        if !is_folder(&git) {
            // It was moved away. What took its place leads git elsewhere.
            return if fs::remove_file(&git).is_ok() {
                vec![".git".to_owned()]
            } else {
                Vec::new()
            };
        }
        let now = read_repository(&git);
        let added = now.keys().filter(|path| !self.files.contains_key(*path));
        let changed = self.files.iter().filter(|(path, was)| now.get(*path) != Some(*was));
        let mut names: Vec<PathBuf> = added.cloned().collect();
        names.iter().for_each(|path| remove(path));
        for (path, was) in changed {
            // Where it cannot be written it is named all the same.
            let _ = write(&self.root, path, was);
            names.push(path.clone());
        }
        names.sort_unstable();
        let short = |path: &PathBuf| path.strip_prefix(&self.root).unwrap_or(path).to_owned();
        names.iter().map(|path| short(path).to_string_lossy().into_owned()).collect()
    }
}

fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.is_dir())
}

fn read_repository(git: &Path) -> Files {
    let mut reader = Reader { files: Files::new(), left: MOST };
    reader.add_repository(git, DEPTH);
    reader.files
}

/// Reads files until they are too many bytes.
struct Reader {
    files: Files,
    left: u64,
}

impl Reader {
    fn add_repository(&mut self, git: &Path, depth: usize) {
        // A folder is in none of them, a link in its place is.
        for name in ["config", "config.worktree", "hooks", "info", "modules"] {
            self.add(&git.join(name));
        }
        entries(&git.join("hooks")).iter().for_each(|path| self.add(path));
        if is_folder(&git.join("info")) {
            self.add(&git.join("info/attributes"));
        }
        let mut folders = if depth > 0 { entries(&git.join("modules")) } else { Vec::new() };
        folders.retain(|path| is_folder(path));
        for module in folders {
            // A name with a slash has a folder of its own: `modules/libs/x`.
            if is_folder(&module.join("objects")) {
                self.add_repository(&module, depth - 1);
            } else {
                let inner = entries(&module).into_iter().filter(|path| is_folder(path));
                inner.for_each(|path| self.add_repository(&path, depth - 1));
            }
        }
    }

    fn add(&mut self, path: &Path) {
        let Ok(meta) = path.symlink_metadata() else { return };
        let (len, changed) = (meta.len(), meta.ctime());
        let content = match meta.file_type() {
            kind if kind.is_symlink() => fs::read_link(path).ok().map(Content::Link),
            kind if kind.is_file() && len <= self.left => fs::read(path)
                .ok()
                .map(|bytes| Content::File { bytes, mode: meta.permissions().mode() & 0o7777 }),
            kind if kind.is_dir() => None,
            _ => Some(Content::Large { len, changed }),
        };
        if let Some(content) = content {
            if matches!(content, Content::File { .. }) {
                self.left = self.left.saturating_sub(len);
            }
            self.files.insert(path.to_owned(), content);
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

/// Never through a link: what it leads to is no part of the repository.
fn remove(path: &Path) {
    let _ = if is_folder(path) { fs::remove_dir_all(path) } else { fs::remove_file(path) };
}

fn write(root: &Path, path: &Path, was: &Content) -> std::io::Result<()> {
    let above: Vec<&Path> = path.ancestors().skip(1).take_while(|above| *above != root).collect();
    for folder in above.into_iter().rev().filter(|folder| !is_folder(folder)) {
        remove(folder);
        fs::create_dir(folder)?;
    }
    if !matches!(was, Content::Large { .. }) {
        remove(path);
    }
    match was {
        Content::Large { .. } => Ok(()),
        Content::Link(target) => symlink(target, path),
        Content::File { bytes, mode } => {
            fs::write(path, bytes)?;
            fs::set_permissions(path, Permissions::from_mode(*mode))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repository() -> (tempfile::TempDir, PathBuf) {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        for folder in
            [".git/hooks", ".git/info", ".git/modules/lib/objects", ".git/modules/a/b/objects"]
        {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        for (name, text) in [
            (".git/config", "[core]\n"),
            (".git/hooks/pre-commit", "#!/bin/sh\n"),
            (".git/modules/lib/config", "[core]\n"),
            (".git/modules/a/b/config", "[core]\n"),
        ] {
            fs::write(root.join(name), text).unwrap();
        }
        (temp, root)
    }

    #[test]
    fn every_change_of_settings_and_hooks_is_put_back_and_named() {
        type Change = fn(&Path);
        let changes: [(&str, Change); 9] = [
            (".git/hooks/pre-push", |root| {
                fs::write(root.join(".git/hooks/pre-push"), "x").unwrap()
            }),
            (".git/hooks/pre-commit", |root| {
                fs::write(root.join(".git/hooks/pre-commit"), "x").unwrap()
            }),
            (".git/hooks/pre-commit", |root| {
                let mode = Permissions::from_mode(0o755);
                fs::set_permissions(root.join(".git/hooks/pre-commit"), mode).unwrap();
            }),
            (".git/config", |root| {
                fs::write(root.join(".git/config"), "[core]\nfsmonitor=x\n").unwrap()
            }),
            (".git/config", |root| fs::remove_file(root.join(".git/config")).unwrap()),
            (".git/info/attributes", |root| {
                fs::write(root.join(".git/info/attributes"), "* filter=x").unwrap()
            }),
            (".git/modules/lib/config", |root| {
                fs::write(root.join(".git/modules/lib/config"), "x").unwrap()
            }),
            (".git/modules/a/b/hooks/x", |root| {
                fs::create_dir(root.join(".git/modules/a/b/hooks")).unwrap();
                fs::write(root.join(".git/modules/a/b/hooks/x"), "x").unwrap();
            }),
            (".git/config", |root| {
                fs::write(root.join("evil"), "x").unwrap();
                fs::remove_file(root.join(".git/config")).unwrap();
                symlink(root.join("evil"), root.join(".git/config")).unwrap();
            }),
        ];
        for (name, change) in changes {
            let (_temp, root) = repository();
            let before = read_repository(&root.join(".git"));
            let guarded = GuardedFiles::read(&root).unwrap();
            change(&root);
            assert_eq!(guarded.put_back(), [name]);
            assert_eq!(read_repository(&root.join(".git")), before, "{name}");
        }
    }

    #[test]
    fn a_folder_of_hooks_that_became_a_link_is_a_folder_again() {
        let (_temp, root) = repository();
        let guarded = GuardedFiles::read(&root).unwrap();
        fs::create_dir(root.join("evil")).unwrap();
        fs::write(root.join("evil/pre-push"), "x").unwrap();
        fs::remove_dir_all(root.join(".git/hooks")).unwrap();
        symlink("../evil", root.join(".git/hooks")).unwrap();
        assert_eq!(guarded.put_back(), [".git/hooks", ".git/hooks/pre-commit"]);
        assert!(is_folder(&root.join(".git/hooks")) && root.join("evil/pre-push").exists());
        assert!(!root.join(".git/hooks/pre-push").exists());
    }

    #[test]
    fn nothing_is_removed_or_written_where_a_link_leads() {
        for link in
            [".git/info", ".git/hooks", ".git/modules", ".git/modules/a", ".git/modules/lib"]
        {
            let (_temp, root) = repository();
            let elsewhere = tempfile::tempdir().unwrap();
            for folder in ["b", "a/b", "lib", "hooks"] {
                fs::create_dir_all(elsewhere.path().join(folder)).unwrap();
            }
            for name in ["attributes", "config", "b/config", "pre-commit", "lib/config", "hooks/x"]
            {
                fs::write(elsewhere.path().join(name), "own").unwrap();
            }
            let guarded = GuardedFiles::read(&root).unwrap();
            let before = read_repository(&root.join(".git"));
            fs::remove_dir_all(root.join(link)).unwrap();
            symlink(elsewhere.path(), root.join(link)).unwrap();
            guarded.put_back();
            for name in ["attributes", "config", "b/config", "pre-commit", "lib/config", "hooks/x"]
            {
                let text = fs::read_to_string(elsewhere.path().join(name)).unwrap();
                assert_eq!(text, "own", "{link} {name}");
            }
            assert!(!elsewhere.path().join("a/b/config").exists(), "{link}");
            let now = read_repository(&root.join(".git"));
            assert!(before.iter().all(|(path, was)| now.get(path) == Some(was)), "{link}");
        }
    }

    #[test]
    fn a_repository_that_became_a_pointer_leads_nowhere() {
        let (_temp, root) = repository();
        let guarded = GuardedFiles::read(&root).unwrap();
        fs::rename(root.join(".git"), root.join("moved")).unwrap();
        fs::write(root.join(".git"), "gitdir: evil\n").unwrap();
        assert_eq!(guarded.put_back(), [".git"]);
        assert!(!root.join(".git").exists());
    }

    #[test]
    fn ordinary_work_in_a_repository_changes_nothing_that_is_guarded() {
        let (_temp, root) = repository();
        let guarded = GuardedFiles::read(&root).unwrap();
        fs::write(root.join(".git/index"), "x").unwrap();
        fs::write(root.join("a.rs"), "x").unwrap();
        assert_eq!(guarded.put_back(), [""; 0]);
        assert!(GuardedFiles::read(&root.join(".git")).is_none());
    }
}
