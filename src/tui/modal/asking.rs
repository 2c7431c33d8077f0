//! The common part of all questions: the choices, what must be seen before approval, the field for
//! an edited command or a message to the model, and the answer.

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use super::Answer;
use super::choice::{self, Care, Choice, Choices, Pick};
use super::command;
use super::edit::{Editor, Judgement};
use super::rows::Longs;
use super::sheet::{self, Foot, Page, Sheet, Until};
use crate::protocol::{ApprovalScope, AskId, Change, Decision, Op, Risk, StepAction};
use crate::tui::composer::{Composer, Dress};
use crate::tui::guard::Listening;
use crate::tui::keys::{self, Action, Edit, Place, Scrolled};
use crate::tui::paint::Pen;
use crate::tui::status::Hint;
use crate::tui::{Millis, clean};
use crate::words::{Lang, LocalizedText, Phrase, prompt, screen as words};

/// A second press approves what was not all seen, but not while the key is held down.
const HELD: Millis = 700;

#[derive(Debug)]
pub struct Asking {
    pub id: AskId,
    pub choices: Choices,
    pub doing: Doing,
    sheet: Sheet,
    care: Care,
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
pub enum Doing {
    Choosing,
    Editing(Box<Editor>),
    Wording(Box<Composer>),
    /// The answer was sent; the session closes the question.
    Sent,
}

impl Asking {
    pub fn new(id: AskId, choices: Choices, care: Care) -> Asking {
        let (sheet, doing) = (Sheet::default(), Doing::Choosing);
        let listening = Listening::default();
        Asking {
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
    pub fn slight(mut self, slight: bool) -> Asking {
        self.slight = slight && self.care == Care::Plain;
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
        matches!(self.doing, Doing::Editing(_) | Doing::Wording(_))
    }

    /// Scrolls what does not fit; false if everything fits.
    pub fn scroll(&mut self, by: Scrolled) -> bool {
        self.sheet.scroll(by, self.care == Care::Plain)
    }

    /// The current content of the dialog, for a question about `work` with the assessment `risk`.
    pub fn subject<'a>(
        &'a self,
        work: &'a StepAction,
        risk: &'a Risk,
        change: Option<&'a Change>,
    ) -> Subject<'a> {
        let longs = &self.longs;
        let Doing::Editing(editor) = &self.doing else {
            return Subject { work, risk, change, standing: Standing::Proposed, longs };
        };
        let (risk, standing) = match editor.judgement() {
            Judgement::Here(risk) => (risk, Standing::Judged),
            Judgement::Awaited(last) => (last.unwrap_or(risk), Standing::Awaited),
            Judgement::Unreadable(fault) => (risk, Standing::Unreadable(fault)),
        };
        let change = editor.change();
        Subject { work: editor.work().unwrap_or(work), risk, change, standing, longs }
    }

