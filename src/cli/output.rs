//! The only writers to standard output and standard error, except for the full screen, which has
//! its own.
//!
//! Text for a terminal never moves its cursor, changes its colours or queries it, whatever its
//! source: a saved conversation, a file, a server, an argument. Text for a file or a pipe is
//! written unchanged.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::{self, IsTerminal as _, Write};

use avocet_safety::sanitize::{CarriageReturnMode, clean};

/// Longer lines are hard to read.
pub const MAX_COLUMNS: usize = 100;

/// One of the two streams.
#[derive(Debug)]
pub struct OutputStream {
    stream: Stream,
    terminal: bool,
    /// The first bytes of a character that is not complete yet.
    incomplete: Vec<u8>,
}

#[derive(Debug)]
enum Stream {
    Out(io::Stdout),
    Err(io::Stderr),
}

/// Standard output.
pub fn stdout() -> OutputStream {
    let stream = io::stdout();
    OutputStream {
        terminal: stream.is_terminal(),
        stream: Stream::Out(stream),
        incomplete: Vec::new(),
    }
}

/// Standard error.
pub fn stderr() -> OutputStream {
    let stream = io::stderr();
    OutputStream {
        terminal: stream.is_terminal(),
        stream: Stream::Err(stream),
        incomplete: Vec::new(),
    }
}

/// Reports panics through the same door: their text may quote anything.
pub fn report_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let thread = std::thread::current();
        let name = thread.name().unwrap_or("?");
        let trace = Backtrace::capture();
        let mut out = stderr();
        // It cannot be reported anywhere else.
        let _ = writeln!(out, "thread `{name}` {panic}");
        if trace.status() == BacktraceStatus::Captured {
            let _ = writeln!(out, "{trace}");
        }
    }));
}

impl OutputStream {
    pub fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// The width that text for a terminal is broken at, in columns.
    pub fn columns(&self) -> Option<usize> {
        let (columns, _) = self.terminal.then(avocet_tui::terminal::size).flatten()?;
        Some(usize::from(columns).min(MAX_COLUMNS))
    }

    fn stream(&mut self) -> &mut dyn Write {
        match &mut self.stream {
            Stream::Out(out) => out,
            Stream::Err(err) => err,
        }
    }
}

impl Write for OutputStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.terminal {
            return self.stream().write(bytes);
        }
        let text = decode(&mut self.incomplete, bytes);
        self.stream().write_all(clean(&text, CarriageReturnMode::EndsLine).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream().flush()
    }
}

impl Drop for OutputStream {
    fn drop(&mut self) {
        if !self.incomplete.is_empty() {
            // Standard error is closed, so this cannot be reported.
            let _ = write!(self.stream(), "{}", char::REPLACEMENT_CHARACTER);
        }
    }
}

/// Decodes these bytes after the incomplete character before them; an incomplete character at the
/// end is kept for the next call.
fn decode(begun: &mut Vec<u8>, bytes: &[u8]) -> String {
    let all = [std::mem::take(begun).as_slice(), bytes].concat();
    let mut text = String::with_capacity(all.len());
    let mut chunks = all.utf8_chunks().peekable();
    while let Some(chunk) = chunks.next() {
        text.push_str(chunk.valid());
        let invalid = chunk.invalid();
        let cut = std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
        if cut && chunks.peek().is_none() {
            begun.extend_from_slice(invalid);
        } else if !invalid.is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_cut_between_writes_arrives_whole() {
        let mut begun = Vec::new();
        let all: String = "a好😀".bytes().map(|byte| decode(&mut begun, &[byte])).collect();
        assert_eq!((all.as_str(), begun.len()), ("a好😀", 0));
        assert_eq!(decode(&mut begun, b"\xff\x9b"), "\u{fffd}\u{fffd}");
    }
}
