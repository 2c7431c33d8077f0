//! The processes a step leaves behind, and their end.
//!
//! A child leads a session and a process group of its own, so a signal reaches what
//! it started. What leaves the group with `setsid` is found on Linux: we adopt
//! orphans (child subreaper), so every descendant hangs below us in `/proc`, and it is
//! a step's when it stands in the child's session, carries the step's mark in its
//! environment, or has a parent that does.
//!
//! Not caught: a process that leaves the session, clears its environment and outlives
//! its parents; one that runs with other rights; anything left when we are killed
//! with SIGKILL. On macOS, which has neither subreapers nor `/proc`, only the group is
//! ended. An escaped process that ends by itself stays a zombie until we end.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

#[cfg(target_os = "linux")]
mod descendants;

/// The variable that marks a step's processes.
pub(super) const MARK: &str = "AVOCET_STEP";

/// How often the sweep after a step tries, and how long it waits between.
const SWEEPS: u32 = 100;
const BETWEEN: Duration = Duration::from_millis(10);

/// Makes us adopt orphans, and us and our children leave no core file, which would
/// hold keys. Either may be refused by the system; a step runs all the same.
pub(super) fn prepare() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let maximum = getrlimit(Resource::Core).maximum;
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum });
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// A random value for [`MARK`], new for each step.
pub(super) fn mark() -> String {
    format!("{:016x}", fastrand::u64(..))
}

/// A child's group. Dropping it before [`Group::end`] ends everything in it hard: the
/// step was abandoned.
#[derive(Debug)]
pub(super) struct Group {
    leader: Pid,
    mark: String,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Running,
    Ended,
}

impl Group {
    /// The group a child leads. `None` for a process number that cannot be one.
    pub(super) fn led_by(pid: u32, mark: String) -> Option<Group> {
        let leader = Pid::from_raw(i32::try_from(pid).ok()?)?;
        Some(Group { leader, mark, state: State::Running })
    }

    /// To every process of the group. It may be gone already.
    pub(super) fn signal(&self, signal: Signal) {
        let _ = kill_process_group(self.leader, signal);
    }

    /// Ends what is left of a step whose child has been waited for, and says how many
    /// processes that were.
    pub(super) async fn end(mut self) -> usize {
        let ended = sweep(self.leader, self.mark.clone()).await;
        self.signal(Signal::KILL);
        self.state = State::Ended;
        ended
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if self.state == State::Ended {
            return;
        }
        self.signal(Signal::KILL);
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(sweep(self.leader, self.mark.clone()));
        }
    }
}

/// Kills and collects until nothing of a step is found, and counts what was killed.
#[cfg(target_os = "linux")]
async fn sweep(leader: Pid, mark: String) -> usize {
    let mut killed = std::collections::BTreeSet::new();
    for _ in 0..SWEEPS {
        let (mark, known) = (mark.clone(), killed.clone());
        let round =
            tokio::task::spawn_blocking(move || descendants::sweep(leader, &mark, known)).await;
        let Ok(found) = round else { break };
        killed = found.killed;
        if found.left == 0 {
            break;
        }
        tokio::time::sleep(BETWEEN).await;
    }
    killed.len()
}

#[cfg(not(target_os = "linux"))]
async fn sweep(leader: Pid, _mark: String) -> usize {
    usize::from(kill_process_group(leader, Signal::KILL).is_ok())
}
