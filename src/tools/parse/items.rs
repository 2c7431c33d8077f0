//! What readers of output share: the finished command, and the list of items that they fill.

use serde_json::Value;

use avocet_core::protocol::ParsedOutput;

/// The number of listed items at most; the total is counted on.
pub(super) const MAX_ITEMS: usize = 50;

/// Characters of one text in an item.
pub(super) const MAX_TEXT: usize = 240;

/// A command that has run, and its output.
#[derive(Clone, Copy, Debug)]
pub struct FinishedCommand<'a> {
    pub program: &'a str,
    pub args: &'a [String],
    pub stdout: &'a str,
    pub stderr: &'a str,
    /// `None` when it was ended by a signal.
    pub exit: Option<i32>,
    /// False when the middle of an output is missing.
    pub whole: bool,
}

/// A list that counts on when it is full.
#[derive(Debug, Default)]
pub(super) struct Items {
    pub total: usize,
    items: Vec<Value>,
}

impl Items {
    pub fn push(&mut self, item: Value) {
        self.total += 1;
        if self.items.len() < MAX_ITEMS {
            self.items.push(item);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// `None` for an empty list, unless an empty one says something.
    pub fn unless_empty(self, says_something: bool) -> Option<Items> {
        (says_something || !self.is_empty()).then_some(self)
    }

    pub fn into_parsed(self, kind: &str) -> ParsedOutput {
        ParsedOutput { kind: kind.to_owned(), total: self.total, items: self.items }
    }
}

impl FromIterator<Value> for Items {
    fn from_iter<I: IntoIterator<Item = Value>>(items: I) -> Items {
        let mut out = Items::default();
        items.into_iter().for_each(|item| out.push(item));
        out
    }
}

/// The text, cut where it is too long for an item.
pub(super) fn clip(text: &str) -> String {
    avocet_core::text::cut(text.trim_end(), MAX_TEXT)
}

/// An object of the fields that are there.
pub(super) fn object<const N: usize>(fields: [(&str, Option<Value>); N]) -> Value {
    let there = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(there.collect())
}
