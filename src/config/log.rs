//! What the program notes for whoever looks for a fault: into a file, never the screen,
//! and only when it was asked for. The file is made with the first line.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Mutex;

use tracing_subscriber::EnvFilter;

use super::saved;

/// Nothing more is written to a file that has grown to this, in bytes.
const FULL: u64 = 16 * 1024 * 1024;

/// Starts writing lines of this level and graver. Only the first call in a process
/// counts; false when there was one before.
pub fn start(level: &str, file: PathBuf) -> bool {
    // Our own lines only: those of libraries could hold what was sent.
    let filter = EnvFilter::new(format!("off,avocet={level}"));
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        .with_writer(Mutex::new(Lazy { file, open: Open::NotYet }))
        .finish();
    tracing::subscriber::set_global_default(subscriber).is_ok()
}

/// A file that is opened when it is first written to.
#[derive(Debug)]
struct Lazy {
    file: PathBuf,
    open: Open,
}

#[derive(Debug)]
enum Open {
    NotYet,
    Yes {
        file: File,
        length: u64,
    },
    /// It cannot be written, or is full: the program goes on without.
    No,
}

impl Write for Lazy {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Open::NotYet = self.open {
            self.open = saved::append(&self.file)
                .and_then(|file| Ok(Open::Yes { length: file.metadata()?.len(), file }))
                .unwrap_or(Open::No);
        }
        if let Open::Yes { file, length } = &mut self.open {
            *length += bytes.len() as u64;
            if *length > FULL || file.write_all(bytes).is_err() {
                self.open = Open::No;
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
    fn the_file_is_made_with_the_first_line_and_ends_when_full() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("state/avocet.log");
        let mut log = Lazy { file: file.clone(), open: Open::NotYet };
        assert!(!file.exists());
        log.write_all(b"one\n").unwrap();
        log.write_all(&vec![b'x'; FULL as usize]).unwrap();
        log.write_all(b"two\n").unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "one\n");
    }

    #[test]
    fn a_log_that_cannot_be_written_troubles_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = Lazy { file: folder.path().to_owned(), open: Open::NotYet };
        log.write_all(b"one\n").unwrap();
        assert!(matches!(log.open, Open::No));
    }
}
