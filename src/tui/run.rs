//! The driver: waits for the next event, passes it to [`super::update::update`], carries out the
//! effects, draws. The only place of the screen that waits, and it never waits for the model, a
//! child process or a file.

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crossterm::event::Event as Key;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{Receiver, Sender};
use tokio::time::{Instant, sleep_until, timeout};

use super::clerk::{AutoSaver, Keep, Keeper};
use super::clipboard::{Copier, CopyResult};
use super::event::{Millis, ScreenEffect, ScreenInput, TimedInput};
use super::files::{FileMatches, Finder};
use super::folders::{Folders, Listing};
use super::hangup::HangUp;
use super::input::TerminalInput;
use super::keyboard::Keyboard;
use super::pace::FrameLimiter;
use super::painter::Painter;
use super::state::{ScreenConfig, State};
use super::terminal::Screen;
use super::transcript::Painted;
use super::update::update;
use super::view::view;
use crate::config::draft::SavedDraft;
use crate::protocol::{self, AskId, Decision, Op};
use crate::signals::{self, Signal};
use crate::tools::exec::Watchdog;
use crate::tools::exec::editor::Editing;
use crate::tools::temp::RunFolder;
use crate::words::{LocalizedText, input as words};

/// Events that are processed before a frame is drawn, however many more wait.
const BURST: usize = 1_024;
/// How long the last messages to the session may take.
const FAREWELL: Duration = Duration::from_millis(300);

/// Why the screen ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The user quit.
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
pub struct ScreenExit {
    pub cause: Cause,
    /// The text in the input.
    pub draft: SavedDraft,
    /// The user was asked about unsaved changes, and answered.
    pub knows_unsaved: bool,
}

/// Runs the screen until the user quits, the session closes or a signal comes. Call it on the
/// thread that blocks for it: a panic there restores the terminal.
///
/// # Errors
/// When the terminal cannot be taken over.
pub async fn run(
    mut config: ScreenConfig,
    ops: Sender<Op>,
    events: Receiver<protocol::Event>,
    keep: Keep,
) -> io::Result<ScreenExit> {
    let first = config.first.take();
    let aside = Workers {
        clerk: AutoSaver::start(std::mem::take(&mut config.keep), config.draft.clone()),
        keeper: Keeper::new(keep),
        copier: Copier::new(std::mem::take(&mut config.around.clipboard)),
        finder: Finder::default(),
        folders: Folders::default(),
        home: std::mem::take(&mut config.around.home),
        editor: config.editor.take(),
        temp: Arc::clone(&config.temp),
        hangup: HangUp::watch(),
    };
    let watchdog = std::mem::take(&mut config.watchdog);
    let screen = Screen::enter(config.around.links, watchdog.clone())?;
    let mut driver = Driver {
        state: State::new(config),
        screen,
        began: Instant::now(),
        outbox: VecDeque::new(),
        ops,
        events,
        pace: FrameLimiter::default(),
        painter: Painter::default(),
        aside,
        watchdog,
        next: Next::GoOn,
        late_until: 0,
    };
    driver.pace.at_leisure();
    driver.outbox.extend(driver.state.requeued());
    driver.post();
    if let Some(text) = first {
        driver.take(ScreenInput::First(text));
    }
    let cause = driver.until_the_end().await;
    let draft = driver.state.draft();
    let knows_unsaved = driver.state.person.knows_unsaved;
    let Driver { screen, ops, mut outbox, aside, .. } = driver;
    drop(screen);
    aside.clerk.close(draft.clone()).await;
    outbox.push_back(Op::Shutdown);
    let _ = timeout(FAREWELL, shutdown(ops, outbox)).await;
    Ok(ScreenExit { cause, draft, knows_unsaved })
}

async fn shutdown(ops: Sender<Op>, outbox: VecDeque<Op>) {
    for op in outbox {
        if ops.send(op).await.is_err() {
            return;
        }
    }
}

