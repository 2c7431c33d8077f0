//! Is the terminal's background dark or light? Guessed from `COLORFGBG`, then told by
//! the terminal itself, when it answers OSC 11.
//!
//! The answer comes among the keys, some time or never, and crossterm reads it as keys:
//! Alt-`]`, then its characters one by one. The [`Listener`] takes exactly those out;
//! what only begins like an answer goes on as the keys it was.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What stands behind the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ground {
    #[default]
    Dark,
    Light,
}

/// How every answer goes on behind its `ESC ]`.
const HEAD: &str = "11;rgb:";
/// `11;rgb:ffff/ffff/ffff`, and some room for an alpha.
const LONGEST: usize = 32;

impl Ground {
    /// What `COLORFGBG` says, such as `15;0`: the last number is the background.
    pub fn of_variable(value: &str) -> Option<Ground> {
        let last = value.rsplit(';').next()?.trim();
        match last.parse::<u8>().ok()? {
            7 | 9..=15 => Some(Ground::Light),
            0..=6 | 8 => Some(Ground::Dark),
            _ => None,
        }
    }

    /// The theme `auto` puts on over it.
    pub fn theme(self) -> &'static str {
        match self {
            Ground::Dark => "dark",
            Ground::Light => "light",
        }
    }

    /// `11;rgb:1e1e/1e1e/1e1e`: each part has one to four digits.
    fn of_answer(text: &str) -> Option<Ground> {
        let mut parts = text.strip_prefix(HEAD)?.split('/').map(part);
        let (red, green, blue) = (parts.next()??, parts.next()??, parts.next()??);
        // How bright it looks: green counts most, blue hardly.
        let bright = 0.299 * red + 0.587 * green + 0.114 * blue;
        Some(if bright > 0.5 { Ground::Light } else { Ground::Dark })
    }
}

/// A part of a colour, from 0 to 1.
fn part(digits: &str) -> Option<f64> {
    let most =
        16_u32.checked_pow(u32::try_from(digits.len()).ok().filter(|n| (1..=4).contains(n))?)?;
    let value = u32::from_str_radix(digits, 16).ok()?;
    Some(f64::from(value) / f64::from(most - 1))
}

/// What a key turned out to be.
#[derive(Clone, Debug, PartialEq)]
pub enum Heard {
    /// Part of an answer, so far.
    Held,
    /// Keys after all, in their order.
    Keys(Vec<KeyEvent>),
    /// The last part of an answer; `None`: one that says nothing.
    Told(Option<Ground>),
}

/// Takes the terminal's answer out of the keys.
#[derive(Debug, Default)]
pub struct Listener {
    /// The keys that may be an answer, and what they say.
    held: Vec<KeyEvent>,
    said: String,
    last: Last,
}

/// What the last key was, where that matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Last {
    #[default]
    Other,
    /// An Esc, which may have been the first half of `ESC ]`.
    Escape,
    /// An Esc that ended an answer; its `\` may follow.
    End,
}

impl Listener {
    pub fn hear(&mut self, key: KeyEvent) -> Heard {
        let last = std::mem::take(&mut self.last);
        if self.held.is_empty() { self.begins(key, last) } else { self.goes_on(key) }
    }

    fn begins(&mut self, key: KeyEvent, last: Last) -> Heard {
        let plain = key.modifiers == KeyModifiers::NONE;
        let alt = key.modifiers == KeyModifiers::ALT;
        match key.code {
            KeyCode::Char('\\') if plain && last == Last::End => Heard::Held,
            KeyCode::Char(']') if alt || plain && last == Last::Escape => {
                self.held.push(key);
                Heard::Held
            }
            KeyCode::Esc => {
                self.last = Last::Escape;
                Heard::Keys(vec![key])
            }
            _ => Heard::Keys(vec![key]),
        }
    }

