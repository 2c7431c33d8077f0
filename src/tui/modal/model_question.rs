//! The dialog for a question of the model: its choices by letter, digit and arrows, or an answer in
//! the user's own words. No answer runs anything.

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;

use super::dialog_frame::{self, DialogFrame, DialogPage, Foot, MEASURE};
use super::edit::{self, Field};
use super::{ModalAction, choice, question};
use crate::composer::{Composer, ComposerStyle};
use crate::draw::DrawContext;
use crate::guard::FocusNotice;
use crate::keys::{self, KeyAction, KeyContext, ScrollAction};
use crate::status::KeyHint;
use crate::text;
use avocet_core::i18n::{Lang, Phrase, common, screen as words, session};
use avocet_core::protocol::{ApprovalMode, AskId, Decision, Op, PlanItem};

/// Rows of the field for a free answer.
const FIELD: u16 = 6;

#[derive(Debug)]
pub struct ModelQuestionDialog {
    pub id: AskId,
    title: Phrase,
    text: String,
    choices: Vec<String>,
    /// The decision that each of them makes.
    decisions: Vec<Decision>,
    allows_own_answer: bool,
    /// The plan that is asked about; empty for any other question.
    plan: Vec<PlanItem>,
    chosen: usize,
    mode: ModelQuestionMode,
    frame: DialogFrame,
    listening: FocusNotice,
}

#[derive(Debug)]
enum ModelQuestionMode {
    Choosing,
    Writing(Box<Composer>),
    EditingPlan(Box<Composer>),
    Sent,
}

/// A row that can be selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ModelQuestionRow {
    Choice(usize),
    EditPlan,
    OwnAnswer,
    NoAnswer,
}

impl ModelQuestionDialog {
    /// Whether a script may make a call.
    pub fn for_script_call(id: AskId, text: String, lang: Lang) -> ModelQuestionDialog {
        let choices = [session::SCRIPT_MAY, session::SCRIPT_MAY_NOT];
        let choices = choices.map(|word| word.text(lang).to_owned()).to_vec();
        let decisions = vec![Decision::Approve, Decision::Reject { word: None }];
        let dialog = ModelQuestionDialog::new(id, text, choices, false).for_script();
        ModelQuestionDialog { decisions, ..dialog }
    }

    /// Whether a plan shall be carried out.
    pub fn for_plan(id: AskId, plan: Vec<PlanItem>, lang: Lang) -> ModelQuestionDialog {
        let choices = [words::PLAN_ACCEPT, words::PLAN_ACCEPT_EDITS];
        let choices = choices.map(|word| word.text(lang).to_owned()).to_vec();
        let accept = |mode| Decision::AcceptPlan { mode, items: None };
        let decisions = [ApprovalMode::Ask, ApprovalMode::Edits].map(accept).to_vec();
        let lines = plan.iter().map(|item| text::single_line(&item.line()));
        let text = lines.collect::<Vec<_>>().join("\n");
        let dialog = ModelQuestionDialog::new(id, text, choices, true);
        ModelQuestionDialog { decisions, plan, title: words::PLAN_ASK, ..dialog }
    }

    pub fn new(id: AskId, text: String, choices: Vec<String>, free: bool) -> ModelQuestionDialog {
        let doing = if choices.is_empty() {
            ModelQuestionMode::Writing(Box::new(Composer::new(Vec::new())))
        } else {
            ModelQuestionMode::Choosing
        };
        let (sheet, listening) = (DialogFrame::default(), FocusNotice::default());
        let answer = |text: &String| Decision::Answer { text: text.clone() };
        ModelQuestionDialog {
            id,
            title: words::CHOICE_TITLE,
            text,
            decisions: choices.iter().map(answer).collect(),
            choices,
            allows_own_answer: free,
            plan: Vec::new(),
            chosen: 0,
            mode: doing,
            frame: sheet,
            listening,
        }
    }

