//! Decodes the inside of a JSON string, one character at a time. Broken escapes are kept visible
//! instead of failing: validity is checked elsewhere.

/// The position of the next character in an escape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Unescape {
    #[default]
    Plain,
    Backslash,
    /// `\u` with the digits so far, and the surrogate half before it.
    Unicode {
        digits: u8,
        value: u32,
        high: Option<u32>,
    },
    /// After the first half of a surrogate pair.
    High(u32),
    HighBackslash(u32),
}

impl Unescape {
    /// True when the next character is not part of an escape.
    pub(super) fn is_plain(self) -> bool {
        matches!(self, Unescape::Plain | Unescape::High(_))
    }

    /// Processes one character and appends what it completes to `out`. True if it was a bare `"`,
    /// which is not appended.
    pub(super) fn push(&mut self, c: char, out: &mut String) -> bool {
        match std::mem::take(self) {
            Unescape::Plain => match c {
                '"' => return true,
                '\\' => *self = Unescape::Backslash,
                c => out.push(c),
            },
            Unescape::Backslash => self.escaped(c, None, out),
            Unescape::Unicode { digits, value, high } => match c.to_digit(16) {
                Some(digit) => self.digit(digits + 1, value * 16 + digit, high, out),
                None => {
                    out.push(char::REPLACEMENT_CHARACTER);
                    return self.push(c, out);
                }
            },
            Unescape::High(high) if c == '\\' => *self = Unescape::HighBackslash(high),
            Unescape::HighBackslash(high) => self.escaped(c, Some(high), out),
            // The other half of the pair is missing.
            Unescape::High(_) => {
                out.push(char::REPLACEMENT_CHARACTER);
                return self.push(c, out);
            }
        }
        false
    }

    fn escaped(&mut self, c: char, high: Option<u32>, out: &mut String) {
        if c == 'u' {
            *self = Unescape::Unicode { digits: 0, value: 0, high };
            return;
        }
        if high.is_some() {
            out.push(char::REPLACEMENT_CHARACTER);
        }
        match c {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            '"' | '\'' | '\\' | '/' | '`' => out.push(c),
            // Not a JSON escape: most likely a Windows path or a regular expression.
            other => out.extend(['\\', other]),
        }
    }

    fn digit(&mut self, digits: u8, value: u32, high: Option<u32>, out: &mut String) {
        if digits < 4 {
            *self = Unescape::Unicode { digits, value, high };
            return;
        }
        let (value, lost) = match (high, value) {
            (Some(high), 0xDC00..=0xDFFF) => {
                (0x10000 + ((high - 0xD800) << 10) + (value - 0xDC00), false)
            }
            (high, value) => (value, high.is_some()),
        };
        if lost {
            out.push(char::REPLACEMENT_CHARACTER);
        }
        match value {
            0xD800..=0xDBFF => *self = Unescape::High(value),
            _ => out.push(char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER)),
        }
    }
}