/// How long a signal of the keyboard may take to come after the program it ended.
const LATE: Millis = 500;

struct Driver {
    state: State,
    screen: Screen,
    began: Instant,
    /// Operations that the session has no room for yet.
    outbox: VecDeque<Op>,
    ops: Sender<Op>,
    events: Receiver<protocol::Event>,
    pace: FrameLimiter,
    painter: Painter,
    aside: Workers,
    watchdog: Watchdog,
    next: Next,
    /// Until then Ctrl-C and Ctrl-\\ may have been for the program that had the terminal.
    late_until: Millis,
}

/// Workers besides the screen.
struct Workers {
    clerk: AutoSaver,
    keeper: Keeper,
    copier: Copier,
    finder: Finder,
    folders: Folders,
    home: PathBuf,
    /// The user's editor.
    editor: Option<String>,
    temp: Arc<RunFolder>,
    hangup: HangUp,
}

/// What to do after an event.
enum Next {
    GoOn,
    Errand(TerminalTask),
    End(Cause),
}

/// Tasks that need the terminal for themselves: nothing else reads keys meanwhile.
enum TerminalTask {
    /// The user's editor on a text.
    Editor(String),
    /// A step that needs the terminal.
    Lend(AskId),
    /// The shell that started this program.
    Suspend,
}

/// The reason a wait ended.
enum Wakeup {
    Key(Option<io::Result<TerminalInput>>),
    /// The terminal is gone.
    HungUp,
    Session(Option<Box<protocol::Event>>),
    Signal(Signal),
    /// The session has room again.
    Room,
    /// A setting was not saved.
    NotKept(Option<LocalizedText>),
    /// Code was highlighted, or not.
    Painted(Option<Painted>),
    Copied(CopyResult),
    /// Files whose names match the query.
    Found(Option<FileMatches>),
    /// Folders that may complete a typed path.
    Folders(Option<Listing>),
    Time,
}

impl Driver {
    async fn until_the_end(&mut self) -> Cause {
        let mut keys = Keyboard::default();
        let mut signals = signals::listen_all();
        loop {
            match std::mem::replace(&mut self.next, Next::GoOn) {
                Next::GoOn => {}
                Next::End(cause) => return cause,
                Next::Errand(errand) => {
                    keys.let_go();
                    self.run_errand(errand, &mut signals).await;
                    continue;
                }
            }
            keys.listen();
            if self.due().is_some_and(|due| due <= self.now()) && self.draw().is_err() {
                return Cause::TerminalGone;
            }
            let woken = self.wait(&mut keys, &mut signals).await;
            self.woken(woken);
            self.drain(&mut keys);
        }
    }

    /// Runs a task that needs the terminal.
    async fn run_errand(&mut self, errand: TerminalTask, signals: &mut Receiver<Signal>) {
        self.errand(errand, signals).await;
        self.late_until = self.now() + LATE;
    }

    async fn errand(&mut self, errand: TerminalTask, signals: &mut Receiver<Signal>) {
        match errand {
            TerminalTask::Editor(text) => self.edit(&text, signals).await,
            TerminalTask::Lend(ask) => self.lend(ask, signals).await,
            TerminalTask::Suspend => {
                if self.screen.suspend().is_err() {
                    self.next = Next::End(Cause::TerminalGone);
                }
            }
        }
    }

    async fn wait(&mut self, keys: &mut Keyboard, signals: &mut Receiver<Signal>) -> Wakeup {
        let wake = self.wake();
        let full = !self.outbox.is_empty();
        tokio::select! {
            biased;
            Some(signal) = signals.recv() => Wakeup::Signal(signal),
            () = self.aside.hangup.gone() => Wakeup::HungUp,
            key = keys.next() => Wakeup::Key(key),
            event = self.events.recv() => Wakeup::Session(event.map(Box::new)),
            _ = self.ops.reserve(), if full => Wakeup::Room,
            fault = self.aside.keeper.faults.1.recv() => Wakeup::NotKept(fault),
            found = self.aside.finder.found() => Wakeup::Found(found),
            found = self.aside.folders.found() => Wakeup::Folders(found),
            painted = self.painter.painted() => Wakeup::Painted(painted),
            copied = self.aside.copier.copied() => Wakeup::Copied(copied),
            () = sleep_until(wake.unwrap_or(self.began)), if wake.is_some() => Wakeup::Time,
        }
    }

