//! The driver: waits for the next thing that happens, hands it to
//! [`super::update::update`], does what comes out, draws. The only place of the screen
//! that waits, and it never waits for the model, a child or a file.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use crossterm::event::{Event as Key, EventStream, KeyEvent};
use futures_util::{Stream as _, StreamExt as _};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{Receiver, Sender, UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, sleep_until, timeout};

use super::event::{Effect, Event, Input, Millis};
use super::painter::Painter;
use super::state::{Config, State};
use super::terminal::{Screen, remind_of_keys};
use super::theme::{Heard, Listener};
use super::transcript::Painted;
use super::update::update;
use super::view::view;
use crate::protocol::{self, Op};
use crate::words::Say;

/// Sixty frames a second at most.
const FRAME: Millis = 16;
/// What is taken in before a frame is drawn, however much more waits.
const BURST: usize = 1_024;
/// How long the last words to the session may take.
const FAREWELL: Duration = Duration::from_millis(300);

/// Why the screen ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The person left.
    Left,
    /// The session is over.
    SessionClosed,
    /// A signal, by its number.
    Signal(i32),
    /// The terminal is gone.
    TerminalGone,
}

/// What the screen leaves to its caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exit {
    pub cause: Cause,
    /// What was sent, oldest first: for the input history.
    pub sent: Vec<String>,
    /// What stood in the input.
    pub draft: String,
}

/// Keeps a setting, by its key and value, for the next start. It may wait for a disk.
pub type Keep = Arc<dyn Fn(&str, &str) -> Result<(), Say> + Send + Sync>;

/// Runs the screen until the person leaves, the session closes or a signal comes. Call
/// it on the thread that blocks for it: a panic there gives the terminal back.
///
/// # Errors
/// When the terminal cannot be taken over.
pub async fn run(
    mut config: Config,
    ops: Sender<Op>,
    events: Receiver<protocol::Event>,
    keep: Keep,
) -> io::Result<Exit> {
    let first = config.first.take();
    let screen = Screen::enter()?;
    let mut driver = Driver {
        state: State::new(config),
        screen,
        began: Instant::now(),
        outbox: VecDeque::new(),
        ops,
        events,
        drawn: None,
        stale: true,
        painter: Painter::default(),
        listener: Listener::default(),
        keeper: Keeper::new(keep),
        cause: None,
    };
    if let Some(text) = first {
        driver.take(Input::First(text));
    }
    let cause = driver.until_the_end().await;
    let (sent, draft) = driver.state.kept();
    let Driver { screen, ops, mut outbox, .. } = driver;
    drop(screen);
    outbox.push_back(Op::Shutdown);
    let _ = timeout(FAREWELL, farewell(ops, outbox)).await;
    Ok(Exit { cause, sent, draft })
}

async fn farewell(ops: Sender<Op>, outbox: VecDeque<Op>) {
    for op in outbox {
        if ops.send(op).await.is_err() {
            return;
        }
    }
}

struct Driver {
    state: State,
    screen: Screen,
    began: Instant,
    /// What the session has had no room for yet.
    outbox: VecDeque<Op>,
    ops: Sender<Op>,
    events: Receiver<protocol::Event>,
    /// When the last frame was drawn.
    drawn: Option<Millis>,
    /// True when the frame on the terminal is not the newest.
    stale: bool,
    painter: Painter,
    listener: Listener,
    keeper: Keeper,
    cause: Option<Cause>,
}

/// Keeps settings where waiting is allowed.
struct Keeper {
    keep: Keep,
    faults: (UnboundedSender<Say>, UnboundedReceiver<Say>),
}

impl Keeper {
    fn new(keep: Keep) -> Keeper {
        Keeper { keep, faults: unbounded_channel() }
    }

    fn start(&self, key: &'static str, value: String) {
        let (keep, fault) = (Arc::clone(&self.keep), self.faults.0.clone());
        tokio::task::spawn_blocking(move || {
            if let Err(why) = keep(key, &value) {
                let _ = fault.send(why);
            }
        });
    }
}

