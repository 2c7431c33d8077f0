//! Code in a block of its own: the language once, a line at the left, no word moved.

use ratatui::text::{Line, Span};

use super::super::paper::{Break, Paper, Para, Strip, prefixed};
use crate::tui::clean;

type Prefix = Vec<Span<'static>>;

/// Sets lines of code; `label` is the language, where the block begins.
pub(in super::super) fn set(
    code: &str,
    label: Option<&str>,
    paper: &Paper<'_>,
    width: usize,
) -> Vec<Strip> {
    let theme = paper.theme;
    let mut out = Vec::new();
    if let Some(label) = label.filter(|label| !label.is_empty() && width >= 8) {
        let room = width.saturating_sub(3);
        out.push(Strip::ours(Line::from(vec![
            Span::styled("┌─ ", theme.border),
            Span::styled(clean::elide_end(label, room), theme.dim),
        ])));
    }
    if code.is_empty() {
        return out;
    }
    let (bar, more) = bars(paper, width);
    let inner = width.saturating_sub(if bar.is_empty() { 0 } else { 2 }).max(1);
    for (number, line) in code.strip_suffix('\n').unwrap_or(code).split('\n').enumerate() {
        let para = coloured(number, line, paper).expanded();
        let rows = para.rows(inner, Break::Columns).into_iter().enumerate();
        out.extend(rows.map(|(at, row)| prefixed(if at == 0 { &bar } else { &more }, row)));
    }
    out
}

fn coloured(number: usize, line: &str, paper: &Paper<'_>) -> Para {
    let plain = paper.theme.markup.block;
    let Some(runs) = paper.paint.and_then(|paint| paint.runs(number, line)) else {
        return Para::styled(line, plain);
    };
    let mut para = Para::default();
    let mut start = 0;
    for (end, ink) in runs {
        let end = (*end).min(line.len());
        let text = line.get(start..end).unwrap_or_default();
        para.push(text, ink.style(plain, &paper.theme.markup.syntax));
        start = end;
    }
    para
}

/// The line at the left, and the one of rows that go on; none where they would take
/// the room of the code.
pub(in super::super) fn bars(paper: &Paper<'_>, width: usize) -> (Prefix, Prefix) {
    let bar = |text: &'static str| vec![Span::styled(text, paper.theme.border)];
    if width < 8 { (Vec::new(), Vec::new()) } else { (bar("│ "), bar("┆ ")) }
}
