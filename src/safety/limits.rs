//! What the sandbox cannot do, as `doctor` and the manual say it.

use avocet_core::i18n::{Lang, Phrase, PhraseValue, sandbox as phrases};

/// What a version of the interface restricts, and how it is on kernels before it.
#[derive(Debug)]
pub struct KernelLimit {
    pub abi: i32,
    pub linux: &'static str,
    pub what: Phrase,
    pub without: Phrase,
}

/// In the order of the versions. `doctor` shows what the kernel lacks, the manual all.
#[rustfmt::skip]
pub const KERNEL_LIMITS: &[KernelLimit] = &[
    KernelLimit { abi: 1, linux: "5.13", what: phrases::LIMIT_FILES, without: phrases::WITHOUT_FILES },
    KernelLimit { abi: 2, linux: "5.19", what: phrases::LIMIT_MOVES, without: phrases::MOVES_FAIL },
    KernelLimit { abi: 3, linux: "6.2", what: phrases::LIMIT_CUTTING, without: phrases::WITHOUT_CUTTING },
    KernelLimit { abi: 4, linux: "6.7", what: phrases::LIMIT_PORTS, without: phrases::WITHOUT_PORTS },
    KernelLimit { abi: 5, linux: "6.10", what: phrases::LIMIT_DEVICES, without: phrases::WITHOUT_DEVICES },
    KernelLimit { abi: 6, linux: "6.12", what: phrases::LIMIT_SIGNALS, without: phrases::WITHOUT_SIGNALS },
    KernelLimit { abi: 7, linux: "6.15", what: phrases::LIMIT_RECORDS, without: phrases::WITHOUT_RECORDS },
];

/// A row for each version of the interface, for the manual.
pub fn kernel_rows(lang: Lang) -> impl Iterator<Item = (String, String)> {
    KERNEL_LIMITS.iter().map(move |limit| {
        let label = format!("Landlock {}, Linux {}", limit.abi, limit.linux);
        let said = phrases::HELP_KERNEL.with("what", PhraseValue::from(limit.what));
        (label, said.with("without", PhraseValue::from(limit.without)).text(lang))
    })
}

/// What it leaves open on every kernel.
const OPEN: &[Phrase] = &[
    phrases::OPEN_SOCKETS,
    phrases::OPEN_NETWORK,
    phrases::OPEN_SENT,
    phrases::OPEN_NAMES,
    phrases::OPEN_FREE,
];

/// The same as a list of the manual.
pub fn open_list(lang: Lang) -> String {
    OPEN.iter().map(|open| format!("- {}\n", open.text(lang))).collect()
}
