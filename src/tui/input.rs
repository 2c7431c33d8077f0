//! Parses the bytes of a terminal: keys, the mouse, pastes, and answers to queries, even those of
//! other programs.
//!
//! Pure: bytes and times in, events out. A sequence may come in any number of pieces; an unknown
//! one is swallowed whole, so that none of it is ever typed.
//!
//! An Esc is both a key and the beginning of a sequence, and only time tells which. A paste without
//! brackets looks like fast typing with line ends; no user types several lines within one read, so
//! it is treated as a paste.

use std::time::Duration;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};

use super::line_probe;
use super::picture::GraphicsReply;
use super::symbols::LineStyle;
use super::theme::Background;

mod csi;
#[cfg(test)]
mod tests;

/// After this long an Esc was a key, and the beginning of a sequence was Alt with a letter.
const ESCAPE: Duration = Duration::from_millis(50);
/// After this long the rest of a longer sequence is not expected any more.
const SEQUENCE: Duration = Duration::from_millis(500);
/// Input that comes this long after a paste does not belong to it.
const PASTED: Duration = Duration::from_millis(30);
/// After this long without a byte, an unfinished paste is delivered as far as it came.
const STALLED: Duration = Duration::from_secs(2);

/// The longest answer that is kept, in bytes. The rest of a longer one is dropped.
const ANSWER: usize = 4096;
/// The longest paste without brackets that is one edit, in characters.
const MAX_LENGTH: usize = 2 << 20;
/// The longest paste that is kept, in bytes. The input's own limit is far lower.
const PASTE: usize = 16 << 20;

const END_OF_PASTE: &[u8] = b"\x1b[201~";

/// An event from the terminal.
#[derive(Clone, Debug, PartialEq)]
pub enum TerminalInput {
    Event(Event),
    /// Its background colour, in answer to a query.
    Background(Background),
    /// What it says of pictures, in answer to a query.
    Graphics(GraphicsReply),
    /// How wide it draws solid lines, in answer to a query.
    Lines(LineStyle),
}

/// The state of parsing.
#[derive(Debug, Default)]
pub struct Parser {
    state: ParserState,
    /// The characters of one burst, while they may still turn out to be a paste.
    pending_keys: Vec<KeyEvent>,
    out: Vec<TerminalInput>,
}

#[derive(Debug, Default)]
enum ParserState {
    #[default]
    Ground,
    /// The beginning of a character of several bytes.
    Character {
        bytes: Vec<u8>,
        alt: bool,
    },
    Escape,
    /// After `ESC [`.
    Csi(Vec<u8>),
    /// After `ESC [ [`, as the Linux console sends function keys.
    Console,
    /// After `ESC [ M`: three bytes of the mouse.
    Mouse(Vec<u8>),
    /// After `ESC O`.
    Ss3,
    /// An answer of the terminal, up to its end.
    Answer {
        kind: u8,
        text: Vec<u8>,
        escape: bool,
    },
    Paste(Paste),
    /// After the end of a paste. If another end follows at once, the text between them was pasted
    /// too: the paste contained its own end mark.
    AfterPaste(Paste),
}

#[derive(Debug, Default)]
struct Paste {
    bytes: Vec<u8>,
    /// The position of the first end mark, if there was one.
    first_end_mark: Option<usize>,
    /// The number of end marks.
    end_marks: usize,
    /// How much of the end mark has just been read.
    matched_bytes: usize,
}

