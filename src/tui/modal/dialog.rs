//! The trait of questions that are shown in the common dialog. Each provides its content; layout,
//! drawing and keys are here, once for all of them.

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::ModalAction;
use super::dialog_frame::{self, DialogPage};
use super::question::QuestionState;
use crate::i18n::Lang;
use crate::protocol::{Risk, StepAction};
use crate::tui::Millis;
use crate::tui::draw::DrawContext;

pub trait Dialog {
    /// The common part, and the step in question where it can be edited.
    fn question_and_step(&mut self) -> (&mut QuestionState, Option<(&StepAction, &Risk)>);

    /// The content above the choices, at this width.
    fn body(&mut self, width: usize, pen: &DrawContext<'_>) -> DialogPage;

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

    fn page(&mut self, screen: u16, pen: &DrawContext<'_>) -> DialogPage {
        let width = DialogPage::body_width(screen);
        let mut page = self.body(width, pen);
        self.question_and_step().0.add_foot(&mut page, width, pen);
        page
    }

    fn height(&mut self, screen: Rect, pen: &DrawContext<'_>) -> u16 {
        dialog_frame::height(screen, &self.page(screen.width, pen))
    }

    fn draw(&mut self, screen: Rect, buf: &mut Buffer, pen: &DrawContext<'_>) -> Option<Position> {
        let page = self.page(screen.width, pen);
        self.question_and_step().0.draw(screen, buf, &page, pen)
    }
}
