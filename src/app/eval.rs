//! `avocet eval`: runs tasks in copies of their folders, several at once, and checks the
//! results. A task is a session like any other: its setup and its check are judged and confined like the
//! shell lines of a template with `-y`, and its steps like those of `-p` with `--approve-steps`.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use tokio::time::timeout;

use super::gateway_service::GivenOptions;
use super::runtime::runtime;
use super::session_builder;
use super::startup::{self, Startup};
use super::step_runner::SessionPurpose;
use super::subcommands::{exit_after_writing, print_text};
use crate::cli::args::ApprovalFlags;
use crate::cli::eval::{
    EvalOptions, EvalOutcome, EvalResult, EvalTask, comparison, outcome_word, read_results, table,
    task_name,
};
use crate::cli::headless::{HeadlessEffect, HeadlessTurn, Options};
use crate::cli::{Exit, messages, output};
use avocet_config::foreign_file::read_text;
use avocet_core::i18n::{LocalizedText, cli, eval as phrases};
use avocet_core::protocol::{
    Event, Notice, Op, Outcome, Prompt, PromptPart, Question, SessionOp, TurnOp,
};
use avocet_session::{self as session, Handle};

/// How long a session may take to stop a step that runs too long.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);
/// How much of the output of a failed check is kept, in characters.
const WHY: usize = 400;
/// The largest `task.toml`, and all files of a task together, in bytes.
const MAX_TASK: u64 = 1 << 20;
const MAX_FILES: u64 = 1 << 30;

pub fn run(startup: Startup, given: GivenOptions, options: &EvalOptions, json: bool) -> Exit {
    let wrong = |text: LocalizedText| startup.fail(&Notice::error(text), Exit::WrongUse);
    let open = || -> Result<_, LocalizedText> {
        let tasks = load(options)?;
        let before = options.compare.as_deref().map(compared_results).transpose()?;
        Ok((tasks, before, options.out.as_deref().map(open_results).transpose()?))
    };
    let (tasks, before, opened) = match open() {
        Ok(opened) => opened,
        Err(why) => return wrong(why),
    };
    let (file, done) = opened.unzip();
    let mut results = done.unwrap_or_default();
    let is_done = |folder: &Path| results.iter().any(|done| done.task == task_name(folder));
    let tasks: Vec<_> = tasks.into_iter().filter(|(folder, _)| !is_done(folder)).collect();
    if startup.loaded.settings.connection.is_none() && !options.recorded && !tasks.is_empty() {
        return startup.fail(&Notice::error(cli::NO_MODEL), Exit::Model);
    }
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(error) => return startup.fail_io(&error),
    };
    let run = EvalRun { startup: Arc::new(startup), given: Arc::new(given), options, json, file };
    let written = runtime.block_on(run.play(tasks, &mut results));
    runtime.shutdown_background();
    if written.is_err() {
        return exit_after_writing(&run.startup, written);
    }
    results.sort_by(|a, b| a.task.cmp(&b.task));
    let compared = before.map(|before| comparison(&before, &results));
    let text = startup::clean(&(table(&results) + &compared.unwrap_or_default()));
    let printed = if json { Exit::Done } else { print_text(&run.startup, &text) };
    let is_solved = results.iter().all(|result| result.outcome == EvalOutcome::Solved);
    if printed == Exit::Done && !is_solved { Exit::Failed } else { printed }
}

struct EvalRun<'a> {
    startup: Arc<Startup>,
    given: Arc<GivenOptions>,
    options: &'a EvalOptions,
    json: bool,
    /// What the results are appended to.
    file: Option<File>,
}

impl EvalRun<'_> {
    /// Runs the tasks, so many at once as the options say.
    async fn play(
        &self,
        tasks: Vec<(PathBuf, EvalTask)>,
        results: &mut Vec<EvalResult>,
    ) -> io::Result<()> {
        let mut running = JoinSet::new();
        let mut waiting = tasks.into_iter();
        loop {
            while running.len() < usize::from(self.options.jobs)
                && let Some((folder, task)) = waiting.next()
            {
                let trial = Trial {
                    startup: Arc::clone(&self.startup),
                    given: Arc::clone(&self.given),
                    folder,
                    task,
                    recorded: self.options.recorded,
                };
                running.spawn(trial.run());
            }
            let Some(result) = running.join_next().await else { return Ok(()) };
            let result = result.map_err(io::Error::other)?;
            self.report(&result)?;
            results.push(result);
        }
    }

    /// Appends a result to the file, and writes it as JSON or a line of progress.
    fn report(&self, result: &EvalResult) -> io::Result<()> {
        let line = serde_json::to_string(result)? + "\n";
        if let Some(mut file) = self.file.as_ref() {
            file.write_all(line.as_bytes())?;
        }
        if self.json {
            return messages::write_text(&mut output::stdout(), line);
        }
        let outcome = outcome_word(result.outcome);
        let progress = format!("{}: {outcome} {}", result.task, result.why);
        let progress = startup::clean(&progress.replace(['\r', '\n'], " "));
        messages::write_text(&mut output::stderr(), progress + "\n")
    }
}

