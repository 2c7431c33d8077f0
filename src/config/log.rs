//! Writes diagnostic logs to a file, never to the screen: on request, and of a program that runs
//! unattended. The file is created with the first line. A full one is kept beside its successor.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tracing::{Level, Metadata};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;

use super::atomic_file;

/// A file of this size gets no more lines, in bytes: it takes the place of the one before it.
const FULL: u64 = 8 * 1024 * 1024;

/// The level of the log, which may change while the program runs; shared by its clones.
#[derive(Clone, Debug, Default)]
pub struct LogLevel {
    /// As the settings say.
    wanted: Arc<AtomicUsize>,
    /// What is written whatever they say.
    least: Arc<AtomicUsize>,
}

/// From the fewest lines to the most.
const LEVELS: [(&str, Level); 5] = [
    ("error", Level::ERROR),
    ("warn", Level::WARN),
    ("info", Level::INFO),
    ("debug", Level::DEBUG),
    ("trace", Level::TRACE),
];

impl LogLevel {
    /// Writes lines of this level and above from now on; `None`: none.
    pub fn set(&self, level: Option<&str>, file: PathBuf) {
        self.wanted.store(number(level), Ordering::Relaxed);
        self.start(file);
    }

    /// Writes lines of this level and above, whatever the settings say.
    pub fn keep_at_least(&self, level: &str, file: PathBuf) {
        self.least.store(number(Some(level)), Ordering::Relaxed);
        self.start(file);
    }

    fn most(&self) -> usize {
        self.wanted.load(Ordering::Relaxed).max(self.least.load(Ordering::Relaxed))
    }

    /// Only the first call in a process counts.
    fn start(&self, file: PathBuf) {
        if self.most() == 0 {
            return;
        }
        // Our own lines only: those of libraries could contain request data.
        let filter = Targets::new().with_target("avocet", Level::TRACE);
        let file = Mutex::new(LazyFile { file, state: LogState::Unopened });
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(Level::TRACE)
            .with_ansi(false)
            .with_writer(LeveledFile { level: self.clone(), file })
            .finish()
            .with(filter);
        let _earlier = tracing::subscriber::set_global_default(subscriber);
    }

    fn includes(&self, level: Level) -> bool {
        let place = LEVELS.iter().position(|(_, known)| *known == level);
        place.is_some_and(|place| place < self.most())
    }
}

/// How many of the levels are written.
fn number(level: Option<&str>) -> usize {
    let place = level.and_then(|level| LEVELS.iter().position(|(name, _)| *name == level));
    place.map_or(0, |place| place + 1)
}

/// Leaves out the lines below the level.
#[derive(Debug)]
struct LeveledFile {
    level: LogLevel,
    file: Mutex<LazyFile>,
}

/// Writes one line, or leaves it out.
#[derive(Debug)]
struct LineWriter<'a>(Option<MutexGuard<'a, LazyFile>>);

impl<'a> MakeWriter<'a> for LeveledFile {
    type Writer = LineWriter<'a>;

    fn make_writer(&'a self) -> LineWriter<'a> {
        LineWriter(Some(self.file.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    fn make_writer_for(&'a self, line: &Metadata<'_>) -> LineWriter<'a> {
        if self.level.includes(*line.level()) { self.make_writer() } else { LineWriter(None) }
    }
}

impl Write for LineWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.as_mut().map_or(Ok(bytes.len()), |file| file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A file that is opened at the first write.
#[derive(Debug)]
struct LazyFile {
    file: PathBuf,
    state: LogState,
}

#[derive(Debug)]
enum LogState {
    Unopened,
    Opened {
        file: File,
        length: u64,
    },
    /// It cannot be written: the program continues without it.
    Disabled,
}

impl LazyFile {
    fn open(&self) -> LogState {
        atomic_file::append(&self.file)
            .and_then(|file| Ok(LogState::Opened { length: file.metadata()?.len(), file }))
            .unwrap_or(LogState::Disabled)
    }

    /// Keeps the full file as the one before, in place of an earlier one.
    fn begin_another(&self) -> LogState {
        match fs::rename(&self.file, self.file.with_extension("log.1")) {
            Ok(()) => self.open(),
            Err(_) => LogState::Disabled,
        }
    }
}

impl Write for LazyFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let LogState::Unopened = self.state {
            self.state = self.open();
        }
        let is_full = |length: u64| length > 0 && length + bytes.len() as u64 > FULL;
        if let LogState::Opened { length, .. } = &self.state
            && is_full(*length)
        {
            self.state = self.begin_another();
        }
        if let LogState::Opened { file, length } = &mut self.state {
            *length += bytes.len() as u64;
            if file.write_all(bytes).is_err() {
                self.state = LogState::Disabled;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_created_by_the_first_line_and_a_full_one_is_kept_beside_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("state/avocet.log");
        let mut log = LazyFile { file: file.clone(), state: LogState::Unopened };
        assert!(!file.exists());
        log.write_all(b"one\n").unwrap();
        for _ in 0..3 {
            log.write_all(&vec![b'x'; FULL as usize]).unwrap();
        }
        log.write_all(b"two\n").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "two\n");
        let names = fs::read_dir(folder.path().join("state")).unwrap();
        let names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names.len(), 2, "{names:?}");
        assert_eq!(fs::metadata(folder.path().join("state/avocet.log.1")).unwrap().len(), FULL);
    }

    #[test]
    fn what_is_written_at_least_stays_when_the_settings_say_off() {
        let level = LogLevel::default();
        level.least.store(number(Some("warn")), Ordering::Relaxed);
        assert!(level.includes(Level::WARN) && !level.includes(Level::INFO));
        level.wanted.store(number(Some("debug")), Ordering::Relaxed);
        assert!(level.includes(Level::DEBUG) && !level.includes(Level::TRACE));
        level.wanted.store(number(Some("off")), Ordering::Relaxed);
        assert!(level.includes(Level::WARN) && !level.includes(Level::INFO));
    }

    #[test]
    fn the_level_may_change_while_lines_are_written() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("avocet.log");
        let level = LogLevel::default();
        let lazy = LazyFile { file: file.clone(), state: LogState::Unopened };
        let log = LeveledFile { level: level.clone(), file: Mutex::new(lazy) };
        let subscriber = tracing_subscriber::fmt().with_max_level(Level::TRACE).with_writer(log);
        let lines = || std::fs::read_to_string(&file).unwrap_or_default().lines().count();
        tracing::subscriber::with_default(subscriber.finish(), || {
            let both = || {
                tracing::error!("one");
                tracing::debug!("two");
                lines()
            };
            // It is not the subscriber of this process: another test may have set that.
            let set = |most| level.wanted.store(most, Ordering::Relaxed);
            assert_eq!(both(), 0, "off");
            set(1);
            assert_eq!(both(), 1, "errors only");
            set(4);
            assert_eq!(both(), 3, "debug");
            set(0);
            assert_eq!(both(), 3, "off again");
        });
    }

    #[test]
    fn an_unwritable_log_causes_no_error() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = LazyFile { file: folder.path().to_owned(), state: LogState::Unopened };
        log.write_all(b"one\n").unwrap();
        assert!(matches!(log.state, LogState::Disabled));
    }
}
