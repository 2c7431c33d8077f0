//! Lays out tables to fit: columns shrink and their cells wrap; where even that is too narrow,
//! every row becomes a small list of `name: value`.

use pulldown_cmark::Alignment;
use ratatui::text::{Line, Span};

use super::super::paragraph::{Break, LayoutContext, Paragraph, StyledRow};

/// Space between two columns.
const BETWEEN: usize = 3;
/// No column is shrunk below this for the sake of another.
const NARROW: usize = 8;
/// A table with more columns is not laid out as a table.
const COLUMNS: usize = 32;

#[derive(Debug, Default)]
pub(super) struct Table {
    pub alignments: Vec<Alignment>,
    /// The first row is the head.
    pub rows: Vec<Vec<Paragraph>>,
}

impl Table {
    pub fn layout(&self, cx: &LayoutContext<'_>, width: usize) -> Vec<StyledRow> {
        match self.widths(width) {
            Some(widths) => self.grid(&widths, cx),
            None => self.stack(cx, width),
        }
    }

    /// The widths of the columns; `None` where they do not fit.
    fn widths(&self, width: usize) -> Option<Vec<usize>> {
        let columns = self.rows.iter().map(Vec::len).max().filter(|n| *n > 0 && *n <= COLUMNS)?;
        let room = width.checked_sub(BETWEEN * (columns - 1))?;
        let most = |of: fn(&Paragraph) -> usize| -> Vec<usize> {
            (0..columns)
                .map(|at| {
                    self.rows.iter().filter_map(|row| row.get(at)).map(of).max().unwrap_or(0).max(1)
                })
                .collect()
        };
        let widths = most(Paragraph::widest);
        let least: Vec<usize> =
            most(Paragraph::widest_word).iter().map(|word| (*word).min(NARROW)).collect();
        if least.iter().sum::<usize>() > room {
            return None;
        }
        // The widest columns are cut to one width, the narrow ones keep theirs.
        let cut_to = |most: usize| {
            let pairs = widths.iter().zip(&least);
            pairs.map(|(width, least)| (*width).min(most.max(*least))).collect::<Vec<usize>>()
        };
        let total = |most: &usize| cut_to(*most).iter().sum::<usize>();
        let most = (1..=room).rev().find(|most| total(most) <= room)?;
        let mut left = room - total(&most);
        let mut cut = cut_to(most);
        for (cut, width) in cut.iter_mut().zip(&widths) {
            if left > 0 && *cut < *width {
                *cut += 1;
                left -= 1;
            }
        }
        Some(cut)
    }

    fn grid(&self, widths: &[usize], cx: &LayoutContext<'_>) -> Vec<StyledRow> {
        let rows: Vec<_> = self.rows.iter().map(|row| self.grid_row(row, widths, cx)).collect();
        // Rows of several lines need rules to stay distinct.
        let ruled = rows.iter().skip(1).any(|lines| lines.len() > 1);
        let mut out = Vec::new();
        for (at, lines) in rows.into_iter().enumerate() {
            if at == 1 || (ruled && at > 1) {
                out.push(StyledRow::decoration(rule(widths, cx)));
            }
            out.extend(lines);
        }
        out
    }

    fn grid_row(
        &self,
        row: &[Paragraph],
        widths: &[usize],
        cx: &LayoutContext<'_>,
    ) -> Vec<StyledRow> {
        let paragraph = Paragraph::default();
        let rows: Vec<Vec<StyledRow>> = widths
            .iter()
            .enumerate()
            .map(|(at, width)| row.get(at).unwrap_or(&paragraph).rows(*width, Break::Words))
            .collect();
        let height = rows.iter().map(Vec::len).max().unwrap_or(0);
        (0..height)
            .map(|line| {
                let mut row = StyledRow::default();
                for (at, width) in widths.iter().enumerate() {
                    if at > 0 {
                        let bar =
                            Span::styled(format!(" {} ", cx.theme.lines.bar()), cx.theme.border);
                        row.line.spans.push(bar);
                    }
                    let cell = rows[at].get(line).cloned().unwrap_or_default();
                    self.pad(at, cell, *width, at + 1 == widths.len(), &mut row);
                }
                row
            })
            .collect()
    }

    fn pad(
        &self,
        column: usize,
        styled_row: StyledRow,
        width: usize,
        last: bool,
        row: &mut StyledRow,
    ) {
        let free = width.saturating_sub(styled_row.width());
        let before = match self.alignments.get(column) {
            Some(Alignment::Right) => free,
            Some(Alignment::Center) => free / 2,
            Some(Alignment::Left | Alignment::None) | None => 0,
        };
        let spans = &mut row.line.spans;
        spans.push(Span::raw(" ".repeat(before)));
        let columns = spans.iter().map(Span::width).sum();
        row.links.extend(styled_row.links.iter().map(|link| link.shifted(columns)));
        spans.extend(styled_row.line.spans);
        if !last {
            spans.push(Span::raw(" ".repeat(free - before)));
        }
    }

    /// One `name: value` per line, with a rule between rows.
    fn stack(&self, cx: &LayoutContext<'_>, width: usize) -> Vec<StyledRow> {
        let mut out = Vec::new();
        let Some((head, rows)) = self.rows.split_first() else { return out };
        if rows.is_empty() {
            return head.iter().flat_map(|cell| cell.rows(width, Break::Words)).collect();
        }
        for (at, row) in rows.iter().enumerate() {
            if at > 0 {
                out.push(StyledRow::decoration(Line::styled(
                    cx.theme.lines.rule().repeat(width.min(8)),
                    cx.theme.border,
                )));
            }
            for (column, cell) in row.iter().enumerate() {
                let mut line = head.get(column).cloned().unwrap_or_default();
                if !line.is_empty() {
                    line.push(": ", cx.theme.dim);
                }
                line.append(cell);
                out.extend(line.rows(width, Break::Words));
            }
        }
        out
    }
}

fn rule(widths: &[usize], cx: &LayoutContext<'_>) -> Line<'static> {
    let columns = widths.iter().sum::<usize>() + BETWEEN * widths.len().saturating_sub(1);
    Line::styled(cx.theme.lines.rule().repeat(columns), cx.theme.border)
}