/// What ended a wait.
enum Woken {
    Key(Option<io::Result<Key>>),
    Session(Option<Box<protocol::Event>>),
    Signal(i32),
    /// The session has room again.
    Room,
    /// A setting was not kept.
    NotKept(Option<Say>),
    /// Code got its colours, or none.
    Painted(Option<Painted>),
    Time,
}

impl Driver {
    async fn until_the_end(&mut self) -> Cause {
        let mut keys = EventStream::new();
        let mut signals = Signals::new();
        loop {
            if let Some(cause) = self.cause {
                return cause;
            }
            if self.is_due() && self.draw().is_err() {
                return Cause::TerminalGone;
            }
            remind_of_keys();
            let woken = self.wait(&mut keys, &mut signals).await;
            self.woken(woken);
            self.drain(&mut keys).await;
        }
    }

    async fn wait(&mut self, keys: &mut EventStream, signals: &mut Signals) -> Woken {
        let wake = self.wake();
        let full = !self.outbox.is_empty();
        tokio::select! {
            biased;
            signal = signals.next() => Woken::Signal(signal),
            key = keys.next() => Woken::Key(key),
            event = self.events.recv() => Woken::Session(event.map(Box::new)),
            _ = self.ops.reserve(), if full => Woken::Room,
            fault = self.keeper.faults.1.recv() => Woken::NotKept(fault),
            painted = self.painter.painted() => Woken::Painted(painted),
            () = sleep_until(wake.unwrap_or(self.began)), if wake.is_some() => Woken::Time,
        }
    }

    /// When to wake though nothing happens: for a frame that is due, or for what moves.
    fn wake(&self) -> Option<Instant> {
        let at = match (self.stale, self.drawn) {
            (true, Some(drawn)) => Some(drawn + FRAME),
            (true, None) | (false, _) => {
                let moving = self.state.wakes_at(self.now());
                moving.into_iter().chain(self.painter.wakes_at()).min()
            }
        };
        at.map(|at| self.began + Duration::from_millis(at))
    }

    fn woken(&mut self, woken: Woken) {
        match woken {
            Woken::Key(Some(Ok(key))) => self.key(key),
            Woken::Key(Some(Err(_)) | None) => self.cause = Some(Cause::TerminalGone),
            Woken::Session(Some(event)) => self.take(Input::Session(event)),
            Woken::Session(None) => self.cause = Some(Cause::SessionClosed),
            Woken::Signal(number) => self.cause = Some(Cause::Signal(number)),
            Woken::Room => self.post(),
            Woken::NotKept(Some(why)) => self.take(Input::NotKept(Box::new(why))),
            Woken::NotKept(None) => {}
            Woken::Painted(painted) => {
                if let Some(painted) = painted {
                    self.state.transcript.colour(painted);
                }
                self.stale = true;
            }
            Woken::Time if self.stale => {}
            Woken::Time => self.take(Input::Tick),
        }
    }

    /// Takes in what waits already, so that a burst costs one frame.
    async fn drain(&mut self, keys: &mut EventStream) {
        for _ in 0..BURST {
            if self.cause.is_some() {
                return;
            }
            if let Some(key) = waiting(keys).await {
                self.woken(Woken::Key(key));
            } else if let Ok(event) = self.events.try_recv() {
                self.take(Input::Session(Box::new(event)));
            } else {
                return;
            }
        }
    }

    fn key(&mut self, key: Key) {
        self.take(match key {
            Key::Key(key) => return self.pressed(key),
            Key::Paste(text) => Input::Paste(text),
            Key::Mouse(mouse) => Input::Mouse(mouse),
            Key::Resize(..) => Input::Resized,
            Key::FocusGained => Input::FocusGained,
            Key::FocusLost => Input::FocusLost,
        });
    }

