//! Records the folders this run writes files in, so that a later run finds half-written
//! files there if this one is killed. One list for each run, in a folder of our own,
//! removed when the run ends.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use avocet_core::private_dir::{beside, owner, private_folder};

/// The most that is read of a list, in bytes.
const MAX_LENGTH: u64 = 4 * 1024 * 1024;

/// The list of this run, made with its first folder.
#[derive(Debug)]
pub struct Journal {
    file: PathBuf,
    recorded: Mutex<BTreeSet<PathBuf>>,
}

impl Journal {
    /// In this folder of lists.
    pub fn new(folder: &Path) -> Journal {
        Journal { file: folder.join(owner::this_process()), recorded: Mutex::default() }
    }

    /// Notes a folder that a file will be written in. Where that fails, the file is written
    /// all the same.
    pub fn record(&self, folder: &Path) {
        let mut noted = self.recorded.lock().unwrap_or_else(PoisonError::into_inner);
        if !noted.contains(folder) && self.write(folder).is_ok() {
            noted.insert(folder.to_owned());
        }
    }

    fn write(&self, folder: &Path) -> std::io::Result<()> {
        self.file.parent().map_or(Ok(()), private_folder)?;
        let mut file = File::options().append(true).create(true).mode(0o600).open(&self.file)?;
        // A path holds no NUL.
        file.write_all(&[folder.as_os_str().as_bytes(), &[0]].concat())
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        // It is there if a folder was noted.
        let _ = fs::remove_file(&self.file);
    }
}

/// Removes what killed runs left half written, and their lists.
pub fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name.to_str().is_some_and(belongs_to_dead_run) {
            let listed = fs::metadata(entry.path()).is_ok_and(|meta| meta.len() <= MAX_LENGTH);
            let list = listed.then(|| fs::read(entry.path()).ok()).flatten().unwrap_or_default();
            for folder in list.split(|byte| *byte == 0).filter(|path| !path.is_empty()) {
                beside::sweep(Path::new(OsStr::from_bytes(folder)));
            }
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn belongs_to_dead_run(name: &str) -> bool {
    let (pid, start) = name.split_once('-').unwrap_or_default();
    let owner = pid.parse().ok().zip(start.parse().ok());
    owner.is_some_and(|(pid, start)| owner::is_gone(pid, start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leftover_files_of_a_dead_run_are_removed_from_the_folders_it_recorded() {
        let root = tempfile::tempdir().unwrap();
        let (lists, work) = (root.path().join("lists"), root.path().join("a\nb"));
        fs::create_dir(&work).unwrap();
        let journal = Journal::new(&lists);
        journal.record(&work);
        let own = fs::read_dir(&lists).unwrap().next().unwrap().unwrap().path();
        let dead = lists.join("2147483640-5");
        fs::copy(&own, &dead).unwrap();
        let left = work.join(".avocet-2147483640-5-0a.tmp");
        fs::write(&left, "half").unwrap();
        sweep(&lists);
        assert!(!left.exists() && !dead.exists());
        assert!(own.exists(), "this run lives");
        drop(journal);
        assert!(!own.exists());
    }
}
