//! `avocet batch`: runs the tasks of a file as `-p` would, each in a worktree or a copy of its own, and
//! collects patches, logs and results. On other machines it runs for one task each.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::cluster;
use super::folder_trust::TrustState;
use super::gateway_service::GivenOptions;
use super::runtime::runtime;
use super::startup::Startup;
use super::task_folder::{PatchBase, TaskFolder};
use super::task_runner::{ResultFile, ResultTarget, TaskRunner, read_whole, text_end, unread};
use super::task_turn::{TaskTurn, until_signal};
use crate::cli::Exit;
use crate::cli::args::ApprovalFlags;
use crate::cli::batch::{BatchOptions, BatchTask, parse_tasks};
use crate::cli::cluster::BatchPlace;
use crate::cli::task_results::{ResultOutcome, TaskResult, done_tasks, read_results};
use avocet_config::atomic_file;
use avocet_core::i18n::{LocalizedText, batch as phrases, cli, eval};
use avocet_core::protocol::{Notice, Op, TurnOp};

pub fn run(
    startup: Startup,
    given: GivenOptions,
    options: &BatchOptions,
    (json, approved): (bool, ApprovalFlags),
) -> Exit {
    startup.report_problems();
    let wrong = |text: LocalizedText| startup.fail(&Notice::error(text), Exit::WrongUse);
    let has_no_image = options.image.is_none() || options.volume.is_none();
    if options.on == Some(BatchPlace::Kubernetes) && has_no_image {
        return wrong(phrases::NEEDS_IMAGE.into());
    }
    let (tasks, out) = match load(options) {
        Ok(loaded) => loaded,
        Err(why) => return wrong(why),
    };
    let has_model = startup.loaded.settings.connection.is_some();
    if !has_model && options.on.is_none() && tasks.iter().any(|(_, task)| task.model.is_none()) {
        return startup.fail(&Notice::error(cli::NO_MODEL), Exit::Model);
    }
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(error) => return startup.fail_io(&error),
    };
    let startup = Arc::new(startup);
    let given = Arc::new(given);
    let start = |(place, task)| {
        let startup = Arc::clone(&startup);
        let (given, out) = (Arc::clone(&given), out.clone());
        BatchTrial { startup, given, approved, place, out, task }.run()
    };
    if let Some(line) = options.line {
        let Some(task) = tasks.into_iter().find(|(_, task)| task.line == line) else {
            return startup
                .fail(&Notice::error(phrases::NO_LINE.with("line", line)), Exit::WrongUse);
        };
        let file = task.1.single_result(&out);
        let done = runtime.block_on(until_signal(&startup, run_one(&file, start(task))));
        runtime.shutdown_background();
        return finish_one(&startup, &file, done);
    }
    let (file, results) = match ResultFile::open(&out.join("results.jsonl")) {
        Ok(opened) => opened,
        Err(why) => return startup.fail(&Notice::error(why), Exit::WrongUse),
    };
    let done_tasks = done_tasks(&results);
    let tasks = tasks.into_iter().filter(|(_, task)| !done_tasks.contains(&task.id));
    let tasks: Vec<_> = tasks.collect();
    let count = results.len() + tasks.len();
    let target = ResultTarget { file: Some(file), json };
    let mut runner = TaskRunner { startup: &startup, jobs: options.jobs, target, results, count };
    let work = async {
        match &options.on {
            Some(place) if !tasks.is_empty() => {
                let tasks = tasks.into_iter().map(|(_, task)| task).collect();
                cluster::run(&mut runner, options, place, &out, tasks).await
            }
            _ => runner.run_all(tasks, start).await,
        }
    };
    let done = runtime.block_on(until_signal(&startup, work));
    runtime.shutdown_background();
    runner.finish(done, |_| String::new())
}

/// The tasks with their folders, and the folder of the results.
fn load(options: &BatchOptions) -> Result<(Vec<(PathBuf, BatchTask)>, PathBuf), LocalizedText> {
    let file = &options.tasks;
    let text = read_whole(file)?;
    let base = file.canonicalize().map_err(|error| unread(file, error.to_string()))?;
    let base = base.parent().unwrap_or(Path::new("/"));
    let placed = |task: BatchTask| {
        let place = task.place(base);
        match place.canonicalize().ok().filter(|place| place.is_dir()) {
            Some(place) => Ok((place, task)),
            None => {
                let why = phrases::NO_FOLDER.with("path", place.display().to_string());
                Err(phrases::IN_LINE.with("line", task.line).with("why", why))
            }
        }
    };
    let tasks = parse_tasks(&text)?.into_iter().map(placed).collect::<Result<_, _>>()?;
    let out = &options.out;
    let made = fs::create_dir_all(out).and_then(|()| out.canonicalize());
    let unwritten = |error: io::Error| {
        let say = eval::UNWRITTEN.with("path", out.display().to_string());
        say.with("why", error.to_string())
    };
    Ok((tasks, made.map_err(unwritten)?))
}

