//! Puts back what an approved step changed without having been asked about it: the settings and
//! hooks of repositories, and the files that editors, shells and agents follow by themselves. They
//! act later, outside the sandbox. Files of builds act in a step that the user is asked about,
//! inside it; they are put back where a rule answers that question.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use super::readable_paths::is_recent;
use avocet_safety::{GuardedFiles, repository, steering};

/// The most that is kept, in bytes. What exceeds this is recognised by its length and time.
const MOST: u64 = 16 * 1024 * 1024;
/// The most of a folder that is followed as a whole.
const MOST_FILES: usize = 400;
const LEVELS: usize = 6;
/// A change that is longer is not shown as a question.
const SHOWN: usize = 64 * 1024;

/// How deeply the repositories of submodules may be nested.
const DEPTH: usize = 4;

/// The files as they were when the first of the steps that run now began.
#[derive(Debug, Default)]
pub(super) struct GuardedState(Mutex<RunningSteps>);

#[derive(Debug, Default)]
struct RunningSteps {
    count: usize,
    roots: Vec<PathBuf>,
    /// Paths that the question of a step named: it may change them.
    named: Vec<PathBuf>,
    files: Files,
    /// Files of builds that are too many to be read. They were there, and that is known.
    unread: BTreeSet<PathBuf>,
    /// The folders that were there.
    folders: Arc<BTreeSet<PathBuf>>,
}

/// Guards the files for as long as a step runs.
pub struct FileGuard {
    find: FindGuarded,
    state: Arc<GuardedState>,
    guarded: GuardedFiles,
    is_counted: bool,
}

/// What was put back.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct PutBack {
    pub paths: Vec<PathBuf>,
    /// The text that a file had, to ask whether it is kept.
    pub texts: Vec<(PathBuf, String)>,
}

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Content {
    File { bytes: Arc<[u8]>, mode: u32 },
    Link(PathBuf),
    Large { len: u64, changed: i64 },
}

/// A file, and its state when it was read.
#[derive(Clone, Debug)]
struct KnownFile {
    content: Content,
    stamp: (u64, u64, i128),
    read_at: SystemTime,
}

type Files = BTreeMap<PathBuf, KnownFile>;

/// What a look at the files gave.
#[derive(Debug)]
struct GuardedSnapshot {
    files: Files,
    unread: BTreeSet<PathBuf>,
    folders: Arc<BTreeSet<PathBuf>>,
}

/// Guards them from now on, and puts back what others that run changed. Blocks.
pub(super) fn begin(
    find: FindGuarded,
    state: &Arc<GuardedState>,
    roots: Vec<PathBuf>,
    named: Vec<PathBuf>,
    guarded: GuardedFiles,
) -> (FileGuard, PutBack) {
    let mut running = state.lock();
    // A step that still runs may have changed them.
    let put_back = running.put_back(&*find, &GuardedFiles::Followed);
    if guarded != GuardedFiles::Nothing || running.count > 0 {
        running.begin(&*find, roots, named);
    }
    let is_counted = running.count > 0;
    drop(running);
    (FileGuard { find, state: Arc::clone(state), guarded, is_counted }, put_back)
}

impl FileGuard {
    /// Looks at the files after the step. Blocks.
    pub fn end(mut self) -> PutBack {
        self.finish()
    }

    fn finish(&mut self) -> PutBack {
        if !std::mem::take(&mut self.is_counted) {
            return PutBack::default();
        }
        let mut running = self.state.lock();
        let put_back = running.put_back(&*self.find, &self.guarded);
        running.end(&*self.find);
        put_back
    }
}

impl Drop for FileGuard {
    fn drop(&mut self) {
        self.finish();
    }
}

/// Finds the files below a root by their names.
pub(super) type FindGuarded = Arc<dyn Fn(&Path) -> GuardedNames + Send + Sync>;

/// The files of a root that are guarded, and its folders. Shared, for they change seldom.
#[derive(Clone, Debug, Default)]
pub(super) struct GuardedNames {
    /// Those of builds last, the outermost first.
    pub files: Arc<[PathBuf]>,
    /// How many of the files are not of builds.
    pub followed: usize,
    pub folders: Arc<BTreeSet<PathBuf>>,
}

