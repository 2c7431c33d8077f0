//! Takes over the terminal and restores it exactly: at the end, after an error, a panic or a
//! signal.
//!
//! Nothing here queries the terminal and waits for the answer; a terminal ignores what it does not
//! know.

use std::cell::Cell;
use std::fmt;
use std::io::{self, BufWriter, Stdout, Write};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::clipboard::CopyToClipboard;
use crossterm::cursor::Show;
use crossterm::event::{
    DisableBracketedPaste, DisableFocusChange, EnableBracketedPaste, EnableFocusChange,
    KeyboardEnhancementFlags, PopKeyboardEnhancementFlags, PushKeyboardEnhancementFlags,
};
use crossterm::style::ResetColor;
use crossterm::terminal::{
    BeginSynchronizedUpdate, DisableLineWrap, EnableLineWrap, EndSynchronizedUpdate,
    EnterAlternateScreen, LeaveAlternateScreen, SetTitle, disable_raw_mode, enable_raw_mode,
};
use crossterm::{Command, execute, queue};
use ratatui::layout::Rect;
use ratatui::{Frame, Terminal};

use super::backend::{SharedOverlays, WideCharBackend};
pub use super::backend::{cell_size, size};
use super::clipboard::Multiplexer;
use super::symbols::LineStyle;
use super::transcript::Overlays;
use super::{line_probe, text};
use avocet_core::signals;
use avocet_core::terminal_modes;
use avocet_tools::exec::Watchdog;

/// A frame is sent in one write.
const BUFFER: usize = 64 * 1024;

/// Presses, the wheel and moves with a button held, in the encoding for wide screens. Other moves
/// of the mouse would only wake the program.
struct CaptureMouse;
struct ReleaseMouse;
/// The title is saved on the terminal's own stack, and restored from it.
struct PushTitle;
struct PopTitle;
/// Clears all keyboard flags, whatever was set.
struct ClearKeyboardFlags;

macro_rules! sequence {
    ($($name:ident: $text:literal;)*) => {
        $(impl Command for $name {
            fn write_ansi(&self, f: &mut impl fmt::Write) -> fmt::Result {
                f.write_str($text)
            }

            #[cfg(windows)]
            fn execute_winapi(&self) -> io::Result<()> {
                Ok(())
            }
        })*
    };
}
sequence! {
    CaptureMouse: "\x1b[?1000h\x1b[?1002h\x1b[?1006h";
    ReleaseMouse: "\x1b[?1006l\x1b[?1002l\x1b[?1000l";
    PushTitle: "\x1b[22;0t";
    PopTitle: "\x1b[23;0t";
    ClearKeyboardFlags: "\x1b[=0u";
}

/// Writes a frame in one piece, ignoring flushes on the way: a terminal that reads half of a frame
/// may show it.
#[derive(Debug)]
struct FrameWriter {
    out: BufWriter<Stdout>,
    write_mode: Rc<Cell<WriteMode>>,
}

/// What happens to written bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum WriteMode {
    #[default]
    PassThrough,
    /// A frame is being written.
    Buffered,
    /// The terminal is restored: nothing may be written to it any more. Ratatui shows the cursor
    /// when it is dropped, and panics where the terminal is gone.
    Discarded,
}

impl Write for FrameWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.write_mode.get() == WriteMode::Discarded {
            Ok(bytes.len())
        } else {
            self.out.write(bytes)
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.write_mode.get() == WriteMode::PassThrough { self.out.flush() } else { Ok(()) }
    }
}

/// The terminal while this program controls it.
#[derive(Debug)]
pub struct Screen {
    terminal: Terminal<WideCharBackend<FrameWriter>>,
    write_mode: Rc<Cell<WriteMode>>,
    lock: TerminalLock,
    /// True when the content of the terminal is unknown.
    needs_full_redraw: bool,
    /// True while the normal screen is shown until a key is pressed.
    is_on_main_screen: bool,
    /// The links and the pictures of the next frame, for the backend.
    overlays: SharedOverlays,
    /// Whether the terminal gets links.
    supports_links: bool,
    /// What the next frame asks the terminal about its lines.
    line_probe: Option<String>,
    /// The modes that the terminal had when it was lent.
    lent_modes: terminal_modes::SavedModes,
}

