//! The dialogs over the screen: a stack of one enum. The last one gets the keys; a dialog is
//! visible while it is on the stack.
//!
//! A question is opened and closed by events of the session; answering it only sends the decision.

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::Millis;
use super::guard::Listening;
use super::keys::Scrolled;
use super::paint::DrawContext;
use crate::protocol::{
    Ask, AskId, Change, Extensions, Op, Question, Risk, SessionInfo, StepAction,
};
use crate::words::Lang;

mod approve;
mod ask;
mod asking;
mod change;
mod choice;
mod choose;
mod command;
mod edit;
mod help;
mod key_page;
mod on_sheet;
mod page;
mod pause;
mod pieces;
mod rows;
mod sheet;
mod shell;
mod trust;

use approve::{Approve, StepQuestion};
use ask::AskModal;
use asking::QuestionState;
pub use choose::{Choose, PickerAction, PickerRow, Topic};
use help::HelpDialog;
use key_page::KeyPage;
use on_sheet::Dialog;
use pause::Pause;
use pieces::Pieces;
use shell::ShellDialog;
use trust::TrustDialog;

#[derive(Debug)]
pub enum Modal {
    Approve(Box<Approve>),
    Shell(Box<ShellDialog>),
    Pause(Box<Pause>),
    Pieces(Box<Pieces>),
    Trust(Box<TrustDialog>),
    Ask(Box<AskModal>),
    Choose(Box<Choose>),
    Help(HelpDialog),
    Keys(KeyPage),
}

/// The result of a key.
#[derive(Clone, Debug, PartialEq)]
pub enum ModalAction {
    Stay,
    Close,
    Send(Op),
    /// An item of a list was selected or confirmed, or the list was left.
    Chose(Topic, PickerAction),
    /// The key has no meaning here; it may have one elsewhere.
    Pass,
}

impl Modal {
    /// The modal for a question of the session.
    pub fn asked(ask: Ask, facts: &SessionInfo) -> Modal {
        let Ask { id, question } = ask;
        match question {
            Question::Pause { why } => Modal::Pause(Box::new(Pause::new(id, why))),
            Question::Pieces { of, cwd, pieces } => {
                Modal::Pieces(Box::new(Pieces::new(id, of, cwd, pieces)))
            }
            Question::Trust { folder, above, because, found } => Modal::Trust(Box::new(
                TrustDialog::new(id, (folder, above), facts.trusted, because, found),
            )),
            Question::Choice { text, choices, free, .. } => {
                let text = crate::tui::clean::text(&text);
                let choices = choices.iter().map(|text| crate::tui::clean::flat(text)).collect();
                Modal::Ask(Box::new(AskModal::new(id, text, choices, free)))
            }
            Question::Step {
                step,
                risk,
                resolved,
                cwd,
                why,
                expected,
                number,
                of,
                pieces,
                rule,
                rule_covers,
                trust,
                change,
                rest,
            } => {
                let count = (number, of);
                let work = step.work;
                let held = StepQuestion {
                    work,
                    risk,
                    resolved,
                    cwd,
                    why,
                    expected,
                    count,
                    rule,
                    rule_covers,
                    trust,
                    change,
                    rest,
                };
                match held.work {
                    StepAction::Shell { .. } => {
                        Modal::Shell(Box::new(ShellDialog::new(id, held, pieces)))
                    }
                    StepAction::Exec { .. } | StepAction::Tool { .. } => {
                        Modal::Approve(Box::new(Approve::new(id, held)))
                    }
                }
            }
        }
    }

    pub fn help(kept: &Extensions) -> Modal {
        Modal::Help(HelpDialog::new(kept))
    }

    pub fn keys() -> Modal {
        Modal::Keys(KeyPage::default())
    }

    /// The question, if it is one shown in the common dialog.
    fn on_sheet(&mut self) -> Option<&mut dyn Dialog> {
        match self {
            Modal::Approve(approve) => Some(approve.as_mut()),
            Modal::Shell(shell) => Some(shell.as_mut()),
            Modal::Pause(pause) => Some(pause.as_mut()),
            Modal::Pieces(pieces) => Some(pieces.as_mut()),
            Modal::Trust(trust) => Some(trust.as_mut()),
            Modal::Ask(_) | Modal::Choose(_) | Modal::Help(_) | Modal::Keys(_) => None,
        }
    }

    fn asking(&mut self) -> Option<&mut QuestionState> {
        self.on_sheet().map(|sheet| sheet.parts().0)
    }

    /// True for a question that the user must answer.
    fn is_question(&self) -> bool {
        match self {
            Modal::Approve(_)
            | Modal::Shell(_)
            | Modal::Pause(_)
            | Modal::Pieces(_)
            | Modal::Trust(_)
            | Modal::Ask(_) => true,
            Modal::Choose(_) | Modal::Help(_) | Modal::Keys(_) => false,
        }
    }

    fn is_about(&mut self, ask: AskId) -> bool {
        match self {
            Modal::Ask(asked) => asked.id == ask,
            other => other.asking().is_some_and(|asking| asking.id == ask),
        }
    }

    fn key(&mut self, key: &KeyEvent, at: Millis, lang: Lang) -> ModalAction {
        match self {
            Modal::Ask(asked) => asked.key(key, lang),
            Modal::Choose(choose) => choose.key(key),
            Modal::Help(help) => help.key(key),
            Modal::Keys(keys) => keys.key(key),
            sheet => sheet.on_sheet().map_or(ModalAction::Pass, |sheet| sheet.key(key, at, lang)),
        }
    }
}

/// The stack.
#[derive(Debug, Default)]
pub struct Modals(Vec<Modal>);

