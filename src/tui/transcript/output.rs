//! The output of a command: cleaned, in the colours of the theme, and cut to what is worth showing.

use std::collections::VecDeque;

use ratatui::text::Span;

use super::paragraph::{
    Break, LayoutContext, Paragraph, StyledRow, bar_prefixes, layout_sentence, with_prefix,
};
use super::time;
use super::{diff, diff_view};
use crate::text::{GAP, width};
use avocet_core::i18n::screen;
use avocet_core::text::StyleRuns;
use avocet_present::outcome;
use avocet_safety::sanitize::{Cleaner, clean_styled, is_binary};

/// Rows shown of a running command.
const RUNNING: usize = 4;
/// Bytes kept of a running command's output.
const KEPT: usize = 8 * 1024;
/// Lines kept of a finished output, at each end.
const HEAD: usize = 60;
const TAIL: usize = 120;
/// Characters kept of one line.
const LINE: usize = 2_000;

/// The end of a running command's output.
#[derive(Debug)]
pub(super) struct Tail {
    cleaner: Cleaner,
    text: String,
}

impl Default for Tail {
    fn default() -> Tail {
        Tail { cleaner: Cleaner::with_styles(), text: String::new() }
    }
}

impl Tail {
    pub fn push(&mut self, chunk: &str) {
        self.cleaner.push(chunk, &mut self.text);
        if self.text.len() > 2 * KEPT {
            let from = self.text.len() - KEPT;
            let cut = (from..self.text.len()).find(|at| self.text.is_char_boundary(*at));
            let cut = cut.unwrap_or_default();
            self.text = self.text.split_off(cut);
            if let Some(styles) = self.cleaner.styles_mut() {
                styles.drop_front(cut);
            }
        }
    }

    pub fn layout(&self, cx: &LayoutContext<'_>) -> Vec<StyledRow> {
        if is_binary(&self.text) {
            return Vec::new();
        }
        let Some(styles) = self.cleaner.styles() else { return Vec::new() };
        let body = self.text.strip_suffix('\n').unwrap_or(&self.text);
        let from = body.rmatch_indices('\n').nth(RUNNING - 1).map_or(0, |(at, _)| at + 1);
        lines(&self.text, from, styles).map(|line| one_row(line, cx)).collect()
    }
}

/// A line of output.
#[derive(Clone, Copy, Debug)]
struct OutputLine<'a> {
    text: &'a str,
    /// Where it begins in the text of these styles.
    at: usize,
    styles: &'a StyleRuns,
}

/// The lines from a byte on.
fn lines<'a>(
    text: &'a str,
    from: usize,
    styles: &'a StyleRuns,
) -> impl Iterator<Item = OutputLine<'a>> {
    let mut next = from;
    text.get(from..).unwrap_or_default().split_inclusive('\n').map(move |line| {
        let at = next;
        next += line.len();
        OutputLine { text: line.strip_suffix('\n').unwrap_or(line), at, styles }
    })
}

impl OutputLine<'_> {
    fn paragraph(self, cx: &LayoutContext<'_>) -> Paragraph {
        let mut para = Paragraph::default();
        for (range, style) in self.styles.pieces(self.at..self.at + self.text.len()) {
            let piece = self.text.get(range.start - self.at..range.end - self.at);
            para.push(piece.unwrap_or_default(), cx.theme.program(cx.theme.dim, style));
        }
        para.with_tabs_expanded()
    }
}

/// Lines that are kept.
#[derive(Debug, Default)]
struct KeptLines {
    text: String,
    styles: StyleRuns,
}

impl KeptLines {
    /// The first characters of a line.
    fn push(&mut self, line: OutputLine<'_>) {
        let text = first_chars(line.text);
        for (range, style) in line.styles.pieces(line.at..line.at + text.len()) {
            self.styles.set(self.text.len() + range.start - line.at, style);
        }
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn lines(&self) -> impl Iterator<Item = OutputLine<'_>> {
        lines(&self.text, 0, &self.styles)
    }
}

