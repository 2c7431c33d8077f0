//! A change of a file in a question: the file, the size of the change, and the diff with every
//! character visible.

use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::rows::{DiffViewCache, Rows};
use crate::draw::DrawContext;
use crate::text;
use crate::transcript::{DiffForm, DiffView};
use avocet_core::i18n::{Phrase, screen as phrases};
use avocet_core::protocol::Change;

/// Rows of a diff that must be seen before it can be approved. The rest of a longer diff can be
/// scrolled to, or read in the file.
pub const MUST: usize = 400;

/// What is asked about it.
pub fn title(change: &Change) -> Phrase {
    match (&change.before, &change.after) {
        _ if !change.others.is_empty() => phrases::CHANGE_TITLE,
        (None, Some(_)) => phrases::CHANGE_TITLE_NEW,
        (Some(_), None) => phrases::CHANGE_TITLE_DELETED,
        _ => phrases::CHANGE_TITLE,
    }
}

/// How many lines it adds and removes.
pub fn counts(change: &Change, cx: &DrawContext<'_>) -> [Span<'static>; 2] {
    [
        Span::styled(format!("+{}", change.added), cx.theme.change.added),
        Span::styled(format!("-{}", change.removed), cx.theme.change.removed),
    ]
}

/// The file and the size of the change.
pub fn head_rows(change: &Change, width: usize, cx: &DrawContext<'_>) -> Vec<Line<'static>> {
    let name = text::single_line(&change.name());
    let bold = cx.theme.text.add_modifier(Modifier::BOLD);
    let name = match change.others.len() {
        0 => name,
        more => format!("{name} +{more}"),
    };
    let kind = match (&change.before, &change.after) {
        _ if !change.others.is_empty() => "",
        (None, _) => phrases::CHANGE_NEW.text(cx.lang),
        (_, None) => phrases::CHANGE_DELETED.text(cx.lang),
        _ => "",
    };
    let [added, removed] = counts(change, cx);
    let mut counts = vec![Span::raw("  "), added, Span::raw(" "), removed];
    if !kind.is_empty() {
        counts.push(Span::styled(format!("  {kind}"), cx.theme.dim));
    }
    let taken: usize = counts.iter().map(Span::width).sum();
    let mut rows = super::step_details::escaped_rows(name, bold, width, cx);
    match rows.last_mut() {
        Some(last) if last.width() + taken <= width => last.spans.extend(counts),
        _ => rows.push(Line::from(counts)),
    }
    rows
}

/// The head of the diff, and its rows.
pub fn rows(change: &Change, width: usize, cx: &DrawContext<'_>, diffs: &DiffViewCache) -> Rows {
    // The head already shows the name of a single file.
    let single = change.others.is_empty().then(|| change.diff.splitn(3, '\n').nth(2));
    let body = single.map_or(change.diff.as_str(), Option::unwrap_or_default);
    let mut rows = Rows::from(head_rows(change, width, cx));
    let form = if change.others.is_empty() { DiffForm::Change } else { DiffForm::AsWritten };
    let view = || DiffView::new(&escape_invisible(body), "", form, width, cx.theme);
    rows.push_diff(diffs.get_or_insert_with(change, width, view));
    if change.cut {
        rows.push(Line::styled(phrases::CHANGE_CUT.text(cx.lang), cx.theme.warn));
    }
    rows
}

/// Spells out invisible characters, except tabs and line ends.
fn escape_invisible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut start = 0;

    for (at, c) in text.char_indices() {
        if !matches!(c, ' '..='~' | '\n') && avocet_safety::is_hidden(c) {
            out.push_str(text.get(start..at).unwrap_or_default());
            out.extend(c.escape_unicode());
            start = at + c.len_utf8();
        }
    }
    out.push_str(text.get(start..).unwrap_or_default());
    out
}
