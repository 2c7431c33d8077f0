//! The output of a command: cleaned, and cut to what is worth showing.

use std::collections::VecDeque;

use ratatui::text::{Line, Span};

use super::paragraph::{
    Break, LayoutContext, Paragraph, StyledRow, bar_prefixes, layout_sentence, with_prefix,
};
use super::time;
use super::{diff, diff_view};
use crate::i18n::screen;
use crate::safety::sanitize::{Cleaner, TextSource, clean, is_binary};
use crate::tui::text::elide_end;

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
        Tail { cleaner: Cleaner::new(TextSource::Command), text: String::new() }
    }
}

impl Tail {
    pub fn push(&mut self, chunk: &str) {
        self.cleaner.push(chunk, &mut self.text);
        if self.text.len() > 2 * KEPT {
            let from = self.text.len() - KEPT;
            let cut = (from..self.text.len()).find(|at| self.text.is_char_boundary(*at));
            self.text = self.text.split_off(cut.unwrap_or_default());
        }
    }

    pub fn layout(&self, paper: &LayoutContext<'_>) -> Vec<StyledRow> {
        if is_binary(&self.text) {
            return Vec::new();
        }
        let lines: Vec<&str> = self.text.lines().rev().take(RUNNING).collect();
        lines.into_iter().rev().map(|line| one_row(line, paper)).collect()
    }
}

/// The start and the end of a finished output.
#[derive(Debug, Default)]
pub(super) struct Excerpt {
    head: String,
    tail: String,
    /// Lines between them that were left out.
    left_out: usize,
    /// The output is a diff.
    diff: bool,
    /// Set for output that is not text: its size in bytes.
    binary: Option<usize>,
}

impl Excerpt {
    pub fn from_output(output: &str) -> Excerpt {
        if is_binary(output) {
            return Excerpt { binary: Some(output.len()), ..Excerpt::default() };
        }
        let text = clean(output, TextSource::Command);
        let diff = diff::looks_like_diff(&text);
        let mut out = Excerpt { diff, ..Excerpt::default() };
        let mut last: VecDeque<&str> = VecDeque::new();
        for (at, line) in text.trim_end().split('\n').enumerate() {
            let line = first_chars(line);
            if at < HEAD {
                out.head.push_str(line);
                out.head.push('\n');
                continue;
            }
            if last.len() == TAIL {
                last.pop_front();
                out.left_out += 1;
            }
            last.push_back(line);
        }
        out.tail = last.into_iter().flat_map(|line| [line, "\n"]).collect();
        if out.head == "\n" {
            out.head.clear();
        }
        out
    }

    pub fn is_empty(&self) -> bool {
        self.head.is_empty() && self.binary.is_none()
    }

    /// All that is kept, or its two ends in about `most` rows at most.
    pub fn layout(&self, most: usize, paper: &LayoutContext<'_>) -> Vec<StyledRow> {
        if let Some(bytes) = self.binary {
            let say = screen::OUTPUT_BINARY.with("n", time::group_digits(bytes as u64));
            return layout_sentence(&say, paper.theme.dim, paper);
        }
        let lines: Vec<&str> = self.head.lines().chain(self.tail.lines()).collect();
        let (head, tail) = match lines.len() > most {
            true => (most / 2, most - most / 2),
            false => (self.head.lines().count(), self.tail.lines().count()),
        };
        let left_out = self.left_out + lines.len() - head - tail;
        let mut rows = Vec::new();
        rows.extend(self.lines(lines.get(..head).unwrap_or_default(), paper));
        if left_out > 0 {
            let say = screen::OUTPUT_LEFT_OUT.with("n", time::group_digits(left_out as u64));
            rows.extend(layout_sentence(&say, paper.theme.dim, paper));
        }
        rows.extend(self.lines(lines.get(lines.len() - tail..).unwrap_or_default(), paper));
        rows
    }

    fn lines(&self, lines: &[&str], paper: &LayoutContext<'_>) -> Vec<StyledRow> {
        match self.diff && !lines.is_empty() {
            true => diff_view::layout(&lines.join("\n"), "", paper, paper.width),
            false => lines.iter().flat_map(|line| all_rows(line, paper)).collect(),
        }
    }

