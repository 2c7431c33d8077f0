//! Finds out what the sandbox denied a failed step, as far as its output shows.
//!
//! The kernel does not report what it denied, but programs say what did not work. A line
//! counts when it speaks of a missing permission and names, there or shortly before, a path
//! that the sandbox keeps closed and the user's own rights do not; for the network, when
//! the step had none and its words are those of a connection that failed. A finding becomes
//! a sentence and an offer, never a permission.

use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use super::Profile;
use super::readable_paths::{SandboxPaths, can_be_granted};
use super::temps::StepTempFolder;
use avocet_core::protocol::SandboxDenial;
use avocet_safety as safety;

/// Words of the systems' own errors, in the forms that languages and tools give them.
const REFUSED: &[&str] = &[
    "permission denied",
    "permissiondenied",
    "operation not permitted",
    "read-only file system",
    "cross-device link",
    "eacces",
    "eperm",
    "erofs",
    "access denied",
    "access is denied",
    "accessdenied",
    "not writable",
    "is not writeable",
    "os error 13",
    "os error 1)",
    "os error 30",
    "errno 13",
    "errno 1]",
    "errno 30",
    "权限不够",
    "不允许的操作",
    "只读文件系统",
];
const UNREACHABLE: &[&str] = &[
    "could not resolve",
    "couldn't resolve",
    "name resolution",
    "name or service not known",
    "failed to lookup address",
    "getaddrinfo",
    "eai_again",
    "enotfound",
    "no such host",
    "network is unreachable",
    "network unreachable",
    "socket: operation not permitted",
    "socket: permission denied",
    "connect: operation not permitted",
    "connect eperm",
    "connect eacces",
    "failed to connect",
    "could not connect",
    "couldn't connect",
    "connection error",
    "cannot open socket",
    "can't create socket",
    "unable to create socket",
    "unknownhostexception",
    "failed to establish a new connection",
];

/// How many lines before an error its path may be, and how many of each kind are named at
/// most.
const LINES_BEFORE: usize = 3;
const MAX_PATHS: usize = 3;

/// Words for a failure of a write, in a line that names an existing file.
const WRITES: &[&str] = &[
    "write", "create", "mkdir", "touch", "remove", "unlink", "rename", "move", "save", "append",
    "update", "lock", "chmod", "symlink", "copy",
];
/// Words for a folder that could not be made.
const FOLDERS: &[&str] = &["mkdir", "create directory", "create folder", "create_dir", "makedirs"];
/// Failures that name no path.
const PATHLESS: &[&str] = &["not a git repository"];

/// The surroundings of one step.
#[derive(Clone, Debug, Default)]
pub struct SandboxBounds {
    paths: SandboxPaths,
    /// It may write here.
    writes: Vec<PathBuf>,
    /// It may read here although others may not.
    opened: Vec<PathBuf>,
    network: bool,
    is_read_only: bool,
}

impl SandboxBounds {
    /// The folders and files that it may write.
    pub fn writes(&self) -> &[PathBuf] {
        &self.writes
    }

    pub(super) fn new(
        paths: &SandboxPaths,
        profile: &Profile,
        temp: &StepTempFolder,
    ) -> SandboxBounds {
        let mut writes = vec![temp.path().to_owned(), "/dev".into(), "/proc".into()];
        let (opened, network, is_read_only) = match profile {
            Profile::Read { readable, .. } => (readable.clone(), false, true),
            Profile::Work { opened, private, writes: more, named, network, .. } => {
                writes.extend(more.iter().chain(named).cloned());
                (opened.iter().chain(private).cloned().collect(), *network, false)
            }
        };
        SandboxBounds { paths: paths.clone(), writes, opened, network, is_read_only }
    }