impl GuardedNames {
    pub fn new(
        root: &Path,
        files: impl Iterator<Item = PathBuf>,
        folders: impl Iterator<Item = PathBuf>,
    ) -> GuardedNames {
        let mut files: Vec<(bool, PathBuf)> = files
            .map(|path| (steering::is_build_file(path.strip_prefix(root).unwrap_or(&path)), path))
            .collect();
        files.sort_by_cached_key(|(is_build, path)| (*is_build, path.components().count()));
        let followed = files.partition_point(|(is_build, _)| !is_build);
        let files = files.into_iter().map(|(_, path)| path).collect();
        GuardedNames { files, followed, folders: Arc::new(folders.collect()) }
    }
}

impl GuardedState {
    fn lock(&self) -> MutexGuard<'_, RunningSteps> {
        // A thread that broke off while it had the lock left every value whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunningSteps {
    fn begin(
        &mut self,
        find: &dyn Fn(&Path) -> GuardedNames,
        roots: Vec<PathBuf>,
        named: Vec<PathBuf>,
    ) {
        self.count += 1;
        self.roots.extend(roots);
        self.roots.sort_unstable();
        self.roots.dedup();
        // What contains everything names nothing.
        let roots = &self.roots;
        let is_part = |path: &PathBuf| !roots.iter().any(|root| root.starts_with(path));
        self.named.extend(named.into_iter().filter(is_part));
        self.look(find);
    }

    /// Learns what is there now.
    fn look(&mut self, find: &dyn Fn(&Path) -> GuardedNames) {
        let seen = self.read(find, &[], |_| true);
        (self.files, self.unread, self.folders) = (seen.files, seen.unread, seen.folders);
    }

    fn end(&mut self, find: &dyn Fn(&Path) -> GuardedNames) {
        self.count = self.count.saturating_sub(1);
        if self.count > 0 {
            self.look(find);
        } else {
            // What was read stays known for the next step.
            (self.roots, self.named) = (Vec::new(), Vec::new());
        }
    }

    /// `also`: files that were read before and may exceed the bounds by now. `leaves`: which of
    /// too many files of builds are not read.
    fn read(
        &self,
        find: &dyn Fn(&Path) -> GuardedNames,
        also: &[&PathBuf],
        leaves: impl Fn(&PathBuf) -> bool,
    ) -> GuardedSnapshot {
        let mut reader = Reader { known: &self.files, files: Files::new(), left: MOST };
        let mut unread = BTreeSet::new();
        let mut folders = Vec::new();
        for root in &self.roots {
            if is_repository(root) {
                reader.add_repository(root, DEPTH);
            }
            let found = find(root);
            folders.push(found.folders);
            // There may be many build files: the outermost ones count.
            for (at, path) in found.files.iter().enumerate() {
                if at < found.followed + MOST_FILES || !leaves(path) {
                    reader.add_found(path);
                } else {
                    unread.insert(path.clone());
                }
            }
        }
        also.iter().for_each(|path| reader.add_known(path));
        let folders = match <[_; 1]>::try_from(folders) {
            Ok([only]) => only,
            Err(all) => Arc::new(all.iter().flat_map(|own| own.iter().cloned()).collect()),
        };
        GuardedSnapshot { files: reader.files, unread, folders }
    }

