//! Puts back what an approved step changed without having been asked about it: the settings and
//! hooks of repositories, and the files that editors, shells and agents follow by themselves. They
//! act later, outside the sandbox. Files of builds act in a step that the user is asked about,
//! inside it; they are put back where a rule answers that question.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::file::safe_open::{FileSlot, MissingFolders};
use avocet_core::private_dir::owner;
use avocet_safety::{GuardedFiles, steering};

mod reader;
mod worktrees;

pub(super) use reader::is_repository;
use reader::{Content, Files, MAX_FILES, REBASE, Reader};
use reader::{is_folder, is_harmless, is_in_repository};
use worktrees::{UnusedWorktrees, worktree_of};

/// The files as they were when the first of the steps that run now began.
#[derive(Debug, Default)]
pub(super) struct GuardedState(Mutex<RunningSteps>);

#[derive(Debug, Default)]
struct RunningSteps {
    count: usize,
    /// Programs that steps left running on purpose: they may run code of the project.
    daemons: Vec<Daemon>,
    roots: Vec<PathBuf>,
    /// Paths that the question of a step named: it may change them.
    named: Vec<PathBuf>,
    files: Files,
    /// Files of builds that are too many to be read. They were there, and that is known.
    unread: BTreeSet<PathBuf>,
    /// Folders of which only a part was read.
    cut: BTreeSet<PathBuf>,
    /// The folders that were there.
    folders: Arc<BTreeSet<PathBuf>>,
    /// The worktrees that were there and not in use.
    worktrees: BTreeSet<PathBuf>,
}

/// A process that outlives its step, by its number and its start.
#[derive(Clone, Copy, Debug)]
struct Daemon {
    pid: i32,
    start: u64,
}

impl Daemon {
    fn of(pid: i32) -> Option<Daemon> {
        owner::start_time(pid).map(|start| Daemon { pid, start })
    }

    fn is_running(self) -> bool {
        owner::start_time(self.pid) == Some(self.start)
    }
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

/// What a look at the files gave.
#[derive(Debug)]
struct GuardedSnapshot {
    files: Files,
    unread: BTreeSet<PathBuf>,
    cut: BTreeSet<PathBuf>,
    folders: Arc<BTreeSet<PathBuf>>,
    worktrees: BTreeSet<PathBuf>,
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
    // A step that still runs may have changed them, or a daemon. Where only that is left, what is
    // versioned may have come with a branch that the user took elsewhere.
    let others = match running.count {
        0 => GuardedFiles::Repositories,
        _ => GuardedFiles::Followed,
    };
    let put_back = running.put_back(&*find, &others);
    running.daemons.retain(|daemon| daemon.is_running());
    if !running.is_watching() {
        running.roots.clear();
    }
    let is_counted = guarded != GuardedFiles::Nothing || running.is_watching();
    if is_counted {
        running.begin(&*find, roots, named);
    }
    drop(running);
    (FileGuard { find, state: Arc::clone(state), guarded, is_counted }, put_back)
}

impl FileGuard {
    /// Looks at the files after the step, which left these processes running. Blocks.
    pub fn end(mut self, left: &[i32]) -> PutBack {
        self.finish(left)
    }

