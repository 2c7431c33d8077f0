//! The lock of a worktree's name: who works in the worktree holds it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

/// Unlocked rather than closed at its end: a program that starts at this moment has the file too.
#[derive(Debug)]
pub struct NameLock(File);

impl NameLock {
    /// `None`: another session or agent has it.
    pub(super) fn take(path: &Path) -> io::Result<Option<NameLock>> {
        let mut options = OpenOptions::new();
        let file = open(path, options.write(true).create(true).truncate(false))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(NameLock(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

impl Drop for NameLock {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

pub(super) fn lock_name(name: &str) -> String {
    format!(".{name}.lock")
}

/// Whether a session or an agent works in the worktree of this path.
pub fn is_in_use(worktree: &Path) -> bool {
    let name = worktree.file_name().unwrap_or_default().to_string_lossy();
    let lock = open(&worktree.with_file_name(lock_name(&name)), OpenOptions::new().read(true));
    lock.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// Nothing that a step put in its place is followed or waited for.
fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default()).open(path)
}
