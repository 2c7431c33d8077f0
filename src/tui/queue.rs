//! Messages that wait for the running turn to end: shown over the input, taken back
//! with Up. The session holds the queue; this is its picture.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::clean;
use super::paint::{self, Pen};
use crate::protocol::Op;
use crate::words::screen as words;

/// Messages that are shown; the others are counted.
const SHOWN: usize = 3;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Queue {
    texts: Vec<String>,
    /// Commands that run when the turn is over. They are never sent as text.
    later: Vec<String>,
}

impl Queue {
    pub fn set(&mut self, texts: Vec<String>) {
        self.texts = texts;
    }

    pub fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.later.is_empty()
    }

    /// A command for when the turn is over.
    pub fn later(&mut self, line: String) {
        self.later.push(line);
    }

    /// The commands that waited for the end of the turn.
    pub fn take_later(&mut self) -> Vec<String> {
        std::mem::take(&mut self.later)
    }

    /// The last one, to be edited, and what the session must know about it.
    pub fn take_last(&mut self) -> Option<(String, Option<Op>)> {
        if let Some(line) = self.later.pop() {
            return Some((line, None));
        }
        let text = self.texts.pop()?;
        Some((text, Some(Op::SetQueue { texts: self.texts.clone() })))
    }

    pub fn rows(&self) -> u16 {
        let all = self.texts.len() + self.later.len();
        u16::try_from(all.min(SHOWN) + usize::from(all > SHOWN)).unwrap_or(0)
    }

    pub fn draw(&self, area: Rect, buf: &mut Buffer, pen: &Pen<'_>) {
        let label = words::QUEUE_LABEL.text(pen.lang);
        let column = clean::width(label) + 2;
        let room = usize::from(area.width).saturating_sub(column + 3);
        let mut lines: Vec<Line<'static>> = self
            .texts
            .iter()
            .chain(&self.later)
            .take(SHOWN)
            .map(|text| {
                Line::styled(clean::elide_end(&text.replace('\n', " "), room), pen.theme.text)
            })
            .collect();
        if let Some(more) =
            (self.texts.len() + self.later.len()).checked_sub(SHOWN).filter(|more| *more > 0)
        {
            let more = words::QUEUE_MORE.with("n", more).text(pen.lang);
            lines.push(Line::from(Span::styled(more, pen.theme.dim)));
        }
        let lines = paint::labelled(label, pen.theme.dim, column, lines);
        let inner = Rect { x: area.x + 2, width: area.width.saturating_sub(2), ..area };
        paint::lines(inner, buf, &lines);
    }
}
