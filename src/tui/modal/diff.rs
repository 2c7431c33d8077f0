//! `/diff`: the changed files on one side, and the diff of the chosen one on the other.

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::ModalAction;
use super::file_change;
use super::rows::{DiffViewCache, Rows};
use super::scroll::RowScroll;
use crate::draw::{self, DrawContext, HorizontalRule};
use crate::keys::{self, KeyAction, KeyContext};
use crate::symbols::{CHOSEN, NOT_CHOSEN};
use crate::{status, text};
use avocet_core::i18n::{screen as phrases, session};
use avocet_core::protocol::Change;
use avocet_present::changes::{no_changes, relative_path};

/// From this width on, the list is beside the diff; on a narrower screen it is above it.
const BESIDE: u16 = 72;
/// Rows of the list above the diff.
const ABOVE: u16 = 6;

#[derive(Debug, Default)]
pub struct DiffDialog {
    cwd: String,
    files: Vec<Change>,
    /// The first of the files that the session did not change.
    others: usize,
    chosen: usize,
    /// The first row of the list that is shown.
    first: usize,
    /// Of the diff.
    rows: Rows,
    scroll: RowScroll,
    /// Git could not be asked what else is not committed.
    has_unknown: bool,
    pub diffs: DiffViewCache,
}

impl DiffDialog {
    pub fn new(cwd: &str, changes: Vec<Change>, uncommitted: Option<Vec<Change>>) -> DiffDialog {
        let others = changes.len();
        let has_unknown = uncommitted.is_none();
        let files = changes.into_iter().chain(uncommitted.unwrap_or_default()).collect();
        DiffDialog { cwd: cwd.to_owned(), files, others, has_unknown, ..DiffDialog::default() }
    }

    pub fn key(&mut self, key: &KeyEvent) -> ModalAction {
        let contexts = [KeyContext::Diff, KeyContext::Page, KeyContext::Anywhere];
        match contexts.into_iter().find_map(|context| keys::action(context, key)) {
            Some(KeyAction::Close) => return ModalAction::Close,
            Some(KeyAction::Next) => self.choose(1),
            Some(KeyAction::Previous) => self.choose(-1),
            Some(KeyAction::Scroll(by)) => self.scroll.apply(by),
            _ => {}
        }
        ModalAction::Stay
    }

    fn choose(&mut self, by: isize) {
        let last = self.files.len().saturating_sub(1);
        self.chosen = self.chosen.saturating_add_signed(by).min(last);
        self.scroll.offset = 0;
    }

    pub fn scroll(&mut self, lines: i32) {
        self.scroll.scroll(lines);
    }

    /// Where the list and the diff are.
    fn areas(&self, screen: Rect) -> (Rect, Rect) {
        let body = Rect {
            x: screen.x + 1,
            y: screen.y + 1,
            width: screen.width.saturating_sub(2),
            height: screen.height.saturating_sub(2),
        };
        if screen.width < BESIDE {
            let height = ABOVE.min(body.height / 3);
            let below = Rect {
                y: body.y + height + 1,
                height: body.height.saturating_sub(height + 1),
                ..body
            };
            return (Rect { height, ..body }, below);
        }
        let names = self.files.iter().map(|it| text::width(relative_path(&it.path, &self.cwd)));
        let widest = u16::try_from(names.max().unwrap_or(0) + 14).unwrap_or(u16::MAX);
        let width = widest.min(body.width / 3).max(30);
        let diff = Rect { x: body.x + width + 2, width: body.width - width - 2, ..body };
        (Rect { width, ..body }, diff)
    }

    pub fn fit(&mut self, screen: Rect, cx: &DrawContext<'_>) {
        let (list, diff) = self.areas(screen);
        self.rows = match self.files.get(self.chosen) {
            Some(change) => file_change::rows(change, diff.width.into(), cx, &self.diffs),
            None => {
                let say = no_changes(self.has_unknown).text(cx.lang);
                let rows = text::wrap(say, usize::from(diff.width).max(1)).into_iter();
                Rows::from(rows.map(|row| Line::styled(row, cx.theme.dim)).collect::<Vec<_>>())
            }
        };
        self.scroll.fit(self.rows.len(), diff.height.into());
        let height = usize::from(list.height).max(1);
        let at = self.list_row(self.chosen);

        self.first = self.first.min(at).max((at + 1).saturating_sub(height));
    }

    /// The row of a file in the list, where the others have a title.
    fn list_row(&self, file: usize) -> usize {
        file + usize::from(file >= self.others) + usize::from(self.others > 0)
    }

    fn list_rows(&self, width: usize, cx: &DrawContext<'_>) -> Vec<Line<'static>> {
        let title = |text: &str| Line::styled(text::elide_middle(text, width), cx.theme.dim);
        let mut rows = Vec::new();
        if self.others > 0 {
            rows.push(title(session::CHANGED_FILES.text(cx.lang)));
        }
        for (at, change) in self.files.iter().enumerate() {
            if at == self.others {
                rows.push(title(session::UNCOMMITTED.text(cx.lang)));
            }
            rows.push(self.file_row(at, change, width, cx));
        }
        rows
    }

    fn file_row(
        &self,
        at: usize,
        change: &Change,
        width: usize,
        cx: &DrawContext<'_>,
    ) -> Line<'static> {
        let is_chosen = at == self.chosen;
        let added = format!(" +{}", change.added);
        let removed = format!(" -{}", change.removed);

        let room = width.saturating_sub(2 + added.len() + removed.len());
        let name = text::single_line(relative_path(&change.path, &self.cwd));
        let name = text::elide_middle(&name, room);
        let pad = " ".repeat(room.saturating_sub(text::width(&name)));
        let style =
            if is_chosen { cx.theme.accent.add_modifier(Modifier::BOLD) } else { cx.theme.text };
        Line::from(vec![
            Span::styled(if is_chosen { CHOSEN } else { NOT_CHOSEN }, style),
            Span::styled(name + &pad, style),
            Span::styled(added, cx.theme.change.added),
            Span::styled(removed, cx.theme.change.removed),
        ])
    }

    pub fn draw(&self, area: Rect, buf: &mut Buffer, cx: &DrawContext<'_>) {
        draw::clear(area, buf, cx.theme);
        if area.height < 6 || area.width < 20 {
            return;
        }
        let bold = cx.theme.accent.add_modifier(Modifier::BOLD);
        let title = Span::styled(session::CHANGED_FILES.text(cx.lang).to_owned(), bold);
        let below = self.scroll.below();
        let mut rule = HorizontalRule::new(cx.theme, cx.theme.border).left(title);
        if below > 0 {
            let more = phrases::HELP_MORE.with("n", below).text(cx.lang);
            rule = rule.right(Span::styled(more, cx.theme.dim));
        }
        rule.draw(area, buf);
        let (list, diff) = self.areas(area);
        let names = self.list_rows(list.width.into(), cx);
        draw::lines(list, buf, names.get(self.first..).unwrap_or_default());
        draw::lines(diff, buf, &self.rows.window(self.scroll.offset, self.scroll.room, cx));
        let foot = Rect { y: area.bottom() - 1, height: 1, ..area };
        status::draw_hints(foot, buf, cx, HINTS);
    }
}

const HINTS: &[status::KeyHint] = &[
    status::KeyHint::pair(KeyContext::Diff, phrases::HINT_FILES),
    status::KeyHint::pages(KeyContext::Anywhere, phrases::HINT_SCROLL),
    status::KeyHint::bound(KeyContext::Page, KeyAction::Close, phrases::HINT_CLOSE),
];
