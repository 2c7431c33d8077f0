//! A step's mark that no process can shed by leaving the session or clearing its
//! environment: the limit of realtime without a pause. Every child inherits it, the kernel
//! shows it, and it means nothing to programs that do not ask for realtime. As the hard
//! limit it cannot be raised either. Linux only.

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};

/// Marks are as large at least, in microseconds: twelve days, and the same again.
const MIN_MARK: u64 = 1 << 40;
/// A hard limit below that leaves no room for marks: of a mark within a mark within…
const MARK_ROOM: u64 = 1 << 24;

/// A new mark, small enough for the limit that holds for us.
pub(super) fn new_mark() -> u64 {
    match getrlimit(Resource::Rttime).maximum {
        // We run inside a step ourselves, and the hard limit is that step's.
        Some(most) if (MARK_ROOM..2 * MIN_MARK).contains(&most) => fastrand::u64(most / 2..most),
        _ => fastrand::u64(MIN_MARK..2 * MIN_MARK),
    }
}

/// Puts the mark on a process that runs, and says whether it has it. Not on ourselves
/// before a start: whatever else is started in that moment would have it too, and end with
/// the step.
pub(super) fn apply_mark(process: Pid, mark: u64) -> bool {
    let hard = getrlimit(Resource::Rttime).maximum;
    let maximum = Some(hard.filter(|hard| *hard < 2 * MIN_MARK).unwrap_or(mark));
    // It may have ended, or runs as another user by now.
    prlimit(Some(process), Resource::Rttime, Rlimit { current: Some(mark), maximum }).is_ok()
}

/// Whether `/proc/PID/limits` shows no mark yet, but what we pass on.
pub(super) fn has_no_mark(limits: &str) -> bool {
    let own = getrlimit(Resource::Rttime).current;
    values(limits).next().is_some_and(|soft| soft.parse().ok() == own)
}

/// Whether `/proc/PID/limits` shows this mark.
pub(super) fn has_mark(limits: &str, mark: u64) -> bool {
    values(limits).any(|value| value.parse() == Ok(mark))
}

/// The soft limit and the hard one.
fn values(limits: &str) -> impl Iterator<Item = &str> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max realtime timeout"));
    line.unwrap_or_default().split_whitespace().take(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_either_of_both_limits() {
        let text = "Limit  Soft  Hard  Units\nMax realtime timeout      7    9    us \n";
        assert!(has_mark(text, 7) && has_mark(text, 9));
        assert!(!has_mark(text, 8) && !has_mark("", 7));
        assert!(!has_mark("Max realtime timeout unlimited unlimited us", 7));
    }
}
