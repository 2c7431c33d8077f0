//! Manages the temporary folder of this run: everything temporary is in it, only its user
//! can access it, and it is removed when the program ends. A later run removes the folder
//! of a run that ended without cleaning up.
//!
//! A run's folder is named `avocet-USER-PROCESS-START`, by numbers, and locked as long as
//! the run lives. It is abandoned when no process of that number began at that time and its
//! lock is free: the lock is for runs whose processes cannot be seen from here, in a
//! container that shares the place.
//!
//! The places are tried in order, because a `TMPDIR` may be missing, full, or closed to
//! this user. Not in here: which places those are (`config` reads the environment).

use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{Access, FlockOperation, OFlags};
use rustix::io::Errno;
use rustix::process::getuid;

use avocet_core::i18n::{LocalizedText, PhraseValue, temp as phrases};
use avocet_core::private_dir::owner;

const PREFIX: &str = "avocet";

/// How many names are tried where one is taken.
const TRIES: u32 = 100;

/// The size of the file written to see whether there is room, in bytes.
const PAGE: usize = 4096;

/// How deep a folder is made writable so that it can be removed.
const MAX_DEPTH: usize = 64;

/// The temporary folder of a run, made when something is put into it.
#[derive(Debug)]
pub struct RunFolder {
    candidates: Vec<PathBuf>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// One, or one in each place that was good for a while.
    folders: Vec<LockedFolder>,
    /// The run ends: nothing is made any more.
    is_closed: bool,
}

#[derive(Debug)]
struct LockedFolder {
    path: PathBuf,
    /// It is not removed with the run.
    stays: bool,
    /// Locked as long as it is open.
    _lock: File,
}

/// A folder in it, for one purpose; removed with this value.
#[derive(Debug)]
pub struct TempFolder {
    path: PathBuf,
}

/// Why there is none: every place with the system's error.
#[derive(Debug)]
pub struct TempError {
    tried: Vec<(PathBuf, io::Error)>,
}

impl TempError {
    pub fn say(&self) -> LocalizedText {
        let tried =
            self.tried.iter().map(|(place, error)| format!("`{}`: {error}", place.display()));
        phrases::NO_PLACE.with("tried", tried.collect::<Vec<_>>().join("; "))
    }
}

impl Default for RunFolder {
    /// In the system's own place.
    fn default() -> RunFolder {
        RunFolder::new([std::env::temp_dir(), "/tmp".into()])
    }
}

impl RunFolder {
    /// In the first of these places that is good for it.
    pub fn new(places: impl IntoIterator<Item = PathBuf>) -> RunFolder {
        let mut unique: Vec<PathBuf> = Vec::new();
        for place in places {
            if place.is_absolute() && !unique.contains(&place) {
                unique.push(place);
            }
        }
        RunFolder { candidates: unique, state: Mutex::default() }
    }

    /// A new folder that only this user can enter. The first one starts the removal of
    /// what earlier runs left.
    ///
    /// # Errors
    /// No place is good for one, or the run has ended.
    pub fn create_folder(&self, purpose: &str) -> Result<TempFolder, TempError> {
        let mut state = self.lock_state();
        let mut tried = Vec::new();
        if state.is_closed {
            return Err(TempError { tried });
        }
        if let Some(made) = state.folders.last()
            && let Ok(path) =
                check_room(&made.path).and_then(|()| create_unique(&made.path, purpose))
        {
            return Ok(TempFolder { path });
        }
        // The first, or what there was is gone or full.
        if state.folders.is_empty() {
            let places = self.candidates.clone();
            // It is not waited for; a later run removes the rest.
            let _ = std::thread::Builder::new().name("sweep".into()).spawn(move || sweep(&places));
        }
        for place in &self.candidates {
            let made = LockedFolder::create_in(place);
            let path = made.and_then(|made| Ok((create_unique(&made.path, purpose)?, made)));
            match path {
                Ok((path, made)) => {
                    state.folders.push(made);
                    return Ok(TempFolder { path });
                }
                Err(error) => tried.push((place.clone(), error)),
            }
        }
        Err(TempError { tried })
    }

