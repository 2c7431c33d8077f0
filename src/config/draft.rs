//! Saves the text in the input and the queued messages, in one small file per window and folder, so
//! that the next start there can offer them, however the program ended. Not here: when to save.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::atomic_file;
use avocet_core::private_dir::private_folder;

/// A draft with a larger file is not saved, in bytes: a message takes less.
const MAX_LENGTH: usize = 8 * 1024 * 1024;
/// The maximum number of windows of one folder with their own file; another one saves nothing.
const WINDOWS: usize = 8;

/// An unfinished text, with its large pastes folded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedDraft {
    /// The text as it was in the input.
    pub shown: String,
    #[serde(default)]
    pub pastes: Vec<Paste>,
    /// Messages and commands that waited for a turn to end.
    #[serde(default)]
    pub queue: Vec<String>,
    #[serde(default)]
    pub later: Vec<String>,
}

/// A paste, and the placeholder for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paste {
    pub mark: String,
    pub text: String,
}

impl SavedDraft {
    /// A text without pastes.
    pub fn from_text(text: impl Into<String>) -> SavedDraft {
        SavedDraft { shown: text.into(), ..SavedDraft::default() }
    }

    pub fn is_empty(&self) -> bool {
        self.shown.trim().is_empty() && self.queue.is_empty() && self.later.is_empty()
    }
}

/// A file that no other window writes to, or is offered, for as long as this is held.
#[derive(Debug)]
pub struct DraftSlot {
    pub file: PathBuf,
    /// The system releases it when the program ends, however that happens.
    _lock: Option<File>,
}

/// The file of this window for a folder, whose links are resolved already, in `store`: one with a
/// draft left by a closed window, or else the first free one.
pub fn claim(store: &Path, folder: &Path) -> Option<DraftSlot> {
    let mut free = None;
    for window in 1..=WINDOWS {
        let file = file(store, folder, window);
        let holds = file.exists();
        if !holds && free.is_some() {
            continue;
        }
        let Ok(lock) = lock(&file.with_extension("lock")) else { continue };
        let slot = DraftSlot { file, _lock: lock };
        if holds {
            return Some(slot);
        }
        free = Some(slot);
    }
    free
}

/// An error: another window has it. If nothing can be locked, no window has it.
fn lock(path: &Path) -> Result<Option<File>, ()> {
    let opened =
        path.parent().map_or(Ok(()), private_folder).and_then(|()| atomic_file::append(path));
    let Ok(file) = opened else { return Ok(None) };
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Err(()),
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

fn file(store: &Path, folder: &Path, window: usize) -> PathBuf {
    let digest = Sha256::digest(folder.to_string_lossy().as_bytes());
    let name: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    match window {
        1 => store.join(format!("{name}.json")),
        _ => store.join(format!("{name}-{window}.json")),
    }
}

/// The saved draft; nothing if it cannot be read.
pub fn read(file: &Path) -> SavedDraft {
    read_text(file).and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

/// Saves the current input; for an empty input nothing.
///
/// # Errors
/// When the file cannot be written.
pub fn save(file: &Path, draft: &SavedDraft) -> io::Result<()> {
    if draft.is_empty() {
        return match fs::remove_file(file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        };
    }
    atomic_file::write(file, &serialize(draft)?)
}

/// Saves a draft that changes soon, without waiting for the disk.
///
/// # Errors
/// When the file cannot be written.
pub fn save_unsynced(file: &Path, draft: &SavedDraft) -> io::Result<()> {
    if draft.is_empty() {
        return save(file, draft);
    }
    atomic_file::write_unsynced(file, &serialize(draft)?)
}

fn serialize(draft: &SavedDraft) -> io::Result<String> {
    let text = serde_json::to_string(draft)?;
    if text.len() <= MAX_LENGTH { Ok(text) } else { Err(io::ErrorKind::FileTooLarge.into()) }
}

/// Opens only a regular file, so that a pipe in its place cannot block the start.
fn read_text(file: &Path) -> Option<String> {
    if !fs::metadata(file).ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    let most = u64::try_from(MAX_LENGTH).unwrap_or(u64::MAX);
    fs::File::open(file).ok()?.take(most).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn temp_draft() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let file = file(&folder.path().join("drafts"), Path::new("/home/me/项目"), 1);
        (folder, file)
    }

    fn draft() -> SavedDraft {
        let paste = Paste { mark: "[pasted 20 lines]".into(), text: "x\n".repeat(20) };
        SavedDraft {
            shown: "看看 [pasted 20 lines]\n谢谢 👋".into(),
            pastes: vec![paste],
            queue: vec!["next".into()],
            ..SavedDraft::default()
        }
    }

    #[test]
    fn a_draft_is_restored_with_its_pastes_and_removed_when_empty() {
        let (_folder, file) = temp_draft();
        save(&file, &draft()).unwrap();
        assert_eq!(read(&file), draft());
        save(&file, &SavedDraft::from_text(" \n")).unwrap();
        assert!(!file.exists());
        save(&file, &SavedDraft::default()).unwrap();
    }

    #[test]
    fn each_window_has_a_file_and_a_closed_windows_draft_is_offered_once() {
        let root = tempfile::tempdir().unwrap();
        let (store, folder) = (root.path().join("drafts"), Path::new("/w"));
        let first = claim(&store, folder).unwrap();
        let second = claim(&store, folder).unwrap();
        let other = claim(&store, Path::new("/v")).unwrap();
        assert!(first.file != second.file && first.file != other.file);
        save(&first.file, &SavedDraft::from_text("one")).unwrap();
        save(&second.file, &SavedDraft::from_text("two")).unwrap();
        drop(second);
        let third = claim(&store, folder).unwrap();
        assert_eq!(
            read(&third.file),
            SavedDraft::from_text("two"),
            "not what another window writes"
        );
        drop((first, third));
        let (a, b) = (claim(&store, folder).unwrap(), claim(&store, folder).unwrap());
        assert_eq!(
            (read(&a.file), read(&b.file)),
            (SavedDraft::from_text("one"), SavedDraft::from_text("two"))
        );
    }

    #[test]
    fn an_unreadable_file_is_not_a_draft() {
        let (folder, file) = temp_draft();
        assert_eq!(read(&file), SavedDraft::default());
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        for damage in [&b"{\"shown\": \"half"[..], b"[]", b"\xff\xfe"] {
            fs::write(&file, damage).unwrap();
            assert_eq!(read(&file), SavedDraft::default());
        }
        assert_eq!(read(folder.path()), SavedDraft::default(), "a folder");
    }
}
