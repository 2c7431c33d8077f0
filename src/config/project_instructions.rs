//! Finds and reads a project's instructions to agents: from the repository's root down to the
//! working folder, at most one file per folder. Read them only if the folder is trusted.
//!
//! A link is followed as long as it stays in the project. Characters that hide or reorder text are
//! made visible, so that a model reads what the user sees.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::diagnostic;
use crate::context::project_instructions::{self, MOST, Notes};
use crate::i18n::context as words;
use crate::protocol::Notice;
use crate::safety::sanitize::{TextSource, clean};
use crate::safety::{is_sensitive_name, steering};
use crate::text;

/// The first of these that exists in a folder is read.
pub const NAMES: [&str; 4] = steering::NOTES;

/// The most that is read of one file.
const READ: u64 = 1024 * 1024;

/// The instructions, and the state of the files to detect changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProjectInstructions {
    pub notes: Notes,
    /// The parts that were left out, and why.
    pub notices: Vec<Notice>,
    stamps: Vec<Stamp>,
}

/// The state of a file: path, device, inode, size, modification time.
type Stamp = (PathBuf, u64, u64, u64, (i64, i64));

/// Reads the instructions that apply in `folder`, whose links are resolved.
pub fn read(folder: &Path) -> ProjectInstructions {
    let root = repository_root(folder);
    let mut found =
        ProjectInstructions { stamps: stamps(root, folder), ..ProjectInstructions::default() };
    let mut files = Vec::new();
    for (path, ..) in &found.stamps {
        let name = path.strip_prefix(root).unwrap_or(path).display().to_string();
        match read_text(path, root) {
            Ok(Some(text)) => files.push((name, clean(&text, TextSource::Text))),
            Ok(None) => {}
            Err(notice) => found.notices.push(notice(name)),
        }
    }
    found.notes = project_instructions::join(files);
    found.notices.extend(found.notes.truncated_files().map(|note| {
        let cut = text::size(note.bytes - note.sent);
        let say = words::NOTES_CUT.with("cut", cut).with("path", note.path.as_str());
        Notice::warning(say.with("most", text::size(MOST)))
    }));
    found
}

impl ProjectInstructions {
    /// True if reading again would give another result.
    pub fn is_stale(&self, folder: &Path) -> bool {
        self.stamps != stamps(repository_root(folder), folder)
    }
}

fn repository_root(folder: &Path) -> &Path {
    folder.ancestors().find(|ancestor| ancestor.join(".git").exists()).unwrap_or(folder)
}

/// One file per folder, outermost first.
fn stamps(root: &Path, folder: &Path) -> Vec<Stamp> {
    let mut folders: Vec<&Path> =
        folder.ancestors().take_while(|ancestor| ancestor.starts_with(root)).collect();
    folders.reverse();
    folders.into_iter().filter_map(stamp).collect()
}

fn stamp(folder: &Path) -> Option<Stamp> {
    NAMES.iter().find_map(|name| {
        let path = folder.join(name);
        let meta = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?;
        let changed = (meta.mtime(), meta.mtime_nsec());
        Some((path, meta.dev(), meta.ino(), meta.len(), changed))
    })
}

type NoticeBuilder = Box<dyn Fn(String) -> Notice>;

/// The text; `None` for a file that was removed meanwhile.
fn read_text(path: &Path, root: &Path) -> Result<Option<String>, NoticeBuilder> {
    let Ok(real) = path.canonicalize() else { return Ok(None) };
    let inside = root.canonicalize().is_ok_and(|root| real.starts_with(root));
    if !inside {
        return Err(Box::new(|path| Notice::warning(words::NOTES_OUTSIDE.with("path", path))));
    }
    if leads_to_secrets(&real, root) {
        return Err(Box::new(|path| Notice::warning(words::NOTES_SENSITIVE.with("path", path))));
    }
    let mut bytes = Vec::new();
    let read = File::open(&real).and_then(|file| file.take(READ).read_to_end(&mut bytes));
    if let Err(error) = read {
        return Err(unreadable(diagnostic::io_reason(&error)));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        // The limit may have cut a character; anything else is not text.
        Err(error) if error.utf8_error().error_len().is_none() => {
            let whole = error.utf8_error().valid_up_to();
            let mut bytes = error.into_bytes();
            bytes.truncate(whole);
            Ok(String::from_utf8(bytes).ok())
        }
        Err(_) => Err(unreadable(words::NOTES_NOT_TEXT.into())),
    }
}

