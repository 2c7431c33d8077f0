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
mod shell;
mod side_answer;
mod step_details;
mod subject;
mod template_commands;
mod trust;

pub use action::{ModalAction, PickerAction, Topic};
use approve::ApproveDialog;
use dialog::Dialog;
pub use dialog_frame::fit_message;
use diff::DiffDialog;
use form::FormDialog;
use help::HelpDialog;
pub use key_entry::KeyEntry;
use key_page::KeyPage;
use model_question::ModelQuestionDialog;
use pause::PauseDialog;
pub use picker::{Picker, PickerRow};
use question::QuestionState;
#[cfg(test)]
pub use question::WORD;
pub use setting_entry::SettingEntry;
use shell::ShellDialog;
use side_answer::SideAnswerPage;
use template_commands::TemplateDialog;
use trust::TrustDialog;

#[derive(Debug)]
pub enum Modal {
    Approve(Box<ApproveDialog>),
    Shell(Box<ShellDialog>),
    Pause(Box<PauseDialog>),
    TemplateCommands(Box<TemplateDialog>),
    Trust(Box<TrustDialog>),
    ModelQuestion(Box<ModelQuestionDialog>),
    Form(Box<FormDialog>),
    Picker(Box<Picker>),
    Help(HelpDialog),
    Keys(KeyPage),
    SideAnswer(SideAnswerPage),
    KeyEntry(Box<KeyEntry>),
    SettingEntry(Box<SettingEntry>),
    Diff(Box<DiffDialog>),
}

impl Modal {
    /// The modal for a question of the session.
    pub fn for_question(ask: Ask, info: &SessionInfo) -> Modal {
        let id = ask.id;
        let flow = QuestionFlow::new(&ask.question);

        match ask.question {
            Question::Pause { why } => Modal::Pause(Box::new(PauseDialog::new(id, flow, why))),
            Question::Pieces { of, cwd, pieces } => {
                Modal::TemplateCommands(Box::new(TemplateDialog::new(id, flow, of, cwd, pieces)))
            }
            Question::Trust { folder, above, because, found } => Modal::Trust(Box::new(
                TrustDialog::new(id, flow, (folder, above), info.trusted, because, found),
            )),
            Question::Form { script, fields } => {
                Modal::Form(Box::new(FormDialog::new(id, &script, fields, info.lang)))
            }
            question @ (Question::Choice { .. }
            | Question::Plan { .. }
            | Question::ScriptCall { .. }) => {
                Modal::ModelQuestion(Box::new(ModelQuestionDialog::new(id, flow, question)))
            }
            Question::Step(asked) => match asked.step.work {
                StepAction::Shell { .. } => {
                    Modal::Shell(Box::new(ShellDialog::new(id, flow, asked)))
                }
                StepAction::Exec { .. } | StepAction::Tool { .. } => {
                    Modal::Approve(Box::new(ApproveDialog::new(id, flow, asked, &info.cwd)))
                }
            },
        }
    }

    pub fn help(extensions: &Extensions, keymap: &Keymap) -> Modal {
        Modal::Help(HelpDialog::new(extensions, keymap))
    }

    /// Changed files: those of the session, and the others.
    pub fn diff(cwd: &str, changes: Vec<Change>, uncommitted: Option<Vec<Change>>) -> Modal {
        Modal::Diff(Box::new(DiffDialog::new(cwd, changes, uncommitted)))
    }

    pub fn keys(keymap: &Keymap) -> Modal {
        Modal::Keys(KeyPage::new(keymap))
    }

    pub fn side_answer(page: Page) -> Modal {
        Modal::SideAnswer(SideAnswerPage::new(page))
    }

    /// The question, if it is one shown in the common dialog.
    fn dialog(&self) -> Option<&dyn Dialog> {
        match self {
            Modal::Approve(approve) => Some(approve.as_ref()),
            Modal::Shell(shell) => Some(shell.as_ref()),
            Modal::Pause(pause) => Some(pause.as_ref()),
            Modal::TemplateCommands(pieces) => Some(pieces.as_ref()),
            Modal::Trust(trust) => Some(trust.as_ref()),
            Modal::ModelQuestion(asked) => Some(asked.as_ref()),
            Modal::Form(_)
            | Modal::Picker(_)
            | Modal::Help(_)
            | Modal::KeyEntry(_)
            | Modal::SettingEntry(_)
            | Modal::Diff(_)
            | Modal::SideAnswer(_)
            | Modal::Keys(_) => None,
        }
    }

