//! Finds secrets in tables: a heading names what the cells below it are.

use super::lines;
use super::names::{self, NameClass};
use super::values::SecretSpan;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

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

pub(super) fn find_in_tables(text: &str, spans: &mut Vec<SecretSpan>) {
    find_in_inserts(text, spans);
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
                spans.extend(heading.columns.iter().filter_map(|column| {
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

static INSERT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)insert\s+into\s+[^\s(]{1,128}\s*\((?P<names>[^()]{1,400})\)\s*values\s*").ok()
});

/// `INSERT INTO users (name, password) VALUES ('ann', '…'), …`
fn find_in_inserts(text: &str, spans: &mut Vec<SecretSpan>) {
    for found in INSERT.iter().flat_map(|insert| insert.captures_iter(text)) {
        let names = found.name("names").map_or("", |names| names.as_str()).split(',');
        let classes: Vec<Option<NameClass>> = names
            .map(|name| {
                names::classify(
                    name.trim_matches(|c: char| c.is_whitespace() || "`\"[]".contains(c)),
                )
            })
            .collect();
        let mut at = found.get(0).map_or(text.len(), |whole| whole.end());
        while classes.iter().any(Option::is_some)
            && text.get(at..).is_some_and(|it| it.starts_with('('))
        {
            let (row, end) = values_of_row(text, at + 1);
            for (value, class) in row.into_iter().zip(&classes) {
                spans.extend(class.and_then(|class| secret_in(text, &value, class, 0)));
            }
            let rest = text
                .get(end..)
                .unwrap_or_default()
                .trim_start_matches([')', ',', ' ', '\n', '\r', '\t']);
            at = text.len() - rest.len();
        }
    }
}

/// The values up to a closing bracket, without their quotes, and where that is.
fn values_of_row(text: &str, at: usize) -> (Vec<Range<usize>>, usize) {
    let mut values = Vec::new();
    let mut begin = at;
    let mut quoted = false;

    let rest = text.get(at..).unwrap_or_default();
    for (index, c) in rest.char_indices().map(|(index, c)| (at + index, c)) {
        quoted ^= c == '\'';
        if !quoted && (c == ',' || c == ')') {
            let value = text.get(begin..index).unwrap_or_default();
            let head = value.trim_start_matches([' ', '\'', '\n']);
            let start = index - head.len();
            values.push(start..start + head.trim_end_matches([' ', '\'', '\n']).len());
            begin = index + 1;
        }
        if !quoted && c == ')' || values.len() > CELLS {
            return (values, index);
        }
    }
    (values, text.len())
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
