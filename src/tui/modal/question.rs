//! The common part of all questions: the choices, what must be seen before approval, the field for
//! an edited command or a message to the model, and the answer.
//!
//! **A word never answers.** A letter alone looks like the first letter of a word, so:
//!
//! - What Enter would do anyway, and what runs nothing, a letter or a digit decides at once: where
//!   *Run once* is marked, `y` does.
//! - Any other approval is held for [`WORD`] after its letter: Enter makes it count sooner, any
//!   other key takes it back. So nothing that leaves the sandbox or is grave is run by a word.
//! - A letter that marks a lasting choice, opens the details or is held begins a text if another
//!   letter follows within [`QUIET`]; marking letters may follow each other. Enter confirms a mark,
//!   and so does its letter pressed again after [`HELD`] or a release.
//! - Nothing decides at once that comes before the question can have been read: a letter is held
//!   then, and Enter does nothing.
//! - An edit that was opened by a letter is not run by an Enter that follows without a pause.
//! - Where letters come in one read, the first of them answers nothing either. What follows a
//!   decision as the rest of its word is not sent by one Enter; the same key, held down, is dropped
//!   ([`crate::guard`]).

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;

use super::ModalAction;
use super::choice::{self, Choices, listening_text, with_draft};
use super::dialog_frame::{self, DialogFrame, DialogPage, Foot, MessageUntil};
use super::edit::{EditAssessment, Editor, Field, QuestionInput, handle_field_key};
use super::rows::DiffViewCache;
use super::subject::{Certainty, Subject};
use crate::Millis;
use crate::composer::{Composer, ComposerStyle};
use crate::draw::DrawContext;
use crate::guard::{FocusNotice, QUIET, WORD};
use crate::keys::{self, KeyAction, KeyContext, ScrollAction};
use crate::status::KeyHint;
use avocet_core::i18n::{Lang, LocalizedText, Phrase, prompt, screen as words};
use avocet_core::protocol::{AskId, Change, Decision, Op, PlanItem, QuestionOp, Risk, StepAction};
use avocet_present::flow::{FlowStage, FlowStep, Press, QuestionFlow, Seen};
use avocet_present::{ChoicePick, Severity};

/// A second press of a letter counts after this long, but not while the key is held down. Few
/// terminals report that it was released.
const HELD: Millis = 700;

#[derive(Debug)]
pub struct QuestionState {
    pub id: AskId,
    pub choices: Choices,
    field: Option<QuestionInput>,
    frame: DialogFrame,
    /// Of low risk: its rest may stay unseen.
    can_skip_rest: bool,
    /// The user asked for the details.
    details: bool,
    listening: FocusNotice,
    refusal: Option<Refusal>,
    typing: Typing,
    /// The plan that can be edited.
    pub plan: Vec<PlanItem>,
    pub diffs: DiffViewCache,
}

/// How the user types, which tells an answer from a word.
#[derive(Debug, Default)]
struct Typing {
    /// The last letter, and when it was pressed; a release makes that long ago.
    last_letter: Option<(char, Millis)>,
    /// An approval that may be the beginning of a word, and when it counts.
    held: Option<(Decision, Millis)>,
    /// The last key since a letter opened the editor, without a pause.
    typed_through: Option<Millis>,
}

impl Typing {
    /// Whether a key follows another without a pause since a letter opened the editor.
    fn is_hasty(&mut self, at: Millis) -> bool {
        let hasty = self.typed_through.is_some_and(|last| at < last.saturating_add(QUIET));
        self.typed_through = hasty.then_some(at);
        hasty
    }
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

impl QuestionState {
    pub fn new(id: AskId, flow: QuestionFlow) -> QuestionState {
        let can_skip_rest = flow.offer.is_usual();
        let writes = flow.stage() == FlowStage::WritingReason;
        QuestionState {
            id,
            choices: Choices::new(flow),
            field: writes.then(QuestionInput::empty),
            frame: DialogFrame::default(),
            can_skip_rest,
            details: false,
            listening: FocusNotice::default(),
            refusal: None,
            typing: Typing::default(),
            plan: Vec::new(),
            diffs: DiffViewCache::default(),
        }
    }

