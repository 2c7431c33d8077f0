//! The dialog that asks whether a paused turn is to continue.

use ratatui::text::Line;

use super::asking::QuestionState;
use super::choice::{Choices, Severity};
use super::on_sheet::Dialog;
use super::sheet::DialogPage;
use crate::protocol::{AskId, Risk, StepAction};
use crate::tui::clean;
use crate::tui::paint::DrawContext;
use crate::words::{LocalizedText, screen as words};

#[derive(Debug)]
pub struct Pause {
    pub asking: QuestionState,
    why: LocalizedText,
}

impl Pause {
    pub fn new(id: AskId, why: LocalizedText) -> Pause {
        Pause { asking: QuestionState::new(id, Choices::for_pause(), Severity::Plain), why }
    }
}

impl Dialog for Pause {
    fn parts(&mut self) -> (&mut QuestionState, Option<(&StepAction, &Risk)>) {
        (&mut self.asking, None)
    }

    fn body(&mut self, width: usize, pen: &DrawContext<'_>) -> DialogPage {
        let rows = clean::wrap(&self.why.text(pen.lang), width.min(100));
        DialogPage {
            title: words::PAUSE_TITLE.text(pen.lang).to_owned(),
            tone: pen.theme.warn,
            must: rows
                .into_iter()
                .map(|row| Line::styled(row, pen.theme.text))
                .collect::<Vec<_>>()
                .into(),
            ..DialogPage::default()
        }
    }
}
