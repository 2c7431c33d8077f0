//! Runs programs; no other module does.
//!
//! A step's program is started as the file that was judged, with its arguments as
//! they are: no shell, no lookup, nothing on its input, a clean environment, a session
//! of its own. Whatever it does then, fork, flood, ignore signals or hold the pipe
//! open, it ends in bounded time and memory, and nothing of it is left.
//!
//! Not in here: whether it may run (`safety`), and what its output means (`parse`).

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::output_file::OutputFile;
use super::sandbox::Confined;
use super::sandbox::denied::SandboxBounds;
use super::sandbox::guarded::{FileGuard, PutBack};
use super::{BackgroundControl, PipedOutput, RunControl, ShellInput, Tool, ToolSpec, parse};
use avocet_core::i18n::{LocalizedText, exec as phrases};
use avocet_core::protocol::{
    Observation, Outcome, ParsedOutput, Reason, SandboxDenial, SandboxStatus, StepAction, Tier,
};
use avocet_safety::{ClearedStep, Judgement};

mod bounds;
mod capture;
mod diff_filter;
pub mod editor;
mod environment;
mod format;
mod git;
mod group_guard;
mod helper;
pub mod keeper;
mod kept;
pub mod key_command;
mod live_output;
mod named_files;
mod own_git;
mod own_program;
mod plugins;
mod ports;
mod process_group;
mod process_id;
mod script;
pub mod server;
mod setup;
mod spawn;
mod step_log;
mod supervise;
mod terminal;
pub mod watchdog;

pub use environment::{ChildEnvironment, Variables};
pub use helper::{
    HelperProgram, ask_helper, read_bytes_from_helper, read_from_helper, write_to_helper,
};
pub use kept::KeptJob;
pub use own_git::{run_git, run_git_into};
pub use own_program::{CollectedOutput, run_user_program};
pub use plugins::run_with_terminal;
pub use process_group::StepWatch;
pub use setup::{Exec, Setup, StepLimits};
pub use watchdog::Watchdog;

use capture::CapturedText;
use process_group::PausedSteps;
use process_group::daemons::DaemonRule;
use spawn::{ChildStreams, StepStartError};
use supervise::{ChildOutput, Finished, KeptStep, Pipes, StepEnd, Supervised, Times};

impl Tool for Exec {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "exec",
            about: phrases::ABOUT,
            prompt: "exec: run a program with its args, no shell; input is closed; of long output the \
         ends come back; background: true lets it run on",
        }
    }

    fn run(&self, step: ClearedStep, control: RunControl) -> BoxFuture<'static, Observation> {
        let exec = self.clone();
        async move { run(&exec, &step, None, &control).await.observation }.boxed()
    }

    fn run_piped(
        &self,
        step: ClearedStep,
        input: ShellInput,
        control: RunControl,
    ) -> BoxFuture<'static, PipedOutput> {
        let exec = self.clone();
        async move { run(&exec, &step, Some(input), &control).await }.boxed()
    }

    fn run_in_terminal(
        &self,
        step: ClearedStep,
        control: RunControl,
    ) -> BoxFuture<'static, Observation> {
        let exec = self.clone();
        async move {
            let _paused = pause_others(&exec, step.judgement(), &control).await;
            let looked = guard_files(&exec, step.judgement(), true).await;
            let mut seen = terminal::run(&exec, &step, &control).await;
            unguard_files(looked, &mut seen, (&exec.setup, Vec::new())).await;
            seen
        }
        .boxed()
    }

    fn sandbox_status(&self) -> BoxFuture<'static, Option<SandboxStatus>> {
        let sandbox = Arc::clone(&self.sandbox);
        let tried = tokio::task::spawn_blocking(move || sandbox.status());
        // A trial that broke off counts as no sandbox.
        async move { Some(tried.await.unwrap_or(SandboxStatus::Absent)) }.boxed()
    }
}

/// `input`: the step is a shell piece of a template and reads this.
async fn run(
    exec: &Exec,
    step: &ClearedStep,
    input: Option<ShellInput>,
    control: &RunControl,
) -> PipedOutput {
    let judged = step.judgement();
    let mut left = Vec::new();
    // The user wrote the line. What others changed that run beside it is put back all the same.
    let by_hand = input.is_none() && matches!(judged.step.work, StepAction::Shell { .. });
    if judged.risk.tier == Tier::L0 && !by_hand {
        return run_without_file_guard(exec, step, (input, control), &mut left).await;
    }
    let _paused = pause_others(exec, judged, control).await;
    let looked = guard_files(exec, judged, by_hand).await;
    let mut ended = run_without_file_guard(exec, step, (input, control), &mut left).await;
    unguard_files(looked, &mut ended.observation, (&exec.setup, left)).await;
    ended
}

