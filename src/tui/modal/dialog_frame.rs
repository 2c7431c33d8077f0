//! The frame of a question: docked to the bottom edge, with the transcript above it, and nothing
//! else can draw into it.
//!
//! It knows which rows the user must have seen and which of them were really drawn: what was not
//! shown cannot be approved.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::dialog_layout::{self, DialogLayout, DialogRows, FootForm};
use super::rows::Rows;
use crate::draw::{self, DrawContext, HorizontalRule, MARGIN};
use crate::keys::ScrollAction;
use crate::text;
use crate::theme::Theme;
use avocet_core::i18n::screen as phrases;

/// Below this width no question can be shown so that it can be reviewed.
pub const MIN_WIDTH: u16 = 24;
const MIN_HEIGHT: u16 = 5;

/// The content of a dialog.
#[derive(Debug, Default)]
pub struct DialogPage {
    pub title: String,
    pub badge: String,
    pub tone: Style,
    /// Next to the title: its number, of how many, and the size of a change.
    pub counts: Vec<Span<'static>>,
    /// The rows that must be seen before approval.
    pub required: Rows,
    /// The rows that may stay unseen by an approval of the step alone.
    pub optional: Rows,
    /// What is good to know, and gives way first.
    pub facts: Rows,
    /// The user asked for the facts: they scroll instead.
    pub keeps_facts: bool,
    pub foot: Foot,
    /// The last line: the active keys.
    pub hint: Line<'static>,
    /// The text before the keys: why a key did nothing, or where keys go.
    pub message: Option<Line<'static>>,
    /// How long that text stays.
    pub message_until: MessageUntil,
}

/// How long a text stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MessageUntil {
    #[default]
    NextKey,
    /// Until the rows that must be seen were on the screen.
    RequiredRowsSeen,
    /// Until all rows were.
    AllRowsSeen,
}

/// Below the body.
#[derive(Debug, Default)]
pub enum Foot {
    /// Choices, in columns, in one flow, and on one row.
    Choices { grid: Vec<Line<'static>>, flow: Vec<Line<'static>>, row: Line<'static> },
    /// Space for a text field of this many rows, which the caller draws.
    Field { label: String, rows: u16 },
    #[default]
    Nothing,
}

/// A page laid out for the screen, and how much of it has been shown.
#[derive(Debug, Default)]
pub struct DialogFrame {
    page: DialogPage,
    layout: DialogLayout,
    /// The rows of the page that the layout shows.
    body: Rows,
    offset: usize,
    seen_rows: usize,
    /// Identifies the page: its width and the number of its rows that must be seen.
    page_id: (u16, usize),
    /// Rows that an approval of several steps includes.
    all: usize,
    /// Rows of the body that fitted when it was last drawn.
    room: usize,
    rows: usize,
}

impl DialogFrame {
    /// True when every row that must be seen has been drawn.
    pub fn is_required_seen(&self) -> bool {
        self.room > 0 && self.seen_rows >= self.page_id.1
    }

    /// True when the rows that belong to it have been drawn too.
    pub fn is_all_seen(&self) -> bool {
        self.room > 0 && self.seen_rows >= self.all
    }

    /// Whether the screen is large enough for it.
    pub fn has_room(&self) -> bool {
        self.room > 0
    }

    /// Rows of these that have not been on the screen.
    pub fn unseen_rows(&self, all: bool) -> usize {
        let wanted = if all { self.all } else { self.page_id.1 };
        wanted.saturating_sub(self.seen_rows)
    }

    /// Shows the next part; after the last one, the first.
    pub fn show_next_part(&mut self) {
        let next = self.offset + self.room.max(1);
        self.offset =
            if next >= self.rows { 0 } else { next.min(self.rows.saturating_sub(self.room)) };
    }

