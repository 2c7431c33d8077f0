//! Tells whether a checkpoint would keep all that is at and below a path, so that an undo brings it
//! back.

use std::path::Path;

use ignore::WalkBuilder;

use super::scan::{is_covered, is_secret, stamp};

/// The most entries that are looked at, and how much smaller a part of the folder must be than what
/// is copied at once.
const MAX_ENTRIES: usize = 1_000;
const SHARE: u64 = 4;

/// Whether only regular files are there that are neither ignored nor credentials, few and small
/// enough to be copied.
pub fn covers(root: &Path, path: &Path, most_bytes: u64) -> bool {
    let all = count_files(path, &mut everything(path));
    let kept = count_files(path, &mut looked_at(root, path));
    let Some((files, bytes)) = all else { return false };
    kept == all && files <= MAX_ENTRIES && bytes <= most_bytes / SHARE && is_covered(root, path)
}

/// How many regular files a walk meets at and below a path, and their size; `None`: something else
/// as well, or too much.
fn count_files(path: &Path, walk: &mut ignore::Walk) -> Option<(usize, u64)> {
    let mut files = 0;
    let mut bytes = 0;

    for entry in walk {
        let entry = entry.ok()?;
        if !entry.path().starts_with(path) || entry.file_type()?.is_dir() {
            continue;
        }
        files += 1;
        bytes += stamp(entry.path())?.size;
        if files > MAX_ENTRIES {
            return None;
        }
    }
    Some((files, bytes))
}

fn everything(path: &Path) -> ignore::Walk {
    WalkBuilder::new(path).standard_filters(false).follow_links(false).build()
}

/// What a checkpoint looks at, on the way to a path and below it.
fn looked_at(root: &Path, path: &Path) -> ignore::Walk {
    let path = path.to_owned();
    WalkBuilder::new(root)
        .hidden(false)
        .follow_links(false)
        .require_git(false)
        .same_file_system(true)
        .filter_entry(move |entry| {
            let is_on_the_way = path.starts_with(entry.path()) || entry.path().starts_with(&path);
            is_on_the_way && entry.file_name() != ".git" && !is_secret(entry)
        })
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "text\n").unwrap();
        };
        for path in ["a.txt", "src/b.txt", "src/.hidden", "build/x.o", "src/gen/y.o", "keys/.env"] {
            write(path);
        }
        std::fs::write(folder.path().join(".gitignore"), "build\n*.o\n").unwrap();
        std::fs::create_dir_all(folder.path().join("empty")).unwrap();
        std::fs::create_dir_all(folder.path().join("links")).unwrap();
        std::os::unix::fs::symlink("../a.txt", folder.path().join("links/l")).unwrap();
        write("sub/.git/config");
        folder
    }

    #[test]
    fn what_is_ignored_a_credential_or_a_link_does_not_come_back() {
        let folder = folder();
        let root = folder.path();
        let comes_back = |path: &str| covers(root, &root.join(path), 1024);
        for path in ["a.txt", "src/b.txt", "src/.hidden", "empty"] {
            assert!(comes_back(path), "{path}");
        }
        for path in
            ["build", "build/x.o", "src", "src/gen", "keys", "keys/.env", "links", "links/l", "sub"]
        {
            assert!(!comes_back(path), "{path}");
        }
        assert!(!covers(root, &root.join("a.txt"), 16), "it is too large to be copied");
    }
}
