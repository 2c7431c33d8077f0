//! A program in a terminal of its own: keys go in, the screen is read back.
//!
//! Every wait is for something that can be seen, with a deadline; a wait that fails
//! prints the screen.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};

use crate::support::wait::{PATIENCE, wait_until};

/// What the terminal has shown so far.
struct ScreenOutput {
    parser: vt100::Parser,
    raw: Vec<u8>,
    /// The program has begun a frame and not ended it: what stands there is half of two.
    is_drawing: bool,
    /// The program closed its side.
    over: bool,
    /// Nobody reads what it writes for a while.
    paused: bool,
}

type Shared = Arc<(Mutex<ScreenOutput>, Condvar)>;
type Keyboard = Arc<Mutex<Box<dyn Write + Send>>>;

pub struct Screen {
    seen: Shared,
    keyboard: Keyboard,
    /// `None` once the terminal has gone away.
    master: Option<Box<dyn MasterPty + Send>>,
    child: Box<dyn Child + Send + Sync>,
}

impl Screen {
    /// Starts this package's program. `size` is columns and rows.
    pub fn start(
        args: &[&str],
        envs: &[(&str, impl AsRef<OsStr>)],
        cwd: &Path,
        size: (u16, u16),
    ) -> Screen {
        Screen::start_program(env!("CARGO_BIN_EXE_avocet"), args, envs, cwd, size)
    }

