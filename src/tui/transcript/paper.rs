//! What blocks are set on: the width, the language, the colours; and the styled
//! paragraph they are set with.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::highlight::Painted;
use crate::tui::clean;
use crate::tui::theme::Theme;
use crate::words::{Lang, Say, Word};

/// Prose is not set wider than this, however wide the screen is.
const MEASURE: usize = 100;

/// All that setting a block reads beside the block itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paper<'a> {
    pub theme: &'a Theme,
    pub lang: Lang,
    /// Columns for text; at least 1.
    pub width: usize,
    pub spinner: usize,
    pub elapsed_ms: u64,
    /// The colours of the code that is set, where they are known.
    pub paint: Option<&'a Painted>,
}

impl Paper<'_> {
    /// Columns for prose.
    pub fn measure(&self) -> usize {
        self.width.min(MEASURE)
    }

    pub fn word(&self, word: Word) -> &'static str {
        word.text(self.lang)
    }

    /// A sentence with its values made safe.
    pub fn say(&self, say: &Say) -> String {
        clean::text(&say.text(self.lang))
    }
}

/// How a paragraph breaks into rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Break {
    Words,
    Columns,
}

/// Text in several styles, before it is broken into rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Para {
    text: String,
    /// Where each style ends.
    runs: Vec<(usize, Style)>,
}

impl Para {
    pub fn styled(text: &str, style: Style) -> Para {
        let mut para = Para::default();
        para.push(text, style);
        para
    }

    /// Adds text, cleaned: what a parser made of harmless text need not be harmless.
    pub fn push(&mut self, text: &str, style: Style) {
        self.text.push_str(&clean::text(text));
        match self.runs.last_mut() {
            Some((end, last)) if *last == style => *end = self.text.len(),
            _ => self.runs.push((self.text.len(), style)),
        }
    }

    /// Adds another paragraph at the end of this one.
    pub fn append(&mut self, other: &Para) {
        let start = self.text.len();
        self.text.push_str(&other.text);
        self.runs.extend(other.runs.iter().map(|(end, style)| (start + end, *style)));
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Columns of its widest line when nothing breaks.
    pub fn widest(&self) -> usize {
        self.text.split('\n').map(clean::width).max().unwrap_or_default()
    }

    /// Columns of its widest word.
    pub fn widest_word(&self) -> usize {
        self.text.split_whitespace().map(clean::width).max().unwrap_or_default()
    }

    pub fn rows(&self, width: usize, how: Break) -> Vec<Strip> {
        let mut out = Vec::new();
        let mut start = 0;
        for line in self.text.split('\n') {
            // Tabs are spaces by now, see `expanded`: offsets are those of the text.
            let rows = match how {
                Break::Words => clean::rows(line, width),
                Break::Columns => clean::cut(line, width),
            };
            let mut before = None;
            for row in rows {
                let blanks = before.map(|end| row.start.saturating_sub(end) as u16);
                before = Some(row.end);
                let line = self.slice(start + row.start, start + row.end, width);
                out.push(Strip { line, lead: 0, goes_on: blanks });
            }
            start += line.len() + 1;
        }
        out
    }

    /// The same with tabs as spaces.
    pub fn expanded(self) -> Para {
        if !self.text.contains('\t') {
            return self;
        }
        let mut out = Para::default();
        let mut start = 0;
        let mut column = 0;
        for (end, style) in self.runs {
            for c in self.text.get(start..end).unwrap_or_default().chars() {
                let spaces = if c == '\t' { clean::TAB - column % clean::TAB } else { 0 };
                out.text.extend(std::iter::repeat_n(' ', spaces));
                if c != '\t' {
                    out.text.push(c);
                }
                column = if c == '\n' { 0 } else { column + spaces.max(1) };
            }
            out.runs.push((out.text.len(), style));
            start = end;
        }
        out
    }

    fn slice(&self, start: usize, end: usize, width: usize) -> Line<'static> {
        let first = self.runs.partition_point(|(run_end, _)| *run_end <= start);
        let mut spans = Vec::new();
        let mut at = start;
        for (run_end, style) in self.runs.iter().skip(first) {
            if at >= end {
                break;
            }
            let stop = end.min(*run_end);
            let text = self.text.get(at..stop).unwrap_or_default();
            spans.push(Span::styled(text.to_owned(), *style));
            at = stop;
        }
        let line = Line::from(spans);
        // One cluster wider than the whole screen: only at a width of 1.
        if line.width() > width { Line::raw("?".repeat(width.min(1))) } else { line }
    }
}

/// One row as it is set: what stands in it, and what of that is not the source's.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Strip {
    pub line: Line<'static>,
    /// Columns at its left that are ours: bars and indentation. The greatest number: all.
    pub lead: u16,
    /// Set where it goes on with the line of the row above it: how many blanks of that
    /// line the break took.
    pub goes_on: Option<u16>,
}

impl Strip {
    /// A row that is ours from end to end, such as the frame of a table.
    pub fn ours(line: Line<'static>) -> Strip {
        Strip { line, lead: u16::MAX, goes_on: None }
    }

    pub fn is_ours(&self) -> bool {
        self.lead == u16::MAX
    }

    pub fn width(&self) -> usize {
        self.line.width()
    }
}

impl From<Line<'static>> for Strip {
    fn from(line: Line<'static>) -> Strip {
        Strip { line, lead: 0, goes_on: None }
    }
}

/// A row behind a prefix that is ours.
pub(super) fn prefixed(prefix: &[Span<'static>], row: Strip) -> Strip {
    let columns: usize = prefix.iter().map(Span::width).sum();
    let mut spans = prefix.to_vec();
    spans.extend(row.line.spans);
    Strip {
        line: Line::from(spans),
        lead: row.lead.saturating_add(columns as u16),
        goes_on: row.goes_on,
    }
}
