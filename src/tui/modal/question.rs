//! The common part of all questions: the choices, what must be seen before approval, the field for
//! an edited command or a message to the model, and the answer.

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;

use super::ModalAction;
use super::choice::{self, Choices, QuestionChoice};
use super::dialog_frame::{self, DialogFrame, DialogPage, Foot, MEASURE, MessageUntil};
use super::edit::{EditAssessment, Editor, Field, handle_field_key};
use super::rows::DiffViewCache;
use super::step_details;
use crate::composer::{Composer, ComposerStyle};
use crate::draw::DrawContext;
use crate::guard::FocusNotice;
use crate::keys::{self, KeyAction, KeyContext, ScrollAction};
use crate::status::{HintKey, KeyHint, hint_line};
use crate::{Millis, text};
use avocet_core::i18n::{Lang, LocalizedText, Phrase, common, prompt, screen as words};
use avocet_core::protocol::{AskId, Change, Decision, Op, Risk, StepAction};
use avocet_present::{ChoicePick, PickEffect, QuestionOffer, Severity};

/// A second press approves what was not all seen, but not while the key is held down. Few terminals
/// report that it was released.
const HELD: Millis = 700;

#[derive(Debug)]
pub struct QuestionState {
    pub id: AskId,
    pub choices: Choices,
    pub mode: QuestionMode,
    frame: DialogFrame,
    /// Of low risk: its rest may stay unseen.
    can_skip_rest: bool,
    /// The user asked for the details.
    details: bool,
    listening: FocusNotice,
    refusal: Option<Refusal>,
    pub diffs: DiffViewCache,
}

/// Why the last key did nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Refusal {
    /// Not everything that the approval would cover was on the screen.
    Unseen {
        all: bool,
        at: Millis,
    },
    Message(Phrase),
}

#[derive(Debug)]
pub enum QuestionMode {
    Choosing,
    Editing(Box<Editor>),
    WritingReason(Box<Composer>),
    /// The answer was sent; the session closes the question.
    Sent,
}

impl QuestionState {
    pub fn new(id: AskId, offer: QuestionOffer) -> QuestionState {
        let can_skip_rest = offer.is_usual();
        QuestionState {
            id,
            choices: Choices::new(offer),
            mode: QuestionMode::Choosing,
            frame: DialogFrame::default(),
            can_skip_rest,
            details: false,
            listening: FocusNotice::default(),
            refusal: None,
            diffs: DiffViewCache::default(),
        }
    }

    fn severity(&self) -> Severity {
        self.choices.offer.severity
    }

    /// Lets a second press approve what was not all seen.
    #[must_use]
    pub fn with_skippable_rest(mut self, slight: bool) -> QuestionState {
        self.can_skip_rest |= slight && self.severity() == Severity::Plain;
        self
    }

    /// Whether everything about the step is shown: with high risk it always is.
    pub fn is_detailed(&self) -> bool {
        self.details || self.severity() == Severity::HighRisk
    }

    /// Sets where keys go at the moment.
    pub fn set_listening(&mut self, listening: FocusNotice) {
        self.listening = listening;
        let here = matches!(listening, FocusNotice::Question | FocusNotice::QuestionWithDraft);
        self.choices.set_inactive(!here);
    }

    /// The last key was released, so that the same one pressed again is another press.
    pub fn key_released(&mut self) {
        if let Some(Refusal::Unseen { at, .. }) = &mut self.refusal {
            *at = 0;
        }
    }

    /// Whether a key chooses something here.
    pub fn is_choice(&self, key: &KeyEvent) -> bool {
        self.is_choosing() && self.choices.choice_for_key(key).is_some()
    }

    /// Keys go to the draft now: nothing stays selected or refused for a later Enter.
    pub fn reset_selection(&mut self) {
        self.choices.reset();
        self.refusal = None;
    }

    /// Whether a text field is open in the dialog.
    pub fn has_text_field(&self) -> bool {
        matches!(self.mode, QuestionMode::Editing(_) | QuestionMode::WritingReason(_))
    }

    pub fn scroll_lines(&mut self, lines: i32) {
        self.frame.scroll_lines(lines);
    }

    /// Scrolls what does not fit; false if everything fits.
    pub fn scroll(&mut self, by: ScrollAction) -> bool {
        self.frame.scroll(by, self.severity() == Severity::Plain)
    }

