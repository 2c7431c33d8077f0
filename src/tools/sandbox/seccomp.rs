//! The system calls a sandboxed program may not make, as a filter for the kernel.
//!
//! A deny-list, because ordinary programs need most of the rest and the file system is
//! Landlock's. Denied calls fail with "operation not permitted".

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, sock_filter,
};

use super::profile::Confinement;
use super::rights::Rights;

/// A call by its number on x86-64 and on 64-bit ARM.
struct Call {
    #[cfg_attr(not(test), expect(dead_code, reason = "says which number this is"))]
    name: &'static str,
    x86_64: Option<i64>,
    aarch64: Option<i64>,
}

const fn call(name: &'static str, x86_64: i64, aarch64: i64) -> Call {
    Call { name, x86_64: Some(x86_64), aarch64: Some(aarch64) }
}

const fn x86_only(name: &'static str, x86_64: i64) -> Call {
    Call { name, x86_64: Some(x86_64), aarch64: None }
}

/// Denied to every step: ways into the kernel, other views of the machine, and around the
/// rest of this list.
#[rustfmt::skip]
const NEVER: &[Call] = &[
    call("io_uring_setup", 425, 425), call("io_uring_enter", 426, 426), call("io_uring_register", 427, 427),
    call("mount", 165, 40), call("umount2", 166, 39), call("pivot_root", 155, 41), call("chroot", 161, 51),
    call("unshare", 272, 97), call("setns", 308, 268), call("move_mount", 429, 429), call("open_tree", 428, 428), call("open_tree_attr", 467, 467),
    call("fsopen", 430, 430), call("fsconfig", 431, 431), call("fsmount", 432, 432), call("fspick", 433, 433),
    call("mount_setattr", 442, 442), call("open_by_handle_at", 304, 265), call("name_to_handle_at", 303, 264),
    call("add_key", 248, 217), call("request_key", 249, 218), call("keyctl", 250, 219),
    call("bpf", 321, 280), call("perf_event_open", 298, 241), call("userfaultfd", 323, 282), call("fanotify_init", 300, 262),
    call("init_module", 175, 105), call("finit_module", 313, 273), call("delete_module", 176, 106),
    call("kexec_load", 246, 104), call("kexec_file_load", 320, 294), call("reboot", 169, 142),
    call("swapon", 167, 224), call("swapoff", 168, 225), call("sethostname", 170, 161), call("setdomainname", 171, 162),
    call("settimeofday", 164, 170), call("clock_settime", 227, 112), call("clock_adjtime", 305, 266), call("adjtimex", 159, 171),
    call("acct", 163, 89), call("quotactl", 179, 60), call("quotactl_fd", 443, 443), call("syslog", 103, 116),
    x86_only("iopl", 172), x86_only("ioperm", 173),
];

/// Denied to steps that run by themselves: what changes a file without writing to it, which
/// Landlock does not see, files without a name to start, and ways into other processes. For
/// approved steps Landlock keeps the last to the step's own: debuggers need them.
#[rustfmt::skip]
const NO_CHANGE: &[Call] = &[
    call("ptrace", 101, 117), call("process_vm_readv", 310, 270), call("process_vm_writev", 311, 271),
    call("pidfd_getfd", 438, 438), call("kcmp", 312, 272), call("process_madvise", 440, 440),
    call("memfd_create", 319, 279), call("memfd_secret", 447, 447),
    TRUNCATE, x86_only("chmod", 90), call("fchmod", 91, 52), call("fchmodat", 268, 53), call("fchmodat2", 452, 452),
    x86_only("chown", 92), call("fchown", 93, 55), x86_only("lchown", 94), call("fchownat", 260, 54),
    x86_only("utime", 132), x86_only("utimes", 235), x86_only("futimesat", 261), call("utimensat", 280, 88),
    call("setxattr", 188, 5), call("lsetxattr", 189, 6), call("fsetxattr", 190, 7), call("setxattrat", 463, 463),
    call("removexattr", 197, 14), call("lremovexattr", 198, 15), call("fremovexattr", 199, 16), call("removexattrat", 466, 466),
    call("file_setattr", 469, 469), call("mq_open", 240, 180), call("mq_unlink", 241, 181),
];

/// Cuts a file by its path; programs have another way for a file they have open.
const TRUNCATE: Call = call("truncate", 76, 45);

/// Denied to approved steps where the mode, which is this argument, makes a program run with the
/// rights of its owner: anybody else could start it outside of the sandbox.
#[rustfmt::skip]
const SET_MODE: &[(Call, u8)] = &[
    (x86_only("chmod", 90), 1), (call("fchmod", 91, 52), 1), (call("fchmodat", 268, 53), 2), (call("fchmodat2", 452, 452), 2),
];
const SET_USER: u64 = 0o4000;
/// The same where something other than a folder is made. That of a folder may have the bit of its
/// group, so the calls above, of which no filter tells what they change, may set it.
#[rustfmt::skip]
const MAKE: &[(Call, u8)] = &[(x86_only("creat", 85), 1), (x86_only("mknod", 133), 1), (call("mknodat", 259, 33), 2)];
const BITS: [u64; 2] = [SET_USER, 0o2000];
/// The same where the argument before the mode asks for a new file.
const OPEN: &[(Call, u8)] = &[(x86_only("open", 2), 2), (call("openat", 257, 56), 3)];
const MAKES_FILE: &[u64] = &[0o100, 0o20_000_000];
/// The same with both in memory.
const OPENAT2: Call = call("openat2", 437, 437);