/// The start and the end of a finished output.
#[derive(Debug, Default)]
pub(super) struct Excerpt {
    head: KeptLines,
    tail: KeptLines,
    /// Lines between them that were left out.
    left_out: usize,
    /// The output is a diff.
    diff: bool,
    /// Set for output that is not text: its size in bytes.
    binary: Option<usize>,
}

impl Excerpt {
    /// Whether lines of it are nowhere on the screen.
    pub(super) fn is_cut(&self) -> bool {
        self.left_out > 0
    }

    pub fn from_output(output: &str) -> Excerpt {
        if is_binary(output) {
            // Each byte that is not text became a replacement character of three bytes.
            let replaced = output.matches(char::REPLACEMENT_CHARACTER).count();
            let bytes = output.len() - replaced * (char::REPLACEMENT_CHARACTER.len_utf8() - 1);
            return Excerpt { binary: Some(bytes), ..Excerpt::default() };
        }
        let (text, styles) = clean_styled(output);
        let diff = diff::looks_like_diff(&text);
        let mut excerpt = Excerpt { diff, ..Excerpt::default() };
        let mut output_lines: VecDeque<OutputLine<'_>> = VecDeque::new();
        for (at, line) in lines(text.trim_end(), 0, &styles).enumerate() {
            if at < HEAD {
                excerpt.head.push(line);
                continue;
            }
            if output_lines.len() == TAIL {
                output_lines.pop_front();
                excerpt.left_out += 1;
            }
            output_lines.push_back(line);
        }
        output_lines.into_iter().for_each(|line| excerpt.tail.push(line));
        excerpt
    }

    pub fn is_empty(&self) -> bool {
        self.head.text.is_empty() && self.binary.is_none()
    }

    /// The number of its lines.
    pub fn line_count(&self) -> usize {
        self.head.lines().count() + self.left_out + self.tail.lines().count()
    }

    /// All that is kept, or its two ends in about `most` rows at most.
    pub fn layout(&self, most: usize, cx: &LayoutContext<'_>) -> Vec<StyledRow> {
        if let Some(bytes) = self.binary {
            let say = screen::OUTPUT_BINARY.with("n", time::group_digits(bytes as u64));
            return layout_sentence(&say, cx.theme.dim, cx);
        }
        let lines: Vec<OutputLine<'_>> = self.head.lines().chain(self.tail.lines()).collect();
        let (head, tail) = if lines.len() > most {
            (most / 2, most - most / 2)
        } else {
            (self.head.lines().count(), self.tail.lines().count())
        };
        let left_out = self.left_out + lines.len() - head - tail;
        let mut rows = Vec::new();
        rows.extend(self.lines(lines.get(..head).unwrap_or_default(), cx));
        if left_out > 0 {
            let say = screen::OUTPUT_LEFT_OUT.with("n", time::group_digits(left_out as u64));
            rows.extend(layout_sentence(&say, cx.theme.dim, cx));
        }
        rows.extend(self.lines(lines.get(lines.len() - tail..).unwrap_or_default(), cx));
        rows
    }