    /// Starts any program. Of the environment it gets `envs`, a `TERM` and a `PATH`.
    pub fn start_program(
        program: impl AsRef<OsStr>,
        args: &[&str],
        envs: &[(&str, impl AsRef<OsStr>)],
        cwd: &Path,
        size: (u16, u16),
    ) -> Screen {
        let pair = native_pty_system().openpty(pty_size(size)).unwrap();
        let mut command = CommandBuilder::new(program);
        command.args(args);
        command.cwd(cwd);
        command.env_clear();
        command.env("TERM", "xterm-256color");
        command.env("COLORTERM", "truecolor");
        command.env("LANG", "en_US.UTF-8");
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin");
        for (name, value) in envs {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let keyboard: Keyboard = Arc::new(Mutex::new(pair.master.take_writer().unwrap()));
        let seen: Shared = Arc::new((
            Mutex::new(ScreenOutput {
                parser: parser(size),
                raw: Vec::new(),
                is_drawing: false,
                over: false,
                paused: false,
            }),
            Condvar::new(),
        ));
        let reader = pair.master.try_clone_reader().unwrap();
        read_output(reader, Arc::clone(&seen), Arc::clone(&keyboard));
        Screen { seen, keyboard, master: Some(pair.master), child }
    }

    /// Types: `\r` is Enter, `\x03` Ctrl-C, `\x1b` Esc.
    pub fn press(&mut self, keys: &str) {
        let mut keyboard = self.keyboard.lock().unwrap();
        keyboard.write_all(keys.as_bytes()).unwrap();
        keyboard.flush().unwrap();
    }

    /// Reads nothing more of what the program writes, or reads on: a slow terminal.
    pub fn pause(&self, paused: bool) {
        let (seen, changed) = &*self.seen;
        seen.lock().unwrap().paused = paused;
        changed.notify_all();
    }

    /// The terminal goes away and tells nobody: the program has to see it by itself.
    pub fn hang_up(self) {
        let mut screen = self;
        screen.seen.0.lock().unwrap().over = true;
        // The reader holds the terminal open until it has something to read.
        screen.press("x");
        wait_until("the reader has let go", || Arc::strong_count(&screen.seen) == 1);
    }

    /// The same, and the exit code the program ends with then.
    pub fn hang_up_and_wait(mut self) -> u32 {
        self.seen.0.lock().unwrap().over = true;
        self.press("x");
        wait_until("the reader has let go", || Arc::strong_count(&self.seen) == 1);
        self.keyboard = Arc::new(Mutex::new(Box::new(std::io::sink())));
        self.master = None;
        self.child.wait().unwrap().exit_code()
    }

    /// Whether the program is stopped.
    pub fn is_stopped(&self) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.id())).unwrap();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T'))
    }

    /// MiB of the program that are resident.
    pub fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.split_whitespace().next().unwrap().parse::<u64>().unwrap() / 1024
    }

    /// Pastes, as terminals do it.
    pub fn paste(&mut self, text: &str) {
        self.press(&format!("\x1b[200~{text}\x1b[201~"));
    }

    /// Waits until `text` stands on the screen.
    #[track_caller]
    pub fn wait_for(&self, text: &str) {
        self.wait_until(&format!("`{text}` to appear"), |seen| screen_text(seen).contains(text));
    }

    /// Waits until the question with these words takes keys, and presses one.
    #[track_caller]
    pub fn answer(&mut self, question: &str, key: &str) {
        self.wait_until(&format!("`{question}` to take keys"), |seen| {
            let text = screen_text(seen);
            // The row of keys is drawn last, and names keys only once they count.
            let takes = ["select", "Esc no", "back to your draft", "Space "];
            text.contains(question) && takes.iter().any(|sign| text.contains(sign))
        });
        self.press(key);
    }

    /// Whether the text comes within so long; no fault when it does not.
    pub fn shows_within(&self, text: &str, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        let (seen, changed) = &*self.seen;
        let mut seen = seen.lock().unwrap();
        loop {
            if screen_text(&seen).contains(text) {
                return true;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            seen = changed.wait_timeout(seen, left).unwrap().0;
        }
    }

    /// Waits until `text` stands nowhere on the screen.
    #[track_caller]
    pub fn wait_until_gone(&self, text: &str) {
        self.wait_until(&format!("`{text}` to go"), |seen| !screen_text(seen).contains(text));
    }

    /// Waits until no turn runs and no question is open, by the window's title: what says on the
    /// screen how to stop gives way to messages.
    #[track_caller]
    pub fn wait_until_idle(&self) {
        self.wait_until("the end of the turn", |seen| {
            let title = seen.raw.windows(4).rposition(|window| window == b"\x1b]0;").unwrap_or(0);
            let title = seen.raw.get(title..).unwrap_or_default();
            let title = title.split(|byte| *byte == b'\x07').next().unwrap_or_default();
            title.ends_with(b" - Avocet")
        });
    }

    /// Waits until the bytes `text` have been written since the start, seen or not.
    #[track_caller]
    pub fn wait_for_bytes(&self, text: &str) {
        let wanted = text.as_bytes();
        self.wait_until(&format!("the bytes {text:?}"), |seen| {
            seen.raw.windows(wanted.len()).any(|window| window == wanted)
        });
    }

    /// What stands on the screen, line by line, blanks at the ends cut.
    pub fn text(&self) -> String {
        screen_text(&self.seen.0.lock().unwrap())
    }

    /// What stands on the screen, with its colours.
    pub fn frame(&self) -> Buffer {
        frame(self.seen.0.lock().unwrap().parser.screen())
    }

    /// All bytes that were written so far.
    pub fn raw(&self) -> Vec<u8> {
        self.seen.0.lock().unwrap().raw.clone()
    }

    /// Where the cursor stands, column and row; `None` while it is hidden.
    pub fn cursor(&self) -> Option<(u16, u16)> {
        let seen = self.seen.0.lock().unwrap();
        let screen = seen.parser.screen();
        let (row, column) = screen.cursor_position();
        (!screen.hide_cursor()).then_some((column, row))
    }

    /// Waits until the cursor stands there, column and row, and can be seen.
    #[track_caller]
    pub fn wait_for_cursor(&self, place: (u16, u16)) {
        self.wait_until(&format!("the cursor at {place:?}"), |seen| {
            let screen = seen.parser.screen();
            let (row, column) = screen.cursor_position();
            !screen.hide_cursor() && (column, row) == place
        });
    }

    /// Waits until the cursor stands in this column and can be seen.
    #[track_caller]
    pub fn wait_for_column(&self, column: u16) {
        self.wait_until(&format!("the cursor in column {column}"), |seen| {
            let screen = seen.parser.screen();
            !screen.hide_cursor() && screen.cursor_position().1 == column
        });
    }

    /// Waits until the modes are these.
    #[track_caller]
    pub fn wait_for_modes(&self, modes: Modes) {
        self.wait_until(&format!("{modes:?}"), |seen| modes_of(seen) == modes);
    }

    /// The modes a program must give back: all false at the end.
    pub fn modes(&self) -> Modes {
        modes_of(&self.seen.0.lock().unwrap())
    }

    /// Columns and rows, as when somebody drags the window.
    pub fn resize(&mut self, size: (u16, u16)) {
        let (columns, rows) = at_least_one(size);
        self.seen.0.lock().unwrap().parser.set_size(rows, columns);
        self.master.as_ref().unwrap().resize(pty_size(size)).unwrap();
    }

    /// Sends a signal by its name, such as `TERM`.
    pub fn signal(&self, name: &str) {
        let id = self.child.process_id().unwrap().to_string();
        let mut kill = CommandBuilder::new("kill");
        kill.args([&format!("-{name}"), &id]);
        // A pty again, because processes of tests start nowhere else.
        let pair = native_pty_system().openpty(PtySize::default()).unwrap();
        pair.slave.spawn_command(kill).unwrap().wait().unwrap();
    }

    /// The id of the program's process.
    pub fn id(&self) -> u32 {
        self.child.process_id().unwrap()
    }

    /// Waits for the end and answers with the exit code; after a signal it is 1.
    #[track_caller]
    pub fn wait_for_exit(&mut self) -> u32 {
        let deadline = Instant::now() + PATIENCE;
        self.wait_until("the end of the program", |seen| seen.over);
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.exit_code();
            }
            assert!(Instant::now() < deadline, "the program did not end\n{}", self.text());
            std::thread::park_timeout(Duration::from_millis(3));
        }
    }

    #[track_caller]
    fn wait_until(&self, what: &str, done: impl Fn(&ScreenOutput) -> bool) {
        let (seen, changed) = &*self.seen;
        let deadline = Instant::now() + PATIENCE;
        let mut seen = seen.lock().unwrap();
        while seen.is_drawing && !seen.over || !done(&seen) {
            let left = deadline.saturating_duration_since(Instant::now());
            let ended = seen.over && what != "the end of the program";
            assert!(
                !left.is_zero() && !ended,
                "waited for {what}; the screen was{}, {:?}:\n{}",
                if ended { " (program ended)" } else { "" },
                modes_of(&seen),
                screen_text(&seen)
            );
            seen = changed.wait_timeout(seen, left).unwrap().0;
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a terminal program switches on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is a mode of the terminal")]
pub struct Modes {
    pub alternate: bool,
    pub paste: bool,
    pub mouse: bool,
    pub hidden_cursor: bool,
}

fn modes_of(seen: &ScreenOutput) -> Modes {
    let screen = seen.parser.screen();
    Modes {
        alternate: screen.alternate_screen(),
        paste: screen.bracketed_paste(),
        mouse: screen.mouse_protocol_mode() != vt100::MouseProtocolMode::None,
        hidden_cursor: screen.hide_cursor(),
    }
}

fn screen_text(seen: &ScreenOutput) -> String {
    let screen = seen.parser.screen();
    let (_, columns) = screen.size();
    screen
        .rows(0, columns.get())
        .map(|row| row.trim_end().to_owned())
        .collect::<Vec<_>>()
        .join("\n")
}

fn frame(screen: &vt100::Screen) -> Buffer {
    let (rows, columns) = screen.size();
    let mut frame = Buffer::empty(Rect::new(0, 0, columns.get(), rows.get()));
    let color = |color| match color {
        vt100::Color::Default => Color::Reset,
        vt100::Color::Idx(index) => Color::Indexed(index),
        vt100::Color::Rgb(r, g, b) => Color::Rgb(r, g, b),
    };
    for place in frame.area.positions() {
        let Some(cell) = screen.cell(place.y, place.x) else { continue };
        let modifiers = [
            (cell.bold(), Modifier::BOLD),
            (cell.italic(), Modifier::ITALIC),
            (cell.inverse(), Modifier::REVERSED),
        ];
        let set = modifiers.iter().filter(|(is_set, _)| *is_set);
        let style = Style::new().fg(color(cell.fgcolor())).bg(color(cell.bgcolor()));
        let drawn = &mut frame[place];
        drawn.set_style(set.fold(style, |style, (_, modifier)| style.add_modifier(*modifier)));
        if cell.has_contents() {
            drawn.set_symbol(cell.contents());
        }
    }
    frame
}

fn at_least_one((columns, rows): (u16, u16)) -> (NonZeroU16, NonZeroU16) {
    let one = NonZeroU16::MIN;
    (NonZeroU16::new(columns).unwrap_or(one), NonZeroU16::new(rows).unwrap_or(one))
}

fn parser(size: (u16, u16)) -> vt100::Parser {
    let (columns, rows) = at_least_one(size);
    vt100::Parser::new(rows, columns, 0)
}

fn pty_size((cols, rows): (u16, u16)) -> PtySize {
    PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }
}

/// Reads until the program closes its side, and answers what it asks the terminal.
fn read_output(mut reader: Box<dyn Read + Send>, seen: Shared, keyboard: Keyboard) {
    std::thread::spawn(move || {
        let mut buf = [0_u8; 8192];
        loop {
            let (lock, changed) = &*seen;
            let resting = changed.wait_while(lock.lock().unwrap(), |seen| seen.paused).unwrap();
            drop(resting);
            let read = reader.read(&mut buf).unwrap_or(0);
            let mut seen = lock.lock().unwrap();
            if seen.over {
                return;
            }
            let bytes = buf.get(..read).unwrap_or_default();
            seen.parser.process(bytes);
            let before = seen.raw.len();
            seen.raw.extend_from_slice(bytes);
            seen.is_drawing = is_drawing(&seen, before);
            seen.over = read == 0;
            let replies = replies(bytes);
            drop(seen);
            if !replies.is_empty() {
                let mut keyboard = keyboard.lock().unwrap();
                let _ = keyboard.write_all(replies.as_bytes());
                let _ = keyboard.flush();
            }
            changed.notify_all();
            if read == 0 {
                return;
            }
        }
    });
}

/// Whether the last frame that began has not ended yet; `before` is what was read until then.
fn is_drawing(seen: &ScreenOutput, before: usize) -> bool {
    let begin = b"\x1b[?2026h";
    let end = b"\x1b[?2026l";
    // A mark may be cut between two reads.
    let read = seen.raw.get(before.saturating_sub(begin.len() - 1)..).unwrap_or_default();
    read.windows(begin.len())
        .rev()
        .find_map(|window| match window {
            _ if window == begin => Some(true),
            _ if window == end => Some(false),
            _ => None,
        })
        .unwrap_or(seen.is_drawing)
}

/// The answers of a terminal of our time. A query that is cut between two reads stays
/// without an answer, as it may on a slow line. Where the cursor is, the tests say that are
/// about it.
fn replies(bytes: &[u8]) -> String {
    let asked = |query: &str| bytes.windows(query.len()).any(|window| window == query.as_bytes());
    let mut out = String::new();
    if asked("\x1b[?u") {
        out.push_str("\x1b[?0u");
    }
    if asked("\x1b[c") {
        out.push_str("\x1b[?62;c");
    }
    if asked("\x1b]11;?") {
        out.push_str("\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\");
    }
    out
}
