//! Limits the resources of a step that runs by itself, so that one that was misjudged, or a
//! pattern that doubles its input, does not take the machine with it.
//!
//! The bounds are put on the child right after it has begun, for they belong to a whole
//! process and not to the thread that starts it: what it forks before that is not bound,
//! which is the time a loader takes to begin. Memory is what it may write to and has for
//! itself; what runtimes only reserve does not count.

#[cfg(target_os = "linux")]
use rustix::process::{Pid, Resource, Rlimit, prlimit};

use avocet_core::protocol::{StepAction, Tier};
use avocet_safety::Judgement;

/// Bytes of its own that a step may have at least, and the part of the machine's memory
/// that makes it more where there is much: runtimes begin with a part of it.
#[cfg(target_os = "linux")]
const MEMORY: u64 = 2 << 30;
#[cfg(target_os = "linux")]
const PART: u64 = 32;

/// The largest file it may write, in its own folder, and the longest it may compute.
#[cfg(target_os = "linux")]
const FILE: u64 = 1 << 30;
#[cfg(target_os = "linux")]
const SECONDS: u64 = 300;

/// Processes and threads it may have: by a limit beyond all that run now, and counted as
/// well, since no such limit binds root.
pub(super) const PROCESSES: u16 = 512;

/// Whether a step is bounded at all: it runs by itself.
pub(super) fn is_limited(judged: &Judgement) -> bool {
    judged.risk.tier == Tier::L0 && matches!(judged.step.work, StepAction::Exec { .. })
}

/// Bounds a child. One that has ended already needs none; a bound the system refuses is
/// left out.
#[cfg(target_os = "linux")]
pub(super) fn apply(child: Option<u32>) {
    let pid = child.and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
    if pid.is_none() {
        // No number would mean ourselves.
        return;
    }
    let rows = [
        (Resource::Data, Some(memory())),
        (Resource::Nproc, count_running().map(|running| running + u64::from(PROCESSES))),
        (Resource::Fsize, Some(FILE)),
        (Resource::Cpu, Some(SECONDS)),
    ];
    for (resource, most) in rows {
        let Some(most) = most else { continue };
        // Never more than it has, which only root could give.
        let had = rustix::process::getrlimit(resource).maximum.unwrap_or(u64::MAX);
        let most = Some(most.min(had));
        let _ = prlimit(pid, resource, Rlimit { current: most, maximum: most });
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn apply(_child: Option<u32>) {}

/// Limits what a child, and each process that it starts from now on, may write to in memory.
#[cfg(target_os = "linux")]
pub(super) fn limit_memory(child: Option<u32>, bytes: u64) {
    let pid = child.and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
    if pid.is_some() {
        let had = rustix::process::getrlimit(Resource::Data).maximum.unwrap_or(u64::MAX);
        let most = Some(bytes.min(had));
        // One that has ended needs no limit.
        let _ = prlimit(pid, Resource::Data, Rlimit { current: most, maximum: most });
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn limit_memory(_child: Option<u32>, _bytes: u64) {}

/// What a process has in memory, in bytes; 0 where the system does not say.
pub(super) fn resident_memory(pid: i32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_ascii_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or_default() << 10
}

#[cfg(target_os = "linux")]
fn memory() -> u64 {
    let all = installed().unwrap_or(0);
    MEMORY.max(all / PART).min((all / 2).max(MEMORY / 2))
}

/// Bytes of memory of the machine.
#[cfg(target_os = "linux")]
fn installed() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let kilobytes = text.strip_prefix("MemTotal:")?.split_ascii_whitespace().next()?;
    kilobytes.parse::<u64>().ok()?.checked_mul(1024)
}

/// How many processes and threads there are, of everybody.
#[cfg(target_os = "linux")]
fn count_running() -> Option<u64> {
    let load = std::fs::read_to_string("/proc/loadavg").ok()?;
    load.split_ascii_whitespace().nth(3)?.split_once('/')?.1.parse().ok()
}