    fn severity(&self) -> Severity {
        self.choices.flow.offer.severity
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
    pub fn set_listening(&mut self, notice: FocusNotice) {
        self.listening = notice;
        let here = matches!(notice, FocusNotice::Question | FocusNotice::QuestionWithDraft);
        self.choices.set_inactive(!here);
    }

    /// The last key was released, so that the same one pressed again is another press.
    pub fn key_released(&mut self) {
        if let Some(Refusal::Unseen { at, .. }) = &mut self.refusal {
            *at = 0;
        }
        if let Some((_, at)) = &mut self.typing.last_letter {
            *at = 0;
        }
    }

    /// When a held approval counts.
    pub fn held_until(&self) -> Option<Millis> {
        self.typing.held.as_ref().map(|(_, until)| *until)
    }

    /// The held approval, once no other key has followed its letter.
    pub fn take_held(&mut self, now: Millis) -> Option<Op> {
        let (decision, _) = self.typing.held.take_if(|(_, until)| *until <= now)?;
        self.refusal = None;
        Some(self.decide(decision))
    }

    /// Whether a letter only marks a choice, or answers some other question.
    pub fn is_marking(&self, key: &KeyEvent) -> bool {
        let offer = &self.choices.flow.offer;
        let Some(letter) = keys::letter(key) else { return false };
        match offer.by_key(letter) {
            Some((choice, _)) => offer.is_lasting(choice.pick),
            None => choice::is_answer_letter(letter),
        }
    }

    /// Whether a key chooses something here.
    pub fn is_choice(&self, key: &KeyEvent) -> bool {
        let offer = &self.choices.flow.offer;
        self.is_choosing() && keys::letter(key).is_some_and(|typed| offer.by_key(typed).is_some())
    }

    /// Keys go to the draft now: nothing stays selected or refused for a later Enter.
    pub fn reset_selection(&mut self) {
        self.choices.flow.reset();
        (self.refusal, self.typing.held) = (None, None);
    }

    /// Whether a text field is open in the dialog.
    pub fn has_text_field(&self) -> bool {
        self.field.is_some()
    }

    pub fn scroll_lines(&mut self, lines: i32) {
        self.frame.scroll_lines(lines);
    }

    /// Scrolls what does not fit; false if everything fits.
    pub fn scroll(&mut self, action: ScrollAction) -> bool {
        self.frame.scroll(action, self.severity() == Severity::Plain)
    }

    /// The current content of the dialog, for a question about `work` with the judgement `risk`.
    pub fn subject<'a>(
        &'a self,
        action: &'a StepAction,
        risk: &'a Risk,
        change: Option<&'a Change>,
    ) -> Subject<'a> {
        let diffs = &self.diffs;
        let Some(QuestionInput::Step(editor)) = &self.field else {
            return Subject { work: action, risk, change, certainty: Certainty::Proposed, diffs };
        };
        let (risk, standing) = match editor.judgement() {
            EditAssessment::Current(risk) => (risk, Certainty::Assessed),
            EditAssessment::Pending(last) => (last.unwrap_or(risk), Certainty::Pending),
            EditAssessment::Unreadable(fault) => (risk, Certainty::Unreadable(fault)),
        };
        let change = editor.change();
        Subject { work: editor.work().unwrap_or(action), risk, change, certainty: standing, diffs }
    }

    pub fn set_assessment(&mut self, action: StepAction, risk: Risk, change: Option<Change>) {
        if let Some(QuestionInput::Step(editor)) = &mut self.field {
            editor.set_assessment(action, risk, change);
            self.frame.reset();
        }
    }

    /// Handles a key; `held` is the subject of the question, and `unread`: it cannot have been read.
    pub fn key(
        &mut self,
        key: &KeyEvent,
        (at, unread): (Millis, bool),
        held: Option<(&StepAction, &Risk)>,
        lang: Lang,
    ) -> ModalAction {
        if keys::action(KeyContext::Anywhere, key) == Some(KeyAction::Interrupt) {
            return self.send(Decision::Stop);
        }
        let before = self.refusal.take();
        match self.choices.flow.stage() {
            FlowStage::Decided => ModalAction::Unhandled,
            FlowStage::WritingReason | FlowStage::Editing => self.write(key, at, lang),
            FlowStage::Choosing | FlowStage::Confirming => {
                self.choose(key, Moment { at, unread, before }, held, lang)
            }
        }
    }

