//! Reads the branch of a folder from `.git/HEAD` without starting git. Follows no pointer
//! out of the folder: a name for the status line is not worth a surprise.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// A file larger than this is not a `HEAD`.
const LONGEST: u64 = 1024;

/// The branch, or the first digits of a detached head; `None` where there is neither.
pub fn current_branch(folder: &Path) -> Option<String> {
    let head = folder.ancestors().map(|folder| folder.join(".git")).find(|git| git.is_dir())?;
    let file = File::open(head.join("HEAD")).ok()?;
    let mut text = String::new();
    file.take(LONGEST).read_to_string(&mut text).ok()?;
    name(&text)
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
}
