//! Reads the branch of a folder from `.git/HEAD` without starting git.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A file larger than this is neither a `HEAD` nor a pointer to a repository.
const MAX_LENGTH: u64 = 1024;

/// The branch, or the first digits of a detached head; `None` where there is neither.
pub fn current_branch(folder: &Path) -> Option<String> {
    let git = folder.ancestors().find_map(repository_folder)?;
    name(&read_short(&git.join("HEAD"))?)
}

/// Where the `.git` of a folder is or, in a linked worktree and in a submodule, leads.
fn repository_folder(folder: &Path) -> Option<PathBuf> {
    let git = folder.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    let text = read_short(&git)?;
    let target = text.strip_prefix("gitdir: ")?.trim_end_matches(['\r', '\n']);
    Some(folder.join(target))
}

/// The text of a plain file: opening a pipe would wait.
fn read_short(path: &Path) -> Option<String> {
    let mut text = String::new();
    let file = path.is_file().then(|| File::open(path).ok()).flatten()?;
    file.take(MAX_LENGTH).read_to_string(&mut text).ok()?;
    Some(text)
}

fn name(head: &str) -> Option<String> {
    let head = head.trim();
    match head.strip_prefix("ref: refs/heads/") {
        Some(branch) if !branch.contains(char::is_control) => Some(branch.to_owned()),
        Some(_) => None,
        None => head
            .get(..8)
            .filter(|digits| digits.chars().all(|c| c.is_ascii_hexdigit()))
            .map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_names_its_branch_or_its_commit() {
        assert_eq!(name("ref: refs/heads/feat/x\n"), Some("feat/x".into()));
        assert_eq!(name("0123456789abcdef0123\n"), Some("01234567".into()));
        assert_eq!(name("ref: refs/heads/\u{1b}[2J\n"), None);
        assert_eq!(name(""), None);
        assert_eq!(name("nonsense"), None);
    }

    #[test]
    fn a_pointer_to_a_repository_is_followed() {
        let temp = tempfile::tempdir().unwrap();
        let (own, tree) = (temp.path().join("main/.git/worktrees/side"), temp.path().join("side"));
        std::fs::create_dir_all(&own).unwrap();
        std::fs::create_dir_all(tree.join("src")).unwrap();
        std::fs::write(own.join("HEAD"), "ref: refs/heads/side\n").unwrap();
        for target in [own.to_str().unwrap(), "../main/.git/worktrees/side"] {
            std::fs::write(tree.join(".git"), format!("gitdir: {target}\n")).unwrap();
            assert_eq!(current_branch(&tree.join("src")), Some("side".into()), "{target}");
        }
        std::fs::write(tree.join(".git"), "gitdir: /missing\n").unwrap();
        assert_eq!(current_branch(&tree), None);
    }
}
