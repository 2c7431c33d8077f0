//! Reads the terminal on a thread, and delivers parsed events. A terminal that sends half a
//! sequence, or is gone, blocks nothing but that thread.

use std::collections::VecDeque;
use std::io::{self, PipeReader, PipeWriter};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::stdio::stdin;
use tokio::sync::mpsc::error::TryRecvError;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::input::{Parser, TerminalInput};
use crossterm::event::{Event, KeyCode};

/// Reads that may wait for the screen. Further input waits in the kernel.
const CAPACITY: usize = 16;
/// How long the thread may take to release the terminal.
const GRACE_PERIOD: Duration = Duration::from_millis(200);
/// The size of one read, in bytes.
const CHUNK: usize = 64 * 1024;
/// The most that is read before it is delivered, in bytes.
const BURST: usize = 1 << 20;

type ReadResult = io::Result<TerminalInput>;

/// The keyboard, whether or not the screen reads it at the moment.
#[derive(Debug, Default)]
pub struct InputReader {
    reader: Option<Reader>,
    /// The rest of the last read, and what was read before the reader had to stop.
    buffered: VecDeque<ReadResult>,
}

/// A thread that reads.
#[derive(Debug)]
struct Reader {
    keys: Receiver<Vec<ReadResult>>,
    /// Dropping it wakes the thread, which then ends.
    stop: PipeWriter,
}

/// Why a wait ended.
enum PollOutcome {
    Bytes,
    TimeOut,
    Stop,
}

impl InputReader {
    /// Starts to read keys.
    pub fn listen(&mut self) {
        if self.reader.is_some() {
            return;
        }
        let (out, keys) = channel(CAPACITY);
        let started = io::pipe().and_then(|(stopped, stop)| {
            let work = move || {
                if let Err(error) = read(&out, &stopped) {
                    let _ = out.blocking_send(vec![Err(error)]);
                }
            };
            thread::Builder::new().name("keyboard".into()).spawn(work)?;
            Ok(stop)
        });
        match started {
            Ok(stop) => self.reader = Some(Reader { keys, stop }),
            Err(error) => self.buffered.push_back(Err(error)),
        }
    }

    /// Releases the terminal: the next key is for another program. Events already read are kept.
    pub fn release(&mut self) {
        let Some(Reader { mut keys, stop }) = self.reader.take() else { return };
        drop(stop);
        let end = std::time::Instant::now() + GRACE_PERIOD;
        loop {
            match keys.try_recv() {
                Ok(keys) => self.buffered.extend(keys),
                Err(TryRecvError::Disconnected) => return,
                Err(TryRecvError::Empty) if std::time::Instant::now() > end => return,
                Err(TryRecvError::Empty) => thread::yield_now(),
            }
        }
    }

    /// The next event; `None` where no more will come.
    pub async fn next(&mut self) -> Option<ReadResult> {
        if self.buffered.is_empty()
            && let Some(reader) = &mut self.reader
        {
            self.buffered.extend(reader.keys.recv().await.unwrap_or_default());
        }
        self.buffered.pop_front()
    }

    /// An event that is already waiting.
    pub fn try_next(&mut self) -> Option<ReadResult> {
        if self.buffered.is_empty() {
            self.buffered.extend(self.reader.as_mut()?.keys.try_recv().unwrap_or_default());
        }
        self.buffered.pop_front()
    }

    /// Whether the last event was followed by a character within the same read.
    pub fn is_in_burst(&self) -> bool {
        let next = self.buffered.front();
        matches!(next, Some(Ok(TerminalInput::Event(Event::Key(key))))
            if matches!(key.code, KeyCode::Char(_)))
    }
}

impl Drop for InputReader {
    fn drop(&mut self) {
        self.release();
    }
}

/// Reads until it is told to stop, or the screen is gone.
fn read(sender: &Sender<Vec<ReadResult>>, stopped: &PipeReader) -> io::Result<()> {
    let mut parser = Parser::default();
    let mut chunk = vec![0; CHUNK];
    loop {
        let heard = match wait(stopped, parser.pending_timeout())? {
            PollOutcome::Stop => {
                deliver(sender, parser.timeout());
                return Ok(());
            }
            PollOutcome::TimeOut => parser.timeout(),
            PollOutcome::Bytes => {
                let mut all = 0;
                loop {
                    let count = match rustix::io::read(stdin(), &mut chunk) {
                        Err(Errno::INTR | Errno::AGAIN) => 0,
                        // The terminal is gone.
                        Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                        count => count?,
                    };
                    parser.feed(chunk.get(..count).unwrap_or_default());
                    all += count;
                    let more = matches!(wait(stopped, Some(Duration::ZERO))?, PollOutcome::Bytes);
                    if !more || all > BURST {
                        break;
                    }
                }
                parser.take_events()
            }
        };
        if !deliver(sender, heard) {
            return Ok(());
        }
    }
}

/// False when the screen takes no more keys.
fn deliver(sender: &Sender<Vec<ReadResult>>, inputs: Vec<TerminalInput>) -> bool {
    inputs.is_empty() || sender.blocking_send(inputs.into_iter().map(Ok).collect()).is_ok()
}

/// Sleeps until there is something to read, until it must stop, or until the time is over.
fn wait(stopped: &PipeReader, most: Option<Duration>) -> io::Result<PollOutcome> {
    let most = most.map(Timespec::try_from).transpose().map_err(io::Error::other)?;
    let keyboard = stdin();
    let mut watched =
        [PollFd::new(&keyboard, PollFlags::IN), PollFd::new(stopped, PollFlags::empty())];
    loop {
        match poll(&mut watched, most.as_ref()) {
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
            Ok(0) => return Ok(PollOutcome::TimeOut),
            Ok(_) if !watched[1].revents().is_empty() => return Ok(PollOutcome::Stop),
            Ok(_) => return Ok(PollOutcome::Bytes),
        }
    }
}
