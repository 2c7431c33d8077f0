//! The dialog that asks whether a step may run: the exact command, its folder, the reasons for
//! asking and its possible effects; the model's own words come last.

use ratatui::style::Modifier;
use ratatui::text::Line;

use super::dialog::Dialog;
use super::dialog_frame::DialogPage;
use super::question::{QuestionState, Subject};
use super::rows::{LongDiffCache, Rows};
use super::step_details::{self, StepDetails};
use crate::i18n::{common, screen as words};
use crate::present::QuestionOffer;
use crate::protocol::{AskId, Risk, StepAction, StepQuestion, Tier, UpcomingStep};
use crate::tui::draw::DrawContext;

#[derive(Debug)]
pub struct ApproveDialog {
    pub question: QuestionState,
    asked: StepQuestion,
}

/// `2 of 5`; empty for a single step.
pub fn count_text(asked: &StepQuestion, pen: &DrawContext<'_>) -> String {
    match asked.of {
        0..=1 => String::new(),
        of => words::ASK_COUNT.with("n", asked.number).with("of", of).text(pen.lang),
    }
}

fn program(work: &StepAction) -> Option<&str> {
    match work {
        StepAction::Exec { program, .. } => Some(program),
        StepAction::Tool { .. } | StepAction::Shell { .. } => None,
    }
}

impl Dialog for ApproveDialog {
    fn question(&self) -> &QuestionState {
        &self.question
    }

    fn question_and_step(&mut self) -> (&mut QuestionState, Option<(&StepAction, &Risk)>) {
        (&mut self.question, Some((&self.asked.step.work, &self.asked.risk)))
    }

    fn body(&mut self, width: usize, pen: &DrawContext<'_>) -> DialogPage {
        let change = self.asked.change.as_ref();
        let subject = self.question.subject(&self.asked.step.work, &self.asked.risk, change);
        let title = if subject.change.is_some() { words::CHANGE_TITLE } else { words::ASK_TITLE };
        let mut page = subject.page(title, width, pen);
        // The end of a very long diff need not be seen if the diff is read page by page.
        let paged = subject.change.is_some() && self.asked.risk.is_high_risk();
        let most = if paged { super::file_change::MUST } else { usize::MAX };
        let long = page.required.split_off(page.required.len().min(most));
        page.count = count_text(&self.asked, pen);
        page.required.push(Line::default());
        page.required.extend(self.detail_rows(&subject, width, pen));
        page.optional = long;
        if !subject.is_edited() && !self.asked.rule_covers.is_empty() {
            let mut facts = StepDetails::new(width, pen);
            facts.push_continuation(&self.asked.rule_covers, pen);
            page.optional.extend(facts.into_rows());
        }
        page.optional.append(self.upcoming_rows(width, pen));
        if let Some(trust) = &self.asked.trust {
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
        ApproveDialog { question: asking, asked: held }
    }

    fn detail_rows(
        &self,
        subject: &Subject<'_>,
        width: usize,
        pen: &DrawContext<'_>,
    ) -> Vec<Line<'static>> {
        let mut facts = StepDetails::new(width, pen);
        // Known only for the program of the question.
        if program(subject.work) == program(&self.asked.step.work)
            && let Some(path) = &self.asked.resolved
        {
            facts.push_text(common::PROGRAM, path, pen.theme.text, pen);
        }
        facts.push_text(common::FOLDER, &self.asked.cwd, pen.theme.text, pen);
        facts.push_effects(&subject.risk.effects, pen);
        facts.push_reasons(subject.work, subject.risk, pen);
        if let Some(rule) = self.asked.rule.as_ref().filter(|_| !subject.is_edited()) {
            facts.push_text(words::ASK_RULE, rule, pen.theme.text, pen);
        }
        facts.into_rows()
    }

    /// The steps after this one, each with its tier in front.
    fn upcoming_rows(&self, width: usize, pen: &DrawContext<'_>) -> Rows {
        if self.asked.rest.is_empty() {
            return Rows::default();
        }
        let head = Line::styled(words::ASK_REST.text(pen.lang), pen.theme.dim);
        let mut rows = Rows::from(vec![Line::default(), head]);
        for step in &self.asked.rest {
            rows.append(upcoming_step_rows(step, width, pen, &self.question.long_diffs));
        }
        rows
    }

    fn explanation_rows(&self, width: usize, pen: &DrawContext<'_>) -> Vec<Line<'static>> {
        let mut facts = StepDetails::new(width, pen);
        if !self.asked.why.trim().is_empty() || !self.asked.expected.trim().is_empty() {
            facts.push_blank();
        }
        facts.push_model_text(words::ASK_MODEL_SAYS, &self.asked.why, pen);
        facts.push_model_text(words::ASK_EXPECTED, &self.asked.expected, pen);
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
