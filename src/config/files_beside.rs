//! Finds the files that a script of a repository may take in: what was answered about the script
//! holds for these as well.

use std::fs;
use std::path::{Path, PathBuf};

use super::foreign_file::read_text;

/// The most files in all, of one folder, and the most of one that is read.
const MAX_FILES: usize = 64;
const MAX_ENTRIES: usize = 256;
const MAX_BYTES: u64 = 1 << 16;
/// The endings of what a script takes in to be run. Other files change every day.
const CODE: &str = "sh bash zsh fish js mjs cjs jsx ts mts cts tsx py rb pl pm php lua awk jq";

/// These files and the scripts that they name in turn: in their own folders and one below, by a
/// name without its ending, and anywhere by a path from the workspace.
pub fn with_files_beside(files: Vec<PathBuf>, workspace: &Path) -> Vec<PathBuf> {
    let mut found = files;
    let mut next = 0;
    while let Some(file) = found.get(next).cloned() {
        next += 1;
        // All may be in one that is too long.
        let text = read_text(&file, MAX_BYTES).ok().flatten();
        for path in files_named_in(text.as_deref(), &file, workspace) {
            if found.len() < MAX_FILES && !found.contains(&path) {
                found.push(path);
            }
        }
    }
    found
}

fn files_named_in(text: Option<&str>, file: &Path, workspace: &Path) -> Vec<PathBuf> {
    let is_named = |path: &PathBuf| {
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        stem.is_some_and(|stem| text.is_none_or(|text| text.contains(&stem)))
    };
    let is_code = |path: &PathBuf| {
        let ending = path.extension().map(|ending| ending.to_string_lossy().into_owned());
        ending.is_none_or(|ending| CODE.split(' ').any(|code| code == ending))
    };
    let beside = file.parent().map(entries).unwrap_or_default().into_iter().filter(is_named);
    let beside = beside.flat_map(|path| {
        if path.is_dir() {
            entries(&path).into_iter().filter(is_named).collect()
        } else {
            vec![path]
        }
    });
    let is_path = |c: char| c.is_alphanumeric() || "_-./".contains(c);
    let words = text.unwrap_or_default().split(|c| !is_path(c));
    let words = words.filter(|word| word.trim_matches('/').contains('/')).take(MAX_ENTRIES);
    let of_workspace = words.map(|word| workspace.join(word.trim_start_matches(['.', '/'])));
    let all = beside.chain(of_workspace).filter(is_code);
    all.filter(|path| path.starts_with(workspace) && path.is_file()).collect()
}

/// Sorted, so that it is always the same ones that count where there are many.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).take(MAX_ENTRIES).collect();
    paths.sort_unstable();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_script_names_counts_with_it_and_what_that_names_too() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let write = |name: &str, text: &str| {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            path
        };
        let script =
            write("hooks/check.sh", ". \"$(dirname \"$0\")/lib.sh\"\nnode tools/run/a.js\n");
        let all = [
            script.clone(),
            write("hooks/lib.sh", "python3 -c 'import helper'\n"),
            write("tools/run/a.js", "require('./parts/b')\n"),
            write("hooks/helper.py", ""),
            write("tools/run/parts/b.js", ""),
        ];
        write("hooks/other.sh", "");
        write("hooks/lib.json", "");
        write("README.md", "");
        assert_eq!(with_files_beside(vec![script], &root), all);
    }
}
