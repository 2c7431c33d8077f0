//! What the sandbox does and what it cannot, as `doctor`, the help and the README say it.

use avocet_core::i18n::{Lang, Phrase, PhraseValue, sandbox as words};
use avocet_core::protocol::PageRow;

/// What a version of the interface restricts, and how it is on kernels before it.
#[derive(Debug)]
pub struct KernelLimit {
    pub abi: i32,
    pub linux: &'static str,
    pub what: Phrase,
    pub without: Phrase,
}

/// In the order of the versions. `doctor` shows what the kernel lacks, the help and the README all.
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

/// What it leaves open on every kernel.
const OPEN: &[Phrase] = &[
    words::OPEN_SOCKETS,
    words::OPEN_NETWORK,
    words::OPEN_SENT,
    words::OPEN_NAMES,
    words::OPEN_FREE,
];

/// The same as the README has it.
pub fn open_list() -> String {
    let mut list = String::new();
    for open in OPEN {
        list += &format!("- {}\n", open.text(Lang::En));
    }
    list
}

/// The page of the help.
pub fn help_page() -> Vec<PageRow> {
    let mut rows = vec![
        PageRow::pair(words::DOCTOR_L0, words::HELD),
        PageRow::pair(words::DOCTOR_L1, words::HELD_L1),
        PageRow::pair(words::HELP_STEERING, words::HELP_PUT_BACK),
        PageRow::pair(words::HELP_DENIED, words::HELP_OPENED),
        PageRow::heading(words::HELP_OPEN),
    ];
    rows.extend(OPEN.iter().map(|it| PageRow::line(*it)));
    rows.push(PageRow::heading(words::HELP_KERNELS));
    rows.extend(KERNEL_LIMITS.iter().map(|limit| {
        let label = format!("Landlock {}, Linux {}", limit.abi, limit.linux);
        let said = words::HELP_KERNEL.with("what", PhraseValue::from(limit.what));
        PageRow::pair(label, said.with("without", PhraseValue::from(limit.without)))
    }));
    rows
}
