//! The driver: waits for the next event, passes it to [`super::update::update`], carries out the
//! effects, draws. The only place of the screen that waits, and it never waits for the model, a
//! child process or a file.

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use crossterm::event::Event as Key;
use ratatui::Frame;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{Receiver, Sender};
use tokio::time::{Instant, sleep_until, timeout};

use super::autosave::{AutoSaver, SaveSettingFn, SettingsSaver};
use super::clipboard::{Copier, CopyResult, ImagePaster, PastedResult};
use super::connect::{ConnectResult, ConnectWorker};
use super::event::{ScreenEffect, ScreenInput, TimedInput};
use super::exit::{Cause, ScreenExit};
use super::exit_card;
use super::files::{FileMatches, Finder};
use super::folders::{FolderFinder, FolderListing};
use super::frame_limiter::FrameLimiter;
use super::hangup::HangUp;
use super::highlight_worker::HighlightWorker;
use super::input::TerminalInput;
use super::keyboard::InputReader;
use super::picture::{PictureEvent, PictureWorker};
use super::state::{ScreenConfig, ScreenFiles, State};
use super::terminal::{Screen, cell_size};
use super::time::Millis;
use super::transcript::{HighlightedCode, Overlays};
use super::update::{layout::layout, update};
use super::view::view;
use avocet_core::i18n::{LocalizedText, input as words, screen as screen_words};
use avocet_core::protocol::{
    self, AskId, Decision, ExtensionOp, Op, QuestionOp, SessionOp, Submission, SubmitId, SubmitIds,
};
use avocet_core::signals::{self, Signal};
use avocet_tools::exec::editor::Editing;

/// Events that are processed before a frame is drawn, however many more wait.
const BURST: usize = 1_024;
/// How long the last messages to the session may take.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(300);

/// Runs the screen until the user quits, the session closes or a signal comes. Call it on the
/// thread that blocks for it: a panic there restores the terminal.
///
/// # Errors
/// When the terminal cannot be taken over.
pub async fn run(
    mut config: ScreenConfig,
    ops: Sender<Submission>,
    events: Receiver<protocol::Event>,
    keep: SaveSettingFn,
) -> io::Result<ScreenExit> {
    let first = config.first.take();
    let mut files = std::mem::take(&mut config.files);
    let workers = Workers {
        auto_saver: AutoSaver::start(std::mem::take(&mut files.save_paths), config.draft.clone()),
        settings_saver: SettingsSaver::start(keep),
        connector: ConnectWorker::new(std::mem::take(&mut config.setup)),
        image_paster: ImagePaster::new(config.terminal_caps.clipboard.clone()),
        copier: Copier::new(std::mem::take(&mut config.terminal_caps.clipboard)),
        picture_worker: PictureWorker::default(),
        finder: Finder::default(),
        folders: FolderFinder::default(),
        home: config.terminal_caps.home.clone(),
        files,
        hangup: HangUp::watch(),
    };
    let screen =
        Screen::enter(config.terminal_caps.supports_links, std::mem::take(&mut config.watchdog))?;
    let mut driver = Driver {
        state: State::new(config),
        screen,
        started_at: Instant::now(),
        pending_ops: VecDeque::new(),
        ops,
        events,
        frame_limiter: FrameLimiter::default(),
        highlight_worker: HighlightWorker::default(),
        workers,
        next: Next::Continue,
        late_signals_until: 0,
    };
    driver.frame_limiter.request_deferred();
    driver.pending_ops.extend(driver.state.requeue_op().map(Submission::from));
    driver.state.queue.submit_ids = SubmitIds::starting_at(SystemTime::now());
    driver.send_pending();
    if let Some(text) = first {
        driver.handle_input(ScreenInput::FirstMessage(text));
    }
    let cause = driver.run().await;
    let draft = driver.state.draft();
    let card = exit_card::lines(&driver.state);
    let has_handled_unsaved = driver.state.presence.has_handled_unsaved;
    let Driver { screen, ops, pending_ops, workers, .. } = driver;
    drop(screen);
    tokio::join!(workers.auto_saver.close(draft.clone()), workers.settings_saver.close());
    let _ = timeout(CLOSE_TIMEOUT, shutdown(ops, pending_ops)).await;
    Ok(ScreenExit { cause, draft, card, has_handled_unsaved })
}

