//! Finds the files of a folder, and detects changes: without watching, by comparing times and sizes
//! on demand.
//!
//! Links are followed; those of a project only to targets that the trust check covered.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{ExtensionFileKind, Maker, SearchDir, name, skill};
use crate::diagnostic;
use avocet_core::i18n::{LocalizedText, library as w};

/// How deep folders are searched, how many of them, and how many entries in one.
const MAX_DEPTH: usize = 6;
const MAX_FOLDERS: usize = 2_000;
const MAX_ENTRIES: usize = 10_000;
/// Folders of files that are not the project's own.
const SKIPPED: &[&str] = &[".git", "node_modules"];

/// A file, with the name it claims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScannedFile {
    /// From its path; a skill may declare another one.
    pub name: String,
    pub path: PathBuf,
}

/// The result of scanning a folder.
#[derive(Clone, Debug, Default)]
pub struct FolderScan {
    pub files: Vec<ScannedFile>,
    /// Files that are not read, with the reason.
    pub refused: Vec<(ScannedFile, LocalizedText)>,
    /// The state of every path that was examined.
    pub stamps: Vec<FileStamp>,
    /// A note about folders that were skipped because there were too many.
    pub cut: Option<LocalizedText>,
}

/// The state of a path when it was examined; `None`: it did not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileStamp {
    path: PathBuf,
    stamp: Option<Stamp>,
}

/// Time of the last change, size, and identity of the file.
type Stamp = (i64, i64, u64, u64);

impl FileStamp {
    fn read(path: &Path) -> FileStamp {
        FileStamp { path: path.to_owned(), stamp: stamp(path) }
    }

    /// True if it has not changed since.
    pub fn is_unchanged(&self) -> bool {
        stamp(&self.path) == self.stamp
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    use std::os::unix::fs::MetadataExt;
    let meta = fs::metadata(path).ok()?;
    Some((meta.ctime(), meta.ctime_nsec(), meta.size(), meta.ino()))
}

/// True for a path that may be read: in a project, a link must not lead outside what was shown when
/// it was trusted.
pub fn may_be_read(path: &Path, dir: &SearchDir) -> bool {
    let real = || path.canonicalize().ok();
    let within = || dir.link_targets.iter().filter_map(|root| root.canonicalize().ok());
    dir.link_targets.is_empty()
        || real().is_none_or(|real| within().any(|root| real.starts_with(root)))
}

/// The layout of the files in a folder.
#[derive(Clone, Copy)]
enum FolderLayout {
    /// In the folder itself, with this extension.
    Flat(&'static str),
    /// In it and below it; folders are part of the name.
    Deep(&'static str),
    /// One folder for each skill.
    Skills,
}

impl FolderLayout {
    fn for_dir(dir: &SearchDir) -> FolderLayout {
        match (dir.kind, dir.owner.maker) {
            (ExtensionFileKind::Skill, _) => FolderLayout::Skills,
            (ExtensionFileKind::Command, Maker::Claude) => FolderLayout::Deep(".md"),
            (ExtensionFileKind::Command, Maker::Gemini) => FolderLayout::Deep(".toml"),
            (ExtensionFileKind::Bot | ExtensionFileKind::Command, _) => FolderLayout::Flat(".toml"),
        }
    }
}

/// Scans a folder. A missing folder counts as empty.
pub fn scan_folder(dir: &SearchDir) -> FolderScan {
    let mut walk = Walk {
        place: dir,
        shape: FolderLayout::for_dir(dir),
        folders: VecDeque::from([(dir.folder.clone(), String::new(), 0)]),
        folder_count: 0,
        out: FolderScan::default(),
    };
    if !may_be_read(&dir.folder, dir) {
        let file = ScannedFile { name: String::new(), path: dir.folder.clone() };
        walk.out.stamps.push(FileStamp::read(&dir.folder));
        walk.out.refused.push((file, w::LEADS_OUT.into()));
        return walk.out;
    }
    while let Some((folder, prefix, depth)) = walk.folders.pop_front() {
        walk.enter(&folder, &prefix, depth);
    }
    walk.out
}

struct Walk<'p> {
    place: &'p SearchDir,
    shape: FolderLayout,
    /// Folder, name prefix, depth.
    folders: VecDeque<(PathBuf, String, usize)>,
    folder_count: usize,
    out: FolderScan,
}

impl Walk<'_> {
    fn enter(&mut self, folder: &Path, prefix: &str, depth: usize) {
        if self.folder_count > MAX_FOLDERS {
            let folder = self.place.folder.display().to_string();
            let cut = w::MANY_FOLDERS.with("folder", folder).with("most", MAX_FOLDERS);
            self.out.cut = Some(cut);
            self.folders.clear();
            return;
        }
        self.folder_count += 1;
        if let FolderLayout::Skills = self.shape
            && depth > 0
        {
            let file = folder.join(skill::FILE);
            if file.symlink_metadata().is_ok() {
                return self.add_file(last_segment(prefix).to_owned(), file);
            }
        }
        self.out.stamps.push(FileStamp::read(folder));
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => {
                if error.kind() == io::ErrorKind::PermissionDenied {
                    let (name, path) = (prefix.to_owned(), folder.to_owned());
                    let file = ScannedFile { name, path };
                    self.out.refused.push((file, diagnostic::io_reason(&error)));
                }
                return;
            }
        };
        let mut entries = entries.flatten();
        let mut found: Vec<fs::DirEntry> = entries.by_ref().take(MAX_ENTRIES).collect();
        if entries.next().is_some() {
            let folder = folder.display().to_string();
            let cut = w::MANY_ENTRIES.with("folder", folder).with("most", MAX_ENTRIES);
            self.out.cut.get_or_insert(cut);
        }
        found.sort_by_key(fs::DirEntry::file_name);
        for entry in found {
            self.visit_entry(&entry, prefix, depth);
        }
    }

