//! Looks at the files below a folder, and reads what git answers.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::{Duration, Instant, SystemTime};

use ignore::{DirEntry, WalkBuilder, WalkState};

use avocet_safety::repository::TrackedFile;
use avocet_safety::{is_credential_entry, is_credential_path};

/// Threads that look at files.
const THREADS: usize = 4;
/// Times of files and of the clock differ by as much, and a file may change twice within it.
const TICK: Duration = Duration::from_millis(50);
/// The same of a file system that counts seconds, or every second one.
const COARSE_TICK: Duration = Duration::from_secs(2);

/// The inode, and when it came into use for this file.
pub type FileIdentity = (u64, Option<SystemTime>);

/// What changes with the content of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkspaceFile {
    pub size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
    inode: u64,
    pub executable: bool,
    /// Who may read, write and run it.
    pub permissions: u32,
    /// When the file was made, where the file system knows it.
    born: Option<SystemTime>,
}

impl WorkspaceFile {
    fn new(meta: &std::fs::Metadata) -> WorkspaceFile {
        WorkspaceFile {
            size: meta.len(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
            inode: meta.ino(),
            executable: meta.mode() & 0o111 != 0,
            permissions: meta.mode() & 0o7777,
            born: meta.created().ok(),
        }
    }

    pub fn modified_time(&self) -> SystemTime {
        to_time(self.modified)
    }

    /// Whether a change at that moment or later gives the file another stamp.
    pub fn is_settled(&self, at: SystemTime) -> bool {
        let is_coarse = self.modified.1 == 0 && self.changed.1 == 0;
        let tick = if is_coarse { COARSE_TICK } else { TICK };
        // The time of modification can be set to any other.
        to_time(self.changed.max(self.modified)) + tick < at
    }

    /// Whether the file was created after that moment; where the file system keeps no time of
    /// creation, whether it changed.
    pub fn is_created_since(&self, since: SystemTime) -> bool {
        self.born.unwrap_or_else(|| to_time(self.changed)) >= since
    }

    /// Whether it was made, moved, linked or written after that moment.
    pub fn is_touched_since(&self, since: SystemTime) -> bool {
        to_time(self.changed) >= since
    }

    /// What stays when the file is moved, and that its other names have in common.
    pub fn identity(&self) -> FileIdentity {
        (self.inode, self.born)
    }

    /// Whether git's index has the file as it is.
    pub fn equals_tracked(&self, file: &TrackedFile) -> bool {
        let is_same = |ours: i64, theirs: u32| u32::try_from(ours & 0xffff_ffff) == Ok(theirs);
        // Some builds of git count seconds only.
        let is_time = |ours: (i64, i64), theirs: (u32, u32)| {
            is_same(ours.0, theirs.0) && (theirs.1 == 0 || is_same(ours.1, theirs.1))
        };
        is_time(self.modified, file.modified)
            && is_time(self.changed, file.changed)
            && u32::try_from(self.size & 0xffff_ffff) == Ok(file.size)
    }
}

fn to_time((seconds, nanoseconds): (i64, i64)) -> SystemTime {
    let whole = Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
    SystemTime::UNIX_EPOCH + whole + Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(0))
}

/// The stamp of a regular file.
pub fn stamp(path: &Path) -> Option<WorkspaceFile> {
    let meta = std::fs::symlink_metadata(path).ok()?;
    meta.is_file().then(|| WorkspaceFile::new(&meta))
}

/// Tells which folders lead through a link that came into the workspace.
#[derive(Default)]
pub struct SymlinkCache(HashMap<PathBuf, bool>);

impl SymlinkCache {
    pub fn contains(&mut self, folder: &Path, roots: &[PathBuf]) -> bool {
        if roots.iter().any(|root| root == folder) {
            return false;
        }
        if let Some(known) = self.0.get(folder) {
            return *known;
        }
        let is_link = std::fs::symlink_metadata(folder).is_ok_and(|meta| meta.is_symlink());
        let leads = is_link || folder.parent().is_some_and(|above| self.contains(above, roots));
        self.0.insert(folder.to_owned(), leads);
        leads
    }
}

pub type StampedFiles = Vec<(PathBuf, WorkspaceFile)>;

/// Links, and where each leads.
pub type Links = HashMap<PathBuf, PathBuf>;

/// Something that was met below a folder.
enum FoundEntry {
    File(PathBuf, WorkspaceFile),
    Link(PathBuf, PathBuf),
}

pub struct FoundFiles {
    pub files: StampedFiles,
    pub links: Links,
    /// There was time to see all of them.
    pub is_complete: bool,
}