    fn dialog_mut(&mut self) -> Option<&mut dyn Dialog> {
        match self {
            Modal::Approve(approve) => Some(approve.as_mut()),
            Modal::Shell(shell) => Some(shell.as_mut()),
            Modal::Pause(pause) => Some(pause.as_mut()),
            Modal::TemplateCommands(pieces) => Some(pieces.as_mut()),
            Modal::Trust(trust) => Some(trust.as_mut()),
            Modal::ModelQuestion(asked) => Some(asked.as_mut()),
            Modal::Form(_)
            | Modal::Picker(_)
            | Modal::Help(_)
            | Modal::KeyEntry(_)
            | Modal::SettingEntry(_)
            | Modal::Diff(_)
            | Modal::SideAnswer(_)
            | Modal::Keys(_) => None,
        }
    }

    fn question_state(&mut self) -> Option<&mut QuestionState> {
        self.dialog_mut().map(|sheet| sheet.question_and_step().0)
    }

    /// True for a question that the user must answer.
    fn is_question(&self) -> bool {
        matches!(self, Modal::Form(_)) || self.dialog().is_some()
    }

    fn is_about(&self, ask: AskId) -> bool {
        match self {
            Modal::Form(form) => form.id == ask,
            other => other.dialog().is_some_and(|sheet| sheet.question().id == ask),
        }
    }

    fn key(&mut self, key: &KeyEvent, at: Millis, lang: Lang) -> ModalAction {
        match self {
            Modal::Form(form) => form.key(key, lang),
            Modal::Picker(choose) => choose.key(key),
            Modal::Help(help) => help.key(key),
            Modal::Keys(keys) => keys.key(key),
            Modal::SideAnswer(page) => page.key(key, lang),
            Modal::KeyEntry(entry) => entry.key(key),
            Modal::SettingEntry(entry) => entry.key(key, lang),
            Modal::Diff(diff) => diff.key(key),
            sheet => {
                sheet.dialog_mut().map_or(ModalAction::Unhandled, |sheet| sheet.key(key, at, lang))
            }
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
            Modal::Approve(_)
            | Modal::Shell(_)
            | Modal::Pause(_)
            | Modal::TemplateCommands(_)
            | Modal::Trust(_)
            | Modal::ModelQuestion(_)
            | Modal::Form(_)
            | Modal::Help(_)
            | Modal::KeyEntry(_)
            | Modal::SettingEntry(_)
            | Modal::Diff(_)
            | Modal::SideAnswer(_)
            | Modal::Keys(_) => None,
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
            other => {
                other.and_then(Modal::dialog).is_some_and(|sheet| sheet.question().has_text_field())
            }
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
            other => {
                if let Some(asking) = other.and_then(Modal::question_state) {
                    asking.set_listening(notice);
                }
            }
        }
    }

