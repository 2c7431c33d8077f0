//! Finds and reads the instructions to agents: the user's own, and those of a trusted project, from
//! the repository's root down to the working folder, at most one file per folder and one of the
//! user's own beside it. Those of folders below it, and of added folders, count from the moment
//! work goes there. A file may take others in with `@path`.
//!
//! A link is followed as long as it stays in the project. Characters that hide or reorder text are
//! made visible, so that a model reads what the user sees.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use self::join::{MAX_BYTES, NoteFile, Notes, join};
use super::diagnostic;
use avocet_core::i18n::context as phrases;
use avocet_core::protocol::Notice;
use avocet_core::text;
use avocet_safety::sanitize::{CarriageReturnMode, clean};
use avocet_safety::{is_sensitive_name, steering};

pub mod join;

/// The first of these that exists in a folder is read.
pub const NAMES: [&str; 4] = steering::NOTES;

/// Read beside them, for what is not shared with the project.
pub const LOCAL: &str = steering::LOCAL_NOTES;

/// How deep files take in others, and how many they are.
const DEPTH: usize = 5;
const IMPORTS: usize = 32;

/// Where instructions are looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InstructionSources {
    /// The working folder, links resolved.
    pub folder: PathBuf,
    /// Nothing of an untrusted project is read.
    pub trusted: bool,
    /// The user's own files.
    pub user: Vec<PathBuf>,
    pub worked_in: WorkedInFolders,
}

/// Folders in which work went on, each with the one that no link of it may leave.
pub type WorkedInFolders = BTreeMap<PathBuf, PathBuf>;

/// The most that is read of one file.
const READ: u64 = 1024 * 1024;

/// The instructions, and the state of the files to detect changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProjectInstructions {
    pub notes: Notes,
    /// The parts that were left out, and why.
    pub notices: Vec<Notice>,
    stamps: Vec<Stamp>,
    /// When the reading began; `None`: nothing was read yet.
    began: Option<Instant>,
    /// The files that those take in.
    imports: Vec<Stamp>,
    pub worked_in: WorkedInFolders,
}

/// The state of a file: path, device, inode, size, modification time.
type Stamp = (PathBuf, u64, u64, u64, (i64, i64));

/// Reads the instructions that apply there.
pub fn read(sources: &InstructionSources) -> ProjectInstructions {
    let project = repository_root(&sources.folder);
    let began = Some(Instant::now());
    let mut instructions = ProjectInstructions {
        stamps: stamps(sources),
        began,
        worked_in: sources.worked_in.clone(),
        ..ProjectInstructions::default()
    };
    let mut reader = InstructionReader::default();
    for (path, ..) in &instructions.stamps {
        // The user's own files may import files next to them.
        let parent = path.parent().unwrap_or(path);
        let root = match sources.worked_in.get(parent) {
            _ if sources.user.contains(path) => parent,
            Some(added) if !parent.starts_with(project) => added,
            _ => project,
        };
        reader.add(path, root);
    }
    let InstructionReader { files, notices, seen, .. } = reader;
    let read = |path: &PathBuf| instructions.stamps.iter().any(|(known, ..)| known == path);
    instructions.imports =
        seen.iter().filter(|path| !read(path)).filter_map(|it| file_stamp(it)).collect();
    instructions.notices = notices;
    instructions.notes = join(&files);
    instructions.notices.extend(instructions.notes.truncated_files().map(|note| {
        let cut = text::size(note.bytes - note.sent);
        let say = phrases::NOTES_CUT.with("cut", cut).with("path", note.path.as_str());
        Notice::warning(say.with("most", text::size(MAX_BYTES)))
    }));
    instructions
}

impl ProjectInstructions {
    /// The folders from `root` down to `folder` whose instructions were not read, outermost first.
    pub fn unread_folders(&self, folder: &Path, root: &Path) -> Vec<PathBuf> {
        let mut unread: Vec<PathBuf> = folder
            .ancestors()
            .take_while(|folder| folder.starts_with(root))
            .filter(|folder| !self.worked_in.contains_key(*folder) && !self.has_read_in(folder))
            .filter(|folder| folder_files(folder).next().is_some())
            .map(Path::to_owned)
            .collect();
        unread.reverse();
        unread
    }

