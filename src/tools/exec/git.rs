//! git without what a repository may have planted.
//!
//! A repository's own configuration can name programs that `status`, `diff` or `log`
//! would run. For steps that run by themselves it is overruled through the
//! environment, and diff drivers are switched off by flags.
//!
//! Filters that the repository defines are emptied one by one, by name, which every
//! version of git understands and which leaves line endings and the user's own filters
//! (LFS) as they are. Where the names cannot be told, attributes are read from the
//! empty tree instead. `.git/info/attributes` naming drivers of the user, and judging
//! a repository before git is run there, are the policy's part.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::environment::Variables;

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
];

/// Flags put behind a sub-command. A submodule's own configuration would be read by a
/// second git that drops our overrules, so submodules are not looked into.
const FLAGS: &[(&str, &[&str])] = &[
    ("diff", &["--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty"]),
    ("log", &["--no-ext-diff", "--no-textconv"]),
    ("show", &["--no-ext-diff", "--no-textconv"]),
    ("status", &["--ignore-submodules=dirty"]),
];

/// What makes a filter do nothing.
const EMPTIED: &[(&str, &str)] =
    &[("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")];

/// The tree without a file in it, so without attributes (git 2.41 and later).
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// The most of a configuration that is read, in bytes; files that include each other;
/// filters.
const CONFIG_MOST: u64 = 256 * 1024;
const FILES_MOST: usize = 16;
const FILTERS_MOST: usize = 64;

/// What a repository's own configuration brings in.
#[derive(Debug, PartialEq, Eq)]
enum Filters {
    Named(BTreeSet<String>),
    /// Something could not be read, or is too much.
    Unknown,
}

/// Adds the overrules. Reads the repository's configuration from disk.
pub(super) fn harden(variables: &mut Variables, cwd: &Path) {
    let rows = OVERRULED.iter().map(|(key, value)| ((*key).to_owned(), *value));
    let mut rows: Vec<(String, &str)> = rows.collect();
    match filters(configurations(cwd)) {
        Filters::Named(names) => rows.extend(names.iter().flat_map(|name| {
            EMPTIED.iter().map(move |(key, value)| (format!("filter.{name}.{key}"), *value))
        })),
        Filters::Unknown => {
            variables.insert("GIT_ATTR_SOURCE".into(), EMPTY_TREE.into());
        }
    }
    variables.insert("GIT_CONFIG_COUNT".into(), rows.len().to_string().into());
    for (n, (key, value)) in rows.into_iter().enumerate() {
        variables.insert(format!("GIT_CONFIG_KEY_{n}").into(), key.into());
        variables.insert(format!("GIT_CONFIG_VALUE_{n}").into(), value.into());
    }
}

/// The args with what makes them harmless, right behind the sub-command.
pub(super) fn args(args: &[String]) -> Vec<OsString> {
    let mut out: Vec<OsString> = args.iter().map(OsString::from).collect();
    if let Some(at) = subcommand(args)
        && let Some((_, flags)) =
            FLAGS.iter().find(|(name, _)| args.get(at).is_some_and(|arg| arg == name))
    {
        out.splice(at + 1..at + 1, flags.iter().map(OsString::from));
    }
    out
}

/// The folder git will stand in: `-C`, once or more, moves it.
pub(super) fn folder(cwd: &Path, args: &[String]) -> PathBuf {
    let before = args.get(..subcommand(args).unwrap_or(args.len())).unwrap_or_default();
    let moves = before.windows(2).filter(|pair| pair[0] == "-C");
    moves.fold(cwd.to_owned(), |folder, pair| folder.join(&pair[1]))
}

/// Where the sub-command stands, behind global options.
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

/// The filters that these files, and what they include, define.
fn filters(mut files: Vec<PathBuf>) -> Filters {
    let mut names = BTreeSet::new();
    let mut read = 0;
    while let Some(path) = files.pop() {
        read += 1;
        if !path.exists() {
            continue;
        }
        let Some(text) = text(&path).filter(|_| read <= FILES_MOST) else {
            return Filters::Unknown;
        };
        names.extend(filter_names(&text));
        if text.to_ascii_lowercase().contains("[include") {
            let folder = path.parent().unwrap_or(Path::new("/"));
            files.extend(included(&text).map(|path| folder.join(path)));
        }
    }
    if names.len() > FILTERS_MOST { Filters::Unknown } else { Filters::Named(names) }
}