    /// What is wrong with the first place, for the user who chose it, and which is used
    /// instead. Creates nothing.
    pub fn fallback_warning(&self) -> Option<LocalizedText> {
        let (first, rest) = self.candidates.split_first()?;
        let why = check_usable(first).err()?;
        let others = why.get_ref().is_some_and(|inner| inner.is::<OpenToOthersError>());
        let why = if others {
            phrases::OPEN_TO_OTHERS.into()
        } else {
            PhraseValue::from(why.to_string())
        };
        let said = |phrase: avocet_core::i18n::Phrase| {
            phrase.with("place", first.display().to_string()).with("why", why.clone())
        };
        Some(match rest.iter().find(|place| check_usable(place).is_ok()) {
            Some(instead) => said(phrases::DETOUR).with("instead", instead.display().to_string()),
            None => said(phrases::NOWHERE),
        })
    }

    /// The line `doctor` shows: the place, or what is wrong with it.
    pub fn doctor_value(&self) -> PhraseValue {
        let first = || self.candidates.first().map(|place| place.display().to_string());
        self.fallback_warning()
            .map_or_else(|| first().unwrap_or_default().into(), PhraseValue::from)
    }

    /// The folder of the run that contains this path.
    pub fn folder_of(&self, path: &Path) -> Option<PathBuf> {
        let state = self.lock_state();
        let made = state.folders.iter().find(|made| path.starts_with(&made.path))?;
        Some(made.path.clone())
    }

    /// Leaves the folder with this path where it is when the run ends: something that outlives the
    /// run is at work in it. A later run removes it.
    pub fn leave(&self, path: &Path) {
        let mut state = self.lock_state();
        if let Some(made) = state.folders.iter_mut().find(|made| path.starts_with(&made.path)) {
            made.stays = true;
        }
    }

    /// Removes everything; nothing can be made any more.
    pub fn close(&self) {
        let mut state = self.lock_state();
        state.is_closed = true;
        for made in std::mem::take(&mut state.folders) {
            if !made.stays {
                remove(&made.path);
            }
        }
    }

    fn lock_state(&self) -> MutexGuard<'_, State> {
        // A list, whole at any time.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        self.close();
    }
}

/// Others may remove entries of a folder: it is open to all without being sticky, or it is
/// another user's. Not root's, and not that of an owner this system has no number for.
#[derive(Debug, thiserror::Error)]
#[error("other users can replace its contents")]
struct OpenToOthersError;

const NOBODY: u32 = 65_534;

/// An error where the contents of a place are not safe from others.
fn check_safe(place: &Path) -> io::Result<()> {
    let meta = fs::metadata(place)?;
    let open = meta.mode() & 0o1002 == 0o002;
    if open || ![0, NOBODY, getuid().as_raw()].contains(&meta.uid()) {
        return Err(io::Error::new(ErrorKind::PermissionDenied, OpenToOthersError));
    }
    Ok(())
}

impl LockedFolder {
    fn create_in(place: &Path) -> io::Result<LockedFolder> {
        check_safe(place)?;
        let own = format!("{PREFIX}-{}-{}", getuid().as_raw(), owner::this_process());
        for number in 0..TRIES {
            let path = match number {
                0 => place.join(&own),
                more => place.join(format!("{own}-{more}")),
            };
            match create_private(&path) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            }
            let locked = check_room(&path).and_then(|()| lock(&path));
            return match locked {
                Ok(lock) => Ok(LockedFolder { path, stays: false, _lock: lock }),
                Err(error) => {
                    remove(&path);
                    Err(error)
                }
            };
        }
        Err(ErrorKind::AlreadyExists.into())
    }
}