    /// When to wake even if no event comes: for a frame that is due, or for something that moves.
    fn wake(&self) -> Option<Instant> {
        if self.screen.is_away() {
            return None;
        }
        let at = self.due().or_else(|| {
            let moving = self.state.wakes_at(self.now());
            let kept = self.aside.clerk.wakes_at();
            moving.into_iter().chain(self.painter.wakes_at()).chain(kept).min()
        });
        at.map(|at| self.began + Duration::from_millis(at))
    }

    fn woken(&mut self, woken: Wakeup) {
        match woken {
            Wakeup::Key(Some(Ok(TerminalInput::Event(key)))) => self.key(key),
            Wakeup::Key(Some(Ok(TerminalInput::Ground(ground)))) => {
                self.take(ScreenInput::Ground(ground))
            }
            Wakeup::HungUp | Wakeup::Key(Some(Err(_)) | None) => {
                self.next = Next::End(Cause::TerminalGone)
            }
            Wakeup::Session(Some(event)) => self.take(ScreenInput::Session(event)),
            Wakeup::Session(None) => self.next = Next::End(Cause::SessionClosed),
            Wakeup::Signal(signal) => self.signalled(signal),
            Wakeup::Room => self.post(),
            Wakeup::NotKept(Some(why)) => self.take(ScreenInput::NotKept(Box::new(why))),
            Wakeup::NotKept(None) => {}
            Wakeup::Painted(painted) => {
                if let Some(painted) = painted {
                    self.state.transcript.colour(painted);
                }
                self.pace.at_leisure();
            }
            Wakeup::Copied(copied) => self.take(ScreenInput::Copied(copied)),
            Wakeup::Found(found) => {
                if let Some(found) = found {
                    self.state.found_files(found);
                }
                self.pace.now();
            }
            Wakeup::Folders(found) => {
                found.into_iter().for_each(|found| self.state.found_folders(found));
                self.pace.now();
            }
            Wakeup::Time if self.pace.due().is_some() => {}
            Wakeup::Time => self.take(ScreenInput::Tick),
        }
    }

    fn signalled(&mut self, signal: Signal) {
        match signal {
            Signal::End(_) if !ends(signal) && self.now() < self.late_until => {}
            Signal::End(number) => self.next = Next::End(Cause::Signal(number)),
            Signal::Stop => self.next = Next::Errand(TerminalTask::Suspend),
            Signal::Resized => self.take(ScreenInput::Resized),
            Signal::Continued => {
                if self.screen.reassert().is_err() {
                    self.next = Next::End(Cause::TerminalGone);
                }
                self.take(ScreenInput::Resized);
            }
        }
    }

    /// Processes all waiting events, so that a burst costs one frame.
    fn drain(&mut self, keys: &mut Keyboard) {
        for _ in 0..BURST {
            if !matches!(self.next, Next::GoOn) {
                return;
            }
            if let Some(key) = keys.waiting() {
                self.woken(Wakeup::Key(Some(key)));
            } else if let Ok(event) = self.events.try_recv() {
                self.take(ScreenInput::Session(Box::new(event)));
            } else {
                return;
            }
        }
    }

    fn key(&mut self, key: Key) {
        if self.screen.is_away() {
            return self.away_key(&key);
        }
        self.take(match key {
            Key::Key(key) => ScreenInput::Key(key),
            Key::Paste(text) => ScreenInput::Paste(text),
            Key::Mouse(mouse) => ScreenInput::Mouse(mouse),
            Key::Resize(..) => ScreenInput::Resized,
            Key::FocusGained => ScreenInput::FocusGained,
            Key::FocusLost => ScreenInput::FocusLost,
        });
    }

