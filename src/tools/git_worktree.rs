//! Makes, lists and removes worktrees of a git repository. Each is in `.avocet/worktrees` of the main
//! working tree, on a branch of its own, and in use while the lock of its name is held.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};
use std::time::UNIX_EPOCH;

use self::copies::{copy_file, is_copy};
use self::lock::lock_name;
use super::exec::run_git;
use avocet_core::i18n::{Lang, LocalizedText, Phrase, worktrees as phrases};
use avocet_core::text::{quote_visible, visible};
use avocet_safety::steering::WORKTREES;

mod copies;
mod lock;

pub use lock::{NameLock, is_in_use};

/// The beginning of the names of their branches.
const BRANCHES: &str = "avocet/";
/// The most that agents make.
const MAX_WORKTREES: usize = 32;
/// Bytes of a name, and characters of one that is made from a text.
const MAX_NAME: usize = 100;
const MAX_SLUG: usize = 30;
/// Files that are copied.
const MAX_COPIED: usize = 64;
/// Lines of a list.
const MAX_LINES: usize = 30;

/// The repository of a folder, as the place of worktrees.
#[derive(Clone, Debug)]
pub struct WorktreeRepository {
    /// The root of its main working tree.
    root: PathBuf,
    /// What its working trees have in common.
    common: PathBuf,
    /// The root of the working tree whose commit a new one starts from.
    top: PathBuf,
}

/// A worktree that is in use.
#[derive(Debug)]
pub struct Worktree {
    pub name: String,
    pub path: PathBuf,
    /// `None`: it was there before.
    pub start: Option<WorktreeStart>,
    repository: WorktreeRepository,
    _lock: NameLock,
}

/// How a new worktree begins.
#[derive(Debug)]
pub struct WorktreeStart {
    commit: String,
    /// Changed files of the working tree that it was made from.
    uncommitted: usize,
    has_submodules: bool,
    not_copied: Vec<String>,
}

/// What a list says of a worktree.
#[derive(Debug)]
pub struct WorktreeState {
    pub is_in_use: bool,
    pub is_gone: bool,
    pub uncommitted: Vec<String>,
    /// That are not in the current branch.
    pub commits: Vec<String>,
    /// When its folder was made.
    pub made_ms: i64,
}

/// Whether a worktree and its branch can have this name.
pub fn is_usable_name(name: &str) -> bool {
    name.len() <= MAX_NAME
        && name.chars().all(|c| c.is_alphanumeric() || "._-".contains(c))
        && name.starts_with(char::is_alphanumeric)
        && !name.contains("..")
        && !name.ends_with('.')
        && !name.ends_with(".lock")
}

/// A name for what a text describes.
pub fn name_from(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<String> = words.map(str::to_lowercase).collect();
    let name: String = words.join("-").chars().take(MAX_SLUG).collect();
    let name = name.trim_end_matches('-');
    if is_usable_name(name) { name.to_owned() } else { "task".to_owned() }
}

pub fn branch_of(name: &str) -> String {
    format!("{BRANCHES}{name}")
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(visible).collect()
}

impl WorktreeRepository {
    /// # Errors
    /// The folder is in no working tree.
    pub async fn find(folder: &Path) -> Result<WorktreeRepository, LocalizedText> {
        let none = || phrases::NO_REPOSITORY.with("folder", folder.display().to_string());
        let [common, top] = places_of(folder).await.ok_or_else(none)?;
        let main = common.parent().filter(|_| common.ends_with(".git"));
        let root = main.unwrap_or(&top).to_owned();
        Ok(WorktreeRepository { root, common, top })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.join(WORKTREES).join(name)
    }

