//! The folders that the user trusts, in one file outside of all of them.
//!
//! A folder is identified by its path and its place on the disk, so that another one with the same
//! name is unknown. Trust applies to exactly this folder, and to the files that control programs as
//! they were when the user answered: new or changed ones bring the question back. They are named,
//! measured and hashed here, and not interpreted. A folder passes its trust on only if the user
//! said so, and only to folders in which no file controls programs. An unreadable file trusts
//! nothing, and is reported.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::diagnostic::{ConfigDiagnostic, ConfigError};
use super::{atomic_file, paths, project_instructions};
use avocet_core::i18n::{self, Localize, LocalizedText, Phrase};
use avocet_core::protocol::UntrustedFile;
use avocet_safety::steering;

const VERSION: u32 = 1;
/// The maximum number of remembered folders; of listed files; the depth of the search in folders;
/// the most of one file that is hashed.
const MAX_FOLDERS: usize = 2000;
const MAX_FILES: usize = 200;
const MAX_DEPTH: usize = 4;
const HASHED: u64 = 1024 * 1024;
/// The entries of a folder that is too large to read, by name, size and time alone.
const OUTLINED: usize = 10_000;

/// The remembered answers.
#[derive(Clone, Debug, PartialEq)]
pub struct TrustStore {
    file: PathBuf,
    contents: TrustFile,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct TrustFile {
    version: u32,
    folders: Vec<TrustRow>,
    /// Fields of a newer program, which are kept.
    #[serde(flatten)]
    others: Map<String, Value>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct TrustRow {
    path: PathBuf,
    device: u64,
    inode: u64,
    level: TrustLevel,
    /// The hash of the files that control programs.
    digest: String,
    /// The hash of the hooks of its repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hooks: Option<String>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

/// The user's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrustLevel {
    Trusted,
    /// Trusted, together with the folders in it.
    Below,
    ReadOnly,
}

/// Whether a folder is trusted now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FolderTrust {
    /// The user was not asked about it.
    Unknown,
    /// It was trusted, and the files in it that control programs have changed.
    Changed,
    Known(TrustLevel),
}

/// The contents of a folder that the user should know about before answering.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    pub files: Vec<UntrustedFile>,
    /// There are more files than listed.
    pub truncated: bool,
    /// The hash of the hooks of its repository, which is remembered with the answer.
    pub hooks: Option<String>,
    digest: String,
}

/// Files named besides those that control programs, since the user may want to know about them.
const ALSO: &[&str] = &[".env", ".envrc", "scripts"];

/// Names to look for, and whether these control programs: a change of them brings the question back,
/// as does one of the notes that every request contains.
fn searched_names() -> impl Iterator<Item = (&'static str, bool)> {
    let own = steering::file_names(steering::SteeredBy::Avocet).map(|name| (name, true));
    let told = steering::file_names(steering::SteeredBy::Agents).filter(|name| !name.contains('*'));
    own.chain(told.chain(ALSO.iter().copied()).map(|name| (name, false)))
}

/// System folders that many users share.
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

/// Why a folder is better not trusted: it contains more than a project, or other users may change
/// its contents.
pub fn hazard(folder: &Path, home: &Path) -> Option<Phrase> {
    use std::os::unix::fs::MetadataExt;
    let meta = fs::metadata(folder).ok()?;
    let wide = SYSTEM.iter().any(|name| folder == Path::new(name));
    let own = [0, rustix::process::geteuid().as_raw()].contains(&meta.uid());
    if folder == Path::new("/") {
        Some(i18n::config::HAZARD_ROOT)
    } else if home.starts_with(folder) {
        Some(i18n::config::HAZARD_HOME)
    } else if meta.mode() & 0o002 != 0 {
        Some(i18n::config::HAZARD_WRITABLE)
    } else if !own {
        Some(i18n::config::HAZARD_OWNER)
    } else {
        wide.then_some(i18n::config::HAZARD_WIDE)
    }
}

impl TrustStore {
    /// Reads the answers in `file`. The sentence says why nothing is trusted although something
    /// should be.
    pub fn open(file: PathBuf) -> (TrustStore, Option<LocalizedText>) {
        let trust_file = TrustFile { version: VERSION, folders: Vec::new(), others: Map::new() };
        let (kept, said) = match read(&file) {
            Ok(kept) => (kept.unwrap_or(trust_file), None),
            Err(fault) => {
                let cause = ConfigDiagnostic::of_file(&file, fault).localized();
                (trust_file, Some(i18n::config::TRUST_BROKEN.with("file", cause)))
            }
        };
        (TrustStore { file, contents: kept }, said)
    }

