//! Copies ignored files into worktrees, and finds them there.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

/// The bytes of one.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Copies a file below one folder to another, through no link.
pub(super) fn copy_file(from: &Path, to: &Path, path: &Path) -> io::Result<()> {
    let source = from.join(path);
    let meta = source.symlink_metadata()?;
    if !meta.is_file() || meta.len() > MAX_BYTES || source.canonicalize()? != source {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut folder = to.to_owned();
    for part in path.parent().into_iter().flat_map(Path::components) {
        folder.push(part);
        let made = fs::create_dir(&folder);
        if !folder.symlink_metadata()?.is_dir() {
            return Err(made.err().unwrap_or(io::ErrorKind::NotADirectory.into()));
        }
    }
    let bytes = fs::read(&source)?;
    let mut options = OpenOptions::new();
    let mode = meta.permissions().mode() & 0o777;
    let mut file = options.write(true).create_new(true).mode(mode).open(to.join(path))?;
    file.write_all(&bytes)
}

/// Whether a file, or all that is in a folder, is the same in both places. `left`: how many more are
/// looked at.
pub(super) fn is_copy(from: &Path, to: &Path, left: &mut usize) -> bool {
    let Some(more) = left.checked_sub(1) else { return false };
    *left = more;
    if to.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
        let entries = fs::read_dir(to).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name()).collect::<Vec<_>>();
        return names.iter().all(|name| is_copy(&from.join(name), &to.join(name), left));
    }
    let read = |file: &Path| {
        let meta = file.symlink_metadata().ok()?;
        if meta.is_file() && meta.len() <= MAX_BYTES { fs::read(file).ok() } else { None }
    };
    read(to).is_some_and(|bytes| read(from) == Some(bytes))
}
