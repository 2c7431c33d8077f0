//! What one step may reach.

use std::path::PathBuf;

/// The files and folders one step may reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Profile {
    Read {
        /// Its program and those it is known to start.
        programs: Vec<PathBuf>,
        /// Files and folders of helpers.
        helpers: Vec<PathBuf>,
        /// Folders read as the workspace is.
        readable: Vec<PathBuf>,
        /// Folders whose names it lists.
        lists: Vec<PathBuf>,
        /// Its git compares the workspace's files, credentials that are tracked too.
        compares_tracked_files: bool,
        /// Its git searches contents: it reads the settings of the repository all the same.
        reads_git_settings: bool,
        /// It asks the kernel about the network of this machine.
        netlink: bool,
    },
    Work {
        /// Read although closed: around what is private below them.
        opened: Vec<PathBuf>,
        /// The credentials it may read, whole.
        private: Vec<PathBuf>,
        writes: Vec<PathBuf>,
        /// Read and written because the user answered a question about them.
        named: Vec<PathBuf>,
        /// Folders in which it makes and removes entries, and reads nothing.
        around: Vec<PathBuf>,
        /// Made for it where they are missing; a folder ends in a slash.
        placeholders: Vec<PathBuf>,
        /// Caches that are made where they are missing.
        made: Vec<PathBuf>,
        /// Devices beyond those of every step.
        devices: Vec<&'static str>,
        network: bool,
        /// It may signal processes of others.
        signals: bool,
    },
}

impl Profile {
    pub(super) fn confinement(&self) -> Confinement {
        match self {
            Profile::Read { netlink, .. } => Confinement::ReadOnly { netlink: *netlink },
            Profile::Work { network, .. } => Confinement::Approved { network: *network },
        }
    }
}

/// How far a step is restricted by filters of its system calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Confinement {
    /// It reads, and that is all.
    ReadOnly {
        netlink: bool,
    },
    Approved {
        network: bool,
    },
}