    fn goes_on(&mut self, key: KeyEvent) -> Heard {
        if key.code == KeyCode::Char(']') && key.modifiers == KeyModifiers::ALT {
            let released = self.give_up();
            self.held.push(key);
            return released;
        }
        if self.said.starts_with(HEAD) {
            let is_end = match (key.code, key.modifiers) {
                (KeyCode::Char('\\'), KeyModifiers::ALT) => true,
                (KeyCode::Char('g'), KeyModifiers::CONTROL) => true,
                (KeyCode::Esc, _) => {
                    self.last = Last::End;
                    true
                }
                _ => false,
            };
            if is_end {
                self.held.clear();
                return Heard::Told(Ground::of_answer(&std::mem::take(&mut self.said)));
            }
        }
        self.held.push(key);
        match key.code {
            KeyCode::Char(c) if key.modifiers == KeyModifiers::NONE => self.said.push(c),
            _ => return self.give_up(),
        }
        let fits = match self.said.strip_prefix(HEAD) {
            Some(color) => color.chars().all(|c| c.is_ascii_hexdigit() || c == '/'),
            None => HEAD.starts_with(&self.said),
        };
        if fits && self.said.len() <= LONGEST { Heard::Held } else { self.give_up() }
    }

    fn give_up(&mut self) -> Heard {
        self.said.clear();
        Heard::Keys(std::mem::take(&mut self.held))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The keys crossterm makes of these bytes: `~x` is Alt-x, `^` Esc, `$` Ctrl-G.
    fn keys(text: &str) -> Vec<KeyEvent> {
        let mut alt = false;
        let mut keys = Vec::new();
        for c in text.chars() {
            let modifiers = if alt { KeyModifiers::ALT } else { KeyModifiers::NONE };
            match c {
                '~' => alt = true,
                '^' => keys.push(KeyEvent::from(KeyCode::Esc)),
                '$' => keys.push(KeyEvent::new(KeyCode::Char('g'), KeyModifiers::CONTROL)),
                c => {
                    keys.push(KeyEvent::new(KeyCode::Char(c), modifiers));
                    alt = false;
                }
            }
        }
        keys
    }

    /// What comes through as keys, and what was told.
    fn heard(text: &str) -> (Vec<KeyEvent>, Vec<Option<Ground>>) {
        let (mut listener, mut through, mut told) = (Listener::default(), vec![], vec![]);
        for key in keys(text) {
            match listener.hear(key) {
                Heard::Held => {}
                Heard::Keys(keys) => through.extend(keys),
                Heard::Told(ground) => told.push(ground),
            }
        }
        (through, told)
    }

    #[test]
    fn an_answer_is_taken_out_of_what_is_typed() {
        let (dark, light) = (Some(Ground::Dark), Some(Ground::Light));
        let cases = [
            ("ab~]11;rgb:1e1e/1e1e/1e1e~\\c", "abc", dark),
            ("~]11;rgb:ffff/ffff/ffff$x", "x", light),
            ("~]11;rgb:f/f/e^\\x", "x", light),
            ("~]11;rgb:zz", "~]11;rgb:zz", None),
            ("~]52;c", "~]52;c", None),
            ("~]~]11", "~]", None),
        ];
        for (typed, through, told) in cases {
            let (heard, answers) = heard(typed);
            let expected = keys(through);
            assert_eq!(heard, expected, "{typed}");
            assert_eq!(answers.first().copied().flatten(), told, "{typed}");
        }
    }

    #[test]
    fn an_answer_that_was_cut_behind_its_escape_is_no_text() {
        let (through, told) = heard("^]11;rgb:fafa/fafa/fafa~\\");
        assert_eq!((through, told), (keys("^"), vec![Some(Ground::Light)]));
    }

    #[test]
    fn an_answer_that_says_nothing_is_no_text_either() {
        assert_eq!(heard("~]11;rgb:1e1e~\\"), (vec![], vec![None]));
    }

    #[test]
    fn the_variable_names_the_background_last() {
        let (dark, light) = (Some(Ground::Dark), Some(Ground::Light));
        let cases =
            [("15;0", dark), ("0;15", light), ("0;default;15", light), ("12;8", dark), ("x", None)];
        for (value, ground) in cases {
            assert_eq!(Ground::of_variable(value), ground, "{value}");
        }
    }
}
