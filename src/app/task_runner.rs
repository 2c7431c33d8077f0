//! Runs tasks of `eval` and `batch`, several at once, and keeps their results in a file whose tasks
//! are not run again.

use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use tokio::task::JoinSet;

use super::startup::Startup;
use super::subcommands::print_text;
use crate::cli::task_results::{ResultOutcome, TaskResult, read_results, table};
use crate::cli::{Exit, messages, output};
use avocet_core::i18n::eval as phrases;
use avocet_core::protocol::Notice;

/// Where results go.
#[derive(Clone, Copy)]
pub struct ResultTarget<'a> {
    pub file: Option<&'a Path>,
    /// Write them to standard output as well, as JSON.
    pub json: bool,
}

/// What the tasks have in common.
pub struct TaskRunner<'a> {
    pub startup: &'a Startup,
    pub jobs: u8,
    pub target: ResultTarget<'a>,
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
        if let Some(file) = self.target.file {
            append_line(file, &line)?;
        }
        self.results.retain(|earlier| earlier.task != result.task);
        let done = self.results.len() + 1;
        let TaskResult { task, why, .. } = &result;
        let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
        let progress = format!("{done}/{}: {task} {}{why}", self.count, result.outcome.word());
        self.results.push(result);
        messages::write_text(&mut output::stderr(), progress.replace(['\r', '\n'], " ") + "\n")?;
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
            let file = self.target.file.map_or(String::new(), |file| file.display().to_string());
            let say = phrases::UNWRITTEN.with("path", file).with("why", error.to_string());
            return self.startup.fail(&Notice::error(say), Exit::Failed);
        }
        if let Some(number) = signal {
            let left = self.count.saturating_sub(self.results.len());
            let say = phrases::STOPPED.with("left", left);
            return self.startup.fail(&Notice::info(say), Exit::by_signal(number));
        }
        self.results.sort_by(|a, b| a.task.cmp(&b.task));
        let text = table(&self.results) + &after(&self.results);
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

/// The results in a file, without those of tasks that failed: these are run again.
pub fn done_results(file: Option<&Path>) -> Vec<TaskResult> {
    let text = file.map(fs::read_to_string).and_then(Result::ok);
    let mut results = read_results(&text.unwrap_or_default());
    results.retain(|result| result.outcome != ResultOutcome::Failed);
    results
}

/// Appends a line, after the end of one that was not written whole.
fn append_line(file: &Path, line: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).read(true).append(true).open(file)?;
    let mut last = [b'\n'];
    if file.seek(SeekFrom::End(-1)).is_ok() {
        file.read_exact(&mut last)?;
    }
    let gap = if last == [b'\n'] { "" } else { "\n" };
    file.write_all(format!("{gap}{line}").as_bytes())
}
