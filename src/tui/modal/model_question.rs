//! The dialog for a question of the model, of a script or about a plan: its text, and the answers
//! that it offers, or one in the user's own words. No answer runs anything by itself.

use ratatui::text::Line;

use super::dialog::{QuestionContent, QuestionDialog};
use super::dialog_frame::DialogPage;
use super::question::QuestionState;
use crate::draw::{DrawContext, MEASURE};
use crate::symbols::plan_sign;
use crate::text;
use avocet_core::i18n::{Phrase, screen as phrases};
use avocet_core::protocol::{AskId, PlanItem, Question};
use avocet_present::flow::QuestionFlow;

#[derive(Debug)]
struct ModelQuestion {
    title_phrase: Phrase,
    text: String,
}

impl QuestionContent for ModelQuestion {
    fn body(&mut self, _: &QuestionState, width: usize, cx: &DrawContext<'_>) -> DialogPage {
        let rows = text::wrap(&self.text, width.min(MEASURE)).into_iter();
        let rows: Vec<_> = rows.map(|row| Line::styled(row, cx.theme.text)).collect();
        DialogPage {
            title: self.title_phrase.text(cx.lang).to_owned(),
            tone: cx.theme.accent,
            required: rows.into(),
            ..DialogPage::default()
        }
    }
}

pub fn dialog(id: AskId, flow: QuestionFlow, question: Question) -> QuestionDialog {
    let mut state = QuestionState::new(id, flow);
    let (title, text) = match question {
        Question::Plan { items, .. } => {
            let line = |item: &PlanItem| {
                format!("{} {}", plan_sign(item.state), text::single_line(&item.text))
            };
            let lines: Vec<_> = items.iter().map(line).collect();
            state.plan = items;
            (phrases::PLAN_ASK, lines.join("\n"))
        }
        Question::ScriptCall { text } => (phrases::SCRIPT_TITLE, text),
        Question::Choice { text, script: Some(_), .. } => (phrases::SCRIPT_TITLE, text),
        Question::Choice { text, fallback: Some(_), .. } => (phrases::AVOCET_TITLE, text),
        Question::Choice { text, .. } => (phrases::CHOICE_TITLE, text),
        Question::Step(_)
        | Question::Pieces { .. }
        | Question::Pause { .. }
        | Question::Trust { .. }
        | Question::Form { .. } => (phrases::CHOICE_TITLE, String::new()),
    };
    QuestionDialog::new(state, ModelQuestion { title_phrase: title, text: text::sanitize(&text) })
}
