//! Sentences of the session name commands, some of which work only in the terminal: a chat says so.

use avocet_core::i18n::{Lang, chat as w};
use avocet_core::protocol::Availability;
use avocet_present::commands;

/// The text with a remark after each command between backquotes that does not work in a chat.
pub fn terminal_names(text: &str, lang: Lang) -> String {
    let mut out = text.split('`').next().unwrap_or_default().to_owned();
    // Of two neighbours the first is between backquotes every second time.
    for (at, (before, part)) in text.split('`').zip(text.split('`').skip(1)).enumerate() {
        out.push('`');
        if at % 2 == 1 && is_of_terminal(before) {
            out.push_str(w::IN_TERMINAL.text(lang));
        }
        out.push_str(part);
    }
    out
}

fn is_of_terminal(code: &str) -> bool {
    let name = code.strip_prefix('/').and_then(|line| line.split_whitespace().next());
    let row = name.and_then(commands::find);
    row.is_some_and(|row| matches!(row.reach, Availability::LocalOnly | Availability::ScreenOnly))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_the_terminal_are_named_as_such_and_the_others_are_left() {
        let said = terminal_names("`/fork` copies, `/new` starts; `/trust x`", Lang::En);
        let expected = "`/fork` (in the terminal) copies, `/new` starts; \
                        `/trust x` (in the terminal)";
        assert_eq!(said, expected);
        for text in ["`/fork", "/fork", "``/fork``", "`rm /trust`", ""] {
            assert_eq!(terminal_names(text, Lang::En), text);
        }
    }
}
