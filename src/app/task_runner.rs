//! Runs tasks of `eval` and `batch`, several at once, and keeps their results in a file whose tasks
//! are not run again.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use tokio::task::JoinSet;

use super::startup::{self, Startup};
use super::subcommands::print_text;
use crate::cli::task_results::{MAX_RESULTS, ResultOutcome, TaskResult, read_results, table};
use crate::cli::{Exit, messages, output};
use avocet_config::foreign_file::read_text;
use avocet_core::i18n::{LocalizedText, PhraseValue, config, eval as phrases, mcp};
use avocet_core::protocol::Notice;

/// A file of results, which one run alone writes.
pub struct ResultFile {
    path: PathBuf,
    file: File,
}

impl ResultFile {
    /// The file, and the results in it without those of tasks that failed: these are run again. A
    /// half line is ended, so that it takes no result with it.
    ///
    /// # Errors
    /// It cannot be read or written, or another run writes to it.
    pub fn open(path: &Path) -> Result<(ResultFile, Vec<TaskResult>), LocalizedText> {
        let path = path.to_owned();
        let unwritten = |error: io::Error| {
            let say = phrases::UNWRITTEN.with("path", path.display().to_string());
            say.with("why", error.to_string())
        };
        let open = OpenOptions::new().create(true).read(true).append(true).open(&path);
        let mut file = open.map_err(unwritten)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                return Err(phrases::OUT_BUSY.with("path", path.display().to_string()));
            }
            // Some file systems have no locks.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        let bytes = read_and_end_line(&mut file).map_err(unwritten)?;
        if bytes.len() as u64 > MAX_RESULTS {
            let limit = avocet_core::text::size(MAX_RESULTS);
            return Err(unread(&path, mcp::TOO_LARGE.with("limit", limit)));
        }
        let mut results = read_results(&String::from_utf8_lossy(&bytes));
        results.retain(|result| result.outcome != ResultOutcome::Failed);
        Ok((ResultFile { path, file }, results))
    }
}

pub fn unread(path: &Path, why: impl Into<PhraseValue>) -> LocalizedText {
    phrases::UNREAD.with("path", path.display().to_string()).with("why", why)
}

/// The whole of a file of tasks or results.
pub fn read_whole(path: &Path) -> Result<String, LocalizedText> {
    let text = read_text(path, MAX_RESULTS).map_err(|why| unread(path, why))?;
    text.ok_or_else(|| unread(path, config::IO_NOT_FOUND))
}

/// A pipe or a device has no earlier results.
fn read_and_end_line(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if file.metadata()?.is_file() {
        io::Read::by_ref(file).take(MAX_RESULTS + 1).read_to_end(&mut bytes)?;
    }
    let is_whole = bytes.len() as u64 <= MAX_RESULTS;
    if is_whole && bytes.last().is_some_and(|last| *last != b'\n') {
        file.write_all(b"\n")?;
    }
    Ok(bytes)
}

/// Where results go.
pub struct ResultTarget {
    pub file: Option<ResultFile>,
    /// Write them to standard output as well, as JSON.
    pub json: bool,
}

/// What the tasks have in common.
pub struct TaskRunner<'a> {
    pub startup: &'a Startup,
    pub jobs: u8,
    pub target: ResultTarget,
    pub results: Vec<TaskResult>,
    /// Of the tasks that are and will be done.
    pub count: usize,
}

impl TaskRunner<'_> {
    /// Runs tasks until all are done or the program leaves. A task that was stopped has no result.
    ///
    /// # Errors
    /// A result cannot be written; no further task begins then.
    pub async fn run_all<T, F>(
        &mut self,
        tasks: impl IntoIterator<Item = T>,
        start: impl Fn(T) -> F,
    ) -> io::Result<()>
    where
        F: Future<Output = Option<TaskResult>> + Send + 'static,
    {
        let leaving = &self.startup.shared.leaving;
        let mut running = JoinSet::new();
        let mut waiting = tasks.into_iter();
        let mut written = Ok(());
        loop {
            while running.len() < usize::from(self.jobs)
                && !leaving.is_cancelled()
                && let Some(task) = waiting.next()
            {
                running.spawn(start(task));
            }
            let Some(result) = running.join_next().await else { return written };
            let Some(result) = result.map_err(io::Error::other)? else { continue };
            if let Err(error) = self.add(result) {
                leaving.cancel();
                written = Err(error);
            }
        }
    }

    /// Writes a result, and a line about it.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn add(&mut self, result: TaskResult) -> io::Result<()> {
        let line = serde_json::to_string(&result)? + "\n";
        if let Some(target) = &mut self.target.file {
            target.file.write_all(line.as_bytes())?;
        }
        self.results.retain(|earlier| earlier.task != result.task);
        let done = self.results.len() + 1;
        let TaskResult { task, why, .. } = &result;
        let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
        let progress = format!("{done}/{}: {task} {}{why}", self.count, result.outcome.word());
        self.results.push(result);
        let progress = startup::clean(&progress.replace(['\r', '\n'], " "));
        messages::write_text(&mut output::stderr(), progress + "\n")?;
        let printed = if self.target.json { line } else { String::new() };
        messages::write_text(&mut output::stdout(), printed)
    }
}

impl TaskRunner<'_> {
    /// Prints the table, with what else is to say of the results. The exit code is that of the run.
    pub fn finish(
        mut self,
        (done, signal): (Option<io::Result<()>>, Option<i32>),
        after: impl Fn(&[TaskResult]) -> String,
    ) -> Exit {
        if let Some(Err(error)) = done {
            let file =
                self.target.file.map_or(String::new(), |target| target.path.display().to_string());
            let say = phrases::UNWRITTEN.with("path", file).with("why", error.to_string());
            return self.startup.fail(&Notice::error(say), Exit::Failed);
        }
        if let Some(number) = signal {
            let left = self.count.saturating_sub(self.results.len());
            let say = phrases::STOPPED.with("left", left);
            return self.startup.fail(&Notice::info(say), Exit::by_signal(number));
        }
        self.results.sort_by(|a, b| a.task.cmp(&b.task));
        let text = startup::clean(&(table(&self.results) + &after(&self.results)));
        let printed = print_text(self.startup, if self.target.json { "" } else { &text });
        let is_done = self.results.len() >= self.count
            && self.results.iter().all(|result| result.outcome.is_success());
        if printed == Exit::Done && !is_done { Exit::Failed } else { printed }
    }
}

/// The end of a text, to say why a task is not solved.
pub fn text_end(text: &str) -> String {
    const SHOWN: usize = 400;
    let text = text.trim();
    let skipped = text.chars().count().saturating_sub(SHOWN);
    text.chars().skip(skipped).collect()
}