async fn shutdown(sender: Sender<Submission>, submissions: VecDeque<Submission>) {
    let shutdown = Op::Session(SessionOp::Shutdown).into();
    for op in submissions.into_iter().chain([shutdown]) {
        if sender.send(op).await.is_err() {
            return;
        }
    }
}

/// How long a signal of the keyboard may take to come after the program it ended.
const LATE: Millis = 500;

struct Driver {
    state: State,
    screen: Screen,
    started_at: Instant,
    /// Operations that the session has no room for yet.
    pending_ops: VecDeque<Submission>,
    ops: Sender<Submission>,
    events: Receiver<protocol::Event>,
    frame_limiter: FrameLimiter,
    highlight_worker: HighlightWorker,
    workers: Workers,
    next: Next,
    /// Until then Ctrl-C and Ctrl-\\ may have been for the program that had the terminal.
    late_signals_until: Millis,
}

/// Workers besides the screen.
struct Workers {
    auto_saver: AutoSaver,
    settings_saver: SettingsSaver,
    copier: Copier,
    image_paster: ImagePaster,
    connector: ConnectWorker,
    picture_worker: PictureWorker,
    finder: Finder,
    folders: FolderFinder,
    home: PathBuf,
    files: ScreenFiles,
    hangup: HangUp,
}

/// What to do after an event.
enum Next {
    Continue,
    Task(TerminalTask),
    End(Cause),
}

/// Tasks that need the terminal for themselves: nothing else reads keys meanwhile.
enum TerminalTask {
    /// The user's editor on a text.
    Editor(String),
    /// A step that needs the terminal.
    LendToStep(AskId),
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
    SessionHasRoom,
    /// A setting was not saved.
    SettingNotSaved(Option<LocalizedText>),
    /// Code was highlighted, or not.
    Highlighted(Option<HighlightedCode>),
    Copied(CopyResult),
    ImagePasted(PastedResult),
    Picture(PictureEvent),
    Connect(Box<ConnectResult>),
    /// Files whose names match the query.
    FileMatches(Option<FileMatches>),
    /// Folders that may complete a typed path.
    Folders(Option<FolderListing>),
    Timer,
}

impl Driver {
    async fn run(&mut self) -> Cause {
        let mut keyboard = InputReader::default();
        let mut signals = signals::listen_all();
        loop {
            match std::mem::replace(&mut self.next, Next::Continue) {
                Next::Continue => {}
                Next::End(cause) => return cause,
                Next::Task(errand) => {
                    keyboard.release();
                    self.run_task(errand, &mut signals).await;
                    continue;
                }
            }
            keyboard.listen();
            if self.next_frame_due().is_some_and(|due| due <= self.now()) && self.draw().is_err() {
                return Cause::TerminalGone;
            }
            let woken = self.wait(&mut keyboard, &mut signals).await;
            self.state.guard.set_in_burst(keyboard.is_in_burst());
            self.handle_wakeup(woken);
            self.drain(&mut keyboard);
        }
    }

    /// Runs a task that needs the terminal.
    async fn run_task(&mut self, task: TerminalTask, signals: &mut Receiver<Signal>) {
        match task {
            TerminalTask::Editor(text) => self.edit(&text, signals).await,
            TerminalTask::LendToStep(ask) => self.lend(ask, signals).await,
            TerminalTask::Suspend => {
                if self.screen.suspend().is_err() {
                    self.next = Next::End(Cause::TerminalGone);
                }
            }
        }
        // The last key was meant for something else.
        self.state.guard.record_key(self.now());
        self.late_signals_until = self.now() + LATE;
    }

