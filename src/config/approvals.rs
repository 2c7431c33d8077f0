//! The rules a person said to remember for a project: one file a folder, outside the
//! project, so that nothing in the project can write one.
//!
//! The rules are text as `/allow` takes it. What cannot be read is an empty list and is
//! said: forgetting an approval costs a question, inventing one could cost the work.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::saved;
use crate::words::{self, Say};

const VERSION: u32 = 1;
const MOST: usize = 500;
/// The longest rule, in bytes.
const LONGEST: usize = 4096;

/// What is remembered for one folder.
#[derive(Clone, Debug, PartialEq)]
pub struct Approvals {
    file: PathBuf,
    kept: Kept,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    version: u32,
    folder: String,
    allowed: Vec<String>,
    denied: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Allowed,
    Denied,
}

impl Approvals {
    /// Reads what is kept in `store` for `folder`, whose links are resolved already. The
    /// sentence says why nothing is remembered, when something should be.
    pub fn open(store: &Path, folder: &Path) -> (Approvals, Option<Say>) {
        let folder = folder.to_string_lossy().into_owned();
        let file = store.join(format!("{}.json", name(&folder)));
        let empty = Kept { version: VERSION, folder, allowed: vec![], denied: vec![] };
        let (kept, said) = match saved::read(&file) {
            Ok(None) => (empty, None),
            Ok(Some(text)) => match parse(&text, &empty.folder) {
                Some(kept) => (kept, None),
                None => (empty, Some(broken(&file))),
            },
            Err(_) => (empty, Some(broken(&file))),
        };
        (Approvals { file, kept }, said)
    }

    pub fn rules(&self, side: Side) -> &[String] {
        match side {
            Side::Allowed => &self.kept.allowed,
            Side::Denied => &self.kept.denied,
        }
    }

    /// Remembers a rule and takes it from the other side. Nothing is written when it is
    /// known already.
    pub fn remember(&mut self, side: Side, rule: &str) -> io::Result<()> {
        let _lock = self.lock()?;
        let Kept { allowed, denied, .. } = &mut self.kept;
        let (here, there) = match side {
            Side::Allowed => (allowed, denied),
            Side::Denied => (denied, allowed),
        };
        let known = here.iter().any(|known| known == rule);
        if known || rule.trim().is_empty() || rule.len() > LONGEST || here.len() >= MOST {
            return Ok(());
        }
        here.push(rule.to_owned());
        there.retain(|other| other != rule);
        self.save()
    }

    /// Forgets a rule on both sides. Nothing is written when it is not known.
    pub fn forget(&mut self, rule: &str) -> io::Result<()> {
        let _lock = self.lock()?;
        let Kept { allowed, denied, .. } = &mut self.kept;
        let before = allowed.len() + denied.len();
        allowed.retain(|known| known != rule);
        denied.retain(|known| known != rule);
        if allowed.len() + denied.len() == before { Ok(()) } else { self.save() }
    }

    /// Takes the file for a change, and takes over what other windows have changed in it.
    fn lock(&mut self) -> io::Result<saved::FileLock> {
        let lock = saved::lock(&self.file)?;
        if let Ok(Some(text)) = saved::read(&self.file)
            && let Some(kept) = parse(&text, &self.kept.folder)
        {
            self.kept = kept;
        }
        Ok(lock)
    }

    fn save(&self) -> io::Result<()> {
        // What could not be read is kept beside, for a person to look at.
        if let Ok(Some(text)) = saved::read(&self.file)
            && parse(&text, &self.kept.folder).is_none()
        {
            fs::rename(&self.file, self.file.with_extension("broken"))?;
        }
        let text = serde_json::to_string_pretty(&self.kept)?;
        saved::write(&self.file, &format!("{text}\n"))
    }
}

