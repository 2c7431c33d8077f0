//! Classifies the place that a path leads to.
//!
//! Component by component, never by the start of a string, and twice: once as the path is
//! written and once with every link resolved, so that neither a link nor a `..` after one
//! leads out unseen. The more serious of the two counts.

use std::path::{Component, Path, PathBuf};

use super::sensitive::{SECRET_FOLDERS, SENSITIVE_PAIRS, is_sensitive_name, plain_names};
use super::{PathKind, PolicyContext, Workspace, places};
use avocet_core::i18n::{Phrase, safety as phrases};
use avocet_core::protocol::{Effect, Tier};
use avocet_core::text::path_of_text;

/// The kind of place a path leads to, from harmless to grave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathClass {
    /// The workspace, or `/dev/null`.
    Inside,
    /// Machine data anybody may read, sources of dependencies, the repository around the
    /// workspace.
    Public,
    /// A file of the workspace that usually holds credentials.
    Sensitive,
    Outside,
    /// Credentials, devices, the insides of processes.
    Secret,
}

impl PathClass {
    /// The rule that reading there meets, with its sentence and effects.
    pub fn read_risk(self) -> Option<(&'static str, Phrase, &'static [Effect])> {
        match self {
            PathClass::Inside | PathClass::Public => None,
            PathClass::Sensitive => {
                Some(("path.sensitive", phrases::PATH_SENSITIVE, &[Effect::Secret]))
            }
            PathClass::Outside => Some(("path.outside", phrases::PATH_OUTSIDE, &[Effect::Outside])),
            PathClass::Secret => {
                Some(("path.secret", phrases::PATH_SECRET, &[Effect::Secret, Effect::Outside]))
            }
        }
    }

    /// The rule that writing there meets; in a repository's own folder and in what steers
    /// programs it is another.
    pub fn write_risk(
        self,
        in_repository: bool,
        steers: impl FnOnce() -> bool,
    ) -> Option<(&'static str, Tier, Phrase)> {
        match self {
            PathClass::Inside if in_repository => {
                Some(("path.git", Tier::L1, phrases::WRITES_REPOSITORY))
            }
            PathClass::Inside => {
                steers().then_some(("path.steers", Tier::L1, phrases::WRITES_STEERING))
            }
            PathClass::Sensitive => {
                Some(("path.sensitive.write", Tier::L1, phrases::WRITES_SENSITIVE))
            }
            PathClass::Outside | PathClass::Public => {
                Some(("path.outside.write", Tier::L1, phrases::WRITES_OUTSIDE))
            }
            PathClass::Secret => Some(("path.secret.write", Tier::L2, phrases::WRITES_SECRET)),
        }
    }
}

impl PolicyContext<'_> {
    /// Where a text leads that names a path, seen from `cwd`.
    pub fn resolve(&self, text: &str, cwd: &Path) -> PathBuf {
        self.world.resolve(&absolute(text, cwd, &self.place.home))
    }

    /// The path that a text names to a tool: with the bytes of names that are written as
    /// [`path_text`](avocet_core::text::path_text) writes them, where there is such a file.
    pub fn named_path(&self, text: &str, cwd: &Path) -> PathBuf {
        let written = absolute(text, cwd, &self.place.home);
        let is_there =
            |path: &Path| self.world.kind(&self.world.resolve(path)) != PathKind::Missing;
        let mut path = PathBuf::new();
        for part in written.components() {
            let name = part.as_os_str();
            let meant = name.to_str().map(path_of_text).filter(|meant| meant.as_os_str() != name);
            let meant = meant.map(|meant| path.join(meant)).filter(|meant| is_there(meant));
            path = meant.unwrap_or_else(|| path.join(name));
        }
        path
    }
}

/// Classifies a path as it appears in an argument, seen from `cwd`. A program takes it
/// literally; what its author may have meant only adds to that.
pub fn classify(text: &str, cwd: &Path, policy_cx: PolicyContext<'_>) -> PathClass {
    let literal = classify_written(cwd.join(text), policy_cx);
    match expand_alias(text, cwd, &policy_cx.place.home) {
        Some(meant) => literal.max(classify_written(meant, policy_cx)),
        None => literal,
    }
}