    /// The last lines, one row each.
    pub fn last(&self, rows: usize, paper: &LayoutContext<'_>) -> Vec<StyledRow> {
        let lines = self.head.lines().chain(self.tail.lines()).filter(|line| !line.is_empty());
        let lines: Vec<&str> = lines.collect();
        let skipped = lines.len().saturating_sub(rows);
        lines.into_iter().skip(skipped).map(|line| one_row(line, paper)).collect()
    }
}

/// The lines that say why it failed: from the first that names a failure on, else the last ones;
/// and how many others there are.
pub(super) fn telling_rows(
    outputs: [&Excerpt; 2],
    most: usize,
    paper: &LayoutContext<'_>,
) -> Vec<StyledRow> {
    let lines = outputs.iter().flat_map(|output| output.head.lines().chain(output.tail.lines()));
    let lines: Vec<&str> =
        lines.filter(|line| !line.trim().is_empty() && !is_noise(line)).collect();
    let named = (0..lines.len()).rev().max_by_key(|at| lines.get(*at).map(|line| weight(line)));
    let named = named.filter(|at| lines.get(*at).is_some_and(|line| weight(line) > 0));
    let from = named.unwrap_or(lines.len().saturating_sub(most));
    let shown = lines.get(from..(from + most).min(lines.len())).unwrap_or_default();
    let mut rows: Vec<StyledRow> = shown.iter().map(|line| one_row(line, paper)).collect();
    if let Some(first) = rows.first_mut().filter(|_| named.is_some()) {
        first.line.spans.iter_mut().skip(1).for_each(|span| span.style = paper.theme.text);
    }
    let left_out: usize = outputs.iter().map(|output| output.left_out).sum();
    let others = left_out + lines.len() - shown.len();
    if let Some(last) = rows.last_mut().filter(|_| others > 0) {
        let say = screen::MORE_LINES.with("n", time::group_digits(others as u64));
        let say = format!("   {}", paper.localize(&say));
        if last.width() + crate::tui::text::width(&say) <= paper.prose_width() {
            last.line.spans.push(Span::styled(say, paper.theme.dim));
        }
    }
    rows
}

/// Parts of lines that name a failure, the most telling first.
const FAILURES: &[&[&str]] = &[
    &["panicked at", "AssertionError", "Error: ", "Exception: ", "fatal: "],
    &["error: ", "error[", "error TS", ": error", "not found", "No such file", "cannot ", "denied"],
    &["FAILED", "FAIL:", "--- FAIL", "failed", "error", "Error"],
];
/// Parts of lines that only say that something failed.
const NOISE: &[&str] = &[
    "test result:",
    "to rerun pass",
    "could not compile",
    "aborting due to",
    "RUST_BACKTRACE",
    "A complete log of this run",
    "Compiling ",
    "warning: build failed",
];

fn is_noise(line: &str) -> bool {
    NOISE.iter().any(|part| line.contains(part))
}

fn weight(line: &str) -> usize {
    let names = |parts: &&[&str]| parts.iter().any(|part| line.contains(part));
    FAILURES.iter().position(names).map_or(0, |at| FAILURES.len() - at)
}

/// One row, truncated where the line is too long.
fn one_row(line: &str, paper: &LayoutContext<'_>) -> StyledRow {
    let (bar, _) = bar_prefixes(paper, paper.width);
    let room = paper.prose_width().saturating_sub(bar.iter().map(Span::width).sum()).max(1);
    with_prefix(&bar, Line::styled(elide_end(line, room), paper.theme.dim).into())
}

/// All rows of a line.
fn all_rows(line: &str, paper: &LayoutContext<'_>) -> Vec<StyledRow> {
    let para = Paragraph::styled(line, paper.theme.dim).with_tabs_expanded();
    let (first, more) = bar_prefixes(paper, paper.width);
    let room = paper.width.saturating_sub(first.iter().map(Span::width).sum()).max(1);
    let rows = para.rows(room, Break::Columns).into_iter().enumerate();
    rows.map(|(at, row)| with_prefix(if at == 0 { &first } else { &more }, row)).collect()
}

fn first_chars(line: &str) -> &str {
    let end = line.char_indices().nth(LINE).map_or(line.len(), |(at, _)| at);
    line.get(..end).unwrap_or_default()
}
