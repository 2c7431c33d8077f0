//! What the answers of a server are read with.

use std::fs;
use std::path::{Path, PathBuf};

use super::document::MAX_FILE;
use super::position::ColumnUnit;
use avocet_safety::is_credential_path;
use avocet_safety::tools::CodeTask;

/// What an answer is read with.
pub(crate) struct AnswerContext {
    pub task: CodeTask,
    /// The folders of the session: nothing outside is shown or changed.
    pub folders: Vec<PathBuf>,
    pub unit: ColumnUnit,
}

impl AnswerContext {
    /// The text of a file, and its path with links resolved; `None`: it is outside, holds
    /// credentials, or cannot be shown as text. A server names what it likes.
    pub fn read_file(&self, path: &Path) -> Option<(PathBuf, String)> {
        let real = fs::canonicalize(path).ok()?;
        let meta = fs::metadata(&real).ok()?;
        let holds_credentials = is_credential_path(self.shown(&real)?);
        let is_text = meta.is_file() && meta.len() <= MAX_FILE && !holds_credentials;
        let text = is_text.then(|| fs::read_to_string(&real).ok()).flatten()?;
        Some((real, text))
    }

    /// A path relative to the workspace; `None`: it is outside.
    pub fn shown<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        let folder = self.folders.iter().find(|folder| path.starts_with(folder))?;
        let is_first = self.folders.first() == Some(folder);
        if is_first { path.strip_prefix(folder).ok() } else { Some(path) }
    }
}