    /// What the output of a step that failed in `cwd` shows it was denied.
    pub fn find_denial(&self, words: &str, cwd: &Path) -> Option<SandboxDenial> {
        let mut denial = SandboxDenial::default();
        let lines: Vec<&str> = words.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let low = line.to_lowercase();
            if !self.network && UNREACHABLE.iter().any(|word| low.contains(word)) {
                denial.network = true;
            }
            denial.possible |= PATHLESS.iter().any(|word| low.contains(word));
            if !REFUSED.iter().any(|word| low.contains(word)) {
                continue;
            }
            // Nearest first.
            let before = lines.get(at.saturating_sub(LINES_BEFORE)..=at).unwrap_or_default();
            let near = before.join("\n").to_lowercase();
            let writes = WRITES.iter().any(|word| near.contains(word));
            let makes_folder = FOLDERS.iter().any(|word| near.contains(word));
            let named: Vec<PathBuf> = before
                .iter()
                .rev()
                .flat_map(|line| path_candidates(line))
                .map(|text| resolve_existing(&safety::absolute(&text, cwd, &self.paths.home)))
                .collect();
            match named.iter().find_map(|real| self.denied_access(real, writes)) {
                Some((access, path)) if makes_folder && !path.exists() => {
                    self.add(&mut denial, access, &path.join(""));
                }
                Some((access, path)) => self.add(&mut denial, access, &path),
                // A path that the sandbox leaves open has failed for another reason.
                None => denial.possible |= named.is_empty(),
            }
        }
        (denial != SandboxDenial::default()).then_some(denial)
    }

    fn add(&self, denial: &mut SandboxDenial, access: DeniedAccess, path: &Path) {
        if !self.is_read_only && !can_be_granted(path, &self.paths) {
            denial.possible = true;
            return;
        }
        let list = match access {
            DeniedAccess::Read => &mut denial.reads,
            DeniedAccess::Write => &mut denial.writes,
        };
        let shown = path.to_string_lossy().into_owned();
        if list.len() < MAX_PATHS && !list.contains(&shown) {
            list.push(shown);
        }
    }

    /// Whether the sandbox keeps a path from the step that the user's own rights leave, and what
    /// would have to be opened.
    fn denied_access(&self, real: &Path, writes: bool) -> Option<(DeniedAccess, PathBuf)> {
        let within = |trees: &[PathBuf]| trees.iter().any(|tree| real.starts_with(tree));
        let own = &self.paths.own;
        let first_missing = real.ancestors().take_while(|path| !path.exists()).last();
        let existing = first_missing.map_or(Some(real), Path::parent)?;
        let beside_ours = existing != real && own.iter().any(|own| own.starts_with(existing));
        // Below a folder that it may write the places of programs stay closed.
        let guarded = self.paths.guarded_places();
        let is_open = self.writes.iter().any(|tree| {
            let closed = |place: &PathBuf| {
                real.starts_with(place) && place.starts_with(tree) && place != tree
            };
            real.starts_with(tree) && !guarded.iter().any(closed)
        });
        if is_open && !beside_ours {
            return None;
        }
        let readable = within(&self.opened) || self.is_readable(real);
        let is_read = first_missing.is_none() && !readable && (self.is_read_only || !writes);
        if is_read {
            let may = access(real, Access::READ_OK).is_ok();
            return may.then(|| (DeniedAccess::Read, real.to_owned()));
        }
        if self.is_read_only || access(existing, Access::WRITE_OK).is_err() {
            return None;
        }
        let path = match first_missing {
            // What has something below it is a folder.
            Some(missing) if missing != real => missing.join(""),
            Some(missing) => missing.to_owned(),
            None => real.to_owned(),
        };
        Some((DeniedAccess::Write, path))
    }

    /// Whether every step of this kind reads a place.
    fn is_readable(&self, real: &Path) -> bool {
        let private = self.paths.private_places();
        let toolchains = self.paths.existing_toolchains();
        let mut open = avocet_safety::places::SYSTEM.iter().map(Path::new);
        let inside = real.starts_with(&self.paths.workspace)
            || toolchains.iter().any(|tree| real.starts_with(tree))
            || open.any(|tree| real.starts_with(tree));
        inside && !private.iter().any(|place| real.starts_with(place))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DeniedAccess {
    Read,
    Write,
}

/// With links resolved as far as it is there.
fn resolve_existing(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    match (path.parent(), path.file_name()) {
        (Some(above), Some(name)) => resolve_existing(above).join(name),
        _ => path.to_owned(),
    }
}

/// A message without the program in front of it, whose own path was not denied:
/// `/usr/bin/bash: line 1: /var/tmp/x: Permission denied`.
fn without_speaker(line: &str) -> &str {
    let is_refusal = |what: &str| {
        let low = what.to_lowercase();
        REFUSED.iter().any(|word| low.starts_with(word))
    };
    match line.trim_start().split_once(": ") {
        Some((speaker, what))
            if !speaker.contains(char::is_whitespace)
                && what.contains('/')
                && (!speaker.contains('/') || what.contains(": ") || !is_refusal(what)) =>
        {
            what
        }
        Some(_) | None => line,
    }
}

/// The parts of a line that may be paths: quoted text, and words with a slash.
fn path_candidates(line: &str) -> Vec<String> {
    let is_mark = |c: char| "'\"`‘’“”«»<>()[]{},;|".contains(c);
    let line = without_speaker(line);
    let quoted = line.split(is_mark).flat_map(|part| part.split(": "));
    let quoted = quoted.flat_map(|part| part.split('：')).map(str::trim);
    let bare = line.split(|c: char| is_mark(c) || c.is_whitespace());
    quoted
        .chain(bare)
        .map(|text| text.trim_end_matches([':', '.', '!']).trim_start_matches("file://"))
        .map(|text| text.rsplit_once('=').map_or(text, |(_, value)| value))
        .filter(|text| text.contains('/') && text.len() < 4096)
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct DenialFixture {
        root: tempfile::TempDir,
    }

    impl DenialFixture {
        fn new() -> DenialFixture {
            let root = tempfile::Builder::new().prefix("avocet").tempdir().unwrap();
            for folder in ["ws", "out", "home/.ssh"] {
                std::fs::create_dir_all(root.path().join(folder)).unwrap();
            }
            std::fs::write(root.path().join("home/.ssh/id_rsa"), "x").unwrap();
            DenialFixture { root }
        }

        fn at(&self, name: &str) -> PathBuf {
            self.root.path().canonicalize().unwrap().join(name)
        }

        fn denied(&self, words: &str) -> Option<SandboxDenial> {
            let walls = SandboxBounds {
                paths: SandboxPaths {
                    home: self.at("home"),
                    workspace: self.at("ws"),
                    ..SandboxPaths::default()
                },
                writes: vec![self.at("ws"), "/dev".into(), "/proc".into()],
                ..SandboxBounds::default()
            };
            walls.find_denial(words, &self.at("ws"))
        }
    }

    #[test]
    fn messages_about_a_closed_path_are_understood_in_many_forms() {
        let field = DenialFixture::new();
        let out = field.at("out/new");
        let out = out.display();
        for words in [
            "touch: cannot touch '../out/new': Permission denied".to_owned(),
            "mkdir: cannot create directory ‘../out/new’: Permission denied".to_owned(),
            "sh: 1: cannot create ../out/new: Permission denied".to_owned(),
            format!("PermissionError: [Errno 13] Permission denied: '{out}'"),
            format!("Error: EACCES: permission denied, open '{out}'"),
            format!("open {out}: permission denied"),
            format!(
                "error: failed to write `{out}`\n\nCaused by:\n  Permission denied (os error 13)"
            ),
            format!(
                "npm error code EACCES\nnpm error syscall mkdir\nnpm error path {out}\nnpm error errno EACCES"
            ),
        ] {
            let found = field.denied(&words).unwrap_or_else(|| panic!("{words}"));
            let made: Vec<&str> =
                found.writes.iter().map(|path| path.trim_end_matches('/')).collect();
            assert_eq!(made, [out.to_string()], "{words}");
        }
    }

    #[test]
    fn a_shell_that_could_not_open_the_target_of_a_redirection_is_understood() {
        let field = DenialFixture::new();
        for name in ["out/new", "out/two words"] {
            let out = field.at(name);
            let out = out.display();
            for words in [
                format!("/usr/bin/bash: line 1: {out}: Permission denied"),
                format!("bash: line 12: {out}: Read-only file system"),
                format!("bash: {out}: Permission denied"),
                format!("./run.sh: line 3: {out}: Operation not permitted"),
                format!("bash: 第 1 行： {out}: 权限不够"),
                format!("/bin/zsh:1: permission denied: {out}"),
                format!("zsh: permission denied: {out}"),
                format!("/bin/ksh: {out}: cannot create [Permission denied]"),
            ] {
                let found = field.denied(&words).unwrap_or_else(|| panic!("{words}"));
                assert_eq!(found.writes, [out.to_string()], "{words}");
            }
        }
        let out = field.at("out/new");
        let out = out.display();
        for words in [
            format!("/bin/sh: 1: cannot create {out}: Permission denied"),
            format!(
                "/usr/bin/dash: 2: cannot create {out}: Directory nonexistent: permission denied"
            ),
            format!("/bin/ash: can't create {out}: Permission denied"),
            format!("sh: line 1: can't create {out}: Read-only file system"),
            format!("{out}: Permission denied (os error 13), src/main.rs"),
        ] {
            let found = field.denied(&words).unwrap_or_else(|| panic!("{words}"));
            assert_eq!(found.writes, [out.to_string()], "{words}");
        }
        // A program of the folder that may not be run is not the sandbox's doing.
        assert_eq!(field.denied("bash: line 1: ./run: Permission denied"), None);
    }

    #[test]
    fn credentials_and_homes_of_programs_are_never_offered() {
        let field = DenialFixture::new();
        std::fs::create_dir_all(field.at("home/.gradle/native")).unwrap();
        for path in [
            "home/.ssh/id_rsa",
            "home/.ssh/new",
            "home",
            "home/.gradle/native/x",
            "home/.bashrc",
            "home/.cargo/bin/x",
            "home/.config/autostart/x",
            "home/.local/bin/ls",
            "home/.env",
        ] {
            let words = format!("open \"{}\": Permission denied", field.at(path).display());
            let found = field.denied(&words).unwrap_or_else(|| panic!("{path}"));
            assert!(!found.is_offered() && found.possible, "{path}: {found:?}");
        }
    }

    #[test]
    fn a_grant_is_for_the_place_that_was_shown_and_not_for_where_a_link_leads_by_now() {
        use crate::sandbox::readable_paths::granted_path;
        let field = DenialFixture::new();
        let paths = SandboxPaths {
            home: field.at("home"),
            workspace: field.at("ws"),
            programs: vec![field.at("home/bin")],
            ..SandboxPaths::default()
        };
        let granted = |path: PathBuf| granted_path(&path.to_string_lossy(), &paths);
        for shown in [field.at("out/app"), field.at("out/app/"), field.at("home/.myapp")] {
            assert!(granted(shown.clone()).is_some(), "{shown:?}");
        }
        std::os::unix::fs::symlink(field.at("home/.ssh"), field.at("out/app")).unwrap();
        for shown in ["out/app", "out/app/", "out/app/x", "home/.ssh/x", "home/bin/ls"] {
            assert_eq!(granted(field.at(shown)), None, "{shown}");
        }
    }

    #[test]
    fn a_folder_that_is_missing_is_offered_as_a_folder_and_nothing_above_it() {
        let field = DenialFixture::new();
        let wanted = format!("{}/", field.at("out/app").display());
        for words in [
            format!("EACCES: permission denied, mkdir '{}'", field.at("out/app").display()),
            format!("open {}: permission denied", field.at("out/app/cache/x.json").display()),
        ] {
            assert_eq!(
                field.denied(&words).unwrap().writes,
                std::slice::from_ref(&wanted),
                "{words}"
            );
        }
    }

    #[test]
    fn an_error_that_names_no_path_may_be_the_sandbox() {
        let field = DenialFixture::new();
        for words in [
            "Error: Os { code: 13, kind: PermissionDenied, message: \"Permission denied\" }",
            "ptrace: Operation not permitted.",
            "fatal: not a git repository (or any of the parent directories): .git",
        ] {
            let found = field.denied(words).unwrap_or_else(|| panic!("{words}"));
            assert!(!found.is_offered() && found.possible, "{words}: {found:?}");
        }
    }

    #[test]
    fn the_network_is_recognised_by_the_words_of_a_connection() {
        let field = DenialFixture::new();
        for words in [
            "curl: (6) Could not resolve host: example.com",
            "Error: connect EPERM 1.2.3.4:443",
            "dial tcp: lookup proxy.golang.org: no such host",
        ] {
            let found = field.denied(words).unwrap();
            assert!(found.network && found.writes.is_empty(), "{words}");
        }
    }

    #[test]
    fn a_step_that_failed_for_its_own_reasons_is_not_blamed_on_the_sandbox() {
        let field = DenialFixture::new();
        for words in [
            "cat: missing: No such file or directory",
            "touch: cannot touch './x/y': Permission denied",
            "test result: FAILED. 3 passed; 1 failed",
            "cp: cannot create '/proc/nothing/x': Permission denied",
            "",
        ] {
            assert_eq!(field.denied(words), None, "{words}");
        }
    }
}