/// A name made of the folder's path, so that any path makes a plain file name.
fn name(folder: &str) -> String {
    let digest = Sha256::digest(folder.as_bytes());
    digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

fn parse(text: &str, folder: &str) -> Option<Kept> {
    let kept: Kept = serde_json::from_str(text).ok()?;
    let rules = || kept.allowed.iter().chain(&kept.denied);
    let sound = kept.version == VERSION
        && kept.folder == folder
        && rules().count() <= 2 * MOST
        && rules().all(|rule| rule.len() <= LONGEST);
    sound.then_some(kept)
}

fn broken(file: &Path) -> Say {
    words::config::APPROVALS_BROKEN.with("file", file.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(store: &Path) -> (Approvals, Option<Say>) {
        Approvals::open(store, Path::new("/work/project"))
    }

    #[test]
    fn a_rule_is_remembered_for_its_folder_and_no_other() {
        let store = tempfile::tempdir().unwrap();
        let (mut approvals, said) = open(store.path());
        assert_eq!(said, None);
        approvals.remember(Side::Allowed, "git push *").unwrap();
        assert_eq!(open(store.path()).0.rules(Side::Allowed), ["git push *"]);
        let (other, _) = Approvals::open(store.path(), Path::new("/work/other"));
        assert_eq!(other.rules(Side::Allowed), [""; 0]);
    }

    #[test]
    fn a_rule_stands_on_one_side_only() {
        let store = tempfile::tempdir().unwrap();
        let (mut approvals, _) = open(store.path());
        approvals.remember(Side::Allowed, "make").unwrap();
        approvals.remember(Side::Denied, "make").unwrap();
        assert_eq!(approvals.rules(Side::Allowed), [""; 0]);
        assert_eq!(approvals.rules(Side::Denied), ["make"]);
    }

    #[test]
    fn a_rule_that_is_forgotten_is_gone_from_the_file() {
        let store = tempfile::tempdir().unwrap();
        let (mut approvals, _) = open(store.path());
        approvals.remember(Side::Allowed, "make").unwrap();
        approvals.remember(Side::Allowed, "git add *").unwrap();
        approvals.forget("make").unwrap();
        approvals.forget("never kept").unwrap();
        assert_eq!(open(store.path()).0.rules(Side::Allowed), ["git add *"]);
    }

    #[test]
    fn windows_that_remember_and_forget_at_once_lose_nothing_of_each_other() {
        let store = tempfile::tempdir().unwrap();
        let mut windows: Vec<Approvals> = (0..4).map(|_| open(store.path()).0).collect();
        windows[0].remember(Side::Allowed, "gone").unwrap();
        std::thread::scope(|scope| {
            for (window, approvals) in windows.iter_mut().enumerate() {
                scope.spawn(move || {
                    for number in 0..5 {
                        approvals.remember(Side::Allowed, &format!("w{window} n{number}")).unwrap();
                        approvals.remember(Side::Denied, &format!("d{window} n{number}")).unwrap();
                    }
                    approvals.forget("gone").unwrap();
                });
            }
        });
        let (all, _) = open(store.path());
        assert_eq!((all.rules(Side::Allowed).len(), all.rules(Side::Denied).len()), (20, 20));
    }

    #[test]
    fn what_cannot_be_read_is_empty_is_said_and_is_kept_beside() {
        let damages: [fn(&str) -> String; 5] = [
            |_| "{".into(),
            |text| text.replace("\"version\": 1", "\"version\": 2"),
            |text| text.replace("/work/project", "/elsewhere"),
            |text| text.replace("\"denied\"", "\"extra\": 1, \"denied\""),
            |text| text.replace("\"make\"", "7"),
        ];
        for damage in damages {
            let store = tempfile::tempdir().unwrap();
            let (mut approvals, _) = open(store.path());
            approvals.remember(Side::Allowed, "make").unwrap();
            let text = damage(&fs::read_to_string(&approvals.file).unwrap());
            fs::write(&approvals.file, &text).unwrap();
            let (mut again, said) = open(store.path());
            assert!(said.is_some() && again.rules(Side::Allowed).is_empty(), "{text}");
            again.remember(Side::Denied, "rm").unwrap();
            assert_eq!(fs::read_to_string(again.file.with_extension("broken")).unwrap(), text);
        }
    }

    #[cfg(unix)]
    #[test]
    fn the_file_is_its_owners_alone() {
        use std::os::unix::fs::PermissionsExt;
        let store = tempfile::tempdir().unwrap();
        let (mut approvals, _) = open(store.path());
        approvals.remember(Side::Allowed, "make").unwrap();
        assert_eq!(fs::metadata(&approvals.file).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
