//! The trait of questions that are shown in the common dialog. Each provides its content; layout,
//! drawing and keys are here, once for all of them.

use crossterm::event::KeyEvent;
use ratatui::layout::Rect;

use super::ModalAction;
use super::dialog_frame::DialogPage;
use super::question::QuestionState;
use crate::Millis;
use crate::draw::DrawContext;
use avocet_core::i18n::Lang;
use avocet_core::protocol::{Risk, StepAction};

pub trait Dialog {
    /// The common part, and the step in question where it can be edited.
    fn question(&self) -> &QuestionState;

    fn question_and_step(&mut self) -> (&mut QuestionState, Option<(&StepAction, &Risk)>);

    /// The content above the choices, at this width.
    fn body(&mut self, width: usize, cx: &DrawContext<'_>) -> DialogPage;

    /// Handles a key that only this dialog knows; false for all others.
    fn handle_own_key(&mut self, _key: &KeyEvent) -> bool {
        false
    }

    fn key(&mut self, key: &KeyEvent, at: Millis, lang: Lang) -> ModalAction {
        if self.question_and_step().0.is_choosing() && self.handle_own_key(key) {
            return ModalAction::Stay;
        }
        let (asking, held) = self.question_and_step();
        asking.key(key, at, held, lang)
    }

    /// Lays it out for `screen`; returns its rows.
    fn fit(&mut self, screen: Rect, cx: &DrawContext<'_>) -> u16 {
        let width = DialogPage::body_width(screen.width);
        let page = self.body(width, cx);
        self.question_and_step().0.fit(screen, page, width, cx)
    }
}
