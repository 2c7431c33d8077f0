//! Walks the names below a folder, one after the other as they are met: those near the top
//! first. Only names are read, and the ignore files; nothing is opened, and no link is
//! followed. Stop asking, and nothing more is read.

use std::path::Path;

use ignore::{DirEntry, WalkBuilder};

use avocet_core::text::path_text;
use avocet_safety::is_hidden;

/// The depth of the first round. The second brings what is below.
const NEAR: usize = 2;
/// A path longer than this is left out, in bytes.
const MAX_LENGTH: usize = 1024;

/// The paths below `root`, relative to it, with `/` between the parts and, for folders, at
/// the end. Left out: ignored names, hidden names, names that could not be written as one word
/// in quotes, and names with letters that show nothing or reverse the text next to them.
pub fn names(root: &Path) -> impl Iterator<Item = String> + use<> {
    let root = root.to_owned();
    let near = walk_to_depth(&root, Some(NEAR));
    // Begun when the first round is over: a folder with little in it has no second.
    let deep = std::iter::once(root.clone()).flat_map(|root| walk_to_depth(&root, None));
    let deep = deep.filter(|entry| entry.depth() > NEAR);
    near.chain(deep).filter_map(move |entry| name(&root, &entry))
}

fn walk_to_depth(root: &Path, depth: Option<usize>) -> impl Iterator<Item = DirEntry> + use<> {
    WalkBuilder::new(root)
        .max_depth(depth)
        .follow_links(false)
        .hidden(true)
        // A folder that is not a repository yet has its ignore files all the same.
        .require_git(false)
        .build()
        .filter_map(Result::ok)
        .filter(|entry| entry.depth() > 0)
}

fn name(root: &Path, entry: &DirEntry) -> Option<String> {
    let mut name = path_text(entry.path().strip_prefix(root).ok()?).into_owned();
    let unwritable = |c: char| c.is_control() || c == '"' || is_hidden(c);
    if name.len() > MAX_LENGTH || name.contains(unwritable) {
        return None;
    }
    if entry.file_type().is_some_and(|kind| kind.is_dir()) {
        name.push('/');
    }
    Some(name)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn tree() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for folder in ["src/deep/er", "target/debug", ".git/objects", "docs"] {
            fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        for file in [
            "a b.rs",
            "src/lib.rs",
            "src/deep/er/文件.rs",
            "target/debug/x",
            ".git/HEAD",
            ".env",
            "docs/说明.md",
            "docs/draft.tmp",
            "docs/\u{202e}dm.exe",
            "docs/a\u{e0041}.md",
            "docs/b\u{7}.md",
        ] {
            fs::write(root.path().join(file), "").unwrap();
        }
        fs::write(root.path().join(".gitignore"), "target/\n*.tmp\n").unwrap();
        root
    }

    fn sorted(root: &Path) -> Vec<String> {
        let mut names: Vec<String> = names(root).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn ignored_and_hidden_names_are_left_out() {
        let expected = [
            "a b.rs",
            "docs/",
            "docs/b\\x07.md",
            "docs/说明.md",
            "src/",
            "src/deep/",
            "src/deep/er/",
            "src/deep/er/文件.rs",
            "src/lib.rs",
        ];
        assert_eq!(sorted(tree().path()), expected);
    }

    #[test]
    fn shallow_names_come_first() {
        let root = tree();
        let names: Vec<String> = names(root.path()).collect();
        let depth = |name: &String| name.trim_end_matches('/').matches('/').count();
        let first_deep = names.iter().position(|name| depth(name) >= NEAR).unwrap();
        assert!(names.iter().skip(first_deep).all(|name| depth(name) >= NEAR), "{names:?}");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_listed_and_not_followed() {
        let (root, outside) = (tree(), tempfile::tempdir().unwrap());
        fs::write(outside.path().join("secret"), "").unwrap();
        std::os::unix::fs::symlink(outside.path(), root.path().join("out")).unwrap();
        let names = sorted(root.path());
        assert!(names.contains(&"out".to_owned()));
        assert!(!names.iter().any(|name| name.contains("secret")), "{names:?}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_name_that_is_no_text_is_written_as_one_and_one_with_a_quote_is_left_out() {
        use std::os::unix::ffi::OsStrExt;
        let root = tree();
        for name in [&b"new\nline"[..], b"quo\"te", b"\xff\xfe"] {
            fs::write(root.path().join(std::ffi::OsStr::from_bytes(name)), "").unwrap();
        }
        let mut expected = sorted(tree().path());
        expected.extend([r"\xff\xfe", r"new\x0aline"].map(str::to_owned));
        expected.sort_unstable();
        assert_eq!(sorted(root.path()), expected);
    }

    #[test]
    fn a_folder_that_is_gone_has_no_names() {
        assert_eq!(sorted(Path::new("/no/such/folder")), [""; 0]);
    }
}
