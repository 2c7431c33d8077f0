//! The dialog that asks whether a step may run: the exact command, its folder, the reasons for
//! asking and its possible effects; the model's own words come last.

use ratatui::style::Modifier;
use ratatui::text::Line;

use super::asking::{QuestionState, Subject};
use super::choice::{Choices, Severity};
use super::command::{self, StepDetails};
use super::on_sheet::Dialog;
use super::rows::{Longs, Rows};
use super::sheet::DialogPage;
use crate::protocol::{AskId, Change, Risk, StepAction, Tier, TrustOffer, UpcomingStep};
use crate::tui::paint::DrawContext;
use crate::words::{LocalizedText, screen as words};

#[derive(Debug)]
pub struct Approve {
    pub asking: QuestionState,
    held: StepQuestion,
}

/// The subject of the question, as the question brought it.
#[derive(Debug)]
pub struct StepQuestion {
    pub work: StepAction,
    pub risk: Risk,
    pub resolved: Option<String>,
    pub cwd: String,
    pub why: String,
    pub expected: String,
    /// The number of this step, and of all steps.
    pub count: (usize, usize),
    pub rule: Option<String>,
    /// The commands that the rule would cover.
    pub rule_covers: Vec<LocalizedText>,
    /// The offer to trust the folder, where there is one.
    pub trust: Option<Box<TrustOffer>>,
    /// Its change of a file.
    pub change: Option<Change>,
    /// The steps after it.
    pub rest: Vec<UpcomingStep>,
}

impl StepQuestion {
    pub fn care(&self) -> Severity {
        if self.risk.lifted || self.risk.tier == Tier::L2 {
            Severity::Grave
        } else {
            Severity::Plain
        }
    }

    /// True when the steps after it may be approved together with it.
    fn offers_all(&self) -> bool {
        let mild = self.risk.can_batch_approve()
            && self.rest.iter().all(|step| step.risk.can_batch_approve());
        mild && !self.rest.is_empty()
    }

    /// `2 of 5`; empty for a single step.
    pub fn counted(&self, pen: &DrawContext<'_>) -> String {
        match self.count {
            (_, 0..=1) => String::new(),
            (number, of) => words::ASK_COUNT.with("n", number).with("of", of).text(pen.lang),
        }
    }

    /// The file that would run; known only for the program of the question.
    fn path_of(&self, work: &StepAction) -> Option<&str> {
        let program = |work: &StepAction| match work {
            StepAction::Exec { program, .. } => Some(program.clone()),
            StepAction::Tool { .. } | StepAction::Shell { .. } => None,
        };
        self.resolved.as_deref().filter(|_| program(work) == program(&self.work))
    }
}

impl Dialog for Approve {
    fn parts(&mut self) -> (&mut QuestionState, Option<(&StepAction, &Risk)>) {
        (&mut self.asking, Some((&self.held.work, &self.held.risk)))
    }

    fn body(&mut self, width: usize, pen: &DrawContext<'_>) -> DialogPage {
        let change = self.held.change.as_ref();
        let subject = self.asking.subject(&self.held.work, &self.held.risk, change);
        let title = if subject.change.is_some() { words::CHANGE_TITLE } else { words::ASK_TITLE };
        let mut page = subject.page(title, width, pen);
        // The end of a very long diff need not be seen if the diff is read page by page.
        let paged = subject.change.is_some() && self.held.care() == Severity::Grave;
        let most = if paged { super::change::MUST } else { usize::MAX };
        let long = page.must.split_off(page.must.len().min(most));
        page.count = self.held.counted(pen);
        page.must.push(Line::default());
        page.must.extend(self.facts(&subject, width, pen));
        page.more = long;
        if !subject.is_edited() && !self.held.rule_covers.is_empty() {
            let mut facts = StepDetails::new(width, pen);
            facts.more(&self.held.rule_covers, pen);
            page.more.extend(facts.into_rows());
        }
        page.more.append(self.rest(width, pen));
        if let Some(trust) = &self.held.trust {
            page.more.push(Line::default());
            page.more.extend(super::trust::offered(trust, width, pen));
        }
        page.more.extend(self.said(width, pen));
        page
    }
}

impl Approve {
    pub fn new(id: AskId, held: StepQuestion) -> Approve {
        let choices = Choices::for_step(held.care(), held.rule.is_some());
        let rest = held.rest.iter().map(|step| step.id.clone()).collect();
        let choices = if held.offers_all() { choices.with_all(rest) } else { choices };
        let choices = choices.with_trust(held.trust.is_some());
        let slight =
            held.change.is_some() && held.risk.tier == Tier::L1 && held.risk.can_batch_approve();
        let asking = QuestionState::new(id, choices, held.care()).slight(slight);
        Approve { asking, held }
    }

    fn facts(
        &self,
        subject: &Subject<'_>,
        width: usize,
        pen: &DrawContext<'_>,
    ) -> Vec<Line<'static>> {
        let mut facts = StepDetails::new(width, pen);
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

    /// The steps after this one, each with its tier in front.
    fn rest(&self, width: usize, pen: &DrawContext<'_>) -> Rows {
        if self.held.rest.is_empty() {
            return Rows::default();
        }
        let head = Line::styled(words::ASK_REST.text(pen.lang), pen.theme.dim);
        let mut rows = Rows::from(vec![Line::default(), head]);
        for step in &self.held.rest {
            rows.append(ahead(step, width, pen, &self.asking.longs));
        }
        rows
    }

    fn said(&self, width: usize, pen: &DrawContext<'_>) -> Vec<Line<'static>> {
        let mut facts = StepDetails::new(width, pen);
        if !self.held.why.trim().is_empty() || !self.held.expected.trim().is_empty() {
            facts.blank();
        }
        facts.said(words::ASK_MODEL_SAYS, &self.held.why, pen);
        facts.said(words::ASK_EXPECTED, &self.held.expected, pen);
        facts.into_rows()
    }
}

/// A step after this one: its tier, and its whole command, since an approval may include it.
fn ahead(step: &UpcomingStep, width: usize, pen: &DrawContext<'_>, longs: &Longs) -> Rows {
    let tone = command::tone(&step.risk, pen).add_modifier(Modifier::BOLD);
    let label = format!("  {}", step.risk.tier.name());
    let room = width.saturating_sub(6);
    let work = match &step.change {
        Some(change) => super::change::rows(step.work.tool(), change, room, pen, longs),
        None => command::work(&step.work, &step.risk, room, pen).into(),
    };
    work.labelled(&label, tone, 6)
}
