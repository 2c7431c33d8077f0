//! Runs git without the programs that a repository may have planted.
//!
//! A repository's own configuration can name programs that `status`, `diff` or `log`
//! would run. For steps that run by themselves it is overruled through the
//! environment, and diff drivers are switched off by flags.
//!
//! Filters that the repository defines are emptied one by one, by name, which every version
//! of git understands and which leaves line endings and the user's own filters (LFS) as
//! they are. Where the names cannot be determined, attributes are read from the empty tree
//! instead. Whether git runs there by itself at all is up to the policy; it reads the same
//! files with the same reader.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::super::system::FileMachine;
use super::environment::Variables;
use avocet_safety::repository;

/// Overrules for L0, as `GIT_CONFIG_KEY_n` and `GIT_CONFIG_VALUE_n`.
const OVERRULED: &[(&str, &str)] = &[
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("core.sshCommand", "false"),
    ("core.attributesFile", "/dev/null"),
    ("safe.bareRepository", "explicit"),
    ("log.showSignature", "false"),
    ("gpg.program", "false"),
    ("gpg.ssh.program", "false"),
    ("gpg.x509.program", "false"),
    ("protocol.allow", "never"),
    ("credential.helper", ""),
    // A submodule is read by a second git that drops our overrules.
    ("diff.ignoreSubmodules", "dirty"),
    ("diff.submodule", "short"),
    ("status.submoduleSummary", "false"),
    ("submodule.recurse", "false"),
    // A stash shows names alone unless it is asked for more, and then it was judged so.
    ("stash.showPatch", "false"),
    ("stash.showIncludeUntracked", "false"),
];

/// Flags added after a sub-command; the first matching row applies. Submodules are not
/// looked into.
const FLAGS: &[(&str, &[&str])] = &[
    ("diff", DIFFS),
    ("diff-files", DIFFS),
    ("diff-index", DIFFS),
    ("diff-tree", SHOWS),
    ("log", SHOWS),
    ("whatchanged", SHOWS),
    ("show", SHOWS),
    ("stash list", SHOWS),
    ("stash show", SHOWS),
    ("reflog list", &[]),
    ("reflog exists", &[]),
    ("reflog show", SHOWS),
    ("reflog", SHOWS),
    ("blame", &["--no-textconv"]),
    ("annotate", &["--no-textconv"]),
    ("grep", &["--no-textconv"]),
    ("status", &["--ignore-submodules=dirty"]),
];
const SHOWS: &[&str] = &["--no-ext-diff", "--no-textconv"];
const DIFFS: &[&str] = &["--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty"];

/// Settings that make a filter do nothing.
const EMPTIED: &[(&str, &str)] =
    &[("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")];

/// The tree without a file in it, so without attributes (git 2.41 and later).
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// Filters that are emptied one by one.
const MAX_FILTERS: usize = 64;

/// What overrides cannot reach, for every git: missing objects are not fetched, and only
/// the tree's own attributes are read.
const SET: &[(&str, &str)] = &[("GIT_NO_LAZY_FETCH", "1"), ("GIT_ATTR_NOSYSTEM", "1")];

/// Settings from a repository's own configuration.
#[derive(Debug, PartialEq, Eq)]
enum Filters {
    Named(BTreeSet<String>),
    /// Something could not be read, or is too much.
    Unknown,
}

/// Whether a setting is overruled for a sub-command. Those that print settings would print ours
/// as if they were the user's.
fn is_overruled(name: Option<&str>, key: &str) -> bool {
    match name {
        Some("config" | "var") => false,
        Some("rev-parse") => key != "core.hooksPath",
        _ => true,
    }
}

