//! The folder that a task works in: a copy, or a git worktree. What it changed becomes a patch.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::path::Path;

use super::startup::Startup;
use super::worktree::copied_files;
use avocet_core::i18n::{LocalizedText, eval as phrases};
use avocet_tools::exec::run_git_into;
use avocet_tools::git_worktree::{Worktree, WorktreeRepository};
use avocet_tools::temp::TempFolder;

/// Removed when it is discarded; a copy also when it is dropped.
pub enum TaskFolder {
    Copy(TempFolder),
    Worktree(Worktree),
}

impl TaskFolder {
    /// A copy of a folder; of none it is empty.
    ///
    /// # Errors
    /// It cannot be copied.
    pub fn copy_of(startup: &Startup, folder: &Path) -> Result<TaskFolder, LocalizedText> {
        let temp = startup.shared.temp.create_folder("task").map_err(|error| error.say())?;
        copy_files(folder, temp.path())?;
        Ok(TaskFolder::Copy(temp))
    }

    /// A worktree of a repository.
    ///
    /// # Errors
    /// Why there can be none.
    pub async fn worktree_of(
        startup: &Startup,
        repository: &Path,
        name: &str,
    ) -> Result<TaskFolder, LocalizedText> {
        let repository = WorktreeRepository::find(repository).await?;
        repository.create(name, &copied_files(startup)).await.map(TaskFolder::Worktree)
    }

    pub fn path(&self) -> &Path {
        match self {
            TaskFolder::Copy(temp) => temp.path(),
            TaskFolder::Worktree(worktree) => &worktree.path,
        }
    }

    /// # Errors
    /// What is in the way.
    pub async fn discard(self) -> Result<(), LocalizedText> {
        match self {
            TaskFolder::Copy(_) => Ok(()),
            TaskFolder::Worktree(worktree) => worktree.discard().await,
        }
    }
}

/// The most that a folder copies, in bytes.
const MAX_FILES: u64 = 4 << 30;

/// Copies what a folder contains over another one: links as links, and through none. There may be no
/// such folder.
///
/// # Errors
/// Something of it cannot be copied, or it is too large.
pub fn copy_files(from: &Path, to: &Path) -> Result<(), LocalizedText> {
    let mut left = MAX_FILES;
    let copied = copy_entries(from, to, &mut left);
    copied.map_err(|error| phrases::UNCOPIED.with("why", error.to_string()))
}

fn copy_entries(from: &Path, to: &Path, left: &mut u64) -> io::Result<()> {
    match from.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Ok(meta) if !meta.is_dir() => return Err(io::ErrorKind::NotADirectory.into()),
        Ok(_) | Err(_) => {}
    }
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let path = entry.path();
        let target = to.join(entry.file_name());
        let meta = entry.metadata()?;
        match target.symlink_metadata() {
            Ok(there) if there.is_dir() && meta.is_dir() => {}
            Ok(there) if there.is_dir() => fs::remove_dir_all(&target)?,
            Ok(_) => fs::remove_file(&target)?,
            Err(_) => {}
        }
        if meta.is_dir() {
            fs::create_dir_all(&target)?;
            copy_entries(&path, &target, left)?;
        } else if meta.is_symlink() {
            symlink(fs::read_link(&path)?, &target)?;
        } else if meta.is_file() {
            *left = left.checked_sub(meta.len()).ok_or(io::ErrorKind::FileTooLarge)?;
            let mode = meta.permissions().mode() & 0o777;
            let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&target);
            io::copy(&mut File::open(&path)?, &mut file?)?;
        }
    }
    Ok(())
}

/// What the files of a folder were, to compare with.
pub struct PatchBase {
    /// Git's own files of a folder that is in no repository.
    git: Option<TempFolder>,
    /// A commit or a tree.
    start: String,
}

impl PatchBase {
    /// The files as they are now.
    ///
    /// # Errors
    /// What git says.
    pub async fn of(startup: &Startup, folder: &TaskFolder) -> Result<PatchBase, LocalizedText> {
        if let TaskFolder::Worktree(worktree) = folder {
            let start = worktree.start_commit().unwrap_or("HEAD").to_owned();
            return Ok(PatchBase { git: None, start });
        }
        let git = startup.shared.temp.create_folder("patch").map_err(|error| error.say())?;
        let mut base = PatchBase { git: Some(git), start: String::new() };
        base.git(folder, &["init", "--quiet"]).await?;
        base.git(folder, &["add", "--all"]).await?;
        base.start = base.git(folder, &["write-tree"]).await?.trim().to_owned();
        Ok(base)
    }

    /// Writes what has changed since into a file.
    ///
    /// # Errors
    /// What git says.
    pub async fn write_patch(&self, folder: &TaskFolder, file: &Path) -> Result<(), LocalizedText> {
        self.git(folder, &["add", "--all"]).await?;
        let failed = |error: io::Error| phrases::NO_PATCH.with("why", error.to_string());
        let patch = File::create(file).map_err(failed)?;
        let diff = ["diff", "--cached", "--binary", "--no-color", &self.start];
        let written = self.git_into(folder, &diff, Some(&patch)).await;
        // Half a patch would be taken for one.
        written.map(drop).inspect_err(|_| drop(fs::remove_file(file)))
    }

    async fn git(&self, folder: &TaskFolder, args: &[&str]) -> Result<String, LocalizedText> {
        self.git_into(folder, args, None).await
    }

    async fn git_into(
        &self,
        folder: &TaskFolder,
        args: &[&str],
        target: Option<&File>,
    ) -> Result<String, LocalizedText> {
        let place = self.git.as_ref().map(|git| {
            let git = format!("--git-dir={}", git.path().display());
            [git, format!("--work-tree={}", folder.path().display())]
        });
        let place = place.iter().flatten().map(String::as_str);
        let args: Vec<&str> = place.chain(args.iter().copied()).collect();
        let done = run_git_into(folder.path(), &args, target).await;
        done.map_err(|why| phrases::NO_PATCH.with("why", why))
    }
}
