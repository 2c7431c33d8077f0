//! The file tools, which run in this process: no child, no shell. The judgement worked out
//! what each does; here it is done, once, and reported.
//!
//! Reading and searching are bounded in bytes, lines and matches, and say what they left
//! out. Writing is whole or not at all, keeps the old content first, and writes only over
//! the file that was judged.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::read_tracker::ReadTracker;
use super::{RunControl, Tool};
use avocet_core::i18n::{LocalizedText, Phrase, common, tools as words};
use avocet_core::protocol::{Change, Image, Observation, Outcome, ParsedOutput};
use avocet_safety::tools::InputError;
use avocet_safety::{ClearedStep, Judgement, ToolTask};

mod backups;
mod file_lines;
pub mod journal;
mod list;
mod notebook;
mod read;
pub(super) mod safe_open;
mod search;
mod splice;
mod syntax;
mod write;

pub use backups::Backups;
pub use journal::Journal;

/// One tool: its name, and its descriptions for the user and for the model.
struct FileToolSpec {
    name: &'static str,
    about: Phrase,
    prompt: &'static str,
}

#[rustfmt::skip]
const ROWS: &[FileToolSpec] = &[
    FileToolSpec { name: "file.read",         about: words::ABOUT_READ,   prompt: "file.read {path, from?, to?}: lines of a text file, numbered; 2,000 or 64 KiB at once; images and PDF too" },
    FileToolSpec { name: "file.list",         about: words::ABOUT_LIST,   prompt: "file.list {path?, glob?, depth?}: lists a folder; ignored files are left out" },
    FileToolSpec { name: "file.search",       about: words::ABOUT_SEARCH, prompt: "file.search {query, path?, glob?, type?, mode?, literal?}: lines that match a regular expression, 200 at once" },
    FileToolSpec { name: "file.edit",         about: words::ABOUT_EDIT,   prompt: "file.edit {path, edits:[{old, new, all?}]}: replaces text; each `old` must occur exactly once; in turn, all or none" },
    FileToolSpec { name: "file.write",        about: words::ABOUT_WRITE,  prompt: "file.write {path, content}: makes or replaces a whole file" },
    FileToolSpec { name: "config.json_patch", about: words::ABOUT_PATCH,  prompt: "config.json_patch {path, set?, unset?, patch?}: settings of slothtool and its plugins" },
];

/// A tool for files.
#[derive(Clone)]
struct FileTool {
    spec: &'static FileToolSpec,
    state: FileToolState,
}

/// State they share.
#[derive(Clone, Debug, Default)]
pub struct FileToolState {
    pub read_tracker: ReadTracker,
    /// Where old contents are kept; `None`: nothing is kept, and nothing can be undone.
    pub backups: Option<Backups>,
    /// Where the folders are noted that files are written in.
    pub journal: Option<Arc<Journal>>,
}

/// All of them.
pub fn all(desk: &FileToolState) -> Vec<Arc<dyn Tool>> {
    let tool = |row| Arc::new(FileTool { spec: row, state: desk.clone() }) as Arc<dyn Tool>;
    ROWS.iter().map(tool).collect()
}

/// The result of a task.
#[derive(Debug, Default)]
struct FileToolResult {
    exit: i32,
    stdout: String,
    truncated: bool,
    parsed: Option<ParsedOutput>,
    note: Option<LocalizedText>,
    change: Option<Change>,
    images: Vec<Image>,
    outcome: Option<Outcome>,
}

impl FileToolResult {
    fn failed(note: impl Into<LocalizedText>) -> FileToolResult {
        FileToolResult { exit: 2, note: Some(note.into()), ..FileToolResult::default() }
    }
}

impl From<InputError> for FileToolResult {
    fn from(fault: InputError) -> FileToolResult {
        FileToolResult { stdout: fault.detail, ..FileToolResult::failed(fault.say) }
    }
}

impl Tool for FileTool {
    fn name(&self) -> &'static str {
        self.spec.name
    }

    fn about(&self) -> Phrase {
        self.spec.about
    }

    fn prompt(&self) -> &'static str {
        self.spec.prompt
    }

    fn run(&self, step: ClearedStep, watch: RunControl) -> BoxFuture<'static, Observation> {
        let desk = self.state.clone();
        async move {
            let judged = step.judgement().clone();
            let began = Instant::now();
            let cancel = watch.cancel.clone();
            let work = move || run(&step, &desk, &cancel);
            let done = tokio::task::spawn_blocking(work).await;
            let done = done.unwrap_or_else(|error| {
                FileToolResult::failed(words::BROKE.with("why", error.to_string()))
            });
            observation(&judged, done, began)
        }
        .boxed()
    }
}