/// Adds the overrules. Reads the repository's configuration from disk.
pub(super) fn harden(variables: &mut Variables, cwd: &Path, args: &[String]) {
    let name = subcommand(args).and_then(|at| args.get(at)).map(String::as_str);
    let rows = OVERRULED.iter().map(|(key, value)| ((*key).to_owned(), *value));
    let mut rows: Vec<(String, &str)> = rows.collect();
    match filters(cwd) {
        Filters::Named(names) => rows.extend(names.iter().flat_map(|name| {
            EMPTIED.iter().map(move |(key, value)| (format!("filter.{name}.{key}"), *value))
        })),
        Filters::Unknown => {
            variables.insert("GIT_ATTR_SOURCE".into(), EMPTY_TREE.into());
        }
    }
    rows.retain(|(key, _)| is_overruled(name, key));
    variables.extend(SET.iter().map(|(name, value)| (name.into(), value.into())));
    variables.insert("GIT_CONFIG_COUNT".into(), rows.len().to_string().into());
    for (n, (key, value)) in rows.into_iter().enumerate() {
        variables.insert(format!("GIT_CONFIG_KEY_{n}").into(), key.into());
        variables.insert(format!("GIT_CONFIG_VALUE_{n}").into(), value.into());
    }
}

/// Sub-commands that rewrite the index where only times have changed, whatever the setting
/// for locks.
const REFRESHES: &[&str] = &["diff", "describe"];

/// The list of tracked files of the repository git will find, if the sub-command would
/// write it anew. Reads the repository's configuration from disk.
pub(super) fn index_to_refresh(args: &[String], folder: &Path) -> Option<PathBuf> {
    let name = subcommand(args).and_then(|at| args.get(at))?;
    if !REFRESHES.contains(&name.as_str()) {
        return None;
    }
    let folder = folder.canonicalize().ok()?;
    repository::read(&FileMachine, &folder).index().map(Path::to_owned)
}

/// Lets git use a copy of the list, so that the repository stays as it is. The copy is as
/// old as the list: git compares times of files with it.
pub(super) fn use_index_copy(index: &Path, temp: &Path, variables: &mut Variables) {
    let copy = temp.join("index");
    let copied = std::fs::copy(index, &copy).and_then(|_| {
        let modified = index.metadata()?.modified()?;
        std::fs::File::options().write(true).open(&copy)?.set_modified(modified)
    });
    if copied.is_ok() {
        variables.insert("GIT_INDEX_FILE".into(), copy.into());
    }
}

/// The arguments with the flags that make them harmless, directly after the sub-command.
pub(super) fn args(args: &[String]) -> Vec<OsString> {
    let mut out: Vec<OsString> = args.iter().map(OsString::from).collect();
    let Some(at) = subcommand(args) else { return out };
    let rest = args.get(at..).unwrap_or_default();
    // Only there it asks for the manual.
    if rest.get(1).is_some_and(|arg| arg == "--help") {
        return out;
    }
    let row = FLAGS.iter().find(|(names, _)| {
        names.split(' ').enumerate().all(|(n, name)| rest.get(n).is_some_and(|arg| arg == name))
    });
    if let Some((names, flags)) = row {
        let behind = at + names.split(' ').count();
        out.splice(behind..behind, flags.iter().map(OsString::from));
    }
    out
}

/// The folder git will run in: `-C`, once or more, moves it.
pub(super) fn working_folder(cwd: &Path, args: &[String]) -> PathBuf {
    let before = args.get(..subcommand(args).unwrap_or(args.len())).unwrap_or_default();
    let moves = before.windows(2).filter(|pair| pair[0] == "-C");
    moves.fold(cwd.to_owned(), |folder, pair| folder.join(&pair[1]))
}

/// The index of the sub-command, after global options.
fn subcommand(args: &[String]) -> Option<usize> {
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        match arg.as_str() {
            "-C" | "-c" => at += 2,
            flag if flag.starts_with('-') => at += 1,
            _ => return Some(at),
        }
    }
    None
}