impl Parser {
    /// Takes in bytes; [`Parser::take_events`] returns the events.
    pub fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.byte(*byte);
        }
    }

    /// The events read so far, when no more bytes are waiting.
    pub fn take_events(&mut self) -> Vec<TerminalInput> {
        if !self.may_be_paste() {
            self.flush_keys();
        }
        std::mem::take(&mut self.out)
    }

    /// Whether the typed characters may be the beginning of a paste: a paste in pieces is one edit,
    /// and a line end between the pieces does not send.
    fn may_be_paste(&self) -> bool {
        let ends = self.pending_keys.last().and_then(pasteable_char).is_some_and(is_line_end);
        let plain = matches!(self.state, ParserState::Ground | ParserState::Character { .. });
        plain
            && (2..MAX_LENGTH).contains(&self.pending_keys.len())
            && (ends || has_lines(&self.pending_keys))
    }

    /// How long to wait for more before [`Parser::timeout`]; `None`: nothing is unfinished.
    pub fn pending_timeout(&self) -> Option<Duration> {
        match &self.state {
            ParserState::Ground => self.may_be_paste().then_some(PASTED),
            ParserState::Character { .. } | ParserState::Escape | ParserState::Ss3 => Some(ESCAPE),
            ParserState::Csi(text) if text.is_empty() => Some(ESCAPE),
            ParserState::Answer { text, escape: false, .. } if text.is_empty() => Some(ESCAPE),
            ParserState::Csi(_)
            | ParserState::Console
            | ParserState::Mouse(_)
            | ParserState::Answer { .. } => Some(SEQUENCE),
            ParserState::AfterPaste(_) => Some(PASTED),
            ParserState::Paste(paste) => (!paste.bytes.is_empty()).then_some(STALLED),
        }
    }

    /// Nothing more came in that time.
    pub fn timeout(&mut self) -> Vec<TerminalInput> {
        match std::mem::take(&mut self.state) {
            ParserState::Escape => self.key(KeyCode::Esc, KeyModifiers::NONE),
            ParserState::Csi(text) if text.is_empty() => self.alt(b'['),
            ParserState::Ss3 => self.alt(b'O'),
            ParserState::Answer { kind, text, escape: false } if text.is_empty() => self.alt(kind),
            ParserState::AfterPaste(paste) => self.finish_paste(&paste),
            ParserState::Paste(mut paste) => {
                let part = Paste { bytes: std::mem::take(&mut paste.bytes), ..Paste::default() };
                self.finish_paste(&part);
                self.state = ParserState::Paste(paste);
            }
            ParserState::Ground
            | ParserState::Character { .. }
            | ParserState::Csi(_)
            | ParserState::Console
            | ParserState::Mouse(_)
            | ParserState::Answer { .. } => {}
        }
        self.flush_keys();
        std::mem::take(&mut self.out)
    }

    fn byte(&mut self, byte: u8) {
        match std::mem::take(&mut self.state) {
            ParserState::Ground => self.ground_byte(byte, false),
            ParserState::Character { bytes, alt } => self.character(bytes, byte, alt),
            ParserState::Escape => self.escape_byte(byte),
            ParserState::Csi(text) => self.csi(text, byte),
            ParserState::Console => {
                if let b'A'..=b'E' = byte {
                    self.key(KeyCode::F(byte - b'A' + 1), KeyModifiers::NONE);
                }
            }
            ParserState::Mouse(mut bytes) => {
                bytes.push(byte);
                if bytes.len() < 3 {
                    self.state = ParserState::Mouse(bytes);
                } else if let Some(event) = csi::x10_mouse(&bytes) {
                    self.event(event);
                }
            }
            ParserState::Ss3 => match csi::ss3(byte) {
                Some(code) => self.key(code, KeyModifiers::NONE),
                None if byte == 0x1b => self.state = ParserState::Escape,
                None => {}
            },
            ParserState::Answer { kind, text, escape } => self.answer(kind, text, escape, byte),
            ParserState::Paste(paste) => self.paste(paste, byte),
            ParserState::AfterPaste(paste) => self.after_paste_byte(paste, byte),
        }
    }

    /// A byte outside any sequence, or the one after an Esc that means Alt.
    fn ground_byte(&mut self, byte: u8, alt: bool) {
        let held = if alt { KeyModifiers::ALT } else { KeyModifiers::NONE };
        let control = held | KeyModifiers::CONTROL;
        match byte {
            0x1b => self.state = ParserState::Escape,
            b'\r' => self.key(KeyCode::Enter, held),
            b'\t' => self.key(KeyCode::Tab, held),
            0x7f => self.key(KeyCode::Backspace, held),
            0x00 => self.key(KeyCode::Char(' '), control),
            0x01..=0x1a => self.key(KeyCode::Char(char::from(byte - 1 + b'a')), control),
            0x1c..=0x1f => self.key(KeyCode::Char(char::from(byte - 0x1c + b'4')), control),
            0x20..=0x7e => self.text(char::from(byte), held),
            0xc2..=0xf4 => self.state = ParserState::Character { bytes: vec![byte], alt },
            // Not the first byte of a character.
            0x80..=0xc1 | 0xf5..=0xff => {}
        }
    }

    fn character(&mut self, mut bytes: Vec<u8>, byte: u8, alt: bool) {
        if !(0x80..=0xbf).contains(&byte) {
            // The character was cut; this byte begins something new.
            return self.byte(byte);
        }
        bytes.push(byte);
        let whole = match bytes.first() {
            Some(0xc2..=0xdf) => 2,
            Some(0xe0..=0xef) => 3,
            _ => 4,
        };
        if bytes.len() < whole {
            self.state = ParserState::Character { bytes, alt };
        } else if let Some(c) = std::str::from_utf8(&bytes).ok().and_then(|s| s.chars().next()) {
            let held = if alt { KeyModifiers::ALT } else { KeyModifiers::NONE };
            self.text(c, held);
        }
    }

    fn escape_byte(&mut self, byte: u8) {
        match byte {
            0x1b => {
                self.key(KeyCode::Esc, KeyModifiers::NONE);
                self.state = ParserState::Escape;
            }
            b'[' => self.state = ParserState::Csi(Vec::new()),
            b'O' => self.state = ParserState::Ss3,
            b']' | b'P' | b'_' | b'^' | b'X' => {
                self.state = ParserState::Answer { kind: byte, text: Vec::new(), escape: false };
            }
            _ => self.ground_byte(byte, true),
        }
    }

    fn csi(&mut self, mut text: Vec<u8>, byte: u8) {
        match byte {
            0x1b => self.state = ParserState::Escape,
            b'[' if text.is_empty() => self.state = ParserState::Console,
            b'M' if text.is_empty() => self.state = ParserState::Mouse(Vec::new()),
            0x20..=0x3f if text.len() < ANSWER => {
                text.push(byte);
                self.state = ParserState::Csi(text);
            }
            b'~' if text == b"200" => {
                self.flush_keys();
                self.state = ParserState::Paste(Paste::default());
            }
            0x40..=0x7e => {
                let answer = std::str::from_utf8(&text).ok();
                if let Some(reply) = answer.and_then(|it| csi_answer(it, byte)) {
                    self.flush_keys();
                    self.out.push(reply);
                } else if let Some(event) = csi::event(&text, byte) {
                    self.event(event);
                }
            }
            // Not part of a sequence: the sequence was cut.
            _ => self.ground_byte(byte, false),
        }
    }

    fn answer(&mut self, kind: u8, mut text: Vec<u8>, escape: bool, byte: u8) {
        match (escape, byte) {
            (true, b'\\') | (false, 0x07) => self.finish_answer(kind, &text),
            // The sequence was cut: this is something new.
            (true, _) => self.escape_byte(byte),
            (false, 0x1b) => self.state = ParserState::Answer { kind, text, escape: true },
            (false, 0x18 | 0x1a) => {}
            (false, _) => {
                if text.len() < ANSWER {
                    text.push(byte);
                }
                self.state = ParserState::Answer { kind, text, escape };
            }
        }
    }

    fn finish_answer(&mut self, kind: u8, text: &[u8]) {
        let Ok(text) = std::str::from_utf8(text) else { return };
        let answer = match kind {
            b']' => Background::from_osc_reply(text).map(TerminalInput::Background),
            b'_' => GraphicsReply::from_kitty(text).map(TerminalInput::Graphics),
            _ => None,
        };
        if let Some(answer) = answer {
            self.flush_keys();
            self.out.push(answer);
        }
    }

    fn paste(&mut self, mut paste: Paste, byte: u8) {
        paste.push(byte);
        self.state = if paste.matched_bytes == END_OF_PASTE.len() {
            ParserState::AfterPaste(paste.strip_end_mark())
        } else {
            ParserState::Paste(paste)
        };
    }

    fn after_paste_byte(&mut self, mut paste: Paste, byte: u8) {
        paste.push(byte);
        if paste.matched_bytes == END_OF_PASTE.len() {
            paste = paste.strip_end_mark();
        }
        self.state = ParserState::AfterPaste(paste);
    }

    fn finish_paste(&mut self, paste: &Paste) {
        let (text, tail) = paste.text_and_rest();
        if !text.is_empty() {
            self.event(Event::Paste(text));
        }
        self.feed(tail);
    }

    fn text(&mut self, c: char, held: KeyModifiers) {
        let shift = if c.is_uppercase() { KeyModifiers::SHIFT } else { KeyModifiers::NONE };
        self.key(KeyCode::Char(c), held | shift);
    }

    fn alt(&mut self, byte: u8) {
        self.text(char::from(byte), KeyModifiers::ALT);
    }

    fn key(&mut self, code: KeyCode, modifiers: KeyModifiers) {
        let key = KeyEvent::new(code, modifiers);
        if pasteable_char(&key).is_some() {
            self.pending_keys.push(key);
        } else {
            self.event(Event::Key(key));
        }
    }

    fn event(&mut self, event: Event) {
        self.flush_keys();
        self.out.push(TerminalInput::Event(event));
    }

    /// Delivers the typed characters: as keys, or as a paste.
    fn flush_keys(&mut self) {
        let typed = std::mem::take(&mut self.pending_keys);
        if has_lines(&typed) {
            let text: String = typed.iter().filter_map(pasteable_char).collect();
            // Both forms of a line end count as one.
            let text = text.replace("\r\n", "\n").replace('\r', "\n");
            self.out.push(TerminalInput::Event(Event::Paste(text)));
        } else {
            self.out.extend(typed.into_iter().map(|key| TerminalInput::Event(Event::Key(key))));
        }
    }
}

