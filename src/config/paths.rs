//! The paths of all files: the platform's own folders, or everything under `AVOCET_HOME`. Reads and
//! creates nothing.

use std::io;
use std::path::{Path, PathBuf};

use directories::{BaseDirs, ProjectDirs};

use super::Environment;
use avocet_core::i18n::{self, Localize, LocalizedText};
use avocet_safety::steering;

/// The user's folders, absolute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    /// Settings, bots, themes: files that the user writes.
    pub config: PathBuf,
    /// Files of the program that the user would miss.
    pub data: PathBuf,
    /// Files of the program that the user would not miss: history of input, logs.
    pub state: PathBuf,
    pub home: PathBuf,
}

/// Neither `AVOCET_HOME` nor a home folder is set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no home folder")]
pub struct NoHome {
    /// A relative `HOME`, which would mean another folder in each working folder.
    relative: Option<PathBuf>,
}

impl Localize for NoHome {
    fn localized(&self) -> LocalizedText {
        match &self.relative {
            Some(path) => i18n::config::HOME_RELATIVE.with("path", path.display().to_string()),
            None => i18n::config::NO_HOME.into(),
        }
    }
}

impl Paths {
    pub fn find(environment: &Environment) -> Result<Paths, NoHome> {
        let home = environment
            .path("HOME")
            .or_else(|| BaseDirs::new().map(|dirs| dirs.home_dir().to_owned()));
        let relative = home.clone().filter(|home| !home.is_absolute());
        let home = home.filter(|home| home.is_absolute());
        match environment.path("AVOCET_HOME") {
            Some(root) => {
                let root = std::path::absolute(&root).unwrap_or(root);
                Ok(Paths::with_root(&root, home.unwrap_or_else(|| root.clone())))
            }
            None => Paths::for_platform(home.ok_or(NoHome { relative })?),
        }
    }

    /// Everything below one folder.
    pub fn with_root(root: &Path, home: PathBuf) -> Paths {
        Paths { config: root.to_owned(), data: root.join("data"), state: root.join("state"), home }
    }

    fn for_platform(home: PathBuf) -> Result<Paths, NoHome> {
        let dirs = ProjectDirs::from("", "", "avocet").ok_or(NoHome { relative: None })?;
        Ok(Paths {
            config: dirs.config_dir().to_owned(),
            data: dirs.data_dir().to_owned(),
            // Only Linux has a state folder; elsewhere it is the local data folder.
            state: dirs.state_dir().unwrap_or(dirs.data_local_dir()).to_owned(),
            home,
        })
    }

    /// The program's own files: no step reads or writes there. A folder that may be shared with
    /// other files is also named by its parts.
    pub fn program_files(&self) -> Vec<PathBuf> {
        let parts = [self.settings(), self.prices(), self.bots(), self.scripts(), self.themes()];
        let folders = [&self.config, &self.data, &self.state].map(Clone::clone);
        folders.into_iter().chain(parts).collect()
    }

    /// Why history or drafts cannot be kept, if that is known before writing.
    pub fn state_error(&self) -> Option<LocalizedText> {
        let folders = [self.state.clone(), self.drafts()].map(|folder| (folder, true));
        let places = folders.into_iter().chain([(self.history(), false)]);
        places.into_iter().find_map(|(place, is_folder)| {
            let why = super::diagnostic::io_reason(&write_error(&place, is_folder)?);
            let shown = place.display().to_string();
            Some(i18n::config::STATE_REFUSED.with("folder", shown).with("why", why))
        })
    }