    /// Scrolls what does not fit; false if everything fits. `skips`: going to the end counts as
    /// having seen what is between.
    pub fn scroll(&mut self, action: ScrollAction, skips: bool) -> bool {
        let last = self.rows.saturating_sub(self.room);
        if last == 0 {
            return false;
        }
        let page = self.room.max(1);
        match action {
            ScrollAction::PageDown => self.offset = (self.offset + page).min(last),
            ScrollAction::PageUp => self.offset = self.offset.saturating_sub(page),
            ScrollAction::Top => self.offset = 0,
            ScrollAction::Bottom => {
                self.offset = last;
                if skips {
                    self.seen_rows = self.rows;
                }
            }
            ScrollAction::LineUp
            | ScrollAction::LineDown
            | ScrollAction::TurnUp
            | ScrollAction::TurnDown => {
                return false;
            }
        }
        true
    }

    /// Scrolls by rows, as the wheel does.
    pub fn scroll_lines(&mut self, lines: i32) {
        let last = self.rows.saturating_sub(self.room);
        let by = isize::try_from(lines).unwrap_or(0);
        self.offset = self.offset.saturating_add_signed(by).min(last);
    }

    /// Scrolls so far that a row is in view.
    pub fn reveal(&mut self, row: usize) {
        let last = (row + 1).saturating_sub(self.room);
        self.offset = self.offset.clamp(last, row.max(last));
    }

    /// The page changed: none of it has been seen yet.
    pub fn reset(&mut self) {
        let page = std::mem::take(&mut self.page);
        let body = std::mem::take(&mut self.body);

        *self = DialogFrame { page, body, layout: self.layout, ..DialogFrame::default() };
    }

    pub fn tone(&self) -> Style {
        self.page.tone
    }

    /// Lays a page out for `screen`; returns its rows. What is in view then counts as seen: it is
    /// drawn next.
    pub fn fit(&mut self, screen: Rect, mut page: DialogPage) -> u16 {
        self.layout = dialog_layout::lay_out(screen.height, &page.rows());
        let area = self.docked(screen);
        let required = page.required.len();
        let optional = page.optional.len();

        self.body = std::mem::take(&mut page.required);
        self.body.append(std::mem::take(&mut page.optional));
        if self.layout.shows_facts {
            self.body.append(std::mem::take(&mut page.facts));
        }
        self.page = page;
        if is_too_small(screen) {
            self.reset();
            return area.height;
        }
        let page_id = (area.width.saturating_sub(MARGIN * 2), required);
        if self.page_id != page_id {
            self.reset();
            self.page_id = page_id;
        }
        (self.rows, self.all) = (self.body.len(), required + optional);
        self.room = self.layout.body.into();
        self.offset = self.offset.min(self.rows.saturating_sub(self.room));
        if self.offset <= self.seen_rows {
            self.seen_rows = self.seen_rows.max(self.rows.min(self.offset + self.room));
        }
        area.height
    }

    /// Draws the page at the bottom of `screen`; returns the area of the field.
    pub fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &DrawContext<'_>) -> Option<Rect> {
        let page = &self.page;
        let layout = &self.layout;

        let area = self.docked(screen);
        draw::clear(area, buf, cx.theme);
        if is_too_small(screen) {
            let calm = Line::styled(phrases::QUESTION_TOO_SMALL.text(cx.lang), cx.theme.warn);
            draw::lines(area, buf, &[calm]);
            return None;
        }
        let padding = layout.spacing.padding();
        let head = area.y + padding;
        page.head(Rect { y: head, height: 1, ..area }, buf, cx);
        let inner = Rect {
            x: area.x + MARGIN,
            width: area.width.saturating_sub(MARGIN * 2),
            y: head + 1,
            height: layout.body,
        };
        draw::lines(inner, buf, &self.body.window(self.offset, self.room, cx));
        let below = inner.bottom() + layout.spacing.above_foot();
        let above_hint = Rect { height: area.height.saturating_sub(1 + padding), ..area };
        let foot = Rect { y: below, height: layout.foot, ..inner }.intersection(above_hint);
        let hint = Rect { y: above_hint.bottom(), height: 1, ..inner };
        draw::lines(hint, buf, &[self.hint(cx)]);
        let field = page.foot(foot, buf, layout.form, cx);
        draw::panel(area, buf, cx.theme, page.bar(cx.theme));
        field
    }

    /// The rows at the bottom of the screen. The conversation keeps some, unless the rows that must
    /// be seen need them.
    fn docked(&self, screen: Rect) -> Rect {
        let height = if is_too_small(screen) {
            screen.height.min(1)
        } else {
            self.layout.total().clamp(MIN_HEIGHT, screen.height.max(MIN_HEIGHT))
        };
        Rect { y: screen.bottom() - height, height, ..screen }
    }

