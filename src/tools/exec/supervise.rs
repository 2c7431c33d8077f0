//! Supervises a running child from its start to the last of its processes: reads both
//! pipes, keeps the time, and ends what has to end.

use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::pin::Pin;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{Fuse, FusedFuture};
use process_wrap::tokio::ChildWrapper;
use rustix::process::Signal;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{ChildStderr, ChildStdout};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::capture::{BoundedBuffer, LineOrder};
use super::diff_filter::DiffFilter;
use super::keeper::{self, HandedOver};
use super::kept::KeptJob;
use super::live_output::{Decoder, LiveOutput};
use super::ports::{is_listening, watch_ports};
use super::process_group::daemons::DaemonRule;
use super::process_group::{Group, Leftovers};
use super::spawn::ChildHandle;
use super::step_log::StepLog;
use crate::{BackgroundControl, KeepOrder, LimitAnswer, RunControl, TimeLimitReached};
use avocet_core::deadline::with_timeout;
use avocet_safety::redact::Redactor;

/// How long pipes may stay open after the child has exited.
const PIPES: Duration = Duration::from_secs(1);

/// How long a killed child may take to be gone.
const KILLED: Duration = Duration::from_secs(2);

/// How long a child gets for each signal when the program is being left.
const SHORT_WAIT: Duration = Duration::from_millis(500);

/// The size of one read, in bytes.
const READ: usize = 64 * 1024;

/// How the time of a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StepEnd {
    Exited,
    TimedOut,
    Cancelled,
    /// It had more processes than it may.
    TooManyProcesses,
}