    /// Any key returns from the normal screen, and does nothing else.
    fn away_key(&mut self, key: &Key) {
        if !matches!(key, Key::Key(key) if key.is_press()) {
            return;
        }
        self.pace.now();
        // The terminal has not received changes of the title meanwhile.
        self.state.dress.title.clear();
        if self.screen.come_back().is_err() {
            self.next = Next::End(Cause::TerminalGone);
        }
        self.take(ScreenInput::Resized);
    }

    fn take(&mut self, input: ScreenInput) {
        let at = self.now();
        self.pace.happened(&input);
        self.aside.clerk.happened(&input, at);
        self.react(input, at);
        self.aside.clerk.look(&self.state, at);
        let (wanted, root) = self.state.wanted_files();
        self.aside.finder.look(wanted, root, at);
        let lead = self.state.wanted_folder();
        self.aside.folders.look(lead, root, &self.aside.home);
    }

    fn react(&mut self, input: ScreenInput, at: Millis) {
        for effect in update(&mut self.state, TimedInput { at, input }) {
            if self.perform(effect).is_err() {
                self.next = Next::End(Cause::TerminalGone);
            }
        }
    }

    fn perform(&mut self, effect: ScreenEffect) -> io::Result<()> {
        match effect {
            ScreenEffect::Send(op) => {
                self.outbox.push_back(op);
                self.post();
                Ok(())
            }
            ScreenEffect::Look => {
                self.outbox.push_back(Op::RefreshExtensions);
                self.post();
                Ok(())
            }
            ScreenEffect::Keep(line) => {
                let at = self.now();
                self.aside.clerk.line(line, at);
                Ok(())
            }
            ScreenEffect::Quit => {
                self.next = Next::End(Cause::Left);
                Ok(())
            }
            ScreenEffect::Redraw => {
                self.screen.forget();
                Ok(())
            }
            ScreenEffect::Lend(ask) => {
                self.next = Next::Errand(TerminalTask::Lend(ask));
                Ok(())
            }
            ScreenEffect::Editor(text) => {
                self.next = Next::Errand(TerminalTask::Editor(text));
                Ok(())
            }
            ScreenEffect::Set { key, value } => {
                self.aside.keeper.start(key, value);
                Ok(())
            }
            ScreenEffect::Suspend => {
                self.next = Next::Errand(TerminalTask::Suspend);
                Ok(())
            }
            _ if !self.screen.is_ours() => Ok(()),
            ScreenEffect::Copy(text) => {
                let sent = self.screen.copy(&text, self.aside.copier.through());
                self.aside.copier.copy(text);
                sent
            }
            ScreenEffect::Dump(text) => self.screen.go_away(&text),
            ScreenEffect::Title(_) if self.screen.is_away() => Ok(()),
            ScreenEffect::Ring(ring, text) => self.screen.ring(&ring.sequence(text)),
            ScreenEffect::Title(title) => self.screen.title(&title),
            ScreenEffect::AskGround => self.screen.ask_ground(),
            ScreenEffect::CaptureMouse => self.screen.capture_mouse(),
            ScreenEffect::ReleaseMouse => self.screen.release_mouse(),
        }
    }

    /// Hands the terminal to the user's editor. The session continues meanwhile.
    async fn edit(&mut self, text: &str, signals: &mut Receiver<Signal>) {
        let started = match &self.aside.editor {
            Some(editor) => {
                self.screen.lend();
                Editing::start(&self.aside.temp, editor, text)
            }
            None => Err(words::NO_EDITOR.into()),
        };
        let edited = match started {
            Ok(editing) => self.until_closed(editing, signals).await,
            Err(say) => Err(say),
        };
        if !self.screen.is_ours() && self.screen.take_back().is_err() {
            self.next = Next::End(Cause::TerminalGone);
        }
        self.take(ScreenInput::Edited(edited));
    }

