//! The machine as one judgement sees it: a path leads to the same place however often it is asked
//! about, so a link that is changed meanwhile cannot be inside when it is checked and outside when
//! it is passed on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::{Contents, Machine, PathKind, Program};

pub(super) struct MachineSnapshot<'a> {
    world: &'a dyn Machine,
    resolved: Mutex<BTreeMap<PathBuf, PathBuf>>,
}

impl<'a> MachineSnapshot<'a> {
    pub fn new(world: &'a dyn Machine) -> MachineSnapshot<'a> {
        MachineSnapshot { world, resolved: Mutex::default() }
    }
}

impl Machine for MachineSnapshot<'_> {
    fn base(&self) -> Option<&dyn Machine> {
        Some(self.world)
    }

    fn resolve(&self, path: &Path) -> PathBuf {
        let mut resolved = self.resolved.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = resolved.get(path) {
            return known.clone();
        }
        let real = self.world.resolve(path);
        resolved.insert(path.to_owned(), real.clone());
        real
    }

    fn kind(&self, path: &Path) -> PathKind {
        self.world.kind(path)
    }

    fn program(&self, name: &str) -> Option<Program> {
        self.world.program(name)
    }

    fn read(&self, path: &Path, most: usize) -> Contents {
        self.world.read(path, most)
    }
}