/// Classifies a path as it is written, and with its links resolved.
pub fn classify_written(written: PathBuf, policy_cx: PolicyContext<'_>) -> PathClass {
    let plain = normalize(&written);
    if plain == Path::new("/dev/null") {
        return PathClass::Inside;
    }
    if is_public(&plain) && is_public(&policy_cx.world.resolve(&written)) {
        return PathClass::Public;
    }
    // A path that only exists for the process that looks is not looked at through ours.
    let looks = plain.starts_with("/proc") || plain.starts_with("/dev");
    if looks && !policy_cx.place.can_read(&plain) {
        return classify_location(&plain, policy_cx);
    }
    let literal = classify_location(&plain, policy_cx);
    let real = classify_location(&policy_cx.world.resolve(&written), policy_cx);

    if literal == PathClass::Outside && leads_through_root(&plain, policy_cx) {
        return real;
    }
    literal.max(real)
}

/// Whether a path goes through a link to the workspace itself: its other name.
fn leads_through_root(path: &Path, policy_cx: PolicyContext<'_>) -> bool {
    path.ancestors().any(|above| {
        let real = policy_cx.world.resolve(above);
        policy_cx.place.root_of(&real) == Some(real.as_path())
    })
}

/// The absolute path a text refers to. A literal `~` or `$HOME` never reaches a shell, but
/// its author meant the home folder.
pub fn absolute(text: &str, cwd: &Path, home: &Path) -> PathBuf {
    expand_alias(text, cwd, home).unwrap_or_else(|| cwd.join(text))
}

/// A text's possible meaning beyond its letters: `file://`, `~`, `$HOME`. No program that
/// gets its arguments without a shell takes it so.
fn expand_alias(text: &str, cwd: &Path, home: &Path) -> Option<PathBuf> {
    let plain = text.strip_prefix("file://").unwrap_or(text);
    for alias in ["~", "$HOME", "${HOME}"] {
        match plain.strip_prefix(alias) {
            Some("") => return Some(home.to_owned()),
            Some(rest) if rest.starts_with('/') => {
                return Some(home.join(rest.trim_start_matches('/')));
            }
            // `~name` is the home of another user.
            Some(rest) if alias == "~" && is_user_name(rest) => {
                return Some(Path::new("/home").join(rest));
            }
            Some(_) | None => {}
        }
    }
    (plain.len() < text.len()).then(|| cwd.join(plain))
}

/// The path without `.` and `..`, by its letters alone.
pub fn normalize(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            Component::RootDir | Component::Prefix(_) | Component::Normal(_) => out.push(part),
        }
    }
    out
}

/// Whether an argument of an otherwise unknown program may be a path.
pub fn looks_like_path(text: &str) -> bool {
    !text.contains("://")
        && (text.contains('/') || text.starts_with(['~', '.']) || is_sensitive_name(text))
}

/// Where credentials are on a machine, whether or not they exist: what a sandbox keeps
/// children from reading. Absolute, in no order.
pub fn credential_places(home: &Path) -> Vec<PathBuf> {
    let pairs = SENSITIVE_PAIRS.iter().filter(|(folder, _)| *folder != ".git");
    let pairs = pairs.map(|(folder, file)| Path::new(folder).join(file));
    let folders = SECRET_FOLDERS.iter().map(PathBuf::from);
    let names = plain_names().map(PathBuf::from).chain(folders).chain(home_secrets());
    let of_home = names.chain(pairs).map(|place| home.join(place));
    // Root has a home there, and everything in it would be out of reach.
    let system = SYSTEM_SECRETS.iter().map(PathBuf::from).filter(|place| !home.starts_with(place));
    of_home.chain(system).collect()
}

/// The places of credentials below a home.
fn home_secrets() -> impl Iterator<Item = PathBuf> {
    let all = places::places_of(places::CREDENTIALS).filter(|place| !place.home.starts_with('/'));
    all.map(|place| place.home_path())
}

/// Classifies exactly this place, without following a link that is there.
pub fn classify_place(path: &Path, policy_cx: PolicyContext<'_>) -> PathClass {
    classify_location(&normalize(path), policy_cx)
}