/// What they changed is put back before it starts, and they change nothing more until it ends.
async fn pause_others(
    exec: &Exec,
    judged: &Judgement,
    control: &RunControl,
) -> Option<PausedSteps> {
    if !judged.launch.needs.pauses_others {
        return None;
    }
    let folders = vec![exec.sandbox.workspace().to_owned(), std::env::temp_dir()];
    let (place, folder) = (exec.steps.kept_jobs.clone(), exec.sandbox.workspace().to_owned());
    let kept = move || place.map(|it| KeptJob::marks_around(&it, &folder)).unwrap_or_default();
    tokio::select! {
        paused = PausedSteps::pause(DaemonRule::outside(folders), kept) => paused,
        () = control.cancel.cancelled() => None,
    }
}

/// A look at the guarded files before a step, and what was put back then; `None`: it broke off.
type FirstLook = Option<(FileGuard, PutBack)>;

async fn guard_files(exec: &Exec, judged: &Judgement, by_hand: bool) -> FirstLook {
    let sandbox = Arc::clone(&exec.sandbox);
    let judged = judged.clone();
    tokio::task::spawn_blocking(move || sandbox.guard_files(&judged, by_hand)).await.ok()
}

/// `left`: processes that the step left running on purpose.
async fn unguard_files(
    looked: FirstLook,
    observation: &mut Observation,
    (setup, left): (&Setup, Vec<i32>),
) {
    let Some((guard, before)) = looked else { return };
    let after = tokio::task::spawn_blocking(move || guard.end(&left)).await.unwrap_or_default();
    record_put_back(observation, setup, vec![before, after]);
}

async fn run_without_file_guard(
    exec: &Exec,
    step: &ClearedStep,
    (input, watch): (Option<ShellInput>, &RunControl),
    left: &mut Vec<i32>,
) -> PipedOutput {
    let judged = step.judgement();
    let setup = &exec.setup;
    let none =
        |outcome, say| PipedOutput { observation: not_run(judged, outcome, say), output: None };
    if watch.cancel.is_cancelled() || exec.steps.exiting.is_cancelled() {
        return none(Outcome::Cancelled, LocalizedText::from(phrases::CANCELLED));
    }
    let began = Instant::now();
    let is_piece = input.is_some();
    if let (false, Some(say)) = (is_piece, terminal::refusal(exec, judged)) {
        return none(Outcome::NotStarted, say);
    }
    let streams = input.map_or(ChildStreams::Closed, ChildStreams::Piped);
    let learned = named_files::learn_secrets(judged, setup.redactor.as_ref());
    let (started, ()) = tokio::join!(spawn::start(exec, step, streams, &watch.cancel), learned);
    let (running, inside) = match started {
        Ok(started) => started,
        Err(StepStartError::Unable(say)) => return none(Outcome::NotStarted, say),
        Err(StepStartError::Changed(say)) => return none(Outcome::Refused, say),
        Err(StepStartError::Cancelled) => {
            return none(Outcome::Cancelled, LocalizedText::from(phrases::CANCELLED));
        }
    };
    let live = live_output::LiveOutput::new(watch.output.clone(), setup.lang);
    let output = ChildOutput::new(live, output_buffer(is_piece), setup.redactor.as_ref());
    let output = if judged.launch.filters_diffs { output.with_diff_filter() } else { output };
    let times = step_times(exec, judged, inside.as_ref(), is_piece);
    let most = times.timeout;
    let ended = supervise::supervise(running, watch, times, &exec.steps.exiting, output).await;
    let finished = match ended {
        Supervised::Finished(finished) => *finished,
        Supervised::Kept(kept) => {
            // Its temporary folder stays for as long as it runs.
            inside.iter().for_each(|inside| exec.sandbox.leave_folder(inside));
            std::mem::forget(inside);
            return follow_kept(*kept, watch, not_run(judged, Outcome::Ran, phrases::KEPT.into()))
                .await;
        }
    };
    left.clone_from(&finished.leftovers.spared);
    let elapsed = began.elapsed();
    let walls = inside.as_ref().and_then(|inside| inside.bounds().cloned());
    // Its folder may hold much; its removal is not waited for.
    tokio::task::spawn_blocking(move || drop(inside));
    let mut observation =
        not_run(judged, outcome(finished.end), LocalizedText::from(phrases::CANCELLED));
    observation.note = end_note(&finished, || time_note(judged, most, &setup.limits, is_piece));
    observation.exit_code = code(&finished);
    observation.duration_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
    let output = process_output(&mut observation, setup, finished.output, &watch.background).await;
    if let Some(walls) = walls.filter(|_| observation.outcome == Outcome::Ran) {
        record_denial(&mut observation, &walls, &judged.cwd);
        note_unseen_processes(&mut observation);
    }
    let hint = || (!is_piece).then(|| terminal::hint(exec, judged)).flatten();
    explain_failure(&mut observation, hint);
    PipedOutput { observation, output: output.filter(|output| output.len() <= PIECE) }
}

