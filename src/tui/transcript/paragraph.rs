//! What blocks are laid out with: the width, the language, the colours, and the styled paragraph.

use std::ops::Range;
use std::rc::Rc;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::highlight::{HighlightCache, HighlightedCode};
use crate::Millis;
use crate::draw::MEASURE;
use crate::picture::{CellSize, PictureSize};
use crate::symbols::BAR_ON;
use crate::text;
use crate::theme::Theme;
use avocet_core::i18n::{Lang, LocalizedText, Phrase, PhraseValue, SentencePart, model};

/// Marks an offset that already refers to the new text, while tabs are replaced.
const MOVED: usize = 1 << 62;

/// All that layout reads besides the block itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct LayoutContext<'a> {
    pub theme: &'a Theme,
    pub lang: Lang,
    /// The key that unfolds steps.
    pub steps_key: &'a str,
    /// Columns for text; at least 1.
    pub width: usize,
    pub elapsed_ms: u64,
    /// Since the screen began.
    pub now: Millis,
    /// The size of a cell, where images are shown as pictures.
    pub cell: Option<CellSize>,
    /// The colours of code known so far, and the part being laid out.
    pub highlights: Option<(&'a HighlightCache, (usize, usize))>,
}

impl LayoutContext<'_> {
    /// Columns for prose.
    pub fn prose_width(&self) -> usize {
        self.width.min(MEASURE)
    }

    /// The colours of the `nth` block of code in the current part.
    pub fn highlight(&self, nth: usize) -> Option<&HighlightedCode> {
        let (paints, (block, part)) = self.highlights?;
        paints.get((block, part, nth))
    }

    pub fn phrase(&self, phrase: Phrase) -> &'static str {
        phrase.text(self.lang)
    }

    /// A part of a sentence; without colours the backticks around code have to stay.
    fn part_text(&self, part: &SentencePart) -> String {
        let is_plain = self.theme.markup.code == Style::new();
        let text = text::sanitize(&part.text);
        if part.is_code && is_plain { format!("`{text}`") } else { text }
    }

    /// A sentence with its values made safe to print.
    pub fn localize(&self, localized_text: &LocalizedText) -> String {
        text::sanitize(&localized_text.text(self.lang))
    }
}

/// How a paragraph is broken into rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Break {
    Words,
    Columns,
}

/// Text in several styles, before it is broken into rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Paragraph {
    text: String,
    /// Where each style ends.
    runs: Vec<(usize, Style)>,
    /// Stretches that link to an address.
    links: Vec<(Range<usize>, Rc<str>)>,
}

impl Paragraph {
    pub fn styled(text: &str, style: Style) -> Paragraph {
        let mut para = Paragraph::default();
        para.push(text, style);
        para
    }

    /// A sentence of ours: the code that it names has the colour of code, and what it quotes of a
    /// server is dim.
    pub fn sentence(text: &LocalizedText, style: Style, cx: &LayoutContext<'_>) -> Paragraph {
        let theme = cx.theme;
        let code_style = Style { bg: theme.panel.surface.bg, ..style.patch(theme.markup.code) };
        let mut para = Paragraph::default();
        for part in text.parts(cx.lang) {
            para.push(&cx.part_text(&part), if part.is_code { code_style } else { style });
        }
        if let Some(range) = server_words(text, &para.text, cx) {
            para.restyle(range, cx.theme.dim);
        }
        para
    }

    /// A sentence of ours, or text as it is.
    pub fn value(value: &PhraseValue, style: Style, cx: &LayoutContext<'_>) -> Paragraph {
        match value {
            PhraseValue::Text(text) => Paragraph::styled(text, style),
            PhraseValue::Say(say) => Paragraph::sentence(say, style, cx),
        }
    }

    fn restyle(&mut self, range: Range<usize>, style: Style) {
        let mut from = 0;
        for (end, old) in std::mem::take(&mut self.runs) {
            let ends = [(end.min(range.start), old), (end.min(range.end), style), (end, old)];
            for run in ends {
                if run.0 > from {
                    from = run.0;
                    self.runs.push(run);
                }
            }
        }
    }

