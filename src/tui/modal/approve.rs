//! The dialog that asks whether a step may run: the exact command, the reasons for asking and its
//! possible effects; then what a lasting answer covers, the model's own words and the next steps.

use ratatui::text::Line;

use super::dialog::Dialog;
use super::dialog_frame::DialogPage;
use super::question::{QuestionState, Subject};
use super::rows::{DiffViewCache, Rows};
use super::step_details::{self, StepDetails};
use crate::draw::DrawContext;
use avocet_core::i18n::{common, screen as words};
use avocet_core::protocol::{AskId, Risk, StepAction, StepQuestion, Tier, UpcomingStep};
use avocet_present::QuestionOffer;

#[derive(Debug)]
pub struct ApproveDialog {
    pub question: QuestionState,
    asked: StepQuestion,
    /// The folder of the session: another one is named.
    home: String,
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
        page.required.extend(self.reason_rows(&subject, width, pen));
        page.optional = long;
        page.optional.append(self.context_rows(&subject, width, pen));
        if let Some(trust) = &self.asked.trust {
            page.optional.push(Line::default());
            page.optional.extend(super::trust::offer_rows(trust, width, pen));
        }
        page
    }
}

impl ApproveDialog {
    pub fn new(id: AskId, offer: QuestionOffer, held: StepQuestion, home: &str) -> ApproveDialog {
        let slight =
            held.change.is_some() && held.risk.tier == Tier::L1 && held.risk.can_batch_approve();
        let asking = QuestionState::new(id, offer).with_skippable_rest(slight);
        ApproveDialog { question: asking, asked: held, home: home.to_owned() }
    }

    /// Why it asks, and what must be known to answer; with high risk all that is known.
    fn reason_rows(
        &self,
        subject: &Subject<'_>,
        width: usize,
        pen: &DrawContext<'_>,
    ) -> Vec<Line<'static>> {
        let detailed = self.question.is_detailed();
        let mut facts = StepDetails::new(width, detailed, pen);
        facts.push_reasons(subject.work, subject.risk, pen);
        facts.push_effects(&subject.risk.effects, pen);
        // Known only for the program of the question.
        if program(subject.work) == program(&self.asked.step.work)
            && let Some(path) = &self.asked.resolved
            && (detailed || program(subject.work).is_some_and(|name| name.contains('/')))
        {
            facts.push_text(common::PROGRAM, path, pen.theme.text, pen);
        }
        if detailed || self.asked.cwd != self.home {
            facts.push_text(common::FOLDER, &self.asked.cwd, pen.theme.text, pen);
        }
        facts.into_rows()
    }

    /// What a lasting approval covers, the words of the model, and the steps after this one: whole,
    /// since an approval may include them.
    fn context_rows(&self, subject: &Subject<'_>, width: usize, pen: &DrawContext<'_>) -> Rows {
        let mut facts = StepDetails::new(width, false, pen);
        if !subject.is_edited() {
            facts.push_coverage(&self.asked.rule_covers, pen);
        }
        facts.push_model_text(common::MODEL, &self.asked.why, pen);
        if self.question.is_detailed() {
            facts.push_model_text(words::ASK_EXPECTED, &self.asked.expected, pen);
        }
        let mut label = Some(words::ASK_REST.text(pen.lang));
        let (column, room) = (width.saturating_sub(facts.width()), facts.width());
        let mut rows = Rows::from(facts.into_rows());
        for step in &self.asked.rest {
            let work = upcoming_step_rows(step, room, pen, &self.question.diffs);
            let label = label.take().unwrap_or_default();
            rows.append(work.labelled(label, pen.theme.dim, column));
        }
        rows
    }
}

/// A step after this one: its whole command, and its tier unless that is the usual one.
fn upcoming_step_rows(
    step: &UpcomingStep,
    width: usize,
    pen: &DrawContext<'_>,
    diffs: &DiffViewCache,
) -> Rows {
    match &step.change {
        Some(change) => super::file_change::rows(step.work.tool(), change, width, pen, diffs),
        None => {
            let rows = step_details::action_rows(&step.work, &step.risk, width, pen);
            step_details::with_tier(rows, &step.risk, width, pen).into()
        }
    }
}