/// Starts a process or thread. Its flags can ask for another view of the machine.
const CLONE: Call = call("clone", 56, 220);
/// The same with the flags in memory, where no filter sees them.
const CLONE3: Call = call("clone3", 435, 435);
/// Mounts, control groups, names, messages, users, processes, networks.
const NAMESPACES: &[u64] =
    &[0x0002_0000, 0x0200_0000, 0x0400_0000, 0x0800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000];

/// Sets a limit of a process, of any of the same user: one that has no time left is killed.
const LIMIT: Call = call("prlimit64", 302, 261);
/// The same of its own process.
const OWN_LIMIT: Call = call("setrlimit", 160, 164);
/// The limit that holds the mark of a step. A program that lowers it would no longer be found when
/// its step ends.
const MARKED_LIMIT: u64 = 15;

const SOCKET: Call = call("socket", 41, 198);
const SOCKET_PAIR: Call = call("socketpair", 53, 199);
const IOCTL: Call = call("ioctl", 16, 29);
/// Typing into a terminal, twice.
const TERMINAL: &[u64] = &[0x5412, 0x541C];
/// Attributes of files, on descriptors opened for reading.
const ATTRIBUTES: &[u64] = &[0x4008_6602, 0x4004_6602, 0x401C_5820];

/// Instead of its number, for a process that means itself.
const ITSELF: u64 = 0;

/// Families of sockets: within the machine, and the three of the network.
const LOCAL: u64 = 1;
const NETWORK: &[u64] = &[LOCAL, 2, 10, NETLINK];
/// Questions to the kernel about interfaces, routes and sockets.
const NETLINK: u64 = 16;

const EPERM: u32 = 1;
const ENOSYS: u32 = 38;

/// Denies x32 before anything else: a second numbering that the same kernel may
/// understand, from this bit on. In words of the filter's machine: look at the number; go
/// on where it is smaller; else answer EPERM.
#[rustfmt::skip]
const NO_X32: [sock_filter; 3] = [
    sock_filter { code: 0x20, jt: 0, jf: 0, k: 0 },
    sock_filter { code: 0x35, jt: 0, jf: 1, k: 0x4000_0000 },
    sock_filter { code: 0x06, jt: 0, jf: 0, k: 0x0005_0000 | EPERM },
];

/// The filter for this machine; `None` when its kind of processor is not in the table.
pub(super) fn filter(
    confinement: Confinement,
    rights: Rights,
) -> Result<Option<BpfProgram>, seccompiler::BackendError> {
    let Some(arch) = arch() else { return Ok(None) };
    let rules = rules(confinement, rights, &arch)?;
    let errno = SeccompAction::Errno(EPERM);
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, errno, arch)?;
    let mut program: BpfProgram = filter.try_into()?;
    if matches!(arch, TargetArch::x86_64) {
        program.splice(0..0, NO_X32);
    }
    Ok(Some(program))
}

