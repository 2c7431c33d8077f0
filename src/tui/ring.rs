//! Notifies a user who is looking elsewhere: by a notification of the terminal, by its bell, or not
//! at all.

use super::clean;
use super::event::ScreenEffect;
use super::state::{State, WindowFocus};
use crate::words::{Phrase, screen as words};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ring {
    Off,
    #[default]
    Bell,
    /// `OSC 9 ; text`.
    Osc9,
    /// `OSC 777 ; notify ; title ; text`.
    Osc777,
}

/// Terminals that show notifications, by a part of their name in `TERM_PROGRAM` or `TERM`.
const KNOWN: &[(&str, Ring)] = &[
    ("iterm", Ring::Osc9),
    ("wezterm", Ring::Osc9),
    ("ghostty", Ring::Osc9),
    ("kitty", Ring::Osc9),
    ("foot", Ring::Osc777),
    ("rxvt", Ring::Osc777),
];

impl Ring {
    /// The method for a terminal with these names. Inside tmux and screen only the bell gets
    /// through, whatever the outer terminal is.
    pub fn of_terminal(program: &str, term: &str) -> Ring {
        let (program, term) = (program.to_lowercase(), term.to_lowercase());
        if program == "tmux" || term.starts_with("tmux") || term.starts_with("screen") {
            return Ring::Bell;
        }
        let known = KNOWN.iter().find(|(name, _)| program.contains(name) || term.contains(name));
        known.map_or(Ring::Bell, |(_, ring)| *ring)
    }

    /// The sequence to write to the terminal.
    pub fn sequence(self, text: &str) -> String {
        let text = clean::flat(text).replace(char::is_control, " ");
        match self {
            Ring::Off => String::new(),
            Ring::Bell => "\x07".to_owned(),
            Ring::Osc9 => format!("\x1b]9;{text}\x07"),
            Ring::Osc777 => format!("\x1b]777;notify;Avocet;{text}\x07"),
        }
    }
}

/// A long turn has ended.
pub fn done(state: &State) -> Vec<ScreenEffect> {
    ring(state, words::RING_DONE)
}

/// A question waits.
pub fn asks(state: &State) -> Vec<ScreenEffect> {
    ring(state, words::RING_ASKS)
}

fn ring(state: &State, text: Phrase) -> Vec<ScreenEffect> {
    let text = || text.text(state.dress.lang);
    match (state.person.attention, state.person.ring) {
        (WindowFocus::Here, _) | (WindowFocus::Elsewhere, Ring::Off) => Vec::new(),
        (WindowFocus::Elsewhere, ring) => vec![ScreenEffect::Ring(ring, text())],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_a_sequence_it_supports() {
        let cases = [
            ("iTerm.app", "xterm-256color", Ring::Osc9),
            ("", "xterm-kitty", Ring::Osc9),
            ("", "foot", Ring::Osc777),
            ("tmux", "tmux-256color", Ring::Bell),
            ("ghostty", "screen-256color", Ring::Bell),
            ("Apple_Terminal", "xterm-256color", Ring::Bell),
        ];
        for (program, term, ring) in cases {
            assert_eq!(Ring::of_terminal(program, term), ring, "{program} {term}");
        }
    }

    #[test]
    fn fixed_texts_end_no_sequence() {
        for word in [words::RING_DONE, words::RING_ASKS] {
            for text in [word.en, word.zh] {
                assert!(!text.contains([';', '\x07', '\x1b']), "{text}");
            }
        }
    }
}
