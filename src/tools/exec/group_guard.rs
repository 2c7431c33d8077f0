//! Ends what a program of our own started, if it is given up before its end.

use rustix::process::{Pid, Signal, kill_process_group};

/// Kills the process group of a program when it is dropped. It has to be dropped before the program
/// is waited for, or released: afterwards its number may belong to another one.
pub(super) struct GroupGuard(Option<Pid>);

impl GroupGuard {
    pub fn new(leader: Option<u32>) -> GroupGuard {
        GroupGuard(leader.and_then(|pid| Pid::from_raw(pid.cast_signed())))
    }

    /// The program ended by itself.
    pub fn release(mut self) {
        self.0 = None;
    }
}

impl Drop for GroupGuard {
    fn drop(&mut self) {
        if let Some(leader) = self.0 {
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}