    /// Adds text after cleaning it: a parser can turn harmless text into text that is not.
    pub fn push(&mut self, text: &str, style: Style) {
        self.text.push_str(&text::sanitize(text));
        match self.runs.last_mut() {
            Some((end, last)) if *last == style => *end = self.text.len(),
            _ => self.runs.push((self.text.len(), style)),
        }
    }

    /// Links the text from a byte on to an address.
    pub fn link(&mut self, from: usize, address: Option<Rc<str>>) {
        if let Some(address) = address
            && from < self.text.len()
        {
            self.links.push((from..self.text.len(), address));
        }
    }

    /// Appends another paragraph.
    pub fn append(&mut self, paragraph: &Paragraph) {
        let start = self.text.len();
        let moved = |range: &Range<usize>| start + range.start..start + range.end;
        self.links.extend(paragraph.links.iter().map(|(range, to)| (moved(range), Rc::clone(to))));
        self.text.push_str(&paragraph.text);
        self.runs.extend(paragraph.runs.iter().map(|(end, style)| (start + end, *style)));
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Columns of its widest line when nothing is broken.
    pub fn widest(&self) -> usize {
        self.text.split('\n').map(text::width).max().unwrap_or_default()
    }

    /// Columns of its widest word.
    pub fn widest_word(&self) -> usize {
        self.text.split_whitespace().map(text::width).max().unwrap_or_default()
    }

    /// The number of its rows when they are cut at the edge.
    pub fn count_rows(&self, width: usize) -> usize {
        self.text.split('\n').map(|line| text::cut_ranges(line, width).len()).sum()
    }

    pub fn rows(&self, width: usize, how: Break) -> Vec<StyledRow> {
        let mut out = Vec::new();
        let mut start = 0;
        for line in self.text.split('\n') {
            // Tabs are already spaces, see `with_tabs_expanded`: offsets refer to that text.
            let rows = match how {
                Break::Words => text::wrap_ranges(line, width),
                Break::Columns => text::cut_ranges(line, width),
            };
            let mut before = None;
            for row in rows {
                let blanks = before.map(|end| row.start.saturating_sub(end) as u16);
                before = Some(row.end);
                let from = start + row.start;
                let to = start + row.end;

                let line = self.slice(from, to, width);
                let links = self.links_in(from, to);

                out.push(StyledRow {
                    line,
                    prefix_columns: 0,
                    continuation_spaces: blanks,
                    links,
                    ..StyledRow::default()
                });
            }
            start += line.len() + 1;
        }
        out
    }

    /// The same paragraph with tabs as spaces.
    pub fn with_tabs_expanded(self) -> Paragraph {
        if !self.text.contains('\t') {
            return self;
        }
        let mut paragraph = Paragraph { links: self.links, ..Paragraph::default() };
        let mut start = 0;
        let mut column = 0;
        for (end, style) in self.runs {
            for (at, c) in self.text.get(start..end).unwrap_or_default().char_indices() {
                paragraph.move_offsets(start + at);
                let spaces = if c == '\t' { text::TAB - column % text::TAB } else { 0 };
                paragraph.text.extend(std::iter::repeat_n(' ', spaces));
                if c != '\t' {
                    paragraph.text.push(c);
                }
                column = if c == '\n' { 0 } else { column + spaces.max(1) };
            }
            paragraph.runs.push((paragraph.text.len(), style));
            start = end;
        }
        paragraph.move_offsets(start);
        for (range, _) in &mut paragraph.links {
            *range = range.start & !MOVED..range.end & !MOVED;
        }
        paragraph
    }

    /// Moves the offsets at `from` to the end of the new text.
    fn move_offsets(&mut self, from: usize) {
        let to = self.text.len() | MOVED;
        for (range, _) in &mut self.links {
            if range.start == from {
                range.start = to;
            }
            if range.end == from {
                range.end = to;
            }
        }
    }

    /// The links of a stretch, in columns from its start.
    fn links_in(&self, from: usize, to: usize) -> Vec<LinkColumns> {
        let column = |at: usize| {
            let before = self.text.get(from..at).unwrap_or_default();
            u16::try_from(text::width(before)).unwrap_or(u16::MAX)
        };
        let inside = |(range, address): &(Range<usize>, Rc<str>)| {
            let start = range.start.max(from);
            let end = range.end.min(to);

            let address = Rc::clone(address);
            (start < end).then(|| LinkColumns { columns: column(start)..column(end), address })
        };
        self.links.iter().filter_map(inside).collect()
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
        // A single cluster wider than the whole screen: only possible at a width of 1.
        if line.width() > width { Line::raw("?".repeat(width.min(1))) } else { line }
    }
}

/// A laid-out row, with the columns of it that are not from the source.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct StyledRow {
    pub line: Line<'static>,
    /// Columns at the left that are decoration: bars and indentation. `u16::MAX`: the whole row.
    pub prefix_columns: u16,
    /// Set where the row continues the line of the row above: the number of spaces of that line
    /// lost at the break.
    pub continuation_spaces: Option<u16>,
    /// The links in the row.
    pub links: Vec<LinkColumns>,
    /// What is painted behind some of its columns.
    pub fill: Option<RowFill>,
    /// Set in the first row of a picture: which of the block's attachments it shows.
    pub picture: Option<(usize, PictureSize)>,
}