    /// Makes one with this name or, if it is taken, with the next number.
    ///
    /// # Errors
    /// Why it cannot be made.
    pub async fn create(&self, wanted: &str, copied: &[String]) -> Result<Worktree, LocalizedText> {
        self.make_folder()?;
        let taken = self.names().await;
        if taken.len() >= MAX_WORKTREES {
            return Err(phrases::TOO_MANY.with("count", taken.len()));
        }
        let numbered = (2..).map(|n| format!("{wanted}-{n}"));
        for name in std::iter::once(wanted.to_owned()).chain(numbered).take(2 * MAX_WORKTREES) {
            let is_there = taken.contains(&name) || self.path(&name).symlink_metadata().is_ok();
            if let (false, Some(lock)) = (is_there, self.lock(&name)?) {
                return self.add(name, lock, copied).await;
            }
        }
        Err(phrases::TOO_MANY.with("count", taken.len()))
    }

    /// Opens the one with this name; makes it if there is none.
    ///
    /// # Errors
    /// The name is none, it is in use, or it cannot be made.
    pub async fn open(&self, name: &str, copied: &[String]) -> Result<Worktree, LocalizedText> {
        if !is_usable_name(name) {
            return Err(phrases::BAD_NAME.with("name", visible(name)));
        }
        self.make_folder()?;
        let lock = self.lock(name)?.ok_or_else(|| phrases::IN_USE.with("name", name))?;
        if self.path(name).symlink_metadata().is_err() {
            return self.add(name.to_owned(), lock, copied).await;
        }
        self.verify(name).await?;
        Ok(self.worktree(name.to_owned(), lock, None))
    }

    fn worktree(&self, name: String, lock: NameLock, start: Option<WorktreeStart>) -> Worktree {
        Worktree { path: self.path(&name), name, start, repository: self.clone(), _lock: lock }
    }