    /// If a part is hidden, the hint says so first, and why that matters now.
    fn hint(&self, cx: &DrawContext<'_>) -> Line<'static> {
        let page = &self.page;
        let hidden = self.rows.saturating_sub(self.offset + self.room);
        let said = page.message.as_ref().filter(|_| match page.message_until {
            MessageUntil::NextKey => true,
            MessageUntil::RequiredRowsSeen => !self.is_required_seen(),
            MessageUntil::AllRowsSeen => !self.is_all_seen(),
        });
        let room = usize::from(self.page_id.0);
        if hidden == 0 && self.offset == 0 {
            return said.map_or_else(|| page.hint.clone(), |said| fit_message(said, room));
        }
        let word = match hidden {
            0 => phrases::QUESTION_BACK_TO_TOP,
            _ => phrases::QUESTION_MORE_BELOW,
        };
        if let Some(said) = said {
            return fit_message(said, room);
        }
        let from = self.offset + 1;
        let to = (self.offset + self.room).min(self.rows);

        let say = word.with("from", from).with("to", to).with("all", self.rows);
        let said = Line::styled(say.text(cx.lang), cx.theme.warn);
        append_key_hints(fit_message(&said, room), &page.hint, room)
    }
}

/// A message in one row: its first clauses that fit, or else its first words.
pub fn fit_message(line: &Line<'static>, room: usize) -> Line<'static> {
    let text = line.to_string();
    if text::width(&text) <= room {
        return line.clone();
    }
    let ends = |marks: &'static [char]| {
        let text = text.as_str();
        text.match_indices(marks).map(|(at, mark)| (at, at + mark.len()))
    };
    // A full stop ends a clause where a space follows it.
    let is_end = |end: usize| text.get(end..).is_some_and(|rest| rest.starts_with(' '));
    let ascii = ends(&['.', ';', ':']).filter(|(_, end)| is_end(*end));
    let fits = |(at, end): &(usize, usize)| {
        let keeps = text.get(*at..*end).is_some_and(|mark| mark == "." || mark == "。");
        let end = if keeps { *end } else { *at };
        text.get(..end).filter(|part| text::width(part) <= room).map(str::to_owned)
    };
    let clauses = ascii.chain(ends(&['。', '；', '：']));
    let whole = clauses.filter_map(|end| fits(&end)).max_by_key(String::len);
    let shown = whole.unwrap_or_else(|| text::elide_words(&text, room));
    Line::styled(shown, line.style)
}

/// The text, and as many of the keys after it as fit, each with its meaning and a gap before it.
fn append_key_hints(said: Line<'static>, keys: &Line<'static>, room: usize) -> Line<'static> {
    let mut line = Line::from(vec![Span::styled(said.to_string(), said.style)]);
    for hint in keys.spans.chunks(3) {
        let [_, key, meaning] = hint else { break };
        let gap = Span::raw("   ");
        if line.width() + gap.width() + key.width() + meaning.width() > room {
            break;
        }
        line.spans.extend([gap, key.clone(), meaning.clone()]);
    }
    line
}

