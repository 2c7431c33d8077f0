//! Supervises a running child from its start to the last of its processes: reads both
//! pipes, keeps the time, and ends what has to end.

use std::pin::Pin;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{Fuse, FusedFuture};
use process_wrap::tokio::ChildWrapper;
use rustix::process::Signal;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::{sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::capture::{BoundedBuffer, LineOrder};
use super::live_output::{Decoder, LiveOutput};
use super::ports::watch_ports;
use super::process_group::Group;
use super::spawn::ChildHandle;
use super::step_log::StepLog;
use crate::deadline::with_timeout;
use crate::safety::redact::Redactor;
use crate::tools::{BackgroundControl, RunControl};

/// How long pipes may stay open after the child has exited.
const PIPES: Duration = Duration::from_secs(1);

/// How long a killed child may take to be gone.
const KILLED: Duration = Duration::from_secs(2);

/// How long a child gets for each signal when the program is being left.
const HURRY: Duration = Duration::from_millis(500);

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
    /// Processes that were ended after the child.
    pub leftover_processes: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pipes {
    Closed,
    /// Another process kept them open longer than the child lived.
    KeptOpen,
}

/// How long each thing may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    pub timeout: Duration,
    /// Between one signal and the next.
    pub grace: Duration,
    /// Processes and threads it may have; `None`: any number.
    pub processes: Option<usize>,
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
    /// The step is in the background.
    is_logged: bool,
    redactor: Option<Arc<Redactor>>,
}

/// Watches a child until it and all it started have ended.
pub(super) async fn supervise(
    (mut child, group): ChildHandle,
    watch: &RunControl,
    times: Times,
    leaving: &CancellationToken,
    mut output: ChildOutput,
) -> Finished {
    let (stdout, stderr) = (child.stdout().take(), child.stderr().take());
    let mut reading = Box::pin(output.read(stdout, stderr, &watch.background).fuse());
    let mut status = None;
    let how = tokio::select! {
        ended = wait_for_exit(&mut *child, &mut reading) => {
            status = Some(ended);
            StepEnd::Exited
        }
        () = watch.cancel.cancelled() => StepEnd::Cancelled,
        () = leaving.cancelled() => StepEnd::Cancelled,
        () = time_limit(times.timeout, &watch.background.begins) => StepEnd::TimedOut,
        () = in_background(&group, &watch.background) => StepEnd::Exited,
        () = group.wait_until_over_limit(times.processes) => StepEnd::TooManyProcesses,
    };
    if how != StepEnd::Exited {
        let gently = [(Signal::INT, times.grace), (Signal::TERM, times.grace)];
        // Processes that multiply do not get the time to.
        let gently = if how == StepEnd::TooManyProcesses { &[][..] } else { &gently };
        for (signal, wait) in gently.iter().copied().chain([(Signal::KILL, KILLED)]) {
            group.signal(signal);
            status = tokio::select! {
                ended = wait_for_exit(&mut *child, &mut reading) => Some(ended),
                () = grace_period(wait, leaving) => None,
            };
            if status.is_some() {
                break;
            }
        }
    }
    let mut pipes = Pipes::Closed;
    if how == StepEnd::Exited && !wait_for_pipes(&mut reading, PIPES).await {
        pipes = Pipes::KeptOpen;
    }
    let left = group.end().await;
    wait_for_pipes(&mut reading, PIPES).await;
    drop(reading);
    output.finish();
    Finished { end: how, status, output, pipes, leftover_processes: left }
}

/// Ends when the time is up, unless the step is in the background by then.
async fn time_limit(most: Duration, begins: &CancellationToken) {
    let _ = with_timeout(most, std::future::pending::<()>()).await;
    if begins.is_cancelled() {
        std::future::pending::<()>().await;
    }
}

/// What is done for a step in the background, which never ends.
async fn in_background(group: &Group, background: &BackgroundControl) {
    background.begins.cancelled().await;
    watch_ports(group, background.ports.as_ref()).await;
    std::future::pending::<()>().await;
}

/// Ends after this time, and sooner when the program is being left.
async fn grace_period(most: Duration, leaving: &CancellationToken) {
    let hurried = async {
        leaving.cancelled().await;
        sleep(HURRY).await;
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
        stdout: BoundedBuffer,
        redactor: Option<&Arc<Redactor>>,
    ) -> ChildOutput {
        ChildOutput {
            stdout,
            stderr: BoundedBuffer::default(),
            order: LineOrder::default(),
            live,
            decoders: [Decoder::new(redactor), Decoder::new(redactor)],
            log: StepLog::default(),
            is_logged: false,
            redactor: redactor.cloned(),
        }
    }

    /// Reads until both pipes have ended. What was read stays when this is dropped.
    async fn read(
        &mut self,
        mut stdout: Option<impl AsyncRead + Unpin>,
        mut stderr: Option<impl AsyncRead + Unpin>,
        background: &BackgroundControl,
    ) {
        let (mut first, mut second) = (vec![0; READ], vec![0; READ]);
        while stdout.is_some() || stderr.is_some() {
            let due = self.live.flush_deadline();
            let log_due = self.log.flush_deadline();
            tokio::select! {
                biased;
                () = background.begins.cancelled(), if !self.is_logged => self.begin_log(background),
                () = sleep_until_due(log_due), if log_due.is_some() => self.log.flush(),
                () = sleep_until_due(due), if due.is_some() => self.live.flush(),
                read = read_pipe(&mut stdout, &mut first), if stdout.is_some() => {
                    let bytes = first.get(..read).unwrap_or_default();
                    self.stdout.push(bytes);
                    self.show(0, bytes);
                }
                read = read_pipe(&mut stderr, &mut second), if stderr.is_some() => {
                    let bytes = second.get(..read).unwrap_or_default();
                    self.stderr.push(bytes);
                    self.show(1, bytes);
                }
            }
        }
    }

    /// Output that is no longer shown live is not decoded for it.
    fn show(&mut self, stream: usize, bytes: &[u8]) {
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
