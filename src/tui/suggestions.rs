//! Suggestions under an answer and on the welcome screen: Tab cycles them through an empty input,
//! Alt with a digit inserts one. They are only inserted, never sent.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::draw::{self, DrawContext};
use super::text;

/// One per digit.
const MOST: usize = 9;
const ROWS: u16 = 2;
const GAP: usize = 3;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suggestions {
    texts: Vec<String>,
    /// The one inserted last.
    last_inserted: Option<usize>,
}

impl Suggestions {
    /// New suggestions: cleaned, one line each.
    pub fn set<T: AsRef<str>>(&mut self, texts: &[T]) {
        self.texts = texts.iter().take(MOST).map(|text| text::single_line(text.as_ref())).collect();
        self.texts.retain(|text| !text.trim().is_empty());
        self.last_inserted = None;
    }

    /// The suggestion with this number, from 1.
    pub fn nth(&mut self, number: usize) -> Option<&str> {
        let at = number.checked_sub(1)?;
        let text = self.texts.get(at)?;
        self.last_inserted = Some(at);
        Some(text)
    }

    /// The suggestion after the one inserted last.
    pub fn next(&mut self) -> Option<&str> {
        let at = self.last_inserted.map_or(0, |at| (at + 1) % self.texts.len().max(1));
        self.nth(at + 1)
    }

    /// True when `input` is a suggestion as inserted.
    pub fn is_last_inserted(&self, input: &str) -> bool {
        self.last_inserted.and_then(|at| self.texts.get(at)).is_some_and(|text| text == input)
    }

    /// Rows needed in `width` columns: none without suggestions, two at most.
    pub fn rows(&self, width: u16) -> u16 {
        u16::try_from(self.layout(width).len()).unwrap_or(0)
    }

    pub fn draw(&self, area: Rect, buf: &mut Buffer, pen: &DrawContext<'_>) {
        for (y, row) in (area.y..area.bottom()).zip(self.layout(area.width)) {
            let mut line = Line::from("  ");
            for (at, text) in row {
                let style = if self.last_inserted == Some(at) {
                    pen.theme.selection
                } else {
                    pen.theme.text
                };
                line.spans.push(Span::styled(format!("{}", at + 1), pen.theme.accent));
                line.spans.push(Span::raw(" "));
                line.spans.push(Span::styled(text, style));
                line.spans.push(Span::raw(" ".repeat(GAP)));
            }
            draw::line(Rect { y, height: 1, ..area }, buf, 0, area.width.into(), &line);
        }
    }

    /// The content of each row.
    fn layout(&self, width: u16) -> Vec<Vec<(usize, String)>> {
        let room = usize::from(width).saturating_sub(3);
        let mut rows: Vec<Vec<(usize, String)>> = Vec::new();
        let mut used = room;
        for (at, text) in self.texts.iter().enumerate() {
            let text = text::elide_end(text, room.saturating_sub(2).min(48));
            let wide = text::width(&text) + 2;
            if used + GAP + wide > room {
                if rows.len() == usize::from(ROWS) {
                    break;
                }
                rows.push(Vec::new());
                used = 0;
            }
            used += wide + if used == 0 { 0 } else { GAP };
            if let Some(row) = rows.last_mut() {
                row.push((at, text));
            }
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tab_wraps_around() {
        let mut chips = Suggestions::default();
        chips.set(&["one", "two"]);
        assert_eq!(chips.next(), Some("one"));
        assert!(chips.is_last_inserted("one"));
        assert_eq!(chips.next(), Some("two"));
        assert_eq!(chips.next(), Some("one"));
        assert_eq!(chips.nth(3), None);
    }

    #[test]
    fn suggestions_take_two_rows_at_most() {
        let mut chips = Suggestions::default();
        chips.set(&["a rather long suggestion"; 9]);
        assert_eq!(chips.rows(40), 2);
        assert_eq!(chips.rows(0), chips.rows(1));
        chips.set::<&str>(&[]);
        assert_eq!(chips.rows(40), 0);
    }
}
