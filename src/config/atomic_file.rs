//! Reads small files whole and writes them so that a crash leaves the old or the new one, never
//! half of one. A process reads, changes and writes a file while it holds the file's lock, so that
//! no change of another process is lost. Not here: their contents.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::diagnostic::ConfigError;
use avocet_core::private_dir::{beside, private_folder};

/// The most that is read of a file; settings are a thousandth of it.
pub const MAX_LENGTH: u64 = 1024 * 1024;

/// How long a change waits for another process to finish its own, and how often it checks
/// meanwhile.
const WAIT_TIMEOUT: Duration = Duration::from_secs(3);
const LOOK: Duration = Duration::from_millis(2);

/// The lock of one process on a file; the system releases it when the process ends.
#[derive(Debug)]
#[must_use = "the file is locked for as long as this is held"]
pub struct FileLock(#[expect(dead_code, reason = "held, not read")] Option<File>);

/// The text of a file; `None` if it does not exist. Opens only a regular file, so that a pipe or a
/// device in its place cannot block the start.
pub fn read(path: &Path) -> Result<Option<String>, ConfigError> {
    let kind = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(ConfigError::unreadable(&error)),
        Ok(kind) => kind,
    };
    if !kind.is_file() {
        return Err(ConfigError::NotAFile);
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_LENGTH + 1).read_to_end(&mut bytes))
        .map_err(|error| ConfigError::unreadable(&error))?;
    if bytes.len() as u64 > MAX_LENGTH {
        return Err(ConfigError::TooLong { limit: MAX_LENGTH });
    }
    String::from_utf8(bytes).map(Some).map_err(|_| ConfigError::NotText)
}

/// Waits for the lock on a file. The lock is an empty file next to it, because the file itself is
/// replaced by each change.
///
/// # Errors
/// `TimedOut` if another process holds it for too long. If nothing can be locked, the change itself
/// reports the error, or continues without a lock.
pub fn lock(path: &Path) -> io::Result<FileLock> {
    lock_with_timeout(path, WAIT_TIMEOUT)
}

fn lock_with_timeout(path: &Path, patience: Duration) -> io::Result<FileLock> {
    let Ok(file) = append(&path.with_extension("lock")) else { return Ok(FileLock(None)) };
    let since = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(FileLock(Some(file))),
            Err(TryLockError::Error(_)) => return Ok(FileLock(None)),
            Err(TryLockError::WouldBlock) if since.elapsed() >= patience => {
                return Err(io::ErrorKind::TimedOut.into());
            }
            Err(TryLockError::WouldBlock) => std::thread::park_timeout(LOOK),
        }
    }
}

/// Writes a file atomically: a temporary file next to it, flushed to the disk, then renamed over
/// it. A link is followed, so that a linked settings file stays a link; an existing file keeps its
/// permissions, a new one is accessible only to its owner.
pub fn write(path: &Path, text: &str) -> io::Result<()> {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = parent(&path);
    private_folder(&folder)?;
    beside::sweep(&folder);
    let mut file = beside::create(&folder)?;
    file.write_all(text.as_bytes())?;
    if let Ok(old) = fs::metadata(&path) {
        file.as_file().set_permissions(old.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(&path).map_err(|error| error.error)?;
    // The rename itself reaches the disk with the folder; if folders cannot be opened, flushing the
    // file must be enough.
    let _ = File::open(&folder).and_then(|folder| folder.sync_all());
    Ok(())
}

/// Writes a file atomically for as long as the machine runs, without waiting for the disk.
pub fn write_unsynced(path: &Path, text: &str) -> io::Result<()> {
    let folder = parent(path);
    private_folder(&folder)?;
    let mut file = beside::create(&folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Moves a file that cannot be read out of the way, next to it; what was moved there before stays.
pub fn set_aside(path: &Path) -> io::Result<()> {
    let numbered = (2..).map(|number: u32| path.with_extension(format!("broken-{number}")));
    let names = std::iter::once(path.with_extension("broken")).chain(numbered);
    let mut free = names.filter(|name| name.symlink_metadata().is_err());
    free.next().map_or(Ok(()), |name| fs::rename(path, name))
}

/// Writes a new file, as [`write()`] does; an existing one stays unchanged.
pub fn create(path: &Path, text: &str) -> io::Result<()> {
    let folder = parent(path);
    private_folder(&folder)?;
    let mut file = beside::create(&folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist_noclobber(path).map_err(|error| error.error)?;
    let _ = File::open(&folder).and_then(|folder| folder.sync_all());
    Ok(())
}

/// Opens a file for appending lines, created for its owner only.
pub fn append(path: &Path) -> io::Result<File> {
    private_folder(&parent(path))?;
    let mut options = fs::OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn parent(path: &Path) -> PathBuf {
    path.parent().unwrap_or(Path::new(".")).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_is_not_an_error_but_a_folder_is() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(&folder.path().join("none")), Ok(None));
        assert_eq!(read(folder.path()), Err(ConfigError::NotAFile));
    }

    #[test]
    fn a_file_that_is_too_long_or_not_text_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, vec![b'x'; MAX_LENGTH as usize + 1]).unwrap();
        assert_eq!(read(&path), Err(ConfigError::TooLong { limit: MAX_LENGTH }));
        fs::write(&path, b"\xff\xfe").unwrap();
        assert_eq!(read(&path), Err(ConfigError::NotText));
    }

    #[test]
    fn one_process_at_a_time_may_change_a_file_and_a_long_wait_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        let held = lock(&path).unwrap();
        let refused = lock_with_timeout(&path, Duration::ZERO).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::TimedOut);
        drop(held);
        let _held = lock_with_timeout(&path, Duration::ZERO).unwrap();
        // Another file has its own lock.
        let _other = lock_with_timeout(&folder.path().join("trust.json"), Duration::ZERO).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_are_preserved() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        fs::write(&real, "old").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        write(&link, "new").unwrap();
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&real).unwrap(), "new");
        assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    }

    #[cfg(unix)]
    #[test]
    fn a_new_file_is_private_and_leaves_no_temporary_file() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/er/file");
        write(&path, "x").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }
}
