//! The answer to a side question, over the conversation.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;

use super::ModalAction;
use super::page::{FullPage, PageScroll};
use crate::draw::DrawContext;
use crate::keys::{KeyAction, KeyContext};
use crate::{status, text};
use avocet_core::i18n::{Lang, LocalizedText, screen as phrases, side};
use avocet_core::protocol::{Page, PageRow};

/// No wider than is comfortable to read.
const READABLE: u16 = 100;

#[derive(Debug)]
pub struct SideAnswerPage {
    title: LocalizedText,
    rows: Vec<PageRow>,
    page: PageScroll,
}

impl FullPage for SideAnswerPage {
    fn key(&mut self, key: &KeyEvent, lang: Lang) -> ModalAction {
        let letter = Some(key.code).filter(|_| key.modifiers == KeyModifiers::NONE);
        match letter {
            Some(KeyCode::Char('c')) => ModalAction::Copy(self.text(lang)),
            Some(KeyCode::Char('i')) => {
                ModalAction::Insert(format!("{}\n\n{}", self.title(lang), self.text(lang)))
            }
            _ => self.page.key(key),
        }
    }

    fn scroll(&mut self, lines: i32) {
        self.page.scroll(lines);
    }

    fn fit(&mut self, screen: Rect, cx: &DrawContext<'_>) {
        let width = screen.width.saturating_sub(4).min(READABLE);
        let text = self.text(cx.lang);
        let rows = text.lines().flat_map(|line| text::wrap(line, width.into()));
        let rows = rows.map(|row| Line::styled(row, cx.theme.text)).collect();
        self.page.fit(screen.height, rows);
    }

    fn draw(&self, area: Rect, buf: &mut Buffer, cx: &DrawContext<'_>) -> Option<Position> {
        let title =
            text::elide_end(&self.title(cx.lang), usize::from(area.width).saturating_sub(20));
        self.page.draw(area, buf, cx, &title, HINTS);
        None
    }
}

impl SideAnswerPage {
    pub fn new(Page { title, rows }: Page) -> SideAnswerPage {
        SideAnswerPage { title, rows, page: PageScroll::default() }
    }

    fn title(&self, lang: Lang) -> String {
        text::single_line(&self.title.text(lang))
    }

    fn text(&self, lang: Lang) -> String {
        let lines = self.rows.iter().map(|row| match row {
            PageRow::Line(text) | PageRow::Heading(text) => text.text(lang),
            PageRow::Pair { label, value } => format!("{} {}", label.text(lang), value.text(lang)),
        });
        text::sanitize(&lines.collect::<Vec<_>>().join("\n"))
    }
}

const HINTS: &[status::KeyHint] = &[
    status::KeyHint::pair(KeyContext::Page, phrases::HINT_SCROLL),
    status::KeyHint::typed("c", side::COPY),
    status::KeyHint::typed("i", side::KEEP),
    status::KeyHint::bound(KeyContext::Page, KeyAction::Close, phrases::HINT_CLOSE),
];
