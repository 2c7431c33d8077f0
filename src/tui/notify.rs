//! Notifies a user who is looking elsewhere: by a notification of the terminal, by its bell, or not
//! at all.

use super::text;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NotifyMethod {
    Off,
    #[default]
    Bell,
    /// `OSC 9 ; text`.
    Osc9,
    /// `OSC 777 ; notify ; title ; text`.
    Osc777,
}

/// Terminals that show notifications, by a part of their name in `TERM_PROGRAM` or `TERM`.
const KNOWN: &[(&str, NotifyMethod)] = &[
    ("iterm", NotifyMethod::Osc9),
    ("wezterm", NotifyMethod::Osc9),
    ("ghostty", NotifyMethod::Osc9),
    ("kitty", NotifyMethod::Osc9),
    ("foot", NotifyMethod::Osc777),
    ("rxvt", NotifyMethod::Osc777),
];

impl NotifyMethod {
    /// The method for a terminal with these names. Inside tmux and screen only the bell gets
    /// through, whatever the outer terminal is.
    pub fn for_terminal(program: &str, term: &str) -> NotifyMethod {
        let program = program.to_lowercase();
        let term = term.to_lowercase();

        if program == "tmux" || term.starts_with("tmux") || term.starts_with("screen") {
            return NotifyMethod::Bell;
        }
        let known = KNOWN.iter().find(|(name, _)| program.contains(name) || term.contains(name));
        known.map_or(NotifyMethod::Bell, |(_, ring)| *ring)
    }

    /// The sequence to write to the terminal.
    pub fn sequence(self, text: &str) -> String {
        let text = text::single_line(text).replace(char::is_control, " ");
        match self {
            NotifyMethod::Off => String::new(),
            NotifyMethod::Bell => "\x07".to_owned(),
            NotifyMethod::Osc9 => format!("\x1b]9;{text}\x07"),
            NotifyMethod::Osc777 => format!("\x1b]777;notify;Avocet;{text}\x07"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use avocet_core::i18n::screen as phrases;

    #[test]
    fn a_terminal_gets_a_sequence_it_supports() {
        let cases = [
            ("iTerm.app", "xterm-256color", NotifyMethod::Osc9),
            ("", "xterm-kitty", NotifyMethod::Osc9),
            ("", "foot", NotifyMethod::Osc777),
            ("tmux", "tmux-256color", NotifyMethod::Bell),
            ("ghostty", "screen-256color", NotifyMethod::Bell),
            ("Apple_Terminal", "xterm-256color", NotifyMethod::Bell),
        ];
        for (program, term, ring) in cases {
            assert_eq!(NotifyMethod::for_terminal(program, term), ring, "{program} {term}");
        }
    }

    #[test]
    fn fixed_texts_do_not_end_a_sequence() {
        for word in [phrases::RING_DONE, phrases::RING_ASKS] {
            for text in [word.en, word.zh] {
                assert!(!text.contains([';', '\x07', '\x1b']), "{text}");
            }
        }
    }
}