/// Runs a task unless it has its result; a machine that starts it again does no harm.
async fn run_one(file: &Path, trial: impl Future<Output = Option<TaskResult>>) -> io::Result<()> {
    if !read_results(&read_whole(file).unwrap_or_default()).is_empty() {
        return Ok(());
    }
    match trial.await {
        Some(result) => atomic_file::write(file, &(serde_json::to_string(&result)? + "\n")),
        None => Ok(()),
    }
}

fn finish_one(
    startup: &Startup,
    file: &Path,
    (done, signal): (Option<io::Result<()>>, Option<i32>),
) -> Exit {
    match (done, signal) {
        (_, Some(number)) => Exit::by_signal(number),
        (Some(Err(error)), None) => {
            let say = eval::UNWRITTEN.with("path", file.display().to_string());
            startup.fail(&Notice::error(say.with("why", error.to_string())), Exit::Failed)
        }
        (Some(Ok(())) | None, None) => Exit::Done,
    }
}

/// One task that runs.
struct BatchTrial {
    startup: Arc<Startup>,
    given: Arc<GivenOptions>,
    approved: ApprovalFlags,
    /// The folder or the repository of the task.
    place: PathBuf,
    out: PathBuf,
    task: BatchTask,
}

impl BatchTrial {
    /// `None`: it was stopped.
    async fn run(self) -> Option<TaskResult> {
        let began = Instant::now();
        let mut result = TaskResult::begun(&self.task.id);
        if let Err(why) = self.work(&mut result).await {
            result.outcome = ResultOutcome::Failed;
            result.why = why.text(self.startup.lang());
        }
        let is_stopped = self.startup.shared.leaving.is_cancelled();
        result.seconds = began.elapsed().as_secs_f64();
        (!is_stopped).then_some(result)
    }

    async fn work(&self, result: &mut TaskResult) -> Result<(), LocalizedText> {
        let folder = match self.task.repo {
            Some(_) => TaskFolder::worktree_of(&self.startup, &self.place, &self.task.id).await?,
            None => TaskFolder::copy_of(&self.startup, &self.place)?,
        };
        let base = PatchBase::of(&self.startup, &folder).await?;
        let worked = self.turn(&folder, result).await;
        // Without a patch, the worktree stays with what was done in it.
        base.write_patch(&folder, &self.file("patch")).await?;
        folder.discard().await.map_err(|why| eval::LEFT.with("why", why))?;
        worked
    }

    fn file(&self, end: &str) -> PathBuf {
        self.out.join(format!("{}.{end}", self.task.id))
    }

    async fn turn(
        &self,
        folder: &TaskFolder,
        result: &mut TaskResult,
    ) -> Result<(), LocalizedText> {
        let unwritten = |error: io::Error| {
            let path = self.file("log").display().to_string();
            eval::UNWRITTEN.with("path", path).with("why", error.to_string())
        };
        let mut log = File::create(self.file("log")).map_err(unwritten)?;
        let startup = self.startup_in(folder);
        let limit = Duration::from_secs(self.task.limits.seconds);
        let turn = TaskTurn { startup: &startup, approved: self.approved, schema: None, limit };
        let submit = Op::Turn(TurnOp::Submit { text: self.task.prompt.clone() });
        let end = turn.run(submit, &mut log).await?;
        log.write_all(end.text.as_bytes()).map_err(unwritten)?;
        result.steps = end.steps;
        result.questions = end.questions;
        result.usage = end.usage;
        result.outcome = match end.exit {
            Exit::Done => ResultOutcome::Done,
            Exit::Blocked => ResultOutcome::Blocked,
            Exit::Limit => ResultOutcome::Limit,
            _ => ResultOutcome::Failed,
        };
        if end.exit != Exit::Done {
            result.why = text_end(&end.text);
        }
        Ok(())
    }

    /// The program in the folder of the task, which is trusted where what it was made of is.
    fn startup_in(&self, folder: &TaskFolder) -> Startup {
        let mut settings = GivenOptions::clone(&self.given);
        settings.extend(self.task.settings());
        let named = self.startup.trust.trusted_folder.as_deref();
        let named = match folder {
            TaskFolder::Worktree(_) => named,
            TaskFolder::Copy(copy) => {
                let trust = TrustState::load(&self.place, named, &self.startup.paths);
                trust.is_trusted().then_some(copy.path())
            }
        };
        let mut startup = self.startup.in_folder(folder.path().to_owned(), named, &settings);
        startup.run_options.mode = self.task.approval_mode().or(startup.run_options.mode);
        startup
    }
}
