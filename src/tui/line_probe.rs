//! Whether solid lines take one column on this terminal.
//!
//! Their width is ambiguous, so only the terminal knows it: before the first frame some are written
//! on a row that the frame then covers, and the terminal is asked where its cursor is. Its answer
//! arrives among the keys, sooner or later or never; until then lines are dashes.

use super::symbols::LineStyle;

/// The row of the probe. Not the first one: a terminal reports F3 with a modifier held as an answer
/// from there would be.
const ROW: u16 = 2;
/// One of each solid line.
fn lines() -> String {
    let solid = LineStyle::Solid;
    [solid.rule(), solid.heavy(), solid.bar(), solid.bar_top()].concat()
}

/// Where the cursor is after them, if each takes one column.
const NARROW: u16 = 5;

/// What asks the terminal, and leaves nothing on it.
pub fn query() -> String {
    format!("\x1b[{ROW};1H{}\x1b[6n\x1b[2K", lines())
}

/// Parses `CSI row;column R`.
pub fn from_csi(text: &str, last: u8) -> Option<LineStyle> {
    let (row, column) = text.split_once(';').filter(|_| last == b'R')?;
    let (row, column): (u16, u16) = (row.parse().ok()?, column.parse().ok()?);
    match column {
        _ if row != ROW => None,
        NARROW => Some(LineStyle::Solid),
        _ => Some(LineStyle::Dashed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_solid_where_all_of_them_took_one_column() {
        let cases = [
            ("2;5", b'R', Some(LineStyle::Solid)),
            ("2;9", b'R', Some(LineStyle::Dashed)),
            ("2;6", b'R', Some(LineStyle::Dashed)),
            // Shift-F3, and what answers nothing.
            ("1;2", b'R', None),
            ("2;5", b'S', None),
            ("2", b'R', None),
            ("2;x", b'R', None),
            ("?2;5", b'R', None),
        ];
        for (text, last, lines) in cases {
            assert_eq!(from_csi(text, last), lines, "{text}");
        }
    }

    #[test]
    fn the_probe_expects_the_column_after_all_solid_lines() {
        assert_eq!(usize::from(NARROW), lines().chars().count() + 1);
        assert!(query().contains(&lines()) && !query().contains('\n'), "{:?}", query());
    }
}