/// The result when no process of a step runs any more.
#[derive(Debug)]
pub(super) struct Finished {
    pub end: StepEnd,
    /// `None` when not even SIGKILL ended it.
    pub status: Option<std::io::Result<ExitStatus>>,
    pub output: ChildOutput,
    pub pipes: Pipes,
    /// What was found after the child had ended.
    pub leftovers: Leftovers,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pipes {
    Closed,
    /// Another process kept them open longer than the child lived.
    KeptOpen,
}

/// How long each thing may take.
#[derive(Clone, Debug)]
pub(super) struct Times {
    pub timeout: Duration,
    /// No question asks whether it may take longer.
    pub is_final: bool,
    /// Between one signal and the next.
    pub grace: Duration,
    /// Processes and threads it may have; `None`: any number.
    pub processes: Option<usize>,
    pub daemons: DaemonRule,
    /// The temporary folder of the run, if the step has one there.
    pub run_folder: Option<PathBuf>,
}

/// Both streams of a child.
#[derive(Debug)]
pub(super) struct ChildOutput {
    pub stdout: BoundedBuffer,
    pub stderr: BoundedBuffer,
    pub order: LineOrder,
    live: LiveOutput,
    decoders: [Decoder; 2],
    log: StepLog,
    last_output: LastOutput,
    /// The step is in the background.
    is_logged: bool,
    redactor: Option<Arc<Redactor>>,
    /// What leaves differences of credential files out.
    diff_filter: Option<DiffFilter>,
}

/// What becomes of a step.
#[derive(Debug)]
pub(super) enum Supervised {
    Finished(Box<Finished>),
    /// It goes on without us. What was read of its output is there.
    Kept(Box<KeptStep>),
}

/// A step in the care of a keeper.
#[derive(Debug)]
pub(super) struct KeptStep {
    /// It is not ended with this value, as other children are.
    pub child: ManuallyDrop<Box<dyn ChildWrapper>>,
    pub job: KeptJob,
    pub output: ChildOutput,
}

/// How the watch over a running child ended.
enum WatchEnd {
    Step(StepEnd, Option<std::io::Result<ExitStatus>>),
    Keep(Box<KeepOrder>),
}

type ChildPipes = (Option<ChildStdout>, Option<ChildStderr>);

/// Watches a child until it and all it started have ended, or another process looks after them.
pub(super) async fn supervise(
    (mut child, group): ChildHandle,
    control: &RunControl,
    times: Times,
    leaving: &CancellationToken,
    mut output: ChildOutput,
) -> Supervised {
    let mut ends: ChildPipes = (child.stdout().take(), child.stderr().take());
    loop {
        let last_output = output.last_output.clone();
        let mut reading = Box::pin(output.read(&mut ends, &control.background).fuse());
        let ended = tokio::select! {
            ended = wait_for_exit(&mut *child, &mut reading) => {
                WatchEnd::Step(StepEnd::Exited, Some(ended))
            }
            () = control.cancel.cancelled() => WatchEnd::Step(StepEnd::Cancelled, None),
            () = leaving.cancelled() => WatchEnd::Step(StepEnd::Cancelled, None),
            () = time_limit(&times, &group, &control.background, &last_output) => {
                WatchEnd::Step(StepEnd::TimedOut, None)
            }
            order = in_background(&group, &control.background) => WatchEnd::Keep(Box::new(order)),
            () = group.wait_until_over_limit(times.processes) => {
                WatchEnd::Step(StepEnd::TooManyProcesses, None)
            }
        };
        let (how, status) = match ended {
            WatchEnd::Step(how, status) => (how, status),
            WatchEnd::Keep(order) => {
                drop(reading);
                output.log.flush();
                let Some(job) = hand_over(*order, (&group, &ends), control, &times, &output) else {
                    continue;
                };
                output.finish();
                group.release();
                let child = ManuallyDrop::new(child);
                return Supervised::Kept(Box::new(KeptStep { child, job, output }));
            }
        };
        let status = match how {
            StepEnd::Exited => status,
            _ => end_child(how, &group, &mut *child, &mut reading, &times, leaving).await,
        };
        let mut pipes = Pipes::Closed;
        if how == StepEnd::Exited && !wait_for_pipes(&mut reading, PIPES).await {
            pipes = Pipes::KeptOpen;
        }
        let leftovers = group.end(&times.daemons).await;
        wait_for_pipes(&mut reading, PIPES).await;
        drop(reading);
        output.finish();
        let finished = Finished { end: how, status, output, pipes, leftovers };
        return Supervised::Finished(Box::new(finished));
    }
}

/// Ends a child that has not ended by itself: gently, unless its processes multiply.
async fn end_child<R: Future<Output = ()>>(
    end: StepEnd,
    group: &Group,
    child: &mut dyn ChildWrapper,
    reading: &mut Pin<Box<Fuse<R>>>,
    times: &Times,
    leaving: &CancellationToken,
) -> Option<std::io::Result<ExitStatus>> {
    let gently = [(Signal::INT, times.grace), (Signal::TERM, times.grace)];
    let gently = if end == StepEnd::TooManyProcesses { &[][..] } else { &gently };
    for (signal, wait) in gently.iter().copied().chain([(Signal::KILL, KILLED)]) {
        group.signal(signal);
        let status = tokio::select! {
            ended = wait_for_exit(child, reading) => Some(ended),
            () = grace_period(wait, leaving) => None,
        };
        if status.is_some() {
            return status;
        }
    }
    None
}

/// Starts a keeper for the step; `None`: it failed, which was reported, and all is as before.
fn hand_over(
    order: KeepOrder,
    (group, ends): (&Group, &ChildPipes),
    control: &RunControl,
    times: &Times,
    output: &ChildOutput,
) -> Option<KeptJob> {
    if output.diff_filter.is_some() {
        // Nothing would leave anything out of it.
        let unsupported = std::io::Error::from(std::io::ErrorKind::Unsupported);
        let _ = order.reply.send(Err(unsupported.to_string()));
        return None;
    }
    fn copy(end: Option<&impl AsFd>) -> Option<OwnedFd> {
        end.and_then(|end| end.as_fd().try_clone_to_owned().ok())
    }
    let handed_over = HandedOver {
        group,
        stdout: copy(ends.0.as_ref()),
        stderr: copy(ends.1.as_ref()),
        log: control.background.file.as_deref(),
        redactor: output.redactor.as_ref(),
        processes: times.processes,
        grace: times.grace,
        run_folder: times.run_folder.clone(),
    };
    let started = keeper::start(&order, handed_over);
    let job = started.as_ref().ok().cloned();
    let _ = order.reply.send(started.map_err(|error| error.to_string()));
    job
}

/// Ends when the time is up, unless the step is in the background by then or may take longer.
async fn time_limit(
    &Times { timeout: most, is_final, .. }: &Times,
    group: &Group,
    background: &BackgroundControl,
    last_output: &LastOutput,
) {
    loop {
        let _ = with_timeout(most, std::future::pending::<()>()).await;
        if background.begins.is_cancelled() {
            break;
        }
        let Some(to) = background.at_limit.as_ref().filter(|_| !is_final) else { return };
        if !last_output.is_within(most / 2) && !is_listening(group).await {
            return;
        }
        let (answer, answered) = oneshot::channel();
        // The one to ask may be gone.
        let _ = to.send(TimeLimitReached { seconds: most.as_secs(), answer });
        tokio::select! {
            answer = answered => {
                if answer != Ok(LimitAnswer::Wait) && !background.begins.is_cancelled() {
                    return;
                }
            }
            () = background.begins.cancelled() => break,
        }
    }
    std::future::pending::<()>().await;
}

/// When a step wrote something last.
#[derive(Clone, Debug, Default)]
struct LastOutput(Arc<Mutex<Option<Instant>>>);

impl LastOutput {
    fn set_now(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    fn is_within(&self, span: Duration) -> bool {
        let last = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.is_some_and(|last| last.elapsed() < span)
    }
}

/// What is done for a step in the background, until it is to outlive the session.
async fn in_background(group: &Group, background: &BackgroundControl) -> KeepOrder {
    background.begins.cancelled().await;
    let order = async {
        match &background.keep {
            Some(orders) => orders.lock().await.recv().await,
            None => None,
        }
    };
    tokio::select! {
        Some(order) = order => order,
        () = watch_ports(group, background.ports.as_ref()) => std::future::pending().await,
        else => std::future::pending().await,
    }
}

/// Ends after this time, and sooner when the program is being left.
async fn grace_period(most: Duration, leaving: &CancellationToken) {
    let hurried = async {
        leaving.cancelled().await;
        sleep(SHORT_WAIT).await;
    };
    tokio::select! {
        () = sleep(most) => {}
        () = hurried => {}
    }
}

/// Waits for the child, and reads while it waits.
async fn wait_for_exit<R: Future<Output = ()>>(
    child: &mut dyn ChildWrapper,
    reading: &mut Pin<Box<Fuse<R>>>,
) -> std::io::Result<ExitStatus> {
    loop {
        tokio::select! {
            status = child.wait() => return status,
            () = reading.as_mut(), if !reading.is_terminated() => {}
        }
    }
}

/// Reads on for a while; true when both pipes have ended.
async fn wait_for_pipes<R: Future<Output = ()>>(
    reading: &mut Pin<Box<Fuse<R>>>,
    most: Duration,
) -> bool {
    reading.is_terminated() || timeout(most, reading.as_mut()).await.is_ok()
}

impl ChildOutput {
    pub(super) fn new(
        live: LiveOutput,
        buffer: BoundedBuffer,
        redactor: Option<&Arc<Redactor>>,
    ) -> ChildOutput {
        ChildOutput {
            stdout: buffer,
            stderr: BoundedBuffer::default(),
            order: LineOrder::default(),
            live,
            decoders: [Decoder::new(redactor), Decoder::new(redactor)],
            log: StepLog::default(),
            last_output: LastOutput::default(),
            is_logged: false,
            redactor: redactor.cloned(),
            diff_filter: None,
        }
    }