    async fn wait(&mut self, keyboard: &mut InputReader, signals: &mut Receiver<Signal>) -> Wakeup {
        let wake = self.next_wakeup();
        let full = !self.pending_ops.is_empty();
        tokio::select! {
            biased;
            Some(signal) = signals.recv() => Wakeup::Signal(signal),
            () = self.workers.hangup.wait_until_gone() => Wakeup::HungUp,
            key = keyboard.next() => Wakeup::Key(key),
            event = self.events.recv() => Wakeup::Session(event.map(Box::new)),
            _ = self.ops.reserve(), if full => Wakeup::SessionHasRoom,
            fault = self.workers.settings_saver.errors.recv() => Wakeup::SettingNotSaved(fault),
            found = self.workers.finder.next_matches() => Wakeup::FileMatches(found),
            found = self.workers.folders.next_listing() => Wakeup::Folders(found),
            painted = self.highlight_worker.next_result() => Wakeup::Highlighted(painted),
            copied = self.workers.copier.next_result() => Wakeup::Copied(copied),
            result = self.workers.connector.next_result() => Wakeup::Connect(Box::new(result)),
            image = self.workers.image_paster.next_result() => Wakeup::ImagePasted(image),
            encoded = self.workers.picture_worker.next_result() => Wakeup::Picture(encoded),
            () = sleep_until(wake.unwrap_or(self.started_at)), if wake.is_some() => Wakeup::Timer,
        }
    }

    /// When to wake even if no event comes: for a frame that is due, or for something that moves.
    fn next_wakeup(&self) -> Option<Instant> {
        if self.screen.is_on_main_screen() {
            return None;
        }
        let at = self.next_frame_due().or_else(|| {
            let moving = self.state.next_wakeup(self.now());
            let kept = self.workers.auto_saver.next_wakeup();
            moving.into_iter().chain(self.highlight_worker.next_wakeup()).chain(kept).min()
        });
        at.map(|at| self.started_at + Duration::from_millis(at))
    }

    fn handle_wakeup(&mut self, wakeup: Wakeup) {
        match wakeup {
            Wakeup::Key(Some(Ok(TerminalInput::Event(key)))) => self.key(key),
            Wakeup::Key(Some(Ok(TerminalInput::Background(it)))) => self.handle_input(it.into()),
            Wakeup::Key(Some(Ok(TerminalInput::Graphics(reply)))) => {
                self.handle_wakeup(Wakeup::Picture(PictureEvent::Reply(reply, cell_size())))
            }
            Wakeup::Key(Some(Ok(TerminalInput::Lines(lines)))) => {
                self.screen.set_lines(lines);
                self.handle_input(ScreenInput::Lines(lines));
            }
            Wakeup::Picture(input) => self.handle_input(ScreenInput::Picture(input)),
            Wakeup::HungUp | Wakeup::Key(Some(Err(_)) | None) => {
                self.next = Next::End(Cause::TerminalGone)
            }
            Wakeup::Session(Some(event)) => self.handle_input(ScreenInput::Session(event)),
            Wakeup::Session(None) => self.next = Next::End(Cause::SessionClosed),
            Wakeup::Signal(signal) => self.handle_signal(signal),
            Wakeup::SessionHasRoom => self.send_pending(),
            Wakeup::SettingNotSaved(Some(why)) => {
                self.handle_input(ScreenInput::SettingNotSaved(Box::new(why)))
            }
            Wakeup::Highlighted(Some(painted)) => {
                self.handle_input(ScreenInput::Highlighted(Box::new(painted)))
            }
            // The next piece is requested after a frame.
            Wakeup::Highlighted(None) => self.frame_limiter.request_deferred(),
            Wakeup::Connect(result) => self.handle_input(ScreenInput::Connect(result)),
            Wakeup::ImagePasted(image) => {
                self.handle_input(ScreenInput::ImagePasted(Box::new(image)))
            }
            Wakeup::Copied(copied) => self.handle_input(ScreenInput::Copied(copied)),
            Wakeup::FileMatches(Some(found)) => self.handle_input(ScreenInput::FileMatches(found)),
            Wakeup::Folders(Some(found)) => self.handle_input(ScreenInput::Folders(found)),
            Wakeup::SettingNotSaved(None) | Wakeup::FileMatches(None) | Wakeup::Folders(None) => {}
            Wakeup::Timer if self.frame_limiter.due().is_some() => {}
            Wakeup::Timer => self.handle_input(ScreenInput::Tick),
        }
    }