    /// Whether `folder`, whose links are resolved already, is trusted.
    pub fn folder_trust(&self, folder: &Path, survey: &Survey) -> FolderTrust {
        let identity = identity(folder);
        let row = self.contents.folders.iter().find(|row| row.path == folder);
        match row {
            Some(row) if identity != Some((row.device, row.inode)) => FolderTrust::Unknown,
            Some(TrustRow { level: TrustLevel::ReadOnly, .. }) => {
                FolderTrust::Known(TrustLevel::ReadOnly)
            }
            Some(row) if row.digest != survey.digest => FolderTrust::Changed,
            Some(_) => FolderTrust::Known(TrustLevel::Trusted),
            None if self.is_below(folder) && !survey.has_steering_files() => {
                FolderTrust::Known(TrustLevel::Trusted)
            }
            None if self.row_of_project(folder).is_some_and(|row| row.digest == survey.digest) => {
                FolderTrust::Known(TrustLevel::Trusted)
            }
            None => FolderTrust::Unknown,
        }
    }

    /// The hash of the hooks when `folder` was trusted, if the answer was about this folder.
    pub fn trusted_hooks(&self, folder: &Path) -> Option<&str> {
        let identity = identity(folder)?;
        let mut rows = self.contents.folders.iter();
        let own = rows.find(|row| row.path == folder && (row.device, row.inode) == identity);
        let row = own.or_else(|| self.row_of_project(folder))?;
        row.hooks.as_deref().filter(|_| row.level != TrustLevel::ReadOnly)
    }

    /// The answer about the project that a folder is a worktree of. The files in it that control
    /// programs have to be those that were trusted.
    fn row_of_project(&self, folder: &Path) -> Option<&TrustRow> {
        let project = paths::project_of_worktree(folder)?;
        let identity = identity(project);
        let is_same =
            |row: &&TrustRow| row.path == project && identity == Some((row.device, row.inode));
        let row = self.contents.folders.iter().find(is_same);
        row.filter(|row| row.level != TrustLevel::ReadOnly)
    }

    /// Whether the nearest parent folder with an answer passes its trust on. Only the path counts,
    /// never the data of a repository about where it belongs.
    fn is_below(&self, folder: &Path) -> bool {
        let above = folder.ancestors().skip(1);
        let mut rows =
            above.filter_map(|path| self.contents.folders.iter().find(|r| r.path == path));
        rows.next().is_some_and(|row| {
            row.level == TrustLevel::Below && identity(&row.path) == Some((row.device, row.inode))
        })
    }

    /// Remembers an answer in place of an older one.
    pub fn set(&mut self, folder: &Path, survey: &Survey, level: TrustLevel) -> io::Result<()> {
        let (device, inode) = identity(folder).ok_or(io::ErrorKind::NotFound)?;
        let path = folder.to_owned();
        let digest = survey.digest.clone();

        let hooks = survey.hooks.clone();
        let _lock = self.lock()?;
        self.contents.folders.retain(|row| row.path != folder);
        let others = Map::new();
        self.contents.folders.push(TrustRow { path, device, inode, level, digest, hooks, others });
        let over = self.contents.folders.len().saturating_sub(MAX_FOLDERS);
        self.contents.folders.drain(..over);
        self.save()
    }

    /// Locks the file for a change, and reads the changes of other windows in it.
    fn lock(&mut self) -> io::Result<atomic_file::FileLock> {
        let lock = atomic_file::lock(&self.file)?;
        if let Ok(Some(kept)) = read(&self.file) {
            self.contents = kept;
        }
        Ok(lock)
    }

    fn save(&self) -> io::Result<()> {
        // An unreadable file is kept next to the new one, for the user to inspect.
        if read(&self.file).is_err() && self.file.symlink_metadata().is_ok() {
            atomic_file::set_aside(&self.file)?;
        }
        let text = serde_json::to_string_pretty(&self.contents)?;
        atomic_file::write(&self.file, &format!("{text}\n"))
    }
}

impl Survey {
    /// Whether any file that controls programs was found, as far as the search went.
    fn has_steering_files(&self) -> bool {
        self.truncated || self.files.iter().any(|file| file.steers)
    }
}

/// The parent folder, if it may be trusted with everything in it: not the root, not the home folder
/// or a parent of it, and none that other users can write to.
pub fn trustable_parent<'f>(folder: &'f Path, home: &Path) -> Option<&'f Path> {
    use std::os::unix::fs::MetadataExt;
    let above = folder.parent()?;
    let own = fs::metadata(above).ok().filter(|meta| meta.mode() & 0o022 == 0)?;
    let deep = above.components().count() > 2;
    (own.is_dir() && deep && !home.starts_with(above)).then_some(above)
}

/// The contents of the file; `None` if there is none.
fn read(file: &Path) -> Result<Option<TrustFile>, ConfigError> {
    let text = atomic_file::read(file)?;
    text.map(|text| parse(&text).ok_or(ConfigError::Damaged)).transpose()
}

