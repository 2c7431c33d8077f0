//! The dialog that asks whether a shell line may run, for lines that the user typed and for the
//! shell pieces of a template: each simple command has its own assessment.

use ratatui::style::Modifier;
use ratatui::text::Line;

use super::approve::StepQuestion;
use super::asking::{QuestionState, Subject};
use super::choice::Choices;
use super::command::{self, StepDetails};
use super::on_sheet::Dialog;
use super::sheet::DialogPage;
use crate::protocol::{AskId, Risk, StepAction, SubCommand};
use crate::tui::paint::{self, DrawContext};
use crate::words::screen as words;

#[derive(Debug)]
pub struct ShellDialog {
    pub asking: QuestionState,
    held: StepQuestion,
    pieces: Vec<SubCommand>,
}

impl Dialog for ShellDialog {
    fn parts(&mut self) -> (&mut QuestionState, Option<(&StepAction, &Risk)>) {
        (&mut self.asking, Some((&self.held.work, &self.held.risk)))
    }

    fn body(&mut self, width: usize, pen: &DrawContext<'_>) -> DialogPage {
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
}

impl ShellDialog {
    pub fn new(id: AskId, held: StepQuestion, pieces: Vec<SubCommand>) -> ShellDialog {
        let choices = Choices::for_shell(held.care());
        ShellDialog { asking: QuestionState::new(id, choices, held.care()), held, pieces }
    }

    /// Each simple command after its tier; a high-risk one gives its reasons below.
    fn pieces(&self, width: usize, pen: &DrawContext<'_>) -> Vec<Line<'static>> {
        if self.pieces.is_empty() {
            return Vec::new();
        }
        let mut rows = vec![Line::styled(words::SHELL_PIECES.text(pen.lang), pen.theme.dim)];
        for piece in &self.pieces {
            let tone = command::tone(&piece.risk, pen).add_modifier(Modifier::BOLD);
            let tier = piece.risk.tier.name();
            let text = command::whole(&piece.text, pen.theme.text, width.saturating_sub(6), pen);
            rows.extend(paint::labelled(&format!("  {tier}"), tone, 6, text));
        }
        rows.push(Line::default());
        rows
    }

    fn facts(
        &self,
        subject: &Subject<'_>,
        width: usize,
        pen: &DrawContext<'_>,
    ) -> Vec<Line<'static>> {
        let mut facts = StepDetails::new(width, pen);
        facts.text(words::ASK_FOLDER, &self.held.cwd, pen.theme.text, pen);
        facts.effects(&subject.risk.effects, pen);
        facts.reasons(subject.work, subject.risk, pen);
        facts.into_rows()
    }
}