    /// A key, unless it is part of what the terminal answers.
    fn pressed(&mut self, key: KeyEvent) {
        match self.listener.hear(key) {
            Heard::Held | Heard::Told(None) => {}
            Heard::Told(Some(ground)) => self.take(Input::Ground(ground)),
            Heard::Keys(keys) => keys.into_iter().for_each(|key| self.take(Input::Key(key))),
        }
    }

    fn take(&mut self, input: Input) {
        let at = self.now();
        self.stale = true;
        for effect in update(&mut self.state, Event { at, input }) {
            if self.perform(effect).is_err() {
                self.cause = Some(Cause::TerminalGone);
            }
        }
    }

    fn perform(&mut self, effect: Effect) -> io::Result<()> {
        match effect {
            Effect::Send(op) => {
                self.outbox.push_back(op);
                self.post();
                Ok(())
            }
            Effect::Quit => {
                self.cause = Some(Cause::Left);
                Ok(())
            }
            Effect::Redraw => {
                self.screen.forget();
                Ok(())
            }
            Effect::Copy(text) => self.screen.copy(&text),
            Effect::Ring(ring, text) => self.screen.ring(&ring.sequence(text)),
            Effect::Title(title) => self.screen.title(&title),
            Effect::AskGround => self.screen.ask_ground(),
            Effect::Keep { key, value } => {
                self.keeper.start(key, value);
                Ok(())
            }
            Effect::CaptureMouse => self.screen.capture_mouse(),
            Effect::ReleaseMouse => self.screen.release_mouse(),
            Effect::Suspend => self.screen.suspend(),
        }
    }

    /// Gives the session what it has room for. Never waits.
    fn post(&mut self) {
        while let Some(op) = self.outbox.pop_front() {
            match self.ops.try_send(op) {
                Ok(()) => {}
                Err(TrySendError::Full(op)) => {
                    self.outbox.push_front(op);
                    return;
                }
                Err(TrySendError::Closed(_)) => self.outbox.clear(),
            }
        }
    }

    fn is_due(&self) -> bool {
        self.stale && self.drawn.is_none_or(|drawn| self.now() >= drawn + FRAME)
    }

    fn draw(&mut self) -> io::Result<()> {
        let now = self.now();
        self.screen.draw(|frame| view(&mut self.state, frame, now))?;
        if self.drawn.is_none() && self.state.dress.wants_ground() {
            self.screen.ask_ground()?;
        }
        self.drawn = Some(now);
        self.stale = false;
        self.painter.look(&self.state.transcript, now);
        Ok(())
    }

    fn now(&self) -> Millis {
        Millis::try_from(self.began.elapsed().as_millis()).unwrap_or(Millis::MAX)
    }
}

/// A key that waits already. It is asked for with this task's own waker: the stream
/// keeps the one it is first asked with, and another would never wake us.
async fn waiting(keys: &mut EventStream) -> Option<Option<io::Result<Key>>> {
    poll_fn(|context| {
        Poll::Ready(match Pin::new(&mut *keys).poll_next(context) {
            Poll::Ready(key) => Some(key),
            Poll::Pending => None,
        })
    })
    .await
}

/// The signals that end the screen.
#[cfg(unix)]
struct Signals(Vec<(i32, tokio::signal::unix::Signal)>);

#[cfg(unix)]
impl Signals {
    fn new() -> Signals {
        use tokio::signal::unix::{SignalKind, signal};
        let kinds = [SignalKind::terminate(), SignalKind::hangup(), SignalKind::interrupt()];
        let listening = |kind: SignalKind| Some((kind.as_raw_value(), signal(kind).ok()?));
        Signals(kinds.into_iter().filter_map(listening).collect())
    }

    async fn next(&mut self) -> i32 {
        poll_fn(|context| {
            for (number, signal) in &mut self.0 {
                if signal.poll_recv(context).is_ready() {
                    return Poll::Ready(*number);
                }
            }
            Poll::Pending
        })
        .await
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> Signals {
        Signals
    }

    async fn next(&mut self) -> i32 {
        std::future::pending().await
    }
}
