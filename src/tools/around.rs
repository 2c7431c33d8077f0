//! Finds the repository that a folder belongs to, without starting git.
//!
//! A delivered folder may have anything called `.git` beside it. So no pointer is followed,
//! and a repository counts only where it is plainly the user's own: a real folder, theirs,
//! whose settings name no other tree.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A settings file larger than this is not a repository's.
const MAX_LENGTH: u64 = 256 * 1024;

/// The root of the repository around `folder`; `None` where the folder is the root itself,
/// is not in a repository, or the repository is not one to rely on. Both paths have their
/// links resolved.
pub fn enclosing_repository(folder: &Path, home: &Path) -> Option<PathBuf> {
    let user = rustix::process::geteuid().as_raw();
    let root = folder.ancestors().find(|folder| folder.join(".git").symlink_metadata().is_ok())?;
    // A tree above the home contains the home, and above a root of its own nothing belongs
    // to it.
    let whole = root == Path::new("/") || home.starts_with(root) || root == folder;
    (!whole && is_owned_by(root, user) && is_plain_repository(&root.join(".git"), user))
        .then(|| root.to_owned())
}

fn is_owned_by(folder: &Path, user: u32) -> bool {
    let own = |meta: &Metadata| meta.is_dir() && meta.uid() == user && meta.mode() & 0o002 == 0;
    fs::symlink_metadata(folder).is_ok_and(|meta| own(&meta))
}

/// A repository whose tree is the folder that contains it.
fn is_plain_repository(git: &Path, user: u32) -> bool {
    let there = ["objects", "refs"].iter().all(|name| git.join(name).is_dir());
    let elsewhere = ["commondir", "gitdir", "config.worktree"];
    let shared = elsewhere.iter().any(|name| git.join(name).symlink_metadata().is_ok());
    is_owned_by(git, user) && there && !shared && has_default_worktree(&git.join("config"))
}

/// Whether settings leave the tree where it is. What includes others could say anything.
fn has_default_worktree(config: &Path) -> bool {
    let readable =
        fs::symlink_metadata(config).is_ok_and(|meta| meta.is_file() && meta.len() <= MAX_LENGTH);
    let text = readable.then(|| fs::read_to_string(config).ok()).flatten();
    text.is_some_and(|text| {
        let text = text.to_ascii_lowercase();
        let plain: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        !["worktree=", "bare=true", "[include", "\\"].iter().any(|part| plain.contains(part))
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    struct Tree {
        _temp: tempfile::TempDir,
        root: PathBuf,
    }

    fn tree() -> Tree {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("home/mono/apps/shop/src")).unwrap();
        Tree { _temp: temp, root }
    }

    impl Tree {
        fn at(&self, path: &str) -> PathBuf {
            self.root.join(path)
        }

        fn git(&self, path: &str, config: &str) {
            for part in ["objects", "refs"] {
                fs::create_dir_all(self.at(path).join(".git").join(part)).unwrap();
            }
            fs::write(self.at(path).join(".git/config"), config).unwrap();
        }

        fn found(&self, folder: &str) -> Option<PathBuf> {
            enclosing_repository(&self.at(folder), &self.at("home"))
        }
    }

    #[test]
    fn a_subfolder_of_a_repository_finds_its_root() {
        let tree = tree();
        assert_eq!(tree.found("home/mono/apps/shop"), None);
        tree.git("home/mono", "[core]\n\tbare = false\n");
        assert_eq!(tree.found("home/mono/apps/shop"), Some(tree.at("home/mono")));
        assert_eq!(tree.found("home/mono"), None, "the root needs nothing more");
    }

    #[test]
    fn the_home_folder_and_its_parents_are_not_an_enclosing_repository() {
        let tree = tree();
        tree.git("home", "[core]\n");
        assert_eq!(tree.found("home/mono"), None);
        let tree = self::tree();
        tree.git("", "[core]\n");
        assert_eq!(tree.found("home/mono"), None);
    }

    #[test]
    fn a_pointer_to_elsewhere_is_not_followed() {
        let tree = tree();
        tree.git("elsewhere", "[core]\n");
        let git = tree.at("home/mono/.git");
        fs::write(&git, format!("gitdir: {}\n", tree.at("elsewhere/.git").display())).unwrap();
        assert_eq!(tree.found("home/mono/apps"), None);
        fs::remove_file(&git).unwrap();
        symlink(tree.at("elsewhere/.git"), &git).unwrap();
        assert_eq!(tree.found("home/mono/apps"), None);
        fs::remove_file(&git).unwrap();
        fs::create_dir(&git).unwrap();
        assert_eq!(tree.found("home/mono/apps"), None, "an empty folder is no repository");
    }

    #[test]
    fn settings_that_name_another_worktree_are_rejected() {
        for config in [
            "[core]\n\tworktree = /\n",
            "[core]\n\tWorkTree=..\n",
            "[core]\n\tbare = true\n",
            "[include]\n\tpath = x\n",
            "[includeIf \"gitdir:/\"]\n\tpath = x\n",
        ] {
            let tree = tree();
            tree.git("home/mono", config);
            assert_eq!(tree.found("home/mono/apps"), None, "{config}");
        }
        let tree = tree();
        tree.git("home/mono", "[core]\n");
        fs::write(tree.at("home/mono/.git/commondir"), "../x\n").unwrap();
        assert_eq!(tree.found("home/mono/apps"), None);
    }

    #[test]
    fn a_submodule_is_a_repository_of_its_own() {
        let tree = tree();
        tree.git("home/mono", "[core]\n");
        fs::write(tree.at("home/mono/apps/.git"), "gitdir: ../.git/modules/apps\n").unwrap();
        assert_eq!(tree.found("home/mono/apps"), None);
        assert_eq!(tree.found("home/mono/apps/shop"), None);
    }

    #[test]
    fn a_world_writable_folder_is_not_a_trusted_repository() {
        use std::os::unix::fs::PermissionsExt;
        let tree = tree();
        tree.git("home/mono", "[core]\n");
        let open = fs::Permissions::from_mode(0o777);
        fs::set_permissions(tree.at("home/mono"), open).unwrap();
        assert_eq!(tree.found("home/mono/apps"), None);
    }
}