    pub fn paste(&mut self, text: &str, lang: Lang) -> ModalAction {
        let Some(field) = &mut self.field else { return ModalAction::Stay };
        field.composer().paste(text, lang);
        self.request_assessment()
    }

    fn choose(
        &mut self,
        key: &KeyEvent,
        moment: Moment,
        step: Option<(&StepAction, &Risk)>,
        lang: Lang,
    ) -> ModalAction {
        let held = self.typing.held.take();
        let letter = keys::letter(key);
        let last = std::mem::replace(&mut self.typing.last_letter, letter.map(|c| (c, moment.at)));
        if let Some((choice, exact)) = letter.and_then(|c| self.choices.flow.offer.by_key(c)) {
            let is_repeated =
                last.is_some_and(|(c, at)| Some(c) == letter && moment.at < at + HELD);
            if let (true, Some((decision, _))) = (is_repeated, held) {
                return self.hold(decision, moment);
            }
            let marked = self.choices.flow.marked().map(|marked| marked.pick);
            let confirms = self.choices.flow.stage() == FlowStage::Confirming;
            if is_repeated && confirms && marked == Some(choice.pick) {
                self.refuse(words::MARKED);
                return ModalAction::Undecided;
            }
            let by = if exact { Press::Letter } else { Press::Other };
            return self.apply(choice.pick, by, moment, step, lang);
        }
        match keys::action(KeyContext::Question, key) {
            Some(KeyAction::Next) => self.choices.flow.move_mark(true),
            Some(KeyAction::Previous) => self.choices.flow.move_mark(false),
            Some(KeyAction::More) => self.frame.show_next_part(),
            Some(KeyAction::Details) if self.choices.has_details() => {
                self.details = !self.details;
                return ModalAction::Undecided;
            }
            Some(KeyAction::Scroll(by)) => {
                return match (self.scroll(by), letter) {
                    (true, _) => ModalAction::Stay,
                    (false, Some(_)) => ModalAction::Undecided,
                    (false, None) => ModalAction::Unhandled,
                };
            }
            Some(KeyAction::Close) => {
                let decision = self.choices.flow.dismiss();
                return self.send(decision);
            }
            Some(KeyAction::Accept) => {
                if let Some((decision, _)) = held {
                    return self.send(decision);
                }
                if let Some(marked) = self.choices.flow.marked() {
                    return self.apply(marked.pick, Press::Confirm, moment, step, lang);
                }
            }
            _ if letter.is_some_and(choice::is_answer_letter) => {
                self.refuse(words::QUESTION_NOT_OFFERED);
                return ModalAction::Undecided;
            }
            _ => return ModalAction::Unhandled,
        }
        ModalAction::Stay
    }

    /// How much was seen. A second press approves the rest of what is of low risk.
    fn seen(&self, pick: ChoicePick, moment: Moment) -> Seen {
        let warned = match moment.before {
            Some(Refusal::Unseen { all: false, at }) => moment.at >= at.saturating_add(HELD),
            Some(Refusal::Unseen { all: true, .. } | Refusal::Message(_)) | None => false,
        };
        let skips = self.can_skip_rest && warned && pick == ChoicePick::Run;
        match (self.frame.is_all_seen(), self.frame.is_required_seen() || skips) {
            (true, _) => Seen::All,
            (false, true) => Seen::Required,
            (false, false) => Seen::Part,
        }
    }

