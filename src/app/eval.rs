//! `avocet eval`: runs tasks in copies of their folders or in worktrees, several at once, and checks
//! the results. A task is a session like any other: its setup and its check are judged and
//! confined like the shell lines of a template with `-y`, and its steps like those of `-p` with
//! `--approve-steps`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::gateway_service::GivenOptions;
use super::runtime::runtime;
use super::startup::Startup;
use super::task_folder::{TaskFolder, copy_files};
use super::task_runner::{ResultFile, ResultTarget, TaskRunner, read_whole, text_end, unread};
use super::task_turn::{TaskTurn, TaskTurnEnd, until_signal};
use crate::cli::Exit;
use crate::cli::args::ApprovalFlags;
use crate::cli::eval::{EvalOptions, EvalTask, comparison, task_name};
use crate::cli::task_results::{ResultOutcome, TaskResult, done_tasks, read_results};
use avocet_config::foreign_file::read_text;
use avocet_core::i18n::{LocalizedText, cli, eval as phrases};
use avocet_core::protocol::{Notice, Op, Prompt, PromptPart, TurnOp};
use avocet_tools::git_worktree::name_from;

/// The largest `task.toml`, in bytes.
const MAX_TASK: u64 = 1 << 20;

pub fn run(startup: Startup, given: GivenOptions, options: &EvalOptions, json: bool) -> Exit {
    let wrong = |text: LocalizedText| startup.fail(&Notice::error(text), Exit::WrongUse);
    let open = || -> Result<_, LocalizedText> {
        let tasks = load(options)?;
        let before = options.compare.as_deref().map(read_whole).transpose()?;
        let before = before.map(|text| read_results(&text));
        Ok((tasks, before, options.out.as_deref().map(ResultFile::open).transpose()?))
    };
    let (tasks, before, opened) = match open() {
        Ok(opened) => opened,
        Err(why) => return wrong(why),
    };
    let (file, done) = opened.unzip();
    let results = done.unwrap_or_default();
    let done_tasks = done_tasks(&results);
    let is_done = |folder: &Path| done_tasks.contains(&task_name(folder));
    let tasks: Vec<_> = tasks.into_iter().filter(|(folder, _)| !is_done(folder)).collect();
    let count = results.len() + tasks.len();
    if startup.loaded.settings.connection.is_none() && !options.recorded && !tasks.is_empty() {
        return startup.fail(&Notice::error(cli::NO_MODEL), Exit::Model);
    }
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(error) => return startup.fail_io(&error),
    };
    let startup = Arc::new(startup);
    let given = Arc::new(given);
    let start = |(folder, task)| {
        let recorded = options.recorded;
        let startup = Arc::clone(&startup);
        Trial { startup, given: Arc::clone(&given), folder, task, recorded }.run()
    };
    let target = ResultTarget { file, json };
    let mut runner = TaskRunner { startup: &startup, jobs: options.jobs, target, results, count };
    let done = runtime.block_on(until_signal(&startup, runner.run_all(tasks, start)));
    runtime.shutdown_background();
    runner.finish(done, |results| {
        before.as_ref().map_or(String::new(), |before| comparison(before, results))
    })
}

/// The tasks of the folder, sorted; those that were named, if any were.
fn load(options: &EvalOptions) -> Result<Vec<(PathBuf, EvalTask)>, LocalizedText> {
    let entries = fs::read_dir(&options.folder)
        .map_err(|error| unread(&options.folder, error.to_string()))?;
    let mut folders: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|folder| folder.join("task.toml").is_file())
        .filter(|folder| options.only.is_empty() || options.only.contains(&task_name(folder)))
        .collect();
    folders.sort();
    if let Some(missing) =
        options.only.iter().find(|name| !folders.iter().any(|it| task_name(it) == **name))
    {
        return Err(phrases::NO_TASK.with("task", missing.as_str()));
    }
    if folders.is_empty() {
        return Err(phrases::NO_TASKS.with("folder", options.folder.display().to_string()));
    }
    let read = |folder: PathBuf| {
        let file = folder.join("task.toml");
        let text =
            read_text(&file, MAX_TASK).and_then(|text| EvalTask::parse(&text.unwrap_or_default()));
        let task =
            text.map_err(|why| phrases::IN_TASK.with("task", task_name(&folder)).with("why", why))?;
        Ok((folder, task))
    };
    folders.into_iter().map(read).collect()
}

/// One task that runs.
struct Trial {
    startup: Arc<Startup>,
    given: Arc<GivenOptions>,
    folder: PathBuf,
    task: EvalTask,
    /// The model's replies come from the task's own file.
    recorded: bool,
}

