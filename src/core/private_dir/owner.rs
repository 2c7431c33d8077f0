//! Which process a file on the disk belongs to, by the number of the process and when it
//! began: the number alone is given away again.

use rustix::io::Errno;
use rustix::process::{Pid, getpid, test_kill_process};

/// `PROCESS-START` of this process.
pub fn this_process() -> String {
    let pid = getpid().as_raw_nonzero().get();
    format!("{pid}-{}", start_time(pid).unwrap_or(0))
}

/// Whether no such process runs any more. One that cannot be seen from here, in another
/// container, counts as gone: who must not touch its files holds a lock on them as well.
pub fn is_gone(pid: u64, start: u64) -> bool {
    i32::try_from(pid).is_ok_and(|pid| pid > 0 && !is_alive(pid, start))
}

fn is_alive(pid: i32, start: u64) -> bool {
    match (start_time(pid), start_time(getpid().as_raw_nonzero().get())) {
        (Some(now), _) => start == 0 || now == start,
        // Others can be seen, and this one cannot.
        (None, Some(_)) => false,
        (None, None) => {
            Pid::from_raw(pid).is_some_and(|pid| test_kill_process(pid) != Err(Errno::SRCH))
        }
    }
}

/// When a process began, in the kernel's own count; `None` where there is none, or the
/// system does not say.
pub fn start_time(pid: i32) -> Option<u64> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    // The name in it may hold anything, brackets too.
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(19)?.parse().ok()
}
