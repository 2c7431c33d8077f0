//! The common part of all questions: the choices, what must be seen before approval, the field for
//! an edited command or a message to the model, and the answer.

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use super::ModalAction;
use super::choice::{self, ChoicePick, Choices, QuestionChoice, Severity};
use super::command;
use super::edit::{Editor, Judgement};
use super::rows::Longs;
use super::sheet::{self, DialogPage, Foot, Sheet, Until};
use crate::protocol::{ApprovalScope, AskId, Change, Decision, Op, Risk, StepAction};
use crate::tui::composer::{Composer, ComposerStyle};
use crate::tui::guard::Listening;
use crate::tui::keys::{self, EditAction, KeyAction, KeyContext, Scrolled};
use crate::tui::paint::DrawContext;
use crate::tui::status::KeyHint;
use crate::tui::{Millis, clean};
use crate::words::{Lang, LocalizedText, Phrase, prompt, screen as words};

/// A second press approves what was not all seen, but not while the key is held down.
const HELD: Millis = 700;

#[derive(Debug)]
pub struct QuestionState {
    pub id: AskId,
    pub choices: Choices,
    pub doing: QuestionMode,
    sheet: Sheet,
    care: Severity,
    /// A low-risk change of a file, whose rest may stay unseen.
    slight: bool,
    listening: Listening,
    refused: Option<Refusal>,
    pub longs: Longs,
}

/// Why the last key did nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Refusal {
    /// Not everything that the approval would cover was on the screen.
    Unseen {
        all: bool,
        at: Millis,
    },
    Said(Phrase),
}

#[derive(Debug)]
pub enum QuestionMode {
    Choosing,
    Editing(Box<Editor>),
    Wording(Box<Composer>),
    /// The answer was sent; the session closes the question.
    Sent,
}

impl QuestionState {
    pub fn new(id: AskId, choices: Choices, care: Severity) -> QuestionState {
        let (sheet, doing) = (Sheet::default(), QuestionMode::Choosing);
        let listening = Listening::default();
        QuestionState {
            id,
            choices,
            doing,
            sheet,
            care,
            slight: false,
            listening,
            refused: None,
            longs: Longs::default(),
        }
    }

    /// Lets a second press approve what was not all seen.
    #[must_use]
    pub fn slight(mut self, slight: bool) -> QuestionState {
        self.slight = slight && self.care == Severity::Plain;
        self
    }

    /// Sets where keys go at the moment.
    pub fn listen(&mut self, listening: Listening) {
        self.listening = listening;
        let here = matches!(listening, Listening::Here | Listening::BesideDraft);
        self.choices.rest_for_now(!here);
    }

    /// Keys go to the draft now: nothing stays selected or refused for a later Enter.
    pub fn leave(&mut self) {
        self.choices.reset();
        self.refused = None;
    }

    /// Whether a text field is open in the dialog.
    pub fn is_field(&self) -> bool {
        matches!(self.doing, QuestionMode::Editing(_) | QuestionMode::Wording(_))
    }

    /// Scrolls what does not fit; false if everything fits.
    pub fn scroll(&mut self, by: Scrolled) -> bool {
        self.sheet.scroll(by, self.care == Severity::Plain)
    }

