//! A titled block of lines, such as the answer of `/status`.

use super::paragraph::{
    Break, LayoutContext, Paragraph, StyledRow, layout_labelled, layout_sentence,
};
use crate::i18n::LocalizedText;
use crate::protocol::PageRow;
use crate::tui::text;

/// A label wider than this does not push all other values to the right.
const LABEL: usize = 28;

pub(super) fn layout(
    title: &LocalizedText,
    rows: &[PageRow],
    paper: &LayoutContext<'_>,
) -> Vec<StyledRow> {
    let theme = paper.theme;
    let indent = rows.iter().filter_map(|row| label_width(row, paper)).max().unwrap_or_default();
    let mut out = layout_sentence(title, theme.markup.heading, paper);
    for row in rows {
        match row {
            PageRow::Heading(text) => {
                if out.len() > 1 {
                    out.push(StyledRow::default());
                }
                let text = text::single_line(&text.text(paper.lang));
                let para = Paragraph::styled(&text, theme.markup.strong);
                out.extend(para.rows(paper.width, Break::Words));
            }
            PageRow::Line(text) => {
                let text = text::sanitize(&text.text(paper.lang));
                let para = Paragraph::styled(&text, theme.text).with_tabs_expanded();
                let by = if is_prose(&text) { Break::Words } else { Break::Columns };
                out.extend(para.rows(paper.width, by));
            }
            PageRow::Pair { label, value } => {
                let label = text::single_line(&label.text(paper.lang));
                let value = text::sanitize(&value.text(paper.lang));
                let indent = indent.max(text::width(&label) + 2);
                out.extend(layout_labelled(&label, indent, &value, theme.text, paper));
            }
        }
    }
    out
}

/// Whether a line is prose and not code, a diff or a table, whose columns have a meaning.
fn is_prose(text: &str) -> bool {
    !text.starts_with([' ', '\t', '+', '-', '@']) && !text.contains("  ")
}

fn label_width(row: &PageRow, paper: &LayoutContext<'_>) -> Option<usize> {
    match row {
        PageRow::Pair { label, .. } => {
            Some(text::width(&text::single_line(&label.text(paper.lang))) + 2)
                .filter(|width| *width <= LABEL)
        }
        PageRow::Heading(_) | PageRow::Line(_) => None,
    }
}
