//! Who speaks in a chat.

use super::super::platform::{Incoming, UserId};
use super::super::quote::{quoted_by, quoted_lines};
use avocet_core::protocol::{Op, TurnOp};
use avocet_core::text::{cut, one_line};

/// Who speaks, as the gateway knows them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Speaker {
    pub id: UserId,
    pub name: String,
    pub is_admin: bool,
    /// Others speak here too, so the words go to the model with a name.
    pub is_in_group: bool,
    /// What the message answers, with the mark of words of others.
    pub quote: String,
}

impl Speaker {
    pub fn of(incoming: &Incoming, is_admin: bool) -> Speaker {
        let Incoming { sender, is_group, quote, .. } = incoming;
        let name = display_name(&sender.name);
        let quote = quote.as_ref().map(|quote| quoted_by(&quote.author, &quote.text));
        let quote = quote.unwrap_or_default();
        Speaker { id: sender.id.clone(), name, is_admin, is_in_group: *is_group, quote }
    }

    /// The words as the model gets them: after what they answer, and in a group after the name,
    /// which cannot end early.
    pub fn signed(&self, words: &str) -> String {
        let whole = format!("{}\n\n{words}", self.quote);
        let words = if self.quote.is_empty() { words } else { whole.trim_end() };
        if !self.is_in_group || words.trim().is_empty() {
            return words.to_owned();
        }
        let name = if self.name.trim().is_empty() { &self.id.0 } else { &self.name };
        let name = display_name(&name.replace(['[', ']'], ""));
        let words = words.trim_start();
        // The mark of words of others begins a line.
        let space = if quoted_lines(words).is_empty() { " " } else { "\n" };
        format!("[{name}]{space}{words}")
    }

    /// The same for the words that an operation of a command holds.
    pub fn signed_op(&self, op: Op) -> Op {
        match op {
            Op::Turn(TurnOp::Submit { text }) => {
                Op::Turn(TurnOp::Submit { text: self.signed(&text) })
            }
            Op::Turn(TurnOp::Steer { text }) => {
                Op::Turn(TurnOp::Steer { text: self.signed(&text) })
            }
            other => other,
        }
    }

    /// Every refusal is in the log: who was refused and what, without the words of the message.
    pub fn log_refusal(&self, what: &str) {
        tracing::warn!(user = ?self.id.0, what, "refused");
    }
}

/// A name that a user chose, for a sentence.
pub fn display_name(name: &str) -> String {
    cut(&one_line(&avocet_core::text::escape(name).text), 40)
}
