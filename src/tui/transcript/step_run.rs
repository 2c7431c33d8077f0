//! The row for a run of steps.

use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::paragraph::{LayoutContext, StyledRow};
use super::time;
use crate::text;
use avocet_core::i18n::{Phrase, screen};

/// The row names steps only with so much room.
const MIN_ROOM: usize = 12;

/// The part of a step in the row of its run.
#[derive(Debug, Default)]
pub(super) enum StepRun {
    #[default]
    Alone,
    /// The first step has the row.
    First(Box<RunSummary>),
    /// The others have none.
    Later,
    /// The user wants to see each step.
    Unfolded,
}

#[derive(Debug, PartialEq)]
pub(super) struct RunSummary {
    pub steps: usize,
    pub duration_ms: u64,
    /// The first ones: the verb of a tool, its subject or the command, and what it found.
    pub names: Vec<(Option<Phrase>, String, Option<usize>)>,
}

impl RunSummary {
    /// `Explored 3 steps   read src/cart.rs, rg format! (3)   0.1 s`
    pub fn layout(&self, cx: &LayoutContext<'_>) -> StyledRow {
        let theme = cx.theme;
        let width = cx.prose_width();

        let said = screen::EXPLORED.with("n", self.steps).text(cx.lang);
        let verb = said.split_inclusive(' ').next().unwrap_or_default();
        let rest = said.get(verb.len()..).unwrap_or_default();
        let time = time::duration_text(self.duration_ms).text(cx.lang);
        let taken = text::width(&said) + text::width(&time) + 5;
        let mut spans = vec![
            Span::styled(verb.to_owned(), theme.text.add_modifier(Modifier::BOLD)),
            Span::styled(rest.to_owned(), theme.text),
        ];
        if let Some(room) = width.checked_sub(taken).filter(|room| *room >= MIN_ROOM) {
            let names = text::elide_end(&self.names(cx), room);
            spans.push(Span::styled(format!("   {names}"), theme.dim));
        }
        let line = Line::from(spans);
        let pad = width.saturating_sub(line.width() + text::width(&time));
        let mut spans = line.spans;
        spans.push(Span::raw(" ".repeat(pad)));
        spans.push(Span::styled(time, theme.dim));
        Line::from(spans).into()
    }

    fn names(&self, cx: &LayoutContext<'_>) -> String {
        let name = |(verb, subject, total): &(Option<Phrase>, String, Option<usize>)| {
            let verb = verb.map(|verb| cx.phrase(verb).to_lowercase() + " ");
            let total = total.map(|n| format!(" ({n})"));
            format!("{}{subject}{}", verb.unwrap_or_default(), total.unwrap_or_default())
        };
        let names: Vec<_> = self.names.iter().map(name).collect();
        names.join(cx.phrase(screen::COMMA))
    }
}
