//! The rights Landlock can restrict, by the number of its interface, and what a layer of it
//! gives access to. Where a kernel lacks a right, another means is used, or the gap is reported.

use std::path::PathBuf;

use avocet_core::i18n::{Lang, Phrase, sandbox as words};

/// The files a step that runs by itself may read and start.
#[derive(Debug)]
pub(super) struct ReadAccess<'a> {
    /// Contents and names.
    pub read: &'a [PathBuf],
    /// Names only.
    pub list: &'a [PathBuf],
    /// Files that may be started, and folders of them.
    pub run: &'a [PathBuf],
}

/// The files an approved step may read and write.
#[derive(Debug)]
pub(super) struct WorkAccess<'a> {
    pub read: &'a [PathBuf],
    pub write: &'a [PathBuf],
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

/// What a version of the interface restricts, and how it is on kernels before it.
#[derive(Debug)]
pub struct KernelLimit {
    pub abi: i32,
    pub linux: &'static str,
    pub what: Phrase,
    pub without: Phrase,
}

/// In the order of the versions. `doctor` shows what the kernel lacks, the README all.
#[rustfmt::skip]
pub const KERNEL_LIMITS: &[KernelLimit] = &[
    KernelLimit { abi: 1, linux: "5.13", what: words::LIMIT_FILES, without: words::WITHOUT_FILES },
    KernelLimit { abi: 2, linux: "5.19", what: words::LIMIT_MOVES, without: words::MOVES_FAIL },
    KernelLimit { abi: 3, linux: "6.2", what: words::LIMIT_CUTTING, without: words::WITHOUT_CUTTING },
    KernelLimit { abi: 4, linux: "6.7", what: words::LIMIT_PORTS, without: words::WITHOUT_PORTS },
    KernelLimit { abi: 5, linux: "6.10", what: words::LIMIT_DEVICES, without: words::WITHOUT_DEVICES },
    KernelLimit { abi: 6, linux: "6.12", what: words::LIMIT_SIGNALS, without: words::WITHOUT_SIGNALS },
    KernelLimit { abi: 7, linux: "6.15", what: words::LIMIT_RECORDS, without: words::WITHOUT_RECORDS },
];

/// The limits as the README has them.
pub fn kernel_table() -> String {
    let mut table = String::from(
        "| Landlock | Linux | restricted from here on | on older kernels |\n|---|---|---|---|\n",
    );
    for limit in KERNEL_LIMITS {
        let [what, without] = [limit.what, limit.without].map(|it| it.text(Lang::En));
        table += &format!("| {} | {} | {what} | {without} |\n", limit.abi, limit.linux);
    }
    table
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
