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
        /// Its git compares the workspace's files, credentials that are tracked too.
        compares_tracked_files: bool,
    },
    Work {
        /// Read although closed.
        opened: Vec<PathBuf>,
        writes: Vec<PathBuf>,
        network: bool,
    },
}

impl Profile {
    pub(super) fn confinement(&self) -> Confinement {
        match self {
            Profile::Read { .. } => Confinement::ReadOnly,
            Profile::Work { network, .. } => Confinement::Approved { network: *network },
        }
    }
}

/// How far a step is restricted by filters of its system calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Confinement {
    /// It reads, and that is all.
    ReadOnly,
    Approved {
        network: bool,
    },
}
