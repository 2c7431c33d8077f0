//! A process of its own for a job that outlives the session: it goes on reading the job's output
//! into the bounded file, holds it to its limit of processes, and ends it when it is asked to.
//!
//! It is this program again, in a mode of its own. Its input and its output are the pipes of the
//! job, which it reads both, and what is to be done comes over a third pipe, since it holds secrets
//! to be masked, which are in no argument and in no file.

use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::sync::Arc;
use std::time::Duration;

use process_wrap::tokio::{CommandWrap, ProcessSession};
use rustix::process::Signal;
use serde::{Deserialize, Serialize};
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe::Receiver;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::kept::KeptJob;
use super::process_group::{self, KeptGroup};
use super::process_id::ProcessId;
use super::step_log::StepLog;
use super::{ports, process_group::Group};
use crate::KeepOrder;
use avocet_safety::redact::{Redactor, RedactorSeed};

/// The one argument that starts the mode; nothing a user would type.
pub const MODE: &str = "__keeper";

/// The size of one read, in bytes, and of the longest task.
const READ: usize = 64 * 1024;
const TASK: u64 = 64 * 1024 * 1024;
/// How often ports and processes are looked at.
const BETWEEN_LOOKS: Duration = Duration::from_secs(10);
const BETWEEN_COUNTS: Duration = Duration::from_secs(1);
/// How long the pipes may stay open after the job has ended.
const PIPES: Duration = Duration::from_secs(1);

/// The task of a keeper.
#[derive(Serialize, Deserialize)]
struct KeeperTask {
    job: KeptJob,
    place: PathBuf,
    seed: Option<RedactorSeed>,
    processes: Option<usize>,
    grace: Duration,
    /// The temporary folder of the run, which is not tidied away while the job runs.
    run_folder: Option<PathBuf>,
}

/// What a step in the background hands over.
pub(super) struct HandedOver<'a> {
    pub group: &'a Group,
    pub stdout: Option<OwnedFd>,
    pub stderr: Option<OwnedFd>,
    pub log: Option<&'a Path>,
    pub redactor: Option<&'a Arc<Redactor>>,
    pub processes: Option<usize>,
    pub grace: Duration,
    pub run_folder: Option<PathBuf>,
}

/// Starts a keeper. The step goes on as it is if that fails.
pub(super) fn start(order: &KeepOrder, handed_over: HandedOver<'_>) -> io::Result<KeptJob> {
    let (leader, mark) = handed_over.group.identity();
    let unknown = || io::Error::from(io::ErrorKind::Unsupported);
    let leader = ProcessId::of(leader).ok_or_else(unknown)?;
    let (keeper, mut tell) = spawn(order, handed_over.stdout, handed_over.stderr)?;
    let job = KeptJob {
        folder: order.folder.clone(),
        step: order.step.clone(),
        line: order.line.clone(),
        began: order.began,
        ports: Vec::new(),
        ended: false,
        leader,
        keeper,
        mark,
        place: order.place.clone(),
    };
    avocet_core::private_dir::private_folder(&order.place)?;
    if let Some(log) = handed_over.log {
        crate::output_file::rename(log, &job.output());
    }
    let task = KeeperTask {
        job: job.clone(),
        place: order.place.clone(),
        seed: handed_over.redactor.map(|redactor| redactor.seed()),
        processes: handed_over.processes,
        grace: handed_over.grace,
        run_folder: handed_over.run_folder,
    };
    let text = serde_json::to_vec(&task).map_err(io::Error::from)?;
    let done = job.save().and_then(|()| tell.write_all(&text));
    if let Err(error) = done {
        keeper.signal(Signal::KILL);
        job.forget();
        return Err(error);
    }
    Ok(job)
}

/// Starts the process, which waits for its task.
fn spawn(
    order: &KeepOrder,
    stdout: Option<OwnedFd>,
    stderr: Option<OwnedFd>,
) -> io::Result<(ProcessId, io::PipeWriter)> {
    let (told, tell) = io::pipe()?;
    let pipe = |end: Option<OwnedFd>| end.map_or_else(Stdio::null, Stdio::from);
    let stdout = pipe(stdout);
    let stderr = pipe(stderr);

    let mut command = CommandWrap::with_new(&order.program, |command| {
        command
            .arg(MODE)
            .stdin(stdout)
            .stdout(stderr)
            .stderr(Stdio::from(told))
            .env_clear()
            .env(process_group::MARK, process_group::NO_STEP)
            .current_dir("/");
    });
    let child = command.wrap(ProcessSession).spawn()?;
    let keeper = child.id().and_then(|pid| ProcessId::of(i32::try_from(pid).ok()?));
    let keeper = keeper.ok_or(io::ErrorKind::Unsupported)?;
    Ok((keeper, tell))
}