    /// The folder of the worktrees, which git ignores without a change of the project's files.
    fn make_folder(&self) -> Result<(), LocalizedText> {
        for folder in [Path::new(WORKTREES).parent().unwrap_or(Path::new("")), Path::new(WORKTREES)]
        {
            let folder = self.root.join(folder);
            let made = DirBuilder::new().create(&folder);
            if !folder.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
                let shown = folder.display().to_string();
                return Err(match made {
                    Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                        let why = format!("{shown}: {error}");
                        phrases::NOT_MADE.with("name", WORKTREES).with("why", why)
                    }
                    _ => phrases::LINK.with("path", shown),
                });
            }
        }
        let ignore = self.root.join(WORKTREES).join(".gitignore");
        match OpenOptions::new().write(true).create_new(true).open(ignore) {
            Ok(mut file) => file.write_all(b"*\n").map_err(|error| not_made(WORKTREES, &error)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(not_made(WORKTREES, &error)),
        }
    }

    /// Locks a name; `None`: another session or agent has it.
    fn lock(&self, name: &str) -> Result<Option<NameLock>, LocalizedText> {
        NameLock::take(&self.lock_file(name)).map_err(|error| not_made(name, &error))
    }

    fn lock_file(&self, name: &str) -> PathBuf {
        self.path(&lock_name(name))
    }

    async fn has_branch(&self, name: &str) -> bool {
        let reference = format!("refs/heads/{}", branch_of(name));
        run_git(&self.root, &["show-ref", "--verify", "--quiet", &reference]).await.is_ok()
    }

    async fn add(
        &self,
        name: String,
        lock: NameLock,
        copied: &[String],
    ) -> Result<Worktree, LocalizedText> {
        let head = ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"];
        let commit = run_git(&self.top, &head).await.map_err(|_| phrases::NO_COMMIT)?;
        let commit = commit.trim().to_owned();
        let uncommitted = run_git(&self.top, &["status", "--porcelain"]).await.unwrap_or_default();
        let path = format!("{WORKTREES}/{name}");
        let branch = branch_of(&name);
        // Git still knows one whose folder was deleted.
        let _ = run_git(&self.root, &["worktree", "remove", &path]).await;
        let has_branch = self.has_branch(&name).await;
        let made = if has_branch {
            run_git(&self.root, &["worktree", "add", &path, &branch]).await
        } else {
            let new = ["worktree", "add", "--no-track", "-b", &branch, &path, &commit];
            run_git(&self.root, &new).await
        };
        if let Err(why) = made {
            if !has_branch {
                let _ = run_git(&self.root, &["branch", "-D", &branch]).await;
            }
            return Err(phrases::NOT_MADE.with("name", name).with("why", visible(&why)));
        }
        let not_copied = self.copy_files(&self.path(&name), copied).await;
        let start = WorktreeStart {
            commit,
            uncommitted: uncommitted.lines().count(),
            has_submodules: self.path(&name).join(".gitmodules").is_file(),
            not_copied,
        };
        Ok(self.worktree(name, lock, Some(start)))
    }

    /// Copies ignored files of the working tree; returns those that are not such files.
    async fn copy_files(&self, to: &Path, paths: &[String]) -> Vec<String> {
        let mut not_copied = Vec::new();
        for (at, path) in paths.iter().enumerate() {
            let is_inside =
                Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
            let check = ["check-ignore", "--quiet", "--", path];
            let is_copied = at < MAX_COPIED
                && is_inside
                && run_git(&self.top, &check).await.is_ok()
                && copy_file(&self.top, to, Path::new(path)).is_ok();
            if !is_copied {
                not_copied.push(visible(path));
            }
        }
        not_copied
    }

    /// What has this name has to be a worktree of this repository: a step may have written its `.git`.
    async fn verify(&self, name: &str) -> Result<(), LocalizedText> {
        let path = self.path(name);
        let is_file = |path: PathBuf| path.symlink_metadata().is_ok_and(|meta| meta.is_file());
        let is_ours = is_file(path.join(".git"))
            && places_of(&path)
                .await
                .is_some_and(|[common, top]| common == self.common && top == path);
        let not_ours = || phrases::NOT_OURS.with("path", path.display().to_string());
        is_ours.then_some(()).ok_or_else(not_ours)
    }

    /// The names of all, also of those of which only the branch is left.
    pub async fn names(&self) -> BTreeSet<String> {
        let pattern = format!("refs/heads/{BRANCHES}");
        let list = ["for-each-ref", "--format=%(refname:lstrip=3)", &pattern];
        let branches = run_git(&self.root, &list).await.unwrap_or_default();
        let branches = branches.lines().map(str::to_owned);
        let folders = fs::read_dir(self.root.join(WORKTREES)).into_iter().flatten().flatten();
        let folders = folders.filter(|entry| entry.path().join(".git").is_file());
        let folders = folders.map(|entry| entry.file_name().to_string_lossy().into_owned());
        branches.chain(folders).filter(|name| is_usable_name(name)).collect()
    }

    /// # Errors
    /// There is none of that name.
    pub async fn state(&self, name: &str) -> Result<WorktreeState, LocalizedText> {
        let path = self.path(name);
        let branch = branch_of(name);
        let is_gone = path.symlink_metadata().is_err();
        if !is_usable_name(name) || is_gone && !self.has_branch(name).await {
            return Err(phrases::NO_SUCH.with("name", visible(name)));
        }
        let mut uncommitted = Vec::new();
        if !is_gone {
            self.verify(name).await?;
            uncommitted = self.uncommitted(name).await.map_err(|why| failed_with(name, &why))?;
        }
        let range = format!("HEAD..refs/heads/{branch}");
        let log = ["log", "--oneline", "--no-decorate", &range];
        let commits = run_git(&self.top, &log).await.unwrap_or_default();
        let is_in_use = !is_gone && self.lock(name)?.is_none();
        let made_ms = time_made(&path).unwrap_or_default();
        Ok(WorktreeState { is_in_use, is_gone, uncommitted, commits: lines(&commits), made_ms })
    }

    async fn uncommitted(&self, name: &str) -> Result<Vec<String>, String> {
        let status = ["status", "--porcelain", "--untracked-files=all"];
        run_git(&self.path(name), &status).await.map(|text| lines(&text))
    }

    /// What its branch changed since it left the current one.
    pub async fn diff_stat(&self, name: &str) -> Vec<String> {
        let range = format!("HEAD...refs/heads/{}", branch_of(name));
        let text = run_git(&self.top, &["diff", "--stat=78", &range]).await.unwrap_or_default();
        lines(&text)
    }

    /// The line that brings a worktree into the current branch, after a commit of what it has not
    /// committed; `None`: there is nothing to bring.
    ///
    /// # Errors
    /// It is the one of this folder, it is in use, or there is none.
    pub async fn merge_line(&self, name: &str) -> Result<Option<String>, LocalizedText> {
        let state = self.state(name).await?;
        self.check_not_here(name)?;
        if state.is_in_use {
            return Err(phrases::IN_USE.with("name", name));
        }
        // A tag may have the name of the branch.
        let branch = branch_of(name);
        let merge = format!("git merge -m \"Merge branch '{branch}'\" refs/heads/{branch}");
        if state.uncommitted.is_empty() {
            return Ok((!state.commits.is_empty()).then_some(merge));
        }
        let git = format!("git -C {}", quote_visible(&self.path(name).to_string_lossy()));
        Ok(Some(format!("{git} add -A && {git} commit -m 'Work of {name}' && {merge}")))
    }

    fn check_not_here(&self, name: &str) -> Result<(), LocalizedText> {
        let is_elsewhere = self.top != self.path(name);
        is_elsewhere.then_some(()).ok_or_else(|| phrases::IS_HERE.with("name", name))
    }

    /// Removes a worktree and its branch, if nothing of it would be lost, or only files that are in
    /// no commit.
    ///
    /// # Errors
    /// What it has that is nowhere else, or why it cannot be removed.
    pub async fn remove(&self, name: &str, with_files: bool) -> Result<(), LocalizedText> {
        let lock = self.check_removal(name, with_files).await?;
        self.remove_locked(name, lock, with_files).await
    }

    /// The lock of its name, if it may be removed.
    ///
    /// # Errors
    /// What it has that is nowhere else, or why it cannot be removed.
    pub async fn check_removal(
        &self,
        name: &str,
        with_files: bool,
    ) -> Result<NameLock, LocalizedText> {
        let is_gone = self.state(name).await?.is_gone;
        self.check_not_here(name)?;
        let lock = self.lock(name)?.ok_or_else(|| phrases::IN_USE.with("name", name))?;
        if self.is_locked_in_git(name).await {
            return Err(phrases::LOCKED.with("name", name));
        }
        if !with_files && !is_gone {
            let files = self.loose_files(name).await.map_err(|why| failed_with(name, &why))?;
            if !files.is_empty() {
                let files = shortened(&files);
                return Err(phrases::HAS_FILES.with("name", name).with("files", files));
            }
        }
        self.check_commits(name, is_gone).await?;
        Ok(lock)
    }

    /// Whether the user locked it with git's own command, which then removes it in no way.
    async fn is_locked_in_git(&self, name: &str) -> bool {
        let list = ["worktree", "list", "--porcelain"];
        let list = run_git(&self.root, &list).await.unwrap_or_default();
        let own = format!("worktree {}", self.path(name).display());
        let mut entries = list.split("\n\n").map(str::lines);
        entries
            .find(|lines| lines.clone().next() == Some(&own))
            .is_some_and(|mut lines| lines.any(|line| line.split(' ').next() == Some("locked")))
    }

    /// Its files that are in no commit: changed, untracked and ignored ones, but for copies of those
    /// of the main folder.
    async fn loose_files(&self, name: &str) -> Result<Vec<String>, String> {
        let path = self.path(name);
        let mut files = self.uncommitted(name).await?;
        let list = ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory"];
        let ignored = run_git(&path, &list).await?;
        let mut left = 2 * MAX_COPIED;
        let ignored = ignored
            .lines()
            .filter(|file| !is_copy(&self.root.join(file), &path.join(file), &mut left));
        files.extend(ignored.map(|file| format!("!! {}", visible(file))));
        Ok(files)
    }

    async fn check_commits(&self, name: &str, is_gone: bool) -> Result<(), LocalizedText> {
        let commits = self.commits_nowhere_else(name, is_gone).await;
        match commits.map_err(|why| failed_with(name, &why))?.as_str() {
            "0" => Ok(()),
            commits => Err(phrases::HAS_COMMITS.with("name", name).with("commits", commits)),
        }
    }

    /// Git itself keeps one with changed or untracked files, unless it is removed with them.
    async fn remove_locked(
        &self,
        name: &str,
        lock: NameLock,
        with_files: bool,
    ) -> Result<(), LocalizedText> {
        let failed = |why: String| failed_with(name, &why);
        let is_gone = self.path(name).symlink_metadata().is_err();
        if !is_gone {
            self.verify(name).await?;
        }
        self.check_commits(name, is_gone).await?;
        let path = format!("{WORKTREES}/{name}");
        let force = with_files.then_some("--force");
        let remove: Vec<&str> =
            ["worktree", "remove"].into_iter().chain(force).chain([&*path]).collect();
        let removed = run_git(&self.root, &remove).await;
        if !is_gone {
            removed.map_err(failed)?;
        }
        if self.has_branch(name).await {
            run_git(&self.root, &["branch", "-D", &branch_of(name)]).await.map_err(failed)?;
        }
        let _ = fs::remove_file(self.lock_file(name));
        drop(lock);
        Ok(())
    }

    /// The number of commits that no other branch has, neither of its own nor of what it is at.
    async fn commits_nowhere_else(&self, name: &str, is_gone: bool) -> Result<String, String> {
        let branch = branch_of(name);
        let reference = format!("refs/heads/{branch}");
        let exclude = format!("--exclude={branch}");
        let has_branch = self.has_branch(name).await;
        let own = has_branch.then_some(reference.as_str()).into_iter();
        let tips = own.chain((!is_gone).then_some("HEAD"));
        let args: Vec<&str> = ["rev-list", "--count"]
            .into_iter()
            .chain(tips)
            .chain(["--not", &exclude, "--branches", "--remotes"])
            .collect();
        let folder = if is_gone { self.root.clone() } else { self.path(name) };
        run_git(&folder, &args).await.map(|count| count.trim().to_owned())
    }
}

