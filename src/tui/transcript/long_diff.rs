//! Lays out a diff too long to be laid out whole: it is measured once for a width, and only the
//! rows in view are laid out.

use ratatui::text::{Line as Row, Span};

use super::diff::{DiffLine, LineNumbers, layout_line, mark_changed_words, number_columns};
use super::paragraph::{LayoutContext, bar_prefixes};
use crate::i18n::Lang;
use crate::tui::theme::Theme;

/// Lines between two stops.
const STRIDE: usize = 64;

#[derive(Debug)]
pub struct LongDiff {
    text: String,
    width: usize,
    digits: usize,
    stops: Vec<Stop>,
    rows: usize,
}

/// A position from which layout can begin.
#[derive(Clone, Copy, Debug)]
struct Stop {
    byte: usize,
    row: usize,
    numbers: LineNumbers,
}

impl LongDiff {
    pub fn new(text: String, width: usize, theme: &Theme, lang: Lang) -> LongDiff {
        let width = width.max(1);
        let paper =
            LayoutContext { theme, lang, width, spinner: 0, elapsed_ms: 0, highlights: None };
        let digits = number_columns(&text, width);
        let bar: usize = bar_prefixes(&paper, width).0.iter().map(Span::width).sum();
        let room = width.saturating_sub(bar + digits).max(1);
        let (mut stops, mut rows, mut byte) = (Vec::new(), 0, 0);
        let mut numbers = LineNumbers::default();
        let lines = text.strip_suffix('\n').unwrap_or(&text).split('\n');
        for (at, line) in lines.enumerate() {
            if at % STRIDE == 0 {
                stops.push(Stop { byte, row: rows, numbers });
            }
            let (kind, number) = numbers.advance(line);
            let plain = line.len() <= room && line.bytes().all(|b| (b' '..=b'~').contains(&b));
            rows += match plain {
                true => 1,
                false => {
                    let line = DiffLine { kind, text: line, number, changed_words: Vec::new() };
                    layout_line(&line, digits, &paper, width).len()
                }
            };
            byte += line.len() + 1;
        }
        LongDiff { text, width, digits, stops, rows }
    }

    /// The number of its rows.
    pub fn height(&self) -> usize {
        self.rows
    }

    /// Lays out `take` rows from row `from` on.
    pub fn window(&self, from: usize, take: usize, theme: &Theme, lang: Lang) -> Vec<Row<'static>> {
        let paper = LayoutContext {
            theme,
            lang,
            width: self.width,
            spinner: 0,
            elapsed_ms: 0,
            highlights: None,
        };
        let at = self.stops.partition_point(|stop| stop.row <= from).saturating_sub(1);
        let Some(stop) = self.stops.get(at) else { return Vec::new() };
        let skip = from - stop.row;
        let text = self.text.strip_suffix('\n').unwrap_or(&self.text);
        let mut numbers = stop.numbers;
        // Each line takes at least one row.
        let behind = text.get(stop.byte..).unwrap_or_default().split('\n').take(skip + take);
        let mut lines: Vec<DiffLine<'_>> = behind
            .map(|text| {
                let (kind, number) = numbers.advance(text);
                DiffLine { kind, text, number, changed_words: Vec::new() }
            })
            .collect();
        mark_changed_words(&mut lines);
        let rows = lines.iter().flat_map(|line| layout_line(line, self.digits, &paper, self.width));
        rows.skip(skip).take(take).map(|strip| strip.line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::diff;
    use super::*;

    #[test]
    fn a_window_of_a_long_diff_equals_the_rows_of_a_whole_layout() {
        let theme = Theme::default();
        let mut text = String::from("@@ -1,900 +1,900 @@\n");
        for at in 0..900 {
            let long = "x\u{4e2d}".repeat(at % 90);
            text.push_str(&format!("-old {at} {long}\n+new\t{at} {long}\n"));
        }
        for width in [30, 76, 200] {
            let all = diff::rows(&text, width, &theme, Lang::En);
            let long = LongDiff::new(text.clone(), width, &theme, Lang::En);
            assert_eq!(long.height(), all.len(), "{width}");
            for from in [0, 1, 63, 700, all.len() - 20] {
                let window = long.window(from, 20, &theme, Lang::En);
                let plain = |rows: &[Row<'_>]| -> Vec<String> {
                    rows.iter().map(ToString::to_string).collect()
                };
                assert_eq!(plain(&window), plain(&all[from..from + 20]), "{width} {from}");
            }
        }
    }
}
