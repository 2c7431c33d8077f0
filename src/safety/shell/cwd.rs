//! The folders a line may be in: `cd` changes the folder of what follows it, if it
//! succeeds.
//!
//! Paths are looked at from every folder that is possible, and the worst counts.

use std::path::{Path, PathBuf};

/// Where the next command may run.
pub struct Folders {
    /// Every folder the line was ever in.
    all: Vec<PathBuf>,
    /// Those of the next command.
    current: Vec<PathBuf>,
    /// Whether a folder is not known at all.
    lost: bool,
}

const MOST: usize = 6;

impl Folders {
    pub fn new(cwd: PathBuf) -> Folders {
        Folders { all: vec![cwd.clone()], current: vec![cwd], lost: false }
    }

    /// Moves to the next command. Unless it comes after a `&&`, the `cd` before it may have
    /// failed, or may have been in a subshell.
    pub fn start_command(&mut self, sure: bool) {
        if !sure {
            self.current.clone_from(&self.all);
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &PathBuf> {
        self.current.iter()
    }

    pub fn is_first(&self, cwd: &Path) -> bool {
        self.current.first().is_some_and(|first| first == cwd)
    }

    pub fn is_lost(&self) -> bool {
        self.lost
    }

    pub fn mark_lost(&mut self) {
        self.lost = true;
    }

    /// Moves on to where `step` leads from here.
    pub fn change_to(&mut self, step: impl Fn(&Path) -> PathBuf) {
        let there: Vec<PathBuf> = self.current.iter().map(|here| step(here)).collect();
        for folder in &there {
            if !self.all.contains(folder) {
                self.all.push(folder.clone());
            }
        }
        self.lost |= self.all.len() > MOST;
        self.all.truncate(MOST);
        self.current = there;
        self.current.truncate(MOST);
    }
}
