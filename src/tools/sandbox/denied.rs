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
use super::readable_paths::SandboxPaths;
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
const MOST: usize = 3;

/// The surroundings of one step.
#[derive(Clone, Debug, Default)]
pub struct SandboxBounds {
    home: PathBuf,
    /// It may write here.
    writes: Vec<PathBuf>,
    /// It may not read here, except for the opened paths.
    closed: Vec<PathBuf>,
    opened: Vec<PathBuf>,
    /// Our own folders: in what leads to one nothing new can be made.
    own_folders: Vec<PathBuf>,
    network: bool,
    is_read_only: bool,
}

impl SandboxBounds {
    pub(super) fn new(
        places: &SandboxPaths,
        profile: &Profile,
        temp: &StepTempFolder,
    ) -> SandboxBounds {
        let home = places.home.clone();
        let mut closed = safety::credential_places(&places.home);
        closed.extend(places.own.iter().cloned());
        let mut writes = vec![temp.path().to_owned(), "/dev".into(), "/proc".into()];
        let (opened, network, is_read_only) = match profile {
            Profile::Read { .. } => (Vec::new(), false, true),
            Profile::Work { opened, writes: more, network } => {
                writes.extend(more.iter().cloned());
                (opened.clone(), *network, false)
            }
        };
        let own_folders = places.own.clone();
        SandboxBounds { home, writes, closed, opened, own_folders, network, is_read_only }
    }

    /// What the output of a step that failed in `cwd` shows it was denied.
    pub fn find_denial(&self, words: &str, cwd: &Path) -> Option<SandboxDenial> {
        let mut found = SandboxDenial::default();
        let lines: Vec<&str> = words.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let low = line.to_lowercase();
            if !self.network && UNREACHABLE.iter().any(|word| low.contains(word)) {
                found.network = true;
            }
            if !REFUSED.iter().any(|word| low.contains(word)) {
                continue;
            }
            // Nearest first.
            let before = lines.get(at.saturating_sub(LINES_BEFORE)..=at).unwrap_or_default();
            if let Some(path) =
                before.iter().rev().flat_map(|line| path_candidates(line)).find_map(|text| {
                    let path = safety::absolute(&text, cwd, &self.home);
                    let real = resolve_existing(&path);
                    self.denied_access(&real).map(|kind| (kind, real))
                })
            {
                let (kind, path) = path;
                let list =
                    if kind == DeniedAccess::Read { &mut found.reads } else { &mut found.writes };
                let shown = path.to_string_lossy().into_owned();
                if list.len() < MOST && !list.contains(&shown) {
                    list.push(shown);
                }
            }
        }
        (found != SandboxDenial::default()).then_some(found)
    }

    /// Whether the sandbox keeps a path from the step that the user's own rights leave.
    fn denied_access(&self, real: &Path) -> Option<DeniedAccess> {
        let within = |trees: &[PathBuf]| trees.iter().any(|tree| real.starts_with(tree));
        if within(&self.closed) && !within(&self.opened) {
            return (access(real, Access::READ_OK).is_ok()).then_some(DeniedAccess::Read);
        }
        let existing = if real.exists() { real } else { real.parent()? };
        if self.is_read_only {
            let name = real.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let secret = safety::is_sensitive_name(name) && real.exists();
            return secret.then_some(DeniedAccess::Read);
        }
        let free = existing.exists() && access(existing, Access::WRITE_OK).is_ok();
        let beside_ours =
            existing != real && self.own_folders.iter().any(|own| own.starts_with(existing));
        ((!within(&self.writes) || beside_ours) && free).then_some(DeniedAccess::Write)
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

/// The parts of a line that may be paths: quoted text, and words with a slash.
fn path_candidates(line: &str) -> Vec<String> {
    let is_mark = |c: char| "'\"`‘’“”«»<>()[]{},;|".contains(c);
    let quoted = line.split(is_mark).map(str::trim);
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
            let root = tempfile::tempdir().unwrap();
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
                home: self.at("home"),
                writes: vec![self.at("ws"), "/dev".into()],
                closed: vec![self.at("home/.ssh")],
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
            assert_eq!(found.writes, [out.to_string()], "{words}");
        }
    }

    #[test]
    fn credentials_and_the_network_are_distinguished() {
        let field = DenialFixture::new();
        let key = field.at("home/.ssh/id_rsa");
        let words = format!("Load key \"{}\": Permission denied", key.display());
        let found = field.denied(&words).unwrap();
        assert_eq!(found.reads, [key.display().to_string()]);
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
            "permission denied",
            "",
        ] {
            assert_eq!(field.denied(words), None, "{words}");
        }
    }
}