    /// Puts back what changed since.
    fn put_back(&self, find: &dyn Fn(&Path) -> GuardedNames, guarded: &GuardedFiles) -> PutBack {
        if *guarded == GuardedFiles::Nothing || self.count == 0 {
            return PutBack::default();
        }
        let known: Vec<&PathBuf> = self.files.keys().collect();
        let now = self.read(find, &known, |path| self.unread.contains(path)).files;
        let of = |files: &Files, path: &Path| files.get(path).map(|file| file.content.clone());
        let mut done = PutBack::default();
        let was_there =
            |path: &PathBuf| self.files.contains_key(path) || self.unread.contains(path);
        let new = now.keys().filter(|path| !was_there(path));
        let changed: Vec<_> = self
            .files
            .keys()
            .chain(new)
            .map(|path| (path, of(&self.files, path), of(&now, path)))
            .filter(|(path, was, is)| was != is && self.guards(path, guarded))
            .filter(|(path, was, is)| !is_harmless(path, was.as_ref(), is.as_ref()))
            .filter(|(path, was, _)| was.is_none() || can_be_restored(path))
            .collect();
        // What was added first: a link may have replaced a folder.
        changed.iter().filter(|(_, was, _)| was.is_none()).for_each(|(path, ..)| remove(path));
        for (path, was, is) in changed {
            let was_same_bytes = was.as_ref().is_some_and(|was| was.has_bytes_of(is.as_ref()));
            // Where it cannot be written it is named all the same.
            let _ = was.map(|was| write(self.root_of(path), path, &was));
            // A file whose mode alone changed has no text to keep.
            let text = is.as_ref().filter(|_| !was_same_bytes).and_then(Content::text);
            done.texts.extend(text.map(|text| (path.clone(), text.to_owned())));
            done.paths.push(path.clone());
        }
        done.paths.sort_unstable();
        done
    }

    /// Whether a step may not change a file.
    fn guards(&self, path: &Path, guarded: &GuardedFiles) -> bool {
        is_in_repository(path)
            || !self.is_named(path)
                && match guarded {
                    GuardedFiles::Nothing => false,
                    // A branch brings files of its repository only.
                    GuardedFiles::Repositories => !is_versioned(self.root_of(path)),
                    GuardedFiles::Followed => !self.is_build_file(path),
                    GuardedFiles::FollowedAndBuilds { command } => {
                        !self.is_build_file(path)
                            || !steering::is_changed_by(command, path)
                                && self.is_of_known_build(path)
                    }
                }
    }

    fn is_build_file(&self, path: &Path) -> bool {
        steering::is_build_file(self.inside(path))
    }

    fn inside<'a>(&'a self, path: &'a Path) -> &'a Path {
        path.strip_prefix(self.root_of(path)).unwrap_or(path)
    }

    /// Whether a build that a rule runs may come to it: it was there, or is where something was
    /// there. Deep in a folder that is new in the root a project was just created, and no rule runs
    /// its build; what a build of the root collects from everywhere counts there too.
    fn is_of_known_build(&self, path: &Path) -> bool {
        let inside = self.inside(path);
        let is_known = self.files.contains_key(path) || self.unread.contains(path);
        let is_deep = inside.components().count() > 2;
        let first = inside.components().next();
        let outermost = first.map(|first| self.root_of(path).join(first));
        let is_new_project =
            is_deep && outermost.is_some_and(|folder| !self.folders.contains(&folder));
        (is_known || !is_new_project || steering::is_collected(inside))
            && !steering::is_build_output(inside)
    }

    fn is_named(&self, path: &Path) -> bool {
        self.named.iter().any(|named| path.starts_with(named))
    }

    fn root_of<'a>(&'a self, path: &'a Path) -> &'a Path {
        let root = self.roots.iter().find(|root| path.starts_with(root));
        root.map_or(path, PathBuf::as_path)
    }
}

impl Content {
    fn has_bytes_of(&self, other: Option<&Content>) -> bool {
        match (self, other) {
            (Content::File { bytes, .. }, Some(Content::File { bytes: others, .. })) => {
                bytes == others
            }
            _ => false,
        }
    }

    fn text(&self) -> Option<&str> {
        match self {
            Content::File { bytes, .. } if bytes.len() <= SHOWN => std::str::from_utf8(bytes).ok(),
            Content::File { .. } | Content::Link(_) | Content::Large { .. } => None,
        }
    }
}

fn is_in_repository(path: &Path) -> bool {
    path.ancestors().any(|above| above.ends_with(".git") || is_repository(above))
}

fn is_versioned(folder: &Path) -> bool {
    let stores = [".git", ".hg", ".jj", ".svn", ".sl", ".bzr"];
    folder.ancestors().any(|above| stores.iter().any(|name| above.join(name).exists()))
}

