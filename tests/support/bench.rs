//! A folder to work in and a home of its own, gone with the test.

#![allow(dead_code, clippy::unwrap_used, reason = "tests use what they need")]

use std::fs;
use std::path::PathBuf;

pub struct TestDir {
    pub root: tempfile::TempDir,
}

impl TestDir {
    pub fn new() -> TestDir {
        let root = tempfile::tempdir().unwrap();
        for folder in ["work", "home", "avocet"] {
            fs::create_dir(root.path().join(folder)).unwrap();
        }
        TestDir { root }
    }

    pub fn work(&self) -> PathBuf {
        self.root.path().join("work")
    }
}
