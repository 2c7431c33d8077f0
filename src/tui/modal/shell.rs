//! May this shell line run? For lines the person typed themselves and for the shell
//! pieces of a template: each simple command stands there with its own judgement.

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::Answer;
use super::approve::Held;
use super::asking::{Asking, Subject};
use super::choice::Choices;
use super::command::{self, Facts};
use super::sheet::{self, Page};
use crate::protocol::{AskId, Piece};
use crate::safety::clean::escape;
use crate::tui::paint::Pen;
use crate::tui::{Millis, clean};
use crate::words::{Lang, screen as words};

#[derive(Debug)]
pub struct Shell {
    pub asking: Asking,
    held: Held,
    pieces: Vec<Piece>,
}

impl Shell {
    pub fn new(id: AskId, held: Held, pieces: Vec<Piece>, opened: Millis) -> Shell {
        let choices = Choices::for_shell(held.care());
        Shell { asking: Asking::new(id, choices, held.care(), opened), held, pieces }
    }

    pub fn key(&mut self, key: &KeyEvent, at: Millis, lang: Lang) -> Answer {
        self.asking.key(key, at, Some((&self.held.work, &self.held.risk)), lang)
    }

    fn page(&mut self, screen: u16, pen: &Pen<'_>) -> Page {
        let width = Page::body_width(screen);
        let mut page = self.body(width, pen);
        self.asking.finish(&mut page, width, pen);
        page
    }

    fn body(&self, width: usize, pen: &Pen<'_>) -> Page {
        let subject = self.asking.subject(&self.held.work, &self.held.risk, None);
        let mut page = subject.page(words::SHELL_TITLE, width, pen);
        page.count = self.held.counted(pen);
        page.must.push(Line::default());
        if !subject.is_edited() {
            page.must.extend(self.pieces(width, pen));
        }
        page.must.extend(self.facts(&subject, width, pen));
        page
    }

    /// Each simple command behind its tier; what is grave says why below it.
    fn pieces(&self, width: usize, pen: &Pen<'_>) -> Vec<Line<'static>> {
        if self.pieces.is_empty() {
            return Vec::new();
        }
        let mut rows = vec![Line::styled(words::SHELL_PIECES.text(pen.lang), pen.theme.dim)];
        for piece in &self.pieces {
            let tone = command::tone(&piece.risk, pen).add_modifier(Modifier::BOLD);
            let tier = piece.risk.tier.name();
            let text = clean::elide_middle(&escape(&piece.text).text, width.saturating_sub(6));
            rows.push(Line::from(vec![
                Span::styled(format!("  {tier}  "), tone),
                Span::styled(text, pen.theme.text),
            ]));
        }
        rows.push(Line::default());
        rows
    }

    fn facts(&self, subject: &Subject<'_>, width: usize, pen: &Pen<'_>) -> Vec<Line<'static>> {
        let mut facts = Facts::new(width, pen);
        facts.text(words::ASK_FOLDER, &self.held.cwd, pen.theme.text, pen);
        facts.effects(&subject.risk.effects, pen);
        facts.reasons(subject.work, subject.risk, pen);
        facts.into_rows()
    }

    pub fn height(&mut self, screen: Rect, pen: &Pen<'_>) -> u16 {
        sheet::height(screen, &self.page(screen.width, pen))
    }

    pub fn draw(&mut self, screen: Rect, buf: &mut Buffer, pen: &Pen<'_>) -> Option<Position> {
        let page = self.page(screen.width, pen);
        self.asking.draw(screen, buf, &page, pen)
    }
}