/// Every `[filter "name"]`, wherever a bracket stands: too many do no harm.
fn filter_names(text: &str) -> impl Iterator<Item = String> {
    text.split('[').skip(1).filter_map(|rest| {
        let (word, rest) = rest.split_at_checked("filter".len())?;
        if !word.eq_ignore_ascii_case("filter") {
            return None;
        }
        if let Some(old) = rest.strip_prefix('.') {
            return old.split(']').next().map(str::to_owned);
        }
        let mut name = String::new();
        let mut chars = rest.trim_start().strip_prefix('"')?.chars();
        loop {
            match chars.next()? {
                '"' => return Some(name),
                '\\' => name.push(chars.next()?),
                other => name.push(other),
            }
        }
    })
}

/// Every value of a `path`, which is what an include has. A home is not resolved: what
/// lies there is the user's.
fn included(text: &str) -> impl Iterator<Item = &str> {
    text.split(['\n', ']']).filter_map(|line| {
        let (key, value) = line.split_once('=')?;
        let value = value.trim().trim_matches('"');
        (key.trim().eq_ignore_ascii_case("path") && !value.starts_with('~')).then_some(value)
    })
}

/// The repository's own configuration files. Empty outside a repository.
fn configurations(cwd: &Path) -> Vec<PathBuf> {
    let Some(git) = cwd.ancestors().map(|folder| folder.join(".git")).find(|git| git.exists())
    else {
        return Vec::new();
    };
    let own = git_folder(git);
    let common = match text(&own.join("commondir")) {
        Some(path) => own.join(path.trim()),
        None => own.clone(),
    };
    vec![common.join("config"), own.join("config.worktree")]
}

/// `.git` itself, or what it points at in a worktree or a submodule.
fn git_folder(git: PathBuf) -> PathBuf {
    let pointer = text(&git).unwrap_or_default();
    match (pointer.trim().strip_prefix("gitdir:"), git.parent()) {
        (Some(path), Some(folder)) => folder.join(path.trim()),
        _ => git,
    }
}

fn text(path: &Path) -> Option<String> {
    let meta = std::fs::metadata(path).ok()?;
    let small = meta.is_file() && meta.len() <= CONFIG_MOST;
    if small { std::fs::read_to_string(path).ok() } else { None }
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
    fn harmless_flags_stand_right_behind_the_subcommand() {
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
        assert_eq!(hardened(&["blame", "diff"]), ["blame", "diff"]);
        assert_eq!(hardened(&["--version"]), ["--version"]);
    }

    #[test]
    fn git_is_followed_into_the_folder_it_is_sent_to() {
        let args = ["-C", "a", "--no-pager", "-C", "../b", "status", "-C"].map(str::to_owned);
        assert_eq!(folder(Path::new("/w"), &args), Path::new("/w/a/../b"));
    }

    #[test]
    fn filters_are_found_however_they_are_written() {
        let text =
            "[core] [Filter \"a b\"] clean = x\n[filter \"q\\\"q\"]\n[FILTER.old]\n[filters \"n\"]";
        let found: Vec<String> = filter_names(text).collect();
        assert_eq!(found, ["a b", "q\"q", "old"]);
    }

    #[test]
    fn filters_of_included_files_count_and_too_many_files_do_not_end_well() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("config"), "[include]\n\tpath = more\n[filter \"a\"]").expect("a file");
        std::fs::write(path("more"), "[filter \"b\"]\n\tclean = x\n").expect("a file");
        assert_eq!(filters(vec![path("config"), path("missing")]), named(&["a", "b"]));
        std::fs::write(path("more"), "[include] path = more\n").expect("a file");
        assert_eq!(filters(vec![path("config")]), Filters::Unknown);
        assert_eq!(filters(Vec::new()), named(&[]));
    }

    #[test]
    fn a_worktree_leads_to_the_configuration_of_its_repository() {
        let folder = tempfile::tempdir().expect("a folder");
        let main = folder.path().join("main/.git");
        let own = main.join("worktrees/w");
        std::fs::create_dir_all(&own).expect("folders");
        std::fs::create_dir_all(folder.path().join("w/deep")).expect("folders");
        std::fs::write(main.join("config"), "[filter \"f\"]\n").expect("a file");
        std::fs::write(own.join("commondir"), "../..\n").expect("a file");
        std::fs::write(folder.path().join("w/.git"), format!("gitdir: {}\n", own.display()))
            .expect("a file");
        assert_eq!(filters(configurations(&folder.path().join("w/deep"))), named(&["f"]));
    }
}