/// A background that goes on where the text of a row ends.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RowFill {
    pub columns: Range<u16>,
    pub style: Style,
}

/// Columns that link to an address.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LinkColumns {
    pub columns: Range<u16>,
    pub address: Rc<str>,
}

impl LinkColumns {
    pub fn shifted(&self, by: usize) -> LinkColumns {
        let by = u16::try_from(by).unwrap_or(u16::MAX);
        let Range { start, end } = self.columns;
        let columns = start.saturating_add(by)..end.saturating_add(by);
        LinkColumns { columns, address: Rc::clone(&self.address) }
    }
}

impl RowFill {
    fn shifted(self, by: usize) -> RowFill {
        let by = u16::try_from(by).unwrap_or(u16::MAX);
        let Range { start, end } = self.columns;
        RowFill { columns: start.saturating_add(by)..end.saturating_add(by), ..self }
    }
}

impl StyledRow {
    /// The row with a background behind its first `columns`.
    pub fn filled(mut self, columns: usize, style: Style) -> StyledRow {
        let columns = 0..u16::try_from(columns).unwrap_or(u16::MAX);
        self.fill = style.bg.map(|_| RowFill { columns, style });
        self
    }

    /// A row that is all decoration, such as the frame of a table.
    pub fn decoration(line: Line<'static>) -> StyledRow {
        StyledRow { line, prefix_columns: u16::MAX, ..StyledRow::default() }
    }

    pub fn is_decoration(&self) -> bool {
        self.prefix_columns == u16::MAX
    }

    pub fn width(&self) -> usize {
        self.line.width()
    }

    /// As a line that paints its own background up to its end.
    pub fn into_padded_line(self) -> Line<'static> {
        let columns = self.fill.as_ref().map_or(0, |fill| usize::from(fill.columns.end));
        self.padded_to(columns)
    }

    /// As a line of at least `width` columns, with its background in all of its spans.
    pub fn padded_to(self, width: usize) -> Line<'static> {
        let columns = self.width();
        let (start, style) =
            self.fill.map_or((0, Style::new()), |fill| (fill.columns.start.into(), fill.style));
        let mut at = 0;
        let mut line = self.line;
        for span in &mut line.spans {
            if at >= start {
                span.style = style.patch(span.style);
            }
            at += span.width();
        }
        line.spans.push(Span::styled(" ".repeat(width.saturating_sub(columns)), style));
        line
    }
}

impl From<Line<'static>> for StyledRow {
    fn from(line: Line<'static>) -> StyledRow {
        StyledRow { line, ..StyledRow::default() }
    }
}