    fn handle_signal(&mut self, signal: Signal) {
        match signal {
            Signal::End(_) if !should_end(signal) && self.now() < self.late_signals_until => {}
            Signal::End(number) => self.next = Next::End(Cause::Signal(number)),
            Signal::Stop => self.next = Next::Task(TerminalTask::Suspend),
            Signal::Resized => self.handle_input(ScreenInput::Resized),
            Signal::Continued => {
                if self.screen.reassert().is_err() {
                    self.next = Next::End(Cause::TerminalGone);
                }
                self.handle_input(ScreenInput::Resized);
            }
        }
    }

    /// Processes all waiting events, so that a burst costs one frame.
    fn drain(&mut self, keyboard: &mut InputReader) {
        for _ in 0..BURST {
            if !matches!(self.next, Next::Continue) {
                return;
            }
            if let Some(key) = keyboard.try_next() {
                self.state.guard.set_in_burst(keyboard.is_in_burst());
                self.handle_wakeup(Wakeup::Key(Some(key)));
            } else if let Ok(event) = self.events.try_recv() {
                self.handle_input(ScreenInput::Session(Box::new(event)));
            } else {
                return;
            }
        }
    }

    fn key(&mut self, key: Key) {
        if self.screen.is_on_main_screen() {
            return self.handle_main_screen_key(&key);
        }
        self.handle_input(match key {
            Key::Key(key) => ScreenInput::Key(key),
            Key::Paste(text) => ScreenInput::Paste(text),
            Key::Mouse(mouse) => ScreenInput::Mouse(mouse),
            Key::Resize(..) => ScreenInput::Resized,
            Key::FocusGained => ScreenInput::FocusGained,
            Key::FocusLost => ScreenInput::FocusLost,
        });
    }

    /// Any key returns from the normal screen, and does nothing else.
    fn handle_main_screen_key(&mut self, key: &Key) {
        if !matches!(key, Key::Key(key) if key.is_press()) {
            return;
        }
        if self.screen.leave_main_screen().is_err() {
            self.next = Next::End(Cause::TerminalGone);
        }
        self.handle_input(ScreenInput::ScreenReturned);
    }

    fn handle_input(&mut self, input: ScreenInput) {
        let at = self.now();
        self.frame_limiter.note_input(&input);
        self.workers.auto_saver.note_input(&input, at);
        self.react(input, at);
        self.workers.auto_saver.save_if_due(&self.state, at);
        if let Some(typed) = self.state.take_typed_argument() {
            let op = Op::Extension(ExtensionOp::CompleteArgument(typed));
            self.send(Submission { id: None, op });
        }
        let (wanted, root) = self.state.file_query();
        self.workers.finder.set_query(wanted, root, at);
        let lead = self.state.folder_prefix();
        self.workers.folders.request(lead, root, &self.workers.home);
    }

    fn react(&mut self, input: ScreenInput, at: Millis) {
        let mut submit = None;
        for effect in update(&mut self.state, TimedInput { at, input }) {
            if let ScreenEffect::SaveHistory { submit: line, .. } = &effect {
                submit = *line;
            }
            if self.perform(effect, submit).is_err() {
                self.next = Next::End(Cause::TerminalGone);
            }
        }
    }

