//! Drawing helpers for every area: rules with text on them, and lines between two columns.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Widget as _};

use super::keymap::Keymap;
use super::symbols::LineStyle;
use super::theme::Theme;
use super::{Millis, text};
use avocet_core::i18n::Lang;

/// Text and keys are not laid out wider than this, however wide the screen is; commands, code and
/// diffs are.
pub const MEASURE: usize = 100;
/// Columns of a panel left free on either side: the first has the bar.
pub const MARGIN: u16 = 2;

/// What every area needs for drawing.
#[derive(Clone, Copy, Debug)]
pub struct DrawContext<'a> {
    pub theme: &'a Theme,
    pub lang: Lang,
    pub now: Millis,
    /// The keys to name in hints.
    pub keymap: &'a Keymap,
}

/// Draws a line between two columns of the first row of `area`, counted from its left.
/// Nothing is drawn past either.
pub fn line(area: Rect, buf: &mut Buffer, from: usize, to: usize, line: &Line<'_>) {
    let from = u16::try_from(from).unwrap_or(u16::MAX).min(area.width);
    let to = u16::try_from(to).unwrap_or(u16::MAX).min(area.width);
    if area.height > 0 && from < to {
        buf.set_line(area.x + from, area.y, line, to - from);
    }
}

/// Clears `area` to the background of the theme.
pub fn clear(area: Rect, buf: &mut Buffer, theme: &Theme) {
    Clear.render(area, buf);
    buf.set_style(area, theme.text);
}

/// Sets the colours of a blank frame. With `set_style` this would be a tenth of the cost of a
/// frame.
pub fn fill(buf: &mut Buffer, style: Style) {
    for cell in &mut buf.content {
        cell.fg = style.fg.unwrap_or(cell.fg);
        cell.bg = style.bg.unwrap_or(cell.bg);
        cell.modifier.insert(style.add_modifier);
    }
}

/// Paints a panel behind what is drawn in `area`: its surface, and a bar in the first column. Where
/// panels are not painted, this does nothing.
pub fn panel(area: Rect, buf: &mut Buffer, theme: &Theme, style: Style) {
    surface(area, buf, theme);
    if theme.has_surfaces() {
        buf.set_style(Rect { width: area.width.min(1), ..area }, style);
    }
}

/// The same without a bar.
pub fn surface(area: Rect, buf: &mut Buffer, theme: &Theme) {
    if theme.has_surfaces() {
        paint_behind(area, buf, theme, theme.surface);
    }
}

/// Gives the cells of `area` that have the plain colours of the screen those of `style`.
pub fn paint_behind(area: Rect, buf: &mut Buffer, theme: &Theme, style: Style) {
    let area = area.intersection(buf.area);
    let is_plain = |color: Color, text: Option<Color>| color == Color::Reset || Some(color) == text;
    for y in area.y..area.bottom() {
        for x in area.x..area.right() {
            let Some(cell) = buf.cell_mut((x, y)) else { continue };
            if is_plain(cell.bg, theme.text.bg) {
                cell.bg = style.bg.unwrap_or(cell.bg);
            }
            if is_plain(cell.fg, theme.text.fg) {
                cell.fg = style.fg.unwrap_or(cell.fg);
            }
        }
    }
}

/// Lines one below the other, as many as fit.
pub fn lines(area: Rect, buf: &mut Buffer, lines: &[Line<'_>]) {
    for (y, text) in (area.y..area.bottom()).zip(lines) {
        line(Rect { y, height: 1, ..area }, buf, 0, area.width.into(), text);
    }
}

/// A label in its column, with a text beside it that wraps in its own column.
pub fn label_lines(
    label: &str,
    label_style: Style,
    column: usize,
    text: Vec<Line<'static>>,
) -> Vec<Line<'static>> {
    let mut first = Some(label);
    text.into_iter()
        .map(|line| {
            let label = first.take().unwrap_or_default();
            let pad = column.saturating_sub(text::width(label));
            let mut spans =
                vec![Span::styled(label.to_owned(), label_style), Span::raw(" ".repeat(pad))];
            spans.extend(line.spans.into_iter().map(|span| span.patch_style(line.style)));
            Line::from(spans)
        })
        .collect()
}

/// A horizontal rule with text on its left and right.
#[derive(Debug)]
pub struct HorizontalRule<'a> {
    style: Style,
    lines: LineStyle,
    stroke: &'static str,
    left: Vec<Span<'a>>,
    right: Vec<Span<'a>>,
}

/// The columns of a panel up to which it has text.
pub fn panel_measure(area: Rect) -> usize {
    usize::from(area.width).min(MEASURE + 2 * usize::from(MARGIN))
}

impl<'a> HorizontalRule<'a> {
    pub fn new(theme: &Theme, style: Style) -> HorizontalRule<'a> {
        let lines = theme.lines;
        HorizontalRule { style, lines, stroke: lines.rule(), left: Vec::new(), right: Vec::new() }
    }

    /// The edge of a panel: a line where panels are not painted.
    pub fn edge(theme: &Theme) -> HorizontalRule<'a> {
        let rule = HorizontalRule::new(theme, theme.border);
        if theme.has_surfaces() { rule.blank() } else { rule }
    }

    #[must_use]
    pub fn heavy(mut self) -> HorizontalRule<'a> {
        self.stroke = self.lines.heavy();
        self
    }

    /// Only its text, in line with the text of a panel.
    #[must_use]
    pub fn blank(mut self) -> HorizontalRule<'a> {
        self.stroke = " ";
        self
    }

    #[must_use]
    pub fn left(mut self, span: Span<'a>) -> HorizontalRule<'a> {
        self.left.push(span);
        self
    }

    #[must_use]
    pub fn right(mut self, span: Span<'a>) -> HorizontalRule<'a> {
        self.right.push(span);
        self
    }

    /// Draws it in the first row of `area`. The left text is shortened first.
    pub fn draw(&self, area: Rect, buf: &mut Buffer) {
        if area.is_empty() {
            return;
        }
        let rule = self.stroke.repeat(area.width.into());
        buf.set_stringn(area.x, area.y, rule, area.width.into(), self.style);
        // The space before a text is in the margin of a panel; only a line leads to a far end.
        let (start, width) = match self.stroke {
            " " => (1, panel_measure(area)),
            _ => (2, area.width.into()),
        };
        let mut end = width.saturating_sub(start);
        let right = spaced(&self.right);
        if !self.right.is_empty() && right.width() + 4 < width {
            let from = end - right.width().min(end);
            line(area, buf, from, end, &right);
            end = from.saturating_sub(1);
        }
        if !self.left.is_empty() {
            line(area, buf, start, end, &spaced(&self.left));
        }
    }
}

/// Spaces before, between and after.
fn spaced<'a>(spans: &[Span<'a>]) -> Line<'a> {
    let mut out = vec![Span::raw(" ")];
    for span in spans {
        out.push(span.clone());
        out.push(Span::raw(" "));
    }
    Line::from(out)
}
