//! Which folders a person trusts: one file outside of all of them.
//!
//! A folder is its path and its place on the disk, so that another one under the same
//! name is a stranger. Trust holds for exactly this folder, and for the files that steer
//! programs as they were when the question was answered: new or changed ones bring the
//! question back. They are named, measured and hashed here, and not interpreted. It is
//! handed down only by a folder of which a person said so, and only to folders in which
//! nothing steers programs. What cannot be read trusts nothing, and is said.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{paths, saved};
use crate::protocol::Lying;
use crate::safety::steering;
use crate::words::{self, Say, Word};

const VERSION: u32 = 1;
/// Folders that are remembered; files that are listed; how deep folders are looked into;
/// the most of one file that is hashed.
const MOST: usize = 2000;
const MOST_FILES: usize = 200;
const DEEPEST: usize = 4;
const HASHED: u64 = 1024 * 1024;
/// Entries of a folder that holds too much to be read, by name, size and time alone.
const OUTLINED: usize = 10_000;

/// The answers that were given.
#[derive(Clone, Debug, PartialEq)]
pub struct Trust {
    file: PathBuf,
    kept: Kept,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    version: u32,
    folders: Vec<Row>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    path: PathBuf,
    device: u64,
    inode: u64,
    level: Level,
    /// Of the files that steer programs.
    digest: String,
}

/// What a person answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    Trusted,
    /// Trusted, and with it the folders in it.
    Below,
    ReadOnly,
}

/// How a folder stands now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nobody was asked about it.
    Unknown,
    /// It was trusted, and what steers programs in it is not the same any more.
    Changed,
    Known(Level),
}

/// What lies in a folder that a person should know of before they answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    pub files: Vec<Lying>,
    /// More lies there than is listed.
    pub cut: bool,
    digest: String,
}

/// What is named besides the files that steer: whoever is asked may want to know of it.
const ALSO: &[&str] = &[".env", ".envrc", "scripts"];

/// Names that are looked for, and whether a change of them brings the question back: of
/// what Avocet itself reads, that is.
fn looked_for() -> impl Iterator<Item = (&'static str, bool)> {
    let own = steering::names(steering::Reader::Avocet).map(|name| (name, true));
    let told = steering::names(steering::Reader::Agents).filter(|name| !name.contains('*'));
    own.chain(told.chain(ALSO.iter().copied()).map(|name| (name, false)))
}

/// Folders of the system that many share.
const SYSTEM: &[&str] = &[
    "/tmp",
    "/var",
    "/var/tmp",
    "/private/tmp",
    "/etc",
    "/usr",
    "/opt",
    "/home",
    "/Users",
    "/srv",
    "/mnt",
    "/media",
];

/// What makes a folder one that is better not trusted: it holds more than a project, or
/// others may change what lies in it.
pub fn hazard(folder: &Path, home: &Path) -> Option<Word> {
    use std::os::unix::fs::MetadataExt;
    let meta = fs::metadata(folder).ok()?;
    let wide = SYSTEM.iter().any(|name| folder == Path::new(name));
    let own = [0, rustix::process::geteuid().as_raw()].contains(&meta.uid());
    if folder == Path::new("/") {
        Some(words::config::HAZARD_ROOT)
    } else if home.starts_with(folder) {
        Some(words::config::HAZARD_HOME)
    } else if meta.mode() & 0o002 != 0 {
        Some(words::config::HAZARD_WRITABLE)
    } else if !own {
        Some(words::config::HAZARD_OWNER)
    } else {
        wide.then_some(words::config::HAZARD_WIDE)
    }
}

impl Trust {
    /// Reads what is kept in `file`. The sentence says why nothing is trusted, when
    /// something should be.
    pub fn open(file: PathBuf) -> (Trust, Option<Say>) {
        let empty = Kept { version: VERSION, folders: Vec::new() };
        let (kept, sound) = match saved::read(&file) {
            Ok(None) => (empty, true),
            Ok(Some(text)) => parse(&text).map_or((empty, false), |kept| (kept, true)),
            Err(_) => (empty, false),
        };
        let broken = || words::config::TRUST_BROKEN.with("file", file.display().to_string());
        let said = (!sound).then(broken);
        (Trust { file, kept }, said)
    }