/// The regular files below a folder that are neither ignored nor credentials.
pub fn scan_folder(root: &Path, closed: &[PathBuf], deadline: Instant) -> FoundFiles {
    let closed = closed.to_vec();
    let walk = WalkBuilder::new(root)
        .hidden(false)
        .follow_links(false)
        .require_git(false)
        .same_file_system(true)
        .threads(THREADS)
        .filter_entry(move |entry| {
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            let path = entry.path().as_os_str();
            let is_closed = || closed.iter().any(|folder| path == folder.as_os_str());
            entry.file_name() != ".git" && !(is_folder && (is_closed() || is_secret(entry)))
        })
        .build_parallel();
    let (sender, found) = mpsc::channel();
    walk.run(|| {
        let sender = sender.clone();
        Box::new(move |entry| {
            if Instant::now() >= deadline {
                let _ = sender.send(None);
                return WalkState::Quit;
            }
            if let Some(met) = entry.ok().and_then(found_entry) {
                let _ = sender.send(Some(met));
            }
            WalkState::Continue
        })
    });
    drop(sender);
    let mut files = FoundFiles { files: Vec::new(), links: Links::new(), is_complete: true };
    for met in found {
        match met {
            Some(FoundEntry::File(path, stamp)) => files.files.push((path, stamp)),
            Some(FoundEntry::Link(path, target)) => drop(files.links.insert(path, target)),
            None => files.is_complete = false,
        }
    }
    files
}

fn found_entry(entry: DirEntry) -> Option<FoundEntry> {
    let kind = entry.file_type().filter(|_| !is_secret(&entry))?;
    if kind.is_symlink() {
        let target = std::fs::read_link(entry.path()).ok()?;
        return Some(FoundEntry::Link(entry.into_path(), target));
    }
    if !kind.is_file() {
        return None;
    }
    let file = WorkspaceFile::new(&entry.metadata().ok()?);
    Some(FoundEntry::File(entry.into_path(), file))
}

/// Credentials are not looked at, and a path that is not text cannot be recorded.
pub fn is_covered(root: &Path, path: &Path) -> bool {
    let inner = path.strip_prefix(root).unwrap_or(path);
    inner.to_str().is_some() && !is_credential_path(inner)
}

/// The same for an entry that was met below the folder. Those of an entry above it were left out.
pub fn is_secret(entry: &DirEntry) -> bool {
    let folder = entry.path().parent().filter(|_| entry.depth() > 1);
    let folder = folder.and_then(Path::file_name).and_then(|name| name.to_str());
    let name = entry.file_name().to_str();
    entry.depth() > 0 && name.is_none_or(|name| is_credential_entry(folder, name))
}

/// A file that says which files are ignored.
pub fn is_ignore_file(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == ".gitignore" || name == ".ignore")
}

pub fn hex(name: &[u8]) -> String {
    name.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A content of git's as it is in the working tree: with other ends of lines, or as it is.
/// `None`: the size of the file says that something else was done to it.
pub fn as_checked_out(object: &[u8], size: u64) -> Option<Vec<u8>> {
    let size = usize::try_from(size).ok()?;
    if object.len() == size {
        return Some(object.to_vec());
    }
    let mut out = Vec::with_capacity(size);
    for line in object.split_inclusive(|byte| *byte == b'\n') {
        match line.strip_suffix(b"\n") {
            Some(text) if !text.ends_with(b"\r") => {
                out.extend_from_slice(text);
                out.extend_from_slice(b"\r\n");
            }
            _ => out.extend_from_slice(line),
        }
    }
    (out.len() == size).then_some(out)
}

/// Reads the answers of `git cat-file --batch`: for each a line with name, kind and size, and the
/// content; or `NAME missing`.
pub fn parse_batch(answer: &[u8], names: &[&[u8]]) -> HashMap<Box<[u8]>, Vec<u8>> {
    let mut out = HashMap::new();
    let mut rest = answer;
    for name in names {
        let Some(end) = rest.iter().position(|byte| *byte == b'\n') else { break };
        let (head, body) = rest.split_at(end);
        let body = body.get(1..).unwrap_or_default();
        let head = String::from_utf8_lossy(head);
        let size = head.rsplit(' ').next().and_then(|size| size.parse::<usize>().ok());
        let Some(size) = size else {
            rest = body;
            continue;
        };
        let Some((content, after)) = body.split_at_checked(size) else { break };
        out.insert((*name).into(), content.to_vec());
        rest = after.get(1..).unwrap_or_default();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(modified: (i64, i64), changed: (i64, i64)) -> WorkspaceFile {
        WorkspaceFile {
            size: 1,
            modified,
            changed,
            inode: 1,
            executable: false,
            permissions: 0,
            born: None,
        }
    }

    #[test]
    fn a_file_is_settled_once_a_later_change_shows_in_its_times() {
        let at = |milliseconds| SystemTime::UNIX_EPOCH + Duration::from_millis(milliseconds);
        let fine = file((1, 5), (100, 500_000_000));
        assert!(!fine.is_settled(at(100_540)), "its time of modification was set back");
        assert!(fine.is_settled(at(100_560)));
        let coarse = file((100, 0), (100, 0));
        assert!(!coarse.is_settled(at(101_900)));
        assert!(coarse.is_settled(at(102_100)));
    }
}
