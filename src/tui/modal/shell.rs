//! The dialog that asks whether a shell line may run, for lines that the user typed and for the
//! shell pieces of a template: each simple command has its own judgement.

use ratatui::text::Line;

use super::approve::count;
use super::dialog::Dialog;
use super::dialog_frame::DialogPage;
use super::question::QuestionState;
use super::step_details::{self, StepDetails};
use super::subject::Subject;
use crate::draw::{self, DrawContext};
use avocet_core::i18n::{common, screen as phrases};
use avocet_core::protocol::{AskId, Risk, StepAction, StepQuestion};
use avocet_present::flow::QuestionFlow;

/// Columns before each simple command.
const INDENT: usize = 2;

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

    fn body(&mut self, width: usize, cx: &DrawContext<'_>) -> DialogPage {
        let subject = self.question.subject(&self.asked.step.work, &self.asked.risk, None);
        let title = phrases::SHELL_TITLE.into();
        let counts = count(&self.asked, cx);
        let mut page = subject.page(title, counts, step_details::PROMPT, false, (width, cx));
        if !subject.is_edited() {
            page.optional.extend(self.command_rows(width, cx));
        }
        page.optional.extend(self.detail_rows(&subject, width, cx));
        page
    }
}

impl ShellDialog {
    pub fn new(id: AskId, flow: QuestionFlow, question: StepQuestion) -> ShellDialog {
        ShellDialog { question: QuestionState::new(id, flow), asked: question }
    }

    /// Each simple command after its tier; a high-risk one gives its reasons below.
    fn command_rows(&self, width: usize, cx: &DrawContext<'_>) -> Vec<Line<'static>> {
        if self.asked.pieces.is_empty() {
            return Vec::new();
        }
        let mut rows = vec![Line::styled(phrases::SHELL_PIECES.text(cx.lang), cx.theme.dim)];
        let room = width.saturating_sub(INDENT);
        for piece in &self.asked.pieces {
            let text = step_details::full_rows(&piece.text, cx.theme.text, room, cx);
            let text = step_details::with_tier(text, &piece.risk, room, cx);
            rows.extend(draw::label_lines("", cx.theme.dim, INDENT, text));
        }
        rows.push(Line::default());
        rows
    }

    fn detail_rows(
        &self,
        subject: &Subject<'_>,
        width: usize,
        cx: &DrawContext<'_>,
    ) -> Vec<Line<'static>> {
        let mut details = StepDetails::new(width, self.question.is_detailed(), cx);
        details.push_reasons(subject.work, subject.risk, cx);
        details.push_effects(&subject.risk.effects, cx);
        details.push_text(common::FOLDER, &self.asked.cwd, cx.theme.text, cx);
        details.into_rows()
    }
}
