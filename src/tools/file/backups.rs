//! Keeps the old contents of changed files, by their digest, so that a change can be
//! undone. Bounded: the oldest go first.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use avocet_core::private_dir::{beside, private_folder};
use avocet_safety::tools::digest;

/// All that is kept, in bytes.
const MAX_BYTES: u64 = 512 * 1024 * 1024;

/// A folder of contents.
#[derive(Clone, Debug)]
pub struct Backups {
    folder: PathBuf,
    most: u64,
}

impl Backups {
    /// The folder is made when there is something to keep.
    pub fn new(folder: PathBuf) -> Backups {
        Backups { folder, most: MAX_BYTES }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Keeps a content; answers with its digest.
    ///
    /// # Errors
    /// The system's error. Nothing is saved then.
    pub fn save(&self, bytes: &[u8]) -> io::Result<String> {
        let (digest, new) = self.write(bytes, |file| file.sync_all())?;
        if let Some(path) = new {
            self.prune(&path);
        }
        Ok(digest)
    }

    /// The same for one of many contents: the system writes it when it likes. Afterwards,
    /// [`Backups::limit`].
    ///
    /// # Errors
    /// As [`Backups::save`].
    pub fn save_unsynced(&self, bytes: &[u8]) -> io::Result<String> {
        Ok(self.write(bytes, |_| Ok(()))?.0)
    }

    /// Removes the oldest contents until the rest is within the bound.
    pub fn limit(&self) {
        self.prune(Path::new(""));
    }

    /// Whether there is a content of this digest.
    pub fn contains(&self, digest: &str) -> bool {
        self.path(digest).is_file()
    }

    /// The digest, and the path if the content is new.
    fn write(
        &self,
        bytes: &[u8],
        sync: impl FnOnce(&fs::File) -> io::Result<()>,
    ) -> io::Result<(String, Option<PathBuf>)> {
        let digest = digest(bytes);
        let path = self.path(&digest);
        let folder = path.parent().unwrap_or(&self.folder);
        private_folder(folder)?;
        if let Ok(file) = fs::File::options().append(true).open(&path) {
            // Needed again, so it is young again.
            let _ = file.set_modified(SystemTime::now());
            return Ok((digest, None));
        }
        let mut temp = beside::create(folder)?;
        temp.write_all(bytes)?;
        sync(temp.as_file())?;
        temp.persist(&path).map_err(|error| error.error)?;
        Ok((digest, Some(path)))
    }

    /// The content saved under a digest; `None`: nothing, or it was altered.
    pub fn get(&self, wanted: &str) -> Option<Vec<u8>> {
        let sound = wanted.len() == 64 && wanted.bytes().all(|byte| byte.is_ascii_hexdigit());
        let bytes = sound.then(|| fs::read(self.path(wanted)).ok()).flatten()?;
        (digest(&bytes) == wanted).then_some(bytes)
    }

    /// Removes what killed runs left half written.
    pub fn sweep(&self) {
        entries(&self.folder).iter().for_each(|folder| beside::sweep(folder));
    }

    fn path(&self, digest: &str) -> PathBuf {
        let (first, rest) = digest.split_at_checked(2).unwrap_or((digest, ""));
        self.folder.join(first).join(rest)
    }

    /// Removes the oldest until the size is within the bound; the entry just added stays.
    fn prune(&self, newest: &Path) {
        let mut files: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        for folder in entries(&self.folder) {
            files.extend(entries(&folder).into_iter().filter_map(|path| {
                let meta = fs::metadata(&path).ok()?;
                Some((meta.modified().ok()?, meta.len(), path))
            }));
        }
        let mut total: u64 = files.iter().map(|(_, bytes, _)| bytes).sum();
        files.sort_unstable();
        for (_, bytes, path) in files {
            if total <= self.most {
                return;
            }
            if path != newest && fs::remove_file(&path).is_ok() {
                total -= bytes;
            }
        }
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| Some(entry.ok()?.path())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saved_content_is_read_back_and_the_oldest_is_removed_first() {
        let folder = tempfile::tempdir().unwrap();
        let kept = Backups { folder: folder.path().join("deep/undo"), most: 10 };
        let old = kept.save(b"123456").unwrap();
        assert_eq!(kept.get(&old).as_deref(), Some(&b"123456"[..]));
        assert_eq!(kept.save(b"123456").unwrap(), old, "once is enough");
        let past = SystemTime::UNIX_EPOCH;
        fs::File::options().append(true).open(kept.path(&old)).unwrap().set_modified(past).unwrap();
        let new = kept.save(b"abcdef").unwrap();
        assert_eq!(kept.get(&old), None);
        assert_eq!(kept.get(&new).as_deref(), Some(&b"abcdef"[..]));
        let huge = kept.save(b"more than it may be").unwrap();
        assert!(kept.get(&huge).is_some(), "the newest stays");
        assert_eq!(kept.get("../../etc/passwd"), None);
        fs::write(kept.path(&huge), "torn").unwrap();
        assert_eq!(kept.get(&huge), None, "what is not what it was is nothing");
    }
}