impl Worktree {
    pub fn branch(&self) -> String {
        branch_of(&self.name)
    }

    /// The commit that a new one began with.
    pub fn start_commit(&self) -> Option<&str> {
        self.start.as_ref().map(|start| start.commit.as_str())
    }

    /// Removes a new one with all that was done in it.
    ///
    /// # Errors
    /// What git says.
    pub async fn discard(self) -> Result<(), LocalizedText> {
        let branch = self.branch();
        let start = self.start_commit().unwrap_or("HEAD");
        let reset = ["checkout", "--quiet", "--force", "-B", &branch, start];
        let done = run_git(&self.path, &reset).await;
        done.map_err(|why| failed_with(&self.name, &why))?;
        let Worktree { name, repository, _lock: lock, .. } = self;
        drop(lock);
        repository.remove(&name, true).await
    }

    /// What users and models should know of it as it begins.
    pub fn notices(&self) -> Vec<LocalizedText> {
        let about =
            |phrase: Phrase| phrase.with("name", self.name.as_str()).with("branch", self.branch());
        let Some(start) = &self.start else { return vec![about(phrases::OPENED)] };
        let commit = start.commit.get(..12).unwrap_or(&start.commit);
        let mut notices = vec![about(phrases::STARTED).with("commit", commit)];
        if start.uncommitted > 0 {
            notices.push(phrases::LEFT_OUT.with("files", start.uncommitted));
        }
        if start.has_submodules {
            notices.push(phrases::NO_SUBMODULES.into());
        }
        if !start.not_copied.is_empty() {
            notices.push(phrases::NOT_COPIED.with("paths", start.not_copied.join(", ")));
        }
        notices
    }