fn step_times(exec: &Exec, judged: &Judgement, inside: Option<&Confined>, is_piece: bool) -> Times {
    let limits = &exec.setup.limits;
    let timeout = time_limit(judged, limits, is_piece);
    Times {
        timeout,
        is_final: judged.step.requires.timeout_s.is_some() && timeout < limits.approved,
        grace: limits.grace,
        processes: bounds::is_limited(judged).then_some(usize::from(bounds::PROCESSES)),
        daemons: daemon_rule(judged, inside),
        run_folder: inside.and_then(|inside| exec.sandbox.run_folder_of(inside)),
    }
}

/// How long it may run. A model may say less or, of a step that runs by itself, more.
fn time_limit(judged: &Judgement, limits: &StepLimits, is_piece: bool) -> Duration {
    let named = judged.step.requires.timeout_s.map(|seconds| Duration::from_secs(seconds.into()));
    match (judged.risk.tier, named) {
        // Only a hook names one.
        (_, None) if is_piece => limits.piece,
        (_, Some(named)) => named.min(limits.approved),
        (Tier::L0, None) => limits.alone,
        (Tier::L1 | Tier::L2, None) => limits.approved,
    }
}

fn time_note(
    judged: &Judgement,
    most: Duration,
    limits: &StepLimits,
    is_piece: bool,
) -> LocalizedText {
    let seconds = most.as_secs();
    match judged.step.work {
        StepAction::Exec { .. } if !is_piece => {
            phrases::TIMED_OUT_STEP.with("seconds", seconds).with("most", limits.approved.as_secs())
        }
        _ => phrases::TIMED_OUT.with("seconds", seconds),
    }
}

/// Says what was put back, and adds it to what the user is asked about.
fn record_put_back(observation: &mut Observation, setup: &Setup, put_back: Vec<PutBack>) {
    let paths = put_back.iter().flat_map(|done| &done.paths);
    let short =
        |path: &PathBuf| path.strip_prefix(&observation.cwd).unwrap_or(path).display().to_string();
    let names: Vec<String> = paths.map(short).collect();
    if names.is_empty() {
        return;
    }
    let most = names.get(..NAMED).unwrap_or(&names).join(", ");
    observation.note = Some(phrases::PUT_BACK.with("files", most));
    let texts = put_back.into_iter().flat_map(|done| done.texts).take(NAMED);
    observation.put_back = texts
        .map(|(path, text)| {
            let text = match &setup.redactor {
                Some(redactor) => redactor.mask(&text).into_owned(),
                None => text,
            };
            (path.display().to_string(), text)
        })
        .collect();
}

/// How many of them are named.
const NAMED: usize = 5;

/// A shell piece of a template is kept from its start, since all of it is inserted.
fn output_buffer(is_piece: bool) -> capture::BoundedBuffer {
    if is_piece {
        capture::BoundedBuffer::with_head_limit(PIECE)
    } else {
        capture::BoundedBuffer::default()
    }
}

/// Waits for a step in the care of a keeper, as long as this session does.
async fn follow_kept(
    kept: KeptStep,
    control: &RunControl,
    observation: Observation,
) -> PipedOutput {
    let KeptStep { mut child, job, output } = kept;
    drop(output);
    let status = tokio::select! {
        status = child.wait() => status,
        () = control.cancel.cancelled() => {
            job.stop().await;
            child.wait().await
        }
    };
    let exit_code = status.ok().and_then(|status| status.code());
    PipedOutput { observation: Observation { exit_code, ..observation }, output: None }
}

