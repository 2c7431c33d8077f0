//! Opens and changes files without following any link: folder by folder from the root, so
//! that nothing that is swapped under way leads elsewhere. The paths are those that were
//! judged, links resolved.

use std::ffi::{CStr, OsStr};
use std::fs::File;
use std::io::{self, Read, Seek as _, Write};
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, fchmod, fchown, fstat, fsync, linkat, mkdirat, openat,
    renameat, statat, symlinkat, unlinkat,
};
use rustix::io::Errno;

use super::file_lines::{FileLines, read_lines};
use avocet_core::private_dir::beside;
use avocet_safety::tools::Obstacle;

/// How deep empty folders are that are removed, and any others.
const MAX_DEPTH: usize = 32;
const MAX_FULL_DEPTH: usize = 512;

/// Opening a folder only to name its entries needs no right to read it.
#[cfg(target_os = "linux")]
const FOLDER: OFlags =
    OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A name in an opened folder.
pub struct FileSlot {
    folder: OwnedFd,
    name: std::ffi::OsString,
}

/// How missing folders on the way are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingFolders {
    Fail,
    Create,
}

/// A file that is there.
pub struct ExistingFile {
    file: File,
    stat: rustix::fs::Stat,
}

impl FileSlot {
    /// # Errors
    /// The path has no name at its end, or a component on the way is not a folder.
    pub fn open(path: &Path, missing: MissingFolders) -> io::Result<FileSlot> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_owned();
        let mut folder = rustix::fs::open("/", FOLDER, Mode::empty())?;
        for part in path.parent().into_iter().flat_map(Path::components) {
            let Component::Normal(part) = part else { continue };
            folder = match openat(&folder, part, FOLDER, Mode::empty()) {
                Err(Errno::NOENT) if missing == MissingFolders::Create => {
                    match mkdirat(&folder, part, Mode::from_raw_mode(0o777)) {
                        Ok(()) | Err(Errno::EXIST) => {}
                        Err(error) => return Err(error.into()),
                    }
                    openat(&folder, part, FOLDER, Mode::empty())?
                }
                other => other?,
            };
        }
        Ok(FileSlot { folder, name })
    }

    /// The file in it; `None`: there is nothing of that name.
    ///
    /// # Errors
    /// It is a link or no file, or cannot be opened.
    pub fn file(&self) -> io::Result<Option<ExistingFile>> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = match openat(&self.folder, &self.name, flags, Mode::empty()) {
            Ok(file) => file,
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let stat = fstat(&file)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Ok(Some(ExistingFile { file: file.into(), stat })),
            FileType::Directory => Err(io::ErrorKind::IsADirectory.into()),
            _ => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    /// Puts `bytes` there as one act: who looks sees the old file or the new one. `old`:
    /// the file it replaces, whose rights and owner it gets; without one, nothing is
    /// replaced that came meanwhile.
    ///
    /// # Errors
    /// The system's error; nothing is left over then.
    pub fn write_atomic(&self, bytes: &[u8], old: Option<&ExistingFile>) -> io::Result<()> {
        if let Some(old) = old.filter(|old| old.stat.st_nlink > 1) {
            return self.write_through(old, |file| file.write_all(bytes));
        }
        self.replace(old, |file| file.write_all(bytes), || Ok(()))
    }

    /// The same with a content that `fill` writes. `check` is the last to be asked before it takes
    /// the place of the old one.
    ///
    /// # Errors
    /// The system's error, or what the two answer; the old file is as it was then.
    pub fn write_atomic_with(
        &self,
        fill: impl FnOnce(&mut File) -> io::Result<()>,
        existing_file: &ExistingFile,
        check: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<()> {
        if existing_file.stat.st_nlink <= 1 {
            return self.replace(Some(existing_file), fill, check);
        }
        // It has other names too, so the new content is put into the file itself, once it is
        // whole.
        let temp = beside::temp_name();
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&self.folder, temp.as_str(), flags, Mode::from_raw_mode(0o600))?;
        let mut file = File::from(file);
        beside::lock_file(&file);
        let done = fill(&mut file).and_then(|()| check()).and_then(|()| {
            file.rewind()?;
            self.write_through(existing_file, |target| io::copy(&mut file, target).map(drop))
        });
        let _ = unlinkat(&self.folder, temp.as_str(), AtFlags::empty());
        done
    }

    /// Puts a new file in the place of what is none, which goes once the content is written.
    ///
    /// # Errors
    /// Something else is there, or the system's error; what is there stays then.
    pub fn write_over(&self, bytes: &[u8], obstacle: Obstacle) -> io::Result<()> {
        self.replace(None, |file| file.write_all(bytes), || self.clear(obstacle))
    }

    fn clear(&self, obstacle: Obstacle) -> io::Result<()> {
        let stat = statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW)?;
        match (obstacle, FileType::from_raw_mode(stat.st_mode)) {
            (Obstacle::EmptyFolder, FileType::Directory) => {
                remove_folder(&self.folder, self.name.as_os_str(), MAX_DEPTH, keep_file)
            }
            (Obstacle::EmptyFolder, _)
            | (Obstacle::NoFile, FileType::Directory | FileType::RegularFile) => {
                Err(io::ErrorKind::AlreadyExists.into())
            }
            (Obstacle::NoFile, _) => Ok(unlinkat(&self.folder, &self.name, AtFlags::empty())?),
        }
    }

    fn replace(
        &self,
        existing_file: Option<&ExistingFile>,
        fill: impl FnOnce(&mut File) -> io::Result<()>,
        check: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<()> {
        let temp = beside::temp_name();
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = if existing_file.is_some() { 0o600 } else { 0o666 };
        let file = openat(&self.folder, temp.as_str(), flags, Mode::from_raw_mode(mode))?;
        let done = self
            .write_temp(file, fill, existing_file)
            .and_then(|()| check())
            .and_then(|()| self.move_into_place(OsStr::new(&temp), existing_file));
        if done.is_err() {
            let _ = unlinkat(&self.folder, temp.as_str(), AtFlags::empty());
        }
        done?;
        self.sync_folder();
        Ok(())
    }

    /// Writes into the file itself, which has other names too.
    fn write_through(
        &self,
        existing_file: &ExistingFile,
        fill: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(openat(&self.folder, &self.name, flags, Mode::empty())?);
        let now = fstat(&file)?;
        if (now.st_dev, now.st_ino) != (existing_file.stat.st_dev, existing_file.stat.st_ino) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        file.set_len(0)?;
        fill(&mut file)?;
        file.sync_all()
    }

    fn write_temp(
        &self,
        file: OwnedFd,
        fill: impl FnOnce(&mut File) -> io::Result<()>,
        existing_file: Option<&ExistingFile>,
    ) -> io::Result<()> {
        let mut file = File::from(file);
        beside::lock_file(&file);
        fill(&mut file)?;
        if let Some(ExistingFile { stat, .. }) = existing_file {
            let own = fstat(&file)?;
            if (own.st_uid, own.st_gid) != (stat.st_uid, stat.st_gid) {
                let uid = stat.st_uid;
                let gid = stat.st_gid;

                // Without the right to give a file away, it keeps the writer as owner: its
                // content is what counts.
                let _ = fchown(
                    &file,
                    Some(rustix::fs::Uid::from_raw(uid)),
                    Some(rustix::fs::Gid::from_raw(gid)),
                );
            }
            fchmod(&file, Mode::from_raw_mode(stat.st_mode & 0o7777))?;
        }
        file.sync_all()
    }

    fn move_into_place(&self, temp: &OsStr, file: Option<&ExistingFile>) -> io::Result<()> {
        if file.is_some() {
            return Ok(renameat(&self.folder, temp, &self.folder, &self.name)?);
        }
        match linkat(&self.folder, temp, &self.folder, &self.name, AtFlags::empty()) {
            Ok(()) => Ok(unlinkat(&self.folder, temp, AtFlags::empty())?),
            // A disk without links.
            Err(Errno::PERM | Errno::NOTSUP | Errno::NOSYS) => {
                Ok(renameat(&self.folder, temp, &self.folder, &self.name)?)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Those who may read the file may run it.
    ///
    /// # Errors
    /// The system's error.
    pub fn make_executable(&self) -> io::Result<()> {
        let Some(there) = self.file()? else { return Ok(()) };
        let mode = there.stat.st_mode & 0o7777;
        Ok(fchmod(&there.file, Mode::from_raw_mode(mode | (mode & 0o444) >> 2))?)
    }

    /// # Errors
    /// The system's error.
    pub fn remove(&self) -> io::Result<()> {
        unlinkat(&self.folder, &self.name, AtFlags::empty())?;
        self.sync_folder();
        Ok(())
    }

    /// Removes whatever has that name, and what is in it.
    ///
    /// # Errors
    /// The system's error, also where there is nothing.
    pub fn remove_all(&self) -> io::Result<()> {
        let name = self.name.as_os_str();
        match unlinkat(&self.folder, name, AtFlags::empty()) {
            Err(Errno::ISDIR | Errno::PERM) => {
                remove_folder(&self.folder, name, MAX_FULL_DEPTH, remove_file)
            }
            done => Ok(done?),
        }
    }

    /// Creates a file with this mode where there is nothing.
    ///
    /// # Errors
    /// The system's error.
    pub fn create(&self, bytes: &[u8], mode: u32) -> io::Result<()> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&self.folder, &self.name, flags, Mode::from_raw_mode(0o600))?;
        let mut file = File::from(file);
        file.write_all(bytes)?;
        Ok(fchmod(&file, Mode::from_raw_mode(mode))?)
    }

    /// Creates a link where there is nothing.
    ///
    /// # Errors
    /// The system's error.
    pub fn link_to(&self, target: &Path) -> io::Result<()> {
        Ok(symlinkat(target, &self.folder, &self.name)?)
    }

    /// Has the folder itself written out, where the system can.
    fn sync_folder(&self) {
        if let Ok(folder) =
            openat(&self.folder, ".", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
        {
            let _ = fsync(&folder);
        }
    }
}

/// What happens to a file in a folder that is removed.
type RemoveFile = fn(&OwnedFd, &CStr) -> io::Result<()>;

/// It stays, and so does the folder.
fn keep_file(_: &OwnedFd, _: &CStr) -> io::Result<()> {
    Err(io::ErrorKind::DirectoryNotEmpty.into())
}

fn remove_file(folder: &OwnedFd, name: &CStr) -> io::Result<()> {
    Ok(unlinkat(folder, name, AtFlags::empty())?)
}

/// Removes a folder and those in it.
fn remove_folder(
    folder: &OwnedFd,
    name: impl rustix::path::Arg + Copy,
    depth: usize,
    files: RemoveFile,
) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let own = openat(folder, name, flags, Mode::empty())?;
    for entry in Dir::read_from(&own)? {
        let entry = entry?;
        let below = entry.file_name();
        if below == c"." || below == c".." {
            continue;
        }
        if depth == 0 {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        match remove_folder(&own, below, depth - 1, files) {
            Err(error) if is_no_folder(&error) => files(&own, below)?,
            done => done?,
        }
    }
    Ok(unlinkat(folder, name, AtFlags::REMOVEDIR)?)
}

/// Of a file, and of a link, which is not followed.
fn is_no_folder(error: &io::Error) -> bool {
    let code = error.raw_os_error();
    [Errno::NOTDIR, Errno::LOOP].iter().any(|errno| code == Some(errno.raw_os_error()))
}

impl ExistingFile {
    /// The open file, for who reads it in parts.
    pub fn into_file(self) -> File {
        self.file
    }

    /// Another handle to it.
    ///
    /// # Errors
    /// The system's error.
    pub fn reader(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    pub fn bytes(&self) -> u64 {
        u64::try_from(self.stat.st_size).unwrap_or(0)
    }

    /// No user may write to it.
    pub fn is_read_only(&self) -> bool {
        self.stat.st_mode & 0o222 == 0
    }

    /// Some of its lines, without holding the rest; all of them are counted.
    ///
    /// # Errors
    /// The system's error.
    pub fn lines(&mut self, first: usize, most: usize) -> io::Result<FileLines> {
        self.file.rewind()?;
        read_lines(&mut self.file, first, most)
    }

    /// Its contents, up to `most` bytes and one more.
    ///
    /// # Errors
    /// The system's error.
    pub fn read(&mut self, most: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        (&mut self.file).take(most.saturating_add(1)).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}