    fn visit_entry(&mut self, entry: &fs::DirEntry, prefix: &str, depth: usize) {
        let own = entry.file_name().to_string_lossy().into_owned();
        let path = entry.path();

        let Ok(kind) = entry.file_type() else { return };
        let is_folder = kind.is_dir() || kind.is_symlink() && path.is_dir();
        if is_folder {
            let deep = !matches!(self.shape, FolderLayout::Flat(_)) && depth < MAX_DEPTH;
            if deep && !SKIPPED.contains(&own.as_str()) {
                let name = join(prefix, &own);
                if may_be_read(&path, self.place) {
                    self.folders.push_back((path, name, depth + 1))
                } else {
                    self.refuse(ScannedFile { name, path }, w::LEADS_OUT)
                }
            }
            return;
        }
        let (FolderLayout::Flat(end) | FolderLayout::Deep(end)) = self.shape else {
            if depth > 0 && skill::is_misspelt(&own) {
                let name = last_segment(prefix).to_owned();
                let why = skill::rename_message(&path);
                self.out.refused.push((ScannedFile { name, path }, why));
            }
            return;
        };
        match own.strip_suffix(end) {
            // Names that begin with a dot belong to other programs.
            Some(name) if !name.is_empty() && !name.starts_with('.') => {
                self.add_file(join(prefix, name), path);
            }
            Some(_) | None => {}
        }
    }

    fn add_file(&mut self, name: String, path: PathBuf) {
        self.out.stamps.push(FileStamp::read(&path));
        let usable = match self.shape {
            // A skill's own name is checked when it is parsed.
            FolderLayout::Skills => true,
            FolderLayout::Flat(_) => name::is_usable(self.place.kind, &name),
            FolderLayout::Deep(_) => name::is_usable_path(&name),
        };
        let file = ScannedFile { name, path };
        if !usable {
            self.refuse(file, w::BAD_NAME);
        } else if !may_be_read(&file.path, self.place) {
            self.refuse(file, w::LEADS_OUT);
        } else {
            self.out.files.push(file);
        }
    }