/// Settings that git writes itself, and that lead nowhere: of a branch, and of a new repository.
fn is_harmless(path: &Path, was: Option<&Content>, is: Option<&Content>) -> bool {
    let name = path.file_name().unwrap_or_default();
    let Some(Content::File { bytes, .. }) = is else { return false };
    if path.extension().is_some_and(|end| end == "sample") {
        return true;
    }
    if let (Some(Content::File { bytes: before, .. }), Some("json")) =
        (was, path.extension().and_then(|end| end.to_str()))
    {
        // The same in another form.
        let parsed = |bytes: &[u8]| serde_json::from_slice::<serde_json::Value>(bytes).ok();
        return parsed(before).is_some_and(|before| parsed(bytes) == Some(before));
    }
    let before = match was {
        Some(Content::File { bytes, .. }) => repository::parse(bytes).unwrap_or_default(),
        Some(Content::Link(_) | Content::Large { .. }) => return false,
        None => Vec::new(),
    };
    let plain = |value: &str| !value.contains(['/', ':', '\\']);
    let harmless = |setting: &repository::GitSetting| {
        let names = match setting.section.as_str() {
            "branch" => &["merge", "rebase", "description", "remote", "pushremote"][..],
            "core" => &[
                "repositoryformatversion",
                "filemode",
                "bare",
                "logallrefupdates",
                "ignorecase",
                "precomposeunicode",
                "symlinks",
            ],
            _ => &[],
        };
        names.contains(&setting.name.as_str()) && (setting.name == "merge" || plain(&setting.value))
    };
    let config = (name == "config" || name == "config.worktree") && is_in_repository(path);
    let now = config.then(|| repository::parse(bytes)).flatten();
    now.is_some_and(|now| {
        now.iter().all(|setting| before.contains(setting) || harmless(setting))
            && before.iter().all(|setting| now.contains(setting) || harmless(setting))
    })
}

/// Whether its repository, or the folder that held it, is still there.
fn can_be_restored(path: &Path) -> bool {
    match path.ancestors().skip(1).find(|above| above.ends_with(".git")) {
        Some(git) => is_folder(git),
        None => path.ancestors().skip(1).take(2).any(|above| above.symlink_metadata().is_ok()),
    }
}

fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.is_dir())
}

fn is_repository(path: &Path) -> bool {
    path.join("HEAD").is_file() && is_folder(&path.join("objects"))
}

/// Reads files until they are too many bytes.
struct Reader<'a> {
    known: &'a Files,
    files: Files,
    left: u64,
}