/// The filters that the repositories git could find from here define.
fn filters(cwd: &Path) -> Filters {
    let folder = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
    let found = repository::read(&FileMachine, &folder);
    let entries = found.settings.into_iter().map(|(entry, _)| entry);
    let names: BTreeSet<String> =
        entries.filter(|e| e.section == "filter").filter_map(|e| e.subsection).collect();
    let known = found.unread.is_none() && names.len() <= MAX_FILTERS;
    if known { Filters::Named(names) } else { Filters::Unknown }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hardened(args_of: &[&str]) -> Vec<String> {
        let owned: Vec<String> = args_of.iter().map(|arg| (*arg).to_owned()).collect();
        args(&owned).iter().map(|arg| arg.to_string_lossy().into_owned()).collect()
    }

    fn named(names: &[&str]) -> Filters {
        Filters::Named(names.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn harmless_flags_come_right_after_the_subcommand() {
        assert_eq!(
            hardened(&["-C", "sub", "diff", "--", "a"]),
            [
                "-C",
                "sub",
                "diff",
                "--no-ext-diff",
                "--no-textconv",
                "--ignore-submodules=dirty",
                "--",
                "a"
            ]
        );
        assert_eq!(hardened(&["--no-pager", "log"]).len(), 4);
        assert_eq!(hardened(&["status", "diff"])[1..], ["--ignore-submodules=dirty", "diff"]);
        assert_eq!(hardened(&["blame", "diff"]), ["blame", "--no-textconv", "diff"]);
        assert_eq!(hardened(&["log", "--help"]), ["log", "--help"], "this is a manual page");
        assert_eq!(hardened(&["stash", "list", "-p"])[2..4], ["--no-ext-diff", "--no-textconv"]);
        assert_eq!(hardened(&["stash"]), ["stash"]);
        assert_eq!(hardened(&["--version"]), ["--version"]);
    }

    #[test]
    fn a_command_that_prints_settings_prints_the_users_and_fetches_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let overruled = |args: &[&str]| {
            let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
            let mut variables = Variables::new();
            harden(&mut variables, folder.path(), &args);
            assert_eq!(variables.get(&OsString::from("GIT_NO_LAZY_FETCH")), Some(&"1".into()));
            let keys = variables
                .iter()
                .filter(|(name, _)| name.to_string_lossy().starts_with("GIT_CONFIG_KEY"));
            keys.map(|(_, key)| key.to_string_lossy().into_owned()).collect::<BTreeSet<_>>()
        };
        assert!(overruled(&["config", "-l"]).is_empty());
        assert!(overruled(&["var", "GIT_EDITOR"]).is_empty());
        let parsed = overruled(&["-C", "sub", "rev-parse", "HEAD"]);
        assert!(parsed.contains("protocol.allow") && !parsed.contains("core.hooksPath"));
        let status = overruled(&["status"]);
        assert!(status.contains("protocol.allow") && status.contains("core.hooksPath"));
    }

    #[test]
    fn the_working_folder_follows_dash_c() {
        let args = ["-C", "a", "--no-pager", "-C", "../b", "status", "-C"].map(str::to_owned);
        assert_eq!(working_folder(Path::new("/w"), &args), Path::new("/w/a/../b"));
    }

    fn repository(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in
            [("HEAD", "ref: refs/heads/x\n"), ("objects/x", ""), ("refs/x", "")].iter().chain(files)
        {
            let path = folder.path().join(".git").join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
            std::fs::write(path, text).expect("a file");
        }
        folder
    }

    #[test]
    fn filters_of_the_repository_and_of_its_includes_are_named() {
        let files = [
            ("config", "[include]\n\tpath = more\n[Filter \"a b\"]\nclean = x\n"),
            ("more", "[filter \"b\"]\n\tclean = x\n"),
        ];
        let folder = repository(&files);
        std::fs::create_dir(folder.path().join("deep")).expect("a folder");
        assert_eq!(filters(&folder.path().join("deep")), named(&["a b", "b"]));
        assert_eq!(filters(tempfile::tempdir().expect("a folder").path()), named(&[]));
    }

    #[test]
    fn settings_that_cannot_be_read_leave_the_names_unknown() {
        for text in ["[include]\npath = config\n", "[filter \"a\n"] {
            assert_eq!(filters(repository(&[("config", text)]).path()), Filters::Unknown);
        }
    }
}