fn classify_location(path: &Path, policy_cx: PolicyContext<'_>) -> PathClass {
    let place = policy_cx.place;
    if path == Path::new("/dev/null") {
        PathClass::Inside
    } else if is_secret(path, place) {
        PathClass::Secret
    } else if let Some(inner) = place.root_of(path).and_then(|root| path.strip_prefix(root).ok()) {
        if is_credential_path(inner) { PathClass::Sensitive } else { PathClass::Inside }
    } else if is_credential_path(path) {
        PathClass::Secret
    } else if is_readable(path, place) {
        PathClass::Public
    } else {
        PathClass::Outside
    }
}

/// Whether an entry of a folder holds credentials, or is a folder of them, by its name and
/// the folder's.
pub fn is_credential_entry(folder: Option<&str>, name: &str) -> bool {
    SECRET_FOLDERS.contains(&name)
        || is_sensitive_name(name)
        || SENSITIVE_PAIRS.iter().any(|(a, b)| folder == Some(*a) && name == *b)
}

/// Whether a path is one of credentials by its names.
pub fn is_credential_path(path: &Path) -> bool {
    let pairs = path.components().zip(path.components().skip(1));
    let alone = |name: &str| is_sensitive_name(name) || SECRET_FOLDERS.contains(&name);
    path.components().any(|part| part.as_os_str().to_str().is_some_and(alone))
        || pairs.into_iter().any(|(folder, file)| {
            SENSITIVE_PAIRS.iter().any(|(a, b)| folder.as_os_str() == *a && file.as_os_str() == *b)
        })
}

pub(super) fn is_secret(path: &Path, place: &Workspace) -> bool {
    let of_home = path.strip_prefix(&place.home).is_ok_and(|rest| {
        places::places_of(places::CREDENTIALS).any(|place| place.holds(rest))
            || rest.to_str().is_some_and(|rest| rest.starts_with('.') && rest.ends_with("_history"))
    });
    // A folder `.ssh` anywhere belongs to some user.
    let anywhere = path
        .components()
        .any(|part| SECRET_FOLDERS.iter().any(|folder| part.as_os_str() == *folder));
    of_home || anywhere || is_avocet_path(path, place) || is_system_secret(path, place)
}

/// Whether a path is one of credentials or of a program's home.
pub(super) fn is_private(path: &Path, workspace: &Workspace) -> bool {
    let homes = places::places_of(places::HOMES);
    let mut homes = homes.filter_map(|home| home.resolve(&workspace.home, &workspace.moved));
    is_secret(path, workspace)
        || is_credential_path(path)
        || homes.any(|home| path.starts_with(home))
}

/// Whether the home, or a place of credentials or of a program's own in it, is in this folder.
pub(super) fn holds_private(folder: &Path, workspace: &Workspace) -> bool {
    let homes = places::places_of(places::HOMES);
    let homes = homes.filter_map(|home| home.resolve(&workspace.home, &workspace.moved));
    workspace.home.starts_with(folder)
        || credential_places(&workspace.home)
            .into_iter()
            .chain(homes)
            .any(|one| one.starts_with(folder))
}

impl Workspace {
    /// Why a folder cannot be added to a session; `None`: it can. The path has its links
    /// resolved.
    pub fn reason_not_to_add(&self, folder: &Path) -> Option<Phrase> {
        let own = self.own.iter().any(|own| own.starts_with(folder) || folder.starts_with(own));
        if folder == Path::new("/") || self.home.starts_with(folder) {
            Some(phrases::ADD_TOO_MUCH)
        } else if own {
            Some(phrases::ADD_OWN)
        } else {
            is_secret(folder, self).then_some(phrases::ADD_SECRET)
        }
    }
}

/// Our own folders; where the user works below one, that is theirs.
fn is_avocet_path(path: &Path, workspace: &Workspace) -> bool {
    let works =
        |own: &Path| workspace.workspace.starts_with(own) && path.starts_with(&workspace.workspace);
    workspace.own.iter().any(|own| path.starts_with(own) && !works(own))
}

