//! Decides whether this machine may be treated as one that is thrown away: `--container`.
//!
//! Steps then run without the sandbox and nothing is refused, so a slip on a machine of the user's
//! own would be costly. It takes a container that shares nothing of theirs, or the machine's name.

use std::fs;
use std::path::{Path, PathBuf};

use avocet_config::Paths;
use avocet_core::i18n::{LocalizedText, cli as phrases};

use crate::cli::Cli;
use crate::cli::args::Sub;

/// What says where a program runs.
#[derive(Debug, Default)]
struct MachineSigns {
    /// Files that engines leave in a container.
    has_mark: bool,
    /// The file system of the root, and the others by the folders where they are.
    mounts: Vec<Mount>,
    /// The name of the first process.
    first_process: String,
}

#[derive(Debug, PartialEq, Eq)]
struct Mount {
    folder: PathBuf,
    kind: String,
}

/// Files of Docker, Podman and systemd, and of the tokens that Kubernetes hands out.
const MARKS: &[&str] = &[
    "/.dockerenv",
    "/run/.containerenv",
    "/run/systemd/container",
    "/run/secrets/kubernetes.io",
    "/var/run/secrets/kubernetes.io",
];

/// Sockets that control the engine outside.
const ENGINES: &[&str] = &[
    "/run/docker.sock",
    "/var/run/docker.sock",
    "/run/podman/podman.sock",
    "/run/containerd/containerd.sock",
    "/run/host",
];

/// Why a command line may not treat this machine so.
pub fn check(cli: &Cli, paths: &Paths) -> Result<(), LocalizedText> {
    let Some(given) = cli.run.container.as_deref() else { return Ok(()) };
    if matches!(cli.command, Some(Sub::Gateway(_))) {
        return Err(phrases::CONTAINER_CHATS.into());
    }
    allows(given, &machine_name(), &MachineSigns::read(), &paths.home)
}

fn machine_name() -> String {
    let names = ["/proc/sys/kernel/hostname", "/etc/hostname"];
    let read = names.iter().filter_map(|path| fs::read_to_string(path).ok());
    let mut names = read.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
    names.next().unwrap_or_else(|| "localhost".to_owned())
}

fn allows(given: &str, host: &str, signs: &MachineSigns, home: &Path) -> Result<(), LocalizedText> {
    match given {
        "" => {}
        given if given == host => return Ok(()),
        given => return Err(phrases::CONTAINER_OTHER.with("given", given).with("host", host)),
    }
    if !signs.is_container() {
        return Err(phrases::CONTAINER_NONE.with("host", host));
    }
    match signs.shared_place(home) {
        Some(place) => {
            let place = place.display().to_string();
            Err(phrases::CONTAINER_SHARED.with("place", place).with("host", host))
        }
        None => Ok(()),
    }
}

impl MachineSigns {
    fn read() -> MachineSigns {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        MachineSigns {
            has_mark: MARKS.iter().any(|path| Path::new(path).exists()),
            mounts: read("/proc/self/mountinfo").lines().filter_map(parse_mount).collect(),
            first_process: read("/proc/1/comm").trim().to_owned(),
        }
    }

    /// An overlay as root without a system's own first process is a container's too.
    fn is_container(&self) -> bool {
        let overlay = self.mounts.iter().any(|mount| {
            mount.folder == Path::new("/")
                && ["overlay", "fuse-overlayfs", "9p"].contains(&&*mount.kind)
        });
        self.has_mark || overlay && !["systemd", "init", "runit"].contains(&&*self.first_process)
    }

    /// What of the user's own machine is in it: their home, or the socket of the engine.
    fn shared_place(&self, home: &Path) -> Option<&Path> {
        let engines = |folder: &Path| ENGINES.iter().any(|engine| Path::new(engine) == folder);
        let holds_home = |folder: &Path| folder != Path::new("/") && home.starts_with(folder);
        let folders = self.mounts.iter().map(|mount| mount.folder.as_path());
        folders.into_iter().find(|folder| engines(folder) || holds_home(folder))
    }
}

/// A line of `/proc/self/mountinfo`: `36 35 98:0 /root /folder rw - ext4 /dev/sda rw`.
fn parse_mount(line: &str) -> Option<Mount> {
    let (own, of_system) = line.split_once(" - ")?;
    let folder = own.split(' ').nth(4)?.replace("\\040", " ");
    Some(Mount { folder: folder.into(), kind: of_system.split(' ').next()?.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use avocet_core::i18n::Lang;

    const HOME: &str = "/root";
    const ROOT: &str = "22 1 0:60 / / rw,relatime - overlay overlay rw,lowerdir=x";
    const DISK: &str = "22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw";

    fn signs(has_mark: bool, first_process: &str, mounts: &[&str]) -> MachineSigns {
        let mounts = mounts.iter().filter_map(|line| parse_mount(line)).collect();
        MachineSigns { has_mark, mounts, first_process: first_process.to_owned() }
    }

    fn said(given: &str, signs: &MachineSigns) -> Option<String> {
        let answer = allows(given, "box", signs, Path::new(HOME));
        answer.err().map(|say| say.text(Lang::En).to_string())
    }

    #[test]
    fn a_container_is_known_by_what_its_engine_leaves_there() {
        for signs in [
            signs(true, "sh", &[ROOT]),
            signs(true, "systemd", &[DISK]),
            signs(false, "sleep", &[ROOT]),
            signs(false, "sh", &["1 0 0:1 / / rw - 9p none rw", "2 1 0:3 / /work rw - ext4 x rw"]),
        ] {
            assert_eq!(said("", &signs), None, "{signs:?}");
        }
    }

    #[test]
    fn a_machine_of_the_users_own_takes_its_name() {
        for signs in [
            signs(false, "systemd", &[DISK]),
            signs(false, "sh", &[DISK]),
            signs(false, "systemd", &[ROOT]),
            signs(false, "init", &[]),
        ] {
            let why = said("", &signs).unwrap();
            assert!(why.contains("no container") && why.contains("--container=box"), "{why}");
            assert_eq!(said("box", &signs), None);
            assert!(said("other", &signs).unwrap().contains("another machine"));
        }
    }

    #[test]
    fn a_container_with_the_users_home_or_the_engines_socket_takes_its_name_too() {
        for (mount, place) in [
            ("3 1 8:1 /root /root rw - ext4 /dev/sda1 rw", "/root"),
            ("3 1 0:9 / /run/docker.sock rw - tmpfs tmpfs rw", "/run/docker.sock"),
            ("3 1 0:9 / /run/host rw - ext4 /dev/sda1 rw", "/run/host"),
        ] {
            let signs = signs(true, "sh", &[ROOT, mount]);
            let why = said("", &signs).unwrap();
            assert!(why.contains(&format!("`{place}`")), "{why}");
            assert_eq!(said("box", &signs), None);
        }
        let beside = signs(true, "sh", &[ROOT, "3 1 8:1 / /root2 rw - ext4 x rw"]);
        assert_eq!(said("", &beside), None);
    }
}
