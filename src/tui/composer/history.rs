//! The history of sent messages, for Up and Down. It is not saved here: the caller supplies the
//! entries and saves each new one.

use super::search::{HistorySearch, MAX_ENTRIES, SearchSource};

#[derive(Debug, Default)]
pub struct ComposerHistory {
    entries: Vec<String>,
    place: HistoryPosition,
    /// Set while it is searched.
    pub search: Option<HistorySearch>,
}

/// The position of Up and Down.
#[derive(Clone, Debug, Default)]
enum HistoryPosition {
    /// At the text being typed.
    #[default]
    Draft,
    /// At an entry; the text being typed is kept.
    Entry { at: usize, draft: String },
}

impl ComposerHistory {
    pub fn new(mut entries: Vec<String>) -> ComposerHistory {
        let over = entries.len().saturating_sub(MAX_ENTRIES);
        entries.drain(..over);
        ComposerHistory { entries, ..ComposerHistory::default() }
    }

    /// One entry back; `None` at the oldest. `now` is the text in the input.
    pub fn back(&mut self, now: &str) -> Option<String> {
        let (at, draft) = match &self.place {
            HistoryPosition::Draft => (self.entries.len().checked_sub(1)?, now.to_owned()),
            HistoryPosition::Entry { at, draft } => (at.checked_sub(1)?, draft.clone()),
        };
        self.place = HistoryPosition::Entry { at, draft };
        self.entries.get(at).cloned()
    }

    /// One entry forward, and at the end the text that was being typed.
    pub fn forward(&mut self) -> Option<String> {
        match std::mem::take(&mut self.place) {
            HistoryPosition::Draft => None,
            HistoryPosition::Entry { at, draft } => match self.entries.get(at + 1) {
                Some(entry) => {
                    self.place = HistoryPosition::Entry { at: at + 1, draft };
                    Some(entry.clone())
                }
                None => Some(draft),
            },
        }
    }

    /// Adds a sent message; the same one twice in a row is kept once.
    pub fn push(&mut self, text: String) {
        self.place = HistoryPosition::Draft;
        if self.entries.last() == Some(&text) {
            return;
        }
        self.entries.push(text);
        if self.entries.len() > MAX_ENTRIES {
            self.entries.remove(0);
        }
    }

    /// Returns to the text being typed, because it was changed.
    pub fn reset_position(&mut self) {
        self.place = HistoryPosition::Draft;
    }

    /// Searches it, over a text that is shown until there is a hit; again: the next hit in that
    /// direction.
    pub fn search(&mut self, source: SearchSource, lines: &[String]) {
        match &mut self.search {
            None => self.search = Some(HistorySearch::from_lines(lines.to_vec())),
            Some(search) => search.step(source, &self.entries),
        }
    }

    /// Adds text to the search.
    pub fn extend_search(&mut self, text: &str) {
        if let Some(search) = &mut self.search {
            search.add(text, &self.entries);
        }
    }

    pub fn shorten_search(&mut self) {
        if let Some(search) = &mut self.search {
            search.back(&self.entries);
        }
    }

    /// Ends the search; its hit.
    pub fn end_search(&mut self) -> Option<String> {
        self.search.take()?.current_entry(&self.entries).map(str::to_owned)
    }

    /// Oldest first.
    pub fn entries(&self) -> &[String] {
        &self.entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn back_and_forward_return_to_the_draft() {
        let mut history = ComposerHistory::new(vec!["one".into(), "two".into()]);
        assert_eq!(history.back("dra"), Some("two".into()));
        assert_eq!(history.back("two"), Some("one".into()));
        assert_eq!(history.back("one"), None);
        assert_eq!(history.forward(), Some("two".into()));
        assert_eq!(history.forward(), Some("dra".into()));
        assert_eq!(history.forward(), None);
    }

    #[test]
    fn the_same_message_twice_in_a_row_is_kept_once() {
        let mut history = ComposerHistory::new(vec!["old".into()]);
        history.push("new".into());
        history.push("new".into());
        assert_eq!(history.entries(), ["old", "new"]);
    }

    #[test]
    fn a_long_history_drops_its_oldest_entry() {
        let mut history = ComposerHistory::new((0..2_000).map(|n| n.to_string()).collect());
        history.push("last".into());
        assert_eq!(history.entries.len(), MAX_ENTRIES);
        assert_eq!(history.entries.last().map(String::as_str), Some("last"));
    }
}