    /// The current content of the dialog, for a question about `work` with the assessment `risk`.
    pub fn subject<'a>(
        &'a self,
        work: &'a StepAction,
        risk: &'a Risk,
        change: Option<&'a Change>,
    ) -> Subject<'a> {
        let diffs = &self.diffs;
        let QuestionMode::Editing(editor) = &self.mode else {
            return Subject { work, risk, change, certainty: Certainty::Proposed, diffs };
        };
        let (risk, standing) = match editor.assessment() {
            EditAssessment::Current(risk) => (risk, Certainty::Assessed),
            EditAssessment::Pending(last) => (last.unwrap_or(risk), Certainty::Pending),
            EditAssessment::Unreadable(fault) => (risk, Certainty::Unreadable(fault)),
        };
        let change = editor.change();
        Subject { work: editor.work().unwrap_or(work), risk, change, certainty: standing, diffs }
    }

    pub fn set_assessment(&mut self, work: StepAction, risk: Risk, change: Option<Change>) {
        if let QuestionMode::Editing(editor) = &mut self.mode {
            editor.set_assessment(work, risk, change);
            self.frame.reset();
        }
    }

    /// Handles a key; `held` is the subject of the question.
    pub fn key(
        &mut self,
        key: &KeyEvent,
        at: Millis,
        held: Option<(&StepAction, &Risk)>,
        lang: Lang,
    ) -> ModalAction {
        if keys::action(KeyContext::Anywhere, key) == Some(KeyAction::Interrupt) {
            return self.send(Decision::Stop);
        }
        let before = self.refusal.take();
        match &mut self.mode {
            QuestionMode::Sent => ModalAction::Unhandled,
            QuestionMode::Choosing => self.choose(key, at, before, held, lang),
            QuestionMode::WritingReason(_) => self.word(key, lang),
            QuestionMode::Editing(_) => self.edit(key, at, lang),
        }
    }

    pub fn paste(&mut self, text: &str, lang: Lang) -> ModalAction {
        match &mut self.mode {
            QuestionMode::Choosing | QuestionMode::Sent => ModalAction::Stay,
            QuestionMode::WritingReason(field) => {
                field.paste(text, lang);
                ModalAction::Stay
            }
            QuestionMode::Editing(editor) => {
                editor.field.paste(text, lang);
                self.request_assessment()
            }
        }
    }

    fn choose(
        &mut self,
        key: &KeyEvent,
        at: Millis,
        before: Option<Refusal>,
        held: Option<(&StepAction, &Risk)>,
        lang: Lang,
    ) -> ModalAction {
        if let Some(choice) = self.choices.choice_for_key(key) {
            let typed = keys::letter(key) == Some(choice.letter);
            if choice.pick.is_lasting() {
                self.choices.mark(&choice);
                return self.refuse_with(words::MARKED);
            }
            return self.apply_choice(choice, Press { typed, at, before }, held, lang);
        }
        match keys::action(KeyContext::Question, key) {
            Some(KeyAction::Next) => self.choices.next(),
            Some(KeyAction::Previous) => self.choices.previous(),
            Some(KeyAction::More) => self.frame.show_next_part(),
            Some(KeyAction::Details) if self.choices.has_details() => self.details = !self.details,
            Some(KeyAction::Scroll(by)) => {
                return match (self.scroll(by), keys::letter(key)) {
                    (true, _) => ModalAction::Stay,
                    (false, Some(_)) => ModalAction::Ignored,
                    (false, None) => ModalAction::Unhandled,
                };
            }
            Some(KeyAction::Close) => return self.send(self.choices.offer.dismissal()),
            Some(KeyAction::Accept) => {
                if let Some(choice) = self.choices.chosen() {
                    return self.apply_choice(
                        choice,
                        Press { typed: false, at, before },
                        held,
                        lang,
                    );
                }
            }
            _ if keys::letter(key).is_some_and(choice::is_answer_letter) => {
                return ModalAction::Ignored;
            }
            _ => return ModalAction::Unhandled,
        }
        ModalAction::Stay
    }

    fn apply_choice(
        &mut self,
        choice: QuestionChoice,
        press: Press,
        held: Option<(&StepAction, &Risk)>,
        lang: Lang,
    ) -> ModalAction {
        let needs_all = matches!(
            choice.pick,
            ChoicePick::All | ChoicePick::Each | ChoicePick::TrustAbove | ChoicePick::TrustFirst
        );
        if needs_all && !self.frame.is_all_seen() {
            return self.refuse_unseen(true, press.at);
        }
        match self.choices.offer.effect(choice.pick) {
            // "All" of nothing is not an answer.
            PickEffect::DecideEach if self.choices.offer.batch.is_empty() => {
                self.refuse_with(prompt::PIECES_NONE)
            }
            PickEffect::DecideEach => {
                let steps = self.choices.offer.batch.clone();
                self.approve(Decision::ApproveAll { steps }, press)
            }
            PickEffect::Decide(decision) => match choice.pick {
                ChoicePick::Reject
                | ChoicePick::Stop
                | ChoicePick::Continue
                | ChoicePick::TrustFirst => self.send(decision),
                _ => self.approve(decision, press),
            },
            // The field would not be seen.
            PickEffect::WriteReason if !self.frame.has_room() => {
                self.send(Decision::Reject { word: None })
            }
            PickEffect::WriteReason => {
                self.mode = QuestionMode::WritingReason(Box::new(Composer::new(Vec::new())));
                ModalAction::Stay
            }
            PickEffect::Edit => {
                if let Some((work, risk)) = held {
                    self.mode =
                        QuestionMode::Editing(Box::new(Editor::new(work, Some(risk), lang)));
                    self.frame.reset();
                }
                ModalAction::Stay
            }
        }
    }

    /// Approval counts once everything was seen; a high-risk step takes its own letter.
    fn approve(&mut self, decision: Decision, press: Press) -> ModalAction {
        if !self.frame.is_required_seen() {
            let warned = match press.before {
                Some(Refusal::Unseen { all: false, at }) => press.at >= at.saturating_add(HELD),
                Some(Refusal::Unseen { all: true, .. } | Refusal::Message(_)) | None => false,
            };
            if !(self.can_skip_rest && decision == Decision::Approve && warned) {
                return self.refuse_unseen(false, press.at);
            }
        }
        if self.severity() == Severity::HighRisk && !press.typed {
            return self.refuse_with(words::REFUSED_CAPITAL);
        }
        self.send(decision)
    }

    fn refuse_unseen(&mut self, all: bool, at: Millis) -> ModalAction {
        self.refusal = Some(Refusal::Unseen { all, at });
        ModalAction::Stay
    }

    fn word(&mut self, key: &KeyEvent, lang: Lang) -> ModalAction {
        let QuestionMode::WritingReason(field) = &mut self.mode else { return ModalAction::Stay };
        match handle_field_key(field, key, lang) {
            Field::Changed => ModalAction::Stay,
            Field::Cancelled => {
                self.mode = QuestionMode::Choosing;
                ModalAction::Stay
            }
            Field::Submitted => {
                let word =
                    Some(field.full_text().trim().to_owned()).filter(|word| !word.is_empty());
                self.send(Decision::Reject { word })
            }
            Field::Unhandled => ModalAction::Unhandled,
        }
    }

    fn edit(&mut self, key: &KeyEvent, at: Millis, lang: Lang) -> ModalAction {
        let QuestionMode::Editing(editor) = &mut self.mode else { return ModalAction::Stay };
        match handle_field_key(&mut editor.field, key, lang) {
            Field::Changed => self.request_assessment(),
            Field::Cancelled => {
                self.mode = QuestionMode::Choosing;
                self.frame.reset();
                ModalAction::Stay
            }
            Field::Submitted => match editor.approvable_work().cloned() {
                Some(work) if self.frame.is_required_seen() => self.send(Decision::Edit(work)),
                Some(_) => self.refuse_unseen(false, at),
                None => self.refuse_with(words::REFUSED_UNJUDGED),
            },
            Field::Unhandled => ModalAction::Unhandled,
        }
    }

    /// After an edit: asks for an assessment if there is something new to assess.
    fn request_assessment(&mut self) -> ModalAction {
        let ask = self.id;
        let QuestionMode::Editing(editor) = &mut self.mode else { return ModalAction::Stay };
        let Some(work) = editor.reparse() else { return ModalAction::Stay };
        ModalAction::Send(Op::PreviewRisk { ask, work })
    }

    fn refuse_with(&mut self, why: Phrase) -> ModalAction {
        self.refuse(why);
        ModalAction::Stay
    }

    /// Says why a key did nothing.
    pub fn refuse(&mut self, why: Phrase) {
        self.refusal = Some(Refusal::Message(why));
    }

    pub fn clear_refusal(&mut self) {
        self.refusal = None;
    }

    /// Whether keys are accepted for the current content.
    pub fn is_choosing(&self) -> bool {
        matches!(self.mode, QuestionMode::Choosing)
    }

    /// The text before the keys: why the last key did nothing, or where keys go.
    fn status_text(&self) -> (Option<LocalizedText>, MessageUntil) {
        let (refused, until) = match self.refusal {
            Some(Refusal::Message(why)) => (why.into(), MessageUntil::NextKey),
            Some(Refusal::Unseen { all, .. }) => {
                let until =
                    if all { MessageUntil::AllRowsSeen } else { MessageUntil::RequiredRowsSeen };
                (self.unseen_phrase(all), until)
            }
            None => {
                let listening = listening_text(self.listening).map(LocalizedText::from);
                return (listening, MessageUntil::NextKey);
            }
        };
        (Some(refused), until)
    }

    fn unseen_phrase(&self, all: bool) -> LocalizedText {
        let phrase = match (self.severity(), self.can_skip_rest && !all) {
            (Severity::HighRisk, _) => words::REFUSED_UNSEEN_GRAVE,
            (Severity::Plain, true) => words::REFUSED_UNSEEN_SLIGHT,
            (Severity::Plain, false) => words::REFUSED_UNSEEN,
        };
        phrase.with("n", self.frame.unseen_rows(all))
    }

    /// Scrolls to a row of the page.
    pub fn reveal(&mut self, row: usize) {
        self.frame.reveal(row);
    }

    fn send(&mut self, decision: Decision) -> ModalAction {
        self.mode = QuestionMode::Sent;
        ModalAction::Send(Op::Decide { ask: self.id, decision })
    }

    /// Lays out a page with its foot; returns its rows.
    pub fn fit(
        &mut self,
        screen: Rect,
        mut page: DialogPage,
        width: usize,
        pen: &DrawContext<'_>,
    ) -> u16 {
        self.add_foot(&mut page, width, pen);
        self.frame.fit(screen, page)
    }

    /// Adds the foot below the body, and the hint under it.
    fn add_foot(&mut self, page: &mut DialogPage, width: usize, pen: &DrawContext<'_>) {
        let columns = u16::try_from(width).unwrap_or(u16::MAX);
        let hints: &[KeyHint] = match &mut self.mode {
            QuestionMode::Choosing => {
                let grid = self.choices.grid(width, pen);
                let (flow, row) = (self.choices.flow(width, pen), self.choices.row(width, pen));
                page.foot = Foot::Choices { grid, flow, row };
                self.choices.hints()
            }
            QuestionMode::Editing(editor) => {
                let rows = editor.field.fit(columns, pen.theme).min(6);
                let label = words::EDIT_LABEL.text(pen.lang).to_owned();
                page.foot = Foot::Field { label, rows };
                EDITING
            }
            QuestionMode::WritingReason(field) => {
                let rows = field.fit(columns, pen.theme).min(6);
                let label = words::WORD_LABEL.text(pen.lang).to_owned();
                page.foot = Foot::Field { label, rows };
                WORDING
            }
            QuestionMode::Sent => {
                page.foot = Foot::Nothing;
                &[]
            }
        };
        if matches!(self.mode, QuestionMode::Sent) {
            page.hint = Line::styled(words::QUESTION_SENT.text(pen.lang), pen.theme.dim);
            return;
        }
        let (say, until) = self.status_text();
        page.message =
            say.map(|say| Line::styled(pen.keymap.with_keys(say).text(pen.lang), pen.theme.warn));
        page.message_until = until;
        page.hint = with_draft(hints, self.listening, width, pen);
    }

    /// Draws the page; returns the position of the cursor while a field is open.
    pub fn draw(&self, screen: Rect, buf: &mut Buffer, pen: &DrawContext<'_>) -> Option<Position> {
        let area = self.frame.draw(screen, buf, pen)?;
        let dress = ComposerStyle { theme: pen.theme, hint: "", sigil: self.frame.tone() };
        let caret = match &self.mode {
            QuestionMode::Editing(editor) => editor.field.draw(area, buf, &dress),
            QuestionMode::WritingReason(field) => field.draw(area, buf, &dress),
            QuestionMode::Choosing | QuestionMode::Sent => None,
        };
        dialog_frame::cursor_in_field(area, caret)
    }
}

