//! Makes foreign text safe to show: none of its control characters reaches the terminal.
//!
//! For reading: whole terminal sequences fall out (colours of commands too), and every other
//! character that hides, moves or reorders text becomes a visible escape such as `\x1b` or
//! `\u{202e}`. [`avocet_core::text::escape`] is for deciding.

use std::ops::Range;

use avocet_core::text::chars::{is_combining, is_emoji, is_hidden};
use avocet_core::text::{MARKS, StyleRuns, write_escape};

/// Characters of an unfinished sequence that are kept to be shown if it never ends.
const HELD: usize = 4096;

/// What a lone carriage return does in a text that is cleaned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CarriageReturnMode {
    /// It ends a line, as in texts of models, in files and in names.
    #[default]
    EndsLine,
    /// It goes back to the start of its line, as in the output of a command: the last writing wins.
    OverwritesLine,
}

/// Cleans a text that may come in pieces, cut anywhere between two characters.
#[derive(Default)]
pub struct Cleaner {
    mode: CarriageReturnMode,
    sequence: EscapeSequence,
    pending_return: bool,
    /// A joiner that is kept only if the next character is an emoji.
    pending_joiner: bool,
    last: Option<char>,
    marks: u8,
    joins: u8,
    /// The next character belongs to the cluster of the last.
    is_joined: bool,
    /// The colours that the text had, where they are wanted.
    styles: Option<StyleRuns>,
}

impl Cleaner {
    pub fn new(mode: CarriageReturnMode) -> Cleaner {
        Cleaner { mode, ..Cleaner::default() }
    }

    /// The same for the output of a command, noting the colours that it had.
    pub fn with_styles() -> Cleaner {
        Cleaner {
            styles: Some(StyleRuns::default()),
            ..Cleaner::new(CarriageReturnMode::OverwritesLine)
        }
    }

    /// The colours, by the place in what was written.
    pub fn styles_mut(&mut self) -> Option<&mut StyleRuns> {
        self.styles.as_mut()
    }

    pub fn styles(&self) -> Option<&StyleRuns> {
        self.styles.as_ref()
    }

    /// Appends the safe form of `chunk` to `out`. For [`CarriageReturnMode::OverwritesLine`] the last
    /// line of `out` may be undone, so `out` must be what this cleaner wrote.
    pub fn push(&mut self, chunk: &str, out: &mut String) {
        out.reserve(chunk.len());
        for c in chunk.chars() {
            if !self.sequence.is_open() && c != '\x1b' {
                self.push_char(c, out);
                continue;
            }
            match self.sequence.feed(c) {
                SequenceState::Inside => {}
                SequenceState::Ended => {
                    let sequence = std::mem::take(&mut self.sequence.pending);
                    if let Some(styles) = &mut self.styles {
                        styles.apply(&sequence, out.len());
                    }
                }
                SequenceState::Broken => {
                    self.flush_sequence(out);
                    self.push_char(c, out);
                }
            }
        }
    }

    /// The text is over: held-back characters are shown.
    pub fn finish(&mut self, out: &mut String) {
        self.flush_sequence(out);
        self.resolve_pending(None, out);
    }

    /// An unterminated sequence is not a sequence: its characters are text.
    fn flush_sequence(&mut self, out: &mut String) {
        let held = self.sequence.take();
        for c in held.chars() {
            if c == '\x1b' {
                self.resolve_pending(None, out);
                self.push_escaped(c, out);
            } else {
                self.push_char(c, out);
            }
        }
    }

    /// One character outside of any sequence.
    fn push_char(&mut self, c: char, out: &mut String) {
        self.resolve_pending(Some(c), out);
        match c {
            ' '..='~' | '\n' | '\t' => self.push_visible(c, out),
            '\r' => self.pending_return = true,
            '\x07' => {}
            '\u{200d}' if self.last.is_some_and(is_emoji) && self.joins < MARKS => {
                self.pending_joiner = true;
            }
            '\u{fe0e}' | '\u{fe0f}' if self.last.is_some_and(can_take_variant) => {
                self.push_mark(c, out);
            }
            '\u{1f3fb}'..='\u{1f3ff}' if self.last.is_some_and(is_emoji) => self.push_mark(c, out),
            c if is_hidden(c) => self.push_escaped(c, out),
            c if is_combining(c) => self.push_mark(c, out),
            c => self.push_visible(c, out),
        }
    }

    /// Decides what was waiting for `next`: a joiner, a carriage return.
    fn resolve_pending(&mut self, next: Option<char>, out: &mut String) {
        if std::mem::take(&mut self.pending_joiner) {
            if next.is_some_and(is_emoji) {
                out.push('\u{200d}');
                self.joins += 1;
                self.is_joined = true;
            } else {
                self.push_escaped('\u{200d}', out);
            }
        }
        if std::mem::take(&mut self.pending_return) && !matches!(next, Some('\n' | '\r')) {
            self.apply_carriage_return(next, out);
        }
    }

    /// A carriage return that is not part of a line's end.
    fn apply_carriage_return(&mut self, next: Option<char>, out: &mut String) {
        match self.mode {
            CarriageReturnMode::EndsLine => self.push_visible('\n', out),
            CarriageReturnMode::OverwritesLine if next.is_none() => {}
            CarriageReturnMode::OverwritesLine => {
                let start = out.rfind('\n').map_or(0, |at| at + 1);
                out.truncate(start);
                if let Some(styles) = &mut self.styles {
                    styles.truncate(start);
                }
                self.last = None;
            }
        }
    }