    fn finish(&mut self, left: &[i32]) -> PutBack {
        if !std::mem::take(&mut self.is_counted) {
            return PutBack::default();
        }
        let mut running = self.state.lock();
        let put_back = running.put_back(&*self.find, &self.guarded);
        running.daemons.extend(left.iter().filter_map(|pid| Daemon::of(*pid)));
        running.end(&*self.find);
        put_back
    }
}

impl Drop for FileGuard {
    fn drop(&mut self) {
        self.finish(&[]);
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

    /// The same with further files.
    #[must_use]
    pub fn with(self, more: &[PathBuf]) -> GuardedNames {
        if more.is_empty() {
            return self;
        }
        let followed = self.followed + more.len();
        GuardedNames { files: more.iter().chain(&*self.files).cloned().collect(), followed, ..self }
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
        let seen = self.read(find, None);
        (self.files, self.unread, self.folders) = (seen.files, seen.unread, seen.folders);
        (self.cut, self.worktrees) = (seen.cut, seen.worktrees);
    }

    fn end(&mut self, find: &dyn Fn(&Path) -> GuardedNames) {
        self.count = self.count.saturating_sub(1);
        if self.count == 0 {
            self.named.clear();
        }
        if self.is_watching() {
            self.look(find);
        } else {
            // What was read stays known for the next step.
            self.roots.clear();
        }
    }

    /// Whether something runs that may change the files.
    fn is_watching(&self) -> bool {
        self.count > 0 || !self.daemons.is_empty()
    }

    /// `before`: the state that it is compared with. What was not too much to be read then is read
    /// now, however much a step added.
    fn read(
        &self,
        find: &dyn Fn(&Path) -> GuardedNames,
        before: Option<&RunningSteps>,
    ) -> GuardedSnapshot {
        let mut reader = Reader::new(&self.files, &self.roots, before.map(|before| &before.cut));
        let mut unread = BTreeSet::new();
        let mut folders = Vec::new();
        let mut worktrees = UnusedWorktrees::new(before.map(|before| &before.worktrees));
        for root in &self.roots {
            reader.add_bare_repository(root);
            let found = find(root);
            folders.push(found.folders);
            // There may be many build files: the outermost ones count.
            for (at, path) in found.files.iter().enumerate() {
                if !worktrees.allow(root, path) {
                    continue;
                }
                let leaves = before.is_none_or(|before| before.unread.contains(path));
                if at < found.followed + MAX_FILES || !leaves {
                    reader.add_found(path);
                } else {
                    unread.insert(path.clone());
                }
            }
        }
        before.iter().flat_map(|it| it.files.keys()).for_each(|path| reader.add_known(path));
        let folders = match <[_; 1]>::try_from(folders) {
            Ok([only]) => only,
            Err(all) => Arc::new(all.iter().flat_map(|own| own.iter().cloned()).collect()),
        };
        let worktrees = worktrees.unused();
        GuardedSnapshot { files: reader.files, unread, cut: reader.cut, folders, worktrees }
    }

    /// Puts back what changed since.
    fn put_back(&self, find: &dyn Fn(&Path) -> GuardedNames, guarded: &GuardedFiles) -> PutBack {
        if *guarded == GuardedFiles::Nothing || !self.is_watching() {
            return PutBack::default();
        }
        let GuardedSnapshot { files: now, worktrees, .. } = self.read(find, Some(self));
        let of = |files: &Files, path: &Path| files.get(path).map(|file| file.content.clone());
        let mut put_back = PutBack::default();
        let was_there =
            |path: &PathBuf| self.files.contains_key(path) || self.unread.contains(path);
        let new = now.keys().filter(|path| !was_there(path));
        let is_link = |path: &&PathBuf| {
            now.get(*path).is_some_and(|file| matches!(file.content, Content::Link(_)))
        };
        let links: Vec<&PathBuf> = new.clone().filter(is_link).collect();
        // `git rebase -x` names programs in the list that it makes.
        let brings_rebase =
            |path: &Path| *guarded == GuardedFiles::Repositories && path.ends_with(REBASE);
        // What is seen through a new link is not what was there.
        let is_there =
            |path: &Path| !links.iter().any(|link| path != *link && path.starts_with(link));
        let changed: Vec<_> = self
            .files
            .keys()
            .chain(new)
            .map(|path| (path, of(&self.files, path), of(&now, path).filter(|_| is_there(path))))
            .filter(|(path, was, is)| was != is && self.guards(path, guarded))
            .filter(|(path, ..)| {
                worktree_of(self.root_of(path), path).is_none_or(|it| worktrees.contains(it))
            })
            .filter(|(path, was, is)| !is_harmless(path, was.as_ref(), is.as_ref()))
            .filter(|(path, was, _)| was.is_none() || can_be_restored(path))
            .filter(|(path, was, _)| was.is_some() || !brings_rebase(path))
            .collect();
        // What was added first: a link may have replaced a folder.
        changed.iter().filter(|(_, was, _)| was.is_none()).for_each(|(path, ..)| remove(path));
        for (path, was, is) in changed {
            let was_same_bytes = was.as_ref().is_some_and(|was| was.has_bytes_of(is.as_ref()));
            // Where it cannot be written it is named all the same.
            let _ = was.map(|was| write(self.root_of(path), path, &was));
            // A file whose mode alone changed has no text to keep.
            let text = is.as_ref().filter(|_| !was_same_bytes).and_then(Content::text);
            put_back.texts.extend(text.map(|text| (path.clone(), text.to_owned())));
            put_back.paths.push(path.clone());
        }
        put_back.paths.sort_unstable();
        put_back
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
                    GuardedFiles::FollowedAndHome { command } => {
                        !self.is_build_file(path)
                            || !steering::is_changed_by(command, path)
                                && self.is_of_known_home(path)
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

    /// Whether programs in folders that were there may come to it: none looks into a folder that is
    /// new, but for those with names that programs give, `.cargo`.
    fn is_of_known_home(&self, path: &Path) -> bool {
        let root = self.root_of(path);
        let above = path.ancestors().skip(1).take_while(|above| *above != root);
        let outermost_new = above.filter(|folder| !self.folders.contains(*folder)).last();
        let is_hidden = |folder: &Path| {
            folder.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
        };
        let is_known = self.files.contains_key(path) || self.unread.contains(path);
        is_known || outermost_new.is_none_or(is_hidden)
    }

    fn is_named(&self, path: &Path) -> bool {
        self.named.iter().any(|named| path.starts_with(named))
    }

    fn root_of<'a>(&'a self, path: &'a Path) -> &'a Path {
        let root = self.roots.iter().find(|root| path.starts_with(root));
        root.map_or(path, PathBuf::as_path)
    }
}

fn is_versioned(folder: &Path) -> bool {
    let stores = [".git", ".hg", ".jj", ".svn", ".sl", ".bzr"];
    folder.ancestors().any(|above| stores.iter().any(|name| above.join(name).exists()))
}

/// Whether its repository, or the folder that held it, is still there.
fn can_be_restored(path: &Path) -> bool {
    // A further tree that was removed takes its pointer with it.
    if path.ends_with("commondir") && !path.parent().is_some_and(is_folder) {
        return false;
    }
    match path.ancestors().skip(1).find(|above| above.ends_with(".git")) {
        Some(git) => is_folder(git),
        None => path.ancestors().skip(1).take(2).any(|above| above.symlink_metadata().is_ok()),
    }
}

/// Never through a link: what it leads to does not belong to the repository, and a program that
/// still runs may be changing the folders at this moment.
fn remove(path: &Path) {
    let _ = FileSlot::open(path, MissingFolders::Fail).and_then(|slot| slot.remove_all());
}

fn write(root: &Path, path: &Path, content: &Content) -> std::io::Result<()> {
    let above: Vec<&Path> = path.ancestors().skip(1).take_while(|above| *above != root).collect();
    above.into_iter().rev().filter(|folder| !is_folder(folder)).for_each(remove);
    let slot = FileSlot::open(path, MissingFolders::Create)?;
    if !matches!(content, Content::Large { .. }) {
        let _ = slot.remove_all();
    }
    match content {
        Content::Large { .. } => Ok(()),
        Content::Link(target) => slot.link_to(target),
        Content::File { bytes, mode } => slot.create(bytes, *mode),
    }
}

#[cfg(test)]
mod tests;