fn observation(judged: &Judgement, done: FileToolResult, began: Instant) -> Observation {
    let outcome = done.outcome.unwrap_or(Outcome::Ran);
    let cwd = judged.cwd.to_string_lossy();
    let mut seen = Observation::not_run(judged.step.clone(), cwd, judged.risk.clone(), outcome);
    seen.exit_code = (outcome == Outcome::Ran).then_some(done.exit);
    // A step that ran took time, however little.
    seen.duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX).max(1);
    seen.stdout = done.stdout;
    seen.truncated = done.truncated;
    seen.parsed = done.parsed;
    seen.note = done.note;
    seen.change = done.change;
    seen.images = done.images;
    seen
}

fn run(step: &ClearedStep, desk: &FileToolState, cancel: &CancellationToken) -> FileToolResult {
    if cancel.is_cancelled() {
        return cancelled();
    }
    if !step.is_intact() {
        return FileToolResult {
            outcome: Some(Outcome::Refused),
            ..FileToolResult::failed(words::NOT_AS_JUDGED)
        };
    }
    match &step.judgement().task {
        Some(ToolTask::Fault(fault)) => match &fault.missing {
            Some(spot) => FileToolResult::failed(similar_names(&spot.shown, &spot.path)),
            None => fault.clone().into(),
        },
        Some(ToolTask::Read(read)) => read::run(read, &desk.read_tracker),
        Some(ToolTask::List(list)) => list::run(list, cancel),
        Some(ToolTask::Search(search)) => search::run(search, cancel),
        Some(ToolTask::Change(write)) => write::run(write, desk),
        Some(ToolTask::Patch(patch)) => write::run_patch(patch, desk),
        Some(ToolTask::LargeEdit(edit)) => splice::run(edit, desk),
        Some(
            ToolTask::Plugin(_)
            | ToolTask::Ask(_)
            | ToolTask::Plan(_)
            | ToolTask::Job(_)
            | ToolTask::Recall(_)
            | ToolTask::Subagent(_)
            | ToolTask::Fetch(_),
        )
        | None => FileToolResult::failed(words::NOT_A_FILE_TOOL),
    }
}

fn cancelled() -> FileToolResult {
    FileToolResult {
        outcome: Some(Outcome::Cancelled),
        note: Some(avocet_core::i18n::exec::CANCELLED.into()),
        ..FileToolResult::default()
    }
}

/// One sentence for the system's error.
fn reason(shown: &str, path: &Path, error: &io::Error) -> LocalizedText {
    let word = match error.kind() {
        io::ErrorKind::NotFound => return similar_names(shown, path),
        io::ErrorKind::PermissionDenied => words::NOT_PERMITTED,
        io::ErrorKind::IsADirectory => common::IS_FOLDER,
        io::ErrorKind::NotADirectory => words::IS_NO_FOLDER,
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => words::DISK_FULL,
        io::ErrorKind::ReadOnlyFilesystem => words::DISK_READ_ONLY,
        // A socket cannot even be opened.
        io::ErrorKind::InvalidInput => common::NOT_REGULAR,
        _ if error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) => {
            common::NOT_REGULAR
        }
        _ => words::FILE_FAILED,
    };
    word.with("path", shown).with("why", error.to_string())
}

/// Names beside a file that is not there which it may have been meant to be.
fn similar_names(shown: &str, path: &Path) -> LocalizedText {
    const LOOKED_AT: usize = 2_000;
    let plain = words::NOT_THERE.with("path", shown);
    let (Some(folder), Some(name)) =
        (path.parent(), path.file_name().and_then(|name| name.to_str()))
    else {
        return plain;
    };
    let Ok(entries) = std::fs::read_dir(folder) else { return plain };
    let name = name.to_lowercase();
    let stem = name.split('.').next().unwrap_or_default().to_owned();
    let mut near: Vec<String> = entries
        .take(LOOKED_AT)
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|other| {
            let lower = other.to_lowercase();
            let like = is_similar(&lower, &name);
            like || (!stem.is_empty() && lower.split('.').next() == Some(&stem))
        })
        .collect();
    near.sort_unstable();
    near.truncate(3);
    if near.is_empty() {
        plain
    } else {
        words::NOT_THERE_NEAR.with("path", shown).with("near", near.join(", "))
    }
}

/// Whether one becomes the other by one or two letters.
fn is_similar(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > 2 || a.len().max(b.len()) > 64 {
        return false;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut last = i;
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
        for (j, y) in b.iter().enumerate() {
            let (up, left) =
                (row.get(j + 1).copied().unwrap_or(0), row.get(j).copied().unwrap_or(0));
            let next = (last + usize::from(x != y)).min(up + 1).min(left + 1);
            last = up;
            if let Some(cell) = row.get_mut(j + 1) {
                *cell = next;
            }
        }
    }
    row.last().is_some_and(|distance| *distance <= 2 && *distance < a.len().max(1))
}

/// A text up to a character's boundary.
fn head(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most)).unwrap_or_default()
}

#[cfg(test)]
mod tests;
