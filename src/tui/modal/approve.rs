//! May this step run? The exact command, where, why it asks, what it may do; the
//! model's own words last.

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::Answer;
use super::asking::{Asking, judgement_badge};
use super::choice::{Care, Choices};
use super::command::{self, Facts};
use super::edit::Judgement;
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
}

impl Approve {
    pub fn new(id: AskId, held: Held, opened: Millis) -> Approve {
        let choices = Choices::for_step(held.care(), held.rule.is_some());
        Approve { asking: Asking::new(id, choices, held.care(), opened), held }
    }

    pub fn key(&mut self, key: &KeyEvent, at: Millis, lang: Lang) -> Answer {
        self.asking.key(key, at, Some((&self.held.work, &self.held.risk)), lang)
    }

    /// What stands there: the step as proposed, or as it is being changed.
    fn subject(&self) -> (&Work, Option<&Risk>) {
        match self.asking.editor() {
            None => (&self.held.work, Some(&self.held.risk)),
            Some(editor) => {
                let risk = match editor.judgement() {
                    Judgement::Here(risk) => Some(risk),
                    Judgement::Awaited | Judgement::Unreadable(_) => None,
                };
                (editor.work().unwrap_or(&self.held.work), risk)
            }
        }
    }

    fn page(&mut self, screen: u16, pen: &Pen<'_>) -> Page {
        let width = Page::body_width(screen);
        let mut page = self.body(width, pen);
        self.asking.finish(&mut page, width, pen);
        page
    }

    fn body(&self, width: usize, pen: &Pen<'_>) -> Page {
        let (work, risk) = self.subject();
        let (number, of) = self.held.count;
        let mut page = Page {
            title: words::ASK_TITLE.text(pen.lang).to_owned(),
            tone: risk.map_or(pen.theme.dim, |risk| command::tone(risk, pen)),
            ..Page::default()
        };
        if of > 1 {
            page.count = words::ASK_COUNT.with("n", number).with("of", of).text(pen.lang);
        }
        if let Some(editor) = self.asking.editor() {
            page.title = words::EDIT_TITLE.text(pen.lang).to_owned();
            let judgement = editor.judgement();
            page.badge = judgement_badge(&judgement, pen).unwrap_or_default();
            if let Judgement::Unreadable(fault) = judgement {
                let fault = crate::tui::clean::wrap(&fault.text(pen.lang), width);
                page.must = fault
                    .into_iter()
                    .map(|row| ratatui::text::Line::styled(row, pen.theme.warn))
                    .collect();
                return page;
            }
        }
        if let Some(risk) = risk {
            page.badge = command::badge(risk).text(pen.lang).to_owned();
            page.must = command::work(work, risk, width, pen);
            page.must.push(ratatui::text::Line::default());
            page.must.extend(self.facts(work, risk, width, pen));
            page.more = self.said(width, pen);
        }
        page
    }

    fn facts(
        &self,
        work: &Work,
        risk: &Risk,
        width: usize,
        pen: &Pen<'_>,
    ) -> Vec<ratatui::text::Line<'static>> {
        let mut facts = Facts::new(width, pen);
        let same_program = match (work, &self.held.work) {
            (Work::Exec { program: now, .. }, Work::Exec { program: then, .. }) => now == then,
            (now, then) => now == then,
        };
        if let Some(path) = self.held.resolved.as_ref().filter(|_| same_program) {
            facts.text(words::ASK_PROGRAM, path, pen.theme.text, pen);
        }
        facts.text(words::ASK_FOLDER, &self.held.cwd, pen.theme.text, pen);
        facts.effects(&risk.effects, pen);
        facts.reasons(work, risk, pen);
        if let Some(rule) = self.held.rule.as_ref().filter(|_| self.asking.editor().is_none()) {
            facts.text(words::ASK_RULE, rule, pen.theme.text, pen);
        }
        facts.into_rows()
    }

    fn said(&self, width: usize, pen: &Pen<'_>) -> Vec<ratatui::text::Line<'static>> {
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
