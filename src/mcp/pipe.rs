//! The pipes of a server's process: how much is read of them, and what the process says on its
//! standard error.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader, ReadBuf};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::clean;
use super::message::McpEvent;

/// The largest message, and the most that is read at once before a server counts as flooding; it
/// may go on with `BYTES_PER_SECOND`.
pub(crate) const MAX_MESSAGE: usize = 16 << 20;
pub(crate) const MAX_FLOOD: u64 = 64 << 20;
const BYTES_PER_SECOND: f64 = 4e6;
const MAX_LOG_LINE: usize = 2000;
/// Kept as long as the server runs, which mostly has nothing to say there.
const ERROR_BUFFER: usize = 512;
/// How long a process may take to end after its input ended.
const END_TIMEOUT: Duration = Duration::from_millis(500);

pub(crate) type BoxedReader = Box<dyn AsyncRead + Send + Unpin>;

/// A reader that fails when too much comes at once, or a line does not end.
pub(crate) struct LimitedReader {
    inner: BoxedReader,
    /// What may still be read now.
    allowance: f64,
    since: Instant,
    line: usize,
    flooded: Arc<AtomicBool>,
}

impl LimitedReader {
    pub fn new(inner: BoxedReader, flooded: Arc<AtomicBool>) -> LimitedReader {
        let allowance = MAX_FLOOD as f64;
        let since = Instant::now();

        LimitedReader { inner, allowance, since, line: 0, flooded }
    }

    fn is_too_much(&mut self, bytes: &[u8]) -> bool {
        let now = Instant::now();
        let earned = now.duration_since(self.since).as_secs_f64() * BYTES_PER_SECOND;
        self.allowance = (self.allowance + earned).min(MAX_FLOOD as f64) - bytes.len() as f64;
        self.since = now;
        self.line = match bytes.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => bytes.len() - end - 1,
            None => self.line + bytes.len(),
        };
        self.allowance < 0.0 || self.line > MAX_MESSAGE
    }
}

impl AsyncRead for LimitedReader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        std::task::ready!(Pin::new(&mut self.inner).poll_read(cx, buffer))?;
        let read = buffer.filled().get(before..).unwrap_or_default();
        if self.is_too_much(read) {
            self.flooded.store(true, Ordering::Relaxed);
            return Poll::Ready(Err(io::ErrorKind::QuotaExceeded.into()));
        }
        Poll::Ready(Ok(()))
    }
}

/// A process while its connection lasts, and its last line.
pub(crate) struct Process {
    guard: Box<dyn Send>,
    stderr: JoinHandle<()>,
    last_line: watch::Receiver<String>,
    pub flooded: Arc<AtomicBool>,
}

impl Process {
    pub fn new(
        guard: Box<dyn Send>,
        errors: BoxedReader,
        name: String,
        events: mpsc::Sender<(String, McpEvent)>,
    ) -> Process {
        let (sender, last_line) = watch::channel(String::new());
        let reader = LimitedReader::new(errors, Arc::default());
        let stderr = tokio::spawn(read_errors(reader, name, sender, events));
        Process { guard, stderr, last_line, flooded: Arc::default() }
    }

    /// Waits for the end of the process, ends it if it does not come, and gives its last line.
    pub async fn end(self) -> String {
        let mut stderr = self.stderr;
        if tokio::time::timeout(END_TIMEOUT, &mut stderr).await.is_err() {
            stderr.abort();
        }
        drop(self.guard);
        self.last_line.borrow().clone()
    }
}

async fn read_errors(
    reader: LimitedReader,
    name: String,
    sender: watch::Sender<String>,
    events: mpsc::Sender<(String, McpEvent)>,
) {
    let mut reader = BufReader::with_capacity(ERROR_BUFFER, reader);
    let mut bytes = Vec::new();
    while let Ok(1..) = reader.read_until(b'\n', &mut bytes).await {
        let line = clean::line(&String::from_utf8_lossy(&bytes), MAX_LOG_LINE);
        bytes.clear();
        if !line.is_empty() {
            sender.send_replace(line.clone());
            // A log that is not read is not waited for.
            let _ = events.try_send((name.clone(), McpEvent::Logged(line)));
        }
    }
}
