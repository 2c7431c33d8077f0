//! A titled block of lines, such as the answer of `/status`.

use ratatui::text::Line;

use super::block::{hanging, sentence};
use super::paper::{Break, Paper, Para};
use crate::tui::clean;
use crate::words::{Lang, Say, Value};

/// Labels wider than this do not push the values of all others to the right.
const LABEL: usize = 28;

/// One line of a page.
#[derive(Clone, Debug, PartialEq)]
pub enum Row {
    /// A sentence.
    Say(Say),
    /// A label and what it stands at; the values of a page stand below each other.
    Pair(Say, Value),
    /// A heading inside the page.
    Head(Say),
    /// Text as it is, columns kept.
    Text(String),
    Gap,
}

impl Row {
    pub fn pair(label: impl Into<Say>, value: impl Into<Value>) -> Row {
        Row::Pair(label.into(), value.into())
    }

    pub fn head(title: impl Into<Say>) -> Row {
        Row::Head(title.into())
    }

    pub fn text(text: impl Into<String>) -> Row {
        Row::Text(text.into())
    }
}

impl<S: Into<Say>> From<S> for Row {
    fn from(say: S) -> Row {
        Row::Say(say.into())
    }
}

pub(super) fn set(title: &Say, rows: &[Row], paper: &Paper<'_>) -> Vec<Line<'static>> {
    let theme = paper.theme;
    let indent = rows.iter().filter_map(|row| label_width(row, paper)).max().unwrap_or_default();
    let mut out = sentence(title, theme.markup.heading, paper);
    for row in rows {
        match row {
            Row::Say(say) => out.extend(sentence(say, theme.text, paper)),
            Row::Head(say) => out.extend(sentence(say, theme.markup.strong, paper)),
            Row::Text(text) => {
                let para = Para::styled(text, theme.text).expanded();
                out.extend(para.rows(paper.width, Break::Columns));
            }
            Row::Gap => out.push(Line::default()),
            Row::Pair(label, value) => {
                let label = clean::flat(&label.text(paper.lang));
                let value = clean::text(&value_text(value, paper.lang));
                let indent = indent.max(clean::width(&label) + 2);
                out.extend(hanging(&label, indent, &value, theme.text, paper));
            }
        }
    }
    out
}

fn label_width(row: &Row, paper: &Paper<'_>) -> Option<usize> {
    match row {
        Row::Pair(label, _) => Some(clean::width(&clean::flat(&label.text(paper.lang))) + 2)
            .filter(|width| *width <= LABEL),
        Row::Say(_) | Row::Head(_) | Row::Text(_) | Row::Gap => None,
    }
}

fn value_text(value: &Value, lang: Lang) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Say(say) => say.text(lang),
    }
}
