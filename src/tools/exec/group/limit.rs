//! A step's mark that no process can shed by leaving the session or clearing its
//! environment: the limit of realtime without a pause. Every child inherits it, the kernel
//! shows it, and it means nothing to programs that do not ask for realtime. As the hard
//! limit it cannot be raised either. Linux only.

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};

/// Marks are as large at least, in microseconds: twelve days, and the same again.
const LEAST: u64 = 1 << 40;
/// A hard limit below that leaves no room for marks: of a mark within a mark within…
const ROOM: u64 = 1 << 24;

/// A new mark, small enough for the limit that holds for us.
pub(in super::super) fn fresh() -> u64 {
    match getrlimit(Resource::Rttime).maximum {
        // We are somebody's step ourselves, and theirs is the hard limit.
        Some(most) if (ROOM..2 * LEAST).contains(&most) => fastrand::u64(most / 2..most),
        _ => fastrand::u64(LEAST..2 * LEAST),
    }
}

/// Puts the mark on a child that has just been started. Not on ourselves before that:
/// whatever else is started in that moment would have it too, and end with the step.
pub(in super::super) fn fasten(child: u32, mark: u64) {
    let hard = getrlimit(Resource::Rttime).maximum;
    let maximum = Some(hard.filter(|hard| *hard < 2 * LEAST).unwrap_or(mark));
    if let Some(child) = i32::try_from(child).ok().and_then(Pid::from_raw) {
        // It may have ended, or runs as another user by now.
        let _ = prlimit(Some(child), Resource::Rttime, Rlimit { current: Some(mark), maximum });
    }
}

/// Whether `/proc/PID/limits` shows this mark.
pub(super) fn shows(limits: &str, mark: u64) -> bool {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max realtime timeout"));
    let mut values = line.unwrap_or_default().split_whitespace().take(2);
    values.any(|value| value.parse() == Ok(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_either_of_both_limits() {
        let text = "Limit  Soft  Hard  Units\nMax realtime timeout      7    9    us \n";
        assert!(shows(text, 7) && shows(text, 9));
        assert!(!shows(text, 8) && !shows("", 7));
        assert!(!shows("Max realtime timeout unlimited unlimited us", 7));
    }
}