    fn lines(&self, lines: &[OutputLine<'_>], cx: &LayoutContext<'_>) -> Vec<StyledRow> {
        if !self.diff || lines.is_empty() {
            return lines.iter().flat_map(|line| all_rows(*line, cx)).collect();
        }
        // A diff has the colours of diffs.
        let texts: Vec<&str> = lines.iter().map(|line| line.text).collect();
        diff_view::layout(&texts.join("\n"), "", cx, cx.width)
    }

    /// The last lines, one row each.
    pub fn last(&self, rows: usize, cx: &LayoutContext<'_>) -> Vec<StyledRow> {
        let lines = self.head.lines().chain(self.tail.lines()).filter(|line| !line.text.is_empty());
        let lines: Vec<OutputLine<'_>> = lines.collect();
        let skipped = lines.len().saturating_sub(rows);
        lines.into_iter().skip(skipped).map(|line| one_row(line, cx)).collect()
    }
}

/// Findings, one row each: what begins a line is one, and what is indented belongs to it.
pub(super) fn finding_rows(lines: &[String], cx: &LayoutContext<'_>) -> Vec<StyledRow> {
    let found = Excerpt::from_output(&lines.join("\n"));
    let mut rows = Vec::new();
    for line in found.head.lines() {
        let mut row = one_row(line, cx);
        if !line.text.starts_with(' ') {
            brighten_dim(&mut row, cx);
        }
        rows.push(row);
    }
    rows
}

/// Output that matters has the colour of text where its program gave it none.
fn brighten_dim(row: &mut StyledRow, cx: &LayoutContext<'_>) {
    let plain = |span: &&mut Span<'_>| span.style == cx.theme.dim;
    row.line.spans.iter_mut().skip(1).filter(plain).for_each(|span| {
        span.style = cx.theme.text;
    });
}

/// Ends a row at the right edge with how many lines there are besides.
pub(super) fn add_more(rows: &mut [StyledRow], others: usize, cx: &LayoutContext<'_>) {
    let Some(last) = rows.last_mut().filter(|_| others > 0) else { return };
    let say = screen::MORE_LINES.with("n", time::group_digits(others as u64));
    let say = cx.localize(&say.with("steps", cx.steps_key));
    let taken = last.width() + crate::text::width(&say);
    if let Some(pad) = cx.prose_width().checked_sub(taken).filter(|pad| *pad >= 3) {
        last.line.spans.push(Span::styled(" ".repeat(pad), cx.theme.dim));
        last.line.spans.push(Span::styled(say, cx.theme.dim));
    }
}

/// The lines that say why it failed: from the first that names a failure on, else the last ones;
/// and how many others there are.
pub(super) fn telling_rows(
    excerpts: [&Excerpt; 2],
    most: usize,
    cx: &LayoutContext<'_>,
) -> Vec<StyledRow> {
    let lines = excerpts.iter().flat_map(|output| output.head.lines().chain(output.tail.lines()));
    let lines: Vec<OutputLine<'_>> = lines.filter(|line| outcome::is_told(line.text)).collect();
    let texts: Vec<&str> = lines.iter().map(|line| line.text).collect();
    let (shown, is_named) = outcome::telling_lines(&texts, most);
    let shown = lines.get(shown).unwrap_or_default();
    let mut rows: Vec<StyledRow> = shown.iter().map(|line| one_row(*line, cx)).collect();
    if let Some(first) = rows.first_mut().filter(|_| is_named) {
        brighten_dim(first, cx);
    }
    let left_out: usize = excerpts.iter().map(|output| output.left_out).sum();
    add_more(&mut rows, left_out + lines.len() - shown.len(), cx);
    rows
}

/// One row, truncated where the line is too long.
fn one_row(line: OutputLine<'_>, cx: &LayoutContext<'_>) -> StyledRow {
    let (bar, _) = bar_prefixes(cx, cx.width);
    let room = cx.prose_width().saturating_sub(bar.iter().map(Span::width).sum()).max(1);
    let para = line.paragraph(cx);
    let is_cut = para.widest() > room && room > width(GAP);
    let room = if is_cut { room - width(GAP) } else { room };
    let mut row = para.rows(room, Break::Columns).into_iter().next().unwrap_or_default();
    if is_cut {
        row.line.spans.push(Span::styled(GAP, cx.theme.dim));
    }
    with_prefix(&bar, row)
}

/// All rows of a line.
fn all_rows(line: OutputLine<'_>, cx: &LayoutContext<'_>) -> Vec<StyledRow> {
    let para = line.paragraph(cx);
    let (first, more) = bar_prefixes(cx, cx.width);
    let room = cx.width.saturating_sub(first.iter().map(Span::width).sum()).max(1);
    let rows = para.rows(room, Break::Columns).into_iter().enumerate();
    rows.map(|(at, row)| with_prefix(if at == 0 { &first } else { &more }, row)).collect()
}

fn first_chars(line: &str) -> &str {
    let end = line.char_indices().nth(LINE).map_or(line.len(), |(at, _)| at);
    line.get(..end).unwrap_or_default()
}
