//! The turn paused by itself: shall it go on?

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;

use super::Answer;
use super::asking::Asking;
use super::choice::{Care, Choices};
use super::sheet::{self, Page};
use crate::protocol::AskId;
use crate::tui::paint::Pen;
use crate::tui::{Millis, clean};
use crate::words::{Lang, Say, screen as words};

#[derive(Debug)]
pub struct Pause {
    pub asking: Asking,
    why: Say,
}

impl Pause {
    pub fn new(id: AskId, why: Say, opened: Millis) -> Pause {
        Pause { asking: Asking::new(id, Choices::for_pause(), Care::Plain, opened), why }
    }

    pub fn key(&mut self, key: &KeyEvent, at: Millis, lang: Lang) -> Answer {
        self.asking.key(key, at, None, lang)
    }

    fn page(&mut self, screen: u16, pen: &Pen<'_>) -> Page {
        let width = Page::body_width(screen);
        let rows = clean::wrap(&self.why.text(pen.lang), width.min(100));
        let mut page = Page {
            title: words::PAUSE_TITLE.text(pen.lang).to_owned(),
            tone: pen.theme.warn,
            must: rows.into_iter().map(|row| Line::styled(row, pen.theme.text)).collect(),
            ..Page::default()
        };
        self.asking.finish(&mut page, width, pen);
        page
    }

    pub fn height(&mut self, screen: Rect, pen: &Pen<'_>) -> u16 {
        sheet::height(screen, &self.page(screen.width, pen))
    }

    pub fn draw(&mut self, screen: Rect, buf: &mut Buffer, pen: &Pen<'_>) -> Option<Position> {
        let page = self.page(screen.width, pen);
        self.asking.draw(screen, buf, &page, pen)
    }
}
