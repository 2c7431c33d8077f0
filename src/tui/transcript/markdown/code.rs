//! Lays out a code block: the language once, a bar at the left, the code unchanged.

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};
use ratatui::text::{Line, Span};

use super::super::diff::is_diff;
use super::super::diff_view;
use super::super::paragraph::{
    Break, LayoutContext, Paragraph, StyledRow, bar_prefixes, with_prefix,
};
use super::split::OPTIONS;
use crate::draw::MEASURE;
use crate::text;
use crate::theme::Theme;

/// Lines of code, and their context.
#[derive(Clone, Copy, Debug)]
pub struct CodeLines<'a> {
    pub code: &'a str,
    /// The lines above them in the same block.
    pub before: &'a str,
    /// The language, at the start of the block.
    pub label: Option<&'a str>,
    /// The index of the block among those laid out with the same cx.
    pub nth: usize,
}

/// Lays out lines of code or of a diff.
pub fn layout(
    code: &CodeLines<'_>,
    language: &str,
    cx: &LayoutContext<'_>,
    width: usize,
) -> Vec<StyledRow> {
    let theme = cx.theme;
    let CodeLines { code, before, label, nth } = *code;
    let mut out = Vec::new();
    let top = if theme.has_surfaces() { " " } else { theme.lines.bar_top() };
    if let Some(label) = label.filter(|label| !label.is_empty() && width >= 8) {
        let room = width.saturating_sub(2);
        out.push(StyledRow::decoration(Line::from(vec![
            Span::styled(format!("{top} "), theme.border),
            Span::styled(text::elide_end(label, room), theme.dim),
        ])));
    }
    if is_diff(language) && !code.is_empty() {
        out.extend(diff_view::layout(code, before, cx, width));
        return out;
    }
    if code.is_empty() {
        return on_surface(out, width, theme);
    }
    let (bar, more) = bar_prefixes(cx, width);
    let inner = width.saturating_sub(if bar.is_empty() { 0 } else { 2 }).max(1);
    for (number, line) in code.strip_suffix('\n').unwrap_or(code).split('\n').enumerate() {
        let para = highlighted_line(nth, number, line, cx).with_tabs_expanded();
        let rows = para.rows(inner, Break::Columns).into_iter().enumerate();
        out.extend(rows.map(|(at, row)| with_prefix(if at == 0 { &bar } else { &more }, row)));
    }
    on_surface(out, width, theme)
}

/// Code is as wide as prose, or as wide as there is room once a line of it is wider.
fn on_surface(rows: Vec<StyledRow>, width: usize, theme: &Theme) -> Vec<StyledRow> {
    let is_wide = rows.iter().any(|row| row.width() > MEASURE);
    let columns = if is_wide { width } else { width.min(MEASURE) };
    rows.into_iter().map(|row| row.filled(columns, theme.panel.surface)).collect()
}

/// A line of code in its colours, as far as they are known.
pub fn highlighted_line(
    nth: usize,
    number: usize,
    line: &str,
    cx: &LayoutContext<'_>,
) -> Paragraph {
    let plain = cx.theme.markup.block;
    let Some(runs) = cx.highlight(nth).and_then(|paint| paint.runs(number, line)) else {
        return Paragraph::styled(line, plain);
    };
    let mut para = Paragraph::default();
    let mut start = 0;
    for (end, ink) in runs {
        let end = (*end).min(line.len());
        let text = line.get(start..end).unwrap_or_default();
        para.push(text, ink.style(plain, &cx.theme.markup.syntax));
        start = end;
    }
    para
}

/// Code blocks inside a piece of prose, such as those in a list: language and code, in layout
/// order.
pub fn nested_code_blocks(source: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open: Option<(String, String)> = None;
    if !source.contains("```") && !source.contains("~~~") {
        return found;
    }
    for event in Parser::new_ext(source, OPTIONS) {
        match (event, &mut open) {
            (Event::Start(Tag::CodeBlock(kind)), _) => {
                let info = match &kind {
                    CodeBlockKind::Fenced(info) => info.split_whitespace().next(),
                    CodeBlockKind::Indented => None,
                };
                open = Some((info.unwrap_or_default().to_owned(), String::new()));
            }
            (Event::Text(text), Some((_, code))) => code.push_str(&text),
            (Event::End(TagEnd::CodeBlock), _) => {
                found.extend(open.take().map(|(language, code)| (language, text::sanitize(&code))));
            }
            _ => {}
        }
    }
    found
}
