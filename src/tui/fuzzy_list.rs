//! What the lists have in common that are filtered by typing: the matching, the selection, the rows
//! in view, and the typed letters in bold.

use std::ops::Range;

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::Span;

use super::draw::{self, DrawContext, HorizontalRule};
use super::symbols::{CHOSEN, NOT_CHOSEN};
use super::theme::Theme;

/// Rows visible at once over the input on a low screen, and the width below which there are none.
const ROWS: usize = 8;
const MIN_WIDTH: u16 = 12;

/// A query, matched against one text after another.
pub struct FuzzyMatcher {
    pattern: Pattern,
    matcher: Matcher,
    chars: Vec<char>,
}

impl FuzzyMatcher {
    pub fn new(query: &str) -> FuzzyMatcher {
        FuzzyMatcher::with_config(query, CaseMatching::Ignore, Config::DEFAULT)
    }

    /// Paths match best at the start of their parts.
    pub fn for_paths(query: &str) -> FuzzyMatcher {
        FuzzyMatcher::with_config(query, CaseMatching::Smart, Config::DEFAULT.match_paths())
    }

    fn with_config(query: &str, case: CaseMatching, config: Config) -> FuzzyMatcher {
        let pattern = Pattern::new(query, case, Normalization::Smart, AtomKind::Fuzzy);
        FuzzyMatcher { pattern, matcher: Matcher::new(config), chars: Vec::new() }
    }

    /// How well a text matches; `None`: it does not.
    pub fn score(&mut self, text: &str) -> Option<u32> {
        self.pattern.score(Utf32Str::new(text, &mut self.chars), &mut self.matcher)
    }

    /// The same, and the positions of the characters that were typed.
    pub fn positions(&mut self, text: &str) -> Option<(u32, Vec<u32>)> {
        let mut positions = Vec::new();
        let text = Utf32Str::new(text, &mut self.chars);
        let score = self.pattern.indices(text, &mut self.matcher, &mut positions)?;
        positions.sort_unstable();
        Some((score, positions))
    }
}

/// The selected row of a list: the first, or none, until the user moves it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListSelection {
    moved_to: Option<usize>,
    begins_unmarked: bool,
}

impl ListSelection {
    pub fn at(row: usize) -> ListSelection {
        ListSelection { moved_to: Some(row), begins_unmarked: false }
    }

    /// No row is selected until the user moves there.
    pub fn unmarked() -> ListSelection {
        ListSelection { moved_to: None, begins_unmarked: true }
    }

    pub fn row(self) -> usize {
        self.marked().unwrap_or(0)
    }

    /// The row with the mark.
    pub fn marked(self) -> Option<usize> {
        self.moved_to.or((!self.begins_unmarked).then_some(0))
    }

    pub fn is_moved(self) -> bool {
        self.moved_to.is_some()
    }

    pub fn next(&mut self, len: usize) {
        self.moved_to = Some(self.marked().map_or(0, |row| (row + 1) % len.max(1)));
    }

    pub fn previous(&mut self, len: usize) {
        self.moved_to = Some((self.row() + len.max(1) - 1) % len.max(1));
    }

    /// The row of `len` that is drawn at this height of `area`.
    pub fn row_at(self, len: usize, area: Rect, y: u16) -> Option<usize> {
        let at = usize::from(y.checked_sub(area.y)?);
        self.window(len, area.height.into()).nth(at).filter(|_| y < area.bottom())
    }

    /// The rows in view, of `len`.
    fn window(self, len: usize, room: usize) -> Range<usize> {
        let first = (self.row() + 1).saturating_sub(room);
        first..(first + room).min(len)
    }

    /// `3/12  note`.
    pub fn count(self, total: usize, note: Option<&str>) -> String {
        let count = match self.marked() {
            Some(row) => format!("{}/{total}", (row + 1).min(total)),
            None => total.to_string(),
        };
        note.map_or(count.clone(), |note| format!("{count}  {note}"))
    }

    /// Draws the rows in view of `len` with `draw_row`.
    pub fn draw_rows(
        self,
        len: usize,
        area: Rect,
        buf: &mut Buffer,
        theme: &Theme,
        mut draw_row: impl FnMut(usize, Rect, &mut Buffer, &RowStyle),
    ) {
        for (y, row) in (area.y..).zip(self.window(len, area.height.into())) {
            let area = Rect { y, height: 1, ..area };
            let style = RowStyle::new(self.marked() == Some(row), area, buf, theme);
            draw_row(row, area, buf, &style);
        }
        draw::surface(area, buf, theme);
    }
}

