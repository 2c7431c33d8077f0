//! Whether a file of the workspace steers agents or programs: by its name, because the notes of
//! the project take it in, or because the settings of git name it.

use std::path::{Path, PathBuf};

use super::{Contents, PathKind, PolicyContext, repository, steering};

/// The files that are looked through for what notes take in, and the most of one, in bytes.
const MAX_NOTES: usize = 256;
const MAX_NOTE: usize = 1024 * 1024;

impl PolicyContext<'_> {
    /// Whether a path of the workspace names what steers agents or programs.
    pub fn is_steering_file(&self, text: &str, cwd: &Path) -> bool {
        self.steers(&self.resolve(text, cwd))
    }

    /// The same for a path whose links are resolved.
    pub fn steers(&self, path: &Path) -> bool {
        self.steers_as(path, self.world.kind(path))
    }

    /// The same for what is there, or will be.
    pub fn steers_as(&self, path: &Path, kind: PathKind) -> bool {
        let Some(root) = self.place.root_of(path) else { return false };
        let is_folder = kind == PathKind::Folder;
        path.strip_prefix(root).is_ok_and(|inside| steering::steers(inside, is_folder))
            || self.is_imported_note(path)
            || repository::is_named_by_settings(path, *self)
    }

    /// Whether the notes of the project take in the file at a path, whose links are resolved, or
    /// would if it were there.
    pub fn is_imported_note(&self, path: &Path) -> bool {
        let place = self.place;
        let around = place.readable.iter().chain([&place.workspace]);
        let above = |folder: &&Path| around.clone().any(|root| folder.starts_with(root));
        let inner = path.ancestors().skip(1).take_while(|folder| place.contains(folder));
        let folders = place.workspace.ancestors().take_while(above).chain(inner);
        let notes = folders.flat_map(|folder| {
            steering::NOTES.iter().chain([&steering::LOCAL_NOTES]).map(|name| folder.join(name))
        });
        let mut open: Vec<PathBuf> = notes.collect();
        let mut seen = std::collections::BTreeSet::new();
        while let Some(file) = open.pop() {
            if seen.len() >= MAX_NOTES || !seen.insert(file.clone()) {
                continue;
            }
            let Contents::Bytes(text) = self.world.read(&file, MAX_NOTE) else { continue };
            let folder = file.parent().unwrap_or(&file);
            for name in steering::imported_names(&String::from_utf8_lossy(&text)) {
                let import = self.world.resolve(&folder.join(name));
                if import == path {
                    return true;
                }
                open.push(import);
            }
        }
        false
    }
}