    /// What was done in it since it was made, for a model; `None`: nothing, and it was removed.
    /// `written`: files that steps changed, which git may ignore.
    pub async fn finish(self, written: &[&str]) -> Option<String> {
        let Worktree { name, path, start, repository, _lock: lock } = self;
        let branch = branch_of(&name);
        let reference = format!("refs/heads/{branch}");
        let base = start.map_or_else(|| reference.clone(), |start| start.commit);
        let is_gone = !path.is_dir();
        let folder = if is_gone { &repository.root } else { &path };
        let range = format!("{base}..{}", if is_gone { reference.as_str() } else { "HEAD" });
        let log = ["log", "--oneline", "--no-decorate", &range];
        let commits = run_git(folder, &log).await.unwrap_or_else(|why| why);
        let mut uncommitted = Vec::new();
        if is_gone {
            uncommitted.push("its folder is gone, with what was not committed".to_owned());
        } else {
            uncommitted.extend(repository.uncommitted(&name).await.unwrap_or_else(|why| vec![why]));
            uncommitted.extend(ignored_among(written, &path).await);
        }
        if commits.is_empty() && uncommitted.is_empty() {
            let removed = repository.remove_locked(&name, lock, false).await;
            return removed.err().map(|why| why.text(Lang::En));
        }
        let stat = if is_gone {
            vec!["diff", "--stat=78", &range]
        } else {
            vec!["diff", "--stat=78", &base]
        };
        let stat = run_git(folder, &stat).await.unwrap_or_default();
        let about = format!("Worktree {name} ({}), branch {branch}", path.display());
        let parts = [
            ("Commits", lines(&commits)),
            ("Changes", lines(&stat)),
            ("Not committed", uncommitted),
        ];
        let parts = parts.into_iter().filter(|(_, list)| !list.is_empty());
        Some(
            parts.fold(about, |text, (label, list)| {
                format!("{text}\n{label}:\n{}", shortened(&list))
            }),
        )
    }
}