    fn perform(&mut self, effect: ScreenEffect, submit: Option<SubmitId>) -> io::Result<()> {
        match effect {
            ScreenEffect::Send(op) => self.send(Submission { id: submit, op }),
            ScreenEffect::SaveHistory { line, submit } => {
                self.workers.auto_saver.save_line(line, submit)
            }
            ScreenEffect::Quit => self.next = Next::End(Cause::UserQuit),
            ScreenEffect::Redraw => self.screen.invalidate(),
            ScreenEffect::LendTerminal(ask) => {
                self.next = Next::Task(TerminalTask::LendToStep(ask))
            }
            ScreenEffect::Editor(text) => self.next = Next::Task(TerminalTask::Editor(text)),
            ScreenEffect::SaveSetting { key, value } => {
                self.workers.settings_saver.save(key, value)
            }
            ScreenEffect::Connect(request) => self.workers.connector.start(request),
            ScreenEffect::PasteImage => self.workers.image_paster.paste(self.state.appearance.lang),
            ScreenEffect::Suspend => self.next = Next::Task(TerminalTask::Suspend),
            _ if !self.screen.has_terminal() => {}
            ScreenEffect::Copy(text) => {
                let sent = self.screen.copy(&text, self.workers.copier.multiplexer());
                self.workers.copier.copy(text);
                return sent;
            }
            ScreenEffect::Dump(text) => return self.screen.show_on_main_screen(&text),
            ScreenEffect::Title(_) if self.screen.is_on_main_screen() => {}
            ScreenEffect::Notify(ring, text) => return self.screen.send(&ring.sequence(text)),
            ScreenEffect::Title(title) => return self.screen.title(&title),
            ScreenEffect::Query(sequence) => return self.screen.send(&sequence),
            ScreenEffect::CaptureMouse => return self.screen.capture_mouse(),
            ScreenEffect::ReleaseMouse => return self.screen.release_mouse(),
        }
        Ok(())
    }

    /// Hands the terminal to the user's editor. The session continues meanwhile.
    async fn edit(&mut self, text: &str, signals: &mut Receiver<Signal>) {
        let started = match &self.workers.files.editor {
            Some(editor) => {
                self.screen.lend();
                Editing::start(&self.workers.files.temp, editor, text)
            }
            None => Err(words::NO_EDITOR.into()),
        };
        let edited = match started {
            Ok(editing) => self.wait_for_editor(editing, signals).await,
            Err(say) => Err(say),
        };
        if !self.screen.has_terminal() && self.screen.reclaim().is_err() {
            self.next = Next::End(Cause::TerminalGone);
        }
        self.handle_input(ScreenInput::EditorClosed(edited));
    }

    async fn wait_for_editor(
        &mut self,
        mut editing: Editing,
        signals: &mut Receiver<Signal>,
    ) -> Result<String, LocalizedText> {
        let mut open = true;
        loop {
            let full = !self.pending_ops.is_empty();
            let woken = tokio::select! {
                biased;
                closed = editing.wait() => {
                    closed?;
                    return editing.text();
                }
                Some(signal) = signals.recv() => Wakeup::Signal(signal),
                event = self.events.recv(), if open => Wakeup::Session(event.map(Box::new)),
                _ = self.ops.reserve(), if full => Wakeup::SessionHasRoom,
            };
            match woken {
                Wakeup::Signal(signal) if !should_end(signal) => {
                    handle_signal_while_lent(signal);
                    continue;
                }
                Wakeup::Signal(_) => editing.terminate().await,
                Wakeup::Session(None) => open = false,
                _ => {}
            }
            let ended = matches!(woken, Wakeup::Signal(_));
            self.handle_wakeup(woken);
            if ended {
                return Err(words::EDITOR_CUT.into());
            }
        }
    }