    pub fn judged(&mut self, work: StepAction, risk: Risk, change: Option<Change>) {
        if let Doing::Editing(editor) = &mut self.doing {
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
    ) -> Answer {
        if keys::action(Place::Anywhere, key) == Some(Action::Interrupt) {
            return self.send(Decision::Stop);
        }
        let before = self.refused.take();
        match &mut self.doing {
            Doing::Sent => Answer::Pass,
            Doing::Choosing => self.choose(key, at, before, held, lang),
            Doing::Wording(_) => self.word(key, lang),
            Doing::Editing(_) => self.edit(key, at, lang),
        }
    }

    pub fn paste(&mut self, text: &str, lang: Lang) -> Answer {
        match &mut self.doing {
            Doing::Choosing | Doing::Sent => Answer::Stay,
            Doing::Wording(field) => {
                field.paste(text, lang);
                Answer::Stay
            }
            Doing::Editing(editor) => {
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
    ) -> Answer {
        if let Some(choice) = self.choices.picked(key) {
            let typed = keys::letter(key) == Some(choice.letter);
            if choice.lasts {
                self.choices.mark(&choice);
                return self.said_no(words::MARKED);
            }
            return self.pick(choice, Press { typed, at, before }, held, lang);
        }
        match keys::action(Place::Question, key) {
            Some(Action::Next) => self.choices.next(),
            Some(Action::Previous) => self.choices.previous(),
            Some(Action::More) => self.sheet.more(),
            Some(Action::Scroll(by)) => {
                let scrolled = self.scroll(by);
                return if scrolled || keys::letter(key).is_some() {
                    Answer::Stay
                } else {
                    Answer::Pass
                };
            }
            Some(Action::Close) => return self.reject(held),
            Some(Action::Accept) => {
                if let Some(choice) = self.choices.chosen() {
                    return self.pick(choice, Press { typed: false, at, before }, held, lang);
                }
            }
            _ if keys::letter(key).is_some_and(choice::answers) => {}
            _ => return Answer::Pass,
        }
        Answer::Stay
    }

    /// Esc gives the answer that changes nothing.
    fn reject(&mut self, held: Option<(&StepAction, &Risk)>) -> Answer {
        match (held, self.choices.only_halts()) {
            (None, true) => self.send(Decision::Stop),
            (None, false) if self.choices.is_trust() => self.send(Decision::Dismiss),
            (Some(_), _) | (None, false) => self.send(Decision::Reject { word: None }),
        }
    }

    fn pick(
        &mut self,
        choice: Choice,
        press: Press,
        held: Option<(&StepAction, &Risk)>,
        lang: Lang,
    ) -> Answer {
        match choice.pick {
            Pick::Reject => self.send(Decision::Reject { word: None }),
            Pick::Stop => self.send(Decision::Stop),
            Pick::GoOn => self.send(Decision::Approve),
            Pick::Run => self.approve(Decision::Approve, press),
            Pick::All | Pick::Trust if !self.sheet.seen_all() => self.unseen(true, press.at),
            Pick::Trust => self.send(Decision::Trust),
            Pick::All if self.nothing_marked() => self.said_no(prompt::PIECES_NONE),
            Pick::All => {
                let steps = self.choices.rest().to_vec();
                self.approve(Decision::ApproveAll { steps }, press)
            }
            Pick::Session => self.approve(Decision::Remember(ApprovalScope::Session), press),
            Pick::Project => self.approve(Decision::Remember(ApprovalScope::Project), press),
            Pick::Word => {
                self.doing = Doing::Wording(Box::new(Composer::new(Vec::new())));
                Answer::Stay
            }
            Pick::Edit => {
                if let Some((work, risk)) = held {
                    self.doing = Doing::Editing(Box::new(Editor::new(work, Some(risk), lang)));
                    self.sheet.forget();
                }
                Answer::Stay
            }
        }
    }

    /// Approval counts once everything was seen; a high-risk step takes its own letter.
    fn approve(&mut self, decision: Decision, press: Press) -> Answer {
        if !self.sheet.seen() {
            let warned = match press.before {
                Some(Refusal::Unseen { all: false, at }) => press.at >= at.saturating_add(HELD),
                Some(Refusal::Unseen { all: true, .. } | Refusal::Said(_)) | None => false,
            };
            if !(self.slight && decision == Decision::Approve && warned) {
                return self.unseen(false, press.at);
            }
        }
        if self.care == Care::Grave && !press.typed {
            return self.said_no(words::REFUSED_CAPITAL);
        }
        self.send(decision)
    }

    fn unseen(&mut self, all: bool, at: Millis) -> Answer {
        self.refused = Some(Refusal::Unseen { all, at });
        Answer::Stay
    }

    fn word(&mut self, key: &KeyEvent, lang: Lang) -> Answer {
        let Doing::Wording(field) = &mut self.doing else { return Answer::Stay };
        match in_field(field, key, lang) {
            Field::Changed => Answer::Stay,
            Field::Left => {
                self.doing = Doing::Choosing;
                Answer::Stay
            }
            Field::Done => {
                let word = Some(field.whole().trim().to_owned()).filter(|word| !word.is_empty());
                self.send(Decision::Reject { word })
            }
            Field::Other => Answer::Pass,
        }
    }

    fn edit(&mut self, key: &KeyEvent, at: Millis, lang: Lang) -> Answer {
        let Doing::Editing(editor) = &mut self.doing else { return Answer::Stay };
        match in_field(&mut editor.field, key, lang) {
            Field::Changed => self.reread(),
            Field::Left => {
                self.doing = Doing::Choosing;
                self.sheet.forget();
                Answer::Stay
            }
            Field::Done => match editor.ready().cloned() {
                Some(work) if self.sheet.seen() => self.send(Decision::Edit(work)),
                Some(_) => self.unseen(false, at),
                None => self.said_no(words::REFUSED_UNJUDGED),
            },
            Field::Other => Answer::Pass,
        }
    }

    /// After an edit: asks for an assessment if there is something new to assess.
    fn reread(&mut self) -> Answer {
        let ask = self.id;
        let Doing::Editing(editor) = &mut self.doing else { return Answer::Stay };
        let Some(work) = editor.changed() else { return Answer::Stay };
        Answer::Send(Op::Judge { ask, work })
    }

    fn said_no(&mut self, why: Phrase) -> Answer {
        self.refuse(why);
        Answer::Stay
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
        matches!(self.doing, Doing::Choosing)
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
            (Care::Grave, _) => words::REFUSED_UNSEEN_GRAVE,
            (Care::Plain, true) => words::REFUSED_UNSEEN_SLIGHT,
            (Care::Plain, false) => words::REFUSED_UNSEEN,
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

    fn send(&mut self, decision: Decision) -> Answer {
        self.doing = Doing::Sent;
        Answer::Send(Op::Decide { ask: self.id, decision })
    }

    /// Adds the foot below the body, and the hint under it.
    pub fn finish(&mut self, page: &mut Page, width: usize, pen: &Pen<'_>) {
        let hints: &[Hint] = match &mut self.doing {
            Doing::Choosing => {
                let grid = self.choices.grid(width, pen);
                page.foot = Foot::Choices { grid, flow: self.choices.flow(width, pen) };
                self.choices.hints()
            }
            Doing::Editing(editor) => {
                let rows = editor.field.rows(u16::try_from(width).unwrap_or(u16::MAX)).min(6);
                let label = words::EDIT_LABEL.text(pen.lang).to_owned();
                page.foot = Foot::Field { label, rows };
                EDITING
            }
            Doing::Wording(field) => {
                let rows = field.rows(u16::try_from(width).unwrap_or(u16::MAX)).min(6);
                let label = words::WORD_LABEL.text(pen.lang).to_owned();
                page.foot = Foot::Field { label, rows };
                WORDING
            }
            Doing::Sent => {
                page.foot = Foot::Nothing;
                &[]
            }
        };
        if matches!(self.doing, Doing::Sent) {
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
        page: &Page,
        pen: &Pen<'_>,
    ) -> Option<Position> {
        let area = self.sheet.draw(screen, buf, page, pen)?;
        let dress = Dress { theme: pen.theme, hint: "", sigil: page.tone };
        let caret = match &mut self.doing {
            Doing::Editing(editor) => editor.field.draw(area, buf, &dress),
            Doing::Wording(field) => field.draw(area, buf, &dress),
            Doing::Choosing | Doing::Sent => None,
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
    hints: &[Hint],
    listening: Listening,
    width: usize,
    pen: &Pen<'_>,
) -> Line<'static> {
    if listening != Listening::BesideDraft {
        return hint_line(hints, width, pen);
    }
    let back = [Hint { key: "Tab", does: words::HINT_TO_DRAFT }];
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
    pub standing: Standing<'a>,
    longs: &'a Longs,
}

/// How current the assessment of a subject is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Standing<'a> {
    Proposed,
    /// Edited, and assessed in its current text.
    Judged,
    /// Edited; the assessment shown is of an earlier text.
    Awaited,
    Unreadable(&'a LocalizedText),
}

impl<'a> Subject<'a> {
    /// The head of the dialog, with the command as its first rows.
    pub fn page(&self, title: Phrase, width: usize, pen: &Pen<'_>) -> Page {
        let sure = matches!(self.standing, Standing::Proposed | Standing::Judged);
        let badge = match self.standing {
            Standing::Proposed | Standing::Judged => command::badge(self.risk),
            Standing::Awaited => words::EDIT_JUDGING,
            Standing::Unreadable(_) => words::EDIT_UNREADABLE,
        };
        let title = if self.is_edited() { words::EDIT_TITLE } else { title };
        let must = match self.standing {
            Standing::Unreadable(fault) => clean::wrap(&fault.text(pen.lang), width)
                .into_iter()
                .map(|row| Line::styled(row, pen.theme.warn))
                .collect(),
            Standing::Proposed | Standing::Judged | Standing::Awaited => match self.change {
                Some(change) => {
                    super::change::rows(self.work.tool(), change, width, pen, self.longs)
                }
                None => command::work(self.work, self.risk, width, pen).into(),
            },
        };
        Page {
            title: title.text(pen.lang).to_owned(),
            badge: badge.text(pen.lang).to_owned(),
            tone: if sure { command::tone(self.risk, pen) } else { pen.theme.dim },
            must,
            ..Page::default()
        }
    }

    pub fn is_edited(&self) -> bool {
        self.standing != Standing::Proposed
    }
}

pub(super) const MARKING: &[Hint] = &[
    Hint { key: "Space", does: prompt::HINT_MARK },
    Hint { key: "Enter", does: words::HINT_CHOOSE },
    Hint { key: "Esc", does: words::HINT_REJECT },
    Hint { key: "Up/Down", does: words::HINT_MOVE },
    Hint { key: "PgUp/PgDn", does: words::HINT_SCROLL },
];
pub(super) const CHOOSING: &[Hint] = &[
    Hint { key: "Enter", does: words::HINT_CHOOSE },
    Hint { key: "Esc", does: words::HINT_REJECT },
    Hint { key: "Up/Down", does: words::HINT_MOVE },
    Hint { key: "PgUp/PgDn", does: words::HINT_SCROLL },
    Hint { key: "F1", does: words::HINT_HELP },
];
pub(super) const TRUSTING: &[Hint] = &[
    Hint { key: "Enter", does: words::HINT_CHOOSE },
    Hint { key: "Esc", does: words::HINT_AS_IT_IS },
    Hint { key: "Up/Down", does: words::HINT_MOVE },
    Hint { key: "F1", does: words::HINT_HELP },
];
pub(super) const PAUSING: &[Hint] = &[
    Hint { key: "Enter", does: words::HINT_CHOOSE },
    Hint { key: "Esc", does: words::HINT_HALT },
    Hint { key: "Up/Down", does: words::HINT_MOVE },
    Hint { key: "PgUp/PgDn", does: words::HINT_SCROLL },
];
const EDITING: &[Hint] = &[
    Hint { key: "Enter", does: words::HINT_RUN_THIS },
    Hint { key: "Esc", does: words::HINT_BACK },
    Hint { key: "Ctrl-C", does: words::HINT_STOP_TURN },
];
const WORDING: &[Hint] = &[
    Hint { key: "Enter", does: words::HINT_REJECT_WITH },
    Hint { key: "Esc", does: words::HINT_BACK },
    Hint { key: "Ctrl-C", does: words::HINT_STOP_TURN },
];

pub fn hint_line(hints: &[Hint], width: usize, pen: &Pen<'_>) -> Line<'static> {
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
    match keys::action(Place::Input, key) {
        Some(Action::Send) => Field::Done,
        Some(Action::Edit(edit)) => edited(field, edit),
        Some(Action::Up) => moved(field.up(lang)),
        Some(Action::Down) => moved(field.down(lang)),
        Some(_) => Field::Other,
        None if keys::action(Place::Anywhere, key) == Some(Action::Stop) => Field::Left,
        None if field.typed(key) => Field::Changed,
        None => Field::Other,
    }
}

fn edited(field: &mut Composer, edit: Edit) -> Field {
    field.edit(edit);
    Field::Changed
}

fn moved(_: bool) -> Field {
    Field::Changed
}