fn unread(path: &Path, error: &io::Error) -> LocalizedText {
    phrases::UNREAD.with("path", path.display().to_string()).with("why", error.to_string())
}

fn results_in(bytes: &[u8]) -> Vec<EvalResult> {
    read_results(&String::from_utf8_lossy(bytes))
}

fn compared_results(path: &Path) -> Result<Vec<EvalResult>, LocalizedText> {
    fs::read(path).map(|bytes| results_in(&bytes)).map_err(|error| unread(path, &error))
}

/// Opens the file of results for this run alone, with those that are in it. A half line is ended, so
/// that it takes no result with it.
fn open_results(path: &Path) -> Result<(File, Vec<EvalResult>), LocalizedText> {
    let open = OpenOptions::new().create(true).read(true).append(true).open(path);
    let mut file = open.map_err(|error| unread(path, &error))?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            return Err(phrases::OUT_BUSY.with("path", path.display().to_string()));
        }
        // Some file systems have no locks.
        Ok(()) | Err(TryLockError::Error(_)) => {}
    }
    let bytes = read_and_end_line(&mut file).map_err(|error| unread(path, &error))?;
    Ok((file, results_in(&bytes)))
}

/// A pipe or a device has no earlier results.
fn read_and_end_line(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if file.metadata()?.is_file() {
        file.read_to_end(&mut bytes)?;
    }
    if bytes.last().is_some_and(|last| *last != b'\n') {
        file.write_all(b"\n")?;
    }
    Ok(bytes)
}