/// A step that runs by itself leaves nothing running.
fn daemon_rule(judged: &Judgement, inside: Option<&Confined>) -> DaemonRule {
    if judged.risk.tier == Tier::L0 {
        return DaemonRule::default();
    }
    let written = inside.into_iter().flat_map(|inside| {
        let bounds = inside.bounds().map(SandboxBounds::writes).unwrap_or_default();
        bounds.iter().cloned().chain([inside.temp().to_owned()])
    });
    DaemonRule::outside(written.chain([judged.cwd.clone()]).collect())
}

/// Says why it may have failed: what can be opened to it, else that it had no terminal.
fn explain_failure(observation: &mut Observation, hint: impl FnOnce() -> Option<LocalizedText>) {
    let is_offered = observation.denied.as_ref().is_some_and(SandboxDenial::is_offered);
    if !is_offered && observation.failed_without_note() {
        observation.note = hint();
    }
    if let (Some(denied), None) = (&observation.denied, &observation.note) {
        observation.note = Some(denied.localized());
    }
}

/// Rules of programs that look into other processes, which nothing in the sandbox may.
const LOOK_INTO_OTHERS: &[&str] = &["lsof", "fuser"];

/// Says so where one found little.
fn note_unseen_processes(observation: &mut Observation) {
    let looks = |reason: &Reason| LOOK_INTO_OTHERS.contains(&reason.rule.as_str());
    if observation.note.is_none() && observation.risk.reasons.iter().any(looks) {
        observation.note = Some(phrases::OTHERS_UNSEEN.into());
    }
}

/// Adds what the sandbox denied a failed step.
fn record_denial(observation: &mut Observation, bounds: &SandboxBounds, cwd: &Path) {
    if observation.exit_code == Some(0) {
        return;
    }
    // Some tools say on their output what went wrong.
    let words = [observation.stderr.as_str(), observation.stdout.as_str()];
    observation.denied = words.iter().find_map(|words| bounds.find_denial(words, cwd));
}

/// The most a shell piece of a template may write, in bytes.
const PIECE: usize = 1024 * 1024;

/// Puts the output in: masked first, then read, then cut. Work for the processor, so
/// it is done off the threads that wait. Answers with the whole standard output, where
/// all of it was kept.
async fn process_output(
    observation: &mut Observation,
    setup: &Setup,
    output: ChildOutput,
    background: &BackgroundControl,
) -> Option<String> {
    let file = background.file.clone().filter(|_| !background.begins.is_cancelled());
    let redactor = setup.redactor.clone();
    let work = observation.step.work.clone();
    let exit = observation.exit_code;
    let line_order = output.order.0;
    let shaped = tokio::task::spawn_blocking(move || {
        let masked = |text: CapturedText| match &redactor {
            Some(redactor) => text.map(|part| redactor.mask(part).into_owned()),
            None => text,
        };
        let stdout = masked(output.stdout.into_text());
        let stderr = masked(output.stderr.into_text());

        let parsed = parse_output(&work, &stdout, &stderr, exit);
        let is_long = stdout.excerpt(capture::STDOUT).1 || stderr.excerpt(capture::STDERR).1;
        if let Some(path) = file.filter(|_| is_long) {
            save_output(&path, &stdout, &stderr);
        }
        let shares = (stdout.excerpt(capture::STDOUT), stderr.excerpt(capture::STDERR));
        (shares, parsed, stdout.is_whole().then_some(stdout.front))
    });
    let (((stdout, out_cut), (stderr, err_cut)), parsed, whole) = shaped.await.ok()?;
    observation.stdout = stdout;
    observation.stderr = stderr;
    observation.truncated = out_cut || err_cut;
    if !observation.truncated && !observation.stdout.is_empty() && !observation.stderr.is_empty() {
        observation.line_order = line_order;
    }
    observation.parsed = parsed;
    whole
}

/// Keeps what the observation has no room for. Without it the step is what it is.
fn save_output(path: &Path, text: &CapturedText, captured_text: &CapturedText) {
    if let Ok(mut file) = OutputFile::create(path) {
        let _ = file.write(&text.whole()).and_then(|()| file.write(&captured_text.whole()));
    }
}