/// A general place says nothing about what the user keeps below it: neither about their
/// home (`/root`) nor about a workspace they trust. It counts for its other parts.
fn is_system_secret(path: &Path, workspace: &Workspace) -> bool {
    let chosen = |general: &Path| {
        let trusted = workspace.root_of(path).filter(|_| workspace.trusted);
        let home = Some(workspace.home.as_path()).filter(|home| path.starts_with(home));
        [trusted, home].into_iter().flatten().any(|own| own.starts_with(general))
    };
    if path.starts_with("/dev") {
        let memory = MEMORY_FOLDERS.iter().any(|folder| {
            let folder = Path::new(folder);
            path.starts_with(folder) && chosen(folder)
        });
        return path != Path::new("/dev") && !memory;
    }
    let Ok(inner) = path.strip_prefix("/proc") else {
        let mut general = SYSTEM_SECRETS.iter().map(Path::new);
        return general.any(|secret| path.starts_with(secret) && !chosen(secret));
    };
    let mut parts = inner.components().map(|part| part.as_os_str().to_string_lossy());
    parts.next().is_some_and(|first| {
        first.bytes().all(|byte| byte.is_ascii_digit())
            || ["self", "thread-self", "kcore", "kmem", "kallsyms", "keys"].contains(&&*first)
    })
}

fn is_public(path: &Path) -> bool {
    PUBLIC.iter().any(|public| path == Path::new(public))
}

/// Whether every step may read it, unless it holds credentials.
pub(super) fn is_readable(path: &Path, workspace: &Workspace) -> bool {
    workspace.can_read(path) || is_reference(path, workspace)
}

/// Whether it is a file to look things up in, and belongs to no user: of the system's libraries, of a
/// toolchain, of the sources of a dependency. The sandbox opens these places to every step.
fn is_reference(path: &Path, workspace: &Workspace) -> bool {
    let holds = |folder: &Path| {
        // A variable that names the home, or a folder above it, does not name a toolchain.
        let general = workspace.home.starts_with(folder) || workspace.workspace.starts_with(folder);
        path.starts_with(folder) && !general && !folder.ends_with("bin")
    };
    let of_user = places::places_of(places::BASE).chain(places::places_of(places::CACHES));
    places::LIBRARIES.iter().any(|folder| path.starts_with(folder))
        || of_user
            .filter_map(|of| of.resolve(&workspace.home, &workspace.moved))
            .any(|of| holds(&of))
}

/// Whether it is a program of the system: what such a file holds, anybody may know.
pub fn is_system_program(path: &Path, policy_cx: PolicyContext<'_>) -> bool {
    let is_of_programs =
        |folder: &Path| places::PROGRAMS.iter().any(|one| folder == Path::new(one));
    path.parent().is_some_and(is_of_programs) && policy_cx.world.kind(path) == PathKind::File
}

fn is_user_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '/' | '-' | '_' | '.'))
}

#[rustfmt::skip]
const SYSTEM_SECRETS: &[&str] = &[
    "/root", "/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers",
    "/etc/sudoers.d", "/etc/ssh", "/etc/ssl/private", "/etc/krb5.keytab", "/etc/wireguard",
    "/etc/NetworkManager/system-connections", "/var/lib/secrets", "/run/secrets",
    "/var/run/secrets", "/var/run/docker.sock", "/run/docker.sock", "/etc/kubernetes",
    "/var/lib/kubelet", "/sys/kernel", "/sys/firmware", "/boot", "/etc/pki/tls/private",
    "/private/etc/master.passwd", "/etc/master.passwd", "/private/var/db", "/etc/letsencrypt",
];
/// Where there are plain files among the devices.
const MEMORY_FOLDERS: &[&str] = &["/dev/shm"];
#[rustfmt::skip]
const PUBLIC: &[&str] = &[
    "/etc/os-release", "/usr/lib/os-release", "/etc/lsb-release", "/etc/debian_version",
    "/etc/redhat-release", "/etc/alpine-release", "/etc/hosts", "/etc/timezone", "/etc/issue",
    "/proc/cpuinfo", "/proc/meminfo", "/proc/version", "/proc/loadavg", "/proc/uptime",
    "/proc/filesystems", "/proc/stat", "/proc/swaps", "/proc/partitions",
    "/etc/hostname", "/etc/shells", "/etc/resolv.conf",
];