    /// The same as a question of Avocet's own.
    #[must_use]
    pub fn for_avocet(self) -> ModelQuestionDialog {
        ModelQuestionDialog { title: words::AVOCET_TITLE, ..self }
    }

    /// The same as a question of a script.
    #[must_use]
    pub fn for_script(self) -> ModelQuestionDialog {
        ModelQuestionDialog { title: words::SCRIPT_TITLE, ..self }
    }

    /// Sets where keys go at the moment.
    pub fn set_listening(&mut self, listening: FocusNotice) {
        self.listening = listening;
    }

    /// Keys go to the draft now: nothing stays selected for a later Enter.
    pub fn reset_selection(&mut self) {
        self.chosen = 0;
    }

    /// Whether a key chooses a row.
    pub fn is_choice(&self, key: &KeyEvent) -> bool {
        matches!(self.mode, ModelQuestionMode::Choosing)
            && keys::letter(key).and_then(|typed| self.row_for_char(typed)).is_some()
    }

    /// Whether an answer is being written.
    pub fn has_text_field(&self) -> bool {
        matches!(self.mode, ModelQuestionMode::Writing(_) | ModelQuestionMode::EditingPlan(_))
    }

    pub fn scroll_lines(&mut self, lines: i32) {
        self.frame.scroll_lines(lines);
    }

    /// Scrolls what does not fit; false if everything fits.
    pub fn scroll(&mut self, by: ScrollAction) -> bool {
        self.frame.scroll(by, true)
    }

    fn rows(&self) -> Vec<ModelQuestionRow> {
        let choices = (0..self.choices.len()).map(ModelQuestionRow::Choice);
        let own = (self.allows_own_answer || self.choices.is_empty())
            .then_some(ModelQuestionRow::OwnAnswer);
        let edit = (!self.plan.is_empty()).then_some(ModelQuestionRow::EditPlan);
        choices.chain(edit).chain(own).chain([ModelQuestionRow::NoAnswer]).collect()
    }

    pub fn key(&mut self, key: &KeyEvent, lang: Lang) -> ModalAction {
        if keys::action(KeyContext::Anywhere, key) == Some(KeyAction::Interrupt) {
            return self.send(Decision::Stop);
        }
        match &mut self.mode {
            ModelQuestionMode::Sent => ModalAction::Unhandled,
            ModelQuestionMode::Choosing => self.choose(key, lang),
            ModelQuestionMode::Writing(field) | ModelQuestionMode::EditingPlan(field) => {
                match edit::handle_field_key(field, key, lang) {
                    Field::Changed => ModalAction::Stay,
                    Field::Unhandled => ModalAction::Unhandled,
                    Field::Cancelled if self.choices.is_empty() => {
                        self.activate_row(ModelQuestionRow::NoAnswer, lang)
                    }
                    Field::Cancelled => {
                        self.mode = ModelQuestionMode::Choosing;
                        ModalAction::Stay
                    }
                    Field::Submitted => {
                        let text = field.full_text().trim().to_owned();
                        match (text.is_empty(), &self.mode) {
                            (true, _) => ModalAction::Stay,
                            (false, ModelQuestionMode::EditingPlan(_)) => {
                                let items = Some(PlanItem::parse_lines(&text));
                                self.send(Decision::AcceptPlan { mode: ApprovalMode::Ask, items })
                            }
                            (false, _) => self.send(Decision::Answer { text }),
                        }
                    }
                }
            }
        }
    }

    pub fn paste(&mut self, text: &str, lang: Lang) -> ModalAction {
        if let ModelQuestionMode::Writing(field) | ModelQuestionMode::EditingPlan(field) =
            &mut self.mode
        {
            field.paste(text, lang);
        }
        ModalAction::Stay
    }