impl Modals {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True while a question waits, even below another dialog.
    pub fn asks(&self) -> bool {
        self.0.iter().any(Modal::is_question)
    }

    /// True when the transcript is visible above the top dialog.
    pub fn is_docked(&self) -> bool {
        self.0.last().is_some_and(|modal| modal.is_question() || matches!(modal, Modal::Choose(_)))
    }

    /// The picker, when it is on top.
    pub fn choosing(&mut self) -> Option<&mut Choose> {
        match self.0.last_mut()? {
            Modal::Choose(choose) => Some(choose),
            Modal::Approve(_)
            | Modal::Shell(_)
            | Modal::Pause(_)
            | Modal::Pieces(_)
            | Modal::Trust(_)
            | Modal::Ask(_)
            | Modal::Help(_)
            | Modal::Keys(_) => None,
        }
    }

    pub fn open(&mut self, modal: Modal) {
        self.0.push(modal);
    }

    pub fn pop(&mut self) {
        self.0.pop();
    }

    /// The question is closed, wherever it is in the stack.
    pub fn answered(&mut self, ask: AskId) {
        self.0.retain_mut(|modal| !modal.is_about(ask));
    }

    /// No question of a turn outlives it.
    pub fn turn_ended(&mut self) {
        self.0.retain(|modal| !modal.is_question());
    }

    /// A question is on top: keys are for it or for the draft.
    pub fn is_asking(&self) -> bool {
        self.0.last().is_some_and(Modal::is_question)
    }

    /// Whether a text field is open in the question on top.
    pub fn is_field(&self) -> bool {
        match self.0.last() {
            Some(Modal::Ask(asked)) => asked.is_field(),
            Some(Modal::Approve(asked)) => asked.asking.is_field(),
            Some(Modal::Shell(asked)) => asked.asking.is_field(),
            Some(
                Modal::Pause(_)
                | Modal::Pieces(_)
                | Modal::Trust(_)
                | Modal::Choose(_)
                | Modal::Help(_)
                | Modal::Keys(_),
            )
            | None => false,
        }
    }

    /// Tells the question on top where keys go at the moment.
    pub fn listen(&mut self, listening: Listening) {
        match self.0.last_mut() {
            Some(Modal::Ask(asked)) => asked.listen(listening),
            other => {
                if let Some(asking) = other.and_then(Modal::asking) {
                    asking.listen(listening);
                }
            }
        }
    }

    /// Keys go to the draft from now on.
    pub fn leave(&mut self) {
        match self.0.last_mut() {
            Some(Modal::Ask(asked)) => asked.leave(),
            other => {
                if let Some(asking) = other.and_then(Modal::asking) {
                    asking.leave();
                }
            }
        }
    }

    /// Scrolls what does not fit of the question on top; false if everything fits.
    pub fn scroll(&mut self, by: Scrolled) -> bool {
        match self.0.last_mut() {
            Some(Modal::Ask(asked)) => asked.scroll(by),
            other => other.and_then(Modal::asking).is_some_and(|asking| asking.scroll(by)),
        }
    }

    pub fn judged(&mut self, ask: AskId, work: StepAction, risk: Risk, change: Option<Change>) {
        let asked = self.0.iter_mut().filter_map(Modal::asking).find(|asking| asking.id == ask);
        if let Some(asking) = asked {
            asking.judged(work, risk, change);
        }
    }

    pub fn key(&mut self, key: &KeyEvent, at: Millis, lang: Lang) -> ModalAction {
        self.0.last_mut().map_or(ModalAction::Pass, |modal| modal.key(key, at, lang))
    }

    pub fn paste(&mut self, text: &str, lang: Lang) -> ModalAction {
        match self.0.last_mut() {
            Some(Modal::Ask(asked)) => asked.paste(text, lang),
            other => {
                let asking = other.and_then(Modal::asking);
                asking.map_or(ModalAction::Stay, |asking| asking.paste(text, lang))
            }
        }
    }

    /// Handles the mouse wheel.
    pub fn wheel(&mut self, lines: i32) {
        match self.0.last_mut() {
            Some(Modal::Help(help)) => help.scroll(lines),
            Some(Modal::Keys(keys)) => keys.scroll(lines),
            Some(
                Modal::Approve(_)
                | Modal::Shell(_)
                | Modal::Pause(_)
                | Modal::Pieces(_)
                | Modal::Trust(_)
                | Modal::Ask(_)
                | Modal::Choose(_),
            )
            | None => {}
        }
    }

    /// Rows of the top dialog at the bottom of the screen; `None`: the whole screen.
    pub fn height(&mut self, screen: Rect, pen: &DrawContext<'_>) -> Option<u16> {
        match self.0.last_mut()? {
            Modal::Ask(asked) => Some(asked.height(screen, pen)),
            Modal::Choose(choose) => Some(choose.height(screen)),
            Modal::Help(_) | Modal::Keys(_) => None,
            sheet => sheet.on_sheet().map(|sheet| sheet.height(screen, pen)),
        }
    }

    /// Draws the top dialog over `screen`; returns the position of the cursor while a field is
    /// open.
    pub fn draw(
        &mut self,
        screen: Rect,
        buf: &mut Buffer,
        pen: &DrawContext<'_>,
    ) -> Option<Position> {
        match self.0.last_mut()? {
            Modal::Ask(asked) => asked.draw(screen, buf, pen),
            Modal::Choose(choose) => choose.draw(screen, buf, pen),
            Modal::Keys(keys) => keys.draw(screen, buf, pen),
            Modal::Help(help) => {
                help.draw(screen, buf, pen);
                None
            }
            sheet => sheet.on_sheet().and_then(|sheet| sheet.draw(screen, buf, pen)),
        }
    }
}