/// The mode: keeps one job until it ends.
pub fn run() -> ExitCode {
    let done = read_task().and_then(|task| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(keep(task))
    });
    if done.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn read_task() -> io::Result<KeeperTask> {
    let mut text = Vec::new();
    let pipe = rustix::stdio::stderr().try_clone_to_owned()?;
    std::fs::File::from(pipe).take(TASK).read_to_end(&mut text)?;
    let task: KeeperTask = serde_json::from_slice(&text)?;
    let place = task.place.clone();
    Ok(KeeperTask { job: KeptJob { place, ..task.job }, ..task })
}

async fn keep(task: KeeperTask) -> io::Result<()> {
    let KeeperTask { mut job, seed, processes, grace, run_folder, .. } = task;
    let group = KeptGroup::new(job.leader.number(), &job.mark);
    let redactor = seed.map(|seed| Arc::new(Redactor::from_seed(seed)));
    let mut log = StepLog::append(&job.output(), redactor.as_ref());
    let mut stdout = receiver(rustix::stdio::stdin());
    let mut stderr = receiver(rustix::stdio::stdout());
    let mut asked = signal(SignalKind::terminate())?;
    hold_folder(run_folder);
    let leader = job.leader;
    let mut ended = std::pin::pin!(leader.wait_ended());
    let mut over_limit = std::pin::pin!(wait_until_over_limit(&group, processes));
    let (mut first, mut second) = (vec![0; READ], vec![0; READ]);
    let mut next_look = Instant::now();
    let mut until = None;
    loop {
        let due = log.flush_deadline();
        let is_ending = until.is_some();
        tokio::select! {
            biased;
            _ = asked.recv(), if !is_ending => {
                group.stop(grace, leader).await;
                until = Some(Instant::now() + PIPES);
            }
            () = &mut over_limit, if !is_ending => {
                group.end().await;
                until = Some(Instant::now() + PIPES);
            }
            () = &mut ended, if !is_ending => {
                group.end().await;
                until = Some(Instant::now() + PIPES);
            }
            () = sleep_until_some(until), if is_ending => break,
            () = sleep_until_some(due), if due.is_some() => log.flush(),
            read = read_pipe(&mut stdout, &mut first), if stdout.is_some() => {
                log.push(0, first.get(..read).unwrap_or_default());
            }
            read = read_pipe(&mut stderr, &mut second), if stderr.is_some() => {
                log.push(1, second.get(..read).unwrap_or_default());
            }
            () = sleep_until(next_look), if !is_ending => {
                next_look = Instant::now() + BETWEEN_LOOKS;
                let ports = ports::listening_of(group.members()).await;
                if ports != job.ports {
                    job.ports = ports;
                    job.update();
                }
            }
        }
        if is_ending && stdout.is_none() && stderr.is_none() {
            break;
        }
    }
    log.finish();
    job.ended = true;
    job.ports.clear();
    job.update();
    Ok(())
}

fn receiver(end: impl AsFd) -> Option<Receiver> {
    Receiver::from_owned_fd(end.as_fd().try_clone_to_owned().ok()?).ok()
}

/// Reads once; the end of a pipe, or its failure, takes it away.
async fn read_pipe(pipe: &mut Option<Receiver>, buffer: &mut [u8]) -> usize {
    let read = match pipe {
        Some(open) => open.read(buffer).await.unwrap_or(0),
        None => 0,
    };
    if read == 0 {
        *pipe = None;
    }
    read
}

async fn sleep_until_some(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}

async fn wait_until_over_limit(group: &KeptGroup, processes: Option<usize>) {
    let Some(most) = processes else { return std::future::pending().await };
    loop {
        sleep(BETWEEN_COUNTS).await;
        if group.count().await > most {
            return;
        }
    }
}

/// Locks the folder as soon as the run that made it has ended, so that no later run removes it.
fn hold_folder(folder: Option<PathBuf>) {
    let Some(folder) = folder else { return };
    let lock = move || {
        let Ok(folder) = std::fs::File::open(folder) else { return };
        let _ = rustix::fs::flock(&folder, rustix::fs::FlockOperation::LockExclusive);
        // Open for as long as this process lives.
        std::mem::forget(folder);
    };
    let _ = std::thread::Builder::new().name("hold".into()).spawn(lock);
}

impl KeptGroup {
    /// Asks it to end, and ends it when it does not.
    async fn stop(&self, grace: Duration, process_id: ProcessId) {
        for kind in [Signal::INT, Signal::TERM] {
            // Its number is its own as long as its first process runs.
            if process_id.is_running() {
                self.signal(kind);
                let _ = timeout(grace, process_id.wait_ended()).await;
            }
        }
        self.end().await;
    }
}