    fn choose(&mut self, key: &KeyEvent, lang: Lang) -> ModalAction {
        let rows = self.rows();
        if let Some(row) = keys::letter(key).and_then(|typed| self.row_for_char(typed)) {
            return self.activate_row(row, lang);
        }
        match keys::action(KeyContext::Question, key) {
            Some(KeyAction::Next) => self.chosen = (self.chosen + 1) % rows.len(),
            Some(KeyAction::Previous) => self.chosen = (self.chosen + rows.len() - 1) % rows.len(),
            Some(KeyAction::More) => self.frame.show_next_part(),
            Some(KeyAction::Scroll(by)) if self.scroll(by) => {}
            Some(KeyAction::Close) => return self.activate_row(ModelQuestionRow::NoAnswer, lang),
            Some(KeyAction::Accept) => {
                if let Some(row) = rows.get(self.chosen) {
                    return self.activate_row(*row, lang);
                }
            }
            _ => return ModalAction::Unhandled,
        }
        ModalAction::Stay
    }

    /// The row that a letter or a digit selects.
    fn row_for_char(&self, typed: char) -> Option<ModelQuestionRow> {
        let rows = self.rows();
        if let Some(digit) = typed.to_digit(10) {
            return rows.get(usize::try_from(digit).ok()?.checked_sub(1)?).copied();
        }
        rows.into_iter().find(|row| letter(*row) == typed.to_ascii_lowercase())
    }

    fn activate_row(&mut self, row: ModelQuestionRow, lang: Lang) -> ModalAction {
        match row {
            ModelQuestionRow::Choice(at) => match self.decisions.get(at).cloned() {
                Some(decision) => self.send(decision),
                None => ModalAction::Stay,
            },
            ModelQuestionRow::EditPlan => {
                let mut field = Composer::new(Vec::new());
                let lines: Vec<String> = self.plan.iter().map(PlanItem::line).collect();
                field.set_text(&lines.join("\n"), lang);
                self.mode = ModelQuestionMode::EditingPlan(Box::new(field));
                ModalAction::Stay
            }
            ModelQuestionRow::OwnAnswer => {
                self.mode = ModelQuestionMode::Writing(Box::new(Composer::new(Vec::new())));
                ModalAction::Stay
            }
            ModelQuestionRow::NoAnswer => self.send(Decision::Reject { word: None }),
        }
    }

    fn send(&mut self, decision: Decision) -> ModalAction {
        self.mode = ModelQuestionMode::Sent;
        ModalAction::Send(Op::Decide { ask: self.id, decision })
    }

    fn page(&mut self, screen: u16, pen: &DrawContext<'_>) -> DialogPage {
        let width = DialogPage::body_width(screen);
        let rows = text::wrap(&self.text, width.min(MEASURE));
        let mut page = DialogPage {
            title: self.title.text(pen.lang).to_owned(),
            tone: pen.theme.accent,
            required: rows
                .into_iter()
                .map(|row| Line::styled(row, pen.theme.text))
                .collect::<Vec<_>>()
                .into(),
            ..DialogPage::default()
        };
        let own = match &self.mode {
            ModelQuestionMode::EditingPlan(_) => words::PLAN_EDIT,
            _ => self.word(words::CHOICE_OWN, words::PLAN_OTHER),
        };
        let hints: &[KeyHint] = match &mut self.mode {
            ModelQuestionMode::Sent => &[],
            ModelQuestionMode::Writing(field) | ModelQuestionMode::EditingPlan(field) => {
                let rows =
                    field.fit(u16::try_from(width).unwrap_or(u16::MAX), pen.theme).min(FIELD);
                page.foot = Foot::Field { label: own.text(pen.lang).to_owned(), rows };
                if self.choices.is_empty() { WRITING_ONLY } else { WRITING }
            }
            ModelQuestionMode::Choosing => {
                let grid = self.grid(width, pen);
                let chosen = self.rows().into_iter().nth(self.chosen);
                let row = chosen.map(|row| self.cell(self.chosen, row, width, pen));
                let row = row.and_then(|rows| rows.into_iter().next()).unwrap_or_default();
                page.foot = Foot::Choices { flow: grid.clone(), grid, row };
                CHOOSING
            }
        };
        if matches!(self.mode, ModelQuestionMode::Sent) {
            page.hint = Line::styled(words::QUESTION_SENT.text(pen.lang), pen.theme.dim);
            return page;
        }
        let say = question::listening_text(self.listening);
        page.message =
            say.map(|say| Line::styled(pen.keymap.with_keys(say).text(pen.lang), pen.theme.warn));
        page.hint = question::with_draft(hints, self.listening, width, pen);
        page
    }

