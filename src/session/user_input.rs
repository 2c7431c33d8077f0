//! What starts a turn, and how the queue shows it.

use avocet_core::protocol::{Prompt, QueuedMessage, SubmitId};

/// The input of a turn.
#[derive(Clone, Debug, PartialEq)]
pub enum UserInput {
    Text(String),
    Prompt(Box<Prompt>),
    /// A line for the user's own shell; `keep`: the model reads the result.
    Shell {
        line: String,
        keep: bool,
    },
}

/// An input that waits for its turn.
#[derive(Clone, Debug, PartialEq)]
pub struct QueuedInput {
    pub id: SubmitId,
    pub input: UserInput,
}

impl QueuedInput {
    pub fn shown(&self) -> QueuedMessage {
        QueuedMessage { id: self.id, text: self.input.as_typed() }
    }
}

/// The prefixes of a shell line, and of a message that begins with one.
const SHELL: &str = "!";
const SHELL_PRIVATE: &str = "!!";
const ESCAPE: char = '\\';

impl UserInput {
    /// The text as the user typed it.
    pub fn as_typed(&self) -> String {
        match self {
            UserInput::Text(text) if needs_escape(text) => format!("{ESCAPE}{text}"),
            UserInput::Text(text) => text.clone(),
            UserInput::Prompt(prompt) => prompt.shown.clone(),
            UserInput::Shell { line, keep: true } => format!("{SHELL}{line}"),
            UserInput::Shell { line, keep: false } => format!("{SHELL_PRIVATE}{line}"),
        }
    }

    /// The text of [`UserInput::as_typed`], without the files of a prompt.
    pub fn parse(text: String) -> UserInput {
        if let Some(line) = text.strip_prefix(SHELL_PRIVATE) {
            return UserInput::Shell { line: line.to_owned(), keep: false };
        }
        if let Some(line) = text.strip_prefix(SHELL) {
            return UserInput::Shell { line: line.to_owned(), keep: true };
        }
        match text.strip_prefix(ESCAPE) {
            Some(plain) if needs_escape(plain) => UserInput::Text(plain.to_owned()),
            _ => UserInput::Text(text),
        }
    }
}

/// Whether a message would be read as a shell line, or as one that was escaped.
fn needs_escape(text: &str) -> bool {
    text.trim_start_matches(ESCAPE).starts_with(SHELL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queued_message_is_restored_unchanged() {
        let shell = |line: &str, keep| UserInput::Shell { line: line.into(), keep };
        let text = |text: &str| UserInput::Text(text.into());
        for (words, shown) in [
            (shell("ls -l", true), "!ls -l"),
            (shell("ls", false), "!!ls"),
            (text("hello"), "hello"),
            // A message that only looks like a shell line never becomes one.
            (text("!important"), "\\!important"),
            (text("\\!x"), "\\\\!x"),
            (text("\\d+"), "\\d+"),
        ] {
            assert_eq!(words.as_typed(), shown);
            assert_eq!(UserInput::parse(shown.into()), words);
        }
    }
}
