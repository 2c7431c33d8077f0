//! A process by its number and its start: a number alone is given away again, and what has it then
//! is not touched.

use rustix::process::{Pid, Signal};
use serde::{Deserialize, Serialize};

use avocet_core::private_dir::owner;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessId {
    pid: i32,
    /// In the kernel's own count.
    start: u64,
}

impl ProcessId {
    /// `None`: such a process does not exist, or the system does not say when it began.
    pub fn of(pid: i32) -> Option<ProcessId> {
        let start = owner::start_time(pid)?;
        Some(ProcessId { pid, start })
    }

    pub fn number(self) -> i32 {
        self.pid
    }

    /// A process that has ended and was not collected does not run.
    pub fn is_running(self) -> bool {
        owner::start_time(self.pid) == Some(self.start)
            && Pid::from_raw(self.pid).is_some_and(super::process_group::is_running)
    }

    /// Sends a signal, if it is still the same process.
    #[cfg(target_os = "linux")]
    pub fn signal(self, signal: Signal) -> bool {
        self.open().is_some_and(|fd| rustix::process::pidfd_send_signal(fd, signal).is_ok())
    }

    #[cfg(not(target_os = "linux"))]
    pub fn signal(self, signal: Signal) -> bool {
        let pid = Pid::from_raw(self.pid).filter(|_| self.is_running());
        pid.is_some_and(|pid| rustix::process::kill_process(pid, signal).is_ok())
    }

    /// Waits until it has ended.
    pub async fn wait_ended(self) {
        #[cfg(target_os = "linux")]
        if let Some(fd) = self.readable_at_end() {
            let _ = fd.readable().await;
            return;
        }
        while self.is_running() {
            tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        }
    }

    #[cfg(target_os = "linux")]
    #[expect(
        deprecated,
        reason = "the descriptor is owned and stays open as long as it is watched"
    )]
    fn readable_at_end(self) -> Option<tokio::io::unix::AsyncFd<std::os::fd::OwnedFd>> {
        let interest = tokio::io::Interest::READABLE;
        tokio::io::unix::AsyncFd::with_interest(self.open()?, interest).ok()
    }

    /// A descriptor that stays with this process, whatever gets its number later.
    #[cfg(target_os = "linux")]
    fn open(self) -> Option<std::os::fd::OwnedFd> {
        let pid = Pid::from_raw(self.pid)?;
        let fd = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()?;
        // It is the right one if it was still there once it was opened.
        self.is_running().then_some(fd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reused_number_is_another_process() {
        let own = ProcessId::of(rustix::process::getpid().as_raw_nonzero().get()).unwrap();
        assert!(own.is_running());
        let earlier = ProcessId { start: own.start - 1, ..own };
        assert!(!earlier.is_running());
        // Signal 0 would reach it, were it taken for the same.
        assert!(!earlier.signal(Signal::WINCH) && own.signal(Signal::WINCH));
    }
}
