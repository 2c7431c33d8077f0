//! A folder to work in and a home of its own, removed after the test.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

pub struct TestDir {
    pub root: tempfile::TempDir,
}

impl TestDir {
    pub fn new() -> TestDir {
        let root = super::temp_dir();
        for folder in ["work", "home", "avocet"] {
            fs::create_dir(root.path().join(folder)).unwrap();
        }
        TestDir { root }
    }

    pub fn work(&self) -> PathBuf {
        self.path("work")
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// The variables that name its home.
    pub fn envs(&self) -> Vec<(&'static str, String)> {
        let path = |name: &str| self.path(name).display().to_string();
        vec![("HOME", path("home")), ("AVOCET_HOME", path("avocet"))]
    }

    /// The program, in a folder that nobody trusted, with this home and no other environment.
    pub fn untrusted_command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_avocet"));
        command.args(args).current_dir(self.work()).env_clear().envs(self.envs());
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("LANG", "en_US.UTF-8");
        command.stdin(Stdio::null());
        command
    }

    /// The same in a folder that is trusted.
    pub fn command(&self, args: &[&str]) -> Command {
        let work = self.work().display().to_string();
        self.untrusted_command(&[&["--trust", &work], args].concat())
    }

    pub fn settings(&self, text: &str) {
        fs::create_dir_all(self.path("avocet")).unwrap();
        fs::write(self.path("avocet/config.toml"), text).unwrap();
    }

    /// A file of replies as the name of a model, outside the folder that is worked in.
    pub fn script(&self, replies: &[impl AsRef<str>]) -> String {
        let replies: Vec<&str> = replies.iter().map(AsRef::as_ref).collect();
        fs::write(self.path("replies.txt"), replies.join("\n---\n")).unwrap();
        format!("scripted:{}", self.path("replies.txt").display())
    }
}
