//! The program in a terminal of its own, watched from outside: what it shows, what it
//! costs.

use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

/// Longer than anything here should take.
const PATIENCE: Duration = Duration::from_secs(60);
/// Clock ticks a second, as `/proc` counts them.
const TICKS: f64 = 100.0;
const SIZE: PtySize = PtySize { rows: 40, cols: 120, pixel_width: 0, pixel_height: 0 };

struct Seen {
    parser: vt100::Parser,
    bytes: usize,
    over: bool,
}

pub struct Terminal {
    seen: Arc<(Mutex<Seen>, Condvar)>,
    keyboard: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    /// Kept open: the other side would hang up.
    _master: Box<dyn MasterPty + Send>,
    pub started: Instant,
}

impl Terminal {
    pub fn start(args: &[&str], home: &Path, folder: &Path) -> Terminal {
        let pair = native_pty_system().openpty(SIZE).unwrap();
        let mut command = CommandBuilder::new(super::PROGRAM);
        command.args(args);
        command.cwd(folder);
        command.env_clear();
        for (name, value) in super::environment(home) {
            command.env(name, value);
        }
        let keyboard = pair.master.take_writer().unwrap();
        let reader = pair.master.try_clone_reader().unwrap();
        let (rows, columns) = (NonZeroU16::new(40).unwrap(), NonZeroU16::new(120).unwrap());
        let parser = vt100::Parser::new(rows, columns, 0);
        let seen = Arc::new((Mutex::new(Seen { parser, bytes: 0, over: false }), Condvar::new()));
        read_along(reader, Arc::clone(&seen));
        let started = Instant::now();
        let child = pair.slave.spawn_command(command).unwrap();
        Terminal { seen, keyboard, child, _master: pair.master, started }
    }

    pub fn press(&mut self, keys: &str) -> Instant {
        let at = Instant::now();
        self.keyboard.write_all(keys.as_bytes()).unwrap();
        self.keyboard.flush().unwrap();
        at
    }

    /// Waits until a row holds the text; answers when that was seen.
    pub fn wait_for(&self, text: &str) -> Instant {
        self.wait(text, |screen| rows(screen).any(|row| row.contains(text)))
    }

    /// Waits until no row holds the text any more.
    pub fn wait_until_gone(&self, text: &str) -> Instant {
        self.wait(text, |screen| !rows(screen).any(|row| row.contains(text)))
    }

    /// Waits until the input itself holds exactly this: a row with its mark, on the
    /// alternate screen. What the line discipline echoes on its own stands elsewhere.
    pub fn wait_for_input(&self, text: &str) -> Instant {
        let wanted = format!("› {text}");
        self.wait(&wanted, |screen| {
            screen.alternate_screen() && rows(screen).any(|row| row.trim_end() == wanted)
        })
    }

    /// Waits until nothing runs: the input's own hint for that stands there again.
    pub fn wait_idle(&self) {
        self.wait("the end of the turn", |screen| {
            rows(screen).any(|row| row.contains("Ask anything"))
        });
    }

    fn wait(&self, what: &str, done: impl Fn(&vt100::Screen) -> bool) -> Instant {
        let (seen, changed) = &*self.seen;
        let deadline = Instant::now() + PATIENCE;
        let mut seen = seen.lock().unwrap();
        while !done(seen.parser.screen()) {
            let left = deadline.saturating_duration_since(Instant::now());
            let shown: Vec<String> = rows(seen.parser.screen()).collect();
            assert!(!left.is_zero() && !seen.over, "waited for {what}:\n{}", shown.join("\n"));
            seen = changed.wait_timeout(seen, left).unwrap().0;
        }
        Instant::now()
    }

    /// Bytes the terminal has got so far.
    pub fn bytes(&self) -> usize {
        self.seen.0.lock().unwrap().bytes
    }

    /// Seconds of processor time so far, of all threads.
    pub fn cpu(&self) -> f64 {
        let stat = std::fs::read_to_string(self.proc().join("stat")).unwrap();
        let (_, fields) = stat.rsplit_once(") ").unwrap();
        let ticks = |index| fields.split(' ').nth(index).unwrap().parse::<f64>().unwrap();
        (ticks(11) + ticks(12)) / TICKS
    }

    /// MiB that are resident.
    pub fn memory(&self) -> f64 {
        status(&self.proc(), "VmRSS:") / 1024.0
    }

    /// Context switches so far, of all threads.
    pub fn switches(&self) -> f64 {
        let threads = std::fs::read_dir(self.proc().join("task")).unwrap().flatten();
        threads
            .map(|thread| {
                status(&thread.path(), "voluntary_ctxt_switches:")
                    + status(&thread.path(), "nonvoluntary_ctxt_switches:")
            })
            .sum()
    }

    fn proc(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}", self.child.process_id().unwrap()))
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn rows(screen: &vt100::Screen) -> impl Iterator<Item = String> + '_ {
    screen.rows(0, 120)
}

fn status(folder: &Path, name: &str) -> f64 {
    let status = std::fs::read_to_string(folder.join("status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0.0)
}

fn read_along(mut reader: Box<dyn Read + Send>, seen: Arc<(Mutex<Seen>, Condvar)>) {
    std::thread::spawn(move || {
        let mut buf = vec![0_u8; 64 * 1024];
        loop {
            let read = reader.read(&mut buf).unwrap_or(0);
            let (lock, changed) = &*seen;
            let mut seen = lock.lock().unwrap();
            seen.parser.process(buf.get(..read).unwrap_or_default());
            seen.bytes += read;
            seen.over = read == 0;
            drop(seen);
            changed.notify_all();
            if read == 0 {
                return;
            }
        }
    });
}