    fn apply(
        &mut self,
        pick: ChoicePick,
        press: Press,
        moment: Moment,
        step: Option<(&StepAction, &Risk)>,
        lang: Lang,
    ) -> ModalAction {
        let seen = self.seen(pick, moment);
        let flow = &mut self.choices.flow;
        let is_confirmed = press == Press::Confirm || flow.stage() == FlowStage::Confirming;
        let is_instant = !moment.unread && (is_confirmed || flow.is_instant(pick));
        let is_step = flow.offer.kind.is_about_step();
        match flow.choose(pick, press, seen) {
            FlowStep::Decided(decision) if is_instant => return self.send(decision),
            FlowStep::Decided(decision) => {
                flow.back();
                flow.mark(pick);
                return self.hold(decision, moment);
            }
            FlowStep::Confirm => {
                self.refuse(words::MARKED);
                return ModalAction::Undecided;
            }
            FlowStep::Unseen { all } => {
                self.refusal = Some(Refusal::Unseen { all, at: moment.at });
            }
            FlowStep::NeedsCapital => self.refuse(words::REFUSED_CAPITAL),
            // "All" of nothing is not an answer.
            FlowStep::DecideEach if flow.offer.batch.is_empty() => self.refuse(prompt::PIECES_NONE),
            FlowStep::DecideEach => {
                let steps = flow.offer.batch.clone();
                let decision = Decision::ApproveAll { steps };
                if is_instant {
                    return self.send(decision);
                }
                return self.hold(decision, moment);
            }
            // What follows may be a text of its own.
            FlowStep::WriteReason | FlowStep::Edit if moment.unread => {
                flow.back();
                self.refuse(words::QUESTION_PRESS_AGAIN);
                return ModalAction::Undecided;
            }
            // The field would not be seen.
            FlowStep::WriteReason if is_step && !self.frame.has_room() => {
                return self.send(Decision::Reject { word: None });
            }
            FlowStep::WriteReason => self.field = Some(QuestionInput::empty()),
            FlowStep::Edit => {
                self.open_editor(step, (press != Press::Confirm).then_some(moment.at), lang)
            }
        }
        ModalAction::Stay
    }

    fn open_editor(
        &mut self,
        step: Option<(&StepAction, &Risk)>,
        typed: Option<Millis>,
        lang: Lang,
    ) {
        self.field = Some(match step {
            Some((work, risk)) => {
                QuestionInput::Step(Box::new(Editor::new(work, Some(risk), lang)))
            }
            None => {
                let mut composer = Composer::new(Vec::new());
                let lines: Vec<String> = self.plan.iter().map(PlanItem::line).collect();
                composer.set_text(&lines.join("\n"), lang);
                QuestionInput::Text(Box::new(composer))
            }
        });
        self.typing.typed_through = typed.filter(|_| step.is_some());
        self.frame.reset();
    }

    /// Holds an approval until it is clear that its letter begins no word.
    fn hold(&mut self, decision: Decision, moment: Moment) -> ModalAction {
        self.typing.held = Some((decision, moment.at + WORD));
        // One that came too early counts only if nothing follows.
        self.refusal = (!moment.unread).then_some(Refusal::Message(words::QUESTION_HELD));
        ModalAction::Undecided
    }

    /// A key in the field.
    fn write(&mut self, key: &KeyEvent, at: Millis, lang: Lang) -> ModalAction {
        let hasty = self.typing.is_hasty(at);
        let Some(field) = &mut self.field else { return ModalAction::Stay };
        match handle_field_key(field.composer(), key, lang) {
            Field::Changed => self.request_assessment(),
            Field::Cancelled => {
                if self.choices.writes_only() {
                    return self.send(Decision::Reject { word: None });
                }
                self.field = None;
                self.choices.flow.back();
                self.frame.reset();
                ModalAction::Stay
            }
            Field::Submitted if hasty => {
                self.typing.typed_through = None;
                self.refuse_with(words::QUESTION_RUN_AGAIN)
            }
            Field::Submitted => self.submit(at),
            Field::Unhandled => ModalAction::Unhandled,
        }
    }

    fn submit(&mut self, at: Millis) -> ModalAction {
        let flow = &mut self.choices.flow;
        let decision = match &mut self.field {
            None => return ModalAction::Stay,
            Some(QuestionInput::Step(editor)) => match editor.approvable_work().cloned() {
                Some(work) if self.frame.is_required_seen() => flow.edit(work),
                Some(_) => {
                    self.refusal = Some(Refusal::Unseen { all: false, at });
                    return ModalAction::Stay;
                }
                None => return self.refuse_with(words::REFUSED_UNJUDGED),
            },
            Some(QuestionInput::Text(field)) => {
                let text = field.full_text();
                let takes_none = flow.offer.kind.is_about_step();
                if text.trim().is_empty() && !takes_none {
                    return ModalAction::Stay;
                }
                match flow.stage() {
                    FlowStage::Editing => flow.edit_plan(text.trim()),
                    _ => flow.write(&text),
                }
            }
        };
        self.send(decision)
    }