/// Whether this program controls the terminal now; shared with the panic hook.
#[derive(Clone, Debug)]
struct TerminalLock {
    is_held: Arc<AtomicBool>,
    watchdog: Watchdog,
}

impl Screen {
    /// Takes over the terminal.
    ///
    /// # Errors
    /// When there is no terminal, or it cannot be switched.
    pub fn enter(links: bool, watchdog: Watchdog) -> io::Result<Screen> {
        let lock = TerminalLock { is_held: Arc::default(), watchdog };
        restore_on_panic(lock.clone());
        let held = Rc::new(Cell::new(WriteMode::PassThrough));
        let out = BufWriter::with_capacity(BUFFER, io::stdout());
        let writer = FrameWriter { out, write_mode: Rc::clone(&held) };
        let overlays = SharedOverlays::default();
        let terminal = Terminal::new(WideCharBackend::new(writer, Rc::clone(&overlays)))?;
        let screen = Screen {
            terminal,
            write_mode: held,
            lock,
            needs_full_redraw: false,
            is_on_main_screen: false,
            overlays,
            supports_links: links,
            line_probe: Some(line_probe::query()),
            lent_modes: terminal_modes::SavedModes::default(),
        };
        terminal_modes::restore_from_raw(io::stdin());
        screen.lock.acquire()?;
        Ok(screen)
    }

