//! The folders that a judgement speaks of, and the questions it may ask of the machine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::places;
use super::redact::Redactor;
use avocet_core::text::encoding::FileEncoding;

/// The folders a judgement speaks of, all absolute with links resolved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workspace {
    pub workspace: PathBuf,
    pub home: PathBuf,
    /// The folder a step without a `cwd` of its own runs in.
    pub cwd: PathBuf,
    /// Whether the user trusts the workspace.
    pub trusted: bool,
    /// Folders that may be read as the workspace is, and not changed: the repository
    /// around it.
    pub readable: Vec<PathBuf>,
    /// Folders the user added to the session: read and changed as the workspace is.
    pub added: Vec<PathBuf>,
    /// Our own folders, which stay closed wherever they are.
    pub own: Vec<PathBuf>,
    /// Folders that a variable moves elsewhere, by its name: `CARGO_HOME`.
    pub moved: BTreeMap<String, PathBuf>,
    /// The variables of the user whose values are secrets, by name.
    pub secret_variables: Vec<String>,
    /// The hooks of its repository when the user trusted it, as a digest; `None`: not known.
    pub trusted_hooks: Option<String>,
}

impl Workspace {
    /// A trusted workspace without added folders.
    pub fn new(workspace: impl Into<PathBuf>, home: impl Into<PathBuf>) -> Workspace {
        let workspace = workspace.into();
        let cwd = workspace.clone();
        Workspace { workspace, home: home.into(), cwd, trusted: true, ..Workspace::default() }
    }

    /// The workspace or the added folder that contains a path, the innermost of them.
    pub fn root_of(&self, path: &Path) -> Option<&Path> {
        let roots = std::iter::once(&self.workspace).chain(&self.added);
        let holding = roots.filter(|root| path.starts_with(root));
        holding.max_by_key(|root| root.components().count()).map(PathBuf::as_path)
    }

    /// Whether a path is in the workspace or in a folder the user added.
    pub fn contains(&self, path: &Path) -> bool {
        self.root_of(path).is_some()
    }

    /// Whether a path may be read as the workspace is.
    pub fn can_read(&self, path: &Path) -> bool {
        self.contains(path) || self.readable.iter().any(|folder| path.starts_with(folder))
    }

    /// Whether the names in a folder outside are harmless: those around the workspace, but
    /// for the home, and those of the system.
    pub fn can_list(&self, folder: &Path) -> bool {
        let is_around = self.workspace.ancestors().any(|above| above == folder);
        is_around && !self.home.starts_with(folder)
            || places::LISTED.iter().any(|listed| folder == Path::new(listed))
    }
}

/// The questions a judgement may ask of the machine. Reads only.
pub trait Machine: Send + Sync {
    /// The machine that answers what this one does not answer by itself.
    fn base(&self) -> Option<&dyn Machine> {
        None
    }
    /// The path with every link resolved, as far as it exists; the rest is appended
    /// after normalising `.` and `..`.
    fn resolve(&self, path: &Path) -> PathBuf;
    fn kind(&self, path: &Path) -> PathKind;
    /// Whether the path itself is a link, wherever it leads.
    fn is_link(&self, path: &Path) -> bool {
        self.base().is_some_and(|base| base.is_link(path))
    }
    /// Whether the file has other names, which what is written to it reaches as well.
    fn has_other_names(&self, path: &Path) -> bool {
        self.base().is_some_and(|base| base.has_other_names(path))
    }
    /// The program a name refers to, looked up in trusted folders only.
    fn program(&self, name: &str) -> Option<Program>;
    /// A folder of the user's own `PATH` that holds such a program, where no trusted one
    /// does: it is named in a hint, nothing of it runs.
    fn untrusted_program_folder(&self, name: &str) -> Option<PathBuf> {
        self.base().and_then(|base| base.untrusted_program_folder(name))
    }
    /// The program that a name or an absolute path refers to in a folder of the project's
    /// own programs, or of a toolchain manager. A bare name means one only where that
    /// folder comes first in the user's own `PATH`.
    fn own_program(&self, name: &str) -> Option<OwnProgram> {
        self.base().and_then(|base| base.own_program(name))
    }
    /// The executable file at an absolute path, in any folder: the program of a step that
    /// names a file of the workspace.
    fn executable_at(&self, path: &Path) -> Option<Program> {
        self.base().and_then(|base| base.executable_at(path))
    }
    /// The root of the repository that a folder is a part of, where the folder is not the
    /// root itself and the repository is plainly the user's own.
    fn enclosing_repository(&self, folder: &Path, home: &Path) -> Option<PathBuf> {
        self.base().and_then(|base| base.enclosing_repository(folder, home))
    }
    /// Whether there is a script of this name that a model may run.
    fn has_script(&self, script: &str) -> bool {
        self.base().is_some_and(|base| base.has_script(script))
    }
    /// Whether the model started this job, and the user has not taken it over.
    fn is_job_of_model(&self, id: u64) -> bool {
        self.base().is_some_and(|base| base.is_job_of_model(id))
    }
    /// The tool of an MCP server that a step of this name calls; `None`: there is none.
    fn mcp_tool(&self, name: &str) -> Option<McpToolInfo> {
        self.base().and_then(|base| base.mcp_tool(name))
    }
    /// The declarations of the skill of this name; `None`: there is none.
    fn skill(&self, name: &str) -> Option<SkillInfo> {
        self.base().and_then(|base| base.skill(name))
    }
    /// The entries of a folder, at most so many, links not followed. A folder that cannot
    /// be read counts as empty: what runs as the user cannot read it either.
    fn entries(&self, folder: &Path, most: usize) -> Vec<(PathBuf, FileKind)> {
        self.base().map(|base| base.entries(folder, most)).unwrap_or_default()
    }
    /// Whether an undo brings back all that is at and below a path of a workspace: regular files
    /// that are neither ignored nor credentials, and not too many.
    fn comes_back(&self, root: &Path, path: &Path) -> bool {
        self.base().is_some_and(|base| base.comes_back(root, path))
    }
    /// Whether what a program changes is kept for an undo.
    fn takes_checkpoints(&self) -> bool {
        self.base().is_some_and(|base| base.takes_checkpoints())
    }
    /// The contents of a regular file, links followed. More than `most` bytes are an error.
    fn read(&self, path: &Path, most: usize) -> Contents;

