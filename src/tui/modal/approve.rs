//! May this step run? The exact command, where, why it asks, what it may do; the
//! model's own words last.

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;

use super::Answer;
use super::asking::{Asking, Subject};
use super::choice::{Care, Choices};
use super::command::Facts;
use super::sheet::{self, Page};
use crate::protocol::{AskId, Risk, Tier, Work};
use crate::tui::Millis;
use crate::tui::paint::Pen;
use crate::words::{Lang, screen as words};

#[derive(Debug)]
pub struct Approve {
    pub asking: Asking,
    held: Held,
}

/// What is asked about, as the question brought it.
#[derive(Debug)]
pub struct Held {
    pub work: Work,
    pub risk: Risk,
    pub resolved: Option<String>,
    pub cwd: String,
    pub why: String,
    pub expected: String,
    /// Which one, of how many.
    pub count: (usize, usize),
    pub rule: Option<String>,
}

impl Held {
    pub fn care(&self) -> Care {
        if self.risk.lifted || self.risk.tier == Tier::L2 { Care::Grave } else { Care::Plain }
    }

    /// `2 of 5`; nothing for the only one.
    pub fn counted(&self, pen: &Pen<'_>) -> String {
        match self.count {
            (_, 0..=1) => String::new(),
            (number, of) => words::ASK_COUNT.with("n", number).with("of", of).text(pen.lang),
        }
    }

    /// The file that would run: known for the program that was asked about.
    fn path_of(&self, work: &Work) -> Option<&str> {
        let program = |work: &Work| match work {
            Work::Exec { program, .. } => Some(program.clone()),
            Work::Tool { .. } | Work::Shell { .. } => None,
        };
        self.resolved.as_deref().filter(|_| program(work) == program(&self.work))
    }
}

impl Approve {
    pub fn new(id: AskId, held: Held, opened: Millis) -> Approve {
        let choices = Choices::for_step(held.care(), held.rule.is_some());
        Approve { asking: Asking::new(id, choices, held.care(), opened), held }
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
        let subject = self.asking.subject(&self.held.work, &self.held.risk);
        let mut page = subject.page(words::ASK_TITLE, width, pen);
        page.count = self.held.counted(pen);
        page.must.push(Line::default());
        page.must.extend(self.facts(&subject, width, pen));
        page.more = self.said(width, pen);
        page
    }

    fn facts(&self, subject: &Subject<'_>, width: usize, pen: &Pen<'_>) -> Vec<Line<'static>> {
        let mut facts = Facts::new(width, pen);
        if let Some(path) = self.held.path_of(subject.work) {
            facts.text(words::ASK_PROGRAM, path, pen.theme.text, pen);
        }
        facts.text(words::ASK_FOLDER, &self.held.cwd, pen.theme.text, pen);
        facts.effects(&subject.risk.effects, pen);
        facts.reasons(subject.work, subject.risk, pen);
        if let Some(rule) = self.held.rule.as_ref().filter(|_| !subject.is_edited()) {
            facts.text(words::ASK_RULE, rule, pen.theme.text, pen);
        }
        facts.into_rows()
    }

    fn said(&self, width: usize, pen: &Pen<'_>) -> Vec<Line<'static>> {
        let mut facts = Facts::new(width, pen);
        if !self.held.why.trim().is_empty() || !self.held.expected.trim().is_empty() {
            facts.blank();
        }
        facts.said(words::ASK_MODEL_SAYS, &self.held.why, pen);
        facts.said(words::ASK_EXPECTED, &self.held.expected, pen);
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
