//! The welcome screen: what this is, the current folder, the model, and suggestions below.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::draw::{self, DrawContext};
use super::{status, text};
use crate::i18n::{Lang, Phrase, common, library, screen as words};
use crate::protocol::SessionInfo;

/// The first suggestions.
const SUGGESTIONS: &[Phrase] =
    &[words::START_TRY_CHANGED, words::START_TRY_FIND, common::RUN_TESTS];

pub fn suggestions(lang: Lang) -> Vec<&'static str> {
    SUGGESTIONS.iter().map(|word| word.text(lang)).collect()
}

/// `offers`: the suggestions are worth mentioning.
pub fn draw(
    area: Rect,
    buf: &mut Buffer,
    pen: &DrawContext<'_>,
    facts: &SessionInfo,
    offers: bool,
) {
    let width = usize::from(area.width).saturating_sub(4);
    let mut lines = lines(pen, facts, width);
    if offers {
        let offer = text::wrap(library::EXAMPLES_OFFERED.text(pen.lang), width);
        lines.push(Line::default());
        lines.extend(offer.into_iter().map(|line| Line::styled(line, pen.theme.dim)));
    }
    let room = usize::from(area.height);
    if lines.len() > room {
        lines.retain(|line| line.width() > 0);
    }
    let above = room.saturating_sub(lines.len()).min(1);
    let inner = Rect {
        x: area.x + 2.min(area.width),
        y: area.y + u16::try_from(above).unwrap_or(0),
        width: u16::try_from(width).unwrap_or(0),
        height: area.height.saturating_sub(u16::try_from(above).unwrap_or(0)),
    };
    draw::lines(inner, buf, &lines);
}

fn lines(pen: &DrawContext<'_>, facts: &SessionInfo, width: usize) -> Vec<Line<'static>> {
    let theme = pen.theme;
    let mut lines = vec![Line::from(vec![
        Span::styled("Avocet", theme.accent.add_modifier(Modifier::BOLD)),
        Span::styled(concat!("  ", env!("CARGO_PKG_VERSION")), theme.dim),
    ])];
    let about = text::wrap(words::START_ABOUT.text(pen.lang), width);
    lines.extend(about.into_iter().map(|line| Line::styled(line, theme.text)));
    lines.push(Line::default());
    let mut place =
        vec![Span::styled(text::elide_middle(&facts.cwd, width.saturating_sub(12)), theme.text)];
    if let Some(branch) = &facts.branch {
        place.push(Span::styled(format!("   {}", text::elide_middle(branch, 24)), theme.accent));
    }
    let labels =
        [common::FOLDER, common::MODEL, words::START_KEYS].map(|label| label.text(pen.lang));
    let column = labels.iter().map(|label| text::width(label)).max().unwrap_or(0) + 3;
    let [folder, model, keys] = labels;
    lines.extend(draw::label_lines(folder, theme.dim, column, vec![Line::from(place)]));
    lines.extend(draw::label_lines(
        model,
        theme.dim,
        column,
        answers(pen, facts, width.saturating_sub(column)),
    ));
    let are = text::wrap(words::START_KEYS_ARE.text(pen.lang), width.saturating_sub(column));
    let are = are.into_iter().map(|line| Line::styled(line, theme.text)).collect();
    lines.extend(draw::label_lines(keys, theme.dim, column, are));
    lines
}

/// The model; without one, how to get one.
fn answers(pen: &DrawContext<'_>, facts: &SessionInfo, width: usize) -> Vec<Line<'static>> {
    let mut lines = vec![Line::styled(status::model(facts, pen.lang), pen.theme.text)];
    if status::is_guide(facts) {
        let how = text::wrap(words::START_CONNECT.text(pen.lang), width);
        lines.extend(how.into_iter().map(|line| Line::styled(line, pen.theme.dim)));
    } else if !facts.base_url.is_empty() {
        lines.push(Line::styled(text::elide_middle(&facts.base_url, width), pen.theme.dim));
    }
    lines
}
