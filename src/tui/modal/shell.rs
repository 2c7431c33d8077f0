//! The dialog that asks whether a shell line may run, for lines that the user typed and for the
//! shell pieces of a template: each simple command has its own assessment.

use ratatui::style::Modifier;
use ratatui::text::Line;

use super::approve::count_text;
use super::dialog::Dialog;
use super::dialog_frame::DialogPage;
use super::question::{QuestionState, Subject};
use super::step_details::{self, StepDetails};
use crate::i18n::{common, screen as words};
use crate::present::QuestionOffer;
use crate::protocol::{AskId, Risk, StepAction, StepQuestion};
use crate::tui::draw::{self, DrawContext};

#[derive(Debug)]
pub struct ShellDialog {
    pub question: QuestionState,
    asked: StepQuestion,
}

impl Dialog for ShellDialog {
    fn question(&self) -> &QuestionState {
        &self.question
    }

    fn question_and_step(&mut self) -> (&mut QuestionState, Option<(&StepAction, &Risk)>) {
        (&mut self.question, Some((&self.asked.step.work, &self.asked.risk)))
    }

    fn body(&mut self, width: usize, pen: &DrawContext<'_>) -> DialogPage {
        let subject = self.question.subject(&self.asked.step.work, &self.asked.risk, None);
        let mut page = subject.page(words::SHELL_TITLE, width, pen);
        page.count = count_text(&self.asked, pen);
        page.required.push(Line::default());
        if !subject.is_edited() {
            page.required.extend(self.command_rows(width, pen));
        }
        page.required.extend(self.detail_rows(&subject, width, pen));
        page
    }
}

impl ShellDialog {
    pub fn new(id: AskId, offer: QuestionOffer, asked: StepQuestion) -> ShellDialog {
        ShellDialog { question: QuestionState::new(id, offer), asked }
    }

    /// Each simple command after its tier; a high-risk one gives its reasons below.
    fn command_rows(&self, width: usize, pen: &DrawContext<'_>) -> Vec<Line<'static>> {
        if self.asked.pieces.is_empty() {
            return Vec::new();
        }
        let mut rows = vec![Line::styled(words::SHELL_PIECES.text(pen.lang), pen.theme.dim)];
        for piece in &self.asked.pieces {
            let tone = step_details::tone(&piece.risk, pen).add_modifier(Modifier::BOLD);
            let tier = piece.risk.tier.name();
            let text =
                step_details::full_rows(&piece.text, pen.theme.text, width.saturating_sub(6), pen);
            rows.extend(draw::label_lines(&format!("  {tier}"), tone, 6, text));
        }
        rows.push(Line::default());
        rows
    }

    fn detail_rows(
        &self,
        subject: &Subject<'_>,
        width: usize,
        pen: &DrawContext<'_>,
    ) -> Vec<Line<'static>> {
        let mut facts = StepDetails::new(width, pen);
        facts.push_text(common::FOLDER, &self.asked.cwd, pen.theme.text, pen);
        facts.push_effects(&subject.risk.effects, pen);
        facts.push_reasons(subject.work, subject.risk, pen);
        facts.into_rows()
    }
}