    /// Hands the terminal to a step until the step returns it.
    async fn lend(&mut self, ask: AskId, signals: &mut Receiver<Signal>) {
        self.screen.lend();
        self.send(Op::Question(QuestionOp::Decide { ask, decision: Decision::Approve }).into());
        let mut failed = false;
        loop {
            let full = !self.pending_ops.is_empty();
            let woken = tokio::select! {
                biased;
                Some(signal) = signals.recv() => Wakeup::Signal(signal),
                event = self.events.recv() => Wakeup::Session(event.map(Box::new)),
                _ = self.ops.reserve(), if full => Wakeup::SessionHasRoom,
            };
            let over = match &woken {
                Wakeup::Signal(signal) if !should_end(*signal) => {
                    handle_signal_while_lent(*signal);
                    continue;
                }
                Wakeup::Signal(_) | Wakeup::Session(None) => true,
                Wakeup::Session(Some(event)) => match **event {
                    protocol::Event::TerminalReturned { failed: it } => {
                        failed = it;
                        true
                    }
                    protocol::Event::TurnEnded { .. } => true,
                    _ => false,
                },
                _ => false,
            };
            self.handle_wakeup(woken);
            if over {
                break;
            }
        }
        let back = screen_words::DUMP_BACK.text(self.state.appearance.lang);
        let taken = match () {
            () if self.screen.has_terminal() => Ok(()),
            // What the program printed is on the normal screen.
            () if failed && matches!(self.next, Next::Continue) => self.screen.reclaim_at_key(back),
            () => self.screen.reclaim(),
        };
        if taken.is_err() {
            self.next = Next::End(Cause::TerminalGone);
        }
    }

    fn send(&mut self, submission: Submission) {
        self.pending_ops.push_back(submission);
        self.send_pending();
    }

    /// Sends the session as many operations as it has room for. Never waits.
    fn send_pending(&mut self) {
        while let Some(op) = self.pending_ops.pop_front() {
            match self.ops.try_send(op) {
                Ok(()) => {}
                Err(TrySendError::Full(op)) => {
                    self.pending_ops.push_front(op);
                    return;
                }
                Err(TrySendError::Closed(_)) => self.pending_ops.clear(),
            }
        }
    }

    /// A frame that opens the list of files waits a moment for the first results.
    fn next_frame_due(&self) -> Option<Millis> {
        if self.screen.is_on_main_screen() {
            return None;
        }
        let hold = self.workers.finder.frame_hold().unwrap_or(0);
        self.frame_limiter.due().map(|due| due.max(hold))
    }

    fn draw(&mut self) -> io::Result<()> {
        let now = self.now();
        // The thread writes while the frame is drawn into memory.
        let auto_saver = &mut self.workers.auto_saver;
        auto_saver.start_saving_frame(&self.state, now);
        let state = &mut self.state;
        self.screen.draw(|frame| {
            let overlays = draw_frame(state, frame, now);
            auto_saver.finish_saving_frame();
            overlays
        })?;
        if self.frame_limiter.is_first_frame() {
            // After the first frame, which nothing may delay.
            self.screen.send(self.state.appearance.background_query())?;
            self.screen.send(&self.state.display.graphics.query())?;
            self.screen.start_watchdog();
        }
        self.frame_limiter.record_frame(now);
        self.highlight_worker.request_next(&self.state, now);
        self.workers.picture_worker.request_next(|| self.state.transcript.pictures.next_request());
        Ok(())
    }

    fn now(&self) -> Millis {
        Millis::try_from(self.started_at.elapsed().as_millis()).unwrap_or(Millis::MAX)
    }
}

/// Lays the screen out and draws it; returns the links and the pictures on it.
pub fn draw_frame(state: &mut State, frame: &mut Frame<'_>, now: Millis) -> Overlays {
    let layout = layout(state, frame.area(), now);
    view(state, &layout, frame, now)
}

/// Whether a signal ends the program while another one has the terminal: the keyboard's signals,
/// Ctrl-C and Ctrl-\\, are for the other program.
fn should_end(signal: Signal) -> bool {
    matches!(signal, Signal::End(number) if number != signals::INT && number != signals::QUIT)
}

/// Handles a signal while another program has the terminal.
fn handle_signal_while_lent(signal: Signal) {
    if signal == Signal::Stop {
        signals::stop();
    }
}