/// The tasks of the folder, sorted; those that were named, if any were.
fn load(options: &EvalOptions) -> Result<Vec<(PathBuf, EvalTask)>, LocalizedText> {
    let entries = fs::read_dir(&options.folder).map_err(|error| unread(&options.folder, &error))?;
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

/// What is counted while the model works.
#[derive(Default)]
struct Counts {
    steps: u64,
    questions: u64,
    usage: avocet_core::protocol::Usage,
}

/// How a turn ended, and what it wrote.
struct TrialTurn {
    exit: Exit,
    text: String,
}

impl Trial {
    async fn run(self) -> EvalResult {
        let began = Instant::now();
        let mut counts = Counts::default();
        let outcome = self.solve(&mut counts).await;
        let (outcome, why) = match outcome {
            Ok(()) => (EvalOutcome::Solved, String::new()),
            Err((outcome, why)) => (outcome, why),
        };
        EvalResult {
            task: task_name(&self.folder),
            outcome,
            steps: counts.steps,
            questions: counts.questions,
            usage: counts.usage,
            seconds: began.elapsed().as_secs_f64(),
            why,
        }
    }

    async fn solve(&self, counts: &mut Counts) -> Result<(), (EvalOutcome, String)> {
        let lang = self.startup.lang();
        let failed = |text: LocalizedText| (EvalOutcome::Failed, text.text(lang));
        let temp = self.startup.shared.temp.create_folder("eval");
        let temp = temp.map_err(|error| failed(error.say()))?;
        let mut left = MAX_FILES;
        let copied = copy_folder(&self.folder.join("files"), temp.path(), &mut left);
        copied.map_err(|error| failed(phrases::UNCOPIED.with("why", error.to_string())))?;
        for line in &self.task.setup {
            let done = self.turn(temp.path(), shell(line), &mut Counts::default()).await;
            let done = done.map_err(failed)?;
            if done.exit != Exit::Done {
                let say = phrases::SETUP_FAILED.with("line", line.as_str());
                return Err((EvalOutcome::Failed, say.text(lang) + " " + &tail(&done.text)));
            }
        }
        let submit = Op::Turn(TurnOp::Submit { text: self.task.prompt.clone() });
        let answer = self.turn(temp.path(), submit, counts).await.map_err(failed)?;
        match answer.exit {
            Exit::Limit => return Err((EvalOutcome::Limit, tail(&answer.text))),
            Exit::Model => return Err((EvalOutcome::Failed, tail(&answer.text))),
            _ => {}
        }
        if !self.task.accepts(&answer.text) {
            return Err((EvalOutcome::Unsolved, tail(&answer.text)));
        }
        let Some(check) = &self.task.check else { return Ok(()) };
        let copied = copy_folder(&self.folder.join("check"), temp.path(), &mut left);
        copied.map_err(|error| failed(phrases::UNCOPIED.with("why", error.to_string())))?;
        let checked = self.turn(temp.path(), shell(check), &mut Counts::default()).await;
        let checked = checked.map_err(failed)?;
        match checked.exit {
            Exit::Done => Ok(()),
            Exit::Limit => Err((EvalOutcome::Limit, phrases::CHECK_LATE.text(lang).to_owned())),
            _ => Err((EvalOutcome::Unsolved, tail(&checked.text))),
        }
    }

    /// Runs a turn in a session of its own, within the time of the task.
    async fn turn(
        &self,
        work: &Path,
        op: Op,
        counts: &mut Counts,
    ) -> Result<TrialTurn, LocalizedText> {
        let mut settings = GivenOptions::clone(&self.given);
        settings.extend(self.task.settings());
        if self.recorded {
            let replies = self.folder.join("replies").display().to_string();
            settings.push(("model", format!("scripted:{replies}")));
        }
        let own = self.startup.in_folder(work.to_owned(), Some(work), &settings);
        let built = session_builder::build(&own, None, SessionPurpose::Print);
        let config = built.map_err(|failure| failure.notice.say.clone())?;
        let options = Options {
            json: false,
            approved: ApprovalFlags {
                steps: Some("eval"),
                template_commands: true,
                ..ApprovalFlags::default()
            },
            has_user: false,
            schema: None,
            printer: self.startup.printer(),
            clean: str::to_owned,
            secrets: Arc::clone(&config.security.redactor),
        };
        let mut handle = session::start(config);
        let mut turn = HeadlessTurn::new(&options, &op);
        let mut text = String::new();
        let limit = Duration::from_secs(self.task.limits.seconds);
        let played = timeout(limit, play(&mut handle, &mut turn, op, counts, &mut text)).await;
        let exit = played.unwrap_or(Exit::Limit);
        // A step that runs too long ends with its session.
        let _ = handle.ops.try_send(Op::Session(SessionOp::Shutdown).into());
        let ending = async { while handle.events.recv().await.is_some() {} };
        if timeout(STOP_TIMEOUT, ending).await.is_err() {
            handle.task.abort();
        }
        Ok(TrialTurn { exit, text })
    }
}

/// Runs a line as that of a template: the model may have written what it starts.
fn shell(line: &str) -> Op {
    let parts = vec![PromptPart::Text("-".to_owned()), PromptPart::Shell(line.to_owned())];
    Op::Turn(TurnOp::Render { prompt: Box::new(Prompt { parts, ..Prompt::default() }) })
}

async fn play(
    handle: &mut Handle,
    turn: &mut HeadlessTurn<'_>,
    op: Op,
    counts: &mut Counts,
    text: &mut String,
) -> Exit {
    let is_line = matches!(op, Op::Turn(TurnOp::Render { .. }));
    let mut line_exit = None;
    let mut effects = vec![HeadlessEffect::Send(op)];
    loop {
        for effect in effects {
            match effect {
                HeadlessEffect::Send(op) => drop(handle.ops.send(op.into()).await),
                HeadlessEffect::Out(_) if is_line => {}
                HeadlessEffect::Out(line) => {
                    text.push_str(&line);
                    text.push('\n');
                }
                HeadlessEffect::End(exit) => return line_exit.unwrap_or(exit),
                HeadlessEffect::Tell(_) | HeadlessEffect::Ask(_) => {}
            }
        }
        let Some(event) = handle.events.recv().await else { return Exit::Failed };
        match event.of_any_agent() {
            Event::StepStarted { .. } => counts.steps += 1,
            Event::Asked(ask) if matches!(ask.question, Question::Step(_)) => counts.questions += 1,
            Event::StepFinished(seen) if is_line => {
                *text = format!("{}\n{}", seen.stdout, seen.stderr);
                // However much it wrote.
                line_exit = match seen.outcome {
                    Outcome::TimedOut => Some(Exit::Limit),
                    _ if seen.succeeded() => Some(Exit::Done),
                    _ => None,
                };
            }
            _ => {}
        }
        if let Event::TurnEnded { usage, .. } = &event {
            counts.usage = counts.usage.plus(*usage);
        }
        effects = turn.on_event(&event);
    }
}

/// The end of a text.
fn tail(text: &str) -> String {
    let text = text.trim();
    let skipped = text.chars().count().saturating_sub(WHY);
    text.chars().skip(skipped).collect()
}

/// Copies what a folder contains over another one: links as links, and through none. There may be no
/// such folder. `left`: how many bytes it may have.
fn copy_folder(from: &Path, to: &Path, left: &mut u64) -> io::Result<()> {
    match from.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Ok(meta) if !meta.is_dir() => return Err(io::ErrorKind::NotADirectory.into()),
        Ok(_) | Err(_) => {}
    }
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        let meta = entry.metadata()?;
        match target.symlink_metadata() {
            Ok(there) if there.is_dir() && meta.is_dir() => {}
            Ok(there) if there.is_dir() => fs::remove_dir_all(&target)?,
            Ok(_) => fs::remove_file(&target)?,
            Err(_) => {}
        }
        if meta.is_dir() {
            fs::create_dir_all(&target)?;
            copy_folder(&path, &target, left)?;
        } else if meta.is_symlink() {
            symlink(fs::read_link(&path)?, &target)?;
        } else if meta.is_file() {
            *left = left.checked_sub(meta.len()).ok_or(io::ErrorKind::FileTooLarge)?;
            let mode = meta.permissions().mode() & 0o777;
            let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&target);
            io::copy(&mut File::open(&path)?, &mut file?)?;
        }
    }
    Ok(())
}