/// How a choice was made.
#[derive(Clone, Copy, Debug)]
struct Press {
    /// With exactly its letter.
    typed: bool,
    at: Millis,
    /// Why the previous key did nothing.
    before: Option<Refusal>,
}

/// Where keys go, when that is not here.
pub fn listening_text(listening: FocusNotice) -> Option<Phrase> {
    match listening {
        FocusNotice::Waiting => Some(words::QUESTION_NOT_YET),
        FocusNotice::Draft => Some(words::QUESTION_TO_DRAFT),
        FocusNotice::Question | FocusNotice::QuestionWithDraft => None,
    }
}

/// The active keys, and the way back to a waiting draft.
pub fn with_draft(
    hints: &[KeyHint],
    listening: FocusNotice,
    width: usize,
    pen: &DrawContext<'_>,
) -> Line<'static> {
    if listening != FocusNotice::QuestionWithDraft {
        return hint_line(hints, pen, width);
    }
    let back = [KeyHint::typed("Tab", words::HINT_TO_DRAFT)];
    let closes = HintKey::Bound(KeyContext::Question, KeyAction::Close);
    let others = hints.iter().filter(|hint| hint.key != closes).copied();
    hint_line(&back.into_iter().chain(others).collect::<Vec<_>>(), pen, width)
}