    /// Keys go to the draft from now on.
    pub fn reset_selection(&mut self) {
        if let Some(asking) = self.0.last_mut().and_then(Modal::question_state) {
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
        self.0.last().and_then(Modal::dialog).map(Dialog::question)
    }

    /// When a held approval counts.
    pub fn next_wakeup(&self) -> Option<Millis> {
        self.top_question().and_then(QuestionState::held_until)
    }

    /// An approval that was held until now.
    pub fn take_held(&mut self, now: Millis) -> Option<Op> {
        self.0.last_mut().and_then(Modal::question_state)?.take_held(now)
    }

    /// Says in the question on top why a key did nothing.
    pub fn refuse(&mut self, why: Phrase) {
        if let Some(asking) = self.0.last_mut().and_then(Modal::question_state) {
            asking.refuse(why);
        }
    }

    /// The last key was released.
    pub fn key_released(&mut self) {
        if let Some(asking) = self.0.last_mut().and_then(Modal::question_state) {
            asking.key_released();
        }
    }

    /// Scrolls what does not fit of the question on top; false if everything fits.
    pub fn scroll(&mut self, action: ScrollAction) -> bool {
        match self.0.last_mut() {
            Some(Modal::Form(form)) => form.scroll(action),
            other => {
                other.and_then(Modal::question_state).is_some_and(|asking| asking.scroll(action))
            }
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
            self.0.iter_mut().filter_map(Modal::question_state).find(|asking| asking.id == ask);
        if let Some(asking) = asked {
            asking.set_assessment(action, risk, change);
        }
    }

    pub fn key(&mut self, key: &KeyEvent, at: Millis, lang: Lang) -> ModalAction {
        self.0.last_mut().map_or(ModalAction::Unhandled, |modal| modal.key(key, at, lang))
    }

    pub fn paste(&mut self, text: &str, lang: Lang) -> ModalAction {
        match self.0.last_mut() {
            Some(Modal::Form(form)) => {
                form.paste(text, lang);
                ModalAction::Stay
            }
            other => {
                let asking = other.and_then(Modal::question_state);
                asking.map_or(ModalAction::Stay, |asking| asking.paste(text, lang))
            }
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
            other => other.dialog()?.question().diffs.next_unhighlighted(),
        }
    }

    /// Takes the colours of a piece of code.
    pub fn add_highlight(&self, code: HighlightedCode) {
        match self.0.last() {
            Some(Modal::Diff(diff)) => diff.diffs.add_highlight(code),
            other => {
                if let Some(dialog) = other.and_then(Modal::dialog) {
                    dialog.question().diffs.add_highlight(code);
                }
            }
        }
    }

    /// Handles the mouse wheel.
    pub fn scroll_lines(&mut self, lines: i32) {
        match self.0.last_mut() {
            Some(Modal::Help(help)) => help.scroll(lines),
            Some(Modal::Keys(keys)) => keys.scroll(lines),
            Some(Modal::SideAnswer(page)) => page.scroll(lines),
            Some(Modal::Diff(diff)) => diff.scroll(lines),
            Some(
                Modal::Form(_) | Modal::KeyEntry(_) | Modal::SettingEntry(_) | Modal::Picker(_),
            )
            | None => {}
            Some(asked) => {
                if let Some(question) = asked.question_state() {
                    question.scroll_lines(lines);
                }
            }
        }
    }

    /// Lays the top dialog out for `screen`; returns its rows at the bottom, `None`: the whole
    /// screen.
    pub fn fit(&mut self, screen: Rect, cx: &DrawContext<'_>) -> Option<u16> {
        match self.0.last_mut()? {
            Modal::Form(form) => return Some(form.fit(screen, cx)),
            Modal::Picker(choose) => return Some(choose.height(screen)),
            Modal::KeyEntry(entry) => return Some(entry.height(screen, cx.lang)),
            Modal::SettingEntry(entry) => return Some(entry.fit(screen, cx)),
            Modal::Help(help) => help.fit(screen, cx),
            Modal::Diff(diff) => diff.fit(screen, cx),
            Modal::Keys(keys) => keys.fit(screen, cx),
            Modal::SideAnswer(page) => page.fit(screen, cx),
            sheet => return sheet.dialog_mut().map(|sheet| sheet.fit(screen, cx)),
        }
        None
    }

    /// Draws the top dialog over `screen`; returns the position of the cursor while a field is
    /// open.
    pub fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &DrawContext<'_>) -> Option<Position> {
        match self.0.last()? {
            Modal::Form(form) => form.draw(screen, buf, cx),
            Modal::Picker(choose) => choose.draw(screen, buf, cx),
            Modal::KeyEntry(entry) => entry.draw(screen, buf, cx),
            Modal::SettingEntry(entry) => entry.draw(screen, buf, cx),
            Modal::Keys(keys) => keys.draw(screen, buf, cx),
            Modal::Diff(diff) => {
                diff.draw(screen, buf, cx);
                None
            }
            Modal::SideAnswer(page) => {
                page.draw(screen, buf, cx);
                None
            }
            Modal::Help(help) => {
                help.draw(screen, buf, cx);
                None
            }
            sheet => sheet.dialog().and_then(|sheet| sheet.question().draw(screen, buf, cx)),
        }
    }
}
