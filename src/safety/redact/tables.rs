//! Finds secrets in tables: a heading names what the cells below it are.

use super::lines;
use super::names::{self, NameClass};
use super::values::SecretSpan;
use std::ops::Range;

/// The most cells and the longest heading that count.
const CELLS: usize = 64;
const HEADING: usize = 400;

/// What separates the cells of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ruling {
    Mark(char),
    /// Two blanks or more.
    Blanks,
}

const RULINGS: [Ruling; 5] =
    [Ruling::Mark('|'), Ruling::Mark('\t'), Ruling::Mark(','), Ruling::Mark(';'), Ruling::Blanks];

/// What separates the cells of a table, the columns that hold secrets, and how many there are.
#[derive(Clone, Debug)]
struct Heading {
    ruling: Ruling,
    columns: Vec<SecretColumn>,
    count: usize,
}

#[derive(Clone, Debug)]
struct SecretColumn {
    class: NameClass,
    index: usize,
    /// Where its name begins in the heading.
    place: usize,
}

pub(super) fn find_in_tables(text: &str, hits: &mut Vec<SecretSpan>) {
    let mut at = 0;
    let mut table: Option<Heading> = None;
    for line in text.split_inclusive('\n') {
        let begin = at;
        at += line.len();
        let line = line.trim_end();
        if let Some(heading) = &table {
            if is_rule(line) {
                continue;
            }
            let cells = cells(line, heading.ruling);
            let is_row = cells.len() == heading.count;
            // An empty cell leaves no trace among blanks: the place tells.
            if is_row || heading.ruling == Ruling::Blanks && cells.len() > 1 {
                hits.extend(heading.columns.iter().filter_map(|column| {
                    let cell = if is_row {
                        cells.get(column.index)?
                    } else {
                        cells.iter().find(|cell| cell.start == column.place)?
                    };
                    secret_in(line, cell, column.class, begin)
                }));
                continue;
            }
            table = None;
        }
        if let Some(heading) = heading(line) {
            table = Some(heading);
        }
    }
}

fn heading(line: &str) -> Option<Heading> {
    if line.len() > HEADING || !names::may_name_secret(line) {
        return None;
    }
    RULINGS.iter().find_map(|ruling| {
        let cells = cells(line, *ruling);
        if !(2..=CELLS).contains(&cells.len()) {
            return None;
        }
        let names: Vec<&str> = cells.iter().filter_map(|cell| line.get(cell.clone())).collect();
        names.iter().all(|name| is_name(name)).then_some(())?;
        let columns = names.iter().zip(&cells).enumerate();
        let columns: Vec<_> = columns
            .filter_map(|(index, (name, cell))| {
                let class = names::classify(&name.replace(' ', "_"))?;
                Some(SecretColumn { class, index, place: cell.start })
            })
            .collect();
        let count = cells.len();
        (!columns.is_empty()).then_some(Heading { ruling: *ruling, columns, count })
    })
}

/// A heading is a word or a few, not a statement of a language.
fn is_name(cell: &str) -> bool {
    cell.len() <= 40
        && cell.split(' ').count() <= 3
        && cell.chars().all(|c| c.is_alphanumeric() || "_-. #/()".contains(c))
        && !cell.contains("()")
}

/// The line below a heading.
fn is_rule(line: &str) -> bool {
    line.is_empty() || line.chars().all(|c| "-+|=: ─┼│┌┐└┘├┤┬┴━╪╞╡".contains(c))
}

/// The places of the cells of a row, without blanks and quotes around them.
fn cells(line: &str, ruling: Ruling) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let (mut begin, mut quoted) = (0, false);
    let mut push = |range: Range<usize>| {
        let cell = line.get(range.clone()).unwrap_or_default();
        let around = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '*');
        let head = cell.trim_start_matches(around);
        let start = range.end - head.len();
        out.push(start..start + head.trim_end_matches(around).len());
    };
    match ruling {
        Ruling::Mark(mark) => {
            for (at, c) in line.char_indices() {
                quoted ^= c == '"';
                if c == mark && !quoted || mark == '|' && c == '│' {
                    push(begin..at);
                    begin = at + c.len_utf8();
                }
            }
            push(begin..line.len());
        }
        Ruling::Blanks => {
            let bytes = line.as_bytes();
            let mut at = line.len() - line.trim_start().len();
            begin = at;
            while at < bytes.len() {
                let blanks = bytes[at..].iter().take_while(|byte| **byte == b' ').count();
                if blanks >= 2 {
                    push(begin..at);
                    begin = at + blanks;
                }
                at += blanks.max(1);
            }
            push(begin..line.len());
        }
    }
    if ruling == Ruling::Mark('|') {
        // A table may have a frame.
        out.retain(|cell| !cell.is_empty() || cell.start > 1 && cell.end + 1 < line.len());
    }
    out
}

fn secret_in(line: &str, cell: &Range<usize>, class: NameClass, at: usize) -> Option<SecretSpan> {
    let value = line.get(cell.clone())?;
    let span = SecretSpan::named(class, at + cell.start, at + cell.end);
    lines::is_cell_secret(class, value).then_some(span)
}
