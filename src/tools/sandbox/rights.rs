//! The rights Landlock can restrict, by the number of its interface, and what a layer of it
//! gives access to. Where a kernel lacks a right, another means is used, or the gap is reported.

use std::path::{Path, PathBuf};

/// The files a step that runs by itself may read and start.
#[derive(Debug)]
pub(super) struct ReadAccess<'a> {
    /// Contents and names.
    pub read: &'a [PathBuf],
    /// Names only.
    pub list: &'a [PathBuf],
    /// Files that may be started, and folders of them.
    pub run: &'a [PathBuf],
    /// Where no link is followed: steps may make one while these lists are made.
    pub workspace: &'a Path,
}

/// The files an approved step may read and write.
#[derive(Debug)]
pub(super) struct WorkAccess<'a> {
    pub read: &'a [PathBuf],
    pub write: &'a [PathBuf],
    /// The same, if no link leads to it.
    pub named: &'a [PathBuf],
    /// Written and not read, if no link leads to it.
    pub around: &'a [PathBuf],
    /// Where no link is followed to the others either.
    pub workspace: &'a Path,
    pub network: bool,
    /// Signals to processes outside.
    pub signals: bool,
}

/// One version of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is one thing a kernel can or cannot do")]
pub(super) struct Rights {
    /// Files may be moved between folders. Without, such a move fails.
    pub moves: bool,
    /// A file cannot be cut short by its path. Without, that call is closed to every step.
    pub cutting: bool,
    /// Ports. Without, only sockets as a whole can be closed.
    pub ports: bool,
    /// Commands to devices.
    pub devices: bool,
    /// Signals to processes outside, and sockets that have no path.
    pub signals: bool,
}

impl Rights {
    pub const fn for_abi(abi: i32) -> Rights {
        Rights {
            moves: abi >= 2,
            cutting: abi >= 3,
            ports: abi >= 4,
            devices: abi >= 5,
            signals: abi >= 6,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_version_of_the_interface_restricts_what_it_supports() {
        let held = |abi: i32| {
            let rights = Rights::for_abi(abi);
            let all = [rights.moves, rights.cutting, rights.ports, rights.devices, rights.signals];
            all.iter().filter(|right| **right).count()
        };
        let counts: Vec<usize> = (0..=8).map(held).collect();
        assert_eq!(counts, [0, 0, 1, 2, 3, 4, 5, 5, 5]);
        let first = Rights::for_abi(1);
        assert!(!first.moves && !first.cutting && !first.ports);
        assert!(!Rights::for_abi(5).signals && Rights::for_abi(6).signals);
        assert!(!Rights::for_abi(2).cutting && Rights::for_abi(3).cutting);
        assert!(!Rights::for_abi(3).ports && Rights::for_abi(4).ports);
        assert!(!Rights::for_abi(4).devices && Rights::for_abi(5).devices);
    }
}