    pub fn settings(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// The user's own prices of models.
    pub fn prices(&self) -> PathBuf {
        self.config.join("prices.toml")
    }

    /// The folder of the user's own bots.
    pub fn bots(&self) -> PathBuf {
        self.config.join("bots")
    }

    /// The user's own scripts, `*.ai.yaml`.
    pub fn scripts(&self) -> PathBuf {
        self.config.join("scripts")
    }

    /// The user's own keys.
    pub fn keymap(&self) -> PathBuf {
        self.config.join("keys.toml")
    }

    pub fn themes(&self) -> PathBuf {
        self.config.join("themes")
    }

    /// One file per project, with the rules remembered for it.
    pub fn approvals(&self) -> PathBuf {
        self.data.join("approvals")
    }

    /// Old contents of files that steps changed.
    pub fn backups(&self) -> PathBuf {
        self.data.join("undo")
    }

    /// The user's own instructions for agents, the first for new notes.
    pub fn user_notes(&self) -> Vec<PathBuf> {
        vec![self.config.join("AGENTS.md"), self.home.join(".claude/CLAUDE.md")]
    }

    /// The jobs that outlive their sessions.
    pub fn kept_jobs(&self) -> PathBuf {
        self.state.join("jobs")
    }

    /// Long outputs of steps, a folder for each session.
    pub fn outputs(&self) -> PathBuf {
        self.state.join("outputs")
    }

    /// Lists of the folders that runs write files in.
    pub fn journals(&self) -> PathBuf {
        self.state.join("writing")
    }

    /// Saved API keys, and which are in the keyring.
    pub fn saved_keys(&self) -> PathBuf {
        self.data.join("keys.toml")
    }

    /// The users of chat platforms who were paired.
    pub fn gateway_users(&self) -> PathBuf {
        self.data.join("gateway_users.json")
    }

    /// Which folders are trusted.
    pub fn trust(&self) -> PathBuf {
        self.data.join("trust.json")
    }

    /// The key for the tags of masked secrets.
    pub fn mask_key(&self) -> PathBuf {
        self.state.join("masks")
    }

    pub fn history(&self) -> PathBuf {
        self.state.join("history")
    }

    /// One file per folder, with the draft of its input.
    pub fn drafts(&self) -> PathBuf {
        self.state.join("drafts")
    }

    /// What servers say of their models.
    pub fn server_facts(&self) -> PathBuf {
        self.state.join("models.json")
    }

    pub fn log(&self) -> PathBuf {
        self.state.join("avocet.log")
    }
}

/// Folders of a project that are read once it is trusted, and so can control what the program does.
pub const STEERING: &[&str] = &[
    ".avocet",
    ".agents/skills",
    ".claude/agents",
    ".claude/commands",
    ".claude/skills",
    ".gemini/agents",
    ".gemini/commands",
    ".opencode/agent",
];

/// The folders whose files apply in `folder`, outermost first: itself and its ancestors up to the
/// repository's root; outside a repository, only itself.
pub fn project_roots(folder: &Path) -> Vec<PathBuf> {
    let root = folder.ancestors().find(|ancestor| ancestor.join(".git").exists());
    let root = root.unwrap_or(folder);
    let mut roots: Vec<PathBuf> = folder
        .ancestors()
        .take_while(|ancestor| ancestor.starts_with(root))
        .map(Path::to_owned)
        .collect();
    roots.reverse();
    roots
}

/// The project whose worktree a folder is. Only the path counts.
pub fn project_of_worktree(folder: &Path) -> Option<&Path> {
    folder.parent().filter(|above| above.ends_with(steering::WORKTREES))?.ancestors().nth(2)
}

/// The settings files of a project, outermost first. Read them only if the folder is trusted.
pub fn project_files(folder: &Path) -> Vec<PathBuf> {
    let files = project_roots(folder).into_iter();
    let files = files.map(|root| root.join(".avocet").join("config.toml"));
    files.filter(|file| file.symlink_metadata().is_ok()).collect()
}

/// Why a file or a folder cannot be written; for a missing one the folder it would be in counts.
fn write_error(place: &Path, is_folder: bool) -> Option<io::Error> {
    use rustix::fs::{Access, access};
    let there = place.ancestors().find(|place| place.symlink_metadata().is_ok())?;
    let is_folder = is_folder || there != place;
    match there.metadata() {
        Err(error) => return Some(error),
        Ok(kind) if kind.is_dir() && !is_folder => {
            return Some(io::ErrorKind::IsADirectory.into());
        }
        Ok(kind) if !kind.is_dir() && is_folder => {
            return Some(io::ErrorKind::NotADirectory.into());
        }
        Ok(_) => {}
    }
    let rights = if is_folder { Access::EXEC_OK } else { Access::READ_OK };
    access(there, Access::WRITE_OK | rights).err().map(io::Error::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn avocet_home_contains_everything() {
        let environment = Environment::from_pairs([("AVOCET_HOME", "/tmp/a"), ("HOME", "/home/x")]);
        let paths = Paths::find(&environment).unwrap();
        assert_eq!(paths.settings(), Path::new("/tmp/a/config.toml"));
        for inside in [paths.history(), paths.log(), paths.approvals(), paths.themes()] {
            assert!(inside.starts_with("/tmp/a"), "{}", inside.display());
        }
        assert_eq!((paths.bots(), paths.home), ("/tmp/a/bots".into(), "/home/x".into()));
    }

    #[test]
    fn project_files_stop_at_the_repository_root() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("repo/a/b");
        for place in [folder.path(), &folder.path().join("repo"), &deep] {
            std::fs::create_dir_all(place.join(".avocet")).unwrap();
            std::fs::write(place.join(".avocet/config.toml"), "").unwrap();
        }
        std::fs::create_dir(folder.path().join("repo/.git")).unwrap();
        let files = project_files(&deep);
        assert_eq!(
            files,
            [folder.path().join("repo/.avocet/config.toml"), deep.join(".avocet/config.toml")]
        );
    }
}