impl TempFolder {
    /// A new folder in it, removed with its own value.
    pub fn subfolder(&self, purpose: &str) -> io::Result<TempFolder> {
        create_unique(&self.path, purpose).map(|path| TempFolder { path })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Leaves it in the run's folder, to be removed with that one.
    pub fn into_run(self) -> PathBuf {
        let path = self.path.clone();
        std::mem::forget(self);
        path
    }

    /// Takes it out of the run's folder, so that it stays. Returns its new path.
    pub fn keep(self) -> PathBuf {
        let run = self.path.parent();
        let beside = run.and_then(Path::parent).zip(self.path.file_name());
        let kept = beside.and_then(|(place, name)| {
            let kept = place.join(format!("{PREFIX}-kept-{}", name.to_string_lossy()));
            fs::rename(&self.path, &kept).ok()?;
            Some(kept)
        });
        let here = self.path.clone();
        if kept.is_none() {
            // Better a folder too many than a text too few.
            std::mem::forget(self);
        }
        kept.unwrap_or(here)
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

fn create_private(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// A new folder in this one.
fn create_unique(run: &Path, purpose: &str) -> io::Result<PathBuf> {
    for _ in 0..TRIES {
        let path = run.join(format!("{purpose}-{:08x}", fastrand::u32(..)));
        match create_private(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            done => return done.map(|()| path),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

/// An error where there is no room for a page: a folder may still be made on a full disk.
fn check_room(folder: &Path) -> io::Result<()> {
    let path = folder.join(format!("room-{:08x}", fastrand::u32(..)));
    let mut file = File::options().write(true).create_new(true).mode(0o600).open(&path)?;
    let written = file.write_all(&[0; PAGE]);
    let removed = fs::remove_file(&path);
    written.and(removed)
}

fn lock(path: &Path) -> io::Result<File> {
    let folder = open_folder(path)?;
    match rustix::fs::flock(&folder, FlockOperation::NonBlockingLockExclusive) {
        // Some file systems of networks know no locks; the number says enough there.
        Ok(()) | Err(Errno::NOTSUP | Errno::NOSYS | Errno::NOLCK | Errno::INVAL) => Ok(folder),
        Err(error) => Err(error.into()),
    }
}

/// A folder and no link to one.
fn open_folder(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
    let folder = rustix::fs::open(path, flags, rustix::fs::Mode::empty())?;
    Ok(File::from(folder))
}

fn check_usable(place: &Path) -> io::Result<()> {
    if !fs::metadata(place)?.is_dir() {
        return Err(ErrorKind::NotADirectory.into());
    }
    check_safe(place)?;
    rustix::fs::access(place, Access::WRITE_OK | Access::EXEC_OK)?;
    let space = rustix::fs::statvfs(place)?;
    let full = space.f_blocks > 0 && space.f_bavail.saturating_mul(space.f_frsize) < PAGE as u64;
    let crowded = space.f_files > 0 && space.f_favail == 0;
    if full || crowded { Err(ErrorKind::StorageFull.into()) } else { Ok(()) }
}

/// True for the name of a run of this user that has ended.
fn belongs_to_dead_run(name: &str) -> bool {
    let mut parts = name.split('-');
    if parts.next() != Some(PREFIX) {
        return false;
    }
    let mut number = || parts.next()?.parse::<u64>().ok();
    let Some(((user, pid), start)) = number().zip(number()).zip(number()) else { return false };
    user == u64::from(getuid().as_raw()) && owner::is_gone(pid, start)
}

/// Removes the leftovers of ended runs, in every place.
fn sweep(places: &[PathBuf]) {
    for place in places {
        let Ok(entries) = fs::read_dir(place) else { continue };
        for entry in entries.flatten() {
            if entry.file_name().to_str().is_some_and(belongs_to_dead_run) {
                remove_if_unlocked(&entry.path());
            }
        }
    }
}

/// Removes the folder of a run that ended, if it is this user's, not a link, and not
/// locked.
fn remove_if_unlocked(path: &Path) {
    let Ok(folder) = open_folder(path) else { return };
    let own = folder.metadata().is_ok_and(|meta| meta.uid() == getuid().as_raw());
    let held = rustix::fs::flock(&folder, FlockOperation::NonBlockingLockExclusive);
    if own && held != Err(Errno::WOULDBLOCK) {
        remove(path);
    }
}

/// Removes a folder with its contents. Links in it are removed and not followed.
fn remove(path: &Path) {
    for _ in 0..3 {
        match fs::remove_dir_all(path) {
            Ok(()) => return,
            Err(error) if error.kind() == ErrorKind::NotFound => return,
            // A step may have closed a folder of its own, or something still writes.
            Err(_) => make_writable(path, MAX_DEPTH),
        }
    }
}

/// Makes folders writable for their owner.
fn make_writable(path: &Path, deep: usize) {
    let Ok(folder) = open_folder(path).or_else(|_| {
        // It may not even be readable; a folder of ours in a folder of ours is not a link.
        let is_folder = fs::symlink_metadata(path)?.is_dir();
        let open = fs::Permissions::from_mode(0o700);
        if is_folder {
            fs::set_permissions(path, open).and_then(|()| open_folder(path))
        } else {
            open_folder(path)
        }
    }) else {
        return;
    };
    let _ = folder.set_permissions(fs::Permissions::from_mode(0o700));
    if deep == 0 {
        return;
    }
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            make_writable(&entry.path(), deep - 1);
        }
    }
}

#[cfg(test)]
mod tests;