impl Paste {
    fn push(&mut self, byte: u8) {
        if self.bytes.len() < PASTE {
            self.bytes.push(byte);
        }
        self.matched_bytes = match END_OF_PASTE.get(self.matched_bytes) {
            Some(next) if *next == byte => self.matched_bytes + 1,
            _ if byte == 0x1b => 1,
            _ => 0,
        };
    }

    fn strip_end_mark(mut self) -> Paste {
        // A paste cut at the maximum length has no end mark.
        if self.bytes.ends_with(END_OF_PASTE) {
            self.bytes.truncate(self.bytes.len() - END_OF_PASTE.len());
        }
        self.matched_bytes = 0;
        self.first_end_mark.get_or_insert(self.bytes.len());
        self.end_marks += 1;
        self
    }

    /// The pasted text, and the bytes typed after it. If the paste contained end marks, there are
    /// no keys after the first one: bytes that would be keys are dropped.
    fn text_and_rest(&self) -> (String, &[u8]) {
        let (text, tail) = self.bytes.split_at(self.first_end_mark.unwrap_or(self.bytes.len()));
        let text = String::from_utf8_lossy(text).into_owned();
        if self.end_marks < 2 {
            return (text, tail);
        }
        let mut parser = Parser::default();
        parser.feed(tail);
        parser.flush_keys();
        let typed = parser.out.into_iter().map(|heard| match heard {
            TerminalInput::Event(Event::Key(key)) => {
                pasteable_char(&key).map(String::from).unwrap_or_default()
            }
            TerminalInput::Event(Event::Paste(text)) => text,
            TerminalInput::Event(_)
            | TerminalInput::Background(_)
            | TerminalInput::Graphics(_)
            | TerminalInput::Lines(_) => String::new(),
        });
        let tail: String = typed.collect();
        (text + &tail, &[])
    }
}

/// An answer to a query that is a control sequence.
fn csi_answer(text: &str, last: u8) -> Option<TerminalInput> {
    let graphics = GraphicsReply::from_csi(text, last).map(TerminalInput::Graphics);
    graphics.or_else(|| line_probe::from_csi(text, last).map(TerminalInput::Lines))
}

/// The character of a key that a paste may contain.
fn pasteable_char(key: &KeyEvent) -> Option<char> {
    match (key.code, key.modifiers) {
        (KeyCode::Char(c), KeyModifiers::NONE | KeyModifiers::SHIFT) => Some(c),
        (KeyCode::Char('j'), KeyModifiers::CONTROL) => Some('\n'),
        (KeyCode::Enter, KeyModifiers::NONE) => Some('\r'),
        (KeyCode::Tab, KeyModifiers::NONE) => Some('\t'),
        _ => None,
    }
}

/// Whether text follows a line end.
fn has_lines(typed: &[KeyEvent]) -> bool {
    let mut ended = false;
    typed.iter().any(|key| {
        let end = pasteable_char(key).is_some_and(is_line_end);
        let follows = ended && !end;
        ended |= end;
        follows
    })
}

fn is_line_end(c: char) -> bool {
    matches!(c, '\r' | '\n')
}