fn arch() -> Option<TargetArch> {
    match std::env::consts::ARCH {
        "x86_64" => Some(TargetArch::x86_64),
        "aarch64" => Some(TargetArch::aarch64),
        _ => None,
    }
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

fn rules(
    confinement: Confinement,
    rights: Rights,
    arch: &TargetArch,
) -> Result<Rules, seccompiler::BackendError> {
    let mut rules = Rules::new();
    let reads = matches!(confinement, Confinement::ReadOnly { .. });
    let more = if reads { NO_CHANGE } else { &[] };
    let cutting = (!rights.cutting).then_some(&TRUNCATE);
    for call in NEVER.iter().chain(more).chain(cutting) {
        deny(&mut rules, call, arch, &[]);
    }
    let codes = if reads { ATTRIBUTES } else { &[] };
    let codes = TERMINAL.iter().chain(codes);
    let codes = codes.map(|code| SeccompRule::new(vec![compare_arg(1, *code, SeccompCmpOp::Eq)?]));
    let codes = codes.collect::<Result<Vec<_>, _>>()?;
    deny(&mut rules, &IOCTL, arch, &codes);
    let sockets = match confinement {
        Confinement::Approved { network: true } => vec![none_of(NETWORK)?],
        Confinement::ReadOnly { netlink: true } => vec![none_of(&[NETLINK])?],
        Confinement::ReadOnly { netlink: false } | Confinement::Approved { network: false } => {
            Vec::new()
        }
    };
    deny(&mut rules, &SOCKET, arch, &sockets);
    deny(&mut rules, &SOCKET_PAIR, arch, &[none_of(&[LOCAL])?]);
    let is_set = SeccompCondition::new(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?;
    let sheds = vec![compare_arg(1, MARKED_LIMIT, SeccompCmpOp::Eq)?, is_set];
    deny(&mut rules, &LIMIT, arch, &[none_of(&[ITSELF])?, SeccompRule::new(sheds)?]);
    let sheds = vec![compare_arg(0, MARKED_LIMIT, SeccompCmpOp::Eq)?];
    deny(&mut rules, &OWN_LIMIT, arch, &[SeccompRule::new(sheds)?]);
    let views = NAMESPACES
        .iter()
        .map(|flag| SeccompRule::new(vec![compare_arg(0, *flag, SeccompCmpOp::MaskedEq(*flag))?]));
    deny(&mut rules, &CLONE, arch, &views.collect::<Result<Vec<_>, _>>()?);
    if !reads {
        deny_set_user(&mut rules, arch)?;
    }
    Ok(rules)
}

fn deny_set_user(rules: &mut Rules, arch: &TargetArch) -> Result<(), seccompiler::BackendError> {
    let has = |at: u8, bit: u64| compare_arg(at, bit, SeccompCmpOp::MaskedEq(bit));
    for (call, mode) in SET_MODE {
        deny(rules, call, arch, &[SeccompRule::new(vec![has(*mode, SET_USER)?])?]);
    }
    for (call, mode) in MAKE {
        let set = BITS.map(|bit| SeccompRule::new(vec![has(*mode, bit)?]));
        deny(rules, call, arch, &set.into_iter().collect::<Result<Vec<_>, _>>()?);
    }
    for (call, mode) in OPEN {
        let pairs = MAKES_FILE.iter().flat_map(|made| BITS.map(|bit| (*made, bit)));
        let set =
            pairs.map(|(made, bit)| SeccompRule::new(vec![has(*mode, bit)?, has(mode - 1, made)?]));
        deny(rules, call, arch, &set.collect::<Result<Vec<_>, _>>()?);
    }
    Ok(())
}

/// The filter that says this kernel lacks a call, so that programs use the older one.
pub(super) fn missing_calls() -> Result<Option<BpfProgram>, seccompiler::BackendError> {
    let Some(arch) = arch() else { return Ok(None) };
    let mut rules = Rules::new();
    deny(&mut rules, &CLONE3, &arch, &[]);
    deny(&mut rules, &OPENAT2, &arch, &[]);
    let missing = SeccompAction::Errno(ENOSYS);
    SeccompFilter::new(rules, SeccompAction::Allow, missing, arch)?.try_into().map(Some)
}

/// No rules: denied whatever its arguments.
fn deny(rules: &mut Rules, call: &Call, arch: &TargetArch, when: &[SeccompRule]) {
    let number = match arch {
        TargetArch::x86_64 => call.x86_64,
        TargetArch::aarch64 => call.aarch64,
        TargetArch::riscv64 => None,
    };
    rules.extend(number.map(|number| (number, when.to_vec())));
}

/// The first argument is not one of these.
fn none_of(values: &[u64]) -> Result<SeccompRule, seccompiler::BackendError> {
    let differs = values.iter().map(|value| compare_arg(0, *value, SeccompCmpOp::Ne));
    SeccompRule::new(differs.collect::<Result<Vec<_>, _>>()?)
}

fn compare_arg(
    argument: u8,
    value: u64,
    compared: SeccompCmpOp,
) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, compared, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_is_listed_once_and_under_a_number_of_its_own() {
        let all: Vec<&Call> = NEVER
            .iter()
            .chain(NO_CHANGE)
            .chain([&SOCKET, &SOCKET_PAIR, &IOCTL, &CLONE, &CLONE3, &LIMIT, &OWN_LIMIT, &OPENAT2])
            .chain(OPEN.iter().map(|(call, _)| call))
            .collect();
        for (at, call) in all.iter().enumerate() {
            for other in all.iter().skip(at + 1) {
                assert_ne!(call.name, other.name);
                assert_ne!(call.x86_64, other.x86_64, "{} {}", call.name, other.name);
                let both = call.aarch64.is_some() && call.aarch64 == other.aarch64;
                assert!(!both, "{} {}", call.name, other.name);
            }
        }
    }

    #[test]
    fn the_filter_can_be_built_for_every_kind_of_step() {
        for strict in [
            Confinement::ReadOnly { netlink: false },
            Confinement::Approved { network: false },
            Confinement::Approved { network: true },
        ] {
            for arch in [TargetArch::x86_64, TargetArch::aarch64] {
                let count = |abi: i32| rules(strict, Rights::for_abi(abi), &arch).unwrap().len();
                assert!(count(7) > 40);
                let one_more = usize::from(matches!(strict, Confinement::Approved { .. }));
                assert_eq!(
                    [1, 2, 3].map(count),
                    [0, 0, 1].map(|less| count(7) + one_more * (1 - less))
                );
            }
            assert_eq!(filter(strict, Rights::for_abi(1)).unwrap().is_some(), arch().is_some());
        }
    }
}
