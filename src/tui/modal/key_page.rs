//! The page of all keys by context, with a search.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use super::ModalAction;
use super::help::key_list;
use super::page::{FullPage, PageScroll};
use crate::draw::{self, DrawContext};
use crate::keymap::Keymap;
use crate::keys::{KeyAction, KeyContext};
use crate::symbols::CHOSEN;
use crate::{status, text};
use avocet_core::i18n::{Lang, screen as phrases};

/// The longest search.
const MAX_LENGTH: usize = 80;
/// No wider than is comfortable to read.
const READABLE: u16 = 100;

#[derive(Debug, Default)]
pub struct KeyPage {
    page: PageScroll,
    keymap: Keymap,
    query: String,
}

impl FullPage for KeyPage {
    /// Letters search, so only other keys move and close.
    fn key(&mut self, key: &KeyEvent, _: Lang) -> ModalAction {
        let held = key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        match key.code {
            KeyCode::Char(c) if !held => {
                if self.query.len() < MAX_LENGTH {
                    self.query.push(c);
                }
            }
            KeyCode::Char('u') if key.modifiers == KeyModifiers::CONTROL => self.query.clear(),
            KeyCode::Backspace => {
                self.query.pop();
            }
            KeyCode::Esc if !self.query.is_empty() => self.query.clear(),
            _ => return self.page.key(key),
        }
        self.page.rewind();
        ModalAction::Stay
    }

    fn scroll(&mut self, lines: i32) {
        self.page.scroll(lines);
    }

    fn fit(&mut self, screen: Rect, cx: &DrawContext<'_>) {
        let list = key_list(&self.keymap, cx).filtered(&self.query);
        let rows = if list.is_empty() {
            vec![Line::styled(phrases::CHOOSE_NONE.text(cx.lang), cx.theme.dim)]
        } else {
            list.rows(screen.width.saturating_sub(4).min(READABLE).into(), cx)
        };
        self.page.fit(screen.height, rows);
    }

    fn draw(&self, area: Rect, buf: &mut Buffer, cx: &DrawContext<'_>) -> Option<Position> {
        self.page.draw(area, buf, cx, phrases::KEYS_TITLE.text(cx.lang), HINTS);
        self.draw_search(Rect { y: area.y + 1, height: 1, ..area }.intersection(area), buf, cx)
    }
}

impl KeyPage {
    pub fn new(keymap: &Keymap) -> KeyPage {
        KeyPage { keymap: keymap.clone(), ..KeyPage::default() }
    }

    fn draw_search(&self, area: Rect, buf: &mut Buffer, cx: &DrawContext<'_>) -> Option<Position> {
        let typed = text::elide_middle(&self.query, usize::from(area.width).saturating_sub(6));
        let caret = 4 + u16::try_from(text::width(&typed)).unwrap_or(0);
        let shown = if typed.is_empty() {
            Span::styled(phrases::KEYS_SEARCH.text(cx.lang).to_owned(), cx.theme.dim)
        } else {
            Span::styled(typed, cx.theme.text)
        };
        let line = Line::from(vec![Span::styled(CHOSEN, cx.theme.accent), shown]);
        draw::line(area, buf, 2, area.width.into(), &line);
        Some(Position { x: area.x + caret, y: area.y })
    }
}

const HINTS: &[status::KeyHint] = &[
    status::KeyHint::pair(KeyContext::Page, phrases::HINT_SCROLL),
    status::KeyHint::bound(KeyContext::Page, KeyAction::Close, phrases::HINT_CLOSE),
];
