//! The dialogs over the screen: a stack of one enum. The last one gets the keys; a dialog is
//! visible while it is on the stack.
//!
//! A question is opened and closed by events of the session; answering it only sends the decision.

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::Millis;
use super::draw::DrawContext;
use super::guard::FocusNotice;
use super::keymap::Keymap;
use super::keys::ScrollAction;
use super::transcript::{HighlightedCode, Snippet};
use avocet_core::i18n::{Lang, Phrase};
use avocet_core::protocol::{
    Ask, AskId, Change, Extensions, Op, Page, Question, Risk, SessionInfo, StepAction,
};
use avocet_present::flow::QuestionFlow;

mod action;
mod approve;
mod choice;
mod dialog;
mod dialog_frame;
mod dialog_layout;
mod diff;
mod edit;
mod file_change;
mod form;
mod help;
mod key_entry;
mod key_page;
mod model_question;
mod page;
mod pause;
mod picker;
mod question;
mod rows;
mod scroll;
mod setting_entry;
mod side_answer;
mod step_details;
mod subject;
mod template_commands;
mod trust;

pub use action::{ModalAction, PickerAction, Topic};
use dialog::QuestionDialog;
pub use dialog_frame::fit_message;
use diff::DiffDialog;
use form::FormDialog;
use help::HelpDialog;
pub use key_entry::KeyEntry;
use key_page::KeyPage;
use page::FullPage;
pub use picker::{Picker, PickerRow};
use question::QuestionState;
pub use setting_entry::SettingEntry;
use side_answer::SideAnswerPage;

#[derive(Debug)]
pub enum Modal {
    Question(Box<QuestionDialog>),
    Form(Box<FormDialog>),
    Picker(Box<Picker>),
    Page(Box<dyn FullPage>),
    KeyEntry(Box<KeyEntry>),
    SettingEntry(Box<SettingEntry>),
    Diff(Box<DiffDialog>),
}

impl Modal {
    /// The modal for a question of the session.
    pub fn for_question(ask: Ask, info: &SessionInfo) -> Modal {
        let id = ask.id;
        let flow = QuestionFlow::new(&ask.question);

        let dialog = match ask.question {
            Question::Form { script, fields } => {
                return Modal::Form(Box::new(FormDialog::new(id, &script, fields, info.lang)));
            }
            Question::Pause { why } => pause::dialog(id, flow, why),
            Question::Pieces { of, cwd, pieces } => {
                template_commands::dialog(id, flow, of, cwd, pieces)
            }
            Question::Trust { folder, above, because, found } => {
                trust::dialog(id, flow, (folder, above), info.trusted, because, found)
            }
            question @ (Question::Choice { .. }
            | Question::Plan { .. }
            | Question::ScriptCall { .. }) => model_question::dialog(id, flow, question),
            Question::Step(asked) => approve::dialog(id, flow, asked, &info.cwd),
        };
        Modal::Question(Box::new(dialog))
    }

    pub fn help(extensions: &Extensions, keymap: &Keymap) -> Modal {
        Modal::Page(Box::new(HelpDialog::new(extensions, keymap)))
    }

    /// Changed files: those of the session, and the others.
    pub fn diff(cwd: &str, changes: Vec<Change>, uncommitted: Option<Vec<Change>>) -> Modal {
        Modal::Diff(Box::new(DiffDialog::new(cwd, changes, uncommitted)))
    }

    pub fn keys(keymap: &Keymap) -> Modal {
        Modal::Page(Box::new(KeyPage::new(keymap)))
    }

    pub fn side_answer(page: Page) -> Modal {
        Modal::Page(Box::new(SideAnswerPage::new(page)))
    }

    /// The question, if it is one shown in the common dialog.
    fn question(&self) -> Option<&QuestionState> {
        match self {
            Modal::Question(dialog) => Some(&dialog.question),
            _ => None,
        }
    }

    fn question_mut(&mut self) -> Option<&mut QuestionState> {
        match self {
            Modal::Question(dialog) => Some(&mut dialog.question),
            _ => None,
        }
    }

    /// True for a question that the user must answer.
    fn is_question(&self) -> bool {
        matches!(self, Modal::Form(_) | Modal::Question(_))
    }

    fn is_about(&self, ask: AskId) -> bool {
        match self {
            Modal::Form(form) => form.id == ask,
            other => other.question().is_some_and(|asking| asking.id == ask),
        }
    }