impl Trial {
    /// `None`: it was stopped.
    async fn run(self) -> Option<TaskResult> {
        let began = Instant::now();
        let mut result = TaskResult::begun(&task_name(&self.folder));
        if let Err((outcome, why)) = self.solve(&mut result).await {
            result.outcome = outcome;
            result.why = why;
        }
        let is_stopped = self.startup.shared.leaving.is_cancelled();
        let result = TaskResult { seconds: began.elapsed().as_secs_f64(), ..result };
        (!is_stopped).then_some(result)
    }

    async fn solve(&self, result: &mut TaskResult) -> Result<(), (ResultOutcome, String)> {
        let lang = self.startup.lang();
        let failed = |text: LocalizedText| (ResultOutcome::Failed, text.text(lang));
        let files = self.folder.join("files");
        let Some(repository) = &self.task.repo else {
            let copy = TaskFolder::copy_of(&self.startup, &files).map_err(failed)?;
            return self.solve_in(copy.path(), result).await;
        };
        let repository = self.folder.join(repository);
        let name = name_from(&task_name(&self.folder));
        let worktree = TaskFolder::worktree_of(&self.startup, &repository, &name).await;
        let worktree = worktree.map_err(failed)?;
        let solved = match copy_files(&files, worktree.path()) {
            Ok(()) => self.solve_in(worktree.path(), result).await,
            Err(why) => Err(failed(why)),
        };
        worktree.discard().await.map_err(|why| failed(phrases::LEFT.with("why", why)))?;
        solved
    }

    async fn solve_in(
        &self,
        work: &Path,
        result: &mut TaskResult,
    ) -> Result<(), (ResultOutcome, String)> {
        let lang = self.startup.lang();
        let failed = |text: LocalizedText| (ResultOutcome::Failed, text.text(lang));
        for line in &self.task.setup {
            let done = self.turn(work, shell(line)).await.map_err(failed)?;
            if done.exit != Exit::Done {
                let say = phrases::SETUP_FAILED.with("line", line.as_str());
                return Err((ResultOutcome::Failed, say.text(lang) + " " + &text_end(&done.text)));
            }
        }
        let submit = Op::Turn(TurnOp::Submit { text: self.task.prompt.clone() });
        let answer = self.turn(work, submit).await.map_err(failed)?;
        result.steps = answer.steps;
        result.questions = answer.questions;
        result.usage = answer.usage;
        match answer.exit {
            Exit::Limit => return Err((ResultOutcome::Limit, text_end(&answer.text))),
            Exit::Model => return Err((ResultOutcome::Failed, text_end(&answer.text))),
            _ => {}
        }
        if !self.task.accepts(&answer.text) {
            return Err((ResultOutcome::Unsolved, text_end(&answer.text)));
        }
        let Some(check) = &self.task.check else { return Ok(()) };
        copy_files(&self.folder.join("check"), work).map_err(failed)?;
        let checked = self.turn(work, shell(check)).await.map_err(failed)?;
        match checked.exit {
            Exit::Done => Ok(()),
            Exit::Limit => Err((ResultOutcome::Limit, phrases::CHECK_LATE.text(lang).to_owned())),
            _ => Err((ResultOutcome::Unsolved, text_end(&checked.text))),
        }
    }

    /// Runs a turn in a session of its own, within the time of the task.
    async fn turn(&self, work: &Path, op: Op) -> Result<TaskTurnEnd, LocalizedText> {
        let mut settings = GivenOptions::clone(&self.given);
        settings.extend(self.task.limits.settings());
        if self.recorded {
            let replies = self.folder.join("replies").display().to_string();
            settings.push(("model", format!("scripted:{replies}")));
        }
        let startup = self.startup.in_folder(work.to_owned(), Some(work), &settings);
        let approved = ApprovalFlags {
            steps: Some("eval"),
            template_commands: true,
            ..ApprovalFlags::default()
        };
        let limit = Duration::from_secs(self.task.limits.seconds);
        TaskTurn { startup: &startup, approved, schema: None, limit }.run(op, &mut io::sink()).await
    }
}

/// Runs a line as that of a template: the model may have written what it starts.
fn shell(line: &str) -> Op {
    let parts = vec![PromptPart::Text("-".to_owned()), PromptPart::Shell(line.to_owned())];
    Op::Turn(TurnOp::Render { prompt: Box::new(Prompt { parts, ..Prompt::default() }) })
}
