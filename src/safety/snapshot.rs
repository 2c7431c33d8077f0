//! The machine as one judgement sees it: a path leads to the same place however often it is asked
//! about, so a link that is changed meanwhile cannot be inside when it is checked and outside when
//! it is passed on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::redact::Redactor;
use super::{
    Contents, EditSearch, FileKind, Machine, McpToolInfo, OwnProgram, PathKind, Program,
    SearchedFile, SkillInfo,
};

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

    fn is_link(&self, path: &Path) -> bool {
        self.world.is_link(path)
    }

    fn has_other_names(&self, path: &Path) -> bool {
        self.world.has_other_names(path)
    }

    fn program(&self, name: &str) -> Option<Program> {
        self.world.program(name)
    }

    fn untrusted_program_folder(&self, name: &str) -> Option<PathBuf> {
        self.world.untrusted_program_folder(name)
    }

    fn own_program(&self, name: &str) -> Option<OwnProgram> {
        self.world.own_program(name)
    }

    fn executable_at(&self, path: &Path) -> Option<Program> {
        self.world.executable_at(path)
    }

    fn enclosing_repository(&self, folder: &Path, home: &Path) -> Option<PathBuf> {
        self.world.enclosing_repository(folder, home)
    }

    fn has_script(&self, script: &str) -> bool {
        self.world.has_script(script)
    }

    fn is_job_of_model(&self, id: u64) -> bool {
        self.world.is_job_of_model(id)
    }

    fn mcp_tool(&self, name: &str) -> Option<McpToolInfo> {
        self.world.mcp_tool(name)
    }

    fn skill(&self, name: &str) -> Option<SkillInfo> {
        self.world.skill(name)
    }

    fn entries(&self, folder: &Path, most: usize) -> Vec<(PathBuf, FileKind)> {
        self.world.entries(folder, most)
    }

    fn comes_back(&self, root: &Path, path: &Path) -> bool {
        self.world.comes_back(root, path)
    }

    fn takes_checkpoints(&self) -> bool {
        self.world.takes_checkpoints()
    }

    fn read(&self, path: &Path, most: usize) -> Contents {
        self.world.read(path, most)
    }

    fn unsaved_text(&self, path: &Path) -> Option<Vec<u8>> {
        self.world.unsaved_text(path)
    }

    fn head(&self, path: &Path, most: usize) -> Option<Vec<u8>> {
        self.world.head(path, most)
    }

    fn sample(&self, path: &Path, most: usize) -> Option<Vec<u8>> {
        self.world.sample(path, most)
    }

    fn find_texts(
        &self,
        path: &Path,
        texts: &[Vec<u8>],
        search: EditSearch,
    ) -> Option<SearchedFile> {
        self.world.find_texts(path, texts, search)
    }

    fn last_known_digest(&self, path: &Path) -> Option<String> {
        self.world.last_known_digest(path)
    }

    fn redactor(&self) -> Option<&Redactor> {
        self.world.redactor()
    }
}