/// Columns of a body's width that the head takes without its badge.
pub fn head_columns(title: &str, counts: &[Span<'_>]) -> usize {
    text::width(title) + counts.iter().map(|count| count.width() + 1).sum::<usize>() + 4
}

fn is_too_small(screen: Rect) -> bool {
    screen.width < MIN_WIDTH || screen.height < MIN_HEIGHT
}

impl DialogPage {
    /// Width of the body on a screen of this width.
    pub fn body_width(screen: u16) -> usize {
        usize::from(screen.saturating_sub(MARGIN * 2))
    }

    fn rows(&self) -> DialogRows {
        let (grid, flow) = match &self.foot {
            Foot::Choices { grid, flow, .. } => (grid.len(), flow.len()),
            Foot::Field { rows, .. } => (usize::from(*rows) + 1, usize::from(*rows) + 1),
            Foot::Nothing => (0, 0),
        };
        let foot = |rows: usize| u16::try_from(rows).unwrap_or(u16::MAX);
        DialogRows {
            required: self.required.len(),
            body: self.required.len() + self.optional.len(),
            facts: self.facts.len(),
            keeps_facts: self.keeps_facts,
            grid: foot(grid),
            flow: foot(flow),
        }
    }

    /// The bar at the left of the panel.
    fn bar(&self, theme: &Theme) -> Style {
        if self.tone == theme.danger { theme.bar.danger } else { theme.bar.question }
    }

    /// The title, on a rule where the theme has no panels.
    fn head(&self, area: Rect, buf: &mut Buffer, cx: &DrawContext<'_>) {
        let bold = self.tone.add_modifier(Modifier::BOLD);
        let line = HorizontalRule::new(cx.theme, self.tone);
        let line = if cx.theme.has_surfaces() { line.blank() } else { line.heavy() };
        let mut rule = line.left(Span::styled(self.title.as_str(), bold));
        let columns =
            if cx.theme.has_surfaces() { draw::panel_measure(area) } else { area.width.into() };
        let wide = head_columns(&self.title, &self.counts) + text::width(&self.badge);
        if wide + 4 <= columns {
            for count in &self.counts {
                rule = rule.left(count.clone());
            }
        }
        // The title is never cut for it.
        let room = columns.saturating_sub(text::width(&self.title) + 6);
        if !self.badge.is_empty() && room > 8 {
            rule = rule.right(Span::styled(text::elide_end(&self.badge, room), self.tone));
        }
        rule.draw(area, buf);
    }

    fn foot(
        &self,
        area: Rect,
        buf: &mut Buffer,
        form: FootForm,
        cx: &DrawContext<'_>,
    ) -> Option<Rect> {
        match &self.foot {
            Foot::Choices { grid, flow, row } => {
                draw::lines(
                    area,
                    buf,
                    match form {
                        FootForm::Grid => grid,
                        FootForm::Flow => flow,
                        FootForm::Row => std::slice::from_ref(row),
                    },
                );
                None
            }
            Foot::Field { label, .. } => {
                draw::lines(area, buf, &[Line::styled(label.clone(), cx.theme.dim)]);
                let height = area.height.saturating_sub(1);
                Some(Rect { y: area.y + 1, height, ..area })
            }
            Foot::Nothing => None,
        }
    }
}

/// The cursor, if it is inside the field.
pub fn cursor_in_field(area: Rect, position: Option<Position>) -> Option<Position> {
    position.filter(|at| area.contains(*at))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &[&str] = &[
        "12 more lines below. End shows them; press y again to run anyway.",
        "Part is not shown yet: End shows the rest, y again applies it.",
        "Finish typing, then Tab answers. Enter queues your text.",
        "下面还有 12 行。End 查看其余部分；再按 y 将跳过查看直接运行。",
        "a-single-word-that-is-longer-than-a-narrow-screen",
    ];

    #[test]
    fn keys_after_a_message_have_their_meaning_or_are_left_out() {
        let keys = ["", "e", " edit", "   ", "d", " details"].map(Span::raw);
        let keys = Line::from(keys.to_vec());
        let shown = |room| append_key_hints(Line::raw("Rows 1"), &keys, room).to_string();
        assert_eq!(shown(14), "Rows 1");
        assert_eq!(shown(15), "Rows 1   e edit");
        assert_eq!(shown(26), "Rows 1   e edit");
        assert_eq!(shown(27), "Rows 1   e edit   d details");
    }

    #[test]
    fn no_message_is_cut_inside_a_word_at_any_width() {
        for said in SAID {
            for room in 36..=196 {
                let shown = fit_message(&Line::raw(*said), room).to_string();
                assert!(text::width(&shown) <= room, "{room}: {shown}");
                let kept = shown.trim_end_matches(crate::symbols::ELLIPSIS);
                let rest = said.strip_prefix(kept).unwrap_or_else(|| panic!("{room}: {shown}"));
                let is_ascii = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
                let cuts = is_ascii(kept.chars().last()) && is_ascii(rest.chars().next());
                assert!(!cuts || !said.contains(' '), "{room}: {shown}");
                assert!(!kept.is_empty(), "{room}");
            }
        }
    }
}