/// A file that usually contains credentials, or one of git's own.
fn leads_to_secrets(real: &Path, root: &Path) -> bool {
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let inner = real.strip_prefix(root).unwrap_or(real);
    inner.components().any(|part| {
        let name = part.as_os_str().to_string_lossy();
        is_sensitive_name(&name) || name.eq_ignore_ascii_case(".git")
    })
}

fn unreadable(why: crate::i18n::LocalizedText) -> NoticeBuilder {
    Box::new(move |path| {
        Notice::warning(words::NOTES_UNREADABLE.with("path", path).with("why", why.clone()))
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn project() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("repo");
        fs::create_dir_all(root.join(".git")).unwrap();
        fs::create_dir_all(root.join("a/b")).unwrap();
        (folder, root)
    }

    fn paths(found: &ProjectInstructions) -> Vec<&str> {
        found.notes.files.iter().map(|note| note.path.as_str()).collect()
    }

    #[test]
    fn one_file_per_folder_is_read_from_the_root_down() {
        let (outer, root) = project();
        fs::write(outer.path().join("AGENTS.md"), "not of the project").unwrap();
        fs::write(root.join("AGENTS.md"), "root").unwrap();
        fs::write(root.join("CLAUDE.md"), "not this one").unwrap();
        fs::write(root.join("a/GEMINI.md"), "middle").unwrap();
        fs::write(root.join("a/b/AGENTS.md"), "not this one").unwrap();
        fs::write(root.join("a/b/AGENTS.override.md"), "inner").unwrap();
        let found = read(&root.join("a/b"));
        assert_eq!(paths(&found), ["AGENTS.md", "a/GEMINI.md", "a/b/AGENTS.override.md"]);
        let places: Vec<_> =
            ["root", "middle", "inner"].iter().map(|word| found.notes.text.find(word)).collect();
        assert!(places.is_sorted() && places.iter().all(Option::is_some), "{}", found.notes.text);
        let text = &found.notes.text;
        assert!(!text.contains("not this") && !text.contains("not of"), "{text}");
    }

    #[test]
    fn a_change_is_detected_without_reading_the_file() {
        let (_outer, root) = project();
        let before = read(&root);
        assert!(!before.is_stale(&root));
        fs::write(root.join("AGENTS.md"), "now").unwrap();
        assert!(before.is_stale(&root));
        let now = read(&root);
        assert!(!now.is_stale(&root));
        fs::remove_file(root.join("AGENTS.md")).unwrap();
        assert!(now.is_stale(&root));
    }

    #[test]
    fn a_link_out_of_the_project_is_not_followed() {
        let (outer, root) = project();
        fs::write(outer.path().join("key"), "sekret").unwrap();
        symlink(outer.path().join("key"), root.join("AGENTS.md")).unwrap();
        fs::write(root.join("a/README"), "inside").unwrap();
        symlink("README", root.join("a/CLAUDE.md")).unwrap();
        let found = read(&root.join("a"));
        assert_eq!(paths(&found), ["a/CLAUDE.md"]);
        assert!(!found.notes.text.contains("sekret"));
        assert_eq!(found.notices[0].say.phrase(), words::NOTES_OUTSIDE);
    }

    #[test]
    fn a_link_to_credentials_is_not_followed() {
        for target in [".env", ".git/config", "conf/.env.local", "deploy/key.pem"] {
            let (_outer, root) = project();
            let path = root.join(target);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "sekret").unwrap();
            symlink(target, root.join("AGENTS.md")).unwrap();
            let found = read(&root);
            assert!(!found.notes.text.contains("sekret"), "{target}");
            assert_eq!(found.notices[0].say.phrase(), words::NOTES_SENSITIVE, "{target}");
        }
    }

    #[test]
    fn a_cut_file_and_a_binary_file_are_reported() {
        let (_outer, root) = project();
        fs::write(root.join("AGENTS.md"), "x".repeat(MOST + 2048)).unwrap();
        fs::write(root.join("a/AGENTS.md"), b"\xff\xfe\x00").unwrap();
        let said: Vec<_> =
            read(&root.join("a")).notices.iter().map(|notice| notice.say.phrase()).collect();
        assert_eq!(said, [words::NOTES_UNREADABLE, words::NOTES_CUT]);
    }

    #[test]
    fn hidden_characters_are_shown_to_the_model_as_well() {
        let (_outer, root) = project();
        fs::write(root.join("AGENTS.md"), "be\u{202e}kind\u{e0041}").unwrap();
        let text = read(&root).notes.text;
        assert!(text.contains("\\u{202e}") && !text.contains('\u{202e}'), "{text}");
        assert!(!text.contains('\u{e0041}'), "{text}");
    }
}