    /// After an edit: asks for an judgement if there is something new to assess.
    fn request_assessment(&mut self) -> ModalAction {
        let ask = self.id;
        let Some(QuestionInput::Step(editor)) = &mut self.field else { return ModalAction::Stay };
        let Some(work) = editor.reparse() else { return ModalAction::Stay };
        ModalAction::Send(Op::Question(QuestionOp::PreviewRisk { ask, work }))
    }

    fn refuse_with(&mut self, phrase: Phrase) -> ModalAction {
        self.refuse(phrase);
        ModalAction::Stay
    }

    /// Says why a key did nothing.
    pub fn refuse(&mut self, phrase: Phrase) {
        self.refusal = Some(Refusal::Message(phrase));
    }

    pub fn clear_refusal(&mut self) {
        self.refusal = None;
    }

    /// Whether keys are accepted for the current content.
    pub fn is_choosing(&self) -> bool {
        matches!(self.choices.flow.stage(), FlowStage::Choosing | FlowStage::Confirming)
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
        ModalAction::Send(self.decide(decision))
    }

    fn decide(&mut self, decision: Decision) -> Op {
        self.choices.flow.close();
        self.field = None;
        Op::Question(QuestionOp::Decide { ask: self.id, decision })
    }

    /// Lays out a page with its foot; returns its rows.
    pub fn fit(
        &mut self,
        screen: Rect,
        mut page: DialogPage,
        width: usize,
        cx: &DrawContext<'_>,
    ) -> u16 {
        self.add_answer_area(&mut page, width, cx);
        self.frame.fit(screen, page)
    }

    /// Adds the foot below the body, and the hint under it.
    fn add_answer_area(&mut self, page: &mut DialogPage, width: usize, cx: &DrawContext<'_>) {
        let columns = u16::try_from(width).unwrap_or(u16::MAX);
        let label = self.choices.field_label();
        let hints: &[KeyHint] = match (self.choices.flow.stage(), &mut self.field) {
            (FlowStage::Decided, _) => {
                page.foot = Foot::Nothing;
                page.hint = Line::styled(words::QUESTION_SENT.text(cx.lang), cx.theme.dim);
                return;
            }
            (_, Some(field)) => {
                let rows = field.composer().fit(columns, cx.theme).min(6);
                page.foot = Foot::Field { label: label.text(cx.lang).to_owned(), rows };
                self.choices.field_hints()
            }
            (_, None) => {
                let grid = self.choices.grid(width, cx);
                let flow = self.choices.short_rows(width, cx);
                page.foot = Foot::Choices { grid, flow, row: self.choices.row(width, cx) };
                self.choices.hints()
            }
        };
        let (say, until) = self.status_text();
        page.message =
            say.map(|say| Line::styled(cx.keymap.with_keys(say).text(cx.lang), cx.theme.warn));
        page.message_until = until;
        page.hint = with_draft(hints, self.listening, width, cx);
    }

    /// Draws the page; returns the position of the cursor while a field is open.
    pub fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &DrawContext<'_>) -> Option<Position> {
        let area = self.frame.draw(screen, buf, cx)?;
        let style = ComposerStyle { theme: cx.theme, hint: "", sigil: self.frame.tone() };
        let caret = match &self.field {
            Some(QuestionInput::Step(editor)) => editor.field.draw(area, buf, &style),
            Some(QuestionInput::Text(field)) => field.draw(area, buf, &style),
            None => None,
        };
        dialog_frame::cursor_in_field(area, caret)
    }
}

/// When a key was pressed.
#[derive(Clone, Copy, Debug)]
struct Moment {
    at: Millis,
    unread: bool,
    /// Why the previous key did nothing.
    before: Option<Refusal>,
}
