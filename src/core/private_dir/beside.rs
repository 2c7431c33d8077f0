//! Temporary files beside the files that they become. A name says which process writes it,
//! and the file is locked meanwhile, so that what a killed process left can be told from
//! what another one still writes.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FlockOperation, Mode, OFlags, flock, fstat, openat, unlinkat};
use rustix::io::Errno;
use rustix::process::getuid;
use tempfile::NamedTempFile;

use super::owner;

const PREFIX: &str = ".avocet-";
const ENDING: &str = ".tmp";

/// A name that no file has yet.
pub fn temp_name() -> String {
    format!("{PREFIX}{}-{:08x}{ENDING}", owner::this_process(), fastrand::u32(..))
}

/// A new file in this folder, this user's alone.
///
/// # Errors
/// What the system says.
pub fn create(folder: &Path) -> io::Result<NamedTempFile> {
    let prefix = format!("{PREFIX}{}-", owner::this_process());
    let file = tempfile::Builder::new().prefix(&prefix).suffix(ENDING).tempfile_in(folder)?;
    lock_file(file.as_file());
    Ok(file)
}

/// Locks a file for as long as it is open. Some file systems know no locks; the name says
/// enough there.
pub fn lock_file(file: &File) {
    let _ = flock(file, FlockOperation::NonBlockingLockExclusive);
}

/// Removes what killed processes left in this folder.
pub fn sweep(folder: &Path) {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
    let Ok(folder) = rustix::fs::open(folder, flags, Mode::empty()) else { return };
    let Ok(entries) = Dir::read_from(&folder) else { return };
    for entry in entries.flatten() {
        if entry.file_name().to_str().is_ok_and(is_abandoned) {
            remove(&folder, entry.file_name());
        }
    }
}

fn is_abandoned(name: &str) -> bool {
    let middle = name.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(ENDING));
    let mut parts = middle.unwrap_or_default().split('-');
    let mut number = || parts.next()?.parse::<u64>().ok();
    let owner = number().zip(number());
    owner.is_some_and(|(pid, start)| owner::is_gone(pid, start))
        && parts.next().is_some()
        && parts.next().is_none()
}

/// If it is a file of this user that no process has locked.
fn remove(folder: &OwnedFd, name: &std::ffi::CStr) {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let Ok(file) = openat(folder, name, flags, Mode::empty()) else { return };
    let Ok(stat) = fstat(&file) else { return };
    let is_file = rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file();
    let held = flock(&file, FlockOperation::NonBlockingLockExclusive);
    if is_file && stat.st_uid == getuid().as_raw() && held != Err(Errno::WOULDBLOCK) {
        let _ = unlinkat(folder, name, AtFlags::empty());
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A number no process has.
    const NOBODY: i32 = i32::MAX - 7;

    #[test]
    fn sweep_removes_only_files_of_dead_processes() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let dead = at(&format!(".avocet-{NOBODY}-5-XyZ123.tmp"));
        let held = at(&format!(".avocet-{NOBODY}-5-00000001.tmp"));
        let link = at(&format!(".avocet-{NOBODY}-5-00000002.tmp"));
        let others = [".tmpAbCdEf", ".avocet-x-5-1.tmp", ".avocet-1.tmp", "notes.tmp"].map(at);
        fs::write(&dead, "x").unwrap();
        fs::write(&held, "x").unwrap();
        others.iter().for_each(|path| fs::write(path, "x").unwrap());
        std::os::unix::fs::symlink(&others[3], &link).unwrap();
        let lock = File::open(&held).unwrap();
        lock_file(&lock);
        let living = create(folder.path()).unwrap();
        let named = at(&temp_name());
        fs::write(&named, "x").unwrap();
        sweep(folder.path());
        assert!(!dead.exists());
        assert!(held.exists(), "a process in another container writes it");
        assert!(living.path().exists() && named.exists(), "this one writes them");
        assert!(link.is_symlink() && others.iter().all(|path| path.exists()));
        drop(lock);
        sweep(folder.path());
        assert!(!held.exists());
    }
}