    /// Whether work went to a folder whose instructions were not read yet.
    pub fn has_unread(&self) -> bool {
        self.worked_in.keys().any(|folder| !self.has_read_in(folder))
    }

    fn has_read_in(&self, folder: &Path) -> bool {
        self.stamps.iter().any(|(path, ..)| path.parent() == Some(folder))
    }

    /// Whether these were read before others, which may have been quicker.
    pub fn is_older_than(&self, instructions: &ProjectInstructions) -> bool {
        self.began < instructions.began
    }

    /// True if reading again would give another result.
    pub fn is_stale(&self, sources: &InstructionSources) -> bool {
        self.stamps != stamps(sources)
            || self.imports.iter().any(|known| file_stamp(&known.0).as_ref() != Some(known))
    }
}

/// The files that were read, and what was wrong.
#[derive(Default)]
struct InstructionReader {
    files: Vec<NoteFile>,
    notices: Vec<Notice>,
    seen: Vec<PathBuf>,
    /// The file that is read now, and those that led to it.
    chain: Vec<PathBuf>,
}

impl InstructionReader {
    /// Adds a file and what it takes in. Each is read once; one that takes itself in, by way of
    /// others perhaps, is named.
    fn add(&mut self, path: &Path, root: &Path) {
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let name = path.strip_prefix(root).unwrap_or(path).display().to_string();
        if self.chain.contains(&real) {
            let by = self.chain.last().map_or_else(String::new, |by| {
                let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
                by.strip_prefix(&root).unwrap_or(by).display().to_string()
            });
            let say = phrases::NOTES_CYCLE.with("path", name).with("by", by);
            return self.notices.push(Notice::warning(say));
        }
        if self.seen.contains(&real) {
            return;
        }
        self.seen.push(real.clone());
        self.chain.push(real);
        self.add_text(path, root, name);
        self.chain.pop();
    }

    fn add_text(&mut self, path: &Path, root: &Path, name: String) {
        let text = match read_text(path, root) {
            Ok(Some(text)) => text,
            Ok(None) => return,
            Err(notice) => return self.notices.push(notice(name)),
        };
        let folder = path.parent().unwrap_or(root);
        let imports = imports(&text, folder);
        // Another word may begin with the sign as well: `@types/node`.
        let mut missing: Vec<&str> = steering::imported_names(&text);
        missing.retain(|named| named.ends_with(".md") && !folder.join(named).exists());
        missing.dedup();
        self.notices.extend(missing.into_iter().map(|named| {
            let say = phrases::NOTES_MISSING.with("path", named).with("by", name.as_str());
            Notice::warning(say)
        }));
        let text = clean(&text, CarriageReturnMode::EndsLine);
        let is_imported = self.chain.len() > 1;

        self.files.push(NoteFile { path: name, text, is_imported });
        for import in imports {
            if self.chain.len() > DEPTH || self.seen.len() > IMPORTS {
                let say = phrases::NOTES_TOO_DEEP.with("path", import.display().to_string());
                return self.notices.push(Notice::warning(say));
            }
            self.add(&import, root);
        }
    }
}

/// The files that a text takes in and that are there.
fn imports(text: &str, folder: &Path) -> Vec<PathBuf> {
    let named = steering::imported_names(text).into_iter();
    let found = named.filter_map(|name| folder.join(name).canonicalize().ok());
    found.filter(|path| path.is_file()).collect()
}

/// The files that would be read in a trusted project, without the user's own.
pub fn project_files(folder: &Path) -> Vec<PathBuf> {
    let folder = folder.to_owned();
    let found =
        read(&InstructionSources { folder, trusted: true, ..InstructionSources::default() });
    found.stamps.into_iter().chain(found.imports).map(|(path, ..)| path).collect()
}

fn repository_root(folder: &Path) -> &Path {
    folder.ancestors().find(|ancestor| ancestor.join(".git").exists()).unwrap_or(folder)
}