    fn push_visible(&mut self, c: char, out: &mut String) {
        if !std::mem::take(&mut self.is_joined) {
            self.joins = 0;
        }
        self.marks = 0;
        self.last = (!matches!(c, '\n' | '\t')).then_some(c);
        out.push(c);
    }

    /// A mark on the last letter; without a letter it is shown as an escape.
    fn push_mark(&mut self, c: char, out: &mut String) {
        if self.last.is_none() {
            return self.push_escaped(c, out);
        }
        if self.marks < MARKS {
            self.marks += 1;
            out.push(c);
        }
    }

    fn push_escaped(&mut self, c: char, out: &mut String) {
        write_escape(c, out);
        self.last = None;
        self.marks = 0;
    }
}

/// Cleans a whole text.
pub fn clean(text: &str, mode: CarriageReturnMode) -> String {
    let mut cleaner = Cleaner::new(mode);
    let mut out = String::new();
    cleaner.push(text, &mut out);
    cleaner.finish(&mut out);
    out
}

/// Cleans the whole output of a command; with the colours that it had.
pub fn clean_styled(text: &str) -> (String, StyleRuns) {
    let mut cleaner = Cleaner::with_styles();
    let mut out = String::new();
    cleaner.push(text, &mut out);
    cleaner.finish(&mut out);
    (out, cleaner.styles.unwrap_or_default())
}

/// The invisible parts of a text: terminal sequences, control characters and characters
/// without width; with a backspace, the character that it takes back.
pub(crate) fn unseen_ranges(text: &str) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut sequence = EscapeSequence::default();
    let mut begun = 0;
    let mut last = None;

    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        if sequence.is_open() || c == '\x1b' {
            if !sequence.is_open() {
                begun = at;
            }
            match sequence.feed(c) {
                SequenceState::Inside => continue,
                SequenceState::Ended => {
                    sequence.pending.clear();
                    ranges.push(begun..end);
                    continue;
                }
                SequenceState::Broken => drop(sequence.take()),
            }
        }
        match c {
            '\n' | '\t' | '\r' => last = None,
            '\x08' => ranges.push(std::mem::take(&mut last).unwrap_or(at)..end),
            c if is_hidden(c) => ranges.push(at..end),
            _ => last = Some(at),
        }
    }
    ranges
}

/// True for output that is not text: a command printed the bytes of a program or an image.
pub fn is_binary(text: &str) -> bool {
    let odd = |c: &char| matches!(c, '\0' | '\u{fffd}');
    let (seen, bad) = text
        .chars()
        .take(1024)
        .fold((0, 0), |(seen, bad), c| (seen + 1, bad + usize::from(odd(&c))));
    // Latin-1 has a few of them, an image has little else.
    bad >= 4 && bad * 10 > seen * 3
}

fn can_take_variant(c: char) -> bool {
    is_emoji(c) || c.is_ascii_digit() || matches!(c, '#' | '*')
}

/// The effect of one more character on an unfinished sequence.
enum SequenceState {
    Inside,
    /// It was whole: it falls out, and the caller takes it.
    Ended,
    /// It cannot go on: the held-back characters are text.
    Broken,
}

/// A terminal sequence while it arrives.
#[derive(Default)]
struct EscapeSequence {
    parser: vte::Parser,
    pending: String,
}

impl EscapeSequence {
    fn is_open(&self) -> bool {
        !self.pending.is_empty()
    }

    fn feed(&mut self, c: char) -> SequenceState {
        let string = self.is_string();
        let over = self.pending.len() >= HELD;
        if c == '\n' || (string && over) || (!string && !c.is_ascii()) {
            return SequenceState::Broken;
        }
        if !over {
            self.pending.push(c);
        }
        let mut end = SequenceEnd::default();
        self.parser.advance(&mut end, c.encode_utf8(&mut [0; 4]).as_bytes());
        if end.ended && c != '\x1b' {
            return SequenceState::Ended;
        }
        SequenceState::Inside
    }

    /// OSC, DCS, PM, APC and SOS carry text; all others end by themselves.
    fn is_string(&self) -> bool {
        matches!(self.pending.chars().nth(1), Some(']' | 'P' | '^' | '_' | 'X'))
    }

    fn take(&mut self) -> String {
        self.parser = vte::Parser::new();
        std::mem::take(&mut self.pending)
    }
}

/// Sees the end of a sequence.
#[derive(Default)]
struct SequenceEnd {
    ended: bool,
}

impl vte::Perform for SequenceEnd {
    fn execute(&mut self, byte: u8) {
        // CAN and SUB end whatever is open.
        self.ended |= matches!(byte, 0x18 | 0x1a);
    }

    fn unhook(&mut self) {
        self.ended = true;
    }

    fn osc_dispatch(&mut self, _: &[&[u8]], _: bool) {
        self.ended = true;
    }

    fn csi_dispatch(&mut self, _: &vte::Params, _: &[u8], _: bool, _: char) {
        self.ended = true;
    }

    fn esc_dispatch(&mut self, _: &[u8], _: bool, _: u8) {
        self.ended = true;
    }
}

impl std::fmt::Debug for Cleaner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cleaner").field("held", &self.sequence.pending).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
