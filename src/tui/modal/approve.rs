//! The dialog that asks whether a step may run: the exact command, its folder, the reasons for
//! asking and its possible effects; the model's own words come last.

use ratatui::style::Modifier;
use ratatui::text::Line;

use super::dialog::Dialog;
use super::dialog_frame::DialogPage;
use super::question::{QuestionState, Subject};
use super::rows::{LongDiffCache, Rows};
use super::step_details::{self, StepDetails};
use crate::i18n::{LocalizedText, common, screen as words};
use crate::present::QuestionOffer;
use crate::protocol::{AskId, Change, Risk, StepAction, Tier, TrustOffer, UpcomingStep};
use crate::tui::draw::DrawContext;

#[derive(Debug)]
pub struct ApproveDialog {
    pub question: QuestionState,
    step: StepQuestion,
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
    pub upcoming: Vec<UpcomingStep>,
}

impl StepQuestion {
    /// `2 of 5`; empty for a single step.
    pub fn count_text(&self, pen: &DrawContext<'_>) -> String {
        match self.count {
            (_, 0..=1) => String::new(),
            (number, of) => words::ASK_COUNT.with("n", number).with("of", of).text(pen.lang),
        }
    }

    /// The file that would run; known only for the program of the question.
    fn program_path(&self, work: &StepAction) -> Option<&str> {
        let program = |work: &StepAction| match work {
            StepAction::Exec { program, .. } => Some(program.clone()),
            StepAction::Tool { .. } | StepAction::Shell { .. } => None,
        };
        self.resolved.as_deref().filter(|_| program(work) == program(&self.work))
    }
}

impl Dialog for ApproveDialog {
    fn question(&self) -> &QuestionState {
        &self.question
    }

    fn question_and_step(&mut self) -> (&mut QuestionState, Option<(&StepAction, &Risk)>) {
        (&mut self.question, Some((&self.step.work, &self.step.risk)))
    }

    fn body(&mut self, width: usize, pen: &DrawContext<'_>) -> DialogPage {
        let change = self.step.change.as_ref();
        let subject = self.question.subject(&self.step.work, &self.step.risk, change);
        let title = if subject.change.is_some() { words::CHANGE_TITLE } else { words::ASK_TITLE };
        let mut page = subject.page(title, width, pen);
        // The end of a very long diff need not be seen if the diff is read page by page.
        let paged = subject.change.is_some() && self.step.risk.is_high_risk();
        let most = if paged { super::file_change::MUST } else { usize::MAX };
        let long = page.required.split_off(page.required.len().min(most));
        page.count = self.step.count_text(pen);
        page.required.push(Line::default());
        page.required.extend(self.detail_rows(&subject, width, pen));
        page.optional = long;
        if !subject.is_edited() && !self.step.rule_covers.is_empty() {
            let mut facts = StepDetails::new(width, pen);
            facts.push_continuation(&self.step.rule_covers, pen);
            page.optional.extend(facts.into_rows());
        }
        page.optional.append(self.upcoming_rows(width, pen));
        if let Some(trust) = &self.step.trust {
            page.optional.push(Line::default());
            page.optional.extend(super::trust::offer_rows(trust, width, pen));
        }
        page.optional.extend(self.explanation_rows(width, pen));
        page
    }
}

impl ApproveDialog {
    pub fn new(id: AskId, offer: QuestionOffer, held: StepQuestion) -> ApproveDialog {
        let slight =
            held.change.is_some() && held.risk.tier == Tier::L1 && held.risk.can_batch_approve();
        let asking = QuestionState::new(id, offer).with_skippable_rest(slight);
        ApproveDialog { question: asking, step: held }
    }

    fn detail_rows(
        &self,
        subject: &Subject<'_>,
        width: usize,
        pen: &DrawContext<'_>,
    ) -> Vec<Line<'static>> {
        let mut facts = StepDetails::new(width, pen);
        if let Some(path) = self.step.program_path(subject.work) {
            facts.push_text(common::PROGRAM, path, pen.theme.text, pen);
        }
        facts.push_text(common::FOLDER, &self.step.cwd, pen.theme.text, pen);
        facts.push_effects(&subject.risk.effects, pen);
        facts.push_reasons(subject.work, subject.risk, pen);
        if let Some(rule) = self.step.rule.as_ref().filter(|_| !subject.is_edited()) {
            facts.push_text(words::ASK_RULE, rule, pen.theme.text, pen);
        }
        facts.into_rows()
    }

    /// The steps after this one, each with its tier in front.
    fn upcoming_rows(&self, width: usize, pen: &DrawContext<'_>) -> Rows {
        if self.step.upcoming.is_empty() {
            return Rows::default();
        }
        let head = Line::styled(words::ASK_REST.text(pen.lang), pen.theme.dim);
        let mut rows = Rows::from(vec![Line::default(), head]);
        for step in &self.step.upcoming {
            rows.append(upcoming_step_rows(step, width, pen, &self.question.long_diffs));
        }
        rows
    }

    fn explanation_rows(&self, width: usize, pen: &DrawContext<'_>) -> Vec<Line<'static>> {
        let mut facts = StepDetails::new(width, pen);
        if !self.step.why.trim().is_empty() || !self.step.expected.trim().is_empty() {
            facts.push_blank();
        }
        facts.push_model_text(words::ASK_MODEL_SAYS, &self.step.why, pen);
        facts.push_model_text(words::ASK_EXPECTED, &self.step.expected, pen);
        facts.into_rows()
    }
}

/// A step after this one: its tier, and its whole command, since an approval may include it.
fn upcoming_step_rows(
    step: &UpcomingStep,
    width: usize,
    pen: &DrawContext<'_>,
    longs: &LongDiffCache,
) -> Rows {
    let tone = step_details::tone(&step.risk, pen).add_modifier(Modifier::BOLD);
    let label = format!("  {}", step.risk.tier.name());
    let room = width.saturating_sub(6);
    let work = match &step.change {
        Some(change) => super::file_change::rows(step.work.tool(), change, room, pen, longs),
        None => step_details::action_rows(&step.work, &step.risk, room, pen).into(),
    };
    work.labelled(&label, tone, 6)
}