/// The user's own files, then those of each folder, outermost first.
fn stamps(sources: &InstructionSources) -> Vec<Stamp> {
    let mut found: Vec<Stamp> = sources.user.iter().filter_map(|path| file_stamp(path)).collect();
    if sources.trusted {
        let (folder, root) = (&sources.folder, repository_root(&sources.folder));
        let mut folders: Vec<&Path> =
            folder.ancestors().take_while(|ancestor| ancestor.starts_with(root)).collect();
        folders.reverse();
        let below = sources.worked_in.keys().map(PathBuf::as_path);
        found.extend(folders.into_iter().chain(below).flat_map(folder_files));
    }
    found
}

/// The files of one folder that are read.
fn folder_files(folder: &Path) -> impl Iterator<Item = Stamp> {
    let shared = NAMES.iter().find_map(|name| file_stamp(&folder.join(name)));
    shared.into_iter().chain(file_stamp(&folder.join(LOCAL)))
}

fn file_stamp(path: &Path) -> Option<Stamp> {
    let meta = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let changed = (meta.mtime(), meta.mtime_nsec());
    Some((path.to_owned(), meta.dev(), meta.ino(), meta.len(), changed))
}

type NoticeBuilder = Box<dyn Fn(String) -> Notice>;

/// The text; `None` for a file that was removed meanwhile.
fn read_text(path: &Path, root: &Path) -> Result<Option<String>, NoticeBuilder> {
    let Ok(real) = path.canonicalize() else { return Ok(None) };
    let inside = root.canonicalize().is_ok_and(|root| real.starts_with(root));
    if !inside {
        return Err(Box::new(|path| Notice::warning(phrases::NOTES_OUTSIDE.with("path", path))));
    }
    if leads_to_secrets(&real, root) {
        return Err(Box::new(|path| Notice::warning(phrases::NOTES_SENSITIVE.with("path", path))));
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
        Err(_) => Err(unreadable(phrases::NOTES_NOT_TEXT.into())),
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

fn unreadable(why: avocet_core::i18n::LocalizedText) -> NoticeBuilder {
    Box::new(move |path| {
        Notice::warning(phrases::NOTES_UNREADABLE.with("path", path).with("why", why.clone()))
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

    fn read(folder: &Path) -> ProjectInstructions {
        super::read(&sources(folder))
    }

    fn sources(folder: &Path) -> InstructionSources {
        InstructionSources {
            folder: folder.to_owned(),
            trusted: true,
            ..InstructionSources::default()
        }
    }

    fn paths(found: &ProjectInstructions) -> Vec<&str> {
        found.notes.files.iter().map(|note| note.path.as_str()).collect()
    }

    #[test]
    fn a_slow_reading_is_older_than_one_that_began_later() {
        let (_folder, root) = project();
        let (slow, quick) = (read(&root), read(&root));
        assert!(slow.is_older_than(&quick) && !quick.is_older_than(&slow));
        assert!(ProjectInstructions::default().is_older_than(&slow));
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
        assert!(!before.is_stale(&sources(&root)));
        fs::write(root.join("AGENTS.md"), "now").unwrap();
        assert!(before.is_stale(&sources(&root)));
        let now = read(&root);
        assert!(!now.is_stale(&sources(&root)));
        fs::remove_file(root.join("AGENTS.md")).unwrap();
        assert!(now.is_stale(&sources(&root)));
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
        assert_eq!(found.notices[0].say.phrase(), phrases::NOTES_OUTSIDE);
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
            assert_eq!(found.notices[0].say.phrase(), phrases::NOTES_SENSITIVE, "{target}");
        }
    }

    #[test]
    fn a_cut_file_and_a_binary_file_are_reported() {
        let (_outer, root) = project();
        fs::write(root.join("AGENTS.md"), "x".repeat(MAX_BYTES + 2048)).unwrap();
        fs::write(root.join("a/AGENTS.md"), b"\xff\xfe\x00").unwrap();
        let said: Vec<_> =
            read(&root.join("a")).notices.iter().map(|notice| notice.say.phrase()).collect();
        assert_eq!(said, [phrases::NOTES_UNREADABLE, phrases::NOTES_CUT]);
    }

    #[test]
    fn hidden_characters_are_shown_to_the_model_as_well() {
        let (_outer, root) = project();
        fs::write(root.join("AGENTS.md"), "be\u{202e}kind\u{e0041}").unwrap();
        let text = read(&root).notes.text;
        assert!(text.contains("\\u{202e}") && !text.contains('\u{202e}'), "{text}");
        assert!(!text.contains('\u{e0041}'), "{text}");
    }

    #[test]
    fn the_users_own_notes_come_first_and_count_without_trust() {
        let (outer, root) = project();
        let own = outer.path().join("home/AGENTS.md");
        fs::create_dir_all(own.parent().unwrap()).unwrap();
        fs::write(&own, "mine: @more.md").unwrap();
        fs::write(outer.path().join("home/more.md"), "taken in").unwrap();
        fs::write(root.join("AGENTS.md"), "theirs").unwrap();
        fs::write(root.join("CLAUDE.local.md"), "mine here").unwrap();
        let user = vec![own];
        let places = InstructionSources { user: user.clone(), ..sources(&root) };
        let found = super::read(&places);
        let order: Vec<_> = ["mine: ", "taken in", "theirs", "mine here"]
            .iter()
            .map(|it| found.notes.text.find(it))
            .collect();
        assert!(order.is_sorted() && order.iter().all(Option::is_some), "{}", found.notes.text);
        let text = super::read(&InstructionSources { trusted: false, ..places }).notes.text;
        assert!(text.contains("mine: ") && !text.contains("theirs"), "{text}");
    }

    #[test]
    fn files_that_take_in_each_other_are_read_once_and_the_circle_is_named() {
        let (_outer, root) = project();
        fs::write(root.join("AGENTS.md"), "first @a.md @b.md").unwrap();
        fs::write(root.join("a.md"), "second @b.md").unwrap();
        fs::write(root.join("b.md"), "third @a.md").unwrap();
        let found = read(&root);
        assert_eq!(paths(&found), ["AGENTS.md", "a.md", "b.md"]);
        let said: Vec<_> =
            found.notices.iter().map(|it| it.say.text(avocet_core::i18n::Lang::En)).collect();
        // The second way to `b.md` makes no circle.
        assert_eq!(
            said,
            ["`a.md` is taken in again by `b.md`, which it takes in itself; it is read once."]
        );
    }

    #[test]
    fn files_are_taken_in_once_and_only_from_inside() {
        let (outer, root) = project();
        fs::write(outer.path().join("key.md"), "sekret").unwrap();
        let text =
            "see @docs/style.md, @../key.md @gone.md `@docs/code.md`\n```\n@docs/code.md\n```\n";
        fs::create_dir(root.join("docs")).unwrap();
        fs::write(root.join("AGENTS.md"), text).unwrap();
        fs::write(root.join("docs/style.md"), "tabs; @../AGENTS.md @style.md").unwrap();
        fs::write(root.join("docs/code.md"), "not taken in").unwrap();
        let found = read(&root);
        assert_eq!(paths(&found), ["AGENTS.md", "docs/style.md"]);
        assert!(!found.notes.text.contains("sekret") && !found.notes.text.contains("not taken"));
        let said: Vec<_> = found.notices.iter().map(|notice| notice.say.phrase()).collect();
        let [cycle, outside] = [phrases::NOTES_CYCLE, phrases::NOTES_OUTSIDE];
        assert_eq!(said, [phrases::NOTES_MISSING, cycle, cycle, outside]);
        fs::write(root.join("docs/style.md"), "spaces, four of them").unwrap();
        assert!(found.is_stale(&sources(&root)));
        for n in 0..9 {
            fs::write(root.join(format!("docs/{n}.md")), format!("@{}.md", n + 1)).unwrap();
        }
        fs::write(root.join("AGENTS.md"), "@docs/0.md").unwrap();
        let deep = read(&root);
        assert_eq!(deep.notes.files.len(), DEPTH + 1);
        assert_eq!(deep.notices[0].say.phrase(), phrases::NOTES_TOO_DEEP);
    }
}