    /// The text of a file in an editor, where it may be newer than on the disk.
    fn unsaved_text(&self, path: &Path) -> Option<Vec<u8>> {
        self.base().and_then(|base| base.unsaved_text(path))
    }

    /// The beginning of a regular file of any size.
    fn head(&self, path: &Path, most: usize) -> Option<Vec<u8>> {
        self.base().and_then(|base| base.head(path, most))
    }
    /// A part of a regular file of any size, from the line with the first byte that is not ASCII.
    fn sample(&self, path: &Path, most: usize) -> Option<Vec<u8>> {
        self.base().and_then(|base| base.sample(path, most))
    }
    /// Where texts are in a regular file of any size; `None`: it cannot be read, or changes.
    fn find_texts(
        &self,
        path: &Path,
        texts: &[Vec<u8>],
        search: EditSearch,
    ) -> Option<SearchedFile> {
        self.base().and_then(|base| base.find_texts(path, texts, search))
    }
    /// The digest of a file's content as the model saw it last, or as it was left by us;
    /// `None`: the model has not seen it. The path has its links resolved.
    fn last_known_digest(&self, path: &Path) -> Option<String> {
        self.base().and_then(|base| base.last_known_digest(path))
    }
    /// The values of the masks of this session; `None`: nothing is masked.
    fn redactor(&self) -> Option<&Redactor> {
        self.base().and_then(|base| base.redactor())
    }
}

/// How texts are looked for in a file.
#[derive(Clone, Copy, Debug)]
pub struct EditSearch {
    pub encoding: FileEncoding,
    pub range: EditRange,
}

/// Lines of a file, counted from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EditRange {
    pub from: usize,
    pub to: Option<usize>,
}

/// By which it is noticed that a file has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LargeFileState {
    pub device: u64,
    pub inode: u64,
    pub size: u64,
    /// Nanoseconds since 1970.
    pub modified: i128,
    pub changed: i128,
}

/// Where a text is in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundText {
    /// Which of the texts.
    pub text: usize,
    /// Its offset in bytes, and its line.
    pub at: u64,
    pub line: usize,
    /// The lines around it.
    pub before: Vec<u8>,
    pub after: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchedFile {
    pub stamp: LargeFileState,
    /// In the order of the file.
    pub found: Vec<FoundText>,
    /// There are more than are listed.
    pub is_more: bool,
}

/// The result of reading a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contents {
    Missing,
    Bytes(Vec<u8>),
    /// It exists and is not a file, is too long, or cannot be opened.
    Unreadable,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathKind {
    Missing,
    File,
    Folder,
    Other,
}

/// The kind of an entry of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    File,
    Folder,
    Link,
    Other,
}

/// A program that was found, with what identifies the file at the moment of judging.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    pub path: PathBuf,
    pub device: u64,
    pub inode: u64,
    /// Nanoseconds since the epoch.
    pub modified: i128,
    /// Where the path is a link that is started as itself, as `.venv/bin/python` is:
    /// what identifies the link. The fields above are those of the file it leads to.
    pub link: Option<LinkIdentity>,
}

/// The identity of a link at the moment of judging.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkIdentity {
    pub device: u64,
    pub inode: u64,
    /// Nanoseconds since the epoch.
    pub modified: i128,
}

/// A program of a folder that belongs to the project or to a toolchain manager. Its
/// path is the one that was named, whatever it links to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnProgram {
    pub program: Program,
    pub folder: PathBuf,
    pub kind: Shelf,
}

/// The kind of such a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shelf {
    /// A Python environment.
    Venv,
    /// `node_modules/.bin`.
    NodeModules,
    /// `vendor/bin`.
    Vendor,
    /// The folder of nvm, pyenv, rbenv, asdf, mise, volta, fnm and their like.
    Manager,
    /// An installation of an interpreter or compiler outside the system's folders.
    Toolchain,
    /// A folder of the workspace that the user listed.
    Listed,
}

/// The declarations of a skill, as far as a judgement needs them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillInfo {
    /// The model may choose it by itself.
    pub open: bool,
    /// `allowed-tools`, as the file names them.
    pub tools: Vec<String>,
    /// Its shell lines, as they are written.
    pub shell: Vec<String>,
}

/// A tool of an MCP server, as the server describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct McpToolInfo {
    pub server: String,
    pub tool: String,
    /// The server's own word that it changes nothing. It only words the question.
    pub is_said_read_only: bool,
}