/// A row with a decorative prefix in front of it.
pub(super) fn with_prefix(prefix: &[Span<'static>], row: StyledRow) -> StyledRow {
    let columns: usize = prefix.iter().map(Span::width).sum();
    let mut spans = prefix.to_vec();
    spans.extend(row.line.spans);
    StyledRow {
        line: Line::from(spans),
        prefix_columns: row.prefix_columns.saturating_add(columns as u16),
        continuation_spaces: row.continuation_spaces,
        links: row.links.iter().map(|link| link.shifted(columns)).collect(),
        fill: row.fill.map(|fill| fill.shifted(columns)),
        picture: None,
    }
}

/// A sentence about the row above it, indented.
pub(super) fn layout_note(note: &LocalizedText, cx: &LayoutContext<'_>) -> Vec<StyledRow> {
    layout_indented(Paragraph::sentence(note, cx.theme.dim, cx), cx)
}

pub(super) fn layout_indented(para: Paragraph, cx: &LayoutContext<'_>) -> Vec<StyledRow> {
    let indent = [Span::raw("  ")];
    let width = cx.prose_width().saturating_sub(2).max(1);
    let rows = para.with_tabs_expanded().rows(width, Break::Words);
    rows.into_iter().map(|row| with_prefix(&indent, row)).collect()
}

pub(super) fn layout_sentence(
    text: &LocalizedText,
    style: Style,
    cx: &LayoutContext<'_>,
) -> Vec<StyledRow> {
    let para = Paragraph::sentence(text, style, cx);
    para.with_tabs_expanded().rows(cx.prose_width(), Break::Words)
}

/// A label with text hanging to its right.
pub(super) fn layout_labelled(
    label: &str,
    indent: usize,
    paragraph: &Paragraph,
    cx: &LayoutContext<'_>,
) -> Vec<StyledRow> {
    let indent = if indent + 8 > cx.prose_width() { 0 } else { indent };
    let room = (cx.prose_width() - indent).max(1);
    let pad = indent.saturating_sub(text::width(label));
    let first = vec![Span::styled(format!("{label}{}", " ".repeat(pad)), cx.theme.dim)];
    let rest = vec![Span::raw(" ".repeat(indent))];
    let mut para = Paragraph::default();
    if indent == 0 {
        para.push(label, cx.theme.dim);
    }
    para.append(paragraph);
    let rows = para.with_tabs_expanded().rows(room, Break::Words).into_iter().enumerate();
    rows.map(|(at, row)| match (indent, at) {
        (0, _) => row,
        // The label is text: what is copied or printed keeps it.
        (_, 0) => {
            let prefix_columns = row.prefix_columns;
            StyledRow { prefix_columns, ..with_prefix(&first, row) }
        }
        _ => with_prefix(&rest, row),
    })
    .collect()
}

/// Where a sentence quotes a server, beside our own words for it.
fn server_words(
    localized_text: &LocalizedText,
    sentence: &str,
    cx: &LayoutContext<'_>,
) -> Option<Range<usize>> {
    let shown = |say: &LocalizedText| -> String {
        say.parts(cx.lang).iter().map(|part| cx.part_text(part)).collect()
    };
    let says = localized_text.find(model::SAYS)?;
    let PhraseValue::Say(ours) = says.value("what")? else { return None };
    let whole = shown(says);
    let theirs = whole.strip_prefix(&shown(ours))?;
    let from = sentence.rfind(theirs)?;
    Some(from..from + theirs.len())
}

/// What is at the left of code and output, in first rows and in continuation rows: a bar, or its
/// space where code is on a surface. Nothing where it would take the space of the code.
pub(super) fn bar_prefixes(
    cx: &LayoutContext<'_>,
    width: usize,
) -> (Vec<Span<'static>>, Vec<Span<'static>>) {
    let bar = |mark: &str| vec![Span::styled(format!("{mark} "), cx.theme.border)];
    let first = if cx.theme.has_surfaces() { " " } else { cx.theme.lines.bar() };
    if width < 8 { (Vec::new(), Vec::new()) } else { (bar(first), bar(BAR_ON)) }
}