fn parse(text: &str) -> Option<TrustFile> {
    let file: TrustFile = serde_json::from_str(text).ok()?;
    (file.version == VERSION && file.folders.len() <= MAX_FOLDERS).then_some(file)
}

/// Device and inode.
fn identity(folder: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let meta = fs::metadata(folder).ok().filter(fs::Metadata::is_dir)?;
    Some((meta.dev(), meta.ino()))
}

/// Lists the files in `folder` that the user should know about, and those above it, up to the root
/// of its repository, that would apply in it. What a link leads to is not listed, but a change of it
/// counts.
pub fn survey(folder: &Path) -> Survey {
    let mut walk = SurveyWalk::default();
    for (name, steers) in searched_names() {
        walk.visit(&folder.join(name), name, steers, 0);
    }
    for root in paths::project_roots(folder).iter().filter(|root| *root != folder) {
        for name in paths::STEERING {
            let path = root.join(name);
            walk.visit(&path, &path.to_string_lossy(), true, 0);
        }
    }
    walk.hash_notes(folder);
    let digest = walk.digest.finalize();
    Survey {
        files: walk.files,
        truncated: walk.truncated,
        hooks: None,
        digest: digest.iter().map(|byte| format!("{byte:02x}")).collect(),
    }
}

#[derive(Default)]
struct SurveyWalk {
    files: Vec<UntrustedFile>,
    truncated: bool,
    digest: Sha256,
}

impl SurveyWalk {
    /// The notes of the project and the files that they take in, which are listed as well.
    fn hash_notes(&mut self, folder: &Path) {
        for path in project_instructions::project_files(folder) {
            let Ok(meta) = fs::metadata(&path) else { continue };
            let shown = path.strip_prefix(folder).unwrap_or(&path);
            let name = shown.to_string_lossy().into_owned();
            self.digest.update(format!("{name}\0"));
            self.digest.update(fingerprint(&path, &meta));
            if self.files.len() < MAX_FILES && !self.files.iter().any(|file| file.name == name) {
                self.files.push(UntrustedFile { name, bytes: meta.len(), steers: false });
            }
        }
    }

    fn visit(&mut self, path: &Path, name: &str, steers: bool, depth: usize) {
        let Ok(meta) = fs::symlink_metadata(path) else { return };
        if meta.is_dir() {
            return self.visit_folder(path, name, steers, depth);
        }
        if steers {
            self.digest.update(name.as_bytes());
            self.digest.update([0]);
            self.digest.update(fingerprint(path, &meta));
            if meta.is_symlink() {
                self.hash_link_target(path, depth);
            }
        }
        if self.files.len() >= MAX_FILES {
            self.truncated = true;
        } else {
            self.files.push(UntrustedFile { name: name.to_owned(), bytes: meta.len(), steers });
        }
    }

    /// A link's target is read as if it were in the folder, so a change of it is a change of the
    /// folder. It is not listed.
    fn hash_link_target(&mut self, path: &Path, depth: usize) {
        let Ok(meta) = fs::metadata(path) else { return };
        if !meta.is_dir() {
            return self.digest.update(fingerprint(path, &meta));
        }
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.take(OUTLINED).map(|entry| entry.path()).collect();
        paths.sort_unstable();
        if depth >= MAX_DEPTH || paths.len() > MAX_FILES {
            return self.hash_outline(path, 0, &mut OUTLINED.clone());
        }
        for path in paths {
            self.digest.update(path.file_name().unwrap_or_default().as_encoded_bytes());
            self.digest.update([0]);
            self.hash_link_target(&path, depth + 1);
        }
    }

    fn visit_folder(&mut self, path: &Path, name: &str, steers: bool, depth: usize) {
        if path.ends_with(steering::WORKTREES) {
            return;
        }
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries
            .take(MAX_FILES + 1)
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort_unstable();
        if depth >= MAX_DEPTH || names.len() > MAX_FILES {
            // A folder too large to read counts as changed each time anything in it was written.
            self.truncated = true;
            self.digest.update(format!("{name}\0"));
            self.hash_outline(path, 0, &mut OUTLINED.clone());
            return;
        }
        for below in names {
            self.visit(&path.join(&below), &format!("{name}/{below}"), steers, depth + 1);
        }
    }
}

impl SurveyWalk {
    fn hash_outline(&mut self, folder: &Path, depth: usize, left: &mut usize) {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.take(*left).map(|entry| entry.path()).collect();
        paths.sort_unstable();
        for path in paths {
            let Ok(meta) = fs::symlink_metadata(&path) else { continue };
            *left = left.saturating_sub(1);
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let size = meta.len();
            let time = meta.modified().ok();

            self.digest.update(format!("{depth} {name:?} {size} {time:?}\0"));
            if meta.is_dir() && depth < MAX_DEPTH {
                self.hash_outline(&path, depth + 1, left);
            }
        }
    }
}

/// The contents of a file, or the target of a link; for a file that is too long, its size and time.
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
