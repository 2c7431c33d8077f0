//! A small disk of its own, gone with the test.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub struct Disk(PathBuf);

impl Disk {
    /// `None` where nobody may mount one.
    pub fn mount(folder: &Path, options: &str) -> Option<Disk> {
        fs::create_dir_all(folder).unwrap();
        let done =
            Command::new("mount").args(["-t", "tmpfs", "-o", options, "none"]).arg(folder).output();
        done.is_ok_and(|done| done.status.success()).then(|| Disk(folder.to_owned()))
    }

    pub fn remount(&self, options: &str) {
        let options = format!("remount,{options}");
        let done = Command::new("mount").args(["-o", &options]).arg(&self.0).output();
        assert!(done.unwrap().status.success());
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).output();
    }
}
