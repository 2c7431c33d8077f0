//! May this shell line run? For lines the person typed themselves and for the shell
//! pieces of a template: each simple command stands there with its own judgement.

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::Answer;
use super::approve::Held;
use super::asking::{Asking, judgement_badge};
use super::choice::Choices;
use super::command::{self, Facts};
use super::edit::Judgement;
use super::sheet::{self, Page};
use crate::protocol::{AskId, Piece, Risk, Work};
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
        let mut page = Page {
            title: words::SHELL_TITLE.text(pen.lang).to_owned(),
            tone: pen.theme.dim,
            ..Page::default()
        };
        let (number, of) = self.held.count;
        if of > 1 {
            page.count = words::ASK_COUNT.with("n", number).with("of", of).text(pen.lang);
        }
        let (work, risk) = match self.asking.editor() {
            None => (&self.held.work, &self.held.risk),
            Some(editor) => match (editor.judgement(), editor.work()) {
                (Judgement::Here(risk), Some(work)) => (work, risk),
                (judgement, _) => {
                    page.badge = judgement_badge(&judgement, pen).unwrap_or_default();
                    return page;
                }
            },
        };
        page.badge = command::badge(risk).text(pen.lang).to_owned();
        page.tone = command::tone(risk, pen);
        page.must = command::work(work, risk, width, pen);
        page.must.push(Line::default());
        if self.asking.editor().is_none() {
            page.must.extend(self.pieces(width, pen));
        }
        page.must.extend(self.facts(work, risk, width, pen));
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

    fn facts(&self, work: &Work, risk: &Risk, width: usize, pen: &Pen<'_>) -> Vec<Line<'static>> {
        let mut facts = Facts::new(width, pen);
        facts.text(words::ASK_FOLDER, &self.held.cwd, pen.theme.text, pen);
        facts.effects(&risk.effects, pen);
        facts.reasons(work, risk, pen);
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
