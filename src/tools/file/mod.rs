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

use super::code_checker::{CodeChecker, files_of};
use super::read_tracker::ReadTracker;
use super::{RunControl, Tool, ToolSpec};
use avocet_core::i18n::{LocalizedText, common, tools as phrases};
use avocet_core::protocol::{Change, Image, Observation, Outcome, ParsedOutput};
use avocet_core::text::path_text;
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

#[rustfmt::skip]
const ROWS: &[ToolSpec] = &[
    ToolSpec { name: "file.read",         about: phrases::ABOUT_READ,   prompt: "file.read {path, from?, to?}: lines of a text file, numbered; 2,000 or 64 KiB at once; images and PDF too" },
    ToolSpec { name: "file.list",         about: phrases::ABOUT_LIST,   prompt: "file.list {path?, glob?, depth?}: lists a folder; ignored files are left out" },
    ToolSpec { name: "file.search",       about: phrases::ABOUT_SEARCH, prompt: "file.search {query, path?, glob?, type?, mode?, literal?}: lines that match a regular expression, 200 at once" },
    ToolSpec { name: "file.edit",         about: phrases::ABOUT_EDIT,   prompt: "file.edit {path, edits:[{old, new, all?}]}: replaces text; each `old` must occur exactly once; in turn, all or none" },
    ToolSpec { name: "file.write",        about: phrases::ABOUT_WRITE,  prompt: "file.write {path, content}: makes or replaces a whole file" },
    ToolSpec { name: "note",              about: phrases::ABOUT_NOTE,   prompt: "note {text, place?}: proposes a line for AGENTS.md" },
    ToolSpec { name: "config.json_patch", about: phrases::ABOUT_PATCH,  prompt: "config.json_patch {path, set?, unset?, patch?}: settings of slothtool and its plugins" },
];

/// A tool for files.
#[derive(Clone)]
struct FileTool {
    spec: &'static ToolSpec,
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
    /// What looks at source files before and after a change.
    pub checker: Option<Arc<dyn CodeChecker>>,
}

/// All of them.
pub fn all(state: &FileToolState) -> Vec<Arc<dyn Tool>> {
    let tool = |row| Arc::new(FileTool { spec: row, state: state.clone() }) as Arc<dyn Tool>;
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
    fn from(error: InputError) -> FileToolResult {
        FileToolResult { stdout: error.detail, ..FileToolResult::failed(error.say) }
    }
}

impl Tool for FileTool {
    fn spec(&self) -> ToolSpec {
        *self.spec
    }

    fn run(&self, step: ClearedStep, control: RunControl) -> BoxFuture<'static, Observation> {
        let desk = self.state.clone();
        async move {
            let judged = step.judgement().clone();
            let began = Instant::now();
            let cancel = control.cancel.clone();
            let checker = desk.checker.clone();
            let files = judged.task.as_ref().map(files_of).unwrap_or_default();
            if let Some(checker) = &checker {
                checker.follow(files.clone()).await;
            }
            let work = move || run(&step, &desk, &cancel);
            let done = tokio::task::spawn_blocking(work).await;
            let mut done = done.unwrap_or_else(|error| {
                FileToolResult::failed(phrases::BROKE.with("why", error.to_string()))
            });
            if let Some(checker) = checker {
                let changed = if done.change.is_some() { files } else { Vec::new() };
                let checked = control.cancel.run_until_cancelled(checker.check(changed)).await;
                done.note = write::joined(done.note.into_iter().chain(checked.flatten()));
            }
            observation(&judged, done, began)
        }
        .boxed()
    }
}

fn observation(judged: &Judgement, result: FileToolResult, began: Instant) -> Observation {
    let outcome = result.outcome.unwrap_or(Outcome::Ran);
    let cwd = judged.cwd.to_string_lossy();
    let mut seen = Observation::not_run(judged.step.clone(), cwd, judged.risk.clone(), outcome);
    seen.exit_code = (outcome == Outcome::Ran).then_some(result.exit);
    // A step that ran took time, however little.
    seen.duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX).max(1);
    seen.stdout = result.stdout;
    seen.truncated = result.truncated;
    seen.parsed = result.parsed;
    seen.note = result.note;
    seen.change = result.change;
    seen.images = result.images;
    seen
}

fn run(step: &ClearedStep, state: &FileToolState, cancel: &CancellationToken) -> FileToolResult {
    if cancel.is_cancelled() {
        return cancelled();
    }
    if !step.is_intact() {
        return FileToolResult {
            outcome: Some(Outcome::Refused),
            ..FileToolResult::failed(phrases::NOT_AS_JUDGED)
        };
    }
    match &step.judgement().task {
        Some(ToolTask::Fault(fault)) => match &fault.missing {
            Some(spot) => FileToolResult::failed(similar_names(&spot.shown, &spot.path)),
            None => fault.clone().into(),
        },
        Some(ToolTask::Read(read)) => read::run(read, &state.read_tracker),
        Some(ToolTask::List(list)) => list::run(list, cancel),
        Some(ToolTask::Search(search)) => search::run(search, cancel),
        Some(ToolTask::Change(write)) => write::run(write, state),
        Some(ToolTask::Patch(patch)) => write::run_patch(patch, state),
        Some(ToolTask::LargeEdit(edit)) => splice::run(edit, state),
        Some(
            ToolTask::Plugin(_)
            | ToolTask::Ask(_)
            | ToolTask::Plan(_)
            | ToolTask::Job(_)
            | ToolTask::Recall(_)
            | ToolTask::Subagent(_)
            | ToolTask::Fetch(_)
            | ToolTask::WebSearch(_)
            | ToolTask::Code(_),
        )
        | None => FileToolResult::failed(phrases::NOT_A_FILE_TOOL),
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
        io::ErrorKind::PermissionDenied => phrases::NOT_PERMITTED,
        io::ErrorKind::IsADirectory => common::IS_FOLDER,
        io::ErrorKind::NotADirectory => phrases::IS_NO_FOLDER,
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => phrases::DISK_FULL,
        io::ErrorKind::ReadOnlyFilesystem => phrases::DISK_READ_ONLY,
        // A socket cannot even be opened.
        io::ErrorKind::InvalidInput => common::NOT_REGULAR,
        _ if error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) => {
            common::NOT_REGULAR
        }
        _ => phrases::FILE_FAILED,
    };
    word.with("path", shown).with("why", error.to_string())
}

/// Names beside a file that is not there which it may have been meant to be.
fn similar_names(shown: &str, path: &Path) -> LocalizedText {
    const LOOKED_AT: usize = 2_000;
    let plain = phrases::NOT_THERE.with("path", shown);
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
        .filter_map(|entry| Some(entry.ok()?.file_name()))
        .filter(|other| {
            let other = other.to_string_lossy();
            let lower = other.to_lowercase();
            let like = is_similar(&lower, &name);
            like || (!stem.is_empty() && lower.split('.').next() == Some(&stem))
        })
        .map(|other| path_text(Path::new(&other)).into_owned())
        .collect();
    near.sort_unstable();
    near.truncate(3);
    if near.is_empty() {
        plain
    } else {
        phrases::NOT_THERE_NEAR.with("path", shown).with("near", near.join(", "))
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
            let up = row.get(j + 1).copied().unwrap_or(0);
            let left = row.get(j).copied().unwrap_or(0);

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
