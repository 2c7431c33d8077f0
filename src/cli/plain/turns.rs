//! The turns so far, as a list to go back to one of them.

use avocet_core::i18n::linear as w;
use avocet_core::protocol::{Event, Page, PageRow};
use avocet_core::text;

/// Turns that are remembered and listed at most.
const MAX_TURNS: usize = 20;
/// The longest text of a turn in the list, in characters.
const SHOWN: usize = 70;

/// The messages that began the latest turns, in order.
#[derive(Debug, Default)]
pub(super) struct TurnList(Vec<(u64, String)>);

impl TurnList {
    pub(super) fn add(&mut self, turn: u64, text: &str) {
        self.0.retain(|(known, _)| *known != turn);
        self.0.push((turn, text::cut(&text::one_line(text), SHOWN)));
        self.0.sort_by_key(|(turn, _)| *turn);
        let surplus = self.0.len().saturating_sub(MAX_TURNS);
        self.0.drain(..surplus);
    }

    /// Adds the turns of a resumed session.
    pub(super) fn add_all(&mut self, events: &[Event]) {
        for event in events {
            if let Event::TurnStarted { turn, text, .. } = event {
                self.add(*turn, text);
            }
        }
    }

    /// Removes this turn and those after it.
    pub(super) fn truncate(&mut self, from: u64) {
        self.0.retain(|(turn, _)| *turn < from);
    }

    /// The turns with the number that goes back to before each; `counted`: the last one first.
    /// `None`: there are none.
    pub(super) fn page(&self, counted: impl Iterator<Item = u64>) -> Option<Page> {
        let row = |(number, turn): (usize, u64)| {
            let (_, text) = self.0.iter().find(|(known, _)| *known == turn)?;
            Some(PageRow::pair(format!("/rewind {number}"), text.as_str()))
        };
        let mut rows: Vec<PageRow> = (1..).zip(counted).map_while(row).collect();
        if rows.is_empty() {
            return None;
        }
        rows.push(PageRow::line(w::REWIND_HOW));
        Some(Page { title: w::TURNS.into(), rows })
    }
}
