//! The dialog that asks whether a paused turn is to continue.

use ratatui::text::Line;

use super::dialog::{QuestionContent, QuestionDialog};
use super::dialog_frame::DialogPage;
use super::question::QuestionState;
use crate::draw::DrawContext;
use crate::text;
use avocet_core::i18n::{LocalizedText, common};
use avocet_core::protocol::AskId;
use avocet_present::flow::QuestionFlow;
use avocet_present::question_lines::pause_lines;

#[derive(Debug)]
struct PauseQuestion {
    reason_text: LocalizedText,
}

pub fn dialog(id: AskId, flow: QuestionFlow, reason_text: LocalizedText) -> QuestionDialog {
    QuestionDialog::new(QuestionState::new(id, flow), PauseQuestion { reason_text })
}

impl QuestionContent for PauseQuestion {
    fn body(&mut self, _: &QuestionState, width: usize, cx: &DrawContext<'_>) -> DialogPage {
        let says = pause_lines(&self.reason_text);
        let rows = says.iter().flat_map(|say| text::wrap(&say.text(cx.lang), width.min(100)));
        DialogPage {
            title: common::CONTINUE_ASK.text(cx.lang).to_owned(),
            tone: cx.theme.warn,
            required: rows.map(|row| Line::styled(row, cx.theme.text)).collect::<Vec<_>>().into(),
            ..DialogPage::default()
        }
    }
}
