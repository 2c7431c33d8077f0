//! A titled block of lines, such as the answer of `/status`.

use super::paragraph::{
    Break, LayoutContext, Paragraph, StyledRow, layout_labelled, layout_sentence,
};
use crate::symbols::BULLET;
use crate::text;
use avocet_core::i18n::LocalizedText;
use avocet_core::protocol::PageRow;

/// A label wider than this pushes only the values of its own section to the right.
const LABEL: usize = 28;

pub(super) fn layout(
    localized_text: &LocalizedText,
    rows: &[PageRow],
    cx: &LayoutContext<'_>,
) -> Vec<StyledRow> {
    let theme = cx.theme;
    let widest = |rows: &[PageRow], most: usize| {
        let widths = rows.iter().filter_map(|row| label_width(row, cx));
        widths.filter(|width| *width <= most).max().unwrap_or_default()
    };
    let usual = widest(rows, LABEL);
    let of_section = |rows: &[PageRow]| {
        let end = rows.iter().position(|row| matches!(row, PageRow::Heading(_)));
        let section = rows.get(..end.unwrap_or(rows.len())).unwrap_or_default();
        usual.max(widest(section, cx.width / 2))
    };
    let mut indent = of_section(rows);
    let mut out = layout_sentence(localized_text, theme.markup.heading, cx);
    for (at, row) in rows.iter().enumerate() {
        match row {
            PageRow::Heading(text) => {
                indent = of_section(rows.get(at + 1..).unwrap_or_default());
                if out.len() > 1 {
                    out.push(StyledRow::default());
                }
                let text = text::single_line(&text.text(cx.lang));
                let para = Paragraph::styled(&text, theme.markup.strong);
                out.extend(para.rows(cx.width, Break::Words));
            }
            PageRow::Line(text) => {
                let para = Paragraph::value(text, theme.text, cx);
                if let Some(item) = para.text().strip_prefix(BULLET) {
                    let item = Paragraph::styled(item, theme.text);
                    out.extend(layout_labelled(BULLET.trim_end(), 2, &item, cx));
                    continue;
                }
                let is_prose = is_prose(para.text());
                let (width, by) = if is_prose {
                    (cx.prose_width(), Break::Words)
                } else {
                    (cx.width, Break::Columns)
                };
                out.extend(para.with_tabs_expanded().rows(width, by));
            }
            PageRow::Pair { label, value } => {
                let label = text::single_line(&label.text(cx.lang));
                let value = Paragraph::value(value, theme.text, cx);
                // A label without room beside it has a row of its own.
                let label = if text::width(&label) + 2 > indent {
                    let para = Paragraph::styled(&label, theme.dim);
                    out.extend(para.rows(cx.width, Break::Words));
                    String::new()
                } else {
                    label
                };
                out.extend(layout_labelled(&label, indent, &value, cx));
            }
        }
    }
    out
}

/// Whether a line is prose and not code, a diff or a table, whose columns have a meaning.
fn is_prose(text: &str) -> bool {
    !text.starts_with([' ', '\t', '+', '-', '@']) && !text.contains("  ")
}

fn label_width(row: &PageRow, cx: &LayoutContext<'_>) -> Option<usize> {
    match row {
        PageRow::Pair { label, .. } => {
            Some(text::width(&text::single_line(&label.text(cx.lang))) + 2)
        }
        PageRow::Heading(_) | PageRow::Line(_) => None,
    }
}