    fn key(&mut self, key: &KeyEvent, at: (Millis, bool), lang: Lang) -> ModalAction {
        match self {
            Modal::Question(dialog) => dialog.key(key, at, lang),
            Modal::Form(form) => form.key(key, lang),
            Modal::Picker(choose) => choose.key(key),
            Modal::Page(page) => page.key(key, lang),
            Modal::KeyEntry(entry) => entry.key(key),
            Modal::SettingEntry(entry) => entry.key(key, lang),
            Modal::Diff(diff) => diff.key(key),
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
    pub fn has_question(&self) -> bool {
        self.0.iter().any(Modal::is_question)
    }

    pub fn is_picker_on_top(&self) -> bool {
        matches!(self.0.last(), Some(Modal::Picker(_)))
    }

    pub fn is_diff_on_top(&self) -> bool {
        matches!(self.0.last(), Some(Modal::Diff(_)))
    }

    /// The picker, when it is on top.
    pub fn picker_mut(&mut self) -> Option<&mut Picker> {
        match self.0.last_mut()? {
            Modal::Picker(choose) => Some(choose),
            _ => None,
        }
    }

    /// The field for a key, when it is on top.
    pub fn key_entry_mut(&mut self) -> Option<&mut KeyEntry> {
        match self.0.last_mut() {
            Some(Modal::KeyEntry(entry)) => Some(entry),
            _ => None,
        }
    }

    /// The field for a setting, when it is on top.
    pub fn setting_entry_mut(&mut self) -> Option<&mut SettingEntry> {
        match self.0.last_mut() {
            Some(Modal::SettingEntry(entry)) => Some(entry),
            _ => None,
        }
    }

    /// Text was pasted into the field of a key or of a setting.
    pub fn paste_into_entry(&mut self, text: &str, lang: Lang) {
        match self.0.last_mut() {
            Some(Modal::KeyEntry(entry)) => entry.paste(text),
            Some(Modal::SettingEntry(entry)) => entry.paste(text, lang),
            _ => {}
        }
    }

    pub fn open(&mut self, modal: Modal) {
        self.0.push(modal);
    }

    /// The user answers a question first.
    pub fn open_below_question(&mut self, modal: Modal) {
        let at = self.0.iter().position(Modal::is_question).unwrap_or(self.0.len());
        self.0.insert(at, modal);
    }

    pub fn pop(&mut self) {
        self.0.pop();
    }

    /// The question is closed, wherever it is in the stack.
    pub fn close_question(&mut self, ask: AskId) {
        self.0.retain(|modal| !modal.is_about(ask));
    }

    /// No question of a turn outlives it.
    pub fn close_all_questions(&mut self) {
        self.0.retain(|modal| !modal.is_question());
    }

    /// A question is on top: keys are for it or for the draft.
    pub fn is_question_on_top(&self) -> bool {
        self.0.last().is_some_and(Modal::is_question)
    }

    /// Whether a text field is open in the question on top.
    pub fn has_text_field(&self) -> bool {
        match self.0.last() {
            Some(Modal::Form(_)) => true,
            _ => self.top_question().is_some_and(QuestionState::has_text_field),
        }
    }

    /// A form is on top, in which Tab goes from field to field.
    pub fn is_form_on_top(&self) -> bool {
        matches!(self.0.last(), Some(Modal::Form(_)))
    }

    /// Tells the question on top where keys go at the moment.
    pub fn set_listening(&mut self, notice: FocusNotice) {
        match self.0.last_mut() {
            Some(Modal::Form(form)) => form.set_listening(notice),
            Some(Modal::Question(dialog)) => dialog.question.set_listening(notice),
            _ => {}
        }
    }

    /// Keys go to the draft from now on.
    pub fn reset_selection(&mut self) {
        if let Some(asking) = self.top_question_mut() {
            asking.reset_selection();
        }
    }

    /// Whether a key chooses something in the question on top.
    pub fn is_choice(&self, key: &KeyEvent) -> bool {
        self.top_question().is_some_and(|asking| asking.is_choice(key))
    }

    /// Whether a letter only marks a choice of the question on top.
    pub fn is_marking(&self, key: &KeyEvent) -> bool {
        self.top_question().is_some_and(|asking| asking.is_marking(key))
    }

    fn top_question(&self) -> Option<&QuestionState> {
        self.0.last().and_then(Modal::question)
    }

    fn top_question_mut(&mut self) -> Option<&mut QuestionState> {
        self.0.last_mut().and_then(Modal::question_mut)
    }

    /// When a held approval counts.
    pub fn next_wakeup(&self) -> Option<Millis> {
        self.top_question().and_then(QuestionState::held_until)
    }

    /// An approval that was held until now.
    pub fn take_held(&mut self, now: Millis) -> Option<Op> {
        self.top_question_mut()?.take_held(now)
    }

    /// Says in the question on top why a key did nothing.
    pub fn refuse(&mut self, phrase: Phrase) {
        if let Some(asking) = self.top_question_mut() {
            asking.refuse(phrase);
        }
    }

    /// The last key was released.
    pub fn key_released(&mut self) {
        if let Some(asking) = self.top_question_mut() {
            asking.key_released();
        }
    }

    /// Scrolls what does not fit of the question on top; false if everything fits.
    pub fn scroll(&mut self, action: ScrollAction) -> bool {
        match self.0.last_mut() {
            Some(Modal::Form(form)) => form.scroll(action),
            Some(Modal::Question(dialog)) => dialog.question.scroll(action),
            _ => false,
        }
    }

    pub fn set_assessment(
        &mut self,
        ask: AskId,
        action: StepAction,
        risk: Risk,
        change: Option<Change>,
    ) {
        let asked =
            self.0.iter_mut().filter_map(Modal::question_mut).find(|asking| asking.id == ask);
        if let Some(asking) = asked {
            asking.set_assessment(action, risk, change);
        }
    }

    /// Handles a key at this time; true: the question on top cannot have been read yet.
    pub fn key(&mut self, key: &KeyEvent, at: (Millis, bool), lang: Lang) -> ModalAction {
        self.0.last_mut().map_or(ModalAction::Unhandled, |modal| modal.key(key, at, lang))
    }

    pub fn paste(&mut self, text: &str, lang: Lang) -> ModalAction {
        match self.0.last_mut() {
            Some(Modal::Form(form)) => {
                form.paste(text, lang);
                ModalAction::Stay
            }
            Some(Modal::Question(dialog)) => dialog.question.paste(text, lang),
            _ => ModalAction::Stay,
        }
    }

    /// A click on a row of the picker on top; `None`: not on a row.
    pub fn click(&mut self, screen: Rect, y: u16) -> Option<ModalAction> {
        match self.0.last_mut()? {
            Modal::Picker(picker) => picker.click(screen, y),
            _ => None,
        }
    }

    /// Code of the question on top that has no colours yet.
    pub fn next_unhighlighted(&self) -> Option<Snippet> {
        match self.0.last()? {
            Modal::Diff(diff) => diff.diffs.next_unhighlighted(),
            other => other.question()?.diffs.next_unhighlighted(),
        }
    }

    /// Takes the colours of a piece of code.
    pub fn add_highlight(&self, code: HighlightedCode) {
        match self.0.last() {
            Some(Modal::Diff(diff)) => diff.diffs.add_highlight(code),
            Some(Modal::Question(dialog)) => dialog.question.diffs.add_highlight(code),
            _ => {}
        }
    }

    /// Handles the mouse wheel.
    pub fn scroll_lines(&mut self, lines: i32) {
        match self.0.last_mut() {
            Some(Modal::Page(page)) => page.scroll(lines),
            Some(Modal::Diff(diff)) => diff.scroll(lines),
            Some(Modal::Question(dialog)) => dialog.question.scroll_lines(lines),
            _ => {}
        }
    }

    /// Lays the top dialog out for `screen`; returns its rows at the bottom, `None`: the whole
    /// screen.
    pub fn fit(&mut self, screen: Rect, cx: &DrawContext<'_>) -> Option<u16> {
        match self.0.last_mut()? {
            Modal::Question(dialog) => return Some(dialog.fit(screen, cx)),
            Modal::Form(form) => return Some(form.fit(screen, cx)),
            Modal::Picker(choose) => return Some(choose.height(screen)),
            Modal::KeyEntry(entry) => return Some(entry.height(screen, cx.lang)),
            Modal::SettingEntry(entry) => return Some(entry.fit(screen, cx)),
            Modal::Page(page) => page.fit(screen, cx),
            Modal::Diff(diff) => diff.fit(screen, cx),
        }
        None
    }

    /// Draws the top dialog over `screen`; returns the position of the cursor while a field is
    /// open.
    pub fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &DrawContext<'_>) -> Option<Position> {
        match self.0.last()? {
            Modal::Question(dialog) => dialog.question.draw(screen, buf, cx),
            Modal::Form(form) => form.draw(screen, buf, cx),
            Modal::Picker(choose) => choose.draw(screen, buf, cx),
            Modal::KeyEntry(entry) => entry.draw(screen, buf, cx),
            Modal::SettingEntry(entry) => entry.draw(screen, buf, cx),
            Modal::Page(page) => page.draw(screen, buf, cx),
            Modal::Diff(diff) => {
                diff.draw(screen, buf, cx);
                None
            }
        }
    }
}
