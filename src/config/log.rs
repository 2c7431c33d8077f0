//! Writes diagnostic logs to a file, never to the screen, and only on request. The file is created
//! with the first line.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Mutex;

use tracing_subscriber::EnvFilter;

use super::atomic_file;

/// A file of this size gets no more lines, in bytes.
const FULL: u64 = 16 * 1024 * 1024;

/// Starts writing lines of this level and above. Only the first call in a process counts; false if
/// there was one before.
pub fn start(level: &str, file: PathBuf) -> bool {
    // Our own lines only: those of libraries could contain request data.
    let filter = EnvFilter::new(format!("off,avocet={level}"));
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        .with_writer(Mutex::new(LazyFile { file, state: LogState::Unopened }))
        .finish();
    tracing::subscriber::set_global_default(subscriber).is_ok()
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
    /// It cannot be written, or is full: the program continues without it.
    Disabled,
}

impl Write for LazyFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let LogState::Unopened = self.state {
            self.state = atomic_file::append(&self.file)
                .and_then(|file| Ok(LogState::Opened { length: file.metadata()?.len(), file }))
                .unwrap_or(LogState::Disabled);
        }
        if let LogState::Opened { file, length } = &mut self.state {
            *length += bytes.len() as u64;
            if *length > FULL || file.write_all(bytes).is_err() {
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
    fn the_file_is_created_by_the_first_line_and_stops_when_full() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("state/avocet.log");
        let mut log = LazyFile { file: file.clone(), state: LogState::Unopened };
        assert!(!file.exists());
        log.write_all(b"one\n").unwrap();
        log.write_all(&vec![b'x'; FULL as usize]).unwrap();
        log.write_all(b"two\n").unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "one\n");
    }

    #[test]
    fn an_unwritable_log_causes_no_error() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = LazyFile { file: folder.path().to_owned(), state: LogState::Unopened };
        log.write_all(b"one\n").unwrap();
        assert!(matches!(log.state, LogState::Disabled));
    }
}