    /// Draws one whole frame, shown at once. `draw` returns the links and the pictures in it.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>) -> Overlays) -> io::Result<()> {
        self.write_mode.set(WriteMode::Buffered);
        let drawn = self.draw_buffered(draw);
        self.write_mode.set(WriteMode::PassThrough);
        drawn?;
        execute!(self.terminal.backend_mut(), EndSynchronizedUpdate)
    }

    fn draw_buffered(&mut self, draw: impl FnOnce(&mut Frame<'_>) -> Overlays) -> io::Result<()> {
        queue!(self.terminal.backend_mut(), BeginSynchronizedUpdate)?;
        if let Some(query) = self.line_probe.take() {
            // In the write of the first frame, which covers it: it is never seen, and nothing waits.
            self.terminal.backend_mut().write_all(query.as_bytes())?;
        }
        if std::mem::take(&mut self.needs_full_redraw) {
            // Not `Terminal::clear`: it queries the terminal for the cursor position, and waits.
            let size = self.terminal.size()?;
            self.terminal.resize(Rect::new(0, 0, size.width, size.height))?;
        }
        let shared = &self.overlays;
        let supports_links = self.supports_links;

        self.terminal.draw(|frame| {
            let mut overlays = draw(frame);
            if !supports_links {
                overlays.links.clear();
            }
            shared.replace(overlays);
        })?;
        Ok(())
    }

    /// Forgets the content of the terminal, so that the next frame is drawn whole: a terminal that
    /// was smaller for a moment has lost some of it.
    pub fn invalidate(&mut self) {
        self.needs_full_redraw = true;
    }

    /// The terminal has reported how wide it draws solid lines.
    pub fn set_lines(&mut self, lines: LineStyle) {
        self.terminal.backend_mut().set_lines(lines);
    }

    /// # Errors
    /// When the terminal is gone.
    pub fn title(&mut self, title: &str) -> io::Result<()> {
        // It leaves inside a sequence of the terminal: nothing in it may end that.
        let title = text::single_line(title).replace(char::is_control, " ");
        execute!(self.terminal.backend_mut(), SetTitle(title))
    }

    /// Sends a notification of the user, or a question; nothing waits for the answer.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn send(&mut self, sequence: &str) -> io::Result<()> {
        self.terminal.backend_mut().write_all(sequence.as_bytes())?;
        io::Write::flush(self.terminal.backend_mut())
    }

    /// # Errors
    /// When the terminal is gone.
    pub fn copy(&mut self, text: &str, multiplexer: Multiplexer) -> io::Result<()> {
        let mut sequence = String::new();
        CopyToClipboard::to_clipboard_from(text)
            .write_ansi(&mut sequence)
            .map_err(io::Error::other)?;
        if multiplexer == Multiplexer::Tmux {
            // tmux passes it on unchanged where it may, and ignores it where it may not.
            let inner = sequence.replace('\x1b', "\x1b\x1b");
            write!(self.terminal.backend_mut(), "\x1bPtmux;{inner}\x1b\\")?;
        }
        self.terminal.backend_mut().write_all(sequence.as_bytes())?;
        io::Write::flush(self.terminal.backend_mut())
    }

    /// # Errors
    /// When the terminal is gone.
    pub fn capture_mouse(&mut self) -> io::Result<()> {
        execute!(self.terminal.backend_mut(), CaptureMouse)
    }

    /// # Errors
    /// When the terminal is gone.
    pub fn release_mouse(&mut self) -> io::Result<()> {
        execute!(self.terminal.backend_mut(), ReleaseMouse)
    }

    /// Prints `text` on the normal screen, where the terminal keeps it, and stays there.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn show_on_main_screen(&mut self, text: &str) -> io::Result<()> {
        self.leave();
        self.is_on_main_screen = true;
        let mut out = io::stdout().lock();
        out.write_all(text::sanitize(text).as_bytes())?;
        out.flush()?;
        // The key that ends it must not need Enter, and is not echoed.
        enable_raw_mode()
    }

    pub fn is_on_main_screen(&self) -> bool {
        self.is_on_main_screen
    }

    /// Returns from the normal screen.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn leave_main_screen(&mut self) -> io::Result<()> {
        self.is_on_main_screen = false;
        self.invalidate();
        // The last line says which key goes back, which is of no use in the scrollback.
        let mut out = io::stdout().lock();
        out.write_all(b"\r\x1b[2K")?;
        out.flush()?;
        drop(out);
        self.lock.acquire()
    }

    /// Restores the terminal, stops the process until the shell continues it, and takes over the
    /// terminal again.
    ///
    /// # Errors
    /// When the terminal cannot be switched.
    pub fn suspend(&mut self) -> io::Result<()> {
        self.lend();
        signals::stop();
        self.reclaim()
    }

    /// Sets everything again after the process was stopped from outside: another program may have
    /// changed the terminal meanwhile.
    ///
    /// # Errors
    /// When the terminal cannot be switched.
    pub fn reassert(&mut self) -> io::Result<()> {
        if !self.has_terminal() {
            return Ok(());
        }
        wait_for_foreground();
        self.invalidate();
        self.terminal.backend_mut().drop_pictures()?;
        // No other program has changed it.
        if terminal_modes::is_raw(io::stdin()) {
            return Ok(());
        }
        disable_raw_mode()?;
        execute!(io::stdout(), PopKeyboardEnhancementFlags)?;
        self.lock.enter_modes()
    }

    /// Starts the watchdog, and tells it about the terminal.
    pub fn start_watchdog(&self) {
        self.lock.watchdog.start();
        if self.has_terminal() {
            self.lock.watchdog.terminal_taken(&restore_sequence());
        }
    }

    /// Hands the terminal to another program for a while.
    pub fn lend(&mut self) {
        self.leave();
        self.lent_modes = terminal_modes::SavedModes::of(io::stdin());
    }

    /// Restores the terminal, after it has dropped the pictures it keeps.
    fn leave(&mut self) {
        if self.has_terminal() {
            // The terminal may be gone.
            let _ = self.terminal.backend_mut().drop_pictures();
        }
        self.lock.release();
    }

    /// Takes over the terminal again, whatever was done to it meanwhile.
    ///
    /// # Errors
    /// When the terminal cannot be switched.
    pub fn reclaim(&mut self) -> io::Result<()> {
        self.restore_lent_modes();
        self.lock.acquire()?;
        self.invalidate();
        Ok(())
    }

    /// The same at the next key: until then what the other program printed can be read.
    ///
    /// # Errors
    /// When the terminal cannot be switched.
    pub fn reclaim_at_key(&mut self, hint: &str) -> io::Result<()> {
        self.restore_lent_modes();
        self.show_on_main_screen(hint)
    }

    /// A program that was killed leaves its own modes, which would be ours and then the shell's.
    fn restore_lent_modes(&mut self) {
        wait_for_foreground();
        std::mem::take(&mut self.lent_modes).restore(io::stdin());
    }

    /// False while another program has the terminal.
    pub fn has_terminal(&self) -> bool {
        self.lock.is_held.load(Ordering::SeqCst)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        if self.is_on_main_screen {
            let _ = disable_raw_mode();
        }
        self.leave();
        self.write_mode.set(WriteMode::Discarded);
    }
}