    /// The current content of the dialog, for a question about `work` with the assessment `risk`.
    pub fn subject<'a>(
        &'a self,
        work: &'a StepAction,
        risk: &'a Risk,
        change: Option<&'a Change>,
    ) -> Subject<'a> {
        let longs = &self.longs;
        let QuestionMode::Editing(editor) = &self.doing else {
            return Subject { work, risk, change, standing: Certainty::Proposed, longs };
        };
        let (risk, standing) = match editor.judgement() {
            Judgement::Here(risk) => (risk, Certainty::Judged),
            Judgement::Awaited(last) => (last.unwrap_or(risk), Certainty::Awaited),
            Judgement::Unreadable(fault) => (risk, Certainty::Unreadable(fault)),
        };
        let change = editor.change();
        Subject { work: editor.work().unwrap_or(work), risk, change, standing, longs }
    }

    pub fn judged(&mut self, work: StepAction, risk: Risk, change: Option<Change>) {
        if let QuestionMode::Editing(editor) = &mut self.doing {
            editor.judged(work, risk, change);
            self.sheet.forget();
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
        let before = self.refused.take();
        match &mut self.doing {
            QuestionMode::Sent => ModalAction::Pass,
            QuestionMode::Choosing => self.choose(key, at, before, held, lang),
            QuestionMode::Wording(_) => self.word(key, lang),
            QuestionMode::Editing(_) => self.edit(key, at, lang),
        }
    }

    pub fn paste(&mut self, text: &str, lang: Lang) -> ModalAction {
        match &mut self.doing {
            QuestionMode::Choosing | QuestionMode::Sent => ModalAction::Stay,
            QuestionMode::Wording(field) => {
                field.paste(text, lang);
                ModalAction::Stay
            }
            QuestionMode::Editing(editor) => {
                editor.field.paste(text, lang);
                self.reread()
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
        if let Some(choice) = self.choices.picked(key) {
            let typed = keys::letter(key) == Some(choice.letter);
            if choice.lasts {
                self.choices.mark(&choice);
                return self.said_no(words::MARKED);
            }
            return self.pick(choice, Press { typed, at, before }, held, lang);
        }
        match keys::action(KeyContext::Question, key) {
            Some(KeyAction::Next) => self.choices.next(),
            Some(KeyAction::Previous) => self.choices.previous(),
            Some(KeyAction::More) => self.sheet.more(),
            Some(KeyAction::Scroll(by)) => {
                let scrolled = self.scroll(by);
                return if scrolled || keys::letter(key).is_some() {
                    ModalAction::Stay
                } else {
                    ModalAction::Pass
                };
            }
            Some(KeyAction::Close) => return self.reject(held),
            Some(KeyAction::Accept) => {
                if let Some(choice) = self.choices.chosen() {
                    return self.pick(choice, Press { typed: false, at, before }, held, lang);
                }
            }
            _ if keys::letter(key).is_some_and(choice::answers) => {}
            _ => return ModalAction::Pass,
        }
        ModalAction::Stay
    }

    /// Esc gives the answer that changes nothing.
    fn reject(&mut self, held: Option<(&StepAction, &Risk)>) -> ModalAction {
        match (held, self.choices.only_halts()) {
            (None, true) => self.send(Decision::Stop),
            (None, false) if self.choices.is_trust() => self.send(Decision::Dismiss),
            (Some(_), _) | (None, false) => self.send(Decision::Reject { word: None }),
        }
    }

    fn pick(
        &mut self,
        choice: QuestionChoice,
        press: Press,
        held: Option<(&StepAction, &Risk)>,
        lang: Lang,
    ) -> ModalAction {
        match choice.pick {
            ChoicePick::Reject => self.send(Decision::Reject { word: None }),
            ChoicePick::Stop => self.send(Decision::Stop),
            ChoicePick::GoOn => self.send(Decision::Approve),
            ChoicePick::Run => self.approve(Decision::Approve, press),
            ChoicePick::All | ChoicePick::Trust if !self.sheet.seen_all() => {
                self.unseen(true, press.at)
            }
            ChoicePick::Trust => self.send(Decision::Trust),
            ChoicePick::All if self.nothing_marked() => self.said_no(prompt::PIECES_NONE),
            ChoicePick::All => {
                let steps = self.choices.rest().to_vec();
                self.approve(Decision::ApproveAll { steps }, press)
            }
            ChoicePick::Session => self.approve(Decision::Remember(ApprovalScope::Session), press),
            ChoicePick::Project => self.approve(Decision::Remember(ApprovalScope::Project), press),
            ChoicePick::Word => {
                self.doing = QuestionMode::Wording(Box::new(Composer::new(Vec::new())));
                ModalAction::Stay
            }
            ChoicePick::Edit => {
                if let Some((work, risk)) = held {
                    self.doing =
                        QuestionMode::Editing(Box::new(Editor::new(work, Some(risk), lang)));
                    self.sheet.forget();
                }
                ModalAction::Stay
            }
        }
    }

    /// Approval counts once everything was seen; a high-risk step takes its own letter.
    fn approve(&mut self, decision: Decision, press: Press) -> ModalAction {
        if !self.sheet.seen() {
            let warned = match press.before {
                Some(Refusal::Unseen { all: false, at }) => press.at >= at.saturating_add(HELD),
                Some(Refusal::Unseen { all: true, .. } | Refusal::Said(_)) | None => false,
            };
            if !(self.slight && decision == Decision::Approve && warned) {
                return self.unseen(false, press.at);
            }
        }
        if self.care == Severity::Grave && !press.typed {
            return self.said_no(words::REFUSED_CAPITAL);
        }
        self.send(decision)
    }

    fn unseen(&mut self, all: bool, at: Millis) -> ModalAction {
        self.refused = Some(Refusal::Unseen { all, at });
        ModalAction::Stay
    }

    fn word(&mut self, key: &KeyEvent, lang: Lang) -> ModalAction {
        let QuestionMode::Wording(field) = &mut self.doing else { return ModalAction::Stay };
        match in_field(field, key, lang) {
            Field::Changed => ModalAction::Stay,
            Field::Left => {
                self.doing = QuestionMode::Choosing;
                ModalAction::Stay
            }
            Field::Done => {
                let word = Some(field.whole().trim().to_owned()).filter(|word| !word.is_empty());
                self.send(Decision::Reject { word })
            }
            Field::Other => ModalAction::Pass,
        }
    }

    fn edit(&mut self, key: &KeyEvent, at: Millis, lang: Lang) -> ModalAction {
        let QuestionMode::Editing(editor) = &mut self.doing else { return ModalAction::Stay };
        match in_field(&mut editor.field, key, lang) {
            Field::Changed => self.reread(),
            Field::Left => {
                self.doing = QuestionMode::Choosing;
                self.sheet.forget();
                ModalAction::Stay
            }
            Field::Done => match editor.ready().cloned() {
                Some(work) if self.sheet.seen() => self.send(Decision::Edit(work)),
                Some(_) => self.unseen(false, at),
                None => self.said_no(words::REFUSED_UNJUDGED),
            },
            Field::Other => ModalAction::Pass,
        }
    }

    /// After an edit: asks for an assessment if there is something new to assess.
    fn reread(&mut self) -> ModalAction {
        let ask = self.id;
        let QuestionMode::Editing(editor) = &mut self.doing else { return ModalAction::Stay };
        let Some(work) = editor.changed() else { return ModalAction::Stay };
        ModalAction::Send(Op::PreviewRisk { ask, work })
    }

    fn said_no(&mut self, why: Phrase) -> ModalAction {
        self.refuse(why);
        ModalAction::Stay
    }

    /// Says why a key did nothing.
    pub fn refuse(&mut self, why: Phrase) {
        self.refused = Some(Refusal::Said(why));
    }

    pub fn refused_nothing(&mut self) {
        self.refused = None;
    }

    /// Whether keys are accepted for the current content.
    pub fn takes(&self) -> bool {
        matches!(self.doing, QuestionMode::Choosing)
    }

    /// The text before the keys: why the last key did nothing, or where keys go.
    fn says(&self) -> (Option<Phrase>, Until) {
        let (refused, until) = match self.refused {
            Some(Refusal::Said(why)) => (why, Until::AnotherKey),
            Some(Refusal::Unseen { all, .. }) => {
                let until = if all { Until::SeenAll } else { Until::Seen };
                (self.unseen_word(all), until)
            }
            None => return (listens(self.listening), Until::AnotherKey),
        };
        (Some(refused), until)
    }

    fn unseen_word(&self, all: bool) -> Phrase {
        match (self.care, self.slight && !all) {
            (Severity::Grave, _) => words::REFUSED_UNSEEN_GRAVE,
            (Severity::Plain, true) => words::REFUSED_UNSEEN_SLIGHT,
            (Severity::Plain, false) => words::REFUSED_UNSEEN,
        }
    }

    /// Scrolls to a row of the page.
    pub fn reveal(&mut self, row: usize) {
        self.sheet.reveal(row);
    }

    /// "All" of nothing is not an answer.
    fn nothing_marked(&self) -> bool {
        self.choices.rest().is_empty()
    }

    fn send(&mut self, decision: Decision) -> ModalAction {
        self.doing = QuestionMode::Sent;
        ModalAction::Send(Op::Decide { ask: self.id, decision })
    }

    /// Adds the foot below the body, and the hint under it.
    pub fn finish(&mut self, page: &mut DialogPage, width: usize, pen: &DrawContext<'_>) {
        let hints: &[KeyHint] = match &mut self.doing {
            QuestionMode::Choosing => {
                let grid = self.choices.grid(width, pen);
                page.foot = Foot::Choices { grid, flow: self.choices.flow(width, pen) };
                self.choices.hints()
            }
            QuestionMode::Editing(editor) => {
                let rows = editor.field.rows(u16::try_from(width).unwrap_or(u16::MAX)).min(6);
                let label = words::EDIT_LABEL.text(pen.lang).to_owned();
                page.foot = Foot::Field { label, rows };
                EDITING
            }
            QuestionMode::Wording(field) => {
                let rows = field.rows(u16::try_from(width).unwrap_or(u16::MAX)).min(6);
                let label = words::WORD_LABEL.text(pen.lang).to_owned();
                page.foot = Foot::Field { label, rows };
                WORDING
            }
            QuestionMode::Sent => {
                page.foot = Foot::Nothing;
                &[]
            }
        };
        if matches!(self.doing, QuestionMode::Sent) {
            page.hint = Line::styled(words::QUESTION_SENT.text(pen.lang), pen.theme.dim);
            return;
        }
        let (say, until) = self.says();
        page.say = say.map(|say| Line::styled(say.text(pen.lang), pen.theme.warn));
        page.until = until;
        page.hint = with_draft(hints, self.listening, width, pen);
    }

    /// Draws the page; returns the position of the cursor while a field is open.
    pub fn draw(
        &mut self,
        screen: Rect,
        buf: &mut Buffer,
        page: &DialogPage,
        pen: &DrawContext<'_>,
    ) -> Option<Position> {
        let area = self.sheet.draw(screen, buf, page, pen)?;
        let dress = ComposerStyle { theme: pen.theme, hint: "", sigil: page.tone };
        let caret = match &mut self.doing {
            QuestionMode::Editing(editor) => editor.field.draw(area, buf, &dress),
            QuestionMode::Wording(field) => field.draw(area, buf, &dress),
            QuestionMode::Choosing | QuestionMode::Sent => None,
        };
        sheet::within(area, caret)
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
pub fn listens(listening: Listening) -> Option<Phrase> {
    match listening {
        Listening::NotYet => Some(words::QUESTION_NOT_YET),
        Listening::ToDraft => Some(words::QUESTION_TO_DRAFT),
        Listening::Here | Listening::BesideDraft => None,
    }
}

/// The active keys, and the way back to a waiting draft.
pub fn with_draft(
    hints: &[KeyHint],
    listening: Listening,
    width: usize,
    pen: &DrawContext<'_>,
) -> Line<'static> {
    if listening != Listening::BesideDraft {
        return hint_line(hints, width, pen);
    }
    let back = [KeyHint { key: "Tab", does: words::HINT_TO_DRAFT }];
    let others = hints.iter().filter(|hint| hint.key != "Esc").cloned();
    hint_line(&back.into_iter().chain(others).collect::<Vec<_>>(), width, pen)
}

/// The content of a dialog: the step as proposed, or as edited.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    pub work: &'a StepAction,
    pub risk: &'a Risk,
    /// Its change of a file, in the current text.
    pub change: Option<&'a Change>,
    pub standing: Certainty<'a>,
    longs: &'a Longs,
}

/// How current the assessment of a subject is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Certainty<'a> {
    Proposed,
    /// Edited, and assessed in its current text.
    Judged,
    /// Edited; the assessment shown is of an earlier text.
    Awaited,
    Unreadable(&'a LocalizedText),
}

impl<'a> Subject<'a> {
    /// The head of the dialog, with the command as its first rows.
    pub fn page(&self, title: Phrase, width: usize, pen: &DrawContext<'_>) -> DialogPage {
        let sure = matches!(self.standing, Certainty::Proposed | Certainty::Judged);
        let badge = match self.standing {
            Certainty::Proposed | Certainty::Judged => command::badge(self.risk),
            Certainty::Awaited => words::EDIT_JUDGING,
            Certainty::Unreadable(_) => words::EDIT_UNREADABLE,
        };
        let title = if self.is_edited() { words::EDIT_TITLE } else { title };
        let must = match self.standing {
            Certainty::Unreadable(fault) => clean::wrap(&fault.text(pen.lang), width)
                .into_iter()
                .map(|row| Line::styled(row, pen.theme.warn))
                .collect(),
            Certainty::Proposed | Certainty::Judged | Certainty::Awaited => match self.change {
                Some(change) => {
                    super::change::rows(self.work.tool(), change, width, pen, self.longs)
                }
                None => command::work(self.work, self.risk, width, pen).into(),
            },
        };
        DialogPage {
            title: title.text(pen.lang).to_owned(),
            badge: badge.text(pen.lang).to_owned(),
            tone: if sure { command::tone(self.risk, pen) } else { pen.theme.dim },
            must,
            ..DialogPage::default()
        }
    }

    pub fn is_edited(&self) -> bool {
        self.standing != Certainty::Proposed
    }
}

pub(super) const MARKING: &[KeyHint] = &[
    KeyHint { key: "Space", does: prompt::HINT_MARK },
    KeyHint { key: "Enter", does: words::HINT_CHOOSE },
    KeyHint { key: "Esc", does: words::HINT_REJECT },
    KeyHint { key: "Up/Down", does: words::HINT_MOVE },
    KeyHint { key: "PgUp/PgDn", does: words::HINT_SCROLL },
];
pub(super) const CHOOSING: &[KeyHint] = &[
    KeyHint { key: "Enter", does: words::HINT_CHOOSE },
    KeyHint { key: "Esc", does: words::HINT_REJECT },
    KeyHint { key: "Up/Down", does: words::HINT_MOVE },
    KeyHint { key: "PgUp/PgDn", does: words::HINT_SCROLL },
    KeyHint { key: "F1", does: words::HINT_HELP },
];
pub(super) const TRUSTING: &[KeyHint] = &[
    KeyHint { key: "Enter", does: words::HINT_CHOOSE },
    KeyHint { key: "Esc", does: words::HINT_AS_IT_IS },
    KeyHint { key: "Up/Down", does: words::HINT_MOVE },
    KeyHint { key: "F1", does: words::HINT_HELP },
];
pub(super) const PAUSING: &[KeyHint] = &[
    KeyHint { key: "Enter", does: words::HINT_CHOOSE },
    KeyHint { key: "Esc", does: words::HINT_HALT },
    KeyHint { key: "Up/Down", does: words::HINT_MOVE },
    KeyHint { key: "PgUp/PgDn", does: words::HINT_SCROLL },
];
const EDITING: &[KeyHint] = &[
    KeyHint { key: "Enter", does: words::HINT_RUN_THIS },
    KeyHint { key: "Esc", does: words::HINT_BACK },
    KeyHint { key: "Ctrl-C", does: words::HINT_STOP_TURN },
];
const WORDING: &[KeyHint] = &[
    KeyHint { key: "Enter", does: words::HINT_REJECT_WITH },
    KeyHint { key: "Esc", does: words::HINT_BACK },
    KeyHint { key: "Ctrl-C", does: words::HINT_STOP_TURN },
];

pub fn hint_line(hints: &[KeyHint], width: usize, pen: &DrawContext<'_>) -> Line<'static> {
    let mut line = Line::default();
    for hint in hints {
        let text = format!(" {}   ", hint.does.text(pen.lang));
        if line.width() + hint.key.len() + clean::width(text.trim_end()) > width {
            break;
        }
        line.spans.push(Span::styled(hint.key, pen.theme.text));
        line.spans.push(Span::styled(text, pen.theme.dim));
    }
    line
}

/// The effect of a key in a field of a question.
pub enum Field {
    Changed,
    Done,
    Left,
    Other,
}

pub fn in_field(field: &mut Composer, key: &KeyEvent, lang: Lang) -> Field {
    match keys::action(KeyContext::Input, key) {
        Some(KeyAction::Send) => Field::Done,
        Some(KeyAction::Edit(edit)) => edited(field, edit),
        Some(KeyAction::Up) => moved(field.up(lang)),
        Some(KeyAction::Down) => moved(field.down(lang)),
        Some(_) => Field::Other,
        None if keys::action(KeyContext::Anywhere, key) == Some(KeyAction::Stop) => Field::Left,
        None if field.typed(key) => Field::Changed,
        None => Field::Other,
    }
}

fn edited(field: &mut Composer, edit: EditAction) -> Field {
    field.edit(edit);
    Field::Changed
}

fn moved(_: bool) -> Field {
    Field::Changed
}