/// Columns of the head for its count and gaps.
const COUNT: usize = 14;

/// The content of a dialog: the step as proposed, or as edited.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    pub work: &'a StepAction,
    pub risk: &'a Risk,
    /// Its change of a file, in the current text.
    pub change: Option<&'a Change>,
    pub certainty: Certainty<'a>,
    diffs: &'a DiffViewCache,
}

/// How current the assessment of a subject is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Certainty<'a> {
    Proposed,
    /// Edited, and assessed in its current text.
    Assessed,
    /// Edited; the assessment shown is of an earlier text.
    Pending,
    Unreadable(&'a LocalizedText),
}

impl<'a> Subject<'a> {
    /// The head of the dialog, with the command after its prompt as the first rows.
    pub fn page(
        &self,
        title: Phrase,
        prompt: &'static str,
        usual: bool,
        (width, pen): (usize, &DrawContext<'_>),
    ) -> DialogPage {
        let sure = matches!(self.certainty, Certainty::Proposed | Certainty::Assessed);
        let title = if self.is_edited() { words::EDIT_TITLE } else { title };
        let title = title.text(pen.lang).to_owned();
        let badge = match self.certainty {
            Certainty::Proposed if usual => {
                let room = width.min(MEASURE).saturating_sub(text::width(&title) + COUNT);
                step_details::badge(self.risk, room, pen)
            }
            Certainty::Proposed | Certainty::Assessed => step_details::badge(self.risk, 0, pen),
            Certainty::Pending => words::EDIT_JUDGING.text(pen.lang).to_owned(),
            Certainty::Unreadable(_) => words::EDIT_UNREADABLE.text(pen.lang).to_owned(),
        };
        let must = match self.certainty {
            Certainty::Unreadable(fault) => text::wrap(&fault.text(pen.lang), width)
                .into_iter()
                .map(|row| Line::styled(row, pen.theme.warn))
                .collect(),
            Certainty::Proposed | Certainty::Assessed | Certainty::Pending => match self.change {
                Some(change) => {
                    super::file_change::rows(self.work.tool(), change, width, pen, self.diffs)
                }
                None => step_details::prompt_rows(prompt, self.work, self.risk, width, pen).into(),
            },
        };
        DialogPage {
            title,
            badge,
            tone: if sure { step_details::tone(self.risk, pen) } else { pen.theme.dim },
            required: must,
            ..DialogPage::default()
        }
    }

    pub fn is_edited(&self) -> bool {
        self.certainty != Certainty::Proposed
    }
}

const EDITING: &[KeyHint] = &[
    KeyHint::bound(KeyContext::Question, KeyAction::Accept, words::HINT_RUN_THIS),
    KeyHint::bound(KeyContext::Question, KeyAction::Close, words::HINT_BACK),
    KeyHint::bound(KeyContext::Anywhere, KeyAction::Interrupt, common::STOP_TURN),
];
const WORDING: &[KeyHint] = &[
    KeyHint::bound(KeyContext::Question, KeyAction::Accept, words::HINT_REJECT_WITH),
    KeyHint::bound(KeyContext::Question, KeyAction::Close, words::HINT_BACK),
    KeyHint::bound(KeyContext::Anywhere, KeyAction::Interrupt, common::STOP_TURN),
];
