//! Reads the keys, on a thread of its own: a terminal that sends half a sequence keeps
//! that thread waiting, and one that is gone keeps it busy, but neither keeps the screen.
//! What a key means is not known here.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc as line;
use std::thread;
use std::time::Duration;

use crossterm::event::{self, Event as Key, EventStream};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::terminal::remind_of_keys;

/// Keys that may wait for the screen. More of them wait in the kernel.
const ROOM: usize = 4_096;
/// How long the thread may take to let go of the terminal. Only one that is in the middle
/// of a sequence takes longer, and it cannot be helped.
const GRACE: Duration = Duration::from_millis(200);
/// Nothing has to be done when this is over; Crossterm only cannot be told to wait for
/// ever and yet be woken.
const LONG: Duration = Duration::from_secs(24 * 60 * 60);

type Read = io::Result<Key>;

/// The keys, whether somebody reads them just now or not.
#[derive(Debug, Default)]
pub struct Keyboard {
    reader: Option<Reader>,
    /// What was read before the reader had to stop.
    early: VecDeque<Read>,
}

/// A thread that reads.
#[derive(Debug)]
struct Reader {
    keys: Receiver<Read>,
    stop: Arc<AtomicBool>,
    /// Gives what wakes the thread, once, and ends with the thread.
    thread: line::Receiver<EventStream>,
}

impl Keyboard {
    /// Reads the keys from now on.
    pub fn listen(&mut self) {
        if self.reader.is_some() {
            return;
        }
        let (out, keys) = channel(ROOM);
        let (line, thread) = line::sync_channel(1);
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let work = move || {
            // Crossterm ends a wait in one way only: where a stream of its own is dropped.
            let _ = line.send(EventStream::new());
            if let Err(fault) = read(&out, &stopped) {
                let _ = out.blocking_send(Err(fault));
            }
        };
        match thread::Builder::new().name("keyboard".into()).spawn(work) {
            Ok(_) => self.reader = Some(Reader { keys, stop, thread }),
            Err(fault) => self.early.push_back(Err(fault)),
        }
    }

    /// Lets go of the terminal: the next key is not ours. What was read already is kept.
    pub fn let_go(&mut self) {
        let Some(mut reader) = self.reader.take() else { return };
        reader.stop.store(true, Ordering::SeqCst);
        self.early.extend(std::iter::from_fn(|| reader.keys.try_recv().ok()));
        if let Ok(waker) = reader.thread.recv_timeout(GRACE) {
            drop(waker);
            let _ = reader.thread.recv_timeout(GRACE);
        }
        self.early.extend(std::iter::from_fn(|| reader.keys.try_recv().ok()));
    }

    /// The next key; `None` where no more will come.
    pub async fn next(&mut self) -> Option<Read> {
        match (self.early.pop_front(), &mut self.reader) {
            (Some(key), _) => Some(key),
            (None, Some(reader)) => reader.keys.recv().await,
            (None, None) => None,
        }
    }

    /// A key that waits already.
    pub fn waiting(&mut self) -> Option<Read> {
        self.early.pop_front().or_else(|| self.reader.as_mut()?.keys.try_recv().ok())
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        self.let_go();
    }
}

/// Reads until it is told to stop, or nobody wants the keys.
fn read(out: &Sender<Read>, stopped: &AtomicBool) -> io::Result<()> {
    let wanted = || !stopped.load(Ordering::SeqCst);
    while wanted() {
        remind_of_keys();
        let mut some = event::poll(LONG)?;
        while some && wanted() {
            if out.blocking_send(Ok(event::read()?)).is_err() {
                return Ok(());
            }
            some = event::poll(Duration::ZERO)?;
        }
    }
    Ok(())
}