/// The colours of one row.
#[derive(Clone, Copy, Debug)]
pub struct RowStyle {
    sigil: &'static str,
    pub base: Style,
    /// For what is beside the name.
    pub quiet: Style,
    hit: Style,
}

impl RowStyle {
    fn new(is_selected: bool, area: Rect, buf: &mut Buffer, theme: &Theme) -> RowStyle {
        let (sigil, base, quiet) = if !is_selected {
            (NOT_CHOSEN, theme.text, theme.dim)
        } else if theme.has_surfaces() {
            (CHOSEN, theme.chosen(), Style { bg: theme.raised.bg, ..theme.dim })
        } else {
            (CHOSEN, theme.selection, theme.selection)
        };
        if is_selected {
            buf.set_style(area, base);
        }
        let hit = base.patch(Style { bg: base.bg, ..theme.accent }).add_modifier(Modifier::BOLD);
        RowStyle { sigil, base, quiet, hit }
    }

    /// The sign of the selection.
    pub fn sigil(&self) -> Span<'static> {
        Span::styled(self.sigil, self.base)
    }

    /// The characters of a text from the position `from`, those at `positions` in bold.
    pub fn highlight(&self, text: &str, from: usize, positions: &[u32]) -> Vec<Span<'static>> {
        let mut spans: Vec<Span<'static>> = Vec::new();
        for (at, c) in (0_u32..).zip(text.chars()).skip(from) {
            let style = if positions.contains(&at) { self.hit } else { self.base };
            match spans.last_mut() {
                Some(span) if span.style == style => span.content.to_mut().push(c),
                _ => spans.push(Span::styled(c.to_string(), style)),
            }
        }
        spans
    }
}

/// The area of a list over the input, with its head, at the bottom of `above`; `None`: no room.
pub fn list_area(len: usize, above: Rect) -> Option<Rect> {
    let most = ROWS.max(usize::from(above.height) / 2);
    let rows = len.min(most).min(above.height.saturating_sub(1).into());
    let height = u16::try_from(rows + 1).unwrap_or(1);
    (above.width >= MIN_WIDTH && height <= above.height).then(|| Rect {
        y: above.bottom() - height,
        height,
        ..above
    })
}

/// The rows of that area, below its head.
pub fn list_rows(area: Rect) -> Rect {
    Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area }
}

/// Clears the area of a list over the input and draws its head; returns the area of its rows.
pub fn draw_head(
    area: Rect,
    buf: &mut Buffer,
    cx: &DrawContext<'_>,
    title: &str,
    count: String,
) -> Rect {
    draw::clear(area, buf, cx.theme);
    HorizontalRule::edge(cx.theme)
        .left(Span::styled(title.to_owned(), cx.theme.accent))
        .right(Span::styled(count, cx.theme.dim))
        .draw(area, buf);
    draw::surface(Rect { height: 1, ..area }, buf, cx.theme);
    list_rows(area)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_selection_wraps_around_and_stays_in_view() {
        let mut selection = ListSelection::default();
        let mut seen = Vec::new();
        for _ in 0..4 {
            selection.next(3);
            seen.push((selection.row(), selection.window(3, 2)));
        }
        assert_eq!(seen, [(1, 0..2), (2, 1..3), (0, 0..2), (1, 0..2)]);
        selection = ListSelection::default();
        selection.previous(3);
        assert_eq!(selection.row(), 2);
        selection.previous(0);
        assert_eq!((selection.row(), selection.count(0, None)), (0, "0/0".to_owned()));
    }

    #[test]
    fn typed_letters_are_bold() {
        let (theme, area) = (Theme::default(), Rect::new(0, 0, 9, 1));
        let style = RowStyle::new(false, area, &mut Buffer::empty(area), &theme);
        let (_, positions) = FuzzyMatcher::new("me").positions("mode").expect("it matches");
        let bold = |span: &Span<'_>| span.style.add_modifier.contains(Modifier::BOLD);
        let spans = style.highlight("mode", 0, &positions);
        let spans: Vec<_> = spans.iter().map(|span| (span.content.as_ref(), bold(span))).collect();
        assert_eq!(spans, [("m", true), ("od", false), ("e", true)]);
    }
}