impl TerminalLock {
    fn acquire(&self) -> io::Result<()> {
        wait_for_foreground();
        execute!(io::stdout(), PushTitle)?;
        self.enter_modes()
    }

    fn enter_modes(&self) -> io::Result<()> {
        enable_raw_mode()?;
        self.is_held.store(true, Ordering::SeqCst);
        self.watchdog.terminal_taken(&restore_sequence());
        execute!(
            io::stdout(),
            EnterAlternateScreen,
            // A row that is wider on the terminal than computed is cut instead of wrapping.
            DisableLineWrap,
            EnableBracketedPaste,
            EnableFocusChange,
            CaptureMouse,
            // The flags belong to the alternate screen: set them after entering it, and clear them
            // before leaving it. Those of a program that was killed there may still be set.
            ClearKeyboardFlags,
            PushKeyboardEnhancementFlags(KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES),
        )
        .inspect_err(|_| self.release())
    }

    /// Restores once, however often it is called. Failures are ignored: the terminal may be gone.
    fn release(&self) {
        if !self.is_held.swap(false, Ordering::SeqCst) {
            return;
        }
        let mut out = io::stdout();
        let _ = out.write_all(restore_sequence().as_bytes()).and_then(|()| out.flush());
        let _ = disable_raw_mode();
        self.watchdog.terminal_released();
    }
}

/// The sequence that restores the terminal.
fn restore_sequence() -> String {
    let mut text = String::new();
    let commands: [&dyn Fn(&mut String) -> fmt::Result; 10] = [
        &|to| EndSynchronizedUpdate.write_ansi(to),
        &|to| PopKeyboardEnhancementFlags.write_ansi(to),
        &|to| ReleaseMouse.write_ansi(to),
        &|to| DisableFocusChange.write_ansi(to),
        &|to| DisableBracketedPaste.write_ansi(to),
        &|to| ResetColor.write_ansi(to),
        &|to| EnableLineWrap.write_ansi(to),
        &|to| LeaveAlternateScreen.write_ansi(to),
        &|to| PopTitle.write_ansi(to),
        &|to| Show.write_ansi(to),
    ];
    // Writing to a string cannot fail.
    let _ = commands.iter().try_for_each(|write| write(&mut text));
    text
}

/// Stops until this process may use the terminal: setting its modes from the background never ends,
/// since the signal that would stop the process is caught.
fn wait_for_foreground() {
    // If the foreground group is unknown, go on.
    #[cfg(unix)]
    while terminal_modes::is_foreground() == Some(false) {
        signals::stop();
    }
}

/// A panic on this thread restores the terminal before it is reported. On another thread the screen
/// goes on, so the report goes to the log and not over the frame.
fn restore_on_panic(lock: TerminalLock) {
    let before = std::panic::take_hook();
    let ours = std::thread::current().id();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().id() == ours {
            lock.release();
            before(panic);
        } else if lock.is_held.load(Ordering::SeqCst) {
            tracing::error!("{panic}");
        } else {
            before(panic);
        }
    }));
}
