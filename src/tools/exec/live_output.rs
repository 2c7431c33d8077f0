//! Streams output while it arrives: decoded across reads, masked, gathered into pieces, and
//! bounded, so that a flood does not fill the channel it is sent through.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;
use tokio::time::Instant;

use avocet_core::i18n::{Lang, exec as phrases};
use avocet_safety::redact::{Masking, Redactor};

/// How long a piece waits for more.
const GATHER: Duration = Duration::from_millis(40);

/// A piece of this size is sent at once, in bytes.
const PIECE: usize = 8 * 1024;

/// The most that is shown live of one step, in bytes.
const MAX_BYTES: usize = 256 * 1024;

/// Where the live output of one step goes.
#[derive(Debug)]
pub(super) struct LiveOutput {
    to: UnboundedSender<String>,
    lang: Lang,
    pending: String,
    pending_since: Option<Instant>,
    /// Bytes that may still be sent.
    room: usize,
}

/// One stream of a child on its way to [`LiveOutput`].
#[derive(Debug, Default)]
pub(super) struct Decoder {
    /// The beginning of a character whose end has not come.
    partial: Vec<u8>,
    masking: Option<Masking>,
}

impl LiveOutput {
    pub(super) fn new(to: UnboundedSender<String>, lang: Lang) -> LiveOutput {
        LiveOutput { to, lang, pending: String::new(), pending_since: None, room: MAX_BYTES }
    }

    /// Whether nothing more is sent.
    pub(super) fn is_full(&self) -> bool {
        self.room == 0
    }

    /// Takes more text; sends when enough has gathered.
    pub(super) fn push(&mut self, text: &str) {
        if text.is_empty() || self.room == 0 {
            return;
        }
        let fits = text.get(..text.floor_char_boundary(self.room)).unwrap_or_default();
        self.pending.push_str(fits);
        self.pending_since.get_or_insert_with(Instant::now);
        if fits.len() < text.len() {
            self.room = 0;
            self.pending.push('\n');
            self.pending.push_str(phrases::NOT_LIVE.text(self.lang));
            self.pending.push('\n');
            return self.flush();
        }
        self.room -= fits.len();
        if self.pending.len() >= PIECE {
            self.flush();
        }
    }

    /// When the gathered output is due; `None` when there is none.
    pub(super) fn flush_deadline(&self) -> Option<Instant> {
        self.pending_since.map(|since| since + GATHER)
    }

    pub(super) fn flush(&mut self) {
        self.pending_since = None;
        if !self.pending.is_empty() {
            // A missing listener does not stop the step.
            let _ = self.to.send(std::mem::take(&mut self.pending));
        }
    }
}

impl Decoder {
    pub(super) fn new(redactor: Option<&Arc<Redactor>>) -> Decoder {
        Decoder { partial: Vec::new(), masking: redactor.map(Redactor::masking) }
    }

    /// The output that can be shown after these bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) -> String {
        let text = self.decode(bytes);
        match &mut self.masking {
            Some(masking) => masking.push(&text),
            None => text,
        }
    }

    /// The rest at the end of the stream.
    pub(super) fn finish(&mut self) -> String {
        let rest = String::from_utf8_lossy(&std::mem::take(&mut self.partial)).into_owned();
        match &mut self.masking {
            Some(masking) => masking.push(&rest) + &masking.finish(),
            None => rest,
        }
    }

    fn decode(&mut self, bytes: &[u8]) -> String {
        let mut all = std::mem::take(&mut self.partial);
        all.extend_from_slice(bytes);
        let mut out = String::with_capacity(all.len());
        let mut chunks = all.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            out.push_str(chunk.valid());
            let last = chunks.peek().is_none();
            if last && is_partial_character(chunk.invalid()) {
                self.partial = chunk.invalid().to_vec();
            } else if !chunk.invalid().is_empty() {
                out.push(char::REPLACEMENT_CHARACTER);
            }
        }
        out
    }
}

/// True for bytes that more bytes could make a character of.
fn is_partial_character(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc::unbounded_channel;

    use super::*;

    #[test]
    fn a_character_cut_between_reads_arrives_whole() {
        let mut decoder = Decoder::default();
        let out: String =
            "好吗😀\u{fffd}".as_bytes().iter().map(|byte| decoder.push(&[*byte])).collect();
        assert_eq!(out + &decoder.finish(), "好吗😀\u{fffd}");
        let mut decoder = Decoder::default();
        assert_eq!(decoder.push(b"a\xe5"), "a");
        assert_eq!(decoder.push(b"b"), "\u{fffd}b");
        assert_eq!(decoder.push(b"\xe5"), "");
        assert_eq!(decoder.finish(), "\u{fffd}");
    }

    #[test]
    fn pieces_are_gathered_and_the_whole_is_bounded() {
        let (to, mut from) = unbounded_channel();
        let mut live = LiveOutput::new(to, Lang::En);
        live.push("a");
        live.push("b");
        assert!(from.try_recv().is_err() && live.flush_deadline().is_some());
        live.flush();
        assert_eq!(from.try_recv().as_deref(), Ok("ab"));
        assert!(live.flush_deadline().is_none());
        for _ in 0..1000 {
            live.push(&"x".repeat(1000));
        }
        live.flush();
        drop(live);
        let mut all = String::new();
        while let Ok(piece) = from.try_recv() {
            all.push_str(&piece);
        }
        assert!(all.len() < MAX_BYTES + 200 && all.ends_with("no longer shown live.\n"));
    }
}