impl Reader<'_> {
    /// A path that was found by its name.
    fn add_found(&mut self, path: &Path) {
        match path.file_name().and_then(|name| name.to_str()) {
            Some(".git") if is_folder(path) => self.add_repository(path, DEPTH),
            Some(".git") => self.add_pointer(path),
            // Their stores are large.
            Some(".hg" | ".jj" | ".svn" | ".bzr" | ".sl" | ".pijul" | ".cargo" | ".yarn")
                if is_folder(path) =>
            {
                entries(&path.join("releases")).iter().for_each(|path| self.add(path));
                for name in ["hgrc", "config", "config.toml", "repo/config.toml"] {
                    self.add(&path.join(name));
                }
            }
            // Installed packages.
            Some("bundle") => {}
            _ if is_folder(path) => self.add_tree(path, LEVELS),
            _ => self.add(path),
        }
    }

    /// A file that names the folder of the repository: of a further tree, or a submodule.
    fn add_pointer(&mut self, path: &Path) {
        self.add(path);
        let text = fs::read_to_string(path).unwrap_or_default();
        let Some(named) = text.trim().strip_prefix("gitdir:") else { return };
        let own = path.with_file_name(named.trim());
        self.add_repository(&own, 0);
        if let Ok(common) = fs::read_to_string(own.join("commondir")) {
            self.add_repository(&own.join(common.trim()), DEPTH);
        }
    }

    fn add_tree(&mut self, folder: &Path, levels: usize) {
        for path in entries(folder) {
            if self.files.len() >= MOST_FILES {
                return;
            }
            if is_folder(&path) {
                if levels > 0 {
                    self.add_tree(&path, levels - 1);
                }
            } else {
                self.add(&path);
            }
        }
    }

    fn add_repository(&mut self, git: &Path, depth: usize) {
        let git = &git.canonicalize().unwrap_or_else(|_| git.to_owned());
        // A folder is in none of them, a link in its place is.
        for name in ["config", "config.worktree", "hooks", "info", "modules"] {
            self.add(&git.join(name));
        }
        entries(&git.join("hooks")).iter().for_each(|path| self.add(path));
        if is_folder(&git.join("info")) {
            self.add(&git.join("info/attributes"));
        }
        for tree in entries(&git.join("worktrees")) {
            self.add(&tree.join("config.worktree"));
        }
        let mut folders = if depth > 0 { entries(&git.join("modules")) } else { Vec::new() };
        folders.retain(|path| is_folder(path));
        for module in folders {
            // A name with a slash has a folder of its own: `modules/libs/x`.
            if is_folder(&module.join("objects")) {
                self.add_repository(&module, depth - 1);
            } else {
                let inner = entries(&module).into_iter().filter(|path| is_folder(path));
                inner.for_each(|path| self.add_repository(&path, depth - 1));
            }
        }
    }

    fn add_known(&mut self, path: &Path) {
        if !self.files.contains_key(path) {
            self.add(path);
        }
    }

    fn add(&mut self, path: &Path) {
        let Ok(meta) = path.symlink_metadata() else { return };
        let changed = i128::from(meta.ctime()) * 1_000_000_000 + i128::from(meta.ctime_nsec());
        let stamp = (meta.ino(), meta.len(), changed);
        let known = self
            .known
            .get(path)
            .filter(|known| known.stamp == stamp && !is_recent(changed, known.read_at));
        let read_at = SystemTime::now();
        let file = known.cloned().or_else(|| {
            let content = self.read(path, &meta)?;
            Some(KnownFile { content, stamp, read_at })
        });
        if let Some(file) = file {
            if matches!(file.content, Content::File { .. }) {
                self.left = self.left.saturating_sub(meta.len());
            }
            self.files.insert(path.to_owned(), file);
        }
    }

    fn read(&self, path: &Path, meta: &fs::Metadata) -> Option<Content> {
        match meta.file_type() {
            kind if kind.is_symlink() => fs::read_link(path).ok().map(Content::Link),
            kind if kind.is_file() && meta.len() <= self.left => fs::read(path).ok().map(|bytes| {
                Content::File { bytes: bytes.into(), mode: meta.permissions().mode() & 0o7777 }
            }),
            kind if kind.is_dir() => None,
            _ => Some(Content::Large { len: meta.len(), changed: meta.ctime() }),
        }
    }
}

/// The entries of a folder, not of one that a link leads to.
fn entries(folder: &Path) -> Vec<PathBuf> {
    if !is_folder(folder) {
        return Vec::new();
    }
    let found = fs::read_dir(folder).into_iter().flatten().flatten();
    found.map(|entry| entry.path()).collect()
}

/// Never through a link: what it leads to does not belong to the repository.
fn remove(path: &Path) {
    let _ = if is_folder(path) { fs::remove_dir_all(path) } else { fs::remove_file(path) };
}

fn write(root: &Path, path: &Path, was: &Content) -> std::io::Result<()> {
    let above: Vec<&Path> = path.ancestors().skip(1).take_while(|above| *above != root).collect();
    for folder in above.into_iter().rev().filter(|folder| !is_folder(folder)) {
        remove(folder);
        fs::create_dir(folder)?;
    }
    if !matches!(was, Content::Large { .. }) {
        remove(path);
    }
    match was {
        Content::Large { .. } => Ok(()),
        Content::Link(target) => symlink(target, path),
        Content::File { bytes, mode } => {
            fs::write(path, bytes)?;
            fs::set_permissions(path, Permissions::from_mode(*mode))
        }
    }
}

#[cfg(test)]
mod tests;