    /// The word for this question, or the one where it is about a plan.
    fn word(&self, usual: Phrase, of_plan: Phrase) -> Phrase {
        if self.plan.is_empty() { usual } else { of_plan }
    }

    /// One choice below the other; a long one wraps.
    fn grid(&self, width: usize, pen: &DrawContext<'_>) -> Vec<Line<'static>> {
        let rows = self.rows().into_iter().enumerate();
        rows.flat_map(|(at, row)| self.cell(at, row, width, pen)).collect()
    }

    fn cell(
        &self,
        at: usize,
        row: ModelQuestionRow,
        width: usize,
        pen: &DrawContext<'_>,
    ) -> Vec<Line<'static>> {
        let here = question::listening_text(self.listening).is_none();
        let word = |word: Phrase| word.text(pen.lang).to_owned();
        let text = match row {
            ModelQuestionRow::Choice(at) => self.choices.get(at).cloned().unwrap_or_default(),
            ModelQuestionRow::EditPlan => word(words::PLAN_EDIT),
            ModelQuestionRow::OwnAnswer => word(self.word(words::CHOICE_OWN, words::PLAN_OTHER)),
            ModelQuestionRow::NoAnswer => {
                word(self.word(words::CHOICE_NOTHING, words::PLAN_REFUSE))
            }
        };
        choice::choice_rows(Some(at + 1), &text, letter(row), at == self.chosen && here, width, pen)
    }

    /// Lays it out for `screen`; returns its rows.
    pub fn fit(&mut self, screen: Rect, pen: &DrawContext<'_>) -> u16 {
        let page = self.page(screen.width, pen);
        self.frame.fit(screen, page)
    }

    pub fn draw(&self, screen: Rect, buf: &mut Buffer, pen: &DrawContext<'_>) -> Option<Position> {
        let area = self.frame.draw(screen, buf, pen)?;
        let dress = ComposerStyle { theme: pen.theme, hint: "", sigil: self.frame.tone() };
        let caret = match &self.mode {
            ModelQuestionMode::Writing(field) | ModelQuestionMode::EditingPlan(field) => {
                field.draw(area, buf, &dress)
            }
            ModelQuestionMode::Choosing | ModelQuestionMode::Sent => None,
        };
        dialog_frame::cursor_in_field(area, caret)
    }
}

fn letter(row: ModelQuestionRow) -> char {
    match row {
        ModelQuestionRow::Choice(at) => {
            u8::try_from(at).map_or('?', |at| char::from(b'a' + at.min(8)))
        }
        ModelQuestionRow::EditPlan => 'e',
        ModelQuestionRow::OwnAnswer => 'w',
        ModelQuestionRow::NoAnswer => 'n',
    }
}

const fn accepts(does: Phrase) -> KeyHint {
    KeyHint::bound(KeyContext::Question, KeyAction::Accept, does)
}

const fn closes(does: Phrase) -> KeyHint {
    KeyHint::bound(KeyContext::Question, KeyAction::Close, does)
}

const STOP: KeyHint = KeyHint::bound(KeyContext::Anywhere, KeyAction::Interrupt, common::STOP_TURN);
const CHOOSING: &[KeyHint] = &[
    accepts(words::HINT_CHOOSE),
    closes(words::CHOICE_NOTHING),
    KeyHint::pair(KeyContext::Question, words::HINT_MOVE),
    STOP,
];
const WRITING: &[KeyHint] = &[accepts(words::HINT_SEND), closes(words::HINT_BACK), STOP];
const WRITING_ONLY: &[KeyHint] = &[accepts(words::HINT_SEND), closes(words::CHOICE_NOTHING), STOP];
