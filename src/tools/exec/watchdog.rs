//! Runs a small second process that outlives this one by a moment and repairs what its
//! death left: a terminal in another state, steps that still run.
//!
//! It is this program again, in a mode of its own, and sleeps on a pipe that ends with us.
//! It is sent what to repair beforehand, one line each; after an orderly end there is
//! nothing. Without it everything works, except after a death that no handler sees: `kill
//! -9`, no memory left, a fault of the processor.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, IsTerminal, PipeWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::sync::{Arc, OnceLock};

use process_wrap::std::{CommandWrap, ProcessSession};
use serde::{Deserialize, Serialize};

use super::process_group::{self, StepWatch};

/// The one argument that starts the mode; nothing a user would type.
pub const MODE: &str = "__watchdog";

/// The way to the watchdog, once it was started. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Watchdog {
    /// This program; `None`: there is no watchdog.
    program: Option<PathBuf>,
    pipe: Arc<OnceLock<Option<PipeWriter>>>,
}

/// The messages to the watchdog.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
enum WatchdogMessage {
    /// The terminal is ours; these bytes give it back.
    Taken(String),
    Released,
    /// A step is about to start, with this mark.
    Starting(String),
    /// It runs: the leader of its group, and its mark.
    Started(i32, String),
    Ended(String),
}

impl Watchdog {
    pub fn new(program: Option<PathBuf>) -> Watchdog {
        Watchdog { program, pipe: Arc::default() }
    }

    /// Starts the watchdog, which takes about a millisecond; once, however often it is called.
    pub fn start(&self) {
        self.pipe.get_or_init(|| spawn(self.program.as_deref()?).ok());
    }

    /// The terminal is taken over; `restore` is what gives it back.
    pub fn terminal_taken(&self, restore: &str) {
        self.send(&WatchdogMessage::Taken(restore.to_owned()));
    }

    pub fn terminal_released(&self) {
        self.send(&WatchdogMessage::Released);
    }

    /// One write, far shorter than what a pipe takes at once. A watchdog that has died
    /// makes no difference until we are gone as well.
    fn send(&self, message: &WatchdogMessage) {
        if let Some(Some(pipe)) = self.pipe.get()
            && let Ok(mut text) = serde_json::to_vec(message)
        {
            text.push(b'\n');
            let mut pipe: &PipeWriter = pipe;
            let _ = pipe.write_all(&text);
        }
    }
}

impl StepWatch for Watchdog {
    fn starting(&self, mark: &str) {
        // Not from `started`: what holds the step would hold the watchdog too.
        self.start();
        self.send(&WatchdogMessage::Starting(mark.to_owned()));
    }

    fn not_started(&self, mark: &str) {
        self.send(&WatchdogMessage::Ended(mark.to_owned()));
    }

    fn started(&self, leader: i32, mark: &str) {
        self.send(&WatchdogMessage::Started(leader, mark.to_owned()));
    }

    fn ended(&self, _leader: i32, mark: &str) {
        self.send(&WatchdogMessage::Ended(mark.to_owned()));
    }
}

/// In a session of its own from the start: what ends the terminal's does not end it.
fn spawn(program: &Path) -> io::Result<PipeWriter> {
    let (end, pipe) = io::pipe()?;
    let mut command = CommandWrap::with_new(program, |command| {
        command
            .arg(MODE)
            .stdin(Stdio::from(end))
            .stdout(terminal())
            .stderr(Stdio::null())
            .env_clear()
            .env(process_group::MARK, process_group::NO_STEP)
            .current_dir("/");
    });
    command.wrap(ProcessSession).spawn()?;
    Ok(pipe)
}

/// A pipe would stay open longer than we do.
fn terminal() -> Stdio {
    if io::stdout().is_terminal() { Stdio::inherit() } else { Stdio::null() }
}

/// The mode: waits for the end of the process that started it.
pub fn run() -> ExitCode {
    let mut taken = None;
    let mut steps = BTreeMap::new();
    for line in BufReader::new(io::stdin().lock()).lines() {
        let Ok(line) = line else { break };
        match serde_json::from_str(&line) {
            Ok(WatchdogMessage::Taken(restore)) => taken = Some(restore),
            Ok(WatchdogMessage::Released) => taken = None,
            Ok(WatchdogMessage::Starting(mark)) => drop(steps.insert(mark, None)),
            Ok(WatchdogMessage::Started(leader, mark)) => drop(steps.insert(mark, Some(leader))),
            Ok(WatchdogMessage::Ended(mark)) => drop(steps.remove(&mark)),
            Err(_) => {}
        }
    }
    for (mark, leader) in steps {
        process_group::end_abandoned(leader, &mark);
    }
    if let Some(restore) = taken {
        restore_terminal(&restore);
    }
    ExitCode::SUCCESS
}

/// The modes first: a shell may set its own after us, and those stay. In a session of its
/// own a process may set them though it is not in the foreground.
fn restore_terminal(restore: &str) {
    let mut terminal = io::stdout().lock();
    avocet_core::terminal_modes::restore_from_raw(&terminal);
    let _ = terminal.write_all(restore.as_bytes()).and_then(|()| terminal.flush());
}