    /// How `folder` stands, whose links are resolved already.
    pub fn standing(&self, folder: &Path, survey: &Survey) -> Standing {
        let identity = identity(folder);
        let row = self.kept.folders.iter().find(|row| row.path == folder);
        match row {
            Some(row) if identity != Some((row.device, row.inode)) => Standing::Unknown,
            Some(Row { level: Level::ReadOnly, .. }) => Standing::Known(Level::ReadOnly),
            Some(row) if row.digest != survey.digest => Standing::Changed,
            Some(_) => Standing::Known(Level::Trusted),
            None if self.is_below(folder) && !survey.steers() => Standing::Known(Level::Trusted),
            None => Standing::Unknown,
        }
    }

    /// Whether the nearest folder above that was answered for hands its trust down. Only
    /// the path counts, never what a repository says of where it belongs.
    fn is_below(&self, folder: &Path) -> bool {
        let above = folder.ancestors().skip(1);
        let mut rows = above.filter_map(|path| self.kept.folders.iter().find(|r| r.path == path));
        rows.next().is_some_and(|row| {
            row.level == Level::Below && identity(&row.path) == Some((row.device, row.inode))
        })
    }

    /// Remembers an answer in place of an older one.
    pub fn set(&mut self, folder: &Path, survey: &Survey, level: Level) -> io::Result<()> {
        let (device, inode) = identity(folder).ok_or(io::ErrorKind::NotFound)?;
        let (path, digest) = (folder.to_owned(), survey.digest.clone());
        let _lock = self.lock()?;
        self.kept.folders.retain(|row| row.path != folder);
        self.kept.folders.push(Row { path, device, inode, level, digest });
        let over = self.kept.folders.len().saturating_sub(MOST);
        self.kept.folders.drain(..over);
        self.save()
    }

    /// Takes the file for a change, and takes over what other windows have changed in it.
    fn lock(&mut self) -> io::Result<saved::FileLock> {
        let lock = saved::lock(&self.file)?;
        if let Ok(Some(text)) = saved::read(&self.file)
            && let Some(kept) = parse(&text)
        {
            self.kept = kept;
        }
        Ok(lock)
    }

    fn save(&self) -> io::Result<()> {
        // What could not be read is kept beside, for a person to look at.
        let sound = matches!(saved::read(&self.file), Ok(Some(text)) if parse(&text).is_some());
        if !sound && self.file.symlink_metadata().is_ok() {
            fs::rename(&self.file, self.file.with_extension("broken"))?;
        }
        let text = serde_json::to_string_pretty(&self.kept)?;
        saved::write(&self.file, &format!("{text}\n"))
    }
}

impl Survey {
    /// Whether anything lies there that steers programs, as far as it was looked at.
    fn steers(&self) -> bool {
        self.cut || self.files.iter().any(|file| file.steers)
    }
}

/// The folder above, where it may be trusted with all that lies in it: not the root, not
/// the home folder or one around it, and none that others may put something into.
pub fn above<'f>(folder: &'f Path, home: &Path) -> Option<&'f Path> {
    use std::os::unix::fs::MetadataExt;
    let above = folder.parent()?;
    let own = fs::metadata(above).ok().filter(|meta| meta.mode() & 0o022 == 0)?;
    let deep = above.components().count() > 2;
    (own.is_dir() && deep && !home.starts_with(above)).then_some(above)
}

fn parse(text: &str) -> Option<Kept> {
    let kept: Kept = serde_json::from_str(text).ok()?;
    (kept.version == VERSION && kept.folders.len() <= MOST).then_some(kept)
}

/// Device and inode.
fn identity(folder: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let meta = fs::metadata(folder).ok().filter(fs::Metadata::is_dir)?;
    Some((meta.dev(), meta.ino()))
}

