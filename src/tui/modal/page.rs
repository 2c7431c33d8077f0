//! A page over the whole screen: titled rows of two columns that scroll. The content comes from the
//! caller.

use std::fmt::Debug;

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::ModalAction;
use super::scroll::RowScroll;
use crate::draw::{self, DrawContext, HorizontalRule};
use crate::keys::{self, KeyAction, KeyContext};
use crate::{status, text};
use avocet_core::i18n::{Lang, screen as phrases};

/// A page over the whole screen.
pub trait FullPage: Debug {
    fn key(&mut self, key: &KeyEvent, lang: Lang) -> ModalAction;

    /// Handles the mouse wheel.
    fn scroll(&mut self, lines: i32);

    fn fit(&mut self, screen: Rect, cx: &DrawContext<'_>);

    /// Draws it; returns the position of the cursor where it has a field.
    fn draw(&self, area: Rect, buf: &mut Buffer, cx: &DrawContext<'_>) -> Option<Position>;
}

/// A page that scrolls.
#[derive(Debug, Default)]
pub struct PageScroll {
    scroll: RowScroll,
    /// As last laid out.
    rows: Vec<Line<'static>>,
}

impl PageScroll {
    /// Scrolls or closes, if the key means that.
    pub fn key(&mut self, key: &KeyEvent) -> ModalAction {
        let contexts = [KeyContext::Page, KeyContext::Anywhere];
        match contexts.into_iter().find_map(|context| keys::action(context, key)) {
            Some(KeyAction::Close) => return ModalAction::Close,
            Some(KeyAction::Next) => self.scroll(1),
            Some(KeyAction::Previous) => self.scroll(-1),
            Some(KeyAction::Scroll(by)) => self.scroll.apply(by),
            _ => {}
        }
        ModalAction::Stay
    }

    pub fn scroll(&mut self, lines: i32) {
        self.scroll.scroll(lines);
    }

    /// Back to the first row.
    pub fn rewind(&mut self) {
        self.scroll.offset = 0;
    }

    /// Lays these rows out for a screen of this height.
    pub fn fit(&mut self, height: u16, lines: Vec<Line<'static>>) {
        self.scroll.fit(lines.len(), height.saturating_sub(4).into());
        self.rows = lines;
    }

    /// Draws the rows below a head, and the active keys at the bottom.
    pub fn draw(
        &self,
        area: Rect,
        buf: &mut Buffer,
        cx: &DrawContext<'_>,
        title: &str,
        hints: &[status::KeyHint],
    ) {
        draw::clear(area, buf, cx.theme);
        if area.height < 3 || area.width < 12 {
            return;
        }
        let below = self.scroll.below();
        let bold = cx.theme.accent.add_modifier(Modifier::BOLD);
        let mut rule = HorizontalRule::new(cx.theme, cx.theme.border)
            .left(Span::styled(title.to_owned(), bold));
        if below > 0 {
            let more = phrases::HELP_MORE.with("n", below).text(cx.lang);
            rule = rule.right(Span::styled(more, cx.theme.dim));
        }
        rule.draw(area, buf);
        let body = Rect {
            x: area.x + 2,
            y: area.y + 2,
            width: area.width.saturating_sub(4),
            height: area.height.saturating_sub(4),
        };
        draw::lines(body, buf, self.rows.get(self.scroll.offset..).unwrap_or_default());
        let foot = Rect { y: area.bottom() - 1, height: 1, ..area };
        status::draw_hints(foot, buf, cx, hints);
    }
}

/// Titled rows of two columns.
#[derive(Default)]
pub struct TwoColumnList(Vec<Entry>);

enum Entry {
    Head(String),
    Row(String, String),
}

impl TwoColumnList {
    /// Only the rows that contain all of these words, in either column, and their titles.
    #[must_use]
    pub fn filtered(self, words: &str) -> TwoColumnList {
        let words: Vec<String> =
            words.to_lowercase().split_whitespace().map(str::to_owned).collect();
        let fits = |left: &str, right: &str| {
            let text = format!("{left} {right}").to_lowercase();
            words.iter().all(|word| text.contains(word))
        };
        let mut entries: Vec<Entry> = Vec::new();
        for entry in self.0 {
            if matches!(entry, Entry::Head(_)) && matches!(entries.last(), Some(Entry::Head(_))) {
                entries.pop();
            }
            match &entry {
                Entry::Row(left, right) if !fits(left, right) => {}
                Entry::Row(..) | Entry::Head(_) => entries.push(entry),
            }
        }
        if matches!(entries.last(), Some(Entry::Head(_))) {
            entries.pop();
        }
        TwoColumnList(entries)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn head(&mut self, text: &str) {
        self.0.push(Entry::Head(text.to_owned()));
    }

    pub fn row(&mut self, left: String, right: String) {
        self.0.push(Entry::Row(left, right));
    }

    pub fn rows(self, width: usize, cx: &DrawContext<'_>) -> Vec<Line<'static>> {
        let widest = self.0.iter().map(|entry| match entry {
            Entry::Row(left, _) => text::width(left),
            Entry::Head(_) => 0,
        });
        let column = (widest.max().unwrap_or(0) + 3).min((width / 3).max(20));
        let mut lines: Vec<Line<'static>> = Vec::new();
        for entry in self.0 {
            match entry {
                Entry::Head(text) => {
                    if !lines.is_empty() {
                        lines.push(Line::default());
                    }
                    lines.push(Line::styled(text, cx.theme.accent.add_modifier(Modifier::BOLD)));
                }
                Entry::Row(left, right) => {
                    let right = text::wrap(&right, width.saturating_sub(column + 2));
                    let right =
                        right.into_iter().map(|row| Line::styled(row, cx.theme.text)).collect();
                    let label = format!("  {left}");
                    let (label, own) = if text::width(&left) + 2 > column {
                        (String::new(), Some(label))
                    } else {
                        (label, None)
                    };
                    lines.extend(own.map(|own| Line::styled(own, cx.theme.text)));
                    lines.extend(draw::label_lines(&label, cx.theme.text, column + 2, right));
                }
            }
        }
        lines.push(Line::default());
        lines
    }
}
