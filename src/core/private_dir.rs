//! Creates folders in the same way for every module that saves files. What they contain is up to
//! those modules.

use std::fs;
use std::io;
use std::path::Path;

use crate::i18n::{Phrase, exec as phrases};

pub mod beside;
pub mod owner;

/// Creates a folder and its parents; a new folder is accessible only to its owner.
///
/// # Errors
/// The error of the system.
pub fn private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// The system resource that is exhausted, where an error says so.
pub fn exhausted_resource(error: &io::Error) -> Option<Phrase> {
    use rustix::io::Errno;
    let what = Errno::from_io_error(error)?;
    match what {
        Errno::AGAIN => Some(phrases::NO_PROCESSES),
        Errno::MFILE | Errno::NFILE => Some(phrases::NO_DESCRIPTORS),
        Errno::NOMEM => Some(phrases::NO_MEMORY),
        _ => None,
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_new_folder_is_private_and_an_existing_one_is_unchanged() {
        let root = tempfile::tempdir().unwrap();
        let open = root.path().join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o755)).unwrap();
        private_folder(&open.join("a/b")).unwrap();
        private_folder(&open.join("a/b")).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let modes = [mode(&open), mode(&open.join("a")), mode(&open.join("a/b"))];
        assert_eq!(modes, [0o755, 0o700, 0o700]);
    }
}