fn parse_output(
    action: &StepAction,
    text: &CapturedText,
    captured_text: &CapturedText,
    exit: Option<i32>,
) -> Option<ParsedOutput> {
    let command = match action {
        StepAction::Exec { program, args } => match parse::shell_line(program, args) {
            Some(line) => parse::split_simple_command(line)?,
            None => {
                parse::SimpleCommand { program: program.clone(), args: args.clone(), is_cut: false }
            }
        },
        StepAction::Shell { line } => parse::split_simple_command(line)?,
        StepAction::Tool { .. } => return plugins::output(text),
    };
    let parsed = parse::parse(&parse::FinishedCommand {
        program: &command.program,
        args: &command.args,
        stdout: &text.lines(),
        stderr: &captured_text.lines(),
        exit,
        whole: !command.is_cut && text.is_whole() && captured_text.is_whole(),
    });
    // A part of a list would be counted as all of it.
    parsed.filter(|parsed| !command.is_cut || parsed.kind == "test_summary")
}

fn not_run(judged: &Judgement, outcome: Outcome, text: LocalizedText) -> Observation {
    let cwd = judged.cwd.to_string_lossy();
    let mut out = Observation::not_run(judged.step.clone(), cwd, judged.risk.clone(), outcome);
    out.note = Some(text);
    out
}

fn outcome(end: StepEnd) -> Outcome {
    match end {
        StepEnd::Exited | StepEnd::TooManyProcesses => Outcome::Ran,
        StepEnd::TimedOut => Outcome::TimedOut,
        StepEnd::Cancelled => Outcome::Cancelled,
    }
}

fn status(finished: &Finished) -> Option<ExitStatus> {
    finished.status.as_ref().and_then(|status| status.as_ref().ok()).copied()
}

/// The exit code counts only where the child ended by itself.
fn code(finished: &Finished) -> Option<i32> {
    match finished.end {
        StepEnd::Exited => status(finished)?.code(),
        StepEnd::TimedOut | StepEnd::Cancelled | StepEnd::TooManyProcesses => None,
    }
}

/// The one thing most worth saying about how it ended.
fn end_note(
    finished: &Finished,
    time_note: impl FnOnce() -> LocalizedText,
) -> Option<LocalizedText> {
    match &finished.status {
        None => return Some(phrases::UNKILLABLE.into()),
        Some(Err(error)) => return Some(phrases::WAIT_FAILED.with("why", error.to_string())),
        Some(Ok(_)) => {}
    }
    match finished.end {
        StepEnd::TimedOut => return Some(time_note()),
        StepEnd::Cancelled => return Some(phrases::CANCELLED.into()),
        StepEnd::TooManyProcesses => {
            return Some(phrases::OUTGREW.with("most", u64::from(bounds::PROCESSES)));
        }
        StepEnd::Exited => {}
    }
    if let Some(signal) = status(finished).and_then(|status| status.signal()) {
        return Some(phrases::SIGNAL.with("signal", signal_name(signal)));
    }
    let left = &finished.leftovers;
    match (finished.pipes, left.ended) {
        (Pipes::KeptOpen, _) => Some(phrases::KEPT_OPEN.into()),
        (Pipes::Closed, 0) if left.daemons.is_empty() => None,
        (Pipes::Closed, 0) => Some(phrases::LEFT_RUNNING.with("names", left.daemons.join(", "))),
        (Pipes::Closed, ended) => Some(phrases::LEFT_BEHIND.with("count", ended)),
    }
}

fn signal_name(number: i32) -> String {
    use rustix::process::Signal;
    let names = [
        (Signal::HUP, "SIGHUP"),
        (Signal::INT, "SIGINT"),
        (Signal::QUIT, "SIGQUIT"),
        (Signal::ILL, "SIGILL"),
        (Signal::TRAP, "SIGTRAP"),
        (Signal::ABORT, "SIGABRT"),
        (Signal::BUS, "SIGBUS"),
        (Signal::FPE, "SIGFPE"),
        (Signal::KILL, "SIGKILL"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::PIPE, "SIGPIPE"),
        (Signal::ALARM, "SIGALRM"),
        (Signal::TERM, "SIGTERM"),
        (Signal::XCPU, "SIGXCPU"),
        (Signal::XFSZ, "SIGXFSZ"),
        (Signal::SYS, "SIGSYS"),
    ];
    let known = names.iter().find(|(signal, _)| signal.as_raw() == number);
    known.map_or_else(|| number.to_string(), |(_, name)| (*name).to_owned())
}

#[cfg(test)]
mod tests;
