//! A question in the common dialog: the common part, and its content, which each kind of question
//! provides. Layout, drawing and keys are here, once for all of them.

use std::fmt::Debug;

use crossterm::event::KeyEvent;
use ratatui::layout::Rect;

use super::ModalAction;
use super::dialog_frame::DialogPage;
use super::question::QuestionState;
use crate::Millis;
use crate::draw::DrawContext;
use avocet_core::i18n::Lang;
use avocet_core::protocol::{Risk, StepAction};

#[derive(Debug)]
pub struct QuestionDialog {
    pub question: QuestionState,
    content: Box<dyn QuestionContent>,
}

pub trait QuestionContent: Debug {
    /// The content above the choices, at this width.
    fn body(&mut self, question: &QuestionState, width: usize, cx: &DrawContext<'_>) -> DialogPage;

    /// The step in question, where it can be edited.
    fn step(&self) -> Option<(&StepAction, &Risk)> {
        None
    }

    /// Handles a key that only this question knows; false for all others.
    fn handle_own_key(&mut self, _question: &mut QuestionState, _key: &KeyEvent) -> bool {
        false
    }
}

impl QuestionDialog {
    pub fn new(question: QuestionState, content: impl QuestionContent + 'static) -> QuestionDialog {
        QuestionDialog { question, content: Box::new(content) }
    }

    pub fn key(&mut self, key: &KeyEvent, at: (Millis, bool), lang: Lang) -> ModalAction {
        let QuestionDialog { question, content } = self;
        if question.is_choosing() && content.handle_own_key(question, key) {
            return ModalAction::Stay;
        }
        question.key(key, at, content.step(), lang)
    }

    /// Lays it out for `screen`; returns its rows.
    pub fn fit(&mut self, screen: Rect, cx: &DrawContext<'_>) -> u16 {
        let width = DialogPage::body_width(screen.width);
        let page = self.content.body(&self.question, width, cx);
        self.question.fit(screen, page, width, cx)
    }
}
