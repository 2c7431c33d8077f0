//! What the answers of a server are read with.

use std::path::{Path, PathBuf};

use super::position::ColumnUnit;
use avocet_safety::tools::CodeTask;

/// What an answer is read with.
pub(crate) struct AnswerContext {
    pub task: CodeTask,
    /// The folders of the session: nothing outside is shown or changed.
    pub folders: Vec<PathBuf>,
    pub unit: ColumnUnit,
}

impl AnswerContext {
    /// A path relative to the workspace; `None`: it is outside.
    pub fn shown<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        let folder = self.folders.iter().find(|folder| path.starts_with(folder))?;
        let is_first = self.folders.first() == Some(folder);
        if is_first { path.strip_prefix(folder).ok() } else { Some(path) }
    }
}