/// Looks at what lies in `folder`, following no link; and at what lies above it, up to
/// the root of its repository, and would count in it.
pub fn survey(folder: &Path) -> Survey {
    let mut looking = Looking::default();
    for (name, steers) in looked_for() {
        looking.at(&folder.join(name), name, steers, 0);
    }
    for root in paths::project_roots(folder).iter().filter(|root| *root != folder) {
        for name in paths::STEERING {
            let path = root.join(name);
            looking.at(&path, &path.to_string_lossy(), true, 0);
        }
    }
    let digest = looking.digest.finalize();
    Survey {
        files: looking.files,
        cut: looking.cut,
        digest: digest.iter().map(|byte| format!("{byte:02x}")).collect(),
    }
}

#[derive(Default)]
struct Looking {
    files: Vec<Lying>,
    cut: bool,
    digest: Sha256,
}

impl Looking {
    fn at(&mut self, path: &Path, name: &str, steers: bool, depth: usize) {
        let Ok(meta) = fs::symlink_metadata(path) else { return };
        if meta.is_dir() {
            return self.folder(path, name, steers, depth);
        }
        if steers {
            self.digest.update(name.as_bytes());
            self.digest.update([0]);
            self.digest.update(fingerprint(path, &meta));
            if meta.is_symlink() {
                self.led(path, depth);
            }
        }
        if self.files.len() >= MOST_FILES {
            self.cut = true;
        } else {
            self.files.push(Lying { name: name.to_owned(), bytes: meta.len(), steers });
        }
    }

    /// What a link leads to is read as if it lay there, so a change of it is one of the
    /// folder. It is not listed.
    fn led(&mut self, path: &Path, depth: usize) {
        let Ok(meta) = fs::metadata(path) else { return };
        if !meta.is_dir() {
            return self.digest.update(fingerprint(path, &meta));
        }
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.take(OUTLINED).map(|entry| entry.path()).collect();
        paths.sort_unstable();
        if depth >= DEEPEST || paths.len() > MOST_FILES {
            return self.outline(path, 0, &mut OUTLINED.clone());
        }
        for path in paths {
            self.digest.update(path.file_name().unwrap_or_default().as_encoded_bytes());
            self.digest.update([0]);
            self.led(&path, depth + 1);
        }
    }

    fn folder(&mut self, path: &Path, name: &str, steers: bool, depth: usize) {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries
            .take(MOST_FILES + 1)
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort_unstable();
        if depth >= DEEPEST || names.len() > MOST_FILES {
            // Too much to be read is a change each time anything in it was written.
            self.cut = true;
            self.digest.update(format!("{name}\0"));
            self.outline(path, 0, &mut OUTLINED.clone());
            return;
        }
        for below in names {
            self.at(&path.join(&below), &format!("{name}/{below}"), steers, depth + 1);
        }
    }
}

impl Looking {
    fn outline(&mut self, folder: &Path, depth: usize, left: &mut usize) {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.take(*left).map(|entry| entry.path()).collect();
        paths.sort_unstable();
        for path in paths {
            let Ok(meta) = fs::symlink_metadata(&path) else { continue };
            *left = left.saturating_sub(1);
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let (size, time) = (meta.len(), meta.modified().ok());
            self.digest.update(format!("{depth} {name:?} {size} {time:?}\0"));
            if meta.is_dir() && depth < DEEPEST {
                self.outline(&path, depth + 1, left);
            }
        }
    }
}

/// What a file holds, or where a link leads; for what is too long, its size and time.
fn fingerprint(path: &Path, meta: &fs::Metadata) -> Vec<u8> {
    if meta.is_symlink() {
        let target = fs::read_link(path).unwrap_or_default();
        return Sha256::digest(target.to_string_lossy().as_bytes()).to_vec();
    }
    let mut bytes = Vec::new();
    let short = meta.is_file() && meta.len() <= HASHED;
    let read = short
        .then(|| fs::File::open(path).and_then(|file| file.take(HASHED).read_to_end(&mut bytes)));
    match read {
        Some(Ok(_)) => Sha256::digest(&bytes).to_vec(),
        Some(Err(_)) | None => format!("{} {:?}", meta.len(), meta.modified().ok()).into_bytes(),
    }
}

#[cfg(test)]
mod tests;
