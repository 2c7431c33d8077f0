//! The folders a line may be in: `cd` changes the folder of what follows it, if it
//! succeeds.
//!
//! Paths are looked at from every folder that is possible, and the worst counts.

use std::path::{Path, PathBuf};

use super::super::{PathKind, PolicyContext, paths};
use super::ast::Joint;

/// Where the next command may run.
#[derive(Clone, Debug)]
pub struct Folders {
    /// Every folder the line was ever in.
    all: Vec<PathBuf>,
    /// Those of the next command.
    current: Vec<PathBuf>,
    /// Whether a folder is not known at all.
    lost: bool,
    /// Whether a part of this list may not have happened, or in a process of its own.
    doubtful: bool,
}

const MAX_FOLDERS: usize = 6;

impl Folders {
    pub fn new(cwd: PathBuf) -> Folders {
        Folders { all: vec![cwd.clone()], current: vec![cwd], lost: false, doubtful: false }
    }

    /// Moves to the next command. Unless it comes after a `&&`, the `cd` before it may have
    /// failed, or may have been in a subshell; after `||` and `|` that goes for the rest of
    /// the list: `true || cd a && ls`, `x | cd a && ls`.
    pub fn start_command(&mut self, joint: Joint) {
        self.doubtful = match joint {
            Joint::Next => false,
            Joint::And => self.doubtful,
            Joint::Or | Joint::Pipe => true,
        };
        if self.doubtful || joint != Joint::And {
            self.current.clone_from(&self.all);
        }
    }

    /// `cd` to a folder that may be worked in: whether it is there for certain.
    pub fn enter(&mut self, to: &str, policy_cx: PolicyContext<'_>) -> Option<bool> {
        let target =
            |here: &Path| paths::normalize(&paths::absolute(to, here, &policy_cx.place.home));
        let mut is_there = true;
        for folder in self.iter() {
            let real = policy_cx.world.resolve(&target(folder));
            // What is there is another thing for each process.
            let is_of_process = ["/proc", "/dev"].iter().any(|place| real.starts_with(place));
            if is_of_process || !policy_cx.place.can_read(&real) {
                return None;
            }
            is_there &= policy_cx.world.kind(&real) == PathKind::Folder;
        }
        self.change_to(target);
        Some(is_there)
    }

    /// The only folder it can be.
    pub fn only(&self) -> Option<&Path> {
        match self.current.as_slice() {
            [only] if !self.lost => Some(only),
            _ => None,
        }
    }

    /// Whether it can be only one, of those that are worked in, and none that programs keep their
    /// own files in.
    pub fn only_plain(&self, policy_cx: PolicyContext<'_>) -> bool {
        let inside = self.only().and_then(|only| {
            let real = policy_cx.world.resolve(only);
            let root = policy_cx.place.root_of(&real)?;
            Some(real.strip_prefix(root).ok()?.to_str()?.to_owned())
        });
        inside.is_some_and(|inside| !inside.split('/').any(|part| part.starts_with('.')))
    }

    /// The `cd` that came last has happened whatever else did.
    pub fn settle(&mut self) {
        if !self.doubtful {
            self.all.clone_from(&self.current);
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
        self.lost |= self.all.len() > MAX_FOLDERS;
        self.all.truncate(MAX_FOLDERS);
        self.current = there;
        self.current.truncate(MAX_FOLDERS);
    }
}