    /// The same without the differences of credential files in it.
    pub(super) fn with_diff_filter(self) -> ChildOutput {
        ChildOutput { diff_filter: Some(DiffFilter::default()), ..self }
    }

    /// Reads until both pipes have ended. What was read stays when this is dropped.
    async fn read(&mut self, ends: &mut ChildPipes, background: &BackgroundControl) {
        let (stdout, stderr) = ends;
        let mut first = vec![0; READ];
        let mut second = vec![0; READ];

        while stdout.is_some() || stderr.is_some() {
            let due = self.live.flush_deadline();
            let log_due = self.log.flush_deadline();
            tokio::select! {
                biased;
                () = background.begins.cancelled(), if !self.is_logged => self.begin_log(background),
                () = sleep_until_due(log_due), if log_due.is_some() => self.log.flush(),
                () = sleep_until_due(due), if due.is_some() => self.live.flush(),
                read = read_pipe(stdout, &mut first), if stdout.is_some() => {
                    self.push_stdout(first.get(..read).unwrap_or_default());
                }
                read = read_pipe(stderr, &mut second), if stderr.is_some() => {
                    let bytes = second.get(..read).unwrap_or_default();
                    self.stderr.push(bytes);
                    self.show(1, bytes);
                }
            }
        }
    }

    fn push_stdout(&mut self, bytes: &[u8]) {
        let filtered = self.diff_filter.as_mut().map(|filter| filter.push(bytes));
        let bytes = filtered.as_deref().unwrap_or(bytes);
        self.stdout.push(bytes);
        self.show(0, bytes);
    }

    /// Output that is no longer shown live is not decoded for it.
    fn show(&mut self, stream: usize, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.last_output.set_now();
        }
        self.order.push(stream == 1, bytes);
        self.log.push(stream, bytes);
        if let Some(decoder) = self.decoders.get_mut(stream).filter(|_| !self.live.is_full()) {
            self.live.push(&decoder.push(bytes));
        }
    }

    fn begin_log(&mut self, background: &BackgroundControl) {
        self.is_logged = true;
        if let Some(path) = &background.file {
            let before = [self.stdout.text(), self.stderr.text()];
            self.log.open(path, self.redactor.as_ref(), before);
        }
    }

    /// Sends the held-back output.
    fn finish(&mut self) {
        if let Some(rest) = self.diff_filter.take().map(|mut filter| filter.finish()) {
            self.stdout.push(&rest);
            self.show(0, &rest);
        }
        self.log.finish();
        for decoder in &mut self.decoders {
            let rest = decoder.finish();
            self.live.push(&rest);
        }
        self.live.flush();
    }
}

/// Reads once; the end of a pipe, or its failure, takes it away.
async fn read_pipe(pipe: &mut Option<impl AsyncRead + Unpin>, buffer: &mut [u8]) -> usize {
    let read = match pipe {
        Some(open) => open.read(buffer).await.unwrap_or(0),
        None => 0,
    };
    if read == 0 {
        *pipe = None;
    }
    read
}

async fn sleep_until_due(due: Option<tokio::time::Instant>) {
    if let Some(due) = due {
        sleep_until(due).await;
    }
}