    async fn until_closed(
        &mut self,
        mut editing: Editing,
        signals: &mut Receiver<Signal>,
    ) -> Result<String, LocalizedText> {
        let mut open = true;
        loop {
            let full = !self.outbox.is_empty();
            let woken = tokio::select! {
                biased;
                closed = editing.wait() => {
                    closed?;
                    return editing.text();
                }
                Some(signal) = signals.recv() => Wakeup::Signal(signal),
                event = self.events.recv(), if open => Wakeup::Session(event.map(Box::new)),
                _ = self.ops.reserve(), if full => Wakeup::Room,
            };
            match woken {
                Wakeup::Signal(signal) if !ends(signal) => {
                    lent(signal);
                    continue;
                }
                Wakeup::Signal(_) => editing.terminate().await,
                Wakeup::Session(None) => open = false,
                _ => {}
            }
            let ended = matches!(woken, Wakeup::Signal(_));
            self.woken(woken);
            if ended {
                return Err(words::EDITOR_CUT.into());
            }
        }
    }

    /// Hands the terminal to a step until the step returns it.
    async fn lend(&mut self, ask: AskId, signals: &mut Receiver<Signal>) {
        self.screen.lend();
        self.outbox.push_back(Op::Decide { ask, decision: Decision::Approve });
        self.post();
        loop {
            let full = !self.outbox.is_empty();
            let woken = tokio::select! {
                biased;
                Some(signal) = signals.recv() => Wakeup::Signal(signal),
                event = self.events.recv() => Wakeup::Session(event.map(Box::new)),
                _ = self.ops.reserve(), if full => Wakeup::Room,
            };
            let over = match &woken {
                Wakeup::Signal(signal) if !ends(*signal) => {
                    lent(*signal);
                    continue;
                }
                Wakeup::Signal(_) | Wakeup::Session(None) => true,
                Wakeup::Session(Some(event)) => {
                    matches!(
                        **event,
                        protocol::Event::TerminalReturned | protocol::Event::TurnEnded { .. }
                    )
                }
                _ => false,
            };
            self.woken(woken);
            if over {
                break;
            }
        }
        if !self.screen.is_ours() && self.screen.take_back().is_err() {
            self.next = Next::End(Cause::TerminalGone);
        }
    }

    /// Sends the session as many operations as it has room for. Never waits.
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

    /// A frame that opens the list of files waits a moment for the first results.
    fn due(&self) -> Option<Millis> {
        if self.screen.is_away() {
            return None;
        }
        let hold = self.aside.finder.holds_until().unwrap_or(0);
        self.pace.due().map(|due| due.max(hold))
    }

    fn draw(&mut self) -> io::Result<()> {
        let now = self.now();
        self.aside.clerk.shows(&self.state, now);
        let state = &mut self.state;
        self.screen.draw(|frame| {
            view(state, frame, now);
            state.transcript.anchors(frame.buffer_mut())
        })?;
        if self.pace.is_first() && self.state.dress.wants_ground() {
            self.screen.ask_ground()?;
        }
        if self.pace.is_first() {
            // After the first frame, which nothing may delay.
            self.watchdog.start();
            self.screen.watched();
        }
        self.pace.drew(now);
        self.painter.look(&self.state.transcript, now);
        Ok(())
    }

    fn now(&self) -> Millis {
        Millis::try_from(self.began.elapsed().as_millis()).unwrap_or(Millis::MAX)
    }
}

/// Whether a signal ends the program while another one has the terminal: the keyboard's signals,
/// Ctrl-C and Ctrl-\\, are for the other program.
fn ends(signal: Signal) -> bool {
    matches!(signal, Signal::End(number) if number != signals::INT && number != signals::QUIT)
}

/// Handles a signal while another program has the terminal.
fn lent(signal: Signal) {
    if signal == Signal::Stop {
        signals::stop();
    }
}