    fn refuse(&mut self, file: ScannedFile, why: avocet_core::i18n::Phrase) {
        let why = why.with("name", name::display_name(&file.name));
        self.out.refused.push((file, why));
    }
}

fn join(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}:{name}") }
}

fn last_segment(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::extensions::Owner;
    use avocet_core::i18n::Lang;

    struct ScanFixture(tempfile::TempDir);

    impl ScanFixture {
        fn new(files: &[&str]) -> ScanFixture {
            let desk = ScanFixture(tempfile::tempdir().unwrap());
            for file in files {
                desk.write(file, "x");
            }
            desk
        }

        fn write(&self, name: &str, text: &str) {
            let path = self.0.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        fn place(&self, kind: ExtensionFileKind, maker: Maker) -> SearchDir {
            let owner = Owner { maker, project: false };
            SearchDir { folder: self.0.path().join("in"), kind, owner, link_targets: Vec::new() }
        }

        fn names(&self, kind: ExtensionFileKind, maker: Maker) -> Vec<String> {
            scan_folder(&self.place(kind, maker))
                .files
                .into_iter()
                .map(|found| found.name)
                .collect()
        }
    }

    #[test]
    fn a_folder_with_too_many_entries_is_scanned_partly_and_reported() {
        let desk = ScanFixture::new(&["in/a.toml"]);
        for number in 0..=MAX_ENTRIES {
            fs::write(desk.0.path().join(format!("in/{number}.toml")), "").unwrap();
        }
        let look = scan_folder(&desk.place(ExtensionFileKind::Command, Maker::Avocet));
        assert_eq!(look.files.len(), MAX_ENTRIES);
        assert!(look.cut.unwrap().text(Lang::En).contains("10000 entries"));
    }

    #[test]
    fn each_format_has_its_own_layout() {
        let desk = ScanFixture::new(&[
            "in/b.toml",
            "in/a.toml",
            "in/git/c.toml",
            "in/git/deep/d.md",
            "in/e.md",
            "in/.x.toml",
            "in/notes.txt",
            "in/node_modules/n.md",
            "in/.git/g.md",
            "in/.toml",
        ]);
        assert_eq!(desk.names(ExtensionFileKind::Command, Maker::Avocet), ["a", "b"]);
        assert_eq!(desk.names(ExtensionFileKind::Command, Maker::Gemini), ["a", "b", "git:c"]);
        assert_eq!(desk.names(ExtensionFileKind::Command, Maker::Claude), ["e", "git:deep:d"]);
        assert_eq!(desk.names(ExtensionFileKind::Bot, Maker::R9s), ["a", "b"]);
    }

    #[test]
    fn a_skill_is_a_folder_and_its_contents_are_not_scanned() {
        let desk = ScanFixture::new(&[
            "in/one/SKILL.md",
            "in/one/deeper/SKILL.md",
            "in/group/two/SKILL.md",
            "in/SKILL.md",
            "in/.git/three/SKILL.md",
            "in/none/README.md",
            "in/1/2/3/4/5/6/SKILL.md",
            "in/1/2/3/4/5/6x/7/SKILL.md",
        ]);
        assert_eq!(desk.names(ExtensionFileKind::Skill, Maker::Avocet), ["one", "two", "6"]);
    }

    #[test]
    fn a_skill_file_in_lower_case_is_refused_with_what_to_do() {
        let desk = ScanFixture::new(&["in/one/SKILL.md", "in/two/skill.md", "in/skill.md"]);
        let look = scan_folder(&desk.place(ExtensionFileKind::Skill, Maker::Claude));
        assert_eq!(look.files.len(), 1);
        let [(found, why)] = &look.refused[..] else { panic!("{:?}", look.refused) };
        let why = why.text(Lang::En);
        assert_eq!(found.name, "two");
        assert!(why.contains("in/two/skill.md") && why.contains("SKILL.md"), "{why}");
    }

    #[test]
    fn a_name_that_cannot_be_typed_is_refused_and_shown() {
        let desk =
            ScanFixture::new(&["in/a b.toml", "in/-x.toml", "in/esc\u{1b}[2J.toml", "in/ok.toml"]);
        let look = scan_folder(&desk.place(ExtensionFileKind::Command, Maker::Avocet));
        assert_eq!(look.files.len(), 1);
        let said: Vec<String> = look.refused.iter().map(|(_, why)| why.text(Lang::En)).collect();
        assert!(said[0].contains("`-x`") && said[1].contains("`a b`"), "{said:?}");
        assert!(said[2].contains("`esc\\u{1b}[2J`"), "{said:?}");
    }

    #[test]
    fn a_project_link_is_followed_only_to_targets_the_trust_check_covered() {
        let desk =
            ScanFixture::new(&["in/ok/SKILL.md", "seen/linked/SKILL.md", "out/secret/SKILL.md"]);
        let root = desk.0.path();
        symlink(root.join("seen/linked"), root.join("in/inside")).unwrap();
        symlink(root.join("out/secret"), root.join("in/outside")).unwrap();
        fs::create_dir(root.join("in/half")).unwrap();
        symlink(root.join("out/secret/SKILL.md"), root.join("in/half/SKILL.md")).unwrap();
        let within = vec![root.join("in"), root.join("seen")];
        let place = SearchDir {
            link_targets: within,
            ..desk.place(ExtensionFileKind::Skill, Maker::Claude)
        };
        let brought = scan_folder(&place);
        let names: Vec<_> = brought.files.iter().map(|found| found.name.as_str()).collect();
        assert_eq!(names, ["inside", "ok"]);
        assert_eq!(brought.refused.len(), 2);
        let free = SearchDir { link_targets: Vec::new(), ..place.clone() };
        assert_eq!(scan_folder(&free).files.len(), 4, "a person's own links lead anywhere");
        let outside = SearchDir { link_targets: vec![root.join("seen")], ..place };
        assert_eq!(
            (scan_folder(&outside).files.len(), scan_folder(&outside).refused.len()),
            (0, 1)
        );
    }

    #[test]
    fn any_kind_of_change_is_detected() {
        let desk = ScanFixture::new(&["in/a/SKILL.md"]);
        let place = desk.place(ExtensionFileKind::Skill, Maker::Avocet);
        let root = desk.0.path();
        let changes: &[&dyn Fn()] = &[
            &|| desk.write("in/a/SKILL.md", "other"),
            &|| desk.write("in/b/SKILL.md", "new"),
            &|| fs::create_dir(root.join("in/c")).unwrap(),
            &|| desk.write("in/c/SKILL.md", "late"),
            &|| fs::rename(root.join("in/b"), root.join("in/d")).unwrap(),
            &|| fs::remove_dir_all(root.join("in")).unwrap(),
            &|| desk.write("in/a/SKILL.md", "again"),
        ];
        for (number, change) in changes.iter().enumerate() {
            let seen = scan_folder(&place).stamps;
            assert!(seen.iter().all(FileStamp::is_unchanged), "{number}: before");
            change();
            assert!(!seen.iter().all(FileStamp::is_unchanged), "{number}: after");
        }
    }

    #[test]
    fn folders_over_the_limit_are_skipped_and_reported() {
        let desk = ScanFixture::new(&[]);
        for number in 0..MAX_FOLDERS + 5 {
            fs::create_dir_all(desk.0.path().join(format!("in/{number:05}"))).unwrap();
        }
        desk.write("in/00000/SKILL.md", "x");
        desk.write(&format!("in/{:05}/SKILL.md", MAX_FOLDERS + 4), "x");
        let look = scan_folder(&desk.place(ExtensionFileKind::Skill, Maker::Avocet));
        assert_eq!(look.files.len(), 1);
        assert!(look.cut.unwrap().text(Lang::En).contains("2000"));
    }
}
