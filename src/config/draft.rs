//! What stood in the input when the program was left, and what waited, one small file a folder, so that
//! the next start there can offer it. Not in here: when that is.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::saved;

/// A draft whose file would be longer is not kept, in bytes: a message takes less.
const LONGEST: usize = 8 * 1024 * 1024;

/// A text that was being written, its big pastes folded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draft {
    /// As it stood in the input.
    pub shown: String,
    #[serde(default)]
    pub pastes: Vec<Paste>,
    /// Messages that waited for a turn to end, and commands that did.
    #[serde(default)]
    pub queue: Vec<String>,
    #[serde(default)]
    pub later: Vec<String>,
}

/// What was pasted, and the mark that stands for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paste {
    pub mark: String,
    pub text: String,
}

impl Draft {
    /// A text without pastes.
    pub fn of(text: impl Into<String>) -> Draft {
        Draft { shown: text.into(), ..Draft::default() }
    }

    pub fn is_empty(&self) -> bool {
        self.shown.trim().is_empty() && self.queue.is_empty() && self.later.is_empty()
    }
}

/// The file of a folder, whose links are resolved already, in `store`.
pub fn file(store: &Path, folder: &Path) -> PathBuf {
    let digest = Sha256::digest(folder.to_string_lossy().as_bytes());
    let name: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    store.join(format!("{name}.json"))
}

/// What is kept there; nothing when it cannot be read.
pub fn read(file: &Path) -> Draft {
    text(file).and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

/// Keeps what stands in the input now. An empty input takes away what this start was
/// offered, and not what another window has left there since.
///
/// # Errors
/// When the file cannot be written.
pub fn keep(file: &Path, offered: &Draft, now: &Draft) -> io::Result<()> {
    if now.is_empty() {
        let unchanged = !offered.is_empty() && read(file) == *offered;
        return if unchanged { fs::remove_file(file) } else { Ok(()) };
    }
    let text = serde_json::to_string(now)?;
    match text.len() <= LONGEST {
        true => saved::write(file, &text),
        false => Err(io::ErrorKind::FileTooLarge.into()),
    }
}

/// Only a regular file is opened, so a pipe in its place cannot hang the start.
fn text(file: &Path) -> Option<String> {
    if !fs::metadata(file).ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    let most = u64::try_from(LONGEST).unwrap_or(u64::MAX);
    fs::File::open(file).ok()?.take(most).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let file = file(&folder.path().join("drafts"), Path::new("/home/me/项目"));
        (folder, file)
    }

    fn draft() -> Draft {
        let paste = Paste { mark: "[pasted 20 lines]".into(), text: "x\n".repeat(20) };
        Draft {
            shown: "看看 [pasted 20 lines]\n谢谢 👋".into(),
            pastes: vec![paste],
            queue: vec!["next".into()],
            ..Draft::default()
        }
    }

    #[test]
    fn a_draft_comes_back_with_its_pastes() {
        let (_folder, file) = at();
        keep(&file, &Draft::default(), &draft()).unwrap();
        assert_eq!(read(&file), draft());
    }

    #[test]
    fn an_input_that_was_emptied_takes_its_own_draft_away_and_no_other() {
        let (_folder, file) = at();
        keep(&file, &Draft::default(), &draft()).unwrap();
        keep(&file, &Draft::of("something else"), &Draft::default()).unwrap();
        assert_eq!(read(&file), draft(), "another window's");
        keep(&file, &draft(), &Draft::of(" \n")).unwrap();
        assert!(!file.exists());
        keep(&file, &Draft::default(), &Draft::default()).unwrap();
    }

    #[test]
    fn what_cannot_be_read_is_no_draft() {
        let (folder, file) = at();
        assert_eq!(read(&file), Draft::default());
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        for damage in [&b"{\"shown\": \"half"[..], b"[]", b"\xff\xfe"] {
            fs::write(&file, damage).unwrap();
            assert_eq!(read(&file), Draft::default());
        }
        assert_eq!(read(folder.path()), Draft::default(), "a folder");
    }

    #[test]
    fn two_folders_have_two_files() {
        let store = Path::new("/s");
        assert_ne!(file(store, Path::new("/a")), file(store, Path::new("/b")));
    }
}
