//! Prepares foreign text for cells: cleans, measures, wraps and shortens it.
//!
//! [`avocet_safety::sanitize`] decides which characters may be shown; this file deals with columns.
//! Widths are counted by grapheme cluster, here and nowhere else.

use std::ops::Range;

use ratatui::style::Style;
use ratatui::text::Line;
use unicode_segmentation::UnicodeSegmentation as _;

use avocet_safety::sanitize::{CarriageReturnMode, clean};

mod wrap;

use wrap::cells;
pub use wrap::{cut_ranges, wrap_ranges};

/// Columns between two tab stops.
pub(super) const TAB: usize = 4;
/// The mark for omitted text.
pub(super) const GAP: &str = super::symbols::ELLIPSIS;

/// One line in one style: line breaks shown as `\n`, tabs as spaces.
pub fn line(text: &str, style: Style) -> Line<'static> {
    Line::styled(single_line(text), style)
}

/// The text without hidden characters and cursor movements; line breaks and tabs are kept.
pub fn sanitize(text: &str) -> String {
    clean(text, CarriageReturnMode::EndsLine)
}

/// The text on one line: line breaks become `\n`, tabs spaces.
pub fn single_line(foreign: &str) -> String {
    expand_tabs(&sanitize(foreign).replace('\n', "\\n"))
}

/// The number of columns of a text.
pub fn width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.graphemes(true).map(cells).sum() }
}

/// Lines of at most `width` columns: broken at spaces and between wide characters;
/// no line starts with closing punctuation, none ends with opening.
pub fn wrap(foreign: &str, width: usize) -> Vec<String> {
    let mut out = Vec::new();
    for line in sanitize(foreign).split('\n') {
        let line = expand_tabs(line);
        out.extend(wrap_ranges(&line, width).into_iter().map(|row| fit(&line, row, width)));
    }
    out
}

/// One line of at most `width` columns; `…` replaces the middle of a longer text.
pub fn elide_middle(foreign: &str, columns: usize) -> String {
    let text = single_line(foreign);
    let gap = width(GAP);
    if width(&text) <= columns {
        return text;
    }
    if columns <= gap + 2 {
        return head(&text, columns).to_owned();
    }
    let kept = columns - gap;
    format!("{}{GAP}{}", head(&text, kept.div_ceil(2)), tail(&text, kept / 2))
}

/// One line of at most `width` columns; `…` replaces the end of a longer text.
pub fn elide_end(foreign: &str, columns: usize) -> String {
    let text = single_line(foreign);
    if width(&text) <= columns {
        return text;
    }
    match columns.checked_sub(width(GAP) + 1) {
        Some(kept) => format!("{}{GAP}", head(&text, kept + 1)),
        None => head(&text, columns).to_owned(),
    }
}

/// The same, cut after a word.
pub fn elide_words(foreign: &str, columns: usize) -> String {
    let text = single_line(foreign);
    if width(&text) <= columns {
        return text;
    }
    let room = columns.saturating_sub(width(GAP)).max(1);
    let first = wrap_ranges(&text, room).into_iter().next().unwrap_or(0..0);
    let kept = text.get(first).unwrap_or_default().trim_end_matches([' ', ',', '，', '、']);
    format!("{kept}{GAP}")
}

/// Replaces tabs by spaces, up to the next stop.
pub fn expand_tabs(line: &str) -> String {
    if !line.contains('\t') {
        return line.to_owned();
    }
    let mut out = String::new();
    let mut column = 0;
    for part in line.split_inclusive('\t') {
        let plain = part.strip_suffix('\t').unwrap_or(part);
        out.push_str(plain);
        column += width(plain);
        if plain.len() < part.len() {
            let spaces = TAB - column % TAB;
            out.extend(std::iter::repeat_n(' ', spaces));
            column += spaces;
        }
    }
    out
}

/// One row of its line, never wider than `width`: a character that is wider than the whole screen
/// is shown as `?`.
fn fit(line: &str, row: Range<usize>, columns: usize) -> String {
    let row = line.get(row).unwrap_or_default();
    if width(row) <= columns { row.to_owned() } else { "?".repeat(columns.min(1)) }
}

/// The longest start of `text` that fits into `columns`.
fn head(text: &str, columns: usize) -> &str {
    let mut used = 0;
    let fits = |cluster: &&str| {
        used += cells(cluster);
        used <= columns
    };
    let end: usize = text.graphemes(true).take_while(fits).map(str::len).sum();
    text.get(..end).unwrap_or_default()
}

/// The longest end of `text` that fits into `columns`.
fn tail(text: &str, columns: usize) -> &str {
    let mut used = 0;
    let fits = |cluster: &&str| {
        used += cells(cluster);
        used <= columns
    };
    let len: usize = text.graphemes(true).rev().take_while(fits).map(str::len).sum();
    text.get(text.len() - len..).unwrap_or_default()
}

#[cfg(test)]
mod tests;