/// The first lines of a list, and how many more there are.
pub fn shortened(list: &[String]) -> String {
    let first = list.get(..MAX_LINES).unwrap_or(list).join("\n");
    match list.len().saturating_sub(MAX_LINES) {
        0 => first,
        more => format!("{first}\n… {more} more"),
    }
}

/// The files of these that git ignores.
async fn ignored_among(paths: &[&str], folder: &Path) -> Vec<String> {
    if paths.is_empty() {
        return Vec::new();
    }
    let list = ["ls-files", "--others", "--ignored", "--exclude-standard", "--"];
    let ignored = run_git(folder, &[&list[..], paths].concat()).await.unwrap_or_default();
    ignored.lines().map(|path| format!("!! {}", visible(path))).collect()
}

/// What the working trees of a repository have in common, and the root of that of the folder.
async fn places_of(folder: &Path) -> Option<[PathBuf; 2]> {
    let args = ["rev-parse", "--path-format=absolute", "--git-common-dir", "--show-toplevel"];
    let answer = run_git(folder, &args).await.ok()?;
    let (common, top) = answer.trim_end().split_once('\n')?;
    Some([fs::canonicalize(common).ok()?, fs::canonicalize(top).ok()?])
}

/// When git made a worktree, in milliseconds since 1970.
fn time_made(path: &Path) -> Option<i64> {
    let made = path.join(".git").symlink_metadata().ok()?.modified().ok()?;
    i64::try_from(made.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
}

fn not_made(name: &str, error: &io::Error) -> LocalizedText {
    phrases::NOT_MADE.with("name", name).with("why", error.to_string())
}

fn failed_with(name: &str, why: &str) -> LocalizedText {
    phrases::FAILED.with("name", name).with("why", visible(why))
}

#[cfg(test)]
mod tests;
